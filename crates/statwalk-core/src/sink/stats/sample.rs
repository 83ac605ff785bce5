// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts about an entry that statistics look at.

use statwalk_group::Facts;

use crate::batch::Batch;
use crate::directory::Directory;
use crate::entry::FileType;

/// The facts that decide the group of an entry, and its share there.
pub(super) struct Sample<'a> {
    pub(super) facts: Facts<'a>,
    allocated_bytes: Option<u64>,
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
            facts: Facts {
                name: batch.name(index),
                depth,
                kind: batch.kinds()[index],
                size_bytes: read(batch.size_bytes(), index, known),
                mtime_ns: read(batch.mtime_ns(), index, known),
                uid: read(batch.uids(), index, known),
                gid: read(batch.gids(), index, known),
            },
            allocated_bytes: read(batch.allocated_bytes(), index, known),
        }
    }

    pub(super) fn of_directory(directory: &'a Directory<'_>) -> Sample<'a> {
        let attributes = directory.attributes();
        Sample {
            facts: Facts {
                name: directory.name(),
                depth: directory.depth(),
                kind: attributes.kind,
                size_bytes: attributes.size_bytes(),
                mtime_ns: attributes.clamped_mtime_ns(),
                uid: attributes.uid(),
                gid: attributes.gid(),
            },
            allocated_bytes: attributes.allocated_bytes(),
        }
    }

    /// The size, where it is that of a regular file.
    #[inline]
    pub(super) fn file_size_bytes(&self) -> Option<u64> {
        self.facts
            .size_bytes
            .filter(|_| self.facts.kind == FileType::File)
    }

    /// The share of its inode: apparent and allocated bytes.
    #[inline]
    pub(super) fn bytes(&self) -> (u64, u64) {
        let has_content = matches!(self.facts.kind, FileType::File | FileType::Symlink);
        let apparent_bytes = self.facts.size_bytes.filter(|_| has_content);
        (
            apparent_bytes.unwrap_or(0),
            self.allocated_bytes.unwrap_or(0),
        )
    }
}
