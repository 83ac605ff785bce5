// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts that the rows of a scan do not have, and that only the machine knows.

/// Answers the questions of a writer. Each is asked once for each of its arguments.
pub trait Machine {
    /// The name of a user; absent where there is none.
    fn user(&mut self, uid: u32) -> Option<Vec<u8>>;

    /// The name of a group; absent where there is none.
    fn group(&mut self, gid: u32) -> Option<Vec<u8>>;

    /// The file system of a device number.
    fn file_system(&mut self, dev: u64) -> FileSystem;

    /// Whether the entry `CACHEDIR.TAG` of a directory begins with the signature of the
    /// [Cache Directory Tagging Specification](https://bford.info/cachedir/); absent where it
    /// cannot be read.
    fn is_cachedir(&mut self, path: &[u8]) -> Option<bool>;
}

/// A file system at the time of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystem {
    /// Its UUID, or a text that stands for it, the same at each scan. Two device numbers of one
    /// identity are one file system.
    pub identity: String,
    /// Its type, such as `ext4`.
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: Vec<u8>,
    /// Its space at the begin of the scan.
    pub begin: Option<Space>,
    /// Its space at the end of the scan.
    pub end: Option<Space>,
}

/// The space of a file system, as statvfs(3) has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The bytes of a block.
    pub block_bytes: u64,
    /// All blocks.
    pub blocks: u64,
    /// The free ones.
    pub free_blocks: u64,
    /// Those that a user without privileges can have.
    pub available_blocks: u64,
    /// All inodes.
    pub inodes: u64,
    /// The free ones.
    pub free_inodes: u64,
}

impl Space {
    /// Its numbers, in the order of their columns.
    pub(crate) fn numbers(&self) -> [u64; 6] {
        [
            self.block_bytes,
            self.blocks,
            self.free_blocks,
            self.available_blocks,
            self.inodes,
            self.free_inodes,
        ]
    }

    pub(crate) fn of_numbers(numbers: [u64; 6]) -> Space {
        let [
            block_bytes,
            blocks,
            free_blocks,
            available_blocks,
            inodes,
            free_inodes,
        ] = numbers;
        Space {
            block_bytes,
            blocks,
            free_blocks,
            available_blocks,
            inodes,
            free_inodes,
        }
    }
}
