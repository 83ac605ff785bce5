// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rules of the border, for all functions.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use statwalk_stream::Failure;

use crate::failures::{SW_FAILED, SW_OK, note};

/// Calls something. A failure is noted for this thread, and so is a panic.
pub(crate) fn guard(call: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    let done = Failure::catch(call).and_then(|done| done);
    done.unwrap_or_else(|failure| {
        note(&failure);
        SW_FAILED
    })
}

/// As [`guard`], for a call that answers with nothing else.
pub(crate) fn guard_unit(call: impl FnOnce() -> Result<(), Failure>) -> c_int {
    guard(|| call().map(|()| SW_OK))
}

/// The value behind a pointer of the caller.
///
/// # Safety
///
/// `pointer` is null, or leads to a valid value that nobody else uses during `'a`.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: by this function's contract.
    unsafe { pointer.as_mut() }.ok_or(NULL)
}

/// As [`exclusive`], for a value that others may read.
///
/// # Safety
///
/// `pointer` is null, or leads to a valid value that nobody writes during `'a`.
pub(crate) unsafe fn shared<'a, T>(pointer: *const T) -> Result<&'a T, Failure> {
    // SAFETY: by this function's contract.
    unsafe { pointer.as_ref() }.ok_or(NULL)
}

const NULL: Failure = Failure::Invalid("a pointer is NULL");

/// The bytes of a string of C.
///
/// # Safety
///
/// `text` is null, or a string that ends with a NUL and stays as it is during `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Result<&'a [u8], Failure> {
    if text.is_null() {
        return Err(NULL);
    }
    // SAFETY: by this function's contract, and it is not null.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn path(text: *const c_char) -> Result<PathBuf, Failure> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { bytes(text) }?;
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// The time that a caller waits: for ever with a negative number.
pub(crate) fn patience(timeout_ms: c_int) -> (Duration, bool) {
    match u64::try_from(timeout_ms) {
        Ok(ms) => (Duration::from_millis(ms), false),
        Err(_) => (Duration::from_secs(3600), true),
    }
}
