// SPDX-License-Identifier: MIT OR Apache-2.0

//! The wishes of a caller.

use std::path::PathBuf;

use statwalk_core::{Error, Sequence, SymlinkPolicy};
use statwalk_core::{Exclusions, Fields, KernelFileSystems, MountCrossing, Scan, Source};

use crate::failure::Failure;

/// The words for a pattern that ends with a slash. A shell completes a directory so. The path
/// of an entry has no such end, so the pattern would silently leave out nothing.
const SLASHED_PATTERN: &str =
    "a pattern of exclude ends with a slash, and no path does: leave the slash out";

/// The words for a pattern that no scan begins with; absent for others.
///
/// ```
/// use statwalk_stream::pattern_refused;
/// assert!(pattern_refused(b"a/").is_some() && pattern_refused(b"a/*").is_none());
/// ```
#[must_use]
pub fn pattern_refused(pattern: &[u8]) -> Option<String> {
    if pattern.contains(&0) {
        return Some("a pattern of exclude holds a NUL, and no path does".to_owned());
    }
    pattern.ends_with(b"/").then(|| SLASHED_PATTERN.to_owned())
}

/// The bit of the whole path beside the bits of [`Fields`]. Paths come from names, so they
/// cost no call.
pub const PATH: u32 = 1 << 31;

/// The trees to scan, the columns, and the options.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) roots: Vec<PathBuf>,
    /// The fields that are columns.
    fields: Fields,
    has_paths: bool,
    exclusions: Exclusions,
    /// Whether a pattern ends with a slash.
    has_slashed_pattern: bool,
    /// The directory from which relative roots lead, in place of the working directory.
    pub relative_to: Option<PathBuf>,
    /// The number of workers; 0 lets the scan decide.
    pub threads: u32,
    /// How far the threads of the scan stand behind others.
    pub niceness: u8,
    /// How deep the scan goes: entries of a root have depth 1.
    pub max_depth: Option<u32>,
    /// Above which depth nothing is given.
    pub min_depth: u32,
    /// Whether names within a directory are in their order, and all that is below a directory
    /// comes right after it.
    pub sort: bool,
    /// The same, but a directory comes after all that is below it.
    pub contents_first: bool,
    /// Whether other file systems are left out.
    pub one_file_system: bool,
    /// Whether symbolic links stand for what they lead to.
    pub follow_links: bool,
    /// Whether `/proc` and its like are entered.
    pub kernel_file_systems: bool,
    /// Whether what `.gitignore` files name is left out.
    pub gitignore: bool,
    /// Whether devices may be read where that is faster. That installs a handler of
    /// SIGBUS, so nobody gets it who has not asked.
    pub devices: bool,
}

impl Request {
    /// The names and types of the tree at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Request {
        Request {
            roots: vec![root.into()],
            fields: Fields::NAME | Fields::TYPE,
            has_paths: false,
            exclusions: Exclusions::default(),
            has_slashed_pattern: false,
            relative_to: None,
            threads: 0,
            niceness: 0,
            max_depth: None,
            min_depth: 0,
            sort: false,
            contents_first: false,
            one_file_system: false,
            follow_links: false,
            kernel_file_systems: false,
            gitignore: false,
            devices: false,
        }
    }

    /// Adds a tree. The trees are scanned one after another.
    pub fn add_root(&mut self, root: impl Into<PathBuf>) {
        self.roots.push(root.into());
    }

    /// The columns, by their bits.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.fields.bits() | if self.has_paths { PATH } else { 0 }
    }

    /// Asks for columns in place of names and types. Answers whether there is one for
    /// each bit.
    #[must_use]
    pub fn set_columns(&mut self, bits: u32) -> bool {
        let Some(fields) = Fields::from_bits(bits & !PATH) else {
            return false;
        };
        (self.fields, self.has_paths) = (fields, bits & PATH != 0);
        true
    }

    /// Leaves out paths that fit a shell pattern, as `du --exclude` does.
    ///
    /// A scan does not begin with a pattern that ends with a slash.
    ///
    /// # Errors
    ///
    /// Returns an error for a pattern that holds a NUL.
    pub fn exclude(&mut self, pattern: &[u8]) -> Result<(), Error> {
        self.exclusions = self.exclusions.clone().glob(pattern)?;
        self.has_slashed_pattern |= pattern.ends_with(b"/");
        Ok(())
    }

    pub(crate) fn has_paths(&self) -> bool {
        self.has_paths
    }

    /// The fields of the engine that the columns need. With names alone a scan knows which
    /// entries are directories, and no other type.
    #[must_use]
    pub fn fields(&self) -> Fields {
        let names = match self.has_paths {
            true => Fields::NAME,
            false => Fields::NONE,
        };
        let fields = self.fields | names;
        match fields == Fields::NAME {
            // Names alone: a type can cost a call for each entry.
            true => fields,
            false => fields | Fields::TYPE,
        }
    }

    /// The scan, unless an option has no meaning.
    pub(crate) fn checked_scan(&self) -> Result<Scan, Failure> {
        match self.has_slashed_pattern {
            true => Err(Failure::Invalid(SLASHED_PATTERN)),
            false => Ok(self.scan()),
        }
    }

    /// The sequence of entries.
    pub(crate) fn sequence(&self) -> Sequence {
        let mut sequence = Sequence::new().min_depth(self.min_depth);
        if self.sort {
            sequence = sequence.sorted();
        }
        if self.contents_first {
            sequence = sequence.contents_first();
        }
        sequence
    }

    pub(crate) fn scan(&self) -> Scan {
        let mut scan = Scan::of(self.roots.clone())
            .fields(self.fields())
            .exclusions(self.exclusions.clone().gitignore(self.gitignore))
            // The caller gets every error, so the report need not keep one.
            .errors_kept(0)
            .niceness(self.niceness);
        if let Some(directory) = &self.relative_to {
            scan = scan.relative_to(directory);
        }
        if self.threads > 0 {
            scan = scan.threads(self.threads as usize);
        }
        if let Some(depth) = self.max_depth {
            scan = scan.max_depth(depth);
        }
        if self.one_file_system {
            scan = scan.crossing(MountCrossing::Stay);
        }
        if self.follow_links {
            scan = scan.symlinks(SymlinkPolicy::Follow);
        }
        if self.kernel_file_systems {
            scan = scan.kernel_file_systems(KernelFileSystems::Enter);
        }
        scan.source(match self.devices {
            true => Source::Auto,
            false => Source::Posix,
        })
    }
}
