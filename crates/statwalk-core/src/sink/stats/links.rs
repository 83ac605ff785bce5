// SPDX-License-Identifier: MIT OR Apache-2.0

//! The shares of inodes with several names, until all names are known.

use std::sync::Mutex;

use statwalk_group::Numbered;

use super::groups::Keys;
use super::sample::Sample;
use crate::entry::FileId;
use crate::lock::lock;
use crate::sink::Context;
use crate::sink::first_names::{FirstNames, Kept, LinkName};

/// The shares of inodes with several names; for all workers.
pub(super) struct Links {
    firsts: FirstNames<Brought>,
    /// The groups that they belong to.
    groups: Mutex<Numbered<Keys>>,
}

/// The share of an inode, and its group.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Brought {
    pub(super) apparent_bytes: u64,
    pub(super) allocated_bytes: u64,
    /// Twice the number of the group; odd for a regular file.
    group_and_kind: u32,
}

impl Brought {
    /// The share of `sample` in the group with this number.
    pub(super) fn new(sample: &Sample<'_>, group: u32) -> Brought {
        let (apparent_bytes, allocated_bytes) = sample.bytes();
        let is_file = sample.file_size_bytes().is_some();
        Brought {
            apparent_bytes,
            allocated_bytes,
            group_and_kind: 2 * group + u32::from(is_file),
        }
    }

    /// The size, where it is that of a regular file.
    pub(super) fn file_size_bytes(self) -> Option<u64> {
        let is_file = !self.group_and_kind.is_multiple_of(2);
        is_file.then_some(self.apparent_bytes)
    }
}

impl Kept for Brought {
    const NOTHING: Brought = Brought {
        apparent_bytes: 0,
        allocated_bytes: 0,
        group_and_kind: 0,
    };
}

impl Links {
    pub(super) fn new(context: &Context) -> Links {
        Links {
            firsts: FirstNames::new(context),
            groups: Mutex::default(),
        }
    }

    /// The number of a group.
    pub(super) fn number(&self, group: Keys) -> u32 {
        lock(&self.groups).number(group) as u32
    }

    /// Takes the share of an inode that a name brings, if no earlier name has.
    pub(super) fn offer(&self, context: &Context, id: FileId, name: LinkName<'_>, share: Brought) {
        let number = context.inodes.number(id);
        self.firsts.offer(number, name, share);
    }

    /// Goes through the shares of all inodes, each with the group of its first name.
    pub(super) fn each(&self, mut take: impl FnMut(Keys, Brought)) {
        let groups = lock(&self.groups);
        self.firsts.each(|_, brought| {
            let group = brought.group_and_kind / 2;
            take(groups.all()[group as usize], brought);
        });
    }
}
