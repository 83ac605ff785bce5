// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `extents`.

use std::ffi::OsString;

use clap::{Parser, ValueEnum};

use super::scan_flags::SHOWN;
use super::{UnitFlags, WalkFlags};

/// Show the space on the device of a btrfs, and the space that deleting frees
///
/// Extents count instead of blocks: compressed, and each once, however many files
/// share it. EXCLUSIVE counts the extents that no file elsewhere and no snapshot has,
/// REFERENCED the content of the files. Where the output is not a terminal, each directory
/// is a row of the bytes on disk, the exclusive and the referenced ones, and its path.
/// Needs CAP_SYS_ADMIN; statwalk syncs the file system first.
#[derive(Parser)]
#[command(
    name = "extents",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct ExtentsFlags {
    /// Scan these paths [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Show directories down to this depth [default: 1]; totals stay whole
    #[arg(short = 'd', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) max_depth: Option<u32>,

    /// Show this many rows
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    /// Show the total only
    #[arg(short = 's', long, help_heading = SHOWN, conflicts_with = "max_depth")]
    pub(crate) summarize: bool,

    #[command(flatten)]
    pub(crate) units: UnitFlags,

    /// Sort rows by this key
    #[arg(long, value_name = "KEY", default_value = "size", help_heading = SHOWN)]
    pub(crate) sort: ExtentsSortName,

    /// Reverse the order of the rows
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    #[command(flatten)]
    pub(crate) walk: WalkFlags,
}

/// The keys that directories are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtentsSortName {
    /// Largest first
    Size,
    /// By the bytes of the name
    Name,
}
