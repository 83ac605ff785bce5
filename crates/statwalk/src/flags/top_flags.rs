// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `top`.

use std::ffi::OsString;

use clap::Parser;

use super::scan_flags::{COUNTED, SHOWN};
use super::{FilterFlags, ScanFlags, SizeFlags};

/// List the largest files, or the largest directories
///
/// statwalk lists a file with several names once. Where the output is not a
/// terminal, each file is a row of its bytes, a tabulator and its path.
#[derive(Parser)]
#[command(
    name = "top",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct TopFlags {
    /// Scan these paths, or read one snapshot, such as /home@last [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// List this many rows [default: as many as fit on the terminal, 20 on a pipe]
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    /// List directories with their whole subtrees instead of files
    ///
    /// The list leaves out the roots. Only the filters by name and by size apply;
    /// the size is that of the whole subtree.
    #[arg(long, help_heading = SHOWN,
        conflicts_with_all = ["kind", "changed_within", "changed_before", "owner"])]
    pub(crate) dirs: bool,

    /// List directories that a program makes again: installed packages, results of
    /// builds, caches
    ///
    /// Each takes a proof, such as a lock file of npm within node_modules beside a
    /// package.json. docs/rebuildable.md lists them. statwalk removes none. The filters by
    /// name and by size apply as with --dirs, and those by time to the newest file below.
    #[arg(long, help_heading = SHOWN,
        conflicts_with_all = ["dirs", "kind", "owner", "max_depth", "follow"])]
    pub(crate) rebuildable: bool,

    /// Limit the scan to this depth; the entries of PATH have depth 1
    #[arg(short = 'd', long, value_name = "N", help_heading = COUNTED, conflicts_with = "dirs")]
    pub(crate) max_depth: Option<u32>,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    /// Reverse the order: largest last
    #[arg(short = 'r', long, help_heading = SHOWN)]
    pub(crate) reverse: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    #[command(flatten)]
    pub(crate) filters: FilterFlags,
}
