// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of the default view.

use std::ffi::OsString;

use clap::{Parser, ValueEnum};

use super::scan_flags::{READ, SHOWN};
use super::{ScanFlags, SizeFlags};

/// Show where the space in a file system went
///
/// Scan directory trees and show the largest directories, as many as fit on the
/// terminal. Where the output is not a terminal, each directory of depth 1 is a
/// row of its bytes, a tabulator and its path, as from du -B1 -d1.
///
/// A first word that names a command is the command, any other word is a path.
/// For a directory with the name of a command, write ./NAME, as in statwalk ./top.
#[derive(Parser)]
#[command(
    name = "statwalk",
    version,
    disable_help_subcommand = true,
    args_override_self = true
)]
#[command(override_usage = USAGE, after_long_help = EXAMPLES)]
pub(crate) struct SummaryFlags {
    /// What to scan [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Show files as well as directories
    #[arg(short = 'a', long, help_heading = SHOWN)]
    pub(crate) all: bool,

    /// Show directories down to this depth; totals stay whole
    #[arg(short = 'd', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) max_depth: Option<u32>,

    /// Show this many rows
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    /// Show the total only
    #[arg(short = 's', long, help_heading = SHOWN, conflicts_with_all = ["max_depth", "all"])]
    pub(crate) summarize: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    /// What stands first
    #[arg(long, value_name = "KEY", default_value = "size", help_heading = SHOWN)]
    pub(crate) sort: SortName,

    /// Turn the order around
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    /// Count names and types only: the fastest scan there is
    #[arg(long, help_heading = READ,
        conflicts_with_all = ["max_depth", "all", "apparent_size", "bytes"])]
    pub(crate) count: bool,
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortName {
    /// The largest first
    Size,
    /// By the bytes of the name
    Name,
    /// The most entries first
    Count,
    /// The most recently modified first
    Mtime,
}

const USAGE: &str = "\
statwalk [OPTIONS] [PATH]...
       statwalk <COMMAND> [OPTIONS] ...";

const EXAMPLES: &str = "\
Examples:
  statwalk                         where the space below this directory went
  statwalk -x /                    the root file system, without others mounted in it
  statwalk -d 2 --sort mtime /srv  two levels, the most recently changed first
  statwalk -s --json /home | jq '.roots[0].allocated_bytes'
  statwalk /usr | sort -n | tail   as with du
  statwalk top -n 50 --changed-before 2y /data
  statwalk stats --by owner /home
  statwalk find . -e log -S +100M -0 | xargs -0 ls -l

Exit status:
  0    everything was read
  1    something could not be read: the result is a lower bound
  2    bad usage, a missing root, or the output could not be written
  130, 143  interrupted: what is known was printed, and is a lower bound";
