// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers at the end of a scan, against new scans.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::io::Errno;
use statwalk_browse::{Edited, Manner, item_at};
use statwalk_core::{Scan, TreeSink};
use statwalk_testkit::fault_fs::{Changes, FaultFs, Op, When};
use statwalk_testkit::{Random, Scratch, or_skip, remove_tree, settle};
use statwalk_view::Notes;

use super::super::early_files;
use super::super::place::new_scan;
use super::*;

#[test]
fn early_files_have_their_places_at_the_end() {
    // Before and at the end: one has gone, and one has come.
    let [before, end] = [300, 7].map(|absent| {
        let root = tempfile::tempdir().unwrap();
        for number in (0..=300).filter(|number| *number != absent) {
            std::fs::write(root.path().join(format!("f{number}")), [1; 9]).unwrap();
        }
        root
    });
    let path = |root: &tempfile::TempDir| root.path().as_os_str().as_encoded_bytes().to_vec();
    let scan = Scan::new(end.path());
    let files = early_files::read(&scan, &path(&before), &|| false).unwrap();
    let names: Vec<_> = files.all().iter().map(|file| file.name.clone()).collect();
    assert_eq!(names.len(), 300);
    let outcome = scan.run(&TreeSink::new().with_files()).unwrap();
    let dir = outcome.output.root(0).unwrap().dir_id().unwrap();
    let early = Arc::new(EarlyFiles::default());
    early.keep(dir, files);
    let data = TreeData::new(3, outcome.output, &[path(&end)], &outcome.report, early);
    for (place, name) in names.iter().enumerate() {
        let id = Place::Early(dir, place).id(3);
        let other = Place::Early(dir, place).id(4);
        assert_eq!((data.item(other), data.settled(other)), (None, None));
        // A row shows the file until other rows come.
        assert_eq!(data.item(id).unwrap().name, *name);
        let settled = data.settled(id);
        let item = settled.and_then(|id| data.item(id));
        let expected = (**name != *b"f7").then_some(name);
        assert_eq!(item.as_ref().map(|item| &item.name), expected);
    }
}

pub(in crate::browse) fn scanned(scan: &Scan, root: &Path) -> Arc<dyn Data> {
    let sink = TreeSink::new().with_files().with_link_names();
    let outcome = scan.run(&sink).unwrap();
    let root = root.as_os_str().as_encoded_bytes().to_vec();
    let (tree, report) = (outcome.output, outcome.report);
    Arc::new(TreeData::new(
        new_scan(),
        tree,
        &[root],
        &report,
        Arc::default(),
    ))
}

/// Each item by its path. The newest change above a removed item is known to be too new.
fn items(data: &dyn Data) -> BTreeMap<Vec<u8>, (u128, u128, u64, Notes)> {
    let mut items = BTreeMap::new();
    let mut take = |id| {
        let item = data.item(id).unwrap();
        let sums = (item.allocated_bytes, item.apparent_bytes);
        let facts = (sums.0, sums.1, item.entries, item.notes);
        items.insert(data.path(id).unwrap(), facts);
    };
    for root in data.roots() {
        take(root);
        data.walk(root, &mut |entry| {
            take(entry.id);
            ControlFlow::Continue(())
        });
    }
    items
}

/// A directory with the first name of a file was removed, and the sums lost the bytes,
/// although another name stayed.
#[test]
fn after_a_removal_the_numbers_are_those_of_a_new_scan() {
    let mut random = Random::new(7);
    let (mut removed, mut counted_anew) = (0, 0);
    for _ in 0..40 {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path().join("t");
        let mut dirs = vec![root.clone()];
        let mut files = Vec::new();
        fs::create_dir(&root).unwrap();
        for number in 0..60 {
            let dir = random.pick(&dirs).clone();
            let name = format!("{}{number}", random.pick(&["a", "a!", "a.b", "z"]));
            let path = dir.join(name);
            match random.below(4) {
                0 => {
                    fs::create_dir(&path).unwrap();
                    dirs.push(path);
                }
                1 => {
                    fs::write(&path, vec![1; 5000 * (number + 1)]).unwrap();
                    files.push(path);
                }
                _ if !files.is_empty() => {
                    fs::hard_link(random.pick(&files), &path).unwrap();
                }
                _ => {}
            }
        }
        settle(&root).unwrap();
        let scan = Scan::new(&root);
        let before = scanned(&scan, &root);
        let mut edited = Edited::new(Arc::clone(&before));
        for step in 0..6 {
            let paths: Vec<Vec<u8>> = items(&edited).into_keys().collect();
            if paths.len() < 2 {
                break;
            }
            let path = &paths[1 + random.below(paths.len() as u64 - 1) as usize];
            let id = item_at(path, &edited).unwrap();
            let place = Path::new(OsStr::from_bytes(path));
            let away = scratch.path().join(format!("away{step}"));
            fs::rename(place, &away).unwrap();
            let manner = match random.below(3) {
                0 => Manner::Trash,
                _ => {
                    remove_tree(&away)
                        .or_else(|_| fs::remove_file(&away))
                        .unwrap();
                    Manner::Permanent
                }
            };
            edited.remove(&[id], manner);
            let fresh = items(&*scanned(&scan, &root));
            assert_eq!(items(&edited), fresh);
            if manner == Manner::Trash && random.one_in(2) {
                fs::rename(&away, place).unwrap();
                assert_eq!(edited.bring_back(&[id]), [true]);
                assert_eq!(items(&edited), items(&*scanned(&scan, &root)));
            }
            let dir = path.iter().rposition(|&byte| byte == b'/').unwrap();
            let dir = item_at(&path[..dir], &edited).unwrap();
            let dir_path = edited.path(dir).unwrap();
            let dir_path = Path::new(OsStr::from_bytes(&dir_path));
            if random.one_in(3) {
                let newer = scanned(&Scan::new(dir_path), dir_path);
                edited.renew(dir, newer).unwrap();
                assert_eq!(items(&edited), items(&*scanned(&scan, &root)));
            }
            removed += 1;
            let elsewhere = |path: &Vec<u8>, notes: Notes| {
                let id = item_at(path, &*before);
                id.and_then(|id| before.item(id))
                    .is_some_and(|item| item.notes.counts_elsewhere && !notes.counts_elsewhere)
            };
            let anew = fresh
                .iter()
                .filter(|(path, (.., notes))| elsewhere(path, *notes));
            counted_anew += anew.count();
        }
    }
    assert!(
        removed > 150 && counted_anew > 50,
        "{removed} {counted_anew}"
    );
}

/// The only directory that could not be read was removed, or read again, and those above it
/// stayed lower bounds (qdirstat#158).
#[test]
fn a_lower_bound_ends_with_what_could_not_be_read() {
    let fs = FaultFs::builder()
        .file("x/gone/f", 5)
        .file("x/y/again/f", 5)
        .file("z/f", 5);
    let fs = fs.fail("x/gone", Op::Opendir, Errno::IO, When::Always);
    let fs = fs.fail("x/y/again", Op::Opendir, Errno::IO, When::First(1));
    let mount = or_skip!(fs.mount());
    let top = mount.path().as_os_str().as_encoded_bytes().to_vec();
    let lower = |data: &dyn Data| -> Vec<String> {
        let items = items(data).into_iter();
        let lower = items.filter(|(_, (.., notes))| notes.is_incomplete);
        let names = lower.map(|(path, _)| path[top.len()..].to_vec());
        names.map(|name| String::from_utf8(name).unwrap()).collect()
    };
    let scan = Scan::new(mount.path());
    let mut edited = Edited::new(scanned(&scan, mount.path()));
    let all = ["", "/x", "/x/gone", "/x/y", "/x/y/again"];
    assert_eq!(lower(&edited), all);
    let id = |edited: &Edited, name: &str| {
        let path = [&top[..], name.as_bytes()].concat();
        item_at(&path, edited).unwrap()
    };
    let gone = id(&edited, "/x/gone");
    edited.remove(&[gone], Manner::Trash);
    assert_eq!(lower(&edited), ["", "/x", "/x/y", "/x/y/again"]);
    let again = id(&edited, "/x/y/again");
    let path = mount.path().join("x/y/again");
    let newer = scanned(&Scan::new(&path), &path);
    edited.renew(again, newer).unwrap();
    assert_eq!(lower(&edited), [""; 0]);
    assert_eq!(edited.bring_back(&[gone]), [true]);
    assert_eq!(lower(&edited), ["", "/x", "/x/gone"]);
}

#[test]
fn a_directory_that_goes_on_changing_is_marked() {
    let fs = FaultFs::builder().dir("a").dir("b").dir("a/deep");
    let fs = fs.file("a/y", 3).file("a/deep/x", 5);
    let fs = fs.attributes_change("a/deep", Changes::Forever);
    let mount = or_skip!(fs.mount());
    let outcome = Scan::new(mount.path())
        .run(&TreeSink::new().with_files())
        .unwrap();
    let root = mount.path().as_os_str().as_encoded_bytes().to_vec();
    let early = Arc::new(EarlyFiles::default());
    let data = TreeData::new(3, outcome.output, &[root], &outcome.report, early);
    let mut marked = Vec::new();
    data.walk(data.roots()[0], &mut |entry| {
        if entry.item.notes.has_changed {
            marked.push(entry.item.name.into_owned());
        }
        ControlFlow::Continue(())
    });
    assert_eq!(marked, [b"deep"]);
}
