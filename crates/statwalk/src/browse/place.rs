// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of items: those of their directories, with a place for files, and the
//! number of the scan that gave them.

use std::sync::atomic::{AtomicU64, Ordering};

use statwalk_browse::ItemId;
use statwalk_core::DirId;

/// The number of a scan that no other scan of this process has.
pub(super) fn new_scan() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The meaning of the number of an item, within its scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Dir(DirId),
    /// The file at a place in its directory.
    File(DirId, usize),
    /// The file at a place among those that are known before the scan ends.
    Early(DirId, usize),
    /// All files of a directory.
    Rest(DirId),
    /// A root that is not known yet, by its index.
    Root(usize),
}

/// Stands in the place of a file.
const NO_FILE: u32 = 0;
const REST: u32 = u32::MAX;
const ROOT: u32 = u32::MAX - 1;
/// The first of the places of files before the scan ends; there are fewer than 2^20.
const EARLY: u32 = u32::MAX - (1 << 20);

impl Place {
    pub(super) fn id(self, scan: u64) -> ItemId {
        let (high, low) = match self {
            Place::Dir(dir) => (dir.index(), NO_FILE),
            // A directory with more files than that shows the first of them alone.
            Place::File(dir, place) => (
                dir.index(),
                (place as u64 + 1).min(u64::from(EARLY) - 1) as u32,
            ),
            Place::Early(dir, place) => (dir.index(), EARLY + place as u32),
            Place::Rest(dir) => (dir.index(), REST),
            Place::Root(index) => (index, ROOT),
        };
        ItemId {
            scan,
            number: (high as u64) << 32 | u64::from(low),
        }
    }

    /// The place in a scan; absent where the number is that of another scan.
    pub(super) fn of(id: ItemId, scan: u64) -> Option<Place> {
        if id.scan != scan {
            return None;
        }
        let (high, low) = ((id.number >> 32) as usize, id.number as u32);
        let dir = DirId::from_index(high).expect("half of the bits of a number");
        Some(match low {
            NO_FILE => Place::Dir(dir),
            REST => Place::Rest(dir),
            ROOT => Place::Root(high),
            EARLY.. => Place::Early(dir, (low - EARLY) as usize),
            place => Place::File(dir, place as usize - 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_comes_back() {
        for index in [0, 1, 77, u32::MAX as usize] {
            let dir = DirId::from_index(index).unwrap();
            for place in [
                Place::Dir(dir),
                Place::File(dir, 0),
                Place::File(dir, 4_000_000_000),
                Place::Early(dir, 0),
                Place::Early(dir, (1 << 20) - 2),
                Place::Rest(dir),
                Place::Root(index),
            ] {
                assert_eq!(Place::of(place.id(7), 7), Some(place));
                assert_eq!(Place::of(place.id(7), 8), None);
            }
        }
    }
}
