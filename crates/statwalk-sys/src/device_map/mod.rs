// SPDX-License-Identifier: MIT OR Apache-2.0

//! A block device or a file in memory, from which bytes are copied out.
//!
//! The mapped bytes belong to others: the kernel and other programs write to them at
//! any moment, and any page can turn out to be unreadable. So no reference to them is
//! ever made. [`DeviceMap::copy`] is the only way in, and it answers a bad page with an
//! `Err`.
//!
//! # The handler of SIGBUS
//!
//! The kernel answers the touch of a page that it cannot read, or that lies behind the
//! end of a file, with SIGBUS, which ends the program. Libraries of this project
//! install no signal handlers. This is the one exception, because a map has no other
//! way to show its errors. Reading by `pread` instead costs a system call for each
//! directory and inode.
//!
//! The handler is installed with the first map, once for the process, and never without
//! one. It does for user space the work of the kernel's own `copy_from_user` (Linux
//! 6.18, arch/x86/mm/extable.c). It looks whether the interrupted instruction lies in
//! the one routine that copies, and whether the address lies within the bytes that this
//! call copies. If both are so, the thread goes on at the routine's second ending,
//! which says that it failed. Nothing is recorded and nothing is shared. Threads that
//! fault at once do not meet, and a map that goes away concerns nobody else. The next
//! copy of the page asks the device again, and the handler makes no call that could
//! change `errno`.
//!
//! Every other SIGBUS goes where it went before: to the handler that was there,
//! or to the end of the program (`fault_guard.rs`).
//!
//! Two things defeat it, as they defeat any handler. A thread that blocks SIGBUS
//! is killed by a bad page. A handler that is installed later and does not pass
//! on what is not its own takes our faults too.

mod fault_guard;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "copy_x86_64.rs"]
mod platform;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "copy_unsupported.rs"]
mod platform;

#[cfg(test)]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod tests;

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// A read-only map of the first bytes of a block device or a file.
///
/// Threads may copy from one map at the same time.
///
/// ```
/// use statwalk_sys::device_map::{CopyError, DeviceMap};
/// use std::os::fd::AsFd;
///
/// # if !DeviceMap::IS_SUPPORTED { return Ok(()); }
/// let file = std::fs::File::open("Cargo.toml")?;
/// let length = file.metadata()?.len();
/// let map = DeviceMap::new(file.as_fd(), length)?;
/// let mut line = [0; 38];
/// map.copy(2, &mut line)?;
/// assert_eq!(&line[..23], b"SPDX-License-Identifier");
/// assert_eq!(map.copy(length, &mut line), Err(CopyError::OutOfRange));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceMap {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the map belongs to the process and not to a thread; whoever owns the
// value may unmap it.
unsafe impl Send for DeviceMap {}
// SAFETY: all that a shared reference allows is to copy from pages that nobody
// here writes, and to advise the kernel, which any thread may.
unsafe impl Sync for DeviceMap {}

impl DeviceMap {
    /// Whether this machine has the routine that a map is read with.
    pub const IS_SUPPORTED: bool = platform::IS_SUPPORTED;

    /// Maps the first `length_bytes` bytes of a device or file that is open for reading.
    ///
    /// The length may be terabytes: address space is taken, memory is not. It is
    /// not compared with the size of the device; bytes behind its end cannot be
    /// copied. The descriptor may be closed afterwards.
    ///
    /// The first call in a process installs the handler of SIGBUS.
    ///
    /// # Errors
    ///
    /// The kernel's error: `EINVAL` for a length of zero, `ENOMEM` where the address
    /// space is too small. `EACCES` where the descriptor is not open for reading,
    /// `ENODEV` for a file that cannot be mapped; see mmap(2). `EOVERFLOW` for a length
    /// that is no address.
    ///
    /// # Platform behavior
    ///
    /// Linux on x86-64; [`io::ErrorKind::Unsupported`] elsewhere.
    pub fn new(fd: BorrowedFd<'_>, length_bytes: u64) -> io::Result<DeviceMap> {
        if !DeviceMap::IS_SUPPORTED {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let len = usize::try_from(length_bytes).map_err(|_| Errno::OVERFLOW)?;
        fault_guard::install()?;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an address that is free, so no memory of
        // ours is replaced.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ, flags, fd, 0)? };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(DeviceMap { start, len })
    }

    /// The number of bytes that are mapped.
    #[expect(clippy::len_without_is_empty, reason = "a map is never empty")]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len as u64
    }

    /// Copies the bytes from `offset` on, as many as `into` takes.
    ///
    /// Bytes that somebody writes at the same time arrive in any mixture of old
    /// and new. Behind the end of a file, the rest of its last page reads as
    /// zeros without an error.
    ///
    /// # Errors
    ///
    /// [`CopyError::OutOfRange`] if not all of it is mapped; nothing is copied
    /// then. [`CopyError::Io`] if a page cannot be read, or lies behind the end
    /// of the device or file; a part of `into` may then have been overwritten.
    #[inline]
    pub fn copy(&self, offset: u64, into: &mut [u8]) -> Result<(), CopyError> {
        let offset = usize::try_from(offset).map_err(|_| CopyError::OutOfRange)?;
        let left = self.len.checked_sub(offset);
        if left.is_none_or(|left| left < into.len()) {
            return Err(CopyError::OutOfRange);
        }
        // SAFETY: `offset` and the length of `into` were checked against the
        // map's, which is mapped readable until `self` is dropped. `into` is
        // ours alone. What the routine reads is no memory of Rust: no reference
        // to it exists, and the accesses are those of opaque assembly, which no
        // compiler reorders, repeats or draws conclusions from. The handler of
        // SIGBUS has been installed since `new`.
        let is_complete = unsafe {
            platform::copy(
                into.as_mut_ptr(),
                self.start.as_ptr().add(offset),
                into.len(),
            )
        };
        if is_complete {
            Ok(())
        } else {
            Err(CopyError::Io)
        }
    }

    /// Has bytes brought from memory into the processor's caches, if they are in
    /// memory and mapped. Nothing waits for it, and nothing can go wrong.
    #[inline]
    pub fn prefetch(&self, offset: u64, count: usize) {
        let Ok(offset) = usize::try_from(offset) else {
            return;
        };
        let is_within = offset.checked_add(count).is_some_and(|end| end <= self.len);
        if is_within {
            platform::prefetch(self.start.as_ptr().wrapping_add(offset), count);
        }
    }

    /// Has the kernel read bytes from the device into memory, if they are not
    /// there. It does not wait for the device, unless that has too much to do.
    ///
    /// # Errors
    ///
    /// `EINVAL` if not all of it is mapped; else the kernel's error, see madvise(2).
    pub fn will_need(&self, offset: u64, count: u64) -> io::Result<()> {
        let (start, len) = self.pages(offset, count)?;
        // SAFETY: the range lies in this map, and the advice changes nothing that
        // a page holds.
        unsafe { rustix::mm::madvise(start.cast(), len, rustix::mm::Advice::WillNeed)? };
        Ok(())
    }

    /// How many of the pages that these bytes touch are in memory, and how many
    /// there are.
    ///
    /// To a process that may not write to the file the kernel answers that all pages
    /// are in memory: mincore(2).
    ///
    /// # Errors
    ///
    /// `EINVAL` if not all of it is mapped; else the kernel's error.
    pub fn resident_pages(&self, offset: u64, count: u64) -> io::Result<(usize, usize)> {
        let (start, len) = self.pages(offset, count)?;
        let mut pages = vec![0_u8; len.div_ceil(rustix::param::page_size())];
        // SAFETY: the range lies in this map, and `pages` has a byte for each of
        // its pages.
        if unsafe { libc::mincore(start.cast(), len, pages.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let resident = pages.iter().filter(|&&page| page & 1 == 1).count();
        Ok((resident, pages.len()))
    }

    /// The address and the length of bytes, from the beginning of their first page.
    fn pages(&self, offset: u64, count: u64) -> io::Result<(*mut u8, usize)> {
        let end = offset.checked_add(count).filter(|&end| end <= self.len());
        let Some(end) = end.filter(|_| count > 0) else {
            return Err(Errno::INVAL.into());
        };
        // Both fit an address, as the length of the map does.
        let begin = offset as usize & !(rustix::param::page_size() - 1);
        Ok((
            self.start.as_ptr().wrapping_add(begin),
            end as usize - begin,
        ))
    }
}

impl Drop for DeviceMap {
    fn drop(&mut self) {
        // SAFETY: the range is exactly this map. Nobody copies from it, because
        // a copy borrows it. It cannot fail: the range is one that mmap returned.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Why nothing, or not everything, was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyError {
    /// Not all of it lies in the map.
    OutOfRange,
    /// The kernel could not read a page; the errno of it is `EIO`.
    Io,
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyError::OutOfRange => f.write_str("outside of the map"),
            CopyError::Io => write!(f, "{}", io::Error::from(Errno::IO)),
        }
    }
}

impl std::error::Error for CopyError {}

impl From<CopyError> for io::Error {
    fn from(error: CopyError) -> io::Error {
        match error {
            CopyError::OutOfRange => io::Error::new(io::ErrorKind::InvalidInput, error),
            CopyError::Io => Errno::IO.into(),
        }
    }
}
