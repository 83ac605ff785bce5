// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bar that shows a part beside others of the same whole.

use crate::Charset;
use crate::share::narrowed;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Returns a bar of exactly `width` columns, filled as far as `part` fills
/// `whole`, to the nearest eighth of a column (in ASCII: a whole column).
///
/// The bar is padded with spaces. More than the whole fills it; what rounds to
/// nothing leaves it blank, and the share beside it then says `<1 %`.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Charset, bar};
///
/// assert_eq!(bar(26, 48, 10, Charset::Unicode), "█████▍    ");
/// assert_eq!(bar(26, 48, 10, Charset::Ascii), "#####     ");
/// ```
#[must_use]
pub fn bar(part: u128, whole: u128, width: usize, charset: Charset) -> String {
    let steps = match charset {
        Charset::Unicode => 8,
        Charset::Ascii => 1,
    };
    let filled = nearest(part, whole, width * steps);
    let mut text = match charset {
        Charset::Unicode => "█".repeat(filled / steps),
        Charset::Ascii => "#".repeat(filled),
    };
    let mut columns = filled / steps;
    if !filled.is_multiple_of(steps) {
        text.push_str(EIGHTHS[filled % steps]);
        columns += 1;
    }
    text.extend(std::iter::repeat_n(' ', width - columns));
    text
}

/// Returns `part / whole * steps`, rounded, and never more than `steps`.
fn nearest(part: u128, whole: u128, steps: usize) -> usize {
    if whole == 0 {
        return 0;
    }
    let (part, whole) = narrowed(part, whole);
    let filled = (part * steps as u128 * 2 + whole) / (whole * 2);
    usize::try_from(filled).map_or(steps, |filled| filled.min(steps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_width;
    use proptest::prelude::*;

    #[test]
    fn bars() {
        fn check(part: u128, whole: u128, expected: &str, ascii: &str) {
            assert_eq!(bar(part, whole, 10, Charset::Unicode), expected);
            assert_eq!(bar(part, whole, 10, Charset::Ascii), ascii);
        }
        check(0, 0, "          ", "          ");
        check(5, 0, "          ", "          ");
        check(0, 80, "          ", "          ");
        check(1, 80, "▏         ", "          ");
        check(7, 80, "▉         ", "#         ");
        check(48, 48, "██████████", "##########");
        check(26, 48, "█████▍    ", "#####     ");
        check(17, 48, "███▌      ", "####      ");
        check(99, 48, "██████████", "##########");
        check(u128::MAX / 2, u128::MAX, "█████     ", "#####     ");
        // The nearest: 0.49 and 0.51 of an eighth.
        check(49, 8000, "          ", "          ");
        check(51, 8000, "▏         ", "          ");
    }

    proptest! {
        #[test]
        fn the_width_is_kept_and_more_is_never_shorter(
            part: u128, more: u128, whole: u128, width in 0usize..40,
        ) {
            let (less, more) = (part.min(more), part.max(more));
            for charset in [Charset::Unicode, Charset::Ascii] {
                let (short, long) = (bar(less, whole, width, charset), bar(more, whole, width, charset));
                prop_assert_eq!(text_width(&short), width);
                prop_assert_eq!(text_width(&long), width);
                let full = |text: &str| text.chars().filter(|&c| c == '█' || c == '#').count();
                prop_assert!(full(&short) <= full(&long));
            }
        }
    }
}
