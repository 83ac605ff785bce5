// SPDX-License-Identifier: MIT OR Apache-2.0

//! A very large directory that several workers read together.
//!
//! The right to read the next piece goes from hand to hand as a job: a worker
//! that has read a piece passes the right on if somebody has nothing to do, and
//! then stats its own piece. What was read is withheld until the directory has
//! been verified, or until there is too much of it; from then on it is
//! delivered piece by piece, and so are the subdirectories, so that neither
//! memory nor the frontier grows with the directory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::Errno;

use super::contents::{Contents, deliver, queue};
use super::handle::{Handle, Reservation};
use super::listed::More;
use super::open_dir::OpenDir;
use super::{Lister, Note, Outlet, REREADS_MAX, WITHHELD_MAX, stat};
use crate::directory::Place;
use crate::error::Op;

/// A directory that is read in pieces.
pub(crate) struct SharedListing {
    dir: OpenDir,
    fd: OwnedFd,
    /// A place within the bound of descriptors, once subdirectories wait.
    reservation: OnceLock<Option<Reservation>>,
    announced: AtomicBool,
    progress: Mutex<Progress>,
}

/// How far it is read.
struct Progress {
    /// Pieces that are being worked on, and the right to read the next one.
    parts: usize,
    withheld: Vec<Contents>,
    withheld_entries: usize,
    /// Whether pieces are delivered at once.
    released: bool,
    failed: Option<Errno>,
    rereads: u32,
}

impl SharedListing {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The directory that is read.
    pub(crate) fn place(&self) -> &Place {
        &self.dir.place
    }

    /// Whether the directory itself must still be delivered; true once.
    fn announce_once(&self) -> bool {
        !self.announced.swap(true, Ordering::Relaxed)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        // A panic elsewhere ends the scan; what it left is still whole.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lister {
    /// Turns the directory that is being read into a shared one and goes on.
    ///
    /// `listed` holds a piece that was not stat'ed yet.
    pub(super) fn share(&mut self, dir: OpenDir, fd: OwnedFd, out: &mut impl Outlet) {
        let read = std::mem::replace(&mut self.contents, Contents::new(&self.terms));
        let listing = Arc::new(SharedListing {
            dir,
            fd,
            reservation: OnceLock::new(),
            announced: AtomicBool::new(false),
            progress: Mutex::new(Progress {
                parts: 1,
                withheld_entries: read.entry_count(),
                withheld: vec![read],
                released: false,
                failed: None,
                rereads: 0,
            }),
        });
        if self.piece(&listing, out) {
            self.rest(&listing, out);
        }
    }

    /// Reads on with the right to do so.
    pub(super) fn rest(&mut self, listing: &Arc<SharedListing>, out: &mut impl Outlet) {
        loop {
            match self.fill(listing.fd.as_fd()) {
                Ok(More::Entries) => {}
                Ok(More::End) => return self.part_done(listing, out),
                Err(errno) => {
                    listing.progress().failed = Some(errno);
                    return self.part_done(listing, out);
                }
            }
            if out.cancelled() || !self.piece(listing, out) {
                return;
            }
        }
    }

    /// Works on the piece in `listed`. Answers whether the right to read is
    /// still here.
    fn piece(&mut self, listing: &Arc<SharedListing>, out: &mut impl Outlet) -> bool {
        let mut passed_on = out.somebody_idle();
        if passed_on {
            listing.progress().parts += 1;
            out.queue_rest(Arc::clone(listing));
        }
        self.contents.clear();
        let whole = self.listed.read_attributes(
            listing.fd.as_fd(),
            &listing.dir,
            &self.terms,
            &mut self.contents,
            out,
        );
        if !whole {
            return false;
        }
        // The lock is held for the length of a statement: what follows may take it again.
        let released = {
            let mut progress = listing.progress();
            progress.withheld_entries += self.contents.entry_count();
            progress.released
        };
        if released {
            // The right goes below the subdirectories, so that these are listed
            // before more of them are read.
            if !passed_on && !self.contents.subdir_offsets.is_empty() {
                listing.progress().parts += 1;
                out.queue_rest(Arc::clone(listing));
                passed_on = true;
            }
            let contents = std::mem::take(&mut self.contents);
            self.hand_out(listing, &contents, false, out);
            self.contents = contents;
        } else {
            let piece = std::mem::replace(&mut self.contents, Contents::new(&self.terms));
            let withheld = {
                let mut progress = listing.progress();
                progress.withheld.push(piece);
                // Somebody may have released it since, and does not look again.
                progress.released |= progress.withheld_entries > WITHHELD_MAX;
                match progress.released {
                    true => std::mem::take(&mut progress.withheld),
                    false => Vec::new(),
                }
            };
            for contents in &withheld {
                self.hand_out(listing, contents, listing.announce_once(), out);
            }
        }
        if passed_on {
            self.part_done(listing, out);
        }
        !passed_on
    }

    /// Notes that a piece is done, and with the last one ends the directory.
    fn part_done(&mut self, listing: &Arc<SharedListing>, out: &mut impl Outlet) {
        let mut progress = listing.progress();
        progress.parts -= 1;
        if progress.parts > 0 {
            return;
        }
        let released = progress.released;
        let failed = progress.failed;
        let mut rereads = progress.rereads;
        let mut withheld = std::mem::take(&mut progress.withheld);
        drop(progress);

        let dir = &listing.dir;
        let root = dir.root;
        let mut still =
            failed.is_some() || dir.held_still(listing.fd.as_fd(), self.terms.directory_mask);
        // What is withheld can be thrown away and read again, by one worker.
        while !still && !released && rereads < REREADS_MAX && !out.cancelled() {
            rereads += 1;
            match self.reread(listing, out) {
                Some((contents, held)) => {
                    withheld = vec![contents];
                    still = held;
                }
                None => break,
            }
        }
        for contents in &withheld {
            self.hand_out(listing, contents, listing.announce_once(), out);
        }
        if failed == Some(Errno::NOENT) {
            // It was removed while it was read.
            out.note(root, Note::Vanished);
        } else if let Some(errno) = failed {
            out.failed(root, dir.place.path(), Op::Read, errno);
            out.incomplete(&dir.view());
        } else if !still {
            out.note(root, Note::Changed);
            out.incomplete(&dir.view());
        }
    }

    /// Queues the subdirectories of a piece and delivers its entries.
    fn hand_out(
        &self,
        listing: &Arc<SharedListing>,
        contents: &Contents,
        announce: bool,
        out: &mut impl Outlet,
    ) {
        if !contents.waiting_names.is_empty() {
            let place = listing
                .reservation
                .get_or_init(|| self.terms.budget.reserve());
            let handle = match place {
                Some(_) => Handle::Shared(Arc::clone(listing)),
                None => Handle::Closed,
            };
            let identity = self.identity_of(&listing.dir, listing.fd.as_fd());
            let mount = self.mount_below(&listing.dir);
            let node = (listing.dir).node(&contents.waiting_names, mount, handle, identity);
            queue(&node, contents, out);
        }
        deliver(&listing.dir.view(), announce, contents, out);
    }

    /// Reads the whole directory again. Nothing where it cannot be read or has
    /// become too large to be withheld; else whether it held still.
    fn reread(
        &mut self,
        listing: &SharedListing,
        out: &mut impl Outlet,
    ) -> Option<(Contents, bool)> {
        let fd = listing.fd.as_fd();
        rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(0)).ok()?;
        let before = stat::by_descriptor(fd, self.terms.directory_mask).ok()?;
        let mut contents = Contents::new(&self.terms);
        loop {
            match self.fill(fd).ok()? {
                More::End => break,
                More::Entries => {}
            }
            let room = contents.entry_count() + self.listed.len() <= WITHHELD_MAX;
            if !room
                || !self
                    .listed
                    .read_attributes(fd, &listing.dir, &self.terms, &mut contents, out)
            {
                return None;
            }
        }
        let after = stat::by_descriptor(fd, self.terms.directory_mask).ok()?;
        let still = stat::Stillness::of(&before) == stat::Stillness::of(&after);
        Some((contents, still))
    }
}
