// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which source a scan is to use, and what it may do for it.

/// Where entries and attributes come from.
///
/// All sources give the same answers. What each needs, and what it cannot know,
/// stands in `docs/sources/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Source {
    /// What is fastest of those that can be used here; [`Posix`](Self::Posix)
    /// where nothing else can.
    #[default]
    Auto,
    /// System calls: any file system, no privilege.
    Posix,
    /// The blocks of an ext2, ext3 or ext4 file system, read in place from the
    /// device, which needs the right to read it.
    ///
    /// A root that is a device or a file is read as an image of one.
    Ext4,
    /// The trees of a btrfs, which needs `CAP_SYS_ADMIN`. What waits in memory is
    /// not in them, so the file system is synced first; see [`Syncing`].
    Btrfs,
}

/// Whether a file system may be synced before it is read.
///
/// Only [`Source::Btrfs`] does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Syncing {
    /// What others wrote is written to the device first, if the source needs it.
    #[default]
    Allowed,
    /// A source that needs it is not used.
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
