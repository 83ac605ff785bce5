// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items that are never removed, by rules on known facts.

use std::fmt;

use statwalk_sys::kernel_file_systems;
use statwalk_sys::mount_table::{Mount, is_within};
use statwalk_view::{Charset, escape};

use crate::failure::Cause;
use crate::item::Item;
use crate::mount_index::MountIndex;
use crate::path::is_plain;
use crate::surroundings::Surroundings;

/// Further file systems without data of a user, by their names in the mount table. A scan
/// counts what is in them: nodes of devices, queues of messages, and mount points.
const NEVER_REMOVED: [&str; 3] = ["devtmpfs", "mqueue", "autofs"];

/// The reason why an item is not removed. Its text names the path and the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The path is relative, or holds `.`, `..` or an empty name.
    NotPlain {
        /// The item.
        path: Vec<u8>,
    },
    /// The root of the file system.
    Root,
    /// The home directory, or a directory above it.
    HoldsHome {
        /// The item.
        path: Vec<u8>,
        /// The home directory.
        home: Vec<u8>,
    },
    /// The working directory, or a directory above it.
    HoldsWorkingDirectory {
        /// The item.
        path: Vec<u8>,
        /// The working directory.
        working_directory: Vec<u8>,
    },
    /// `/`, the home, the working directory or a directory above, by another path.
    Protected {
        /// The item.
        path: Vec<u8>,
    },
    /// Something is mounted there.
    MountPoint {
        /// The item.
        path: Vec<u8>,
    },
    /// Something is mounted within the item.
    HoldsMount {
        /// The item.
        path: Vec<u8>,
        /// The mount point.
        mount: Vec<u8>,
    },
    /// The item lies on a file system of the kernel, or in no known mount.
    KernelFileSystem {
        /// The item.
        path: Vec<u8>,
        /// The type of the file system.
        file_system: String,
    },
    /// The item lies on a read-only mount.
    ReadOnly {
        /// The item.
        path: Vec<u8>,
        /// The mount point.
        mount: Vec<u8>,
    },
    /// The item is or holds a file that the program needs.
    Kept {
        /// The item.
        path: Vec<u8>,
        /// The file.
        file: Vec<u8>,
    },
    /// The root of the scan is gone, or another one stands at its path.
    RootChanged {
        /// The item.
        path: Vec<u8>,
        /// The root.
        root: Vec<u8>,
    },
    /// The user named the root by a symbolic link, and the item is that root.
    RootByLink {
        /// The root, without the link.
        path: Vec<u8>,
    },
    /// A symbolic link is the item, or leads there; the scan met none, or has followed it.
    BehindLink {
        /// The item.
        path: Vec<u8>,
        /// The link.
        link: Vec<u8>,
    },
    /// The item, or a directory above it, is not the one that the scan met.
    Replaced {
        /// The item.
        path: Vec<u8>,
        /// The entry that is another one.
        at: Vec<u8>,
    },
    /// The item is not the one that the user has marked.
    ReplacedAfterMark {
        /// The item.
        path: Vec<u8>,
    },
    /// The file system gives one inode another number at each look, so nothing on it can be
    /// known again. [By name](crate::Removal::by_name) the item can go.
    MovingNumbers {
        /// The item.
        path: Vec<u8>,
    },
    /// Inode numbers moved when the user was asked, and hold now.
    NumbersHold {
        /// The item.
        path: Vec<u8>,
    },
    /// The item cannot be looked at.
    Unseen {
        /// The item.
        path: Vec<u8>,
        /// The error number of the kernel.
        errno: i32,
    },
    /// No trash lies on the item's file system, and a trash elsewhere would need a copy.
    NoTrash {
        /// The item.
        path: Vec<u8>,
    },
    /// The kernel renames no directory of a lower layer of an overlay without redirects.
    LowerLayer {
        /// The item.
        path: Vec<u8>,
    },
    /// The directory of the trash belongs to another user, or others can write it.
    UnsafeTrash {
        /// The item.
        path: Vec<u8>,
        /// The directory.
        trash: Vec<u8>,
    },
    /// The trash cannot be made, or takes no file.
    TrashFails {
        /// The item.
        path: Vec<u8>,
        /// The directory.
        trash: Vec<u8>,
        /// The error number of the kernel.
        errno: i32,
    },
    /// The item is the trash, one of its two directories, or holds it.
    HoldsTrash {
        /// The item.
        path: Vec<u8>,
        /// The directory of the trash.
        trash: Vec<u8>,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path| escape(path, Charset::Unicode);
        match self {
            Refusal::NotPlain { path } => {
                write!(f, "{} is no plain absolute path", shown(path))
            }
            Refusal::Root => write!(f, "/ is the root of the file system"),
            Refusal::HoldsHome { path, home } if path == home => {
                write!(f, "{} is the home directory", shown(path))
            }
            Refusal::HoldsHome { path, home } => {
                write!(
                    f,
                    "{} holds the home directory {}",
                    shown(path),
                    shown(home)
                )
            }
            Refusal::HoldsWorkingDirectory {
                path,
                working_directory,
            } if path == working_directory => {
                write!(f, "{} is the working directory", shown(path))
            }
            Refusal::HoldsWorkingDirectory {
                path,
                working_directory,
            } => write!(
                f,
                "{} holds the working directory {}",
                shown(path),
                shown(working_directory)
            ),
            Refusal::Protected { path } => write!(
                f,
                "{} is another path of the root, the home or the working directory",
                shown(path)
            ),
            Refusal::MountPoint { path } => write!(f, "{} is a mount point", shown(path)),
            Refusal::HoldsMount { path, mount } => {
                write!(f, "{} holds the mount point {}", shown(path), shown(mount))
            }
            Refusal::KernelFileSystem { path, file_system } => write!(
                f,
                "{} lies on {}, a file system of the kernel",
                shown(path),
                shown(file_system.as_bytes())
            ),
            Refusal::ReadOnly { path, mount } => write!(
                f,
                "{} lies on the read-only mount {}",
                shown(path),
                shown(mount)
            ),
            Refusal::Kept { path, file } if path == file => {
                write!(f, "statwalk uses {}", shown(path))
            }
            Refusal::Kept { path, file } => {
                write!(
                    f,
                    "{} holds {}, which statwalk uses",
                    shown(path),
                    shown(file)
                )
            }
            Refusal::RootChanged { path, root } => write!(
                f,
                "{} was moved or replaced after the scan, so {} stays",
                shown(root),
                shown(path)
            ),
            Refusal::RootByLink { path } => write!(
                f,
                "{} is a root by a symbolic link, so it stays; name it without the link to \
                 remove it",
                shown(path)
            ),
            Refusal::BehindLink { path, link } if path == link => write!(
                f,
                "{} is a symbolic link, but the scan has read something else",
                shown(path)
            ),
            Refusal::BehindLink { path, link } => {
                write!(
                    f,
                    "{} lies behind the symbolic link {}",
                    shown(path),
                    shown(link)
                )
            }
            Refusal::Replaced { path, at } if path == at => {
                write!(f, "{} was replaced after the scan", shown(path))
            }
            Refusal::Replaced { path, at } => write!(
                f,
                "{}, which holds {}, was replaced after the scan",
                shown(at),
                shown(path)
            ),
            Refusal::ReplacedAfterMark { path } => {
                write!(f, "{} was replaced after it was marked", shown(path))
            }
            Refusal::MovingNumbers { path } => write!(
                f,
                "the file system of {} gives an entry another inode number at each look, \
                 so statwalk cannot know it again",
                shown(path)
            ),
            Refusal::NumbersHold { path } => write!(
                f,
                "the inode numbers around {} moved before and hold now: mark it again",
                shown(path)
            ),
            Refusal::Unseen { path, errno } => {
                let reason = Cause::Errno(*errno);
                write!(f, "cannot stat {}: {reason}", shown(path))
            }
            Refusal::NoTrash { path } => write!(
                f,
                "the file system of {} has no trash; another trash would need a copy",
                shown(path)
            ),
            Refusal::LowerLayer { path } => write!(
                f,
                "{} lies in a lower layer of an overlay, and the kernel does not move it: \
                 only a removal for good is possible",
                shown(path)
            ),
            Refusal::UnsafeTrash { path, trash } => write!(
                f,
                "the trash {} for {} is another user's, or others can write it",
                shown(trash),
                shown(path)
            ),
            Refusal::TrashFails { path, trash, errno } => write!(
                f,
                "the trash {} for {} does not work: {}",
                shown(trash),
                shown(path),
                Cause::Errno(*errno)
            ),
            Refusal::HoldsTrash { path, trash } if path == trash => {
                write!(f, "{} is the trash", shown(path))
            }
            Refusal::HoldsTrash { path, trash } => {
                write!(
                    f,
                    "{} holds or is a part of the trash {}",
                    shown(path),
                    shown(trash)
                )
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// Says why an item must not be removed, if so. No I/O: the facts are `surroundings`.
///
/// # Examples
///
/// ```
/// use statwalk_remove::{EntryType, Identity, Item, Surroundings, refusal};
///
/// let directory = Identity { device: 1, inode: 2, entry_type: EntryType::Directory, mtime_s: 0, mtime_ns: 0 };
/// let surroundings = Surroundings { home: Some(b"/home/kim".to_vec()), ..Surroundings::default() };
/// let refused = refusal(&Item::new("/home", directory), &surroundings).unwrap();
/// assert_eq!(refused.to_string(), "/home holds the home directory /home/kim");
/// ```
#[must_use]
pub fn refusal(item: &Item, surroundings: &Surroundings) -> Option<Refusal> {
    refusal_of(item, surroundings, &MountIndex::of(&surroundings.mounts))
}

/// The same, with the places of its mounts.
pub(crate) fn refusal_of(
    item: &Item,
    surroundings: &Surroundings,
    index: &MountIndex,
) -> Option<Refusal> {
    let path = item.path().to_vec();
    if path == b"/" {
        return Some(Refusal::Root);
    }
    if !is_plain(&path) {
        return Some(Refusal::NotPlain { path });
    }
    if let Some(home) = &surroundings.home
        && is_within(home, &path)
    {
        let home = home.clone();
        return Some(Refusal::HoldsHome { path, home });
    }
    if let Some(directory) = &surroundings.working_directory
        && is_within(directory, &path)
    {
        let working_directory = directory.clone();
        return Some(Refusal::HoldsWorkingDirectory {
            path,
            working_directory,
        });
    }
    let identity = item.identity();
    if (surroundings.protected).contains(&(identity.device, identity.inode)) {
        return Some(Refusal::Protected { path });
    }
    if item.is_known_by_name() && has_second_way(identity.device, surroundings) {
        return Some(Refusal::Protected { path });
    }
    if let Some(file) = surroundings.kept.iter().find(|file| is_within(file, &path)) {
        let file = file.clone();
        return Some(Refusal::Kept { path, file });
    }
    by_mounts(path, &surroundings.mounts, index)
}

/// Says whether a directory that is never removed lies on a file system that is mounted more
/// than once. Where inode numbers move, only its path tells which one it is.
fn has_second_way(device: u64, surroundings: &Surroundings) -> bool {
    let is_on = |mount: &&Mount| mount.device_number() == Some(device);
    let mut protected = surroundings.protected.iter();
    protected.any(|(own, _)| *own == device) && surroundings.mounts.iter().filter(is_on).count() > 1
}

fn by_mounts(path: Vec<u8>, mounts: &[Mount], index: &MountIndex) -> Option<Refusal> {
    if index.at(&path, mounts).is_some() {
        return Some(Refusal::MountPoint { path });
    }
    if let Some(mount) = index.below(&path, mounts) {
        let mount = mount.point.clone();
        return Some(Refusal::HoldsMount { path, mount });
    }
    let own = index.own(&path, mounts)?;
    let file_system = own.file_system.as_str();
    if kernel_file_systems::has(file_system) || NEVER_REMOVED.contains(&file_system) {
        let file_system = file_system.to_owned();
        return Some(Refusal::KernelFileSystem { path, file_system });
    }
    if own.has_option("ro") {
        let mount = own.point.clone();
        return Some(Refusal::ReadOnly { path, mount });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{EntryType, Identity};

    fn check(path: &str, expected: Option<&str>) {
        let table = b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
            2 1 0:5 / /proc rw - proc proc rw\n\
            3 1 8:2 / /data/disk rw - xfs /dev/sdb rw\n\
            4 1 8:3 / /cdrom ro - iso9660 /dev/sr0 ro\n\
            5 1 0:9 / /dev rw - devtmpfs dev rw\n\
            6 5 0:10 / /dev/shm rw - tmpfs shm rw\n";
        let surroundings = Surroundings {
            mounts: statwalk_sys::mount_table::parse(table),
            home: Some(b"/home/kim".to_vec()),
            working_directory: Some(b"/srv/work/here".to_vec()),
            kept: vec![b"/srv/scans/last".to_vec()],
            protected: vec![(7, 77)],
            user: 1,
        };
        let inode = if path == "/again" { 77 } else { 78 };
        let identity = Identity {
            device: 7,
            inode,
            entry_type: EntryType::Directory,
            mtime_s: 0,
            mtime_ns: 0,
        };
        let found = refusal(&Item::new(path, identity), &surroundings);
        let found = found.map(|refusal| refusal.to_string());
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn refused_items() {
        check("/", Some("/ is the root of the file system"));
        check("a", Some("a is no plain absolute path"));
        check("/a/../b\n", Some(r"/a/../b\n is no plain absolute path"));
        check("/home/kim", Some("/home/kim is the home directory"));
        check("/home", Some("/home holds the home directory /home/kim"));
        check(
            "/srv/work/here",
            Some("/srv/work/here is the working directory"),
        );
        check(
            "/srv/work",
            Some("/srv/work holds the working directory /srv/work/here"),
        );
        check(
            "/again",
            Some("/again is another path of the root, the home or the working directory"),
        );
        check("/srv/scans/last", Some("statwalk uses /srv/scans/last"));
        check(
            "/srv/scans",
            Some("/srv/scans holds /srv/scans/last, which statwalk uses"),
        );
        check("/data/disk", Some("/data/disk is a mount point"));
        check("/data", Some("/data holds the mount point /data/disk"));
        check(
            "/proc/1",
            Some("/proc/1 lies on proc, a file system of the kernel"),
        );
        check(
            "/dev/null",
            Some("/dev/null lies on devtmpfs, a file system of the kernel"),
        );
        check(
            "/cdrom/file",
            Some("/cdrom/file lies on the read-only mount /cdrom"),
        );
    }

    /// Eight times as many mounts and items take at most 24 times as long.
    #[test]
    fn time_does_not_grow_with_mounts_times_items() {
        let time_of = |count: u64| {
            let line = |id| format!("{id} 0 8:{id} / /m/{id} rw - tmpfs tmpfs rw\n");
            let table: String = (0..count).map(line).collect();
            let surroundings = Surroundings {
                mounts: statwalk_sys::mount_table::parse(table.as_bytes()),
                ..Surroundings::default()
            };
            let identity = Identity {
                device: 1,
                inode: 1,
                entry_type: EntryType::File,
                mtime_s: 0,
                mtime_ns: 0,
            };
            let items = (0..count).map(|id| Item::new(format!("/m/{id}/x"), identity));
            let items: Vec<Item> = items.collect();
            let times = (0..3).map(|_| {
                let clock = rustix::time::ClockId::ThreadCPUTime;
                let begin = rustix::time::clock_gettime(clock);
                let index = MountIndex::of(&surroundings.mounts);
                let mut refusals = items.iter();
                assert!(refusals.all(|item| refusal_of(item, &surroundings, &index).is_none()));
                let end = rustix::time::clock_gettime(clock);
                (end.tv_sec - begin.tv_sec) * 1_000_000_000 + end.tv_nsec - begin.tv_nsec
            });
            times.min().unwrap_or_default()
        };
        let (some, many) = (time_of(1_000), time_of(8_000));
        assert!(many < some * 24, "{some} ns, {many} ns");
    }

    #[test]
    fn allowed_items() {
        for path in [
            "/home/kim/x",
            "/home/kimono",
            "/srv/work/here/x",
            "/data/disk/x",
            "/data/disks",
            "/dev/shm/x",
            "/procs",
        ] {
            check(path, None);
        }
    }
}
