// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use super::ScanFlags;

/// Measure every way to scan a tree, and name the fastest
///
/// bench tries the settings in turn, in a new order each round, and does not count
/// the first round. A setting whose answer differs from that of the others has no
/// time. A flag that sets an option sets it for all runs.
#[derive(Parser)]
#[command(name = "bench", disable_version_flag = true, args_override_self = true)]
pub(crate) struct BenchFlags {
    /// Measure on this tree [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<OsString>,

    /// Vary these settings, each by itself: order, buffer, level, workers, calls, source
    #[arg(long, value_name = "AXIS,…", value_delimiter = ',', help_heading = MEASURED,
        default_value = "order,buffer,level,workers,calls,source", hide_possible_values = true)]
    pub(crate) vary: Vec<Axis>,

    /// Measure every combination of the varied settings
    #[arg(long, help_heading = MEASURED)]
    pub(crate) cross: bool,

    /// Set the attributes to read where --vary leaves them alone
    #[arg(long, value_name = "LEVEL", default_value = "sizes", help_heading = MEASURED)]
    pub(crate) level: Level,

    /// Set the number of rounds; the first is not counted
    #[arg(long, value_name = "N", default_value = "11", help_heading = MEASURED,
        value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) rounds: u32,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "120", help_heading = MEASURED,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,

    /// Measure with cold caches too: drops the caches of the whole machine before
    /// each run (root only)
    #[arg(long, help_heading = MEASURED)]
    pub(crate) cold: bool,

    /// Set the seed for the order within rounds [default: the time]
    #[arg(long, value_name = "NUMBER", help_heading = MEASURED)]
    pub(crate) seed: Option<u64>,

    /// Draw the times into FILE
    #[arg(long, value_name = "FILE", help_heading = MEASURED)]
    pub(crate) svg: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

const MEASURED: &str = "Measurement";

/// The settings that vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Axis {
    /// Traversal order
    Order,
    /// Size of the directory-read buffer
    Buffer,
    /// Attributes to read
    Level,
    /// Number of workers
    Workers,
    /// Order and naming of stat calls
    Calls,
    /// Metadata source
    Source,
}

/// The attributes that a scan reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// Names and the shape of the tree
    Names,
    /// Names and types
    Types,
    /// Sizes, with the smallest mask
    Sizes,
    /// Everything that statx returns
    Full,
}

impl Level {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Names => "names",
            Level::Types => "types",
            Level::Sizes => "sizes",
            Level::Full => "full",
        }
    }
}
