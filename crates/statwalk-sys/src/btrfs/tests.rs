// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use statwalk_btrfs::Key;
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Scratch, or_skip};

const ROOT_TREE: u64 = 1;
const TOP: u64 = 5;

/// The keys of an answer, and how many bytes its items took.
fn keys(found: Found<'_>) -> (Vec<Key>, usize) {
    let mut at = 0;
    let mut keys = Vec::new();
    for _ in 0..found.item_count {
        let number =
            |from: usize| u64::from_ne_bytes(*found.bytes[at + from..].first_chunk::<8>().unwrap());
        let short =
            |from: usize| u32::from_ne_bytes(*found.bytes[at + from..].first_chunk::<4>().unwrap());
        keys.push(Key {
            objectid: number(8),
            kind: short(24).try_into().unwrap(),
            offset: number(16),
        });
        at += 32 + short(28) as usize;
    }
    (keys, at)
}

fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> Option<i32> {
    result.unwrap_err().raw_os_error()
}

#[test]
fn another_file_system_does_not_know_them() {
    let file = File::open("/proc/self/status").unwrap();
    let fd = file.as_fd();
    let search = SearchKey::whole(0);
    assert_eq!(errno(tree_id(fd)), Some(libc::ENOTTY));
    assert_eq!(errno(fs_info(fd)), Some(libc::ENOTTY));
    assert_eq!(errno(subvol_info(fd)), Some(libc::ENOTTY));
    assert_eq!(
        errno(subvol_rootrefs(fd, 0, &mut Vec::new())),
        Some(libc::ENOTTY)
    );
    assert_eq!(
        errno(tree_search(fd, &search, &mut [0; 4096])),
        Some(libc::ENOTTY)
    );
    assert_eq!(
        errno(tree_search(fd, &search, &mut [0; 111])),
        Some(libc::EINVAL)
    );
}

#[test]
fn subvolumes_are_told_without_privileges() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    let inner = at.join("dir/inner");
    std::fs::create_dir(at.join("dir")).unwrap();
    or_skip!(mounts::btrfs_subvolume(&inner));
    std::fs::write(inner.join("file"), b"x").unwrap();
    btrfs.settle().unwrap();
    or_skip!(mounts::btrfs_snapshot(&inner, &at.join("copy")));

    let open = |path: &Path| File::open(path).unwrap();
    let (top, in_inner, copy) = (open(&at), open(&inner.join("file")), open(&at.join("copy")));
    assert_eq!(tree_id(top.as_fd()).unwrap(), TOP);
    let inner_id = tree_id(in_inner.as_fd()).unwrap();
    let copy_id = tree_id(copy.as_fd()).unwrap();
    assert!(inner_id >= 256 && copy_id > inner_id);

    let info = subvol_info(top.as_fd()).unwrap();
    assert_eq!((info.tree_id, info.parent_tree_id), (TOP, None));
    assert_eq!(info.name(), b"");
    let inner_info = subvol_info(in_inner.as_fd()).unwrap();
    assert_eq!(inner_info.tree_id, inner_id);
    assert_eq!(inner_info.parent_tree_id, Some(TOP));
    assert_eq!(inner_info.name(), b"inner");
    assert_eq!(inner_info.flags, 0);
    assert_eq!(inner_info.parent_uuid, [0; 16]);
    let copy_info = subvol_info(copy.as_fd()).unwrap();
    assert_eq!(copy_info.parent_uuid, inner_info.uuid);
    assert_eq!(copy_info.directory, 256);
    assert!(copy_info.made_transid > inner_info.made_transid);

    let mut refs = Vec::new();
    assert_eq!(subvol_rootrefs(top.as_fd(), 0, &mut refs).unwrap(), None);
    let expected = [
        RootRef {
            tree_id: inner_id,
            directory: inner_info.directory,
        },
        RootRef {
            tree_id: copy_id,
            directory: 256,
        },
    ];
    assert_eq!(refs, expected);
    assert_eq!(
        subvol_rootrefs(top.as_fd(), copy_id, &mut refs).unwrap(),
        None
    );
    assert_eq!(refs[2..], expected[1..]);
    assert_eq!(
        subvol_rootrefs(in_inner.as_fd(), 0, &mut refs).unwrap(),
        None
    );
    assert_eq!(refs.len(), 3);

    let info = fs_info(top.as_fd()).unwrap();
    assert_eq!(info.device_count, 1);
    assert_eq!(info.sector_bytes, 4096);
    assert_eq!(info.node_bytes, 16384);
    assert!(info.generation.unwrap() >= copy_info.made_transid);
    assert_ne!(info.fsid, [0; 16]);
}

#[test]
fn inodes_open_by_their_numbers() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    or_skip!(mounts::btrfs_subvolume(&at.join("one")));
    std::fs::write(at.join("one/file"), b"old").unwrap();
    btrfs.settle().unwrap();
    or_skip!(mounts::btrfs_snapshot(&at.join("one"), &at.join("two")));
    std::fs::write(at.join("one/file"), b"new").unwrap();
    let top = File::open(&at).unwrap();
    for (volume, content) in [("one", "new"), ("two", "old")] {
        let file = File::open(at.join(volume).join("file")).unwrap();
        let inode = file.metadata().unwrap().ino();
        let tree = tree_id(file.as_fd()).unwrap();
        let opened = File::from(open_inode(top.as_fd(), tree, inode).unwrap());
        assert_eq!(std::io::read_to_string(opened).unwrap(), content);
        let outcome = open_inode(top.as_fd(), tree, inode + 1000);
        assert_eq!(errno(outcome), Some(libc::ESTALE));
    }
    let proc = File::open("/proc/self/status").unwrap();
    assert!(open_inode(proc.as_fd(), TOP, 256).is_err());
}

#[test]
fn more_subvolumes_than_one_answer_holds() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let _btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    for number in 0..300 {
        or_skip!(mounts::btrfs_subvolume(&at.join(number.to_string())));
    }
    let top = File::open(&at).unwrap();
    let mut refs = Vec::new();
    let more = subvol_rootrefs(top.as_fd(), 0, &mut refs).unwrap();
    assert_eq!(refs.len(), 255);
    assert_eq!(more, Some(refs[254].tree_id + 1));
    let more = subvol_rootrefs(top.as_fd(), more.unwrap(), &mut refs).unwrap();
    assert_eq!((refs.len(), more), (300, None));
    assert!(refs.is_sorted_by_key(|inner| inner.tree_id));
}

#[test]
fn a_search_finds_all_items_whatever_the_buffer() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mount").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    for number in 0..2000 {
        std::fs::write(at.join(number.to_string()), b"content").unwrap();
    }
    btrfs.settle().unwrap();
    let top = File::open(&at).unwrap();
    let all = |tree: u64, bytes: usize| {
        let mut buffer = vec![0; bytes];
        let mut search = SearchKey::whole(tree);
        let mut all: Vec<Key> = Vec::new();
        loop {
            let found = tree_search(top.as_fd(), &search, &mut buffer).unwrap();
            let (keys, used) = keys(found);
            assert!(used <= bytes - SEARCH_ARGUMENT_BYTES);
            let Some(last) = keys.last() else { break };
            assert!(keys.is_sorted() && keys[0] >= search.first);
            search.first = last.next().unwrap();
            all.extend(keys);
        }
        all
    };
    let expected = all(0, 1 << 20);
    let inodes = expected.iter().filter(|key| key.kind == 1);
    assert_eq!(inodes.count(), 2001);
    for bytes in [4096, 16 << 10, 64 << 10] {
        assert_eq!(all(TOP, bytes), expected, "{bytes}");
    }
    assert!(all(ROOT_TREE, 64 << 10).len() > 5);

    // Bounds, a count, transactions, a place that is not aligned.
    let mut buffer = vec![0; (64 << 10) + 1];
    let mut search = SearchKey::whole(0);
    search.first = expected[100];
    search.last = expected[109];
    let found = tree_search(top.as_fd(), &search, &mut buffer[1..]).unwrap();
    assert_eq!(keys(found).0, expected[100..110]);
    search.items_max = 3;
    let found = tree_search(top.as_fd(), &search, &mut buffer).unwrap();
    assert_eq!(keys(found).0, expected[100..103]);
    search.transid_min = fs_info(top.as_fd()).unwrap().generation.unwrap() + 1;
    let found = tree_search(top.as_fd(), &search, &mut buffer).unwrap();
    assert_eq!(found.item_count, 0);

    let whole = SearchKey::whole(0);
    for bytes in [112, 150] {
        let outcome = tree_search(top.as_fd(), &whole, &mut buffer[..bytes]);
        assert_eq!(errno(outcome), Some(libc::EOVERFLOW), "{bytes}");
    }
    let outcome = tree_search(top.as_fd(), &SearchKey::whole(1 << 40), &mut buffer);
    assert_eq!(errno(outcome), Some(libc::ENOENT));
}

#[test]
fn the_space_of_each_kind_is_told() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    std::fs::write(at.join("file"), vec![1; 5 << 20]).unwrap();
    mounted.settle().unwrap();
    let infos = space_info(File::open(&at).unwrap().as_fd()).unwrap();
    let data: Vec<_> = infos.iter().filter(|info| info.holds_data()).collect();
    assert_eq!(data.len(), 1, "{infos:?}");
    assert_eq!((data[0].used_bytes, data[0].copies()), (5 << 20, 1));
    let reserve = infos.iter().filter(|info| info.is_global_reserve());
    assert_eq!(reserve.count(), 1);
    // As mkfs.btrfs makes it on one device: metadata is DUP.
    let metadata = infos.iter().find(|info| info.flags & 4 != 0).unwrap();
    assert!(
        metadata.used_bytes > 0 && metadata.copies() == 2,
        "{metadata:?}"
    );

    let null = File::open("/dev/null").unwrap();
    assert!(space_info(null.as_fd()).is_err());
}
