// SPDX-License-Identifier: MIT OR Apache-2.0

//! The times of an inode.

/// A point in time, as an inode holds it: from 1901 to 2446.
///
/// 64 bits of nanoseconds would end in 2262, so seconds and nanoseconds are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp {
    /// Seconds since 1970; negative before.
    pub seconds: i64,
    /// Nanoseconds after that second. The field has 30 bits, so a damaged inode
    /// can hold more than 999,999,999.
    pub nanoseconds: u32,
}

impl Timestamp {
    /// Returns the nanoseconds since 1970.
    #[must_use]
    pub fn unix_ns(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds)
    }
}
