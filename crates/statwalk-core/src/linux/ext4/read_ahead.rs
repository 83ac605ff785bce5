// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the metadata of a whole file system in the order of the device, before the
//! first listing.
//!
//! A walk reads directories and inodes in the order of names. On a rotating disk nearly
//! each of them costs a seek. So this module reads the used parts of the inode tables
//! one after another, and then the directories in the order of their blocks.
//! It only fills the page cache. The listing reads and checks all bytes again.

use std::collections::VecDeque;
use std::sync::OnceLock;

use rustix::fs::{CWD, StatxFlags, makedev};
use statwalk_ext4::{Bytes, ROOT_INODE, Volume};
use statwalk_sys::block_device;
use statwalk_sys::memory_info::MemoryInfo;

use super::device::Device;
use super::mounted::Mounted;
use crate::directory::Place;
use crate::entry::FileType;
use crate::linux::statx;
use crate::reason::Reason;

/// The bytes of one read. A cancelled scan ends after one.
const PIECE_BYTES: u64 = 1 << 20;
/// The bytes under way, so that the device is never idle.
const AHEAD_BYTES: u64 = 16 << 20;
/// The largest gap between two directories that is read with them: to read it takes a
/// disk less time than to move its head.
const GAP_BYTES: u64 = 128 << 10;
/// The places of directories that are sorted together, 16 bytes each.
const RUNS_MAX: usize = 1 << 20;
/// The inode tables in the sample of cached pages.
const SAMPLES_MAX: usize = 256;
/// The bytes of each table in that sample: most tables are smaller.
const SAMPLE_BYTES: u64 = 8 << 20;

/// The read-ahead of one file system.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// The bytes that were read. The inner value is absent if it does not pay.
    done: OnceLock<Option<u64>>,
}

/// The offset and length of some bytes of a directory.
type Run = (u64, u32);

impl ReadAhead {
    /// The line of the plan. Absent if nothing was read ahead.
    pub(super) fn reason(&self, device: &str) -> Option<Reason> {
        let bytes = (*self.done.get()?)?;
        let device = device.to_owned();
        Some(Reason::ReadAhead { device, bytes })
    }

    /// Reads ahead at the first call, if that pays. Other workers wait for its end.
    pub(super) fn once(
        &self,
        mounted: &Mounted,
        is_whole: impl FnOnce() -> bool,
        is_cancelled: impl Fn() -> bool,
    ) {
        self.done.get_or_init(|| {
            let Device::Mapped(_) = mounted.volume.bytes() else {
                return None;
            };
            let pays = !mounted.is_image
                && is_whole()
                && block_device::is_rotational(mounted.dev) == Some(true)
                && is_cold(&mounted.volume)
                && mounted
                    .volume
                    .inode_tables()
                    .try_fold(0_u64, |sum, (_, _, bytes)| sum.checked_add(bytes))
                    .is_some_and(|bytes| bytes <= memory_to_fill());
            pays.then(|| read(&mounted.volume, is_cancelled))
        });
    }
}

/// Whether a directory, or the root of the scan above it, is the topmost directory of
/// the file system.
pub(super) fn is_whole(mounted: &Mounted, number: u32, mut place: &Place) -> bool {
    if number == ROOT_INODE {
        return true;
    }
    while let Place::Child(parent, _) = place {
        place = &parent.place;
    }
    let Place::Root(path) = place else {
        return false;
    };
    statx::through_links(CWD, path, StatxFlags::INO).is_ok_and(|found| {
        found.stx_ino == u64::from(ROOT_INODE)
            && makedev(found.stx_dev_major, found.stx_dev_minor) == mounted.dev
    })
}

/// Whether less than a quarter of the inode tables is in memory, by a sample.
fn is_cold(volume: &Volume<Device>) -> bool {
    let count = volume.inode_tables().count();
    let step = (count / SAMPLES_MAX).max(1);
    // The first has the journal's inode: to open the volume brought that to memory, and what
    // lies around it.
    let first = usize::from(count > 1);
    let (mut resident, mut all) = (0, 0);
    for (_, offset, bytes) in volume.inode_tables().skip(first).step_by(step) {
        let Ok((here, pages)) = volume
            .bytes()
            .resident_pages(offset, bytes.min(SAMPLE_BYTES))
        else {
            return false;
        };
        resident += here;
        all += pages;
    }
    resident * 4 < all
}

/// Half of the available memory, in bytes. The kernel would drop more pages before the
/// listing reads them.
fn memory_to_fill() -> u64 {
    let available_kib = MemoryInfo::read().and_then(|info| info.kib("MemAvailable"));
    available_kib.unwrap_or(0) * 512
}

/// Reads all inode tables and directories. Returns the number of requested bytes.
fn read(volume: &Volume<Device>, is_cancelled: impl Fn() -> bool) -> u64 {
    let mut runs: Vec<Run> = Vec::new();
    let mut asked_bytes = 0;
    let mut left_bytes = memory_to_fill();
    let mut tables: Vec<_> = volume.inode_tables().collect();
    tables.sort_unstable_by_key(|&(_, offset, _)| offset);
    let inode_size = volume.superblock().inode_size_bytes as usize;
    let mut piece = vec![0; PIECE_BYTES as usize];
    let mut inode = volume.empty_inode();
    let pieces = |(first, offset, bytes): (u32, u64, u64)| {
        (0..bytes).step_by(PIECE_BYTES as usize).map(move |begin| {
            let first = first + (begin / inode_size as u64) as u32;
            (first, offset + begin, PIECE_BYTES.min(bytes - begin))
        })
    };
    let mut coming = tables.iter().copied().flat_map(pieces);
    let mut coming_bytes = 0;
    for (first, offset, bytes) in tables.iter().copied().flat_map(pieces) {
        if is_cancelled() {
            return asked_bytes;
        }
        while coming_bytes < AHEAD_BYTES
            && let Some((_, offset, bytes)) = coming.next()
        {
            volume.bytes().will_need(offset, bytes);
            coming_bytes += bytes;
        }
        let piece = &mut piece[..bytes as usize];
        let is_read = volume.bytes().read(offset, piece).is_ok();
        coming_bytes = coming_bytes.saturating_sub(bytes);
        asked_bytes += bytes;
        left_bytes = left_bytes.saturating_sub(bytes);
        if !is_read {
            continue;
        }
        for (raw, number) in piece.chunks_exact(inode_size).zip(first..) {
            let kind = raw
                .first_chunk()
                .map(|mode| FileType::of_mode(u16::from_le_bytes(*mode)));
            if kind == Some(FileType::Directory) {
                let copied = inode.fill_with(number, |into| {
                    let kept = raw.get(..into.len()).ok_or(())?;
                    into.copy_from_slice(kept);
                    Ok::<(), ()>(())
                });
                if copied.is_ok() {
                    volume.each_run(&inode, |offset, bytes| runs.push((offset, bytes)));
                }
            }
        }
        if runs.len() >= RUNS_MAX {
            asked_bytes += read_runs(volume, &mut runs, &mut left_bytes, &is_cancelled);
        }
    }
    asked_bytes + read_runs(volume, &mut runs, &mut left_bytes, &is_cancelled)
}

/// Reads the gathered runs in the order of the device, and clears them.
fn read_runs(
    volume: &Volume<Device>,
    runs: &mut Vec<Run>,
    left_bytes: &mut u64,
    is_cancelled: &impl Fn() -> bool,
) -> u64 {
    runs.sort_unstable();
    let mut asked_bytes = 0;
    // The last byte and the length of each piece under way.
    let mut under_way = VecDeque::new();
    let mut under_way_bytes = 0;
    let mut rest = runs.iter().copied().peekable();
    while let Some((begin, bytes)) = rest.next() {
        let mut end = begin + u64::from(bytes);
        while let Some(&(next, bytes)) = rest.peek()
            && next <= end + GAP_BYTES
            && next + u64::from(bytes) <= begin + PIECE_BYTES
        {
            end = end.max(next + u64::from(bytes));
            rest.next();
        }
        let bytes = end - begin;
        if is_cancelled() || bytes > *left_bytes {
            break;
        }
        *left_bytes -= bytes;
        asked_bytes += bytes;
        volume.bytes().will_need(begin, bytes);
        under_way.push_back((end - 1, bytes));
        under_way_bytes += bytes;
        while under_way_bytes > AHEAD_BYTES
            && let Some((last, bytes)) = under_way.pop_front()
        {
            // The listing reports an unreadable block when it needs it.
            let _ = volume.bytes().read(last, &mut [0]);
            under_way_bytes -= bytes;
        }
    }
    runs.clear();
    asked_bytes
}
