// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads directories and the attributes of their entries from the device, and
//! decides what the kernel must be asked for after all.
//!
//! What is read here is read beside the kernel, which may change it at any
//! moment. So a directory's inode is looked at before and after; what changed
//! since the scan began, does not check out, or holds something that only the
//! kernel can tell goes to the `posix` source, directory by directory, and what
//! is below comes back here.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::attributes::attributes;
use super::bytes::ReadError;
use super::damage::Fault;
use super::mounted::Mounted;
use super::pass::{Pass, Piece};
use super::read_ahead;
use crate::decode::ext4::inode::{Inode, ROOT_INODE};
use crate::directory::{MountMark, Place};
use crate::entry::{Attributes, FileType};
use crate::error::Op;
use crate::listing::in_place::{Delivery, End, InPlaceDir};
use crate::listing::open_dir::OpenDir;
use crate::listing::outlet::Outlet;
use crate::listing::suspicion::Suspicion;
use crate::listing::{Lister, WITHHELD_MAX};

/// From how many subdirectories on a directory is left to the kernel, which
/// gives them in pieces, so that they need not all wait at once.
const SUBDIRS_MAX: u32 = 32 * 1024;

/// A directory up to this size has fewer entries than are withheld: the shortest
/// takes 12 bytes (`ext4_dir_rec_len`, fs/ext4/ext4.h).
const WITHHELD_BYTES_MIN: u64 = 12 * WITHHELD_MAX as u64;

impl Lister {
    /// Lists the tree of an image.
    pub(crate) fn image(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        id: u64,
        mounted: &Arc<Mounted>,
        out: &mut impl Outlet,
    ) {
        let dir = InPlaceDir {
            place: &Place::Root(Arc::clone(path)),
            root,
            depth: 0,
            // In a damaged image a directory can be its own descendant.
            mount: MountMark { id, shared: true },
            followed: false,
            is_visited: false,
        };
        self.read_from_device(mounted, ROOT_INODE, &dir, out);
    }

    /// Reads a directory. Answers false where the kernel must be asked instead;
    /// then nothing of it was delivered.
    pub(crate) fn read_from_device(
        &mut self,
        mounted: &Mounted,
        number: u32,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> bool {
        let is_whole = || read_ahead::is_whole(mounted, number, dir.place);
        mounted
            .read_ahead
            .once(mounted, is_whole, || out.cancelled());
        let end = match mounted.volume.inode(number) {
            Ok(inode) if mounted.is_readable(&inode) => self.read_inode(mounted, &inode, dir, out),
            Ok(inode) if inode.kind() == FileType::Directory && !inode.is_free() => End::ByKernel,
            Ok(_) => self.damaged(mounted, dir, Fault::NotADirectory, out),
            Err(damage) => self.damaged(mounted, dir, damage.fault, out),
        };
        let counter = match end {
            End::Delivered => &mounted.counts.dirs,
            End::ByKernel => &mounted.counts.dirs_by_kernel,
            End::Cancelled => return true,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        matches!(end, End::Delivered)
    }

    fn read_inode(
        &mut self,
        mounted: &Mounted,
        inode: &Inode,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> End {
        self.in_place.suspicion = None;
        let terms = Arc::clone(&self.terms);
        let id = mounted.id_of(inode);
        let is_large = inode.links() == 1
            || inode.links() > SUBDIRS_MAX
            // A file that decides about the others may come when some are delivered.
            || (terms.exclusions.read_files() && inode.size_bytes() > WITHHELD_BYTES_MIN);
        if !mounted.is_image && (is_large || !terms.roots.roots_in(id).is_empty()) {
            return End::ByKernel;
        }
        // Whether it holds itself is the kernel's to say, if there is one to ask.
        if dir.place.leads_through(id, dir.mount.id) {
            return self.damaged(mounted, dir, Fault::HoldsItself, out);
        }
        let found = match terms.wanted.need_stat() {
            true => attributes(inode, terms.wanted, mounted.dev),
            false => Attributes::of_type(FileType::Directory),
        };
        if dir.depth >= terms.max_depth {
            self.at_limit(dir.place, dir.root, dir.depth, &found, out);
            return End::Delivered;
        }
        let open_dir = dir.begin(self, id, 0, found, out);
        let buffers = std::mem::take(&mut self.in_place.ext4);
        let contents = std::mem::take(&mut self.contents);
        let mut pass = Pass::new(mounted, &terms, &open_dir, buffers, contents);
        let mut delivery = Delivery::of(dir, mounted.is_image);
        let end = loop {
            let piece = pass.read_piece(inode, out);
            if matches!(piece, Piece::Cancelled) {
                break End::Cancelled;
            }
            let is_sound = match piece {
                Piece::Full => self.stat_fresh(&mut pass, &open_dir),
                Piece::Whole => mounted.held_still(inode) && self.stat_fresh(&mut pass, &open_dir),
                _ => false,
            };
            if !is_sound && !mounted.is_image && !delivery.has_begun() {
                break End::ByKernel;
            }
            let doubles = pass.contents.take_doubles();
            if !delivery.has_begun()
                && let Some(suspicion) = suspicion(mounted, inode, dir, &pass, &doubles)
            {
                if !mounted.is_image {
                    self.in_place.suspicion = Some(suspicion);
                    break End::ByKernel;
                }
                let is_misplaced = matches!(suspicion, Suspicion::Misplaced(_));
                if is_misplaced && mounted.is_double(inode.number(), dir) {
                    break self.damaged(mounted, dir, Fault::HasTwoNames, out);
                }
            }
            if !delivery.add(self, dir, &open_dir, &pass.contents, &doubles, out) {
                break End::Delivered;
            }
            match piece {
                Piece::Full if is_sound => pass.go_on(),
                Piece::Damaged(damage) if mounted.is_image => {
                    out.failed(dir.root, dir.place.path(), Op::Read, errno_of(damage.fault));
                    out.incomplete(&open_dir.view());
                    break End::Delivered;
                }
                _ if is_sound || mounted.is_image => break End::Delivered,
                // Too late to ask the kernel: a part of it was delivered.
                _ => {
                    out.changed(&open_dir.view());
                    break End::Delivered;
                }
            }
        };
        (self.in_place.ext4, self.contents) = pass.end();
        end
    }

    /// A directory that cannot be read: for the kernel to say, or, in an image,
    /// an error.
    fn damaged(
        &mut self,
        mounted: &Mounted,
        dir: &InPlaceDir<'_>,
        fault: Fault,
        out: &mut impl Outlet,
    ) -> End {
        if !mounted.is_image {
            return End::ByKernel;
        }
        self.unreadable(dir.place, dir.root, dir.depth, None, errno_of(fault), out);
        End::Delivered
    }

    /// Stats files whose sizes on the device may be old. Answers false where the
    /// directory cannot be found any more.
    fn stat_fresh(&mut self, pass: &mut Pass<'_>, dir: &OpenDir) -> bool {
        let fresh = pass.take_fresh();
        let is_sound = self.stat_doubtful(&fresh, dir, &mut pass.contents);
        let count = &pass.mounted.counts.files_by_kernel;
        count.fetch_add(fresh.len() as u64, Ordering::Relaxed);
        pass.give_back(fresh);
        is_sound
    }
}

/// What speaks for a directory with more than one name.
fn suspicion(
    mounted: &Mounted,
    inode: &Inode,
    dir: &InPlaceDir<'_>,
    pass: &Pass<'_>,
    doubles: &[u32],
) -> Option<Suspicion> {
    if !doubles.is_empty() {
        return Some(Suspicion::HoldsDoubles);
    }
    let (listing, own) = (mounted.listing_parent(dir)?, pass.parent()?);
    (listing != own).then_some(Suspicion::Misplaced(inode.number()))
}

/// The error number for damage in an image, where nobody else can be asked.
pub(super) fn errno_of(fault: Fault) -> Errno {
    match fault {
        Fault::Unreadable(ReadError::Failed(errno)) => Errno::from_raw_os_error(errno.0),
        Fault::Unreadable(ReadError::BeyondEnd) => Errno::IO,
        Fault::Encrypted => Errno::NOKEY,
        // The kernel's word for a file system that is damaged.
        _ => Errno::UCLEAN,
    }
}
