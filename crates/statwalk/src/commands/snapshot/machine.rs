// SPDX-License-Identifier: MIT OR Apache-2.0

//! The facts that the rows of a scan do not have: accounts, file systems and cache tags.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{major, minor, statvfs};
use statwalk_snapshot::{FileSystem, Machine, Space};

use crate::system::accounts::{group_name, user_name};
use crate::system::cache_tag;
use crate::system::file_system_identity::MountedFileSystems;

/// How long a file system may take to say how much space it has. A dead server would hold up
/// the scan of all others.
const PATIENCE: Duration = Duration::from_secs(2);

/// This machine, while a snapshot of it is made.
pub(super) struct Here {
    mounted: MountedFileSystems,
    /// By mount point: at the begin of the scan.
    begin: HashMap<PathBuf, Space>,
    end: HashMap<PathBuf, Space>,
}

impl Here {
    /// Notes the space of the file systems at and below a root, before its scan begins.
    pub(super) fn before_scan(root: &Path) -> Here {
        let mounted = MountedFileSystems::now();
        let mut points = mounted.points_below(root);
        if let Some(holding) = mounted.holding(root) {
            points.push(path_of(&holding.point));
        }
        Here {
            begin: spaces(points),
            end: HashMap::new(),
            mounted,
        }
    }

    /// The identity of the file system that holds a root.
    pub(super) fn identity(&self, root: &Path) -> String {
        let holding = self.mounted.holding(root);
        holding.map_or_else(|| "unknown".to_owned(), |holding| holding.identity)
    }

    /// Notes the space once more, after the scan.
    pub(super) fn after_scan(&mut self) {
        // Those that gave no answer are not asked again.
        self.end = spaces(self.begin.keys().cloned().collect());
    }
}

impl Machine for Here {
    fn user(&mut self, uid: u32) -> Option<Vec<u8>> {
        user_name(uid)
    }

    fn group(&mut self, gid: u32) -> Option<Vec<u8>> {
        group_name(gid)
    }

    fn file_system(&mut self, dev: u64) -> FileSystem {
        let Some(found) = self.mounted.of_device(dev) else {
            return FileSystem {
                identity: format!("device-{}:{}", major(dev), minor(dev)),
                ..FileSystem::default()
            };
        };
        let point = path_of(&found.point);
        FileSystem {
            identity: found.identity,
            kind: found.kind,
            begin: self.begin.get(&point).copied(),
            end: self.end.get(&point).copied(),
            mount_point: found.point,
        }
    }

    fn is_cachedir(&mut self, path: &[u8]) -> Option<bool> {
        Some(cache_tag::is_valid(path))
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The space of file systems, as far as they answer in time.
fn spaces(points: Vec<PathBuf>) -> HashMap<PathBuf, Space> {
    let (sender, answers) = mpsc::channel();
    let mut waiting = 0;
    for point in points {
        let sender = sender.clone();
        let asks = thread::Builder::new().spawn(move || {
            let space = space(&point);
            let _ = sender.send((point, space));
        });
        waiting += usize::from(asks.is_ok());
    }
    let deadline = Instant::now() + PATIENCE;
    let mut found = HashMap::new();
    while waiting > 0
        && let Ok((point, space)) =
            answers.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    {
        found.extend(space.map(|space| (point, space)));
        waiting -= 1;
    }
    found
}

fn space(point: &Path) -> Option<Space> {
    let counts = statvfs(point).ok()?;
    Some(Space {
        block_bytes: counts.f_frsize,
        blocks: counts.f_blocks,
        free_blocks: counts.f_bfree,
        available_blocks: counts.f_bavail,
        inodes: counts.f_files,
        free_inodes: counts.f_ffree,
    })
}
