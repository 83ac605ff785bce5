// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that wait, and the worker that takes each.
//!
//! The parallel order steals work: each worker has a deque. It takes the job it queued
//! last, so that it stays near the directories it read. It steals the jobs that others
//! queued first, which are large subtrees. The other orders have one container for all
//! workers, or none: recursion keeps its jobs on the call stack.
//!
//! A caller can prefer a directory. The jobs below it then come before all others.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crossbeam_deque::{Steal, Stealer, Worker as Deque};

use super::inode_queue::InodeQueue;
use super::sorted_jobs::SortedJobs;
use super::{AnyOrder, Order};
use crate::directory::Dir;
use crate::entry::DirId;
use crate::handle::OpenParent;
use crate::listing::Job;
use crate::lock::lock;
use crate::threads;

/// The room of a reserved stack, in directories.
const RESERVED: usize = 1 << 20;

/// The jobs that wait.
pub(super) enum Frontier {
    /// A deque for each worker.
    Stealing(Stealing),
    /// One container for all.
    Shared(Shared),
    /// Only jobs wait that lie too deep for a call.
    Recursion(Shared),
    /// By inode number.
    InodeQueue(InodeQueue),
    /// By path.
    Sorted(SortedJobs),
}

/// The deques of workers that steal from each other.
pub(super) struct Stealing {
    /// Of the workers that were started.
    stealers: Box<[OnceLock<Stealer<Job>>]>,
    /// Jobs that come before those of the deques, because somebody prefers them.
    preferred: Shared,
    /// Jobs that were in the way then. They come after those of a worker's own deque.
    put_aside: Shared,
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
    /// The mark of the present directory among jobs in the order of paths.
    mark: Option<usize>,
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
    pub(super) fn new(order: AnyOrder, workers: usize, listings_max: usize) -> Frontier {
        match order {
            AnyOrder::Order(Order::Parallel) => Frontier::Stealing(Stealing {
                stealers: (0..workers).map(|_| OnceLock::new()).collect(),
                preferred: Shared::stack(),
                put_aside: Shared::stack(),
            }),
            AnyOrder::Order(Order::Recursive) => Frontier::Recursion(Shared::stack()),
            AnyOrder::Order(Order::Queue) => {
                Frontier::Shared(Shared::new(Container::Queue(VecDeque::new())))
            }
            AnyOrder::Order(Order::Stack) | AnyOrder::Futures => Frontier::Shared(Shared::stack()),
            AnyOrder::ReservedStack => {
                let room = Vec::with_capacity(RESERVED);
                Frontier::Shared(Shared::new(Container::Stack(room)))
            }
            AnyOrder::Order(Order::Inode) => Frontier::InodeQueue(InodeQueue::new(listings_max)),
            AnyOrder::Sorted => Frontier::Sorted(SortedJobs::default()),
        }
    }

    /// The slot of the worker with this number. Call it once for each number.
    pub(super) fn slot(&self, index: usize) -> WorkerSlot {
        let deque = Deque::new_lifo();
        if let Frontier::Stealing(Stealing { stealers, .. }) = self {
            let first = stealers[index].set(deque.stealer());
            debug_assert!(first.is_ok(), "worker {index} has two deques");
        }
        WorkerSlot {
            index,
            deque,
            ids: 0..0,
            called: Vec::new(),
            mark: None,
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
            Frontier::Sorted(sorted) => sorted.push(slot.mark, parent, name_offsets, inos),
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
            Frontier::Sorted(sorted) => match &job {
                Job::Rest(listing) | Job::Part(listing, _) => {
                    let dir = listing.id();
                    sorted.push_part(slot.mark, dir, job);
                }
                Job::Child { .. } | Job::Entry(_) => {}
            },
        }
    }

    /// The jobs in the order of their paths, if that is the order.
    pub(super) fn sorted(&self) -> Option<&SortedJobs> {
        match self {
            Frontier::Sorted(sorted) => Some(sorted),
            _ => None,
        }
    }

    /// Notes that a worker has done the job that it took last.
    #[inline]
    pub(super) fn done(&self, slot: &mut WorkerSlot) {
        if let Some(mark) = slot.mark.take()
            && let Frontier::Sorted(sorted) = self
        {
            sorted.done(mark);
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
            Frontier::Stealing(stealing) => stealing.take(slot),
            Frontier::Shared(shared) | Frontier::Recursion(shared) => shared.pop(),
            Frontier::InodeQueue(queue) => queue.take(),
            Frontier::Sorted(sorted) => {
                let (taken, mark) = sorted.take()?;
                slot.mark = mark;
                Some(taken)
            }
        }
    }

    /// Brings the jobs below a directory to the front, once. The orders by inode number, by
    /// path and by recursion stay as they are.
    pub(super) fn prefer(&self, id: DirId) {
        match self {
            Frontier::Stealing(stealing) => stealing.prefer(id),
            Frontier::Shared(shared) => shared.prefer(id),
            Frontier::Recursion(_) | Frontier::InodeQueue(_) | Frontier::Sorted(_) => {}
        }
    }

    /// Drops all jobs.
    pub(super) fn clear(&self) {
        match self {
            Frontier::Stealing(stealing) => {
                while stealing.started().any(|stealer| !stealer.is_empty()) {
                    stealing.drain(&mut |job| drop(job));
                }
                stealing.preferred.clear();
                stealing.put_aside.clear();
            }
            Frontier::Shared(shared) | Frontier::Recursion(shared) => shared.clear(),
            Frontier::InodeQueue(queue) => queue.clear(),
            Frontier::Sorted(sorted) => sorted.clear(),
        }
    }

    /// Whether a job waits.
    pub(super) fn has_work(&self) -> bool {
        match self {
            Frontier::Stealing(stealing) => stealing.has_work(),
            Frontier::Shared(shared) | Frontier::Recursion(shared) => !shared.is_empty(),
            Frontier::InodeQueue(queue) => queue.has_work(),
            Frontier::Sorted(sorted) => sorted.has_work(),
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

impl Stealing {
    fn started(&self) -> impl Iterator<Item = &Stealer<Job>> {
        self.stealers.iter().map_while(OnceLock::get)
    }

    fn has_work(&self) -> bool {
        let in_deques = self.started().any(|stealer| !stealer.is_empty());
        in_deques || !self.preferred.is_empty() || !self.put_aside.is_empty()
    }

    fn take(&self, slot: &WorkerSlot) -> Option<Taken> {
        if let Some(taken) = self.preferred.pop_if_some() {
            return Some(taken);
        }
        if let Some(job) = slot.deque.pop() {
            return Some(Taken { job, more: false });
        }
        self.put_aside.pop_if_some().or_else(|| self.steal(slot))
    }

    fn steal(&self, slot: &WorkerSlot) -> Option<Taken> {
        let started = self.started().count();
        loop {
            let mut retry = false;
            for step in 1..started {
                let Some(victim) = self.stealers[(slot.index + step) % started].get() else {
                    continue;
                };
                match victim.steal_batch_and_pop(&slot.deque) {
                    Steal::Success(job) => {
                        // A third worker can have jobs too, which it stole in one go.
                        let more = self.has_work();
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

    /// Takes the jobs out of all deques, those that were queued first before the others.
    fn drain(&self, each: &mut dyn FnMut(Job)) {
        for stealer in self.started() {
            // The worker goes on to push, and that need not have an end.
            for _ in 0..stealer.len() {
                match stealer.steal() {
                    Steal::Success(job) => each(job),
                    Steal::Retry => {}
                    Steal::Empty => break,
                }
            }
        }
    }

    fn prefer(&self, id: DirId) {
        let mut jobs = Vec::new();
        self.drain(&mut |job| jobs.push(job));
        self.put_aside.drain_into(&mut jobs);
        threads::meet_others();
        let (preferred, others) = part(jobs, id);
        // The job that was queued last is the first again.
        self.put_aside.extend(others.into_iter().rev());
        self.preferred.extend(preferred.into_iter());
    }
}

/// Parts jobs into those below a directory and the others, each in their order.
fn part(jobs: impl IntoIterator<Item = Job>, id: DirId) -> (Vec<Job>, Vec<Job>) {
    // Siblings follow each other.
    let mut last: Option<(*const Dir, bool)> = None;
    jobs.into_iter().partition(|job| {
        let listing = match job {
            Job::Child { parent, .. } => {
                let dir = Arc::as_ptr(&parent.dir);
                return match last {
                    Some((known, is_below)) if known == dir => is_below,
                    _ => {
                        let is_below = parent.dir.is_at_or_below(id);
                        last = Some((dir, is_below));
                        is_below
                    }
                };
            }
            Job::Rest(listing) | Job::Part(listing, _) => listing,
            Job::Entry(entry) => &entry.listing,
        };
        let above = listing.place().parent();
        listing.id() == id || above.is_some_and(|dir| dir.is_at_or_below(id))
    })
}

impl Shared {
    fn new(container: Container) -> Shared {
        Shared {
            jobs: Mutex::new(container),
            count: AtomicUsize::new(0),
        }
    }

    fn stack() -> Shared {
        Shared::new(Container::Stack(Vec::new()))
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    fn push(&self, job: Job) {
        self.extend(std::iter::once(job));
    }

    /// As [`pop`](Self::pop), without the lock where nothing waits.
    #[inline]
    fn pop_if_some(&self) -> Option<Taken> {
        match self.is_empty() {
            true => None,
            false => self.pop(),
        }
    }

    /// Moves the jobs to others, the next one last.
    fn drain_into(&self, jobs: &mut Vec<Job>) {
        let mut container = self.lock();
        match &mut *container {
            Container::Queue(queue) => jobs.extend(queue.drain(..).rev()),
            Container::Stack(stack) => jobs.append(stack),
        }
        self.count.store(0, Ordering::Relaxed);
    }

    fn prefer(&self, id: DirId) {
        let mut container = self.lock();
        match &mut *container {
            Container::Queue(queue) => {
                let (preferred, others) = part(std::mem::take(queue), id);
                queue.extend(preferred.into_iter().chain(others));
            }
            Container::Stack(stack) => {
                let (preferred, mut others) = part(stack.drain(..), id);
                others.extend(preferred);
                *stack = others;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{MountMark, Place};
    use crate::handle::Handle;
    use crate::unfinished::Unfinished;

    fn parent(id: u32, place: Place) -> Arc<OpenParent> {
        let dir = Dir {
            place,
            id: DirId(id),
            root: 0,
            depth: 0,
            mount: MountMark {
                id: 0,
                shared: false,
                served: false,
            },
            followed: false,
            identity: OnceLock::new(),
            landmark: None,
            mark: 0,
            held: OnceLock::new(),
            names: b"a\0b\0c\0".to_vec().into(),
            ignore: None,
            unfinished: Unfinished::new(1),
            pieces: None,
        };
        OpenParent::new(Arc::new(dir), Handle::Closed)
    }

    /// The directory and the offset of the name of each job, in the order in which a
    /// worker takes them.
    fn taken(frontier: &Frontier, slot: &mut WorkerSlot) -> Vec<(u32, u32)> {
        let jobs = std::iter::from_fn(|| frontier.take(slot));
        let of = |taken: Taken| match taken.job {
            Job::Child {
                parent,
                name_offset,
                ..
            } => (parent.dir.id.0, name_offset),
            _ => unreachable!("there are no others"),
        };
        jobs.map(of).collect()
    }

    /// A directory, one below it and one beside it; the last two have jobs.
    fn pushed(frontier: &Frontier, slots: &mut [WorkerSlot]) {
        let top = parent(1, Place::Root(Arc::from(c"t")));
        let below = parent(2, Place::Child(Arc::clone(&top.dir), 0));
        let beside = parent(3, Place::Root(Arc::from(c"u")));
        let last = slots.len() - 1;
        frontier.push(&mut slots[0], &below, &[0, 2, 4], &[0; 3]);
        frontier.push(&mut slots[last], &beside, &[0, 2, 4], &[0; 3]);
    }

    #[test]
    fn preferred_jobs_come_first_for_all_workers() {
        for preferred in [1, 2] {
            let frontier = Frontier::new(Order::Parallel.into(), 2, 1);
            let mut slots = [frontier.slot(0), frontier.slot(1)];
            pushed(&frontier, &mut slots);
            frontier.prefer(DirId(preferred));
            assert!(frontier.has_work());
            let others = [(3, 0), (3, 2), (3, 4)];
            let jobs = taken(&frontier, &mut slots[1]);
            assert_eq!(jobs[..3], [(2, 4), (2, 2), (2, 0)]);
            assert_eq!(jobs[3..], others);
            assert!(!frontier.has_work());
        }
    }

    #[test]
    fn a_preference_for_nothing_keeps_the_order() {
        let all = [(2, 0), (2, 2), (2, 4), (3, 0), (3, 2), (3, 4)];
        for order in [Order::Parallel, Order::Queue] {
            let frontier = Frontier::new(order.into(), 1, 1);
            let mut slots = [frontier.slot(0)];
            pushed(&frontier, &mut slots);
            frontier.prefer(DirId(9));
            let mut expected = all;
            if order == Order::Parallel {
                expected.rotate_left(3);
            }
            assert_eq!(taken(&frontier, &mut slots[0]), expected);
        }
    }

    #[test]
    fn shared_containers_part_their_jobs() {
        let frontier = Frontier::new(Order::Queue.into(), 1, 1);
        let mut slots = [frontier.slot(0)];
        pushed(&frontier, &mut slots);
        frontier.prefer(DirId(3));
        let expected = [(3, 0), (3, 2), (3, 4), (2, 0), (2, 2), (2, 4)];
        assert_eq!(taken(&frontier, &mut slots[0]), expected);
        let frontier = Frontier::new(Order::Stack.into(), 1, 1);
        pushed(&frontier, &mut slots);
        frontier.prefer(DirId(2));
        let expected = [(2, 0), (2, 2), (2, 4), (3, 0), (3, 2), (3, 4)];
        assert_eq!(taken(&frontier, &mut slots[0]), expected);
    }
}
