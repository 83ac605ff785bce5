// SPDX-License-Identifier: MIT OR Apache-2.0

//! The true size of a tree on its file system, and the space that deleting it would
//! free.
//!
//! Only btrfs can tell: its files share extents, which may be compressed, and the
//! blocks that stat shows know of neither.

mod accounts;
mod claims;
mod survey;

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use statwalk_core::{DirState, Error, Op};

use self::accounts::Accounts;
use self::survey::{Survey, Volume};
use crate::inodes::InodeTable;
use crate::path::path_buf;

/// The size of a directory with all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtentSums {
    /// On the device, compressed, each extent once and as a whole, even where
    /// files have only a part of it. Copies that a RAID level keeps do not count.
    pub disk_bytes: u64,
    /// How much of that would be free if all of it were deleted: what no file
    /// elsewhere and no snapshot has.
    pub exclusive_bytes: u64,
    /// The length of its files' data, without holes and compression; shared data counts
    /// for each file. It is the `Total` of `btrfs filesystem du`.
    pub referenced_bytes: u64,
    /// Small files that lie in the tree itself; in none of the others.
    pub inline_bytes: u64,
}

impl ExtentSums {
    /// The part that others have as well.
    #[must_use]
    pub fn shared_bytes(&self) -> u64 {
        self.disk_bytes.saturating_sub(self.exclusive_bytes)
    }

    fn of([disk_bytes, exclusive_bytes, referenced_bytes, inline_bytes]: [u64; 4]) -> ExtentSums {
        ExtentSums {
            disk_bytes,
            exclusive_bytes,
            referenced_bytes,
            inline_bytes,
        }
    }
}

/// How extents are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// By zlib.
    Zlib,
    /// By LZO.
    Lzo,
    /// By Zstandard.
    Zstd,
    /// In a way that is not known here.
    Other,
}

impl Compression {
    const ALL: [Compression; 5] = [
        Compression::None,
        Compression::Zlib,
        Compression::Lzo,
        Compression::Zstd,
        Compression::Other,
    ];

    /// Its name, as on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Zlib => "zlib",
            Compression::Lzo => "lzo",
            Compression::Zstd => "zstd",
            Compression::Other => "other",
        }
    }
}

/// The extents that are compressed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompressionUsage {
    /// The way.
    pub compression: Compression,
    /// How many extents.
    pub extents: u64,
    /// Their size on the device.
    pub disk_bytes: u64,
    /// Their size without compression.
    pub plain_bytes: u64,
}

/// How far [`extent_usage`] is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExtentProgress {
    /// Files and extents that were looked at.
    pub done: u64,
    /// Of how many, as far as that is known.
    pub of: u64,
}

/// The size of a tree on its file system.
#[non_exhaustive]
pub struct ExtentUsage {
    /// The size of all roots together.
    pub total: ExtentSums,
    /// Each way of compression that there is; sums over them are those of `total`.
    pub compression: Vec<CompressionUsage>,
    /// The transactions that the answer is of, one for each file system, with a
    /// directory on it.
    pub generations: Vec<(PathBuf, u64)>,
    /// Files that lie on other file systems and are not in the sums.
    pub files_elsewhere: u64,
    /// Extents that went away meanwhile.
    pub extents_gone: u64,
    /// Subvolumes and snapshots of these file systems that hold no file of the roots.
    pub other_subvolumes: u64,
    dirs: InodeTable,
    sums: Vec<ExtentSums>,
}

/// A directory of an [`ExtentUsage`].
#[derive(Clone, Copy)]
pub struct ExtentDir<'a> {
    usage: &'a ExtentUsage,
    index: u32,
}

/// With the number of the directories, of which there can be very many.
impl fmt::Debug for ExtentUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtentUsage")
            .field("total", &self.total)
            .field("compression", &self.compression)
            .field("generations", &self.generations)
            .field("files_elsewhere", &self.files_elsewhere)
            .field("extents_gone", &self.extents_gone)
            .field("other_subvolumes", &self.other_subvolumes)
            .field("dir_count", &self.dirs.dir_count())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ExtentDir<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtentDir")
            .field("path", &path_buf(self.path()))
            .field("sums", &self.sums())
            .finish_non_exhaustive()
    }
}

impl ExtentUsage {
    /// The roots, in the order in which the scan had them.
    pub fn roots(&self) -> impl Iterator<Item = ExtentDir<'_>> {
        self.siblings(0, self.sums.len() as u32)
    }

    /// The directories that stand between two indices and are in none that does.
    fn siblings(&self, first: u32, end: u32) -> impl Iterator<Item = ExtentDir<'_>> {
        let next = move |&index: &u32| self.dirs.dirs.get(index as usize).map(|dir| dir.end);
        std::iter::successors(Some(first), next)
            .take_while(move |&index| index < end)
            .map(|index| ExtentDir { usage: self, index })
    }
}

impl<'a> ExtentDir<'a> {
    /// The directories in it, sorted by their names.
    pub fn children(&self) -> impl Iterator<Item = ExtentDir<'a>> + use<'a> {
        let end = self.usage.dirs.dirs[self.index as usize].end;
        self.usage.siblings(self.index + 1, end)
    }

    /// The name; for a root the path that the caller gave.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        self.usage.dirs.name(self.index)
    }

    /// The path, beginning with the root as the caller gave it.
    #[must_use]
    pub fn path(&self) -> Vec<u8> {
        self.usage.dirs.path(self.index)
    }

    /// The distance from the root, which is 0.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.usage.dirs.dirs[self.index as usize].depth
    }

    /// How far the scan read it; absent for a root that is no directory.
    #[must_use]
    pub fn state(&self) -> Option<DirState> {
        self.usage.dirs.dirs[self.index as usize].state
    }

    /// Its size with all below it.
    #[must_use]
    pub fn sums(&self) -> ExtentSums {
        self.usage.sums[self.index as usize]
    }
}

/// Finds what the files of a scan take on their file system.
///
/// The file system is synced first, so that data that waits to be written counts. Then
/// each extent is looked up: how often is it used? A snapshot may share the part of the
/// tree that says so. For such an extent the kernel is asked whether another file has
/// it, or, if several files of the scan do, which files have it. So the answer for
/// exclusive bytes is exact for every directory, also where files of it share among
/// themselves. The answer may miss changes that happen meanwhile. A doubtful extent
/// with more than 700,000 users counts as shared.
///
/// `proceed` is called every now and then, from any thread.
///
/// Memory: 48 bytes for each part of a file on the device, 32 for each name of a file,
/// 120 and its name for each directory. A part that a snapshot may share takes 24 more,
/// and another 48 while its file is asked about.
///
/// # Errors
///
/// Returns an error if no file lies on a btrfs, if the scan followed links, or if the
/// trees cannot be searched, which needs `CAP_SYS_ADMIN`. The same holds if they claim
/// 2^64 bytes or more, as damaged ones can. If `proceed` breaks, the error is
/// [`io::ErrorKind::Interrupted`].
///
/// # Platform behavior
///
/// Linux 4.15, `BTRFS_IOC_TREE_SEARCH_V2`, `BTRFS_IOC_LOGICAL_INO_V2` and
/// `FS_IOC_FIEMAP`: fs/btrfs/ioctl.c, fs/btrfs/backref.c, fs/btrfs/fiemap.c.
///
/// # Examples
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use statwalk_core::Scan;
/// use statwalk_space::btrfs::{Inodes, extent_usage};
///
/// let outcome = Scan::new("/data").run(&Inodes::new())?;
/// let inodes = outcome.output;
/// let usage = extent_usage(inodes, |_| ControlFlow::Continue(()))?;
/// println!("{} bytes would be free", usage.total.exclusive_bytes);
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
pub fn extent_usage(
    inodes: InodeTable,
    proceed: impl Fn(ExtentProgress) -> ControlFlow<()> + Sync,
) -> Result<ExtentUsage, Error> {
    if inodes.follows {
        let error = "where links are followed nobody can tell what deleting a directory frees";
        return Err(Error::io(Op::Follow, None, io::Error::other(error)));
    }
    let survey = Survey::of(&inodes)?;
    let accounts = Accounts::new(&inodes, &survey, &proceed);
    let mut other_subvolumes = 0;
    for volume in &survey.volumes {
        let failed = |error| Error::io(Op::Read, Some(volume.path.clone()), error);
        let trees = volume.reader.subvolume_trees().map_err(failed)?;
        let is_other = |tree: &&u64| !volume.holds(**tree);
        other_subvolumes += trees.iter().filter(is_other).count() as u64;
        accounts.add_volume(volume).map_err(failed)?;
    }
    if !accounts.fit() {
        let error = "the trees claim more than 2^64 bytes, which no file system has";
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        return Err(Error::io(Op::Read, None, error));
    }
    let (total, sums) = accounts.sums();
    let compression = accounts.compression();
    let extents_gone = accounts.gone();
    let generation = |volume: &Volume| (volume.path.clone(), volume.reader.generation());
    Ok(ExtentUsage {
        total,
        compression,
        generations: survey.volumes.iter().map(generation).collect(),
        files_elsewhere: survey.files_elsewhere,
        extents_gone,
        other_subvolumes,
        dirs: inodes,
        sums,
    })
}
