// SPDX-License-Identifier: MIT OR Apache-2.0

//! The gaps of a scan, in numbers.

use statwalk_core::Report;

/// The gaps of a scan, over all its roots.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gaps {
    /// Whether everything was read.
    pub is_complete: bool,
    /// Whether the scan was stopped before its end.
    pub is_interrupted: bool,
    /// Roots that are not there.
    pub missing_roots: u64,
    /// Entries and directories that could not be read.
    pub unreadable: u64,
    /// Directories that changed each time they were read.
    pub changed_directories: u64,
    /// Entries that went away during the scan. They are no gap.
    pub vanished: u64,
    /// Entries that were left out by a pattern or by pruning.
    pub excluded: u64,
    /// Other file systems that were not entered.
    pub crossings: u64,
}

impl Gaps {
    /// The gaps that a report names.
    #[must_use]
    pub fn of(report: &Report) -> Gaps {
        let sum = report.sum();
        let missing = report.roots.iter().filter(|root| root.missing.is_some());
        Gaps {
            is_complete: report.is_complete(),
            is_interrupted: report.interrupted,
            missing_roots: missing.count() as u64,
            unreadable: sum.unreadable,
            changed_directories: sum.changed_dirs,
            vanished: sum.vanished,
            excluded: sum.excluded,
            crossings: sum.crossings,
        }
    }
}
