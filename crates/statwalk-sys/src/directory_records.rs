// SPDX-License-Identifier: MIT OR Apache-2.0

//! The records of a directory: getdents64(2).
//!
//! rustix has them as `RawDir`, which looks for the end of each name when it takes a
//! record. Here a caller who wants no name pays for none.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::FileType;

use crate::c_strings;

/// `offsetof(struct linux_dirent64, d_reclen)`, include/linux/dirent.h of Linux 6.18.
const LENGTH_AT: usize = 16;
const KIND_AT: usize = 18;
const NAME_AT: usize = 19;

/// The kernel rounds the length of a record up to that: `filldir64` in fs/readdir.c.
const STEP: usize = size_of::<u64>();
/// The least length: a name of one byte and its NUL.
const LENGTH_MIN: usize = (NAME_AT + 2).next_multiple_of(STEP);

/// Reads as many records as the buffer has room for. Returns the bytes that they take:
/// none at the end of the directory.
///
/// # Errors
///
/// Returns the kernel's error; see getdents64(2).
#[inline]
pub fn read(directory: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    let (fd, start, room) = (directory.as_raw_fd(), buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the kernel writes at most `room` bytes to `start`, and both are of one slice
    // that is borrowed until the call returns.
    let answer = unsafe { libc::syscall(libc::SYS_getdents64, fd, start, room) };
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// The records that one call has returned. It yields them in their order.
///
/// # Examples
///
/// ```
/// use std::os::fd::AsFd;
/// use statwalk_sys::directory_records::{DirectoryRecords, read};
///
/// let directory = std::fs::File::open("src")?;
/// let mut buffer = vec![0; 32 << 10];
/// let length = read(directory.as_fd(), &mut buffer)?;
/// let records = DirectoryRecords::of(&buffer[..length]);
/// assert!(records.clone().any(|record| record.name() == c"lib.rs"));
/// assert_eq!(records.filter(|record| record.is_dot_or_dot_dot()).count(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DirectoryRecords<'a> {
    rest: &'a [u8],
}

/// A record.
#[derive(Clone, Copy)]
pub struct DirectoryRecord<'a> {
    bytes: &'a [u8],
}

impl<'a> DirectoryRecords<'a> {
    /// The records in these bytes. They end where no whole record follows.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        DirectoryRecords { rest: bytes }
    }

    /// Whether bytes are left: before the end of the records, or because they are none.
    #[must_use]
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }
}

impl<'a> Iterator for DirectoryRecords<'a> {
    type Item = DirectoryRecord<'a>;

    #[inline]
    fn next(&mut self) -> Option<DirectoryRecord<'a>> {
        let length = self.rest.get(LENGTH_AT..LENGTH_AT + 2)?;
        let length = usize::from(u16::from_ne_bytes([length[0], length[1]]));
        if length < LENGTH_MIN || length % STEP != 0 {
            return None;
        }
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(DirectoryRecord { bytes })
    }
}

impl<'a> DirectoryRecord<'a> {
    /// The inode number, `d_ino`.
    #[inline]
    #[must_use]
    pub fn ino(&self) -> u64 {
        u64::from_ne_bytes(word(self.bytes, 0))
    }

    /// The type, `d_type` in readdir(3).
    #[inline]
    #[must_use]
    pub fn kind(&self) -> FileType {
        match self.bytes[KIND_AT] {
            libc::DT_REG => FileType::RegularFile,
            libc::DT_DIR => FileType::Directory,
            libc::DT_LNK => FileType::Symlink,
            libc::DT_FIFO => FileType::Fifo,
            libc::DT_SOCK => FileType::Socket,
            libc::DT_CHR => FileType::CharacterDevice,
            libc::DT_BLK => FileType::BlockDevice,
            _ => FileType::Unknown,
        }
    }

    /// Whether its name begins with NUL. A file system in user space can list such a name.
    #[inline]
    #[must_use]
    pub fn is_nameless(&self) -> bool {
        self.bytes[NAME_AT] == 0
    }

    /// Whether it is the directory itself, or the one above it.
    #[inline]
    #[must_use]
    pub fn is_dot_or_dot_dot(&self) -> bool {
        let name = &self.bytes[NAME_AT..LENGTH_MIN];
        name[0] == b'.' && (name[1] == 0 || (name[1] == b'.' && name[2] == 0))
    }

    /// The name. Empty if the record has no end of a name, which no kernel makes.
    #[inline]
    #[must_use]
    pub fn name(&self) -> &'a CStr {
        c_strings::first(&self.bytes[NAME_AT..]).unwrap_or_default()
    }
}

impl std::fmt::Debug for DirectoryRecord<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DirectoryRecord")
            .field("ino", &self.ino())
            .field("kind", &self.kind())
            .field("name", &self.name())
            .finish()
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> [u8; STEP] {
    let mut word = [0; STEP];
    word.copy_from_slice(&bytes[at..at + STEP]);
    word
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::{self, File};
    use std::os::fd::AsFd;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// A record as the kernel makes it, with something behind the NUL.
    fn record(name: &[u8], ino: u64, kind: u8) -> Vec<u8> {
        let length = (NAME_AT + name.len() + 1).next_multiple_of(STEP);
        let mut bytes = [&ino.to_ne_bytes()[..], &[7; 8]].concat();
        bytes.extend((length as u16).to_ne_bytes());
        bytes.push(kind);
        bytes.extend(name);
        bytes.push(0);
        bytes.resize(length, 0xA5);
        bytes
    }

    #[test]
    fn names_of_every_length_come_back() {
        for length in 0..=255 {
            for byte in [b'a', 0x80, 0x01, 0xFF] {
                let name = vec![byte; length];
                let bytes = [record(&name, 1 << 60, 4), record(b"x", 2, 8)].concat();
                let records: Vec<_> = DirectoryRecords::of(&bytes).collect();
                assert_eq!(records[0].name().to_bytes(), name);
                assert_eq!(records[0].ino(), 1 << 60);
                assert_eq!(records[0].kind(), FileType::Directory);
                assert_eq!(records[0].is_nameless(), length == 0);
                assert_eq!((records[1].name(), records.len()), (c"x", 2));
            }
        }
    }

    #[test]
    fn a_name_ends_at_its_first_nul() {
        for name in [&b"a\0b"[..], b"12345\x00789", b"1234\x00\x01678", b"\0a"] {
            let bytes = record(name, 1, 8);
            let found = DirectoryRecords::of(&bytes).next().unwrap();
            let until = CStr::from_bytes_until_nul(&bytes[NAME_AT..]).unwrap();
            assert_eq!(found.name(), until);
        }
    }

    #[test]
    fn only_the_two_are_dots() {
        for (name, is_dots) in [
            (&b"."[..], true),
            (b"..", true),
            (b"...", false),
            (b".a", false),
            (b"..a", false),
            (b"a", false),
            (b"", false),
        ] {
            let bytes = record(name, 1, 4);
            let found = DirectoryRecords::of(&bytes).next().unwrap();
            assert_eq!(found.is_dot_or_dot_dot(), is_dots, "{name:?}");
        }
    }

    /// No kernel gives such bytes; still nothing is read beyond them.
    #[test]
    fn any_bytes_have_an_end() {
        let whole = [record(b"one", 1, 8), record(&[b'n'; 200], 2, 4)].concat();
        for end in 0..whole.len() {
            let records = DirectoryRecords::of(&whole[..end]);
            assert!(
                records
                    .map(|record| record.name().to_bytes().len())
                    .sum::<usize>()
                    < end + 1
            );
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 8, 23, 24, 0x7F, 0xFF] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                let names = DirectoryRecords::of(&bytes).map(|record| record.name());
                assert!(names.count() <= bytes.len() / LENGTH_MIN);
            }
        }
        // What is no record is left, so that a caller sees it.
        for (end, has_rest) in [(0, false), (whole.len(), false), (whole.len() - 1, true)] {
            let mut records = DirectoryRecords::of(&whole[..end]);
            records.by_ref().for_each(drop);
            assert_eq!(records.has_rest(), has_rest);
        }
        // Without an end of the name.
        let mut bytes = record(b"1234", 1, 8);
        bytes[NAME_AT + 4] = b'5';
        assert_eq!(DirectoryRecords::of(&bytes).next().unwrap().name(), c"");
    }

    #[test]
    fn a_directory_is_read_as_by_the_library() {
        let mut names = BTreeSet::new();
        let directory = File::open("/usr/bin").unwrap();
        let mut buffer = [0; 1 << 10];
        loop {
            let length = read(directory.as_fd(), &mut buffer).unwrap();
            if length == 0 {
                break;
            }
            let records = DirectoryRecords::of(&buffer[..length]);
            let named = records.filter(|record| !record.is_dot_or_dot_dot());
            names.extend(named.map(|record| (record.name().to_bytes().to_vec(), record.ino())));
        }
        let expected = fs::read_dir("/usr/bin").unwrap().map(|entry| {
            let entry = entry.unwrap();
            let ino = std::os::unix::fs::DirEntryExt::ino(&entry);
            (entry.file_name().as_bytes().to_vec(), ino)
        });
        assert_eq!(names, expected.collect());
        assert!(names.len() > 10);
    }

    #[test]
    fn a_file_is_no_directory() {
        let file = File::open("/proc/self/exe").unwrap();
        let error = read(file.as_fd(), &mut [0; 64]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTDIR));
    }
}
