// SPDX-License-Identifier: MIT OR Apache-2.0

//! Parts of a whole as text.

/// Returns the share of `part` in `whole`, in per cent.
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
pub fn share(part: u128, whole: u128) -> String {
    if part == 0 || whole == 0 {
        return "0 %".to_owned();
    }
    let (part, whole) = narrowed(part, whole);
    match (part * 200 + whole) / (whole * 2) {
        0 => "<1 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

/// Returns a part, at most the whole, and the whole in at most 96 bits, so that there
/// is room to multiply.
pub(crate) fn narrowed(part: u128, whole: u128) -> (u128, u128) {
    let shift = 32_u32.saturating_sub(whole.leading_zeros());
    (part.min(whole) >> shift, whole >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        fn check(part: u128, whole: u128, expected: &str) {
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
        check(u64::MAX.into(), u64::MAX.into(), "100 %");
        check(1 << 64, 3 << 64, "33 %");
        check(u128::MAX / 2, u128::MAX, "50 %");
        check(1, u128::MAX, "<1 %");
        check(9, 3, "100 %");
    }
}
