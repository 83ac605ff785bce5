// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a directory is read in place, and by which source.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::fs::Statx;

use super::Lister;
use super::in_place::InPlaceDir;
use super::outlet::Outlet;
use super::suspicion::Suspicion;
use crate::directory::Dir;
use crate::entry::FileId;
use crate::source::btrfs::read::Buffers as BtrfsBuffers;
use crate::source::btrfs::read::Node;
use crate::source::ext4::pass::PassBuffers as Ext4Buffers;
use crate::source::in_place::volume_table::Volume;
use crate::source::posix::stat;

/// What a lister needs to read in place.
#[derive(Default)]
pub(crate) struct InPlaceReader {
    pub(crate) ext4: Ext4Buffers,
    pub(crate) btrfs: BtrfsBuffers,
    /// What was suspected of the directory that was left to the kernel last.
    pub(crate) suspicion: Option<Suspicion>,
    /// The mount that was asked for last, and its volume.
    near: Option<(u64, Option<Volume>)>,
}

impl Lister {
    /// The volume from which the directories of a mount can be read. What has been
    /// read so far, and the size of the directory that is next if it is known, say
    /// whether it is worth looking for.
    pub(crate) fn volume_of(&mut self, mount: u64, size_bytes: u64) -> Option<Volume> {
        if let Some((near, found)) = &self.in_place.near
            && *near == mount
        {
            return found.clone();
        }
        let found = self
            .terms
            .volumes
            .of_mount(mount, self.dirs_begun, size_bytes);
        let found = found.ok()?;
        self.in_place.near = Some((mount, found.clone()));
        found
    }

    /// Reads a subdirectory by the inode number that its parent's listing gave.
    /// Answers false where the kernel must be asked; then nothing was delivered.
    pub(crate) fn child_in_place(
        &mut self,
        parent: &Arc<Dir>,
        ino: u32,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> bool {
        match self.volume_of(dir.mount.id, 0) {
            Some(Volume::Ext4(mounted)) => {
                !mounted.mount_points.have_name(dir.place.name())
                    && self.read_from_device(&mounted, ino, dir, out)
            }
            // Without a subvolume the number comes from the kernel's listing, which
            // has the number of a tree where a subvolume begins.
            Some(Volume::Btrfs(mounted)) if parent.subvolume != 0 => {
                let Some(identity) = parent.identity else {
                    return false;
                };
                let node = Node {
                    tree: parent.subvolume,
                    id: FileId {
                        dev: identity.dev,
                        ino: ino.into(),
                    },
                };
                !mounted.mount_points.have_name(dir.place.name())
                    && self.read_from_tree(&mounted, node, dir, out)
            }
            _ => false,
        }
    }

    /// Reads a directory that the kernel opened. Answers false where the kernel
    /// must be asked for its entries too; then nothing was delivered.
    pub(crate) fn opened_in_place(
        &mut self,
        fd: BorrowedFd<'_>,
        found: &Statx,
        dir: &InPlaceDir<'_>,
        out: &mut impl Outlet,
    ) -> bool {
        match self.volume_of(dir.mount.id, found.stx_size) {
            Some(Volume::Ext4(mounted)) => {
                let number = u32::try_from(found.stx_ino).unwrap_or_default();
                self.read_from_device(&mounted, number, dir, out)
            }
            Some(Volume::Btrfs(mounted)) => {
                let id = stat::file_id(found);
                let Some(tree) = mounted.tree_of(id.dev, fd) else {
                    return false;
                };
                self.read_from_tree(&mounted, Node { tree, id }, dir, out)
            }
            None => false,
        }
    }
}
