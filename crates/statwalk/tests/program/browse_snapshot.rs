// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser of a snapshot: all that a scan has found, and nothing of the disk of now.

use std::path::Path;
use std::process::Stdio;

use statwalk_testkit::{or_skip, remove_tree};

use super::browse::Browser;
use super::run::Tree;

fn start(directory: &Path, paths: &[&str]) -> Result<Browser, statwalk_testkit::Skipped> {
    let zone = vec![("TZ", "UTC".to_owned())];
    let browser = Browser::with(directory, paths, zone, Stdio::inherit)?;
    super::run::resize(&browser.screen, 200, 24);
    Ok(browser)
}

/// A tree that was scanned, and then went away.
fn kept(text: &str) -> Tree {
    let tree = Tree::new(text);
    let done = tree.run(&["snapshot", "tree", "-o", "kept"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    remove_tree(&tree.path()).unwrap();
    tree
}

#[test]
fn a_snapshot_is_browsed_after_its_tree_is_gone() {
    let tree = kept("large 5000000\nsub/\nsub/a 10000\nsub/deep/\nsub/deep/b 20000");
    let mut browser = or_skip!(start(tree.parent(), &["kept"]));
    browser.wait_for("snapshot of 20");
    browser.wait_for("large");
    browser.jump_to("sub");
    browser.press("l");
    browser.wait_for("deep/");
    browser.jump_to("a");
    browser.press("i");
    browser.wait_for("tree/sub/a");
    browser.wait_for("-rw-");
    browser.press("q");
    super::run::wait_until("the facts stay", || !browser.screen().contains("-rw-"));
    // A search goes through the whole snapshot.
    browser.press("Fb\r");
    browser.wait_for(" deep/b ");
    browser.wait_for("1 item, ");
    browser.press("q");
    let (status, ..) = browser.end();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn nothing_of_the_disk_is_asked_started_or_changed() {
    let tree = kept("large 5000000\nsub/\nsub/a 10000");
    let mut browser = or_skip!(start(tree.parent(), &["kept"]));
    browser.wait_for("sub/");
    for (key, answer) in [
        ("r", "nothing is read again: this is a snapshot of"),
        ("b", "no program is started: this is a snapshot of"),
        ("o", "no program is started: this is a snapshot of"),
        ("W", "no report is made here: this is a snapshot of"),
        ("d", "nothing is removed"),
    ] {
        browser.press(key);
        browser.wait_for(answer);
    }
    browser.press("R");
    browser.wait_for("nothing is read again: this is a snapshot of");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn a_directory_of_a_snapshot_is_browsed_alone() {
    let tree = kept("large 5000000\nsub/\nsub/a 10000\nsub/deep/\nsub/deep/b 20000");
    let inside = format!("kept:{}", tree.path().join("sub").display());
    let mut browser = or_skip!(start(tree.parent(), &[&inside]));
    browser.wait_for("deep/");
    assert!(!browser.screen().contains("large"), "{}", browser.screen());
    browser.press("h");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn flags_of_a_scan_and_removals_are_refused() {
    let tree = kept("large 5000000\nsub/\nsub/a 10000");
    for (flag, why) in [
        ("-x", "--one-file-system is for a scan"),
        ("--exclude=a", "--exclude is for a scan"),
        ("--follow", "--follow is for a scan"),
        ("--count-links", "--count-links is for a scan"),
        ("--enable-delete", "nothing is removed by a snapshot"),
    ] {
        let done = tree.run(&["browse", flag, "kept"]);
        assert_eq!(done.code, Some(2), "{flag}: {}", done.stderr);
        assert!(done.stderr.contains(why), "{flag}: {}", done.stderr);
    }
    let nowhere = format!("kept:{}", tree.path().join("nowhere").display());
    let done = tree.run(&["browse", &nowhere]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("nowhere"), "{}", done.stderr);
}

/// The library panics in a page of this snapshot.
#[test]
fn a_damaged_page_is_told_and_ends_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/damaged-snapshot");
    let tree = Tree::new("file 1");
    let mut browser = or_skip!(start(tree.parent(), &[folder.to_str().unwrap()]));
    browser.wait_for("contradict each other");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
