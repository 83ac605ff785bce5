// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_LOGICAL_INO_V2`: which files have an extent.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

/// A place in a file that an extent, or a part of it, lies at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtentRef {
    /// The inode.
    pub inode: u64,
    /// Where in the file.
    pub offset: u64,
    /// The subvolume or snapshot, by the number of its tree.
    pub tree_id: u64,
}

/// `struct btrfs_ioctl_logical_ino_args`.
#[repr(C)]
struct Argument {
    logical: u64,
    size: u64,
    reserved: [u64; 3],
    flags: u64,
    container: u64,
}

const _: () = assert!(size_of::<Argument>() == 56);

/// `BTRFS_LOGICAL_INO_ARGS_IGNORE_OFFSET`: files count that have any part of the
/// extent, and not only those that have the byte that is asked for.
const IGNORE_OFFSET: u64 = 1;

/// `BTRFS_IOC_LOGICAL_INO_V2`, since Linux 4.15.
const LOGICAL_INO_V2: Opcode = opcode::read_write::<Argument>(super::MAGIC, 59);

/// The four counters of `struct btrfs_data_container`, and numbers behind it.
const HEADER_WORDS: usize = 2;
const WORDS_EACH: usize = 3;

/// The answer to [`extent_refs`], which is used again for the next question.
#[derive(Debug, Default)]
pub struct ExtentRefs {
    words: Vec<u64>,
    /// How many places found no room.
    pub missed: u32,
}

impl ExtentRefs {
    /// For how many places there can be room: answers are up to 16 MiB.
    pub const ROOM_MAX: usize = ((16 << 20) / 8 - HEADER_WORDS) / WORDS_EACH;

    /// The places that the kernel found.
    pub fn iter(&self) -> impl Iterator<Item = ExtentRef> {
        let words = self.words.get(HEADER_WORDS..).unwrap_or_default();
        words.chunks_exact(WORDS_EACH).map(|words| ExtentRef {
            inode: words[0],
            offset: words[1],
            tree_id: words[2],
        })
    }
}

/// Finds up to `room` of the places in files at which an extent of data lies. The files
/// may be of all subvolumes, also where subvolumes share the parts of their trees that
/// have the places.
///
/// `logical` is any address within the extent. However little room there is, the
/// kernel looks for all.
///
/// # Errors
///
/// `ENOENT` if no extent is there; `EPERM` without `CAP_SYS_ADMIN`; else the
/// kernel's error.
pub fn extent_refs(
    fd: BorrowedFd<'_>,
    logical: u64,
    room: usize,
    into: &mut ExtentRefs,
) -> io::Result<()> {
    let room = room.min(ExtentRefs::ROOM_MAX);
    let words = &mut into.words;
    words.clear();
    words.resize(HEADER_WORDS + room * WORDS_EACH, 0);
    let argument = Argument {
        logical,
        size: (words.len() * 8) as u64,
        reserved: [0; 3],
        flags: IGNORE_OFFSET,
        container: words.as_mut_ptr() as u64,
    };
    // SAFETY: the kernel reads the struct and writes at most `size` bytes to
    // `container` (btrfs_ioctl_logical_to_ino), all of which `words` has.
    unsafe { ioctl(fd, Setter::<LOGICAL_INO_V2, Argument>::new(argument))? };
    // bytes_left and bytes_missing, elem_cnt and elem_missed; of these the first
    // counts numbers.
    let halves = words[1].to_ne_bytes();
    let half = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| halves[at + byte]));
    let found = (half(0) as usize / WORDS_EACH).min(room);
    into.missed = half(4) / WORDS_EACH as u32;
    words.truncate(HEADER_WORDS + found * WORDS_EACH);
    Ok(())
}
