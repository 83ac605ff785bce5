// SPDX-License-Identifier: MIT OR Apache-2.0

//! The space of the root's file system: what `statwalk df` says, as far as this scan knows it.

use std::path::Path;

use statwalk_core::space::{MountTable, UsedPart};
use statwalk_core::{Report, RootTotals, Totals};
use statwalk_report::{Part, Space};

use crate::request::Request;
use crate::system::file_systems::file_system_of;
use crate::system::used_inodes;

/// The lines for the file system of the only root; absent with several roots.
///
/// The parts of the used bytes are known where the scan covers the whole file system and
/// nothing else. Another scan of the whole would take longer than the report.
pub(crate) fn space(request: &Request, totals: &[RootTotals], report: &Report) -> Option<Space> {
    let [root] = &request.paths[..] else {
        return None;
    };
    whole(request, root, totals, report).or_else(|| capacity(root))
}

/// The size, the free and the used bytes.
fn capacity(root: &Path) -> Option<Space> {
    let numbers = rustix::fs::statvfs(root).ok()?;
    let bytes = |blocks: u64| i128::from(blocks) * i128::from(numbers.f_frsize);
    if numbers.f_blocks == 0 {
        return None;
    }
    let part = |label: &str, bytes| Part {
        label: label.to_owned(),
        bytes,
        note: None,
    };
    let used = part("used", bytes(numbers.f_blocks) - bytes(numbers.f_bfree));
    Some(Space {
        free_bytes: None,
        parts: vec![part("free", bytes(numbers.f_bfree)), used],
    })
}

/// The account of a file system that this scan covers.
fn whole(request: &Request, root: &Path, totals: &[RootTotals], report: &Report) -> Option<Space> {
    if report.interrupted
        || request
            .cover()
            .is_none_or(|cover| used_inodes::used_by_one(&cover).is_none())
    {
        return None;
    }
    let file_system = file_system_of(root, &mut MountTable::default()).ok()?;
    let points: Vec<&Path> = file_system.shown().collect();
    if points != [root.canonicalize().ok()?] {
        return None;
    }
    let mut totals = totals.to_vec();
    // The map has both paths of such a file, and the disk has it once.
    if let Some(sizes) = totals.first_mut().and_then(|root| root.sizes.as_mut()) {
        let again = file_system.bytes_of_files_mounted_again().into();
        sizes.allocated_bytes = sizes.allocated_bytes.saturating_sub(again);
    }
    if let Some(scan) = file_system.scan_of_hidden() {
        totals.extend(scan.run(&Totals::new()).ok()?.output);
    }
    let account = file_system.account(&totals, report, None).ok()?;
    let capacity = account.capacity;
    let part = |label: &str, bytes: i128, note: Option<String>| Part {
        label: label.to_owned(),
        bytes,
        note,
    };
    let mut parts = vec![part("free", capacity.free_bytes.into(), None)];
    if capacity.reserved_bytes > 0 {
        let label = "of this reserved for root";
        parts.push(part(label, capacity.reserved_bytes.into(), None));
    }
    parts.push(part("used", capacity.used_bytes.into(), None));
    for &(used, bytes) in &account.parts {
        if bytes != 0 || used == UsedPart::Remainder {
            parts.push(part(used.label(), bytes.into(), None));
        }
    }
    for unknown in &account.unknown {
        let note = Some(format!("in the remainder: {}", unknown.reason));
        parts.push(part(unknown.part.label(), 0, note));
    }
    Some(Space {
        free_bytes: Some(capacity.free_bytes),
        parts,
    })
}
