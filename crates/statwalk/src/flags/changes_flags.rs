// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `changes`.

use std::ffi::OsString;

use clap::Parser;

use super::scan_flags::READ;
use super::{FormFlags, SizeFlags};

/// Show the changes on a btrfs since an earlier scan
///
/// Each path comes with its news: `name`, or `inode` where content or attributes
/// changed. With --json a changed directory comes with all names that it has now,
/// so that a missing name can be seen. Where the output is not a terminal, each
/// change is a row of its news, its bytes and its path. Needs CAP_SYS_ADMIN; statwalk
/// syncs the file system first.
#[derive(Parser)]
#[command(
    name = "changes",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true
)]
pub(crate) struct ChangesFlags {
    /// Show the changes below this directory
    #[arg(value_name = "PATH")]
    pub(crate) path: OsString,

    /// Set the generation of the earlier scan, alone or after the file system's UUID
    ///
    /// Both are in the JSON of this command, and below `plan` in the JSON of a scan with
    /// --source btrfs: `uuid` and `generation`. With the UUID, statwalk refuses another
    /// file system; alone, it refuses a generation that the file system has never had.
    #[arg(long, value_name = "[UUID:]GENERATION", help_heading = READ)]
    pub(crate) since: String,

    #[command(flatten)]
    pub(crate) sizes: SizeFlags,

    #[command(flatten)]
    pub(crate) form: FormFlags,
}
