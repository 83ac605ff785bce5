// SPDX-License-Identifier: MIT OR Apache-2.0

//! What changed on a btrfs since an earlier scan: enough to make the earlier scan's
//! listing that of now, deletions included, and no more than was written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use statwalk_core::{Fields, FileType, Generation, Scan, Source, Uuid};
use statwalk_space::btrfs::{ChangeKind, changes_since};
use statwalk_testkit::mounts::{self, FileSystem, bind};
use statwalk_testkit::{Scratch, or_skip, trees};

use super::text;

/// Paths with types, and for what is no directory sizes.
type Tree = BTreeMap<Vec<u8>, (FileType, Option<u64>)>;

fn tree(root: &Path) -> (Tree, Generation) {
    let scan = Scan::new(root).source(Source::Btrfs);
    let mut entries = scan.fields(Fields::SIZE).entries().unwrap();
    let tree = (&mut entries).map(|entry| {
        let entry = entry.unwrap();
        let kind = entry.file_type();
        let size = entry.size_bytes().filter(|_| !kind.is_dir());
        (entry.path(), (kind, size))
    });
    let tree = tree.collect();
    let report = entries.finish();
    (tree, report.plan.generation.expect("it is btrfs"))
}

/// Everything below a directory.
fn below(tree: &Tree, directory: &[u8]) -> Vec<Vec<u8>> {
    let prefix = [directory, b"/"].concat();
    let paths = tree.keys().filter(|path| path.starts_with(&prefix));
    paths.cloned().collect()
}

/// Changes a listing by what is told of the time since; what a directory held that
/// was moved is moved with it, from where `moved` says it was.
fn patch(tree: &mut Tree, root: &Path, since: Generation, moved: &[(&Path, &Path)]) -> Generation {
    let found = changes_since(root, since).unwrap();
    for (from, to) in moved {
        let (from, to) = (from.as_os_str().as_bytes(), to.as_os_str().as_bytes());
        for path in below(tree, from) {
            let entry = tree.remove(&path).unwrap();
            tree.insert([to, &path[from.len()..]].concat(), entry);
        }
    }
    for change in &found.changes {
        let kind = change.attributes.kind;
        let size = change.attributes.size_bytes();
        let size = size.filter(|_| kind != FileType::Directory);
        tree.insert(change.path.clone(), (kind, size));
    }
    for change in &found.changes {
        let Some(names) = &change.names else { continue };
        let names: BTreeSet<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let skip = change.path.len() + 1;
        for path in below(tree, &change.path) {
            let name = path[skip..].split(|&byte| byte == b'/').next().unwrap();
            if !names.contains(name) {
                tree.remove(&path);
            }
        }
    }
    found.generation
}

fn assert_same(patched: &Tree, now: &Tree) {
    for (path, entry) in now {
        assert_eq!(patched.get(path), Some(entry), "{}", text(path));
    }
    for path in patched.keys() {
        assert!(now.contains_key(path), "{} is gone", text(path));
    }
}

#[test]
fn an_earlier_listing_becomes_that_of_now() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    for (name, tree) in [
        ("basic", trees::basic()),
        ("links", trees::hard_links()),
        ("odd", trees::odd_names()),
        ("wide", trees::wide(3_000)),
    ] {
        tree.materialise(&at.join(name)).unwrap();
    }
    or_skip!(mounts::btrfs_subvolume(&at.join("inner")));
    trees::wide(300)
        .materialise(&at.join("inner/wide"))
        .unwrap();
    fs::create_dir_all(at.join("a/b/c")).unwrap();
    fs::write(at.join("a/b/c/file"), b"content").unwrap();
    fs::write(at.join("grows"), b"1").unwrap();
    fs::write(at.join("goes"), b"1").unwrap();
    let (mut listing, generation) = tree(&at);

    // Nothing changed: nothing is told.
    let found = changes_since(&at, generation).unwrap();
    assert!(found.changes.is_empty(), "{:?}", found.changes);

    fs::write(at.join("grows"), vec![1; 100_000]).unwrap();
    fs::remove_file(at.join("goes")).unwrap();
    fs::write(at.join("comes"), b"12").unwrap();
    fs::create_dir_all(at.join("new/deeper")).unwrap();
    fs::write(at.join("new/deeper/file"), b"123").unwrap();
    fs::rename(at.join("a/b"), at.join("basic/moved")).unwrap();
    fs::hard_link(at.join("grows"), at.join("basic/also")).unwrap();
    fs::write(at.join("inner/inside"), b"1234").unwrap();
    let wide: Vec<_> = fs::read_dir(at.join("wide")).unwrap().take(500).collect();
    for entry in wide {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fs::remove_dir_all(at.join("odd")).unwrap();
    // What comes and goes is nobody's business.
    fs::write(at.join("flash"), b"1").unwrap();
    fs::remove_file(at.join("flash")).unwrap();

    let moved = [(&*at.join("a/b"), &*at.join("basic/moved"))];
    let again = patch(&mut listing, &at, generation, &moved);
    assert!(again.number > generation.number);
    assert_same(&listing, &tree(&at).0);
    // And once more from there, below one directory only.
    fs::write(at.join("basic/last"), b"1").unwrap();
    fs::write(at.join("elsewhere"), b"1").unwrap();
    let found = changes_since(&at.join("basic"), again).unwrap();
    let mut told: Vec<_> = found
        .changes
        .iter()
        .map(|c| (text(&c.path), c.kind))
        .collect();
    told.sort_by_key(|(path, _)| path.len());
    let path = |name: &str| text(at.join(name).as_os_str().as_bytes());
    let expected = [
        (path("basic"), ChangeKind::Inode),
        (path("basic/last"), ChangeKind::Name),
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_is_told_is_what_was_written() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    trees::wide(20_000).materialise(&at.join("wide")).unwrap();
    fs::create_dir(at.join("place")).unwrap();
    // Before the scan: to read a directory can change when it was read.
    let names: Vec<_> = fs::read_dir(at.join("wide")).unwrap().take(10).collect();
    let (_, generation) = tree(&at);
    let mut expected = BTreeSet::new();
    for name in names {
        let path = name.unwrap().path();
        let times = fs::File::open(&path).unwrap();
        times
            .set_modified(std::time::SystemTime::UNIX_EPOCH)
            .unwrap();
        expected.insert(path.into_os_string().into_encoded_bytes());
    }
    let paths = |generation| -> BTreeSet<Vec<u8>> {
        let found = changes_since(&at, generation).unwrap();
        found
            .changes
            .into_iter()
            .map(|change| change.path)
            .collect()
    };
    assert_eq!(paths(generation), expected);
    // What something is mounted over is not to be seen.
    let outside = scratch.subdirectory("outside").unwrap();
    fs::write(at.join("place/hidden"), b"1").unwrap();
    let _over = or_skip!(bind(&outside, &at.join("place")));
    let place = at.join("place").into_os_string().into_encoded_bytes();
    expected.insert(place);
    assert_eq!(paths(generation), expected);
    // Where nothing can be told, that is an error with its reason.
    let refused = changes_since(&outside, generation).unwrap_err().to_string();
    assert!(refused.contains("btrfs"), "{refused}");
    let refused = changes_since(&at.join("wide/nowhere"), 0_u64).unwrap_err();
    assert_eq!(
        refused.io_error().unwrap().kind(),
        std::io::ErrorKind::NotFound
    );
}

/// A file system that was made anew has no changes since the old one's generation: a
/// backup that believed it would keep the old files.
#[test]
fn another_file_system_is_no_unchanged_one() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::write(at.join("file"), b"1").unwrap();
    let (_, now) = tree(&at);
    let message = |since: Generation| {
        let refused = changes_since(&at, since).unwrap_err();
        refused.io_error().unwrap().to_string()
    };
    let later = now.number + 1_000;
    let text = message(Generation {
        number: later,
        ..now
    });
    assert!(text.contains("made anew"), "{text}");
    let text = message(later.into());
    assert!(text.contains("made anew"), "{text}");
    let other = Generation {
        uuid: Some(Uuid([7; 16])),
        number: 1,
    };
    let text = message(other);
    assert!(text.contains(&now.uuid.unwrap().to_string()), "{text}");
    // The number alone is a question that was possible before there were UUIDs.
    assert!(changes_since(&at, now.number).unwrap().changes.is_empty());
    assert!(changes_since(&at, now).unwrap().changes.is_empty());
}
