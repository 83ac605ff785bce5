// SPDX-License-Identifier: MIT OR Apache-2.0

//! An open directory, as its source knows it.
//!
//! The core keeps it, counts it and gives it back; only the source that made it looks
//! inside. One that gets the handle of another source has an error, and no panic.

use std::any::Any;
use std::fmt;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;

/// An open directory. It is closed when it is dropped.
pub(crate) enum DirHandle {
    /// A descriptor of the kernel, without memory of its own: each directory has one.
    #[cfg(unix)]
    Descriptor(OwnedFd),
    /// The own form of another source.
    Own(Box<OwnForm<dyn Any + Send + Sync>>),
}

/// The own form, and the position in the listing.
pub(crate) struct OwnForm<T: ?Sized> {
    position: AtomicU64,
    own: T,
}

impl DirHandle {
    /// Keeps the own form that a source has of an open directory.
    pub(crate) fn of<T: Any + Send + Sync>(own: T) -> DirHandle {
        let position = AtomicU64::new(0);
        DirHandle::Own(Box::new(OwnForm { position, own }))
    }

    /// The own form of the source. Absent if the handle is of another one.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        match self {
            DirHandle::Own(form) => form.own.downcast_ref(),
            #[cfg(unix)]
            DirHandle::Descriptor(_) => None,
        }
    }

    /// How many entries of the directory were listed, or another number that says where
    /// its listing goes on; 0 is the start. Absent for a descriptor, which has its own.
    pub(crate) fn position(&self) -> Option<&AtomicU64> {
        match self {
            DirHandle::Own(form) => Some(&form.position),
            #[cfg(unix)]
            DirHandle::Descriptor(_) => None,
        }
    }

    /// The descriptor. Absent if it is of a source without descriptors.
    #[cfg(unix)]
    #[inline]
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            DirHandle::Descriptor(fd) => Some(fd.as_fd()),
            DirHandle::Own(_) => None,
        }
    }
}

impl fmt::Debug for DirHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(unix)]
            DirHandle::Descriptor(fd) => f.debug_tuple("Descriptor").field(fd).finish(),
            DirHandle::Own(_) => f.debug_tuple("Own").finish_non_exhaustive(),
        }
    }
}

#[cfg(unix)]
impl From<OwnedFd> for DirHandle {
    fn from(fd: OwnedFd) -> DirHandle {
        DirHandle::Descriptor(fd)
    }
}
