// SPDX-License-Identifier: MIT OR Apache-2.0

//! The system's numbers of the failures that the core finds out by itself.

use rustix::io::Errno;

pub(crate) const NOT_FOUND: i32 = Errno::NOENT.raw_os_error();
pub(crate) const NOT_A_DIRECTORY: i32 = Errno::NOTDIR.raw_os_error();
pub(crate) const LOOP: i32 = Errno::LOOP.raw_os_error();
pub(crate) const OTHER_DEVICE: i32 = Errno::XDEV.raw_os_error();
pub(crate) const DAMAGED: i32 = Errno::UCLEAN.raw_os_error();
pub(crate) const BAD_HANDLE: i32 = Errno::BADF.raw_os_error();
pub(crate) const OVERFLOW: i32 = Errno::OVERFLOW.raw_os_error();
pub(crate) const TOO_LARGE: i32 = Errno::FBIG.raw_os_error();
pub(crate) const NO_MEMORY: i32 = Errno::NOMEM.raw_os_error();
pub(crate) const INVALID: i32 = Errno::INVAL.raw_os_error();
