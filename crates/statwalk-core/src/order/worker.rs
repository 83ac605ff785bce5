// SPDX-License-Identifier: MIT OR Apache-2.0

//! One worker: it takes directories, lists them, and folds the entries into a state of
//! its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::agenda::Item;
use super::frontier::WorkerSlot;
use super::missing::Missing;
use super::outlet::{WorkerOutlet, work_of_thread};
use super::pool::Pool;
use super::{AnyOrder, Order};
use crate::directory::Dir;
use crate::listing::events::Events;
use crate::listing::pace::Pace;
use crate::listing::shared::cut_off;
use crate::listing::source::DirectorySource;
use crate::listing::{Fate, Job, Lister};
use crate::lock::lock;
use crate::tally;
use crate::threads;

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
pub(super) struct Worker<D> {
    lister: Lister<D>,
    outlet: WorkerOutlet<D>,
}

impl<D: DirectorySource> Worker<D> {
    /// A worker on a thread of its own.
    pub(super) fn new(pool: Arc<Pool<D>>, slot: WorkerSlot, duty: Duty) -> Worker<D> {
        // A lent thread has none: an ordinary user could not take it back.
        if let Some(niceness) = pool.niceness {
            threads::set_niceness(niceness);
        }
        Worker::with(pool, slot, duty, None)
    }

    /// A worker on a thread that is lent until a time. It does one job or one entry at
    /// least, and takes little of the stack.
    pub(super) fn on_lent_thread(
        pool: Arc<Pool<D>>,
        slot: WorkerSlot,
        duty: Duty,
        until: Instant,
    ) -> Worker<D> {
        Worker::with(pool, slot, duty, Some(until))
    }

    fn with(
        pool: Arc<Pool<D>>,
        slot: WorkerSlot,
        duty: Duty,
        lent_until: Option<Instant>,
    ) -> Worker<D> {
        if pool.idle_io {
            // A refusal costs politeness, not truth.
            let _ = threads::set_idle();
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
                missing: Missing::default(),
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
            if pool.order == AnyOrder::Futures && !is_lent {
                if let Some(job) = self.outlet.take() {
                    self.visit(job, 0);
                }
                self.outlet.rest();
                return StopReason::TaskDone;
            }
            match self.outlet.take() {
                Some(job) => self.visit(job, 0),
                None if self.outlet.missing.len() > 0 => self.judge_rest(),
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
                self.judge_rest();
                return StopReason::TimeOver(self.outlet.duty);
            }
            if pool.may_go() {
                self.judge_rest();
                self.outlet.rest();
                return StopReason::TooMany;
            }
        }
        self.cut_off_waiting();
        self.outlet.rest();
        StopReason::Ended
    }

    /// Delivers what was read of directories whose other entries still wait, if the
    /// scan was cancelled.
    fn cut_off_waiting(&mut self) {
        while self.outlet.takes_parts() {
            let Some(job) = self.outlet.take() else {
                return;
            };
            let listing = match &job {
                Job::Child { .. } => continue,
                Job::Rest(listing) | Job::Part(listing, _) => listing,
                Job::Entry(entry) => &entry.listing,
            };
            cut_off(listing, None, &mut self.outlet);
        }
    }

    /// Lists a directory; in the recursive order also all below it.
    fn visit(&mut self, job: Job, level: u32) {
        self.outlet.begin(&job);
        let lists = matches!(job, Job::Child { .. } | Job::Rest(_));
        let missing = self.outlet.missing.len();
        if self.lister.expand(job, &mut self.outlet) == Fate::Settled {
            self.outlet.settle_last_parent();
        }
        // One that is missing is done when it is judged.
        let mut done = usize::from(self.outlet.missing.len() == missing);
        if self.outlet.missing.is_due(self.outlet.pool.started) {
            done += self.judge_missing();
        }
        let pool = &self.outlet.pool;
        pool.frontier.done(&mut self.outlet.slot);
        if let Some(queue) = pool.frontier.inode_queue().filter(|_| lists) {
            queue.listed();
            pool.parking.call_one();
        }
        if pool.order == Order::Recursive {
            self.descend(level);
        }
        self.end_jobs(done);
    }

    /// Notes so many jobs as done. With the last of all it begins the next item.
    fn end_jobs(&mut self, done: usize) {
        let pending = &self.outlet.pool.pending;
        if done > 0 && pending.fetch_sub(done, Ordering::AcqRel) == done {
            self.advance();
        }
    }

    /// Judges the missing subdirectories before this worker waits or goes.
    fn judge_rest(&mut self) {
        let done = self.judge_missing();
        self.end_jobs(done);
    }

    /// Judges the missing subdirectories, and gives their number.
    fn judge_missing(&mut self) -> usize {
        let count = self.outlet.missing.len();
        if count == 0 || self.outlet.pool.is_cancelled() {
            return 0;
        }
        let begin = threads::now();
        for item in self.outlet.missing.take() {
            if let Item::Vanished(parent, offsets) = item {
                self.judge_vanished(&parent, &offsets);
            }
        }
        self.outlet.missing.judged(begin);
        count
    }

    fn judge_vanished(&mut self, parent: &Arc<Dir>, offsets: &[u32]) {
        self.outlet.begin_in(&parent.place);
        (self.lister).judge_vanished(parent, offsets, &mut self.outlet);
    }

    /// Visits the subdirectories of the last directory, in the order of the listing.
    fn descend(&mut self, level: u32) {
        // A large directory is read on when its known subdirectories are done.
        let mut below = rests_last(std::mem::take(&mut self.outlet.slot.called));
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
                    match lister.root(&path, root as u32, out) {
                        Ok(Fate::Settled) => out.root_finished(root as u32),
                        Ok(Fate::Open) => {}
                        Err(failure) => out.missing(root, failure),
                    }
                }
                Item::Crossing(parent, offset) => {
                    out.begin_child(&parent.dir, offset);
                    if lister.deferred(parent, offset, out) == Fate::Settled {
                        out.settle_last_parent();
                    }
                }
                Item::Link(parent, offset) => {
                    out.begin_child(&parent, offset);
                    if lister.follow(parent, offset, out) == Fate::Settled {
                        out.settle_last_parent();
                    }
                }
                Item::Vanished(parent, offsets) => self.judge_vanished(&parent, &offsets),
            }
            self.judge_missing();
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

/// The jobs in their order, but those that read a directory on after the others.
fn rests_last(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| matches!(job, Job::Rest(_)));
    jobs
}
