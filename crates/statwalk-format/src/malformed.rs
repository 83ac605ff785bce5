// SPDX-License-Identifier: MIT OR Apache-2.0

//! The error of decoders: bytes that cannot be the record they should be.

use std::fmt;

/// A fault in bytes, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The place, in bytes from the beginning of the decoded structure.
    pub offset_bytes: u32,
    /// The fault, as a clause: "the magic number is wrong".
    pub what: &'static str,
}

impl Malformed {
    /// A fault at an offset; an offset beyond 32 bits becomes the largest.
    #[must_use]
    pub fn at(offset_bytes: usize, what: &'static str) -> Malformed {
        Malformed {
            offset_bytes: u32::try_from(offset_bytes).unwrap_or(u32::MAX),
            what,
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.offset_bytes)
    }
}

impl std::error::Error for Malformed {}
