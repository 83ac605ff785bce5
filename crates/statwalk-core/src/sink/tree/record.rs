// SPDX-License-Identifier: MIT OR Apache-2.0

//! The records of a directory and of a file.

use super::names::NameAt;
use super::node::NodeKind;
use super::owners::OwnerNumber;
use crate::directory::DirState;
use crate::entry::FileType;
use crate::time::TOO_EARLY;

/// No directory.
pub(super) const NOWHERE: u32 = u32::MAX;
/// No file, or none whose time fits: the newest modification of nothing.
pub(super) const NEVER: i64 = TOO_EARLY;

/// A directory.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(super) struct DirRecord {
    pub(super) sums: Sums,
    pub(super) parent: u32,
    pub(super) depth: u32,
    /// For a root, the offset is its index.
    pub(super) name: NameAt,
    pub(super) kind: RecordKind,
    /// Where its children begin in `Tree::children`, and how many there are.
    pub(super) children_start: u32,
    pub(super) children_count: u32,
}

/// The kind of entry that a [`DirRecord`] stands for, in one byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordKind(u8);

impl RecordKind {
    /// A number without a directory, or one that was not delivered yet.
    pub(super) const NOTHING: RecordKind = RecordKind(0);
    const STATES: [DirState; 5] = [
        DirState::Listed,
        DirState::Unreadable,
        DirState::Crossing,
        DirState::Excluded,
        DirState::AtDepthLimit,
    ];
    /// A root that is no directory has a record, for its sums where files are not kept.
    const ROOT_FILE: u8 = 8;
    /// The bit of a directory that is finished.
    const FINISHED: u8 = 1 << 7;
    /// The bit of a directory that lacks something by itself, and not below subdirectories.
    const LACKING: u8 = 1 << 6;
    const BITS: u8 = Self::FINISHED | Self::LACKING;

    pub(super) fn directory(state: DirState) -> RecordKind {
        RecordKind(state as u8 + 1)
    }

    pub(super) fn root_file(kind: FileType) -> RecordKind {
        RecordKind(kind as u8 + Self::ROOT_FILE)
    }

    pub(super) fn finish(&mut self) {
        self.0 |= Self::FINISHED;
    }

    pub(super) fn lack(&mut self) {
        self.0 |= Self::LACKING;
    }

    #[inline]
    pub(super) fn is_lacking(self) -> bool {
        self.0 & Self::LACKING != 0
    }

    /// Whether it was delivered, with all below it.
    pub(super) fn is_finished(self) -> bool {
        self.0 & Self::FINISHED != 0 || self.is_root_file()
    }

    #[inline]
    pub(super) fn is_root_file(self) -> bool {
        self.0 & !Self::BITS >= Self::ROOT_FILE
    }

    pub(super) fn is_nothing(self) -> bool {
        self == Self::NOTHING
    }

    /// The kind of node; a directory that was not delivered counts as listed.
    #[inline]
    pub(super) fn node_kind(self) -> NodeKind {
        match self.0 & !Self::BITS {
            0 => NodeKind::Directory(DirState::Listed),
            place @ 1..Self::ROOT_FILE => NodeKind::Directory(Self::STATES[usize::from(place - 1)]),
            place => NodeKind::Other(FileType::ALL[usize::from(place - Self::ROOT_FILE)]),
        }
    }
}

/// A file, or anything else that is not a directory. Its directory is known
/// by the [`FileRun`] that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct FileRecord {
    pub(super) size_bytes: u64,
    pub(super) allocated_bytes: u64,
    /// The modification, or the time that the sink was asked for.
    pub(super) time_ns: i64,
    pub(super) name_offset: u32,
    pub(super) name_chunk: u16,
    pub(super) traits: Traits,
    pub(super) owner: OwnerNumber,
}

/// Files of one directory whose records stand together.
#[derive(Clone, Copy)]
pub(super) struct FileRun {
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) dir: u32,
}

// The bounds of ARCHITECTURE.md: bytes for a file, and for a directory
// with its place among the children of its parent and its files.
const _: () = assert!(size_of::<FileRecord>() <= 32);
const _: () = assert!(size_of::<DirRecord>() + size_of::<u32>() + size_of::<FileRun>() <= 96);

/// The type of a file and what is special about it, in one byte.
#[derive(Clone, Copy)]
pub(super) struct Traits(pub(super) u8);

impl Traits {
    /// The name is another name of an inode that is counted elsewhere.
    pub(super) const EXTRA_LINK: u8 = 8;
    /// The attributes could not be read.
    pub(super) const UNKNOWN: u8 = 16;
    /// The inode has several names.
    pub(super) const LINKED: u8 = 32;

    pub(super) fn new(kind: FileType, known: bool) -> Traits {
        Traits(kind as u8 | if known { 0 } else { Self::UNKNOWN })
    }

    #[inline]
    pub(super) fn kind(self) -> FileType {
        FileType::ALL[usize::from(self.0 & 7)]
    }

    #[inline]
    pub(super) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// The sums of a directory.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(super) struct Sums {
    pub(super) allocated: ByteSum,
    pub(super) apparent: ByteSum,
    pub(super) entries: u64,
    pub(super) files: u64,
    pub(super) newest_ns: i64,
    pub(super) dirs: u32,
    pub(super) incomplete: bool,
}

/// A sum of bytes. Two files alone can have more than 64 bits hold, but 2^32 entries
/// do not have more than 96.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(super) struct ByteSum {
    low: u64,
    high: u32,
}

impl ByteSum {
    const ZERO: ByteSum = ByteSum { low: 0, high: 0 };
    const MAX: ByteSum = ByteSum {
        low: u64::MAX,
        high: u32::MAX,
    };

    #[inline]
    pub(super) fn get(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    /// A sum over fewer than 2^32 entries.
    fn of_entries(bytes: u128) -> ByteSum {
        ByteSum {
            low: bytes as u64,
            high: (bytes >> 64) as u32,
        }
    }

    /// The sum of two; absent where it does not fit.
    #[inline]
    fn plus(self, other: ByteSum) -> Option<ByteSum> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?;
        let high = high.checked_add(u32::from(carry))?;
        Some(ByteSum { low, high })
    }
}

impl From<u64> for ByteSum {
    fn from(bytes: u64) -> ByteSum {
        ByteSum {
            low: bytes,
            high: 0,
        }
    }
}

impl Sums {
    pub(super) const NOTHING: Sums = Sums {
        allocated: ByteSum::ZERO,
        apparent: ByteSum::ZERO,
        entries: 0,
        files: 0,
        newest_ns: NEVER,
        dirs: 0,
        incomplete: false,
    };

    pub(super) fn add(&mut self, other: &Sums) {
        self.add_sums(other.allocated, other.apparent);
        self.entries += other.entries;
        self.files += other.files;
        self.dirs += other.dirs;
        self.incomplete |= other.incomplete;
        self.newest_ns = { self.newest_ns }.max(other.newest_ns);
    }

    /// Counts a time, unless it is too late to count.
    #[inline]
    pub(super) fn note_time(&mut self, ns: i64, latest_ns: i64) {
        let ns = if ns > latest_ns { NEVER } else { ns };
        self.newest_ns = { self.newest_ns }.max(ns);
    }

    /// Adds what fewer than 2^32 entries take.
    #[inline]
    pub(super) fn add_entries(&mut self, allocated_bytes: u128, apparent_bytes: u128) {
        let allocated = ByteSum::of_entries(allocated_bytes);
        self.add_sums(allocated, ByteSum::of_entries(apparent_bytes));
    }

    /// A sum that does not fit leaves the directory incomplete.
    #[inline]
    fn add_sums(&mut self, allocated: ByteSum, apparent: ByteSum) {
        let (allocated, apparent) = (self.allocated.plus(allocated), self.apparent.plus(apparent));
        self.incomplete |= allocated.is_none() || apparent.is_none();
        self.allocated = allocated.unwrap_or(ByteSum::MAX);
        self.apparent = apparent.unwrap_or(ByteSum::MAX);
    }

    pub(super) fn add_bytes(&mut self, kind: FileType, size_bytes: u64, allocated_bytes: u64) {
        let has_content = matches!(kind, FileType::File | FileType::Symlink);
        let apparent_bytes = if has_content { size_bytes } else { 0 };
        self.add_sums(allocated_bytes.into(), apparent_bytes.into());
    }
}

impl DirRecord {
    pub(super) fn finish(&mut self) {
        let mut kind = self.kind;
        kind.finish();
        self.kind = kind;
    }

    /// Notes that it lacks something by itself.
    pub(super) fn lack(&mut self) {
        let mut kind = self.kind;
        kind.lack();
        self.kind = kind;
        self.sums.incomplete = true;
    }

    pub(super) const EMPTY: DirRecord = DirRecord {
        sums: Sums::NOTHING,
        parent: NOWHERE,
        depth: 0,
        name: NameAt {
            chunk: 0,
            offset: 0,
        },
        kind: RecordKind::NOTHING,
        children_start: 0,
        children_count: 0,
    };

    /// The name of a root, whose path the context keeps.
    pub(super) fn name_of_root(root: u32) -> NameAt {
        NameAt {
            offset: root,
            ..Self::EMPTY.name
        }
    }

    /// Which root a record without parent stands for.
    pub(super) fn root(&self) -> usize {
        self.name.offset as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_back() {
        for state in RecordKind::STATES {
            let kind = RecordKind::directory(state);
            assert_eq!(kind.node_kind(), NodeKind::Directory(state));
            assert!(!kind.is_root_file() && !kind.is_nothing() && !kind.is_finished());
            let mut finished = kind;
            finished.finish();
            assert!(finished.is_finished() && !finished.is_root_file());
            assert_eq!(finished.node_kind(), NodeKind::Directory(state));
            let mut lacking = finished;
            lacking.lack();
            assert!(lacking.is_lacking() && !finished.is_lacking());
            assert!(lacking.is_finished() && !lacking.is_root_file());
            assert_eq!(lacking.node_kind(), NodeKind::Directory(state));
        }
        for file_type in FileType::ALL {
            let kind = RecordKind::root_file(file_type);
            assert_eq!(kind.node_kind(), NodeKind::Other(file_type));
            assert!(kind.is_root_file() && kind.is_finished());
        }
    }

    #[test]
    fn sums_go_beyond_64_bits() {
        let largest = i64::MAX.cast_unsigned();
        let mut dir = Sums::NOTHING;
        for _ in 0..3 {
            dir.add_bytes(FileType::File, largest, u64::MAX);
        }
        let mut above = Sums::NOTHING;
        above.add(&dir);
        above.add(&dir);
        assert_eq!({ above.apparent }.get(), 6 * u128::from(largest));
        assert_eq!({ above.allocated }.get(), 6 * u128::from(u64::MAX));
        assert!(!above.incomplete);
    }

    #[test]
    fn a_sum_that_does_not_fit_is_incomplete() {
        let mut sums = Sums {
            allocated: ByteSum::MAX,
            ..Sums::NOTHING
        };
        sums.add_bytes(FileType::File, 7, 0);
        assert!(!sums.incomplete);
        sums.add_bytes(FileType::File, 7, 1);
        assert!(sums.incomplete);
        assert_eq!({ sums.allocated }.get(), { ByteSum::MAX }.get());
        assert_eq!({ sums.apparent }.get(), 14);
        let mut above = Sums::NOTHING;
        above.add(&sums);
        assert!(above.incomplete);
    }
}
