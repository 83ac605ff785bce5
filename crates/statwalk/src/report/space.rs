// SPDX-License-Identifier: MIT OR Apache-2.0

//! The space of the roots' file systems: what `statwalk df` says, as far as this scan knows it.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use statwalk_core::{CountedInodes, Node, Report, RootTotals, Totals, Tree};
use statwalk_report::{Part, Space};
use statwalk_space::{MountTable, SpaceAccount, UsedPart};
use statwalk_sys::mount_table::{self, Mount};

use crate::answer::record::Record;
use crate::request::Request;
use crate::stored::StoredScan;
use crate::system::file_systems::file_system_of;

const READ: &str = "read by this scan";
const ELSEWHERE: &str = "not in this scan";

/// A root, with what the scan read of it.
struct Read<'a> {
    path: &'a Path,
    real: PathBuf,
    totals: &'a RootTotals,
    node: Node<'a>,
    /// The mount that it lies on.
    mount: &'a Mount,
}

/// The file systems of the roots, each once.
///
/// The parts of the used bytes are known where the scan covers the whole file system. Another
/// scan of the whole would take longer than the report. `counted` are the inodes of the scan.
pub(crate) fn spaces(
    request: &Request,
    totals: &[RootTotals],
    record: &Record,
    tree: &Tree,
    counted: &CountedInodes,
) -> Vec<Space> {
    let report = match record {
        Record::Scan(report) => report,
        // The file systems of now are not those of then.
        Record::Stored(_) => return stored_spaces(request, totals),
    };
    let mounts = mount_table::read().unwrap_or_default();
    let mut found: Vec<Vec<Read<'_>>> = Vec::new();
    for (index, (path, totals)) in request.paths.iter().zip(totals).enumerate() {
        let (Some(node), Ok(real)) = (tree.root(index), path.canonicalize()) else {
            continue;
        };
        let holding = mounts
            .iter()
            .filter(|mount| real.starts_with(path_of(mount)));
        // A later mount at the same place covers an earlier one.
        let Some(mount) = holding.max_by_key(|mount| mount.point.len()) else {
            continue;
        };
        let read = Read {
            path,
            real,
            totals,
            node,
            mount,
        };
        match found
            .iter_mut()
            .find(|known| known[0].mount.device == mount.device)
        {
            Some(roots) => roots.push(read),
            None => found.push(vec![read]),
        }
    }
    let stays = request.cover().map(|cover| cover.stays);
    let spaces = found.iter().filter_map(|roots| {
        let exact = match (&roots[..], stays) {
            ([root], Some(stays)) if !report.interrupted => {
                exact(root, stays, report, &mounts, counted)
            }
            _ => None,
        };
        exact.or_else(|| in_part(roots, &mounts))
    });
    spaces.collect()
}

/// The file systems of a stored scan, with their space at its end.
fn stored_spaces(request: &Request, totals: &[RootTotals]) -> Vec<Space> {
    let stored = request.stored().map(StoredScan::spaces).unwrap_or_default();
    let read_bytes: Option<u128> = (totals.iter())
        .map(|totals| Some(totals.sizes?.allocated_bytes))
        .sum();
    let is_alone = stored.len() == 1;
    let spaces = stored.into_iter().map(|(point, space)| {
        let bytes = |blocks: u64| i128::from(blocks) * i128::from(space.block_bytes);
        let used = bytes(space.blocks.saturating_sub(space.free_blocks));
        let mut parts = vec![part("used", used, 0, None)];
        let read = read_bytes.and_then(|bytes| i128::try_from(bytes).ok());
        // Of several, nobody knows how much of each was read.
        if let Some(read) = read.filter(|&read| is_alone && read <= used) {
            parts.push(part(READ, read, 1, None));
            parts.push(part(ELSEWHERE, used - read, 1, None));
        }
        parts.push(part("free", bytes(space.free_blocks), 0, None));
        let reserved = bytes(space.free_blocks.saturating_sub(space.available_blocks));
        if reserved > 0 {
            parts.push(part("reserved for root", reserved, 1, None));
        }
        Space {
            point,
            total_bytes: u64::try_from(bytes(space.blocks)).unwrap_or(u64::MAX),
            free_bytes: None,
            is_exact: false,
            parts,
        }
    });
    spaces.collect()
}

/// The account of a file system that this scan covers, from its topmost directory.
fn exact(
    root: &Read<'_>,
    stays: bool,
    report: &Report,
    mounts: &[Mount],
    counted: &CountedInodes,
) -> Option<Space> {
    let mount = root.mount;
    // A compressed file system, or one of several subvolumes, needs more than sums.
    if path_of(mount) != root.real
        || mount.root != b"/"
        || ["btrfs", "overlay"].contains(&&*mount.file_system)
    {
        return None;
    }
    let file_system = file_system_of(root.path, &mut MountTable::default()).ok()?;
    let shown: Vec<&Path> = file_system.shown().collect();
    if shown != [&*root.real] {
        return None;
    }
    let mut totals = *root.totals;
    let sizes = totals.sizes.as_mut()?;
    let (others, again) = match stays {
        // Both paths of such a file are in the map, and the disk has it once.
        true => (0, file_system.bytes_of_files_mounted_again()),
        false => (of_other_mounts(root, mounts)?, 0),
    };
    let further = others + u128::from(again);
    sizes.allocated_bytes = sizes.allocated_bytes.checked_sub(further)?;
    let read_bytes = sizes.allocated_bytes;
    let mut totals = vec![totals];
    if let Some(scan) = file_system.scan_of_hidden() {
        let hidden = Totals::new().with_counted_inodes(counted);
        totals.extend(scan.run(&hidden).ok()?.output);
    }
    let account = file_system.account(&totals, report, None).ok()?;
    let read_bytes = i128::try_from(read_bytes).ok()?;
    let mut parts = head(&account, read_bytes);
    for &(used, bytes) in &account.parts {
        if used != UsedPart::Reached && (bytes != 0 || used == UsedPart::Remainder) {
            parts.push(part(used.label(), bytes.into(), 2, None));
        }
    }
    for unknown in &account.unknown {
        let note = Some(format!("in the remainder: {}", unknown.reason));
        parts.push(part(unknown.part.label(), 0, 2, note));
    }
    parts.extend(free(&account));
    Some(Space {
        point: file_system.point().as_os_str().as_bytes().to_vec(),
        total_bytes: account.capacity.total_bytes,
        // Beside what other file systems have, the free space of one would mislead.
        free_bytes: (others == 0).then_some(account.capacity.free_bytes),
        is_exact: true,
        parts,
    })
}

/// The known lines of a file system that the scan covers in part.
fn in_part(roots: &[Read<'_>], mounts: &[Mount]) -> Option<Space> {
    let mount = roots.first()?.mount;
    let numbers = rustix::fs::statvfs(path_of(mount)).ok()?;
    let bytes = |blocks: u64| i128::from(blocks) * i128::from(numbers.f_frsize);
    if numbers.f_blocks == 0 {
        return None;
    }
    let (used, free) = (
        bytes(numbers.f_blocks.saturating_sub(numbers.f_bfree)),
        bytes(numbers.f_bfree),
    );
    let mut parts = vec![part("used", used, 0, None)];
    // Of an overlay the kernel does not tell in which layer an entry lies.
    let read_bytes: Option<i128> = (roots.iter())
        .map(|root| {
            let sizes = root.totals.sizes?;
            let others = of_other_mounts(root, mounts)?;
            i128::try_from(sizes.allocated_bytes.checked_sub(others)?).ok()
        })
        .sum();
    if let Some(read) = read_bytes.filter(|_| mount.file_system != "overlay") {
        parts.push(part(READ, read, 1, None));
        match used - read {
            rest @ 0.. => parts.push(part(ELSEWHERE, rest, 1, None)),
            rest => parts.push(part(
                "saved by compression and shared extents",
                rest,
                1,
                None,
            )),
        }
    }
    parts.push(part("free", free, 0, None));
    let reserved = bytes(numbers.f_bfree.saturating_sub(numbers.f_bavail));
    if reserved > 0 {
        parts.push(part("reserved for root", reserved, 1, None));
    }
    Some(Space {
        point: mount.point.clone(),
        total_bytes: u64::try_from(bytes(numbers.f_blocks)).unwrap_or(u64::MAX),
        free_bytes: None,
        is_exact: false,
        parts,
    })
}

fn head(account: &SpaceAccount, read_bytes: i128) -> Vec<Part> {
    let used = i128::from(account.capacity.used_bytes);
    vec![
        part("used", used, 0, None),
        part(READ, read_bytes, 1, None),
        part(ELSEWHERE, used - read_bytes, 1, None),
    ]
}

fn free(account: &SpaceAccount) -> Vec<Part> {
    let capacity = &account.capacity;
    let mut parts = vec![part("free", capacity.free_bytes.into(), 0, None)];
    if capacity.reserved_bytes > 0 {
        parts.push(part(
            "reserved for root",
            capacity.reserved_bytes.into(),
            1,
            None,
        ));
    }
    parts
}

fn part(label: &str, bytes: i128, level: u8, note: Option<String>) -> Part {
    Part {
        label: label.to_owned(),
        bytes,
        level,
        note,
    }
}

/// The bytes that the scan read on mounts below a root. Absent where one of them shows the
/// file system of the root again: nobody knows then at which place its files were counted.
fn of_other_mounts(root: &Read<'_>, mounts: &[Mount]) -> Option<u128> {
    let (real, own) = (&root.real, root.mount);
    let below = mounts.iter().map(path_of).filter(|point| point != real);
    let below: HashSet<&Path> = below.filter(|point| point.starts_with(real)).collect();
    let mut sum = 0;
    for point in &below {
        let is_inner = |other: &&&Path| *other != point && point.starts_with(other);
        let inside = point.strip_prefix(real).ok()?;
        let Some(node) = node_at(root.node, inside) else {
            continue;
        };
        let shows_own = |mount: &Mount| path_of(mount) == *point && mount.device == own.device;
        if mounts.iter().any(shows_own) && node.entries() > 1 {
            return None;
        }
        if below.iter().find(is_inner).is_none() {
            sum += node.allocated_bytes()?;
        }
    }
    Some(sum)
}

fn node_at<'a>(from: Node<'a>, path: &Path) -> Option<Node<'a>> {
    let mut names = path.iter();
    names.try_fold(from, |node, name| {
        let mut all = node.children().chain(node.files());
        all.find(|child| child.name() == name.as_bytes())
    })
}

fn path_of(mount: &Mount) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(&mount.point))
}
