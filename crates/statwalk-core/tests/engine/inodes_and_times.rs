// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees that count inodes, or keep the newest of one time: in every order, with and
//! without files, against a recursion over std.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use statwalk_core::{Fields, LinkPolicy, Node, Scan, Source, Time, TreeSink};
use statwalk_testkit::{Scratch, settle, trees};

use super::harness::{ORDERS, THREADS, scratch_in_memory};

const TIMES: [Time; 3] = [Time::Modified, Time::Accessed, Time::Changed];

fn time_ns(of: &Metadata, kind: Time) -> i64 {
    let (seconds, ns) = match kind {
        Time::Modified => (of.mtime(), of.mtime_nsec()),
        Time::Accessed => (of.atime(), of.atime_nsec()),
        _ => (of.ctime(), of.ctime_nsec()),
    };
    seconds * 1_000_000_000 + ns
}

/// Goes through a tree with std.
fn visit(path: &Path, see: &mut impl FnMut(&Metadata)) {
    let metadata = path.symlink_metadata().unwrap();
    see(&metadata);
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            visit(&entry.unwrap().path(), see);
        }
    }
}

/// The number of inodes and of names below a path.
fn inodes_and_names(path: &Path) -> (u64, u64) {
    let (mut inodes, mut names) = (HashSet::new(), 0);
    visit(path, &mut |metadata| {
        inodes.insert((metadata.dev(), metadata.ino()));
        names += 1;
    });
    (inodes.len() as u64, names)
}

fn newest_ns(path: &Path, kind: Time) -> Option<i64> {
    let mut newest = None;
    visit(path, &mut |metadata| {
        newest = newest.max(Some(time_ns(metadata, kind)))
    });
    newest
}

/// The sum over the nodes directly below a node, and itself.
fn sum_below(node: Node<'_>) -> u64 {
    let below: u64 = node.children().map(|child| child.entries()).sum();
    let files = node.files().filter(|file| !file.is_extra_link());
    1 + below + files.count() as u64
}

#[test]
fn inodes_are_those_of_std_in_every_order() {
    let scratch = Scratch::new().unwrap();
    let (mut fewer, mut trees_seen) = (0, 0);
    for (name, tree) in trees::named() {
        // Their paths are too long for std, or their directories locked.
        if ["deep", "permissions"].contains(&name) {
            continue;
        }
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        settle(&dir).unwrap();
        let (inodes, names) = inodes_and_names(&dir);
        fewer += u32::from(inodes < names);
        trees_seen += 1;
        for order in ORDERS {
            for threads in THREADS {
                let scan = Scan::new(&dir).order(order).threads(threads);
                let dirs = TreeSink::new().with_inode_counts();
                let files = TreeSink::new().with_files().with_inode_counts();
                let (dirs, files) = scan.run(&(dirs, files)).unwrap().output;
                let (dirs, files) = (dirs.root(0).unwrap(), files.root(0).unwrap());
                assert_eq!(dirs.entries(), inodes, "{name} {order:?} {threads}");
                assert_eq!(files.entries(), inodes, "{name} {order:?} {threads}");
                assert_eq!(sum_below(files), inodes, "{name} {order:?} {threads}");
                let each = scan.clone().links(LinkPolicy::Each);
                let each = each.run(&TreeSink::new().with_inode_counts()).unwrap();
                assert_eq!(each.output.root(0).unwrap().entries(), names, "{name}");
            }
        }
    }
    assert!(fewer > 0 && trees_seen > 5, "{fewer} of {trees_seen}");
}

#[test]
fn times_are_those_of_std_from_every_source() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    trees::hard_links().materialise(&dir).unwrap();
    fs::create_dir(dir.join("last")).unwrap();
    settle(&dir).unwrap();
    // Reading a directory changes the time of its access once.
    inodes_and_names(&dir);
    for source in [Source::Auto, Source::Posix] {
        for kind in TIMES {
            let scan = Scan::new(&dir).source(source);
            let sinks = (
                TreeSink::new().with_newest(kind),
                TreeSink::new().with_files().with_newest(kind),
                TreeSink::new(),
            );
            let (dirs, files, plain) = scan.run(&sinks).unwrap().output;
            let expected = newest_ns(&dir, kind);
            for tree in [&dirs, &files] {
                let root = tree.root(0).unwrap();
                assert_eq!(root.newest_time_ns(), expected, "{source:?} {kind:?}");
                assert_eq!(root.newest_mtime_ns(), None);
                for child in root.children() {
                    let path = dir.join(std::str::from_utf8(child.name()).unwrap());
                    assert_eq!(child.newest_time_ns(), newest_ns(&path, kind), "{path:?}");
                }
            }
            // Without the call it is the modification of files.
            let root = plain.root(0).unwrap();
            assert_eq!(root.newest_time_ns(), root.newest_mtime_ns());
            let last = root
                .children()
                .find(|child| child.name() == b"last")
                .unwrap();
            assert_eq!(last.newest_time_ns(), None);
        }
    }
}

/// Nanoseconds of 64 bits end in 2262. A later time was absent, seconds and all.
#[test]
fn seconds_are_those_of_std_in_any_year() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("t");
    trees::times().materialise(&dir).unwrap();
    let mut odd = 0;
    for entry in Scan::new(&dir).fields(Fields::MTIME).entries().unwrap() {
        let entry = entry.unwrap();
        let seconds = entry.to_path_buf().symlink_metadata().unwrap().mtime();
        assert_eq!(entry.attributes().mtime_s(), Some(seconds), "{entry:?}");
        odd += u32::from(entry.attributes().mtime_ns().is_none());
    }
    assert_eq!(odd, 1);
}
