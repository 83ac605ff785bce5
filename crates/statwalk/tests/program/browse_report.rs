// SPDX-License-Identifier: MIT OR Apache-2.0

//! The key of the browser that writes a report.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::or_skip;

use super::browse::Browser;
use super::report::{Page, incompressible_name, number};
use super::run::Tree;

/// The files in a directory, sorted.
fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut names: Vec<_> = files
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Starts a browser in a directory on a terminal that shows whole paths.
fn start(directory: &Path, paths: &[&str]) -> Result<Browser, statwalk_testkit::Skipped> {
    let zone = vec![("TZ", "UTC".to_owned())];
    let browser = Browser::with(directory, paths, zone, Stdio::inherit)?;
    super::run::resize(&browser.screen, 200, 24);
    Ok(browser)
}

#[test]
fn it_writes_the_directory_in_view_and_names_the_file() {
    let tree = Tree::new("large 5000000\nsub/\nsub/a 10000\nsub/deep/\nsub/deep/b 20000");
    let mut browser = or_skip!(start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    browser.jump_to("sub");
    browser.press("l");
    browser.wait_for("deep/");
    // The file has the directory as it is now, and not as the screen has it.
    fs::write(tree.path().join("sub/later"), vec![7; 30_000]).unwrap();
    let before = jiff::Timestamp::now();
    browser.press("W");
    browser.wait_for("has the report");
    let [first] = &files(tree.parent())[..] else {
        panic!("{:?}", files(tree.parent()));
    };
    assert!(first.contains("-tree-sub-20"), "{first}");
    assert!(browser.screen().contains(first), "{}", browser.screen());

    let page = Page::of(&fs::read(tree.parent().join(first)).unwrap());
    let document = tree.run(&["--json", "tree/sub"]).json();
    let totals = &document["roots"][0];
    for (ours, theirs) in [("allocated", "allocated_bytes"), ("entries", "entries")] {
        assert_eq!(number(&page.meta["totals"][ours]), number(&totals[theirs]));
    }
    assert_eq!(page.meta["complete"]["is"], true);
    let time = page.meta["time_ns"]
        .as_str()
        .unwrap()
        .parse::<i128>()
        .unwrap();
    assert!(time >= before.as_nanosecond(), "{time}");
    let root = tree.path().join("sub");
    assert!(
        page.nodes()
            .contains_key(root.join("later").as_os_str().as_encoded_bytes())
    );

    // The report of before stays beside that of after.
    let kept = fs::read(tree.parent().join(first)).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(1));
    browser.press("W");
    let second = first.replace(".html", "-2.html");
    browser.wait_for(&second);
    assert_eq!(files(tree.parent()), [second, first.clone()]);
    assert_eq!(fs::read(tree.parent().join(first)).unwrap(), kept);
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn the_list_of_roots_is_a_report_of_all() {
    let tree = Tree::new("a/\na/x 5000\nb/\nb/y 70000");
    let mut browser = or_skip!(start(tree.parent(), &["tree/a", "tree/b"]));
    browser.wait_for("tree/b");
    browser.press("W");
    browser.wait_for("has the report");
    let [file] = &files(tree.parent())[..] else {
        panic!("{:?}", files(tree.parent()));
    };
    let page = Page::of(&fs::read(tree.parent().join(file)).unwrap());
    assert_eq!(page.meta["roots"].as_array().unwrap().len(), 2);
    assert_eq!(number(&page.meta["totals"]["entries"]), 4);
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

#[test]
fn a_full_disk_keeps_nothing_and_the_foot_says_so() {
    let tree = Tree::new("disk/\nmany/");
    for number in 0..3_000 {
        let file = tree.path().join("many").join(incompressible_name(number));
        fs::write(file, vec![7; number % 5_000]).unwrap();
    }
    let disk = tree.path().join("disk");
    // There is room for the page, and none for its tree.
    let mounted = or_skip!(FileSystem::Tmpfs.mount_sized(&disk, 128 << 10));
    let mut browser = or_skip!(start(&disk, &["../many"]));
    browser.wait_for("many");
    browser.press("W");
    browser.wait_for("cannot write statwalk-");
    browser.wait_for("no space left on device");
    assert!(files(&disk).is_empty(), "{:?}", files(&disk));
    // The browser goes on.
    std::thread::sleep(std::time::Duration::from_secs(1));
    browser.press("n");
    browser.wait_for("3,000 items");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    drop(mounted);
}

#[test]
fn a_directory_that_takes_no_file_is_named_at_once() {
    let tree = Tree::new("disk/\nlarge 5");
    let disk = tree.path().join("disk");
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&disk));
    mounted.make_read_only().unwrap();
    let mut browser = or_skip!(start(&disk, &[".."]));
    browser.wait_for("large");
    browser.press("W");
    browser.wait_for("cannot write statwalk-");
    browser.wait_for("read-only file system");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    drop(mounted);
}

/// The scan of the report waits for a directory, as that of the browser does.
#[test]
fn it_can_be_stopped_and_does_not_hold_up_the_end() {
    let fs = FaultFs::builder().file("large", 5_000_000).dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let path = mount.path().display().to_string();
    let place = Tree::new("");
    let mut browser = or_skip!(start(&place.path(), &[&path]));
    browser.wait_for("large");
    browser.press("W");
    browser.wait_for("report (Esc stops)");
    // Keys are taken meanwhile.
    browser.press("?");
    browser.wait_for("one row up");
    browser.press("\x1b");
    browser.wait_for("report (Esc stops)");
    browser.press("\x1b");
    browser.wait_for("the report was stopped, and there is no file");
    std::thread::sleep(std::time::Duration::from_secs(1));
    browser.press("W");
    browser.wait_for("report (Esc stops)");
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
    assert!(files(&place.path()).is_empty());
}
