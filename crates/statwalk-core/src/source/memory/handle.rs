// SPDX-License-Identifier: MIT OR Apache-2.0

//! An open directory of a tree in memory.

use std::sync::Arc;

use crate::dir_handle::DirHandle;
use crate::failure::Failure;

/// An open directory of a tree in memory.
#[derive(Debug)]
pub(crate) struct MemoryHandle {
    /// The number of the directory in its tree.
    pub(crate) node: usize,
    /// Counted while the directory is open.
    _open: Arc<()>,
}

impl MemoryHandle {
    /// A directory that is listed from its beginning. `open` counts those that are open.
    pub(super) fn open(node: usize, open: &Arc<()>) -> DirHandle {
        DirHandle::of(MemoryHandle {
            node,
            _open: Arc::clone(open),
        })
    }

    /// Looks into a handle, which must be of this source.
    pub(crate) fn of(dir: &DirHandle) -> Result<&MemoryHandle, Failure> {
        dir.own().ok_or(Failure::BAD_HANDLE)
    }
}
