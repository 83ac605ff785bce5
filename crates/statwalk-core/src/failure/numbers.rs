// SPDX-License-Identifier: MIT OR Apache-2.0

//! The system's numbers of the failures that the core finds out by itself.

use rustix::io::Errno;

pub(super) const NOT_FOUND: i32 = Errno::NOENT.raw_os_error();
pub(super) const NOT_A_DIRECTORY: i32 = Errno::NOTDIR.raw_os_error();
pub(super) const LOOP: i32 = Errno::LOOP.raw_os_error();
pub(super) const OTHER_DEVICE: i32 = Errno::XDEV.raw_os_error();
pub(super) const DAMAGED: i32 = Errno::UCLEAN.raw_os_error();
pub(super) const BAD_HANDLE: i32 = Errno::BADF.raw_os_error();
pub(super) const OVERFLOW: i32 = Errno::OVERFLOW.raw_os_error();
