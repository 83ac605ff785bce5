// SPDX-License-Identifier: MIT OR Apache-2.0

//! What waits to be listed, and who takes what of it.
//!
//! Work stealing: each worker has a deque. It takes what it queued last and
//! steals what others queued first, so that it stays near what it read and
//! others get large subtrees. The other orders have one container for all, or
//! none: recursion keeps what waits on the call stack.

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

/// For how many directories a stack has room up front, where that is asked for.
const RESERVED: usize = 1 << 20;

/// What waits to be listed.
pub(super) enum Frontier {
    /// The deques of the workers that were started.
    Stealing(Box<[OnceLock<Stealer<Job>>]>),
    /// One container for all.
    Shared(Shared),
    /// Nothing waits here but what is too deep to be called.
    Recursion(Shared),
    /// By inode number.
    InodeQueue(InodeQueue),
}

/// A container that all workers use.
pub(super) struct Shared {
    jobs: Mutex<Container>,
    /// How many there are, to be read without the lock.
    count: AtomicUsize,
}

enum Container {
    Queue(VecDeque<Job>),
    Stack(Vec<Job>),
}

/// What one worker has of the frontier.
pub(super) struct WorkerSlot {
    index: usize,
    deque: Deque<Job>,
    /// Numbers for directories that the worker has taken and not used. They stay
    /// with the place: a task that took a block for itself would leave most of it.
    pub(super) ids: Range<u32>,
    /// What the directory that is being listed leads to, where it is to be
    /// called and not queued.
    pub(super) called: Vec<Job>,
}

impl WorkerSlot {
    /// The number of the worker.
    pub(super) fn index(&self) -> usize {
        self.index
    }
}

/// What a worker got.
pub(super) struct Taken {
    pub(super) job: Job,
    /// Whether there was more, so that somebody else may help.
    pub(super) more: bool,
}

impl Frontier {
    /// `listings_max` is how many directories may be open whose entries wait.
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

    /// What the worker of this number has; to be called once for each.
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

    /// Takes what remains of a large directory, or a part of it.
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

    /// Lets what is too deep to be called wait.
    pub(super) fn put_off(&self, jobs: Vec<Job>) {
        if let Frontier::Recursion(shared) = self {
            shared.extend(jobs.into_iter());
        }
    }

    /// What a worker does next.
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

    /// Lets go of what waits.
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

    /// Whether something waits.
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

/// Whether something waits in a deque.
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
                    // A third one can have more than both: what it stole in one go.
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
        // Outside of the lock: it closes descriptors, which can wait.
        drop(jobs);
    }

    fn lock(&self) -> MutexGuard<'_, Container> {
        lock(&self.jobs)
    }
}
