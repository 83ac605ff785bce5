// SPDX-License-Identifier: MIT OR Apache-2.0

//! The virtual tree agrees with itself and with its model.

use std::collections::HashSet;

use super::*;

fn listing(tree: &Tree, path: &str, grown: u64, most: u64) -> Vec<String> {
    let dir = tree.find(Path::new(path)).unwrap();
    (0..most)
        .map_while(|index| tree.entry(dir, index, grown))
        .map(|entry| String::from_utf8(entry.name.into_owned()).unwrap())
        .collect()
}

#[test]
fn every_listed_name_is_found_again_under_its_number() {
    let mut tree = Tree::new();
    tree.add(Path::new("a/x"), NodeKind::file(1));
    tree.add_endless_run(Path::new("a"), EntryType::File);
    tree.add_run(Path::new("a"), Letter::Files, 3, 10);
    tree.add_run(Path::new("a"), Letter::Dirs, 2, 0);
    let dir = tree.find(Path::new("a")).unwrap();
    let mut seen = HashSet::new();
    for entry in (0..50).map_while(|index| tree.entry(dir, index, 2)) {
        assert!(seen.insert(entry.ino), "inode number {} twice", entry.ino);
        assert_eq!(tree.lookup(dir, &entry.name), Some(entry.ino));
        let object = tree.object(entry.ino).unwrap();
        assert_eq!(
            (object.ino, object.entry_type),
            (entry.ino, entry.entry_type)
        );
        assert_eq!(tree.parent(entry.ino), dir);
    }
    assert_eq!(seen.len(), 50);
    let expected = "x g000000 g000001 f000000 f000001 f000002 d000000 d000001 e000000 e000001";
    assert_eq!(listing(&tree, "a", 2, 10).join(" "), expected);
    assert_eq!(
        tree.lookup(dir, b"f000003"),
        None,
        "past the end of the run"
    );
    assert_eq!(tree.object(dir).unwrap().nlink, 4);
}

#[test]
fn totals_count_runs_and_leave_the_endless_out() {
    let mut tree = Tree::new();
    let model = crate::text::parse("l -> four\np fifo\nhole 1M data=0\ng = p").unwrap();
    tree.add_model(Path::new("a"), &model);
    tree.add_run(Path::new("a"), Letter::Files, 3, 1000);
    tree.add_run(Path::new("b"), Letter::Dirs, 2, 0);
    tree.add_endless_run(Path::new("b"), EntryType::Directory);
    let expected = Totals {
        entries: 12,
        files: 4,
        dirs: 5,
        symlinks: 1,
        others: 2,
        file_size_bytes: 3000 + (1 << 20),
        apparent_bytes: 3004 + (1 << 20),
        extra_hard_links: 1,
    };
    assert_eq!(tree.expected(), expected);
    assert_eq!(tree.allocated_bytes(), 3 * 1024 + 5 * 4096);
}

#[test]
fn the_names_of_a_hard_link_share_an_inode() {
    let mut tree = Tree::new();
    tree.add_model(
        Path::new(""),
        &crate::text::parse("d/\nd/x 7\ny = d/x\nz = d/x").unwrap(),
    );
    let found = ["d/x", "y", "z"].map(|path| tree.find(Path::new(path)));
    assert_eq!(found, [found[0]; 3]);
    let object = tree.object(found[0].unwrap()).unwrap();
    assert_eq!((object.nlink, object.size_bytes), (3, 7));
    assert_eq!(tree.entry(ROOT, 1, 0).map(|entry| entry.ino), found[0]);
}

#[test]
#[should_panic(expected = "cannot have the entry a: Taken")]
fn a_name_is_there_once() {
    let mut tree = Tree::new();
    tree.add(Path::new("a"), NodeKind::file(1));
    tree.add(Path::new("a"), NodeKind::file(2));
}
