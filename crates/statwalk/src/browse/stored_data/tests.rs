// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use statwalk_browse::item_at;
use statwalk_core::{Exclusions, Fields, Scan, TreeSink};
use statwalk_snapshot::{
    Facts, FileSystem, Folder, Links, Machine, MergeOptions, Part, Root, field_names, merge,
};
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::{Scratch, or_skip, strategy, trees};

use super::super::tree_data::TreeData;
use super::*;

/// Its file systems have no names and no sizes.
struct NoMachine;

impl Machine for NoMachine {
    fn user(&mut self, uid: u32) -> Option<Vec<u8>> {
        (uid == 0).then(|| b"the root".to_vec())
    }

    fn group(&mut self, _gid: u32) -> Option<Vec<u8>> {
        None
    }

    fn file_system(&mut self, dev: u64) -> FileSystem {
        FileSystem {
            identity: format!("device {dev}"),
            kind: "ext4".to_owned(),
            mount_point: b"/".to_vec(),
            begin: None,
            end: None,
        }
    }

    fn is_cachedir(&mut self, path: &[u8]) -> Option<bool> {
        Some(crate::system::cache_tag::is_valid(path))
    }
}

/// Keeps a scan as the snapshot `name` in a folder.
fn keep(scan: &Scan, roots: &[&Path], folder: &Path, name: &str) -> Snapshot {
    let mut part = Part::new();
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let began_ns = i64::try_from(since_1970.as_nanos()).unwrap();
    let mut rows = scan.clone().fields(Fields::ALL).rows().unwrap();
    for next in &mut rows {
        match next {
            Ok(rows) => part.add_rows(&rows).unwrap(),
            Err(error) => part.add_error(&error),
        }
    }
    let report = rows.finish();
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let of_roots = roots.iter().zip(&report.roots).map(|(path, root)| Root {
        path: bytes(path),
        absolute: bytes(path),
        missing: root.missing.map(|errno| errno.0),
        vanished: root.vanished,
        ..Root::default()
    });
    let facts = Facts {
        program: "test".to_owned(),
        host: "test".to_owned(),
        began_ns,
        ended_ns: began_ns + 3_000_000_000,
        roots: of_roots.collect(),
        fields: field_names(Fields::ALL),
        links: Links::Once,
        follows: false,
        interrupted: report.interrupted,
        options: serde_json::Map::new(),
    };
    let made = Folder::begin(folder, 1).unwrap();
    let manifest = merge(
        &part,
        facts,
        &mut NoMachine,
        &made,
        &MergeOptions::default(),
    )
    .unwrap();
    let made = made.finish(&manifest, OsStr::new(name)).unwrap();
    Snapshot::open(&made).unwrap()
}

/// All items of data by their paths. Of the numbers of items only their meaning is the same.
fn items(data: &dyn Data) -> BTreeMap<Vec<u8>, Item<'static>> {
    let mut items = BTreeMap::new();
    let mut waiting = data.roots();
    for &root in &waiting {
        let item = data.item(root).unwrap();
        items.insert(data.path(root).unwrap(), owned(item));
    }
    while let Some(dir) = waiting.pop() {
        data.children(dir, &mut |id, item| {
            assert_eq!(data.parent(id), Some(dir));
            assert_eq!(owned(data.item(id).unwrap()), owned(item.clone()));
            if item.kind == Kind::Directory {
                waiting.push(id);
            }
            assert!(items.insert(data.path(id).unwrap(), owned(item)).is_none());
            ControlFlow::Continue(())
        });
    }
    items
}

fn owned(item: Item<'_>) -> Item<'static> {
    Item {
        name: item.name.into_owned().into(),
        ..item
    }
}

/// The items of a walk, which are those of all directories.
fn check_walk(data: &dyn Data, items: &BTreeMap<Vec<u8>, Item<'static>>) {
    let mut walked = BTreeMap::new();
    for root in data.roots() {
        let mut known = HashSet::from([root]);
        walked.insert(data.path(root).unwrap(), owned(data.item(root).unwrap()));
        data.walk(root, &mut |entry| {
            assert!(known.contains(&entry.parent));
            known.insert(entry.id);
            assert_eq!(data.parent(entry.id), Some(entry.parent));
            let path = data.path(entry.id).unwrap();
            assert!(walked.insert(path, owned(entry.item)).is_none());
            ControlFlow::Continue(())
        });
    }
    assert_eq!(&walked, items);
}

/// Compares a snapshot of a scan with the scan, as the browser sees them.
fn compare(scan: &Scan, roots: &[&Path], scratch: &Path, name: &str) -> StoredData {
    let stored = keep(scan, roots, scratch, name);
    let stored = StoredData::open(stored, None).unwrap().unwrap();
    let sink = TreeSink::new().with_files().with_owners().with_link_names();
    let outcome = scan.clone().errors_kept(1000).run(&sink).unwrap();
    let paths: Vec<Vec<u8>> = roots
        .iter()
        .map(|root| root.as_os_str().as_bytes().to_vec())
        .collect();
    let live = TreeData::new(1, outcome.output, &paths, &outcome.report, Arc::default());
    let (of_live, of_stored) = (items(&live), items(&stored));
    for (path, item) in &of_live {
        assert_eq!(
            of_stored.get(path),
            Some(item),
            "{}",
            String::from_utf8_lossy(path)
        );
    }
    assert_eq!(of_live.len(), of_stored.len());
    check_walk(&stored, &of_stored);
    let sorted = |data: &dyn Data, root| {
        let (mut faults, count) = data.faults(root);
        faults.sort_by(|a, b| a.path.cmp(&b.path));
        (faults, count)
    };
    for (of_live, of_stored) in live.roots().into_iter().zip(stored.roots()) {
        assert_eq!(sorted(&live, of_live), sorted(&stored, of_stored));
    }
    assert_eq!(stored.take_failure(), None);
    stored
}

#[test]
fn named_and_random_trees_are_those_of_a_scan() {
    let scratch = Scratch::new().unwrap();
    for (number, (name, tree)) in trees::named().into_iter().enumerate() {
        let dir = scratch.path().join(format!("tree {number}"));
        tree.materialise(&dir).unwrap();
        println!("{name}");
        compare(
            &Scan::new(&dir),
            &[&dir],
            scratch.path(),
            &format!("{number}"),
        );
    }
    for seed in 0..60 {
        let dir = scratch.path().join(format!("random {seed}"));
        strategy::of_seed(&strategy::model(), seed)
            .materialise(&dir)
            .unwrap();
        compare(
            &Scan::new(&dir),
            &[&dir],
            scratch.path(),
            &format!("of {seed}"),
        );
    }
}

/// Directories that could not be read, were left out, changed, or hold such ones.
#[test]
fn what_a_scan_lacks_is_in_the_notes() {
    let fs = FaultFs::builder();
    let fs = fs
        .file("a/b/one", 4)
        .file("a/c/two", 4)
        .file("d/e/f/three", 4);
    let fs = fs
        .dir("d/left out")
        .file("d/left out/x", 4)
        .file("g/four", 4);
    let fs = fs.fail("a/b", Op::Opendir, Errno::IO, When::Always);
    let fs = fs.fail("d/e/f/three", Op::Getattr, Errno::IO, When::Always);
    let mount = or_skip!(fs.mount());
    let scratch = Scratch::new().unwrap();
    let exclusions = Exclusions::new().glob(b"left out").unwrap();
    let scan = Scan::new(mount.path()).exclusions(exclusions);
    let stored = compare(&scan, &[mount.path()], scratch.path(), "faults");
    let below = |name: &str| {
        let path = mount.path().join(name);
        let id = item_at(path.as_os_str().as_bytes(), &stored).expect(name);
        stored.item(id).unwrap().notes
    };
    assert!(below("a/b").is_unreadable && below("a").is_incomplete);
    assert!(!below("a/c").is_incomplete && !below("g").is_incomplete);
    assert!(below("d/e").is_incomplete && !below("d/e").is_unreadable);
}

/// A scan of one level, and one of several roots, of which one is a file.
#[test]
fn limits_and_roots_are_those_of_a_scan() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("tree");
    trees::basic().materialise(&dir).unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "file").unwrap();
    compare(
        &Scan::new(&dir).max_depth(1),
        &[&dir],
        scratch.path(),
        "limit",
    );
    let roots = [&*file, &*dir, Path::new("/nowhere")];
    compare(&Scan::of(roots), &roots, scratch.path(), "roots");
}

#[test]
fn a_directory_inside_is_a_root() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("tree");
    std::fs::create_dir_all(dir.join("a/b")).unwrap();
    std::fs::write(dir.join("a/b/file"), "file").unwrap();
    keep(&Scan::new(&dir), &[&dir], scratch.path(), "kept");
    let open = |inside: &Path| {
        let snapshot = Snapshot::open(&scratch.path().join("kept")).unwrap();
        StoredData::open(snapshot, Some(inside.as_os_str().as_bytes())).unwrap()
    };
    let data = open(&dir.join("a/b")).unwrap();
    let paths: Vec<Vec<u8>> = items(&data).into_keys().collect();
    let path = |name: &str| dir.join(name).into_os_string().into_encoded_bytes();
    assert_eq!(paths, [path("a/b"), path("a/b/file")]);
    assert!(open(&dir.join("a/c")).is_none());
}

/// A directory of more rows than are read at once, and one that stands behind them.
#[test]
fn large_directories_are_read_in_pieces() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("tree");
    std::fs::create_dir_all(dir.join("z/y")).unwrap();
    for number in 0..20_000 {
        std::fs::File::create(dir.join(format!("f{number}"))).unwrap();
    }
    std::fs::write(dir.join("z/y/last"), "last").unwrap();
    let data = compare(&Scan::new(&dir), &[&dir], scratch.path(), "large");
    assert_eq!(lock(&data.rows).kept.len(), 3);
}

/// A file of the snapshot that goes away leaves an error, and not an empty directory alone.
#[test]
fn an_error_is_kept_for_the_user() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("tree");
    trees::basic().materialise(&dir).unwrap();
    let stored = StoredData::open(
        keep(&Scan::new(&dir), &[&dir], scratch.path(), "kept"),
        None,
    );
    let stored = stored.unwrap().unwrap();
    std::fs::remove_dir_all(scratch.path().join("kept/entries")).unwrap();
    assert_eq!(stored.item(stored.roots()[0]), None);
    assert!(stored.take_failure().unwrap().contains("part-00000"));
    assert_eq!(stored.take_failure(), None);
}

/// The library panics in a page of this snapshot.
#[test]
fn a_damaged_page_is_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/damaged-snapshot");
    let stored = StoredData::open(Snapshot::open(&folder).unwrap(), None);
    let stored = stored.unwrap().unwrap();
    for root in stored.roots() {
        stored.children(root, &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(stored.entry(root), None);
    }
    let failure = stored.take_failure().unwrap();
    assert!(failure.contains("contradict each other"), "{failure}");
}
