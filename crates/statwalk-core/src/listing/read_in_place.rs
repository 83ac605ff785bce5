// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a directory in place of the kernel, and delivers it whole or in pieces.

use std::ffi::CStr;
use std::sync::Arc;

use super::Lister;
use super::contents::{Contents, deliver, queue};
use super::context::Visit;
use super::in_place::{Begun, Counted, InPlace, InPlaceDir, Node, Piece, StatLater};
use super::job::Fate;
use super::listed::sort_in;
use super::lister::WITHHELD_MAX;
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet};
use super::source::{DirectorySource, EntryStat};
use super::suspicion::Suspicion;
use crate::directory::{Dir, DirState, Directory, MountMark, Place};
use crate::entry::Attributes;
use crate::error::Op;
use crate::failure::Failure;
use crate::handle::{DirHandle, Handle};
use crate::tally;
use crate::unfinished::{Unfinished, settle};

/// The state of a lister for reading in place.
#[derive(Default)]
pub(super) struct InPlaceState {
    /// The suspicion about the directory that was left to the kernel last.
    pub(super) suspicion: Option<Suspicion>,
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
            ignore: lister.context.options.rules_above(self.place),
            link_stop_is_off: true,
            subvolume: node.subvolume,
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
            Visit::EarlierRoot => return false,
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

    /// Ends the delivery: nothing more is said of the directory.
    fn end(self, open_dir: &OpenDir, out: &mut dyn Outlet) -> Fate {
        let has_node = self.node.is_some();
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
            mount: MountMark { id, shared: true },
            followed: false,
            is_visited: false,
        };
        let fate = node.and_then(|node| self.read_node(node, &dir, out));
        debug_assert!(fate.is_some(), "nobody else can be asked");
        fate.unwrap_or(Fate::Open)
    }

    /// Reads a subdirectory by the inode number in its parent's listing.
    ///
    /// Absent if the kernel must read it; nothing was delivered then.
    pub(super) fn child_in_place(
        &mut self,
        parent: &Arc<Dir>,
        ino: u64,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> Option<Fate> {
        let node = self
            .in_place_of(dir.mount.id, 0)
            .and_then(|volume| volume.child(parent, dir.place.name(), ino));
        self.read_node(node?, dir, out)
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
            .and_then(|volume| volume.opened(fd, found.id()));
        self.read_node(node?, dir, out)
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

    fn read_from(
        &mut self,
        volume: &mut dyn InPlace,
        node: Node,
        dir: &InPlaceDir<'_>,
        stat_later: &mut StatLater,
        out: &mut dyn Outlet,
    ) -> End {
        self.in_place.suspicion = None;
        let context = Arc::clone(&self.context);
        let is_image = volume.is_image();
        let begun = match volume.begin(node, dir, &context.options, &|| out.cancelled()) {
            // The kernel refuses a directory above itself, too: let it decide, unless
            // this is an image.
            Begun::Directory(_) if dir.place.leads_through(node.id, dir.mount.id) => match is_image
            {
                true => Begun::Damaged(Failure::DAMAGED),
                false => Begun::AskKernel,
            },
            begun => begun,
        };
        let found = match begun {
            Begun::Directory(found) => found,
            Begun::AskKernel => return End::ByKernel,
            Begun::Damaged(failure) => {
                self.unreadable(dir.place, dir.root, dir.depth, None, failure, out);
                return End::Delivered(Fate::Settled);
            }
        };
        if dir.depth >= context.options.max_depth {
            if !context.is_other_root(node.id, dir.mount.id, dir.root) {
                self.at_limit(dir.place, dir.root, dir.depth, &found, out);
            }
            return End::Delivered(Fate::Settled);
        }
        let open_dir = dir.begin(self, node, found, out);
        let mut contents = std::mem::take(&mut self.contents);
        contents.clear();
        let mut delivery = Delivery {
            visit: dir.is_visited.then_some(Visit::First),
            is_released: false,
            is_image,
            pieces: None,
            node: None,
            is_finished: false,
        };
        // Absent where the delivery has ended.
        let end = loop {
            stat_later.clear();
            let piece = volume.read(
                &open_dir,
                &context.options,
                &mut contents,
                stat_later,
                &|| out.cancelled(),
            );
            if piece == Piece::Cancelled {
                break Some(End::Cancelled);
            }
            let may_ask = !is_image && !delivery.has_begun();
            if may_ask && self.is_for_the_kernel(piece, &contents) {
                break Some(End::ByKernel);
            }
            let held_still = match piece {
                Piece::Whole => volume.held_still(),
                piece => piece == Piece::Full,
            };
            if may_ask && !held_still {
                break Some(End::ByKernel);
            }
            let is_sound = self.stat_by_kernel(stat_later, &open_dir, &mut contents) && held_still;
            volume.count(Counted::StatLater(stat_later.len() as u64));
            if may_ask && !is_sound {
                break Some(End::ByKernel);
            }
            let doubles = match volume.numbers_tell_doubles() {
                true => contents.take_doubles(),
                false => Vec::new(),
            };
            if !delivery.has_begun() {
                let is_misplaced = doubles.is_empty() && volume.is_misplaced(dir);
                if !is_image && (is_misplaced || !doubles.is_empty()) {
                    self.in_place.suspicion = Some(match is_misplaced {
                        true => Suspicion::Misplaced(node),
                        false => Suspicion::HoldsDoubles,
                    });
                    break Some(End::ByKernel);
                }
                if is_misplaced && volume.has_right_name_elsewhere(node, dir) {
                    let (root, depth) = (dir.root, dir.depth);
                    self.unreadable(dir.place, root, depth, None, Failure::DAMAGED, out);
                    break None;
                }
            }
            let is_whole = piece == Piece::Whole && (is_sound || is_image);
            let extras = (doubles.as_slice(), is_whole);
            if !delivery.add(self, dir, &open_dir, &contents, extras, out) {
                break None;
            }
            match piece {
                Piece::Full if is_sound => contents.clear(),
                Piece::Damaged(failure) => {
                    out.failed(dir.root, dir.place.path(), Op::Read, failure);
                    out.incomplete(&open_dir.view());
                    break None;
                }
                _ if is_sound || is_image => break None,
                // Too late for the kernel: a piece was delivered.
                _ => {
                    out.changed(&open_dir.view());
                    break None;
                }
            }
        };
        self.contents = contents;
        end.unwrap_or_else(|| End::Delivered(delivery.end(&open_dir, out)))
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
            sort_in(
                found,
                name,
                listed,
                dir.mount.id,
                &context.options,
                contents,
            );
        }
        // A listing by the kernel shows whether missing ones have vanished.
        contents.missing.is_empty()
    }
}
