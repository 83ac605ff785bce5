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
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::io::Errno;

use super::attributes::attributes;
use super::bytes::ReadError;
use super::damage::Fault;
use super::mounted::Mounted;
use super::pass::{Pass, PassBuffers, Piece};
use crate::decode::ext4::inode::{Inode, ROOT_INODE};
use crate::directory::{DirState, Directory, MountMark, Place};
use crate::entry::{Attributes, FileId, FileType};
use crate::error::Op;
use crate::source::posix::contents::{Contents, deliver, queue};
use crate::source::posix::handle::Handle;
use crate::source::posix::listed::sort_in;
use crate::source::posix::open_dir::OpenDir;
use crate::source::posix::terms::Visit;
use crate::source::posix::{Lister, Note, Outlet, WITHHELD_MAX, open, stat, tally};

/// From how many subdirectories on a directory is left to the kernel, which
/// gives them in pieces, so that they need not all wait at once.
const SUBDIRS_MAX: u32 = 32 * 1024;

/// A directory up to this size has fewer entries than are withheld: the shortest
/// takes 12 bytes (`ext4_dir_rec_len`, fs/ext4/ext4.h).
const WITHHELD_BYTES_MIN: u64 = 12 * WITHHELD_MAX as u64;

/// What a lister needs to read from devices.
#[derive(Default)]
pub(crate) struct DeviceReader {
    buffers: PassBuffers,
    /// The mount that was asked for last, and its volume.
    near: Option<(u64, Option<Arc<Mounted>>)>,
}

/// A directory that is about to be read.
pub(crate) struct DeviceDir<'a> {
    pub(crate) place: &'a Place,
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) mount: MountMark,
    pub(crate) followed: bool,
    /// Whether the visit was noted by whoever found it.
    pub(crate) is_visited: bool,
}

/// How the reading of a directory ended.
enum End {
    Delivered,
    /// Nothing was delivered, and the kernel must be asked.
    ByKernel,
    Cancelled,
}

impl Lister {
    /// The volume from which the directories of a mount can be read.
    pub(in crate::source) fn volume_of(&mut self, mount: u64) -> Option<Arc<Mounted>> {
        if let Some((near, found)) = &self.device.near
            && *near == mount
        {
            return found.clone();
        }
        if !self.terms.volumes.is_worth_it(self.dirs_begun) {
            return None;
        }
        let found = self.terms.volumes.of_mount(mount);
        self.device.near = Some((mount, found.clone()));
        found
    }

    /// Lists the tree of an image.
    pub(in crate::source) fn image(
        &mut self,
        path: &Arc<CStr>,
        root: u32,
        id: u64,
        mounted: &Arc<Mounted>,
        out: &mut impl Outlet,
    ) {
        let dir = DeviceDir {
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
    pub(in crate::source) fn read_from_device(
        &mut self,
        mounted: &Mounted,
        number: u32,
        dir: &DeviceDir<'_>,
        out: &mut impl Outlet,
    ) -> bool {
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
        dir: &DeviceDir<'_>,
        out: &mut impl Outlet,
    ) -> End {
        let terms = Arc::clone(&self.terms);
        let id = FileId {
            dev: mounted.dev,
            ino: u64::from(inode.number()),
        };
        let is_large = inode.links() == 1
            || inode.links() > SUBDIRS_MAX
            // A file that decides about the others may come when some are delivered.
            || (terms.exclusions.read_files() && inode.size_bytes() > WITHHELD_BYTES_MIN);
        if !mounted.is_image && (is_large || !terms.roots.roots_in(id).is_empty()) {
            return End::ByKernel;
        }
        let found = match terms.wanted.need_stat() {
            true => attributes(inode, terms.wanted, mounted.dev),
            false => Attributes::of_type(FileType::Directory),
        };
        let mut open_dir = OpenDir {
            place: dir.place.clone(),
            id: out.next_id(),
            root: dir.root,
            depth: dir.depth,
            mount: dir.mount,
            followed: dir.followed,
            attributes: found,
            identity: Some(id),
            before: None,
            ignore: terms.rules_above(dir.place),
            link_stop_is_off: true,
        };
        if !mounted.is_image {
            open_dir.mount = self.mount_below(&open_dir);
        }
        let buffers = std::mem::take(&mut self.device.buffers);
        let contents = std::mem::take(&mut self.contents);
        let mut pass = Pass::new(mounted, &terms, &open_dir, buffers, contents);
        // Whether it is a first visit, once something of it is to be delivered.
        let mut visit = dir.is_visited.then_some(Visit::First);
        let mut is_released = false;
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
            if !is_sound && !mounted.is_image && !is_released {
                break End::ByKernel;
            }
            let visited = || terms.visit(id, dir.mount, dir.root, dir.depth);
            match *visit.get_or_insert_with(visited) {
                Visit::First => {}
                Visit::Again => {
                    self.left_standing(dir.place, dir.root, dir.depth, DirState::Crossing, out);
                    out.note(dir.root, Note::Crossing);
                    break End::Delivered;
                }
                Visit::EarlierRoot => break End::Delivered,
            }
            tally::count_reads(pass.contents.entry_count() as u64 + 1);
            deliver_piece(&pass.contents, &open_dir, !is_released, out);
            is_released = true;
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
                    out.note(dir.root, Note::Changed);
                    out.incomplete(&open_dir.view());
                    break End::Delivered;
                }
            }
        };
        (self.device.buffers, self.contents) = pass.end();
        end
    }

    /// A directory that cannot be read: for the kernel to say, or, in an image,
    /// an error.
    fn damaged(
        &mut self,
        mounted: &Mounted,
        dir: &DeviceDir<'_>,
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
        let Some(fresh) = pass.take_fresh() else {
            return true;
        };
        let Some(fd) = self.open_again(dir) else {
            return false;
        };
        let terms = Arc::clone(&self.terms);
        for (name, ino) in fresh.names() {
            let found = terms.stat_entry(fd.as_fd(), name);
            let listed = (FileType::File, ino);
            sort_in(
                found,
                name,
                listed,
                dir.mount.id,
                &terms,
                &mut pass.contents,
            );
        }
        let count = &pass.mounted.counts.files_by_kernel;
        count.fetch_add(fresh.len() as u64, Ordering::Relaxed);
        pass.give_back(fresh);
        true
    }

    /// A descriptor of a directory that was read without one.
    fn open_again(&mut self, dir: &OpenDir) -> Option<OwnedFd> {
        let fd = match &dir.place {
            Place::Root(path) => open::root(path, &self.terms),
            Place::Child(parent, offset) => {
                let base = self.reopen(parent).ok()?;
                open::child(base.as_fd(), parent.child_name(*offset), &self.terms)
            }
        };
        let fd = fd.ok()?;
        let found = stat::by_descriptor(fd.as_fd(), open::IDENTITY).ok()?;
        (Some(stat::file_id(&found)) == dir.identity).then_some(fd)
    }
}

/// Delivers entries of a directory and queues its subdirectories.
fn deliver_piece(contents: &Contents, dir: &OpenDir, announce: bool, out: &mut impl Outlet) {
    if !contents.waiting_names.is_empty() {
        let node = dir.node(
            &contents.waiting_names,
            dir.mount,
            Handle::Closed,
            dir.identity,
        );
        queue(&node, contents, out);
    }
    let view = Directory {
        own: announce,
        ..dir.view()
    };
    deliver(&view, announce, contents, out);
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
