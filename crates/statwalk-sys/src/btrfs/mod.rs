// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answers of btrfs about itself, one file for each ioctl.
//!
//! Any descriptor on the file system will do, of a directory or a file, but not one
//! with `O_PATH`. Where a subvolume matters it is the one that the file lies in. The
//! meaning of the bytes of [`tree_search()`] is left to `statwalk-btrfs`.
//!
//! Layouts: include/uapi/linux/btrfs.h; behaviour: fs/btrfs/ioctl.c, both of
//! Linux 6.18. `ENOTTY` is the answer of another file system.

mod commit;
mod fs_info;
mod logical_ino;
mod open_inode;
mod space_info;
mod subvol_info;
mod subvol_rootref;
mod tree_id;
mod tree_search;

#[cfg(test)]
mod tests;

pub use commit::commit;
pub use fs_info::{FsInfo, fs_info};
pub use logical_ino::{ExtentRef, ExtentRefs, extent_refs};
pub use open_inode::open_inode;
pub use space_info::{SpaceInfo, space_info};
pub use subvol_info::{SubvolInfo, subvol_info};
pub use subvol_rootref::{RootRef, subvol_rootrefs};
pub use tree_id::tree_id;
pub use tree_search::{Found, SEARCH_ARGUMENT_BYTES, SearchKey, tree_search};

/// `BTRFS_IOCTL_MAGIC`.
const MAGIC: u8 = 0x94;
