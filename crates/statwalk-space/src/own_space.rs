// SPDX-License-Identifier: MIT OR Apache-2.0

//! The space that XFS and btrfs need for themselves, and the space that files share.
//! That of ext4 is read from its device: `nameless.rs`.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::StatVfs;
use statwalk_sys::btrfs::{SpaceInfo, space_info};
use statwalk_sys::fsmap::{SpaceOwner, space_map};
use statwalk_sys::xfs::{Geometry, geometry, inodes_with_place};

use crate::extent_usage::ExtentUsage;
use crate::file_system::UnknownPart;
use crate::table::{Facts, UsedPart, remainder};

/// Adds the facts of an XFS, from the map of its device.
///
/// With a reverse map they are exact: the blocks of statfs are those of the data device
/// without the journal. Each is free, or metadata, or belongs to inodes, and statfs
/// counts some of the free ones as used (`xfs_statfs_data`, fs/xfs/xfs_super.c).
pub(crate) fn of_xfs(
    top: BorrowedFd<'_>,
    device: Option<u32>,
    numbers: &StatVfs,
    facts: &mut Facts,
    unknown: &mut Vec<UnknownPart>,
) {
    let mut sums = XfsSums::default();
    let told = space_map(top, |extent| {
        // The device of the journal and that of real-time files are not in statfs.
        if device.is_none_or(|device| device == extent.device) {
            sums.add(extent.owner, extent.offset_bytes, extent.length_bytes);
        }
    });
    if let Err(error) = told {
        return both(unknown, &lack("the map of the device", &error));
    }
    let free = numbers.f_bfree.saturating_mul(numbers.f_frsize);
    facts.reserved_bytes = Some(difference(sums.free, free));
    if sums.unknown > 0 {
        let Ok(geometry) = geometry(top) else {
            return;
        };
        facts.metadata_bytes = fixed_metadata(top, &geometry).ok().map(signed);
        if !geometry.shares_extents {
            facts.sharing_bytes = Some(0);
            return;
        }
        // Files that have more blocks than are used share them.
        let rest = remainder(facts);
        facts.sharing_bytes = (rest < 0).then_some(rest);
        let reason = "needs an XFS with a reverse map (rmapbt), and CAP_SYS_ADMIN";
        return unknown.push(UnknownPart {
            part: UsedPart::Sharing,
            reason: reason.into(),
        });
    }
    facts.metadata_bytes = Some(signed(sums.metadata));
    facts.sharing_bytes = Some(difference(sums.held_once, sums.held));
}

/// The metadata of an XFS without the inner blocks of its trees: all inodes with a place,
/// and of each group the headers and the roots of its trees.
fn fixed_metadata(top: BorrowedFd<'_>, geometry: &Geometry) -> io::Result<u64> {
    /// The trees of free space, by place and by size, and those of inodes and free inodes.
    const ROOTS: u64 = 4;
    /// Superblock, AGF, AGI and AGFL take a sector each: fs/xfs/libxfs/xfs_format.h.
    const HEADER_SECTORS: u64 = 4;
    let inodes = inodes_with_place(top)?;
    let block = u64::from(geometry.block_bytes);
    let header = HEADER_SECTORS * u64::from(geometry.sector_bytes);
    let group = header.next_multiple_of(block.max(1)) + ROOTS * block;
    let inodes = inodes.saturating_mul(geometry.inode_bytes.into());
    Ok(inodes.saturating_add(group.saturating_mul(geometry.group_count.into())))
}

/// The bytes of the data device of an XFS, by owner.
#[derive(Debug, Default)]
struct XfsSums {
    free: u64,
    metadata: u64,
    unknown: u64,
    /// The bytes of inodes; shared ones once for each.
    held: u64,
    /// The same, shared ones once.
    held_once: u64,
    /// The end of the last extent of an inode.
    end: u64,
}

impl XfsSums {
    fn add(&mut self, owner: SpaceOwner, offset_bytes: u64, length_bytes: u64) {
        match owner {
            SpaceOwner::Free => self.free += length_bytes,
            SpaceOwner::Log => {}
            SpaceOwner::Unknown => self.unknown += length_bytes,
            SpaceOwner::CopyOnWrite | SpaceOwner::Metadata => self.metadata += length_bytes,
            SpaceOwner::Inode(_) => {
                // The map is sorted by the place: new is what lies behind the last end.
                let end = offset_bytes.saturating_add(length_bytes);
                self.held += length_bytes;
                self.held_once += end.saturating_sub(self.end.max(offset_bytes));
                self.end = self.end.max(end);
            }
        }
    }
}

/// Adds the facts of a btrfs, from its space by kind and profile.
///
/// As `btrfs_statfs` in fs/btrfs/super.c counts: the bytes of all kinds with their copies,
/// by the copies of data, and the global reserve besides.
pub(crate) fn of_btrfs(
    top: BorrowedFd<'_>,
    extents: Option<&ExtentUsage>,
    facts: &mut Facts,
    unknown: &mut Vec<UnknownPart>,
) {
    let infos = match space_info(top) {
        Ok(infos) => infos,
        Err(error) => return both(unknown, &lack("the space by profile", &error)),
    };
    let (data, metadata, reserve) = btrfs_sums(&infos);
    facts.reserved_bytes = Some(reserve);
    let is_mixed = infos.iter().any(SpaceInfo::is_mixed);
    if !is_mixed {
        facts.metadata_bytes = Some(signed(metadata));
    }
    match extents {
        Some(usage) => {
            let blocks = facts.reached_bytes.unwrap_or(0) + facts.hidden_bytes.unwrap_or(0);
            facts.sharing_bytes = Some(difference(usage.total.disk_bytes, blocks));
            // The extents of all files less those that the scan met.
            let met = usage.total.disk_bytes + facts.unnamed_bytes.unwrap_or(0);
            let rest = data.saturating_sub(met);
            match (is_mixed, usage.other_subvolumes) {
                (false, _) => facts.elsewhere_bytes = Some(rest),
                (true, 0) => facts.metadata_bytes = Some(signed(metadata + rest)),
                (true, _) => {
                    unknown.extend([UsedPart::Metadata, UsedPart::OtherSubvolumes].map(|part| {
                        UnknownPart {
                            part,
                            reason: "needs a btrfs whose data and metadata lie apart".into(),
                        }
                    }))
                }
            }
        }
        None => unknown.push(UnknownPart {
            part: UsedPart::Sharing,
            reason: "needs CAP_SYS_ADMIN".into(),
        }),
    }
}

/// The bytes of data and of metadata that count as used, and those of the reserve.
fn btrfs_sums(infos: &[SpaceInfo]) -> (u64, u64, i64) {
    // With several profiles the kernel takes the last one too.
    let last = infos.iter().rfind(|info| info.holds_data());
    let factor = last.map_or(1, SpaceInfo::copies);
    let (mut data, mut metadata, mut reserve) = (0, 0, 0);
    for info in infos {
        let used = info.used_bytes.saturating_mul(info.copies()) / factor;
        if info.is_global_reserve() {
            reserve += info.total_bytes;
        } else if info.holds_data() {
            data += used;
        } else {
            metadata += used;
        }
    }
    let reserve = i64::try_from(reserve).unwrap_or(i64::MAX);
    (data, metadata, reserve)
}

fn difference(a: u64, b: u64) -> i64 {
    signed(a) - signed(b)
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn lack(what: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        // EPERM and EACCES.
        Some(1 | 13) => "needs CAP_SYS_ADMIN".into(),
        _ => format!("{what} cannot be read: {error}"),
    }
}

/// Neither metadata nor shared extents are known.
fn both(unknown: &mut Vec<UnknownPart>, reason: &str) {
    for part in [UsedPart::Metadata, UsedPart::Sharing] {
        unknown.push(UnknownPart {
            part,
            reason: reason.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_extents_count_once() {
        let mut sums = XfsSums::default();
        sums.add(SpaceOwner::Metadata, 0, 10);
        sums.add(SpaceOwner::Inode(1), 10, 20);
        sums.add(SpaceOwner::Inode(2), 10, 5);
        sums.add(SpaceOwner::Inode(3), 25, 10);
        sums.add(SpaceOwner::Free, 35, 7);
        sums.add(SpaceOwner::Inode(1), 42, 1);
        assert_eq!((sums.held, sums.held_once), (36, 26));
        assert_eq!((sums.free, sums.metadata, sums.unknown), (7, 10, 0));
    }

    #[test]
    fn copies_of_metadata_count() {
        let info = |flags, used_bytes| SpaceInfo {
            flags,
            total_bytes: 100,
            used_bytes,
        };
        // Data alone, metadata and system DUP, the reserve.
        let dup = 1 << 5;
        let infos = [
            info(1, 50),
            info(2 | dup, 1),
            info(4 | dup, 3),
            info(4 | 1 << 49, 0),
        ];
        assert_eq!(btrfs_sums(&infos), (50, 8, 100));
        // With data on RAID1 the kernel halves all.
        let raid1 = 1 << 4;
        let infos = [info(1 | raid1, 50), info(4 | raid1, 3)];
        assert_eq!(btrfs_sums(&infos), (50, 3, 0));
    }
}
