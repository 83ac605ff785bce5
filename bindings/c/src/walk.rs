// SPDX-License-Identifier: MIT OR Apache-2.0

//! Entries one after another, as users of fts(3) know them.

use std::ffi::{c_char, c_int};

use statwalk_core::Canceller;
use statwalk_stream::{Entry, Failure, Step, Walk};

use crate::border::{exclusive, guard, guard_unit, patience, shared};
use crate::failures::{ErrorItem, HeldError, SW_END, SW_ERROR, SW_VALUE, SW_WAITING, ScanReport};
use crate::process::Process;
use crate::readiness::Reading;
use crate::scan::ScanRequest;

/// A regular file.
pub const SW_FILE: u8 = 0;
/// A directory.
pub const SW_DIRECTORY: u8 = 1;
/// A symbolic link.
pub const SW_SYMLINK: u8 = 2;
/// A named pipe.
pub const SW_FIFO: u8 = 3;
/// A socket.
pub const SW_SOCKET: u8 = 4;
/// A character device.
pub const SW_CHAR_DEVICE: u8 = 5;
/// A block device.
pub const SW_BLOCK_DEVICE: u8 = 6;
/// Neither the listing nor a stat could tell.
pub const SW_UNKNOWN: u8 = 7;

/// The entries of a directory follow.
pub const SW_LISTED: u8 = 0;
/// The directory could not be opened.
pub const SW_UNREADABLE: u8 = 1;
/// Another file system that was not entered.
pub const SW_CROSSING: u8 = 2;
/// A kernel file system that was left out.
pub const SW_EXCLUDED: u8 = 3;
/// The directory lies as deep as the scan goes.
pub const SW_AT_DEPTH_LIMIT: u8 = 4;

/// A time since 1970, in UTC.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Time {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// The rest; 0 for times before 1677 and after 2262.
    pub nanoseconds: u32,
}

/// An entry. It is there until the next call for its walk.
///
/// A column that is not in `known` is 0: it was not asked for, the file system does not have
/// it, or `refusal` says why it could not be read.
/// New members can come at the end.
#[repr(C)]
#[derive(Debug)]
pub struct WalkEntry {
    /// The path, beginning with the root as the caller gave it. Ends with a NUL.
    pub path: *const c_char,
    /// The length of the path, without the NUL.
    pub path_len: usize,
    /// The name: the end of the path. Of a root it is the whole path.
    pub name: *const c_char,
    /// The length of the name.
    pub name_len: usize,
    /// The columns that are known: SW_SIZE and its neighbours.
    pub known: u32,
    /// The distance from the root, which is 0.
    pub depth: u32,
    /// The root that it belongs to, from 0 on.
    pub root: u32,
    /// SW_FILE and its neighbours.
    pub r#type: u8,
    /// Of a directory, SW_LISTED and its neighbours.
    pub state: u8,
    /// Whether a symbolic link was followed to it.
    pub is_followed: bool,
    /// st_size.
    pub size: u64,
    /// 512 times st_blocks.
    pub allocated: u64,
    /// st_ino.
    pub ino: u64,
    /// st_dev.
    pub dev: u64,
    /// st_rdev.
    pub rdev: u64,
    /// st_nlink.
    pub links: u32,
    /// st_uid.
    pub uid: u32,
    /// st_gid.
    pub gid: u32,
    /// st_mode.
    pub mode: u32,
    /// st_mtim.
    pub mtime: Time,
    /// st_atim.
    pub atime: Time,
    /// st_ctim.
    pub ctime: Time,
    /// The time of birth.
    pub btime: Time,
    /// STATX_ATTR_COMPRESSED, _IMMUTABLE, _APPEND, _NODUMP, _ENCRYPTED, _VERITY and _DAX.
    pub flags: u32,
    /// Those bits of `flags` that the file system tells. Any other flag is unknown.
    pub flags_mask: u32,
    /// The error number for which the system has refused the attributes; 0 where it has not.
    pub refusal: c_int,
}

/// A scan that gives entries one after another.
#[derive(Debug)]
pub struct WalkHandle {
    walk: Reading<Walk>,
    entry: WalkEntry,
    error: Option<HeldError>,
    /// Apart from the walk, for other threads.
    canceller: Option<Canceller>,
    process: Process,
}

/// Begins a scan. Entries come by sw_walk_next, and sw_walk_close ends it.
///
/// Several threads scan. A directory comes before all that is below it; nothing else of
/// the order is promised without SW_SORT and SW_CONTENTS_FIRST. A root that is missing is an error item at the end.
///
/// SW_OK, or SW_FAILED and NULL in `walk`.
///
/// # Safety
///
/// `scan` is of sw_scan_new, and `walk` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_open(
    scan: *const ScanRequest,
    walk: *mut *mut WalkHandle,
) -> c_int {
    guard_unit(|| {
        // SAFETY: the caller gives memory for a pointer, and a scan that nobody changes.
        let (scan, place) = unsafe { (shared(scan), exclusive(walk)?) };
        *place = std::ptr::null_mut();
        let walk = Walk::new(&scan?.0)?;
        *place = Box::into_raw(Box::new(WalkHandle {
            canceller: walk.canceller().cloned(),
            walk: Reading::new(walk),
            entry: nothing(),
            error: None,
            process: Process::current(),
        }));
        Ok(())
    })
}

/// Goes on to the next entry, and waits for it.
///
/// SW_VALUE and the entry; SW_ERROR for an entry that could not be read, which
/// sw_walk_error describes; SW_END; SW_FAILED.
///
/// # Safety
///
/// `walk` is of sw_walk_open, and `entry` leads to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_next(
    walk: *mut WalkHandle,
    entry: *mut *const WalkEntry,
) -> c_int {
    // SAFETY: the contract is the same.
    unsafe { sw_walk_next_within(walk, -1, entry) }
}

/// As sw_walk_next, and waits at most for a time: then the answer is SW_WAITING.
///
/// # Safety
///
/// As for sw_walk_next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_next_within(
    walk: *mut WalkHandle,
    timeout_ms: c_int,
    entry: *mut *const WalkEntry,
) -> c_int {
    guard(|| {
        if walk.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives a walk that no other thread goes on with. Another
        // thread may read the canceller, so this borrows the other fields alone.
        let (inner, held, error, process, place) = unsafe {
            let (inner, held) = (&mut (*walk).walk, &mut (*walk).entry);
            let process = (*walk).process;
            (inner, held, &mut (*walk).error, process, exclusive(entry)?)
        };
        *place = std::ptr::null();
        process.check()?;
        let (timeout, is_endless) = patience(timeout_ms);
        loop {
            match inner.step_within(timeout)? {
                Step::Value(()) => {
                    let walk = inner
                        .scan()
                        .ok_or(Failure::Invalid("the walk is not here"))?;
                    fill(held, &walk.entry());
                    *place = held;
                    return Ok(SW_VALUE);
                }
                Step::Error(found) => {
                    *error = Some(HeldError::new(found));
                    return Ok(SW_ERROR);
                }
                Step::Waiting if is_endless => {}
                Step::Waiting => return Ok(SW_WAITING),
                Step::End => return Ok(SW_END),
            }
        }
    })
}

/// Gives a descriptor for poll(2) and event loops, by which a program need not block.
///
/// It is readable when the next call of sw_walk_next has an entry, an error, the end or a
/// failure at hand. So call sw_walk_next_within with a time of 0 until SW_WAITING, and then wait
/// for the descriptor. Nobody but sw_walk_close closes it, and nobody reads it.
///
/// From the first call on, one more thread waits in the place of the caller. Each later call
/// gives the same descriptor. SW_FAILED if the system has no descriptor or no thread.
///
/// # Safety
///
/// `walk` is of sw_walk_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_fd(walk: *mut WalkHandle) -> c_int {
    guard(|| {
        if walk.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives a walk that no other thread goes on with; this
        // borrows that field alone, as above.
        let (walk, process) = unsafe { (&mut (*walk).walk, (*walk).process) };
        process.check()?;
        walk.descriptor()
    })
}

/// The error of the last SW_ERROR; NULL before the first. It is there until the next
/// call for the walk.
///
/// # Safety
///
/// `walk` is of sw_walk_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_error(walk: *const WalkHandle) -> *const ErrorItem {
    if walk.is_null() {
        return std::ptr::null();
    }
    // SAFETY: the caller gives a walk that no other thread goes on with.
    let error = unsafe { &(*walk).error };
    (error.as_ref()).map_or(std::ptr::null(), |error| &raw const error.item)
}

/// Leaves out all that is below the directory that came last.
///
/// No entry below it comes any more, and no worker opens a directory below it that none
/// has opened. SW_FAILED if the last entry is no directory, and with SW_CONTENTS_FIRST.
///
/// # Safety
///
/// `walk` is of sw_walk_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_skip(walk: *mut WalkHandle) -> c_int {
    guard_unit(|| {
        if walk.is_null() {
            return Err(Failure::Invalid("a pointer is NULL"));
        }
        // SAFETY: the caller gives a walk that no other thread goes on with; this
        // borrows that field alone, as above.
        let (walk, process) = unsafe { (&mut (*walk).walk, (*walk).process) };
        process.check()?;
        let last = Failure::Invalid("the last entry is no directory");
        walk.scan_mut().map_or(Err(last), Walk::prune)
    })
}

/// Stops the scan. Any thread may call it while the walk is open.
///
/// Entries that the workers have found still come, and then the end.
///
/// # Safety
///
/// `walk` is of sw_walk_open, and not closed before this call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_cancel(walk: *const WalkHandle) {
    if walk.is_null() {
        return;
    }
    // SAFETY: the walk is open. Nobody writes these fields after sw_walk_open.
    let (canceller, process) = unsafe { (&(*walk).canceller, (*walk).process) };
    process.cancel(canceller.as_ref());
}

/// Ends the scan, waits for its threads, and frees the walk. NULL is allowed.
///
/// A thread that hangs in the kernel is left behind after a second. `report` is NULL, or
/// gets what was not read. SW_OK if everything was read; SW_INCOMPLETE; SW_FAILED.
///
/// # Safety
///
/// `walk` is NULL, or of sw_walk_open and not closed. `report` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_walk_close(walk: *mut WalkHandle, report: *mut ScanReport) -> c_int {
    guard(|| {
        if walk.is_null() {
            return Ok(crate::SW_OK);
        }
        // SAFETY: sw_walk_open made the box, and the caller gives it back once.
        let handle = unsafe { Box::from_raw(walk) };
        if let Err(forked) = handle.process.check() {
            handle.walk.leave();
            return Err(forked);
        }
        let ended = handle.walk.end()?;
        // SAFETY: the caller gives memory for a report, or null.
        Ok(unsafe { ScanReport::give(&ended, report) })
    })
}

fn nothing() -> WalkEntry {
    WalkEntry {
        path: c"".as_ptr(),
        path_len: 0,
        name: c"".as_ptr(),
        name_len: 0,
        known: 0,
        depth: 0,
        root: 0,
        r#type: SW_UNKNOWN,
        state: SW_LISTED,
        is_followed: false,
        size: 0,
        allocated: 0,
        ino: 0,
        dev: 0,
        rdev: 0,
        links: 0,
        uid: 0,
        gid: 0,
        mode: 0,
        mtime: Time::default(),
        atime: Time::default(),
        ctime: Time::default(),
        btime: Time::default(),
        flags: 0,
        flags_mask: 0,
        refusal: 0,
    }
}

fn fill(out: &mut WalkEntry, entry: &Entry<'_>) {
    let of = entry.attributes;
    let path = entry.path_with_nul;
    let id = of.id();
    // Seconds are also known where nanoseconds do not hold the time.
    let mut known = of.valid;
    let [mtime, atime, ctime, btime] = statwalk_core::Time::ALL.map(|time| {
        let Some(seconds) = of.time_s(time) else {
            return Time::default();
        };
        known |= time.field();
        let ns = of.time_ns(time);
        let nanoseconds = ns.map_or(0, |ns| ns.rem_euclid(1_000_000_000) as u32);
        Time {
            seconds,
            nanoseconds,
        }
    });
    *out = WalkEntry {
        path: path.as_ptr().cast(),
        path_len: path.len() - 1,
        name: path[entry.name_at..].as_ptr().cast(),
        name_len: path.len() - 1 - entry.name_at,
        known: 0,
        depth: entry.depth,
        root: entry.root,
        r#type: of.kind.number(),
        state: entry.state.map_or(SW_LISTED, |state| state.number()),
        is_followed: entry.is_followed,
        size: of.size_bytes().unwrap_or(0),
        allocated: of.allocated_bytes().unwrap_or(0),
        ino: id.map_or(0, |id| id.ino() as u64),
        dev: id.map_or(0, |id| id.dev()),
        rdev: of.rdev().unwrap_or(0),
        links: of.links().unwrap_or(0),
        uid: of.uid().unwrap_or(0),
        gid: of.gid().unwrap_or(0),
        mode: of.mode().unwrap_or(0).into(),
        mtime,
        atime,
        ctime,
        btime,
        flags: of.flags().unwrap_or(0),
        flags_mask: of.flags_mask().unwrap_or(0),
        refusal: entry.refusal.map_or(0, |errno| errno.0),
    };
    out.known = known.bits() | crate::SW_NAME | crate::SW_PATH;
}
