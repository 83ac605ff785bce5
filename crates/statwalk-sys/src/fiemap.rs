// SPDX-License-Identifier: MIT OR Apache-2.0

//! `FS_IOC_FIEMAP`: where parts of a file lie, and whether others have them too.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_ENCODED`.
const ENCODED: u32 = 8;
/// `FIEMAP_EXTENT_SHARED`.
const SHARED: u32 = 0x2000;

/// A part of a file that lies in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileExtent {
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// Where on the device, in bytes; on btrfs in its own address space.
    pub address: u64,
    /// How many bytes of the file it is.
    pub length_bytes: u64,
    /// Whether it must be decoded: its length on the device is another one.
    pub is_encoded: bool,
    /// Whether the file system has other users for it. btrfs takes a clone within the
    /// same file for one.
    pub is_shared: bool,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` without its extents.
#[repr(C)]
#[derive(Clone, Copy)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// How many extents the first question asks for, and those after it for a file that has
/// more. Between calls the kernel forgets its findings about extents that lie near each
/// other.
const EXTENTS_FIRST: usize = 16;
const EXTENTS: usize = 512;

#[repr(C)]
struct Argument<const N: usize> {
    header: Header,
    extents: [Extent; N],
}

const _: () = assert!(size_of::<Header>() == 32 && size_of::<Extent>() == 56);

/// `FS_IOC_FIEMAP`, whose number has the size of the header alone.
const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);

/// Appends the extents of a file, in the order of their offsets.
///
/// The call does not wait for data to be written; data that has no place yet has the
/// address 0. `go_on` is called before each further question; where it breaks, the
/// others are not asked.
///
/// # Errors
///
/// The kernel's error; `EOPNOTSUPP` where the file system has no such answer.
/// Documentation/filesystems/fiemap.rst.
pub fn file_extents(
    fd: BorrowedFd<'_>,
    into: &mut Vec<FileExtent>,
    mut go_on: impl FnMut() -> ControlFlow<()>,
) -> io::Result<()> {
    let mut next = ask::<EXTENTS_FIRST>(fd, 0, into)?;
    while let Some(start) = next
        && go_on().is_continue()
    {
        next = ask::<EXTENTS>(fd, start, into)?;
    }
    Ok(())
}

/// Asks once, and returns where to go on.
fn ask<const N: usize>(
    fd: BorrowedFd<'_>,
    start: u64,
    into: &mut Vec<FileExtent>,
) -> io::Result<Option<u64>> {
    let mut argument = Argument {
        header: Header {
            start,
            length: u64::MAX - start,
            flags: 0,
            mapped_extents: 0,
            extent_count: N as u32,
            reserved: 0,
        },
        extents: [Extent {
            logical: 0,
            physical: 0,
            length: 0,
            reserved64: [0; 2],
            flags: 0,
            reserved: [0; 3],
        }; N],
    };
    // SAFETY: the kernel reads the header and writes it and at most `extent_count`
    // extents behind it (ioctl_fiemap, fs/ioctl.c), all of which the struct has, and
    // plain numbers.
    unsafe { ioctl(fd, Updater::<FIEMAP, Argument<N>>::new(&mut argument))? };
    let found = &argument.extents[..N.min(argument.header.mapped_extents as usize)];
    into.extend(found.iter().map(|extent| FileExtent {
        offset: extent.logical,
        address: extent.physical,
        length_bytes: extent.length,
        is_encoded: extent.flags & ENCODED != 0,
        is_shared: extent.flags & SHARED != 0,
    }));
    let next = found.last().filter(|last| last.flags & LAST == 0);
    let next = next.map(|last| last.logical.saturating_add(last.length));
    Ok(next.filter(|&next| next > start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileExt;

    use statwalk_testkit::mounts::FileSystem;
    use statwalk_testkit::{Scratch, or_skip};

    const BLOCK: u64 = 4096;

    #[test]
    fn more_extents_than_one_question_brings() {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
        let file = File::create(at.join("holes")).unwrap();
        let count = 2 * EXTENTS as u64 + 7;
        for number in 0..count {
            file.write_all_at(&[1; BLOCK as usize], 2 * number * BLOCK)
                .unwrap();
        }
        file.sync_all().unwrap();
        let mut found = Vec::new();
        file_extents(file.as_fd(), &mut found, || ControlFlow::Continue(())).unwrap();
        let offsets: Vec<u64> = found.iter().map(|extent| extent.offset).collect();
        let expected: Vec<u64> = (0..count).map(|number| 2 * number * BLOCK).collect();
        assert_eq!(offsets, expected);
        assert!(found.iter().all(|extent| extent.address > 0));
        assert!(found.iter().all(|extent| extent.length_bytes == BLOCK));
        assert!(found.iter().all(|extent| !extent.is_shared));

        let mut some = Vec::new();
        file_extents(file.as_fd(), &mut some, || ControlFlow::Break(())).unwrap();
        assert_eq!(some, found[..EXTENTS_FIRST]);
    }

    #[test]
    fn clones_are_shared() {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("at").unwrap();
        let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
        let file = File::create(at.join("one")).unwrap();
        file.write_all_at(&[1; 8 * BLOCK as usize], 0).unwrap();
        file.sync_all().unwrap();
        let other = File::create(at.join("other")).unwrap();
        let source = File::open(at.join("one")).unwrap();
        rustix::fs::ioctl_ficlone(&other, source).unwrap();
        other.sync_all().unwrap();
        for file in [&file, &other] {
            let mut found = Vec::new();
            file_extents(file.as_fd(), &mut found, || ControlFlow::Continue(())).unwrap();
            assert_eq!(found.len(), 1);
            assert!(found[0].is_shared);
        }
    }

    #[test]
    fn another_file_system_says_so() {
        let null = File::open("/dev/null").unwrap();
        assert!(file_extents(null.as_fd(), &mut Vec::new(), || ControlFlow::Continue(())).is_err());
    }
}
