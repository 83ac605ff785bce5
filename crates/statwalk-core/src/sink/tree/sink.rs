// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sink that keeps the tree.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tree;
use super::identities::Identities;
use super::names::Names;
use super::owners::Owners;
use super::state::{Links, TreeState};
use crate::fields::Fields;
use crate::sink::entry_filter::{EntryFilter, with_filter};
use crate::sink::first_names::FirstNames;
use crate::sink::{Context, Sink};
use crate::time::Time;

/// Keeps the tree: directories with the sums of their subtrees, and, on
/// request, files.
///
/// ```
/// use statwalk_core::{Scan, TreeSink};
/// let outcome = Scan::new(".").run(&TreeSink::new())?;
/// let tree = outcome.output;
/// let root = tree.root(0).expect("the root was read");
/// let below: u64 = root.children().map(|child| child.entries()).sum();
/// assert!(below < root.entries());
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TreeSink {
    files: bool,
    sizes: bool,
    types: bool,
    /// Whether entries are counted by inode and not by name.
    inodes: bool,
    /// The time that counts of every entry; absent where it is the modification of
    /// everything but directories.
    time: Option<Time>,
    filter: EntryFilter,
    owners: bool,
    identities: bool,
    link_names: bool,
}

impl TreeSink {
    /// Keeps directories with sums of bytes; nothing is kept for a file.
    #[must_use]
    pub fn new() -> TreeSink {
        TreeSink {
            files: false,
            sizes: true,
            types: true,
            inodes: false,
            time: None,
            filter: EntryFilter::default(),
            owners: false,
            identities: false,
            link_names: false,
        }
    }

    /// Keeps files too.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new("src").run(&TreeSink::new().with_files())?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// assert!(root.files().any(|file| file.name() == b"lib.rs"));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_files(mut self) -> TreeSink {
        self.files = true;
        self
    }

    /// Keeps counts alone: sums of bytes are absent, and so are times that
    /// [`with_newest`](Self::with_newest) does not name.
    ///
    /// Nothing is stat'ed where the listing gives types and no other option needs it.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new().without_sizes())?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// assert!(root.entries() > 1 && root.allocated_bytes().is_none());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn without_sizes(mut self) -> TreeSink {
        self.sizes = false;
        self
    }

    /// As [`without_sizes`](Self::without_sizes), and types are known only where the
    /// listing tells them: `file_count` has those files alone.
    ///
    /// Where the listing has no types, directories are found with fewer stats.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let outcome = Scan::new(".").run(&TreeSink::new().without_types())?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// assert!(root.entries() > root.dir_count());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn without_types(mut self) -> TreeSink {
        self.sizes = false;
        self.types = false;
        self
    }

    /// Keeps owners too: one byte for a file, nine for a directory. Where a scan meets more
    /// than 254 owners, an entry of another takes up to 20 bytes more.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let sink = TreeSink::new().with_files().with_owners();
    /// let outcome = Scan::new(".").run(&sink)?;
    /// let tree = outcome.output;
    /// assert!(tree.root(0).is_some_and(|root| root.uid().is_some()));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_owners(mut self) -> TreeSink {
        self.owners = true;
        self
    }

    /// Keeps the device and the inode number of directories too: ten bytes each.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// let sink = TreeSink::new().with_identities();
    /// let outcome = Scan::new(".").run(&sink)?;
    /// let tree = outcome.output;
    /// assert!(tree.root(0).is_some_and(|root| root.identity().is_some()));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_identities(mut self) -> TreeSink {
        self.identities = true;
        self
    }

    /// Keeps the inode of each file that has several names too, where files are kept,
    /// unless the scan counts every link: 30 bytes for each such name.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// # let dir = std::env::temp_dir().join(format!("statwalk-names-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir).unwrap();
    /// # std::fs::write(dir.join("a"), "x").unwrap();
    /// # let _ = std::fs::hard_link(dir.join("a"), dir.join("b"));
    /// let sink = TreeSink::new().with_files().with_link_names();
    /// let outcome = Scan::new(&dir).run(&sink)?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// let inode = root.linked_files().next().and_then(|file| file.inode());
    /// let (id, links) = inode.expect("it has two names");
    /// assert_eq!((tree.names_of(id).count(), links), (2, 2));
    /// assert!(outcome.report.is_complete());
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_link_names(mut self) -> TreeSink {
        self.link_names = true;
        self
    }

    /// Counts inodes instead of names, as `du --inodes` does.
    ///
    /// A file with several names counts as one entry, in the directory of its first
    /// name, unless the scan counts every link. A directory that the scan does not
    /// enter counts as none.
    ///
    /// ```
    /// use statwalk_core::{Scan, TreeSink};
    /// # let dir = std::env::temp_dir().join(format!("statwalk-inodes-{}", std::process::id()));
    /// # std::fs::create_dir_all(&dir).unwrap();
    /// # std::fs::write(dir.join("a"), "x").unwrap();
    /// # let _ = std::fs::hard_link(dir.join("a"), dir.join("b"));
    /// let sinks = (TreeSink::new(), TreeSink::new().with_inode_counts());
    /// let outcome = Scan::new(&dir).run(&sinks)?;
    /// let (names, inodes) = outcome.output;
    /// assert_eq!(names.root(0).map(|root| root.entries()), Some(3));
    /// assert_eq!(inodes.root(0).map(|root| root.entries()), Some(2));
    /// assert!(outcome.report.is_complete());
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_inode_counts(mut self) -> TreeSink {
        self.inodes = true;
        self
    }

    /// Keeps the newest of these times over every entry, directories too, as
    /// `du --time` shows it.
    ///
    /// [`Node::newest_time_ns`](super::Node::newest_time_ns) has it. Without this call
    /// it is the newest modification of anything but directories.
    ///
    /// ```
    /// use statwalk_core::{Scan, Time, TreeSink};
    /// let sink = TreeSink::new().with_newest(Time::Changed);
    /// let outcome = Scan::new(".").run(&sink)?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// assert!(root.newest_time_ns().is_some() && root.newest_mtime_ns().is_none());
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_newest(mut self, time: Time) -> TreeSink {
        self.time = Some(time);
        self
    }
}

with_filter!(TreeSink "Sums and keeps"
    ///
    /// Every directory is in the tree. One that does not pass counts as nothing itself;
    /// what is in it is tested for itself. So a directory has no entries where nothing
    /// below it passes.
    ///
    /// ```
    /// use statwalk_core::{Fields, Scan, TreeSink};
    /// let sink = TreeSink::new().with_filter(Fields::NAME, |_, entry| {
    ///     entry.name.ends_with(b".rs")
    /// });
    /// let outcome = Scan::new(".").run(&sink)?;
    /// let tree = outcome.output;
    /// let root = tree.root(0).expect("the root was read");
    /// let sources = root.children().find(|child| child.name() == b"src");
    /// assert!(sources.is_some_and(|sources| sources.entries() > 1 && sources.dir_count() == 0));
    /// assert!(outcome.report.is_complete());
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
);

impl Default for TreeSink {
    fn default() -> TreeSink {
        TreeSink::new()
    }
}

impl Sink for TreeSink {
    type State = TreeState;
    type Output = Tree;

    fn fields(&self) -> Fields {
        let time = match self.time {
            None if self.sizes => Fields::MTIME,
            None => Fields::NONE,
            Some(time) => time.field(),
        };
        let links = self.sizes || self.inodes;
        let wanted = [
            (self.types, Fields::TYPE),
            (self.sizes, Fields::SIZE | Fields::ALLOCATED),
            // Which of several names is the first.
            (links, Fields::LINKS | Fields::ID | Fields::NAME),
            // Names of directories come by themselves.
            (self.files, Fields::NAME),
            (self.owners, Fields::OWNER),
            (self.identities, Fields::ID),
            (self.link_names, Fields::ID | Fields::LINKS),
        ];
        let wanted = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted);
        wanted.fold(time | self.filter.fields(), |sum, (_, field)| sum | field)
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TreeState> {
        let links = match self.files {
            true => Links::Files(Arc::new(FirstNames::new(context))),
            false => Links::Bytes(Arc::new(FirstNames::new(context))),
        };
        let owners = self.owners.then(Owners::default);
        let link_names = self.link_names && self.files;
        let keeps = self.identities || link_names;
        let identities = keeps.then(|| Identities::new(self.identities, link_names));
        (0..count)
            .map(|worker| TreeState {
                worker: worker as u16,
                context: context.clone(),
                blocks: Vec::new(),
                foreign: HashMap::new(),
                files: Vec::new(),
                file_runs: Vec::new(),
                names: Names::default(),
                links: links.clone(),
                sizes: self.sizes,
                inodes: self.inodes,
                time: self.time,
                large_dirs: Vec::new(),
                filter: self.filter.clone(),
                owners: owners.clone(),
                identities: identities.clone(),
                finished: Vec::new(),
            })
            .collect()
    }

    fn merge(&self, context: &Context, states: Vec<TreeState>) -> Tree {
        Tree::merge(context, states)
    }
}
