// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that wait, in the order of their paths.
//!
//! They lie in a line. A worker leaves a mark in the place of the job that it took, and what it
//! finds goes right behind that mark. So no path is compared with one of another directory.
//!
//! A caller who takes entries by path holds all that workers read ahead. From so many rows on,
//! workers take none but the first job of the line. That one is never refused.

use std::cmp::Ordering as Order;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::frontier::{Taken, child_job};
use crate::entry::DirId;
use crate::handle::OpenParent;
use crate::listing::Job;
use crate::lock::lock;

/// From so many rows that the caller holds, workers read no further ahead.
pub(crate) const AHEAD_MAX: usize = if cfg!(test) { 1_000 } else { 131_072 };

/// The jobs that wait, the first in path order before all others.
#[derive(Default)]
pub(super) struct SortedJobs {
    line: Mutex<Line>,
    /// How many rows the caller holds that were read ahead.
    ahead: AtomicUsize,
}

#[derive(Default)]
struct Line {
    places: Vec<Place>,
    /// Places that nobody uses.
    free: Vec<usize>,
    first: Option<usize>,
    /// How many subdirectories wait.
    waiting: usize,
    /// Parts of directories that several workers read, and the rests of those.
    parts: Vec<Job>,
    /// The places of the subdirectories of those.
    of_pieces: HashMap<DirId, usize>,
}

/// A place in the line.
struct Place {
    before: Option<usize>,
    after: Option<usize>,
    has: Has,
}

enum Has {
    /// A worker reads the directory.
    Mark,
    /// Subdirectories of one directory. More come if it is read in pieces.
    Jobs {
        jobs: BinaryHeap<ByName>,
        of_pieces: bool,
    },
}

/// A subdirectory that waits: the first by name is the greatest.
struct ByName {
    parent: Arc<OpenParent>,
    offset: u32,
    ino: u64,
}

impl ByName {
    fn name(&self) -> &[u8] {
        self.parent.dir.child_name(self.offset).to_bytes()
    }
}

impl Ord for ByName {
    fn cmp(&self, other: &ByName) -> Order {
        other.name().cmp(self.name())
    }
}

impl PartialOrd for ByName {
    fn partial_cmp(&self, other: &ByName) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &ByName) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByName {}

impl SortedJobs {
    /// Takes subdirectories that a worker with a mark has found.
    pub(super) fn push(
        &self,
        mark: Option<usize>,
        parent: &Arc<OpenParent>,
        name_offsets: &[u32],
        inos: &[u64],
    ) {
        let all = name_offsets.iter().zip(inos);
        let jobs = all.map(|(&offset, &ino)| ByName {
            parent: Arc::clone(parent),
            offset,
            ino,
        });
        let line = &mut *lock(&self.line);
        line.waiting += name_offsets.len();
        let dir = &parent.dir;
        if dir.pieces.is_none() {
            let jobs = jobs.collect();
            let of_pieces = false;
            line.insert(mark, Has::Jobs { jobs, of_pieces });
            return;
        }
        let at = line.place_of_pieces(mark, dir.id);
        if let Has::Jobs { jobs: before, .. } = &mut line.places[at].has {
            before.extend(jobs);
        }
    }

    /// Takes a part of a directory, or the rest of one.
    pub(super) fn push_part(&self, mark: Option<usize>, dir: DirId, job: Job) {
        let line = &mut *lock(&self.line);
        line.place_of_pieces(mark, dir);
        line.parts.push(job);
    }

    /// Notes that all subdirectories of a directory were found.
    pub(super) fn listed(&self, dir: DirId) {
        let line = &mut *lock(&self.line);
        let Some(at) = line.of_pieces.remove(&dir) else {
            return;
        };
        if let Has::Jobs { jobs, of_pieces } = &mut line.places[at].has {
            *of_pieces = false;
            if jobs.is_empty() {
                line.remove(at);
            }
        }
    }

    /// The next job, with the mark in its place.
    pub(super) fn take(&self) -> Option<(Taken, Option<usize>)> {
        let line = &mut *lock(&self.line);
        if let Some(job) = line.parts.pop() {
            let more = !line.parts.is_empty() || line.next(self.is_far_ahead()).is_some();
            return Some((Taken { job, more }, None));
        }
        let at = line.next(self.is_far_ahead())?;
        let Has::Jobs { jobs, of_pieces } = &mut line.places[at].has else {
            return None;
        };
        let next = jobs.pop()?;
        let is_last = jobs.is_empty() && !*of_pieces;
        line.waiting -= 1;
        let mark = match is_last {
            true => {
                line.places[at].has = Has::Mark;
                at
            }
            false => {
                let before = line.places[at].before;
                line.insert(before, Has::Mark)
            }
        };
        let more = line.next(self.is_far_ahead()).is_some();
        let job = child_job(&next.parent, next.offset, next.ino);
        Some((Taken { job, more }, Some(mark)))
    }

    /// Takes a mark away: its worker has found all that it will find there.
    pub(super) fn done(&self, mark: usize) {
        lock(&self.line).remove(mark);
    }

    /// Notes how many rows the caller holds. Answers whether workers may read ahead again.
    pub(super) fn tell_ahead(&self, rows: usize) -> bool {
        let before = self.ahead.swap(rows, Ordering::Relaxed);
        before >= AHEAD_MAX && rows < AHEAD_MAX
    }

    /// Whether a job waits that a worker may take.
    pub(super) fn has_work(&self) -> bool {
        let line = lock(&self.line);
        !line.parts.is_empty() || line.next(self.is_far_ahead()).is_some()
    }

    /// Drops all jobs.
    pub(super) fn clear(&self) {
        let mut guard = lock(&self.line);
        let line = &mut *guard;
        line.waiting = 0;
        // Marks stay: workers that stop know them.
        let jobs = line
            .places
            .iter_mut()
            .filter_map(|place| match &mut place.has {
                Has::Jobs { jobs, .. } => Some(std::mem::take(jobs)),
                Has::Mark => None,
            });
        let dropped = (jobs.collect::<Vec<_>>(), std::mem::take(&mut line.parts));
        drop(guard);
        // Outside of the lock: this closes descriptors, which can block.
        drop(dropped);
    }

    fn is_far_ahead(&self) -> bool {
        self.ahead.load(Ordering::Relaxed) >= AHEAD_MAX
    }
}

impl Line {
    /// The place of the next job; absent where a worker is busy before it, if that counts.
    fn next(&self, is_far_ahead: bool) -> Option<usize> {
        let mut at = self.first.filter(|_| self.waiting > 0);
        while let Some(place) = at {
            match &self.places[place].has {
                Has::Jobs { jobs, .. } if !jobs.is_empty() => return Some(place),
                _ if is_far_ahead => return None,
                _ => at = self.places[place].after,
            }
        }
        None
    }

    /// The place of the subdirectories of a directory that is read in pieces.
    fn place_of_pieces(&mut self, mark: Option<usize>, dir: DirId) -> usize {
        if let Some(&at) = self.of_pieces.get(&dir) {
            return at;
        }
        let (jobs, of_pieces) = (BinaryHeap::new(), true);
        let at = self.insert(mark, Has::Jobs { jobs, of_pieces });
        self.of_pieces.insert(dir, at);
        at
    }

    /// Inserts a place after another, or as the first.
    fn insert(&mut self, before: Option<usize>, has: Has) -> usize {
        let after = match before {
            Some(before) => self.places[before].after,
            None => self.first,
        };
        let place = Place { before, after, has };
        let at = match self.free.pop() {
            Some(at) => {
                self.places[at] = place;
                at
            }
            None => {
                self.places.push(place);
                self.places.len() - 1
            }
        };
        self.link(before, Some(at));
        if let Some(after) = after {
            self.places[after].before = Some(at);
        }
        at
    }

    /// Takes a place out of the line.
    fn remove(&mut self, at: usize) {
        let Place { before, after, .. } = self.places[at];
        self.places[at].has = Has::Mark;
        self.link(before, after);
        if let Some(after) = after {
            self.places[after].before = before;
        }
        self.free.push(at);
    }

    fn link(&mut self, before: Option<usize>, after: Option<usize>) {
        match before {
            Some(before) => self.places[before].after = after,
            None => self.first = after,
        }
    }
}
