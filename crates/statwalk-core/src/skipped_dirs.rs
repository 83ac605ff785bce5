// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories that a caller does not want, noted while a scan goes on.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::scan::Scan;

/// Directories that a caller does not want. Copies share them, and any thread may add one.
///
/// ```
/// use statwalk_core::{Scan, SkippedDirs, Totals};
///
/// let skipped = SkippedDirs::default();
/// skipped.add(0, b"./src");
/// assert!(skipped.has(0, b"./src/lib.rs") && !skipped.has(0, b"./src.rs"));
/// let outcome = Scan::new(".").skip_dirs(&skipped).run(&Totals::new())?;
/// assert!(outcome.report.is_complete() && outcome.report.roots[0].excluded > 0);
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SkippedDirs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    has_some: AtomicBool,
    /// Their roots and paths.
    paths: RwLock<HashSet<(usize, Vec<u8>)>>,
}

impl SkippedDirs {
    /// Adds a directory, by the index of its root and its path.
    pub fn add(&self, root: usize, path: &[u8]) {
        let mut paths = (self.0.paths.write()).unwrap_or_else(PoisonError::into_inner);
        paths.insert((root, path.to_vec()));
        self.0.has_some.store(true, Ordering::Relaxed);
    }

    /// Whether a path is that of such a directory, or lies below one.
    #[must_use]
    pub fn has(&self, root: usize, path: &[u8]) -> bool {
        if self.is_empty() {
            return false;
        }
        let paths = (self.0.paths.read()).unwrap_or_else(PoisonError::into_inner);
        let slashes = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/');
        // A root can end with a slash, and be nothing else.
        let mut ends = slashes.flat_map(|(at, _)| [at, at + 1]).chain([path.len()]);
        ends.any(|end| paths.contains(&(root, path[..end].to_vec())))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.0.has_some.load(Ordering::Relaxed)
    }
}

impl Scan {
    /// Opens none of these directories, nor what is below them, as soon as they are noted.
    /// Those that workers are reading, they read to the end.
    ///
    /// A root within another tree is left to itself: a directory above it that is skipped
    /// must not take it along, or leave it, as time has it.
    pub fn skip_dirs(self, skipped: &SkippedDirs) -> Scan {
        let known = skipped.clone();
        let scan = self.with_roots_apart();
        scan.filter_dir(move |dir| known.is_empty() || !known.has(dir.root(), &dir.path()))
    }
}
