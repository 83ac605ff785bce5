// SPDX-License-Identifier: MIT OR Apache-2.0

//! Moments in the past: as an age, and as a person writes them.

use std::fmt;

use jiff::civil::DateTime;
use jiff::{Span, Timestamp, Zoned};

use crate::{Charset, escape};

/// The reason why a text names no moment.
///
/// The message gives the reason alone; [`input`](Self::input) gives the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentError {
    input: String,
    problem: Problem,
}

/// Returns how long ago `mtime_ns` was at `now_ns`, in at most six columns.
///
/// The largest whole unit counts, rounded down: `min` minutes, `h` hours, `d` days up to
/// two months, `mo` months, `y` years. A month is a twelfth of a year. Under a minute it
/// is `now`. So is up to a minute in the future, because the clocks of two machines differ
/// by as much. Beyond, it is `future`: the amount would say nothing but how wrong a clock
/// was.
///
/// Both times are nanoseconds since 1970-01-01 00:00 UTC.
///
/// # Examples
///
/// ```
/// use statwalk_view::age;
///
/// let now = 1_790_000_000_000_000_000;
/// assert_eq!(age(now - 5 * 3_600_000_000_000, now), "5 h");
/// assert_eq!(age(now, now), "now");
/// ```
#[must_use]
pub fn age(mtime_ns: i64, now_ns: i64) -> String {
    let s = mtime_ns.abs_diff(now_ns) / 1_000_000_000;
    let (count, unit) = match s {
        0..MINUTE => return "now".to_owned(),
        _ if is_future(mtime_ns, now_ns) => return "future".to_owned(),
        MINUTE..HOUR => (s / MINUTE, "min"),
        HOUR..DAY => (s / HOUR, "h"),
        _ if s < 2 * MONTH => (s / DAY, "d"),
        _ if s < YEAR => (s / MONTH, "mo"),
        _ => (s / YEAR, "y"),
    };
    format!("{count} {unit}")
}

/// Reads the moment that `--changed-within` and `--changed-before` name.
///
/// One of
///
/// - a span before `now`: `10d`, `2w`, `1h30m`, `2y`, `1mo`, `3 weeks`, also
///   with `ago`. Days and longer units follow the calendar in the time zone of
///   `now`; `m` is minutes, `mo` months;
/// - a date or a date with a time, in the time zone of `now`: `2026-01-31`,
///   `2026-01-31 12:00:00`, `2026-01-31T12:00`, `20260131`. A date is its
///   beginning. A time that a change of the clock skips or repeats is taken as
///   RFC 5545 takes it;
/// - a time with an offset: `2026-01-31T12:00:00Z`, `2026-01-31 12:00+01:00`;
/// - `@` and seconds since 1970-01-01 00:00 UTC, as in date(1).
///
/// Returns nanoseconds since 1970-01-01 00:00 UTC.
///
/// # Errors
///
/// Returns an error that names `input` if it is none of these, if there is no
/// such date, or if it is beyond the years 1678 to 2261.
///
/// # Examples
///
/// ```
/// use statwalk_view::parse_moment;
///
/// let now: jiff::Zoned = "2026-01-31T12:00:00+00:00[UTC]".parse()?;
/// let midnight = now.start_of_day()?.timestamp().as_nanosecond() as i64;
/// assert_eq!(parse_moment("12h", &now)?, midnight);
/// assert_eq!(parse_moment("2026-01-31", &now)?, midnight);
/// assert!(parse_moment("2026-13-45", &now).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_moment(input: &str, now: &Zoned) -> Result<i64, MomentError> {
    let fail = |problem| MomentError {
        input: input.to_owned(),
        problem,
    };
    let text = input.trim();
    let moment = if let Some(seconds) = text.strip_prefix('@') {
        let seconds = seconds.parse().map_err(|_| fail(Problem::NotSeconds))?;
        Timestamp::from_second(seconds).map_err(|_| fail(Problem::OutOfRange))?
    } else if is_date_like(text) {
        if text.contains('[') {
            // jiff would read such a date and not heed the zone.
            return Err(fail(Problem::NamedZone));
        }
        date(text, now).map_err(|error| fail(Problem::NotDate(error.to_string())))?
    } else {
        let span: Span = text.parse().map_err(|_| fail(Problem::Neither))?;
        // `2 days ago` is negative, and here every span lies in the past.
        let earlier = now.checked_sub(span.abs());
        earlier.map_err(|_| fail(Problem::OutOfRange))?.timestamp()
    };
    i64::try_from(moment.as_nanosecond()).map_err(|_| fail(Problem::OutOfRange))
}

/// Returns whether [`age`] would call a time `future`.
pub(crate) fn is_future(mtime_ns: i64, now_ns: i64) -> bool {
    mtime_ns > now_ns && mtime_ns.abs_diff(now_ns) / 1_000_000_000 >= MINUTE
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// The mean year of the Gregorian calendar, 365.2425 days.
const YEAR: u64 = 31_556_952;
const MONTH: u64 = YEAR / 12;

/// Returns whether `text` was meant as a date: it begins with a year.
fn is_date_like(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match text.as_bytes().get(digits) {
        Some(b'-' | b'/' | b'.') => digits >= 4,
        Some(b'T') | None => digits == 8,
        _ => false,
    }
}

fn date(text: &str, now: &Zoned) -> Result<Timestamp, jiff::Error> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let local: DateTime = text.parse()?;
    Ok(local.to_zoned(now.time_zone().clone())?.timestamp())
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    NotSeconds,
    NamedZone,
    NotDate(String),
    Neither,
    OutOfRange,
}

impl MomentError {
    /// Returns the text that could not be understood.
    #[must_use]
    pub fn input(&self) -> &str {
        &self.input
    }
}

impl fmt::Display for MomentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::NotSeconds => f.write_str("must be @ and a number of seconds"),
            Problem::NotDate(reason) => write!(
                f,
                "must be a date such as 2026-01-31: {}",
                escape(reason.as_bytes(), Charset::Unicode)
            ),
            Problem::NamedZone => f.write_str(
                "must have an offset instead of a time zone, as in '2026-01-31 12:00+01:00'",
            ),
            Problem::Neither => f.write_str(
                "must be a span of time such as 2w, 10d, 1h30m or 3mo, or a date such as \
                 2026-01-31 or '2026-01-31 12:00:00'",
            ),
            Problem::OutOfRange => f.write_str("must lie in the years 1678 to 2261"),
        }
    }
}

impl std::error::Error for MomentError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NS: i64 = 1_000_000_000;

    #[test]
    fn ages() {
        fn check(seconds_ago: i64, expected: &str) {
            let now_ns = 1_790_000_000 * NS;
            assert_eq!(age(now_ns - seconds_ago * NS, now_ns), expected);
        }
        check(0, "now");
        check(59, "now");
        check(60, "1 min");
        check(12 * 60 + 59, "12 min");
        check(3_599, "59 min");
        check(3_600, "1 h");
        check(86_399, "23 h");
        check(86_400, "1 d");
        check(60 * 86_400, "60 d");
        check(31_556_952 / 6 - 1, "60 d");
        check(31_556_952 / 6, "2 mo");
        check(365 * 86_400, "11 mo");
        check(31_556_951, "11 mo");
        check(31_556_952, "1 y");
        check(4 * 31_556_952 - 1, "3 y");
        // 1970: a file from an archive without times.
        check(1_790_000_000, "56 y");
        check(-59, "now");
        check(-60, "future");
        check(-3_600 * 24 * 365 * 100, "future");
    }

    #[test]
    fn ages_at_the_ends_of_time() {
        assert_eq!(age(i64::MIN, i64::MAX), "584 y");
        assert_eq!(age(i64::MAX, i64::MIN), "future");
        assert_eq!(age(i64::MIN, 0), "292 y");
    }

    fn berlin(local: &str) -> Zoned {
        format!("{local}[Europe/Berlin]").parse().unwrap()
    }

    #[test]
    fn moments() {
        let now = berlin("2026-03-31T12:00:00");
        let check = |input: &str, expected: &str| {
            let expected: Timestamp = expected.parse().unwrap();
            let ns = parse_moment(input, &now).map(i128::from);
            assert_eq!(ns, Ok(expected.as_nanosecond()), "{input}");
        };
        check("0s", "2026-03-31T10:00:00Z");
        check("1h30m", "2026-03-31T08:30:00Z");
        check("12m", "2026-03-31T09:48:00Z");
        check("1.5h", "2026-03-31T08:30:00Z");
        // Ten days back the clock was an hour behind; the time of day is kept.
        check("10d", "2026-03-21T11:00:00Z");
        check("2w", "2026-03-17T11:00:00Z");
        check(" 2 weeks ago ", "2026-03-17T11:00:00Z");
        check("1mo", "2026-02-28T11:00:00Z");
        check("2y", "2024-03-31T10:00:00Z");
        check("P1DT1H", "2026-03-30T09:00:00Z");
        check("2026-01-31", "2026-01-30T23:00:00Z");
        check("20260131", "2026-01-30T23:00:00Z");
        check("2026-01-31 12:00:00", "2026-01-31T11:00:00Z");
        check("2026-01-31T12:00", "2026-01-31T11:00:00Z");
        check("2026-07-31 12:00:00.5", "2026-07-31T10:00:00.5Z");
        check("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z");
        check("2026-01-31 12:00+05:30", "2026-01-31T06:30:00Z");
        // Skipped and repeated by the change of the clock.
        check("2026-03-29 02:30", "2026-03-29T01:30:00Z");
        check("2025-10-26 02:30", "2025-10-26T00:30:00Z");
        check("@1707723412", "2024-02-12T07:36:52Z");
        check("@-1", "1969-12-31T23:59:59Z");
        check("1969-12-31", "1969-12-30T23:00:00Z");
    }

    #[test]
    fn errors_give_the_reason_and_keep_the_input() {
        fn check(input: &str, expected: &str) {
            let error = parse_moment(input, &berlin("2026-03-31T12:00:00")).unwrap_err();
            assert_eq!(error.input(), input);
            let message = error.to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        check("2026-13-45", "must be a date such as");
        check("2026-02-30", "must be a date such as");
        check("2026-1-3", "must be a date such as");
        check("2026/01/31", "must be a date such as");
        check("2026-01-31 25:00", "must be a date such as");
        check("20261345", "must be a date such as");
        check("2026-01-31[Asia/Tokyo]", "must have an offset instead of");
        check("", "must be a span of time");
        check("10", "must be a span of time");
        check("2M", "must be a span of time");
        check("2 parsecs", "must be a span of time");
        check("yesterday", "must be a span of time");
        check("2w\x1b[2J", "must be a span of time");
        check("@noon", "must be @ and a number");
        check("@99999999999999", "must lie in the years 1678 to 2261");
        check("2263-01-01", "must lie in the years 1678 to 2261");
        check("500y", "must lie in the years 1678 to 2261");
    }

    proptest! {
        #[test]
        fn ages_take_six_columns(mtime_ns: i64, now_ns: i64) {
            prop_assert!(age(mtime_ns, now_ns).len() <= 6);
        }

        #[test]
        fn no_text_panics(text in "[0-9@.:+TZymowdhs -]{0,14}") {
            let now = berlin("2026-03-31T12:00:00");
            if let Err(error) = parse_moment(&text, &now) {
                prop_assert_eq!(error.input(), text);
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
