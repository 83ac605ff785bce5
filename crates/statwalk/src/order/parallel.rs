// SPDX-License-Identifier: MIT OR Apache-2.0

//! Work stealing over directories.
//!
//! Each worker has a deque: it takes what it queued last and steals what others
//! queued first, so that it stays near what it read and others get large
//! subtrees. Only directories are queued, and the rest of very large ones.
//! Workers without work wait ([`Parking`]). Each folds what it finds into a
//! state of its own.
//!
//! The roots are scanned one after another, and so are crossings and links that
//! had to wait: which of two ways leads to a directory must not depend on
//! chance. The worker that finishes the last directory of one begins the next
//! (see [`Agenda`]).

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use rustix::io::Errno as KernelErrno;

use super::parking::Parking;
use crate::batch::Batch;
use crate::directory::{Dir, DirState, Directory, Place};
use crate::entry::DirId;
use crate::error::{Errno, ErrorList, Op};
use crate::progress::WorkerProgress;
use crate::report::{LeftOut, RootReport};
use crate::sink::{Collect, path_order};
use crate::source::posix::handle::OpenParent;
use crate::source::posix::shared_listing::SharedListing;
use crate::source::posix::{Job, Lister, Note, Outlet, Terms};

/// When one worker alone is too slow: after this many directories, entries, or
/// this time. Starting a thread takes as long as reading some ten directories.
const ALONE_DIRS_MAX: u32 = 16;
const ALONE_ENTRIES_MAX: u64 = 1_000;
const ALONE_TIME_MAX: Duration = Duration::from_micros(300);

/// After how long others start on what a worker queued that does not come back.
const HELP_DELAY_MAX: Duration = Duration::from_millis(20);

/// What the workers of one scan share.
pub(crate) struct Pool<C> {
    terms: Arc<Terms>,
    stealers: Box<[Stealer<Job>]>,
    parking: Parking,
    /// Jobs that are queued or being worked on.
    ///
    /// On a line of its own: what lies beside it is read for each entry.
    pending: CachePadded<AtomicUsize>,
    next_id_block: AtomicU32,
    cancelled: AtomicBool,
    done: AtomicBool,
    slots: Box<[SlotCell<C>]>,
    pub(crate) progress: Box<[CachePadded<WorkerProgress>]>,
    agenda: Mutex<Agenda>,
    /// Workers that were not started yet.
    unborn: Mutex<Vec<(usize, Deque<Job>)>>,
    has_unborn: AtomicBool,
    pub(crate) errors_kept_max: usize,
    started: Instant,
    alive: Mutex<usize>,
    gone: Condvar,
    idle_io: bool,
    as_many_as_processors: bool,
    workers_most: OnceLock<usize>,
}

/// The place of a worker's slot: empty once it was taken.
type SlotCell<C> = CachePadded<Mutex<Option<Slot<C>>>>;

/// What one worker leaves behind.
///
/// It is locked for the length of a delivery, never across a system call, so
/// that it can be taken from a worker that hangs.
pub(crate) struct Slot<C> {
    pub(crate) state: C,
    pub(crate) roots: Vec<RootReport>,
    pub(crate) errors: ErrorList,
    pub(crate) left_out: Vec<LeftOut>,
    /// Whether the sink asked to stop.
    pub(crate) stopped: bool,
}

/// What is scanned one after another.
struct Agenda {
    roots: Vec<Arc<CStr>>,
    next_root: usize,
    /// Mounts that show what another mount shows too.
    crossings: Vec<(Arc<OpenParent>, u32)>,
    /// Symbolic links to follow.
    links: Vec<(Arc<Dir>, u32)>,
    /// Those of either that are next, the first in path order at the end.
    sorted: Vec<Item>,
}

enum Item {
    Root(usize, Arc<CStr>),
    Crossing(Arc<OpenParent>, u32),
    Link(Arc<Dir>, u32),
}

/// What a pool needs to begin.
pub(crate) struct PoolOptions {
    pub(crate) roots: Vec<Arc<CStr>>,
    pub(crate) errors_kept_max: usize,
    pub(crate) idle_io: bool,
    /// Whether the number of workers is to follow that of processors.
    pub(crate) as_many_as_processors: bool,
}

impl<C: Collect> Pool<C> {
    /// Starts one worker for each state, the first at once and the others when
    /// there is enough to do.
    pub(crate) fn start(
        terms: Arc<Terms>,
        states: Vec<C>,
        options: PoolOptions,
    ) -> std::io::Result<Arc<Pool<C>>> {
        let count = states.len();
        let deques: Vec<Deque<Job>> = (0..count).map(|_| Deque::new_lifo()).collect();
        let root_count = options.roots.len();
        let slots = states.into_iter().map(|state| {
            CachePadded::new(Mutex::new(Some(Slot {
                state,
                roots: vec![RootReport::default(); root_count],
                errors: ErrorList::default(),
                left_out: Vec::new(),
                stopped: false,
            })))
        });
        let pool = Arc::new(Pool {
            terms,
            stealers: deques.iter().map(Deque::stealer).collect(),
            parking: Parking::new(),
            pending: CachePadded::new(AtomicUsize::new(0)),
            next_id_block: AtomicU32::new(0),
            cancelled: AtomicBool::new(false),
            done: AtomicBool::new(false),
            slots: slots.collect(),
            progress: (0..count).map(|_| CachePadded::default()).collect(),
            agenda: Mutex::new(Agenda {
                roots: options.roots,
                next_root: 0,
                crossings: Vec::new(),
                links: Vec::new(),
                sorted: Vec::new(),
            }),
            unborn: Mutex::new(deques.into_iter().enumerate().rev().collect()),
            has_unborn: AtomicBool::new(true),
            errors_kept_max: options.errors_kept_max,
            started: Instant::now(),
            alive: Mutex::new(0),
            gone: Condvar::new(),
            idle_io: options.idle_io,
            as_many_as_processors: options.as_many_as_processors,
            workers_most: OnceLock::new(),
        });
        pool.start_worker(true)?;
        Ok(pool)
    }

    /// Starts the next worker, if any is left.
    fn start_worker(self: &Arc<Self>, first: bool) -> std::io::Result<()> {
        let Some((index, deque)) = lock(&self.unborn).pop() else {
            self.has_unborn.store(false, Ordering::Relaxed);
            return Ok(());
        };
        *lock(&self.alive) += 1;
        let pool = Arc::clone(self);
        let builder = thread::Builder::new().name(format!("statwalk-{index}"));
        let started = builder.spawn(move || {
            let mut worker = Worker::new(Arc::clone(&pool), index, deque);
            if first {
                worker.advance();
            }
            worker.work();
            drop(worker);
            pool.leave();
        });
        if let Err(error) = started {
            self.leave();
            return Err(error);
        }
        Ok(())
    }

    /// Whether the processors allow for one worker more.
    ///
    /// Control groups can grant less than there is; to find out costs as much as
    /// scanning a small directory, so it is asked when the first helper is needed.
    fn may_start_more(&self) -> bool {
        let most = *self
            .workers_most
            .get_or_init(|| match self.as_many_as_processors {
                true => thread::available_parallelism().map_or(1, usize::from),
                false => usize::MAX,
            });
        self.started_workers() < most
    }

    /// Starts one worker more. One that cannot be started is one helper less,
    /// and no error: those that are there do all the work.
    fn start_helper(self: &Arc<Self>) {
        if !self.may_start_more() || self.start_worker(false).is_err() {
            self.has_unborn.store(false, Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        *lock(&self.alive) -= 1;
        self.gone.notify_all();
    }

    /// Waits for the workers, at most for a time. Answers whether they are done
    /// or were told to stop.
    pub(crate) fn wait(self: &Arc<Self>, timeout: Duration) -> bool {
        let ended = |pool: &Self, alive| alive == 0 || pool.is_cancelled();
        let deadline = Instant::now() + timeout;
        // A worker that hangs cannot call for help; what it queued is for others.
        while self.has_unborn.load(Ordering::Relaxed) {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.wait_until(left.min(HELP_DELAY_MAX), ended) {
                return true;
            }
            if left <= HELP_DELAY_MAX {
                return false;
            }
            if self.has_work() && !self.parking.somebody_waits() {
                self.start_helper();
            }
        }
        self.wait_until(deadline.saturating_duration_since(Instant::now()), ended)
    }

    /// Waits for the workers, at most for a time. Answers whether all are gone.
    pub(crate) fn wait_gone(&self, timeout: Duration) -> bool {
        self.wait_until(timeout, |_, alive| alive == 0)
    }

    fn wait_until(&self, timeout: Duration, enough: impl Fn(&Self, usize) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        let mut alive = lock(&self.alive);
        while !enough(self, *alive) {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            let answer = self.gone.wait_timeout(alive, left);
            alive = answer.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Lets the workers stop as soon as the kernel gives them back.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
        self.parking.call_all();
        // Under the lock, so that it cannot come between a look and a wait.
        let _alive = lock(&self.alive);
        self.gone.notify_all();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// How many workers were started.
    pub(crate) fn started_workers(&self) -> usize {
        self.slots.len() - lock(&self.unborn).len()
    }

    /// Takes what the workers have, also from those that hang.
    pub(crate) fn take_slots(&self) -> Vec<Slot<C>> {
        self.slots
            .iter()
            .filter_map(|slot| lock(slot).take())
            .collect()
    }

    /// Lets go of directories that wait, so that their descriptors are closed.
    pub(crate) fn clear(&self) {
        let mut agenda = lock(&self.agenda);
        agenda.crossings.clear();
        agenda.links.clear();
        agenda.sorted.clear();
        drop(agenda);
        for progress in &self.progress {
            progress.rest();
        }
    }

    fn has_work(&self) -> bool {
        self.stealers.iter().any(|stealer| !stealer.is_empty())
    }
}

impl Agenda {
    fn next(&mut self, terms: &Terms) -> Option<Item> {
        if self.sorted.is_empty() && !self.crossings.is_empty() {
            let crossings = std::mem::take(&mut self.crossings);
            self.sorted = last_first(crossings, |parent| &parent.dir, Item::Crossing);
        }
        if self.sorted.is_empty() && !self.links.is_empty() {
            let links = std::mem::take(&mut self.links);
            self.sorted = last_first(links, |dir| dir, Item::Link);
        }
        if let Some(item) = self.sorted.pop() {
            return Some(item);
        }
        while let Some(path) = self.roots.get(self.next_root) {
            let root = self.next_root;
            self.next_root += 1;
            let reached = terms.roots.reached.get(root);
            if !reached.is_some_and(|reached| reached.load(Ordering::Relaxed)) {
                return Some(Item::Root(root, Arc::clone(path)));
            }
        }
        None
    }
}

/// Sorts what waits against the order of paths.
fn last_first<P>(
    waiting: Vec<(P, u32)>,
    dir: fn(&P) -> &Arc<Dir>,
    item: fn(P, u32) -> Item,
) -> Vec<Item> {
    let mut with_paths: Vec<_> = waiting
        .into_iter()
        .map(|(parent, offset)| {
            let path = Place::Child(Arc::clone(dir(&parent)), offset).path();
            (path, parent, offset)
        })
        .collect();
    with_paths.sort_by(|a, b| path_order(&b.0, &a.0));
    with_paths
        .into_iter()
        .map(|(_, parent, offset)| item(parent, offset))
        .collect()
}

/// One worker: the deque and the lister that are its own.
struct Worker<C> {
    lister: Lister,
    outlet: WorkerOutlet<C>,
}

/// The worker's side of the pool, as its lister sees it.
struct WorkerOutlet<C> {
    pool: Arc<Pool<C>>,
    index: usize,
    deque: Deque<Job>,
    next_id: u32,
    ids_end: u32,
    last_parent: Option<Arc<Dir>>,
    dirs_done: u32,
}

impl<C: Collect> Worker<C> {
    fn new(pool: Arc<Pool<C>>, index: usize, deque: Deque<Job>) -> Worker<C> {
        if pool.idle_io {
            // Refused, it costs politeness, not truth.
            let _ = statwalk_sys::io_priority::set_idle();
        }
        Worker {
            lister: Lister::new(Arc::clone(&pool.terms)),
            outlet: WorkerOutlet {
                pool,
                index,
                deque,
                next_id: 0,
                ids_end: 0,
                last_parent: None,
                dirs_done: 0,
            },
        }
    }

    /// Works until the scan is done or cancelled.
    fn work(&mut self) {
        let pool = Arc::clone(&self.outlet.pool);
        while !pool.done.load(Ordering::Acquire) && !pool.is_cancelled() {
            match self.outlet.find_work() {
                Some(job) => {
                    self.outlet.begin(&job);
                    self.lister.expand(job, &mut self.outlet);
                    if pool.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                        self.advance();
                    }
                }
                None => {
                    self.outlet.rest();
                    self.lister.rest_from_work();
                    pool.parking.wait_unless(|| {
                        pool.done.load(Ordering::Acquire) || pool.is_cancelled() || pool.has_work()
                    });
                }
            }
        }
        self.outlet.rest();
    }

    /// Begins what comes next on the agenda; to be called when nothing is pending.
    fn advance(&mut self) {
        let pool = Arc::clone(&self.outlet.pool);
        loop {
            let item = match pool.is_cancelled() {
                true => None,
                false => lock(&pool.agenda).next(&pool.terms),
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
                    pool.progress[out.index].begin_root(&path);
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
            }
            if pool.pending.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
        }
    }
}

impl<C: Collect> WorkerOutlet<C> {
    fn find_work(&mut self) -> Option<Job> {
        if let Some(job) = self.deque.pop() {
            return Some(job);
        }
        let count = self.pool.stealers.len();
        loop {
            let mut retry = false;
            for step in 1..count {
                let victim = &self.pool.stealers[(self.index + step) % count];
                match victim.steal_batch_and_pop(&self.deque) {
                    Steal::Success(job) => {
                        // Where there was more, somebody else may help.
                        if !self.deque.is_empty() || !victim.is_empty() {
                            self.pool.parking.call_one();
                        }
                        return Some(job);
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

    fn begin(&mut self, job: &Job) {
        self.dirs_done += 1;
        let progress = &self.pool.progress[self.index];
        match job {
            Job::Child(parent, offset) => self.begin_child(&parent.dir, *offset),
            Job::Rest(listing) => match listing.place() {
                Place::Root(path) => {
                    self.last_parent = None;
                    progress.begin_root(path);
                }
                Place::Child(parent, offset) => self.begin_child(parent, *offset),
            },
        }
    }

    fn begin_child(&mut self, parent: &Arc<Dir>, offset: u32) {
        let same = self
            .last_parent
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, parent));
        self.pool.progress[self.index].begin_child(parent, offset, same);
        if !same {
            self.last_parent = Some(Arc::clone(parent));
        }
    }

    fn rest(&mut self) {
        self.last_parent = None;
        self.pool.progress[self.index].rest();
    }

    /// Starts more workers once there is enough to do.
    fn call_help(&self) {
        if !self.pool.has_unborn.load(Ordering::Relaxed) {
            return;
        }
        let entries = &self.pool.progress[self.index].entries;
        let enough = self.dirs_done >= ALONE_DIRS_MAX
            || entries.load(Ordering::Relaxed) >= ALONE_ENTRIES_MAX
            || self.pool.started.elapsed() >= ALONE_TIME_MAX;
        if enough {
            self.pool.start_helper();
        }
    }

    fn slot(&self, work: impl FnOnce(&mut Slot<C>)) {
        match &mut *lock(&self.pool.slots[self.index]) {
            Some(slot) => work(slot),
            // The scan went on without this worker, which hung.
            None => self.pool.cancelled.store(true, Ordering::Relaxed),
        }
    }

    fn missing(&self, root: usize, errno: KernelErrno) {
        self.slot(|slot| slot.roots[root].missing = Some(Errno::of(errno)));
    }
}

impl<C: Collect> Outlet for WorkerOutlet<C> {
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32]) {
        self.pool
            .pending
            .fetch_add(name_offsets.len(), Ordering::Relaxed);
        for &offset in name_offsets.iter().rev() {
            self.deque.push(Job::Child(Arc::clone(parent), offset));
        }
        self.call_help();
        self.pool.parking.call_one();
    }

    fn queue_rest(&mut self, listing: Arc<SharedListing>) {
        self.pool.pending.fetch_add(1, Ordering::Relaxed);
        self.deque.push(Job::Rest(listing));
        self.pool.parking.call_one();
    }

    fn somebody_idle(&self) -> bool {
        self.call_help();
        self.pool.parking.somebody_waits()
    }

    fn cancelled(&self) -> bool {
        self.pool.is_cancelled()
    }

    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32) {
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).crossings.push(item);
    }

    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]) {
        let items = name_offsets
            .iter()
            .map(|&offset| (Arc::clone(parent), offset));
        lock(&self.pool.agenda).links.extend(items);
    }

    fn next_id(&mut self) -> DirId {
        if self.next_id == self.ids_end {
            let block = self.pool.next_id_block.fetch_add(1, Ordering::Relaxed);
            self.next_id = block * DirId::BLOCK;
            self.ids_end = self.next_id + DirId::BLOCK;
        }
        self.next_id += 1;
        DirId(self.next_id - 1)
    }

    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]) {
        let progress = &self.pool.progress[self.index];
        let announced = announce && directory.state != DirState::Argument;
        let entries: usize = batches.iter().map(|batch| batch.len()).sum();
        WorkerProgress::add(&progress.entries, entries as u64 + u64::from(announced));
        WorkerProgress::add(&progress.dirs, u64::from(announced));
        let bytes = batches.iter().flat_map(|batch| batch.allocated_bytes());
        WorkerProgress::add(&progress.allocated_bytes, bytes.sum());
        progress.step();
        self.slot(|slot| {
            let mut flow = match announce {
                true => slot.state.directory(directory),
                false => std::ops::ControlFlow::Continue(()),
            };
            for batch in batches {
                if flow.is_continue() && !batch.is_empty() {
                    flow = slot.state.batch(directory, batch);
                }
            }
            slot.stopped |= flow.is_break();
            if flow.is_break() {
                self.pool.cancelled.store(true, Ordering::Relaxed);
            }
        });
        if self.pool.is_cancelled() {
            self.pool.parking.call_all();
        }
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        self.slot(|slot| slot.state.incomplete(directory));
    }

    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, errno: KernelErrno) {
        let errno = Errno::of(errno);
        let kept_max = self.pool.errors_kept_max;
        WorkerProgress::add(&self.pool.progress[self.index].unreadable, 1);
        self.slot(|slot| {
            slot.roots[root as usize].unreadable += 1;
            slot.errors.count(op, errno, 1);
            if slot.errors.kept.len() < kept_max {
                let root = root as usize;
                slot.errors.kept.push(crate::error::EntryError {
                    path,
                    op,
                    errno,
                    root,
                });
            }
        });
    }

    fn note(&mut self, root: u32, note: Note) {
        self.slot(|slot| {
            let root = &mut slot.roots[root as usize];
            match note {
                Note::Vanished => root.vanished += 1,
                Note::Changed => root.changed_dirs += 1,
                Note::Excluded => root.excluded += 1,
                Note::Crossing => root.crossings += 1,
            }
        });
    }

    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str) {
        self.slot(|slot| slot.left_out.push(LeftOut { path, file_system }));
    }
}

/// Locks; what a panic elsewhere left is whole, because nothing here can panic
/// between two steps that belong together.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
