// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags that select entries, as in fd.

use std::ffi::OsString;

use clap::Args;

use super::scan_flags::FILTERS;

/// The flags that select entries. An entry must pass each kind of them. Of a kind that was
/// given several times one value is enough, but each size must hold.
#[derive(Args)]
pub(crate) struct FilterFlags {
    /// Select names that match GLOB (case-insensitive unless GLOB has a capital);
    /// can be repeated
    ///
    /// A directory counts itself alone, without what is below it;
    /// 'statwalk top --dirs -g GLOB' sums whole directories.
    #[arg(short = 'g', long, value_name = "GLOB", help_heading = FILTERS)]
    pub(crate) glob: Vec<String>,

    /// Select names with this extension; can be repeated
    #[arg(short = 'e', long, value_name = "EXT", help_heading = FILTERS)]
    pub(crate) extension: Vec<OsString>,

    /// Select this type: f file, d directory, l link, p pipe, s socket,
    /// c or b device; can be repeated, or a list such as f,l
    #[arg(short = 't', long = "type", value_name = "TYPE", value_delimiter = ',',
        help_heading = FILTERS)]
    pub(crate) kind: Vec<String>,

    /// Select regular files of this size: +1G at least, -10k at most, 4KiB exactly
    /// (1k is 1024 bytes, 1kB is 1000); can be repeated
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true,
        help_heading = FILTERS)]
    pub(crate) size: Vec<String>,

    /// Select entries modified since WHEN: a span such as 2w or 10h, or a date
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    pub(crate) changed_within: Option<String>,

    /// Select entries modified before WHEN: a span such as 2y, or a date
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    pub(crate) changed_before: Option<String>,

    /// Select entries of a user, a group or both, by name or number; `!` before
    /// either negates it
    #[arg(long, value_name = "USER[:GROUP]", help_heading = FILTERS)]
    pub(crate) owner: Option<String>,
}
