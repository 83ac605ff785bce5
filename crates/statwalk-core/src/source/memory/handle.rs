// SPDX-License-Identifier: MIT OR Apache-2.0

//! An open directory of a tree in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dir_handle::DirHandle;
use crate::failure::Failure;

/// An open directory of a tree in memory.
#[derive(Debug)]
pub(crate) struct MemoryHandle {
    /// The number of the directory in its tree.
    pub(crate) node: usize,
    /// How many of its entries were listed.
    position: AtomicU64,
    /// Counted while the directory is open.
    _open: Arc<()>,
}

impl MemoryHandle {
    /// A directory that is listed from its beginning. `open` counts those that are open.
    pub(super) fn open(node: usize, open: &Arc<()>) -> DirHandle {
        DirHandle::of(MemoryHandle {
            node,
            position: AtomicU64::new(0),
            _open: Arc::clone(open),
        })
    }

    /// Looks into a handle, which must be of this source.
    pub(crate) fn of(dir: &DirHandle) -> Result<&MemoryHandle, Failure> {
        dir.own().ok_or(Failure::BAD_HANDLE)
    }

    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    pub(crate) fn set_position(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }
}
