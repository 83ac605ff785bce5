// SPDX-License-Identifier: MIT OR Apache-2.0

//! The example `list` against a walk of the tree that the image was made of.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use statwalk_testkit::{Scratch, or_skip};

use crate::harness::Image;

#[path = "../../examples/list.rs"]
#[allow(dead_code, reason = "its main is not called here")]
mod list;

fn listed(image: &[u8]) -> Result<BTreeMap<String, u64>, String> {
    let mut out = Vec::new();
    list::list(image, &mut out).map_err(|error| error.to_string())?;
    let text = String::from_utf8(out).unwrap();
    let rows = text.lines().map(|line| {
        let (size, path) = line.trim_start().split_once(' ').unwrap();
        (path.to_owned(), size.parse().unwrap())
    });
    let count = text.lines().count();
    let rows: BTreeMap<_, _> = rows.collect();
    assert_eq!(rows.len(), count, "a path came twice");
    Ok(rows)
}

/// Files and links of a tree with their sizes. A directory's size is its own in
/// each file system, so it counts as 0 here.
fn expected(directory: &Path, path: &str, rows: &mut BTreeMap<String, u64>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{path}/{}", entry.file_name().display());
        let found = entry.metadata().unwrap();
        if found.is_dir() {
            rows.insert(path.clone(), 0);
            expected(&entry.path(), &path, rows);
        } else {
            rows.insert(path, found.size());
        }
    }
}

#[test]
fn every_entry_is_listed_with_its_size() {
    let home = Scratch::new().unwrap();
    let tree = home.path().join("tree");
    std::fs::create_dir_all(tree.join("a/b/empty")).unwrap();
    std::fs::write(tree.join("a/file"), vec![1; 3000]).unwrap();
    std::fs::write(tree.join("a/b/nothing"), []).unwrap();
    std::os::unix::fs::symlink("a/file", tree.join("link")).unwrap();
    std::fs::hard_link(tree.join("a/file"), tree.join("again")).unwrap();
    for number in 0..500 {
        std::fs::write(tree.join(format!("a/b/file {number}")), vec![2; number]).unwrap();
    }
    let arguments = ["-t", "ext4", "-b", "1024"];
    let image = or_skip!(Image::make(8 << 20, &arguments, Some(&tree)));
    let bytes = image.bytes();
    let mut rows = listed(&bytes).unwrap();
    assert!(rows.remove("/lost+found").is_some());
    let mut own = BTreeMap::new();
    expected(&tree, "", &mut own);
    for (path, size) in &mut rows {
        if tree.join(&path[1..]).is_dir() {
            assert_ne!(*size, 0, "{path}");
            *size = 0;
        }
    }
    assert_eq!(rows, own);
}

#[test]
fn damage_is_the_error() {
    let error = listed(&[0; 4096]).unwrap_err();
    assert_eq!(error, "no ext2, ext3 or ext4 superblock");
}
