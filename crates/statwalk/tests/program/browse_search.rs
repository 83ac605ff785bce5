// SPDX-License-Identifier: MIT OR Apache-2.0

//! The search by name in the browser, on a terminal and a real tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::{Skipped, or_skip};

use super::browse::Browser;
use super::run::{Tree, wait_until};

/// Names that only a careful program shows, finds and removes.
const HOSTILE: [&[u8]; 3] = [b"hit\n\x1b[2J", b"hit\xff\xfe", b"hit*"];

fn tree() -> Tree {
    let tree = Tree::new(
        "one/\none/hit.iso 300000\none/deep/\none/deep/hit.txt 100000\none/other 50\n\
         two/\ntwo/hit.iso 200000\ntwo/hits/\ntwo/hits/kept 400000\nthird 10",
    );
    for name in HOSTILE {
        std::fs::write(tree.path().join("two").join(OsStr::from_bytes(name)), "x").unwrap();
    }
    tree
}

/// A browser whose scan is done.
fn start(tree: &Tree) -> Result<Browser, Skipped> {
    let browser = Browser::start(tree.parent(), &["--enable-delete", "tree"])?;
    browser.wait_for("two/");
    browser.wait_for_scan();
    Ok(browser)
}

/// All paths below the tree, in order.
fn paths(tree: &Tree) -> Vec<PathBuf> {
    let mut paths = vec![tree.path().to_path_buf()];
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        if path.is_dir() {
            let names = std::fs::read_dir(path).unwrap();
            paths.extend(names.map(|name| name.unwrap().path()));
        }
        next += 1;
    }
    paths.sort();
    paths
}

#[test]
fn names_below_are_found_and_shown_in_their_directories() {
    let tree = tree();
    let mut browser = or_skip!(start(&tree));
    browser.press("Fhit.");
    browser.wait_for("one/deep/hit.txt");
    browser.wait_for("3 items");
    // The largest first.
    let screen = browser.screen();
    let place = |text| screen.find(text).unwrap();
    assert!(place("one/hit.iso") < place("two/hit.iso"));
    assert!(place("two/hit.iso") < place("one/deep/hit.txt"));
    browser.press("\r\x1b[F\r");
    browser.wait_for("tree/one/deep ");
    browser.wait_for("Esc results");
    browser.press("\x1b");
    browser.wait_for("one/deep/hit.txt");
    browser.wait_for("in all");
    browser.press("\x1b");
    browser.wait_for("third");
    assert!(!browser.screen().contains("hit"), "{}", browser.screen());
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_marked_results_alone_are_removed_and_come_back() {
    let tree = tree();
    let mut browser = or_skip!(start(&tree));
    let before = paths(&tree);
    browser.press("F*.iso\r");
    browser.wait_for("2 items");
    // The second one, which is smaller.
    browser.press("jx");
    browser.wait_for("1 marked");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.wait_for("tree/two/hit.iso");
    browser.press("y");
    browser.wait_for("is in the trash");
    browser.wait_for("1 item,");
    let removed = tree.path().join("two/hit.iso");
    let left: Vec<PathBuf> = (before.iter())
        .filter(|path| **path != removed)
        .cloned()
        .collect();
    assert_eq!(paths(&tree), left);
    assert!(
        !browser.screen().contains("two/hit.iso"),
        "{}",
        browser.screen()
    );
    browser.press("U");
    browser.wait_for("is back");
    browser.wait_for("two/hit.iso");
    assert_eq!(paths(&tree), before);
    // Without a mark, the one under the cursor goes: a directory with all below it.
    browser.press("\x1b");
    browser.wait_for("third");
    browser.press("Fhits\r");
    browser.wait_for("two/hits/");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("\t\t\rhits\r");
    browser.wait_for("2 entries removed");
    browser.wait_for("no name below holds 'hits'");
    assert!(!tree.path().join("two/hits").exists());
    assert_eq!(paths(&tree).len(), before.len() - 2);
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn hostile_names_are_found_and_removed() {
    for (name, shown) in HOSTILE
        .into_iter()
        .zip([r"hit\n\x1b[2J", r"hit\xff\xfe", "hit*"])
    {
        let tree = tree();
        let path = tree.path().join("two").join(OsStr::from_bytes(name));
        let before = paths(&tree);
        let mut browser = or_skip!(start(&tree));
        // All of them, and nothing that holds a dot, or a letter after the text.
        browser.press("Fhit[!.s]*\r");
        browser.wait_for("3 items");
        for shown in [r"two/hit\n\x1b[2J", r"two/hit\xff\xfe", "two/hit*"] {
            browser.wait_for(shown);
        }
        // By name, it is under the cursor.
        browser.press(match name {
            b"hit*" => "n\x1b[H\x1b[Bd",
            b"hit\xff\xfe" => "n\x1b[Fd",
            _ => "n\x1b[Hd",
        });
        browser.wait_for("[Cancel]");
        browser.wait_for(shown);
        browser.press("y");
        browser.wait_for("is in the trash");
        browser.wait_for("2 items");
        assert!(!path.exists());
        assert_eq!(paths(&tree).len(), before.len() - 1);
        browser.press("q");
        let (status, _, bytes) = browser.end();
        assert_eq!(status.code(), Some(0));
        // No name acted on the terminal.
        assert!(!bytes.contains("hit\n\x1b[2J"));
    }
}

/// The scan waits for a directory, so it does not end before the user ends it.
#[test]
fn a_scan_that_goes_on_is_searched_so_far() {
    let fs = FaultFs::builder()
        .dir("sub")
        .dir("sub/hits")
        .file("sub/hits/hit.iso", 3_000_000)
        .dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let path = mount.path().display().to_string();
    let mut browser = or_skip!(Browser::start(mount.path().parent().unwrap(), &[&path]));
    browser.wait_for("sub/");
    browser.press("Fhit\r");
    browser.wait_for("sub/hits/");
    browser.wait_for("1 directory so far");
    assert!(
        !browser.screen().contains("hit.iso"),
        "{}",
        browser.screen()
    );
    browser.press("S");
    browser.wait_for("sub/hits/hit.iso");
    browser.wait_for("2 items");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn results_follow_what_is_read_again() {
    let tree = tree();
    let mut browser = or_skip!(start(&tree));
    browser.press("Fhit.\r");
    browser.wait_for("3 items");
    browser.press(" ");
    browser.wait_for("1 marked");
    std::fs::write(tree.path().join("one/hit.new"), vec![1; 900_000]).unwrap();
    std::fs::remove_file(tree.path().join("two/hit.iso")).unwrap();
    for key in ["r", "R"] {
        browser.press(key);
        browser.wait_for("one/hit.new");
        wait_until("a row stays", || !browser.screen().contains("two/hit.iso"));
        browser.wait_for("3 items");
        browser.wait_for("1 marked");
        std::fs::remove_file(tree.path().join("one/hit.new")).unwrap();
        std::fs::write(tree.path().join("two/hit.iso"), "").unwrap();
        browser.press("r");
        browser.wait_for("two/hit.iso");
        browser.wait_for("3 items");
        std::fs::write(tree.path().join("one/hit.new"), vec![1; 900_000]).unwrap();
        std::fs::remove_file(tree.path().join("two/hit.iso")).unwrap();
    }
    browser.press("8");
    browser.wait_for("tree/one/hit.iso");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_form_filters_by_name() {
    let tree = tree();
    let mut browser = or_skip!(start(&tree));
    // The last field is above the first.
    browser.press("f\x1b[A");
    browser.press("[x\r");
    browser.wait_for("'[x': ");
    browser.press("\x15*.ISO\r");
    browser.wait_for("nothing passes the filter names like *.ISO");
    browser.press("f\x1b[A*.iso\r");
    browser.wait_for("filter: names like *.iso (Esc clears)");
    wait_until("the other file stays", || {
        !browser.screen().contains("third")
    });
    browser.wait_for("2 entries");
    browser.press("\x1b");
    browser.wait_for("third");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
