// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `df`.

use std::ffi::OsString;

use clap::Parser;

use super::scan_flags::SHOWN;
use super::{FormFlags, UnitFlags, When};

/// Explain the used space of file systems: why df and du disagree
///
/// Without PATH, one table has every file system of this machine that holds something,
/// and a sentence for each says where its used bytes are. Those of other machines are
/// named and not scanned.
///
/// statwalk scans the whole file system that holds PATH, from the mount point that shows
/// most of it. Of a btrfs it also scans subvolumes that are mounted elsewhere. Other file
/// systems in it are left out.
///
/// The used bytes of df are the sum of these parts. Shares are of the file system's size.
///
/// - reached: all entries that the scan reaches
/// - deleted-open: files without a name that processes hold
/// - hidden-by-mounts: entries below a directory that another mount covers. A table has
///   these mount points, and a command shows what lies below the largest
/// - metadata: metadata that counts as used
/// - kept-back: space that the file system keeps for itself; nothing lies there
/// - compression-and-sharing: the saving of btrfs and XFS, below zero
/// - other-subvolumes: data that only subvolumes and snapshots outside the mounts hold
/// - remainder: changes meanwhile, unreadable directories, unknown parts
///
/// Deleted files need CAP_SYS_PTRACE, hidden entries and a btrfs CAP_SYS_ADMIN, and the
/// metadata of an ext4 the right to read its device. Without these rights the parts are in
/// the remainder, and statwalk says so. statwalk syncs a btrfs, and for root an XFS, first.
/// Where the output is not a terminal, each part is a row of its bytes, its name and the
/// mount point; `total`, `used`, `free` and `reserved-for-root` come before the parts.
#[derive(Parser)]
#[command(
    name = "df",
    disable_version_flag = true,
    disable_help_flag = true,
    args_override_self = true,
    verbatim_doc_comment
)]
pub(crate) struct DfFlags {
    /// Explain the file systems that hold these paths [default: all file systems]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<OsString>,

    /// Show this many files without a name and hidden directories [default: 5]
    #[arg(short = 'n', long, value_name = "N", help_heading = SHOWN)]
    pub(crate) lines: Option<usize>,

    #[command(flatten)]
    pub(crate) units: UnitFlags,

    #[command(flatten)]
    pub(crate) form: FormFlags,

    /// Set when to show progress on stderr
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = SHOWN,
        hide_default_value = true)]
    pub(crate) progress: When,
}
