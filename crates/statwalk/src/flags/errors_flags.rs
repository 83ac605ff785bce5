// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `errors`.

use std::ffi::OsString;

use clap::Parser;

use super::ScanFlags;
use super::scan_flags::{COUNTED, SHOWN};

/// List every path that statwalk cannot read, with the reason
///
/// Where the output is not a terminal, each path is a row of the operation, the
/// reason and the path, with tabulators between.
#[derive(Parser)]
#[command(
    name = "errors",
    disable_version_flag = true,
    args_override_self = true
)]
pub(crate) struct ErrorsFlags {
    /// Scan these paths, or read one snapshot, such as /home@last [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// List this many rows
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    /// Limit the scan to this depth; the entries of PATH have depth 1
    #[arg(short = 'd', long, value_name = "N", help_heading = COUNTED)]
    pub(crate) max_depth: Option<u32>,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}
