// SPDX-License-Identifier: MIT OR Apache-2.0

//! The browser on a terminal: its items and their numbers, when the numbers change.

use std::path::Path;
use std::time::Duration;

use statwalk_testkit::fault_fs::{FaultFs, Hang, Latency, Op, Where};
use statwalk_testkit::mounts;
use statwalk_testkit::{Random, or_skip};

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
    browser.jump_to("dir17");
    browser.press(" ");
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
    browser.jump_to("dir05");
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
    // A key acts on the rows of the screen.
    browser.wait_for("b/");
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
    browser.jump_to("two");
    browser.press("d");
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

/// The letter, the sizes and the name of each row.
fn rows(screen: &str) -> Vec<(char, String, String)> {
    let rows = screen.lines().skip(2).take(21);
    let rows = rows.filter(|line| line.contains('%'));
    let row = |line: &str| {
        let letter = line.chars().nth(1).unwrap();
        let mut words = line.chars().skip(2).collect::<String>();
        words = words.trim().to_owned();
        let size = words
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ");
        let name = words.split_whitespace().last().unwrap().to_owned();
        (letter, size, name)
    };
    rows.map(row).collect()
}

/// After `S`, directories that waited were shown as exact, with a part of their bytes.
#[test]
fn rows_of_a_stopped_scan_are_exact_or_marked() {
    let mut fs = FaultFs::builder();
    for dir in 0..12 {
        fs = fs.file(format!("dir{dir:02}/file"), 1000 + dir * 10_000);
        for sub in 0..6 {
            fs = fs.file(format!("dir{dir:02}/sub{sub}/deep/file"), 20_000 + sub);
        }
    }
    let latency = Latency::Between {
        least: Duration::ZERO,
        most: Duration::from_millis(30),
        seed: 1,
    };
    let mount = or_skip!(
        fs.latency_of(Where::Everywhere, Op::Opendir, latency)
            .mount()
    );
    let path = mount.path().to_str().unwrap();
    let arguments = ["-j", "3", path];
    let mut whole = or_skip!(Browser::start(mount.path().parent().unwrap(), &arguments));
    let begin = std::time::Instant::now();
    whole.wait_for("entries");
    // A frame can be half on the screen.
    wait_until("the scan does not end", || {
        let screen = whole.screen();
        !screen.contains('≥') && rows(&screen).len() == 12
    });
    let takes = begin.elapsed();
    let all = rows(&whole.screen());
    assert!(all.iter().all(|(letter, ..)| *letter == ' '), "{all:?}");
    whole.press("q");
    assert_eq!(whole.end().0.code(), Some(0));
    let mut random = Random::new(5);
    let (mut marked, mut exact) = (0, 0);
    for _ in 0..8 {
        let mut browser = Browser::start(mount.path().parent().unwrap(), &arguments).unwrap();
        browser.wait_for("reading:");
        std::thread::sleep(takes.mul_f64(random.share() * 0.9));
        browser.press("S");
        wait_until("the scan does not end", || {
            !browser.screen().contains("reading:")
        });
        let is_stopped = browser.screen().contains("stopped: lower bounds");
        wait_until("no rows", || !rows(&browser.screen()).is_empty());
        let screen = browser.screen();
        assert_eq!(
            screen.lines().next().unwrap().contains('≥'),
            is_stopped,
            "{screen}"
        );
        for row in rows(&screen) {
            match row.0 {
                '.' => marked += 1,
                ' ' => {
                    exact += 1;
                    assert!(all.contains(&row), "{row:?} is none of {all:?}:\n{screen}");
                }
                _ => panic!("{screen}"),
            }
        }
        if let Some((.., name)) = rows(&screen).iter().find(|row| row.0 == '.') {
            // The details and the view of the errors know it, too.
            let name = name.trim_end_matches('/');
            browser.jump_to(name);
            browser.press("i");
            browser.wait_for("Inode");
            browser.wait_for("are lower");
            browser.press("\x1b");
            wait_until("the box stays", || !browser.screen().contains("Inode"));
            browser.press("7");
            browser.wait_for("no error until the scan was stopped");
        }
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0));
    }
    assert!(marked > 5 && exact > 5, "{marked} {exact}");
}

/// `/proc` had `e`, "an empty directory".
#[test]
fn a_file_system_that_was_left_out_is_not_empty() {
    let tree = Tree::new("at/\nempty/\nfull/\nfull/file 10");
    let at = tree.path().join("at");
    let _bound = or_skip!(mounts::bind(Path::new("/proc"), &at));
    let fs = FaultFs::builder().dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let slow = mount.path().to_str().unwrap();
    let letters = |browser: &Browser| {
        let rows = rows(&browser.screen()).into_iter();
        let mut rows: Vec<_> = rows.map(|(letter, _, name)| (name, letter)).collect();
        rows.sort();
        rows
    };
    let row = |name: &str, letter| (format!("{name}/"), letter);
    // The scan reads the roots one after another, and does not get beyond the second.
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree", slow]));
    browser.wait_for("dead");
    browser.jump_to("tree");
    browser.press("\r");
    browser.wait_for("full/");
    let all = |at, empty| vec![row("at", at), row("empty", empty), row("full", ' ')];
    wait_until("other rows", || letters(&browser) == all(' ', ' '));
    browser.press("S");
    wait_until("other letters", || letters(&browser) == all('<', 'e'));
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    let mut browser = or_skip!(Browser::start(tree.parent(), &["-x", "tree"]));
    wait_until("other letters", || letters(&browser) == all('>', 'e'));
    browser.jump_to("at");
    browser.press("\r");
    browser.wait_for("another file system, which was not read");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}
