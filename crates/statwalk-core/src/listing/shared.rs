// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that several workers read together: a very large one, one whose
//! calls wait, or one whose entries are gathered with those of others.
//!
//! The right to read the next piece goes from hand to hand as a job: a worker
//! that has read a piece queues the right and then stats its own piece. Whoever
//! has nothing to do takes it; if nobody does, the worker itself goes on with it.
//! What was read is withheld until the directory has
//! been verified, or until there is too much of it; from then on it is
//! delivered piece by piece, and so are the subdirectories, so that neither
//! memory nor the frontier grows with the directory. Where calls wait, a piece
//! is cut into parts of a few entries; where entries are gathered, each is a job
//! of its own.
//!
//! While the right waits, the directory stays open if there is a place for it
//! within the bound of descriptors; else it is closed, opened again, and read on
//! from where it was. While parts of it wait, it stays open beyond the bound: only
//! directories of more entries than are withheld do so besides what workers read.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::contents::{Contents, deliver, queue};
use super::job::Deferred;
use super::listed::{Listed, Reading};
use super::open_dir::OpenDir;
use super::outlet::{Gathering, Note, Outlet};
use super::source::{DirectorySource, EntryStat, More};
use super::{Lister, REREADS_MAX};
use crate::calls::Sharing;
use crate::directory::Place;
use crate::entry::{FileId, FileType};
use crate::error::{Op, SystemErrno as Errno};
use crate::handle::{DirHandle, Handle, SharedFd};
use crate::lock::lock;

/// How many entries are worth being handed to another worker where calls wait:
/// their stats take longer than that. The larger the parts are, the later a
/// directory ends and its subdirectories can begin.
pub(super) const PART_MIN: usize = 4;

/// How many entries of a directory that is too large to be withheld are
/// delivered together, where they come one by one.
const DELIVERED_AT_ONCE: usize = 4096;

/// Up to how many such parts of a directory wait before no more of it is read,
/// about.
const QUEUED_PARTS_MAX: usize = 1024;

/// A directory that is read in pieces.
pub(crate) struct SharedListing {
    dir: OpenDir,
    /// By what the directory is known when it is opened again.
    identity: OnceLock<Option<FileId>>,
    announced: AtomicBool,
    /// Whether its entries are stat'ed together with those of others.
    is_gathered: bool,
    progress: Mutex<Progress>,
}

/// How far it is read.
struct Progress {
    /// The directory's descriptor, unless it is closed until somebody reads on.
    fd: Option<Arc<SharedFd>>,
    /// Where to read on in a directory that is closed.
    position: u64,
    /// Pieces that are being worked on, and the right to read the next one.
    parts: usize,
    /// Parts that wait for somebody to take them.
    queued_parts: usize,
    /// Whether the right to read on waits for them to become fewer.
    right_waits: bool,
    withheld: Vec<Contents>,
    withheld_entries: usize,
    /// Names that no stat found in pieces that were delivered.
    missing: Vec<(CString, FileType)>,
    /// Whether there were more of them than are kept.
    lost_sight: bool,
    /// Whether pieces are delivered at once.
    released: bool,
    failed: Option<Errno>,
}

impl SharedListing {
    /// A listing of which one piece is being worked on.
    fn new(
        dir: OpenDir,
        fd: Arc<SharedFd>,
        begun: Contents,
        is_gathered: bool,
    ) -> Arc<SharedListing> {
        Arc::new(SharedListing {
            dir,
            identity: OnceLock::new(),
            announced: AtomicBool::new(false),
            is_gathered,
            progress: Mutex::new(Progress {
                fd: Some(fd),
                position: 0,
                parts: 1,
                queued_parts: 0,
                right_waits: false,
                withheld_entries: begun.entry_count(),
                withheld: vec![begun],
                missing: Vec::new(),
                lost_sight: false,
                released: false,
                failed: None,
            }),
        })
    }

    /// The directory that is read.
    pub(crate) fn place(&self) -> &Place {
        &self.dir.place
    }

    /// Its descriptor, unless it is closed.
    fn fd(&self) -> Option<Arc<SharedFd>> {
        self.progress().fd.clone()
    }

    /// Whether the directory itself must still be delivered; true once.
    fn announce_once(&self) -> bool {
        !self.announced.swap(true, Ordering::Relaxed)
    }

    /// Keeps the names in a piece that no stat found, until the end of the
    /// directory.
    fn keep_missing(&self, contents: &mut Contents, names_max: usize) {
        if contents.missing.is_empty() {
            return;
        }
        let mut progress = self.progress();
        let room = names_max.saturating_sub(progress.missing.len());
        let kept = contents.missing.len().min(room);
        progress.lost_sight |= kept < contents.missing.len();
        progress.missing.extend(contents.missing.drain(..kept));
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        lock(&self.progress)
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Turns the directory that is being read into a shared one and goes on.
    ///
    /// `listed` holds a piece that was not stat'ed yet.
    pub(super) fn share(&mut self, mut dir: OpenDir, fd: DirHandle, out: &mut impl Outlet) {
        // Pieces do not know how many subdirectories were found in others, and
        // what was delivered cannot be read again.
        dir.link_stop_is_off = true;
        let read = std::mem::replace(&mut self.contents, Contents::new(&self.context.options));
        let fd = SharedFd::new(fd);
        let listing = SharedListing::new(dir, Arc::clone(&fd), read, false);
        if self.piece(&listing, &fd, out) {
            self.read_on(&listing, &fd, out);
        }
    }

    /// Lists a directory whose entries are stat'ed later.
    pub(super) fn gather(&mut self, dir: OpenDir, fd: DirHandle, out: &mut impl Outlet) {
        // By what is begun the directory is delivered, also an empty one.
        let begun = Contents::new(&self.context.options);
        let listing = SharedListing::new(dir, SharedFd::new(fd), begun, true);
        out.gathering(Gathering::Begins);
        self.gather_on(&listing, out);
    }

    /// Goes on with the listing, up to as many entries as are withheld.
    fn gather_on(&mut self, listing: &Arc<SharedListing>, out: &mut impl Outlet) {
        let fd = listing.fd().expect("a gathered listing stays open");
        let mut entries = 0;
        while entries < self.context.options.withheld_max {
            match self.fill(&fd) {
                Ok(More::Entries) => {}
                Ok(More::End) => return self.part_done(listing, out),
                Err(errno) => {
                    listing.progress().failed = Some(errno);
                    return self.part_done(listing, out);
                }
            }
            if out.cancelled() {
                return;
            }
            let part = std::mem::take(&mut self.listed);
            entries += part.len();
            // Each entry counts, because each is done at another time.
            listing.progress().parts += part.len();
            out.queue_part(listing, part);
        }
        // There is more than can be withheld: it is delivered as it comes.
        listing.progress().released = true;
        out.queue_rest(Arc::clone(listing));
    }

    /// Stats an entry whose turn has come.
    pub(super) fn entry(&mut self, entry: &Deferred, out: &mut impl Outlet) {
        let Deferred {
            listing,
            part,
            index,
            ..
        } = entry;
        // What a worker begins, it or another one goes on with.
        let begun = listing.progress().withheld.pop();
        let mut contents = begun.unwrap_or_else(|| Contents::new(&self.context.options));
        let fd = listing.fd().expect("a gathered listing stays open");
        let one = *index..*index + 1;
        let reading = part.read_some(one, &fd, &listing.dir, &self.context, &mut contents, out);
        if reading != Reading::Whole {
            return;
        }
        let released = listing.progress().released;
        if released && contents.entry_count() >= DELIVERED_AT_ONCE {
            self.hand_out(listing, &mut contents, listing.announce_once(), out);
        } else {
            listing.progress().withheld.push(contents);
        }
        self.part_done(listing, out);
    }

    /// Reads on with the right to do so.
    pub(super) fn rest(&mut self, listing: &Arc<SharedListing>, out: &mut impl Outlet) {
        if listing.is_gathered {
            return self.gather_on(listing, out);
        }
        match self.open_to_read_on(listing) {
            Ok(fd) => self.read_on(listing, &fd, out),
            Err(errno) => {
                listing.progress().failed = Some(errno);
                self.part_done(listing, out);
            }
        }
    }

    /// The descriptor, for whoever has the right to read on.
    fn open_to_read_on(&mut self, listing: &SharedListing) -> Result<Arc<SharedFd>, Errno> {
        if let Some(fd) = listing.fd() {
            return Ok(fd);
        }
        let fd = self.open_shared(listing)?;
        let mut progress = listing.progress();
        self.context.source.seek(&fd, progress.position)?;
        progress.fd = Some(Arc::clone(&fd));
        Ok(fd)
    }

    /// A descriptor of the directory, of one's own where it is closed.
    fn open_shared(&mut self, listing: &SharedListing) -> Result<Arc<SharedFd>, Errno> {
        if let Some(fd) = listing.fd() {
            return Ok(fd);
        }
        let identity = self.identity_of_shared(listing, None);
        self.open_again(&listing.dir, identity).map(SharedFd::new)
    }

    /// Lets whoever is free read on. Where the bound is reached, the directory is
    /// closed meanwhile, if it can be known again.
    fn pass_right(&self, listing: &Arc<SharedListing>, fd: &Arc<SharedFd>, out: &mut impl Outlet) {
        if !fd.is_kept(&self.context.budget) && self.identity_of_shared(listing, Some(fd)).is_some()
        {
            // Where it fails, the directory stays open.
            if let Ok(position) = self.context.source.position(fd) {
                let mut progress = listing.progress();
                progress.position = position;
                progress.fd = None;
            }
        }
        out.queue_rest(Arc::clone(listing));
    }

    /// By what a shared directory can be known again; asked while it is open.
    fn identity_of_shared(
        &self,
        listing: &SharedListing,
        fd: Option<&Arc<SharedFd>>,
    ) -> Option<FileId> {
        match fd {
            Some(fd) => {
                if let Some(identity) = listing.identity.get() {
                    return *identity;
                }
                // Asked outside of the lock: a call that hangs would keep all others.
                let identity = self.identity_of(&listing.dir, fd);
                *listing.identity.get_or_init(|| identity)
            }
            None => listing.identity.get().copied().flatten(),
        }
    }

    /// Reads on until the directory ends or the right is passed on.
    fn read_on(&mut self, listing: &Arc<SharedListing>, fd: &Arc<SharedFd>, out: &mut impl Outlet) {
        loop {
            match self.fill(fd) {
                Ok(More::Entries) => {}
                Ok(More::End) => return self.part_done(listing, out),
                Err(errno) => {
                    listing.progress().failed = Some(errno);
                    return self.part_done(listing, out);
                }
            }
            if out.cancelled() || !self.piece(listing, fd, out) {
                return;
            }
        }
    }

    /// Works on the piece in `listed`. Answers whether the right to read is
    /// still here.
    fn piece(
        &mut self,
        listing: &Arc<SharedListing>,
        fd: &Arc<SharedFd>,
        out: &mut impl Outlet,
    ) -> bool {
        let shares = self.context.options.calls.sharing == Sharing::WhenIdle;
        if shares && self.context.options.wanted.need_stat() && out.is_slow() {
            let start = self.listed.len().min(PART_MIN);
            self.hand_parts(listing, start, out);
        }
        // Also where nobody is idle: who ends first would else wait until the one
        // with the right has done its piece. Types alone are read by the listing,
        // which one worker does at a time.
        let passes_on = match self.context.options.wanted.need_stat() {
            true => out.has_company(),
            false => out.somebody_idle(),
        };
        let mut passed_on = false;
        {
            let mut progress = listing.progress();
            progress.right_waits = progress.queued_parts > QUEUED_PARTS_MAX;
            if progress.right_waits || (shares && passes_on) {
                passed_on = true;
                progress.parts += 1;
            }
            if passed_on && !progress.right_waits {
                drop(progress);
                self.pass_right(listing, fd, out);
            }
        }
        if !self.digest(listing, fd, &mut passed_on, out) {
            return false;
        }
        if passed_on {
            self.part_done(listing, out);
        }
        !passed_on
    }

    /// Works on entries that another worker has listed.
    pub(super) fn part(
        &mut self,
        listing: &Arc<SharedListing>,
        part: Listed,
        out: &mut impl Outlet,
    ) {
        let right_comes = {
            let mut progress = listing.progress();
            progress.queued_parts -= 1;
            let is_low = progress.queued_parts <= QUEUED_PARTS_MAX / 2;
            progress.right_waits && is_low && std::mem::take(&mut progress.right_waits)
        };
        let fd = self.open_shared(listing);
        if right_comes {
            match &fd {
                Ok(fd) if listing.fd().is_some() => self.pass_right(listing, fd, out),
                _ => out.queue_rest(Arc::clone(listing)),
            }
        }
        self.listed = part;
        let mut passed_on = true;
        match fd {
            Ok(fd) if !self.digest(listing, &fd, &mut passed_on, out) => return,
            Ok(_) => {}
            Err(errno) => listing.progress().failed = Some(errno),
        }
        self.part_done(listing, out);
    }

    /// Lets others take the entries from `start` on, a few at a time.
    fn hand_parts(&mut self, listing: &Arc<SharedListing>, start: usize, out: &mut impl Outlet) {
        while self.listed.len() > start {
            let from = start.max(self.listed.len().saturating_sub(PART_MIN));
            let part = self.listed.split_off(from);
            {
                let mut progress = listing.progress();
                progress.parts += 1;
                progress.queued_parts += 1;
            }
            out.queue_part(listing, part);
        }
    }

    /// Stats what is in `listed` and delivers or withholds it. Answers false
    /// where the scan was cancelled.
    ///
    /// `passed_on` says whether somebody else has the right to read on; it may
    /// be passed on here.
    fn digest(
        &mut self,
        listing: &Arc<SharedListing>,
        fd: &Arc<SharedFd>,
        passed_on: &mut bool,
        out: &mut impl Outlet,
    ) -> bool {
        // What a worker begins, it or another one goes on with: there are no more
        // of them than workers, however small the pieces are.
        let begun = listing.progress().withheld.pop();
        let mut contents = begun.unwrap_or_else(|| {
            self.contents.clear();
            std::mem::replace(&mut self.contents, Contents::new(&self.context.options))
        });
        let before = contents.entry_count();
        let (dir, context) = (&listing.dir, &self.context);
        let reading = (self.listed).read_attributes(fd, dir, context, &mut contents, out);
        match reading {
            Reading::Whole => {}
            Reading::Stopped => return false,
            Reading::Until(index) => self.hand_parts(listing, index, out),
        }
        // The lock is held for the length of a statement: what follows may take it again.
        let released = {
            let mut progress = listing.progress();
            progress.withheld_entries += contents.entry_count() - before;
            progress.released
        };
        if released {
            // The right goes below the subdirectories, so that these are listed
            // before more of them are read.
            if !*passed_on && !contents.subdir_offsets.is_empty() {
                listing.progress().parts += 1;
                self.pass_right(listing, fd, out);
                *passed_on = true;
            }
            self.hand_out(listing, &mut contents, listing.announce_once(), out);
            self.contents = contents;
        } else {
            let mut withheld = {
                let mut progress = listing.progress();
                progress.withheld.push(contents);
                // Somebody may have released it since, and does not look again.
                progress.released |= progress.withheld_entries > self.context.options.withheld_max;
                match progress.released {
                    true => std::mem::take(&mut progress.withheld),
                    false => Vec::new(),
                }
            };
            for contents in &mut withheld {
                self.hand_out(listing, contents, listing.announce_once(), out);
            }
        }
        true
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
        let mut withheld = std::mem::take(&mut progress.withheld);
        let mut missing = std::mem::take(&mut progress.missing);
        let lost_sight = progress.lost_sight;
        // It is there, unless the directory could not be opened again.
        let fd = progress.fd.clone();
        drop(progress);

        let dir = &listing.dir;
        let root = dir.root;
        let held_still = |fd: &Arc<SharedFd>| dir.held_still(fd, &self.context.source);
        let mut still = failed.is_some() || fd.as_ref().is_some_and(held_still);
        let mut rereads = 0;
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
        for contents in &mut withheld {
            missing.append(&mut contents.missing);
        }
        if !missing.is_empty() {
            let mut contents = Contents::new(&self.context.options);
            match (&fd, failed) {
                (Some(fd), None) => {
                    self.judge_missing(missing, fd, dir, &mut contents, out);
                }
                // What failed is told.
                _ => contents.vanished += missing.len() as u64,
            }
            withheld.push(contents);
        }
        for contents in &mut withheld {
            self.hand_out(listing, contents, listing.announce_once(), out);
        }
        let identity = self.identity_of_shared(listing, fd.as_ref());
        if failed == Some(Errno::NOENT) && self.is_gone(&dir.place, identity, out) {
            // It was removed while it was read.
            out.note(root, Note::Vanished);
        } else if let Some(errno) = failed {
            out.failed(root, dir.place.path(), Op::Read, errno);
            out.incomplete(&dir.view());
        } else if !still || lost_sight {
            out.changed(&dir.view());
        }
        if listing.is_gathered {
            out.gathering(Gathering::Ends);
        }
    }

    /// Queues the subdirectories of a piece and delivers its entries.
    fn hand_out(
        &mut self,
        listing: &Arc<SharedListing>,
        contents: &mut Contents,
        announce: bool,
        out: &mut impl Outlet,
    ) {
        listing.keep_missing(contents, self.context.options.withheld_max);
        let doubles = match listing.dir.holds_doubles {
            true => contents.take_doubles(),
            false => Vec::new(),
        };
        let mut parent = None;
        if !contents.waiting_names.is_empty() {
            let fd = listing.fd();
            let identity = self.identity_of_shared(listing, fd.as_ref());
            let handle = match fd {
                Some(fd) if fd.is_kept(&self.context.budget) => Handle::Shared(fd),
                _ => Handle::Closed,
            };
            let mount = self.mount_below(&listing.dir);
            let node = (listing.dir).node(&contents.waiting_names, mount, handle, identity);
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        }
        deliver(&listing.dir.view(), announce, contents, out);
        if let Some(parent) = parent {
            self.deliver_doubles(&parent, &doubles, out);
        }
    }

    /// Stats what is in `listed`, alone. Answers false where the scan was cancelled.
    fn read_all(
        &self,
        fd: &DirHandle,
        dir: &OpenDir,
        contents: &mut Contents,
        out: &impl Outlet,
    ) -> bool {
        let mut start = 0;
        while start < self.listed.len() {
            let rest = start..self.listed.len();
            match (self.listed).read_some(rest, fd, dir, &self.context, contents, out) {
                Reading::Whole => break,
                Reading::Stopped => return false,
                Reading::Until(index) => start = index,
            }
        }
        true
    }

    /// Reads the whole directory again. Nothing where it cannot be read or has
    /// become too large to be withheld; else whether it held still.
    fn reread(
        &mut self,
        listing: &SharedListing,
        out: &mut impl Outlet,
    ) -> Option<(Contents, bool)> {
        let fd = listing.fd()?;
        self.context.source.seek(&fd, 0).ok()?;
        let before = self.context.source.stat_directory(&fd).ok()?;
        let mut contents = Contents::new(&self.context.options);
        loop {
            match self.fill(&fd).ok()? {
                More::End => break,
                More::Entries => {}
            }
            let room =
                contents.entry_count() + self.listed.len() <= self.context.options.withheld_max;
            if !room || !self.read_all(&fd, &listing.dir, &mut contents, out) {
                return None;
            }
        }
        let after = self.context.source.stat_directory(&fd).ok()?;
        let still = before.change_stamp() == after.change_stamp();
        Some((contents, still))
    }
}
