// SPDX-License-Identifier: MIT OR Apache-2.0

//! The flags of `snapshot`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Parser};

use super::ScanFlags;
use super::scan_flags::COUNTED;

/// Store a scan, for other commands to read in place of a path
///
/// statwalk scans PATH and writes all its entries as Parquet into the store. The store is
/// statwalk in $XDG_DATA_HOME, and /var/lib/statwalk for root. /home@last is then the newest
/// snapshot of /home; docs/snapshots.md has the other names.
///
/// Directories .snapshot and .zfs hold older states of the same files, and are left out.
/// Other users cannot read a snapshot. One of root has the names of all files.
///
/// Where the output is not a terminal, the new snapshot is a row of its entries, its bytes and
/// its folder. With --list, each snapshot is a row of its time, its entries, the bytes on disk
/// that it found, its own bytes, its state and its root. With --check, each fault is a row of its words and
/// its place.
#[derive(Parser)]
#[command(
    name = "snapshot",
    disable_version_flag = true,
    args_override_self = true,
    after_long_help = EXAMPLES,
    group = ArgGroup::new("other").args(["list", "check"])
)]
pub(crate) struct SnapshotFlags {
    /// Scan this path [default: .]; with --check a snapshot, with --list the root of some
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<OsString>,

    /// Write the snapshot to this new directory, and not to the store
    #[arg(short = 'o', long, value_name = "DIR", conflicts_with_all = ["list", "check", "keep", "keep_size"], help_heading = STORE)]
    pub(crate) output: Option<PathBuf>,

    /// List the snapshots of the store, or those of PATH
    #[arg(long, help_heading = STORE)]
    pub(crate) list: bool,

    /// Verify a snapshot: its hashes, its order, its sums and its links
    #[arg(long, help_heading = STORE)]
    pub(crate) check: bool,

    /// Remove older snapshots of PATH, but the newest of each day, week and month: 7d,4w,12m
    ///
    /// A number with d keeps the newest snapshot of each of so many days that have one, and so
    /// do w for weeks from Monday on and m for months. The newest snapshot stays in any case.
    #[arg(long, value_name = "RULES", conflicts_with = "other", help_heading = STORE)]
    pub(crate) keep: Option<String>,

    /// Remove the oldest snapshots of PATH until the rest has at most SIZE
    ///
    /// The newest snapshot stays in any case.
    #[arg(long, value_name = "SIZE", conflicts_with = "other", help_heading = STORE)]
    pub(crate) keep_size: Option<String>,

    /// Store a scan that is interrupted, too; every answer from it is a lower bound
    #[arg(long, conflicts_with = "other", help_heading = STORE)]
    pub(crate) partial: bool,

    /// Store times of the last access, too
    #[arg(long, conflicts_with = "other", help_heading = STORE)]
    pub(crate) access_times: bool,

    /// Enter directories .snapshot and .zfs
    #[arg(long, conflicts_with = "other", help_heading = COUNTED)]
    pub(crate) include_snapshots: bool,

    #[command(flatten)]
    pub(crate) scan: ScanFlags,
}

const STORE: &str = "Snapshots";

const EXAMPLES: &str = "\
Examples:
  statwalk snapshot /home                store a scan of /home
  statwalk snapshot --keep 7d,4w,12m /   store one, and thin out the older ones
  statwalk snapshot -o /srv/home-1 /home
  statwalk snapshot --list               list the snapshots of the store
  statwalk snapshot --check /home@last   verify the newest snapshot of /home";
