// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts the content of items before a user confirms their removal.
//!
//! It walks as a removal walks, and changes nothing.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};

use crate::descent::Descent;
use crate::failure::{Cause, Failures, Operation};
use crate::item::{Found, Item};
use crate::listing::Listing;
use crate::monitor::{Monitor, PathClock};
use crate::mount_index::MountIndex;
use crate::opening::Opening;
use crate::refusal::{Refusal, refusal_of};
use crate::seen::Seen;
use crate::sharing::Sharing;
use crate::sums::{Newest, Sums};
use crate::surroundings::Surroundings;

/// The numbers of a dialog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// All items together. A hard link between two items is inside.
    pub total: Sums,
    /// Each item by itself, in the order of the items.
    pub items: Vec<Sums>,
    /// Items that must not be removed, each once, in the order of the items.
    ///
    /// An item that a rule refuses is not counted. One with a mount within is counted
    /// without the content of that mount.
    pub refusals: Vec<ItemRefusal>,
    /// Directories that could not be read, and items that changed.
    pub failures: Failures,
    /// Whether [`Monitor::stop`] did not end the survey before all was counted.
    pub is_complete: bool,
}

/// An item of a survey that must stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRefusal {
    /// Its place among the items.
    pub item: usize,
    /// The reason: a rule, or the first mount within the item.
    pub refusal: Refusal,
}

/// Counts the entries of items that are [folded](crate::fold()).
///
/// It never follows a link and never enters a mount, a bind mount neither. Memory grows
/// with the names of one directory's subdirectories for each level, and with the files
/// that have several links.
#[must_use]
pub fn survey(items: &[Item], surroundings: &Surroundings, monitor: &Monitor) -> Survey {
    let mut surveyor = Surveyor {
        surroundings,
        monitor,
        opening: Opening::probe(),
        listing: Listing::new(),
        sharing: Sharing::default(),
        clock: PathClock::new(),
        survey: Survey::default(),
        of_item: Sums::default(),
        links: HashMap::new(),
        links_of_item: HashMap::new(),
    };
    let index = MountIndex::of(&surroundings.mounts);
    for item in items {
        monitor.set_path(item.path().to_vec());
        match refusal_of(item, surroundings, &index) {
            Some(refusal) => surveyor.refuse(refusal),
            None => surveyor.item(item),
        }
        let sums = std::mem::take(&mut surveyor.of_item);
        surveyor.links_of_item.clear();
        surveyor.survey.items.push(sums);
    }
    surveyor.survey.is_complete = !monitor.is_stopped();
    surveyor.survey
}

/// Links of an inode that were met, by device and inode.
type Links = HashMap<(u64, u64), u32>;

struct Surveyor<'a> {
    surroundings: &'a Surroundings,
    monitor: &'a Monitor,
    opening: Opening,
    listing: Listing,
    sharing: Sharing,
    clock: PathClock,
    survey: Survey,
    of_item: Sums,
    links: Links,
    links_of_item: Links,
}

/// Subdirectories that wait, with their attributes.
type Waiting = Vec<(Vec<u8>, Seen)>;

impl Surveyor<'_> {
    fn item(&mut self, item: &Item) {
        let (directory, name) = (item.directory_path(), item.name());
        let own_path = || item.path().to_vec();
        let Found { base, seen } = match item.find(self.opening) {
            Ok(found) => found,
            Err(cause) => {
                return (self.survey.failures).add(Operation::Stat, cause, own_path);
            }
        };
        self.sharing = Sharing::of(&base);
        self.count(base.as_fd(), name, &seen, own_path);
        if !seen.is_directory() {
            return;
        }
        let protected = &self.surroundings.protected;
        let mut descent =
            match Descent::<Waiting>::new(self.opening, base.as_fd(), directory, protected) {
                Ok(descent) => descent.by(item.recognition()),
                Err(errno) => {
                    return (self.survey.failures).add(Operation::Open, errno, own_path);
                }
            };
        self.enter(&mut descent, name, &seen);
        while descent.depth() > 0 && !self.monitor.is_stopped() {
            match descent.state().and_then(Vec::pop) {
                Some((name, seen)) => self.enter(&mut descent, &name, &seen),
                None => {
                    if let Some(lost) = descent.leave().and_then(|left| left.lost) {
                        let moved = Cause::Moved;
                        (self.survey.failures).add(Operation::Open, moved, || lost.path);
                    }
                }
            }
        }
    }

    fn enter(&mut self, descent: &mut Descent<'_, Waiting>, name: &[u8], seen: &Seen) {
        if let Err(cause) = descent.enter(name, seen, Vec::new()) {
            return self.fail(Operation::Open, cause, || descent.path_of(name));
        }
        (self.clock).tick(self.monitor, || descent.path());
        let mut waiting = Vec::new();
        loop {
            match self.listing.next(descent.directory()) {
                Ok(Some(names)) => {
                    for name in names {
                        if self.monitor.is_stopped() {
                            return;
                        }
                        self.entry(descent, name, &mut waiting);
                    }
                }
                Ok(None) => break,
                Err(errno) => {
                    self.fail(Operation::List, errno.into(), || descent.path());
                    break;
                }
            }
        }
        if let Some(state) = descent.state() {
            *state = waiting;
        }
    }

    fn entry(&mut self, descent: &Descent<'_, Waiting>, name: Vec<u8>, waiting: &mut Waiting) {
        let seen = match Seen::of(descent.directory(), &name) {
            Ok(seen) => seen,
            // Another process removed it.
            Err(rustix::io::Errno::NOENT) => return,
            Err(errno) => {
                return self.fail(Operation::Stat, errno.into(), || descent.path_of(&name));
            }
        };
        if !seen.is_on_mount_of(descent.seen()) {
            return self.fail(Operation::Open, Cause::Mount, || descent.path_of(&name));
        }
        self.count(descent.directory(), &name, &seen, || descent.path_of(&name));
        if seen.is_directory() {
            waiting.push((name, seen));
        }
    }

    fn count(
        &mut self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        seen: &Seen,
        path: impl Fn() -> Vec<u8>,
    ) {
        self.monitor.count(seen.allocated_bytes);
        let shared = self.sharing.bytes(directory, name, seen, self.monitor);
        let user = self.surroundings.user;
        for (sums, links) in [
            (&mut self.survey.total, &mut self.links),
            (&mut self.of_item, &mut self.links_of_item),
        ] {
            add(sums, links, seen, shared, user, &path);
        }
    }

    /// Refuses the item that is being counted. Its first reason suffices.
    fn refuse(&mut self, refusal: Refusal) {
        // Only the items before it have their sums.
        let item = self.survey.items.len();
        let refusals = &mut self.survey.refusals;
        if refusals.last().is_none_or(|last| last.item != item) {
            refusals.push(ItemRefusal { item, refusal });
        }
    }

    /// A mount is a reason to refuse the item, anything else a failure.
    fn fail(&mut self, operation: Operation, cause: Cause, path: impl FnOnce() -> Vec<u8>) {
        match cause {
            Cause::Mount | Cause::Protected => {
                let path = path();
                self.refuse(match cause {
                    Cause::Mount => Refusal::MountPoint { path },
                    _ => Refusal::Protected { path },
                });
            }
            cause => self.survey.failures.add(operation, cause, path),
        }
    }
}

fn add(
    sums: &mut Sums,
    links: &mut Links,
    seen: &Seen,
    shared: u64,
    user: u32,
    path: &impl Fn() -> Vec<u8>,
) {
    sums.entry_count += 1;
    sums.apparent_bytes += seen.apparent_bytes;
    sums.foreign_count += u64::from(seen.owner != user);
    if seen.is_directory() {
        sums.directory_count += 1;
        sums.allocated_bytes += seen.allocated_bytes;
        sums.freed_bytes += seen.allocated_bytes;
    } else {
        let met = match seen.link_count {
            0 | 1 => 1,
            _ => {
                let id = (seen.identity.device, seen.identity.inode);
                let met = links.entry(id).or_insert(0);
                *met += 1;
                *met
            }
        };
        if met == 1 {
            sums.allocated_bytes += seen.allocated_bytes;
            sums.shared_bytes += shared;
        }
        if met == seen.link_count.max(1) {
            sums.freed_bytes += seen.allocated_bytes - shared;
        }
    }
    let time = (seen.identity.mtime_s, seen.identity.mtime_ns);
    let newest = sums.newest.as_ref();
    if newest.is_none_or(|newest| time > (newest.mtime_s, newest.mtime_ns)) {
        sums.newest = Some(Newest {
            mtime_s: time.0,
            mtime_ns: time.1,
            path: path(),
        });
    }
}
