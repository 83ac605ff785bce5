// SPDX-License-Identifier: MIT OR Apache-2.0

//! One worker: it takes directories, lists them, and folds the entries into a state of
//! its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Order;
use super::agenda::Item;
use super::frontier::WorkerSlot;
use super::pool::{Pool, Results};
use crate::batch::Batch;
use crate::directory::{Dir, DirState, Directory, Place};
use crate::entry::DirId;
use crate::error::{Cause, EntryError, Errno, Op, SystemErrno};
use crate::handle::OpenParent;
use crate::listing::listed::Listed;
use crate::listing::outlet::{Gathering, Note, Outlet, Tick};
use crate::listing::shared::SharedListing;
use crate::listing::source::DirectorySource;
use crate::listing::{Job, Lister};
use crate::lock::lock;
use crate::progress::WorkerProgress;
use crate::report::LeftOut;
use crate::sink::Collect;
use crate::tally;
use crate::threads;

/// One worker alone is too slow after this many directories, entries, or this time.
/// Starting a thread takes as long as reading some ten directories.
const ALONE_DIRS_MAX: u32 = 16;
const ALONE_ENTRIES_MAX: u64 = 1_000;
const ALONE_TIME_MAX: Duration = Duration::from_micros(300);

/// The depth of recursion below which directories wait. A level takes less than 2 KiB of
/// the stack.
const RECURSION_MAX: u32 = 4096;

/// The reason why a worker stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopReason {
    /// The scan is done or cancelled.
    Ended,
    /// More workers work than are wanted.
    TooMany,
    /// The directory of this worker is done, if each has one.
    TaskDone,
    /// The time is over for which the thread was lent.
    TimeOver(Duty),
    /// No job waits, and the thread is only lent.
    Idle,
}

/// The first duty of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// To begin the next item of the agenda.
    Advance,
    /// To do any job that waits.
    Help,
}

/// One worker: its part of the frontier, and its lister.
pub(super) struct Worker<C, D> {
    lister: Lister<D>,
    outlet: WorkerOutlet<C, D>,
}

/// The worker's side of the pool, as its lister sees it.
struct WorkerOutlet<C, D> {
    pool: Arc<Pool<C, D>>,
    slot: WorkerSlot,
    last_parent: Option<Arc<Dir>>,
    dirs_done: u32,
    /// Added to the counts of this thread: the counts of earlier workers in this slot,
    /// less what the thread did elsewhere.
    calls_before: u64,
    work_before: u64,
    /// The time until which the thread is lent; absent if it is the worker's own.
    lent_until: Option<Instant>,
    /// Whether it still has to begin the next item of the agenda.
    duty: Duty,
}

impl<C: Collect, D: DirectorySource> Worker<C, D> {
    /// A worker on a thread of its own.
    pub(super) fn new(pool: Arc<Pool<C, D>>, slot: WorkerSlot, duty: Duty) -> Worker<C, D> {
        Worker::with(pool, slot, duty, None)
    }

    /// A worker on a thread that is lent until a time. It does one job or one entry at
    /// least, and takes little of the stack.
    pub(super) fn on_lent_thread(
        pool: Arc<Pool<C, D>>,
        slot: WorkerSlot,
        duty: Duty,
        until: Instant,
    ) -> Worker<C, D> {
        Worker::with(pool, slot, duty, Some(until))
    }

    fn with(
        pool: Arc<Pool<C, D>>,
        slot: WorkerSlot,
        duty: Duty,
        lent_until: Option<Instant>,
    ) -> Worker<C, D> {
        if pool.idle_io {
            // A refusal costs politeness, not truth.
            let _ = statwalk_sys::io_priority::set_idle();
        }
        let progress = &pool.progress[slot.index()];
        progress.know_thread();
        progress.begin_work(threads::since(pool.started));
        let calls_before = progress.calls().wrapping_sub(tally::made());
        let work_before = progress.work().wrapping_sub(work_of_thread());
        Worker {
            lister: Lister::new(Arc::clone(&pool.context)),
            outlet: WorkerOutlet {
                pool,
                slot,
                last_parent: None,
                dirs_done: 0,
                calls_before,
                work_before,
                lent_until,
                duty,
            },
        }
    }

    /// Works until the scan is done or cancelled, or there are too many workers.
    /// Gives back the slot.
    pub(super) fn work(mut self) -> (StopReason, WorkerSlot) {
        let leave = self.work_on();
        let Worker { lister, outlet } = self;
        drop(lister);
        outlet.tell_work();
        (leave, outlet.slot)
    }

    fn work_on(&mut self) -> StopReason {
        let pool = Arc::clone(&self.outlet.pool);
        let is_lent = self.outlet.lent_until.is_some();
        if self.outlet.duty == Duty::Advance {
            self.advance();
            if self.outlet.duty == Duty::Advance {
                return StopReason::TimeOver(Duty::Advance);
            }
        }
        while !pool.is_over() {
            if pool.order == Order::Futures && !is_lent {
                if let Some(job) = self.outlet.take() {
                    self.visit(job, 0);
                }
                self.outlet.rest();
                return StopReason::TaskDone;
            }
            match self.outlet.take() {
                Some(job) => self.visit(job, 0),
                None if is_lent => {
                    self.outlet.rest();
                    return StopReason::Idle;
                }
                None => {
                    self.outlet.rest();
                    self.lister.rest_from_work();
                    let progress = &pool.progress[self.outlet.slot.index()];
                    progress.end_work(threads::since(pool.started));
                    pool.parking
                        .wait_unless(|| pool.is_over() || pool.frontier.has_work());
                    progress.begin_work(threads::since(pool.started));
                }
            }
            if is_lent && self.outlet.is_late() {
                return StopReason::TimeOver(self.outlet.duty);
            }
            if pool.may_go() {
                self.outlet.rest();
                return StopReason::TooMany;
            }
        }
        self.outlet.rest();
        StopReason::Ended
    }

    /// Lists a directory; in the recursive order also all below it.
    fn visit(&mut self, job: Job, level: u32) {
        self.outlet.begin(&job);
        let lists = matches!(job, Job::Child { .. } | Job::Rest(_));
        self.lister.expand(job, &mut self.outlet);
        let pool = &self.outlet.pool;
        if let Some(queue) = pool.frontier.inode_queue().filter(|_| lists) {
            queue.listed();
            pool.parking.call_one();
        }
        if pool.order == Order::Recursive {
            self.descend(level);
        }
        if self.outlet.pool.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.advance();
        }
    }

    /// Visits the subdirectories of the last directory, in the order of the listing.
    fn descend(&mut self, level: u32) {
        let mut below = std::mem::take(&mut self.outlet.slot.called);
        // A large directory is read on when its known subdirectories are done.
        below.sort_by_key(|job| matches!(job, Job::Rest(_)));
        // A lent thread may have a small stack, and is wanted back.
        let is_lent = self.outlet.lent_until.is_some();
        if is_lent || level >= RECURSION_MAX {
            return self.outlet.pool.frontier.put_off(below);
        }
        // Reading on is one level deeper, and would keep the list of each part of the
        // directory. So the list is dropped first.
        let rest = below.pop_if(|job| matches!(job, Job::Rest(_)));
        for job in below {
            if self.outlet.pool.is_cancelled() {
                return;
            }
            self.visit(job, level + 1);
        }
        if let Some(rest) = rest.filter(|_| !self.outlet.pool.is_cancelled()) {
            self.visit(rest, level + 1);
        }
    }

    /// Begins the next item of the agenda. Call it when nothing is pending.
    fn advance(&mut self) {
        let pool = Arc::clone(&self.outlet.pool);
        self.outlet.duty = Duty::Help;
        loop {
            let item = match pool.is_cancelled() {
                true => None,
                false => lock(&pool.agenda).next(|root| pool.context.is_reached_earlier(root)),
            };
            let Some(item) = item else {
                pool.done.store(true, Ordering::Release);
                pool.parking.call_all();
                return;
            };
            pool.pending.store(1, Ordering::Relaxed);
            let (lister, out) = (&mut self.lister, &mut self.outlet);
            match item {
                Item::Root(root, path) => {
                    out.last_parent = None;
                    pool.progress[out.slot.index()].begin_root(&path);
                    if let Err(errno) = lister.root(&path, root as u32, out) {
                        out.missing(root, errno);
                    }
                }
                Item::Crossing(parent, offset) => {
                    out.begin_child(&parent.dir, offset);
                    lister.deferred(parent, offset, out);
                }
                Item::Link(parent, offset) => {
                    out.begin_child(&parent, offset);
                    lister.follow(parent, offset, out);
                }
                Item::Vanished(parent, offsets) => {
                    out.begin_in(&parent.place);
                    lister.judge_vanished(&parent, &offsets, out);
                }
            }
            if pool.order == Order::Recursive {
                self.descend(0);
            }
            if pool.pending.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
            if self.outlet.is_late() {
                self.outlet.duty = Duty::Advance;
                return;
            }
        }
    }
}

impl<C: Collect, D: DirectorySource> WorkerOutlet<C, D> {
    fn take(&mut self) -> Option<Job> {
        let taken = self.pool.frontier.take(&mut self.slot)?;
        if taken.more {
            self.pool.parking.call_one();
        }
        Some(taken.job)
    }

    fn begin(&mut self, job: &Job) {
        self.tell_work();
        match job {
            Job::Child {
                parent,
                name_offset,
                ..
            } => {
                self.dirs_done += 1;
                self.begin_child(&parent.dir, *name_offset);
            }
            Job::Rest(listing) | Job::Part(listing, _) => self.begin_in(listing.place()),
            Job::Entry(entry) => self.begin_in(entry.listing.place()),
        }
    }

    fn begin_in(&mut self, place: &Place) {
        match place {
            Place::Root(path) => {
                self.last_parent = None;
                self.pool.progress[self.slot.index()].begin_root(path);
            }
            Place::Child(parent, offset) => self.begin_child(parent, *offset),
        }
    }

    fn begin_child(&mut self, parent: &Arc<Dir>, offset: u32) {
        let same = self
            .last_parent
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, parent));
        self.pool.progress[self.slot.index()].begin_child(parent, offset, same);
        if !same {
            self.last_parent = Some(Arc::clone(parent));
        }
    }

    /// Publishes how much this worker has done.
    fn tell_work(&self) {
        let calls = self.calls_before.wrapping_add(tally::made());
        let work = self.work_before.wrapping_add(work_of_thread());
        self.pool.progress[self.slot.index()].tell_work(calls, work);
    }

    /// Whether the thread is lent and wanted back.
    #[inline]
    fn is_late(&self) -> bool {
        self.lent_until.is_some_and(|until| threads::now() >= until)
    }

    fn rest(&mut self) {
        self.last_parent = None;
        self.pool.progress[self.slot.index()].rest();
    }

    /// Starts more workers once there is enough work.
    fn call_help(&self) {
        if !self.pool.wants_helpers.load(Ordering::Relaxed) {
            return;
        }
        let entries = &self.pool.progress[self.slot.index()].entries;
        let enough = self.dirs_done >= ALONE_DIRS_MAX
            || entries.load(Ordering::Relaxed) >= ALONE_ENTRIES_MAX
            || threads::since(self.pool.started) >= ALONE_TIME_MAX;
        if enough {
            self.pool.start_helper();
        }
    }

    fn with_results(&self, work: impl FnOnce(&mut Results<C>)) {
        match &mut *lock(&self.pool.results[self.slot.index()]) {
            Some(results) => work(results),
            // The scan ended without this worker, which hung.
            None => self.pool.cancelled.store(true, Ordering::Relaxed),
        }
    }

    /// Ends the scan because no number is left for a directory. With the number of
    /// another it would be counted in its place.
    fn end_for_lack_of_numbers(&mut self, directory: &Directory<'_>) {
        let (root, path) = (directory.root, directory.path());
        self.failed(root, path, Op::Read, SystemErrno::OVERFLOW);
        self.pool.cancelled.store(true, Ordering::Relaxed);
        self.pool.parking.call_all();
    }

    /// Gives an error to the sink, and keeps it for the report.
    fn report(&mut self, error: EntryError) {
        let kept_max = self.pool.errors_kept_max;
        self.with_results(|results| {
            if results.state.failed(&error).is_break() {
                self.pool.cancelled.store(true, Ordering::Relaxed);
            }
            results.errors.keep(kept_max, || error);
        });
    }

    fn missing(&self, root: usize, errno: SystemErrno) {
        self.with_results(|results| results.roots[root].missing = Some(Errno::of(errno)));
    }
}

impl<C: Collect, D: DirectorySource> Outlet for WorkerOutlet<C, D> {
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]) {
        self.pool
            .pending
            .fetch_add(name_offsets.len(), Ordering::Relaxed);
        let frontier = &self.pool.frontier;
        frontier.push(&mut self.slot, parent, name_offsets, inos);
        if self.pool.order == Order::Futures {
            return self.pool.start_tasks(name_offsets.len());
        }
        self.call_help();
        self.pool.parking.call_one();
    }

    fn queue_rest(&mut self, listing: Arc<SharedListing>) {
        self.pool.pending.fetch_add(1, Ordering::Relaxed);
        let job = Job::Rest(listing);
        self.pool.frontier.push_one(&mut self.slot, job);
        self.pool.parking.call_one();
    }

    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed) {
        // By inode number each entry is a job.
        let weight = match self.pool.frontier.inode_queue() {
            Some(_) => part.len(),
            None => 1,
        };
        self.pool.pending.fetch_add(weight, Ordering::Relaxed);
        let job = Job::Part(Arc::clone(listing), Box::new(part));
        self.pool.frontier.push_one(&mut self.slot, job);
        self.call_help();
        self.pool.parking.call_one();
    }

    fn gathers(&self) -> bool {
        self.pool.frontier.inode_queue().is_some()
    }

    fn gathering(&self, what: Gathering) {
        if let Some(queue) = self.pool.frontier.inode_queue() {
            match what {
                Gathering::Begins => queue.opened(),
                Gathering::Ends => {
                    queue.closed();
                    self.pool.parking.call_one();
                }
            }
        }
    }

    #[inline]
    fn is_slow(&self) -> bool {
        self.pool.is_slow.load(Ordering::Relaxed) || self.is_late()
    }

    fn somebody_idle(&self) -> bool {
        self.call_help();
        self.pool.parking.somebody_waits() || self.is_late()
    }

    fn has_company(&self) -> bool {
        self.call_help();
        self.pool.results.len() > 1 && self.pool.order.hands_parts() || self.is_late()
    }

    #[inline]
    fn tick(&self) -> Tick {
        self.tell_work();
        if self.pool.is_cancelled() {
            Tick::Stop
        } else if self.is_slow() && (self.pool.parking.somebody_waits() || self.is_late()) {
            // A lent thread does the rest when it is lent again.
            Tick::Share
        } else {
            Tick::GoOn
        }
    }

    fn cancelled(&self) -> bool {
        self.pool.is_cancelled()
    }

    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32) {
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).crossings.push(item);
    }

    fn defer_vanished(&mut self, parent: &Arc<Dir>, name_offset: u32) {
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).vanished.push(item);
    }

    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]) {
        let items = name_offsets
            .iter()
            .map(|&offset| (Arc::clone(parent), offset));
        lock(&self.pool.agenda).links.extend(items);
    }

    fn next_id(&mut self) -> DirId {
        if self.slot.ids.is_empty() {
            self.slot.ids = self.pool.take_ids();
        }
        self.slot.ids.next().map_or(DirId::NONE_LEFT, DirId)
    }

    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]) {
        if has_no_number(directory) {
            return self.end_for_lack_of_numbers(directory);
        }
        let progress = &self.pool.progress[self.slot.index()];
        let announced = announce && directory.state != DirState::Argument;
        let entries: usize = batches.iter().map(|batch| batch.len()).sum();
        WorkerProgress::add(&progress.entries, entries as u64 + u64::from(announced));
        WorkerProgress::add(&progress.dirs, u64::from(announced));
        let bytes = batches.iter().flat_map(|batch| batch.allocated_bytes());
        (progress.allocated_bytes).add(bytes.map(|&bytes| u128::from(bytes)).sum());
        progress.step();
        self.with_results(|results| {
            let mut flow = match announce {
                true => results.state.directory(directory),
                false => std::ops::ControlFlow::Continue(()),
            };
            for batch in batches {
                if flow.is_continue() && !batch.is_empty() {
                    flow = results.state.batch(directory, batch);
                }
            }
            if flow.is_break() {
                self.pool.cancelled.store(true, Ordering::Relaxed);
            }
        });
        if self.pool.is_cancelled() {
            self.pool.parking.call_all();
        }
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        if has_no_number(directory) {
            return;
        }
        self.with_results(|results| results.state.incomplete(directory));
    }

    fn changed(&mut self, directory: &Directory<'_>) {
        let error = EntryError {
            path: directory.path(),
            op: Op::Read,
            cause: Cause::Changed,
            root: directory.root(),
        };
        self.with_results(|results| {
            results.roots[error.root].changed_dirs += 1;
            results.state.incomplete(directory);
        });
        self.report(error);
    }

    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, errno: SystemErrno) {
        let errno = Errno::of(errno);
        WorkerProgress::add(&self.pool.progress[self.slot.index()].unreadable, 1);
        self.with_results(|results| {
            results.roots[root as usize].unreadable += 1;
            results.errors.count(op, errno, 1);
        });
        self.report(EntryError {
            path,
            op,
            cause: Cause::System(errno),
            root: root as usize,
        });
    }

    fn note(&mut self, root: u32, note: Note) {
        self.with_results(|results| {
            let root = &mut results.roots[root as usize];
            match note {
                Note::Vanished => root.vanished += 1,
                Note::Excluded => root.excluded += 1,
                Note::Crossing => root.crossings += 1,
            }
        });
    }

    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str) {
        self.with_results(|results| results.left_out.push(LeftOut { path, file_system }));
    }
}

/// Whether no number was left for a directory, or for the one above it.
fn has_no_number(directory: &Directory<'_>) -> bool {
    directory.id == DirId::NONE_LEFT || directory.parent() == Some(DirId::NONE_LEFT)
}

/// Calls of the calling thread, and entries that it read without.
fn work_of_thread() -> u64 {
    tally::made() + tally::read()
}
