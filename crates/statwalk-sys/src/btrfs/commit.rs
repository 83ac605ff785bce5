// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_START_SYNC` and `BTRFS_IOC_WAIT_SYNC`: the end of a transaction.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Getter, Opcode, Setter, ioctl, opcode};

/// `BTRFS_IOC_START_SYNC`.
const START_SYNC: Opcode = opcode::read::<u64>(super::MAGIC, 24);
/// `BTRFS_IOC_WAIT_SYNC`.
const WAIT_SYNC: Opcode = opcode::write::<u64>(super::MAGIC, 22);

/// Ends the transaction that is under way and waits until it is on the device.
/// Answers with its number, or with that of the last one where none is under way.
///
/// A later change belongs to a later transaction. Data that waits to be written is not
/// part of it: syncfs(2) comes first.
///
/// # Errors
///
/// The kernel's error; `ENOTTY` where it is no btrfs, `EROFS` where a transaction
/// would be needed and nothing can be written.
pub fn commit(fd: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: the kernel writes one number (btrfs_ioctl_start_sync).
    let transid = unsafe { ioctl(fd, Getter::<START_SYNC, u64>::new())? };
    // SAFETY: the kernel reads one number (btrfs_ioctl_wait_sync).
    unsafe { ioctl(fd, Setter::<WAIT_SYNC, u64>::new(transid))? };
    Ok(transid)
}
