// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the program has more rights than the user who started it.

/// Whether the kernel has marked this process as one that must not trust its
/// caller: set-uid, set-gid, or capabilities of the program's file.
///
/// `AT_SECURE`, getauxval(3).
///
/// ```
/// assert!(!statwalk_sys::secure_execution::is_on());
/// ```
#[must_use]
pub fn is_on() -> bool {
    // SAFETY: getauxval reads a vector that the kernel has left for the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
