// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which source, order, workers and calls a scan uses, and why.

use statwalk_format::Generation;

use crate::fields::Fields;
use crate::reason::Reason;

/// The choices before the first directory, and the reasons for them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// Where metadata comes from.
    pub source: &'static str,
    /// Which directory is next.
    pub order: &'static str,
    /// Up to how many workers take part.
    pub workers_max: usize,
    /// Up to how many directories stay open for their subdirectories.
    pub open_dirs_max: usize,
    /// The attributes that are read of each entry.
    pub fields: Fields,
    /// The generation of the btrfs whose trees were read, from which
    /// `changes_since` of `statwalk-space` goes on; of several that of the first. Absent for
    /// other sources.
    pub generation: Option<Generation>,
    /// The reasons, in the order in which the choices were made.
    pub why: Vec<Reason>,
}
