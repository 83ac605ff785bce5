// SPDX-License-Identifier: MIT OR Apache-2.0

//! A bit for each row of a table.

/// A bit for each row, nearly always 1: whether a value is known, as a validity of Arrow.
///
/// Row 0 has the lowest bit of the first byte. Where all bits are 1 there are no bytes,
/// as Arrow has no buffer of validity then. Bits behind the last row are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    /// Without meaning as long as no bit is 0.
    bytes: Vec<u8>,
    len: usize,
    zeros: usize,
}

impl Bits {
    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bits are 0.
    #[must_use]
    pub fn zeros(&self) -> usize {
        self.zeros
    }

    /// The bit of a row.
    ///
    /// # Panics
    ///
    /// Panics if `row` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, row: usize) -> bool {
        assert!(row < self.len, "row {row} of {}", self.len);
        self.zeros == 0 || self.bytes[row / 8] & (1 << (row % 8)) != 0
    }

    /// The bytes of all bits; absent where every bit is 1.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        (self.zeros > 0).then_some(&self.bytes)
    }

    /// Gives the bytes away, as [`as_bytes`](Self::as_bytes) shows them.
    #[must_use]
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        (self.zeros > 0).then_some(self.bytes)
    }

    /// Forgets the rows and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.len, self.zeros) = (0, 0);
    }

    /// Adds the bit of one more row.
    ///
    /// ```
    /// let mut bits = statwalk_core::Bits::default();
    /// [true, false, true].map(|bit| bits.push(bit));
    /// assert_eq!(bits.as_bytes(), Some(&[0b101][..]));
    /// ```
    #[inline]
    pub fn push(&mut self, bit: bool) {
        match bit {
            true => self.push_ones(1),
            false => self.push_zeros(1),
        }
    }

    #[inline]
    pub(crate) fn push_ones(&mut self, count: usize) {
        match self.zeros {
            0 => self.len += count,
            _ => self.extend_with(true, count),
        }
    }

    pub(crate) fn push_zeros(&mut self, count: usize) {
        if self.zeros == 0 {
            let ones = std::mem::take(&mut self.len);
            self.extend_with(true, ones);
        }
        self.zeros += count;
        self.extend_with(false, count);
    }

    fn extend_with(&mut self, bit: bool, count: usize) {
        let begin = self.len;
        self.len += count;
        self.bytes.resize(self.len.div_ceil(8), 0);
        if !bit {
            return;
        }
        let mut row = begin;
        while row < self.len {
            let in_byte = row % 8;
            let ones = (8 - in_byte).min(self.len - row);
            self.bytes[row / 8] |= ((0xFF_u16 >> (8 - ones)) << in_byte) as u8;
            row += ones;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_that_were_pushed() {
        let mut seed = 7_u64;
        for _ in 0..200 {
            let (mut bits, mut expected) = (Bits::default(), Vec::new());
            for _ in 0..8 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (bit, count) = (seed >> 62 != 0, (seed >> 40) as usize % 21);
                match bit {
                    true => bits.push_ones(count),
                    false => bits.push_zeros(count),
                }
                expected.extend(std::iter::repeat_n(bit, count));
            }
            bits.push(true);
            expected.push(true);
            let found: Vec<bool> = (0..bits.len()).map(|row| bits.get(row)).collect();
            assert_eq!(found, expected);
            let zeros = expected.iter().filter(|&&bit| !bit).count();
            assert_eq!(bits.zeros(), zeros);
            let Some(bytes) = bits.as_bytes() else {
                assert_eq!(zeros, 0);
                continue;
            };
            let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(bytes.len(), expected.len().div_ceil(8));
            assert_eq!(ones as usize, expected.len() - zeros);
            bits.clear();
            assert!(bits.is_empty() && bits.into_bytes().is_none());
        }
    }
}
