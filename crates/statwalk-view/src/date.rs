// SPDX-License-Identifier: MIT OR Apache-2.0

//! Moments as dates, in the styles of GNU `du --time-style` and `ls --time-style`.

use std::fmt;
use std::str::FromStr;

use jiff::fmt::strtime::{BrokenDownTime, Config};
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
        BrokenDownTime::from(moment).to_string_with_config(&Config::new(), &self.format)
    }
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

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "locale", "+%", "+%!", "%Y", "ISO"] {
            let error = text.parse::<DateStyle>().unwrap_err().to_string();
            assert!(
                !error.is_empty() && !error.contains('\n'),
                "{text}: {error}"
            );
        }
    }
}
