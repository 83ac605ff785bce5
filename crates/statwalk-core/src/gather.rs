// SPDX-License-Identifier: MIT OR Apache-2.0

//! Values that workers make while they scan, for a caller who takes them one by one.
//!
//! Each worker fills a value of its own and gives it away when it is full, or when
//! the caller waits. So a slow caller gets few large values, and a fast one gets its
//! first entries at once. The queue between them has a bound: a slow caller slows the
//! scan down instead of filling the memory.

use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::DirId;
use crate::error::{Cause, EntryError, Error, Op};
use crate::fields::Fields;
use crate::lock::lock;
use crate::progress::Progress;
use crate::report::Report;
use crate::running::{Canceller, Running};
use crate::scan::Scan;
use crate::sink::{Collect, Context, LinkPolicy, Sink};

/// How many values and errors wait for the caller, up to.
const WAITING_MAX: usize = 64;

/// How long the caller waits for a full value before it takes any.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long the caller waits for any before it looks after the workers, and takes
/// what lies with one that waits for the kernel.
const PAUSE: Duration = Duration::from_millis(8);

/// Part of what a worker found, for the closure of [`Scan::gather`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Found<'a> {
    /// A directory. Each comes once; its entries may come earlier.
    Directory(&'a Directory<'a>),
    /// Entries of one directory that are not directories themselves, or a root that is none.
    Entries(Origin<'a>, &'a Batch),
}

/// How full a value is that a worker fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fill {
    /// It holds nothing that the caller wants.
    #[default]
    Nothing,
    /// It holds something, and has room for more.
    Some,
    /// It holds enough to be given away.
    Full,
}

/// The answer of [`Gathered::next_within`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Next<T> {
    /// The next value.
    Value(T),
    /// An entry that could not be read, or a root that is missing.
    Failed(EntryError),
    /// The time was over first.
    Waiting,
    /// The scan is over, and everything was taken.
    End,
}

/// The end of a time that begins now; a time beyond the clock's range ends in a year.
pub(crate) fn deadline_after(timeout: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now + YEAR)
}

/// The next of something that comes, however long that takes.
#[inline]
pub(crate) fn next_of<T>(
    mut within: impl FnMut(Duration) -> Next<T>,
) -> Option<Result<T, EntryError>> {
    loop {
        match within(Duration::from_secs(3600)) {
            Next::Value(value) => return Some(Ok(value)),
            Next::Failed(error) => return Some(Err(error)),
            Next::Waiting => {}
            Next::End => return None,
        }
    }
}

/// Part of what a worker learned, for a [`Gather`].
#[derive(Clone, Copy)]
pub(crate) enum Learned<'a> {
    Directory(&'a Directory<'a>),
    Entries(Origin<'a>, &'a Batch),
    /// See [`Collect::incomplete`].
    Incomplete(&'a Directory<'a>),
    /// See [`Collect::finished`].
    Finished(&'a Directory<'a>),
    /// See [`Collect::failed`].
    Failed(&'a EntryError),
    /// See [`Collect::waiting`].
    Waiting(DirId, &'a [&'a [u8]]),
    /// See [`Collect::gone`].
    Gone(DirId, &'a [u8]),
    /// See [`Collect::listed`].
    Listed(DirId, bool),
}

/// The way in which workers fill values.
pub(crate) struct Gather<T> {
    pub(crate) fields: Fields,
    pub(crate) each: Box<Each<T>>,
    /// Whether values get ends and errors too. Else the caller gets each error by itself.
    pub(crate) wants_all: bool,
    /// How many values and errors wait for the caller, up to.
    pub(crate) waiting_max: usize,
}

type Each<T> = dyn Fn(&mut T, Learned<'_>) -> Fill + Send + Sync;

/// The values of a scan, as they come. [`Scan::gather`] makes it.
///
/// Dropped, it ends the scan and waits for nobody.
#[must_use = "the scan ends when nobody takes its values"]
pub struct Gathered<T: Default + Send + 'static> {
    queue: Arc<Queue<T>>,
    running: Option<Running<GatherSink<T>>>,
    /// Values that were taken from workers that wait for the kernel.
    swept: VecDeque<T>,
    tended: Instant,
    report: Option<Report>,
}

/// The values between the workers and the caller.
struct Queue<T> {
    line: Mutex<Line<T>>,
    waiting_max: usize,
    has_some: Condvar,
    has_room: Condvar,
    /// The caller waits, and takes values that are not full.
    is_hungry: AtomicBool,
    /// Nobody takes values any more.
    is_closed: AtomicBool,
    /// The thread that takes values is the one that makes them.
    is_unbounded: AtomicBool,
}

struct Line<T> {
    waiting: VecDeque<Result<T, EntryError>>,
    /// A call to a condition that nobody waits for is a system call for nothing.
    caller_waits: bool,
    workers_waiting: usize,
}

/// The sink behind the values.
struct GatherSink<T> {
    gather: Arc<Gather<T>>,
    queue: Arc<Queue<T>>,
}

/// The end of the queue that one worker has.
struct GatherState<T> {
    value: T,
    fill: Fill,
    gather: Arc<Gather<T>>,
    queue: Arc<Queue<T>>,
}

impl Scan {
    /// Lets the workers fill values, and gives them to the caller while they scan.
    ///
    /// `each` runs on the workers. It gets the value of its worker, and says how full
    /// the value is then. A full value goes to the caller. One that is not full goes
    /// when the caller waits, and at the end. One worker has a directory before its
    /// entries; between several workers no order is promised.
    ///
    /// Use it to filter, format or count on all workers and have one thread take the
    /// results. [`rows`](Self::rows) and [`entries`](Self::entries) are simpler;
    /// [`fold`](Self::fold) is faster where only the end counts.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_core::{Fields, Fill, Found, Scan};
    ///
    /// let mut sources = Scan::new("src").gather(Fields::NAME, |paths: &mut Vec<Vec<u8>>, found| {
    ///     if let Found::Entries(origin, batch) = found {
    ///         let sources = batch.iter().filter(|entry| entry.name.ends_with(b".rs"));
    ///         paths.extend(sources.map(|entry| origin.entry_path(entry.name)));
    ///     }
    ///     match paths.len() {
    ///         0 => Fill::Nothing,
    ///         1..1_000 => Fill::Some,
    ///         _ => Fill::Full,
    ///     }
    /// })?;
    /// let mut found = false;
    /// for paths in &mut sources {
    ///     found |= paths?.iter().any(|path| path.ends_with(b"lib.rs"));
    /// }
    /// assert!(found && sources.finish().is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn gather<T: Default + Send + 'static>(
        &self,
        fields: Fields,
        each: impl Fn(&mut T, Found<'_>) -> Fill + Send + Sync + 'static,
    ) -> Result<Gathered<T>, Error> {
        self.gather_with(Gather {
            fields,
            each: Box::new(move |value, learned| match learned {
                Learned::Directory(directory) => each(value, Found::Directory(directory)),
                Learned::Entries(origin, batch) => each(value, Found::Entries(origin, batch)),
                Learned::Incomplete(_)
                | Learned::Finished(_)
                | Learned::Failed(_)
                | Learned::Waiting(..)
                | Learned::Gone(..)
                | Learned::Listed(..) => Fill::Nothing,
            }),
            wants_all: false,
            waiting_max: WAITING_MAX,
        })
    }

    /// As [`gather`](Self::gather), in another way.
    pub(crate) fn gather_with<T: Default + Send + 'static>(
        &self,
        gather: Gather<T>,
    ) -> Result<Gathered<T>, Error> {
        let queue = Arc::new(Queue::new(gather.waiting_max));
        // Values sum nothing up, so nobody looks for files with several names.
        let running = self.clone().links(LinkPolicy::Each).start(GatherSink {
            gather: Arc::new(gather),
            queue: Arc::clone(&queue),
        })?;
        let at_end = Arc::clone(&queue);
        running.call_at_end(move || at_end.wake());
        Ok(Gathered {
            queue,
            running: Some(running),
            swept: VecDeque::new(),
            tended: Instant::now(),
            report: None,
        })
    }
}

impl<T: Default + Send + 'static> fmt::Debug for Gathered<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathered")
            .field("values_at_hand", &self.swept.len())
            .field("running", &self.running)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

impl<T: Default + Send + 'static> Gathered<T> {
    /// Takes the next value, and waits for it up to a time.
    ///
    /// For a caller who has something else to do now and then, such as to look for
    /// signals.
    pub fn next_within(&mut self, timeout: Duration) -> Next<T> {
        let deadline = deadline_after(timeout);
        let mut is_first_wait = true;
        loop {
            if let Some(value) = self.swept.pop_front() {
                return Next::Value(value);
            }
            if let Some(next) = self.queue.take(Duration::ZERO, false) {
                return next;
            }
            let Some(running) = &self.running else {
                return Next::End;
            };
            // Whatever the workers gave before they ended is taken all the same.
            if running.is_over() {
                match self.queue.take(Duration::ZERO, false) {
                    Some(next) => return next,
                    None => self.end(),
                }
                continue;
            }
            // Here the caller is faster than the workers, also where something comes soon:
            // on a device, more workers bring more.
            if self.tended.elapsed() >= PAUSE {
                self.tend();
                continue;
            }
            let now = Instant::now();
            if now >= deadline {
                return Next::Waiting;
            }
            let left = deadline - now;
            // Where the scan has no thread, this one works for it.
            if running.wants_thread() {
                self.tend();
                continue;
            }
            if is_first_wait {
                is_first_wait = false;
                if let Some(next) = self.queue.take(PATIENCE.min(left), false) {
                    return next;
                }
                continue;
            }
            if let Some(next) = self.queue.take(PAUSE.min(left), true) {
                return next;
            }
        }
    }

    /// Sees to it that there are enough workers, and takes what lies with those that
    /// wait for the kernel.
    fn tend(&mut self) {
        let Some(running) = &self.running else { return };
        self.queue.is_unbounded.store(true, Ordering::Relaxed);
        running.tend();
        self.queue.is_unbounded.store(false, Ordering::Relaxed);
        self.sweep();
        self.tended = Instant::now();
    }

    /// Takes what lies with workers that wait for the kernel.
    pub(crate) fn sweep(&mut self) {
        let Some(running) = &self.running else { return };
        let swept = &mut self.swept;
        running.visit_idle_states(|state| swept.extend(state.take_some()));
    }

    /// Tells the workers how many rows the caller holds that were read ahead.
    pub(crate) fn tell_ahead(&self, rows: usize) {
        if let Some(running) = &self.running {
            running.tell_ahead(rows);
        }
    }

    /// Takes what is left, and the report.
    fn end(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        // A scan that was cancelled can have workers that wait for room.
        self.queue.close();
        let roots = running.roots().to_vec();
        let outcome = running.finish();
        let report = outcome.report;
        let missing = roots.into_iter().zip(&report.roots).enumerate();
        let errors = missing.filter_map(|(root, (path, found))| {
            let cause = Cause::System(found.missing?);
            let op = Op::Open;
            Some(Err(EntryError {
                path,
                op,
                cause,
                root,
            }))
        });
        let mut line = lock(&self.queue.line);
        line.waiting.extend(outcome.output.into_iter().map(Ok));
        line.waiting.extend(errors);
        drop(line);
        self.report = Some(report);
    }

    /// Stops the scan. Values that the workers have filled can still be taken.
    pub fn cancel(&self) {
        if let Some(running) = &self.running {
            running.canceller().cancel();
        }
    }

    /// A handle by which another thread can stop the scan; absent at its end.
    #[must_use]
    pub fn canceller(&self) -> Option<Canceller> {
        self.running.as_ref().map(Running::canceller)
    }

    /// How far the scan has come; absent at its end.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        self.running.as_ref().map(Running::progress)
    }

    /// The report of the scan, once the last value was taken.
    #[must_use]
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Stops the scan if it still goes on, and gives its report.
    #[must_use]
    pub fn finish(mut self) -> Report {
        self.cancel();
        self.end();
        self.report.take().expect("the end makes a report")
    }
}

impl<T: Default + Send + 'static> Iterator for Gathered<T> {
    type Item = Result<T, EntryError>;

    fn next(&mut self) -> Option<Result<T, EntryError>> {
        next_of(|timeout| self.next_within(timeout))
    }
}

impl<T: Default + Send + 'static> Drop for Gathered<T> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<T> Queue<T> {
    fn new(waiting_max: usize) -> Queue<T> {
        Queue {
            waiting_max,
            line: Mutex::new(Line {
                waiting: VecDeque::new(),
                caller_waits: false,
                workers_waiting: 0,
            }),
            has_some: Condvar::new(),
            has_room: Condvar::new(),
            // The first value of all goes at once.
            is_hungry: AtomicBool::new(true),
            is_closed: AtomicBool::new(false),
            is_unbounded: AtomicBool::new(false),
        }
    }

    /// Takes a value, and waits for one up to a time.
    fn take(&self, timeout: Duration, is_hungry: bool) -> Option<Next<T>> {
        let mut line = lock(&self.line);
        if line.waiting.is_empty() && !timeout.is_zero() {
            if is_hungry {
                self.is_hungry.store(true, Ordering::Relaxed);
            }
            line.caller_waits = true;
            let woken = self.has_some.wait_timeout(line, timeout);
            line = woken.unwrap_or_else(PoisonError::into_inner).0;
            line.caller_waits = false;
        }
        let next = line.waiting.pop_front()?;
        self.make_room(line);
        Some(match next {
            Ok(value) => Next::Value(value),
            Err(error) => Next::Failed(error),
        })
    }

    fn make_room(&self, line: MutexGuard<'_, Line<T>>) {
        if line.workers_waiting > 0 {
            self.has_room.notify_one();
        }
    }

    /// Lets the caller look whether the scan is over.
    fn wake(&self) {
        // Under the lock, so that the caller cannot begin to wait after it has looked.
        drop(lock(&self.line));
        self.has_some.notify_one();
    }

    /// Ends all waiting for room.
    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        // Under the lock, so that no worker begins to wait after it has looked.
        drop(lock(&self.line));
        self.has_room.notify_all();
    }

    /// Puts in a value, and waits for room. Breaks where nobody takes it.
    ///
    /// A value that comes after the end is kept: the caller may have ended the scan, and
    /// still take what was found.
    fn put(&self, item: Result<T, EntryError>) -> ControlFlow<()> {
        let is_open = || !self.is_closed.load(Ordering::Relaxed);
        let is_bounded = || !self.is_unbounded.load(Ordering::Relaxed);
        let mut line = lock(&self.line);
        while line.waiting.len() >= self.waiting_max && is_bounded() && is_open() {
            line.workers_waiting += 1;
            let woken = self.has_room.wait(line);
            line = woken.unwrap_or_else(PoisonError::into_inner);
            line.workers_waiting -= 1;
        }
        line.waiting.push_back(item);
        let caller_waits = line.caller_waits;
        drop(line);
        if caller_waits {
            self.has_some.notify_one();
        }
        match is_open() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}

impl<T: Default + Send + 'static> Sink for GatherSink<T> {
    type State = GatherState<T>;
    type Output = Vec<T>;

    fn fields(&self) -> Fields {
        self.gather.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<GatherState<T>> {
        let state = || GatherState {
            value: T::default(),
            fill: Fill::Nothing,
            gather: Arc::clone(&self.gather),
            queue: Arc::clone(&self.queue),
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<GatherState<T>>) -> Vec<T> {
        let mut states = states;
        states
            .iter_mut()
            .filter_map(GatherState::take_some)
            .collect()
    }
}

impl<T: Default + Send + 'static> GatherState<T> {
    /// Takes the value, if the caller wants anything that it holds.
    fn take_some(&mut self) -> Option<T> {
        match std::mem::take(&mut self.fill) {
            Fill::Nothing => None,
            Fill::Some | Fill::Full => Some(std::mem::take(&mut self.value)),
        }
    }

    /// Adds something that cannot wait for room: its value goes with what comes next.
    fn note(&mut self, learned: Learned<'_>) {
        self.fill = (self.gather.each)(&mut self.value, learned);
    }

    fn add(&mut self, learned: Learned<'_>) -> ControlFlow<()> {
        self.fill = (self.gather.each)(&mut self.value, learned);
        let queue = &self.queue;
        let goes = match self.fill {
            Fill::Nothing => false,
            Fill::Some => {
                queue.is_hungry.load(Ordering::Relaxed)
                    && queue.is_hungry.swap(false, Ordering::Relaxed)
            }
            Fill::Full => true,
        };
        if !goes {
            return ControlFlow::Continue(());
        }
        let value = std::mem::take(&mut self.value);
        self.fill = Fill::Nothing;
        queue.put(Ok(value))
    }
}

impl<T: Default + Send + 'static> Collect for GatherState<T> {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.add(Learned::Directory(directory))
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        self.add(Learned::Entries(origin, batch))
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        if self.gather.wants_all {
            self.note(Learned::Incomplete(directory));
        }
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        if self.gather.wants_all {
            self.note(Learned::Finished(directory));
        }
    }

    fn waiting(&mut self, directory: DirId, names: &mut dyn Iterator<Item = &[u8]>) {
        if self.gather.wants_all {
            let names: Vec<&[u8]> = names.collect();
            self.note(Learned::Waiting(directory, &names));
        }
    }

    fn gone(&mut self, directory: DirId, name: &[u8]) {
        if self.gather.wants_all {
            self.note(Learned::Gone(directory, name));
        }
    }

    fn listed(&mut self, directory: DirId, is_by_one_worker: bool) {
        if self.gather.wants_all {
            self.note(Learned::Listed(directory, is_by_one_worker));
        }
    }

    fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        match self.gather.wants_all {
            true => self.add(Learned::Failed(error)),
            false => self.queue.put(Err(error.clone())),
        }
    }
}
