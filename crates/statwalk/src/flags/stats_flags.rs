// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `stats`.

use std::ffi::OsString;

use clap::{Parser, ValueEnum};

use super::scan_flags::SHOWN;
use super::{FilterFlags, ScanFlags, SizeFlags};

/// Group entries by type, owner, group, age, size or depth
///
/// Where the output is not a terminal, each group is a row of its bytes, the
/// number of its entries and its name, with tabulators between.
#[derive(Parser)]
#[command(name = "stats", disable_version_flag = true, args_override_self = true)]
pub(crate) struct StatsFlags {
    /// What to scan [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// What entries are grouped by
    #[arg(long, value_name = "KEY", default_value = "type")]
    pub(crate) by: By,

    /// Show this many groups
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    /// What stands first [default: size; for age, size and depth, their own order]
    #[arg(long, value_name = "KEY", help_heading = SHOWN)]
    pub(crate) sort: Option<StatsSortName>,

    /// Turn the order around
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,
}

/// What entries are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The type, and for files the extension
    Type,
    /// The user
    Owner,
    /// The group
    Group,
    /// The time since the last modification
    Age,
    /// The apparent size
    Size,
    /// The distance from the root
    Depth,
}

/// What groups are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsSortName {
    /// The largest first
    Size,
    /// By the groups' own order
    Name,
    /// The most entries first
    Count,
}
