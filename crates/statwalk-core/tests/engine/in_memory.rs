// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees in memory: the same answers as from a file system that holds the same tree.

use proptest::prelude::*;
use statwalk_core::{Exclusions, FileType, MemoryEntry, MemoryTree, Scan, SymlinkPolicy, Totals};
use statwalk_testkit::model::{EntryType, Model, NodeKind};
use statwalk_testkit::strategy;

use super::harness::agreement::counts;
use super::harness::listing::Listing;
use super::harness::{ORDERS, scratch_in_memory};
use crate::harness::sizes;

/// The model below `/t`.
fn in_memory(model: &Model) -> MemoryTree {
    let below_t = |path: Vec<u8>| [b"t/".as_slice(), &path].concat();
    let mut tree = MemoryTree::new();
    tree.insert("t", MemoryEntry::directory()).unwrap();
    for (id, node) in model.nodes().skip(1) {
        let path = below_t(model.path(id));
        let entry = match &node.kind {
            NodeKind::HardLink { to } => {
                tree.hard_link(path, below_t(model.path(*to))).unwrap();
                continue;
            }
            NodeKind::Symlink { target } => MemoryEntry::symlink(target),
            _ => {
                MemoryEntry::of_type(kind_of(model.entry_type(id))).size_bytes(model.size_bytes(id))
            }
        };
        tree.insert(path, entry).unwrap();
    }
    tree
}

fn kind_of(kind: EntryType) -> FileType {
    match kind {
        EntryType::Directory => FileType::Directory,
        EntryType::File => FileType::File,
        EntryType::Symlink => FileType::Symlink,
        EntryType::Fifo => FileType::Fifo,
        EntryType::Socket => FileType::Socket,
        EntryType::CharDevice => FileType::CharDevice,
        EntryType::BlockDevice => FileType::BlockDevice,
        EntryType::Unknown => FileType::Unknown,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_in_memory_agrees_with_the_same_on_disk(
        model in strategy::model(),
        threads in 1..5_usize,
        count_only in any::<bool>(),
        depth in 0..6_u32,
    ) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        model.materialise(&dir).unwrap();
        let tree = in_memory(&model);
        let sink = if count_only { Listing::of_names() } else { Listing::with_sizes() };
        let exclusions = Exclusions::new().glob(b"[a-f]").unwrap();
        for order in ORDERS {
            let scan = |root: &std::path::Path| Scan::new(root).order(order).threads(threads);
            let in_memory = scan("/t".as_ref()).run_in_memory(tree.clone(), &Totals::new());
            let in_memory = in_memory.unwrap();
            prop_assert!(in_memory.report.is_complete());
            prop_assert_eq!(in_memory.report.plan.source, "memory");
            let found = counts(&in_memory.output[0], &in_memory.report.roots[0]);
            prop_assert_eq!(found.totals(), model.totals());

            let scan = |root| scan(root).max_depth(depth).exclusions(exclusions.clone());
            let here = scan("/t".as_ref()).run_in_memory(tree.clone(), &sink).unwrap();
            let there = scan(dir.as_ref()).run(&sink).unwrap();
            prop_assert_eq!(here.report.roots[0].excluded, there.report.roots[0].excluded);
            let below = |mut listed: Vec<super::harness::listing::Listed>, root: usize| {
                for entry in &mut listed {
                    entry.path.drain(..root);
                }
                listed.sort();
                listed
            };
            let there = below(there.output, dir.as_os_str().len());
            prop_assert_eq!(below(here.output, 2), there);
        }
    }
}

#[test]
fn links_are_followed_as_on_disk() {
    let mut tree = MemoryTree::new();
    tree.insert("t/a/file", MemoryEntry::file(10)).unwrap();
    tree.insert("t/to_file", MemoryEntry::symlink("a/file"))
        .unwrap();
    tree.insert("t/to_outside", MemoryEntry::symlink("../outside"))
        .unwrap();
    tree.insert("t/circle", MemoryEntry::symlink("circle"))
        .unwrap();
    tree.insert("t/up", MemoryEntry::symlink("..")).unwrap();
    tree.insert("outside/large", MemoryEntry::file(500))
        .unwrap();
    let scratch = scratch_in_memory();
    let at = |path: &str| scratch.path().join(path);
    std::fs::create_dir_all(at("t/a")).unwrap();
    std::fs::create_dir(at("outside")).unwrap();
    std::fs::write(at("t/a/file"), [0; 10]).unwrap();
    std::fs::write(at("outside/large"), [0; 500]).unwrap();
    for (target, link) in [
        ("a/file", "t/to_file"),
        ("../outside", "t/to_outside"),
        ("circle", "t/circle"),
        ("..", "t/up"),
    ] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    let follow = |root: &std::path::Path| Scan::new(root).symlinks(SymlinkPolicy::Follow);
    let sink = Totals::new();
    let here = follow("/t".as_ref()).run_in_memory(tree, &sink).unwrap();
    let there = follow(&at("t")).run(&sink).unwrap();
    let of = |totals: &statwalk_core::RootTotals| {
        (
            totals.entries,
            totals.files,
            totals.dirs,
            totals.symlinks,
            sizes(totals).file_size_bytes,
        )
    };
    assert_eq!(of(&here.output[0]), of(&there.output[0]));
    assert_eq!(sizes(&here.output[0]).file_size_bytes, 510);
    assert!(here.report.is_complete() && there.report.is_complete());
}

#[test]
fn several_roots_share_a_tree() {
    let mut tree = MemoryTree::new();
    tree.insert("a/b/file", MemoryEntry::file(1)).unwrap();
    tree.insert("a/other", MemoryEntry::file(2)).unwrap();
    let roots = ["/a/b", "/a", "/a/other", "/missing"];
    let outcome = Scan::of(roots).run_in_memory(tree, &Totals::new()).unwrap();
    let sums: Vec<u128> = outcome
        .output
        .iter()
        .map(|root| sizes(root).file_size_bytes)
        .collect();
    assert_eq!(sums, [1, 2, 0, 0]);
    assert!(outcome.report.roots[3].missing.is_some());
}
