// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags that say which sizes are shown, and how.

use clap::Args;

use super::scan_flags::SHOWN;

/// The flags that say which sizes are shown, and how.
#[derive(Args)]
pub(crate) struct SizeFlags {
    /// Show the sizes that ls shows instead of the space on disk
    #[arg(short = 'A', long, help_heading = SHOWN)]
    pub(crate) apparent_size: bool,

    /// Show apparent sizes in bytes, as GNU du -b
    #[arg(short = 'b', long, conflicts_with_all = ["si", "unit"], help_heading = SHOWN)]
    pub(crate) bytes: bool,

    #[command(flatten)]
    pub(crate) units: UnitFlags,
}

/// The flags that say in which unit sizes are shown.
#[derive(Args)]
pub(crate) struct UnitFlags {
    /// Show sizes in powers of 1000; on a pipe as du --si
    #[arg(long, conflicts_with_all = ["unit", "json"], help_heading = SHOWN)]
    pub(crate) si: bool,

    /// Show every size in UNIT: B, K or KiB (1024 bytes), kB (1000 bytes), or the same with
    /// M, G, T …; on a pipe as du -B UNIT
    #[arg(long, value_name = "UNIT", conflicts_with = "json", help_heading = SHOWN)]
    pub(crate) unit: Option<String>,
}
