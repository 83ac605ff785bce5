// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads an open directory, verifies that it held still, and delivers it.

use std::sync::Arc;

use super::attributes::Reading;
use super::context::Visit;
use super::delivery::{deliver, queue};
use super::finished::settle;
use super::in_place::InPlaceDir;
use super::job::Fate;
use super::listed::KeptNames;
use super::open_dir::OpenDir;
use super::options::PART_MIN;
use super::outlet::{ListedBy, Note, Outlet, Pace};
use super::repeats::Repeats;
use super::seen_names::{Repeated, SeenNames};
use super::source::{DirectorySource, EntryStat, More};
use super::suspicion::Confirmed;
use super::{Lister, REREADS_MAX};
use crate::calls::{Sharing, StatOrder};
use crate::dir_handle::DirHandle;
use crate::directory::{DirState, Directory, MountMark, Place};
use crate::entry::{Attributes, FileId, FileType};
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::Handle;

/// The buffers of a directory before it counts as large. The second one may be its last,
/// and may be nearly empty.
const SMALL_BUFFERS: u32 = 2;

/// A directory that was just opened.
pub(super) struct Opening {
    pub(super) fd: DirHandle,
    pub(super) place: Place,
    pub(super) root: u32,
    pub(super) depth: u32,
    /// The parent's mount. Absent if a mount begins here.
    pub(super) parent_mount: Option<MountMark>,
    /// Whether a symbolic link led to it.
    pub(super) followed: bool,
    /// Whether the attempt to read it in place has ended with the kernel.
    pub(super) in_place_was_tried: bool,
    /// See [`OpenDir::holds_doubles`](super::open_dir::OpenDir::holds_doubles).
    pub(super) holds_doubles: bool,
}

/// The end of reading a directory.
enum End {
    Complete,
    Failed(Failure),
    Cancelled,
    CacheDirectory,
    /// There are more entries than a worker withholds, or another worker is idle.
    /// `listed` holds entries that were not stat'ed.
    Share,
}

/// Something that is wrong with a directory that was read to its end.
enum Trouble {
    Failed(Failure),
    Changed,
}

impl OpenDir {
    /// Whether the directory is unchanged since it was opened.
    ///
    /// True without a call if it has no stamp of before.
    pub(super) fn held_still(&self, dir: &DirHandle, source: &impl DirectorySource) -> bool {
        let Some(before) = self.before else {
            return true;
        };
        let after = source.stat_directory(dir);
        after.is_ok_and(|after| before == after.change_stamp())
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Reads, verifies and delivers an open directory.
    pub(super) fn enter(&mut self, opening: Opening, out: &mut dyn Outlet) -> Fate {
        self.dirs_begun += 1;
        let (dir, fd) = match self.admit(opening, out) {
            Ok(admitted) => admitted,
            Err(fate) => return fate,
        };
        let options = &self.context.options;
        // A `CACHEDIR.TAG` can be the last entry: the directory must be read whole.
        let may_gather = self.context.stats_entries && !options.exclusions.leaves_out_caches();
        if may_gather && out.gathers() {
            return self.gather(dir, fd, out);
        }
        self.read_until_still(dir, fd, out)
    }

    /// Decides whether the lister lists a directory that was just opened.
    ///
    /// Its fate if not: it was read in place, or belongs elsewhere, or cannot be read.
    fn admit(
        &mut self,
        opening: Opening,
        out: &mut dyn Outlet,
    ) -> Result<(OpenDir, DirHandle), Fate> {
        let Opening {
            fd,
            place,
            root,
            depth,
            parent_mount,
            followed,
            in_place_was_tried,
            mut holds_doubles,
        } = opening;
        let context = Arc::clone(&self.context);
        let (mut before, mut identity) = (None, None);
        let mut attributes = Attributes::of_type(FileType::Directory);
        let mut mount = parent_mount.unwrap_or(MountMark {
            id: 0,
            shared: false,
            served: false,
        });
        // A second attempt by the same inode number would fail again.
        let may_be_in_place =
            parent_mount.is_none() || !in_place_was_tried && self.is_found_opened(mount.id, &place);
        if may_be_in_place || context.stats_directories(mount.shared) {
            let found = match context.source.stat_directory(&fd) {
                Ok(found) => found,
                Err(failure) => {
                    self.unreadable(&place, root, depth, None, failure, out);
                    return Err(Fate::Settled);
                }
            };
            if depth > 0 && out.cancelled() {
                return Err(Fate::Open);
            }
            // The parent's mount, unless device numbers stand for mounts: then a nested
            // btrfs subvolume has its own.
            mount.id = found.mount();
            if depth == 0 && context.has_several_roots() {
                // Before the first entry is read: a root can be a layer of an overlay
                // below a later one.
                context.is_reached_twice(mount.id);
            }
            if parent_mount.is_none() {
                // `mount_below` decides this for a root with subdirectories.
                mount.shared = depth > 0 && context.is_reached_twice(mount.id);
                mount.served = !found.is_surely_local() && context.source.is_served(&fd);
            }
            let dir = InPlaceDir {
                place: &place,
                root,
                depth,
                mount,
                followed,
                is_visited: true,
            };
            if let Some(fate) = self.left_out(&found, &dir, out) {
                return Err(fate);
            }
            identity = Some(found.id());
            // It is large enough to look for a volume now.
            let is_first_large = context.source.is_worth_in_place(found.size_bytes())
                && self.in_place_of(mount.id, 0).is_none();
            if may_be_in_place || is_first_large {
                holds_doubles |= self.place_or_suspect(&fd, &found, &dir, out)?;
            }
            if context.options.wanted.need_stat() {
                attributes = found.attributes(context.options.wanted);
                if context.counts_at_limit(found.id(), mount) {
                    attributes = attributes.without_bytes();
                }
                before = Some(found.change_stamp());
            }
        }
        let (ignore, not_read) = context.ignore_rules(&place, &fd);
        let dir = OpenDir {
            ignore,
            id: out.next_id(),
            place,
            root,
            depth,
            mount,
            followed,
            attributes,
            identity,
            before,
            link_stop_is_off: false,
            mark: 0,
            holds_doubles,
        };
        context.begin_layer(dir.id, dir.identity);
        if !not_read.is_empty() {
            out.incomplete(&dir.view());
        }
        for (path, failure) in not_read {
            out.failed(root, path, Op::Patterns, failure);
        }
        Ok((dir, fd))
    }

    /// Looks whether an open directory is not to be listed: it was visited, belongs to
    /// another root, lies above itself, or at the depth limit. Absent if it is.
    fn left_out(
        &mut self,
        found: &D::Stat,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Option<Fate> {
        let context = Arc::clone(&self.context);
        let (place, root, depth) = (dir.place, dir.root, dir.depth);
        match context.visit(found.id(), dir.mount, root, depth) {
            Visit::First => {}
            Visit::Again => {
                self.left_standing(place, root, depth, DirState::Crossing, out);
                out.note(root, Note::Crossing);
                return Some(Fate::Settled);
            }
            Visit::OtherRoot => {
                context.lack(None, place);
                return Some(Fate::Settled);
            }
        }
        if place.leads_through(found.id(), dir.mount.id) {
            // The kernel's error if it notices the circle itself: d_splice_alias,
            // fs/dcache.c.
            self.unreadable(place, root, depth, None, Failure::LOOP, out);
            return Some(Fate::Settled);
        }
        // Only a root gets here: others are not opened at the limit.
        if depth >= context.options.max_depth {
            let attributes = found.attributes(context.options.wanted);
            self.at_limit(place, root, depth, &attributes, out);
            return Some(Fate::Settled);
        }
        None
    }

    /// Reads an open directory in place, if that can be, or judges the suspicion that
    /// keeps it from that: whether two names in it lead to one subdirectory.
    ///
    /// Its fate if it needs no listing any more.
    fn place_or_suspect(
        &mut self,
        fd: &DirHandle,
        found: &D::Stat,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fate> {
        if let Some(fate) = self.opened_in_place(fd, found, dir, out) {
            return Err(fate);
        }
        match self.confirm_suspicion(dir, fd) {
            Confirmed::Double => {
                self.unreadable(dir.place, dir.root, dir.depth, None, Failure::DAMAGED, out);
                Err(Fate::Settled)
            }
            Confirmed::HoldsDoubles => Ok(true),
            Confirmed::Nothing => Ok(false),
        }
    }

    /// Lists a directory, again while it changes, and delivers it.
    fn read_until_still(&mut self, mut dir: OpenDir, fd: DirHandle, out: &mut dyn Outlet) -> Fate {
        let (root, depth) = (dir.root, dir.depth);
        let context = Arc::clone(&self.context);
        let mut rereads = 0;
        let mut repeats = None;
        loop {
            self.contents.clear();
            self.begin_reading(&dir);
            let end = self.read_directory(&fd, &dir, out);
            let print = self.print.take();
            match end {
                End::Cancelled => {
                    self.cut_off(&dir, out);
                    return Fate::Open;
                }
                End::Share if self.contents.link_stop.can_be_used() => {
                    return match self.search_subdirs(&fd, &dir, out) {
                        Ok(known) => self.share(dir, fd, known, out),
                        Err(failure) => self.finish(&dir, fd, Some(Trouble::Failed(failure)), out),
                    };
                }
                End::Share => {
                    return self.share(dir, fd, None, out);
                }
                End::CacheDirectory => {
                    context.lack(Some(dir.id), &dir.place);
                    self.left_standing(&dir.place, root, depth, DirState::Excluded, out);
                    out.note(root, Note::Excluded);
                    return Fate::Settled;
                }
                // "Not found" for a listing: the directory was removed after the open,
                // and its entries before.
                End::Failed(Failure::NotFound(_))
                    if self.is_gone(&dir.place, dir.identity, out) =>
                {
                    out.note(root, Note::Vanished);
                    return Fate::Settled;
                }
                End::Failed(Failure::NotFound(_)) if self.is_removed_and_open(&fd) => {
                    return self.finish(&dir, fd, None, out);
                }
                End::Failed(failure) => {
                    return self.finish(&dir, fd, Some(Trouble::Failed(failure)), out);
                }
                End::Complete => {}
            }
            let link_stop = &self.contents.link_stop;
            dir.link_stop_is_off |= !link_stop.can_be_trusted(&fd, &context.source);
            let doubtful = dir.link_stop_is_off && link_stop.was_used();
            if !doubtful && dir.held_still(&fd, &context.source) {
                self.judge_missing_here(&fd, &dir, out);
                return self.finish(&dir, fd, None, out);
            }
            let repeats = repeats.get_or_insert_with(Repeats::default);
            if !doubtful && repeats.is_same(print, dir.before, &self.contents) {
                out.note(root, Note::TimesMoved);
                return self.finish(&dir, fd, None, out);
            }
            if rereads == REREADS_MAX {
                self.judge_missing_here(&fd, &dir, out);
                return self.finish(&dir, fd, Some(Trouble::Changed), out);
            }
            rereads += 1;
            self.begin_repeat(repeats, &fd);
            self.rewind(&mut dir, &fd);
        }
    }

    /// Whether a directory without a listing was removed before, and something still leads
    /// to it: a bind mount, or the working directory. The kernel lists no such directory,
    /// not as an empty one either: `IS_DEADDIR` in fs/readdir.c.
    fn is_removed_and_open(&self, fd: &DirHandle) -> bool {
        let stat = self.context.source.stat_directory(fd);
        self.contents.entry_count() == 0 && stat.is_ok_and(|stat| stat.links() == 0)
    }

    /// Delivers what was read of a directory when the scan was cancelled. Nobody has
    /// verified that the directory held still.
    fn cut_off(&mut self, dir: &OpenDir, out: &mut dyn Outlet) {
        if !out.takes_parts() {
            return;
        }
        let view = Directory {
            own: true,
            ..dir.view()
        };
        deliver(&view, true, &self.contents, out);
        out.incomplete(&view);
        self.take_repeated().note(dir.root, out);
    }

    /// Judges the missing names of the directory in `self.contents`.
    fn judge_missing_here(&mut self, fd: &DirHandle, dir: &OpenDir, out: &dyn Pace) {
        if self.contents.missing.is_empty() {
            return;
        }
        let mut contents = std::mem::take(&mut self.contents);
        let missing = std::mem::take(&mut contents.missing);
        self.judge_missing(missing, fd, dir, &mut contents, out);
        self.contents = contents;
    }

    /// Prepares to read a directory from its start.
    pub(super) fn begin_reading(&mut self, dir: &OpenDir) {
        let names_max = self.context.options.names_max;
        self.seen = (dir.mount.served).then(|| SeenNames::of_at_most(names_max));
    }

    /// The names that came again in the reading in progress.
    pub(super) fn take_repeated(&mut self) -> Repeated {
        (self.seen.as_mut()).map_or_else(Repeated::default, SeenNames::take_repeated)
    }

    /// Reads the next entries of an open directory into `listed`.
    pub(super) fn fill(&mut self, fd: &DirHandle) -> Result<More, Failure> {
        self.listed.clear();
        self.fill_on(fd)
    }

    /// Appends the next entries of an open directory to `listed`.
    fn fill_on(&mut self, fd: &DirHandle) -> Result<More, Failure> {
        let names = match self.context.options.shortcuts.types_only {
            true => KeptNames::OfDirectories,
            false => KeptNames::All,
        };
        let (buffer, listed) = (&mut self.buffer, &mut self.listed);
        let start = listed.len();
        let more = match &mut self.seen {
            None => self.context.source.list(fd, buffer, names, listed)?,
            // The error that the kernel gave for NFS before Linux 5.18:
            // nfs_readdir_search_for_cookie, fs/nfs/dir.c.
            Some(seen) if seen.goes_in_circles() => return Err(Failure::LOOP),
            Some(seen) => {
                let more = (self.context.source).list(fd, buffer, KeptNames::All, listed)?;
                listed.keep_first(start, names, seen);
                more
            }
        };
        if let Some(print) = &mut self.print
            && more == More::Entries
        {
            print.add(listed, start);
        }
        Ok(more)
    }

    /// Seeks a changed directory to its start, and takes a new change stamp.
    fn rewind(&self, dir: &mut OpenDir, fd: &DirHandle) {
        // If either call fails, the next call on the directory fails as well and
        // reports it.
        let _ = self.context.source.seek(fd, 0);
        if dir.before.is_some()
            && let Ok(found) = self.context.source.stat_directory(fd)
        {
            dir.attributes = found.attributes(self.context.options.wanted);
            dir.before = Some(found.change_stamp());
        }
    }

    /// Reads entries until the directory ends or must be shared.
    fn read_directory(&mut self, fd: &DirHandle, dir: &OpenDir, out: &mut dyn Outlet) -> End {
        let sorts = self.context.options.calls.stat_order == StatOrder::Inode;
        let withheld_max = self.context.options.withheld_max;
        let mut buffers: u32 = 0;
        loop {
            if buffers == SMALL_BUFFERS {
                self.enlarge_buffer();
            }
            match self.fill(fd) {
                Ok(More::Entries) => {}
                Ok(More::End) => return End::Complete,
                Err(failure) => return End::Failed(failure),
            }
            // Up to `withheld_max` entries are listed before the first stat: the likely
            // directories of the whole directory come first, not those of each buffer.
            let gathers = sorts || self.seeks_likely_first(fd, dir);
            // The end, after these entries.
            let mut end = None;
            while gathers && self.listed.len() < withheld_max && !out.cancelled() {
                match self.fill_on(fd) {
                    Ok(More::Entries) => {}
                    Ok(More::End) => {
                        end = Some(End::Complete);
                        break;
                    }
                    Err(failure) => {
                        end = Some(End::Failed(failure));
                        break;
                    }
                }
            }
            if sorts {
                self.listed.sort_by_inode();
            }
            if out.cancelled() {
                return End::Cancelled;
            }
            if self.context.options.exclusions.leaves_out_caches()
                && self.listed.holds(c"CACHEDIR.TAG")
                && self.context.source.is_cache_directory(fd)
            {
                return End::CacheDirectory;
            }
            buffers += 1;
            // What the first entries cost would be lost.
            let is_to_be_searched = end.is_none()
                && self.listed.len() >= withheld_max
                && self.contents.link_stop.can_be_used();
            let count = self.contents.entry_count() + self.listed.len_with_counted();
            if count > withheld_max || is_to_be_searched {
                return End::Share;
            }
            let may_share =
                self.needs_stats() && self.context.options.calls.sharing == Sharing::WhenIdle;
            // `somebody_idle` may start a worker, so it is asked last.
            let is_worth_it = || match out.is_slow() {
                true => self.listed.len() >= 2 * PART_MIN,
                false => buffers > 1 && out.somebody_idle(),
            };
            if may_share && is_worth_it() {
                return End::Share;
            }
            let (listed, contents) = (&self.listed, &mut self.contents);
            match listed.read_attributes(fd, dir, &self.context, contents, out) {
                Reading::Whole => {
                    if let Some(end) = end {
                        return end;
                    }
                }
                Reading::Stopped => return End::Cancelled,
                Reading::Until(index) => {
                    self.listed = self.listed.split_off(index);
                    return End::Share;
                }
            }
        }
    }

    /// Whether likely directories are to be stat'ed first among `listed`.
    ///
    /// Only where a link count can end the search: else every entry is stat'ed anyway,
    /// and other workers can take some of them at once.
    fn seeks_likely_first(&mut self, fd: &DirHandle, dir: &OpenDir) -> bool {
        let options = &self.context.options;
        options.shortcuts.shape_only
            && options.calls.likely_first
            && self.listed.has_unknown(options.follows)
            && self.contents.link_stop.ask(fd, dir, &self.context)
    }

    /// Whether the entries in `listed` are stat'ed one and all.
    pub(super) fn needs_stats(&self) -> bool {
        let options = &self.context.options;
        let is_searched = self.contents.link_stop.can_be_used();
        self.context.stats_entries || !is_searched && self.listed.has_unknown(options.follows)
    }

    /// Queues the subdirectories, delivers the entries, and says what went wrong.
    fn finish(
        &mut self,
        dir: &OpenDir,
        fd: DirHandle,
        trouble: Option<Trouble>,
        out: &mut dyn Outlet,
    ) -> Fate {
        let doubles = match dir.holds_doubles {
            true => self.contents.take_doubles(),
            false => Vec::new(),
        };
        let repeated = self.take_repeated();
        let doubt = (repeated.may_be_more).then_some(Trouble::Failed(Failure::DAMAGED));
        let trouble = trouble.or(doubt);
        let contents = &self.contents;
        let mut parent = None;
        if !contents.waiting_names.is_empty() {
            let (handle, over) = match self.context.budget.keep(fd) {
                Ok(handle) => (handle, None),
                Err(fd) => (Handle::Closed, Some(fd)),
            };
            let identity = match &over {
                Some(fd) => self.identity_of(dir, fd),
                None => dir.identity,
            };
            let mount = self.mount_below(dir);
            let node = dir.node(contents, None, mount, handle, identity);
            if let Some(fd) = over {
                self.kept = Some((Arc::clone(&node.dir), fd));
            }
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        } else {
            drop(fd);
        }
        let is_last = parent.is_none() && trouble.is_none();
        let view = Directory {
            own: true,
            is_last,
            ..dir.view()
        };
        deliver(&view, true, &self.contents, out);
        repeated.note(dir.root, out);
        if let Some(parent) = &parent {
            self.deliver_doubles(parent, &doubles, out);
        }
        match trouble {
            None => {}
            Some(Trouble::Failed(failure)) => {
                out.failed(dir.root, dir.place.path(), Op::Read, failure);
                out.incomplete(&view);
            }
            Some(Trouble::Changed) => out.changed(&view),
        }
        if !is_last {
            out.listed(&view, ListedBy::One);
        }
        match parent {
            Some(parent) => {
                settle(&parent, out);
                Fate::Open
            }
            None => {
                if !is_last {
                    out.finished(&view);
                }
                Fate::Settled
            }
        }
    }

    /// The mount of the subdirectories.
    ///
    /// For a root, it asks whether another mount shows the same directories. It does so
    /// only here, because a root without subdirectories never needs the answer.
    pub(crate) fn mount_below(&self, dir: &OpenDir) -> MountMark {
        let mut mount = dir.mount;
        if dir.depth == 0 && self.context.is_reached_twice(mount.id) {
            mount.shared = true;
            if let Some(id) = dir.identity {
                self.context.visited.insert(id);
            }
        }
        mount
    }

    /// The identity of a directory that is going to be closed. Absent if a stat fails.
    pub(super) fn identity_of(&self, dir: &OpenDir, fd: &DirHandle) -> Option<FileId> {
        dir.identity
            .or_else(|| self.context.source.identity(fd).ok())
    }
}
