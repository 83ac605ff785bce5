// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which source a scan is to use.

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
}

impl Source {
    /// Its name in the plan and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Source::Auto => "auto",
            Source::Posix => "posix",
            Source::Ext4 => "ext4",
        }
    }
}
