// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options that change the system calls of a scan and not its result.
//!
//! Most are tricks of IO::AIO's aio_scandir. Some are the opposite of a trick, kept
//! so that its gain can be measured on any tree. `docs/tricks.md` says when each
//! helps and when it hurts.

use crate::reason::Reason;

/// The way a scan makes its system calls.
///
/// The default is the fastest where data is in memory. No option changes the
/// result of a scan.
///
/// # Examples
///
/// ```
/// use statwalk_core::tuning::{Calls, StatOrder};
/// use statwalk_core::{Scan, Totals};
///
/// let calls = Calls::default().stat_order(StatOrder::Inode);
/// let outcome = Scan::new("src").calls(calls).run(&Totals::new())?;
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// Absent: [`BUFFER_BYTES`], and [`LARGE_BUFFER_BYTES`] in large directories.
    pub(crate) buffer_bytes: Option<usize>,
    pub(crate) types: TypeSource,
    pub(crate) stat_order: StatOrder,
    pub(crate) freshness: Freshness,
    pub(crate) sharing: Sharing,
    pub(crate) likely_first: bool,
    pub(crate) link_stop: bool,
    pub(crate) looks_inside: bool,
}

/// The source of the types of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TypeSource {
    /// The listing, where it has them.
    #[default]
    Listing,
    /// A stat of each entry, as programs did before `d_type`.
    Stat,
}

/// The order in which a worker stats the entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StatOrder {
    /// The order of the listing.
    #[default]
    Listing,
    /// By inode number, over the whole directory, up to 65,536 entries at a time.
    Inode,
}

/// Whether a network file system may answer a stat from its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Freshness {
    /// As stat(2) does: the file system decides.
    #[default]
    AsStat,
    /// Yes (`AT_STATX_DONT_SYNC`, statx(2)): faster, and perhaps outdated.
    DontSync,
}

/// Whether several workers stat the entries of one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Yes, if the directory is large and another worker is idle.
    #[default]
    WhenIdle,
    /// Never.
    Never,
}

/// The default of [`Calls::buffer_bytes`]: most directories fit half of it.
pub(crate) const BUFFER_BYTES: usize = 32 << 10;
/// The same in a large directory that needs no stats.
///
/// btrfs and XFS list it faster in fewer calls. With stats, larger pieces would leave
/// workers idle at the end of the directory.
pub(crate) const LARGE_BUFFER_BYTES: usize = 128 << 10;

/// The limits of [`Calls::buffer_bytes`].
const BUFFER_BYTES_MIN: usize = 1 << 10;
const BUFFER_BYTES_MAX: usize = 4 << 20;

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            buffer_bytes: None,
            types: TypeSource::default(),
            stat_order: StatOrder::default(),
            freshness: Freshness::default(),
            sharing: Sharing::default(),
            likely_first: true,
            link_stop: true,
            looks_inside: false,
        }
    }
}

impl Calls {
    /// Sets the size of the directory-read buffer: 1 KiB to 4 MiB.
    ///
    /// One getdents64 call fills it. A value outside becomes the nearest limit.
    /// By default it has 32 KiB, and 128 KiB in a large directory that needs no stats.
    #[must_use]
    pub fn buffer_bytes(mut self, bytes: usize) -> Calls {
        self.buffer_bytes = Some(bytes.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX));
        self
    }

    /// Sets the source of the types of entries.
    #[must_use]
    pub fn types(mut self, types: TypeSource) -> Calls {
        self.types = types;
        self
    }

    /// Sets the order in which a worker stats the entries of a directory.
    #[must_use]
    pub fn stat_order(mut self, stat_order: StatOrder) -> Calls {
        self.stat_order = stat_order;
        self
    }

    /// Sets whether a network file system may answer a stat from its cache.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Calls {
        self.freshness = freshness;
        self
    }

    /// Sets whether several workers stat the entries of one directory.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> Calls {
        self.sharing = sharing;
        self
    }

    /// Sets whether a worker stats likely directories first.
    ///
    /// It applies where the scan wants neither sizes nor types and the listing
    /// has no types. Names that begin with a dot are the likeliest, then names
    /// without a dot, the shorter first. On by default. It saves calls only
    /// together with [`link_stop`](Self::link_stop).
    #[must_use]
    pub fn likely_first(mut self, likely_first: bool) -> Calls {
        self.likely_first = likely_first;
        self
    }

    /// Sets whether a worker stops its stats once it has found as many
    /// subdirectories as the directory's link count says. On by default.
    ///
    /// It applies where the scan wants neither sizes nor types, the listing has no
    /// types, and the file system counts subdirectories in `st_nlink`. Such are ext2,
    /// ext3, ext4, XFS, JFS, ReiserFS, minix, UFS and tmpfs.
    /// The worker reads a directory again without it if the directory changed
    /// during the scan or within the last second before. It lists a directory of more
    /// than 65,536 entries twice, and finds subdirectories with likely names alone.
    #[must_use]
    pub fn link_stop(mut self, link_stop: bool) -> Calls {
        self.link_stop = link_stop;
        self
    }

    /// Sets whether a worker recognizes directories by a stat of `entry/.`.
    /// Off by default.
    ///
    /// It applies where the scan wants neither sizes nor types and the listing
    /// has no types. The kernel answers without the inode's data if the file
    /// system has the type elsewhere. The stat follows symbolic links and
    /// triggers automounts, and each directory costs one call more.
    #[must_use]
    pub fn looks_inside(mut self, looks_inside: bool) -> Calls {
        self.looks_inside = looks_inside;
        self
    }

    /// Describes each option that differs from the default, for the plan.
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let mut note = |differs: bool, text: &str| {
            if differs {
                reasons.push(Reason::AskedFor(text.to_owned()));
            }
        };
        if let Some(bytes) = self.buffer_bytes {
            note(true, &format!("listings in pieces of {bytes} bytes"));
        }
        note(self.types == TypeSource::Stat, "types by stat");
        note(
            self.stat_order == StatOrder::Inode,
            "stats in the order of inodes",
        );
        note(
            self.freshness == Freshness::DontSync,
            "attributes that may be outdated",
        );
        note(
            self.sharing == Sharing::Never,
            "each directory by one worker",
        );
        note(!self.likely_first, "no guess which names are directories");
        note(!self.link_stop, "no use of link counts");
        note(
            self.looks_inside,
            "directories told by a stat of what is inside",
        );
        reasons
    }
}

/// Ranks a name by how likely it belongs to a directory: 0 is the likeliest.
///
/// The rule of libeio: names that begin with a dot, then names without a dot,
/// the shorter first, then the rest.
pub(crate) fn likeliness(name: &[u8]) -> u32 {
    let length = name.len().min(0xffff) as u32;
    match name {
        [b'.', ..] => 0,
        _ if !name.contains(&b'.') => 1 << 16 | length,
        _ => 2 << 16,
    }
}

/// Whether an entry of this name is one of those that are more likely a directory.
pub(crate) fn is_likely(name: &[u8]) -> bool {
    likeliness(name) < 2 << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_directories_come_first() {
        let mut names: Vec<&[u8]> = vec![
            b"photo.jpg",
            b"photos",
            b".cache",
            b"a",
            b"x.tar.gz",
            b"src",
            b".git",
        ];
        names.sort_by_key(|name| likeliness(name));
        let expected: Vec<&[u8]> = vec![
            b".cache",
            b".git",
            b"a",
            b"src",
            b"photos",
            b"photo.jpg",
            b"x.tar.gz",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn buffers_have_bounds() {
        let buffer_bytes = |bytes| Calls::default().buffer_bytes(bytes).buffer_bytes;
        assert_eq!(buffer_bytes(1), Some(1 << 10));
        assert_eq!(buffer_bytes(usize::MAX), Some(4 << 20));
    }

    #[test]
    fn each_changed_option_is_a_reason() {
        assert!(Calls::default().reasons().is_empty());
        let calls = Calls::default().buffer_bytes(4096).link_stop(false);
        assert_eq!(calls.reasons().len(), 2);
    }
}
