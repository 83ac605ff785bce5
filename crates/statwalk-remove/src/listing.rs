// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of a directory, one buffer after another.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::RawDir;
use rustix::io::Errno;

/// About 1,000 names.
const BUFFER_BYTES: usize = 32 << 10;

/// A buffer for the kernel's answers, and one for the names.
pub(crate) struct Listing {
    buffer: Vec<MaybeUninit<u8>>,
}

impl Listing {
    pub(crate) fn new() -> Listing {
        Listing {
            buffer: vec![MaybeUninit::uninit(); BUFFER_BYTES],
        }
    }

    /// Reads the names of the next buffer, without `.` and `..`; nothing at the end.
    ///
    /// The position belongs to the open directory. So names may be removed between two calls.
    pub(crate) fn next(&mut self, directory: impl AsFd) -> Result<Option<Vec<Vec<u8>>>, Errno> {
        let mut names = Vec::new();
        let mut raw = RawDir::new(directory.as_fd(), &mut self.buffer);
        loop {
            match raw.next() {
                None => return Ok((!names.is_empty()).then_some(names)),
                Some(Err(errno)) => return Err(errno),
                Some(Ok(entry)) => {
                    let name = entry.file_name().to_bytes();
                    if name != b"." && name != b".." {
                        names.push(name.to_vec());
                    }
                }
            }
            if raw.is_buffer_empty() && !names.is_empty() {
                return Ok(Some(names));
            }
        }
    }
}
