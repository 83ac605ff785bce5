// SPDX-License-Identifier: MIT OR Apache-2.0

//! How the source asks the kernel: the choices that change the calls and not
//! the answer.
//!
//! Most are tricks of IO::AIO's aio_scandir, some are its opposite, kept so that
//! what a trick brings can be measured on any tree. `docs/tricks.md` says when
//! each helps and when it hurts.

/// How the source asks the kernel.
///
/// The default is what is best where data is in memory; nothing here changes
/// what a scan finds.
///
/// ```
/// use statwalk_core::{Calls, Scan, StatOrder, Totals};
///
/// let calls = Calls::default().stat_order(StatOrder::Inode);
/// let outcome = Scan::new("src").calls(calls).run(&Totals::with_sizes())?;
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    pub(crate) buffer_bytes: usize,
    pub(crate) types: TypeSource,
    pub(crate) stat_order: StatOrder,
    pub(crate) naming: Naming,
    pub(crate) freshness: Freshness,
    pub(crate) detail: Detail,
    pub(crate) sharing: Sharing,
    pub(crate) likely_first: bool,
    pub(crate) link_stop: bool,
    pub(crate) looks_inside: bool,
}

/// Where the types of entries come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TypeSource {
    /// The listing, where it tells them.
    #[default]
    Listing,
    /// A stat of each entry, as programs did before `d_type`.
    Stat,
}

/// In which order the entries of a directory are stat'ed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StatOrder {
    /// As they are listed.
    #[default]
    Listing,
    /// By inode number, over the whole directory, up to 65,536 entries at a time.
    Inode,
}

/// By what the kernel is told which entry is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Naming {
    /// The directory's descriptor, and the name.
    #[default]
    Descriptor,
    /// The whole path, which the kernel walks again for each entry.
    ///
    /// Where a directory on the way is replaced meanwhile, what stands there
    /// now is stat'ed. A path that is longer than the kernel takes goes by
    /// descriptor.
    Path,
}

/// Whether a network file system may answer from what it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Freshness {
    /// It does what stat(2) does.
    #[default]
    AsStat,
    /// It may (`AT_STATX_DONT_SYNC`, statx(2)): faster, and perhaps outdated.
    DontSync,
}

/// How much is asked of each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Detail {
    /// What is wanted.
    #[default]
    Smallest,
    /// All that statx can tell, which some file systems must fetch.
    Full,
}

/// Whether several workers stat the entries of one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Where it has many and somebody has nothing to do.
    #[default]
    WhenIdle,
    /// Never.
    Never,
}

/// What getdents64 calls may bring, at the least and at the most.
const BUFFER_BYTES_MIN: usize = 1 << 10;
const BUFFER_BYTES_MAX: usize = 4 << 20;

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            // SOURCES.md 4.1: 32 KiB, 64 KiB and 1 MiB take the same time.
            buffer_bytes: 32 << 10,
            types: TypeSource::default(),
            stat_order: StatOrder::default(),
            naming: Naming::default(),
            freshness: Freshness::default(),
            detail: Detail::default(),
            sharing: Sharing::default(),
            likely_first: true,
            link_stop: true,
            looks_inside: false,
        }
    }
}

impl Calls {
    /// How many bytes of a listing one getdents64 call may bring: 1 KiB to 4 MiB.
    ///
    /// What is outside becomes the nearest.
    #[must_use]
    pub fn buffer_bytes(mut self, bytes: usize) -> Calls {
        self.buffer_bytes = bytes.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        self
    }

    /// Where the types of entries come from.
    #[must_use]
    pub fn types(mut self, types: TypeSource) -> Calls {
        self.types = types;
        self
    }

    /// In which order the entries of a directory are stat'ed.
    #[must_use]
    pub fn stat_order(mut self, stat_order: StatOrder) -> Calls {
        self.stat_order = stat_order;
        self
    }

    /// By what the kernel is told which entry is meant.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Calls {
        self.naming = naming;
        self
    }

    /// Whether a network file system may answer from what it remembers.
    #[must_use]
    pub fn freshness(mut self, freshness: Freshness) -> Calls {
        self.freshness = freshness;
        self
    }

    /// How much is asked of each entry.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Calls {
        self.detail = detail;
        self
    }

    /// Whether several workers stat the entries of one directory.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> Calls {
        self.sharing = sharing;
        self
    }

    /// Whether likely directories are looked at first, where neither sizes nor
    /// types are wanted and the listing tells no types.
    ///
    /// Likely are names that begin with a dot, then those without a dot, the
    /// shorter the likelier. On by default; it saves calls together with
    /// [`link_stop`](Self::link_stop) alone.
    #[must_use]
    pub fn likely_first(mut self, likely_first: bool) -> Calls {
        self.likely_first = likely_first;
        self
    }

    /// Whether the link count of a directory tells that all its subdirectories
    /// were found, so that the rest need not be looked at. On by default.
    ///
    /// It is used where neither sizes nor types are wanted, the listing tells
    /// no types, and the file system counts subdirectories in `st_nlink`: ext2,
    /// ext3, ext4, XFS, JFS, ReiserFS, minix, UFS and tmpfs.
    /// A directory that changed meanwhile, or within the last second, is read
    /// again without it.
    #[must_use]
    pub fn link_stop(mut self, link_stop: bool) -> Calls {
        self.link_stop = link_stop;
        self
    }

    /// Whether a directory is told from other entries by a stat of `entry/.`,
    /// where neither sizes nor types are wanted and the listing tells no types.
    ///
    /// The kernel answers without the inode's data where the file system has
    /// the type elsewhere. It follows symbolic links and wakes automounts,
    /// and each directory costs a call more. Off by default.
    #[must_use]
    pub fn looks_inside(mut self, looks_inside: bool) -> Calls {
        self.looks_inside = looks_inside;
        self
    }

    /// What differs from the default, for the plan.
    pub(crate) fn told(&self) -> Vec<String> {
        let standard = Calls::default();
        let mut told = Vec::new();
        let mut note = |differs: bool, text: &str| {
            if differs {
                told.push(format!("asked for: {text}"));
            }
        };
        note(
            self.buffer_bytes != standard.buffer_bytes,
            &format!("listings in pieces of {} bytes", self.buffer_bytes),
        );
        note(self.types == TypeSource::Stat, "types by stat");
        note(
            self.stat_order == StatOrder::Inode,
            "stats in the order of inodes",
        );
        note(self.naming == Naming::Path, "stats by path");
        note(
            self.freshness == Freshness::DontSync,
            "attributes that may be outdated",
        );
        note(self.detail == Detail::Full, "all that statx can tell");
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
        told
    }
}

/// Whether `st_nlink` of a directory is two more than it has subdirectories,
/// by the `f_type` of statfs(2).
///
/// btrfs, overlayfs, FUSE and NFS answer 1 or whatever a server says. A
/// directory of ext4 with too many subdirectories answers 1, which is no count.
pub(crate) fn counts_subdirectories(file_system: u64) -> bool {
    const MAGICS: [u64; 9] = [
        0xef53,      // ext2, ext3, ext4: EXT4_SUPER_MAGIC, include/uapi/linux/magic.h
        0x5846_5342, // XFS_SUPER_MAGIC
        0x3153_464a, // JFS_SUPER_MAGIC, fs/jfs/jfs_superblock.h
        0x5265_4973, // REISERFS_SUPER_MAGIC
        0x137f,      // MINIX_SUPER_MAGIC
        0x138f,      // MINIX_SUPER_MAGIC2
        0x2468,      // MINIX2_SUPER_MAGIC
        0x0001_1954, // UFS_MAGIC, fs/ufs/ufs_fs.h
        0x0102_1994, // TMPFS_MAGIC
    ];
    MAGICS.contains(&file_system)
}

/// How likely a name is that of a directory: the smaller, the likelier.
///
/// The rule of libeio: names that begin with a dot, then those without a dot,
/// the shorter first, then the rest.
pub(crate) fn likeliness(name: &[u8]) -> u32 {
    let length = name.len().min(0xffff) as u32;
    match name {
        [b'.', ..] => 0,
        _ if !name.contains(&b'.') => 1 << 16 | length,
        _ => 2 << 16,
    }
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
        assert_eq!(Calls::default().buffer_bytes(1).buffer_bytes, 1024);
        assert_eq!(
            Calls::default().buffer_bytes(usize::MAX).buffer_bytes,
            4 << 20
        );
    }

    #[test]
    fn only_what_differs_is_told() {
        assert!(Calls::default().told().is_empty());
        let calls = Calls::default().buffer_bytes(4096).link_stop(false);
        assert_eq!(calls.told().len(), 2);
    }
}
