// SPDX-License-Identifier: MIT OR Apache-2.0

//! `open_by_handle_at`: a file of a btrfs by the number of its inode.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `FILEID_BTRFS_WITHOUT_PARENT`, include/linux/exportfs.h.
const WITHOUT_PARENT: i32 = 0x4d;

/// `struct file_handle` with a `struct btrfs_fid` up to its parent.
#[repr(C, packed)]
struct Handle {
    handle_bytes: u32,
    handle_type: i32,
    objectid: u64,
    root_objectid: u64,
    generation: u32,
}

/// The two fields before the file's own.
const HEADER_BYTES: usize = 8;

const _: () = assert!(size_of::<Handle>() == HEADER_BYTES + 20);

/// Opens an inode of a subvolume for reading, without a path and without waiting.
///
/// `fd` is any file or directory of the file system; `tree_id` the number of the
/// subvolume's tree.
///
/// # Errors
///
/// The kernel's error; `ESTALE` if there is no such inode, and before Linux 6.2 always,
/// because only since then no generation means any; `EPERM` without
/// `CAP_DAC_READ_SEARCH`. See open_by_handle_at(2); fs/btrfs/export.c.
pub fn open_inode(fd: BorrowedFd<'_>, tree_id: u64, inode: u64) -> io::Result<OwnedFd> {
    let mut handle = Handle {
        handle_bytes: (size_of::<Handle>() - HEADER_BYTES) as u32,
        handle_type: WITHOUT_PARENT,
        objectid: inode,
        root_objectid: tree_id,
        generation: 0,
    };
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_LARGEFILE | libc::O_CLOEXEC;
    // SAFETY: the kernel reads the header and as many bytes behind it as the header
    // says, all of which `handle` has.
    let answer =
        unsafe { libc::open_by_handle_at(fd.as_raw_fd(), (&raw mut handle).cast(), flags) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(answer) })
}
