// SPDX-License-Identifier: MIT OR Apache-2.0

//! The counters of a scan that goes on, readable from another thread.
//!
//! Each worker writes counters of its own; reading them costs the workers nothing.

use std::ffi::CStr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::directory::{Dir, Place};
use crate::fields::Fields;
use crate::lock::lock;
use crate::threads;

/// How far a scan has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Names so far.
    pub entries: u64,
    /// Directories so far.
    pub dirs: u64,
    /// The space taken, each name of a hard link counted; absent where the scan does not
    /// read it.
    pub allocated_bytes: Option<u128>,
    /// Entries that could not be read.
    pub unreadable: u64,
    /// The number of entries at the end, about. Absent unless all roots are images of file
    /// systems, which count their inodes in use. Of mounted ones statvfs(3) tells as much.
    pub entries_expected: Option<u64>,
    /// For each worker that has something to do, the directory it reads and
    /// how many steps it has made: a worker whose steps stand still hangs there.
    pub current: Vec<(Vec<u8>, u64)>,
}

/// The counters of one worker.
#[derive(Default)]
pub(crate) struct WorkerProgress {
    pub(crate) entries: AtomicU64,
    pub(crate) dirs: AtomicU64,
    pub(crate) allocated_bytes: ByteCounter,
    pub(crate) unreadable: AtomicU64,
    steps: AtomicU64,
    /// System calls of the source.
    calls: AtomicU64,
    /// The measure of a worker's rate: those, and entries that were read without.
    work: AtomicU64,
    /// The number of the thread; 0 while there is none.
    thread: AtomicI32,
    /// How long it had something to do until it last had nothing, and since when
    /// it has again; 0 for not. In nanoseconds since the scan began.
    occupied_ns: AtomicU64,
    occupied_since_ns: AtomicU64,
    /// How long it had waited for a device when it was last looked at.
    waited_for_device_ns: AtomicU64,
    current_offset: AtomicU32,
    current: Mutex<Option<Current>>,
}

/// A sum of bytes that one thread writes and others read.
#[derive(Default)]
pub(crate) struct ByteCounter {
    low: AtomicU64,
    /// Twice the number of carries from `low`; odd while there is one.
    carries: AtomicU64,
}

impl ByteCounter {
    /// Adds; to be called by the one thread.
    pub(crate) fn add(&self, more: u128) {
        let sum = u128::from(self.low.load(Ordering::Relaxed)) + more;
        let carry = (sum >> 64) as u64;
        if carry == 0 {
            return self.low.store(sum as u64, Ordering::Relaxed);
        }
        let carries = self.carries.load(Ordering::Relaxed);
        self.carries.store(carries + 1, Ordering::SeqCst);
        self.low.store(sum as u64, Ordering::SeqCst);
        self.carries.store(carries + 2 * carry, Ordering::SeqCst);
    }

    /// The sum so far.
    pub(crate) fn get(&self) -> u128 {
        loop {
            let carries = self.carries.load(Ordering::SeqCst);
            let low = self.low.load(Ordering::SeqCst);
            if carries.is_multiple_of(2) && self.carries.load(Ordering::SeqCst) == carries {
                return u128::from(carries / 2) << 64 | u128::from(low);
            }
            std::hint::spin_loop();
        }
    }
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

    /// Notes that the calling thread is the worker from now on.
    pub(crate) fn know_thread(&self) {
        let thread = threads::number();
        self.thread.store(thread, Ordering::Relaxed);
        // Its clocks begin anew.
        let occupied = self.occupied_ns.load(Ordering::Relaxed);
        self.waited_for_device_ns.store(occupied, Ordering::Relaxed);
    }

    pub(crate) fn forget_thread(&self) {
        self.thread.store(0, Ordering::Relaxed);
    }

    /// The work of the worker so far; one thread at a time asks for it.
    pub(crate) fn effort(&self, now: Duration) -> WorkerEffort {
        let occupied = self.occupied(now);
        let thread = self.thread.load(Ordering::Relaxed);
        let times = (thread != 0)
            .then(|| threads::cpu_and_wait(thread))
            .flatten();
        let Some((cpu, waited)) = times else {
            return WorkerEffort {
                occupied,
                ..WorkerEffort::default()
            };
        };
        let mut busy = cpu + waited;
        let before = Duration::from_nanos(self.waited_for_device_ns.load(Ordering::Relaxed));
        // The kernel counts a wait for a processor when it is over.
        let unexplained = occupied.saturating_sub(busy).saturating_sub(before);
        if unexplained > WAIT_MIN && threads::is_kept_from_processors(thread) {
            busy += unexplained;
        }
        let for_device = nanoseconds(occupied.saturating_sub(busy));
        self.waited_for_device_ns
            .store(for_device, Ordering::Relaxed);
        WorkerEffort {
            occupied,
            cpu,
            busy,
        }
    }

    /// Notes that the worker has something to do from now on.
    pub(crate) fn begin_work(&self, now: Duration) {
        self.occupied_since_ns
            .store(nanoseconds(now).max(1), Ordering::Relaxed);
    }

    /// Notes that it has nothing to do.
    pub(crate) fn end_work(&self, now: Duration) {
        let since = self.occupied_since_ns.swap(0, Ordering::Relaxed);
        if since > 0 {
            let more = nanoseconds(now).saturating_sub(since);
            WorkerProgress::add(&self.occupied_ns, more);
        }
    }

    /// How long it has had something to do.
    pub(crate) fn occupied(&self, now: Duration) -> Duration {
        let before = self.occupied_ns.load(Ordering::Relaxed);
        let since = match self.occupied_since_ns.load(Ordering::Relaxed) {
            0 => 0,
            since => nanoseconds(now).saturating_sub(since),
        };
        Duration::from_nanos(before + since)
    }

    /// Notes how many calls the worker has made, and how much it has done.
    pub(crate) fn tell_work(&self, calls: u64, work: u64) {
        self.calls.store(calls, Ordering::Relaxed);
        self.work.store(work, Ordering::Relaxed);
    }

    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
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
        let old = std::mem::replace(&mut *lock(&self.current), current);
        // Dropped outside of the lock: it may close a descriptor, which can wait.
        drop(old);
    }

    fn path(&self) -> Option<Vec<u8>> {
        let current = lock(&self.current);
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

/// From which on it is worth knowing for what a thread waits.
const WAIT_MIN: Duration = Duration::from_millis(1);

/// The work of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkerEffort {
    /// How long it had something to do.
    pub(crate) occupied: Duration,
    /// How long it computed.
    pub(crate) cpu: Duration,
    /// How long it computed or waited for a processor.
    ///
    /// Who waits for a processor does not wait for a device: where others keep
    /// the processors busy, more workers would bring nothing.
    pub(crate) busy: Duration,
}

/// 64 bits last for 584 years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads the counters of all workers of a scan that reads these fields.
pub(crate) fn sum_of(workers: &[CachePadded<WorkerProgress>], fields: Fields) -> Progress {
    let mut sum = Progress {
        allocated_bytes: fields.contains(Fields::ALLOCATED).then_some(0),
        ..Progress::default()
    };
    for worker in workers {
        sum.entries += worker.entries.load(Ordering::Relaxed);
        sum.dirs += worker.dirs.load(Ordering::Relaxed);
        if let Some(bytes) = &mut sum.allocated_bytes {
            *bytes += worker.allocated_bytes.get();
        }
        sum.unreadable += worker.unreadable.load(Ordering::Relaxed);
        if let Some(path) = worker.path() {
            // Each call that came back is a step.
            let steps = worker.steps.load(Ordering::Relaxed) + worker.work();
            sum.current.push((path, steps));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_bytes_never_goes_back() {
        let counter = ByteCounter::default();
        const MORE: u128 = (1 << 64) - 3;
        std::thread::scope(|scope| {
            scope.spawn(|| (0..100_000).for_each(|_| counter.add(MORE)));
            let mut before = 0;
            while before < 100_000 * MORE {
                let sum = counter.get();
                assert!(sum >= before && sum.is_multiple_of(MORE), "{sum}");
                before = sum;
            }
        });
        counter.add(5 << 64);
        assert_eq!(counter.get(), 100_000 * MORE + (5 << 64));
    }
}
