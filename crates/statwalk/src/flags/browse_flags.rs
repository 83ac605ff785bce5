// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `browse`.

use std::ffi::OsString;

use clap::{ArgAction, Parser};

use super::scan_flags::SHOWN;
use super::{LinkFlags, ReadFlags, When};

/// Browse directories in the terminal, while they are read and after
///
/// Rows appear at once, and their sizes grow while the scan goes on. A directory that is
/// entered is read next. The keys are those of ncdu; `?` lists all.
///
/// Keys can be set in $XDG_CONFIG_HOME/statwalk/keys.toml, for instance:
/// sort-size = ["s", "ctrl-s"]
/// enable-delete = true
#[derive(Parser)]
#[command(
    name = "browse",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct BrowseFlags {
    /// Browse these paths, or one snapshot, such as /home@last [default: the mounted file
    /// systems to select one]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Allow to remove items, with d (asks before; moves to the trash, or removes forever)
    #[arg(long, help_heading = SHOWN)]
    pub(crate) enable_delete: bool,

    /// Remove nothing, whatever else is set; twice: start no other program either
    #[arg(short = 'r', long, action = ArgAction::Count, help_heading = SHOWN)]
    pub(crate) read_only: u8,

    /// Show the sizes that ls shows instead of the space on disk
    #[arg(short = 'A', long, help_heading = SHOWN)]
    pub(crate) apparent_size: bool,

    /// Show sizes in powers of 1000
    #[arg(long, help_heading = SHOWN)]
    pub(crate) si: bool,

    /// Set when to use colour (NO_COLOR turns it off)
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = SHOWN,
        hide_default_value = true)]
    pub(crate) color: When,

    #[command(flatten)]
    pub(crate) read: ReadFlags,

    #[command(flatten)]
    pub(crate) links: LinkFlags,

    /// Print help (-h alone prints a summary)
    #[arg(short = 'h', long, action = ArgAction::Help)]
    help: Option<bool>,
}
