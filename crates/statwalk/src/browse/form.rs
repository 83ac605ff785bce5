// SPDX-License-Identifier: MIT OR Apache-2.0

//! The texts of the filter form become a filter.

use jiff::Zoned;
use statwalk_browse::Filter;
use statwalk_view::{NamePattern, parse_moment};

use crate::request::safe;
use crate::system::accounts::USERS;

/// The filter that the texts of the fields make: size, changed within, changed before,
/// owner, ending, name.
pub(super) fn filter(texts: &[String]) -> Result<Filter, String> {
    let text = |place: usize| {
        texts
            .get(place)
            .map(String::as_str)
            .filter(|text| !text.is_empty())
    };
    // A message names the text that it is about.
    let wrong = |text: &str, error: &dyn std::fmt::Display| {
        format!("'{}': {}", safe(text), safe(&error.to_string()))
    };
    let moment = |place: usize| match text(place) {
        None => Ok(None),
        Some(text) => parse_moment(text, &Zoned::now())
            .map(Some)
            .map_err(|error| wrong(text, &error)),
    };
    let size = match text(0) {
        None => None,
        Some(text) => {
            let size = text.parse::<statwalk_view::SizeFilter>();
            Some(size.map_err(|error| wrong(text, &error))?)
        }
    };
    let name = match text(5) {
        None => None,
        Some(text) => {
            let pattern = NamePattern::typed(text);
            Some(pattern.map_err(|error| wrong(text, &error))?)
        }
    };
    let name_end = match text(4) {
        None => None,
        Some(text) => {
            let end = NamePattern::end(&format!(".{}", text.trim_start_matches('.')));
            Some(end.map_err(|error| wrong(text, &error))?)
        }
    };
    let uid = match text(3) {
        None => None,
        Some(name) => {
            let number = USERS.number(name.as_bytes()).or_else(|| name.parse().ok());
            Some(number.ok_or_else(|| format!("there is no user '{}'", safe(name)))?)
        }
    };
    Ok(Filter {
        size,
        changed_from_ns: moment(1)?,
        changed_before_ns: moment(2)?,
        uid,
        groups: Vec::new(),
        name_end,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use statwalk_view::SizeFilter;

    #[test]
    fn each_field_has_its_meaning() {
        let read = |fields: [&str; 6]| filter(&fields.map(str::to_owned));
        assert!(read([""; 6]).unwrap().is_empty());
        let read_whole = read(["+10M", "", "2020-01-01", "root", "tar.gz", "log-?"]).unwrap();
        assert_eq!(read_whole.size, Some(SizeFilter::AtLeast(10 << 20)));
        assert_eq!(read_whole.uid, Some(0));
        assert_eq!(
            read_whole.name_end,
            Some(NamePattern::end(".tar.gz").unwrap())
        );
        assert_eq!(read_whole.name, Some(NamePattern::glob("log-?").unwrap()));
        assert!(read_whole.changed_before_ns.is_some() && read_whole.changed_from_ns.is_none());
        assert!(
            read(["", "2d", "", "", ".iso", ""])
                .unwrap()
                .changed_from_ns
                .is_some()
        );
    }

    #[test]
    fn a_text_without_meaning_is_named() {
        let error = |fields: [&str; 6]| filter(&fields.map(str::to_owned)).unwrap_err();
        assert!(error(["ten", "", "", "", "", ""]).contains("ten"));
        assert!(error(["", "soon", "", "", "", ""]).contains("soon"));
        assert!(
            error(["", "", "", "nobody-has-this-name", "", ""]).contains("nobody-has-this-name")
        );
        assert!(error(["", "", "", "", "", "[a"]).contains("[a"));
    }
}
