// SPDX-License-Identifier: MIT OR Apache-2.0

//! Limits of a process: getrlimit(2).
//!
//! Where a filter of system calls refuses it, `rustix::process::getrlimit` returns memory
//! that nobody has written, and panics with debug assertions.

use std::io;

use rustix::process::Rlimit;

/// The limit of open files.
///
/// # Errors
///
/// A filter of system calls refuses it.
///
/// ```
/// assert_ne!(statwalk_sys::resource_limit::open_files()?.current, Some(0));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open_files() -> io::Result<Rlimit> {
    read(libc::RLIMIT_NOFILE as i32)
}

/// The limit of the address space.
pub(crate) fn address_space() -> io::Result<Rlimit> {
    read(libc::RLIMIT_AS as i32)
}

// The type of a resource differs by C library.
fn read(resource: i32) -> io::Result<Rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the kernel writes one rlimit, which is ours.
    if unsafe { libc::getrlimit(resource as _, &raw mut limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // It has 32 bits on some architectures.
    #[allow(clippy::useless_conversion, reason = "as above")]
    let finite = |value: libc::rlim_t| (value != libc::RLIM_INFINITY).then_some(u64::from(value));
    Ok(Rlimit {
        current: finite(limit.rlim_cur),
        maximum: finite(limit.rlim_max),
    })
}
