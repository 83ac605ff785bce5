// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of the owners that occur in an answer.

use std::collections::BTreeMap;

use crate::system::accounts::{GROUPS, USERS, group_name, user_name};

/// Where the names of users and groups are known.
pub(crate) trait Owners {
    /// The name of a user, exact bytes; absent where nobody has the number.
    fn user(&self, uid: u32) -> Option<Vec<u8>>;

    /// The name of a group, exact bytes; absent where no group has the number.
    fn group(&self, gid: u32) -> Option<Vec<u8>>;
}

/// The accounts of this machine, asked whenever a number comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnersHere;

impl Owners for OwnersHere {
    fn user(&self, uid: u32) -> Option<Vec<u8>> {
        user_name(uid)
    }

    fn group(&self, gid: u32) -> Option<Vec<u8>> {
        group_name(gid)
    }
}

/// The names as they were when the answer was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnerNames {
    users: BTreeMap<u32, Vec<u8>>,
    groups: BTreeMap<u32, Vec<u8>>,
}

impl OwnerNames {
    /// Keeps the names of users, as far as the machine knows them.
    pub(crate) fn keep_users(&mut self, uids: impl Iterator<Item = u32> + Clone) {
        USERS.learn(uids.clone());
        uids.for_each(|uid| self.keep_user(uid));
    }

    /// Keeps the names of groups, as far as the machine knows them.
    pub(crate) fn keep_groups(&mut self, gids: impl Iterator<Item = u32> + Clone) {
        GROUPS.learn(gids.clone());
        gids.for_each(|gid| self.keep_group(gid));
    }

    /// Keeps the name of a user, if the machine knows it.
    pub(crate) fn keep_user(&mut self, uid: u32) {
        if let Some(name) = OwnersHere.user(uid) {
            self.users.insert(uid, name);
        }
    }

    /// Keeps the name of a group, if the machine knows it.
    pub(crate) fn keep_group(&mut self, gid: u32) {
        if let Some(name) = OwnersHere.group(gid) {
            self.groups.insert(gid, name);
        }
    }
}

impl Owners for OwnerNames {
    fn user(&self, uid: u32) -> Option<Vec<u8>> {
        self.users.get(&uid).cloned()
    }

    fn group(&self, gid: u32) -> Option<Vec<u8>> {
        self.groups.get(&gid).cloned()
    }
}
