// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink gets from a snapshot what it gets from the scan.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::prelude::*;
use statwalk_core::{
    Batch, Collect, Context, DirState, Directory, EntryRef, Exclusions, Fields, FileType, Origin,
    Replay, Scan, Sink, SymlinkPolicy, Time, Totals,
};
use statwalk_snapshot::{Dir, Facts, Found, MergeOptions, Part, Snapshot, Sums, check};
use statwalk_testkit::{Scratch, strategy, trees};

use crate::common::{BEGAN_NS, part_of, store};

/// All that a sink gets, by path.
struct Everything;

#[derive(Default)]
struct State(BTreeMap<Vec<u8>, String>);

impl Sink for Everything {
    type State = State;
    type Output = BTreeMap<Vec<u8>, String>;

    fn fields(&self) -> Fields {
        kept_fields()
    }

    fn states(&self, _: &Context, count: usize) -> Vec<State> {
        (0..count).map(|_| State::default()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<State>) -> Self::Output {
        let mut all = BTreeMap::new();
        for (path, facts) in states.into_iter().flat_map(|state| state.0) {
            let of_path: &mut String = all.entry(path).or_default();
            of_path.push_str(&facts);
        }
        all
    }
}

/// All but the time of access, which a scan can change.
fn kept_fields() -> Fields {
    let all = (0..32).filter_map(|bit| Fields::from_bits(1 << bit));
    let kept = all.filter(|field| *field != Fields::ATIME);
    kept.fold(Fields::NONE, Fields::union)
}

impl State {
    fn add(&mut self, path: Vec<u8>, facts: String) {
        self.0.entry(path).or_default().push_str(&facts);
    }
}

fn facts_of(entry: &EntryRef<'_>) -> String {
    let odd = Time::ALL.map(|time| entry.attributes.time_s(time));
    format!("{:?} {odd:?}", entry.attributes)
}

impl Collect for State {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let entry = EntryRef {
            name: directory.name(),
            attributes: *directory.attributes(),
        };
        let state = directory.state();
        let facts = format!(
            "directory {} {state:?} {}",
            directory.root(),
            facts_of(&entry)
        );
        self.add(directory.path(), facts);
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        for index in 0..batch.len() {
            let mut path = origin.directory().map(|dir| dir.path()).unwrap_or_default();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(batch.name(index));
            let (known, root) = (batch.known()[index], origin.root());
            self.add(
                path,
                format!("entry {root} {known} {}", facts_of(&batch.entry(index))),
            );
        }
        ControlFlow::Continue(())
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        self.add(directory.path(), " incomplete".to_owned());
    }
}

/// The answer of a sink from a snapshot.
fn replayed<S: Sink>(sink: S, snapshot: &Snapshot, below: Option<&Dir>) -> S::Output {
    let context = match below {
        None => snapshot.context(0),
        Some(dir) => snapshot.context_below(&snapshot.path(dir.number).unwrap(), 0),
    };
    let fields = sink.fields();
    let mut replay = Replay::new(sink, context);
    for rows in snapshot.scan_rows(below, fields).unwrap() {
        let (entries, directories) = rows.unwrap();
        assert!(
            replay.columns(&entries, &directories).is_continue(),
            "{replay:?}"
        );
    }
    replay.finish().unwrap()
}

/// Compares the sums of each directory with those of its rows.
fn check_sums(snapshot: &Snapshot) {
    let mut sums: BTreeMap<u64, Sums> = BTreeMap::new();
    for number in (0..snapshot.dir_count()).rev() {
        let dir = snapshot.dir(number).unwrap();
        let mut own = Sums::default();
        for entry in snapshot.children(&dir).unwrap() {
            own.entries += 1;
            own.files += u64::from(entry.kind == FileType::File);
            if entry.counts {
                if matches!(entry.kind, FileType::File | FileType::Symlink) {
                    own.size_bytes += u128::from(entry.size_bytes.unwrap_or(0));
                }
                own.allocated_bytes += u128::from(entry.allocated_bytes.unwrap_or(0));
            }
            match entry.child {
                Some(child) => {
                    own.dirs += 1;
                    own.add(&sums[&child]);
                    assert_eq!(entry.sums.as_ref(), Some(&sums[&child]));
                    assert_eq!(snapshot.dir(child).unwrap().parent, Some(number));
                }
                None => {
                    // A later one is an error of a clock.
                    let latest_ns = BEGAN_NS + 3_600_000_000_000;
                    let time_ns = entry.times_ns[0].filter(|&time_ns| time_ns <= latest_ns);
                    own.newest_ns = own.newest_ns.max(time_ns);
                }
            }
        }
        assert_eq!(own, dir.sums, "{:?}", dir.path);
        sums.insert(number, own);
    }
}

/// Stores a scan, and compares the sinks.
fn compare(scan: &Scan, roots: &[&Path], change: impl Fn(&mut Facts)) -> (Scratch, Snapshot) {
    let names: Vec<&[u8]> = roots
        .iter()
        .map(|root| root.as_os_str().as_bytes())
        .collect();
    let scan = scan.clone();
    let (part, mut facts) = part_of(&scan, &names, Fields::ALL);
    change(&mut facts);
    let at = Scratch::new().unwrap();
    let (path, manifest) = store(&part, facts, at.path(), &MergeOptions::default());
    let snapshot = Snapshot::open(&path).unwrap();
    let live = scan.run(&Everything).unwrap().output;
    let stored = replayed(Everything, &snapshot, None);
    let mut pairs = live.iter().zip(&stored);
    assert_eq!(pairs.find(|(live, stored)| live != stored), None);
    assert_eq!(live.len(), stored.len());
    let totals = scan.run(&Totals::new()).unwrap();
    assert_eq!(replayed(Totals::new(), &snapshot, None), totals.output);
    let sizes = totals.output.iter().filter_map(|root| root.sizes);
    let bytes = sizes.fold((0, 0), |sum, sizes| {
        (sum.0 + sizes.apparent_bytes, sum.1 + sizes.allocated_bytes)
    });
    assert_eq!(
        (manifest.counts.size_bytes, manifest.counts.allocated_bytes),
        bytes
    );
    let entries: u64 = totals.output.iter().map(|root| root.entries).sum();
    assert_eq!(manifest.counts.entries, entries);
    let mut errors = snapshot.entry_errors().unwrap();
    errors.truncate(totals.report.errors.len());
    assert_eq!(errors, totals.report.errors);
    let checked = check(&path).unwrap();
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    (at, snapshot)
}

fn keep(_: &mut Facts) {}

#[test]
fn every_named_tree_comes_back() {
    for (name, model) in trees::named() {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path().join(name);
        model.materialise(&root).unwrap();
        let (_at, snapshot) = compare(&Scan::new(&root), &[&root], keep);
        if name != "deep" && name != "wide" {
            check_sums(&snapshot);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_come_back(model in strategy::model()) {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path().join("root");
        model.materialise(&root).unwrap();
        let (_at, snapshot) = compare(&Scan::new(&root), &[&root], keep);
        check_sums(&snapshot);
    }
}

#[test]
fn followed_links_come_back() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::followable_links().materialise(&root).unwrap();
    let scan = Scan::new(&root).symlinks(SymlinkPolicy::Follow);
    compare(&scan, &[&root], |facts| facts.follows = true);
}

#[test]
fn several_roots_come_back_each_with_its_own() {
    let scratch = Scratch::new().unwrap();
    let roots = ["b", "a", "b/docs", "a/README", "absent"].map(|name| scratch.path().join(name));
    trees::basic().materialise(&roots[0]).unwrap();
    trees::basic().materialise(&roots[1]).unwrap();
    let scan = Scan::of(&roots);
    let paths = roots.each_ref().map(|root| root.as_path());
    let (_at, snapshot) = compare(&scan, &paths, keep);
    let manifest = snapshot.manifest();
    assert_eq!(
        manifest.root_rows.iter().flatten().count(),
        2,
        "{:?}",
        manifest.root_rows
    );
    assert!(!manifest.complete);
    assert_eq!(manifest.missing.unreadable, 1);
    let found = snapshot.find(paths[3].as_os_str().as_bytes()).unwrap();
    assert!(matches!(found, Some(Found::Entry(entry)) if entry.size_bytes == Some(1200)));
}

#[test]
fn a_root_can_be_a_file() {
    let scratch = Scratch::new().unwrap();
    let roots = ["x", "tree"].map(|name| scratch.path().join(name));
    std::fs::write(&roots[0], "12345").unwrap();
    trees::hard_links().materialise(&roots[1]).unwrap();
    let paths = roots.each_ref().map(|root| root.as_path());
    let (_at, snapshot) = compare(&Scan::of(&roots), &paths, keep);
    assert_eq!(snapshot.roots().unwrap().len(), 2);
    assert_eq!(snapshot.dir(0).unwrap().root, 1);
}

#[test]
fn losses_are_data() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::basic().materialise(&root).unwrap();
    let scan = Scan::new(&root).max_depth(1);
    let (_at, snapshot) = compare(&scan, &[&root], keep);
    let missing = snapshot.manifest().missing;
    assert!(missing.not_entered > 1 && missing.is_whole() && snapshot.manifest().complete);
    assert_eq!(snapshot.dir(0).unwrap().missing, missing);
    let errors = snapshot.errors().unwrap();
    assert_eq!(errors.len() as u64, missing.not_entered);
    assert!(
        errors
            .iter()
            .all(|error| error.reason.as_deref() == Some("limit"))
    );
    let exclusions = Exclusions::new().glob(b"docs").unwrap();
    compare(&Scan::new(&root).exclusions(exclusions), &[&root], keep);
}

/// The first name of an inode goes by the order of paths: `a/z` before `a.b`. In the rows, all
/// of the upper directory come first.
#[test]
fn bytes_of_several_names_belong_to_the_first_path() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    for dir in ["a/deep", "a.b", "z"] {
        std::fs::create_dir_all(root.join(dir)).unwrap();
    }
    let names = ["a/deep/two", "a.b/one", "b", "z/three", "a.c"];
    std::fs::write(root.join(names[0]), vec![7; 5000]).unwrap();
    for name in &names[1..] {
        std::fs::hard_link(root.join(names[0]), root.join(name)).unwrap();
    }
    let (_at, snapshot) = compare(&Scan::new(&root), &[&root], keep);
    check_sums(&snapshot);
    for name in names {
        let path = root.join(name);
        let found = snapshot.find(path.as_os_str().as_bytes()).unwrap();
        let Some(Found::Entry(entry)) = found else {
            panic!("{name} is there");
        };
        assert_eq!(entry.counts, name == names[0], "{name}");
    }
}

#[test]
fn each_directory_is_found_by_its_path_and_its_subtree_is_a_range() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::odd_names().materialise(&root).unwrap();
    trees::basic().materialise(&root.join("below")).unwrap();
    let (_at, snapshot) = compare(&Scan::new(&root), &[&root], keep);
    for number in 0..snapshot.dir_count() {
        let dir = snapshot.dir(number).unwrap();
        let path = snapshot.path(number).unwrap();
        assert_eq!(dir.path.as_ref(), Some(&path));
        assert_eq!(
            snapshot.find(&path).unwrap(),
            Some(Found::Dir(Box::new(dir.clone())))
        );
        let all = replayed(Totals::new(), &snapshot, Some(&dir));
        assert_eq!(all[0].entries, dir.sums.entries + 1);
        let live = Scan::new(std::ffi::OsStr::from_bytes(&path))
            .run(&Everything)
            .unwrap();
        // Number of the root aside, which is 0 in both.
        assert_eq!(replayed(Everything, &snapshot, Some(&dir)), live.output);
        for entry in snapshot.children(&dir).unwrap() {
            let mut path = path.clone();
            path.push(b'/');
            path.extend_from_slice(&entry.name);
            assert!(snapshot.find(&path).unwrap().is_some());
        }
    }
    assert_eq!(snapshot.find(b"/nowhere").unwrap(), None);
    assert_eq!(snapshot.dir(0).unwrap().state, DirState::Listed.into());
}

#[test]
fn a_directory_of_many_files_is_read_in_part() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    trees::wide(5000).materialise(&root).unwrap();
    let (_at, snapshot) = compare(&Scan::new(&root), &[&root], keep);
    for entry in snapshot
        .children(&snapshot.dir(0).unwrap())
        .unwrap()
        .iter()
        .step_by(61)
    {
        let path = root.join(std::ffi::OsStr::from_bytes(&entry.name));
        let found = snapshot.find(path.as_os_str().as_bytes()).unwrap();
        assert!(matches!(found, Some(Found::Entry(found)) if found.row == entry.row));
    }
}

#[test]
fn rows_without_names_or_with_other_fields_are_refused() {
    let scratch = Scratch::new().unwrap();
    std::fs::write(scratch.path().join("x"), "x").unwrap();
    let mut part = Part::new();
    let rows = |fields| {
        let mut rows = Scan::new(scratch.path()).fields(fields).rows().unwrap();
        let all: Vec<_> = (&mut rows).map(Result::unwrap).collect();
        assert!(rows.finish().is_complete());
        all
    };
    let without_names = rows(Fields::SIZE);
    assert!(
        without_names
            .iter()
            .any(|rows| part.add_rows(rows).is_err())
    );
    let mut part = Part::new();
    for rows in rows(Fields::NAME | Fields::SIZE) {
        part.add_rows(&rows).unwrap();
    }
    let others = rows(Fields::NAME | Fields::MODE);
    assert!(others.iter().any(|rows| part.add_rows(rows).is_err()));
}
