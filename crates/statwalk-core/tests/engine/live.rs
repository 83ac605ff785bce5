// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sums that are read while the scan goes on: they only grow, and end as those of the
//! tree.

use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use statwalk_core::{
    DirId, FileType, LinkPolicy, LiveDir, LiveTree, MemoryEntry, MemoryTree, Node, NodeKind, Scan,
    SymlinkPolicy, Totals, TreeSink,
};
use statwalk_testkit::strategy;
use statwalk_testkit::trees::{WideFiles, make_wide};

use super::harness::{ORDERS, scratch_in_memory};
use crate::harness::sizes;

type Sums = (u64, u64, u128, u128);

fn of_live(dir: &LiveDir) -> Sums {
    let bytes = (dir.allocated_bytes, dir.apparent_bytes);
    (dir.entries, dir.dirs, bytes.0.into(), bytes.1.into())
}

fn compare(live: &LiveTree, dir: &LiveDir, node: Node<'_>) -> Result<(), TestCaseError> {
    prop_assert_eq!(&dir.name[..], node.name());
    let sums = (
        node.entries(),
        node.dir_count(),
        node.allocated_bytes().unwrap(),
        node.apparent_bytes().unwrap(),
    );
    prop_assert_eq!(of_live(dir), sums);
    let mut children = live.children(dir.id);
    children.sort_by(|a, b| a.name.cmp(&b.name));
    let mut nodes: Vec<Node<'_>> = node.children().collect();
    nodes.sort_by_key(Node::name);
    prop_assert_eq!(children.len(), nodes.len());
    for (child, node) in children.iter().zip(nodes) {
        compare(live, child, node)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_the_end_they_are_those_of_the_tree(tree in strategy::model(), threads in 1..5_usize) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        for order in ORDERS {
            let scan = Scan::new(&dir).threads(threads).order(order).links(LinkPolicy::Each);
            let live = LiveTree::new();
            let (tree, ()) = scan.run(&(TreeSink::new(), &live)).unwrap().output;
            let root = live.root(0).unwrap();
            compare(&live, &root, tree.root(0).unwrap())?;
        }
        // Each inode once, whichever name has it.
        for symlinks in [SymlinkPolicy::Keep, SymlinkPolicy::Follow] {
            let live = LiveTree::new();
            let scan = Scan::new(&dir).threads(threads).symlinks(symlinks);
            let totals = scan.run(&(&live, Totals::new())).unwrap().output.1;
            let root = live.root(0).unwrap();
            let bytes = sizes(&totals[0]).allocated_bytes;
            let expected = (totals[0].entries, totals[0].dirs, bytes);
            let found = (root.entries, root.dirs, u128::from(root.allocated_bytes));
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn they_only_grow() {
    let scratch = scratch_in_memory();
    for dir in 0..60 {
        let dir = scratch.path().join(dir.to_string());
        std::fs::create_dir(&dir).unwrap();
        for below in 0..50 {
            make_wide(&dir.join(below.to_string()), 10, WideFiles::Empty).unwrap();
        }
    }
    let live = LiveTree::new();
    let running = Scan::new(scratch.path())
        .threads(2)
        .start(live.clone())
        .unwrap();
    let mut before: HashMap<DirId, LiveDir> = HashMap::new();
    let mut looks_meanwhile = 0;
    loop {
        let is_over = running.wait_for(Duration::from_micros(300));
        let Some(root) = live.root(0) else { continue };
        let children = live.children(root.id);
        looks_meanwhile += u32::from(!is_over && !children.is_empty());
        for dir in children.into_iter().chain([root]) {
            let sums = of_live(&dir);
            if let Some(old) = before.insert(dir.id, dir) {
                let old = of_live(&old);
                assert!(old.0 <= sums.0 && old.1 <= sums.1 && old.2 <= sums.2);
            }
        }
        if is_over {
            break;
        }
    }
    let outcome = running.finish();
    assert!(outcome.report.is_complete());
    assert!(looks_meanwhile > 0, "it was over before anybody looked");
    let root = live.root(0).unwrap();
    assert_eq!(
        (root.entries, root.dirs),
        (1 + 60 * (1 + 50 * 11), 1 + 60 * 51)
    );
    let children = live.children(root.id);
    assert_eq!(children.len(), 60);
    assert!(children.iter().all(|child| child.entries == 1 + 50 * 11));
}

/// Sums wait on their way up a deep chain, and none gets lost there.
#[test]
fn a_deep_chain_has_all_sums() {
    const DEPTH: u64 = 500;
    let mut tree = MemoryTree::new();
    let mut path = String::from("t");
    for depth in 0..DEPTH {
        tree.insert(&path, MemoryEntry::directory()).unwrap();
        let file = MemoryEntry::of_type(FileType::File).size_bytes(depth);
        tree.insert(format!("{path}/f"), file).unwrap();
        path.push_str("/d");
    }
    let live = LiveTree::new();
    (Scan::new("t").threads(2).run_in_memory(tree, &live)).unwrap();
    let mut dir = live.root(0).unwrap();
    for depth in 0..DEPTH {
        let below = DEPTH - depth;
        let bytes: u64 = (depth..DEPTH).sum();
        let sums = (dir.entries, dir.dirs, dir.apparent_bytes);
        assert_eq!(sums, (2 * below, below, bytes), "at depth {depth}");
        let mut children = live.children(dir.id);
        if let Some(child) = children.pop() {
            dir = child;
        }
    }
}

/// A root that is no directory is there in both trees.
#[test]
fn a_file_can_be_a_root() {
    let scratch = scratch_in_memory();
    let file = scratch.path().join("f");
    std::fs::write(&file, [7; 5000]).unwrap();
    std::os::unix::fs::symlink("f", scratch.path().join("l")).unwrap();
    let roots = [file, scratch.path().join("l")];
    for sink in [TreeSink::new(), TreeSink::new().with_files()] {
        let live = LiveTree::new();
        let (tree, ()) = Scan::of(&roots).run(&(sink, &live)).unwrap().output;
        for (index, kind) in [FileType::File, FileType::Symlink].into_iter().enumerate() {
            let node = tree.root(index).unwrap();
            assert_eq!(node.kind(), NodeKind::Other(kind));
            assert!(!node.is_dir() && !node.is_extra_link());
            assert_eq!((node.files().count(), node.children().count()), (0, 0));
            compare(&live, &live.root(index).unwrap(), node).unwrap();
            assert_eq!((node.entries(), node.dir_count()), (1, 0));
        }
        assert_eq!(tree.root(0).unwrap().apparent_bytes(), Some(5000));
    }
}

/// States can be looked at meanwhile, one after another.
#[test]
fn states_can_be_looked_at() {
    let scratch = scratch_in_memory();
    for dir in 0..500 {
        make_wide(&scratch.path().join(dir.to_string()), 10, WideFiles::Empty).unwrap();
    }
    let scan = Scan::new(scratch.path()).threads(2);
    let sink = Totals::new();
    let running = scan.start(&sink).unwrap();
    let mut entries_before = 0;
    loop {
        let is_over = running.wait_for(Duration::from_micros(300));
        let mut entries = 0;
        running.peek(|state| entries += state.roots()[0].entries);
        assert!(
            entries >= entries_before,
            "{entries} after {entries_before}"
        );
        entries_before = entries;
        if is_over {
            break;
        }
    }
    let totals = running.finish().output;
    assert_eq!(
        (entries_before, totals[0].entries),
        (1 + 500 * 11, 1 + 500 * 11)
    );
}
