// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the entries of an open directory with getdents64.
//!
//! `struct linux_dirent64`, include/linux/dirent.h of Linux 6.18.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use statwalk_sys::directory_records::{self, DirectoryRecords};

use crate::calls::TypeSource;
use crate::entry::FileType;
use crate::linux::statx::uninterrupted;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::More;

/// Adds the entries that one getdents64 call returns.
///
/// It is compiled once for each [`KeptNames`], which keeps the loop small.
pub(super) fn list<const ALL_NAMES: bool>(
    fd: BorrowedFd<'_>,
    buffer: &mut [u8],
    types: TypeSource,
    into: &mut Listed,
) -> Result<More, Errno> {
    let names = match ALL_NAMES {
        true => KeptNames::All,
        false => KeptNames::OfDirectories,
    };
    let length = read(fd, buffer)?;
    let mut records = DirectoryRecords::of(&buffer[..length]);
    for record in records.by_ref() {
        if record.is_dot_or_dot_dot() {
            continue;
        }
        if record.is_nameless() {
            into.push_nameless(record.ino());
            continue;
        }
        let kind = match types {
            TypeSource::Listing => kind(record.kind()),
            TypeSource::Stat => FileType::Unknown,
        };
        match names.keep(kind) {
            true => into.push(record.name(), record.ino(), kind),
            false => into.count(kind),
        }
    }
    // No kernel does that. Entries that cannot be read must not be missing in silence.
    if records.has_rest() {
        return Err(Errno::UCLEAN);
    }
    Ok(match length {
        0 => More::End,
        _ => More::Entries,
    })
}

/// Reads records into the buffer, and returns their length; 0 at the end.
pub(in crate::linux) fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    uninterrupted(|| {
        let answer = directory_records::read(fd, buffer);
        answer.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    })
}

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
