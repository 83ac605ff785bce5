// SPDX-License-Identifier: MIT OR Apache-2.0

//! The hash of the rows of a directory, by which a comparison finds equal ones.
//!
//! It is the XXH64 with seed 0 of the rows in their order. A row begins with the length of its
//! raw name (32 bits) and the raw name. Then come a bit for each value that it has (32 bits) and
//! these values (64 bits each). All numbers are little-endian.

use std::hash::Hasher;

use twox_hash::XxHash64;

/// The values of a row, in the order of their bits.
pub(crate) const VALUES: [&str; 24] = [
    "type",
    "mode",
    "uid",
    "gid",
    "links",
    "fs",
    "ino",
    "rdev",
    "size",
    "allocated",
    "flags",
    "flags_mask",
    "mtime",
    "ctime",
    "btime",
    "mtime_s",
    "ctime_s",
    "btime_s",
    "followed",
    "known",
    "errno",
    "counts",
    "size_big",
    "allocated_big",
];

/// A hash in the making.
pub(crate) struct ListingHash {
    hasher: XxHash64,
    row: Vec<u8>,
    bits: u32,
    bits_at: usize,
}

impl ListingHash {
    pub(crate) fn new() -> ListingHash {
        ListingHash {
            hasher: XxHash64::with_seed(0),
            row: Vec::with_capacity(256),
            bits: 0,
            bits_at: 0,
        }
    }

    /// Begins a row.
    #[inline]
    pub(crate) fn begin(&mut self, raw_name: &[u8]) {
        self.row.clear();
        self.row
            .extend_from_slice(&(raw_name.len() as u32).to_le_bytes());
        self.row.extend_from_slice(raw_name);
        self.bits_at = self.row.len();
        self.row.extend_from_slice(&[0; 4]);
        self.bits = 0;
    }

    /// Adds the value of a bit, after those of lower bits.
    #[inline]
    pub(crate) fn value(&mut self, bit: usize, value: Option<i64>) {
        if let Some(value) = value {
            self.bits |= 1 << bit;
            self.row.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Ends a row.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.row[self.bits_at..self.bits_at + 4].copy_from_slice(&self.bits.to_le_bytes());
        self.hasher.write(&self.row);
    }

    /// The hash of all rows.
    pub(crate) fn finish(&self) -> i64 {
        self.hasher.finish() as i64
    }
}
