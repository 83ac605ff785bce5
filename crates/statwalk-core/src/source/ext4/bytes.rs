// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where the bytes of a volume come from.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use rustix::io::pread;

use crate::error::Errno;
use crate::source::posix::stat::uninterrupted;

/// A device or an image that can be read at any place, by many threads.
///
/// Bytes are copied, never shown in place: the kernel may write to a mounted
/// device at any time, also between a check and the use of what was checked.
pub trait Bytes: Send + Sync {
    /// Fills `into` from an offset.
    ///
    /// # Errors
    ///
    /// The bytes end before, or could not be read. What `into` holds is then
    /// of no meaning.
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError>;

    /// How many bytes there are.
    fn length_bytes(&self) -> u64;

    /// Says that some bytes are read soon.
    #[inline]
    fn will_read(&self, _offset_bytes: u64, _count: usize) {}
}

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// They lie beyond the end.
    BeyondEnd,
    /// The device or the system refused.
    Failed(Errno),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::BeyondEnd => f.write_str("beyond the end of the device"),
            ReadError::Failed(errno) => errno.fmt(f),
        }
    }
}

impl Bytes for [u8] {
    #[inline]
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        let from = usize::try_from(offset_bytes)
            .ok()
            .and_then(|offset| self.get(offset..))
            .and_then(|rest| rest.get(..into.len()))
            .ok_or(ReadError::BeyondEnd)?;
        into.copy_from_slice(from);
        Ok(())
    }

    fn length_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl Bytes for Vec<u8> {
    #[inline]
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        self.as_slice().read(offset_bytes, into)
    }

    fn length_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl<B: Bytes + ?Sized> Bytes for &B {
    #[inline]
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        (**self).read(offset_bytes, into)
    }

    fn length_bytes(&self) -> u64 {
        (**self).length_bytes()
    }

    #[inline]
    fn will_read(&self, offset_bytes: u64, count: usize) {
        (**self).will_read(offset_bytes, count);
    }
}

/// A file or a device, read by pread(2).
#[derive(Debug)]
pub struct FileBytes {
    file: File,
    length_bytes: u64,
}

impl FileBytes {
    /// Takes a file that is open for reading; its length is looked at now.
    ///
    /// # Errors
    ///
    /// It has no length: a pipe, a terminal.
    pub fn new(file: File) -> io::Result<FileBytes> {
        // A block device has no size in its attributes, but an end.
        let length_bytes = (&file).seek(SeekFrom::End(0))?;
        Ok(FileBytes { file, length_bytes })
    }
}

impl Bytes for FileBytes {
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
            match read.map_err(|errno| ReadError::Failed(Errno(errno.raw_os_error())))? {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &dyn Bytes) {
        let mut into = [0; 4];
        assert_eq!(bytes.length_bytes(), 6);
        assert_eq!(bytes.read(2, &mut into), Ok(()));
        assert_eq!(&into, b"cdef");
        for offset in [3, 6, 7, u64::MAX - 3, u64::MAX] {
            assert_eq!(bytes.read(offset, &mut into), Err(ReadError::BeyondEnd));
        }
        assert_eq!(bytes.read(6, &mut []), Ok(()));
    }

    #[test]
    fn memory_and_files_read_alike() {
        check(&b"abcdef".to_vec());
        check(&b"abcdef".as_slice());
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), b"abcdef").unwrap();
        let file = FileBytes::new(File::open(path.path()).unwrap()).unwrap();
        check(&file);
        File::options()
            .write(true)
            .open(path.path())
            .unwrap()
            .set_len(3)
            .unwrap();
        assert_eq!(file.read(2, &mut [0; 4]), Err(ReadError::BeyondEnd));
    }
}
