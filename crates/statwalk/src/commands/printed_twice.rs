// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers are values: printed again, with another clock and other accounts, they give the
//! same bytes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{CommandFactory, FromArgMatches};
use statwalk_core::Scan;
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Scratch, or_skip};

use crate::answer::about::About;
use crate::answer::owner_names::{KnownOwners, OwnerNames, Owners, OwnersHere};
use crate::commands::extents::{self, Made};
use crate::commands::{changes, df, errors, stats, summary, top};
use crate::flags::{
    ChangesFlags, DfFlags, ErrorsFlags, ExtentsFlags, FieldName, StatsFlags, SummaryFlags,
    TopFlags, parse_as,
};
use crate::output::ending::{self, Errors};
use crate::output::found_fields::FoundFields;
use crate::output::plain::Rows;
use crate::output::printer::Answer;
use crate::request::RowEnd;
use crate::system::clock::{elsewhere::elsewhere, now_ns};
use crate::system::screen::{ErrorScreen, Screen};

/// A tree with owners, old and new files, a link and a root that is missing.
struct Scene(Scratch);

impl Scene {
    fn new() -> Scene {
        let scratch = Scratch::new().unwrap();
        let root = scratch.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (name, bytes, days) in [("a/old.rs", 9_000, 400), ("a/b/new.jpg", 70_000, 2)] {
            let path = root.join(name);
            fs::write(&path, vec![1; bytes]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(days * 86_400);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        }
        symlink("b", root.join("a/link")).unwrap();
        // A user other than root keeps one owner.
        let _ = chown(root.join("a/old.rs"), Some(1), Some(1));
        Scene(scratch)
    }

    /// The flags of a command on the tree and on a path that is not there.
    fn parse<F: CommandFactory + FromArgMatches>(&self, words: &[&str]) -> F {
        let words = words.iter().map(OsString::from);
        let paths = [self.0.path().to_owned(), self.0.path().join("missing")];
        let paths = paths.into_iter().map(PathBuf::into_os_string);
        let words: Vec<OsString> = words.chain(paths).collect();
        parse_as(F::command(), &words).unwrap()
    }
}

/// An answer in all its forms, on a large screen and on a small one.
fn printed(answer: &impl Answer) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for (width, rows) in [(80, 24), (120, 60), (40, 10)] {
        let lines = answer.lines(Screen::of_size(width, rows));
        forms.push(lines.join("\n").into_bytes());
    }
    let mut rows = Rows::new(RowEnd::Nul);
    answer.write_rows(&mut rows).unwrap();
    forms.push(rows.into_bytes());
    forms.push(serde_json::to_vec(&answer.document()).unwrap());
    forms
}

fn check(answer: &impl Answer, about: &About) {
    let last = || {
        let screen = Screen::of_size(80, 24);
        let form = ending::Form {
            is_screen: false,
            is_document: false,
            shows_plan: true,
            has_signal: false,
            errors: Errors::Untold,
            hint: |_| String::new(),
            screen: ErrorScreen {
                terminal: screen.terminal,
                rows: screen.rows,
            },
        };
        ending::last_lines(about, &form)
    };
    let (forms, lines) = (printed(answer), last());
    assert!(forms.iter().all(|form| !form.is_empty()), "{forms:?}");
    assert_eq!(elsewhere(|| printed(answer)), forms);
    assert_eq!(elsewhere(last), lines);
}

#[test]
fn elsewhere_is_another_clock_and_other_accounts() {
    assert!(elsewhere(now_ns) > now_ns() + 1);
    assert_eq!(OwnersHere.user(0), Some(b"root".to_vec()));
    assert_ne!(elsewhere(|| OwnersHere.user(0)), OwnersHere.user(0));
    let mut names = OwnerNames::default();
    names.keep_users([0].into_iter(), KnownOwners::Here);
    assert_eq!(elsewhere(|| names.user(0)), Some(b"root".to_vec()));
}

#[test]
fn the_default_view() {
    let scene = Scene::new();
    for words in [
        &["--max-depth=3"][..],
        &["-a"],
        &["--summarize"],
        &["--count"],
        &["--inodes", "--total"],
        &["--time"],
        &["--size=+1k"],
    ] {
        let flags: SummaryFlags = scene.parse(words);
        let (_, answer) = summary::answer_of(flags).unwrap();
        check(&answer, &answer.about);
    }
}

#[test]
fn the_largest() {
    let scene = Scene::new();
    for words in [&[][..], &["--dirs"], &["--rebuildable"]] {
        let flags: TopFlags = scene.parse(words);
        let (_, answer) = top::answer_of(flags).unwrap();
        let rows = |answer: &top::LargestAnswer| printed(answer)[3].clone();
        // No directory of the tree can be made again.
        if words.last() != Some(&"--rebuildable") {
            check(&answer, &answer.about);
        } else {
            assert!(rows(&answer).is_empty());
        }
    }
}

#[test]
fn groups() {
    let scene = Scene::new();
    for by in ["owner", "group", "age", "type,owner", "owner,group", "size"] {
        let flags: StatsFlags = scene.parse(&["--by", by]);
        let (_, answer) = stats::answer_of(flags).unwrap();
        check(&answer, &answer.about);
    }
}

#[test]
fn the_errors() {
    let scene = Scene::new();
    let flags: ErrorsFlags = scene.parse(&[]);
    let (_, answer) = errors::answer_of(flags).unwrap();
    check(&answer, &answer.about);
}

#[test]
fn the_space() {
    // A file system without a device, which takes no other tool.
    let words = ["/dev/shm"].map(OsString::from);
    let flags: DfFlags = parse_as(DfFlags::command(), &words).unwrap();
    let (answer, _) = df::answer_of(&flags).unwrap();
    let forms = printed(&answer);
    assert!(forms.iter().all(|form| !form.is_empty()), "{forms:?}");
    assert_eq!(elsewhere(|| printed(&answer)), forms);
}

#[test]
fn extents_and_changes() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("mnt").unwrap();
    let _mounted = or_skip!(FileSystem::Btrfs.mount(&at));
    fs::write(at.join("file"), vec![7; 100_000]).unwrap();
    fs::File::open(&at).unwrap().sync_all().unwrap();
    let path = at.into_os_string();
    let flags: ExtentsFlags =
        parse_as(ExtentsFlags::command(), std::slice::from_ref(&path)).unwrap();
    let (_, made) = extents::answer_of(flags).unwrap();
    let Made::Answer(answer) = made else {
        panic!("no extents");
    };
    check(&*answer, &answer.about);

    let words = [OsString::from("--since"), OsString::from("0"), path];
    let flags: ChangesFlags = parse_as(ChangesFlags::command(), &words).unwrap();
    let answer = changes::answer_of(&flags).unwrap();
    let forms = printed(&answer);
    assert!(forms.iter().all(|form| !form.is_empty()), "{forms:?}");
    assert_eq!(elsewhere(|| printed(&answer)), forms);
}

/// `find` makes its rows while it scans, so it asks for names then; the rows of a stored
/// list have the names of the list.
#[test]
fn the_rows_of_a_list() {
    let scene = Scene::new();
    let mut owners = OwnerNames::default();
    owners.keep_users([0].into_iter(), KnownOwners::Here);
    owners.keep_groups([0].into_iter(), KnownOwners::Here);
    let fields = FoundFields::new(&[FieldName::All]);
    let entries = Scan::new(scene.0.path()).entries().unwrap();
    let entries: Vec<_> = entries.map(|entry| entry.unwrap()).collect();
    let rows = || {
        let mut out = Vec::new();
        for entry in &entries {
            let attributes = &entry.attributes();
            for screen in [None, Some(Screen::of_size(80, 24))] {
                fields.write_columns(attributes, &owners, screen, &mut out);
            }
            let path = entry.path();
            let json = fields.json(&path, attributes, owners.clone());
            out.extend(serde_json::to_vec(&json).unwrap());
        }
        out
    };
    let here = rows();
    assert!(!here.is_empty());
    assert_eq!(elsewhere(rows), here);
}
