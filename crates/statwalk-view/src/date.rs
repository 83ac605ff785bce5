// SPDX-License-Identifier: MIT OR Apache-2.0

//! Moments as dates, in the styles of GNU `du --time-style` and `ls --time-style`.

use std::fmt;
use std::str::FromStr;

use jiff::fmt::strtime::{BrokenDownTime, Config, PosixCustom};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The form of a date, as `--time-style` names it: `full-iso`, `long-iso`, `iso`, or
/// `+FORMAT` with the conversions of date(1).
///
/// # Examples
///
/// ```
/// use jiff::tz::TimeZone;
/// use statwalk_view::DateStyle;
///
/// let ns = 1_142_339_654_000_000_005;
/// let text = |style: DateStyle| style.text(ns, &TimeZone::UTC);
/// assert_eq!(text(DateStyle::default()).as_deref(), Some("2006-03-14 12:34"));
/// assert_eq!(text("+%d.%m.".parse()?).as_deref(), Some("14.03."));
/// assert!("+%!".parse::<DateStyle>().is_err());
/// # Ok::<(), statwalk_view::DateStyleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateStyle {
    format: String,
}

/// The reason why a text is no style of dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateStyleError {
    /// The complaint about a format; absent where the text is none.
    about_format: Option<String>,
}

const FULL_ISO: &str = "%Y-%m-%d %H:%M:%S.%N %z";
const LONG_ISO: &str = "%Y-%m-%d %H:%M";
const ISO: &str = "%Y-%m-%d";

impl DateStyle {
    /// Returns a moment, in nanoseconds since 1970-01-01 00:00 UTC, as a date in a time
    /// zone; absent where the calendar of the format has no such day.
    #[must_use]
    pub fn text(&self, ns: i64, zone: &TimeZone) -> Option<String> {
        let moment = Timestamp::from_nanosecond(ns.into()).ok()?;
        self.write(&moment.to_zoned(zone.clone())).ok()
    }

    fn write(&self, moment: &Zoned) -> Result<String, jiff::Error> {
        let config = Config::new().custom(PosixCustom::new());
        let exact = BrokenDownTime::from(moment);
        // jiff rounds `%s` towards 1970. A moment without a fraction has nothing to round.
        let whole = BrokenDownTime::from(&moment.with().subsec_nanosecond(0).build()?);
        let mut text = String::new();
        for piece in pieces(&self.format) {
            let moment = match conversion(piece) {
                Some('s') => &whole,
                _ => &exact,
            };
            text += &moment.to_string_with_config(&config, piece)?;
        }
        Ok(text)
    }
}

/// Divides a format into its conversions and the texts between them.
fn pieces(format: &str) -> impl Iterator<Item = &str> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let end = match rest.strip_prefix('%') {
            None => rest.find('%').unwrap_or(rest.len()),
            Some(inner) => inner
                .char_indices()
                .find(|&(_, sign)| sign == '%' || sign.is_alphabetic())
                .map_or(rest.len(), |(at, sign)| 1 + at + sign.len_utf8()),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Returns the letter of a conversion; absent for a text.
fn conversion(piece: &str) -> Option<char> {
    piece.strip_prefix('%')?.chars().next_back()
}

impl Default for DateStyle {
    /// Returns `long-iso`, as GNU du.
    fn default() -> DateStyle {
        DateStyle {
            format: LONG_ISO.to_owned(),
        }
    }
}

impl FromStr for DateStyle {
    type Err = DateStyleError;

    fn from_str(input: &str) -> Result<DateStyle, DateStyleError> {
        let format = match (input, input.strip_prefix('+')) {
            ("full-iso", _) => FULL_ISO,
            ("long-iso", _) => LONG_ISO,
            ("iso", _) => ISO,
            (_, Some(format)) => format,
            _ => return Err(DateStyleError { about_format: None }),
        };
        // jiff has them, and date(1) prints them as they stand.
        let foreign = |piece: &&str| matches!(conversion(piece), Some('f' | 'Q'));
        if let Some(piece) = pieces(format).find(foreign) {
            return Err(DateStyleError {
                about_format: Some(format!("date has no conversion {piece}")),
            });
        }
        let style = DateStyle {
            format: format.to_owned(),
        };
        let sample = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        match style.write(&sample) {
            Ok(_) => Ok(style),
            Err(error) => Err(DateStyleError {
                about_format: Some(error.to_string()),
            }),
        }
    }
}

impl fmt::Display for DateStyleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.about_format {
            Some(complaint) => f.write_str(complaint),
            None => f.write_str("must be full-iso, long-iso, iso or +FORMAT, as for date"),
        }
    }
}

impl std::error::Error for DateStyleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles() {
        let check = |style: &str, ns: i64, expected: &str| {
            let style: DateStyle = style.parse().unwrap();
            let zone = TimeZone::fixed(jiff::tz::offset(-3));
            assert_eq!(style.text(ns, &zone).as_deref(), Some(expected));
        };
        check("full-iso", 5, "1969-12-31 21:00:00.000000005 -0300");
        check("long-iso", -1, "1969-12-31 20:59");
        check("iso", 0, "1969-12-31");
        check("+%s %%%n", 1_000_000_000, "1 %\n");
        check("+", 0, "");
        check("iso", i64::MAX, "2262-04-11");
        check("iso", i64::MIN, "1677-09-20");
    }

    /// jiff rounds `%s` towards 1970, and by itself has other forms than the C locale.
    #[test]
    fn conversions_are_those_of_date() {
        let ns = 1_772_700_429_012_345_678;
        for (style, ns, expected) in [
            ("+%s", -500_000_000, "-1"),
            ("+%s %S %N", -500_000_000, "-1 59 500000000"),
            ("+%-s%%s", -1_000_000_001, "-2%s"),
            ("+%s", i64::MIN, "-9223372037"),
            ("+%c", ns, "Thu Mar  5 08:47:09 2026"),
            ("+%x %X", ns, "03/05/26 08:47:09"),
            ("+%r", ns, "08:47:09 AM"),
        ] {
            let parsed: DateStyle = style.parse().unwrap();
            let text = parsed.text(ns, &TimeZone::UTC);
            assert_eq!(text.as_deref(), Some(expected), "{style} {ns}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", "locale", "+%", "+%!", "%Y", "ISO", "+%f", "+%T%.3f", "+%:Q",
        ] {
            let error = text.parse::<DateStyle>().unwrap_err().to_string();
            assert!(
                !error.is_empty() && !error.contains('\n'),
                "{text}: {error}"
            );
        }
    }
}
