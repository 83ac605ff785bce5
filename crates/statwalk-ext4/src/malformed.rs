// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why bytes are not the record that they should be.

use std::fmt;

/// A place that cannot be right, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where, in bytes from the beginning of the structure that was decoded.
    pub offset_bytes: u32,
    /// What, as the end of a sentence: "the magic number is wrong".
    pub what: &'static str,
}

impl Malformed {
    /// Something wrong at an offset; one that does not fit is the largest.
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
