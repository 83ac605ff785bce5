// SPDX-License-Identifier: MIT OR Apache-2.0

//! Durations as text.

use std::time::Duration;

/// Returns `elapsed` with the precision that matters to a person.
///
/// Below a second whole milliseconds, below ten seconds two digits; then whole
/// seconds; from a minute on, two neighbouring units.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use statwalk_view::duration;
///
/// assert_eq!(duration(Duration::from_millis(6_310)), "6.3 s");
/// assert_eq!(duration(Duration::from_secs(72)), "1 m 12 s");
/// ```
#[must_use]
pub fn duration(elapsed: Duration) -> String {
    let us = elapsed.as_micros();
    let (ms, tenths) = ((us + 500) / 1000, (us + 50_000) / 100_000);
    if ms < 1000 {
        format!("{ms} ms")
    } else if tenths < 100 {
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else {
        seconds((us + 500_000) / 1_000_000)
    }
}

/// Returns the time that is `left`, in whole seconds, rounded up: `2 s`.
pub(crate) fn time_left(left: Duration) -> String {
    seconds(left.as_micros().div_ceil(1_000_000))
}

fn seconds(s: u128) -> String {
    match (s / 86_400, s / 3_600 % 24, s / 60 % 60, s % 60) {
        (0, 0, 0, s) => format!("{s} s"),
        (0, 0, m, s) => two(m, "m", s, "s"),
        (0, h, m, _) => two(h, "h", m, "m"),
        (d, h, _, _) => two(d, "d", h, "h"),
    }
}

fn two(large: u128, large_unit: &str, small: u128, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        fn check(elapsed: Duration, expected: &str) {
            assert_eq!(duration(elapsed), expected);
        }
        check(Duration::ZERO, "0 ms");
        check(Duration::from_micros(499), "0 ms");
        check(Duration::from_micros(500), "1 ms");
        check(Duration::from_micros(999_499), "999 ms");
        check(Duration::from_micros(999_500), "1.0 s");
        check(Duration::from_millis(2_000), "2.0 s");
        check(Duration::from_millis(6_310), "6.3 s");
        check(Duration::from_millis(9_949), "9.9 s");
        check(Duration::from_millis(9_950), "10 s");
        check(Duration::from_millis(59_499), "59 s");
        check(Duration::from_millis(59_500), "1 m");
        check(Duration::from_secs(61), "1 m 1 s");
        check(Duration::from_secs(3_599), "59 m 59 s");
        check(Duration::from_secs(3_600 * 2 + 5 * 60 + 59), "2 h 5 m");
        check(Duration::from_secs(86_400 * 3), "3 d");
        check(Duration::from_secs(86_400 + 3_600 * 23), "1 d 23 h");
        check(Duration::MAX, "213503982334601 d 7 h");
    }

    #[test]
    fn time_that_is_left() {
        fn check(left: Duration, expected: &str) {
            assert_eq!(time_left(left), expected);
        }
        check(Duration::ZERO, "0 s");
        check(Duration::from_millis(1), "1 s");
        check(Duration::from_millis(2_000), "2 s");
        check(Duration::from_millis(2_001), "3 s");
        check(Duration::from_millis(71_500), "1 m 12 s");
    }
}
