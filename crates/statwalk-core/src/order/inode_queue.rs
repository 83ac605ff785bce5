// SPDX-License-Identifier: MIT OR Apache-2.0

//! The order of inode numbers, over the whole frontier.
//!
//! On most file systems an inode number is a place on the disk. So the known part of
//! the tree is read in the order of those numbers.
//! Workers list directories upwards from the last one, and begin again at the lowest,
//! as an elevator does. They do not stat the entries at once. They gather the entries
//! of many directories and sort them. Then several workers stat them in one sweep, one
//! entry at a time, so that the calls under way lie next to each other.
//!
//! The gathered entries have a bound, and so have the directories that stay open for
//! them. At the bound the sweep begins; after the sweep, gathering goes on.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use super::frontier::{Taken, child_job};
use crate::handle::OpenParent;
use crate::listing::job::{Deferred, Job};
use crate::listing::listed::Listed;
use crate::listing::shared::SharedListing;
use crate::lock::lock;

/// The largest number of entries that are gathered for one sweep, about.
const GATHERED_MAX: usize = 64 * 1024;

/// The directories and entries that wait, by inode number.
pub(super) struct InodeQueue {
    state: Mutex<State>,
    /// The largest number of directories that are open because entries of theirs wait.
    listings_max: usize,
}

#[derive(Default)]
struct State {
    /// Directories to list, by inode number and a running number: on several devices
    /// inode numbers repeat.
    dirs: BTreeMap<(u64, u64), Job>,
    next_number: u64,
    /// The inode number of the last directory.
    head: u64,
    /// Large directories that are not read to their end.
    rests: VecDeque<Job>,
    /// Entries that are gathered and not sorted yet.
    gathered: Vec<Deferred>,
    /// The rest of the present sweep, the lowest first.
    sweep: VecDeque<Deferred>,
    /// Directories that workers list now.
    listing: usize,
    /// Directories that are open because entries of theirs wait.
    open: usize,
}

/// The next thing to do.
enum Next {
    List,
    InodeQueue,
    Nothing,
}

impl InodeQueue {
    pub(super) fn new(listings_max: usize) -> InodeQueue {
        InodeQueue {
            state: Mutex::default(),
            listings_max: listings_max.max(1),
        }
    }

    /// Takes subdirectories, each with its inode number.
    pub(super) fn push_dirs(&self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]) {
        let mut state = self.lock();
        for (&offset, &ino) in name_offsets.iter().zip(inos) {
            let number = state.next_number;
            state.next_number += 1;
            let job = child_job(parent, offset, ino);
            state.dirs.insert((ino, number), job);
        }
    }

    /// Takes the entries of a part of a listing.
    pub(super) fn push_part(&self, listing: &Arc<SharedListing>, part: Listed) {
        let part = Arc::new(part);
        let entries = (0..part.len()).map(|index| Deferred {
            ino: part.ino(index),
            listing: Arc::clone(listing),
            part: Arc::clone(&part),
            index,
        });
        self.lock().gathered.extend(entries);
    }

    /// Takes the token to read on in a large directory.
    pub(super) fn push_rest(&self, job: Job) {
        self.lock().rests.push_back(job);
    }

    /// Counts a directory that is open because its entries wait.
    pub(super) fn opened(&self) {
        self.lock().open += 1;
    }

    /// Counts one less, because the last of its entries is done.
    pub(super) fn closed(&self) {
        self.lock().open -= 1;
    }

    /// Counts a directory that was taken and is listed as far as it goes for now.
    pub(super) fn listed(&self) {
        self.lock().listing -= 1;
    }

    pub(super) fn take(&self) -> Option<Taken> {
        let mut state = self.lock();
        let job = match self.next(&state) {
            Next::Nothing => return None,
            Next::List => {
                state.listing += 1;
                state.take_directory()?
            }
            Next::InodeQueue => {
                if state.sweep.is_empty() {
                    let mut entries = std::mem::take(&mut state.gathered);
                    radsort::sort_by_key(&mut entries, |entry| entry.ino);
                    state.sweep = entries.into();
                }
                Job::Entry(Box::new(state.sweep.pop_front()?))
            }
        };
        let more = !matches!(self.next(&state), Next::Nothing);
        Some(Taken { job, more })
    }

    /// Drops all that waits.
    pub(super) fn clear(&self) {
        let waiting = {
            let mut state = self.lock();
            let gathered = std::mem::take(&mut state.gathered);
            let sweep = std::mem::take(&mut state.sweep);
            let dirs = std::mem::take(&mut state.dirs);
            (dirs, std::mem::take(&mut state.rests), gathered, sweep)
        };
        // Outside of the lock: this closes descriptors, which can block.
        drop(waiting);
    }

    pub(super) fn has_work(&self) -> bool {
        !matches!(self.next(&self.lock()), Next::Nothing)
    }

    fn next(&self, state: &State) -> Next {
        if !state.sweep.is_empty() {
            return Next::InodeQueue;
        }
        // A large directory that is not read to its end is open already.
        let may_open = state.open + state.listing < self.listings_max;
        let has_some = !state.rests.is_empty() || (may_open && !state.dirs.is_empty());
        if has_some && state.gathered.len() < GATHERED_MAX {
            return Next::List;
        }
        // Directories that are listed now belong into the same sweep.
        match state.gathered.is_empty() || state.listing > 0 {
            true => Next::Nothing,
            false => Next::InodeQueue,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn take_directory(&mut self) -> Option<Job> {
        if let Some(rest) = self.rests.pop_front() {
            return Some(rest);
        }
        let above = self.dirs.range((self.head, 0)..).next();
        let (&key, _) = above.or_else(|| self.dirs.first_key_value())?;
        self.head = key.0;
        self.dirs.remove(&key)
    }
}
