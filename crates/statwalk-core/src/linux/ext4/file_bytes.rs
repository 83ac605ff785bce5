// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes of a file or a device, a system call for each piece.

use std::fs::File;

use rustix::io::{Errno, pread};
use statwalk_ext4::{Bytes, ReadError};

use crate::linux::statx::uninterrupted;

/// A file or a device, read by pread(2).
#[derive(Debug)]
pub(crate) struct FileBytes {
    file: File,
    length_bytes: u64,
}

impl FileBytes {
    /// Takes a file of this length that is open for reading.
    pub(super) fn new(file: File, length_bytes: u64) -> FileBytes {
        FileBytes { file, length_bytes }
    }
}

impl Bytes for FileBytes {
    /// Apart from its callers, who read mapped bytes in a few instructions.
    #[inline(never)]
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        let is_within = offset_bytes
            .checked_add(into.len() as u64)
            .is_some_and(|end| end <= self.length_bytes);
        if !is_within {
            return Err(ReadError::BeyondEnd);
        }
        let (mut rest, mut offset_bytes) = (into, offset_bytes);
        while !rest.is_empty() {
            // Not `read_exact_at`, which is interrupted as often as it happens.
            let read = uninterrupted(|| pread(&self.file, &mut *rest, offset_bytes));
            match read.map_err(failed)? {
                // Only a file that was made shorter meanwhile ends early.
                0 => return Err(ReadError::BeyondEnd),
                count => {
                    rest = &mut rest[count..];
                    offset_bytes += count as u64;
                }
            }
        }
        Ok(())
    }

    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }
}

/// The kernel's error, as a volume reports it.
pub(super) fn failed(errno: Errno) -> ReadError {
    ReadError::Failed {
        errno: errno.raw_os_error(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_ends() {
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), b"abcdef").unwrap();
        let file = FileBytes::new(File::open(path.path()).unwrap(), 6);
        let mut into = [0; 4];
        assert_eq!(file.length_bytes(), 6);
        assert_eq!(file.read(2, &mut into), Ok(()));
        assert_eq!(&into, b"cdef");
        for offset in [3, 6, 7, u64::MAX - 3, u64::MAX] {
            assert_eq!(file.read(offset, &mut into), Err(ReadError::BeyondEnd));
        }
        assert_eq!(file.read(6, &mut []), Ok(()));
        let writable = File::options().write(true).open(path.path()).unwrap();
        writable.set_len(3).unwrap();
        assert_eq!(file.read(2, &mut [0; 4]), Err(ReadError::BeyondEnd));
    }
}
