// SPDX-License-Identifier: MIT OR Apache-2.0

//! The meaning of a word of the command line: a path, a folder with a snapshot, or a snapshot
//! of the store.
//!
//! ```text
//! FOLDER                 a snapshot
//! FOLDER:/home/ann       a directory in it
//! /home@last             the newest snapshot of the stored root at or above /home
//! /home@1                the one before it
//! /home@7d               the newest that is at least seven days old
//! /home@2026-11-01       the newest that is not from after that day
//! @last                  the newest of the working directory
//! ```

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use jiff::civil::Date;
use statwalk_view::parse_moment;

/// The meaning of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A path, which is there or not.
    Path,
    /// A path that is there, and whose name would be that of a snapshot otherwise.
    PathInstead,
    /// A folder with a snapshot, and a directory in it.
    Folder {
        folder: PathBuf,
        inside: Option<PathBuf>,
    },
    /// A snapshot of the store.
    Stored(StoredName),
}

/// The name of a snapshot of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredName {
    /// As the user wrote it; `.` where it was left out.
    pub(crate) path: PathBuf,
    pub(crate) selector: Selector,
}

/// One of the snapshots of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selector {
    /// So many before the newest.
    Before(usize),
    /// The newest whose scan had begun at a moment, in nanoseconds since 1970.
    NotAfter(i64),
}

/// The facts that decide on the meaning.
pub(crate) struct Facts<'a> {
    /// The present moment. To ask for it reads the time zone, so only a word with a date or a
    /// span does.
    pub(crate) now: &'a dyn Fn() -> Zoned,
    /// Whether there is an entry at a path.
    pub(crate) exists: &'a dyn Fn(&Path) -> bool,
    /// Whether a path leads to a folder with a snapshot.
    pub(crate) is_snapshot: &'a dyn Fn(&Path) -> bool,
}

/// The meaning of a word.
pub(crate) fn meaning(word: &OsStr, facts: &Facts<'_>) -> Meaning {
    let path = Path::new(word);
    // `FOLDER/.` is the folder as a directory: how large is the snapshot?
    let is_directory = word.as_bytes().ends_with(b"/.");
    if !is_directory && (facts.is_snapshot)(path) {
        return Meaning::Folder {
            folder: path.to_owned(),
            inside: None,
        };
    }
    let other = of_folder(word, facts).or_else(|| {
        let name = StoredName::parse(word, facts.now)?;
        Some(Meaning::Stored(name))
    });
    match other {
        Some(_) if (facts.exists)(path) => Meaning::PathInstead,
        Some(other) => other,
        None => Meaning::Path,
    }
}

/// A directory in a folder: each colon before a slash can be the one between them.
fn of_folder(word: &OsStr, facts: &Facts<'_>) -> Option<Meaning> {
    let bytes = word.as_bytes();
    let colons = (1..bytes.len()).rev();
    let mut colons = colons.filter(|&place| bytes[place..].starts_with(b":/"));
    colons.find_map(|place| {
        let folder = Path::new(OsStr::from_bytes(&bytes[..place]));
        (facts.is_snapshot)(folder).then(|| Meaning::Folder {
            folder: folder.to_owned(),
            inside: Some(PathBuf::from(OsStr::from_bytes(&bytes[place + 1..]))),
        })
    })
}

impl StoredName {
    /// Reads a word; absent where it is no name of a stored snapshot.
    pub(crate) fn parse(word: &OsStr, now: &dyn Fn() -> Zoned) -> Option<StoredName> {
        let bytes = word.as_bytes();
        let at = bytes.iter().rposition(|&byte| byte == b'@')?;
        let selector = std::str::from_utf8(&bytes[at + 1..]).ok()?;
        let selector = Selector::parse(selector, now)?;
        let path = match &bytes[..at] {
            b"" => Path::new("."),
            path => Path::new(OsStr::from_bytes(path)),
        };
        Some(StoredName {
            path: path.to_owned(),
            selector,
        })
    }
}

impl Selector {
    fn parse(text: &str, now: &dyn Fn() -> Zoned) -> Option<Selector> {
        let first = text.bytes().next()?;
        if text == "last" {
            return Some(Selector::Before(0));
        }
        if !first.is_ascii_digit() || text.contains(['/', ' ', '@']) {
            return None;
        }
        if text.len() < 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Selector::Before(text.parse().ok()?));
        }
        let now = now();
        if let Some(end) = end_of_day(text, &now) {
            return Some(Selector::NotAfter(end));
        }
        parse_moment(text, &now).ok().map(Selector::NotAfter)
    }
}

/// The last nanosecond of a day.
fn end_of_day(text: &str, now: &Zoned) -> Option<i64> {
    let is_day = text.len() == 8 || (text.len() == 10 && !text.contains([':', 'T']));
    let day: Date = is_day.then(|| text.parse().ok())??;
    let next = day
        .tomorrow()
        .ok()?
        .to_zoned(now.time_zone().clone())
        .ok()?;
    i64::try_from(next.timestamp().as_nanosecond() - 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_NS: i64 = 86_400_000_000_000;

    fn now() -> Zoned {
        "2026-11-29T12:00:00+00:00[UTC]".parse().unwrap()
    }

    /// The meaning where these paths are there, of which some are snapshots.
    fn with(word: &str, paths: &[&str], snapshots: &[&str]) -> Meaning {
        let has = |all: &[&str], path: &Path| all.iter().any(|own| Path::new(own) == path);
        let facts = Facts {
            now: &now,
            exists: &|path| has(paths, path) || has(snapshots, path),
            is_snapshot: &|path| has(snapshots, path),
        };
        meaning(OsStr::new(word), &facts)
    }

    fn stored(path: &str, selector: Selector) -> Meaning {
        Meaning::Stored(StoredName {
            path: path.into(),
            selector,
        })
    }

    fn folder(folder: &str, inside: Option<&str>) -> Meaning {
        Meaning::Folder {
            folder: folder.into(),
            inside: inside.map(PathBuf::from),
        }
    }

    #[test]
    fn a_snapshot_of_the_store_has_a_path_and_a_choice() {
        let now_ns = i64::try_from(now().timestamp().as_nanosecond()).unwrap();
        let check = |word: &str, path: &str, selector| {
            assert_eq!(with(word, &[], &[]), stored(path, selector), "{word}");
        };
        check("/home@last", "/home", Selector::Before(0));
        check("/home@1", "/home", Selector::Before(1));
        check("@last", ".", Selector::Before(0));
        check("@2", ".", Selector::Before(2));
        check("a@b@last", "a@b", Selector::Before(0));
        let week = Selector::NotAfter(now_ns - 7 * DAY_NS);
        check("/home@7d", "/home", week);
        check("/home@1w", "/home", week);
        // The whole day of 1 November: up to the last nanosecond before the second.
        let november_2 = now_ns - 12 * 3_600_000_000_000 - 27 * DAY_NS;
        let day = Selector::NotAfter(november_2 - 1);
        check("/home@2026-11-01", "/home", day);
        check("/home@20261101", "/home", day);
        let moment = Selector::NotAfter(november_2 - 6 * 3_600_000_000_000);
        check("/home@2026-11-01T18:00", "/home", moment);
    }

    /// To read the time zone took three times as long as all else of the program's start.
    #[test]
    fn a_plain_path_asks_for_no_time() {
        for word in ["/home", ".", "user@host", "/home@last", "@1", "a:/b"] {
            let facts = Facts {
                now: &|| panic!("{word} asks for the time"),
                exists: &|_| false,
                is_snapshot: &|_| false,
            };
            meaning(OsStr::new(word), &facts);
        }
    }

    #[test]
    fn other_words_are_paths() {
        for word in [
            "/home",
            "",
            "@",
            "user@host",
            "/home@lats",
            "icon@2x.png",
            "a@1/b",
            "@last/x",
            "a@-1",
            "/home@2026-13-01",
            "a:b",
            "host:/srv",
            "/home@7d ",
        ] {
            assert_eq!(with(word, &[], &[]), Meaning::Path, "{word}");
        }
    }

    #[test]
    fn a_path_that_exists_is_that_path() {
        let check = |word: &str, snapshots: &[&str], expected| {
            assert_eq!(with(word, &[word], snapshots), expected, "{word}");
        };
        check("/home@last", &[], Meaning::PathInstead);
        check("S:/home/ann", &["S"], Meaning::PathInstead);
        check("a@b", &[], Meaning::Path);
        check("S:/home/ann", &[], Meaning::Path);
    }

    #[test]
    fn a_folder_is_named_by_its_path() {
        let check = |word: &str, snapshots: &[&str], expected| {
            assert_eq!(with(word, &[], snapshots), expected, "{word}");
        };
        check("S", &["S"], folder("S", None));
        check("S@1", &["S@1"], folder("S@1", None));
        check("S/.", &["S/.", "S"], Meaning::Path);
        check("S:/home/ann", &["S"], folder("S", Some("/home/ann")));
        check("a:/b:/c", &["a"], folder("a", Some("/b:/c")));
        check("a:/b:/c", &["a:/b", "a"], folder("a:/b", Some("/c")));
        check("S:home", &["S"], Meaning::Path);
        check(":/home", &[""], Meaning::Path);
        check("S:/home@last", &["S"], folder("S", Some("/home@last")));
    }
}
