// SPDX-License-Identifier: MIT OR Apache-2.0

//! The type of an inode: `S_IFMT` of its mode, or the type in a directory entry.

/// The type of an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum InodeKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// The mode has no known type, or the directory entry has none.
    Unknown,
}

impl InodeKind {
    /// Takes the type from a mode: `S_IFMT`, inode(7).
    #[inline]
    #[must_use]
    pub fn of_mode(mode: u16) -> InodeKind {
        match mode & 0o170_000 {
            0o100_000 => InodeKind::File,
            0o040_000 => InodeKind::Directory,
            0o120_000 => InodeKind::Symlink,
            0o010_000 => InodeKind::Fifo,
            0o140_000 => InodeKind::Socket,
            0o020_000 => InodeKind::CharDevice,
            0o060_000 => InodeKind::BlockDevice,
            _ => InodeKind::Unknown,
        }
    }

    /// Takes the type from a directory entry: `EXT4_FT_REG_FILE` and others,
    /// fs/ext4/ext4.h.
    #[inline]
    #[must_use]
    pub fn of_directory_entry(file_type: u8) -> InodeKind {
        match file_type {
            1 => InodeKind::File,
            2 => InodeKind::Directory,
            3 => InodeKind::CharDevice,
            4 => InodeKind::BlockDevice,
            5 => InodeKind::Fifo,
            6 => InodeKind::Socket,
            7 => InodeKind::Symlink,
            _ => InodeKind::Unknown,
        }
    }
}
