// SPDX-License-Identifier: MIT OR Apache-2.0

//! The caller of a scan: it waits for the workers, keeps up their number, and lends its
//! thread to a worker that has none.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Pool, Threadless};
use crate::listing::source::DirectorySource;
use crate::lock::lock;
use crate::order::concurrency::{Concurrency, Step};
use crate::order::controller::Effort;
use crate::order::worker::{StopReason, Worker};
use crate::reason::Reason;
use crate::threads::{self, IoPriority};

/// The time after which others take the jobs of a worker that hangs.
const HELP_DELAY_MAX: Duration = Duration::from_millis(20);

/// The time that cancelled workers have to come back, before they count as hanging. It
/// is twice the time that a call usually takes, within these bounds.
const GRACE_MIN: Duration = Duration::from_millis(100);
const GRACE_MAX: Duration = Duration::from_secs(1);

impl<D: DirectorySource> Pool<D> {
    /// Lets the worker without a thread, if there is one, work on this thread. It works
    /// until a time, or until others have taken all jobs.
    fn lend_thread(self: &Arc<Self>, until: Instant) {
        let Some(Threadless { slot, duty }) = lock(&self.threadless).take() else {
            return;
        };
        let progress = &self.progress[slot.index()];
        let before = match self.idle_io {
            true => IoPriority::current().ok(),
            false => None,
        };
        let left = Worker::on_lent_thread(Arc::clone(self), slot, duty, until).work();
        if let Some(before) = before {
            // If it is refused, the thread stays polite.
            let _ = before.set();
        }
        match left {
            (StopReason::Ended, slot) => {
                drop(slot);
                self.leave();
            }
            (StopReason::TimeOver(duty), slot) => {
                progress.end_work(threads::since(self.started));
                *lock(&self.threadless) = Some(Threadless { slot, duty });
            }
            (StopReason::Idle, slot) => {
                // The other workers have threads, and do not need this one.
                lock(&self.alive).leaving += 1;
                self.send_away(slot);
            }
            (StopReason::TooMany, slot) => self.send_away(slot),
            (StopReason::TaskDone, _) => unreachable!("a thread that is lent is no task"),
        }
    }

    /// Whether a worker has no thread, and nobody lends it one.
    pub(crate) fn wants_thread(&self) -> bool {
        lock(&self.threadless).is_some()
    }

    /// Ends the worker without a thread, because no thread will be lent any more.
    pub(crate) fn dismiss_threadless(&self) {
        let Some(Threadless { slot, .. }) = lock(&self.threadless).take() else {
            return;
        };
        self.progress[slot.index()].rest();
        drop(slot);
        self.cancel();
        self.leave();
    }

    /// Waits for the workers, at most for a time. Returns whether they are done or the
    /// scan was cancelled.
    ///
    /// The thread that waits also keeps up the number of workers.
    pub(crate) fn wait(self: &Arc<Self>, timeout: Duration) -> bool {
        let ended = |pool: &Self, alive| alive == 0 || pool.is_cancelled();
        let deadline = threads::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(threads::now());
            let pause = self.pause_before_sample().unwrap_or(left);
            let until = threads::now() + left.min(pause);
            self.lend_thread(until);
            let rest = until.saturating_duration_since(threads::now());
            if self.wait_until(rest, ended) {
                return true;
            }
            if left <= pause {
                return false;
            }
            self.look_after();
        }
    }

    /// As [`wait`](Self::wait), without waiting.
    pub(crate) fn tend(self: &Arc<Self>) {
        self.lend_thread(threads::now());
        self.look_after();
    }

    /// Keeps up the number of workers.
    fn look_after(self: &Arc<Self>) {
        // A worker that hangs cannot call for help. Its jobs are for others.
        if self.wants_helpers.load(Ordering::Relaxed)
            && self.frontier.has_work()
            && !self.parking.somebody_waits()
            && threads::since(self.started) >= HELP_DELAY_MAX
        {
            self.start_helper();
        }
        self.control();
    }

    /// The time until the next sample; absent if none is needed.
    fn pause_before_sample(&self) -> Option<Duration> {
        match &self.controller {
            // The caller may wait in pieces that are shorter than a pause.
            Some(controller) => {
                let next_sample = lock(controller).next_sample();
                Some(next_sample.saturating_duration_since(threads::now()))
            }
            None if self.wants_helpers.load(Ordering::Relaxed) => Some(HELP_DELAY_MAX),
            None => None,
        }
    }

    /// Samples the workers, and changes their number.
    fn control(self: &Arc<Self>) {
        let Some(controller) = &self.controller else {
            return;
        };
        let now = threads::now();
        let effort = self.effort(now);
        let Some(decision) = lock(controller).sample(now, effort, || {
            self.settle_wanted();
            Concurrency::new(self.wanted.load(Ordering::Relaxed), self.most())
        }) else {
            return;
        };
        self.is_slow.store(decision.is_slow, Ordering::Relaxed);
        // A worker that lists a slow directory alone shares it with nobody, and is only
        // one of those that are wanted.
        if decision.is_slow && self.wants_helpers.load(Ordering::Relaxed) {
            self.start_helper();
        }
        match decision.step {
            None => {}
            Some(Step::Up(_)) => {
                self.wanted.store(decision.workers, Ordering::Relaxed);
                self.wants_helpers.store(true, Ordering::Relaxed);
                while self.wants_helpers.load(Ordering::Relaxed) && !self.is_over() {
                    self.start_helper();
                }
            }
            Some(Step::Back(_) | Step::Down(_)) => {
                self.wanted.store(decision.workers, Ordering::Relaxed);
                self.wants_helpers.store(false, Ordering::Relaxed);
                self.has_too_many.store(true, Ordering::Relaxed);
                self.parking.call_all();
            }
        }
    }

    /// The work of all workers so far.
    fn effort(&self, now: Instant) -> Effort {
        let now = now.saturating_duration_since(self.started);
        let crew = lock(&self.crew);
        let (cpu, busy) = crew.effort_of_gone;
        let mut sum = Effort {
            cpu,
            busy,
            ..Effort::default()
        };
        for worker in &self.progress[..crew.next] {
            let effort = worker.effort(now);
            sum.cpu += effort.cpu;
            sum.busy += effort.busy;
            sum.occupied += effort.occupied;
            sum.work += worker.work();
        }
        sum
    }

    /// The reason for the number of workers, for the plan.
    pub(crate) fn concurrency_reason(&self) -> Option<Reason> {
        lock(self.controller.as_ref()?).reason()
    }

    /// Waits for the workers, at most for a time. Returns whether all are gone.
    pub(crate) fn wait_gone(&self, timeout: Duration) -> bool {
        self.wait_until(timeout, |_, alive| alive == 0)
    }

    fn wait_until(&self, timeout: Duration, enough: impl Fn(&Self, usize) -> bool) -> bool {
        let deadline = threads::now() + timeout;
        let mut alive = lock(&self.alive);
        while !enough(self, alive.count) {
            let Some(left) = deadline.checked_duration_since(threads::now()) else {
                return false;
            };
            alive = self.gone.wait_at_most(&self.alive, alive, left);
        }
        true
    }

    /// The time that cancelled workers have to come back.
    pub(crate) fn grace(&self) -> Duration {
        let now = threads::since(self.started);
        let started = self.started_workers();
        let calls = self.progress[..started].iter().map(|worker| {
            let count = u32::try_from(worker.calls()).unwrap_or(u32::MAX);
            worker.occupied(now) / count.max(1)
        });
        grace(calls.collect())
    }
}

/// The time for workers whose calls take that long.
fn grace(mut calls: Vec<Duration>) -> Duration {
    calls.sort_unstable();
    // The median: one that hangs says nothing of the others.
    let usual = calls.get(calls.len() / 2).copied().unwrap_or_default();
    (2 * usual).clamp(GRACE_MIN, GRACE_MAX)
}

/// A pool whose answer is wanted. When this is dropped, workers end as soon as their
/// system calls return, and nobody waits for them.
pub(crate) struct WantedPool<D: DirectorySource>(Arc<Pool<D>>);

impl<D: DirectorySource> WantedPool<D> {
    pub(crate) fn new(pool: Arc<Pool<D>>) -> WantedPool<D> {
        WantedPool(pool)
    }
}

impl<D: DirectorySource> Deref for WantedPool<D> {
    type Target = Arc<Pool<D>>;

    fn deref(&self) -> &Arc<Pool<D>> {
        &self.0
    }
}

impl<D: DirectorySource> Drop for WantedPool<D> {
    fn drop(&mut self) {
        self.dismiss_threadless();
        if !self.done.load(Ordering::Acquire) {
            self.end();
            self.clear();
        }
    }
}
