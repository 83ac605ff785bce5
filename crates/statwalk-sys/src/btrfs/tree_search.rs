// SPDX-License-Identifier: MIT OR Apache-2.0

//! `BTRFS_IOC_TREE_SEARCH_V2`: the items of a tree, in the order of their keys.

use std::ffi::c_void;
use std::io;
use std::mem::offset_of;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use statwalk_btrfs::Key;

/// The range of keys to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchKey {
    /// The tree; 0 is the subvolume that the descriptor lies in.
    pub tree_id: u64,
    /// The first key that is wanted.
    ///
    /// The kernel compares whole keys (`key_in_sk`): a range over several
    /// objects holds items of all kinds, whatever kinds the bounds have.
    pub first: Key,
    /// The last key that is wanted.
    pub last: Key,
    /// Leaves of the tree that were written last before this transaction are left out.
    pub transid_min: u64,
    /// Leaves that were written last after this transaction are left out.
    pub transid_max: u64,
    /// At most so many items.
    pub items_max: u32,
}

impl SearchKey {
    /// All items of a tree.
    #[must_use]
    pub fn whole(tree_id: u64) -> SearchKey {
        SearchKey {
            tree_id,
            first: Key::MIN,
            last: Key::MAX,
            transid_min: 0,
            transid_max: u64::MAX,
            items_max: u32::MAX,
        }
    }
}

/// The answer to one search.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// How many items were found. None means that there are none left in the range.
    pub item_count: u32,
    /// The items, each with its `struct btrfs_ioctl_search_header` before it,
    /// without gaps; and behind the last of them what was in the buffer before.
    pub bytes: &'a [u8],
}

/// The part of the buffer that the question takes: `sizeof(struct
/// btrfs_ioctl_search_args_v2)`.
pub const SEARCH_ARGUMENT_BYTES: usize = 112;

/// `struct btrfs_ioctl_search_args_v2` without the buffer at its end.
#[repr(C)]
#[derive(Clone, Copy)]
struct Argument {
    tree_id: u64,
    min_objectid: u64,
    max_objectid: u64,
    min_offset: u64,
    max_offset: u64,
    min_transid: u64,
    max_transid: u64,
    min_type: u32,
    max_type: u32,
    nr_items: u32,
    unused: u32,
    unused_too: [u64; 4],
    buf_size: u64,
}

const _: () = assert!(size_of::<Argument>() == SEARCH_ARGUMENT_BYTES);
const _: () = assert!(offset_of!(Argument, nr_items) == 64);
const _: () = assert!(offset_of!(Argument, buf_size) == 104);

/// `BTRFS_IOC_TREE_SEARCH_V2`.
const TREE_SEARCH_V2: Opcode = opcode::read_write::<Argument>(super::MAGIC, 17);

/// Searches a tree, and fills the buffer with as many items as it holds.
///
/// To get the rest, search again from the [`Key::next`] of the last item. The
/// end is reached when no item is found.
///
/// The first [`SEARCH_ARGUMENT_BYTES`] of the buffer hold the question. 16 to
/// 64 KiB are fastest; above 64 KiB every item fits. Between two searches the
/// tree may change, and what waits in memory for the next commit of a
/// transaction is not in it yet.
///
/// # Errors
///
/// `EOVERFLOW` if not even the first item fits; `EPERM` without `CAP_SYS_ADMIN`;
/// `ENOENT` if there is no such tree. `EINVAL` for a buffer that does not hold the
/// question; else the kernel's error.
pub fn tree_search<'a>(
    fd: BorrowedFd<'_>,
    key: &SearchKey,
    buffer: &'a mut [u8],
) -> io::Result<Found<'a>> {
    let Some((question, answer)) = buffer.split_first_chunk_mut::<SEARCH_ARGUMENT_BYTES>() else {
        return Err(Errno::INVAL.into());
    };
    let argument = Argument {
        tree_id: key.tree_id,
        min_objectid: key.first.objectid,
        max_objectid: key.last.objectid,
        min_offset: key.first.offset,
        max_offset: key.last.offset,
        min_transid: key.transid_min,
        max_transid: key.transid_max,
        min_type: key.first.kind.into(),
        max_type: key.last.kind.into(),
        nr_items: key.items_max,
        unused: 0,
        unused_too: [0; 4],
        buf_size: answer.len() as u64,
    };
    // SAFETY: an Argument is numbers without padding, and as long as the array.
    *question = unsafe { std::mem::transmute::<Argument, [u8; SEARCH_ARGUMENT_BYTES]>(argument) };
    // SAFETY: the question was written, with the length of what is behind it.
    let item_count = unsafe { ioctl(fd, Search { buffer })? };
    let bytes = &buffer[SEARCH_ARGUMENT_BYTES..];
    Ok(Found { item_count, bytes })
}

/// A buffer that begins with a valid [`Argument`], whose `buf_size` is the
/// length of the rest.
struct Search<'a> {
    buffer: &'a mut [u8],
}

// SAFETY: the kernel reads and writes an Argument, and behind it at most
// `buf_size` bytes (btrfs_ioctl_tree_search_v2), all of which the buffer has. It
// copies bytes, so nothing has to be aligned.
unsafe impl Ioctl for Search<'_> {
    type Output = u32;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        TREE_SEARCH_V2
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.buffer.as_mut_ptr().cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, argument: *mut c_void) -> rustix::io::Result<u32> {
        // SAFETY: it points to an Argument, perhaps not aligned.
        let argument = unsafe { argument.cast::<Argument>().read_unaligned() };
        Ok(argument.nr_items)
    }
}
