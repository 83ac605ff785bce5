// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files without a name that processes hold: open, mapped, or as a directory.
//!
//! Formats: proc_pid_fd(5), proc_pid_maps(5), proc_pid_map_files(5).

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Statx, StatxFlags};

use crate::file_system::{Holder, UnnamedFile};
use crate::nameless::Unlinked;
use crate::stat::{by_path, device, has_mount_id, mount_id};

/// The kernel's mark of a path whose last name is gone: `d_path` of fs/d_path.c.
const DELETED: &[u8] = b" (deleted)";

/// The holders that are kept of one file; a library can have thousands.
const HOLDERS_MAX: usize = 16;

/// The files without a name of one file system.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    pub(crate) files: Vec<UnnamedFile>,
    /// Processes whose descriptors this process may not see.
    pub(crate) hidden_processes: u64,
}

/// The way to tell whether a file lies on the file system.
pub(crate) struct Belonging {
    /// `st_dev` of its files, but for subvolumes of btrfs.
    pub(crate) device: u64,
    /// The numbers of its mounts.
    pub(crate) mounts: Vec<u64>,
}

impl Belonging {
    fn includes(&self, stat: &Statx) -> bool {
        device(stat) == self.device || (has_mount_id(stat) && self.mounts.contains(&mount_id(stat)))
    }
}

/// Finds them in `/proc`. A process that ends meanwhile is left out.
pub(crate) fn find(belonging: &Belonging) -> io::Result<OpenFiles> {
    let mut search = Search {
        belonging,
        found: HashMap::new(),
        hidden_processes: 0,
    };
    let mut has_processes = false;
    for entry in fs::read_dir("/proc")? {
        let Ok(entry) = entry else { break };
        let name = entry.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            has_processes = true;
            search.process(pid, &entry.path());
        }
    }
    if !has_processes {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut files: Vec<_> = search.found.into_values().collect();
    sort(&mut files);
    Ok(OpenFiles {
        files,
        hidden_processes: search.hidden_processes,
    })
}

/// The files of the file system's own list that no process was seen to hold.
pub(crate) fn unseen(seen: &[UnnamedFile], unlinked: &[Unlinked]) -> Vec<Unlinked> {
    let seen: HashSet<u64> = seen.iter().map(|file| file.inode).collect();
    let unseen = unlinked.iter().filter(|file| !seen.contains(&file.inode));
    unseen.copied().collect()
}

/// Adds files that no process was seen to hold.
pub(crate) fn add(files: &mut Vec<UnnamedFile>, unseen: &[Unlinked]) {
    files.extend(unseen.iter().map(|file| UnnamedFile {
        inode: file.inode,
        allocated_bytes: file.allocated_bytes,
        path: None,
        holders: Vec::new(),
        more_holders: 0,
    }));
    sort(files);
}

/// Sorts files, the largest first.
fn sort(files: &mut [UnnamedFile]) {
    files.sort_unstable_by_key(|file| (std::cmp::Reverse(file.allocated_bytes), file.inode));
}

struct Search<'a> {
    belonging: &'a Belonging,
    /// By device and inode.
    found: HashMap<(u64, u64), UnnamedFile>,
    hidden_processes: u64,
}

impl Search<'_> {
    fn process(&mut self, pid: u32, folder: &Path) {
        match fs::read_dir(folder.join("fd")) {
            Ok(descriptors) => {
                for descriptor in descriptors.flatten() {
                    self.link(pid, folder, &descriptor.path());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.hidden_processes += 1;
                return;
            }
            // It has ended.
            Err(_) => return,
        }
        for link in ["cwd", "root", "exe"] {
            self.link(pid, folder, &folder.join(link));
        }
        // A file can be mapped and closed, as a library after an update. `maps` costs one
        // open for all of them, and only files without a name are looked at.
        let maps = fs::read(folder.join("maps")).unwrap_or_default();
        for line in maps.split(|&byte| byte == b'\n') {
            if let Some(range) = line.strip_suffix(DELETED).and_then(range_of) {
                self.link(pid, folder, &folder.join("map_files").join(range));
            }
        }
    }

    /// Looks at one link to an open file.
    fn link(&mut self, pid: u32, folder: &Path, link: &Path) {
        // The text comes without asking the file system, which may hang.
        let Ok(target) = fs::read_link(link) else {
            return;
        };
        let Some(path) = target.as_os_str().as_bytes().strip_suffix(DELETED) else {
            return;
        };
        let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
        let Ok(stat) = by_path(link, flags, mask) else {
            return;
        };
        // A name may really end like the mark.
        if stat.stx_nlink != 0 || !self.belonging.includes(&stat) {
            return;
        }
        let inode = stat.stx_ino;
        let file = self
            .found
            .entry((device(&stat), inode))
            .or_insert_with(|| UnnamedFile {
                inode,
                allocated_bytes: stat.stx_blocks.saturating_mul(512),
                path: Some(path.to_vec()),
                holders: Vec::new(),
                more_holders: 0,
            });
        if file.holders.last().is_some_and(|last| last.pid == pid) {
            return;
        }
        if file.holders.len() == HOLDERS_MAX {
            file.more_holders += 1;
            return;
        }
        let name = fs::read(folder.join("comm")).unwrap_or_default();
        let name = name.strip_suffix(b"\n").unwrap_or(&name).to_vec();
        file.holders.push(Holder { pid, name });
    }
}

/// The range of a line of `maps`, as `map_files` names it.
fn range_of(line: &[u8]) -> Option<PathBuf> {
    let range = line.split(|&byte| byte == b' ').next()?;
    let (first, end) = std::str::from_utf8(range).ok()?.split_once('-')?;
    // `maps` pads numbers with zeros, `map_files` does not.
    let plain = |number: &str| u64::from_str_radix(number, 16).ok();
    let name = format!("{:x}-{:x}", plain(first)?, plain(end)?);
    Some(Path::new(OsStr::new(&name)).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_loses_its_zeros() {
        let line = b"00400000-0040b000 r-xp 00000000 08:01 131 /usr/lib/x";
        assert_eq!(range_of(line), Some("400000-40b000".into()));
        for line in [&b""[..], b"x", b"1-", b"-1 r", b"1-z /x"] {
            assert_eq!(range_of(line), None);
        }
    }
}
