// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file system with the account of its used bytes.

use statwalk_core::Totals;
use statwalk_space::btrfs::Inodes;
use statwalk_space::{FileSystem, SpaceAccount};
use statwalk_view::SizeFormat;

use super::source::SpaceSource;
use crate::answer::about::About;
use crate::failure::Failure;
use crate::output::space_table::SpaceTable;
use crate::request::Request;
use crate::system::file_systems::Space;

/// A file system with its account.
pub(crate) struct Explained {
    pub(crate) request: Request,
    pub(crate) file_system: FileSystem,
    pub(crate) about: About,
    pub(crate) account: SpaceAccount,
    /// The blocks of the entries that the scan reached.
    reached_bytes: u128,
}

/// Scans a file system, and accounts for its used bytes.
pub(crate) fn explain(
    file_system: FileSystem,
    request: Request,
    source: &impl SpaceSource,
) -> Result<Explained, Failure> {
    let sums = Totals::new();
    let mut extents = None;
    let (totals, report) = match file_system.file_system() {
        Some("btrfs") => {
            let outcome = source.scan(&request, &(sums, Inodes::new()))?;
            let (totals, inodes) = outcome.output;
            if !outcome.report.interrupted {
                // Without the right to search the trees the part stays unknown.
                extents = source.extents(inodes);
            }
            (totals, outcome.report)
        }
        _ => {
            let outcome = source.scan(&request, &sums)?;
            (outcome.output, outcome.report)
        }
    };
    let account = file_system.account(&totals, &report, extents.as_ref())?;
    let shown = totals.iter().take(file_system.shown().count());
    let reached_bytes = shown
        .filter_map(|root| root.sizes)
        .map(|sizes| sizes.allocated_bytes)
        .sum();
    let about = About::of_scan(&request, report, &totals);
    Ok(Explained {
        request,
        file_system,
        about,
        account,
        reached_bytes,
    })
}

impl Explained {
    pub(crate) fn table(&self, format: SizeFormat, details_max: usize) -> SpaceTable<'_> {
        SpaceTable {
            file_system: &self.file_system,
            account: &self.account,
            reached_bytes: self.reached_bytes,
            format,
            details_max,
        }
    }

    pub(crate) fn space(&self) -> Space {
        let capacity = self.account.capacity;
        Space {
            total_bytes: capacity.total_bytes,
            used_bytes: capacity.used_bytes,
            free_bytes: capacity.free_bytes,
        }
    }
}
