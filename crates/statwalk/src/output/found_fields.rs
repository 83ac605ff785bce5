// SPDX-License-Identifier: MIT OR Apache-2.0

//! The attributes that `find --fields` shows: the columns before a path.

use std::io::Write as _;

use jiff::tz::TimeZone;
use rustix::fs::{major, minor};
use statwalk_core::{Attributes, Fields, FileType, Time};
use statwalk_view::{Charset, DateStyle, SizeFormat, escape};

use crate::answer::owner_names::Owners;
use crate::flags::FieldName;
use crate::system::screen::Screen;

/// The attributes that the user names, in their order.
pub(crate) struct FoundFields {
    names: Vec<FieldName>,
    /// On a screen sizes have units, and times are dates of this zone.
    zone: TimeZone,
    style: DateStyle,
}

impl FoundFields {
    /// The fields that the user names; each counts once, at its first place.
    pub(crate) fn new(wanted: &[FieldName]) -> FoundFields {
        let mut names = Vec::new();
        for &name in wanted {
            let meant = match name {
                FieldName::All => &FieldName::EACH[..],
                _ => &[name],
            };
            for name in meant {
                if !names.contains(name) {
                    names.push(*name);
                }
            }
        }
        FoundFields {
            zone: match names.is_empty() {
                true => TimeZone::UTC,
                false => TimeZone::system(),
            },
            names,
            style: DateStyle::default(),
        }
    }

    /// The names, in the order of the columns.
    pub(crate) fn names(&self) -> &[FieldName] {
        &self.names
    }

    /// The attributes that the scan must read.
    pub(crate) fn wanted(&self) -> Fields {
        let fields = self.names.iter().map(|name| match name {
            FieldName::Type | FieldName::All => Fields::TYPE,
            FieldName::Size => Fields::SIZE,
            FieldName::Allocated => Fields::ALLOCATED,
            FieldName::Links => Fields::LINKS,
            FieldName::Inode | FieldName::Device => Fields::ID,
            FieldName::Mtime => Fields::MTIME,
            FieldName::Atime => Fields::ATIME,
            FieldName::Ctime => Fields::CTIME,
            FieldName::Btime => Fields::BTIME,
            FieldName::Owner | FieldName::Group | FieldName::Uid | FieldName::Gid => Fields::OWNER,
            FieldName::Mode => Fields::MODE,
            FieldName::Rdev => Fields::RDEV,
        });
        fields.fold(Fields::NONE, Fields::union)
    }

    /// Appends a column for each field, with a tabulator behind it; an absent attribute
    /// is an empty column.
    #[inline]
    pub(crate) fn write_columns(
        &self,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        // Most lists are of paths alone, and some of millions.
        if !self.names.is_empty() {
            self.write_each(attributes, owners, screen, out);
        }
    }

    #[inline(never)]
    fn write_each(
        &self,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        for name in &self.names {
            self.write_column(*name, attributes, owners, screen, out);
            out.push(b'\t');
        }
    }

    fn write_column(
        &self,
        name: FieldName,
        attributes: &Attributes,
        owners: &impl Owners,
        screen: Option<Screen>,
        out: &mut Vec<u8>,
    ) {
        let size = |bytes: Option<u64>| {
            bytes.map(|bytes| match screen {
                Some(_) => SizeFormat::Binary.text(bytes.into()),
                None => bytes.to_string(),
            })
        };
        let time = |ns: Option<i64>| match screen {
            Some(_) => ns.and_then(|ns| self.style.text(ns, &self.zone)),
            None => ns.map(seconds),
        };
        let text = match name {
            FieldName::Type => Some(attributes.kind.letter().to_string()),
            FieldName::Size => size(attributes.size_bytes()),
            FieldName::Allocated => size(attributes.allocated_bytes()),
            FieldName::Links => attributes.links().map(|links| links.to_string()),
            FieldName::Inode => attributes.id().map(|id| id.ino().to_string()),
            FieldName::Device => attributes.id().map(|id| device(id.dev())),
            FieldName::Mtime => time(attributes.mtime_ns()),
            FieldName::Atime => time(attributes.time_ns(Time::Accessed)),
            FieldName::Ctime => time(attributes.time_ns(Time::Changed)),
            FieldName::Btime => time(attributes.time_ns(Time::Born)),
            FieldName::Uid => attributes.uid().map(|uid| uid.to_string()),
            FieldName::Gid => attributes.gid().map(|gid| gid.to_string()),
            FieldName::Owner => attributes.uid().map(|uid| account(uid, owners.user(uid))),
            FieldName::Group => attributes.gid().map(|gid| account(gid, owners.group(gid))),
            FieldName::Mode => attributes.mode().map(permissions),
            FieldName::Rdev => rdev(attributes),
            FieldName::All => None,
        };
        // To write into a vector cannot fail.
        let _ = out.write_all(text.unwrap_or_default().as_bytes());
    }
}

/// A number of nanoseconds as seconds with nine decimals.
fn seconds(ns: i64) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / SECOND_NS, ns % SECOND_NS)
}

/// A device as in `/proc/self/mountinfo`: its major and minor number.
pub(crate) fn device(number: u64) -> String {
    format!("{}:{}", major(number), minor(number))
}

/// The permission bits, in octal as chmod(1) takes them.
pub(crate) fn permissions(mode: u16) -> String {
    format!("{:04o}", mode & 0o7777)
}

/// The device that a device node stands for; absent for other types.
pub(crate) fn rdev(attributes: &Attributes) -> Option<String> {
    match attributes.kind {
        FileType::CharDevice | FileType::BlockDevice => attributes.rdev().map(device),
        _ => None,
    }
}

/// The name of an account, or its number where nobody has it. A name with a tabulator
/// would look like two columns.
fn account(number: u32, name: Option<Vec<u8>>) -> String {
    match name {
        Some(name) => escape(&name, Charset::Unicode).into_owned(),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_signed_decimals() {
        for (ns, text) in [
            (0, "0.000000000"),
            (1_500_000_000, "1.500000000"),
            (-1, "-0.000000001"),
            (i64::MIN, "-9223372036.854775808"),
        ] {
            assert_eq!(seconds(ns), text);
        }
    }

    #[test]
    fn fields_count_once_at_their_first_place() {
        use FieldName::{All, Mtime, Size, Type};
        let fields = FoundFields::new(&[Mtime, Size, Mtime]);
        assert_eq!(fields.names(), [Mtime, Size]);
        let all = FoundFields::new(&[Mtime, All]);
        assert_eq!(all.names()[..3], [Mtime, Type, Size]);
        assert_eq!(all.names().len(), FieldName::EACH.len());
        assert!(!all.names().contains(&All));
        assert!(!FoundFields::new(&[Type]).wanted().need_stat());
    }
}
