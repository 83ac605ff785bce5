// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of system and machine.
//!
//! Where a filter of system calls refuses uname(2), `rustix::system::uname` returns memory
//! that nobody has written, and panics with debug assertions.

use std::ffi::{CStr, c_char};
use std::io;
use std::mem::MaybeUninit;

/// The names of uname(2): any bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The name of the kernel: `Linux`.
    pub system: Vec<u8>,
    /// The name of the machine in its network.
    pub host: Vec<u8>,
    /// The version of the kernel, such as `6.18.1`.
    pub release: Vec<u8>,
    /// The kind of its processors, such as `x86_64`.
    pub processor: Vec<u8>,
}

/// Reads the names.
///
/// # Errors
///
/// A filter of system calls refuses it.
///
/// ```
/// assert_eq!(statwalk_sys::uname::read()?.system, b"Linux");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read() -> io::Result<Names> {
    let mut names = MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the kernel fills a utsname, which is ours.
    if unsafe { libc::uname(names.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled it, and zeros are a valid utsname before.
    let names = unsafe { names.assume_init() };
    Ok(Names {
        system: bytes(&names.sysname),
        host: bytes(&names.nodename),
        release: bytes(&names.release),
        processor: bytes(&names.machine),
    })
}

/// The bytes before the first NUL.
fn bytes(field: &[c_char]) -> Vec<u8> {
    // `c_char` is signed on some architectures.
    #[allow(clippy::unnecessary_cast, reason = "as above")]
    let field: Vec<u8> = field.iter().map(|&byte| byte as u8).collect();
    let text = CStr::from_bytes_until_nul(&field);
    text.map_or(field.clone(), |text| text.to_bytes().to_vec())
}
