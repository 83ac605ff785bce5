// SPDX-License-Identifier: MIT OR Apache-2.0

//! The reasons for the choices of a scan.

use std::fmt;
use std::io;
use std::time::Duration;

/// A reason for a choice of a scan, as its [`Plan`](crate::Plan) has it.
///
/// Its [`code`](Self::code) is for programs, its text for people.
///
/// ```
/// use statwalk_core::{Reason, Scan, Totals};
///
/// let outcome = Scan::new("src").threads(1).run(&Totals::new())?;
/// assert!(outcome.report.plan.why.contains(&Reason::WorkersAskedFor(1)));
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel has no openat2(2).
    NoOpenat2,
    /// statx(2) of this kernel gives no mount ids.
    NoMountIds {
        /// Whether it has openat2(2), which sees mounts all the same.
        has_openat2: bool,
    },
    /// The kernel has no statx(2), or a filter of system calls refuses it.
    NoStatx {
        /// Whether it has openat2(2), which sees mounts all the same.
        has_openat2: bool,
    },
    /// An option of [`Calls`](crate::tuning::Calls) that is not its default.
    AskedFor(String),
    /// The sink wants no more than names and types.
    TypesAlone,
    /// The order [`Recursive`](crate::Order::Recursive) has one call stack.
    OneCallStack,
    /// The caller chose the number of workers.
    WorkersAskedFor(usize),
    /// The order has a number of workers of its own.
    WorkersOfOrder {
        /// The name of the order.
        order: &'static str,
        /// Their number.
        workers: usize,
    },
    /// There are as many workers as processors, and more while they wait.
    WorkersByProcessors {
        /// The number of processors.
        processors: usize,
        /// The most workers that there can be.
        workers_max: usize,
    },
    /// The limit of open files allows only so many workers.
    FewDescriptors {
        /// The most workers that there can be.
        workers_max: usize,
        /// How many more files the process may open.
        free: usize,
    },
    /// The number of workers rose, because they waited.
    MoreWorkers {
        /// Their number at the beginning.
        from: usize,
        /// The largest number.
        to: usize,
        /// The share of their time for which they waited.
        waited_percent: u32,
    },
    /// Workers waited, and a larger number was not faster.
    MoreWorkersNoFaster {
        /// The number that remained.
        workers: usize,
    },
    /// A file system was left to the kernel.
    NotInPlace(NotInPlace),
    /// Directories of a mounted ext4 were read in place.
    Ext4InPlace {
        /// The device.
        device: String,
        /// How many directories.
        dirs: u64,
        /// How many directories the kernel was asked for.
        dirs_by_kernel: u64,
        /// How many files the kernel was asked for.
        files_by_kernel: u64,
    },
    /// Directories of an image were read in place.
    ImageInPlace {
        /// The image.
        image: String,
        /// How many directories.
        dirs: u64,
    },
    /// The journal of an image was not replayed.
    JournalNotReplayed {
        /// The image.
        image: String,
    },
    /// An image is shorter than its file system.
    CutImage {
        /// The image.
        image: String,
    },
    /// Inode tables and directories of a cold disk were read first, in its order.
    ReadAhead {
        /// The device.
        device: String,
        /// How much.
        bytes: u64,
    },
    /// Directories of a btrfs were read in place.
    BtrfsInPlace {
        /// The mount point.
        mount: String,
        /// How many directories.
        dirs: u64,
        /// How many searches of its trees there were.
        searches: u64,
        /// How many directories the kernel was asked for.
        dirs_by_kernel: u64,
        /// How many entries the kernel was asked for.
        entries_by_kernel: u64,
    },
    /// A btrfs was synced before it was read in place.
    Synced {
        /// The mount point.
        mount: String,
        /// How long that took.
        time: Duration,
        /// The generation that the answer is at least of.
        generation: u64,
    },
    /// An ext4 was synced before it was read in place.
    Ext4Synced {
        /// The device.
        device: String,
        /// How long that took.
        time: Duration,
    },
    /// A file system is mounted twice below a root.
    MountedTwice,
    /// The table of mounts cannot be read.
    MountsUnknown,
}

/// Why a file system was left to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInPlace {
    /// The kind of obstacle.
    pub obstacle: Obstacle,
    text: String,
}

/// The kind of obstacle to reading a file system in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The caller chose how the kernel is to be asked.
    Calls,
    /// The process lacks a right, or must not use it.
    Privilege,
    /// The source does not read file systems of this type.
    OtherType,
    /// The mount is not what it seems, or has an option that forbids it.
    Mount,
    /// It would have to be synced, and the caller refuses that.
    SyncRefused,
    /// It would have to be synced, and too much waits to be written.
    Unwritten,
    /// The device or its file system cannot be read.
    Unreadable,
}

impl Reason {
    /// A short name for programs, which stays the same.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Reason::NoOpenat2 => "no-openat2",
            Reason::NoMountIds { .. } => "no-mount-ids",
            Reason::NoStatx { .. } => "no-statx",
            Reason::AskedFor(_) => "asked-for",
            Reason::TypesAlone => "types-alone",
            Reason::OneCallStack => "one-call-stack",
            Reason::WorkersAskedFor(_) => "workers-asked-for",
            Reason::WorkersOfOrder { .. } => "workers-of-order",
            Reason::WorkersByProcessors { .. } => "workers-by-processors",
            Reason::FewDescriptors { .. } => "few-descriptors",
            Reason::MoreWorkers { .. } => "more-workers",
            Reason::MoreWorkersNoFaster { .. } => "more-workers-no-faster",
            Reason::NotInPlace(not) => match not.obstacle {
                Obstacle::Calls => "not-in-place-calls",
                Obstacle::Privilege => "not-in-place-privilege",
                Obstacle::OtherType => "not-in-place-other-type",
                Obstacle::Mount => "not-in-place-mount",
                Obstacle::SyncRefused => "not-in-place-sync-refused",
                Obstacle::Unwritten => "not-in-place-unwritten",
                Obstacle::Unreadable => "not-in-place-unreadable",
            },
            Reason::Ext4InPlace { .. } => "ext4-in-place",
            Reason::ImageInPlace { .. } => "image-in-place",
            Reason::JournalNotReplayed { .. } => "journal-not-replayed",
            Reason::CutImage { .. } => "cut-image",
            Reason::ReadAhead { .. } => "read-ahead",
            Reason::BtrfsInPlace { .. } => "btrfs-in-place",
            Reason::Synced { .. } | Reason::Ext4Synced { .. } => "synced",
            Reason::MountedTwice => "mounted-twice",
            Reason::MountsUnknown => "mounts-unknown",
        }
    }
}

/// The loss without mount ids.
fn by_device_number(has_openat2: bool) -> &'static str {
    match has_openat2 {
        true => "the device number alone tells whether a file is mounted",
        false => {
            "the device number alone tells mounts apart, so a bind mount is entered and a nested \
             btrfs subvolume is a crossing"
        }
    }
}

fn directories_were(count: u64) -> String {
    match count {
        1 => "1 directory was".to_owned(),
        count => format!("{count} directories were"),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoOpenat2 => f.write_str(
                "openat2 is not there (Linux 5.6): each directory costs two more stats to find \
                 crossings",
            ),
            Reason::NoMountIds { has_openat2 } => write!(
                f,
                "statx gives no mount id (Linux 5.8): {}",
                by_device_number(*has_openat2)
            ),
            Reason::NoStatx { has_openat2 } => write!(
                f,
                "statx is refused or not there (Linux 4.11): fstatat gives no birth time, no mount \
                 id and no sign of an automount point; {}",
                by_device_number(*has_openat2)
            ),
            Reason::AskedFor(option) => write!(f, "asked for: {option}"),
            Reason::TypesAlone => f.write_str(
                "no more than types is wanted: nothing is stat'ed where the listing gives types, \
                 and directories that change while they are read are not noticed",
            ),
            Reason::OneCallStack => f.write_str("one worker: recursion has one call stack"),
            Reason::WorkersAskedFor(workers) => write!(f, "{workers} workers were asked for"),
            Reason::WorkersOfOrder { order, workers } => {
                write!(f, "{workers} workers, the default of {order}")
            }
            Reason::WorkersByProcessors {
                processors,
                workers_max,
            } => write!(
                f,
                "as many workers as processors: {processors}; up to {workers_max} while they wait"
            ),
            Reason::FewDescriptors { workers_max, free } => write!(
                f,
                "{workers_max} workers at most: only {free} files may be opened"
            ),
            Reason::MoreWorkers {
                from,
                to,
                waited_percent,
            } => write!(
                f,
                "workers rose from {from} to {to}, because they waited for {waited_percent} % of \
                 their time"
            ),
            Reason::MoreWorkersNoFaster { workers } => {
                write!(f, "workers waited, but more than {workers} brought nothing")
            }
            Reason::NotInPlace(not) => write!(f, "not read in place: {not}"),
            Reason::Ext4InPlace {
                device,
                dirs,
                dirs_by_kernel,
                files_by_kernel,
            } => write!(
                f,
                "{device}: {} read in place; the kernel was asked for \
                 {dirs_by_kernel} that changed, hold mounts or did not check out, and for \
                 {files_by_kernel} files that changed lately; checksums of inodes and indexes \
                 of directories were not compared",
                directories_were(*dirs)
            ),
            Reason::ImageInPlace { image, dirs } => {
                let dirs = directories_were(*dirs);
                write!(
                    f,
                    "{image}: {dirs} read in place; indexes of directories were not compared"
                )
            }
            Reason::JournalNotReplayed { image } => write!(
                f,
                "{image}: its journal was not replayed, what was written last may be missing or \
                 half done"
            ),
            Reason::CutImage { image } => write!(f, "{image}: it is shorter than its file system"),
            Reason::ReadAhead { device, bytes } => write!(
                f,
                "{device}: it was not in memory and turns, so its inode tables and directories \
                 were read first, in their order: {} MiB",
                bytes >> 20
            ),
            Reason::BtrfsInPlace {
                mount,
                dirs,
                searches,
                dirs_by_kernel,
                entries_by_kernel,
            } => write!(
                f,
                "{mount}: {} read in place, by {searches} searches of its \
                 trees; the kernel was asked for {dirs_by_kernel} that changed, begin a subvolume \
                 or hold mounts, and for {entries_by_kernel} entries that changed meanwhile",
                directories_were(*dirs)
            ),
            Reason::Synced {
                mount,
                time,
                generation,
            } => write!(
                f,
                "{mount}: it was synced first, in {:.3} s; the answer is that of generation \
                 {generation} or later",
                time.as_secs_f64()
            ),
            Reason::Ext4Synced { device, time } => write!(
                f,
                "{device}: it was synced first, in {:.3} s",
                time.as_secs_f64()
            ),
            Reason::MountedTwice => f.write_str(
                "a file system is mounted twice below a root: its directories were remembered, so \
                 that each is listed once",
            ),
            Reason::MountsUnknown => f.write_str(
                "the table of mounts cannot be read: all directories were remembered, so that each \
                 is listed once",
            ),
        }
    }
}

impl Obstacle {
    pub(crate) fn because(self, text: impl Into<String>) -> NotInPlace {
        NotInPlace {
            obstacle: self,
            text: text.into(),
        }
    }
}

impl fmt::Display for NotInPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for NotInPlace {}

impl From<NotInPlace> for io::Error {
    fn from(not: NotInPlace) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidInput, not)
    }
}
