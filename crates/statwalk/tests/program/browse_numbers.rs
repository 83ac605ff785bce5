// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser on a terminal: its items and their numbers, when the numbers change.

use std::path::Path;

use statwalk_testkit::or_skip;

use super::browse::Browser;
use super::run::{Tree, wait_until};

/// 24 directories of 10 subdirectories: workers number them in another order each time.
fn crowd() -> Tree {
    let dirs = (0..24).flat_map(|dir| {
        let subs = (0..10).map(move |sub| format!("dir{dir:02}/sub{sub}/\n"));
        std::iter::once(format!("dir{dir:02}/\n")).chain(subs)
    });
    Tree::new(&dirs.collect::<String>())
}

/// Waits for the end of a scan of the crowd and so many files more. The sign of a lower
/// bound is gone then.
fn wait_for_end(browser: &Browser, more: usize) {
    browser.wait_for(&format!("{} entries", 265 + more));
    wait_until("the scan does not end", || !browser.screen().contains('≥'));
}

/// The user marked dir17 and scanned everything again, and dir06 was marked; `E` wrote its
/// path for `xargs -0 rm`.
#[test]
fn marks_and_the_place_are_the_same_paths_after_a_new_scan() {
    let tree = crowd();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    wait_for_end(&browser, 0);
    browser.press("'dir17\r ");
    browser.wait_for("1 marked");
    for round in 0..6 {
        // So that the screen of before is not taken for that of the end.
        std::fs::write(tree.path().join(format!("more{round}")), "").unwrap();
        browser.press("R");
        wait_for_end(&browser, round + 1);
        browser.wait_for("1 marked");
        let list = format!("list{round}");
        browser.press("8");
        browser.wait_for("Marks");
        browser.wait_for("tree/dir17/");
        browser.press(&format!("E{list}\r"));
        browser.wait_for(&format!("paths are in {list}"));
        let written = std::fs::read(tree.parent().join(&list)).unwrap();
        let path = tree.path().join("dir17");
        let expected = [path.as_os_str().as_encoded_bytes(), b"\0"].concat();
        assert_eq!(written, expected, "round {round}");
        browser.press("1");
        browser.wait_for("NAME");
    }
    // The directory in view.
    browser.press("'dir05\r");
    browser.press("\r");
    browser.wait_for("tree/dir05 ");
    for round in 0..6 {
        std::fs::write(tree.path().join(format!("dir05/more{round}")), "").unwrap();
        browser.press("R");
        browser.wait_for(&format!("{} entries", 12 + round));
        wait_until("the scan does not end", || !browser.screen().contains('≥'));
        browser.wait_for("tree/dir05 ");
        browser.wait_for("1 marked");
    }
    // A mark whose directory went is gone, and the user hears of it.
    std::fs::remove_dir_all(tree.path().join("dir17")).unwrap();
    browser.press("R");
    browser.wait_for("1 mark is gone");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    assert!(Path::new(&tree.path().join("dir06")).exists());
}

/// Undo threw the user to the root and read everything again: for a second the rows stood
/// under an old sum, and `d` opened on whatever was under the cursor.
#[test]
fn undo_puts_an_item_back_in_its_row() {
    let tree = Tree::new("a/\na/b/\na/b/one 300000\na/b/two 200000\na/b/three 100000\n");
    let home = tree.parent().join("home");
    std::fs::create_dir(&home).unwrap();
    let home = vec![("HOME", home.display().to_string())];
    let arguments = ["--enable-delete", "tree/a"];
    let started = Browser::with(
        tree.parent(),
        &arguments,
        home,
        std::process::Stdio::inherit,
    );
    let mut browser = or_skip!(started);
    browser.wait_for("5 entries");
    browser.press("\r");
    browser.wait_for("tree/a/b ");
    browser.wait_for("3 items");
    wait_until("the scan does not end", || !browser.screen().contains('≥'));
    // A file that came after the scan: to read everything again would show it.
    std::fs::write(tree.path().join("a/b/later"), "x").unwrap();
    let before = browser.screen();
    let rows = |screen: &str| {
        let lines = screen.lines().take(5);
        lines
            .map(|line| line.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    browser.press("'two\rd");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("is in the trash");
    browser.wait_for("3 entries");
    browser.press("U");
    browser.wait_for("is back");
    browser.wait_for("4 entries");
    wait_until("the row is not back", || {
        rows(&browser.screen()) == rows(&before)
    });
    assert!(tree.path().join("a/b/two").exists());
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
