// SPDX-License-Identifier: MIT OR Apache-2.0

//! The bytes of a volume: memory, a file, a device.

use std::fmt;

/// A device or an image that can be read at any place, by many threads.
///
/// An implementation copies bytes and never lends them: the kernel may write to a
/// mounted device at any time, also between a check and a use.
///
/// # Examples
///
/// ```
/// use statwalk_ext4::{Bytes, ReadError};
///
/// let mut into = [0; 2];
/// b"superblock".as_slice().read(5, &mut into)?;
/// assert_eq!(&into, b"bl");
/// # Ok::<(), ReadError>(())
/// ```
pub trait Bytes: Send + Sync {
    /// Fills `into` from an offset.
    ///
    /// # Errors
    ///
    /// The bytes end before, or could not be read. The content of `into` then has
    /// no meaning.
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError>;

    /// Returns the number of bytes.
    fn length_bytes(&self) -> u64;

    /// Announces a read, so that an implementation can fetch the bytes early.
    #[inline]
    fn will_read(&self, _offset_bytes: u64, _count: usize) {}
}

/// The reason why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// They lie beyond the end.
    BeyondEnd,
    /// The device or the system refused.
    Failed {
        /// The system's error number.
        errno: i32,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::BeyondEnd => f.write_str("beyond the end of the device"),
            ReadError::Failed { errno } => write!(f, "system error {errno}"),
        }
    }
}

impl std::error::Error for ReadError {}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_ends() {
        let owned = b"abcdef".to_vec();
        let all: [&dyn Bytes; 2] = [&owned, &owned.as_slice()];
        for bytes in all {
            let mut into = [0; 4];
            assert_eq!(bytes.length_bytes(), 6);
            assert_eq!(bytes.read(2, &mut into), Ok(()));
            assert_eq!(&into, b"cdef");
            for offset in [3, 6, 7, u64::MAX - 3, u64::MAX] {
                assert_eq!(bytes.read(offset, &mut into), Err(ReadError::BeyondEnd));
            }
            assert_eq!(bytes.read(6, &mut []), Ok(()));
        }
    }
}
