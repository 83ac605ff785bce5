// SPDX-License-Identifier: MIT OR Apache-2.0

//! The options of a scan about its source.

use std::path::Path;

use crate::calls::Calls;
use crate::exclusion::Exclusions;
use crate::fields::Fields;

/// The source of entries and attributes.
///
/// All sources give the same result. `docs/sources/` describes their needs and
/// limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Source {
    /// The fastest usable source; [`Posix`](Self::Posix) is always usable.
    #[default]
    Auto,
    /// System calls: any file system, no privilege.
    Posix,
    /// The blocks of an ext2, ext3 or ext4 file system, read from its device.
    ///
    /// The process needs the right to read the device. A root that is a device or a
    /// regular file is read as an image.
    ///
    /// The device lacks sizes of files that wait to be written. So statwalk syncs a file
    /// system that is mounted for writing first; see [`SyncPolicy`].
    Ext4,
    /// The trees of a btrfs; the process needs `CAP_SYS_ADMIN`.
    ///
    /// The trees lack unwritten changes. So statwalk syncs the file system first; see
    /// [`SyncPolicy`].
    Btrfs,
}

/// Whether statwalk may sync a file system before it reads it.
///
/// [`Source::Ext4`] does so where it is mounted for writing, and [`Source::Btrfs`] always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SyncPolicy {
    /// A source that needs it syncs the file system, and so writes the data of all
    /// processes to the device.
    #[default]
    Allowed,
    /// statwalk uses no source that needs it.
    Refused,
}

impl Source {
    /// Its name in the plan and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Auto => "auto",
            Source::Posix => "posix",
            Source::Ext4 => "ext4",
            Source::Btrfs => "btrfs",
        }
    }
}

/// The options of a scan for its source.
pub(crate) struct SourceOptions<'a> {
    pub(crate) wanted: Fields,
    pub(crate) calls: &'a Calls,
    pub(crate) follows: bool,
    pub(crate) source: Source,
    pub(crate) syncing: SyncPolicy,
    pub(crate) exclusions: &'a Exclusions,
    /// The directory from which relative roots lead, in place of the working directory.
    pub(crate) relative_to: Option<&'a Path>,
    /// The time that counts as the begin of the scan.
    pub(crate) now_ns: i64,
}
