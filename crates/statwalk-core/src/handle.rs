// SPDX-License-Identifier: MIT OR Apache-2.0

//! Open directories that wait for their subdirectories, and their number.
//!
//! A directory stays open while subdirectories of it wait, so that they can be opened
//! relative to it. The number of such descriptors has a bound. Beyond it a directory is
//! closed, and the source finds it again by its path when it is needed. All use of a
//! descriptor is the source's as well.

use std::ops::Deref;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::dir_handle::DirHandle;
use crate::directory::Dir;

/// How many directories may stay open for their subdirectories.
pub(crate) struct DescriptorBudget {
    free: AtomicI64,
}

impl DescriptorBudget {
    pub(crate) fn new(count: usize) -> Arc<DescriptorBudget> {
        Arc::new(DescriptorBudget {
            free: AtomicI64::new(i64::try_from(count).unwrap_or(i64::MAX)),
        })
    }

    /// Keeps the descriptor open, or gives it back where the bound is reached.
    pub(crate) fn keep(self: &Arc<Self>, fd: DirHandle) -> Result<Handle, DirHandle> {
        match self.reserve() {
            Some(place) => Ok(Handle::Open(CountedFd { fd, _place: place })),
            None => Err(fd),
        }
    }

    /// A place within the bound, if one is free.
    fn reserve(self: &Arc<Self>) -> Option<Reservation> {
        if self.free.fetch_sub(1, Ordering::Relaxed) > 0 {
            Some(Reservation(Arc::clone(self)))
        } else {
            self.free.fetch_add(1, Ordering::Relaxed);
            None
        }
    }
}

/// A directory some of whose subdirectories wait to be listed.
///
/// Subdirectories that wait hold it. With the last one it goes, and its descriptor is
/// closed, while the [`Dir`] lives on in the places of the entries below.
pub(crate) struct OpenParent {
    pub(crate) dir: Arc<Dir>,
    pub(crate) handle: Handle,
}

impl OpenParent {
    pub(crate) fn new(dir: Arc<Dir>, handle: Handle) -> Arc<OpenParent> {
        let parent = Arc::new(OpenParent { dir, handle });
        // A directory that is read in pieces has several; any will do.
        let _ = parent.dir.held.set(Arc::downgrade(&parent));
        parent
    }
}

/// How the descriptor of a directory can be had.
pub(crate) enum Handle {
    /// It is open.
    Open(CountedFd),
    /// It belongs to several workers that read the directory.
    Shared(Arc<SharedFd>),
    /// It was closed to stay within the bound.
    Closed,
}

impl Handle {
    pub(crate) fn get(&self) -> Option<&DirHandle> {
        match self {
            Handle::Open(counted) => Some(&counted.fd),
            Handle::Shared(shared) => Some(&shared.fd),
            Handle::Closed => None,
        }
    }
}

/// A descriptor that has a place within the bound.
pub(crate) struct CountedFd {
    fd: DirHandle,
    _place: Reservation,
}

/// A descriptor of a directory that several workers read.
///
/// It has a place within the bound once something waits for it.
pub(crate) struct SharedFd {
    fd: DirHandle,
    place: OnceLock<Option<Reservation>>,
}

impl SharedFd {
    pub(crate) fn new(fd: DirHandle) -> Arc<SharedFd> {
        Arc::new(SharedFd {
            fd,
            place: OnceLock::new(),
        })
    }

    /// Whether it has a place within the bound; asks for one the first time.
    pub(crate) fn is_kept(&self, budget: &Arc<DescriptorBudget>) -> bool {
        self.place.get_or_init(|| budget.reserve()).is_some()
    }
}

impl Deref for SharedFd {
    type Target = DirHandle;

    fn deref(&self) -> &DirHandle {
        &self.fd
    }
}

/// A place within the bound, free again when it is dropped.
struct Reservation(Arc<DescriptorBudget>);

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}
