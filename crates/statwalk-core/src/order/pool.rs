// SPDX-License-Identifier: MIT OR Apache-2.0

//! The workers of a scan.
//!
//! They take jobs from the [`Frontier`], which knows the order. Jobs are directories, and
//! parts of very large ones. Workers without a job wait ([`Parking`]). Each worker folds
//! its entries into a state of its own. If the caller sets no number of workers, it
//! follows their waiting ([`Concurrency`](super::concurrency::Concurrency)).
//!
//! Roots are scanned one after another, and so are crossings and links that had to wait.
//! The worker that does the last job of one begins the next (see [`Agenda`]).

mod caller;

use std::any::Any;
use std::ffi::CStr;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::agenda::Agenda;
use super::controller::Controller;
use super::frontier::{Frontier, WorkerSlot};
use super::parking::Parking;
use super::results::{Results, State};
use super::worker::{Duty, StopReason, Worker};
use super::{AnyOrder, Order};
use crate::entry::DirId;
use crate::listing::context::ScanContext;
use crate::listing::source::DirectorySource;
use crate::lock::lock;
use crate::machine;
use crate::progress::WorkerProgress;
use crate::threads::{self, Condvar};

pub(crate) use caller::WantedPool;

/// The stack of a worker, on which the sink works too. This crate and the program need
/// less than 40 KiB, without optimisation. The 2 MiB of the standard library for each of
/// 64 workers are more than some limits allow.
const STACK_BYTES: usize = 256 << 10;

/// The stack of a worker that recurses.
const RECURSION_STACK_BYTES: usize = 32 << 20;

/// The state that the workers of one scan share.
pub(crate) struct Pool<D> {
    pub(super) context: Arc<ScanContext<D>>,
    pub(super) order: AnyOrder,
    pub(super) frontier: Frontier,
    pub(super) parking: Parking,
    /// Jobs that wait or are being done.
    ///
    /// On a cache line of its own: its neighbours are read for each entry.
    pub(super) pending: CachePadded<AtomicUsize>,
    next_id_block: AtomicU32,
    pub(super) cancelled: AtomicBool,
    /// Whether the caller cancelled the scan and wants its answer.
    takes_parts: AtomicBool,
    /// Whether a sink ended the scan.
    has_enough: AtomicBool,
    pub(super) done: AtomicBool,
    /// The words of the first worker that has panicked, by a fault of a sink, of a closure of
    /// the caller, or of ours.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    pub(super) results: Box<[ResultsCell]>,
    pub(crate) progress: Box<[CachePadded<WorkerProgress>]>,
    pub(super) agenda: Mutex<Agenda>,
    crew: Mutex<Crew>,
    /// Whether calls wait so long that workers share entries in small parts.
    /// By inode number each entry is a job anyway.
    pub(super) is_slow: AtomicBool,
    /// The number of workers that is wanted.
    wanted: AtomicUsize,
    /// Whether there are fewer workers than that.
    pub(super) wants_helpers: AtomicBool,
    /// Whether there are more workers than that.
    has_too_many: AtomicBool,
    /// The first number of workers and the largest, once they are known.
    wanted_first: OnceLock<usize>,
    most: OnceLock<usize>,
    /// The controller of the number, if the caller sets none.
    controller: Option<Mutex<Controller>>,
    pub(crate) errors_kept_max: usize,
    pub(super) started: Instant,
    /// The worker without a thread, while nobody waits for the scan and lends it one.
    threadless: Mutex<Option<Threadless>>,
    alive: Mutex<Alive>,
    gone: Condvar,
    /// Called when the last worker has gone.
    at_end: OnceLock<Box<dyn Fn() + Send + Sync>>,
    pub(super) idle_io: bool,
    /// The niceness of the threads that the pool starts; absent where they have that of
    /// the caller. Threads start threads, so it is no difference.
    pub(super) niceness: Option<i32>,
}

/// The workers that have a slot.
#[derive(Clone, Copy, Default)]
struct Alive {
    count: usize,
    /// How many of them are about to give it back. Until then no other worker can have
    /// it, and they count.
    leaving: usize,
}

/// A worker without a thread.
struct Threadless {
    slot: WorkerSlot,
    duty: Duty,
}

/// The slots that no worker has.
struct Crew {
    /// The first number that was never started.
    next: usize,
    /// The slots of workers that were sent away.
    sent_away: Vec<WorkerSlot>,
    /// The time for which those computed, and for which they computed or waited for a
    /// processor.
    effort_of_gone: (Duration, Duration),
}

/// The results of one worker; empty once they were taken.
pub(super) type ResultsCell = CachePadded<Mutex<Option<Results>>>;

/// The options of a pool.
pub(crate) struct PoolOptions {
    pub(crate) order: AnyOrder,
    pub(crate) roots: Vec<Arc<CStr>>,
    pub(crate) errors_kept_max: usize,
    pub(crate) idle_io: bool,
    /// How far the threads of workers stand behind others.
    pub(crate) niceness: u8,
    /// Whether the number of workers follows their waiting.
    pub(crate) adapts: bool,
    /// The largest number of directories that are open because their entries wait.
    pub(crate) listings_max: usize,
    pub(crate) processors: usize,
}

impl<D: DirectorySource> Pool<D> {
    /// A pool without workers.
    pub(crate) fn new(
        context: Arc<ScanContext<D>>,
        states: Vec<Box<dyn State>>,
        options: PoolOptions,
    ) -> Arc<Pool<D>> {
        let count = states.len();
        let results = states
            .into_iter()
            .map(|state| CachePadded::new(Mutex::new(Some(Results::new(state)))));
        let started = threads::now();
        Arc::new(Pool {
            context,
            order: options.order,
            frontier: Frontier::new(options.order, count, options.listings_max),
            parking: Parking::new(),
            pending: CachePadded::new(AtomicUsize::new(0)),
            next_id_block: AtomicU32::new(0),
            cancelled: AtomicBool::new(false),
            takes_parts: AtomicBool::new(false),
            has_enough: AtomicBool::new(false),
            done: AtomicBool::new(false),
            panic: Mutex::default(),
            results: results.collect(),
            progress: (0..count).map(|_| CachePadded::default()).collect(),
            agenda: Mutex::new(Agenda::new(options.roots)),
            crew: Mutex::new(Crew {
                next: 0,
                sent_away: Vec::new(),
                effort_of_gone: (Duration::ZERO, Duration::ZERO),
            }),
            // A caller that asks for more workers than processors expects calls to wait.
            is_slow: AtomicBool::new(
                !options.adapts && options.order.hands_parts() && count > options.processors,
            ),
            wanted: AtomicUsize::new(count),
            wants_helpers: AtomicBool::new(true),
            has_too_many: AtomicBool::new(false),
            wanted_first: OnceLock::new(),
            most: OnceLock::new(),
            controller: options.adapts.then(|| Mutex::new(Controller::new(started))),
            errors_kept_max: options.errors_kept_max,
            started,
            threadless: Mutex::new(None),
            alive: Mutex::default(),
            gone: Condvar::default(),
            at_end: OnceLock::new(),
            idle_io: options.idle_io,
            niceness: (options.niceness > 0)
                .then(|| threads::niceness().saturating_add(options.niceness.into())),
        })
    }

    /// Starts the first worker. The others start when there is enough work.
    ///
    /// If the system gives no thread, the first worker uses the one that
    /// [waits](Self::wait) for the scan.
    pub(crate) fn start(self: &Arc<Self>) {
        if self.start_worker(Duty::Advance).is_ok() {
            return;
        }
        let slot = lock(&self.crew).sent_away.pop();
        let slot = slot.expect("what a thread that was not started was to have is kept");
        lock(&self.alive).count += 1;
        let duty = Duty::Advance;
        *lock(&self.threadless) = Some(Threadless { slot, duty });
    }

    /// Starts one worker more, if more are wanted.
    fn start_worker(self: &Arc<Self>, duty: Duty) -> std::io::Result<()> {
        {
            let mut alive = lock(&self.alive);
            let wanted = self.wanted.load(Ordering::Relaxed);
            // A worker that left at the end did not give back its place.
            if alive.count >= wanted || self.is_over() {
                self.wants_helpers.store(false, Ordering::Relaxed);
                return Ok(());
            }
            alive.count += 1;
        }
        self.start_thread(duty).inspect_err(|_| self.leave())
    }

    /// Starts the thread of a worker that counts already.
    fn start_thread(self: &Arc<Self>, duty: Duty) -> std::io::Result<()> {
        let slot = {
            let mut crew = lock(&self.crew);
            match crew.sent_away.pop() {
                Some(slot) => slot,
                None => {
                    crew.next += 1;
                    self.frontier.slot(crew.next - 1)
                }
            }
        };
        let name = format!("statwalk-{}", slot.index());
        // If the thread cannot be started, its slot is still here.
        let given = Arc::new(Mutex::new(Some(slot)));
        let (pool, taken) = (Arc::clone(self), Arc::clone(&given));
        let stack_bytes = match self.order {
            AnyOrder::Order(Order::Recursive) => RECURSION_STACK_BYTES,
            _ => STACK_BYTES,
        };
        let started = threads::start(name, stack_bytes, move || {
            let slot = lock(&taken).take().expect("it is given to one thread");
            // After a panic nobody reads what the worker left half done.
            let work = || Worker::new(Arc::clone(&pool), slot, duty).work();
            match catch_unwind(AssertUnwindSafe(work)) {
                Ok((StopReason::Ended, slot)) => {
                    drop(slot);
                    pool.leave();
                }
                Ok((StopReason::TooMany, slot)) => pool.send_away(slot),
                Ok((StopReason::TaskDone, slot)) => pool.follow_up(slot),
                Ok((StopReason::TimeOver(_) | StopReason::Idle, _)) => {
                    unreachable!("the thread was not lent")
                }
                Err(panic) => pool.end_by(panic),
            }
        });
        if let Err(error) = started {
            lock(&self.crew).sent_away.extend(lock(&given).take());
            return Err(error);
        }
        Ok(())
    }

    /// Sets the first number of workers.
    ///
    /// Control groups can grant less than there is. To find out takes as long as scanning
    /// a small directory, so it waits until the first helper is needed.
    fn settle_wanted(&self) {
        self.wanted_first.get_or_init(|| {
            let mut wanted = self.most();
            if self.controller.is_some() {
                wanted = wanted.min(machine::granted_processors());
            }
            self.wanted.store(wanted, Ordering::Relaxed);
            wanted
        });
    }

    /// The largest number of workers: the plan's, if the address space has room for their
    /// stacks.
    fn most(&self) -> usize {
        *self
            .most
            .get_or_init(|| self.results.len().min(machine::workers_with_room()))
    }

    /// Starts one worker more. If that fails it is no error: the others do all the work.
    pub(super) fn start_helper(self: &Arc<Self>) {
        self.settle_wanted();
        if self.start_worker(Duty::Help).is_err() {
            let there = lock(&self.alive).count;
            self.wanted.store(there, Ordering::Relaxed);
            self.wants_helpers.store(false, Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        let left = {
            let mut alive = lock(&self.alive);
            alive.count -= 1;
            alive.count
        };
        self.gone.call_all();
        if let Some(call) = self.at_end.get().filter(|_| left == 0) {
            call();
        }
    }

    /// Sets a call for the moment when the last worker has gone. If all have gone
    /// already, nobody makes it.
    pub(crate) fn call_at_end(&self, call: Box<dyn Fn() + Send + Sync>) {
        let _ = self.at_end.set(call);
    }

    /// Shows the results of all workers, each when its worker does not use it.
    pub(crate) fn peek(&self, look: &mut dyn FnMut(&mut Results)) {
        let started = self.started_workers();
        for results in &self.results[..started] {
            if let Some(results) = &mut *lock(results) {
                look(results);
            }
        }
    }

    /// Shows the results that no worker uses right now.
    pub(crate) fn visit_idle(&self, visit: &mut dyn FnMut(&mut Results)) {
        let started = self.started_workers();
        for results in &self.results[..started] {
            if let Ok(mut results) = results.try_lock()
                && let Some(results) = &mut *results
            {
                visit(results);
            }
        }
    }

    /// Whether there is one worker too many. If so, the caller must be sent away.
    pub(super) fn may_go(&self) -> bool {
        if !self.has_too_many.load(Ordering::Relaxed) {
            return false;
        }
        let mut alive = lock(&self.alive);
        let wanted = self.wanted.load(Ordering::Relaxed);
        let is_one_too_many = alive.count - alive.leaving > wanted;
        alive.leaving += usize::from(is_one_too_many);
        if alive.count - alive.leaving <= wanted {
            self.has_too_many.store(false, Ordering::Relaxed);
        }
        is_one_too_many
    }

    /// Keeps the slot of a worker that is not needed for now. Others take its jobs.
    fn send_away(&self, slot: WorkerSlot) {
        let progress = &self.progress[slot.index()];
        let effort = progress.effort(threads::since(self.started));
        progress.end_work(threads::since(self.started));
        progress.forget_thread();
        let mut crew = lock(&self.crew);
        crew.effort_of_gone.0 += effort.cpu;
        crew.effort_of_gone.1 += effort.busy;
        crew.sent_away.push(slot);
        drop(crew);
        {
            let mut alive = lock(&self.alive);
            alive.leaving -= 1;
            alive.count -= 1;
            // More may be wanted by now.
            if alive.count < self.wanted.load(Ordering::Relaxed) {
                self.wants_helpers.store(true, Ordering::Relaxed);
            }
        }
        self.parking.call_one();
    }

    /// Starts the task that follows one that is done, if tasks are threads.
    /// It takes the slot of the one before, so that there is always one while jobs wait.
    ///
    /// A thread that queues a task while all threads are busy comes here later. So no
    /// task is forgotten.
    fn follow_up(self: &Arc<Self>, slot: WorkerSlot) {
        lock(&self.crew).sent_away.push(slot);
        while !self.is_over() && self.frontier.has_work() {
            if self.start_thread(Duty::Help).is_ok() {
                return;
            }
            // The system gives no thread: this one goes on.
            let Some(slot) = lock(&self.crew).sent_away.pop() else {
                break;
            };
            let (_, slot) = Worker::new(Arc::clone(self), slot, Duty::Help).work();
            lock(&self.crew).sent_away.push(slot);
        }
        self.leave();
    }

    /// Starts tasks for the queued jobs, if tasks are threads.
    pub(super) fn start_tasks(self: &Arc<Self>, count: usize) {
        self.settle_wanted();
        for _ in 0..count {
            let is_full = lock(&self.alive).count >= self.wanted.load(Ordering::Relaxed);
            if is_full || self.start_worker(Duty::Help).is_err() {
                return;
            }
        }
    }

    /// Cancels the scan for a caller who wants what was read until now: workers stop
    /// when their system calls return.
    pub(crate) fn cancel(&self) {
        self.takes_parts.store(true, Ordering::Relaxed);
        self.end();
    }

    /// Cancels the scan for a caller who wants no answer.
    pub(crate) fn end(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.parking.call_all();
        // Under the lock, so that it cannot come between a test and a wait.
        let _alive = lock(&self.alive);
        self.gone.call_all();
    }

    /// Brings the jobs below a directory to the front.
    pub(crate) fn prefer(&self, id: DirId) {
        self.frontier.prefer(id);
        // Meanwhile workers may have gone to sleep for want of a job.
        self.parking.call_all();
        if self.is_over() {
            self.frontier.clear();
        }
    }

    /// Learns how many rows a caller holds who takes entries by path.
    pub(crate) fn tell_ahead(&self, rows: usize) {
        let sorted = self.frontier.sorted();
        if sorted.is_some_and(|sorted| sorted.tell_ahead(rows)) {
            self.parking.call_all();
        }
    }

    /// Whether a cancelled scan still takes what was read of a directory.
    pub(super) fn takes_parts(&self) -> bool {
        self.takes_parts.load(Ordering::Relaxed) && !self.has_enough.load(Ordering::Relaxed)
    }

    /// Ends the scan, because a sink has had enough.
    pub(super) fn end_for_sink(&self) {
        self.has_enough.store(true, Ordering::Relaxed);
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The words of a worker that has panicked, so that there is no answer.
    pub(crate) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.panic).take()
    }

    /// Ends the scan when a worker has panicked: its job is never done, and all others would
    /// wait for it.
    fn end_by(&self, panic: Box<dyn Any + Send>) {
        lock(&self.panic).get_or_insert(panic);
        self.end();
        self.leave();
    }

    /// Whether no more workers are needed.
    pub(super) fn is_over(&self) -> bool {
        self.is_cancelled() || self.done.load(Ordering::Acquire)
    }

    /// The next block of numbers for directories; empty if none is left.
    pub(super) fn take_ids(&self) -> Range<u32> {
        let next = |block: u32| (block < DirId::BLOCKS).then_some(block + 1);
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        match self.next_id_block.fetch_update(set, get, next) {
            Ok(block) => block * DirId::BLOCK..(block + 1) * DirId::BLOCK,
            Err(_) => 0..0,
        }
    }

    /// The number of workers that were started.
    pub(crate) fn started_workers(&self) -> usize {
        lock(&self.crew).next
    }

    /// The system calls of the source so far.
    pub(crate) fn calls(&self) -> u64 {
        self.progress.iter().map(|worker| worker.calls()).sum()
    }

    /// The number of workers that is wanted.
    #[cfg(test)]
    pub(crate) fn workers_wanted(&self) -> usize {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Whether workers sleep, and none was called, while there is something to take.
    #[cfg(test)]
    pub(crate) fn sleeps_beside_work(&self) -> bool {
        self.parking.all_sleep() && self.frontier.has_work()
    }

    /// Takes the results of all workers, also of those that hang.
    pub(crate) fn take_results(&self) -> Vec<Results> {
        self.results
            .iter()
            .filter_map(|results| lock(results).take())
            .collect()
    }

    /// Drops the directories that wait, so that their descriptors are closed even if a
    /// worker that hangs keeps the pool.
    pub(crate) fn clear(&self) {
        lock(&self.agenda).clear();
        self.frontier.clear();
        for progress in &self.progress {
            progress.rest();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
