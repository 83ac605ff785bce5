// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags that say which sizes are shown, and how.

use clap::{ArgAction, Args};

use super::scan_flags::SHOWN;

/// The flags that say which sizes are shown, and how.
#[derive(Args)]
pub(crate) struct SizeFlags {
    /// Show the sizes that ls shows instead of the space on disk
    #[arg(short = 'A', long, help_heading = SHOWN)]
    pub(crate) apparent_size: bool,

    /// Show apparent sizes, in bytes unless another flag sets the unit, as GNU du -b
    #[arg(short = 'b', long, help_heading = SHOWN)]
    pub(crate) bytes: bool,

    #[command(flatten)]
    pub(crate) units: UnitFlags,
}

/// The flags that say in which unit sizes are shown. The last one counts, as in du, so
/// that an alias can set a unit.
#[derive(Args)]
pub(crate) struct UnitFlags {
    /// Show sizes with units, on a pipe too, as du -h (-h alone prints help)
    #[arg(short = 'h', long, help_heading = SHOWN, conflicts_with = "json",
        overrides_with_all = ["si", "unit", "kib", "mib"])]
    pub(crate) human_readable: bool,

    /// Show sizes in powers of 1000; on a pipe as du --si
    #[arg(long, conflicts_with = "json", overrides_with_all = ["unit", "kib", "mib"],
        help_heading = SHOWN)]
    pub(crate) si: bool,

    /// Show every size in UNIT: B, K or KiB (1024 bytes), kB (1000 bytes), M …, or in
    /// blocks such as 512 or 4K
    ///
    /// M, G, T and so on follow the rule of K. On a pipe the sizes are those of du -B UNIT.
    #[arg(short = 'B', long, visible_alias = "block-size", value_name = "UNIT",
        conflicts_with = "json", overrides_with_all = ["kib", "mib"], help_heading = SHOWN)]
    pub(crate) unit: Option<String>,

    /// Same as --unit K; on a pipe without the letter, as du -k
    #[arg(short = 'k', conflicts_with = "json", overrides_with = "mib", help_heading = SHOWN)]
    pub(crate) kib: bool,

    /// Same as --unit M; on a pipe without the letter, as du -m
    #[arg(short = 'm', conflicts_with = "json", help_heading = SHOWN)]
    pub(crate) mib: bool,

    /// Print help (-h alone prints a summary)
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}
