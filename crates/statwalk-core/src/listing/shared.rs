// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that several workers read together: a very large one, one whose
//! calls wait, or one whose entries are gathered with those of others.
//!
//! A token lets one worker at a time read the next piece. The worker that has read a
//! piece queues the token as a job, and then stats its own piece. An idle worker takes
//! the token. If none is idle, the same worker takes it after its stats.
//!
//! Pieces are withheld until the directory is verified. If there are too many entries
//! for that, workers deliver each piece at once, and its subdirectories with it. So
//! neither memory nor the frontier grows with the directory.
//! Where calls wait, workers cut a piece into parts of a few entries. Where entries are
//! gathered, each entry is a job of its own.
//!
//! While the token waits in the queue, the directory stays open if the descriptor bound
//! has room. Else it is closed; the next worker opens it again and seeks.
//! While parts of it wait, it stays open beyond the bound. Besides the directories that
//! workers read, only those do so that have more entries than are withheld.

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use super::attributes::Reading;
use super::change_stamp::ChangeStamp;
use super::contents::Contents;
use super::delivery::{deliver, queue};
use super::finished::{finish, settle};
use super::job::{Deferred, Fate};
use super::link_stop::KnownSubdirs;
use super::listed::Listed;
use super::open_dir::OpenDir;
use super::options::PART_MIN;
use super::outlet::{Backlog, Gathering, ListedBy, Note, Outlet, Pace};
use super::repeats::Repeats;
use super::seen_names::{Repeated, SeenNames};
use super::source::{DirectorySource, EntryStat, More};
use super::{Lister, REREADS_MAX};
use crate::calls::Sharing;
use crate::dir_handle::DirHandle;
use crate::directory::Place;
use crate::entry::{DirId, FileId, FileType};
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::{Handle, SharedFd};
use crate::lock::lock;
use crate::unfinished::Unfinished;

/// The entries that a worker delivers together, where they come one by one and the
/// directory is too large to be withheld.
const DELIVERED_AT_ONCE: usize = 4096;

/// The parts of a directory that may wait before its token does, about.
const QUEUED_PARTS_MAX: usize = 1024;

/// A directory that workers read in pieces.
pub(crate) struct SharedListing {
    dir: OpenDir,
    /// Its subdirectories, where they were searched before the first piece.
    known: Option<Arc<KnownSubdirs>>,
    /// The identity that the directory must have when it is opened again.
    identity: OnceLock<Option<FileId>>,
    announced: AtomicBool,
    /// The nodes of its pieces, and the listing itself.
    pieces: Arc<Unfinished>,
    /// Whether workers stat its entries together with those of other directories.
    is_gathered: bool,
    progress: Mutex<Progress>,
}

/// The permission to read the next piece of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReadToken {
    /// A worker has it, or it is queued as a job, or the directory has ended.
    #[default]
    InUse,
    /// It waits until fewer parts are queued.
    Waits,
}

/// The progress of the workers in a shared directory.
#[derive(Default)]
struct Progress {
    /// The directory's descriptor. Absent while it is closed.
    fd: Option<Arc<SharedFd>>,
    /// The position to seek to in a closed directory.
    position: u64,
    /// The pieces and parts in work or queued, and one for the token until the end.
    parts: usize,
    /// The parts that no worker has taken yet.
    queued_parts: usize,
    token: ReadToken,
    withheld: Vec<Contents>,
    withheld_entries: usize,
    /// Names of delivered pieces for which a stat returned ENOENT.
    missing: Vec<(CString, FileType)>,
    /// Whether there were more of them than `WITHHELD_MAX`.
    lost_sight: bool,
    /// Whether workers deliver pieces at once.
    released: bool,
    failed: Option<Failure>,
    /// The listed names, where a server gives them. A worker that reads has them meanwhile.
    seen: Option<SeenNames>,
}

impl Progress {
    /// The names that came again since the last call.
    fn take_repeated(&mut self) -> Repeated {
        (self.seen.as_mut()).map_or_else(Repeated::default, SeenNames::take_repeated)
    }
}

impl SharedListing {
    /// A listing with one piece in work.
    fn new(
        dir: OpenDir,
        fd: Arc<SharedFd>,
        begun: Contents,
        seen: Option<SeenNames>,
        known: Option<Arc<KnownSubdirs>>,
        is_gathered: bool,
    ) -> Arc<SharedListing> {
        Arc::new(SharedListing {
            dir,
            known,
            identity: OnceLock::new(),
            announced: AtomicBool::new(false),
            pieces: Arc::new(Unfinished::new(1)),
            is_gathered,
            progress: Mutex::new(Progress {
                fd: Some(fd),
                parts: 1,
                withheld_entries: begun.entry_count(),
                withheld: vec![begun],
                seen,
                ..Progress::default()
            }),
        })
    }

    /// The number of the directory.
    pub(crate) fn id(&self) -> DirId {
        self.dir.id
    }

    /// The place of the directory.
    pub(crate) fn place(&self) -> &Place {
        &self.dir.place
    }

    /// Its descriptor. Absent while it is closed.
    fn fd(&self) -> Option<Arc<SharedFd>> {
        self.progress().fd.clone()
    }

    /// Whether the directory itself must still be delivered: true at the first call.
    fn announce_once(&self) -> bool {
        !self.announced.swap(true, Ordering::Relaxed)
    }

    /// Keeps the missing names of a piece until the end of the directory.
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

/// Delivers what was read of a directory when the scan was cancelled. Nobody has
/// verified that the directory held still.
pub(crate) fn cut_off(listing: &SharedListing, begun: Option<Contents>, out: &mut dyn Outlet) {
    if !out.takes_parts() {
        return;
    }
    let mut withheld = std::mem::take(&mut listing.progress().withheld);
    withheld.extend(begun);
    for contents in &withheld {
        deliver(&listing.dir.view(), listing.announce_once(), contents, out);
    }
    if !withheld.is_empty() {
        out.incomplete(&listing.dir.view());
    }
    let repeated = listing.progress().take_repeated();
    repeated.note(listing.dir.root, out);
}

impl<D: DirectorySource> Lister<D> {
    /// Makes the directory in work a shared one, and reads on.
    ///
    /// `self.listed` holds a piece that was not stat'ed yet. `known` are its
    /// subdirectories, where they were searched.
    pub(super) fn share(
        &mut self,
        mut dir: OpenDir,
        fd: DirHandle,
        known: Option<Arc<KnownSubdirs>>,
        out: &mut dyn Outlet,
    ) -> Fate {
        // A piece does not know the number of subdirectories in other pieces, and
        // delivered entries cannot be read again.
        dir.link_stop_is_off = true;
        if let Some(known) = &known {
            dir.before.get_or_insert(known.stamp);
        }
        let read = std::mem::replace(&mut self.contents, Contents::new(&self.context.options));
        let fd = SharedFd::new(fd);
        let listing =
            SharedListing::new(dir, Arc::clone(&fd), read, self.seen.take(), known, false);
        if self.piece(&listing, &fd, out) {
            self.read_on(&listing, &fd, out);
        }
        Fate::Open
    }

    /// Lists a directory whose entries workers stat later.
    pub(super) fn gather(&mut self, dir: OpenDir, fd: DirHandle, out: &mut dyn Outlet) -> Fate {
        // The empty contents make sure that an empty directory is delivered too.
        let begun = Contents::new(&self.context.options);
        self.begin_reading(&dir);
        let seen = self.seen.take();
        let listing = SharedListing::new(dir, SharedFd::new(fd), begun, seen, None, true);
        out.gathering(Gathering::Begins);
        self.gather_on(&listing, out);
        Fate::Open
    }

    /// Lists up to `WITHHELD_MAX` more entries and queues them.
    fn gather_on(&mut self, listing: &Arc<SharedListing>, out: &mut dyn Outlet) {
        let fd = listing.fd().expect("a gathered listing stays open");
        let mut entries = 0;
        while entries < self.context.options.withheld_max {
            if !self.read_next(listing, &fd, out) {
                return;
            }
            let part = std::mem::take(&mut self.listed);
            entries += part.len();
            // Each entry counts as a piece, because each is done at another time.
            listing.progress().parts += part.len();
            out.queue_part(listing, part);
        }
        // The directory is too large to be withheld.
        listing.progress().released = true;
        out.queue_rest(Arc::clone(listing));
    }

    /// Stats an entry whose turn has come.
    pub(super) fn entry(&mut self, entry: &Deferred, out: &mut dyn Outlet) {
        let Deferred {
            listing,
            part,
            index,
            ..
        } = entry;
        // One worker goes on with the contents that another one has begun.
        let begun = listing.progress().withheld.pop();
        let mut contents = begun.unwrap_or_else(|| Contents::new(&self.context.options));
        let fd = listing.fd().expect("a gathered listing stays open");
        let one = *index..*index + 1;
        let reading = part.read_some(one, &fd, &listing.dir, &self.context, &mut contents, out);
        if reading != Reading::Whole {
            return cut_off(listing, Some(contents), out);
        }
        let released = listing.progress().released;
        if released && contents.entry_count() >= DELIVERED_AT_ONCE {
            self.hand_out(listing, &mut contents, listing.announce_once(), out);
        } else {
            listing.progress().withheld.push(contents);
        }
        self.part_done(listing, out);
    }

    /// Reads on: the worker has taken the token from the queue.
    pub(super) fn rest(&mut self, listing: &Arc<SharedListing>, out: &mut dyn Outlet) {
        if listing.is_gathered {
            return self.gather_on(listing, out);
        }
        match self.open_to_read_on(listing) {
            Ok(fd) => self.read_on(listing, &fd, out),
            Err(failure) => {
                listing.progress().failed = Some(failure);
                self.part_done(listing, out);
            }
        }
    }

    /// The descriptor at the position to read on, for the worker with the token.
    fn open_to_read_on(&mut self, listing: &SharedListing) -> Result<Arc<SharedFd>, Failure> {
        if let Some(fd) = listing.fd() {
            return Ok(fd);
        }
        let fd = self.open_shared(listing)?;
        let mut progress = listing.progress();
        self.context.source.seek(&fd, progress.position)?;
        progress.fd = Some(Arc::clone(&fd));
        Ok(fd)
    }

    /// A descriptor of the directory: the shared one, or a new one if that is closed.
    fn open_shared(&mut self, listing: &SharedListing) -> Result<Arc<SharedFd>, Failure> {
        if let Some(fd) = listing.fd() {
            return Ok(fd);
        }
        let identity = self.identity_of_shared(listing, None);
        self.open_again(&listing.dir, identity).map(SharedFd::new)
    }

    /// Queues the token for any free worker.
    ///
    /// At the descriptor bound the directory is closed meanwhile, if its identity is
    /// known.
    fn pass_token(&self, listing: &Arc<SharedListing>, fd: &Arc<SharedFd>, out: &mut dyn Backlog) {
        if !fd.is_kept(&self.context.budget) && self.identity_of_shared(listing, Some(fd)).is_some()
        {
            // If the call fails, the directory stays open.
            if let Ok(position) = self.context.source.position(fd) {
                let mut progress = listing.progress();
                progress.position = position;
                progress.fd = None;
            }
        }
        out.queue_rest(Arc::clone(listing));
    }

    /// The identity of a shared directory. Absent if a stat failed or nobody asked
    /// while it was open.
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

    /// Reads the next buffer. Where that has no entries or the scan was cancelled, this
    /// worker has done its part, and the answer is false.
    fn read_next(
        &mut self,
        listing: &Arc<SharedListing>,
        fd: &Arc<SharedFd>,
        out: &mut dyn Outlet,
    ) -> bool {
        match self.fill_shared(listing, fd) {
            Ok(More::Entries) if !out.cancelled() => return true,
            Ok(More::Entries) => cut_off(listing, None, out),
            Ok(More::End) => self.part_done(listing, out),
            Err(failure) => {
                listing.progress().failed = Some(failure);
                self.part_done(listing, out);
            }
        }
        false
    }

    /// Reads on until the directory ends or another worker may have the token.
    fn read_on(&mut self, listing: &Arc<SharedListing>, fd: &Arc<SharedFd>, out: &mut dyn Outlet) {
        self.enlarge_buffer();
        loop {
            if !self.read_next(listing, fd, out) {
                return;
            }
            if !self.piece(listing, fd, out) {
                return;
            }
        }
    }

    /// Reads the next entries into `self.listed`, for the worker with the token.
    fn fill_shared(&mut self, listing: &SharedListing, fd: &DirHandle) -> Result<More, Failure> {
        // Nobody else reads meanwhile, so nobody misses them.
        self.seen = match listing.dir.mount.served {
            true => listing.progress().seen.take(),
            false => None,
        };
        let more = self.fill(fd);
        if let Some(seen) = self.seen.take() {
            listing.progress().seen = Some(seen);
        }
        more
    }

    /// Works on the piece in `self.listed`.
    ///
    /// Returns whether this worker still has the token.
    fn piece(
        &mut self,
        listing: &Arc<SharedListing>,
        fd: &Arc<SharedFd>,
        out: &mut dyn Outlet,
    ) -> bool {
        let options = &self.context.options;
        let shares = options.calls.sharing == Sharing::WhenIdle;
        // Nothing is searched by the link count in a shared directory any more.
        let has_unknown = listing.known.is_none() && self.listed.has_unknown(options.follows);
        let needs_stats = self.context.stats_entries || has_unknown;
        if shares && needs_stats && out.is_slow() {
            let start = self.listed.len().min(PART_MIN);
            self.hand_parts(listing, start, out);
        }
        // With stats, the token is passed on even if nobody is idle. Else the first
        // idle worker would wait until this one has done its piece. For types alone the
        // listing is all the work, and only one worker at a time can do that: a
        // hand-over would only cost a wake-up.
        let passes_on = match needs_stats {
            true => out.has_company(),
            false if self.listed.has_types_alone() => false,
            false => out.somebody_idle(),
        };
        let mut passed_on = false;
        {
            let mut progress = listing.progress();
            progress.token = match progress.queued_parts > QUEUED_PARTS_MAX {
                true => ReadToken::Waits,
                false => ReadToken::InUse,
            };
            let waits = progress.token == ReadToken::Waits;
            if waits || (shares && passes_on) {
                passed_on = true;
                progress.parts += 1;
            }
            if passed_on && !waits {
                drop(progress);
                self.pass_token(listing, fd, out);
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

    /// Works on a part that another worker has listed.
    pub(super) fn part(
        &mut self,
        listing: &Arc<SharedListing>,
        part: Listed,
        out: &mut dyn Outlet,
    ) {
        let token_comes = {
            let mut progress = listing.progress();
            progress.queued_parts -= 1;
            let is_low = progress.queued_parts <= QUEUED_PARTS_MAX / 2;
            let comes = progress.token == ReadToken::Waits && is_low;
            if comes {
                progress.token = ReadToken::InUse;
            }
            comes
        };
        let fd = self.open_shared(listing);
        if token_comes {
            match &fd {
                Ok(fd) if listing.fd().is_some() => self.pass_token(listing, fd, out),
                _ => out.queue_rest(Arc::clone(listing)),
            }
        }
        self.listed = part;
        let mut passed_on = true;
        match fd {
            Ok(fd) if !self.digest(listing, &fd, &mut passed_on, out) => return,
            Ok(_) => {}
            Err(failure) => listing.progress().failed = Some(failure),
        }
        self.part_done(listing, out);
    }

    /// Queues the entries from `start` on, in parts, for any worker.
    fn hand_parts(&mut self, listing: &Arc<SharedListing>, start: usize, out: &mut dyn Backlog) {
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

    /// Stats the entries in `self.listed`, and delivers or withholds them.
    ///
    /// Returns false if the scan was cancelled. `passed_on` says whether the token was
    /// queued; this call may queue it.
    fn digest(
        &mut self,
        listing: &Arc<SharedListing>,
        fd: &Arc<SharedFd>,
        passed_on: &mut bool,
        out: &mut dyn Outlet,
    ) -> bool {
        // One worker goes on with the contents that another one has begun. So there
        // are at most as many contents as workers, however small the pieces are.
        let begun = listing.progress().withheld.pop();
        let mut contents = begun.unwrap_or_else(|| {
            self.contents.clear();
            std::mem::replace(&mut self.contents, Contents::new(&self.context.options))
        });
        contents.link_stop.known.clone_from(&listing.known);
        let before = contents.entry_count();
        let (dir, context) = (&listing.dir, &self.context);
        let reading = (self.listed).read_attributes(fd, dir, context, &mut contents, out);
        match reading {
            Reading::Whole => {}
            Reading::Stopped => {
                cut_off(listing, Some(contents), out);
                return false;
            }
            Reading::Until(index) => self.hand_parts(listing, index, out),
        }
        // The block ends the lock: the calls below take it again.
        let released = {
            let mut progress = listing.progress();
            progress.withheld_entries += contents.entry_count() - before;
            progress.released
        };
        if released {
            // The token enters the frontier before the subdirectories. So these are
            // listed before more of them are read.
            if !*passed_on && !contents.subdir_offsets.is_empty() {
                listing.progress().parts += 1;
                self.pass_token(listing, fd, out);
                *passed_on = true;
            }
            self.hand_out(listing, &mut contents, listing.announce_once(), out);
            self.contents = contents;
        } else {
            let mut withheld = {
                let mut progress = listing.progress();
                progress.withheld.push(contents);
                // Another worker may have released it since, and does not look again.
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

    /// Notes that a piece is done. The last one verifies and ends the directory.
    fn part_done(&mut self, listing: &Arc<SharedListing>, out: &mut dyn Outlet) {
        let mut progress = listing.progress();
        progress.parts -= 1;
        if progress.parts > 0 {
            drop(progress);
            if out.cancelled() {
                // The others may have ended, and do not look again.
                cut_off(listing, None, out);
            }
            return;
        }
        let released = progress.released;
        let failed = progress.failed;
        let mut repeated = progress.take_repeated();
        let mut withheld = std::mem::take(&mut progress.withheld);
        let mut missing = std::mem::take(&mut progress.missing);
        let lost_sight = progress.lost_sight;
        // Absent only if the directory could not be opened again.
        let fd = progress.fd.clone();
        drop(progress);

        let dir = &listing.dir;
        let root = dir.root;
        let held_still = |fd: &Arc<SharedFd>| dir.held_still(fd, &self.context.source);
        let mut still = failed.is_some() || fd.as_ref().is_some_and(held_still);
        let mut rereads = 0;
        let mut repeats = Repeats::default();
        // Withheld entries can be dropped and read again, by one worker.
        while !still && !released && rereads < REREADS_MAX && !out.cancelled() {
            rereads += 1;
            if let Some(fd) = &fd {
                self.begin_repeat(&mut repeats, fd);
            }
            let read = self.reread(listing, out);
            let print = self.print.take();
            let Some((contents, stamp, held)) = read else {
                break;
            };
            repeated = self.take_repeated();
            still = held;
            if !still && repeats.is_same(print, Some(stamp), &contents) {
                out.note(root, Note::TimesMoved);
                still = true;
            }
            withheld = vec![contents];
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
                // The error of the directory is reported below.
                _ => contents.vanished += missing.len() as u64,
            }
            withheld.push(contents);
        }
        for contents in &mut withheld {
            self.hand_out(listing, contents, listing.announce_once(), out);
        }
        repeated.note(root, out);
        let failed = failed.or(repeated.may_be_more.then_some(Failure::DAMAGED));
        let identity = self.identity_of_shared(listing, fd.as_ref());
        if matches!(failed, Some(Failure::NotFound(_))) && self.is_gone(&dir.place, identity, out) {
            // The directory was removed while it was read.
            out.note(root, Note::Vanished);
        } else if let Some(failure) = failed {
            out.failed(root, dir.place.path(), Op::Read, failure);
            out.incomplete(&dir.view());
        } else if !still || lost_sight {
            out.changed(&dir.view());
        }
        out.listed(&dir.view(), ListedBy::Several);
        if listing.pieces.take_one() {
            finish(&dir.view(), out);
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
        out: &mut dyn Outlet,
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
            let pieces = Some(&listing.pieces);
            let node = (listing.dir).node(contents, pieces, mount, handle, identity);
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        }
        deliver(&listing.dir.view(), announce, contents, out);
        if let Some(parent) = parent {
            self.deliver_doubles(&parent, &doubles, out);
            settle(&parent, out);
        }
    }

    /// Stats the entries in `self.listed`, alone.
    ///
    /// Returns false if the scan was cancelled.
    fn read_all(
        &self,
        fd: &DirHandle,
        dir: &OpenDir,
        contents: &mut Contents,
        out: &dyn Pace,
    ) -> bool {
        let mut start = 0;
        loop {
            let rest = start..self.listed.len();
            match (self.listed).read_some(rest, fd, dir, &self.context, contents, out) {
                Reading::Whole => return true,
                Reading::Stopped => return false,
                Reading::Until(index) => start = index,
            }
        }
    }

    /// Reads the whole directory again, and returns its stamp and whether it held still.
    ///
    /// `None` if it cannot be read, has become too large to be withheld, or the scan
    /// was cancelled.
    fn reread(
        &mut self,
        listing: &SharedListing,
        out: &mut dyn Outlet,
    ) -> Option<(Contents, ChangeStamp, bool)> {
        let fd = listing.fd()?;
        self.context.source.seek(&fd, 0).ok()?;
        let before = self.context.source.stat_directory(&fd).ok()?.change_stamp();
        let mut contents = Contents::new(&self.context.options);
        self.begin_reading(&listing.dir);
        loop {
            match self.fill(&fd).ok()? {
                More::End => break,
                More::Entries => {}
            }
            let room = contents.entry_count() + self.listed.len_with_counted()
                <= self.context.options.withheld_max;
            if !room || !self.read_all(&fd, &listing.dir, &mut contents, out) {
                return None;
            }
        }
        let after = self.context.source.stat_directory(&fd).ok()?;
        let still = before == after.change_stamp();
        Some((contents, before, still))
    }
}
