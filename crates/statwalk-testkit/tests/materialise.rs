// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees that are larger or deeper than ordinary programs manage.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use statwalk_testkit::model::{Model, NodeKind};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::trees::{WideFiles, deep, make_wide};
use statwalk_testkit::unprivileged::{as_ordinary_user, is_root};
use statwalk_testkit::{Scratch, naive, or_skip, remove_tree, text};

/// What find counts below `dir`; it copes with any depth.
fn find_count(dir: &Path) -> usize {
    let output = Command::new("find")
        .arg(dir)
        .args(["-printf", "x"])
        .output()
        .expect("find runs");
    assert!(
        output.status.success(),
        "{:?}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout.len()
}

/// Deeper than descriptors can be open, with both ends of a hard link at the bottom.
#[test]
fn a_chain_of_100_000_directories_is_there_and_goes_away() {
    let scratch = Scratch::new().unwrap();
    // In memory where possible: a busy disk takes a minute.
    let _tmpfs = FileSystem::Tmpfs.mount(scratch.path()).ok();
    let dir = scratch.path().join("t");
    let mut tree = deep(100_000);
    let (bottom, _) = tree.nodes().nth(100_000).unwrap();
    let (file, _) = tree.nodes().last().unwrap();
    tree.add(bottom, b"second", NodeKind::HardLink { to: file })
        .unwrap();
    tree.add(Model::ROOT, b"third", NodeKind::HardLink { to: file })
        .unwrap();
    tree.set_mode(bottom, 0o700);
    tree.materialise(&dir).unwrap();
    assert_eq!(find_count(&dir) as u64, tree.totals().entries);
    // The link count says that the file at the bottom has all its names.
    assert_eq!(std::fs::metadata(dir.join("third")).unwrap().nlink(), 3);
    assert_eq!(std::fs::metadata(dir.join("d")).unwrap().nlink(), 3);
    remove_tree(&dir).unwrap();
    assert!(!dir.exists());
}

/// Two deep branches: the way from one bottom to the other leads over the top.
#[test]
fn links_between_deep_branches() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let mut tree = Model::new();
    let mut bottoms = Vec::new();
    for branch in [b"a", b"b"] {
        let mut at = tree.add(Model::ROOT, branch, NodeKind::Directory).unwrap();
        for _ in 0..30 {
            at = tree.add(at, &[b'x'; 200], NodeKind::Directory).unwrap();
        }
        bottoms.push(at);
    }
    let file = tree.add(bottoms[0], b"file", NodeKind::file(3)).unwrap();
    let link = tree
        .add(bottoms[1], b"link", NodeKind::HardLink { to: file })
        .unwrap();
    tree.add(Model::ROOT, b"top", NodeKind::HardLink { to: link })
        .unwrap();
    assert!(tree.path(link).len() > 4096);
    tree.materialise(&dir).unwrap();
    assert_eq!(std::fs::metadata(dir.join("top")).unwrap().nlink(), 3);
    assert_eq!(find_count(&dir) as u64, tree.totals().entries);
}

#[test]
fn modes_and_times_of_directories_stay() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let tree = text::parse(
        "
        ./          mode=751 mtime=1000
        a/          mode=700 mtime=2000
        a/b/        mode=1777 mtime=3000
        a/b/file  5 mode=4755 mtime=4000
        a/c/
        a/link      = a/b/file
        a/c/late    6
        a/c/again   = a/c/late mode=600 mtime=6000
        a/sym       -> b mode=000 mtime=5000
        ",
    )
    .unwrap();
    tree.materialise(&dir).unwrap();
    let check = |path: &str, mode: u32, mtime: i64| {
        let metadata = std::fs::symlink_metadata(dir.join(path)).unwrap();
        assert_eq!(
            (metadata.mode() & 0o7777, metadata.mtime()),
            (mode, mtime),
            "{path}"
        );
    };
    check("", 0o751, 1000);
    check("a", 0o700, 2000);
    check("a/b", 0o1777, 3000);
    check("a/b/file", 0o4755, 4000);
    check("a/link", 0o4755, 4000);
    check("a/sym", 0o777, 5000);
    check("a/c/late", 0o600, 6000);
    check("a/c/again", 0o600, 6000);
}

#[test]
fn a_tree_is_not_made_over_another() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let tree = statwalk_testkit::trees::basic();
    tree.materialise(&dir).unwrap();
    let error = tree.materialise(&dir).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn wide_directories_are_what_was_told() {
    let scratch = Scratch::new().unwrap();
    for (name, files) in [("empty", WideFiles::Empty), ("links", WideFiles::HardLinks)] {
        let dir = scratch.path().join(name);
        let told = make_wide(&dir, 130_000, files).unwrap();
        assert_eq!(told.entries, 130_001);
        assert_eq!(naive::scan(&dir).unwrap().total().totals(), told, "{name}");
        let hard_links = if files == WideFiles::HardLinks {
            130_000 - 3
        } else {
            0
        };
        assert_eq!(told.extra_hard_links, hard_links);
    }
}

/// Whoever is not root can no longer enter a directory whose mode is set: what it holds comes first.
#[test]
fn closed_directories_can_be_filled_without_being_root() {
    let scratch = Scratch::new().unwrap();
    let shared = scratch.subdirectory("shared").unwrap();
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o777)).unwrap();
    let dir = shared.join("t");
    let tree = text::parse(
        "
        ./          mode=000
        a/          mode=000
        a/b/        mode=000 mtime=1
        a/b/file  5 mode=000 mtime=2
        a/b/c/
        a/b/c/d/    mode=000
        link        = a/b/file
        ",
    )
    .unwrap();
    or_skip!(as_ordinary_user(|| {
        tree.materialise(&dir).unwrap();
        assert!(!is_root() && std::fs::read_dir(&dir).is_err());
        remove_tree(&dir).unwrap();
        assert!(!dir.exists());
    }));
}
