// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan that goes on: waiting for it, watching it, ending it.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::entry::DirId;
use crate::error::ErrorList;
use crate::listing::context::ScanContext;
use crate::listing::source::DirectorySource;
use crate::order::pool::WantedPool;
use crate::order::results::{State, with_types};
use crate::path::path_buf;
use crate::plan::Plan;
use crate::progress::{self, Progress};
use crate::report::{LeftOut, Outcome, Report, RootReport};
use crate::sink::{Context, Sink, path_order};
use crate::system::native::Native;
use crate::threads;

/// Lets the caller of a type control the scan that a field of it has, and with `report` get
/// the report of that field.
macro_rules! controls {
    ($type:ident, $scan:ident) => {
        impl $type {
            /// Stops the scan. The caller can still take all that the workers have found.
            pub fn cancel(&self) {
                self.$scan.cancel();
            }

            /// A handle by which another thread can stop the scan; absent at its end.
            #[must_use]
            pub fn canceller(&self) -> Option<$crate::Canceller> {
                self.$scan.canceller()
            }

            /// How far the scan has come; absent at its end.
            #[must_use]
            pub fn progress(&self) -> Option<$crate::Progress> {
                self.$scan.progress()
            }
        }
    };
    ($type:ident, $scan:ident, report) => {
        controls!($type, $scan);

        impl $type {
            /// The report of the scan, once everything was taken.
            #[must_use]
            pub fn report(&self) -> Option<&$crate::Report> {
                self.$scan.report()
            }

            /// Stops the scan if it still goes on, and gives its report.
            ///
            /// When everything was taken there is nothing to stop, and the report is that of
            /// the whole scan.
            #[must_use]
            pub fn finish(self) -> $crate::Report {
                self.$scan.finish()
            }
        }
    };
}
pub(crate) use controls;

/// A scan that goes on.
///
/// Dropped, it stops the scan and waits for nobody: workers end when the kernel
/// gives them back.
#[must_use = "a scan stops when nobody wants its answer any more"]
pub struct Running<S: Sink>(pub(crate) RunningOn<S, Native>);

/// A scan of a source that goes on.
pub(crate) struct RunningOn<S, D: DirectorySource> {
    pub(crate) sink: S,
    pub(crate) ongoing: Ongoing<D>,
}

/// A scan of a source that goes on, without its sink.
pub(crate) struct Ongoing<D: DirectorySource> {
    pub(crate) context: Context,
    pub(crate) pool: WantedPool<D>,
    pub(crate) scan_context: Arc<ScanContext<D>>,
    pub(crate) plan: Plan,
    pub(crate) started: Instant,
}

/// Stops a scan from another thread.
///
/// It may outlive the scan; then there is nothing that it could stop, and nothing
/// of the scan stays for its sake.
#[must_use = "it stops nothing by itself"]
#[derive(Clone)]
pub struct Canceller {
    cancel: Arc<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}

impl Canceller {
    /// Stops the scan: what was read until then is its answer.
    pub fn cancel(&self) {
        (self.cancel)();
    }
}

impl<S: Sink> fmt::Debug for Running<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roots = self.roots().iter().map(|root| path_buf(root.clone()));
        f.debug_struct("Running")
            .field("roots", &roots.collect::<Vec<_>>())
            .field("is_over", &self.is_over())
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}

impl<S: Sink> Running<S> {
    /// Waits until the scan is done, or has been cancelled and every worker has
    /// stopped or hangs.
    pub fn wait(&self) {
        while !self.wait_for(Duration::from_secs(3600)) {}
    }

    /// Waits at most for a time. Answers whether the scan is done or was cancelled.
    #[must_use]
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.0.ongoing.pool.wait(timeout)
    }

    /// Whether the scan is done or was cancelled.
    pub(crate) fn is_over(&self) -> bool {
        self.0.ongoing.pool.wait_gone(Duration::ZERO) || self.0.ongoing.pool.is_cancelled()
    }

    /// The roots, as the caller gave them.
    pub(crate) fn roots(&self) -> &[Vec<u8>] {
        &self.0.ongoing.context.roots
    }

    /// Sees to it that there are enough workers, and works for them where the system
    /// gives no thread.
    pub(crate) fn tend(&self) {
        self.0.ongoing.pool.tend();
    }

    /// Whether the system gave the scan no thread, so that it needs this one.
    pub(crate) fn wants_thread(&self) -> bool {
        self.0.ongoing.pool.wants_thread()
    }

    /// Tells workers that read by path how many rows the caller holds.
    pub(crate) fn tell_ahead(&self, rows: usize) {
        self.0.ongoing.pool.tell_ahead(rows);
    }

    /// Lets something be called on the last worker when it has ended.
    pub(crate) fn call_at_end(&self, call: impl Fn() + Send + Sync + 'static) {
        self.0.ongoing.pool.call_at_end(Box::new(call));
    }

    /// Shows the states that no worker uses right now.
    pub(crate) fn visit_idle_states(&self, mut visit: impl FnMut(&mut S::State)) {
        self.0
            .ongoing
            .pool
            .visit_idle(&mut |results| visit(results.state_as()));
    }

    /// Shows the state of each worker, one after another, while the scan goes on.
    ///
    /// A worker that delivers meanwhile waits until `look` returns, so `look` must be
    /// short; the others go on. `look` waits until a worker has delivered a directory,
    /// and never for a system call. All states together hold everything that was
    /// delivered before the call, and perhaps more: sums are lower bounds. After
    /// [`wait`](Self::wait) they are whole, unless the scan was cancelled.
    ///
    /// Use [`LiveTree`](crate::LiveTree) for the sums of directories: reading them
    /// stops no worker at all. Use [`progress`](Self::progress) for a progress line.
    ///
    /// ```
    /// use std::time::Duration;
    /// use statwalk_core::{Scan, Totals};
    ///
    /// let running = Scan::new("src").start(Totals::new())?;
    /// while !running.wait_for(Duration::from_millis(100)) {
    ///     let mut bytes = 0;
    ///     running.peek(|state| {
    ///         let sizes = state.roots()[0].sizes;
    ///         bytes += sizes.map_or(0, |sizes| sizes.allocated_bytes);
    ///     });
    ///     println!("at least {bytes} bytes");
    /// }
    /// assert!(running.finish().report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn peek(&self, mut look: impl FnMut(&S::State)) {
        self.0
            .ongoing
            .pool
            .peek(&mut |results| look(results.state_as()));
    }

    /// Reads the directories below a directory next, as far as they wait by now.
    ///
    /// For a browser, whose user wants to see all of the directory just entered. Numbers of
    /// directories come from a sink, or from [`LiveTree`](crate::LiveTree). A directory
    /// that is not there any more changes nothing. Nor does the call in the orders
    /// [`Recursive`](crate::Order::Recursive) and [`Inode`](crate::Order::Inode), which
    /// are what they say.
    ///
    /// It takes a time that grows with the number of directories that wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use statwalk_core::{LiveTree, Scan};
    ///
    /// let live = LiveTree::new();
    /// let running = Scan::new("src").start(live.clone())?;
    /// let _ = running.wait_for(Duration::from_millis(1));
    /// let children = live.root(0).map_or(Vec::new(), |root| live.children(root.id));
    /// if let Some(entered) = children.first() {
    ///     running.prefer(entered.id);
    /// }
    /// running.wait();
    /// assert!(running.finish().report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn prefer(&self, id: DirId) {
        self.0.ongoing.pool.prefer(id);
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.0.ongoing.progress()
    }

    /// A handle by which another thread can stop the scan.
    pub fn canceller(&self) -> Canceller {
        self.0.ongoing.canceller()
    }

    /// Stops the scan if it still goes on, and gives its answer.
    ///
    /// A worker that does not come back from a system call in time is left behind. The
    /// time is 100 ms, and up to a second where calls take so long. The entries that it
    /// had delivered are part of the answer, and the report names the directory.
    ///
    /// # Panics
    ///
    /// Panics as the sink or a closure of the caller has panicked, with the same words.
    #[must_use]
    pub fn finish(self) -> Outcome<S::Output> {
        self.0.finish()
    }
}

impl<S: Sink, D: DirectorySource> RunningOn<S, D> {
    pub(crate) fn finish(self) -> Outcome<S::Output> {
        let RunningOn { sink, ongoing } = self;
        let (states, mut report) = ongoing.end();
        let output = sink.merge(&ongoing.context, with_types(states));
        report.elapsed = threads::since(ongoing.started);
        Outcome { output, report }
    }
}

// All below knows no sink, so a program with many sinks has it once.

impl<D: DirectorySource> Ongoing<D> {
    fn progress(&self) -> Progress {
        Progress {
            entries_expected: self.scan_context.source.entries_expected(),
            ..progress::sum_of(&self.pool.progress, self.plan.fields)
        }
    }

    fn canceller(&self) -> Canceller {
        let pool = Arc::downgrade(&self.pool);
        Canceller {
            cancel: Arc::new(move || {
                if let Some(pool) = pool.upgrade() {
                    pool.cancel();
                }
            }),
        }
    }

    /// Stops the scan if it still goes on. Gives the states of the workers, and the
    /// report without the time that it took.
    fn end(&self) -> (Vec<Box<dyn State>>, Report) {
        let mut hanging = Vec::new();
        self.pool.dismiss_threadless();
        let ended = self.pool.wait_gone(Duration::ZERO);
        let interrupted = !ended || self.pool.is_cancelled();
        if !ended {
            self.pool.cancel();
            let before = self.progress().current;
            if !self.pool.wait_gone(self.pool.grace()) {
                hanging = still_in(&before, self.progress().current);
            }
        }
        if let Some(panic) = self.pool.take_panic() {
            // In the words of the sink, or of a closure of the caller.
            resume_unwind(panic);
        }
        let workers = self.pool.started_workers();
        let results = self.pool.take_results();
        self.pool.clear();
        let mut roots = vec![RootReport::default(); self.context.roots.len()];
        let mut is_finished = vec![false; roots.len()];
        let mut errors = ErrorList::default();
        let mut left_out = Vec::new();
        let mut states = Vec::with_capacity(results.len());
        let mut sink_error = None;
        for mut part in results {
            let failure = part.state.collector().take_error();
            sink_error = sink_error.or_else(|| failure.map(Arc::new));
            for (sum, root) in roots.iter_mut().zip(&part.roots) {
                sum.add(root);
            }
            for (sum, finished) in is_finished.iter_mut().zip(part.finished_roots) {
                *sum |= finished;
            }
            errors.absorb(part.errors);
            left_out.extend(part.left_out);
            states.push(part.state);
        }
        let calls = self.pool.calls();
        for (index, root) in roots.iter_mut().enumerate() {
            root.reached_earlier = self.scan_context.is_reached_earlier(index);
            root.interrupted =
                !is_finished[index] && root.missing.is_none() && !root.reached_earlier;
        }
        in_order(&mut errors, &mut left_out);
        // Each worker keeps that many.
        errors.kept.truncate(self.pool.errors_kept_max);
        let report = Report {
            plan: self.plan_at_end(),
            elapsed: Duration::ZERO,
            workers,
            calls,
            interrupted,
            sink_error,
            roots,
            errors: errors.kept,
            error_counts: errors.counts,
            left_out,
            hanging,
        };
        (states, report)
    }

    /// The plan, with all that the scan has found out.
    fn plan_at_end(&self) -> Plan {
        let mut plan = self.plan.clone();
        let account = self.scan_context.source.account();
        plan.source = account.name;
        plan.generation = account.generation;
        plan.why.extend(account.why);
        plan.why.extend(self.pool.concurrency_reason());
        plan.why.extend(self.scan_context.double_mounts_reason());
        plan
    }
}

/// The directories that workers are in now as before: one that got on is slow and not
/// dead.
fn still_in(before: &[(Vec<u8>, u64)], mut now: Vec<(Vec<u8>, u64)>) -> Vec<Vec<u8>> {
    now.retain(|seen| before.contains(seen));
    let mut paths: Vec<_> = now.into_iter().map(|(path, _)| path).collect();
    // Several workers can hang in one directory.
    paths.sort();
    paths.dedup();
    paths
}

/// Puts errors and left out file systems in an order that no worker decides.
fn in_order(errors: &mut ErrorList, left_out: &mut [LeftOut]) {
    errors
        .kept
        .sort_by(|a, b| (a.root.cmp(&b.root)).then_with(|| path_order(&a.path, &b.path)));
    errors
        .counts
        .sort_by_key(|&(op, cause, count)| (std::cmp::Reverse(count), op, cause));
    left_out.sort();
}
