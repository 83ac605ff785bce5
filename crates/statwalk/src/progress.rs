// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a scan has done so far, readable from another thread.
//!
//! Each worker writes counters of its own; reading them costs the workers nothing.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_utils::CachePadded;

use crate::directory::{Dir, Place};

/// How far a scan has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Names so far.
    pub entries: u64,
    /// Directories so far.
    pub dirs: u64,
    /// The space taken, each name of a hard link counted.
    pub allocated_bytes: u64,
    /// Entries that could not be read.
    pub unreadable: u64,
    /// For each worker that has something to do, the directory it reads and
    /// how many steps it has made: a worker whose steps stand still hangs there.
    pub current: Vec<(Vec<u8>, u64)>,
}

/// The counters of one worker.
#[derive(Default)]
pub(crate) struct WorkerProgress {
    pub(crate) entries: AtomicU64,
    pub(crate) dirs: AtomicU64,
    pub(crate) allocated_bytes: AtomicU64,
    pub(crate) unreadable: AtomicU64,
    steps: AtomicU64,
    current_offset: AtomicU32,
    current: Mutex<Option<Current>>,
}

enum Current {
    Root(Arc<CStr>),
    ChildOf(Arc<Dir>),
}

impl WorkerProgress {
    /// Adds to a counter that nobody else writes.
    pub(crate) fn add(counter: &AtomicU64, more: u64) {
        counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
    }

    /// Notes the directory that is read from now on.
    pub(crate) fn begin_child(&self, parent: &Arc<Dir>, offset: u32, same_parent: bool) {
        self.current_offset.store(offset, Ordering::Relaxed);
        WorkerProgress::add(&self.steps, 1);
        if !same_parent {
            self.set(Some(Current::ChildOf(Arc::clone(parent))));
        }
    }

    pub(crate) fn begin_root(&self, path: &Arc<CStr>) {
        WorkerProgress::add(&self.steps, 1);
        self.set(Some(Current::Root(Arc::clone(path))));
    }

    pub(crate) fn step(&self) {
        WorkerProgress::add(&self.steps, 1);
    }

    pub(crate) fn rest(&self) {
        self.set(None);
    }

    fn set(&self, current: Option<Current>) {
        let old = std::mem::replace(
            &mut *self.current.lock().unwrap_or_else(PoisonError::into_inner),
            current,
        );
        // Dropped outside of the lock: it may close a descriptor, which can wait.
        drop(old);
    }

    fn path(&self) -> Option<Vec<u8>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = self.current_offset.load(Ordering::Relaxed);
        match current.as_ref()? {
            Current::Root(path) => Some(path.to_bytes().to_vec()),
            // The offset may already be that of the next parent's child.
            Current::ChildOf(parent) if (offset as usize) < parent.names.len() => {
                Some(Place::Child(Arc::clone(parent), offset).path())
            }
            Current::ChildOf(parent) => Some(parent.place.path()),
        }
    }
}

/// Reads the counters of all workers.
pub(crate) fn snapshot(workers: &[CachePadded<WorkerProgress>]) -> Snapshot {
    let mut sum = Snapshot::default();
    for worker in workers {
        sum.entries += worker.entries.load(Ordering::Relaxed);
        sum.dirs += worker.dirs.load(Ordering::Relaxed);
        sum.allocated_bytes += worker.allocated_bytes.load(Ordering::Relaxed);
        sum.unreadable += worker.unreadable.load(Ordering::Relaxed);
        if let Some(path) = worker.path() {
            sum.current
                .push((path, worker.steps.load(Ordering::Relaxed)));
        }
    }
    sum
}
