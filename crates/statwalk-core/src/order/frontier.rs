// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that wait, and the worker that takes each.
//!
//! The parallel order steals work: each worker has a deque. It takes the job it queued
//! last, so that it stays near the directories it read. It steals the jobs that others
//! queued first, which are large subtrees. The other orders have one container for all
//! workers, or none: recursion keeps its jobs on the call stack.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use super::Order;
use super::inode_queue::InodeQueue;
use crate::handle::OpenParent;
use crate::listing::Job;
use crate::lock::lock;

/// The room of a reserved stack, in directories.
const RESERVED: usize = 1 << 20;

/// The jobs that wait.
pub(super) enum Frontier {
    /// The deques of the workers that were started.
    Stealing(Box<[OnceLock<Stealer<Job>>]>),
    /// One container for all.
    Shared(Shared),
    /// Only jobs wait that lie too deep for a call.
    Recursion(Shared),
    /// By inode number.
    InodeQueue(InodeQueue),
}

/// A container that all workers use.
pub(super) struct Shared {
    jobs: Mutex<Container>,
    /// Their number, which can be read without the lock.
    count: AtomicUsize,
}

enum Container {
    Queue(VecDeque<Job>),
    Stack(Vec<Job>),
}

/// A worker's part of the frontier.
pub(super) struct WorkerSlot {
    index: usize,
    deque: Deque<Job>,
    /// Numbers for directories that are taken and not used. They stay with the slot: a
    /// task with a block of its own would leave most of it.
    pub(super) ids: Range<u32>,
    /// The jobs of the present directory, if they are called and not queued.
    pub(super) called: Vec<Job>,
}

impl WorkerSlot {
    /// The number of the worker.
    pub(super) fn index(&self) -> usize {
        self.index
    }
}

/// A job that a worker took.
pub(super) struct Taken {
    pub(super) job: Job,
    /// Whether more jobs wait, so that another worker can help.
    pub(super) more: bool,
}

impl Frontier {
    /// `listings_max` bounds the directories that are open because their entries wait.
    pub(super) fn new(order: Order, workers: usize, listings_max: usize) -> Frontier {
        match order {
            Order::Parallel => Frontier::Stealing((0..workers).map(|_| OnceLock::new()).collect()),
            Order::Recursive => Frontier::Recursion(Shared::new(Container::Stack(Vec::new()))),
            Order::Queue => Frontier::Shared(Shared::new(Container::Queue(VecDeque::new()))),
            Order::Stack | Order::Futures => {
                Frontier::Shared(Shared::new(Container::Stack(Vec::new())))
            }
            Order::ReservedStack => {
                let room = Vec::with_capacity(RESERVED);
                Frontier::Shared(Shared::new(Container::Stack(room)))
            }
            Order::Inode => Frontier::InodeQueue(InodeQueue::new(listings_max)),
        }
    }

    /// The slot of the worker with this number. Call it once for each number.
    pub(super) fn slot(&self, index: usize) -> WorkerSlot {
        let deque = Deque::new_lifo();
        if let Frontier::Stealing(stealers) = self {
            let first = stealers[index].set(deque.stealer());
            debug_assert!(first.is_ok(), "worker {index} has two deques");
        }
        WorkerSlot {
            index,
            deque,
            ids: 0..0,
            called: Vec::new(),
        }
    }

    /// Takes subdirectories that were found, in the order of the listing.
    pub(super) fn push(
        &self,
        slot: &mut WorkerSlot,
        parent: &Arc<OpenParent>,
        name_offsets: &[u32],
        inos: &[u64],
    ) {
        let jobs = name_offsets
            .iter()
            .zip(inos)
            .map(|(&offset, &ino)| child_job(parent, offset, ino));
        match self {
            Frontier::Stealing(_) => jobs.rev().for_each(|job| slot.deque.push(job)),
            Frontier::Shared(shared) => shared.extend(jobs),
            Frontier::Recursion(_) => slot.called.extend(jobs),
            Frontier::InodeQueue(queue) => queue.push_dirs(parent, name_offsets, inos),
        }
    }

    /// Takes the rest of a large directory, or a part of it.
    pub(super) fn push_one(&self, slot: &mut WorkerSlot, job: Job) {
        match self {
            Frontier::Stealing(_) => slot.deque.push(job),
            Frontier::Shared(shared) => shared.push(job),
            Frontier::Recursion(_) => slot.called.push(job),
            Frontier::InodeQueue(queue) => match job {
                Job::Part(listing, part) => queue.push_part(&listing, *part),
                job => queue.push_rest(job),
            },
        }
    }

    /// The queue by inode number, if that is the order.
    pub(super) fn inode_queue(&self) -> Option<&InodeQueue> {
        match self {
            Frontier::InodeQueue(queue) => Some(queue),
            _ => None,
        }
    }

    /// Takes jobs that lie too deep for a call.
    pub(super) fn put_off(&self, jobs: Vec<Job>) {
        if let Frontier::Recursion(shared) = self {
            shared.extend(jobs.into_iter());
        }
    }

    /// The next job of a worker.
    pub(super) fn take(&self, slot: &mut WorkerSlot) -> Option<Taken> {
        match self {
            Frontier::Stealing(stealers) => match slot.deque.pop() {
                Some(job) => Some(Taken { job, more: false }),
                None => steal(stealers, slot),
            },
            Frontier::Shared(shared) | Frontier::Recursion(shared) => shared.pop(),
            Frontier::InodeQueue(queue) => queue.take(),
        }
    }

    /// Drops all jobs.
    pub(super) fn clear(&self) {
        match self {
            Frontier::Stealing(stealers) => {
                for stealer in stealers.iter().map_while(OnceLock::get) {
                    while !stealer.is_empty() {
                        drop(stealer.steal());
                    }
                }
            }
            Frontier::Shared(shared) | Frontier::Recursion(shared) => shared.clear(),
            Frontier::InodeQueue(queue) => queue.clear(),
        }
    }

    /// Whether a job waits.
    pub(super) fn has_work(&self) -> bool {
        match self {
            Frontier::Stealing(stealers) => has_some(stealers),
            Frontier::Shared(shared) | Frontier::Recursion(shared) => {
                shared.count.load(Ordering::Relaxed) > 0
            }
            Frontier::InodeQueue(queue) => queue.has_work(),
        }
    }
}

/// The job to list a subdirectory.
pub(super) fn child_job(parent: &Arc<OpenParent>, offset: u32, ino: u64) -> Job {
    Job::Child {
        parent: Arc::clone(parent),
        name_offset: offset,
        ino,
    }
}

/// Whether a job waits in any deque.
fn has_some(stealers: &[OnceLock<Stealer<Job>>]) -> bool {
    let mut started = stealers.iter().map_while(OnceLock::get);
    started.any(|stealer| !stealer.is_empty())
}

fn steal(stealers: &[OnceLock<Stealer<Job>>], slot: &WorkerSlot) -> Option<Taken> {
    let started = stealers.iter().take_while(|s| s.get().is_some()).count();
    loop {
        let mut retry = false;
        for step in 1..started {
            let Some(victim) = stealers[(slot.index + step) % started].get() else {
                continue;
            };
            match victim.steal_batch_and_pop(&slot.deque) {
                Steal::Success(job) => {
                    // A third worker can have jobs too, which it stole in one go.
                    let more = has_some(stealers);
                    return Some(Taken { job, more });
                }
                Steal::Retry => retry = true,
                Steal::Empty => {}
            }
        }
        if !retry {
            return None;
        }
    }
}

impl Shared {
    fn new(container: Container) -> Shared {
        Shared {
            jobs: Mutex::new(container),
            count: AtomicUsize::new(0),
        }
    }

    fn push(&self, job: Job) {
        self.extend(std::iter::once(job));
    }

    /// Adds jobs so that the first of them is taken before the others.
    fn extend(&self, jobs: impl DoubleEndedIterator<Item = Job>) {
        let mut container = self.lock();
        let count = match &mut *container {
            Container::Queue(queue) => {
                queue.extend(jobs);
                queue.len()
            }
            Container::Stack(stack) => {
                stack.extend(jobs.rev());
                stack.len()
            }
        };
        self.count.store(count, Ordering::Relaxed);
    }

    fn pop(&self) -> Option<Taken> {
        let mut container = self.lock();
        let (job, count) = match &mut *container {
            Container::Queue(queue) => (queue.pop_front(), queue.len()),
            Container::Stack(stack) => (stack.pop(), stack.len()),
        };
        self.count.store(count, Ordering::Relaxed);
        Some(Taken {
            job: job?,
            more: count > 0,
        })
    }

    fn clear(&self) {
        let jobs = match &mut *self.lock() {
            Container::Queue(queue) => std::mem::take(queue).into(),
            Container::Stack(stack) => std::mem::take(stack),
        };
        self.count.store(0, Ordering::Relaxed);
        // Outside of the lock: this closes descriptors, which can block.
        drop(jobs);
    }

    fn lock(&self) -> MutexGuard<'_, Container> {
        lock(&self.jobs)
    }
}
