// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a directory in place of the kernel, and delivers it whole or in pieces.

use std::ffi::CStr;
use std::sync::{Arc, Weak};

use super::Lister;
use super::attributes::sort_in;
use super::contents::Contents;
use super::context::Visit;
use super::delivery::{deliver, queue};
use super::finished::settle;
use super::in_place::{
    Begun, Child, Counted, InPlace, InPlaceDir, Node, Piece, StatLater, Suspicion,
};
use super::job::Fate;
use super::open_dir::OpenDir;
use super::options::WITHHELD_MAX;
use super::outlet::{ListedBy, Note, Outlet};
use super::source::{DirectorySource, EntryStat};
use crate::dir_handle::DirHandle;
use crate::directory::{Dir, DirState, Directory, MountMark, Place};
use crate::entry::Attributes;
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::Handle;
use crate::tally;
use crate::unfinished::Unfinished;

/// The state of a lister for reading in place.
#[derive(Default)]
pub(super) struct InPlaceState {
    /// The suspicion about the directory that was left to the kernel last.
    pub(super) suspicion: Option<(Node, Suspicion)>,
    stat_later: StatLater,
    /// The last mount, and the reader of its file system if there is one.
    near: Option<(u64, Option<Box<dyn InPlace>>)>,
}

/// The end of reading a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Delivered(Fate),
    /// Nothing was delivered: the kernel must read the directory.
    ByKernel,
    Cancelled,
}

/// The end of an attempt to read a listed subdirectory in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Done(Fate),
    /// The kernel must read it: a second attempt would end so, too.
    ByKernel,
    /// The kernel must open it, and another attempt may follow.
    Open,
}

/// A directory that is read, and the buffers for its next piece.
struct Part<'a> {
    volume: &'a mut dyn InPlace,
    open_dir: &'a OpenDir,
    contents: &'a mut Contents,
    stat_later: &'a mut StatLater,
}

/// A piece of a directory that was read.
#[derive(Clone, Copy, Debug)]
struct ReadPiece {
    piece: Piece,
    /// Whether nothing has changed meanwhile, and every entry was found.
    is_sound: bool,
}

/// The progress in delivering a directory.
struct Delivery {
    /// The kind of visit. Absent until the first piece is ready.
    visit: Option<Visit>,
    is_released: bool,
    is_image: bool,
    /// The nodes of the pieces, where there is more than one, and the listing itself.
    pieces: Option<Arc<Unfinished>>,
    /// The node of the last piece, until nothing more is said of the directory.
    node: Option<Arc<Dir>>,
    /// Whether the directory was finished with the delivery of a piece.
    is_finished: bool,
}

impl InPlaceDir<'_> {
    /// Makes the [`OpenDir`] of a directory that no descriptor stands for.
    fn begin<D: DirectorySource>(
        &self,
        lister: &mut Lister<D>,
        node: Node,
        attributes: Attributes,
        out: &mut dyn Outlet,
    ) -> OpenDir {
        let mut open_dir = OpenDir {
            place: self.place.clone(),
            id: out.next_id(),
            root: self.root,
            depth: self.depth,
            mount: self.mount,
            followed: self.followed,
            attributes,
            identity: Some(node.id),
            before: None,
            ignore: (lister.context.options)
                .rules_above(self.place, &lister.context.source)
                .0,
            link_stop_is_off: true,
            mark: node.mark,
            holds_doubles: false,
        };
        open_dir.mount = lister.mount_below(&open_dir);
        open_dir
    }
}

impl Delivery {
    /// Whether a piece was delivered. It is too late for the kernel then.
    fn has_begun(&self) -> bool {
        self.is_released
    }

    /// Delivers a piece; `doubles` are second names of its subdirectories. It is the
    /// whole directory if `is_whole`.
    ///
    /// Returns false if the directory was visited before. That is reported, and no
    /// more pieces are wanted.
    fn add<D: DirectorySource>(
        &mut self,
        lister: &mut Lister<D>,
        dir: &InPlaceDir<'_>,
        open_dir: &OpenDir,
        contents: &Contents,
        (doubles, is_whole): (&[u32], bool),
        out: &mut dyn Outlet,
    ) -> bool {
        let visit = match (self.visit, open_dir.identity) {
            (Some(visit), _) => visit,
            (None, Some(id)) => lister.context.visit(id, dir.mount, dir.root, dir.depth),
            (None, None) => Visit::First,
        };
        self.visit = Some(visit);
        match visit {
            Visit::First => {}
            // An image has no second mount.
            Visit::Again if self.is_image => {
                lister.unreadable(dir.place, dir.root, dir.depth, None, Failure::DAMAGED, out);
                return false;
            }
            Visit::Again => {
                lister.left_standing(dir.place, dir.root, dir.depth, DirState::Crossing, out);
                out.note(dir.root, Note::Crossing);
                return false;
            }
            Visit::OtherRoot => {
                lister.context.lack(None, dir.place);
                return false;
            }
        }
        if !self.is_released {
            (lister.context).begin_layer(open_dir.id, open_dir.identity);
        }
        tally::count_reads(contents.entry_count() as u64 + 1);
        if let Some(before) = self.node.take() {
            settle(&before, out);
        }
        if !is_whole && self.pieces.is_none() {
            self.pieces = Some(Arc::new(Unfinished::new(1)));
        }
        if !contents.waiting_names.is_empty() {
            let (pieces, mount) = (self.pieces.as_ref(), open_dir.mount);
            let identity = open_dir.identity;
            let node = open_dir.node(contents, pieces, mount, Handle::Closed, identity);
            queue(&node, contents, out);
            self.node = Some(Arc::clone(&node.dir));
        }
        self.is_finished = self.pieces.is_none() && self.node.is_none();
        let view = Directory {
            own: !self.is_released,
            is_last: self.is_finished,
            ..open_dir.view()
        };
        deliver(&view, !self.is_released, contents, out);
        if let Some(parent) = &self.node {
            lister.deliver_doubles(parent, doubles, out);
        }
        self.is_released = true;
        true
    }

    /// Delivers a piece, and says what is wrong with it. Returns whether more pieces are
    /// wanted.
    fn take<D: DirectorySource>(
        &mut self,
        lister: &mut Lister<D>,
        dir: &InPlaceDir<'_>,
        open_dir: &OpenDir,
        contents: &Contents,
        (read, doubles): (ReadPiece, &[u32]),
        out: &mut dyn Outlet,
    ) -> bool {
        let ReadPiece { piece, is_sound } = read;
        let is_whole = piece == Piece::Whole && (is_sound || self.is_image);
        let extras = (doubles, is_whole);
        if !self.add(lister, dir, open_dir, contents, extras, out) {
            return false;
        }
        match piece {
            Piece::Full if is_sound => return true,
            Piece::Damaged(failure) => {
                out.failed(dir.root, dir.place.path(), Op::Read, failure);
                out.incomplete(&open_dir.view());
            }
            _ if is_sound || self.is_image => {}
            // Too late for the kernel: a piece was delivered.
            _ => out.changed(&open_dir.view()),
        }
        false
    }

    /// Ends the delivery: nothing more is said of the directory.
    fn end(self, open_dir: &OpenDir, out: &mut dyn Outlet) -> Fate {
        let has_node = self.node.is_some();
        if !self.is_finished {
            out.listed(&open_dir.view(), ListedBy::One);
        }
        if let Some(node) = self.node {
            settle(&node, out);
        }
        match self.pieces {
            _ if self.is_finished => Fate::Settled,
            Some(pieces) => {
                if !pieces.take_one() {
                    return Fate::Open;
                }
                out.finished(&open_dir.view());
                Fate::Settled
            }
            None if has_node => Fate::Open,
            // Nothing of it was delivered: somebody else has.
            None => Fate::Settled,
        }
    }
}

impl<D: DirectorySource> Lister<D> {
    /// Finds the reader of a mount's file system.
    ///
    /// The source looks for one only after many directories, or at a large one.
    /// `size_bytes` is the size of the next directory, 0 if unknown.
    pub(super) fn in_place_of(&mut self, mount: u64, size_bytes: u64) -> Option<&dyn InPlace> {
        if !matches!(&self.in_place.near, Some((near, _)) if *near == mount) {
            let source = &self.context.source;
            let found = source.in_place(mount, self.dirs_begun, size_bytes).ok()?;
            self.in_place.near = Some((mount, found));
        }
        self.in_place.near.as_ref()?.1.as_deref()
    }

    /// Lists the tree of an image.
    pub(super) fn image(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        id: u64,
        out: &mut dyn Outlet,
    ) -> Fate {
        let node = self.in_place_of(id, 0).and_then(InPlace::root);
        let dir = InPlaceDir {
            place: &Place::Root(Arc::clone(path)),
            root,
            depth: 0,
            // In a damaged image a directory can be its own descendant.
            mount: MountMark {
                id,
                shared: true,
                served: false,
            },
            followed: false,
            is_visited: false,
        };
        let fate = node.and_then(|node| self.read_node(node, &dir, out));
        debug_assert!(fate.is_some(), "nobody else can be asked");
        fate.unwrap_or(Fate::Open)
    }

    /// Reads a subdirectory by the inode number in its parent's listing.
    ///
    /// If the kernel must read it, nothing was delivered.
    pub(super) fn child_in_place(
        &mut self,
        parent: &Arc<Dir>,
        ino: u64,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Attempt {
        let volume = self.in_place_of(dir.mount.id, 0);
        match volume.map(|volume| volume.child(parent, dir.place.name(), ino)) {
            None | Some(Child::OnceOpened) => Attempt::Open,
            Some(Child::ByKernel) => Attempt::ByKernel,
            // What was read in place has a way that was asked for.
            Some(Child::Here(_)) if parent.mark == 0 && !self.identify_way(None, dir.place) => {
                Attempt::ByKernel
            }
            Some(Child::Here(node)) => match self.read_node(node, dir, out) {
                Some(fate) => Attempt::Done(fate),
                None => Attempt::ByKernel,
            },
        }
    }

    /// Whether a subdirectory that the kernel has opened can be found here only now.
    pub(super) fn is_found_opened(&mut self, mount: u64, place: &Place) -> bool {
        let Place::Child(parent, _) = place else {
            return false;
        };
        let volume = self.in_place_of(mount, 0);
        volume.is_some_and(|volume| volume.child(parent, place.name(), 0) == Child::OnceOpened)
    }

    /// Reads a directory that the kernel has opened.
    ///
    /// Absent if the kernel must list it too; nothing was delivered then.
    pub(super) fn opened_in_place(
        &mut self,
        fd: &DirHandle,
        found: &D::Stat,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Option<Fate> {
        let node = self
            .in_place_of(dir.mount.id, found.size_bytes())
            .and_then(|volume| volume.opened(fd, found.id()))?;
        if !self.identify_way(Some(fd), dir.place) {
            return None;
        }
        self.read_node(node, dir, out)
    }

    /// Finds out who the directories above a place are, where the kernel listed them
    /// without a stat: below, only identities show that a directory holds itself.
    ///
    /// It asks once for each directory that the kernel listed before the volume was
    /// found. `open` is a descriptor of the place, if there is one. False if one of them
    /// remains unknown.
    fn identify_way(&self, open: Option<&DirHandle>, place: &Place) -> bool {
        let source = &self.context.source;
        let held = |dir: &Dir| {
            let held = dir.held.get().and_then(Weak::upgrade);
            held.filter(|held| held.handle.get().is_some())
        };
        let mut below = place.parent().and_then(|dir| Some((1, held(dir)?)));
        for (levels, dir) in place.unidentified() {
            if let Some(held) = held(dir) {
                below = Some((levels, held));
            }
            let (from, handle) = match &below {
                Some((from, held)) => (*from, held.handle.get()),
                None => (0, open),
            };
            let Some(handle) = handle else { return false };
            let found = match levels - from {
                0 => source.identity(handle),
                up => (source.find_above(handle, up)).and_then(|above| source.identity(&above)),
            };
            match found {
                Ok(found) => _ = dir.identity.set(found),
                Err(_) => return false,
            }
        }
        true
    }

    /// Reads a directory with the reader in `near`.
    ///
    /// Absent if the kernel must read it.
    fn read_node(
        &mut self,
        node: Node,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Option<Fate> {
        let Some((mount, Some(mut volume))) = self.in_place.near.take() else {
            return None;
        };
        let mut stat_later = std::mem::take(&mut self.in_place.stat_later);
        let end = self.read_from(&mut *volume, node, dir, &mut stat_later, out);
        stat_later.clear();
        self.in_place.stat_later = stat_later;
        match end {
            End::Delivered(_) => volume.count(Counted::Delivered),
            End::ByKernel => volume.count(Counted::AskedKernel),
            End::Cancelled => {}
        }
        self.in_place.near = Some((mount, Some(volume)));
        match end {
            End::Delivered(fate) => Some(fate),
            End::Cancelled => Some(Fate::Open),
            End::ByKernel => None,
        }
    }

    /// Begins a directory, reads its pieces, and delivers them.
    fn read_from(
        &mut self,
        volume: &mut dyn InPlace,
        node: Node,
        dir: &InPlaceDir<'_>,
        stat_later: &mut StatLater,
        out: &mut dyn Outlet,
    ) -> End {
        self.in_place.suspicion = None;
        let open_dir = match self.begin_node(volume, node, dir, out) {
            Ok(open_dir) => open_dir,
            Err(end) => return end,
        };
        let mut contents = std::mem::take(&mut self.contents);
        contents.clear();
        let mut delivery = Delivery {
            visit: dir.is_visited.then_some(Visit::First),
            is_released: false,
            is_image: volume.is_image(),
            pieces: None,
            node: None,
            is_finished: false,
        };
        let end = loop {
            let may_ask = !delivery.is_image && !delivery.has_begun();
            let mut part = Part {
                volume: &mut *volume,
                open_dir: &open_dir,
                contents: &mut contents,
                stat_later: &mut *stat_later,
            };
            let piece = match self.read_piece(&mut part, may_ask, out) {
                Ok(piece) => piece,
                Err(end) => break Some(end),
            };
            let doubles = match self.find_doubles(&mut part, node, dir, &delivery, out) {
                Ok(doubles) => doubles,
                Err(end) => break end,
            };
            let read = (piece, doubles.as_slice());
            if !delivery.take(self, dir, &open_dir, &contents, read, out) {
                break None;
            }
            contents.clear();
        };
        self.contents = contents;
        // Absent where the delivery has ended.
        end.unwrap_or_else(|| End::Delivered(delivery.end(&open_dir, out)))
    }

    /// Begins a directory. Its end if it has no entries to be read here.
    fn begin_node(
        &mut self,
        volume: &mut dyn InPlace,
        node: Node,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Result<OpenDir, End> {
        let context = Arc::clone(&self.context);
        let begun = match volume.begin(node, dir, &context.options, &|| out.cancelled()) {
            // The kernel refuses a directory above itself, too: let it decide, unless
            // this is an image.
            Begun::Directory(_) if dir.place.leads_through(node.id, dir.mount.id) => {
                match volume.is_image() {
                    true => Begun::Damaged(Failure::DAMAGED),
                    false => Begun::AskKernel,
                }
            }
            begun => begun,
        };
        let found = match begun {
            Begun::Directory(found) => found,
            Begun::AskKernel => return Err(End::ByKernel),
            Begun::Damaged(failure) => {
                self.unreadable(dir.place, dir.root, dir.depth, None, failure, out);
                return Err(End::Delivered(Fate::Settled));
            }
        };
        if dir.depth >= context.options.max_depth {
            if context.is_left_to_other_root(node.id, dir.mount.id, dir.root) {
                return Err(End::Delivered(Fate::Settled));
            }
            if context.is_shown_already(node.id, dir.mount) {
                self.left_standing(dir.place, dir.root, dir.depth, DirState::Crossing, out);
                out.note(dir.root, Note::Crossing);
                return Err(End::Delivered(Fate::Settled));
            }
            self.at_limit(dir.place, dir.root, dir.depth, &found, out);
            return Err(End::Delivered(Fate::Settled));
        }
        let found = match context.counts_at_limit(node.id, dir.mount) {
            true => found.without_bytes(),
            false => found,
        };
        Ok(dir.begin(self, node, found, out))
    }

    /// Reads the next piece, with the stats of entries that the reader left to the kernel.
    ///
    /// While nothing was delivered (`may_ask`), any doubt leaves the directory to the
    /// kernel.
    fn read_piece(
        &mut self,
        part: &mut Part<'_>,
        may_ask: bool,
        out: &mut dyn Outlet,
    ) -> Result<ReadPiece, End> {
        let context = Arc::clone(&self.context);
        part.stat_later.clear();
        let piece = part.volume.read(
            part.open_dir,
            &context.options,
            part.contents,
            part.stat_later,
            &|| out.cancelled(),
        );
        if piece == Piece::Cancelled {
            return Err(End::Cancelled);
        }
        if may_ask && self.is_for_the_kernel(piece, part.contents) {
            return Err(End::ByKernel);
        }
        let held_still = match piece {
            Piece::Whole => part.volume.held_still(),
            piece => piece == Piece::Full,
        };
        if may_ask && !held_still {
            return Err(End::ByKernel);
        }
        let is_found = self.stat_by_kernel(part.stat_later, part.open_dir, part.contents);
        let is_sound = is_found && held_still;
        (part.volume).count(Counted::StatLater(part.stat_later.len() as u64));
        if may_ask && !is_sound {
            return Err(End::ByKernel);
        }
        Ok(ReadPiece { piece, is_sound })
    }

    /// Takes the second names of subdirectories out of a piece. A suspicion about the
    /// first piece leaves the directory to the kernel.
    ///
    /// The end of the directory if it is not delivered here.
    fn find_doubles(
        &mut self,
        part: &mut Part<'_>,
        node: Node,
        dir: &InPlaceDir<'_>,
        delivery: &Delivery,
        out: &mut dyn Outlet,
    ) -> Result<Vec<u32>, Option<End>> {
        let suspicion = part.volume.suspicion(dir, part.contents);
        let may_ask = !delivery.is_image && !delivery.has_begun();
        match suspicion {
            Suspicion::Nothing => Ok(Vec::new()),
            suspicion if may_ask => {
                self.in_place.suspicion = Some((node, suspicion));
                Err(Some(End::ByKernel))
            }
            Suspicion::HoldsDoubles(doubles) => Ok(doubles),
            // Nobody can be asked about an image.
            Suspicion::IsDouble if !delivery.has_begun() && part.volume.is_double(node, dir) => {
                self.unreadable(dir.place, dir.root, dir.depth, None, Failure::DAMAGED, out);
                Err(None)
            }
            Suspicion::IsDouble => Ok(Vec::new()),
        }
    }

    /// Whether the kernel must read the directory after this first piece.
    fn is_for_the_kernel(&self, piece: Piece, contents: &Contents) -> bool {
        match piece {
            Piece::AskKernel | Piece::Damaged(_) => true,
            // A file with patterns may come after the delivery of this piece. The
            // kernel lists many subdirectories in pieces, so that few wait at once.
            Piece::Full => {
                self.context.options.exclusions.read_files()
                    || contents.subdir_offsets.len() > WITHHELD_MAX / 2
            }
            Piece::Whole | Piece::Cancelled => false,
        }
    }

    /// Stats the entries that the reader left to the kernel.
    ///
    /// Returns false if the directory or one of them is not found any more.
    fn stat_by_kernel(
        &mut self,
        stat_later: &StatLater,
        dir: &OpenDir,
        contents: &mut Contents,
    ) -> bool {
        if stat_later.len() == 0 {
            return true;
        }
        let Ok(fd) = self.open_again(dir, dir.identity) else {
            return false;
        };
        let context = Arc::clone(&self.context);
        for (name, listed) in stat_later.iter() {
            let found = context.source.stat_entry(&fd, name);
            let holder = dir.shown();
            sort_in(found, name, listed, holder, &context.options, contents);
        }
        // A listing by the kernel shows whether missing ones have vanished.
        contents.missing.is_empty()
    }
}
