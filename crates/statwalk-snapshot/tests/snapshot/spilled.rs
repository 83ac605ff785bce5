// SPDX-License-Identifier: MIT OR Apache-2.0

//! A merge of rows on the disk gives the very bytes of one in memory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::prelude::*;
use statwalk_core::{Fields, Scan, SymlinkPolicy};
use statwalk_snapshot::{Facts, Folder, Manifest, MergeOptions, Part, Spool, check};
use statwalk_testkit::{Scratch, strategy, trees};

use crate::common::{TestMachine, part_of, store};

/// Stores a scan with so many rows in memory.
fn spooled(scan: &Scan, facts: Facts, at: &Path, rows_max: usize) -> Manifest {
    let folder = Folder::begin(at, 3).unwrap();
    let mut spool = Spool::new(&folder).with_rows_max(rows_max);
    let mut rows = scan.clone().fields(Fields::ALL).rows().unwrap();
    for next in &mut rows {
        match next {
            Ok(rows) => spool.add_rows(&rows).unwrap(),
            Err(error) => spool.add_error(&error),
        }
    }
    drop(rows);
    let manifest = spool
        .merge(facts, &mut TestMachine, &MergeOptions::default())
        .unwrap();
    let name = format!("spooled-{rows_max}");
    let path = folder.finish(&manifest, OsStr::new(&name)).unwrap();
    assert_eq!(check(&path).unwrap().faults, []);
    manifest
}

/// Compares both ways of storing a scan.
fn compare(scan: &Scan, roots: &[&Path], change: impl Fn(&mut Facts)) {
    let names: Vec<&[u8]> = roots
        .iter()
        .map(|root| root.as_os_str().as_bytes())
        .collect();
    let at = Scratch::new().unwrap();
    let (part, mut facts) = part_of(scan, &names, Fields::ALL);
    change(&mut facts);
    let (_, expected) = store(&part, facts.clone(), at.path(), &MergeOptions::default());
    for rows_max in [1, 40] {
        assert_eq!(spooled(scan, facts.clone(), at.path(), rows_max), expected);
    }
}

#[test]
fn every_named_tree_has_the_same_bytes() {
    for (name, model) in trees::named() {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path().join(name);
        model.materialise(&root).unwrap();
        compare(&Scan::new(&root), &[&root], |_| {});
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_have_the_same_bytes(model in strategy::model()) {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path().join("root");
        model.materialise(&root).unwrap();
        compare(&Scan::new(&root), &[&root], |_| {});
    }
}

#[test]
fn roots_links_and_losses_have_the_same_bytes() {
    let scratch = Scratch::new().unwrap();
    let roots = ["file", "b", "a", "absent"].map(|name| scratch.path().join(name));
    std::fs::write(&roots[0], "12345").unwrap();
    trees::hard_links().materialise(&roots[1]).unwrap();
    trees::basic().materialise(&roots[2]).unwrap();
    std::fs::hard_link(&roots[0], roots[1].join("from-outside")).unwrap();
    std::fs::write(
        roots[2].join("CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55",
    )
    .unwrap();
    let paths = roots.each_ref().map(|root| root.as_path());
    compare(&Scan::of(&roots), &paths, |_| {});
    compare(&Scan::of(&roots).max_depth(1), &paths, |_| {});
    let root = scratch.path().join("links");
    trees::followable_links().materialise(&root).unwrap();
    let scan = Scan::new(&root).symlinks(SymlinkPolicy::Follow);
    compare(&scan, &[&root], |facts| facts.follows = true);
}

#[test]
fn parts_have_the_same_bytes() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::hard_links().materialise(&root).unwrap();
    let at = Scratch::new().unwrap();
    let (part, facts) = part_of(
        &Scan::new(&root),
        &[root.as_os_str().as_bytes()],
        Fields::ALL,
    );
    let (_, expected) = store(&part, facts.clone(), at.path(), &MergeOptions::default());
    let folder = Folder::begin(at.path(), 3).unwrap();
    let mut spool = Spool::new(&folder);
    spool.add_part(part).unwrap();
    spool.add_part(Part::new()).unwrap();
    let manifest = spool
        .merge(facts, &mut TestMachine, &MergeOptions::default())
        .unwrap();
    assert_eq!(manifest, expected);
}

#[test]
fn nothing_is_left_in_the_folder() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::basic().materialise(&root).unwrap();
    let at = Scratch::new().unwrap();
    let (_, facts) = part_of(
        &Scan::new(&root),
        &[root.as_os_str().as_bytes()],
        Fields::ALL,
    );
    spooled(&Scan::new(&root), facts, at.path(), 1);
    let names = std::fs::read_dir(at.path().join("spooled-1")).unwrap();
    assert_eq!(names.count(), 6);
}
