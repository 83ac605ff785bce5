// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts and sums for each root.

use std::fmt;
use std::ops::ControlFlow;

use super::entry_filter::{EntryFilter, with_filter};
use super::seen_inodes::{CountedInodes, SeenInodes};
use super::{Collect, Context, Sink};
use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::FileType;
use crate::fields::Fields;
use crate::per_root::of_root;

/// Counts and sums for each root, as `docs/json.md` defines them.
///
/// Keeps nothing for an entry but, for an inode with several links, its
/// number, so that its bytes count once.
///
/// ```
/// use statwalk_core::{Scan, Totals};
/// let outcome = Scan::new(".").run(&Totals::new())?;
/// let here = &outcome.output[0];
/// assert_eq!(here.entries, here.files + here.dirs + here.symlinks + here.others);
/// assert!(here.sizes.is_some_and(|sizes| sizes.file_size_bytes <= sizes.apparent_bytes));
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Totals {
    sizes: bool,
    types: bool,
    filter: EntryFilter,
    counted: Option<CountedInodes>,
}

/// The counts and sums of one root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootTotals {
    /// Names, the root among them.
    pub entries: u64,
    /// Regular files, by name.
    pub files: u64,
    /// Directories.
    pub dirs: u64,
    /// Symbolic links, by name.
    pub symlinks: u64,
    /// Everything else.
    pub others: u64,
    /// The sums of bytes; absent where the scan reads no sizes.
    pub sizes: Option<RootSizes>,
}

/// The sums of bytes of one root. They have 128 bits, because two files alone can have
/// more than 64 hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootSizes {
    /// `st_size` of regular files.
    pub file_size_bytes: u128,
    /// `st_size` of regular files and symbolic links.
    pub apparent_bytes: u128,
    /// 512 × `st_blocks` of everything, directories too.
    pub allocated_bytes: u128,
    /// Names that were counted and whose bytes were not, because another name
    /// of the same inode had brought them.
    pub extra_hard_links: u64,
}

impl Totals {
    /// Counts entries by type and sums their sizes: one stat for each entry.
    #[must_use]
    pub fn new() -> Totals {
        Totals {
            sizes: true,
            types: true,
            filter: EntryFilter::default(),
            counted: None,
        }
    }

    /// Counts entries by type alone: no stat at all where the listing gives types.
    ///
    /// ```
    /// use statwalk_core::{Scan, Totals};
    /// let outcome = Scan::new(".").run(&Totals::new().without_sizes())?;
    /// assert!(outcome.output[0].entries > 1 && outcome.output[0].sizes.is_none());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn without_sizes(mut self) -> Totals {
        self.sizes = false;
        self
    }

    /// Counts entries and directories alone; any other type only where the listing tells it.
    ///
    /// Where it does not, an entry that is no directory counts as another: not
    /// all of them are stat'ed then. Without types there are no sizes.
    #[must_use]
    pub fn without_types(mut self) -> Totals {
        self.sizes = false;
        self.types = false;
        self
    }

    /// Counts the bytes of an inode with several links once in all scans that get the same
    /// [`CountedInodes`], as one scan of all their roots does.
    ///
    /// ```
    /// use statwalk_core::{CountedInodes, Scan, Totals};
    /// # let dir = std::env::temp_dir().join(format!("statwalk-counted-{}", std::process::id()));
    /// # for name in ["a", "b"] {
    /// #     std::fs::create_dir_all(dir.join(name))?;
    /// # }
    /// # std::fs::write(dir.join("a/one"), vec![0; 5000])?;
    /// # std::fs::hard_link(dir.join("a/one"), dir.join("b/other"))?;
    /// let totals = Totals::new().with_counted_inodes(&CountedInodes::new());
    /// let [first, second] = [dir.join("a"), dir.join("b")].map(|root| {
    ///     let outcome = Scan::new(root).run(&totals)?;
    ///     assert!(outcome.report.is_complete());
    ///     Ok::<_, statwalk_core::Error>(outcome.output[0])
    /// });
    /// let bytes = [first?, second?].map(|root| root.sizes.map(|sizes| sizes.file_size_bytes));
    /// assert_eq!(bytes, [Some(5000), Some(0)]);
    /// # std::fs::remove_dir_all(&dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_counted_inodes(mut self, counted: &CountedInodes) -> Totals {
        self.counted = Some(counted.clone());
        self
    }

    /// The totals of a root in which nothing was found.
    fn nothing(&self) -> RootTotals {
        RootTotals {
            sizes: self.sizes.then(RootSizes::default),
            ..RootTotals::default()
        }
    }
}

with_filter!(Totals "Counts"
    ///
    /// A directory that does not pass counts as nothing; what is in it is tested for
    /// itself.
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan, Totals};
    /// let sources = Totals::new().with_filter(Fields::NAME, |_, entry| {
    ///     entry.name.ends_with(b".rs")
    /// });
    /// let outcome = Scan::new("src").run(&sources)?;
    /// assert_eq!((outcome.output[0].dirs, outcome.output[0].files > 1), (0, true));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
);

impl Default for Totals {
    fn default() -> Totals {
        Totals::new()
    }
}

impl RootTotals {
    fn add(&mut self, other: &RootTotals) {
        self.entries += other.entries;
        self.files += other.files;
        self.dirs += other.dirs;
        self.symlinks += other.symlinks;
        self.others += other.others;
        if let Some(sizes) = other.sizes {
            self.sizes.get_or_insert_default().add(&sizes);
        }
    }

    fn count(&mut self, kind: FileType, count: u64) {
        self.entries += count;
        match kind {
            FileType::File => self.files += count,
            FileType::Directory => self.dirs += count,
            FileType::Symlink => self.symlinks += count,
            _ => self.others += count,
        }
    }
}

impl RootSizes {
    fn add(&mut self, other: &RootSizes) {
        self.file_size_bytes += other.file_size_bytes;
        self.apparent_bytes += other.apparent_bytes;
        self.allocated_bytes += other.allocated_bytes;
        self.extra_hard_links += other.extra_hard_links;
    }

    fn add_bytes(&mut self, kind: FileType, size_bytes: u64, allocated_bytes: u64) {
        self.allocated_bytes += u128::from(allocated_bytes);
        if kind == FileType::File {
            self.file_size_bytes += u128::from(size_bytes);
        }
        if matches!(kind, FileType::File | FileType::Symlink) {
            self.apparent_bytes += u128::from(size_bytes);
        }
    }
}

impl Sink for Totals {
    type State = TotalsState;
    type Output = Vec<RootTotals>;

    fn fields(&self) -> Fields {
        let sizes = match self.sizes {
            true => Fields::SIZE | Fields::ALLOCATED | Fields::LINKS | Fields::ID,
            false => Fields::NONE,
        };
        let types = match self.types {
            true => Fields::TYPE,
            false => Fields::NONE,
        };
        sizes | types | self.filter.fields()
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TotalsState> {
        let seen = SeenInodes::after(context, self.counted.clone());
        (0..count)
            .map(|_| TotalsState {
                sizes: self.sizes,
                roots: vec![self.nothing()],
                seen: seen.clone(),
                filter: self.filter.clone(),
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TotalsState>) -> Vec<RootTotals> {
        let mut roots = vec![self.nothing(); context.roots.len()];
        for state in states {
            for (sum, part) in roots.iter_mut().zip(&state.roots) {
                sum.add(part);
            }
        }
        roots
    }
}

/// The sums of one worker.
pub struct TotalsState {
    sizes: bool,
    roots: Vec<RootTotals>,
    seen: SeenInodes,
    filter: EntryFilter,
}

impl fmt::Debug for TotalsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TotalsState")
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl TotalsState {
    /// The sums of this worker, by root: for [`Running::peek`](crate::Running::peek).
    ///
    /// The first root is always there. Those behind the last that the worker has met are
    /// absent.
    #[must_use]
    pub fn roots(&self) -> &[RootTotals] {
        &self.roots
    }
}

impl Collect for TotalsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if !self.filter.passes_directory(directory) {
            return ControlFlow::Continue(());
        }
        let totals = of_root(&mut self.roots, directory.root());
        totals.count(FileType::Directory, 1);
        if self.sizes {
            let allocated_bytes = directory.attributes().allocated_bytes().unwrap_or(0);
            let sizes = totals.sizes.get_or_insert_default();
            sizes.allocated_bytes += u128::from(allocated_bytes);
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let totals = of_root(&mut self.roots, origin.root());
        if !self.filter.is_set() {
            // A batch of types alone has long runs of one type.
            for run in batch.kinds().chunk_by(|a, b| a == b) {
                totals.count(run[0], run.len() as u64);
            }
            if !self.sizes {
                return ControlFlow::Continue(());
            }
        }
        // One sum in memory for each entry would cost more.
        let mut sizes = RootSizes::default();
        for index in 0..batch.len() {
            if self.filter.is_set() {
                if !self
                    .filter
                    .passes(origin.directory(), || batch.entry(index))
                {
                    continue;
                }
                totals.count(batch.kinds()[index], 1);
            }
            if !self.sizes || !batch.known()[index] {
                continue;
            }
            if !self.seen.is_new(batch, index) {
                sizes.extra_hard_links += 1;
                continue;
            }
            sizes.add_bytes(
                batch.kinds()[index],
                batch.size_bytes()[index],
                batch.allocated_bytes()[index],
            );
        }
        if self.sizes {
            totals.sizes.get_or_insert_default().add(&sizes);
        }
        ControlFlow::Continue(())
    }
}
