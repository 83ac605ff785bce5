// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes that are read from front to back, little-endian.

use crate::Malformed;

/// The rest of some bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    offset: usize,
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader {
            rest: bytes,
            offset: 0,
            what,
        }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// All that is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// How many bytes were read.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The error that stands here.
    pub(crate) fn malformed(&self) -> Malformed {
        Malformed::at(self.offset, self.what)
    }

    /// Makes the end the next thing to be read.
    pub(crate) fn give_up(&mut self) {
        self.rest = &[];
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| self.malformed())?;
        self.rest = rest;
        self.offset += count;
        Ok(taken)
    }

    /// So many bytes in place: within them fields need no checks.
    pub(crate) fn chunk<const N: usize>(&mut self) -> Result<&'a [u8; N], Malformed> {
        let (taken, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.malformed())?;
        self.rest = rest;
        self.offset += N;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.chunk().copied()
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}
