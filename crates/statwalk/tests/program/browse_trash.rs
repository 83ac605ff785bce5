// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser on a terminal: moves to the trash, and the sums beside those of du.

use std::path::Path;
use std::process::Stdio;

use statwalk_testkit::fault_fs::{FaultFs, Where};
use statwalk_testkit::generator::{Shape, generate};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Skipped, or_skip, program};
use statwalk_view::{SizeFormat, grouped};

use super::browse::Browser;
use super::run::{LONG, Tree, resize, wait_until};

/// Bytes and entries, as du counts them.
fn du(tree: &Path, exclude: &[&str]) -> (u128, u64) {
    let count = |arguments: &[&str]| {
        let excluded = exclude.iter().map(|name| format!("--exclude={name}"));
        let mut command = program::command("du");
        command.args(arguments).args(excluded).arg(tree);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split('\t').next().unwrap().parse::<u64>().unwrap()
    };
    let bytes = count(&["-s", "--block-size=1"]);
    (bytes.into(), count(&["-s", "--inodes"]))
}

/// The sums of the head, as the browser writes them.
fn head((bytes, entries): (u128, u64)) -> String {
    let entries = grouped(entries);
    format!("{}, {entries} entries", SizeFormat::Binary.text(bytes))
}

/// Waits until the head has the sums of du.
#[track_caller]
fn wait_for_du(browser: &Browser, tree: &Path, exclude: &[&str]) {
    let start = std::time::Instant::now();
    loop {
        let expected = head(du(tree, exclude));
        let screen = browser.screen();
        if screen
            .lines()
            .next()
            .is_some_and(|line| line.trim_end().ends_with(&expected))
        {
            return;
        }
        let is_late = start.elapsed() > LONG;
        assert!(!is_late, "du says {expected}:\n{screen}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The journal lies outside: its bytes are no news for the browser.
fn browser(tree: &Tree, home: &Path, arguments: &[&str]) -> Result<Browser, Skipped> {
    let arguments = [&["--enable-delete"], arguments].concat();
    let state = tree.parent().join("state").display().to_string();
    let environment = vec![
        ("HOME", home.display().to_string()),
        ("XDG_STATE_HOME", state),
    ];
    let browser = Browser::with(tree.parent(), &arguments, environment, Stdio::inherit)?;
    browser.wait_for("entries");
    wait_until("the scan does not end", || !browser.screen().contains('≥'));
    Ok(browser)
}

/// Selects an item by its name, and moves it to the trash.
#[track_caller]
fn to_the_trash(browser: &mut Browser, name: &str) {
    browser.jump_to(name);
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("in the trash; U");
}

#[track_caller]
fn undo(browser: &mut Browser) {
    browser.press("U");
    browser.wait_for("is back");
}

const ENTRIES: &str = "a/\na/one 9000\na/deep/\na/deep/two 5000\nb/\nb/three 12000\nfour 4097";

/// A move to the trash took the bytes off all sums, although the scan had the trash: the
/// head said 44 KiB, and du 31 MiB.
#[test]
fn the_bytes_go_to_the_row_of_the_trash() {
    // The trash is made by the first move: all of it, and a part of it. Then it is there.
    let trashes = ["", ".local/", ".local/share/", ".local/share/Trash/files/"];
    for (trash, root) in trashes.iter().flat_map(|trash| {
        // Other spellings of the same directory.
        let roots = ["tree", "tree/", "tree/../tree/.", "link/"];
        roots.map(|root| (trash, root))
    }) {
        let tree = Tree::new(ENTRIES);
        std::fs::create_dir_all(tree.path().join(trash)).unwrap();
        let link = tree.parent().join("link");
        std::os::unix::fs::symlink("tree", &link).unwrap();
        let home = match root {
            "tree" => link,
            _ => tree.path(),
        };
        let mut browser = or_skip!(browser(&tree, &home, &[root]));
        wait_for_du(&browser, &tree.path(), &[]);
        let before = du(&tree.path(), &[]);
        to_the_trash(&mut browser, "a");
        let files = tree.path().join(".local/share/Trash/files");
        assert!(files.join("a").exists());
        assert!(du(&tree.path(), &[]).0 > before.0);
        wait_for_du(&browser, &tree.path(), &[]);
        browser.wait_for(".local/");
        assert!(!browser.screen().contains("no sum here"));
        undo(&mut browser);
        wait_for_du(&browser, &tree.path(), &[]);
        browser.wait_for("a/");
        to_the_trash(&mut browser, "b");
        wait_for_du(&browser, &tree.path(), &[]);
        to_the_trash(&mut browser, "four");
        wait_for_du(&browser, &tree.path(), &[]);
        // The rows down to the item are those of now.
        browser.jump_to(".local");
        browser.press("\r");
        browser.wait_for("share/");
        browser.press("\r");
        browser.wait_for("Trash/");
        browser.press("\r");
        browser.wait_for("files/");
        browser.jump_to("files");
        browser.press("\r");
        browser.wait_for("four");
        wait_for_du(&browser, &files, &[]);
        // An item in the trash moves to another name there.
        to_the_trash(&mut browser, "four");
        wait_for_du(&browser, &files, &[]);
        browser.wait_for("four.2");
        undo(&mut browser);
        wait_for_du(&browser, &files, &[]);
        // A reading of the directory comes too late where one of the trash was first.
        let shown = browser.shown();
        assert!(!shown.contains("read it again"), "{shown}");
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
    }
}

/// Where the scan does not have the trash, the last line says that the sums lack it.
#[test]
fn a_trash_that_the_scan_lacks_is_told() {
    for (home, exclude) in [
        ("home", &[][..]),
        ("tree", &[".local"]),
        ("tree", &["Tra*"]),
    ] {
        let tree = Tree::new(ENTRIES);
        let home = tree.parent().join(home);
        std::fs::create_dir_all(home.join(".local/share/Trash")).unwrap();
        let excludes = exclude.iter().flat_map(|name| ["--exclude", name]);
        let arguments: Vec<&str> = excludes.chain(["tree"]).collect();
        let mut browser = or_skip!(browser(&tree, &home, &arguments));
        wait_for_du(&browser, &tree.path(), exclude);
        to_the_trash(&mut browser, "a");
        wait_for_du(&browser, &tree.path(), exclude);
        // A key takes the message away.
        browser.press("n");
        browser.wait_for("KiB in the trash, in no sum here");
        undo(&mut browser);
        wait_for_du(&browser, &tree.path(), exclude);
        browser.press("n");
        wait_until("the bytes stay", || {
            !browser.screen().contains("no sum here")
        });
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
    }
}

/// The trash at the top of a mount, which the scan meets from above with and without `-x`.
#[test]
fn the_trash_of_a_mount_is_in_its_row() {
    for stays in [false, true] {
        let tree = Tree::new("at/\nhome/");
        let at = tree.path().join("at");
        let _mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
        std::fs::create_dir(at.join("a")).unwrap();
        std::fs::write(at.join("a/one"), [1; 9000]).unwrap();
        std::fs::write(at.join("two"), [1; 5000]).unwrap();
        let root = ["tree", "tree/at"][usize::from(stays)];
        let home = tree.path().join("home");
        let arguments = if stays { vec!["-x", root] } else { vec![root] };
        let mut browser = or_skip!(browser(&tree, &home, &arguments));
        let root = tree.parent().join(root);
        wait_for_du(&browser, &root, &[]);
        if !stays {
            browser.jump_to("at");
            browser.press("\r");
            browser.wait_for("tree/at ");
        }
        to_the_trash(&mut browser, "a");
        browser.wait_for(".Trash-");
        wait_for_du(&browser, &at, &[]);
        undo(&mut browser);
        wait_for_du(&browser, &at, &[]);
        browser.press("\x1b[D");
        wait_for_du(&browser, &root, &[]);
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
    }
}

/// The sum of the items that pass is the same in the trash.
#[test]
fn a_filter_sees_the_trash() {
    let tree = Tree::new("a/\na/one.jpg 9000\na/two.txt 5000\nb/\nb/three.jpg 12000");
    let mut browser = or_skip!(browser(&tree, &tree.path(), &["tree"]));
    browser.press("3");
    browser.wait_for("images");
    browser.jump_to("images");
    browser.wait_for("GROUP");
    browser.press("\r");
    browser.wait_for("(Esc clears)");
    browser.wait_for("NAME");
    let sum = |browser: &Browser| {
        let screen = browser.screen();
        let line = screen.lines().next().unwrap();
        line.rsplit("  ")
            .next()
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    browser.wait_for("b/");
    let before = sum(&browser);
    to_the_trash(&mut browser, "a");
    browser.wait_for(".local/");
    wait_until("the sum differs", || sum(&browser) == before);
    undo(&mut browser);
    browser.wait_for("a/");
    wait_until("the sum differs", || sum(&browser) == before);
    browser.press("\x1b");
    wait_for_du(&browser, &tree.path(), &[]);
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The trash itself is marked with other items, and lies in a marked directory.
#[test]
fn a_marked_trash_stays_and_the_sums_are_right() {
    let tree = Tree::new(ENTRIES);
    std::fs::create_dir_all(tree.path().join(".local/share/Trash/files/old")).unwrap();
    let mut browser = or_skip!(browser(&tree, &tree.path(), &["tree"]));
    wait_for_du(&browser, &tree.path(), &[]);
    for name in [".local", "a"] {
        browser.jump_to(name);
        browser.press(" ");
    }
    browser.wait_for("2 marked");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.wait_for("holds or is a part of the");
    browser.press("\x1b");
    browser.wait_for("nothing was removed");
    browser.jump_to(".local");
    browser.press(" ");
    browser.wait_for("1 marked");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("in the trash; U");
    wait_for_du(&browser, &tree.path(), &[]);
    browser.jump_to(".local");
    browser.press(" ");
    assert!(tree.path().join(".local/share/Trash/files/a/one").exists());
    // An item in the trash keeps its mark when the trash is read again.
    browser.jump_to(".local");
    browser.press("\r");
    browser.wait_for("share/");
    browser.press("\r");
    browser.wait_for("Trash/");
    browser.press("\r");
    browser.wait_for("files/");
    browser.jump_to("files");
    browser.press("\r");
    browser.wait_for("old/");
    browser.jump_to("old");
    browser.press(" ");
    browser.wait_for("2 marked");
    let files = tree.path().join(".local/share/Trash/files");
    wait_for_du(&browser, &files, &[]);
    undo(&mut browser);
    wait_for_du(&browser, &files, &[]);
    browser.wait_for("2 marked");
    browser.press("8");
    browser.wait_for("Trash/files/old");
    browser.press("qq");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The item comes back while another scan goes on, which has been at one of its two places
/// and not at the other.
#[test]
fn undo_while_a_scan_goes_on() {
    let tree = Tree::new(ENTRIES);
    let shape = Shape {
        entries: 4_000,
        // du counts inodes, and the head names.
        hard_link_share: 0.0,
        ..Shape::default()
    };
    generate(&tree.path().join("many"), 7, &shape).unwrap();
    let mut browser = or_skip!(browser(&tree, &tree.path(), &["tree"]));
    for round in 0..8 {
        to_the_trash(&mut browser, "a");
        wait_for_du(&browser, &tree.path(), &[]);
        // Both in one go, and later and later.
        browser.press("R");
        std::thread::sleep(std::time::Duration::from_millis(round * 4));
        undo(&mut browser);
        wait_for_du(&browser, &tree.path(), &[]);
        browser.wait_for("a/");
        wait_until("the scan does not end", || !browser.screen().contains('≥'));
        wait_for_du(&browser, &tree.path(), &[]);
    }
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The trash was emptied, or something took the place of the item: that was shown as the
/// item, with its old bytes.
#[test]
fn undo_takes_nothing_else() {
    let tree = Tree::new(ENTRIES);
    let mut browser = or_skip!(browser(&tree, &tree.path(), &["tree"]));
    // A sentence with a path is longer than 80 columns.
    resize(&browser.screen, 160, 24);
    to_the_trash(&mut browser, "a");
    wait_for_du(&browser, &tree.path(), &[]);
    let place = tree.path().join(".local/share/Trash/files/a");
    let aside = tree.parent().join("aside");
    std::fs::rename(&place, &aside).unwrap();
    browser.press("U");
    browser.wait_for("it is no longer in the trash");
    std::fs::write(&place, "another").unwrap();
    browser.press("U");
    browser.wait_for("has another entry in its place");
    assert!(place.exists() && !tree.path().join("a").exists());
    assert!(!browser.screen().contains(" a/"), "{}", browser.screen());
    std::fs::remove_file(&place).unwrap();
    // A program wrote to the item in the trash.
    std::fs::rename(&aside, &place).unwrap();
    std::fs::write(place.join("more"), [1; 20_000]).unwrap();
    undo(&mut browser);
    wait_for_du(&browser, &tree.path(), &[]);
    // The sentence said that nothing had been moved there.
    browser.press("U");
    browser.wait_for("no move to the trash is left to take back");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// One item that must stay refused the whole dialog, which did not say how to go on.
#[test]
fn a_refused_mark_can_be_taken_back() {
    let tree = Tree::new(ENTRIES);
    let at = tree.path().join("b");
    let _mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    let mut browser = or_skip!(browser(&tree, &tree.path(), &["tree"]));
    for name in ["a", "b", "four"] {
        browser.jump_to(name);
        browser.press(" ");
    }
    browser.wait_for("3 marked");
    browser.press("d");
    browser.wait_for("b is a mount point");
    browser.wait_for("Space unmarks it, and d takes the others");
    // There is nothing but Cancel.
    browser.press("y\ty\r");
    browser.wait_for("nothing was removed");
    // The journal has the item that was refused, and no other.
    let journal =
        std::fs::read_to_string(tree.parent().join("state/statwalk/removed.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(&journal).unwrap();
    let shown = at.display().to_string();
    assert_eq!(line["path"], shown);
    assert_eq!(line["end"], "stayed");
    assert_eq!(line["reason"], format!("{shown} is a mount point"));
    browser.press("8");
    browser.wait_for("Marks");
    browser.jump_to("b");
    browser.press(" ");
    browser.wait_for("2 marked");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("2 items are in the trash");
    assert!(at.exists() && !tree.path().join("a").exists());
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// A removal made the directory, with a journal in it: `/nonexistent` stands for no home.
#[test]
fn a_home_that_does_not_exist_is_not_made() {
    let tree = Tree::new("a/\na/x 5000\nb 10");
    let home = tree.parent().join("nonexistent");
    let environment = vec![("HOME", home.display().to_string())];
    let arguments = ["--enable-delete", "tree"];
    let browser = Browser::with(tree.parent(), &arguments, environment, Stdio::inherit);
    let mut browser = or_skip!(browser);
    browser.wait_for("entries");
    wait_until("the scan does not end", || !browser.screen().contains('≥'));
    browser.jump_to("a");
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.wait_for("No trash: the home");
    browser.wait_for("XDG_STATE_HOME");
    browser.press("\t");
    browser.wait_for("[Remove forever]");
    browser.press("\r");
    browser.wait_for("Type");
    browser.press("a\r");
    browser.wait_for("removed");
    assert!(!tree.path().join("a").exists() && !home.exists());
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// Nothing could be removed where inode numbers move. The name must be typed there, and one
/// more question follows.
#[test]
fn where_inode_numbers_move_an_item_goes_by_name() {
    let tree = Tree::new("");
    let builder = FaultFs::builder().entries("a/\na/x 5000\na/l -> ../keep\nkeep 10\nf 9000");
    let moving = builder.numbers_move(Where::Everywhere).writable().mount();
    let moving = or_skip!(moving);
    let root = moving.path().to_str().unwrap();
    let mut browser = or_skip!(browser(&tree, tree.parent(), &[root]));
    // A jump among rows that still come can find another one.
    browser.wait_for_scan();
    let mut answer = |name: &str, answers: &[&str]| {
        browser.jump_to(name);
        browser.press("d");
        browser.wait_for("[Cancel]");
        browser.wait_for("another inode number at each look");
        browser.wait_for("No trash");
        browser.press("\t\r");
        browser.wait_for("Type");
        browser.press(&format!("{name}\r"));
        browser.wait_for("[Cancel]  Remove by name");
        for answer in answers {
            browser.press(answer);
        }
        browser.wait_for("removed");
    };
    answer("f", &["\r"]);
    assert!(moving.join("f").exists());
    answer("f", &["y"]);
    wait_until("the file stays", || !moving.join("f").exists());
    answer("a", &["\t", "\r"]);
    wait_until("the directory stays", || !moving.join("a").exists());
    assert!(moving.join("keep").exists());
    let journal =
        std::fs::read_to_string(tree.parent().join("state/statwalk/removed.jsonl")).unwrap();
    let marks = journal.matches(r#""by_name":true"#).count();
    assert_eq!(marks, 2, "{journal}");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// The rotation of a log: the dialog proposed the new file with the name of the old one.
#[test]
fn a_file_that_came_after_the_scan_is_not_that_of_its_row() {
    let tree = Tree::new("log 9000\nother 5000\nstill 3000");
    let mut browser = or_skip!(browser(&tree, tree.parent(), &["tree"]));
    // The clock of files has steps of some milliseconds.
    std::thread::sleep(std::time::Duration::from_millis(30));
    let at = |name: &str| tree.path().join(name);
    std::fs::rename(at("log"), at("log.1")).unwrap();
    std::fs::write(at("log"), "new").unwrap();
    std::fs::write(at("other"), "written").unwrap();
    let mut ask = |name: &str, words: &str| {
        browser.jump_to(name);
        browser.press("d");
        browser.wait_for("[Cancel]");
        let dialog = browser.screen();
        let is_told = dialog.contains("after the scan");
        assert_eq!(is_told, !words.is_empty(), "{dialog}");
        assert!(dialog.contains(words), "{dialog}");
        browser.press("\x1b");
        browser.wait_for("nothing was removed");
        browser.press("1");
    };
    ask("still", "");
    ask("other", "changed or replaced after the scan");
    match std::fs::metadata(at("log")).unwrap().created() {
        Ok(_) => ask("log", "was replaced after the scan"),
        Err(_) => ask("log", "changed or replaced after the scan"),
    }
    browser.press("r");
    browser.wait_for("log.1");
    browser.jump_to("log");
    browser.press("d");
    browser.wait_for("[Cancel]");
    assert!(!browser.screen().contains("after the scan"));
    browser.press("\x1b");
    browser.wait_for("nothing was removed");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
