// SPDX-License-Identifier: MIT OR Apache-2.0

//! The part of an answer that speaks of its scan: the roots, the time, the plan, and the gaps.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

use statwalk_core::{Cause, EntryError, Errno, Op, RootReport, RootTotals, path_order};

use crate::answer::filter_texts::FilterTexts;
use crate::answer::origin::Origin;
use crate::answer::owner_names::OwnerNames;
use crate::answer::plan_text::PlanText;
use crate::system::used_inodes::Elsewhere;

/// The part that the answers of all scanning commands share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) origin: Arc<Origin>,
    /// The time that the scan took.
    pub(crate) elapsed: Duration,
    /// The filters, where there is one.
    pub(crate) filters: Option<FilterTexts>,
    pub(crate) plan: PlanText,
    pub(crate) roots: Vec<Root>,
    /// The file that the roots are from, one for one; absent for those of the command line.
    pub(crate) list: Option<String>,
    pub(crate) gaps: Gaps,
    /// Of the owners that the answer names.
    pub(crate) owners: OwnerNames,
    /// The name of the snapshot that was read; absent for a scan of now.
    pub(crate) snapshot: Option<Vec<u8>>,
    /// Present where the scan covers a whole file system of which it did not reach all.
    pub(crate) elsewhere: Option<Elsewhere>,
}

/// A root, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) path: Vec<u8>,
    /// The part below it that is not in the totals.
    pub(crate) gaps: RootReport,
    pub(crate) totals: RootTotals,
}

/// The part of the trees that is not in the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gaps {
    /// Whether nothing is missing.
    pub(crate) is_complete: bool,
    /// Whether the scan was ended before it had read all.
    pub(crate) interrupted: bool,
    /// Over all roots.
    pub(crate) sum: RootReport,
    /// The entries that statwalk could not read, in path order.
    pub(crate) errors: Vec<EntryError>,
    /// Their number by cause, the most frequent first: there can be more than are kept.
    pub(crate) error_counts: Vec<(Op, Cause, u64)>,
    /// The kernel file systems that were left out.
    pub(crate) left_out: Vec<LeftOut>,
    /// The directories in which the scan hung when it was ended.
    pub(crate) hanging: Vec<Vec<u8>>,
}

/// A kernel file system that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: Vec<u8>,
    /// Its name, such as `proc`.
    pub(crate) file_system: String,
}

/// The error of one path: a root that is missing, or an entry of the scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathError<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) op: Op,
    pub(crate) cause: Cause,
}

impl Gaps {
    /// The lists of patterns that statwalk could not read. The entries that they would leave
    /// out are counted, so the totals are no lower bound then.
    pub(crate) fn unread_patterns(&self) -> u64 {
        let counts = self.error_counts.iter();
        let of_patterns = counts.filter(|(op, ..)| *op == Op::Patterns);
        of_patterns.map(|(.., count)| count).sum()
    }
}

impl Root {
    /// The path as a word of the command line.
    pub(crate) fn word(&self) -> &OsStr {
        OsStr::from_bytes(&self.path)
    }

    /// Whether its totals are a lower bound.
    pub(crate) fn is_incomplete(&self) -> bool {
        let gaps = &self.gaps;
        gaps.interrupted || gaps.unreadable > 0 || gaps.changed_dirs > 0
    }
}

impl About {
    /// The time at which the scan ended, to which ages refer.
    pub(crate) fn ended_ns(&self) -> i64 {
        let elapsed = i64::try_from(self.elapsed.as_nanos()).unwrap_or(i64::MAX);
        self.origin.started_ns.saturating_add(elapsed)
    }

    /// Whether any root exists: without one, a table would be a table of nothing.
    pub(crate) fn has_root(&self) -> bool {
        self.roots.iter().any(|root| root.gaps.missing.is_none())
    }

    pub(crate) fn missing(&self) -> impl Iterator<Item = (&Root, Errno)> {
        let roots = self.roots.iter();
        roots.filter_map(|root| Some((root, root.gaps.missing?)))
    }

    /// The missing roots, then the entries that statwalk could not read.
    pub(crate) fn errors(&self) -> impl Iterator<Item = PathError<'_>> {
        let missing = self.missing().map(|(root, errno)| PathError {
            path: &root.path,
            op: Op::Open,
            cause: Cause::System(errno),
        });
        missing.chain(self.gaps.errors.iter().map(|error| PathError {
            path: &error.path,
            op: error.op,
            cause: error.cause,
        }))
    }

    /// Whether an entry at a path of the scan, or below it, could not be read. Exact where
    /// the scan keeps all errors.
    pub(crate) fn has_errors_at_or_below(&self, path: &[u8]) -> bool {
        let errors = &self.gaps.errors;
        let at = errors.partition_point(|error| path_order(&error.path, path).is_lt());
        let first = errors.get(at).map(|error| &error.path[..]);
        let rest = first.and_then(|first| first.strip_prefix(path));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || path.ends_with(b"/"))
    }

    /// Whether files have content, and nothing has blocks: so do phones by MTP and some cloud
    /// mounts. A scan of sparse files alone looks the same.
    pub(crate) fn has_no_blocks(&self) -> bool {
        let sizes = self.roots.iter().filter_map(|root| root.totals.sizes);
        let mut contents = sizes.map(|sizes| sizes.file_size_bytes);
        contents.any(|bytes| bytes > 0) && self.allocated_bytes() == 0
    }

    /// The blocks of all entries.
    pub(crate) fn allocated_bytes(&self) -> u128 {
        let sizes = self.roots.iter().filter_map(|root| root.totals.sizes);
        sizes.map(|sizes| sizes.allocated_bytes).sum()
    }
}
