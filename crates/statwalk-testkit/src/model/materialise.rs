// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes a [`Model`] on disk.
//!
//! One directory is open at a time; the next one is reached by `..` and names.
//! So neither `PATH_MAX` nor the descriptor limit bounds the depth.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};

use super::{Model, Node, NodeId, NodeKind};

impl Model {
    /// Creates the tree in `dir`, which is made if it is not there.
    ///
    /// Modes and times are set last, children before parents, so that they stay
    /// as the model says and a directory without permissions can be filled.
    ///
    /// # Errors
    ///
    /// The first failing call; the entries made before stay. Device nodes
    /// need root, sizes and times must be possible on the file system.
    pub fn materialise(&self, dir: &Path) -> io::Result<()> {
        match std::fs::create_dir(dir) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let order = Preorder::new(self);
        let mut cursor = Cursor::new(self, &order, open_directory(CWD, dir)?);

        for &directory in &order.directories {
            cursor.go_to(directory)?;
            for &child in &order.children[directory.index()] {
                create(cursor.directory.as_fd(), self.node(child))?;
            }
        }
        for (id, node) in self.nodes() {
            if let NodeKind::HardLink { to } = node.kind {
                // Two descriptors: both ends may lie deeper than PATH_MAX.
                cursor.go_to(self.node(to).parent)?;
                let from = cursor.directory.try_clone()?;
                cursor.go_to(self.node(id).parent)?;
                let first_name = self.node(to).name.as_slice();
                rustix::fs::linkat(
                    &from,
                    first_name,
                    &cursor.directory,
                    node.name.as_slice(),
                    AtFlags::empty(),
                )?;
            }
        }
        let wants_attributes = |node: &Node| node.mode.is_some() || node.mtime.is_some();
        if !self.nodes.iter().any(wants_attributes) {
            return Ok(());
        }
        for &directory in order.directories.iter().rev() {
            // Those of the children; a child directory is done with by now.
            let children = &order.children[directory.index()];
            if children
                .iter()
                .any(|&child| wants_attributes(self.node(child)))
            {
                cursor.go_to(directory)?;
                for &child in children {
                    set_attributes(
                        cursor.directory.as_fd(),
                        &self.node(child).name,
                        self.node(child),
                    )?;
                }
            }
        }
        cursor.go_to(Model::ROOT)?;
        set_attributes(cursor.directory.as_fd(), b".", self.node(Model::ROOT))
    }
}

/// The directories in preorder, with their entries. Hard links are left out: a second pass makes them.
struct Preorder {
    directories: Vec<NodeId>,
    children: Vec<Vec<NodeId>>,
    depth: Vec<u32>,
}

impl Preorder {
    fn new(model: &Model) -> Preorder {
        let mut children = vec![Vec::new(); model.nodes.len()];
        let mut depth = vec![0; model.nodes.len()];
        for (id, node) in model.nodes().skip(1) {
            // Parents come before their children in the list of nodes.
            depth[id.index()] = depth[node.parent.index()] + 1;
            if !matches!(node.kind, NodeKind::HardLink { .. }) {
                children[node.parent.index()].push(id);
            }
        }
        let mut directories = Vec::new();
        let mut pending = vec![Model::ROOT];
        while let Some(id) = pending.pop() {
            directories.push(id);
            let inner = children[id.index()]
                .iter()
                .copied()
                .filter(|child| model.node(*child).kind == NodeKind::Directory);
            pending.extend(inner.rev());
        }
        Preorder {
            directories,
            children,
            depth,
        }
    }
}

/// An open directory of the tree, moved along `..` and names, so that no path gets long and one descriptor is enough.
struct Cursor<'m> {
    model: &'m Model,
    order: &'m Preorder,
    directory: OwnedFd,
    at: NodeId,
}

impl<'m> Cursor<'m> {
    fn new(model: &'m Model, order: &'m Preorder, root: OwnedFd) -> Cursor<'m> {
        Cursor {
            model,
            order,
            directory: root,
            at: Model::ROOT,
        }
    }

    fn go_to(&mut self, target: NodeId) -> io::Result<()> {
        let parent = |id: NodeId| self.model.node(id).parent;
        let depth = |id: NodeId| self.order.depth[id.index()];
        let mut up = 0;
        let mut down = Vec::new();
        let (mut here, mut there) = (self.at, target);
        while here != there {
            if depth(here) > depth(there) {
                here = parent(here);
                up += 1;
            } else {
                down.push(there);
                there = parent(there);
            }
        }
        for _ in 0..up {
            self.directory = open_directory(&self.directory, "..")?;
        }
        for id in down.into_iter().rev() {
            self.directory = open_directory(&self.directory, self.model.node(id).name.as_slice())?;
        }
        self.at = target;
        Ok(())
    }
}

fn open_directory(from: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(from, name, flags, Mode::empty())?)
}

fn create(directory: impl AsFd, node: &Node) -> io::Result<()> {
    let name = node.name.as_slice();
    let mode = Mode::from_raw_mode(0o644);
    let special = |file_type, device| {
        rustix::fs::mknodat(&directory, name, file_type, mode, device).map_err(io::Error::from)
    };
    match &node.kind {
        NodeKind::Directory => Ok(rustix::fs::mkdirat(
            &directory,
            name,
            Mode::from_raw_mode(0o755),
        )?),
        NodeKind::File {
            size_bytes,
            data_bytes,
        } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mut file = File::from(rustix::fs::openat(&directory, name, flags, mode)?);
            write_data(&mut file, *data_bytes)?;
            if size_bytes > data_bytes {
                file.set_len(*size_bytes)?;
            }
            Ok(())
        }
        NodeKind::Symlink { target } => {
            Ok(rustix::fs::symlinkat(target.as_slice(), &directory, name)?)
        }
        NodeKind::Fifo => special(FileType::Fifo, 0),
        NodeKind::Socket => special(FileType::Socket, 0),
        NodeKind::CharDevice { major, minor } => special(
            FileType::CharacterDevice,
            rustix::fs::makedev(*major, *minor),
        ),
        NodeKind::BlockDevice { major, minor } => {
            special(FileType::BlockDevice, rustix::fs::makedev(*major, *minor))
        }
        NodeKind::HardLink { .. } => unreachable!("Preorder leaves hard links out"),
    }
}

/// Writes bytes that are not zero: a file system that looks for zeros must not make a hole of them.
pub(crate) fn write_data(file: &mut File, data_bytes: u64) -> io::Result<()> {
    const CHUNK: [u8; 16 * 1024] = [b'x'; 16 * 1024];
    let mut left = data_bytes;
    while left > 0 {
        let now = left.min(CHUNK.len() as u64);
        file.write_all(&CHUNK[..now as usize])?;
        left -= now;
    }
    Ok(())
}

fn set_attributes(directory: impl AsFd, name: &[u8], node: &Node) -> io::Result<()> {
    if let Some(mode) = node.mode
        && !matches!(node.kind, NodeKind::Symlink { .. })
    {
        rustix::fs::chmodat(
            &directory,
            name,
            Mode::from_raw_mode(mode),
            AtFlags::empty(),
        )?;
    }
    if let Some(mtime) = node.mtime {
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: mtime.secs,
                tv_nsec: mtime.nanos.into(),
            },
        };
        rustix::fs::utimensat(&directory, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}
