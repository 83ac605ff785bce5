// SPDX-License-Identifier: MIT OR Apache-2.0

//! The used bytes of a file system, and the parts that they consist of.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, StatVfs, openat, statvfs};

use statwalk_core::{Error, Op, Report, RootTotals, Scan};
use statwalk_ext4::Bytes;

use crate::extent_usage::ExtentUsage;
use crate::mount_table::MountTable;
use crate::mounted::Mounted;
use crate::nameless::{self, Nameless, Unlinked};
use crate::open_files::{self, Belonging};
use crate::own_space;
use crate::stat::uninterrupted;
use crate::table::{Facts, UsedPart, parts};

/// A process that holds a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number, as `/proc` has it.
    pub pid: u32,
    /// Its name, at most 15 bytes of any kind: the process can set it.
    pub name: Vec<u8>,
}

/// A file, or a directory, that has no name and takes space until its last user ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnnamedFile {
    /// Its inode number.
    pub inode: u64,
    /// Its blocks, in bytes.
    pub allocated_bytes: u64,
    /// The last path that it had in the mounts of its first holder, or the one that the
    /// kernel shows for a file that never had a name. Absent where no process is known:
    /// the kernel holds it, or a process that this one cannot see.
    pub path: Option<Vec<u8>>,
    /// Processes that hold it, up to 16.
    pub holders: Vec<Holder>,
    /// The number of further holders.
    pub more_holders: u64,
}

/// A directory that a mount covers and no other mount shows, with all that lies below it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HiddenDirectory {
    /// The mount point that covers it.
    pub point: PathBuf,
    /// The mount point of its own file system: a bind mount of it elsewhere, without the
    /// mounts in it, shows the directory.
    pub within: PathBuf,
    /// The blocks of all entries in it, its own too.
    pub allocated_bytes: u64,
    /// The number of entries in it. An empty directory has none, as most mount points are.
    pub entries: u64,
}

/// A part of the used bytes that is not known, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPart {
    /// The part; its bytes are in the remainder.
    pub part: UsedPart,
    /// A clause, as `needs CAP_SYS_ADMIN`.
    pub reason: String,
}

/// The space of the whole file system, as statfs(2) counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capacity {
    /// The size of its block device. Absent where there is none, or where there are
    /// several, as a btrfs can have.
    pub device_bytes: Option<u64>,
    /// The blocks that files can have: those of the device, less metadata that the file
    /// system leaves out of its own count.
    pub total_bytes: u64,
    /// Blocks in use.
    pub used_bytes: u64,
    /// Blocks not in use.
    pub free_bytes: u64,
    /// The part of the free blocks that only root may use.
    pub reserved_bytes: u64,
    /// Inodes in use. Absent where the file system counts no inodes, or more free ones than it
    /// has.
    pub used_inodes: Option<u64>,
    /// The inodes that it has, free ones too; absent as `used_inodes` is. A file system that
    /// makes inodes as it needs them can change it.
    pub total_inodes: Option<u64>,
}

/// The used bytes of a file system, explained.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpaceAccount {
    /// The space of the whole file system, after the scan.
    pub capacity: Capacity,
    /// The change of the used bytes during the scan: part of the remainder.
    pub changed_bytes: i64,
    /// The known parts of the used bytes, with the remainder last. They add up.
    pub parts: Vec<(UsedPart, i64)>,
    /// The parts that are not known.
    pub unknown: Vec<UnknownPart>,
    /// Entries that could not be read: the space below them is in the remainder.
    pub unreadable: u64,
    /// Files without a name, largest first.
    pub unnamed: Vec<UnnamedFile>,
    /// Directories below mount points, largest first.
    pub hidden: Vec<HiddenDirectory>,
}

/// A mounted file system whose used bytes are to be explained.
///
/// # Examples
///
/// ```no_run
/// use statwalk_space::FileSystem;
/// use statwalk_core::Totals;
///
/// let file_system = FileSystem::holding("/home")?;
/// let scan = file_system.scan().run(&Totals::new())?;
/// let account = file_system.account(&scan.output, &scan.report, None)?;
/// for (part, bytes) in account.parts {
///     println!("{bytes:>20} {}", part.name());
/// }
/// assert!(scan.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Debug)]
pub struct FileSystem {
    mounted: Mounted,
    /// Its topmost directory, if this process may open it.
    top: Option<OwnedFd>,
    used_before: u64,
    has_blocks: bool,
}

impl FileSystem {
    /// Finds the file system that holds `path`, and the mounts that show most of it.
    ///
    /// An XFS is synced if the caller is root, because it counts unwritten data twice.
    ///
    /// # Errors
    ///
    /// Returns an error if the path cannot be stat'ed.
    pub fn holding(path: impl AsRef<Path>) -> Result<FileSystem, Error> {
        FileSystem::holding_by(path, &mut MountTable::default())
    }

    /// As [`holding`](Self::holding), for several paths one after another: with one table, the
    /// mount table is read again only where it has changed.
    ///
    /// # Errors
    ///
    /// As for [`holding`](Self::holding).
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_space::{FileSystem, MountTable};
    ///
    /// let mut table = MountTable::default();
    /// for path in ["/", "/proc"] {
    ///     let file_system = FileSystem::holding_by(path, &mut table)?;
    ///     println!("{}", file_system.point().display());
    /// }
    /// # Ok::<(), statwalk_core::Error>(())
    /// ```
    pub fn holding_by(path: impl AsRef<Path>, table: &mut MountTable) -> Result<FileSystem, Error> {
        let path = path.as_ref();
        let failed = |error: io::Error| Error::io(Op::Stat, Some(path.to_owned()), error);
        let mounted = Mounted::holding(path, table).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let top = openat(CWD, mounted.point(), flags, Mode::empty()).ok();
        if let Some(top) = &top
            && mounted.file_system() == Some("xfs")
            && statwalk_sys::user::effective() == Ok(0)
        {
            // A read-only file system cannot be synced, and has nothing to sync.
            let _ = rustix::fs::syncfs(top);
        }
        let numbers = uninterrupted(|| statvfs(mounted.point()));
        let numbers = numbers.map_err(|errno| failed(errno.into()))?;
        Ok(FileSystem {
            mounted,
            top,
            used_before: used_bytes(&numbers),
            has_blocks: numbers.f_blocks > 0,
        })
    }

    /// The mount point from which it is scanned.
    #[must_use]
    pub fn point(&self) -> &Path {
        self.mounted.point()
    }

    /// The mount points from which it is scanned: several for a btrfs whose subvolumes are
    /// mounted side by side. They are the first roots of [`scan`](Self::scan).
    pub fn shown(&self) -> impl Iterator<Item = &Path> {
        self.mounted.shown().map(PathBuf::as_path)
    }

    /// The type, such as `ext4`. Absent without `/proc`.
    #[must_use]
    pub fn file_system(&self) -> Option<&str> {
        self.mounted.file_system()
    }

    /// The device, or the name that the type shows in its place. Absent without `/proc`.
    #[must_use]
    pub fn source(&self) -> Option<&[u8]> {
        self.mounted.source()
    }

    /// Whether it is an overlay.
    ///
    /// Then the used bytes are those of the file system of its upper layer, or of its
    /// topmost layer if it has no upper one. The kernel does not tell the layer of an entry.
    #[must_use]
    pub fn is_overlay(&self) -> bool {
        self.mounted.is_overlay()
    }

    /// The upper layer of an overlay, as the mount options name it. The path may lead
    /// nowhere here, as in a container.
    #[must_use]
    pub fn upper_layer(&self) -> Option<PathBuf> {
        self.mounted.upper_layer()
    }

    /// The number of the file system, by which two paths on the same one are recognised.
    #[must_use]
    pub fn device(&self) -> u64 {
        self.mounted.device()
    }

    /// The scan that [`account`](Self::account) needs, with the sums of [`Totals`].
    ///
    /// It begins at the mount point that shows most of the file system, whatever path was
    /// given, and enters no mount. Of a btrfs it also scans the subvolumes that are mounted
    /// beside. The last roots are the directories that mounts cover, seen through a private
    /// copy of the mount: they need `CAP_SYS_ADMIN`.
    ///
    /// [`Totals`]: statwalk_core::Totals
    pub fn scan(&self) -> Scan {
        let covered = self.mounted.covered().iter().map(|covered| &covered.seen);
        let roots = self.mounted.shown().chain(covered);
        let scan = Scan::of(roots.cloned().collect::<Vec<PathBuf>>()).staying_on_mounts();
        // Without blocks, as in /proc, entries explain nothing.
        match self.has_blocks {
            true => scan,
            false => scan.max_depth(0),
        }
    }

    /// The part of [`scan`](Self::scan) that reads the directories below mount points, for a
    /// caller who has scanned the rest by [`MountCrossing::Stay`]: its totals follow those of
    /// the rest. Absent where no mount covers a directory.
    ///
    /// An inode can have a name in both: [`CountedInodes`] keep its bytes from counting
    /// twice.
    ///
    /// [`MountCrossing::Stay`]: statwalk_core::MountCrossing::Stay
    /// [`CountedInodes`]: statwalk_core::CountedInodes
    #[must_use]
    pub fn scan_of_hidden(&self) -> Option<Scan> {
        let covered = self.mounted.covered().iter().map(|covered| &covered.seen);
        let roots: Vec<PathBuf> = covered.cloned().collect();
        (!roots.is_empty()).then(|| Scan::of(roots).staying_on_mounts())
    }

    /// The bytes on disk that a scan by [`MountCrossing::Stay`] counts again, for files
    /// that are mounted on others.
    ///
    /// [`MountCrossing::Stay`]: statwalk_core::MountCrossing::Stay
    #[must_use]
    pub fn bytes_of_files_mounted_again(&self) -> u64 {
        self.mounted.bytes_again()
    }

    /// Explains the used bytes, by the totals of the scan, from [`Totals::new`].
    ///
    /// `report` is the one of that scan, or of the rest where
    /// [`scan_of_hidden`](Self::scan_of_hidden) gave the last totals.
    ///
    /// `extents` is the answer of [`extent_usage`](crate::btrfs::extent_usage) for the
    /// same scan, on a btrfs; without it compression and shared extents are unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the file system has gone away meanwhile.
    ///
    /// [`Totals::new`]: statwalk_core::Totals::new
    pub fn account(
        &self,
        totals: &[RootTotals],
        report: &Report,
        extents: Option<&ExtentUsage>,
    ) -> Result<SpaceAccount, Error> {
        let mut unknown = Vec::new();
        let (reached, covered) = totals.split_at(totals.len().min(self.mounted.shown().count()));
        let sum =
            |totals: &[RootTotals]| -> Option<u64> { totals.iter().map(allocated_bytes).sum() };
        let of_covered = |is_hidden: bool| -> Option<u64> {
            let all = self.mounted.covered().iter().zip(covered);
            let wanted = all.filter(|(covered, _)| covered.is_hidden == is_hidden);
            wanted.map(|(_, totals)| allocated_bytes(totals)).sum()
        };
        // A scan of the rest has entered the mounts that show them.
        let shown_again = match report.roots.len() < totals.len() {
            true => Some(0),
            false => of_covered(false),
        };
        let hidden_bytes = match self.mounted.obstacle() {
            None => of_covered(true),
            Some(reason) => {
                unknown.push(UnknownPart {
                    part: UsedPart::HiddenByMounts,
                    reason: reason.to_owned(),
                });
                None
            }
        };
        let nameless = self.nameless();
        let on_device = nameless.as_ref().and_then(|found| found.as_ref().ok());
        let (unnamed, unnamed_bytes) = self.unnamed(on_device, &mut unknown);
        let numbers = uninterrupted(|| statvfs(self.point()));
        let numbers = numbers
            .map_err(|errno| Error::io(Op::Stat, Some(self.point().to_owned()), errno.into()))?;
        if self.is_overlay() {
            return Ok(self.account_of_overlay(&numbers, unnamed, report));
        }
        let mut facts = Facts {
            used_bytes: used_bytes(&numbers),
            reached_bytes: sum(reached).zip(shown_again).map(|(a, b)| a + b),
            hidden_bytes,
            unnamed_bytes,
            ..Facts::default()
        };
        if !self.has_blocks {
            // The scan has stopped at the roots.
            (facts.reached_bytes, facts.hidden_bytes) = (None, None);
            unknown.push(UnknownPart {
                part: UsedPart::Reached,
                reason: "the kernel tells no size of this file system".into(),
            });
        }
        match (self.file_system(), &self.top) {
            (Some("xfs"), Some(top)) => {
                let device = self.mounted.device_encoded();
                own_space::of_xfs(top.as_fd(), device, &numbers, &mut facts, &mut unknown);
            }
            (Some("btrfs"), Some(top)) => {
                own_space::of_btrfs(top.as_fd(), extents, &mut facts, &mut unknown);
            }
            _ => {}
        }
        if let Some(found) = nameless {
            match found.and_then(|found| found.metadata_bytes(&numbers)) {
                Ok(bytes) => facts.metadata_bytes = Some(bytes),
                Err(reason) => unknown.push(UnknownPart {
                    part: UsedPart::Metadata,
                    reason,
                }),
            }
        }
        Ok(SpaceAccount {
            capacity: self.capacity(&numbers),
            changed_bytes: self.changed_bytes(&numbers),
            parts: parts(&facts),
            unknown,
            unreadable: report.sum().unreadable,
            unnamed,
            hidden: self.hidden(covered),
        })
    }

    /// The directories that no path shows, by the totals of their roots.
    fn hidden(&self, totals: &[RootTotals]) -> Vec<HiddenDirectory> {
        let all = self.mounted.covered().iter().zip(totals);
        let all = all.filter(|(covered, _)| covered.is_hidden);
        let mut all: Vec<HiddenDirectory> = all
            .filter_map(|(covered, totals)| {
                Some(HiddenDirectory {
                    point: covered.point.clone(),
                    within: covered.within.clone(),
                    allocated_bytes: allocated_bytes(totals)?,
                    // The directory itself is one.
                    entries: totals.entries.saturating_sub(1),
                })
            })
            .collect();
        all.sort_by(|a, b| {
            let by_size = b.allocated_bytes.cmp(&a.allocated_bytes);
            by_size.then_with(|| a.point.cmp(&b.point))
        });
        all
    }

    /// Explains an overlay. Its entries, and its deleted ones, can lie in any layer, and
    /// the used bytes are those of one file system. So no part of them is known.
    fn account_of_overlay(
        &self,
        numbers: &StatVfs,
        unnamed: Vec<UnnamedFile>,
        report: &Report,
    ) -> SpaceAccount {
        let facts = Facts {
            used_bytes: used_bytes(numbers),
            ..Facts::default()
        };
        let mut covered = self.mounted.covered().iter();
        let hidden = covered
            .any(|covered| covered.is_hidden)
            .then_some(UsedPart::HiddenByMounts);
        let lacking = [UsedPart::Reached, UsedPart::DeletedOpen]
            .into_iter()
            .chain(hidden);
        let unknown = lacking.map(|part| UnknownPart {
            part,
            reason: "the kernel does not tell the layer of an entry".into(),
        });
        SpaceAccount {
            capacity: self.capacity(numbers),
            changed_bytes: self.changed_bytes(numbers),
            parts: parts(&facts),
            unknown: unknown.collect(),
            unreadable: report.sum().unreadable,
            unnamed,
            hidden: Vec::new(),
        }
    }

    /// The change of the used bytes since [`holding`](Self::holding).
    fn changed_bytes(&self, numbers: &StatVfs) -> i64 {
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        signed(used_bytes(numbers)) - signed(self.used_before)
    }

    /// The files without a name, and the sum of their blocks. The sum is not known where
    /// neither all processes can be seen nor the file system has a list of such files.
    fn unnamed(
        &self,
        nameless: Option<&Nameless<impl Bytes>>,
        unknown: &mut Vec<UnknownPart>,
    ) -> (Vec<UnnamedFile>, Option<u64>) {
        // Before the processes: one that ends meanwhile takes its files along.
        let unlinked: Option<Vec<Unlinked>> = nameless.and_then(|found| found.unlinked());
        let belonging = Belonging {
            device: self.mounted.device(),
            mounts: self.mounted.mount_ids(),
        };
        let (mut files, lack) = match open_files::find(&belonging) {
            Ok(found) => {
                let hidden = found.hidden_processes;
                let lack = format!("needs CAP_SYS_PTRACE for {hidden} more processes");
                (Some(found.files), (hidden > 0).then_some(lack))
            }
            Err(error) => (None, Some(format!("needs /proc: {error}"))),
        };
        match unlinked {
            Some(unlinked) => {
                let files = files.get_or_insert_default();
                let mut unseen = open_files::unseen(files, &unlinked);
                if !unseen.is_empty()
                    && let Some(now) = nameless.and_then(|found| found.unlinked())
                {
                    // Others were closed before their process was looked at.
                    let still: HashSet<u64> = now.iter().map(|file| file.inode).collect();
                    unseen.retain(|file| still.contains(&file.inode));
                }
                open_files::add(files, &unseen);
            }
            None => unknown.extend(lack.map(|reason| UnknownPart {
                part: UsedPart::DeletedOpen,
                reason,
            })),
        }
        let sum = files.as_ref().map(|files| {
            let bytes = files.iter().map(|file| file.allocated_bytes);
            bytes.fold(0, u64::saturating_add)
        });
        (files.unwrap_or_default(), sum)
    }

    /// The space of an ext4 that no name leads to. Its list of deleted files has those,
    /// too, that the kernel holds and no process: behind a loop device, or as swap space.
    ///
    /// Absent where it is no ext4. Without the right to read the device, processes alone
    /// know deleted files, and the own blocks of the file system are not known.
    fn nameless(&self) -> Option<Result<Nameless<impl Bytes>, String>> {
        let is_ext = matches!(self.file_system(), Some("ext2" | "ext3" | "ext4"));
        let number = self.mounted.device_text().filter(|_| is_ext)?;
        let Some(top) = &self.top else {
            return Some(Err("needs the right to read its topmost directory".into()));
        };
        let opened = nameless::open(number, top.as_fd(), &self.point().to_string_lossy());
        Some(opened.map_err(|not| not.to_string()))
    }

    fn capacity(&self, numbers: &StatVfs) -> Capacity {
        let bytes = |blocks: u64| blocks.saturating_mul(numbers.f_frsize);
        let total_inodes = (numbers.f_files > 0).then_some(numbers.f_files);
        let used_inodes = total_inodes.and_then(|total| total.checked_sub(numbers.f_ffree));
        Capacity {
            device_bytes: self.mounted.device_bytes(),
            total_bytes: bytes(numbers.f_blocks),
            used_bytes: used_bytes(numbers),
            free_bytes: bytes(numbers.f_bfree),
            reserved_bytes: bytes(numbers.f_bfree.saturating_sub(numbers.f_bavail)),
            used_inodes,
            total_inodes: total_inodes.filter(|_| used_inodes.is_some()),
        }
    }
}

/// The space that a root takes; absent where the scan read no sizes.
fn allocated_bytes(totals: &RootTotals) -> Option<u64> {
    let sizes = totals.sizes?;
    Some(u64::try_from(sizes.allocated_bytes).unwrap_or(u64::MAX))
}

/// The used bytes, as df counts them.
fn used_bytes(numbers: &StatVfs) -> u64 {
    let blocks = numbers.f_blocks.saturating_sub(numbers.f_bfree);
    blocks.saturating_mul(numbers.f_frsize)
}
