// SPDX-License-Identifier: MIT OR Apache-2.0

//! The part of a node that rows for other programs have.

/// Properties of a node that only rows for other programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// The letter of its type, as `find` has it.
    pub letter: char,
    /// The regular files in the subtree.
    pub files: u64,
    /// The directories in the subtree, itself among them unless a filter left it out.
    pub dirs: u64,
    /// Whether its bytes are known.
    pub knows_bytes: bool,
    /// Whether it is a root that is a further name of a file in an earlier one.
    pub is_further_name: bool,
    /// The newest of the times that the scan was asked for.
    pub newest_time_ns: Option<i64>,
}
