// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `report`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Parser, ValueEnum};

use super::ScanFlags;
use super::scan_flags::SHOWN;

/// Write a report of the disk: a map with tables, as one HTML file
///
/// The file opens in any browser, on any system and without a network: it loads nothing.
/// Its numbers are those of the other commands, and each cell of the map is exact: entries
/// that are too small for the file are one cell with their sum.
///
/// statwalk writes the file whole or not at all. Where the output is not a terminal, it
/// prints a row of the file's bytes and its path.
#[derive(Parser)]
#[command(
    name = "report",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct ReportFlags {
    /// Scan these paths, or read one snapshot, such as /home@last [default: .]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Write this file; - is the standard output [default: a name from host, path and day]
    ///
    /// Where a file has the default name, the new one has a number behind it.
    #[arg(short = 'o', long, value_name = "FILE", help_heading = SHOWN)]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long, help_heading = SHOWN)]
    pub(crate) force: bool,

    /// Set the format of the file
    #[arg(long, value_name = "FORMAT", default_value = "html", help_heading = SHOWN)]
    pub(crate) format: ReportFormat,

    /// Keep about this many directories and files in the file, or all: full [default: 150000]
    ///
    /// The largest are kept, and of each directory that is shown at least 20 entries. The
    /// others are in sums. A file of 150,000 has one or two MB. With full, parts of the tree
    /// are read when they are opened.
    #[arg(long, value_name = "N|full", help_heading = SHOWN)]
    pub(crate) detail: Option<String>,

    /// Replace the names of host, owners and all entries by numbers
    ///
    /// Known extensions, sizes and times stay: dir-17/file-3.iso. An entry has the same number
    /// everywhere in the file.
    #[arg(long, help_heading = SHOWN)]
    pub(crate) redact: bool,

    /// Open the file with the program of the desktop
    #[arg(long, help_heading = SHOWN)]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,

    /// Print help (-h alone prints a summary)
    #[arg(short = 'h', long, action = ArgAction::Help)]
    help: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A page with a map
    Html,
    /// The totals and the largest entries, for a ticket or a mail
    Markdown,
}
