// SPDX-License-Identifier: MIT OR Apache-2.0

//! The user whose rights the process has.
//!
//! A filter of system calls can refuse even geteuid(2). `rustix::process::geteuid` then
//! returns the number of the error as a user, and panics with debug assertions.

use rustix::io::Errno;

/// The number of the effective user: geteuid(2).
///
/// # Errors
///
/// A filter of system calls refuses it.
///
/// ```
/// use std::os::unix::fs::MetadataExt;
///
/// let file = tempfile::tempfile()?;
/// assert_eq!(statwalk_sys::user::effective()?, file.metadata()?.uid());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn effective() -> Result<u32, Errno> {
    let answer = answer();
    match u32::try_from(answer) {
        Ok(user) => Ok(user),
        Err(_) => Err(Errno::from_raw_os_error(-answer as i32)),
    }
}

/// The user, or the error as a negative number.
///
/// syscall(2) returns 64 bits, so an error is no user here.
#[cfg(target_pointer_width = "64")]
fn answer() -> i64 {
    // SAFETY: the call takes nothing and changes nothing.
    match unsafe { libc::syscall(libc::SYS_geteuid) } {
        -1 => -i64::from(
            std::io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EPERM),
        ),
        user => user,
    }
}

/// The user, or the error as a negative number.
///
/// A call of 32 bits returns an error as one of the last numbers, which no user has:
/// `MAX_ERRNO`, include/linux/err.h of Linux 6.18.
#[cfg(not(target_pointer_width = "64"))]
fn answer() -> i64 {
    const LAST: i32 = -4095;
    // SAFETY: the call takes nothing and changes nothing.
    let user = unsafe { libc::geteuid() };
    match user.cast_signed() {
        error @ LAST..=-1 => error.into(),
        _ => user.into(),
    }
}
