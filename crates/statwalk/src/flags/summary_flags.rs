// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of the default view.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use super::scan_flags::{COUNTED, READ, SHOWN};
use super::{FilterFlags, ScanFlags, SizeFlags};

/// Show where the space in a file system went
///
/// Scan directory trees and show the largest directories, as many as fit on the
/// terminal. Where the output is not a terminal, each directory of depth 1 is a
/// row of its bytes, a tabulator and its path, as from du -B1 -d1. With filters, only
/// the entries that pass them count.
///
/// A first word that names a command is the command, any other word is a path.
/// For a directory with the name of a command, write ./NAME, as in statwalk ./top.
#[derive(Parser)]
#[command(
    name = "statwalk",
    version,
    disable_help_subcommand = true,
    disable_help_flag = true,
    args_override_self = true
)]
#[command(override_usage = USAGE, after_long_help = EXAMPLES)]
pub(crate) struct SummaryFlags {
    /// Scan these paths, or read one snapshot, such as /home@last [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Scan the paths in FILE, each ended by NUL; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "paths", help_heading = COUNTED)]
    pub(crate) files0_from: Option<PathBuf>,

    /// Show files as well as directories (a table shows large files anyway)
    #[arg(short = 'a', long, help_heading = SHOWN)]
    pub(crate) all: bool,

    /// Show directories down to this depth; totals stay whole
    #[arg(short = 'd', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) max_depth: Option<u32>,

    /// Show this many rows [default: as many as fit on the terminal, all on a pipe]
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    /// Show the total only
    #[arg(short = 's', long, help_heading = SHOWN, conflicts_with_all = ["max_depth", "all"])]
    pub(crate) summarize: bool,

    /// Add a row with the total of all paths (a table has it below)
    #[arg(short = 'c', long, conflicts_with = "json", help_heading = SHOWN)]
    pub(crate) total: bool,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    /// Show the newest time of each subtree, as du: mtime, atime or ctime [default: mtime]
    ///
    /// The times of directories count, too. A table becomes a list of rows.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "mtime", hide_possible_values = true,
        conflicts_with_all = ["json", "count"], help_heading = SHOWN)]
    pub(crate) time: Option<TimeName>,

    /// Set the form of these times: full-iso, long-iso, iso or +FORMAT, as for date
    /// [default: long-iso]
    #[arg(long, value_name = "STYLE", requires = "time", help_heading = SHOWN,
        hide_short_help = true)]
    pub(crate) time_style: Option<String>,

    /// Count inodes instead of bytes, as du: a hard-linked file once
    #[arg(long, help_heading = SHOWN, conflicts_with_all = ["count", "apparent_size", "bytes",
        "unit", "kib", "mib", "min_size", "fail_over"])]
    pub(crate) inodes: bool,

    /// Sort rows by this key [default: size, with --count and --inodes count]
    #[arg(long, value_name = "KEY", help_heading = SHOWN)]
    pub(crate) sort: Option<SortName>,

    /// Reverse the order of the rows
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    /// Hide rows that are smaller than SIZE; totals stay whole
    #[arg(long, value_name = "SIZE", conflicts_with = "count", help_heading = SHOWN)]
    pub(crate) min_size: Option<String>,

    /// Exit with status 3 where a path is larger than SIZE
    #[arg(long, value_name = "SIZE", conflicts_with = "count", help_heading = SHOWN)]
    pub(crate) fail_over: Option<String>,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    /// Count names and types only (the fastest scan); with -d for each directory
    ///
    /// Where a file system lists no types, a table and JSON cost a stat of every entry, to tell
    /// files from links. Rows do without most of them.
    #[arg(long, help_heading = READ,
        conflicts_with_all = ["all", "apparent_size", "bytes", "human_readable", "si", "unit", "kib", "mib", "count_links"])]
    pub(crate) count: bool,
}

/// The keys that rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortName {
    /// Largest first
    Size,
    /// By the bytes of the name
    Name,
    /// Most entries first
    Count,
    /// Most recently modified first; with --time=TIME by this time
    Mtime,
}

/// The times that rows can have: the words of du, and `mtime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimeName {
    /// Last modification
    Mtime,
    /// Last access
    #[value(alias = "access", alias = "use")]
    Atime,
    /// Last change of the inode
    #[value(alias = "status")]
    Ctime,
}

const USAGE: &str = "\
statwalk [OPTIONS] [PATH]...
       statwalk <COMMAND> [OPTIONS] ...";

const EXAMPLES: &str = "\
Examples:
  statwalk                         show where the space below this directory went
  statwalk -x /                    scan the root file system only
  statwalk -d 2 --sort mtime /srv  show two levels, most recently changed first
  statwalk -s --json /home | jq '.roots[0].allocated_bytes'
  statwalk /usr | sort -n | tail   print rows as du does
  statwalk -sh *                   show the total of each path
  statwalk -g '*.iso' /home        show where the images are
  statwalk top -n 50 --changed-before 2y /data
  statwalk stats --by owner /home
  statwalk find . -e log -S +100M -0 | xargs -0 ls -l

Exit status:
  0    statwalk read everything
  1    statwalk could not read something: the result is a lower bound
  2    bad usage, a missing root, or output that cannot be written
  3    a path is larger than --fail-over allows (2 comes before it, 1 does not)
  130, 143  interrupted: the printed result is a lower bound";
