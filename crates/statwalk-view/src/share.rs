// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parts of a whole as text.

/// Returns what share of `whole` is `part`, in per cent.
///
/// At most five columns. Something that would round to nothing is `<1 %`; a
/// share of nothing is `0 %`; more than the whole is `100 %`.
///
/// # Examples
///
/// ```
/// use statwalk_view::share;
///
/// assert_eq!(share(202, 420), "48 %");
/// assert_eq!(share(1, 1_000_000), "<1 %");
/// ```
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".to_owned();
    }
    let (part, whole) = (u128::from(part.min(whole)), u128::from(whole));
    match (part * 200 + whole) / (whole * 2) {
        0 => "<1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        fn check(part: u64, whole: u64, expected: &str) {
            assert_eq!(share(part, whole), expected);
        }
        check(0, 0, "0 %");
        check(5, 0, "0 %");
        check(0, 5, "0 %");
        check(1, 201, "<1 %");
        check(1, 200, "1 %");
        check(202, 420, "48 %");
        check(2, 3, "67 %");
        check(994, 1000, "99 %");
        check(995, 1000, "100 %");
        check(u64::MAX, u64::MAX, "100 %");
        check(9, 3, "100 %");
    }
}
