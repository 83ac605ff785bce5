// SPDX-License-Identifier: MIT OR Apache-2.0

//! The moment that the caller's clock shows.

/// Seconds since 1970, and the offset of local time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Seconds since 1970 in UTC.
    pub seconds: i64,
    /// Seconds that local time is ahead of UTC. Only the date in the trash uses it.
    pub offset_s: i32,
}
