// SPDX-License-Identifier: MIT OR Apache-2.0

//! The description of a scan.

use std::ffi::{c_char, c_int};

use statwalk_stream::{Failure, Request};

use crate::border::{bytes, exclusive, guard_unit, path};
use crate::failures::note;

/// Names. A walk always has them.
pub const SW_NAME: u32 = 1 << 0;
/// Types. Always there.
pub const SW_TYPE: u32 = 1 << 1;
/// st_size.
pub const SW_SIZE: u32 = 1 << 2;
/// The space taken: 512 times st_blocks.
pub const SW_ALLOCATED: u32 = 1 << 3;
/// st_nlink.
pub const SW_LINKS: u32 = 1 << 4;
/// st_dev and st_ino.
pub const SW_ID: u32 = 1 << 5;
/// st_mtim.
pub const SW_MTIME: u32 = 1 << 6;
/// st_atim.
pub const SW_ATIME: u32 = 1 << 7;
/// st_ctim.
pub const SW_CTIME: u32 = 1 << 8;
/// The time of birth, where the file system keeps one.
pub const SW_BTIME: u32 = 1 << 9;
/// st_uid and st_gid.
pub const SW_OWNER: u32 = 1 << 10;
/// st_mode.
pub const SW_MODE: u32 = 1 << 11;
/// st_rdev.
pub const SW_RDEV: u32 = 1 << 12;
/// Flags of statx(2), STATX_ATTR_APPEND and six others, and which of them are known.
pub const SW_FLAGS: u32 = 1 << 13;
/// Whole paths as a column of tables. A walk always has them.
pub const SW_PATH: u32 = 0x8000_0000;
/// All that stat(2) gives.
pub const SW_STAT: u32 = SW_TYPE
    | SW_SIZE
    | SW_ALLOCATED
    | SW_LINKS
    | SW_ID
    | SW_MTIME
    | SW_ATIME
    | SW_CTIME
    | SW_OWNER
    | SW_MODE
    | SW_RDEV;

/// Stay on the file system of the root.
pub const SW_ONE_FILE_SYSTEM: u32 = 1 << 0;
/// A symbolic link stands for what it leads to, and nothing is listed twice.
pub const SW_FOLLOW_LINKS: u32 = 1 << 1;
/// Enter /proc and its like, which are left out otherwise.
pub const SW_KERNEL_FILE_SYSTEMS: u32 = 1 << 2;
/// Read devices where that is faster and allowed; it installs a handler of SIGBUS.
pub const SW_DEVICES: u32 = 1 << 3;

/// Leave out what .gitignore files name, by the rules of git.
pub const SW_GITIGNORE: u32 = 1 << 4;

/// Sort names within a directory by their bytes, and go into each at once.
///
/// A missing root is still the last item. An error comes in the place of its entry. Memory:
/// the entries of the directories on the way to the present one, and up to 131,072 beside them
/// and what threads read just then. Second mounts, and links with SW_FOLLOW_LINKS, are read
/// last, and all entries of a root that come after such a one wait for it.
pub const SW_SORT: u32 = 1 << 5;
/// Give a directory after all that is below it, and sort names.
///
/// Nothing can be skipped then. An error of a directory comes before it.
pub const SW_CONTENTS_FIRST: u32 = 1 << 6;

/// The description of a scan: roots, columns and options. Any number of scans can begin with one.
#[derive(Debug)]
pub struct ScanRequest(pub(crate) Request);

/// Describes a scan of the tree at a path, with names and types.
///
/// NULL if it fails. Give it to sw_scan_free.
///
/// # Safety
///
/// `root` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_new(root: *const c_char) -> *mut ScanRequest {
    let made = Failure::catch(|| {
        // SAFETY: the caller gives a string.
        let root = unsafe { path(root) }?;
        Ok(Box::into_raw(Box::new(ScanRequest(Request::new(root)))))
    });
    made.and_then(|made| made).unwrap_or_else(|failure| {
        note(&failure);
        std::ptr::null_mut()
    })
}

/// Adds a tree. Trees are scanned one after another.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `root` a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_add_root(scan: *mut ScanRequest, root: *const c_char) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses, and a string.
        let (scan, root) = unsafe { (exclusive(scan)?, path(root)?) };
        scan.0.add_root(root);
        Ok(())
    })
}

/// Asks for columns: SW_SIZE | SW_MTIME and others. They decide the system calls.
///
/// SW_NAME and SW_PATH alone need no call for an entry, and tell directories from others.
/// SW_TYPE needs one where the file system lists no types.
///
/// # Safety
///
/// `scan` is of sw_scan_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_set_columns(scan: *mut ScanRequest, columns: u32) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses.
        let scan = unsafe { exclusive(scan)? };
        let known = scan.0.set_columns(columns);
        (known.then_some(())).ok_or(Failure::Invalid("there is no such column"))
    })
}

/// Sets options: SW_ONE_FILE_SYSTEM and its neighbours.
///
/// # Safety
///
/// `scan` is of sw_scan_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_set_options(scan: *mut ScanRequest, options: u32) -> c_int {
    const ALL: u32 = SW_ONE_FILE_SYSTEM
        | SW_FOLLOW_LINKS
        | SW_KERNEL_FILE_SYSTEMS
        | SW_DEVICES
        | SW_GITIGNORE
        | SW_SORT
        | SW_CONTENTS_FIRST;
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses.
        let request = unsafe { &mut exclusive(scan)?.0 };
        if options & !ALL != 0 {
            return Err(Failure::Invalid("there is no such option"));
        }
        request.one_file_system = options & SW_ONE_FILE_SYSTEM != 0;
        request.follow_links = options & SW_FOLLOW_LINKS != 0;
        request.kernel_file_systems = options & SW_KERNEL_FILE_SYSTEMS != 0;
        request.devices = options & SW_DEVICES != 0;
        request.gitignore = options & SW_GITIGNORE != 0;
        request.sort = options & SW_SORT != 0;
        request.contents_first = options & SW_CONTENTS_FIRST != 0;
        Ok(())
    })
}

/// The number of threads; 0 lets the scan decide.
///
/// SW_FAILED beyond 2^32 - 1, as for a negative number that became a size.
///
/// # Safety
///
/// `scan` is of sw_scan_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_set_threads(scan: *mut ScanRequest, threads: usize) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses.
        let scan = unsafe { exclusive(scan)? };
        let threads = u32::try_from(threads);
        scan.0.threads =
            threads.map_err(|_| Failure::Invalid("threads is a whole number below 2^32"))?;
        Ok(())
    })
}

/// How deep the scan goes: a root has depth 0, and its entries have depth 1.
///
/// UINT32_MAX, the default, is no limit.
///
/// # Safety
///
/// `scan` is of sw_scan_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_set_max_depth(scan: *mut ScanRequest, depth: u32) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses.
        let scan = unsafe { exclusive(scan)? };
        scan.0.max_depth = Some(depth);
        Ok(())
    })
}

/// Give nothing above this depth; the directories there are read all the same.
///
/// 0 is the default. Rows name directories above it by their numbers, which come in no table.
///
/// # Safety
///
/// `scan` is of sw_scan_new.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_set_min_depth(scan: *mut ScanRequest, depth: u32) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses.
        let scan = unsafe { exclusive(scan)? };
        scan.0.min_depth = depth;
        Ok(())
    })
}

/// Leave out paths that fit a shell pattern, or one of several, as du --exclude does.
///
/// Each call adds one. A scan does not begin with one that ends with a slash.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `pattern` a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_exclude(scan: *mut ScanRequest, pattern: *const c_char) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives a scan that no other thread uses, and a string.
        let (scan, pattern) = unsafe { (exclusive(scan)?, bytes(pattern)?) };
        scan.0.exclude(pattern).map_err(Failure::Begin)
    })
}

/// Frees the description of a scan. Scans that began with it go on. NULL is allowed.
///
/// # Safety
///
/// `scan` is NULL, or of sw_scan_new and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_scan_free(scan: *mut ScanRequest) {
    if !scan.is_null() {
        // SAFETY: sw_scan_new made the box, and the caller gives it back once.
        drop(unsafe { Box::from_raw(scan) });
    }
}
