// SPDX-License-Identifier: MIT OR Apache-2.0

//! The owner that the filter `--owner` asks for.

use crate::failure::Failure;
use crate::request::{invalid, safe};
use crate::stored::StoredScan;
use crate::system::accounts::{GROUPS, USERS};

/// Whom an entry must belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerFilter {
    user: Id,
    group: Id,
}

/// A number that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    Any,
    Is(u32),
    IsNot(u32),
}

impl Id {
    fn fits(self, id: u32) -> bool {
        match self {
            Id::Any => true,
            Id::Is(wanted) => id == wanted,
            Id::IsNot(unwanted) => id != unwanted,
        }
    }

    fn parse(
        text: &str,
        number_of: impl Fn(&str) -> Result<Option<u32>, Failure>,
    ) -> Result<Option<Id>, Failure> {
        if text.is_empty() {
            return Ok(Some(Id::Any));
        }
        let (make, name): (fn(u32) -> Id, _) = match text.strip_prefix('!') {
            Some(name) => (Id::IsNot, name),
            None => (Id::Is, text),
        };
        // As in chown, a name comes before a number.
        let number = number_of(name)?.or_else(|| name.parse().ok());
        Ok(number.map(make))
    }
}

impl OwnerFilter {
    /// Reads `user`, `user:group` or `:group`, by name or number, either with
    /// a `!` before it.
    pub(crate) fn parse(text: &str, stored: Option<&StoredScan>) -> Result<OwnerFilter, Failure> {
        let uid = |name: &str| match stored {
            Some(stored) => stored.uid(name.as_bytes()),
            None => Ok(USERS.number(name.as_bytes())),
        };
        let gid = |name: &str| match stored {
            Some(stored) => stored.gid(name.as_bytes()),
            None => Ok(GROUPS.number(name.as_bytes())),
        };
        let (user, group) = text.split_once(':').unwrap_or((text, ""));
        let unknown = |what: &str, name: &str| {
            let name = safe(name.trim_start_matches('!'));
            invalid("--owner", text, format!("there is no {what} '{name}'"))
        };
        let filter = OwnerFilter {
            user: Id::parse(user, uid)?.ok_or_else(|| unknown("user", user))?,
            group: Id::parse(group, gid)?.ok_or_else(|| unknown("group", group))?,
        };
        match filter {
            OwnerFilter {
                user: Id::Any,
                group: Id::Any,
            } => Err(invalid("--owner", text, "must name a user or a group")),
            filter => Ok(filter),
        }
    }

    /// Whether something of this user and group is wanted.
    pub(crate) fn fits(self, uid: u32, gid: u32) -> bool {
        self.user.fits(uid) && self.group.fits(gid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners() {
        let check = |text: &str, uid, gid, expected| {
            let filter = OwnerFilter::parse(text, None).unwrap();
            assert_eq!(filter.fits(uid, gid), expected, "{text} {uid} {gid}");
        };
        check("root", 0, 7, true);
        check("0", 0, 7, true);
        check("!root", 0, 7, false);
        check("!root", 1, 7, true);
        check("7:8", 7, 8, true);
        check("7:8", 7, 9, false);
        check(":!8", 7, 8, false);
        check("4000000000", 4_000_000_000, 0, true);
    }

    #[test]
    fn unknown_owners_are_named() {
        for (text, expected) in [
            ("nobody-has-this-name", "user 'nobody-has-this-name'"),
            ("root:no-such-group", "group 'no-such-group'"),
            ("!no-such-user", "user 'no-such-user'"),
            (":", "must name a user or a group"),
            ("4294967296", "user '4294967296'"),
            ("-1", "user '-1'"),
        ] {
            let message = OwnerFilter::parse(text, None).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
