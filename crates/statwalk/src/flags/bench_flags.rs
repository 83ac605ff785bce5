// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use super::ScanFlags;

/// Measure every way to scan a tree, and name the best for it
///
/// The settings are tried in turn, in a new order each round; the first round
/// is not counted. A setting whose answer differs from that of the others has
/// no time. Settings that are given as flags hold for all.
#[derive(Parser)]
#[command(name = "bench", disable_version_flag = true, args_override_self = true)]
pub(crate) struct BenchFlags {
    /// The tree
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<OsString>,

    /// What is varied, each by itself: order, buffer, level, workers, calls, source
    #[arg(long, value_name = "AXIS,…", value_delimiter = ',', help_heading = MEASURED,
        default_value = "order,buffer,level,workers,calls,source", hide_possible_values = true)]
    pub(crate) vary: Vec<Axis>,

    /// Measure every combination of what is varied
    #[arg(long, help_heading = MEASURED)]
    pub(crate) cross: bool,

    /// What is read of each entry, for what does not vary it
    #[arg(long, value_name = "LEVEL", default_value = "sizes", help_heading = MEASURED)]
    pub(crate) level: Level,

    /// Rounds; the first is not counted
    #[arg(long, value_name = "N", default_value = "11", help_heading = MEASURED,
        value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) rounds: u32,

    /// Stop after this many seconds, whatever was measured until then
    #[arg(long, value_name = "SECONDS", default_value = "120", help_heading = MEASURED,
        value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,

    /// Also measure with nothing in memory: drops the caches of the whole
    /// machine before each run, which only root may
    #[arg(long, help_heading = MEASURED)]
    pub(crate) cold: bool,

    /// Of the order within the rounds [default: the time]
    #[arg(long, value_name = "NUMBER", help_heading = MEASURED)]
    pub(crate) seed: Option<u64>,

    /// Draw the times into FILE
    #[arg(long, value_name = "FILE", help_heading = MEASURED)]
    pub(crate) svg: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

const MEASURED: &str = "What is measured";

/// What can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Axis {
    /// Which directory is next
    Order,
    /// The bytes of a listing that one call brings
    Buffer,
    /// What is read of each entry
    Level,
    /// The number of workers
    Workers,
    /// How entries are stat'ed
    Calls,
    /// Where metadata comes from: system calls alone
    Source,
}

/// What is read of each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// The tree's shape
    Names,
    /// Names and types
    Types,
    /// Sizes, with the smallest mask
    Sizes,
    /// All that statx can tell
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
