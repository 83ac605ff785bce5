// SPDX-License-Identifier: MIT OR Apache-2.0

//! Progress of a survey or a removal, and the wish that it stops.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The path is renewed so often: making it costs time in deep trees.
const PATH_INTERVAL: Duration = Duration::from_millis(50);

/// Counters that any thread may read while another one works.
#[derive(Debug, Default)]
pub struct Monitor {
    is_stopped: AtomicBool,
    entry_count: AtomicU64,
    bytes: AtomicU64,
    failure_count: AtomicU64,
    path: Mutex<Vec<u8>>,
}

impl Monitor {
    /// A monitor of work that has not begun.
    #[must_use]
    pub fn new() -> Monitor {
        Monitor::default()
    }

    /// Asks the work to end before its next entry, and ends a wait for the journal.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    /// Says whether [`Monitor::stop`] was called.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }

    /// Entries counted or removed so far.
    #[must_use]
    pub fn entry_count(&self) -> u64 {
        self.entry_count.load(Relaxed)
    }

    /// Allocated bytes counted by a survey, or freed by a removal, so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Entries that a removal could not take so far. A survey counts none.
    #[must_use]
    pub fn failure_count(&self) -> u64 {
        self.failure_count.load(Relaxed)
    }

    /// The item or directory in work, at most 50 ms old while entries are removed.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        self.path
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn count(&self, bytes: u64) {
        self.entry_count.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn fail(&self) {
        self.failure_count.fetch_add(1, Relaxed);
    }

    pub(crate) fn set_path(&self, path: Vec<u8>) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }
}

/// Renews the path of a monitor now and then.
pub(crate) struct PathClock(Option<Instant>);

impl PathClock {
    pub(crate) fn new() -> PathClock {
        PathClock(None)
    }

    pub(crate) fn tick(&mut self, monitor: &Monitor, path: impl FnOnce() -> Vec<u8>) {
        if self.0.is_none_or(|last| last.elapsed() >= PATH_INTERVAL) {
            monitor.set_path(path());
            self.0 = Some(Instant::now());
        }
    }
}
