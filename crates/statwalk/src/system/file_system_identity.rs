// SPDX-License-Identifier: MIT OR Apache-2.0

//! The identity of a file system: the same after each boot, where there is one.
//!
//! Device numbers are given anew at each boot. A UUID stays, and so does the server's name of a
//! network file system. Where there is neither, the number that statvfs gives stands for it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfs, major, minor, statvfs};
use statwalk_sys::mount_table::{self, Mount};

/// The links that udev makes, of the UUIDs of file systems to their devices.
const BY_UUID: &str = "/dev/disk/by-uuid";

/// A file system that is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountedFileSystem {
    /// Its type and its UUID, or what stands for it.
    pub(crate) identity: String,
    /// Its type, such as `ext4`.
    pub(crate) kind: String,
    /// Where it is mounted.
    pub(crate) point: Vec<u8>,
}

/// The mounted file systems, as they are at one time.
#[derive(Debug, Default)]
pub(crate) struct MountedFileSystems {
    mounts: Vec<Mount>,
    /// By the numbers of their devices.
    uuids: HashMap<u64, String>,
}

impl MountedFileSystems {
    /// Those of now. Where the mount table cannot be read, there is none.
    pub(crate) fn now() -> MountedFileSystems {
        let mut mounts: Vec<Mount> = Vec::new();
        for mount in mount_table::read().unwrap_or_default() {
            // A later mount at the same place covers an earlier one.
            mounts.retain(|other| other.point != mount.point);
            mounts.push(mount);
        }
        MountedFileSystems {
            mounts,
            uuids: uuids(Path::new(BY_UUID)),
        }
    }

    /// The file system that holds a real path.
    pub(crate) fn holding(&self, real: &Path) -> Option<MountedFileSystem> {
        let above = self.mounts.iter().filter(|mount| {
            let point = Path::new(std::ffi::OsStr::from_bytes(&mount.point));
            real.starts_with(point)
        });
        let mount = above.max_by_key(|mount| mount.point.len())?;
        Some(self.of(mount))
    }

    /// The file system of a device number. A nested subvolume of a btrfs has a number that no
    /// mount has.
    pub(crate) fn of_device(&self, device: u64) -> Option<MountedFileSystem> {
        let name = format!("{}:{}", major(device), minor(device));
        let mount = self.mounts.iter().find(|mount| mount.device == name)?;
        Some(self.of(mount))
    }

    /// The mount points at or below a path.
    pub(crate) fn points_below(&self, real: &Path) -> Vec<PathBuf> {
        let points = self
            .mounts
            .iter()
            .map(|mount| PathBuf::from(std::ffi::OsStr::from_bytes(&mount.point)));
        points.filter(|point| point.starts_with(real)).collect()
    }

    fn of(&self, mount: &Mount) -> MountedFileSystem {
        let point = Path::new(std::ffi::OsStr::from_bytes(&mount.point));
        let facts = Facts {
            // Each subvolume has inode numbers of its own. The number of statvfs is made of the
            // UUID and the subvolume (btrfs_statfs, fs/btrfs/super.c of Linux 6.18).
            uuid: self.uuid(mount).filter(|_| mount.file_system != "btrfs"),
            source: &mount.source,
            number: || statvfs(point).map_or(0, |counts: StatVfs| counts.f_fsid),
        };
        MountedFileSystem {
            identity: format!("{}-{}", mount.file_system, facts.identity()),
            kind: mount.file_system.clone(),
            point: mount.point.clone(),
        }
    }

    fn uuid(&self, mount: &Mount) -> Option<&str> {
        let (major, minor) = mount.device.split_once(':')?;
        let number = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
        self.uuids.get(&number).map(String::as_str)
    }
}

/// The facts that an identity is made of.
struct Facts<'a, F: FnOnce() -> u64> {
    uuid: Option<&'a str>,
    source: &'a [u8],
    /// The number of statvfs, which is asked only where nothing better is known.
    number: F,
}

impl<F: FnOnce() -> u64> Facts<'_, F> {
    fn identity(self) -> String {
        if let Some(uuid) = self.uuid {
            return format!("uuid-{uuid}");
        }
        let source = String::from_utf8_lossy(self.source).into_owned();
        // A server names what it gives, as `box:/srv` or `//box/srv`.
        if source.contains(':') || source.starts_with("//") {
            return format!("source-{source}");
        }
        match (self.number)() {
            0 => format!("source-{source}"),
            number => format!("fsid-{number:016x}"),
        }
    }
}

/// The UUIDs in a folder of links, by the numbers of the devices that they lead to.
fn uuids(folder: &Path) -> HashMap<u64, String> {
    let links = fs::read_dir(folder).into_iter().flatten().flatten();
    let known = links.filter_map(|link| {
        let device = fs::metadata(link.path()).ok()?.rdev();
        let uuid = link.file_name().into_string().ok()?;
        (device != 0).then_some((device, uuid))
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_comes_before_a_source_and_that_before_a_number() {
        let identity = |uuid, source: &str, number| {
            let facts = Facts {
                uuid,
                source: source.as_bytes(),
                number: || number,
            };
            facts.identity()
        };
        assert_eq!(identity(Some("c0ff-ee"), "/dev/sda1", 7), "uuid-c0ff-ee");
        assert_eq!(identity(None, "box:/srv", 7), "source-box:/srv");
        assert_eq!(identity(None, "//box/srv", 7), "source-//box/srv");
        assert_eq!(identity(None, "/dev/sda1", 7), "fsid-0000000000000007");
        assert_eq!(identity(None, "tmpfs", 0), "source-tmpfs");
    }

    #[test]
    fn the_working_directory_lies_on_a_file_system() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let mounted = MountedFileSystems::now();
        let holding = mounted.holding(&here).unwrap();
        assert_eq!(mounted.holding(&here), Some(holding.clone()));
        assert!(holding.identity.starts_with(&holding.kind), "{holding:?}");
        let device = fs::metadata(std::ffi::OsStr::from_bytes(&holding.point))
            .unwrap()
            .dev();
        // A subvolume has a number of its own.
        if let Some(by_device) = mounted.of_device(device) {
            assert_eq!(by_device.identity, holding.identity);
        }
        assert!(mounted.points_below(Path::new("/")).len() >= mounted.points_below(&here).len());
    }
}
