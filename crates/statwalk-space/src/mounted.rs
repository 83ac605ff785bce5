// SPDX-License-Identifier: MIT OR Apache-2.0

//! The mounts of a file system: the one that shows most of it, and those that hide parts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, open_tree};

use statwalk_sys::mount_table::{Mount, is_within};

use crate::mount_table::MountTable;
use crate::stat::{by_path, device, has_mount_id, mount_id};

/// A mounted file system, as this process sees it.
#[derive(Debug)]
pub(crate) struct Mounted {
    /// The mount points that show its parts; the first shows the given path or more.
    shown: Vec<PathBuf>,
    /// The directories that mounts cover, the deepest first: an entry in two of them belongs
    /// to the first.
    covered: Vec<Covered>,
    /// Mount points of files that a scan which enters mounts of the file system meets before
    /// or after, too.
    files_again: Vec<PathBuf>,
    /// The reason why covered directories cannot be seen.
    obstacle: Option<String>,
    /// Private copies of the mounts, without the mounts in them.
    copies: Vec<OwnedFd>,
    /// The line of the mount table. Absent without `/proc`.
    mount: Option<Mount>,
    mount_ids: Vec<u64>,
    /// `st_dev` of the topmost directory.
    device: u64,
}

/// A directory, or a file, that a mount covers.
#[derive(Debug)]
pub(crate) struct Covered {
    /// Its path in the file system.
    region: PathBuf,
    /// Whether no other mount of the file system shows it: one that is mounted onto itself
    /// is covered and not hidden.
    pub(crate) is_hidden: bool,
    /// The mount point that covers it.
    pub(crate) point: PathBuf,
    /// The mount point of its own file system.
    pub(crate) within: PathBuf,
    /// Its path through a private copy of its mount.
    pub(crate) seen: PathBuf,
}

impl Mounted {
    /// Finds the file system that holds a path.
    pub(crate) fn holding(path: &Path, table: &mut MountTable) -> io::Result<Mounted> {
        let stat = stat_at(path)?;
        let table = table.look();
        let own = table
            .iter()
            .find(|mount| has_mount_id(&stat) && mount.id == mount_id(&stat));
        let point = mount_point(path, &stat).or_else(|error| {
            // `.` leads to its directory where its path is too long, or removed.
            let in_table = own.map(|own| PathBuf::from(OsStr::from_bytes(&own.point)));
            let leads_there = |point: &PathBuf| {
                stat_at(point).is_ok_and(|found| mount_id(&found) == mount_id(&stat))
            };
            in_table.filter(leads_there).ok_or(error)
        })?;
        let Some(own) = own else {
            return Ok(Mounted {
                device: device(&stat),
                shown: vec![point],
                covered: Vec::new(),
                files_again: Vec::new(),
                obstacle: Some("needs /proc, and Linux 5.8".into()),
                copies: Vec::new(),
                mount: None,
                mount_ids: Vec::new(),
            });
        };
        let same = table.iter().filter(|mount| mount.device == own.device);
        let shown = widest(own, &point, same.clone());
        let mut mounted = Mounted {
            device: device(&stat_at(&shown[0].1)?),
            mount: Some(own.clone()),
            mount_ids: same.map(|mount| mount.id).collect(),
            covered: Vec::new(),
            files_again: Vec::new(),
            obstacle: None,
            copies: Vec::new(),
            shown: Vec::new(),
        };
        let mounts = OneFileSystem::of(own, table);
        mounted.files_again = mounts.files_again(&shown);
        for (mount, point) in shown {
            mounted.look_below(mount, &point, &mounts);
            mounted.shown.push(point);
        }
        let depth = |covered: &Covered| covered.region.as_os_str().len();
        mounted
            .covered
            .sort_by_key(|covered| Reverse(depth(covered)));
        Ok(mounted)
    }

    /// Adds the directories below the mount points in a mount.
    fn look_below(&mut self, mount: &Mount, point: &Path, mounts: &OneFileSystem<'_>) {
        let covered = mounts.covered_in(mount);
        if covered.is_empty() {
            return;
        }
        // Without AT_RECURSIVE nothing that is mounted in it comes along, and the copy is
        // in no place: it ends with its descriptor.
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        match open_tree(CWD, point, flags) {
            Ok(copy) => {
                let top = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
                let root = path(&mount.root);
                let covered = covered.into_iter().filter_map(|(region, above)| {
                    let seen = top.join(region.strip_prefix(root).ok()?);
                    let (within, point) = match above.holder.id == mount.id {
                        // A path that leads there, where the table's own may not.
                        true => (
                            point.to_owned(),
                            point.join(region.strip_prefix(root).ok()?),
                        ),
                        false => (path(&above.holder.point).to_owned(), above.point.to_owned()),
                    };
                    Some(Covered {
                        is_hidden: above.is_hidden,
                        region,
                        point,
                        within,
                        seen,
                    })
                });
                self.covered.extend(covered);
                self.copies.push(copy);
            }
            Err(errno) => {
                let reason = match errno {
                    Errno::PERM => "needs CAP_SYS_ADMIN".into(),
                    Errno::NOSYS => "needs Linux 5.2".into(),
                    errno => format!("cannot copy the mount: {}", io::Error::from(errno)),
                };
                self.obstacle = Some(reason);
            }
        }
    }

    pub(crate) fn point(&self) -> &Path {
        &self.shown[0]
    }

    pub(crate) fn shown(&self) -> impl Iterator<Item = &PathBuf> {
        self.shown.iter()
    }

    pub(crate) fn covered(&self) -> &[Covered] {
        &self.covered
    }

    /// The bytes on disk that a scan which enters mounts of the file system counts again.
    pub(crate) fn bytes_again(&self) -> u64 {
        let files = self
            .files_again
            .iter()
            .filter_map(|point| stat_at(point).ok());
        // An inode with several names counts once in any scan.
        let lone = files.filter(|stat| stat.stx_nlink == 1);
        lone.map(|stat| stat.stx_blocks.saturating_mul(512)).sum()
    }

    pub(crate) fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    pub(crate) fn mount_ids(&self) -> Vec<u64> {
        self.mount_ids.clone()
    }

    pub(crate) fn device(&self) -> u64 {
        self.device
    }

    pub(crate) fn file_system(&self) -> Option<&str> {
        self.mount.as_ref().map(|mount| mount.file_system.as_str())
    }

    pub(crate) fn source(&self) -> Option<&[u8]> {
        self.mount.as_ref().map(|mount| mount.source.as_slice())
    }

    /// Whether it is an overlay: statfs counts for its upper layer, and its entries lie in
    /// several layers.
    pub(crate) fn is_overlay(&self) -> bool {
        self.file_system() == Some("overlay")
    }

    /// The upper layer of an overlay, as its mount options name it: a path at the mount,
    /// which may lead nowhere here. Absent if the overlay is read-only.
    pub(crate) fn upper_layer(&self) -> Option<PathBuf> {
        let mount = self.mount.as_ref().filter(|_| self.is_overlay())?;
        let upper = mount.values_of("upperdir").next()?;
        Some(OsString::from_vec(upper).into())
    }

    /// The device number in the kernel's encoding of 32 bits: `new_encode_dev`,
    /// include/linux/kdev_t.h.
    pub(crate) fn device_encoded(&self) -> Option<u32> {
        let number = self.mount.as_ref()?.device_number()?;
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        Some((minor & 0xff) | (major << 8) | ((minor & !0xff) << 12))
    }

    /// The device number as the mount table has it, `major:minor`.
    pub(crate) fn device_text(&self) -> Option<&str> {
        self.mount.as_ref().map(|mount| mount.device.as_str())
    }

    /// The size of the block device.
    pub(crate) fn device_bytes(&self) -> Option<u64> {
        let number = &self.mount.as_ref()?.device;
        let path = format!("/sys/dev/block/{number}/size");
        let sectors: u64 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
        // Always of 512 bytes: Documentation/ABI/stable/sysfs-block.
        sectors.checked_mul(512)
    }
}

/// The mounts of one file system, by what they show of it.
struct OneFileSystem<'m> {
    /// By the directory that each shows.
    by_root: BTreeMap<&'m Path, Vec<&'m Mount>>,
    /// The mounts on each mount of the file system, by its number.
    above: HashMap<u64, Vec<&'m Mount>>,
    /// The mount points on each, by its number.
    points: HashSet<(u64, &'m Path)>,
}

/// How a directory is covered.
#[derive(Clone, Copy)]
struct Above<'m> {
    holder: &'m Mount,
    point: &'m Path,
    is_hidden: bool,
}

impl<'m> OneFileSystem<'m> {
    fn of(own: &Mount, table: &'m [Mount]) -> OneFileSystem<'m> {
        let mut all = OneFileSystem {
            by_root: BTreeMap::new(),
            above: HashMap::new(),
            points: HashSet::new(),
        };
        for mount in table.iter().filter(|mount| mount.device == own.device) {
            let showing = all.by_root.entry(path(&mount.root)).or_default();
            showing.push(mount);
            all.above.insert(mount.id, Vec::new());
        }
        for mount in table {
            if let Some(above) = all.above.get_mut(&mount.parent) {
                above.push(mount);
                all.points.insert((mount.parent, path(&mount.point)));
            }
        }
        all
    }

    /// The covered places in a mount, by the path in the file system: the directories below
    /// its mount points, and parts of these that other mounts show, or cover again.
    fn covered_in(&self, mount: &'m Mount) -> BTreeMap<PathBuf, Above<'m>> {
        let mut covered = BTreeMap::new();
        // Two mounts can cover one directory.
        for (region, above) in self.mount_points_on(mount) {
            covered.entry(region).or_insert(above);
        }
        let others = self.by_root.values().flatten();
        let others = others.filter(|other| other.id != mount.id);
        let covered_again: BTreeMap<PathBuf, Above<'m>> = others
            .flat_map(|other| self.mount_points_on(other))
            .collect();
        let own: Vec<PathBuf> = covered.keys().cloned().collect();
        for region in own {
            let shown = self.by_root.range(&*region..);
            for (root, showing) in shown.take_while(|(root, _)| root.starts_with(&region)) {
                if let Some(other) = showing.iter().find(|other| self.shows(other, root)) {
                    covered.entry(root.to_path_buf()).or_insert(Above {
                        holder: other,
                        point: path(&other.point),
                        is_hidden: false,
                    });
                }
            }
            let again = covered_again.range(region.clone()..);
            for (inner, above) in again.take_while(|(inner, _)| inner.starts_with(&region)) {
                covered.entry(inner.clone()).or_insert(*above);
            }
        }
        for (region, above) in &mut covered {
            above.is_hidden = !self.is_shown(region);
        }
        covered
    }

    /// The mount points of files below the shown ones, without one for each file that no
    /// other path shows.
    fn files_again(&self, shown: &[(&Mount, PathBuf)]) -> Vec<PathBuf> {
        // A scan that leaves other file systems out enters no mount behind them.
        let mut entered: Vec<u64> = shown.iter().map(|(mount, _)| mount.id).collect();
        let mut next = 0;
        while let Some(id) = entered.get(next) {
            let above = self.above.get(id).into_iter().flatten();
            entered.extend(
                above
                    .filter(|above| self.above.contains_key(&above.id))
                    .map(|above| above.id),
            );
            next += 1;
        }
        let entered: HashSet<u64> = entered.into_iter().collect();
        let mut again = Vec::new();
        for (root, showing) in &self.by_root {
            let is_met = |mount: &&&Mount| {
                entered.contains(&mount.id)
                    && stat_at(path(&mount.point))
                        .is_ok_and(|found| mount_id(&found) == mount.id && !is_directory(&found))
            };
            let mut files = showing.iter().filter(is_met).peekable();
            if files.peek().is_none() {
                continue;
            }
            let above = root.ancestors().skip(1);
            let mut above = above.filter_map(|above| self.by_root.get(above)).flatten();
            let has_path =
                above.any(|mount| entered.contains(&mount.id) && self.shows(mount, root));
            let files = files.skip(usize::from(!has_path));
            again.extend(files.map(|mount| path(&mount.point).to_owned()));
        }
        again
    }

    /// The mount points on a mount of the file system.
    fn mount_points_on(&self, mount: &'m Mount) -> impl Iterator<Item = (PathBuf, Above<'m>)> {
        let above = self.above.get(&mount.id).into_iter().flatten();
        above.filter_map(move |above| {
            let point = path(&above.point);
            let below = point.strip_prefix(path(&mount.point)).ok()?;
            // It covers the whole mount: no path leads there.
            if below.as_os_str().is_empty() {
                return None;
            }
            let above = Above {
                holder: mount,
                point,
                is_hidden: true,
            };
            Some((path(&mount.root).join(below), above))
        })
    }

    /// Whether a path leads to an entry of the file system.
    fn is_shown(&self, region: &Path) -> bool {
        let roots = region.ancestors();
        let mut showing = roots.filter_map(|root| self.by_root.get(root)).flatten();
        showing.any(|mount| self.shows(mount, region))
    }

    /// Whether a mount shows an entry of the file system, and nothing covers it there.
    fn shows(&self, mount: &Mount, region: &Path) -> bool {
        let point = path(&mount.point);
        let Ok(below) = region.strip_prefix(path(&mount.root)) else {
            return false;
        };
        let place = match below.as_os_str().is_empty() {
            // To join nothing would add a slash, and nothing but a directory takes one.
            true => point.to_owned(),
            false => point.join(below),
        };
        // What lies above another mount may be dead, and is not asked.
        let mut ways = place.ancestors().take_while(|way| way.starts_with(point));
        if ways.any(|way| self.points.contains(&(mount.id, way))) {
            return false;
        }
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
        let found = by_path(&place, flags, StatxFlags::empty());
        found.is_ok_and(|found| mount_id(&found) == mount.id)
    }
}

fn is_directory(stat: &Statx) -> bool {
    FileType::from_raw_mode(stat.stx_mode.into()) == FileType::Directory
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The mounts that show most of a file system, as few as possible, each with a path that
/// leads to it.
fn widest<'m>(
    own: &'m Mount,
    own_point: &Path,
    same: impl Iterator<Item = &'m Mount>,
) -> Vec<(&'m Mount, PathBuf)> {
    let mut same: Vec<&Mount> = same.collect();
    // The shortest directory of the file system comes first, and of two the own mount.
    same.sort_by_key(|mount| (mount.root.len(), mount.id != own.id, mount.point.len()));
    let mut shown: Vec<(&Mount, PathBuf)> = Vec::new();
    for mount in same {
        if shown
            .iter()
            .any(|(wider, _)| is_within(&mount.root, &wider.root))
        {
            continue;
        }
        let point = match mount.id == own.id {
            true => own_point.to_owned(),
            false => path(&mount.point).to_owned(),
        };
        // Another mount may cover this one.
        let leads_there = stat_at(&point).is_ok_and(|found| mount_id(&found) == mount.id);
        if leads_there {
            shown.push((mount, point));
        }
    }
    if shown.is_empty() {
        shown.push((own, own_point.to_owned()));
    }
    shown
}

/// The topmost directory above a path that lies on the same mount.
fn mount_point(path: &Path, stat: &Statx) -> io::Result<PathBuf> {
    let path = std::fs::canonicalize(path)?;
    // getcwd(3) makes paths that are too long for the kernel.
    stat_at(&path)?;
    let is_same = |other: &Statx| match has_mount_id(stat) {
        true => mount_id(other) == mount_id(stat),
        false => device(other) == device(stat),
    };
    let above = path.ancestors();
    let same = above.take_while(|path| stat_at(path).is_ok_and(|found| is_same(&found)));
    Ok(same.last().unwrap_or(&path).to_owned())
}

fn stat_at(path: &Path) -> io::Result<Statx> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    Ok(by_path(path, AtFlags::empty(), mask)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_the_machine_is_a_mount_point() {
        let found = Mounted::holding(Path::new("/"), &mut MountTable::default()).unwrap();
        assert_eq!(found.point(), Path::new("/"));
        let here = Mounted::holding(Path::new("."), &mut MountTable::default()).unwrap();
        assert!(here.point().is_absolute() && here.device() > 0);
        assert!(Mounted::holding(Path::new("/nonexistent"), &mut MountTable::default()).is_err());
    }
}
