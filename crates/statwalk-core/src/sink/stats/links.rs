// SPDX-License-Identifier: MIT OR Apache-2.0

//! The shares of inodes with several names, until all names are known.

use std::collections::HashMap;
use std::sync::Mutex;

use foldhash::fast::RandomState;

use super::key::Key;
use crate::entry::FileId;
use crate::lock::lock;
use crate::sink::Context;
use crate::sink::first_names::{FirstNames, Kept, LinkName};

/// The shares of inodes with several names; for all workers.
pub(super) struct Links {
    firsts: FirstNames<Brought>,
    /// The groups that they belong to.
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    keys: Vec<Key>,
    numbers: HashMap<Key, u32, RandomState>,
}

/// The share of an inode, and its group.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
pub(super) struct Brought {
    pub(super) apparent_bytes: u64,
    pub(super) allocated_bytes: u64,
    pub(super) group: u32,
}

impl Kept for Brought {
    const NOTHING: Brought = Brought {
        apparent_bytes: 0,
        allocated_bytes: 0,
        group: 0,
    };
}

impl Links {
    pub(super) fn new(context: &Context) -> Links {
        Links {
            firsts: FirstNames::new(context),
            keys: Mutex::default(),
        }
    }

    /// The number of a group.
    pub(super) fn number(&self, key: Key) -> u32 {
        let mut keys = lock(&self.keys);
        let Keys { keys, numbers } = &mut *keys;
        *numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1
        })
    }

    /// Takes the share of an inode that a name brings, if no earlier name has.
    pub(super) fn offer(&self, context: &Context, id: FileId, name: LinkName<'_>, share: Brought) {
        let number = context.inodes.number(id);
        self.firsts.offer(number, name, share);
    }

    /// Goes through the shares of all inodes, each with the group of its first name.
    pub(super) fn each(&self, mut take: impl FnMut(Key, Brought)) {
        let keys = lock(&self.keys);
        self.firsts.each(|_, brought| {
            let group = brought.group;
            take(keys.keys[group as usize], brought);
        });
    }
}
