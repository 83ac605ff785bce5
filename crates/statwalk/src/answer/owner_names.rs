// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of the owners that occur in an answer.

use std::collections::BTreeMap;

use crate::stored::StoredScan;
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
    /// Keeps the names of users, as far as they are known.
    pub(crate) fn keep_users(
        &mut self,
        uids: impl Iterator<Item = u32> + Clone,
        known: KnownOwners<'_>,
    ) {
        if let KnownOwners::Here = known {
            USERS.learn(uids.clone());
        }
        self.users
            .extend(uids.filter_map(|uid| Some((uid, known.user(uid)?))));
    }

    /// Keeps the names of groups, as far as they are known.
    pub(crate) fn keep_groups(
        &mut self,
        gids: impl Iterator<Item = u32> + Clone,
        known: KnownOwners<'_>,
    ) {
        if let KnownOwners::Here = known {
            GROUPS.learn(gids.clone());
        }
        self.groups
            .extend(gids.filter_map(|gid| Some((gid, known.group(gid)?))));
    }
}

/// Where an answer finds the names of its owners.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KnownOwners<'a> {
    /// In the accounts of this machine.
    Here,
    /// In a stored scan.
    Stored(&'a StoredScan),
}

impl<'a> KnownOwners<'a> {
    /// Those of a stored scan, or of this machine where there is none.
    pub(crate) fn of(stored: Option<&'a StoredScan>) -> KnownOwners<'a> {
        stored.map_or(KnownOwners::Here, KnownOwners::Stored)
    }
}

impl Owners for KnownOwners<'_> {
    fn user(&self, uid: u32) -> Option<Vec<u8>> {
        match self {
            KnownOwners::Here => OwnersHere.user(uid),
            KnownOwners::Stored(scan) => scan.user(uid),
        }
    }

    fn group(&self, gid: u32) -> Option<Vec<u8>> {
        match self {
            KnownOwners::Here => OwnersHere.group(gid),
            KnownOwners::Stored(scan) => scan.group(gid),
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
