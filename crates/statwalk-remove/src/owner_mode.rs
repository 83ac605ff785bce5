// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rights of the owner on entries that this crate has made, whatever the umask took.

use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::Mode;
use statwalk_sys::user;

/// Gives the owner the rights on an entry that was just made.
///
/// A umask such as 0177 makes directories that nobody can enter, in later sessions too.
pub(crate) fn grant(open: impl AsFd, rights: Mode) {
    let Ok(stat) = rustix::fs::fstat(&open) else {
        return;
    };
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.contains(rights) || user::effective() != Ok(stat.st_uid) {
        return;
    }
    // fchmod(2) refuses descriptors with O_PATH. Where this fails, so does the use of the
    // entry, and that error has the reason.
    let link = format!("/proc/self/fd/{}", open.as_fd().as_raw_fd());
    let _ = rustix::fs::chmod(link, mode | rights);
}
