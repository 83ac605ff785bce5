// SPDX-License-Identifier: MIT OR Apache-2.0

//! All entries of a file system with all their attributes, read in two ways.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, StatxTimestamp, makedev, statx};
use statwalk_ext4::{
    Bytes, Damage, DirectoryScratch, FileType, Inode, ROOT_INODE, Timestamp, Volume,
};

/// Everything that is known of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) kind: FileType,
    pub(crate) inode: u64,
    pub(crate) size_bytes: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) links: u32,
    pub(crate) mode: u16,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mtime: Timestamp,
    pub(crate) atime: Timestamp,
    pub(crate) ctime: Timestamp,
    pub(crate) btime: Option<Timestamp>,
    pub(crate) rdev: u64,
}

/// Entries by their path from the root, whose path is empty.
pub(crate) type Listing = BTreeMap<Vec<u8>, Listed>;

impl Listed {
    fn of_inode(inode: &Inode) -> Listed {
        // statx shows 0:0 where the inode is no device.
        let (major, minor) = inode.rdev().unwrap_or((0, 0));
        Listed {
            kind: inode.kind(),
            inode: u64::from(inode.number()),
            size_bytes: inode.size_bytes(),
            allocated_bytes: inode.allocated_bytes(),
            links: inode.links(),
            mode: inode.mode(),
            uid: inode.uid(),
            gid: inode.gid(),
            mtime: inode.mtime(),
            atime: inode.atime(),
            ctime: inode.ctime(),
            btime: inode.btime(),
            rdev: makedev(major, minor),
        }
    }

    fn of_statx(stat: &Statx) -> Listed {
        let kind = match rustix::fs::FileType::from_raw_mode(u32::from(stat.stx_mode)) {
            rustix::fs::FileType::RegularFile => FileType::File,
            rustix::fs::FileType::Directory => FileType::Directory,
            rustix::fs::FileType::Symlink => FileType::Symlink,
            rustix::fs::FileType::Fifo => FileType::Fifo,
            rustix::fs::FileType::Socket => FileType::Socket,
            rustix::fs::FileType::CharacterDevice => FileType::CharDevice,
            rustix::fs::FileType::BlockDevice => FileType::BlockDevice,
            rustix::fs::FileType::Unknown => FileType::Unknown,
        };
        Listed {
            kind,
            inode: stat.stx_ino,
            size_bytes: stat.stx_size,
            allocated_bytes: stat.stx_blocks * 512,
            links: stat.stx_nlink,
            mode: stat.stx_mode,
            uid: stat.stx_uid,
            gid: stat.stx_gid,
            mtime: timestamp(&stat.stx_mtime),
            atime: timestamp(&stat.stx_atime),
            ctime: timestamp(&stat.stx_ctime),
            btime: (stat.stx_mask & StatxFlags::BTIME.bits() != 0)
                .then(|| timestamp(&stat.stx_btime)),
            rdev: makedev(stat.stx_rdev_major, stat.stx_rdev_minor),
        }
    }
}

fn timestamp(time: &StatxTimestamp) -> Timestamp {
    Timestamp {
        seconds: time.tv_sec,
        nanoseconds: time.tv_nsec,
    }
}

/// Lists a mounted file system by the kernel.
pub(crate) fn by_kernel(root: &Path) -> Listing {
    let mut listing = Listing::new();
    let mut waiting = vec![Vec::new()];
    while let Some(path) = waiting.pop() {
        let full = match path.is_empty() {
            true => root.to_owned(),
            false => root.join(OsStr::from_bytes(&path)),
        };
        let stat = statx(CWD, &full, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::ALL).unwrap();
        let listed = Listed::of_statx(&stat);
        if listed.kind == FileType::Directory {
            for entry in std::fs::read_dir(&full).unwrap() {
                let name = entry.unwrap().file_name();
                waiting.push(joined(&path, name.as_bytes()));
            }
        }
        assert!(listing.insert(path, listed).is_none(), "a name came twice");
    }
    listing
}

/// Lists a volume, with its damage.
pub(crate) fn by_volume<B: Bytes>(volume: &Volume<B>) -> (Listing, Vec<Damage>) {
    let mut listing = Listing::new();
    let mut damages = Vec::new();
    let mut scratch = DirectoryScratch::new();
    let mut listed_directories = BTreeSet::new();
    let mut waiting = vec![(Vec::new(), ROOT_INODE, FileType::Directory)];
    while let Some((path, number, kind)) = waiting.pop() {
        let inode = match volume.inode(number) {
            Ok(inode) => inode,
            Err(damage) => {
                damages.push(damage);
                continue;
            }
        };
        if inode.is_free() || !matches!(kind, FileType::Unknown) && kind != inode.kind() {
            let damage = format!("{} is free or no {kind:?}", path.escape_ascii());
            println!("{damage}");
            continue;
        }
        if inode.kind() == FileType::Directory && listed_directories.insert(number) {
            let outcome = volume.read_directory(&inode, &mut scratch, |entry| {
                waiting.push((joined(&path, entry.name), entry.inode, entry.kind));
            });
            damages.extend(outcome.err());
        }
        let before = listing.insert(path, Listed::of_inode(&inode));
        if before.is_some() {
            println!("a name came twice");
        }
    }
    (listing, damages)
}

/// As [`by_volume`], of a file system without damage.
pub(crate) fn by_sound_volume<B: Bytes>(volume: &Volume<B>) -> Listing {
    let (listing, damages) = by_volume(volume);
    assert!(damages.is_empty(), "{}", damages[0]);
    listing
}

/// Fails with the first differences.
pub(crate) fn assert_same(what: &str, got: &Listing, expected: &Listing) {
    if got == expected {
        return;
    }
    let mut differences = Vec::new();
    for path in got.keys().chain(expected.keys()) {
        let (left, right) = (got.get(path), expected.get(path));
        if left != right {
            let path = path.escape_ascii();
            differences.push(format!("{path}\n  got      {left:?}\n  expected {right:?}"));
        }
    }
    differences.dedup();
    let count = differences.len();
    differences.truncate(6);
    panic!("{what}: {count} differences\n{}", differences.join("\n"));
}

fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend(name);
    path
}
