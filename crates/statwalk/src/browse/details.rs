// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts that the system knows about an item.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::tz::TimeZone;
use statwalk_browse::{Data, Details, ItemId};
use statwalk_view::{DateStyle, escape, grouped};

use crate::system::accounts;
use crate::system::screen;
use crate::system::stdio::reason;

/// The other names of an inode that are shown.
const NAMES_MAX: usize = 8;

/// The facts about an item, as lstat(2) has them now. Absent where `stop` asked to end.
pub(super) fn of(id: ItemId, data: &dyn Data, stop: &dyn Fn() -> bool) -> Option<Details> {
    let Some(path) = data.path(id) else {
        let rows = vec![("Error", "the item is gone".to_owned())];
        return Some(Details { id, rows });
    };
    let path = Path::new(OsStr::from_bytes(&path));
    let rows = match fs::symlink_metadata(path) {
        Ok(metadata) => {
            let mut rows = rows(path, &metadata);
            rows.extend(other_names(id, &metadata, data, stop)?);
            rows
        }
        Err(error) => vec![("Error", reason(&error))],
    };
    Some(Details { id, rows })
}

/// The other names of the inode that the scan has met.
///
/// Where links are followed, the tree keeps no numbers of inodes. Names of one inode have the same sizes and the
/// same time, so only those few are asked for the number.
fn other_names(
    id: ItemId,
    metadata: &fs::Metadata,
    data: &dyn Data,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<(&'static str, String)>> {
    let mut names = Vec::new();
    let Some(own) = data.item(id).filter(|item| item.notes.has_other_names) else {
        return Some(names);
    };
    let (mut seen, mut stopped, mut more) = (0_u32, false, 0);
    for root in data.roots() {
        data.walk(root, &mut |entry| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(4096) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            let item = &entry.item;
            let is_like = item.notes.has_other_names
                && item.apparent_bytes == own.apparent_bytes
                && item.allocated_bytes == own.allocated_bytes
                && item.newest_ns == own.newest_ns;
            if !is_like || entry.id == id {
                return ControlFlow::Continue(());
            }
            let Some(path) = data.path(entry.id) else {
                return ControlFlow::Continue(());
            };
            let other = fs::symlink_metadata(Path::new(OsStr::from_bytes(&path)));
            let is_same = other
                .is_ok_and(|other| other.dev() == metadata.dev() && other.ino() == metadata.ino());
            if is_same && names.len() < NAMES_MAX {
                names.push(("Other name", escape(&path, screen::charset()).into_owned()));
            } else if is_same {
                more += 1;
            }
            ControlFlow::Continue(())
        });
    }
    if more > 0 {
        names.push(("", format!("and {} more", grouped(more))));
    }
    let known = names.len() as u64 + more + 1;
    if metadata.nlink() > known {
        let elsewhere = metadata.nlink() - known;
        names.push(("", format!("{} outside of the scan", grouped(elsewhere))));
    }
    (!stopped).then_some(names)
}

/// An account with its name, if it has one.
pub(super) fn account(name: Option<&[u8]>, number: u32) -> String {
    match name {
        Some(name) => format!("{} ({number})", escape(name, screen::charset())),
        None => number.to_string(),
    }
}

/// A time with its zone.
pub(super) fn date(seconds: i64, ns: i64) -> String {
    let style: DateStyle = "full-iso".parse().unwrap_or_default();
    let ns = seconds
        .checked_mul(1_000_000_000)
        .and_then(|s| s.checked_add(ns));
    let text = ns.and_then(|ns| style.text(ns, &TimeZone::system()));
    text.unwrap_or_else(|| format!("{seconds} s after 1970"))
}

fn rows(path: &Path, metadata: &fs::Metadata) -> Vec<(&'static str, String)> {
    let user = account(
        accounts::user_name(metadata.uid()).as_deref(),
        metadata.uid(),
    );
    let group = account(
        accounts::group_name(metadata.gid()).as_deref(),
        metadata.gid(),
    );
    let mut rows = vec![
        ("Owner", user),
        ("Group", group),
        ("Mode", mode(metadata.mode())),
        ("Links", grouped(metadata.nlink())),
        ("Inode", metadata.ino().to_string()),
        ("Modified", date(metadata.mtime(), metadata.mtime_nsec())),
        ("Changed", date(metadata.ctime(), metadata.ctime_nsec())),
        ("Accessed", date(metadata.atime(), metadata.atime_nsec())),
    ];
    if let Ok(target) = fs::read_link(path) {
        let target = target.into_os_string().into_vec();
        rows.push(("Leads to", escape(&target, screen::charset()).into_owned()));
    }
    rows
}

/// The mode as ls shows it, and its number.
pub(super) fn mode(mode: u32) -> String {
    let kind = match mode & 0o170_000 {
        0o040_000 => 'd',
        0o120_000 => 'l',
        0o060_000 => 'b',
        0o020_000 => 'c',
        0o010_000 => 'p',
        0o140_000 => 's',
        _ => '-',
    };
    let bit = |bit: u32, letter| if mode & bit == 0 { '-' } else { letter };
    let execute = |bit: u32, special: u32, letter: char| match (mode & bit, mode & special) {
        (0, 0) => '-',
        (_, 0) => 'x',
        (0, _) => letter.to_ascii_uppercase(),
        (..) => letter,
    };
    let text: String = [
        kind,
        bit(0o400, 'r'),
        bit(0o200, 'w'),
        execute(0o100, 0o4000, 's'),
        bit(0o040, 'r'),
        bit(0o020, 'w'),
        execute(0o010, 0o2000, 's'),
        bit(0o004, 'r'),
        bit(0o002, 'w'),
        execute(0o001, 0o1000, 't'),
    ]
    .into_iter()
    .collect();
    format!("{text} ({:04o})", mode & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_ls() {
        assert_eq!(mode(0o100_644), "-rw-r--r-- (0644)");
        assert_eq!(mode(0o041_777), "drwxrwxrwt (1777)");
        assert_eq!(mode(0o104_755), "-rwsr-xr-x (4755)");
        assert_eq!(mode(0o102_644), "-rw-r-Sr-- (2644)");
        assert_eq!(mode(0o120_777), "lrwxrwxrwx (0777)");
    }
}
