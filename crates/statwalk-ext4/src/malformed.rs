// SPDX-License-Identifier: MIT OR Apache-2.0

//! Bytes that are not the record that they should be.

use std::fmt;

/// A place in a structure that cannot be right, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The place, in bytes from the beginning of the decoded structure.
    pub offset_bytes: u32,
    /// The reason, as the end of a sentence: "the magic number is wrong".
    pub what: &'static str,
}

impl Malformed {
    /// Names a fault at an offset. An offset above 32 bits becomes the largest.
    pub(crate) fn at(offset_bytes: usize, what: &'static str) -> Malformed {
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
