// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a directory in place of the kernel, and delivers it whole or in pieces.

use std::ffi::CStr;
use std::sync::Arc;

use super::Lister;
use super::contents::{Contents, deliver, queue};
use super::context::Visit;
use super::in_place::{Begun, Counted, InPlace, InPlaceDir, Node, Piece, StatLater};
use super::listed::sort_in;
use super::lister::WITHHELD_MAX;
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet};
use super::source::{DirectorySource, EntryStat};
use super::suspicion::Suspicion;
use crate::directory::{Dir, DirState, Directory, MountMark, Place};
use crate::entry::Attributes;
use crate::error::{Op, SystemErrno as Errno};
use crate::handle::{DirHandle, Handle};
use crate::tally;

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
    Delivered,
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

    /// Delivers a piece; `doubles` are second names of its subdirectories.
    ///
    /// Returns false if the directory was visited before. That is reported, and no
    /// more pieces are wanted.
    fn add<D: DirectorySource>(
        &mut self,
        lister: &mut Lister<D>,
        dir: &InPlaceDir<'_>,
        open_dir: &OpenDir,
        contents: &Contents,
        doubles: &[u32],
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
                lister.unreadable(dir.place, dir.root, dir.depth, None, Errno::UCLEAN, out);
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
        let mut parent = None;
        if !contents.waiting_names.is_empty() {
            let (names, mount) = (&contents.waiting_names, open_dir.mount);
            let node = open_dir.node(names, mount, Handle::Closed, open_dir.identity);
            queue(&node, contents, out);
            parent = Some(Arc::clone(&node.dir));
        }
        let view = Directory {
            own: !self.is_released,
            ..open_dir.view()
        };
        deliver(&view, !self.is_released, contents, out);
        if let Some(parent) = parent {
            lister.deliver_doubles(&parent, doubles, out);
        }
        self.is_released = true;
        true
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
    pub(super) fn image(&mut self, path: &Arc<CStr>, root: u32, id: u64, out: &mut dyn Outlet) {
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
        let is_read = node.is_some_and(|node| self.read_node(node, &dir, out));
        debug_assert!(is_read, "nobody else can be asked");
    }

    /// Reads a subdirectory by the inode number in its parent's listing.
    ///
    /// Returns false if the kernel must read it; nothing was delivered then.
    pub(super) fn child_in_place(
        &mut self,
        parent: &Arc<Dir>,
        ino: u64,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> bool {
        let node = self
            .in_place_of(dir.mount.id, 0)
            .and_then(|volume| volume.child(parent, dir.place.name(), ino));
        node.is_some_and(|node| self.read_node(node, dir, out))
    }

    /// Reads a directory that the kernel has opened.
    ///
    /// Returns false if the kernel must list it too; nothing was delivered then.
    pub(super) fn opened_in_place(
        &mut self,
        fd: &DirHandle,
        found: &D::Stat,
        dir: &InPlaceDir<'_>,
        out: &mut dyn Outlet,
    ) -> bool {
        let node = self
            .in_place_of(dir.mount.id, found.size_bytes())
            .and_then(|volume| volume.opened(fd, found.id()));
        node.is_some_and(|node| self.read_node(node, dir, out))
    }

    /// Reads a directory with the reader in `near`.
    ///
    /// Returns false if the kernel must read it.
    fn read_node(&mut self, node: Node, dir: &InPlaceDir<'_>, out: &mut dyn Outlet) -> bool {
        let Some((mount, Some(mut volume))) = self.in_place.near.take() else {
            return false;
        };
        let mut stat_later = std::mem::take(&mut self.in_place.stat_later);
        let end = self.read_from(&mut *volume, node, dir, &mut stat_later, out);
        stat_later.clear();
        self.in_place.stat_later = stat_later;
        match end {
            End::Delivered => volume.count(Counted::Delivered),
            End::ByKernel => volume.count(Counted::AskedKernel),
            End::Cancelled => {}
        }
        self.in_place.near = Some((mount, Some(volume)));
        end != End::ByKernel
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
                true => Begun::Damaged(Errno::UCLEAN),
                false => Begun::AskKernel,
            },
            begun => begun,
        };
        let found = match begun {
            Begun::Directory(found) => found,
            Begun::AskKernel => return End::ByKernel,
            Begun::Damaged(errno) => {
                self.unreadable(dir.place, dir.root, dir.depth, None, errno, out);
                return End::Delivered;
            }
        };
        if dir.depth >= context.options.max_depth {
            if !context.is_other_root(node.id, dir.mount.id, dir.root) {
                self.at_limit(dir.place, dir.root, dir.depth, &found, out);
            }
            return End::Delivered;
        }
        let open_dir = dir.begin(self, node, found, out);
        let mut contents = std::mem::take(&mut self.contents);
        contents.clear();
        let mut delivery = Delivery {
            visit: dir.is_visited.then_some(Visit::First),
            is_released: false,
            is_image,
        };
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
                break End::Cancelled;
            }
            let may_ask = !is_image && !delivery.has_begun();
            if may_ask && self.is_for_the_kernel(piece, &contents) {
                break End::ByKernel;
            }
            let held_still = match piece {
                Piece::Whole => volume.held_still(),
                piece => piece == Piece::Full,
            };
            if may_ask && !held_still {
                break End::ByKernel;
            }
            let is_sound = self.stat_by_kernel(stat_later, &open_dir, &mut contents) && held_still;
            volume.count(Counted::StatLater(stat_later.len() as u64));
            if may_ask && !is_sound {
                break End::ByKernel;
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
                    break End::ByKernel;
                }
                if is_misplaced && volume.has_right_name_elsewhere(node, dir) {
                    let (root, depth) = (dir.root, dir.depth);
                    self.unreadable(dir.place, root, depth, None, Errno::UCLEAN, out);
                    break End::Delivered;
                }
            }
            if !delivery.add(self, dir, &open_dir, &contents, &doubles, out) {
                break End::Delivered;
            }
            match piece {
                Piece::Full if is_sound => contents.clear(),
                Piece::Damaged(errno) => {
                    out.failed(dir.root, dir.place.path(), Op::Read, errno);
                    out.incomplete(&open_dir.view());
                    break End::Delivered;
                }
                _ if is_sound || is_image => break End::Delivered,
                // Too late for the kernel: a piece was delivered.
                _ => {
                    out.changed(&open_dir.view());
                    break End::Delivered;
                }
            }
        };
        self.contents = contents;
        end
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
