// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan: options in, result out.

use std::ffi::{CStr, CString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::calls::{Calls, Sharing};
use crate::directory::{DirFilter, Subdirectory};
use crate::error::{Error, Op};
use crate::exclusion::Exclusions;
use crate::fields::Fields;
use crate::inode_numbers::InodeNumbers;
use crate::listing::context::ScanContext;
use crate::listing::options::{EnteredMounts, RootTable, ScanOptions, Shortcuts};
use crate::listing::source::DirectorySource;
use crate::listing::{NAMES_MAX, WITHHELD_MAX};
use crate::machine;
use crate::order::concurrency::WORKERS_MAX;
use crate::order::pool::{Pool, PoolOptions, WantedPool};
use crate::order::results::{State, without_types};
use crate::order::{AnyOrder, Order};
use crate::path::bytes_of;
use crate::plan::Plan;
use crate::reason::Reason;
use crate::report::Outcome;
use crate::running::{Ongoing, Running, RunningOn};
use crate::sink::{Context, LinkPolicy, Sink};
use crate::source::choice::{Source, SourceOptions, SyncPolicy};
use crate::source::memory::{Memory, MemoryTree};
use crate::system::native::{self, Native};
use crate::threads;

/// The choice where another file system begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MountCrossing {
    /// It is entered.
    #[default]
    Enter,
    /// It counts as one entry of no size. A mount of the same file system is entered, as by
    /// `du -x`: its topmost entry has the device number of the directory that holds it.
    Stay,
}

/// The choice for symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SymlinkPolicy {
    /// A link is an entry.
    #[default]
    Keep,
    /// A link stands for what it leads to; what was listed already is not
    /// listed again.
    Follow,
}

/// The choice for file systems that live in the kernel alone, such as `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KernelFileSystems {
    /// They are left out, and named in the report. A root is scanned all the same.
    #[default]
    LeaveOut,
    /// They are scanned like others.
    Enter,
}

/// How the scan competes with others for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IoClass {
    /// As the process does.
    #[default]
    Normal,
    /// Only when nobody else wants it (ioprio_set(2), class idle).
    Idle,
}

/// A scan of one or several trees.
///
/// # Examples
///
/// ```
/// use statwalk_core::{MountCrossing, Scan, Totals};
///
/// let outcome = Scan::new("src").crossing(MountCrossing::Stay).run(&Totals::new())?;
/// if let Some(sizes) = outcome.output[0].sizes {
///     println!("{} bytes", sizes.allocated_bytes);
/// }
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[must_use = "a scan begins when it is run or started"]
#[derive(Clone, Debug)]
pub struct Scan {
    roots: Vec<PathBuf>,
    fields: Fields,
    crossing: MountCrossing,
    /// Whether no mount is entered, one of the same file system neither.
    stays_on_mounts: bool,
    links: LinkPolicy,
    symlinks: SymlinkPolicy,
    kernel_file_systems: KernelFileSystems,
    exclusions: Exclusions,
    dir_filter: Option<DirFilter>,
    relative_to: Option<PathBuf>,
    /// Whether a root within another tree is left to itself, however deep the scan goes.
    roots_apart: bool,
    max_depth: u32,
    withheld_max: usize,
    names_max: usize,
    threads: Option<usize>,
    order: AnyOrder,
    calls: Calls,
    source: Source,
    syncing: SyncPolicy,
    /// When the scan is taken to begin, where that is not now.
    as_of: Option<SystemTime>,
    errors_kept: usize,
    io_class: IoClass,
    niceness: u8,
}

/// A number that keeps one directory of small errors from filling the memory.
const ERRORS_KEPT_DEFAULT: usize = 1_000;

/// Up to how many directories are open whose entries wait, in the order of inodes.
const LISTINGS_MAX: usize = 512;

/// The descriptors that a worker may need at once: a directory, the parent that it
/// reopens and its copy, and a file with patterns.
const DESCRIPTORS_PER_WORKER: usize = 4;

impl Scan {
    /// A scan of the tree at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Scan {
        Scan::of([root])
    }

    /// The same scan of another tree, for instance to read one directory again.
    ///
    /// In a directory below a root of this scan the `.gitignore` files between the two count,
    /// as they do in this scan.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let scan = Scan::new(".").max_depth(1);
    /// let again = scan.clone().with_root("src").run(&Totals::new())?;
    /// assert!(again.output[0].entries > 1);
    /// assert!(again.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn with_root(self, root: impl Into<PathBuf>) -> Scan {
        Scan {
            roots: vec![root.into()],
            exclusions: self.exclusions.within(self.roots),
            ..self
        }
    }

    /// A scan of several trees, one after another. An entry that several of them reach
    /// belongs to the first. A root within another tree is left to itself where
    /// [`max_depth`](Self::max_depth) is set or the caller can [skip](Self::skip_dirs), and
    /// where the other tree enters no mount.
    ///
    /// Relative paths lead from the working directory of the process when the scan begins,
    /// also if that is another one later, or [from another directory](Self::relative_to).
    pub fn of(roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Scan {
        Scan {
            roots: roots.into_iter().map(Into::into).collect(),
            fields: Fields::NONE,
            crossing: MountCrossing::default(),
            stays_on_mounts: false,
            links: LinkPolicy::default(),
            symlinks: SymlinkPolicy::default(),
            kernel_file_systems: KernelFileSystems::default(),
            exclusions: Exclusions::default(),
            dir_filter: None,
            relative_to: None,
            roots_apart: false,
            max_depth: u32::MAX,
            withheld_max: WITHHELD_MAX,
            names_max: NAMES_MAX,
            threads: None,
            order: Order::default().into(),
            calls: Calls::default(),
            source: Source::default(),
            syncing: SyncPolicy::default(),
            as_of: None,
            errors_kept: ERRORS_KEPT_DEFAULT,
            io_class: IoClass::default(),
            niceness: 0,
        }
    }

    /// The fields of rows: the type comes with others for nothing, but not with names alone.
    pub(crate) fn fields_of_rows(&self) -> Fields {
        match self.fields == Fields::NAME {
            true => Fields::NAME,
            false => self.fields | Fields::TYPE,
        }
    }

    /// Lets relative roots lead from this directory. Paths stay as the roots have them.
    ///
    /// For a program that takes a path, and begins the scan when its working directory can be
    /// another one.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let here = std::env::current_dir()?;
    /// let outcome = Scan::new("sink").relative_to(here.join("src")).run(&Totals::new())?;
    /// assert!(outcome.output[0].files > 1);
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relative_to(mut self, directory: impl Into<PathBuf>) -> Scan {
        self.relative_to = Some(directory.into());
        self
    }

    /// Reads these fields besides those that the sink needs.
    ///
    /// With [`Fields::NAME`] alone, rows and entries know which entries are directories. Another
    /// type is [`Unknown`](crate::FileType::Unknown) where the listing has none: it would
    /// cost a call for each.
    pub fn fields(mut self, fields: Fields) -> Scan {
        self.fields = fields;
        self
    }

    /// The choice where another file system begins.
    pub fn crossing(mut self, crossing: MountCrossing) -> Scan {
        self.crossing = crossing;
        self
    }

    /// Enters no mount, one of the same file system neither. So each entry of a file system
    /// is read through one mount at most.
    pub fn staying_on_mounts(mut self) -> Scan {
        self.crossing = MountCrossing::Stay;
        self.stays_on_mounts = true;
        self
    }

    /// How an inode with several names counts.
    pub fn links(mut self, links: LinkPolicy) -> Scan {
        self.links = links;
        self
    }

    /// The choice for symbolic links.
    pub fn symlinks(mut self, symlinks: SymlinkPolicy) -> Scan {
        self.symlinks = symlinks;
        self
    }

    /// The choice for file systems that live in the kernel alone.
    pub fn kernel_file_systems(mut self, kernel_file_systems: KernelFileSystems) -> Scan {
        self.kernel_file_systems = kernel_file_systems;
        self
    }

    /// The entries that are left out.
    pub fn exclusions(mut self, exclusions: Exclusions) -> Scan {
        self.exclusions = exclusions;
        self
    }

    /// Leaves out the directories that `filter` refuses, with all that is below them.
    ///
    /// Workers ask before they open a directory, so a refused one costs no call. It is
    /// no row and no part of a sum; [`RootReport::excluded`](crate::RootReport::excluded)
    /// counts it. Nobody asks about roots. A second filter is asked about the
    /// directories that pass the first. Where symbolic links are followed, workers also
    /// ask about directories that links lead to.
    ///
    /// Use [`Exclusions`] for patterns that apply to files too, and
    /// [`Entries::skip_subtree`](crate::Entries::skip_subtree) to decide by rows.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let scan = Scan::new("..").filter_dir(|dir| dir.name() != b"src" && dir.depth() < 3);
    /// let outcome = scan.run(&Totals::new())?;
    /// assert!(outcome.report.roots[0].excluded > 0);
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn filter_dir(
        mut self,
        filter: impl Fn(&Subdirectory<'_>) -> bool + Send + Sync + 'static,
    ) -> Scan {
        let earlier = self.dir_filter.take();
        self.dir_filter = Some(DirFilter::new(filter).after(earlier));
        self
    }

    /// How deep the scan goes: entries of a root have depth 1.
    ///
    /// Directories of that depth are not listed: they arrive as
    /// [`DirState::AtDepthLimit`](crate::DirState::AtDepthLimit), with attributes where
    /// attributes are wanted. Whether another file system begins there is found out only
    /// where they are stat'ed anyway.
    ///
    /// Where a second mount or a followed link leads to a directory, its bytes count once. A way
    /// that is shorter opens a directory at which the real way ended, and it has no bytes there.
    /// One that is longer opens nothing anew, so the depth counts along the real way.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let outcome = Scan::new(".").max_depth(0).run(&Totals::new())?;
    /// let here = outcome.output[0];
    /// assert_eq!((here.entries, here.dirs), (1, 1));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn max_depth(mut self, depth: u32) -> Scan {
        self.max_depth = depth;
        self
    }

    /// How many entries of a directory are withheld: small numbers for a simulation.
    #[cfg(test)]
    pub(crate) fn withheld_max(mut self, entries: usize) -> Scan {
        self.withheld_max = entries;
        self
    }

    /// How many names of a directory are remembered: few, where a test lists more.
    #[cfg(test)]
    pub(crate) fn names_max(mut self, names: usize) -> Scan {
        self.names_max = names;
        self
    }

    /// Which directory is listed next: an [`Order`], or one of [`tuning`](crate::tuning).
    pub fn order(mut self, order: impl Into<AnyOrder>) -> Scan {
        self.order = order.into();
        self
    }

    /// Whether symbolic links are followed.
    pub(crate) fn follows_links(&self) -> bool {
        self.symlinks == SymlinkPolicy::Follow
    }

    /// Lists the directory next that is the first by its path.
    pub(crate) fn in_path_order(self) -> Scan {
        self.order(AnyOrder::Sorted)
    }

    /// How the source asks the kernel.
    pub fn calls(mut self, calls: Calls) -> Scan {
        self.calls = calls;
        self
    }

    /// Where entries and attributes come from.
    pub fn source(mut self, source: Source) -> Scan {
        self.source = source;
        self
    }

    /// Whether a file system may be synced before it is read.
    pub fn syncing(mut self, syncing: SyncPolicy) -> Scan {
        self.syncing = syncing;
        self
    }

    /// Takes the scan to begin at another time. For tests: what has changed lately
    /// is read from the kernel, and everything in a test has.
    #[doc(hidden)]
    pub fn as_of(mut self, time: SystemTime) -> Scan {
        self.as_of = Some(time);
        self
    }

    /// Leaves each root that lies within another tree to itself.
    pub(crate) fn with_roots_apart(mut self) -> Scan {
        self.roots_apart = true;
        self
    }

    /// The number of workers.
    ///
    /// Where it is not set, it follows what they do: as many as processors
    /// while the data is in memory, up to 64 while they wait. That takes somebody
    /// who waits for the scan, as [`run`](Self::run) does.
    /// [`Order::Recursive`] always has one, and the other orders have one
    /// where it is not set.
    pub fn threads(mut self, threads: usize) -> Scan {
        self.threads = Some(threads.max(1));
        self
    }

    /// Up to how many errors the report lists. All are counted.
    pub fn errors_kept(mut self, errors_kept: usize) -> Scan {
        self.errors_kept = errors_kept;
        self
    }

    /// How the scan competes with others for the device.
    pub fn io_class(mut self, io_class: IoClass) -> Scan {
        self.io_class = io_class;
        self
    }

    /// How far the threads of the scan stand behind others for a processor, as nice(1) adds
    /// it: 0, the default, to 19. More is 19.
    ///
    /// For a program with a thread that others wait for, such as an event loop. Where
    /// processors are busy, the scan takes longer. A thread that the caller lends, because
    /// the system gives none, keeps what it has. On Linux alone a thread has a niceness of
    /// its own (setpriority(2)); elsewhere nothing changes.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let outcome = Scan::new("src").niceness(10).run(&Totals::new())?;
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn niceness(mut self, niceness: u8) -> Scan {
        self.niceness = niceness;
        self
    }

    /// Scans, and waits for the answer.
    ///
    /// Entries that cannot be read are part of the answer, and so is a root
    /// that is not there.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL, or if the wanted source cannot read it.
    /// Where an [error of the sink](crate::Collect::take_error) ended the scan, returns that.
    ///
    /// # Panics
    ///
    /// Panics if the sink panics.
    pub fn run<S: Sink>(&self, sink: &S) -> Result<Outcome<S::Output>, Error> {
        let running = self.start(sink)?;
        running.wait();
        checked(running.finish())
    }

    /// Begins to scan.
    ///
    /// Where the system allows no more threads, the scan goes on only while
    /// somebody [waits](Running::wait_for) for it, on the thread that waits.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub fn start<S: Sink>(&self, sink: S) -> Result<Running<S>, Error> {
        let started = threads::now();
        let mut why = Vec::new();
        let (native, roots) = self.native(sink.fields() | self.fields, &mut why)?;
        let running = self.start_on(native, sink, roots, why, started);
        Ok(Running(running))
    }

    /// Scans a tree in memory to its end.
    ///
    /// The roots are paths in the tree. Options that are about the kernel change
    /// nothing: [`calls`](Self::calls), [`source`](Self::source), [`syncing`](Self::syncing).
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL, or the [error of the
    /// sink](crate::Collect::take_error) where that ended the scan.
    pub fn run_in_memory<S: Sink>(
        &self,
        tree: MemoryTree,
        sink: &S,
    ) -> Result<Outcome<S::Output>, Error> {
        let (started, roots) = (threads::now(), self.root_paths()?);
        let running = self.start_on(Memory::new(tree), sink, roots, Vec::new(), started);
        while !running.ongoing.pool.wait(Duration::from_secs(3600)) {}
        checked(running.finish())
    }

    /// Begins to scan what a source has; `why` is what the plan says of it.
    pub(crate) fn start_on<S: Sink, D: DirectorySource>(
        &self,
        source: D,
        sink: S,
        roots: Vec<Arc<CStr>>,
        why: Vec<Reason>,
        started: Instant,
    ) -> RunningOn<S, D> {
        let wanted = sink.fields() | self.fields;
        let prepared = self.prepare(source, wanted, roots, why);
        let states = sink.states(&prepared.context, prepared.plan.workers_max);
        let ongoing = prepared.begin(without_types(states), started);
        RunningOn { sink, ongoing }
    }

    /// All of a scan that is the same for every sink. A program with many sinks has it once.
    fn prepare<D: DirectorySource>(
        &self,
        source: D,
        wanted: Fields,
        roots: Vec<Arc<CStr>>,
        why: Vec<Reason>,
    ) -> Prepared<D> {
        let follows = self.symlinks == SymlinkPolicy::Follow;
        // A scan that follows links counts each file once anyway.
        let counts_once =
            self.links == LinkPolicy::Once && wanted.contains(Fields::LINKS) && !follows;
        let roots_table = RootTable::of(&source, &roots, follows, counts_once, &self.exclusions);
        let context = Context {
            roots: roots.iter().map(|root| root.to_bytes().to_vec()).collect(),
            links: self.links,
            follows,
            now_ns: now_ns(),
            inodes: Arc::new(InodeNumbers::new()),
            mounted_files: roots_table.mounted_files.clone(),
        };
        let (plan, listings_max) = self.plan(wanted, why);
        let options = self.options(wanted, roots_table);
        let scan_context = Arc::new(ScanContext::new(options, source, plan.open_dirs_max));
        let options = PoolOptions {
            order: self.order,
            roots,
            errors_kept_max: self.errors_kept,
            idle_io: self.io_class == IoClass::Idle,
            niceness: self.niceness,
            adapts: self.threads.is_none() && self.order.workers().is_none(),
            listings_max,
            processors: machine::processors(),
        };
        Prepared {
            context,
            plan,
            scan_context,
            options,
        }
    }

    pub(crate) fn root_paths(&self) -> Result<Vec<Arc<CStr>>, Error> {
        self.roots
            .iter()
            .map(|root| {
                CString::new(bytes_of(root))
                    .map(Arc::from)
                    .map_err(|error| Error::io(Op::Open, Some(root.clone()), error.into()))
            })
            .collect()
    }

    /// The system's source for this scan, with the paths of the roots.
    fn native(
        &self,
        wanted: Fields,
        why: &mut Vec<Reason>,
    ) -> Result<(Native, Vec<Arc<CStr>>), Error> {
        let roots = self.root_paths()?;
        let options = SourceOptions {
            wanted,
            calls: &self.calls,
            follows: self.symlinks == SymlinkPolicy::Follow,
            source: self.source,
            syncing: self.syncing,
            exclusions: &self.exclusions,
            relative_to: self.relative_to.as_deref(),
            now_ns: self.as_of.map_or_else(now_ns, nanoseconds),
        };
        let native = native::prepare(&options, &roots, why).map_err(|(number, error)| {
            Error::io(Op::Open, self.roots.get(number).cloned(), error)
        })?;
        Ok((native, roots))
    }

    fn options(&self, wanted: Fields, roots: RootTable) -> ScanOptions {
        let follows = self.symlinks == SymlinkPolicy::Follow;
        let mut calls = self.calls.clone();
        if self.order == Order::Inode {
            // A part that is handed out becomes a job for each of its entries there, and
            // only a gathered directory counts them so.
            calls.sharing = Sharing::Never;
        }
        ScanOptions {
            wanted,
            calls,
            mounts: match (self.crossing, self.stays_on_mounts) {
                (_, true) => EnteredMounts::None,
                (MountCrossing::Enter, false) => EnteredMounts::All,
                (MountCrossing::Stay, false) => EnteredMounts::OfSameDevice,
            },
            enters_kernel_file_systems: self.kernel_file_systems == KernelFileSystems::Enter,
            follows,
            shortcuts: Shortcuts::of(wanted, &self.exclusions, follows, &roots),
            exclusions: self.exclusions.clone(),
            dir_filter: self.dir_filter.clone(),
            roots_apart: self.roots_apart || self.max_depth < u32::MAX,
            max_depth: self.max_depth,
            withheld_max: self.withheld_max,
            names_max: self.names_max,
            roots,
        }
    }

    /// The plan, and how many directories may be open whose entries wait.
    fn plan(&self, wanted: Fields, mut why: Vec<Reason>) -> (Plan, usize) {
        if !wanted.need_stat() {
            why.push(Reason::TypesAlone);
        }
        let mut workers_max = match (self.order, self.threads) {
            (AnyOrder::Order(Order::Recursive), _) => {
                why.push(Reason::OneCallStack);
                1
            }
            (_, Some(threads)) => {
                why.push(Reason::WorkersAskedFor(threads));
                threads
            }
            (order, None) if order.workers().is_some() => {
                let workers = order.workers().unwrap_or(1);
                let order = order.name();
                why.push(Reason::WorkersOfOrder { order, workers });
                workers
            }
            (_, None) => {
                let processors = machine::processors();
                let workers_max = WORKERS_MAX.max(processors);
                why.push(Reason::WorkersByProcessors {
                    processors,
                    workers_max,
                });
                workers_max
            }
        };
        let free = machine::free_descriptors();
        let affordable = (free / 2 / DESCRIPTORS_PER_WORKER).max(1);
        if workers_max > affordable {
            workers_max = affordable;
            why.push(Reason::FewDescriptors { workers_max, free });
        }
        let mut open_dirs_max = free
            .saturating_sub(workers_max * DESCRIPTORS_PER_WORKER)
            .max(1);
        let listings_max = (open_dirs_max / 2).clamp(1, LISTINGS_MAX);
        if self.order == Order::Inode {
            open_dirs_max = open_dirs_max.saturating_sub(listings_max).max(1);
        }
        let plan = Plan {
            source: Source::Posix.name(),
            order: self.order.name(),
            workers_max,
            open_dirs_max,
            fields: wanted,
            generation: None,
            why,
        };
        (plan, listings_max)
    }
}

/// A scan that needs but its workers.
struct Prepared<D> {
    context: Context,
    plan: Plan,
    scan_context: Arc<ScanContext<D>>,
    options: PoolOptions,
}

impl<D: DirectorySource> Prepared<D> {
    fn begin(self, states: Vec<Box<dyn State>>, started: Instant) -> Ongoing<D> {
        let pool = Pool::new(Arc::clone(&self.scan_context), states, self.options);
        pool.start();
        Ongoing {
            context: self.context,
            pool: WantedPool::new(pool),
            scan_context: self.scan_context,
            plan: self.plan,
            started,
        }
    }
}

/// An outcome whose sink did not fail.
fn checked<T>(outcome: Outcome<T>) -> Result<Outcome<T>, Error> {
    match outcome.report.sink_error {
        None => Ok(outcome),
        Some(error) => {
            // The report goes, so nobody else has it.
            let error = Arc::into_inner(error).unwrap_or_else(|| io::ErrorKind::Other.into());
            Err(Error::io(Op::Collect, None, error))
        }
    }
}

fn now_ns() -> i64 {
    nanoseconds(SystemTime::now())
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
