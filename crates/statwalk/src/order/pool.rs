// SPDX-License-Identifier: MIT OR Apache-2.0

//! The workers of a scan.
//!
//! They take directories from the [`Frontier`], which knows the order. Only
//! directories are queued, and parts of very large ones. Workers without work
//! wait ([`Parking`]). Each folds what it finds into a state of its own. How many
//! there are follows what they do, where nobody has said ([`Concurrency`]).
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

use crossbeam_utils::CachePadded;
use rustix::io::Errno as KernelErrno;

use super::Order;
use super::concurrency::{Concurrency, LOOK_MIN, Look, Step};
use super::frontier::{Frontier, Hand};
use super::parking::Parking;
use crate::batch::Batch;
use crate::directory::{Dir, DirState, Directory, Place};
use crate::entry::DirId;
use crate::error::{Errno, ErrorList, Op};
use crate::progress::WorkerProgress;
use crate::report::{LeftOut, RootReport};
use crate::sink::{Collect, path_order};
use crate::source::posix::handle::OpenParent;
use crate::source::posix::listed::Listed;
use crate::source::posix::shared_listing::SharedListing;
use crate::source::posix::{Gathering, Job, Lister, Note, Outlet, Terms, Tick, tally};

/// When one worker alone is too slow: after this many directories, entries, or
/// this time. Starting a thread takes as long as reading some ten directories.
const ALONE_DIRS_MAX: u32 = 16;
const ALONE_ENTRIES_MAX: u64 = 1_000;
const ALONE_TIME_MAX: Duration = Duration::from_micros(300);

/// After how long others start on what a worker queued that does not come back.
const HELP_DELAY_MAX: Duration = Duration::from_millis(20);

/// How often the number of workers is looked at where it has been right for long.
const LOOK_PAUSE_MAX: Duration = Duration::from_millis(64);

/// How deep recursion goes before what is below waits. A level takes less than
/// 2 KiB of the stack.
const RECURSION_MAX: u32 = 4096;
/// The stack of a worker that recurses.
const RECURSION_STACK_BYTES: usize = 32 << 20;

/// What the workers of one scan share.
pub(crate) struct Pool<C> {
    terms: Arc<Terms>,
    order: Order,
    frontier: Frontier,
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
    crew: Mutex<Crew>,
    /// Whether calls wait so long that entries are handed around in small parts.
    /// By inode number each goes by itself anyway.
    is_slow: AtomicBool,
    /// How many workers there are to be.
    wanted: AtomicUsize,
    /// Whether there are fewer.
    wants_helpers: AtomicBool,
    /// Whether there are more.
    has_too_many: AtomicBool,
    /// How many there are to be at first, once that was asked.
    wanted_first: OnceLock<usize>,
    /// How the number follows what the workers do, where nobody has said.
    overseer: Option<Mutex<Overseer>>,
    pub(crate) errors_kept_max: usize,
    started: Instant,
    alive: Mutex<usize>,
    gone: Condvar,
    idle_io: bool,
}

/// What is known of the workers that do not work.
struct Crew {
    /// The first that was never started.
    next: usize,
    /// What those had that were sent away.
    sent_away: Vec<Hand>,
    /// How long these computed, and waited for a processor.
    effort_of_gone: (Duration, Duration),
}

/// Looks at what the workers do and decides how many there are.
struct Overseer {
    concurrency: Option<Concurrency>,
    last_look: Instant,
    pause: Duration,
    next_look: Instant,
    effort: Effort,
}

/// What all workers did so far.
#[derive(Clone, Copy, Default)]
struct Effort {
    /// How long they had something to do.
    occupied: Duration,
    /// How long they computed.
    cpu: Duration,
    /// How long they computed or waited for a processor.
    busy: Duration,
    calls: u64,
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
    /// System calls of the source.
    pub(crate) calls: u64,
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
    pub(crate) order: Order,
    pub(crate) roots: Vec<Arc<CStr>>,
    pub(crate) errors_kept_max: usize,
    pub(crate) idle_io: bool,
    /// Whether the number of workers is to follow what they do.
    pub(crate) adapts: bool,
    /// How many directories may be open whose entries wait.
    pub(crate) listings_max: usize,
    pub(crate) processors: usize,
}

impl<C: Collect> Pool<C> {
    /// Starts the first worker; the others when there is enough to do.
    pub(crate) fn start(
        terms: Arc<Terms>,
        states: Vec<C>,
        options: PoolOptions,
    ) -> std::io::Result<Arc<Pool<C>>> {
        let count = states.len();
        let root_count = options.roots.len();
        let slots = states.into_iter().map(|state| {
            CachePadded::new(Mutex::new(Some(Slot {
                state,
                roots: vec![RootReport::default(); root_count],
                errors: ErrorList::default(),
                left_out: Vec::new(),
                calls: 0,
                stopped: false,
            })))
        });
        let started = Instant::now();
        let pool = Arc::new(Pool {
            terms,
            order: options.order,
            frontier: Frontier::new(options.order, count, options.listings_max),
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
            crew: Mutex::new(Crew {
                next: 0,
                sent_away: Vec::new(),
                effort_of_gone: (Duration::ZERO, Duration::ZERO),
            }),
            // Who asks for more workers than processors expects calls to wait.
            is_slow: AtomicBool::new(
                !options.adapts && options.order != Order::Inode && count > options.processors,
            ),
            wanted: AtomicUsize::new(count),
            wants_helpers: AtomicBool::new(true),
            has_too_many: AtomicBool::new(false),
            wanted_first: OnceLock::new(),
            overseer: options.adapts.then(|| {
                Mutex::new(Overseer {
                    concurrency: None,
                    last_look: started,
                    pause: LOOK_MIN,
                    next_look: started + LOOK_MIN,
                    effort: Effort::default(),
                })
            }),
            errors_kept_max: options.errors_kept_max,
            started,
            alive: Mutex::new(0),
            gone: Condvar::new(),
            idle_io: options.idle_io,
        });
        pool.start_worker(true)?;
        Ok(pool)
    }

    /// Starts one worker more, if more are wanted.
    fn start_worker(self: &Arc<Self>, first: bool) -> std::io::Result<()> {
        {
            let mut alive = lock(&self.alive);
            let wanted = self.wanted.load(Ordering::Relaxed);
            if *alive >= wanted {
                self.wants_helpers.store(false, Ordering::Relaxed);
                return Ok(());
            }
            *alive += 1;
        }
        let hand = {
            let mut crew = lock(&self.crew);
            match crew.sent_away.pop() {
                Some(hand) => hand,
                None => {
                    crew.next += 1;
                    self.frontier.hand(crew.next - 1)
                }
            }
        };
        let pool = Arc::clone(self);
        let mut builder = thread::Builder::new().name(format!("statwalk-{}", hand.index()));
        if self.order == Order::Recursive {
            builder = builder.stack_size(RECURSION_STACK_BYTES);
        }
        let started = builder.spawn(move || {
            let mut worker = Worker::new(Arc::clone(&pool), hand);
            if first {
                worker.advance();
            }
            let leave = worker.work();
            let Worker { lister, outlet } = worker;
            drop(lister);
            let calls = tally::take();
            outlet.slot(|slot| slot.calls += calls);
            if leave == Leave::Ended {
                drop(outlet);
                pool.leave();
            } else {
                pool.send_away(outlet.hand);
            }
        });
        if let Err(error) = started {
            // What it had is empty: it was never started, or has been stolen from.
            self.leave();
            return Err(error);
        }
        Ok(())
    }

    /// How many workers there are before anything was seen.
    ///
    /// Control groups can grant less than there is; to find out costs as much as
    /// scanning a small directory, so it is asked when the first helper is needed.
    fn settle_wanted(&self) {
        self.wanted_first.get_or_init(|| {
            let mut wanted = self.slots.len();
            if self.overseer.is_some() {
                let processors = thread::available_parallelism().map_or(1, usize::from);
                wanted = wanted.min(processors);
            }
            self.wanted.store(wanted, Ordering::Relaxed);
            wanted
        });
    }

    /// Starts one worker more. One that cannot be started is one helper less,
    /// and no error: those that are there do all the work.
    fn start_helper(self: &Arc<Self>) {
        self.settle_wanted();
        if self.start_worker(false).is_err() {
            self.wanted.store(*lock(&self.alive), Ordering::Relaxed);
            self.wants_helpers.store(false, Ordering::Relaxed);
        }
    }

    fn leave(&self) {
        *lock(&self.alive) -= 1;
        self.gone.notify_all();
    }

    /// Whether the worker that asks is one too many; if so it is counted as gone.
    fn may_go(&self) -> bool {
        if !self.has_too_many.load(Ordering::Relaxed) {
            return false;
        }
        let mut alive = lock(&self.alive);
        let wanted = self.wanted.load(Ordering::Relaxed);
        let is_one_too_many = *alive > wanted;
        *alive -= usize::from(is_one_too_many);
        if *alive <= wanted {
            self.has_too_many.store(false, Ordering::Relaxed);
        }
        is_one_too_many
    }

    /// Keeps what a worker had that is not needed for now. Others take what it
    /// had queued.
    fn send_away(&self, hand: Hand) {
        let progress = &self.progress[hand.index()];
        let (computed, waited) = progress.computed_and_waited().unwrap_or_default();
        progress.end_work(self.started.elapsed());
        progress.forget_thread();
        let mut crew = lock(&self.crew);
        crew.effort_of_gone.0 += computed;
        crew.effort_of_gone.1 += waited;
        crew.sent_away.push(hand);
        drop(crew);
        self.parking.call_one();
    }

    /// Waits for the workers, at most for a time. Answers whether they are done
    /// or were told to stop.
    ///
    /// Whoever waits here also sees to it that there are enough of them.
    pub(crate) fn wait(self: &Arc<Self>, timeout: Duration) -> bool {
        let ended = |pool: &Self, alive| alive == 0 || pool.is_cancelled();
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let pause = self.pause_before_look().unwrap_or(left);
            if self.wait_until(left.min(pause), ended) {
                return true;
            }
            if left <= pause {
                return false;
            }
            // A worker that hangs cannot call for help; what it queued is for others.
            if self.wants_helpers.load(Ordering::Relaxed)
                && self.frontier.has_work()
                && !self.parking.somebody_waits()
                && self.started.elapsed() >= HELP_DELAY_MAX
            {
                self.start_helper();
            }
            self.oversee();
        }
    }

    /// How long nobody needs to look at the workers; absent where never.
    fn pause_before_look(&self) -> Option<Duration> {
        match &self.overseer {
            // Whoever waits may wait in shorter pieces than a pause.
            Some(overseer) => {
                let next_look = lock(overseer).next_look;
                Some(next_look.saturating_duration_since(Instant::now()))
            }
            None if self.wants_helpers.load(Ordering::Relaxed) => Some(HELP_DELAY_MAX),
            None => None,
        }
    }

    /// Looks at what the workers did, and changes their number.
    fn oversee(self: &Arc<Self>) {
        let Some(overseer) = &self.overseer else {
            return;
        };
        let mut overseer = lock(overseer);
        let now = Instant::now();
        let effort = self.effort(now);
        let look = Look {
            elapsed: now - overseer.last_look,
            occupied: effort.occupied.saturating_sub(overseer.effort.occupied),
            cpu: effort.cpu.saturating_sub(overseer.effort.cpu),
            busy: effort.busy.saturating_sub(overseer.effort.busy),
            calls: effort.calls.saturating_sub(overseer.effort.calls),
        };
        let Overseer { concurrency, .. } = &mut *overseer;
        let concurrency = concurrency.get_or_insert_with(|| {
            self.settle_wanted();
            Concurrency::new(self.wanted.load(Ordering::Relaxed), self.slots.len())
        });
        if !concurrency.is_long_enough(&look) {
            overseer.next_look = now + overseer.pause;
            return;
        }
        self.is_slow
            .store(concurrency.is_slow(&look), Ordering::Relaxed);
        let step = concurrency.decide(&look);
        let workers = concurrency.workers();
        overseer.pause = match step {
            Some(_) => LOOK_MIN,
            None => (overseer.pause * 2).min(LOOK_PAUSE_MAX),
        };
        overseer.last_look = now;
        overseer.next_look = now + overseer.pause;
        overseer.effort = effort;
        drop(overseer);
        match step {
            None => {}
            Some(Step::Up(_)) => {
                self.wanted.store(workers, Ordering::Relaxed);
                self.wants_helpers.store(true, Ordering::Relaxed);
                while self.wants_helpers.load(Ordering::Relaxed) && !self.is_over() {
                    self.start_helper();
                }
            }
            Some(Step::Back(_) | Step::Down(_)) => {
                self.wanted.store(workers, Ordering::Relaxed);
                self.wants_helpers.store(false, Ordering::Relaxed);
                self.has_too_many.store(true, Ordering::Relaxed);
                self.parking.call_all();
            }
        }
    }

    /// What all workers did so far.
    fn effort(&self, now: Instant) -> Effort {
        let now = now.saturating_duration_since(self.started);
        let crew = lock(&self.crew);
        let (computed, waited) = crew.effort_of_gone;
        let mut sum = Effort {
            cpu: computed,
            busy: computed + waited,
            ..Effort::default()
        };
        for worker in &self.progress[..crew.next] {
            let (computed, waited) = worker.computed_and_waited().unwrap_or_default();
            sum.cpu += computed;
            sum.busy += computed + waited;
            sum.occupied += worker.occupied(now);
            sum.calls += worker.calls();
        }
        sum
    }

    /// What became of the number of workers, for the plan.
    pub(crate) fn told_concurrency(&self) -> Option<String> {
        let overseer = lock(self.overseer.as_ref()?);
        overseer.concurrency.as_ref()?.told()
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

    /// Whether no worker needs to be started any more.
    fn is_over(&self) -> bool {
        self.is_cancelled() || self.done.load(Ordering::Acquire)
    }

    /// How many workers were started.
    pub(crate) fn started_workers(&self) -> usize {
        lock(&self.crew).next
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

/// Why a worker stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    /// The scan is done or cancelled.
    Ended,
    /// There are more workers than are wanted.
    TooMany,
}

/// One worker: what it has of the frontier, and the lister that is its own.
struct Worker<C> {
    lister: Lister,
    outlet: WorkerOutlet<C>,
}

/// The worker's side of the pool, as its lister sees it.
struct WorkerOutlet<C> {
    pool: Arc<Pool<C>>,
    hand: Hand,
    next_id: u32,
    ids_end: u32,
    last_parent: Option<Arc<Dir>>,
    dirs_done: u32,
}

impl<C: Collect> Worker<C> {
    fn new(pool: Arc<Pool<C>>, hand: Hand) -> Worker<C> {
        if pool.idle_io {
            // Refused, it costs politeness, not truth.
            let _ = statwalk_sys::io_priority::set_idle();
        }
        let progress = &pool.progress[hand.index()];
        progress.know_thread();
        progress.begin_work(pool.started.elapsed());
        Worker {
            lister: Lister::new(Arc::clone(&pool.terms)),
            outlet: WorkerOutlet {
                pool,
                hand,
                next_id: 0,
                ids_end: 0,
                last_parent: None,
                dirs_done: 0,
            },
        }
    }

    /// Works until the scan is done or cancelled, or there are too many workers.
    fn work(&mut self) -> Leave {
        let pool = Arc::clone(&self.outlet.pool);
        while !pool.is_over() {
            match self.outlet.take() {
                Some(job) => self.visit(job, 0),
                None => {
                    self.outlet.rest();
                    self.lister.rest_from_work();
                    let progress = &pool.progress[self.outlet.hand.index()];
                    progress.end_work(pool.started.elapsed());
                    pool.parking
                        .wait_unless(|| pool.is_over() || pool.frontier.has_work());
                    progress.begin_work(pool.started.elapsed());
                }
            }
            if pool.may_go() {
                self.outlet.rest();
                return Leave::TooMany;
            }
        }
        self.outlet.rest();
        Leave::Ended
    }

    /// Lists a directory; in the recursive order also all that is below it.
    fn visit(&mut self, job: Job, level: u32) {
        self.outlet.begin(&job);
        let lists = matches!(job, Job::Child(..) | Job::Rest(_));
        self.lister.expand(job, &mut self.outlet);
        let pool = &self.outlet.pool;
        if let Some(sweep) = pool.frontier.sweep().filter(|_| lists) {
            sweep.listed();
            pool.parking.call_one();
        }
        if pool.order == Order::Recursive {
            self.descend(level);
        }
        if self.outlet.pool.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.advance();
        }
    }

    /// Visits what the last directory led to, in the order of the listing.
    fn descend(&mut self, level: u32) {
        let mut below = std::mem::take(&mut self.outlet.hand.called);
        // A large directory is read on when what was found in it is done.
        below.sort_by_key(|job| matches!(job, Job::Rest(_)));
        if level >= RECURSION_MAX {
            return self.outlet.pool.frontier.put_off(below);
        }
        for job in below {
            if self.outlet.pool.is_cancelled() {
                return;
            }
            self.visit(job, level + 1);
        }
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
                    pool.progress[out.hand.index()].begin_root(&path);
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
            if pool.order == Order::Recursive {
                self.descend(0);
            }
            if pool.pending.fetch_sub(1, Ordering::AcqRel) > 1 {
                return;
            }
        }
    }
}

impl<C: Collect> WorkerOutlet<C> {
    fn take(&mut self) -> Option<Job> {
        let taken = self.pool.frontier.take(&mut self.hand)?;
        if taken.more {
            self.pool.parking.call_one();
        }
        Some(taken.job)
    }

    fn begin(&mut self, job: &Job) {
        self.dirs_done += 1;
        match job {
            Job::Child(parent, offset) => self.begin_child(&parent.dir, *offset),
            Job::Rest(listing) | Job::Part(listing, _) => self.begin_in(listing.place()),
            Job::Entry(entry) => self.begin_in(entry.listing.place()),
        }
    }

    fn begin_in(&mut self, place: &Place) {
        match place {
            Place::Root(path) => {
                self.last_parent = None;
                self.pool.progress[self.hand.index()].begin_root(path);
            }
            Place::Child(parent, offset) => self.begin_child(parent, *offset),
        }
    }

    fn begin_child(&mut self, parent: &Arc<Dir>, offset: u32) {
        let same = self
            .last_parent
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, parent));
        self.pool.progress[self.hand.index()].begin_child(parent, offset, same);
        if !same {
            self.last_parent = Some(Arc::clone(parent));
        }
    }

    fn rest(&mut self) {
        self.last_parent = None;
        self.pool.progress[self.hand.index()].rest();
    }

    /// Starts more workers once there is enough to do.
    fn call_help(&self) {
        if !self.pool.wants_helpers.load(Ordering::Relaxed) {
            return;
        }
        let entries = &self.pool.progress[self.hand.index()].entries;
        let enough = self.dirs_done >= ALONE_DIRS_MAX
            || entries.load(Ordering::Relaxed) >= ALONE_ENTRIES_MAX
            || self.pool.started.elapsed() >= ALONE_TIME_MAX;
        if enough {
            self.pool.start_helper();
        }
    }

    fn slot(&self, work: impl FnOnce(&mut Slot<C>)) {
        match &mut *lock(&self.pool.slots[self.hand.index()]) {
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
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]) {
        self.pool
            .pending
            .fetch_add(name_offsets.len(), Ordering::Relaxed);
        let frontier = &self.pool.frontier;
        frontier.push(&mut self.hand, parent, name_offsets, inos);
        self.call_help();
        self.pool.parking.call_one();
    }

    fn queue_rest(&mut self, listing: Arc<SharedListing>) {
        self.pool.pending.fetch_add(1, Ordering::Relaxed);
        let job = Job::Rest(listing);
        self.pool.frontier.push_one(&mut self.hand, job);
        self.pool.parking.call_one();
    }

    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed) {
        // By inode number each entry is a job of its own.
        let weight = match self.pool.frontier.sweep() {
            Some(_) => part.len(),
            None => 1,
        };
        self.pool.pending.fetch_add(weight, Ordering::Relaxed);
        let job = Job::Part(Arc::clone(listing), Box::new(part));
        self.pool.frontier.push_one(&mut self.hand, job);
        self.call_help();
        self.pool.parking.call_one();
    }

    fn gathers(&self) -> bool {
        self.pool.frontier.sweep().is_some()
    }

    fn gathering(&self, what: Gathering) {
        if let Some(sweep) = self.pool.frontier.sweep() {
            match what {
                Gathering::Begins => sweep.opened(),
                Gathering::Ends => {
                    sweep.closed();
                    self.pool.parking.call_one();
                }
            }
        }
    }

    #[inline]
    fn is_slow(&self) -> bool {
        self.pool.is_slow.load(Ordering::Relaxed)
    }

    fn somebody_idle(&self) -> bool {
        self.call_help();
        self.pool.parking.somebody_waits()
    }

    #[inline]
    fn tick(&self) -> Tick {
        self.pool.progress[self.hand.index()].count_call();
        if self.pool.is_cancelled() {
            Tick::Stop
        } else if self.is_slow() && self.pool.parking.somebody_waits() {
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
        let progress = &self.pool.progress[self.hand.index()];
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
        WorkerProgress::add(&self.pool.progress[self.hand.index()].unreadable, 1);
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
