// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is kept of a directory and of a file.

use super::names::NameAt;
use crate::directory::DirState;
use crate::entry::FileType;

/// No directory.
pub(super) const NOWHERE: u32 = u32::MAX;
/// No file: the newest modification of nothing.
pub(super) const NEVER: i64 = i64::MIN;

/// A directory.
#[derive(Clone, Copy)]
pub(super) struct DirRecord {
    pub(super) sums: Sums,
    pub(super) parent: u32,
    pub(super) depth: u32,
    /// For a root, the offset is its index.
    pub(super) name: NameAt,
    pub(super) state: Option<DirState>,
    /// Where its children begin in `Tree::children`, and how many there are.
    pub(super) children_start: u32,
    pub(super) children_count: u32,
}

/// A file, or anything else that is not a directory. Its directory is known
/// by the [`FileRun`] that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct FileRecord {
    pub(super) size_bytes: u64,
    pub(super) allocated_bytes: u64,
    pub(super) mtime_ns: i64,
    pub(super) name_offset: u32,
    pub(super) name_chunk: u16,
    pub(super) traits: Traits,
}

/// Files of one directory whose records stand together.
#[derive(Clone, Copy)]
pub(super) struct FileRun {
    pub(super) start: u64,
    pub(super) count: u32,
    pub(super) dir: u32,
}

// The promise of DESIGN.md, "Hot path": bytes for a file, and for a directory
// with its place among the children of its parent and its files.
const _: () = assert!(size_of::<FileRecord>() <= 32);
const _: () = assert!(size_of::<DirRecord>() + size_of::<u32>() + size_of::<FileRun>() <= 96);

/// The type of a file and what is special about it, in one byte.
#[derive(Clone, Copy)]
pub(super) struct Traits(pub(super) u8);

impl Traits {
    const KINDS: [FileType; 8] = [
        FileType::File,
        FileType::Directory,
        FileType::Symlink,
        FileType::Fifo,
        FileType::Socket,
        FileType::CharDevice,
        FileType::BlockDevice,
        FileType::Unknown,
    ];
    /// The name is another name of an inode that is counted elsewhere.
    pub(super) const EXTRA_LINK: u8 = 8;
    /// The attributes could not be read.
    pub(super) const UNKNOWN: u8 = 16;

    pub(super) fn new(kind: FileType, known: bool) -> Traits {
        Traits(kind as u8 | if known { 0 } else { Self::UNKNOWN })
    }

    pub(super) fn kind(self) -> FileType {
        Self::KINDS[usize::from(self.0 & 7)]
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// What a directory amounts to.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub(super) allocated_bytes: u64,
    pub(super) apparent_bytes: u64,
    pub(super) entries: u64,
    pub(super) files: u64,
    pub(super) dirs: u32,
    pub(super) incomplete: bool,
    pub(super) newest_mtime_ns: i64,
}

impl Sums {
    pub(super) const NOTHING: Sums = Sums {
        allocated_bytes: 0,
        apparent_bytes: 0,
        entries: 0,
        files: 0,
        dirs: 0,
        incomplete: false,
        newest_mtime_ns: NEVER,
    };

    pub(super) fn add(&mut self, other: &Sums) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(other.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_add(other.apparent_bytes);
        self.entries += other.entries;
        self.files += other.files;
        self.dirs += other.dirs;
        self.incomplete |= other.incomplete;
        self.newest_mtime_ns = self.newest_mtime_ns.max(other.newest_mtime_ns);
    }

    pub(super) fn add_bytes(&mut self, kind: FileType, size_bytes: u64, allocated_bytes: u64) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(allocated_bytes);
        if matches!(kind, FileType::File | FileType::Symlink) {
            self.apparent_bytes = self.apparent_bytes.saturating_add(size_bytes);
        }
    }
}

impl DirRecord {
    pub(super) const EMPTY: DirRecord = DirRecord {
        sums: Sums::NOTHING,
        parent: NOWHERE,
        depth: 0,
        name: NameAt {
            chunk: 0,
            offset: 0,
        },
        state: None,
        children_start: 0,
        children_count: 0,
    };

    /// Which root a record without parent stands for.
    pub(super) fn root(&self) -> usize {
        self.name.offset as usize
    }
}
