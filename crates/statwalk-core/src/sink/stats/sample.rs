// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts about an entry that statistics look at.

use super::key::{Grouping, Key, age_limit};
use crate::batch::Batch;
use crate::directory::Directory;
use crate::entry::FileType;

/// The facts that decide the group of an entry, and its share there; a fact that could
/// not be read is absent.
pub(super) struct Sample<'a> {
    pub(super) name: &'a [u8],
    pub(super) kind: FileType,
    depth: u32,
    size_bytes: Option<u64>,
    allocated_bytes: Option<u64>,
    /// With what stands for times that do not fit; they compare as those would.
    mtime_ns: Option<i64>,
    uid: Option<u32>,
    gid: Option<u32>,
}

impl<'a> Sample<'a> {
    /// Entry `index` of a batch, without the columns that no group looks at.
    #[inline]
    pub(super) fn of(batch: &'a Batch, index: usize, depth: u32) -> Sample<'a> {
        fn read<T: Copy>(column: &[T], index: usize, known: bool) -> Option<T> {
            column.get(index).copied().filter(|_| known)
        }
        let known = batch.known()[index];
        Sample {
            name: batch.name(index),
            depth,
            kind: batch.kinds()[index],
            size_bytes: read(batch.size_bytes(), index, known),
            allocated_bytes: read(batch.allocated_bytes(), index, known),
            mtime_ns: read(batch.mtime_ns(), index, known),
            uid: read(batch.uids(), index, known),
            gid: read(batch.gids(), index, known),
        }
    }

    pub(super) fn of_directory(directory: &'a Directory<'_>) -> Sample<'a> {
        let attributes = directory.attributes();
        Sample {
            name: directory.name(),
            depth: directory.depth(),
            kind: attributes.kind,
            size_bytes: attributes.size_bytes(),
            allocated_bytes: attributes.allocated_bytes(),
            mtime_ns: attributes.clamped_mtime_ns(),
            uid: attributes.uid(),
            gid: attributes.gid(),
        }
    }

    /// The group; by type and by category, that of anything but a regular file.
    #[inline]
    pub(super) fn key(&self, grouping: Grouping, now_ns: i64) -> Key {
        let known = match grouping {
            Grouping::Type | Grouping::Category => Some(Key::Kind(self.kind)),
            Grouping::Owner => self.uid.map(Key::Owner),
            Grouping::Group => self.gid.map(Key::Group),
            Grouping::Age => self
                .mtime_ns
                .map(|mtime_ns| Key::ModifiedWithin(age_limit(now_ns, mtime_ns))),
            Grouping::Size => self
                .size_bytes
                .map(|size_bytes| Key::SizeBelowPower(64 - size_bytes.leading_zeros())),
            Grouping::Depth => Some(Key::Depth(self.depth)),
        };
        known.unwrap_or(Key::Unknown)
    }

    /// The size, where it is that of a regular file.
    #[inline]
    pub(super) fn file_size_bytes(&self) -> Option<u64> {
        self.size_bytes.filter(|_| self.kind == FileType::File)
    }

    /// The share of its inode: apparent and allocated bytes.
    #[inline]
    pub(super) fn bytes(&self) -> (u64, u64) {
        let has_content = matches!(self.kind, FileType::File | FileType::Symlink);
        let apparent_bytes = self.size_bytes.filter(|_| has_content);
        (
            apparent_bytes.unwrap_or(0),
            self.allocated_bytes.unwrap_or(0),
        )
    }
}
