// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the entries of an open directory with getdents64.
//!
//! `struct linux_dirent64`, include/linux/dirent.h of Linux 6.18.

use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

use rustix::fs::RawDir;
use rustix::io::Errno;

use crate::calls::TypeSource;
use crate::entry::FileType;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::More;
use crate::statx::uninterrupted;

/// Adds the entries that one getdents64 call returns.
///
/// It is compiled once for each [`KeptNames`], which keeps the loop small.
pub(super) fn list<const ALL_NAMES: bool>(
    fd: BorrowedFd<'_>,
    buffer: &mut [MaybeUninit<u8>],
    types: TypeSource,
    into: &mut Listed,
) -> Result<More, Errno> {
    let names = match ALL_NAMES {
        true => KeptNames::All,
        false => KeptNames::OfDirectories,
    };
    uninterrupted(|| {
        let mut raw = RawDir::new(fd, buffer);
        while let Some(entry) = raw.next() {
            let entry = entry?;
            let name = entry.file_name();
            let bytes = name.to_bytes();
            if bytes.len() > 2 || !matches!(bytes, b"." | b".." | b"") {
                let kind = match types {
                    TypeSource::Listing => kind(entry.file_type()),
                    TypeSource::Stat => FileType::Unknown,
                };
                into.push(name, entry.ino(), kind, names);
            } else if bytes.is_empty() {
                into.push_nameless(entry.ino());
            }
            if raw.is_buffer_empty() {
                return Ok(More::Entries);
            }
        }
        Ok(More::End)
    })
}

/// `d_type`, readdir(3).
fn kind(listed: rustix::fs::FileType) -> FileType {
    match listed {
        rustix::fs::FileType::RegularFile => FileType::File,
        rustix::fs::FileType::Directory => FileType::Directory,
        rustix::fs::FileType::Symlink => FileType::Symlink,
        rustix::fs::FileType::Fifo => FileType::Fifo,
        rustix::fs::FileType::Socket => FileType::Socket,
        rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
        rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
        rustix::fs::FileType::Unknown => FileType::Unknown,
    }
}
