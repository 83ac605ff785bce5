// SPDX-License-Identifier: MIT OR Apache-2.0

//! The file systems of the machine that hold something, and the one that holds a path.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use statwalk_space::{FileSystem, MountTable};
use statwalk_sys::mount_table::{self, Mount};
use statwalk_view::{Charset, escape};

use crate::failure::Failure;
use crate::system::stdio::reason;

/// How long a file system may take to answer.
pub(crate) const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// A file system with space of its own, at the first of its mount points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountedSpace {
    pub(crate) point: PathBuf,
    pub(crate) file_system: String,
    /// Absent where the file system does not answer.
    pub(crate) space: Option<Space>,
}

/// The space of a file system, as statfs counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) total_bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) free_bytes: u64,
}

/// Images that are full by design, and the kernel's own devices.
const WITHOUT_USE: [&str; 6] = [
    "cramfs", "devtmpfs", "efivarfs", "erofs", "iso9660", "squashfs",
];

/// File systems of another machine or of a program. A scan of one can take hours, and
/// takes the time of others.
const REMOTE: [&str; 15] = [
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse", "gpfs", "lustre", "ncpfs", "nfs",
    "nfs4", "smb3", "smbfs", "virtiofs",
];

/// Finds the file system that holds a path. It may be on a server that is dead, so a
/// thread asks it first, and stays behind. To find it can take longer, for an XFS is synced.
///
/// Returns the reason why there is none, or that there is no answer.
pub(crate) fn file_system_of(path: &Path, table: &mut MountTable) -> Result<FileSystem, Failure> {
    let (sender, answer) = mpsc::channel();
    let asked = path.to_owned();
    let asks = thread::Builder::new().spawn(move || {
        let _ = (std::fs::metadata(&asked), rustix::fs::statvfs(&asked));
        let _ = sender.send(());
    });
    // Where the system gives no thread, the caller waits.
    if asks.is_ok() && answer.recv_timeout(ANSWER_WAIT).is_err() {
        let path = escape(path.as_os_str().as_bytes(), Charset::Unicode);
        let seconds = ANSWER_WAIT.as_secs();
        let text = format!("cannot stat {path}: no answer for {seconds} s");
        return Err(Failure::Usage(text));
    }
    Ok(FileSystem::holding_by(path, table)?)
}

/// The file systems of this machine that hold something, the fullest first. Those that do
/// not answer within `patience` come last, without numbers.
///
/// Returns an error if the mount table cannot be read.
pub(crate) fn file_systems(patience: Duration) -> Result<Vec<MountedSpace>, Failure> {
    let table = mount_table::read().map_err(|error| {
        let reason = reason(&error);
        Failure::Usage(format!("cannot read the mount table: {reason}; try a PATH"))
    })?;
    let mut found = candidates(table);
    let (sender, answers) = mpsc::channel();
    let mut waiting = 0;
    for (place, one) in found.iter_mut().enumerate() {
        let (sender, point) = (sender.clone(), one.point.clone());
        // A file system that gives no answer holds up nobody but its thread.
        let asks = thread::Builder::new().spawn(move || {
            let _ = sender.send((place, space(&point)));
        });
        match asks {
            Ok(_) => waiting += 1,
            Err(_) => one.space = Some(space(&one.point)),
        }
    }
    let deadline = Instant::now() + patience;
    while waiting > 0
        && let Ok((place, space)) =
            answers.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    {
        found[place].space = Some(space);
        waiting -= 1;
    }
    found.retain(|one| one.space.is_none_or(|space| space.used_bytes > 0));
    found.sort_by(|a, b| {
        let used = |one: &MountedSpace| one.space.map(|space| space.used_bytes);
        used(b).cmp(&used(a)).then_with(|| a.point.cmp(&b.point))
    });
    Ok(found)
}

impl MountedSpace {
    /// Whether its data lie on another machine, or behind a program. The root never does:
    /// without it there is no machine.
    pub(crate) fn is_remote(&self) -> bool {
        let kind = self.file_system.as_str();
        let is_remote = REMOTE.contains(&kind) || kind.starts_with("fuse.");
        is_remote && self.point != Path::new("/")
    }
}

/// The mounts that can have space of their own, each file system once.
fn candidates(table: Vec<Mount>) -> Vec<MountedSpace> {
    let mut mounts: Vec<Mount> = Vec::new();
    for mount in table {
        // A later mount at the same place covers an earlier one.
        mounts.retain(|other| other.point != mount.point);
        mounts.push(mount);
    }
    let mut devices = HashSet::new();
    let own = mounts.into_iter().filter(|mount| {
        // An overlay shows the space of the file system with its upper layer, which is in
        // the table; only within a container it is not.
        let is_layer = mount.file_system == "overlay" && mount.point != b"/";
        !is_layer && !WITHOUT_USE.contains(&mount.file_system.as_str())
    });
    let once = own.filter(|mount| devices.insert(mount.device.clone()));
    once.map(|mount| MountedSpace {
        point: PathBuf::from(OsStr::from_bytes(&mount.point)),
        file_system: mount.file_system,
        space: None,
    })
    .collect()
}

/// The space of a file system; none where there is nothing to see.
fn space(point: &Path) -> Space {
    let Ok(counts) = rustix::fs::statvfs(point) else {
        return Space {
            total_bytes: 0,
            used_bytes: 0,
            free_bytes: 0,
        };
    };
    let bytes = |blocks: u64| blocks.saturating_mul(counts.f_frsize);
    Space {
        total_bytes: bytes(counts.f_blocks),
        used_bytes: bytes(counts.f_blocks.saturating_sub(counts.f_bfree)),
        free_bytes: bytes(counts.f_bfree),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(point: &str, device: &str, file_system: &str) -> Mount {
        Mount {
            point: point.into(),
            device: device.to_owned(),
            file_system: file_system.to_owned(),
            ..Mount::default()
        }
    }

    #[test]
    fn each_real_file_system_comes_once() {
        let table = vec![
            mount("/", "8:1", "ext4"),
            mount("/dev", "0:5", "devtmpfs"),
            mount("/snap/core", "7:0", "squashfs"),
            mount("/mnt", "8:2", "xfs"),
            mount("/srv", "8:1", "ext4"),
            mount("/var/lib/docker/overlay2/a/merged", "0:50", "overlay"),
            // It covers the one before.
            mount("/mnt", "0:60", "nfs4"),
            mount("/home/a/gcs", "0:61", "fuse.gcsfuse"),
        ];
        let found = candidates(table);
        let points: Vec<_> = found
            .iter()
            .map(|one| (one.point.to_str().unwrap(), one.is_remote()))
            .collect();
        let expected = [("/", false), ("/mnt", true), ("/home/a/gcs", true)];
        assert_eq!(points, expected);
    }

    #[test]
    fn the_root_of_a_container_is_scanned() {
        for kind in ["overlay", "virtiofs"] {
            let found = candidates(vec![mount("/", "0:9", kind)]);
            assert!(!found[0].is_remote(), "{found:?}");
        }
    }

    #[test]
    fn this_machine_has_one_that_is_used() {
        let found = file_systems(Duration::from_secs(10)).unwrap();
        let is_used = |one: &MountedSpace| one.space.is_some_and(|space| space.used_bytes > 0);
        assert!(found.iter().any(is_used), "{found:?}");
    }
}
