// SPDX-License-Identifier: MIT OR Apache-2.0

//! An entry of the tree that is no directory, with its record at hand.

use std::fmt;

use super::TreeState;
use super::names::NameAt;
use super::node::{At, Node};
use super::record::{FileRecord, Traits};
use crate::entry::FileType;
use crate::time::is_time;

/// An entry of a [`Tree`](super::Tree) that is no directory.
///
/// [`Node`] says the same of all entries, and looks the record up for each question. This has
/// it at hand, for callers that ask several questions about each of millions of files.
#[derive(Clone, Copy)]
pub struct TreeFile<'a> {
    node: Node<'a>,
    number: u64,
    record: &'a FileRecord,
}

impl fmt::Debug for TreeFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TreeFile").field(&self.node).finish()
    }
}

impl<'a> TreeFile<'a> {
    /// The file of a node, whose record has this number.
    #[inline]
    pub(super) fn new(node: Node<'a>, number: u64, record: &'a FileRecord) -> TreeFile<'a> {
        TreeFile {
            node,
            number,
            record,
        }
    }

    /// The node of the same entry.
    #[must_use]
    #[inline]
    pub fn node(&self) -> Node<'a> {
        self.node
    }

    /// The kind of entry.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> FileType {
        self.record.traits.kind()
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        let tree = self.node.tree;
        let worker = tree.file_names[self.number as usize / TreeState::FILE_CHUNK];
        tree.names[usize::from(worker)].get(NameAt {
            chunk: self.record.name_chunk,
            offset: self.record.name_offset,
        })
    }

    /// The user that owns it, as [`Node::uid`] has it.
    #[must_use]
    #[inline]
    pub fn uid(&self) -> Option<u32> {
        (self.node.tree.owners).of_file(self.number, self.record.owner)
    }

    /// The space that it takes, in bytes, as [`Node::allocated_bytes`] has it.
    #[must_use]
    #[inline]
    pub fn allocated_bytes(&self) -> Option<u64> {
        self.knows_sizes().then_some(self.record.allocated_bytes)
    }

    /// The `st_size` of a file or a link, in bytes, and 0 of anything else, as
    /// [`Node::apparent_bytes`] has it.
    #[must_use]
    #[inline]
    pub fn apparent_bytes(&self) -> Option<u64> {
        self.knows_sizes().then_some(self.record.size_bytes)
    }

    #[inline]
    fn knows_sizes(&self) -> bool {
        self.node.tree.knows_sizes && !self.is_unread()
    }

    #[inline]
    fn is_unread(&self) -> bool {
        self.record.traits.has(Traits::UNKNOWN)
    }

    /// The modification, in nanoseconds since 1970, as [`Node::newest_mtime_ns`] has it.
    #[must_use]
    #[inline]
    pub fn mtime_ns(&self) -> Option<i64> {
        let is_known = self.node.tree.time.is_none() && is_time(self.record.time_ns);
        is_known.then_some(self.record.time_ns)
    }

    /// Whether something of it could not be read, as [`Node::is_incomplete`] has it.
    #[must_use]
    #[inline]
    pub fn is_incomplete(&self) -> bool {
        match self.node.at {
            // A root can be in doubt by another name of its inode.
            At::Dir(_) => self.node.is_incomplete(),
            At::File { .. } => self.is_unread(),
        }
    }

    /// Whether it is a further name of an inode whose bytes count elsewhere.
    #[must_use]
    #[inline]
    pub fn is_extra_link(&self) -> bool {
        self.record.traits.has(Traits::EXTRA_LINK)
    }
}
