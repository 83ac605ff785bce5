// SPDX-License-Identifier: MIT OR Apache-2.0

//! The name of a report for which the user gives none.

use std::os::unix::ffi::OsStringExt;
use std::path::{Component, PathBuf};

use jiff::tz::TimeZone;
use statwalk_report::Names;
use statwalk_view::DateStyle;

use crate::request::Request;

/// A name has 255 bytes on most file systems.
const PART_BYTES_MAX: usize = 100;

/// The name of a report for which the user gives none.
pub(crate) fn name_of(request: &Request, names: Names, ending: &str) -> PathBuf {
    let origin = &request.origin;
    let day = "+%Y-%m-%d".parse::<DateStyle>().ok();
    let day = day.and_then(|day| day.text(origin.started_ns, &TimeZone::system()));
    // A name with `..` in it would say less than the directory's own. Other paths keep the
    // names that the user has for them, links too.
    let given = &request.paths[0];
    let goes_up = given.components().any(|part| part == Component::ParentDir);
    let root = match goes_up {
        true => given.canonicalize(),
        false => std::path::absolute(given),
    };
    let root = root.map_or_else(|_| Vec::new(), |root| root.into_os_string().into_vec());
    let day = day.unwrap_or_default();
    PathBuf::from(file_name(&origin.host, &root, &day, names, ending))
}

/// The name of host, root and day: `statwalk-db3-srv-data-2026-11-25.html`. Of several roots
/// it has the first. Where names are redacted, it has none.
fn file_name(host: &[u8], root: &[u8], day: &str, names: Names, ending: &str) -> String {
    match names {
        Names::Redacted => format!("statwalk-report-{day}.{ending}"),
        Names::Original => {
            let (host, root) = (plain(host, "host"), plain(root, "root"));
            format!("statwalk-{host}-{root}-{day}.{ending}")
        }
    }
}

/// Letters that mean nothing to a shell or a file system; `nothing` where there are none.
fn plain(text: &[u8], nothing: &str) -> String {
    let mut plain = String::new();
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' => plain.push(byte.into()),
            _ if plain.is_empty() || plain.ends_with('-') => {}
            _ => plain.push('-'),
        }
    }
    plain.truncate(PART_BYTES_MAX);
    match plain.trim_matches(['-', '.']) {
        "" => nothing.to_owned(),
        plain => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain() {
        let name = |root: &[u8]| file_name(b"db3", root, "2026-11-25", Names::Original, "html");
        assert_eq!(name(b"/"), "statwalk-db3-root-2026-11-25.html");
        assert_eq!(name(b"/srv/data/"), "statwalk-db3-srv-data-2026-11-25.html");
        assert_eq!(name(b"/\n\xff$(x)/.."), "statwalk-db3-x-2026-11-25.html");
        assert!(name(&[b'n'; 999]).len() < 160);
        let redacted = file_name(b"db3", b"/srv", "2026-11-25", Names::Redacted, "md");
        assert_eq!(redacted, "statwalk-report-2026-11-25.md");
    }
}
