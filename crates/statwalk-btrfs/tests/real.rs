// SPDX-License-Identifier: MIT OR Apache-2.0

//! The trees of a btrfs on a loop device, against lstat of what is mounted.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do, and say why"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FallocateFlags, FileType, Gid, Mode, Timespec, Timestamps, Uid, chownat,
    fallocate, makedev, mknodat, utimensat,
};
use statwalk_btrfs::dir_item::dir_items;
use statwalk_btrfs::extent_data::{ExtentData, Place};
use statwalk_btrfs::inode_item::{InodeItem, Time};
use statwalk_btrfs::inode_ref::{inode_extrefs, inode_refs};
use statwalk_btrfs::root_item::RootItem;
use statwalk_btrfs::root_ref::RootRef;
use statwalk_btrfs::search_items::search_items;
use statwalk_btrfs::{Key, kind};
use statwalk_sys::btrfs::{SearchKey, fs_info, subvol_info, subvol_rootrefs, tree_id, tree_search};
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Scratch, or_skip};

/// A directory's inode and a name in it.
type NameIn = (u64, Vec<u8>);

/// The facts in the items of a subvolume.
#[derive(Default)]
struct FromTree {
    inodes: BTreeMap<u64, InodeItem>,
    /// Names by INODE_REF and INODE_EXTREF.
    names: BTreeMap<NameIn, u64>,
    names_apart: usize,
    /// By DIR_INDEX: what it leads to, and its type.
    entries: BTreeMap<NameIn, (Key, u8)>,
    entries_by_hash: BTreeSet<NameIn>,
    /// Of each inode: data in the tree, extents, holes, reserved extents.
    extents: BTreeMap<u64, [u64; 4]>,
}

fn each_item(fd: &File, tree: u64, first: Key, last: Key, mut action: impl FnMut(Key, &[u8])) {
    let mut buffer = vec![0; 16 << 10];
    let mut search = SearchKey::whole(tree);
    (search.first, search.last) = (first, last);
    loop {
        let found = tree_search(fd.as_fd(), &search, &mut buffer).unwrap();
        let mut end = None;
        for item in search_items(found.bytes, found.item_count) {
            let item = item.unwrap();
            action(item.key, item.bytes);
            end = Some(item.key);
        }
        let Some(next) = end.and_then(Key::next).filter(|next| *next <= last) else {
            return;
        };
        search.first = next;
    }
}

fn read_tree(fd: &File) -> FromTree {
    let mut tree = FromTree::default();
    let first = Key {
        objectid: kind::FIRST_FREE,
        ..Key::MIN
    };
    let last = Key {
        objectid: kind::LAST_FREE,
        ..Key::MAX
    };
    each_item(fd, 0, first, last, |key, bytes| {
        let inode = key.objectid;
        match key.kind {
            kind::INODE_ITEM => {
                let item = InodeItem::parse(bytes).unwrap();
                assert!(tree.inodes.insert(inode, item).is_none());
            }
            kind::INODE_REF | kind::INODE_EXTREF => {
                let refs = if key.kind == kind::INODE_REF {
                    inode_refs(bytes, key.offset)
                } else {
                    tree.names_apart += 1;
                    inode_extrefs(bytes)
                };
                for name in refs {
                    let name = name.unwrap();
                    if (name.parent, name.name) == (inode, b"..") {
                        assert_eq!(inode, kind::FIRST_FREE);
                        continue;
                    }
                    let place = (name.parent, name.name.to_vec());
                    assert!(tree.names.insert(place, inode).is_none());
                }
            }
            kind::DIR_INDEX => {
                for entry in dir_items(bytes) {
                    let entry = entry.unwrap();
                    let place = (inode, entry.name.to_vec());
                    let what = (entry.location, entry.file_type);
                    assert!(tree.entries.insert(place, what).is_none());
                }
            }
            kind::DIR_ITEM => {
                for entry in dir_items(bytes) {
                    let place = (inode, entry.unwrap().name.to_vec());
                    assert!(tree.entries_by_hash.insert(place));
                }
            }
            kind::EXTENT_DATA => {
                let data = ExtentData::parse(bytes).unwrap();
                let extents = tree.extents.entry(inode).or_default();
                match data.place {
                    Place::Inline(_) => extents[0] += data.ram_bytes,
                    Place::Regular(part) if part.is_hole() => extents[2] += part.num_bytes,
                    Place::Regular(part) => extents[1] += part.num_bytes,
                    Place::Preallocated(part) => extents[3] += part.num_bytes,
                }
            }
            _ => {}
        }
    });
    tree
}

/// The mounted tree, by lstat; nested subvolumes are not entered.
fn read_mounted(top: &Path) -> BTreeMap<NameIn, Metadata> {
    let device = fs::symlink_metadata(top).unwrap().dev();
    let mut found = BTreeMap::new();
    let mut waiting = vec![top.to_owned()];
    while let Some(directory) = waiting.pop() {
        let parent = fs::symlink_metadata(&directory).unwrap().ino();
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_dir() && metadata.dev() == device {
                waiting.push(path.clone());
            }
            let name = path.file_name().unwrap().to_owned().into_vec();
            assert!(found.insert((parent, name), metadata).is_none());
        }
    }
    found
}

fn check_inode(inode: &InodeItem, metadata: &Metadata, sector_bytes: u32) {
    assert_eq!(inode.size_bytes, metadata.size());
    assert_eq!(inode.blocks(sector_bytes), metadata.blocks());
    assert_eq!(u64::from(inode.link_count), metadata.nlink());
    assert_eq!(inode.mode, metadata.mode());
    assert_eq!((inode.uid, inode.gid), (metadata.uid(), metadata.gid()));
    let (major, minor) = inode.device();
    assert_eq!(makedev(major, minor), metadata.rdev());
    let time = |seconds, nanoseconds: i64| Time {
        seconds,
        nanoseconds: nanoseconds.try_into().unwrap(),
    };
    assert_eq!(inode.atime, time(metadata.atime(), metadata.atime_nsec()));
    assert_eq!(inode.ctime, time(metadata.ctime(), metadata.ctime_nsec()));
    assert_eq!(inode.mtime, time(metadata.mtime(), metadata.mtime_nsec()));
    let made = metadata.created().unwrap();
    let made = made.duration_since(std::time::UNIX_EPOCH).unwrap();
    let btime = Time {
        seconds: made.as_secs().cast_signed(),
        nanoseconds: made.subsec_nanos(),
    };
    assert_eq!(inode.btime, btime);
}

/// Compares everything; returns what the tree said, for further questions.
fn compare(top: &Path) -> FromTree {
    // Listing changes access times, once; after that all is written.
    read_mounted(top);
    statwalk_testkit::settle(top).unwrap();
    let fd = File::open(top).unwrap();
    let sector_bytes = fs_info(fd.as_fd()).unwrap().sector_bytes;
    let tree = read_tree(&fd);
    let mounted = read_mounted(top);

    let top_inode = fs::symlink_metadata(top).unwrap();
    assert_eq!(top_inode.ino(), kind::FIRST_FREE);
    check_inode(&tree.inodes[&kind::FIRST_FREE], &top_inode, sector_bytes);
    let mut inodes = BTreeSet::from([kind::FIRST_FREE]);
    for (place, metadata) in &mounted {
        let (location, file_type) = tree.entries[place];
        assert!(tree.entries_by_hash.contains(place));
        if location.kind == kind::ROOT_ITEM {
            assert_eq!(metadata.ino(), kind::FIRST_FREE);
            assert_ne!(metadata.dev(), top_inode.dev());
            assert_eq!(file_type, 2);
            assert!(!tree.names.contains_key(place));
            continue;
        }
        assert_eq!(tree.names.get(place), Some(&metadata.ino()), "{place:?}");
        assert_eq!(location.objectid, metadata.ino());
        assert_eq!(location.kind, kind::INODE_ITEM);
        assert_eq!(type_of(file_type), metadata.mode() & 0o170_000);
        check_inode(&tree.inodes[&metadata.ino()], metadata, sector_bytes);
        inodes.insert(metadata.ino());
    }
    assert_eq!(tree.entries.len(), mounted.len());
    assert_eq!(tree.entries_by_hash.len(), mounted.len());
    assert!(tree.names.len() <= mounted.len());
    assert_eq!(inodes, tree.inodes.keys().copied().collect());
    tree
}

/// The type bits of `BTRFS_FT_*`.
fn type_of(file_type: u8) -> u32 {
    let types = [
        0, 0o100_000, 0o040_000, 0o020_000, 0o060_000, 0o010_000, 0o140_000, 0o120_000,
    ];
    types[usize::from(file_type)]
}

fn make_all_kinds(top: &Path) {
    let odd = top.join(OsStr::from_bytes(b"odd \xff\n\"name"));
    fs::create_dir(&odd).unwrap();
    let mut deep = odd.clone();
    for level in 0..30 {
        deep.push(format!("level {level}"));
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("n".repeat(255)), b"inline").unwrap();
    for number in 0..3000 {
        let directory = top.join(format!("many {}", number % 7));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(number.to_string()), vec![b'x'; number]).unwrap();
    }

    let file = File::create(top.join("sparse")).unwrap();
    file.write_all_at(&[1; 10_000], 1 << 20).unwrap();
    file.set_len(1 << 30).unwrap();
    let file = File::create(top.join("reserved")).unwrap();
    fallocate(&file, FallocateFlags::KEEP_SIZE, 0, 1 << 20).unwrap();
    file.write_all_at(&[1; 4096], 8192).unwrap();
    fs::write(top.join("empty"), b"").unwrap();
    fs::write(top.join("large"), vec![7; 3 << 20]).unwrap();

    // So many that they do not fit into one item.
    let links = top.join("links");
    fs::create_dir(&links).unwrap();
    let target = links.join("target");
    fs::write(&target, b"linked").unwrap();
    for number in 0..200 {
        fs::hard_link(&target, links.join(format!("{number:0200}"))).unwrap();
    }
    fs::hard_link(&target, top.join("elsewhere")).unwrap();

    std::os::unix::fs::symlink("where it leads", top.join("symlink")).unwrap();
    let mode = Mode::from_raw_mode(0o640);
    let device = makedev(259, 70_000);
    for (name, file_type, device) in [
        ("fifo", FileType::Fifo, 0),
        ("socket", FileType::Socket, 0),
        ("character", FileType::CharacterDevice, makedev(1, 3)),
        ("block", FileType::BlockDevice, device),
    ] {
        mknodat(CWD, top.join(name), file_type, mode, device).unwrap();
    }
    chownat(
        CWD,
        top.join("fifo"),
        Some(Uid::from_raw(4_000_000_000)),
        Some(Gid::from_raw(7)),
        AtFlags::empty(),
    )
    .unwrap();
    // Before 1970, and after 2038 and 2106.
    for (name, seconds) in [("symlink", -5), ("empty", 1 << 31), ("large", 1 << 33)] {
        let time = Timespec {
            tv_sec: seconds,
            tv_nsec: 123_456_789,
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        utimensat(CWD, top.join(name), &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}

#[test]
fn a_tree_says_what_lstat_says() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let _btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    make_all_kinds(&at);
    let inner = at.join("many 3/inner");
    or_skip!(mounts::btrfs_subvolume(&inner));
    make_all_kinds(&inner);
    or_skip!(mounts::btrfs_snapshot(&inner, &at.join("copy")));
    let innermost = inner.join("innermost");
    or_skip!(mounts::btrfs_subvolume(&innermost));

    for top in [&at, &inner, &at.join("copy"), &innermost] {
        let tree = compare(top);
        if top == &innermost {
            assert_eq!(tree.entries.len(), 0);
            continue;
        }
        assert!(tree.names_apart > 0);
        let extents = |name: &str| tree.extents.get(&inode(&top.join(name))).copied();
        assert_eq!(extents("links/target"), Some([6, 0, 0, 0]));
        assert_eq!(extents("many 0/700"), Some([700, 0, 0, 0]));
        assert_eq!(extents("symlink"), Some([14, 0, 0, 0]));
        assert_eq!(extents("empty"), None);
        let [_, data, _, _] = extents("large").unwrap();
        assert_eq!(data, 3 << 20);
        // Holes have no items in a file system made today (`no-holes`).
        let [_, data, _, _] = extents("sparse").unwrap();
        assert_eq!(data, 12 << 10);
        let [_, data, _, reserved] = extents("reserved").unwrap();
        assert_eq!((data, reserved), (4096, (1 << 20) - 4096));
    }
}

fn inode(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

#[test]
fn roots_say_what_the_ioctls_say() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::create_dir(at.join("dir")).unwrap();
    let inner = at.join("dir/inner");
    or_skip!(mounts::btrfs_subvolume(&inner));
    or_skip!(mounts::btrfs_snapshot(&inner, &at.join("copy")));
    fs::write(inner.join("file"), b"later").unwrap();
    btrfs.settle().unwrap();

    let top = File::open(&at).unwrap();
    let mut refs = Vec::new();
    subvol_rootrefs(top.as_fd(), 0, &mut refs).unwrap();
    let (mut roots, mut down, mut up) = (BTreeMap::new(), Vec::new(), Vec::new());
    each_item(
        &top,
        kind::ROOT_TREE,
        Key::MIN,
        Key::MAX,
        |key, bytes| match key.kind {
            kind::ROOT_ITEM => {
                roots.insert(key.objectid, RootItem::parse(bytes).unwrap());
            }
            kind::ROOT_REF => {
                let found = RootRef::parse(bytes).unwrap();
                down.push((
                    key.objectid,
                    key.offset,
                    found.directory,
                    found.name.to_vec(),
                ));
            }
            kind::ROOT_BACKREF => {
                let found = RootRef::parse(bytes).unwrap();
                up.push((
                    key.offset,
                    key.objectid,
                    found.directory,
                    found.name.to_vec(),
                ));
            }
            _ => {}
        },
    );
    up.sort();
    assert_eq!(down, up);
    let names: Vec<_> = down.iter().map(|(_, _, _, name)| name.as_slice()).collect();
    assert_eq!(names, [b"inner", b"copy" as &[u8]]);
    let told: Vec<_> = refs
        .iter()
        .map(|inner| (kind::FS_TREE, inner.tree_id, inner.directory))
        .collect();
    let read: Vec<_> = down.iter().map(|(a, b, c, _)| (*a, *b, *c)).collect();
    assert_eq!(read, told);
    assert_eq!(down[0].2, inode(&at.join("dir")));

    for path in [&at, &inner, &at.join("copy")] {
        let file = File::open(path).unwrap();
        let info = subvol_info(file.as_fd()).unwrap();
        assert_eq!(tree_id(file.as_fd()).unwrap(), info.tree_id);
        let root = roots[&info.tree_id];
        assert_eq!(root.generation, info.generation);
        assert_eq!(root.flags, info.flags);
        assert_eq!(root.ref_count, 1);
        assert!(root.used_bytes >= 16 << 10 && root.bytenr > 0);
        let history = root.history.unwrap();
        assert_eq!(history.uuid, info.uuid);
        assert_eq!(history.parent_uuid, info.parent_uuid);
        assert_eq!(history.ctransid, info.changed_transid);
        assert_eq!(history.otransid, info.made_transid);
    }
    let inner_root = roots[&down[0].1];
    let copy_made = roots[&down[1].1].history.unwrap().otransid;
    assert!(inner_root.last_snapshot > 0 && inner_root.last_snapshot <= copy_made);
    assert!(inner_root.generation > inner_root.last_snapshot);
}

#[test]
fn extents_tell_compression_and_sharing() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    let squeezed = at.join("squeezed");
    let file = File::create_new(&squeezed).unwrap();
    let property = std::process::Command::new("btrfs")
        .args(["property", "set"])
        .arg(&squeezed)
        .args(["compression", "zstd"])
        .output();
    assert!(property.unwrap().status.success());
    file.write_all_at(&vec![b'z'; 1 << 20], 0).unwrap();
    let plain = File::create_new(at.join("plain")).unwrap();
    plain.write_all_at(&vec![b'p'; 1 << 20], 0).unwrap();
    btrfs.settle().unwrap();
    let clone = File::create_new(at.join("clone")).unwrap();
    rustix::fs::ioctl_ficlone(&clone, &file).unwrap();
    // A part of an extent that stays whole.
    plain.write_all_at(b"new", 512 << 10).unwrap();
    compare(&at);

    let mut extents: BTreeMap<u64, Vec<(u64, ExtentData<'static>)>> = BTreeMap::new();
    let top = File::open(&at).unwrap();
    each_item(&top, 0, Key::MIN, Key::MAX, |key, bytes| {
        if key.kind == kind::EXTENT_DATA {
            let data = ExtentData::parse(bytes).unwrap();
            let Place::Regular(part) = data.place else {
                panic!("{data:?}");
            };
            let data = ExtentData {
                place: Place::Regular(part),
                ..data
            };
            extents
                .entry(key.objectid)
                .or_default()
                .push((key.offset, data));
        }
    });
    let of = |name: &str| extents[&inode(&at.join(name))].clone();
    let parts = |name: &str| {
        of(name)
            .into_iter()
            .map(|(_, data)| match data.place {
                Place::Regular(part) => part,
                _ => unreachable!("only these were taken"),
            })
            .collect::<Vec<_>>()
    };
    // Compression works on 128 KiB, which become one sector each.
    for (offset, data) in of("squeezed") {
        assert_eq!((data.compression, data.ram_bytes), (3, 128 << 10));
        assert_eq!(offset % (128 << 10), 0);
    }
    assert!(
        parts("squeezed")
            .iter()
            .all(|part| part.disk_num_bytes == 4096 && part.num_bytes == 128 << 10)
    );
    assert_eq!(parts("squeezed").len(), 8);
    assert_eq!(parts("clone"), parts("squeezed"));
    // Before, new, after.
    let plain = parts("plain");
    assert_eq!(plain.len(), 3);
    assert_eq!(plain[0].disk_bytenr, plain[2].disk_bytenr);
    assert_eq!(plain[2].offset_bytes, (512 << 10) + 4096);
    assert_eq!(plain[0].disk_num_bytes, 1 << 20);
    assert_eq!((plain[1].disk_num_bytes, plain[1].num_bytes), (4096, 4096));
    let in_file: u64 = plain.iter().map(|part| part.num_bytes).sum();
    assert_eq!(in_file, 1 << 20);
}
