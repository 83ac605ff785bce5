// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of a scan about itself: what was read, what was not, and why.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Cause, EntryError, Errno, Op};
use crate::plan::Plan;

/// The answer of a scan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// The answer of the sink.
    pub output: T,
    /// The entries that were read, and those that were not.
    pub report: Report,
}

/// The entries that were read, and those that were not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The choices before the first directory, and their reasons.
    pub plan: Plan,
    /// The time that the scan took.
    pub elapsed: Duration,
    /// How many workers took part.
    pub workers: usize,
    /// How many system calls the source made to read the trees. Those of
    /// workers that hang are not known.
    pub calls: u64,
    /// Whether it was cancelled, or stopped by its sink.
    pub interrupted: bool,
    /// The error by which the sink ended the scan: see
    /// [`Collect::take_error`](crate::Collect::take_error).
    pub sink_error: Option<Arc<io::Error>>,
    /// For each root, in the order of the arguments.
    pub roots: Vec<RootReport>,
    /// Entries that could not be read, in path order, up to the limit of
    /// [`Scan::errors_kept`](crate::Scan::errors_kept).
    pub errors: Vec<EntryError>,
    /// How many there are by cause, exactly, the most frequent first.
    pub error_counts: Vec<(Op, Cause, u64)>,
    /// Kernel file systems that were left out.
    pub left_out: Vec<LeftOut>,
    /// Where the scan hung when it was cancelled: directories that a worker
    /// did not come back from.
    pub hanging: Vec<Vec<u8>>,
}

/// The entries below one root that were not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootReport {
    /// Why the root itself is not there.
    pub missing: Option<Errno>,
    /// Whether an earlier root had reached it, so that it belongs there.
    pub reached_earlier: bool,
    /// Whether the scan ended before it had read all below the root.
    pub interrupted: bool,
    /// Entries that could not be read.
    pub unreadable: u64,
    /// Entries that were gone before they could be read.
    pub vanished: u64,
    /// Directories that did not hold still.
    pub changed_dirs: u64,
    /// Entries that patterns left out, kernel file systems, cache directories, and
    /// directories that a filter refused.
    pub excluded: u64,
    /// Mounts that were not entered, and second mounts of a directory.
    pub crossings: u64,
    /// Directories whose times moved while they were read, and whose entries did not.
    /// They are whole: the times of that file system do not hold.
    pub restless_dirs: u64,
    /// Overlays that were left out, because their layers were read: the files count there.
    pub overlays_left_out: u64,
    /// Mounts that were entered, and whose files can count in other directories, too. They
    /// are overlays with a layer that is unknown or was not read whole. Unions of a program
    /// are such mounts as well: mergerfs, bindfs.
    pub mounts_perhaps_twice: u64,
    /// Names that a directory listed more than once, without the first time. Each counts
    /// once.
    pub repeated_names: u64,
}

impl RootReport {
    pub(crate) fn add(&mut self, other: &RootReport) {
        self.missing = self.missing.or(other.missing);
        self.reached_earlier |= other.reached_earlier;
        self.interrupted |= other.interrupted;
        self.unreadable += other.unreadable;
        self.vanished += other.vanished;
        self.changed_dirs += other.changed_dirs;
        self.excluded += other.excluded;
        self.crossings += other.crossings;
        self.restless_dirs += other.restless_dirs;
        self.overlays_left_out += other.overlays_left_out;
        self.mounts_perhaps_twice += other.mounts_perhaps_twice;
        self.repeated_names += other.repeated_names;
    }
}

/// A kernel file system that was left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Where it is mounted.
    pub path: Vec<u8>,
    /// Its name, such as `proc`.
    pub file_system: &'static str,
}

impl Report {
    /// Whether the answer is whole: nothing unreadable, no directory that kept
    /// changing, every root there, not interrupted, no error of the sink.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.interrupted
            && self.sink_error.is_none()
            && self.roots.iter().all(|root| {
                root.missing.is_none() && root.unreadable == 0 && root.changed_dirs == 0
            })
    }

    /// Everything that was not read, over all roots.
    #[must_use]
    pub fn sum(&self) -> RootReport {
        let mut sum = RootReport::default();
        for root in &self.roots {
            sum.add(root);
        }
        sum
    }
}
