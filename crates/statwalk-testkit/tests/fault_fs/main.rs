// SPDX-License-Identifier: MIT OR Apache-2.0

//! Each fault of the fault file system, seen through the kernel by a process
//! that knows nothing of it.

#![cfg(target_os = "linux")]

mod changes;
mod errors;
mod hanging;
mod latency;

use std::collections::HashSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, StatxFlags, openat, statx};
use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, Uniform};
use statwalk_testkit::{EntryType, Totals, or_skip};

/// Longer than anything here takes on a busy machine; only failures wait so long.
const LONG: Duration = Duration::from_secs(20);

fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// Names and types up to the end or the first error.
fn read_on(dir: &mut Dir) -> (Vec<(String, FileType)>, Option<Errno>) {
    let mut names = Vec::new();
    while let Some(entry) = dir.read() {
        match entry {
            Ok(entry) => {
                let name = entry
                    .file_name()
                    .to_str()
                    .expect("names here are text")
                    .to_owned();
                if name != "." && name != ".." {
                    names.push((name, entry.file_type()));
                    assert!(names.len() < 100_000, "the listing does not end");
                }
            }
            Err(errno) => return (names, Some(errno)),
        }
    }
    (names, None)
}

fn list(path: &Path) -> (Vec<(String, FileType)>, Option<Errno>) {
    read_on(&mut Dir::new(open(path).expect("the directory opens")).expect("it is a directory"))
}

fn names(path: &Path) -> Vec<String> {
    let (names, error) = list(path);
    assert_eq!(error, None);
    names.into_iter().map(|(name, _)| name).collect()
}

fn stat(path: &Path) -> Result<fs::Metadata, Errno> {
    fs::symlink_metadata(path)
        .map_err(|error| Errno::from_io_error(&error).expect("stat fails with a number"))
}

#[test]
fn the_tree_reads_as_described() {
    let shape = Uniform {
        depth: 2,
        dirs_each: 3,
        files_each: 4,
        file_size_bytes: 700,
    };
    let fs = FaultFs::builder()
        .entries("a/\na/x 100\na/l -> x\na/y = a/x\np fifo\ns socket\nhole 1M data=4K")
        .files("a", 2000, 10)
        .dirs("a", 30)
        .chain("deep", 20)
        .uniform("u", shape);
    let (expected, allocated_bytes) = (fs.expected(), fs.expected_allocated_bytes());
    assert_eq!(expected.dirs, 1 + 1 + 30 + 21 + (1 + 3 + 9));
    assert_eq!(expected.files, 2 + 1 + 2000 + 13 * 4);
    let mount = or_skip!(fs.mount());

    let root = stat(mount.path()).expect("the root is there");
    let mut totals = Totals::default();
    totals.count_name(EntryType::Directory);
    let mut found_allocated = 512 * root.blocks();
    let mut inodes = HashSet::from([root.ino()]);
    let mut dirs = vec![mount.path().to_path_buf()];
    while let Some(dir) = dirs.pop() {
        let mut subdir_count = 0;
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let metadata = stat(&entry.path()).unwrap();
            assert_eq!(
                entry.file_type().unwrap(),
                metadata.file_type(),
                "{:?}",
                entry.path()
            );
            assert_eq!(entry.ino(), metadata.ino(), "{:?}", entry.path());
            assert_eq!(metadata.dev(), root.dev());
            let entry_type = match metadata.file_type() {
                of if of.is_dir() => EntryType::Directory,
                of if of.is_file() => EntryType::File,
                of if of.is_symlink() => EntryType::Symlink,
                of if of.is_fifo() => EntryType::Fifo,
                _ => EntryType::Socket,
            };
            totals.count_name(entry_type);
            if inodes.insert(metadata.ino()) {
                totals.count_bytes(entry_type, metadata.size());
                found_allocated += 512 * metadata.blocks();
            } else {
                assert_eq!(
                    metadata.nlink(),
                    2,
                    "{:?} has an inode number twice",
                    entry.path()
                );
                totals.extra_hard_links += 1;
            }
            if metadata.is_dir() {
                subdir_count += 1;
                dirs.push(entry.path());
            }
        }
        assert_eq!(stat(&dir).unwrap().nlink(), 2 + subdir_count, "{dir:?}");
    }
    assert_eq!(totals, expected);
    assert_eq!(u128::from(found_allocated), allocated_bytes);
    assert_eq!(fs::read_link(mount.join("a/l")).unwrap(), Path::new("x"));
    assert_eq!(stat(&mount.join("a/nothing")).unwrap_err(), Errno::NOENT);
    assert_eq!(mount.counts().faults, 0);
}

#[test]
fn operations_are_counted() {
    let mount = or_skip!(
        FaultFs::builder()
            .entries("a/\na/x 1")
            .files("b", 3, 0)
            .mount()
    );
    for _ in 0..3 {
        stat(&mount.join("a/x")).unwrap();
    }
    assert_eq!((mount.counts().lookup, mount.counts().getattr), (6, 3));
    assert_eq!(mount.counts_of("a/x").lookup, 3);
    assert_eq!(mount.counts_of("a/x").getattr, 3);
    assert_eq!(mount.counts_of("a").getattr, 0);

    // Satisfied with what the lookup said.
    statx(
        CWD,
        mount.join("a/x"),
        AtFlags::STATX_DONT_SYNC,
        StatxFlags::BASIC_STATS,
    )
    .unwrap();
    assert_eq!((mount.counts().lookup, mount.counts().getattr), (8, 3));

    assert_eq!(names(&mount.join("b")).len(), 3);
    assert!(
        mount.wait_for(LONG, |counts| counts.releasedir == 1),
        "{:?}",
        mount.counts()
    );
    let counts = mount.counts();
    assert_eq!(
        (counts.opendir, counts.open_dirs, counts.open_dirs_max),
        (1, 0, 1)
    );
    assert_eq!(
        counts.readdir, 2,
        "one with entries, one that says that there are no more"
    );
    assert!(!mount.wait_for(Duration::from_millis(10), |counts| counts.releasedir == 2));
}

#[test]
fn the_kernel_caches_only_when_allowed() {
    let fs = FaultFs::builder().entries("x 1").cache(LONG, LONG);
    let mount = or_skip!(fs.mount());
    for _ in 0..3 {
        stat(&mount.join("x")).unwrap();
    }
    assert_eq!((mount.counts().lookup, mount.counts().getattr), (1, 0));
}

#[test]
fn listings_go_on_at_any_offset_in_short_replies() {
    let fs = FaultFs::builder()
        .files("d", 50, 0)
        .entries_per_readdir_max(7);
    let mount = or_skip!(fs.mount());
    let path = mount.join("d");
    let mut dir = Dir::new(open(&path).unwrap()).unwrap();
    let mut all = Vec::new();
    while let Some(entry) = dir.read() {
        let entry = entry.unwrap();
        all.push((entry.file_name().to_owned(), entry.offset()));
    }
    assert_eq!(all.len(), 52);
    // ⌈52 / 7⌉ and the empty one.
    assert_eq!(mount.counts_of("d").readdir, 9);
    for window in all.windows(2) {
        dir.seek(window[0].1).unwrap();
        let next = dir.read().unwrap().unwrap();
        assert_eq!(
            next.file_name(),
            window[1].0.as_c_str(),
            "after offset {}",
            window[0].1
        );
    }
}
