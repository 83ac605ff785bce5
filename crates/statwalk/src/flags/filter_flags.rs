// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags by which entries are chosen, as in fd.

use std::ffi::OsString;

use clap::Args;

use super::scan_flags::FILTERS;

/// The flags by which entries are chosen. An entry must pass all kinds of them,
/// and of those that can be repeated one, but every size.
#[derive(Args)]
pub(crate) struct FilterFlags {
    /// Only names that match a glob; a small letter fits a capital one unless
    /// the glob has a capital; can be repeated
    #[arg(short = 'g', long, value_name = "GLOB", help_heading = FILTERS)]
    pub(crate) glob: Vec<String>,

    /// Only names with this extension; can be repeated
    #[arg(short = 'e', long, value_name = "EXT", help_heading = FILTERS)]
    pub(crate) extension: Vec<OsString>,

    /// Only this type: f file, d directory, l link, p pipe, s socket,
    /// c or b device; can be repeated
    #[arg(short = 't', long = "type", value_name = "TYPE", help_heading = FILTERS)]
    pub(crate) kind: Vec<String>,

    /// Only regular files of this size: +1G at least, -10k at most, 4KiB
    /// exactly; can be repeated
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true,
        help_heading = FILTERS)]
    pub(crate) size: Vec<String>,

    /// Only what was modified since: a span such as 2w or 10h, or a date
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    pub(crate) changed_within: Option<String>,

    /// Only what was modified before: a span such as 2y, or a date
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    pub(crate) changed_before: Option<String>,

    /// Only what belongs to a user, a group or both, by name or number; `!`
    /// before either means anybody else
    #[arg(long, value_name = "USER[:GROUP]", help_heading = FILTERS)]
    pub(crate) owner: Option<String>,
}
