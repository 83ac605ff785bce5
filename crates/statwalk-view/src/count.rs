// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and rates as text.

use std::time::Duration;

/// Returns every digit of `count`, in groups of three.
///
/// # Examples
///
/// ```
/// assert_eq!(statwalk_view::grouped(1_204_331), "1,204,331");
/// ```
#[must_use]
pub fn grouped(count: u64) -> String {
    in_threes(count.into())
}

/// Returns every digit of a number that may be longer.
pub(crate) fn in_threes(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `count` in few characters.
///
/// Below ten thousand it is exact; thousands are whole, millions and more have
/// two decimals. Rounding is to the nearest and never shows `1000 k`.
///
/// # Examples
///
/// ```
/// use statwalk_view::compact;
///
/// assert_eq!(compact(9_870), "9,870");
/// assert_eq!(compact(431_106), "431 k");
/// assert_eq!(compact(11_900_012), "11.90 M");
/// ```
#[must_use]
pub fn compact(count: u64) -> String {
    if count < 10_000 {
        return grouped(count);
    }
    if count < 999_500 {
        return format!("{} k", (count + 500) / 1000);
    }
    let count = u128::from(count);
    let mut unit = 1_000_000;
    for letter in ["M", "G", "T", "P"] {
        let hundredths = (count * 100 + unit / 2) / unit;
        if hundredths < 100_000 {
            return decimal(hundredths, letter);
        }
        unit *= 1000;
    }
    decimal((count * 100 + unit / 2) / unit, "E")
}

fn decimal(hundredths: u128, letter: &str) -> String {
    format!("{}.{:02} {letter}", hundredths / 100, hundredths % 100)
}

/// Returns how many a second `count` in `elapsed` is, as `1.94 M/s`.
///
/// Returns `None` where no time has passed: there is no honest rate then.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use statwalk_view::rate;
///
/// assert_eq!(rate(3_880_000, Duration::from_secs(2)).as_deref(), Some("1.94 M/s"));
/// assert_eq!(rate(5, Duration::ZERO), None);
/// ```
#[must_use]
pub fn rate(count: u64, elapsed: Duration) -> Option<String> {
    let elapsed_ns = elapsed.as_nanos();
    if elapsed_ns == 0 {
        return None;
    }
    let per_second = (u128::from(count) * 1_000_000_000 + elapsed_ns / 2) / elapsed_ns;
    let per_second = u64::try_from(per_second).unwrap_or(u64::MAX);
    Some(format!("{}/s", compact(per_second)))
}

/// Returns a number and the words that go with it.
///
/// # Examples
///
/// ```
/// use statwalk_view::counted;
///
/// assert_eq!(counted(1, "file", "files"), "1 file");
/// assert_eq!(counted(2_113, "file", "files"), "2,113 files");
/// ```
#[must_use]
pub fn counted(count: u64, singular: &str, plural: &str) -> String {
    let noun = if count == 1 { singular } else { plural };
    format!("{} {noun}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn grouped_has_every_digit() {
        fn check(count: u64, expected: &str) {
            assert_eq!(grouped(count), expected);
        }
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(12_403_118, "12,403,118");
        check(123_456, "123,456");
        check(u64::MAX, "18,446,744,073,709,551,615");
    }

    #[test]
    fn compact_is_short_and_never_a_thousand_of_its_unit() {
        fn check(count: u64, expected: &str) {
            assert_eq!(compact(count), expected);
        }
        check(0, "0");
        check(9_999, "9,999");
        check(10_000, "10 k");
        check(72_000, "72 k");
        check(72_499, "72 k");
        check(72_500, "73 k");
        check(431_106, "431 k");
        check(999_499, "999 k");
        check(999_500, "1.00 M");
        check(1_940_000, "1.94 M");
        check(8_099_999, "8.10 M");
        check(11_900_012, "11.90 M");
        check(999_994_999, "999.99 M");
        check(999_995_000, "1.00 G");
        check(1_000_000_000_000, "1.00 T");
        check(999_994_999_999_999_999, "999.99 P");
        check(u64::MAX, "18.45 E");
    }

    #[test]
    fn rates() {
        fn check(count: u64, elapsed_ms: u64, expected: Option<&str>) {
            let elapsed = Duration::from_millis(elapsed_ms);
            assert_eq!(rate(count, elapsed).as_deref(), expected);
        }
        check(1_940_000, 1000, Some("1.94 M/s"));
        check(0, 1000, Some("0/s"));
        check(1, 300, Some("3/s"));
        check(u64::MAX, 1, Some("18.45 E/s"));
        check(7, 0, None);
    }

    #[test]
    fn the_noun_agrees_with_the_number() {
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(0, "file", "files"), "0 files");
        assert_eq!(counted(1001, "entry", "entries"), "1,001 entries");
    }

    proptest! {
        #[test]
        fn grouped_can_be_read_back(count: u64) {
            let text = grouped(count);
            prop_assert_eq!(text.replace(',', "").parse::<u64>().ok(), Some(count));
            for (index, group) in text.split(',').enumerate() {
                prop_assert!(group.len() == 3 || (index == 0 && !group.is_empty() && group.len() < 3));
            }
        }

        #[test]
        fn compact_takes_at_most_eight_columns_and_is_near(bits in 0u32..64, low: u64) {
            let count = (1 << bits) | (low & ((1 << bits) - 1));
            let text = compact(count);
            prop_assert!(text.len() <= 8, "{text}");
            let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
            let unit = match unit {
                "" => 1.0, "k" => 1e3, "M" => 1e6, "G" => 1e9, "T" => 1e12, "P" => 1e15, _ => 1e18,
            };
            let near = number.replace(',', "").parse::<f64>().unwrap() * unit;
            prop_assert!((near - count as f64).abs() <= count as f64 * 0.051, "{text} for {count}");
        }
    }
}
