// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories whose times move while their entries stay, as on Gluster, goofys and dCache.
//!
//! A server can give the present as the time of a change. So where one gives the times, a
//! changed stamp alone is no change: the lister compares the readings that follow.
//! A kernel file system gives a new time to a change alone. There the stamp decides.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::{FoldHasher, RandomState};

use super::change_stamp::ChangeStamp;
use super::contents::Contents;
use super::listed::Listed;
use super::source::DirectorySource;
use super::{Lister, REREADS_MAX};
use crate::batch::Batch;
use crate::column_table::with_numbers;
use crate::dir_handle::DirHandle;

/// The repeated readings of one directory.
#[derive(Default)]
pub(super) struct Repeats {
    hash: RandomState,
    /// Whether a server gives the times. Absent until the first reading changed.
    is_served: Option<bool>,
    /// The last reading, and how many with it were the same one after another.
    last: Option<u64>,
    same: u32,
}

/// The names and types of a reading in progress.
pub(super) struct Print {
    hasher: FoldHasher<'static>,
    buffers: u32,
}

impl Print {
    /// Adds the entries of one buffer, from `start` on.
    pub(super) fn add(&mut self, listed: &Listed, start: usize) {
        self.buffers += 1;
        for index in start..listed.len() {
            listed.name_bytes(index).hash(&mut self.hasher);
            listed.kind(index).hash(&mut self.hasher);
        }
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Prepares to compare the next reading of a directory that has changed.
    pub(super) fn begin_repeat(&mut self, repeats: &mut Repeats, fd: &DirHandle) {
        let source = &self.context.source;
        let is_served = *(repeats.is_served).get_or_insert_with(|| source.is_served(fd));
        self.print = is_served.then(|| Print {
            hasher: repeats.hash.build_hasher(),
            buffers: 0,
        });
    }
}

impl Repeats {
    /// Whether a reading is the same as the ones before, in all but times.
    ///
    /// One buffer shows the names of one moment, so two readings are enough. Of several
    /// buffers each can show another moment: all of them can lack a name that is renamed to
    /// and fro.
    pub(super) fn is_same(
        &mut self,
        print: Option<Print>,
        stamp: Option<ChangeStamp>,
        contents: &Contents,
    ) -> bool {
        let Some(print) = print else {
            return false;
        };
        let has_doubt = !contents.missing.is_empty() || contents.vanished > 0;
        if has_doubt || !contents.failures.is_empty() {
            self.last = None;
            return false;
        }
        let needed = match print.buffers {
            0 | 1 => 2,
            _ => REREADS_MAX,
        };
        let now = value_of(print.hasher, stamp, contents);
        self.same = match self.last == Some(now) {
            true => self.same + 1,
            false => 1,
        };
        self.last = Some(now);
        self.same >= needed
    }
}

/// All of a reading but times.
fn value_of(mut hasher: FoldHasher<'_>, stamp: Option<ChangeStamp>, contents: &Contents) -> u64 {
    let own = stamp.map(|stamp| (stamp.links, stamp.size_bytes));
    own.hash(&mut hasher);
    add_batch(&mut hasher, &contents.batch);
    add_batch(&mut hasher, &contents.followed);
    contents.waiting_names.hash(&mut hasher);
    contents.subdir_offsets.hash(&mut hasher);
    (contents.excluded, contents.crossings).hash(&mut hasher);
    hasher.finish()
}

fn add_batch(hasher: &mut FoldHasher<'_>, batch: &Batch) {
    batch.len().hash(hasher);
    for entry in batch.iter() {
        let it = &entry.attributes;
        (it.kind, it.id.dev, it.id.ino).hash(hasher);
        macro_rules! numbers {
            ($($(#[$doc:meta])* $field:ident $value:ident: $type:ident, $column:ident
                $name:literal $(, $with:ident)?;)+) => {
                ($(it.$value,)+).hash(hasher)
            };
        }
        with_numbers!(numbers);
    }
}
