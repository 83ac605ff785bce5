// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers of functions, and errors.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};

use statwalk_core::{EntryError, Op, Report};
use statwalk_stream::{Failure, Gaps};

/// The call did what it says.
pub const SW_OK: c_int = 0;
/// Nothing comes any more.
pub const SW_END: c_int = 0;
/// A value has come.
pub const SW_VALUE: c_int = 1;
/// An entry could not be read. The scan goes on.
pub const SW_ERROR: c_int = 2;
/// Nothing has come in the given time.
pub const SW_WAITING: c_int = 3;
/// The scan is over, and something was not read: the report says how much.
pub const SW_INCOMPLETE: c_int = 4;
/// The call failed: see sw_failure.
pub const SW_FAILED: c_int = -1;

/// Opening a directory.
pub const SW_OP_OPEN: u8 = 0;
/// Listing a directory that was opened.
pub const SW_OP_READ: u8 = 1;
/// Reading the attributes of an entry.
pub const SW_OP_STAT: u8 = 2;
/// Following a symbolic link.
pub const SW_OP_FOLLOW: u8 = 3;
/// Anything else.
pub const SW_OP_OTHER: u8 = 255;

/// An entry that could not be read.
#[repr(C)]
#[derive(Debug)]
pub struct ErrorItem {
    /// The path, beginning with its root as the caller wrote it. Ends with a NUL.
    pub path: *const c_char,
    /// The length of the path, without the NUL.
    pub path_len: usize,
    /// The error number of the system; 0 for a directory that did not hold still.
    pub number: c_int,
    /// The operation: SW_OP_OPEN and its neighbours.
    pub op: u8,
    /// The root that the path belongs to, from 0 on.
    pub root: u32,
    /// A message for people, such as "open /srv/hr: permission denied".
    pub message: *const c_char,
}

/// The gaps of a scan.
///
/// It lies in the memory of the caller, so it keeps its size. New members take the place of
/// reserved ones.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanReport {
    /// Whether everything was read.
    pub is_complete: bool,
    /// Whether the scan was stopped before its end.
    pub is_interrupted: bool,
    /// Roots that are not there.
    pub missing_roots: u64,
    /// Entries and directories that could not be read.
    pub unreadable: u64,
    /// Directories that changed each time they were read.
    pub changed_directories: u64,
    /// Entries that went away during the scan. They are no gap.
    pub vanished: u64,
    /// Entries that were left out by a pattern, sw_walk_skip or sw_tables_skip.
    pub excluded: u64,
    /// Other file systems that were not entered.
    pub crossings: u64,
    /// 0, for members of later versions.
    pub reserved: [u64; 8],
}

/// An error item and the memory of its strings.
#[derive(Debug)]
pub(crate) struct HeldError {
    pub(crate) item: ErrorItem,
    _path: CString,
    _message: CString,
}

impl HeldError {
    pub(crate) fn new(error: EntryError) -> HeldError {
        let message = without_nul(error.to_string());
        let number = error.cause.errno().map_or(0, |errno| errno.0);
        let op = match error.op {
            Op::Open => SW_OP_OPEN,
            Op::Read => SW_OP_READ,
            Op::Stat => SW_OP_STAT,
            Op::Follow => SW_OP_FOLLOW,
            _ => SW_OP_OTHER,
        };
        let root = error.root as u32;
        let path_len = error.path.len();
        // The kernel has no path with a NUL.
        let path = CString::new(error.path).unwrap_or_default();
        HeldError {
            item: ErrorItem {
                path: path.as_ptr(),
                path_len,
                number,
                op,
                root,
                message: message.as_ptr(),
            },
            _path: path,
            _message: message,
        }
    }
}

impl ScanReport {
    fn new(report: &Report) -> ScanReport {
        let gaps = Gaps::of(report);
        ScanReport {
            is_complete: gaps.is_complete,
            is_interrupted: gaps.is_interrupted,
            missing_roots: gaps.missing_roots,
            unreadable: gaps.unreadable,
            changed_directories: gaps.changed_directories,
            vanished: gaps.vanished,
            excluded: gaps.excluded,
            crossings: gaps.crossings,
            reserved: [0; 8],
        }
    }

    /// Gives the report of a scan to a caller who wants it, and the answer of the function
    /// that ends the scan.
    ///
    /// # Safety
    ///
    /// `place` is null, or leads to memory for a report.
    pub(crate) unsafe fn give(report: &Report, place: *mut ScanReport) -> c_int {
        let found = ScanReport::new(report);
        if !place.is_null() {
            // SAFETY: by this function's contract.
            unsafe { place.write(found) };
        }
        match found.is_complete {
            true => SW_OK,
            false => SW_INCOMPLETE,
        }
    }
}

struct Noted {
    words: CString,
    number: c_int,
}

thread_local! {
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

pub(crate) fn note(failure: &Failure) {
    let number = match failure {
        Failure::Begin(error) => (error.io_error()).and_then(|error| error.raw_os_error()),
        _ => None,
    };
    let noted = Noted {
        words: without_nul(failure.to_string()),
        number: number.unwrap_or(EINVAL),
    };
    // A thread that is ending has no place for it any more, and must not panic.
    let _ = NOTED.try_with(|place| place.replace(Some(noted)));
}

/// `EINVAL`, errno(3).
const EINVAL: c_int = 22;

fn without_nul(words: String) -> CString {
    CString::new(words.replace('\0', "?")).unwrap_or_default()
}

/// Says why the last call of this thread that answered SW_FAILED, or NULL in place of a
/// pointer, has failed. The words are there until the next failure of the thread.
///
/// `number` is NULL, or gets an error number of the system.
///
/// # Safety
///
/// `number` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_failure(number: *mut c_int) -> *const c_char {
    let noted = NOTED.try_with(|noted| {
        let noted = noted.borrow();
        let words = noted
            .as_ref()
            .map_or(c"".as_ptr(), |noted| noted.words.as_ptr());
        (words, noted.as_ref().map_or(0, |noted| noted.number))
    });
    let (words, found) = noted.unwrap_or((c"".as_ptr(), 0));
    if !number.is_null() {
        // SAFETY: the caller gives memory for a number.
        unsafe { number.write(found) };
    }
    words
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn sw_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
