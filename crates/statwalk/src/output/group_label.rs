// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of groups of entries.

use std::borrow::Cow;

use statwalk_core::{FileType, GroupKey};
use statwalk_view::SizeFormat;

use crate::answer::owner_names::Owners;
use crate::output::json::{size_max, size_min};

/// The label of a group. An extension or the name of a user may hold any bytes.
pub(crate) fn label(key: &GroupKey, owners: &impl Owners) -> Cow<'static, [u8]> {
    let text = match key {
        GroupKey::Kind(kind) => return Cow::Borrowed(kind_name(*kind).as_bytes()),
        GroupKey::Extension(extension) => match &extension.to_vec()[..] {
            [] => "no extension".to_owned(),
            extension => return Cow::Owned([b".", extension].concat()),
        },
        GroupKey::Category(category) => return Cow::Borrowed(category.label().as_bytes()),
        GroupKey::Owner(uid) => match owners.user(*uid) {
            Some(name) => return Cow::Owned(name),
            None => uid.to_string(),
        },
        GroupKey::Group(gid) => match owners.group(*gid) {
            Some(name) => return Cow::Owned(name),
            None => gid.to_string(),
        },
        GroupKey::ModifiedWithin(None) => "in the future".to_owned(),
        GroupKey::ModifiedWithin(Some(u64::MAX)) => "older".to_owned(),
        GroupKey::ModifiedWithin(Some(limit_s)) => format!("within {}", span(*limit_s)),
        GroupKey::SizeBelowPower(0) => "empty".to_owned(),
        GroupKey::SizeBelowPower(power) => {
            let text = |bytes: u64| SizeFormat::Binary.text(bytes.into());
            match size_max(*power).checked_add(1) {
                Some(end) => format!("{} to below {}", text(size_min(*power)), text(end)),
                None => format!("{} and more", text(size_min(*power))),
            }
        }
        GroupKey::Depth(depth) => depth.to_string(),
        _ => "unknown".to_owned(),
    };
    Cow::Owned(text.into_bytes())
}

fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::File => "files",
        FileType::Directory => "directories",
        FileType::Symlink => "symbolic links",
        FileType::Fifo => "pipes",
        FileType::Socket => "sockets",
        FileType::CharDevice => "character devices",
        FileType::BlockDevice => "block devices",
        _ => "unknown",
    }
}

/// A limit of ages in words.
fn span(limit_s: u64) -> String {
    const HOUR: u64 = 3_600;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let (count, unit) = match limit_s {
        s if s >= YEAR && s % YEAR == 0 => (s / YEAR, "year"),
        s if s >= DAY && s % DAY == 0 => (s / DAY, "day"),
        s => (s / HOUR, "hour"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::owner_names::OwnerNames;
    use statwalk_core::{Category, Extension};

    #[test]
    fn groups_have_names() {
        let mut owners = OwnerNames::default();
        owners.keep_user(0);
        let check = |key: GroupKey, expected: &str| {
            assert_eq!(label(&key, &owners), expected.as_bytes(), "{key:?}");
        };
        check(GroupKey::Extension(Extension::of_name(b"a.rs")), ".rs");
        check(
            GroupKey::Extension(Extension::of_name(b"a")),
            "no extension",
        );
        check(GroupKey::Kind(FileType::Directory), "directories");
        check(GroupKey::Category(Category::Source), "source code");
        check(GroupKey::Owner(0), "root");
        check(GroupKey::Group(4_000_000_001), "4000000001");
        check(GroupKey::ModifiedWithin(Some(3_600)), "within 1 hour");
        check(
            GroupKey::ModifiedWithin(Some(182 * 86_400)),
            "within 182 days",
        );
        check(
            GroupKey::ModifiedWithin(Some(2 * 365 * 86_400)),
            "within 2 years",
        );
        check(GroupKey::ModifiedWithin(Some(u64::MAX)), "older");
        check(GroupKey::SizeBelowPower(0), "empty");
        check(GroupKey::SizeBelowPower(13), "4.00 KiB to below 8.00 KiB");
        check(GroupKey::SizeBelowPower(64), "8.00 EiB and more");
    }
}
