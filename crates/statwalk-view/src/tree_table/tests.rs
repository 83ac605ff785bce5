// SPDX-License-Identifier: MIT OR Apache-2.0

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use proptest::prelude::*;

use super::row::Label;
use super::selection::Selection;
use super::*;
use crate::best_first::{Best, Candidate, Rest};
use crate::colour::plain;
use crate::escape::tests::hostile_name;
use crate::{Charset, Colour, Kind, text_width};

const GIB: u64 = 1 << 30;
const MINUTE: i64 = 60_000_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const NOW: i64 = 20_000 * DAY;

/// A tree whose directories have the sums of what is in them.
#[derive(Clone, Debug)]
struct Item {
    name: Vec<u8>,
    kind: Kind,
    /// How many files it stands for.
    count: u64,
    figures: Figures,
    children: Vec<Item>,
}

fn file(name: &str, bytes: u64, entries: u64, age_ns: i64) -> Item {
    Item {
        name: name.as_bytes().to_vec(),
        kind: Kind::File,
        count: 1,
        figures: Figures {
            allocated_bytes: bytes.into(),
            apparent_bytes: u128::from(bytes) / 2,
            entries,
            newest_mtime_ns: Some(NOW - age_ns),
            incomplete: false,
        },
        children: Vec::new(),
    }
}

fn dir(name: &str, children: Vec<Item>) -> Item {
    let mut rest = Rest::default();
    for child in &children {
        rest.add(&child, child, &child.figures);
    }
    let mut figures = rest.figures();
    figures.entries += 1;
    Item {
        kind: Kind::Directory,
        figures,
        children,
        ..file(name, 0, 0, 0)
    }
}

/// A directory with sums of its own, which stand for a tree below it.
fn leaf(name: &str, bytes: u64, entries: u64, age_ns: i64) -> Item {
    Item {
        kind: Kind::Directory,
        ..file(name, bytes, entries, age_ns)
    }
}

/// As many directories as `count`, which have `bytes` and `entries` together.
fn leaves(count: u64, bytes: u64, entries: u64, age_ns: i64) -> Vec<Item> {
    let part = |whole: u64, index| whole / count + u64::from(index < whole % count);
    (0..count)
        .map(|i| {
            leaf(
                &format!("d{i}"),
                part(bytes, i),
                part(entries, i),
                age_ns + i as i64,
            )
        })
        .collect()
}

impl<'a> Tree for &'a Item {
    type Node = &'a Item;
    fn root(&self) -> &'a Item {
        self
    }
    fn name(&self, node: &'a Item) -> Cow<'_, [u8]> {
        Cow::Borrowed(&node.name)
    }
    fn kind(&self, node: &'a Item) -> Kind {
        node.kind
    }
    fn count(&self, node: &'a Item) -> u64 {
        node.count
    }
    fn figures(&self, node: &'a Item) -> Figures {
        node.figures
    }
    fn for_each_child(&self, node: &'a Item, mut each: impl FnMut(u128, &'a Item)) {
        (node.children.iter()).for_each(|child| each(child.figures.allocated_bytes, child));
    }
}

fn check(root: &Item, options: &TreeOptions, expected: &[&str]) {
    assert_eq!(tree_table(&root, options), expected);
}

fn rows(rows_max: usize) -> TreeOptions {
    TreeOptions {
        rows_max,
        now_ns: NOW,
        ..TreeOptions::default()
    }
}

fn with(mut item: Item, more: Vec<Item>) -> Item {
    item.children.extend(more);
    let name = String::from_utf8(item.name).unwrap();
    let mut with = dir(&name, item.children);
    with.figures.entries -= 1;
    with
}

/// The tree of the command line's description.
fn example() -> Item {
    let climate = with(
        dir(
            "climate",
            vec![leaf("2019-raw", 412 * GIB, 2_113, 3 * 366 * DAY)],
        ),
        leaves(41, 714 * GIB, 879_091, 2 * DAY),
    );
    let projects = with(
        dir("projects", vec![climate]),
        leaves(17, 940 * GIB, 323_127, 5 * HOUR),
    );
    let home = with(
        dir("home", vec![]),
        leaves(20, 131 * 1024 * GIB / 100, 9_870_450, 12 * MINUTE),
    );
    let others = leaves(9, 892 * GIB, 1_328_337, DAY);
    with(with(dir("/data", vec![home, projects]), others), vec![])
}

/// The files of a directory as one node, as a tree gives them that keeps none.
fn bundle(bytes: u64, files: u64, newest_mtime_ns: Option<i64>) -> Item {
    let mut item = file("files", bytes, files, 0);
    (item.kind, item.count) = (Kind::Rest, files);
    item.figures.newest_mtime_ns = newest_mtime_ns;
    item
}

#[test]
fn files_that_are_not_kept_are_counted() {
    let check = |files, newest_mtime_ns, expected: &str| {
        let mut empty = leaf("dir", 1 << 10, 1, 0);
        empty.figures.newest_mtime_ns = None;
        let files = bundle(1 << 10, files, newest_mtime_ns);
        let root = dir("/", vec![empty, files]);
        let lines = tree_table(&&root, &rows(9));
        assert_eq!(lines[1..].len(), 2, "{lines:?}");
        assert!(lines[1].ends_with("├── dir/"), "{lines:?}");
        assert!(lines[2].ends_with(expected), "{lines:?}");
    };
    check(41, Some(NOW), "41  now     └── … 41 files");
    check(1, Some(NOW), " 1  now     └── … 1 file");
    // Some file may be younger than all whose time is known.
    check(2, None, " 2   –      └── … 2 files");
}

#[test]
fn the_example() {
    check(
        &example(),
        &rows(7),
        &[
            "   DISK  SHARE                            ENTRIES  NEWEST  /data",
            "2.02 TiB  48 % ██████████▋              1,204,331   5 h    ├── projects/",
            "1.10 TiB  26 % █████▊                     881,204   2 d    │   ├── climate/",
            " 412 GiB  10 % ██▏                          2,113   3 y    │   │   ├── 2019-raw/",
            " 714 GiB  17 % ███▋                       879,091   2 d    │   │   └── … 41 more",
            " 940 GiB  22 % ████▊                      323,127   5 h    │   └── … 17 more",
            "1.31 TiB  31 % ██████▉                  9,870,450  12 min  ├── home/",
            " 892 GiB  21 % ████▋                    1,328,337   1 d    └── … 9 more",
        ],
    );
}

#[test]
fn fewer_rows_close_the_smaller_directories() {
    check(
        &example(),
        &rows(6),
        &[
            "   DISK  SHARE                                ENTRIES  NEWEST  /data",
            "2.02 TiB  48 % ████████████▌                1,204,331   5 h    ├── projects/",
            "1.10 TiB  26 % ██████▊                        881,204   2 d    │   ├── climate/",
            " 940 GiB  22 % █████▋                         323,127   5 h    │   └── … 17 more",
            "1.31 TiB  31 % ████████▏                    9,870,450  12 min  ├── home/",
            "99.1 GiB   2 % ▋                              147,593   1 d    ├── d0/",
            " 793 GiB  18 % ████▊                        1,180,744   1 d    └── … 8 more",
        ],
    );
}

#[test]
fn few_rows() {
    let head = "   DISK  SHARE                ENTRIES  NEWEST  /data";
    check(&example(), &rows(0), &[head]);
    check(
        &example(),
        &rows(1),
        &[
            "   DISK  SHARE                                    ENTRIES  NEWEST  /data",
            "4.20 TiB 100 % ██████████████████████████████  12,403,118  12 min  └── … 11 more",
        ],
    );
    check(
        &example(),
        &rows(2),
        &[
            "   DISK  SHARE                                    ENTRIES  NEWEST  /data",
            "2.02 TiB  48 % ██████████████▍                  1,204,331   5 h    ├── projects/",
            "2.18 TiB  52 % ███████████████▋                11,198,787  12 min  └── … 10 more",
        ],
    );
}

/// Two directories, one of them with two files, and three files.
fn small() -> Item {
    dir(
        "/s",
        vec![
            file("notes.txt", 1024, 1, HOUR),
            dir(
                "b",
                vec![
                    file("one", 4096, 1, 3 * DAY),
                    dir("inner", vec![file("deep", 8192, 1, 15 * DAY)]),
                    file("two", 4096, 1, DAY),
                ],
            ),
            file("empty", 0, 1, -HOUR),
            dir("a", vec![]),
            file("more.txt", 1024, 1, 0),
        ],
    )
}

#[test]
fn files_are_in_the_rest() {
    check(
        &small(),
        &rows(10),
        &[
            "   DISK  SHARE                                ENTRIES  NEWEST  /s",
            "16.0 KiB  89 % █████████████████████████▊           5   1 d    ├── b/",
            "8.00 KiB  44 % ████████████▉                        2  15 d    │   ├── inner/",
            "8.00 KiB  44 % ████████████▉                        2   1 d    │   └── … 2 files",
            "     0 B   0 %                                      1   –      ├── a/",
            "2.00 KiB  11 % ███▎                                 3   –      └── … 3 files",
        ],
    );
    let one = dir("/one", vec![file("f", 2048, 1, 0)]);
    check(
        &one,
        &rows(10),
        &[
            "   DISK  SHARE                                     ENTRIES  NEWEST  /one",
            "2.00 KiB 100 % ██████████████████████████████████        1  now     └── … 1 file",
        ],
    );
    let nothing = dir("/none", vec![]);
    check(
        &nothing,
        &rows(10),
        &["   DISK  SHARE             ENTRIES  NEWEST  /none"],
    );
}

#[test]
fn files_have_rows_if_asked_for() {
    let options = TreeOptions {
        files: Files::Shown,
        ..rows(9)
    };
    check(
        &small(),
        &options,
        &[
            "   DISK  SHARE                                 ENTRIES  NEWEST  /s",
            "16.0 KiB  89 % ██████████████████████████▋           5   1 d    ├── b/",
            "8.00 KiB  44 % █████████████▍                        2  15 d    │   ├── inner/",
            "8.00 KiB  44 % █████████████▍                        1  15 d    │   │   └── deep",
            "4.00 KiB  22 % ██████▋                               1   3 d    │   ├── one",
            "4.00 KiB  22 % ██████▋                               1   1 d    │   └── two",
            "1.00 KiB   6 % █▋                                    1  now     ├── more.txt",
            "1.00 KiB   6 % █▋                                    1   1 h    ├── notes.txt",
            "     0 B   0 %                                       1   –      ├── a/",
            "     0 B   0 %                                       1   –      └── empty",
        ],
    );
    check(
        &small(),
        &TreeOptions {
            rows_max: 4,
            ..options
        },
        &[
            "   DISK  SHARE                                ENTRIES  NEWEST  /s",
            "16.0 KiB  89 % █████████████████████████▊           5   1 d    ├── b/",
            "8.00 KiB  44 % ████████████▉                        2  15 d    │   ├── inner/",
            "8.00 KiB  44 % ████████████▉                        2   1 d    │   └── … 2 files",
            "2.00 KiB  11 % ███▎                                 4   –      └── … 4 more",
        ],
    );
}

/// A project whose sources lie deep, and little else.
fn project() -> Item {
    let app = dir(
        "app",
        vec![
            leaf("service", 60_000, 9, DAY),
            leaf("model", 30_000, 9, DAY),
        ],
    );
    let main = dir("main", vec![dir("java", vec![dir("com", vec![app])])]);
    let src = dir("src", vec![main, file("notes", 500, 1, DAY)]);
    let jars = vec![
        leaf("lib", 9_000, 3, DAY),
        file("a", 400, 1, DAY),
        file("b", 0, 1, DAY),
    ];
    dir("/p", vec![src, dir("target", jars)])
}

#[test]
fn a_chain_of_only_children_is_one_row() {
    let mut options = TreeOptions {
        size: SizeFormat::Bytes,
        ..rows(10)
    };
    options.terminal.width = 85;
    check(
        &project(),
        &options,
        &[
            "   DISK  SHARE             ENTRIES  NEWEST  /p",
            "   90500  91 % █████████        24   1 d    ├── src/main/java/com/app/  … 1 file, 500",
            "   60000  60 % ██████            9   1 d    │   ├── service/",
            "   30000  30 % ███               9   1 d    │   └── model/",
            "    9400   9 % █                 6   1 d    └── target/lib/  … 2 files, 400",
        ],
    );
    // The depth of a row counts all of its directories.
    let depth = |depth| {
        let options = TreeOptions {
            depth_max: Some(depth),
            ..rows(10)
        };
        names(&project(), &options).remove(0)
    };
    assert_eq!(depth(1), "src/");
    assert!(depth(3).starts_with("src/main/"), "{}", depth(3));
    assert!(depth(6).starts_with("src/main/java/com/app/"));
    // Beside an only child there may be little: less than 1 % of the root, and less than
    // 5 % of the parent.
    let beside = |bytes: u64, others: u64| {
        let inner = dir("b", vec![leaf("c", 95, 1, 0), leaf("d", 855, 1, 0)]);
        let root = dir("/", vec![dir("a", vec![inner, file("f", bytes, 1, 0)])]);
        let root = with(root, vec![leaf("z", others, 1, 0)]);
        let names = names(&root, &rows(10)).into_iter();
        names
            .filter(|name| name.starts_with("a/b/  … 1 file"))
            .count()
    };
    assert_eq!((beside(9, 0), beside(10, 0)), (1, 0));
    assert_eq!((beside(50, 9_000), beside(51, 9_000)), (1, 0));
}

#[test]
fn a_small_rest_is_a_number_behind_its_directory() {
    let of = |hidden: u64| {
        let tree = dir(
            "a",
            vec![
                leaf("b", 500, 1, 0),
                leaf("c", 500, 1, 0),
                file("x", hidden / 2, 1, 0),
                file("y", hidden - hidden / 2, 1, 0),
            ],
        );
        let other = leaf("other", 9_000 - hidden, 1, 0);
        names(&dir("/", vec![tree, other]), &rows(10))
    };
    assert_eq!(of(100)[1..], ["a/", "b/", "c/", "… 2 files"]);
    assert_eq!(of(99)[1..], ["a/  … 2 files, 99 B", "b/", "c/"]);
    // There is no number behind a name that takes all the room.
    let long = |width| {
        let (b, c) = (leaf("b", 400, 1, 0), leaf("c", 600, 1, 0));
        let tree = dir(&"x".repeat(width), vec![b, c, file("x", 1, 1, 0)]);
        names(&dir("/", vec![tree, leaf("e", 9, 1, 0)]), &rows(10)).remove(0)
    };
    assert!(long(16).ends_with("xx/  … 1 file, 1 B"), "{}", long(16));
    assert!(long(24).ends_with("xx/  … 1 B"), "{}", long(24));
    assert!(long(60).ends_with("xx/"), "{}", long(60));
}

/// The names in the rows of a view, in their order.
fn names(root: &Item, options: &TreeOptions) -> Vec<String> {
    let mut lines = tree_table(&root, options);
    lines.remove(0);
    let name = |line: String| line.rsplit("── ").next().unwrap().to_owned();
    lines.into_iter().map(name).collect()
}

#[test]
fn the_depth_is_limited() {
    let names = |depth_max| {
        let options = TreeOptions {
            depth_max: Some(depth_max),
            ..rows(10)
        };
        names(&small(), &options)
    };
    assert_eq!(names(0), [""; 0]);
    assert_eq!(names(1), ["b/", "a/", "… 3 files"]);
    assert_eq!(names(2), ["b/", "inner/", "… 2 files", "a/", "… 3 files"]);
    assert_eq!(names(3), names(2));
}

#[test]
fn siblings_are_sorted() {
    let root = dir(
        "/",
        vec![
            leaf("c", 30, 1, 2 * DAY),
            leaf("a", 10, 3, 3 * DAY),
            leaf("b", 20, 2, DAY),
            leaf("d", 10, 3, 3 * DAY),
        ],
    );
    let check = |sort, all: [&str; 4], two: [&str; 3]| {
        let mut options = TreeOptions { sort, ..rows(10) };
        assert_eq!(names(&root, &options), all);
        options.rows_max = 3;
        assert_eq!(names(&root, &options), two);
        // The same rows, the other way round, and the rest still last.
        options.direction = Direction::Reversed;
        assert_eq!(names(&root, &options), [two[1], two[0], two[2]]);
    };
    check(
        SortKey::Size,
        ["c/", "b/", "a/", "d/"],
        ["c/", "b/", "… 2 more"],
    );
    check(
        SortKey::Name,
        ["a/", "b/", "c/", "d/"],
        ["b/", "c/", "… 2 more"],
    );
    check(
        SortKey::Count,
        ["a/", "d/", "b/", "c/"],
        ["a/", "d/", "… 2 more"],
    );
    check(
        SortKey::Mtime,
        ["b/", "c/", "a/", "d/"],
        ["b/", "c/", "… 2 more"],
    );
}

#[test]
fn of_equal_directories_the_first_is_opened() {
    let pair =
        |name: &str, child: &str| dir(name, vec![leaf(child, 10, 1, 0), leaf("other", 9, 1, 0)]);
    let root = dir("/", vec![pair("b", "b1"), pair("a", "a1")]);
    assert_eq!(names(&root, &rows(4)), ["a/", "a1/", "other/", "b/"]);
}

#[test]
fn one_node_can_stand_for_many_files() {
    let check = |newest_mtime_ns, rows_max, expected: &str| {
        let dirs = [leaf("b", 1024, 1, HOUR), leaf("a", 2048, 1, HOUR)];
        let mut children = vec![bundle(1024, 300, newest_mtime_ns)];
        children.extend(dirs);
        let lines = tree_table(&&dir("/", children), &rows(rows_max));
        let last = lines.last().unwrap();
        assert!(last.ends_with(expected), "{last}");
    };
    check(Some(NOW - DAY), 3, "    300   1 d    └── … 300 files");
    check(Some(NOW - DAY), 2, "    301   1 h    └── … 301 more");
    // The directory's time is known, but the files may be younger.
    check(None, 3, "    300   –      └── … 300 files");
    check(None, 2, "    301   –      └── … 301 more");
}

/// "The third directory is open, and the second is not: what is in it?" It has several
/// children, each smaller than the only large one of the third.
#[test]
fn the_second_directory_opens_before_the_third() {
    let part = |name: &str| leaf(name, 60, 1, 0);
    let second = dir("second", ["p", "q", "r", "s"].map(part).to_vec());
    let third = dir("third", vec![leaf("large", 200, 1, 0), leaf("x", 20, 1, 0)]);
    let root = dir("/", vec![leaf("first", 520, 1, 0), second, third]);
    let all = names(&root, &rows(5));
    assert_eq!(all, ["first/", "second/", "p/", "… 3 more", "third/"]);
    // The rows of siblings come first.
    assert_eq!(names(&root, &rows(3)), ["first/", "second/", "third/"]);
    // Nothing in the second deserves a row.
    let crumbs: Vec<Item> = (0..120)
        .map(|n| leaf(&format!("{n:03}"), 2, 1, 0))
        .collect();
    let third = dir("third", vec![leaf("large", 200, 1, 0), leaf("x", 20, 1, 0)]);
    let root = dir(
        "/",
        vec![leaf("first", 520, 1, 0), dir("second", crumbs), third],
    );
    let all = names(&root, &rows(5));
    assert_eq!(all, ["first/", "second/", "third/", "large/", "x/"]);
}

/// "Half of the screen is directories of 0.1 %: I looked for the large ones."
#[test]
fn small_rows_do_not_fill_the_screen() {
    let mut children = vec![
        leaf("a", 400, 1, 0),
        leaf("b", 300, 1, 0),
        leaf("c", 200, 1, 0),
    ];
    children.extend((0..50).map(|n| leaf(&format!("small{n:02}"), 2, 1, 0)));
    let root = dir("/", children);
    let hidden = TreeOptions {
        small: Small::Hidden,
        ..rows(20)
    };
    let shown = names(&root, &hidden);
    assert_eq!(
        shown,
        ["a/", "b/", "c/", "small00/", "small01/", "… 48 more"]
    );
    assert_eq!(names(&root, &rows(20)).len(), 20);
    // By count the sizes say nothing.
    let by_count = TreeOptions {
        sort: SortKey::Count,
        ..hidden
    };
    assert_eq!(names(&root, &by_count).len(), 20);
}

#[test]
fn times_before_1970_are_older() {
    let mut root = dir(
        "/",
        vec![
            leaf("none", 1, 1, 0),
            leaf("old", 1, 1, NOW + DAY),
            leaf("new", 1, 1, NOW),
        ],
    );
    root.children[0].figures.newest_mtime_ns = None;
    let options = TreeOptions {
        sort: SortKey::Mtime,
        ..rows(10)
    };
    assert_eq!(names(&root, &options), ["new/", "old/", "none/"]);
}

#[test]
fn the_other_size() {
    let options = TreeOptions {
        column: SizeColumn::Apparent,
        size: SizeFormat::Bytes,
        ..rows(3)
    };
    check(
        &small(),
        &options,
        &[
            "APPARENT SHARE                                    ENTRIES  NEWEST  /s",
            "    8192  89 % █████████████████████████████▍           5   1 d    ├── b/",
            "       0   0 %                                          1   –      ├── a/",
            "    1024  11 % ███▋                                     3   –      └── … 3 files",
        ],
    );
    let options = TreeOptions {
        column: SizeColumn::Disk,
        size: SizeFormat::Unit(crate::Unit::MiB),
        ..rows(1)
    };
    check(
        &example(),
        &options,
        &[
            "          DISK  SHARE                             ENTRIES  NEWEST  /data",
            "4,402,626.6 MiB 100 % ███████████████████████  12,403,118  12 min  └── … 11 more",
        ],
    );
}

#[test]
fn incomplete_directories_say_so() {
    let mut secret = leaf("secret", 4096, 9, DAY);
    secret.figures.incomplete = true;
    let open = leaf("open", 1024, 9, DAY);
    let root = dir(
        "/",
        vec![leaf("b", 9000, 1, DAY), dir("a", vec![secret, open])],
    );
    assert_eq!(
        names(&root, &rows(10)),
        ["b/", "a/ (incomplete)", "secret/ (incomplete)", "open/"]
    );
    assert_eq!(names(&root, &rows(2)), ["b/", "a/ (incomplete)"]);
    assert_eq!(names(&root, &rows(1)), ["… 2 more (incomplete)"]);
}

#[test]
fn names_are_escaped_and_cut() {
    let long = format!("{}.tar", "x".repeat(300));
    let root = dir(
        "/\x1b[2J",
        vec![leaf("a\nb\u{202e}", 2, 1, 0), leaf(&long, 1, 1, 0)],
    );
    check(
        &root,
        &rows(10),
        &[
            r"   DISK  SHARE             ENTRIES  NEWEST  /\x1b[2J",
            r"     2 B  67 % ██████▋           1  now     ├── a\nb\u{202e}/",
            r"     1 B  33 % ███▍              1  now     └── xxxxxxxxxxxxxxxx…xxxxxxxxxx.tar/",
        ],
    );
}

fn at(width: usize) -> TreeOptions {
    let terminal = Terminal {
        width,
        ..Terminal::default()
    };
    TreeOptions {
        terminal,
        ..rows(2)
    }
}

#[test]
fn columns_give_way_to_names() {
    let check = |width, expected: [&str; 3]| check(&example(), &at(width), &expected);
    check(
        71,
        [
            "   DISK  SHARE                           ENTRIES  NEWEST  /data",
            "2.02 TiB  48 % ██████████▏             1,204,331   5 h    ├── projects/",
            "2.18 TiB  52 % ██████████▉            11,198,787  12 min  └── … 10 more",
        ],
    );
    check(
        70,
        [
            "   DISK  SHARE     ENTRIES  NEWEST  /data",
            "2.02 TiB  48 %   1,204,331   5 h    ├── projects/",
            "2.18 TiB  52 %  11,198,787  12 min  └── … 10 more",
        ],
    );
    check(
        59,
        [
            "   DISK  SHARE     ENTRIES  /data",
            "2.02 TiB  48 %   1,204,331  ├── projects/",
            "2.18 TiB  52 %  11,198,787  └── … 10 more",
        ],
    );
    check(
        51,
        [
            "   DISK  SHARE  /data",
            "2.02 TiB  48 %  ├── projects/",
            "2.18 TiB  52 %  └── … 10 more",
        ],
    );
    check(
        39,
        [
            "   DISK   /data",
            "2.02 TiB  ├── projects/",
            "2.18 TiB  └── … 10 more",
        ],
    );
    check(
        20,
        [
            "   DISK   /data",
            "2.02 TiB  ├── pro…s/",
            "2.18 TiB  └── … 1…re",
        ],
    );
    check(12, ["   DISK   /…", "2.02 TiB  ├…", "2.18 TiB  └…"]);
    check(4, ["   …", "2.0…", "2.1…"]);
    check(0, ["", "", ""]);
}

#[test]
fn ascii() {
    let mut options = rows(5);
    options.terminal.charset = Charset::Ascii;
    let mut root = example();
    root.children[1].children[0].name = "Größe".into();
    check(
        &root,
        &options,
        &[
            r"   DISK  SHARE                         ENTRIES  NEWEST  /data",
            r"2.02 TiB  48 % #########             1,204,331   5 h    |-- projects/",
            r"1.10 TiB  26 % #####                   881,204   2 d    |   |-- Gr\u{f6}\u{df}e/",
            r" 940 GiB  22 % ####                    323,127   5 h    |   `-- ... 17 more",
            r"1.31 TiB  31 % ######                9,870,450  12 min  |-- home/",
            r" 892 GiB  21 % ####                  1,328,337   1 d    `-- ... 9 more",
        ],
    );
}

#[test]
fn colour_changes_no_letter() {
    let without = tree_table(&&example(), &rows(7));
    let mut options = rows(7);
    options.terminal.colour = Colour::On;
    let lines = tree_table(&&example(), &options);
    assert!(
        lines[1].ends_with("├── \x1b[1mprojects/\x1b[0m"),
        "{}",
        lines[1]
    );
    assert!(
        lines[4].ends_with("└── \x1b[2m… 41 more\x1b[0m"),
        "{}",
        lines[4]
    );
    let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    assert_eq!(lines, without);
}

#[test]
fn outer_guides_are_left_out_where_the_tree_is_deep() {
    let mut deep = leaf("end", 1000, 1, 0);
    for _ in 0..9 {
        deep = dir("d", vec![deep, leaf("f", 500, 1, 0)]);
    }
    let root = dir("/", vec![dir("a", vec![deep]), leaf("b", 1, 1, 0)]);
    let lines = tree_table(&&root, &rows(22));
    assert_eq!(lines.len(), 21);
    for (line, expected) in [
        (1, "  now     ├── a/d/"),
        (2, "  now     │   ├── d/"),
        (5, "  now     │   │   │   │   ├── d/"),
        (6, "  now     …   │   │   │   ├── d/"),
        (10, "  now     …   │   │   │   ├── end/"),
        (11, "  now     …   │   │   │   └── f/"),
        (20, "  now     └── b/"),
    ] {
        assert!(lines[line].ends_with(expected), "{lines:#?}");
    }
}

/// A tree of 10^12 directories, which are made when they are looked at.
struct Endless {
    touched: AtomicU64,
    opened: Mutex<Vec<u64>>,
}

impl Tree for Endless {
    /// The path as a number: a digit of base 1000 for each level.
    type Node = (u32, u64);
    fn root(&self) -> (u32, u64) {
        (0, 0)
    }
    fn name(&self, (_, path): (u32, u64)) -> Cow<'_, [u8]> {
        (path % 1000).to_string().into_bytes().into()
    }
    fn kind(&self, _: (u32, u64)) -> Kind {
        self.touched.fetch_add(1, Relaxed);
        Kind::Directory
    }
    fn count(&self, _: (u32, u64)) -> u64 {
        1
    }
    fn figures(&self, (depth, path): (u32, u64)) -> Figures {
        self.touched.fetch_add(1, Relaxed);
        Figures {
            allocated_bytes: (1 << 60 >> (10 * depth)) + u128::from(path % 1000),
            entries: 1000u64.pow(4 - depth),
            ..Figures::default()
        }
    }
    fn for_each_child(&self, (depth, path): (u32, u64), mut each: impl FnMut(u128, (u32, u64))) {
        self.opened.lock().unwrap().push(path);
        let count = if depth < 4 { 1000 } else { 0 };
        // The table looks at the figures by itself.
        (0..count).for_each(|index| each(0, (depth + 1, path * 1000 + index)));
    }
}

#[test]
fn what_is_not_shown_is_not_looked_at() {
    let tree = Endless {
        touched: AtomicU64::new(0),
        opened: Mutex::default(),
    };
    let lines = tree_table(&tree, &rows(30));
    assert_eq!(lines.len(), 31);
    assert!(lines[1].ends_with("├── 999/"), "{}", lines[1]);
    // The rows are the root's largest children and the rest. Each was opened
    // once, to see whether something in it is larger than the next, or is the
    // only thing in it, and no grandchild was.
    let mut opened = tree.opened.into_inner().unwrap();
    opened.sort_unstable();
    let rows = (1000 - 29)..1000;
    assert!(
        opened
            .into_iter()
            .all(|path| path == 0 || rows.contains(&path))
    );
    let touched = tree.touched.into_inner();
    assert!(touched < 31 * 1000 * 4, "{touched}");
}

fn item() -> impl Strategy<Value = Item> {
    let file = (hostile_name(), 0u64..5000, any::<bool>(), -9..9i64);
    let file = file.prop_map(|(name, bytes, incomplete, age)| {
        let mut item = self::file("", bytes, 1, age * DAY);
        item.name = name;
        item.figures.incomplete = incomplete;
        item
    });
    let tree = file.prop_recursive(6, 80, 8, |item| {
        (hostile_name(), proptest::collection::vec(item, 0..8)).prop_map(|(name, children)| {
            let mut item = dir("", children);
            item.name = name;
            item
        })
    });
    tree.prop_map(|item| dir("/root", vec![item.clone(), item]))
}

fn any_options() -> impl Strategy<Value = TreeOptions> {
    use proptest::option::of;
    use proptest::sample::select;
    (
        (0usize..25, of(0usize..5), 0usize..110),
        select(vec![Files::Hidden, Files::Shown]),
        select(vec![
            SortKey::Size,
            SortKey::Name,
            SortKey::Count,
            SortKey::Mtime,
        ]),
        select(vec![Direction::Forward, Direction::Reversed]),
        select(vec![Charset::Unicode, Charset::Ascii]),
        select(vec![Colour::Off, Colour::On]),
    )
        .prop_map(
            |((rows_max, depth_max, width), files, sort, direction, charset, colour)| TreeOptions {
                min_bytes: 0,
                small: Small::Shown,
                rows_max,
                depth_max,
                files,
                column: SizeColumn::Disk,
                size: SizeFormat::Binary,
                sort,
                direction,
                now_ns: NOW,
                terminal: Terminal {
                    width,
                    charset,
                    colour,
                },
            },
        )
}

proptest! {
    #[test]
    fn the_view_fits(root in item(), options in any_options()) {
        let lines = tree_table(&&root, &options);
        prop_assert!(lines.len() <= options.rows_max + 1);
        for line in lines {
            let line = plain(&line);
            prop_assert!(text_width(&line) <= options.terminal.width, "{line}");
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn colour_never_changes_the_text(root in item(), mut options in any_options()) {
        options.terminal.colour = Colour::On;
        let coloured: Vec<String> =
            tree_table(&&root, &options).iter().map(|line| plain(line)).collect();
        options.terminal.colour = Colour::Off;
        prop_assert_eq!(coloured, tree_table(&&root, &options));
    }

    #[test]
    fn rows_below_the_root_add_up(root in item(), mut options in any_options()) {
        options.rows_max += 1;
        options.depth_max = options.depth_max.map(|depth| depth + 1);
        options.size = SizeFormat::Bytes;
        options.terminal = Terminal { width: 1000, ..Terminal::default() };
        let (mut bytes, mut entries) = (0, 0);
        let lines = tree_table(&&root, &options);
        let label = text_width(lines[0].strip_suffix("/root").unwrap());
        for line in &lines[1..] {
            // The branch of the first level stands at the left edge.
            if !matches!(line.chars().nth(label), Some('├' | '└')) {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            bytes += words[0].parse::<u128>().unwrap();
            let count = words.iter().skip(3).find_map(|word| word.parse::<u64>().ok());
            entries += u128::from(count.unwrap());
        }
        let sum = |figure: fn(&Figures) -> u128| -> u128 {
            root.children.iter().map(|child| figure(&child.figures)).sum()
        };
        prop_assert_eq!(bytes, sum(|figures| figures.allocated_bytes));
        prop_assert_eq!(entries, sum(|figures| figures.entries.into()));
    }

    #[test]
    fn rows_and_the_numbers_behind_them_add_up(root in item(), options in any_options()) {
        let tree = &root;
        let mut selection = Selection::new(&tree, &options);
        selection.fill();
        let rows = selection.into_rows();
        for (index, row) in rows.iter().enumerate() {
            let below = rows[index + 1..].iter().take_while(|other| other.depth > row.depth);
            let children: Vec<_> = below.filter(|other| other.depth == row.depth + 1).collect();
            let Label::Nodes { hidden, .. } = &row.label else {
                prop_assert!(children.is_empty());
                continue;
            };
            let has_rest = children.iter().any(|child| matches!(child.label, Label::Rest(_)));
            if children.is_empty() {
                continue;
            }
            // One or the other stands for the nodes without a row.
            prop_assert_eq!(hidden.is_some(), !has_rest);
            for column in [SizeColumn::Disk, SizeColumn::Apparent] {
                let below: u128 = children.iter().map(|child| column.of(&child.figures)).sum();
                let hidden = hidden.map_or(0, |(_, rest)| column.of(&rest));
                prop_assert_eq!(column.of(&row.figures), below + hidden);
            }
        }
    }

    #[test]
    fn the_largest_are_kept(keys in proptest::collection::vec(0u64..50, 0..400), wanted in 1usize..40) {
        let items: Vec<Item> = keys.iter().enumerate()
            .map(|(index, &key)| leaf(&format!("{index:04}"), key, 1, 0)).collect();
        let root = &dir("/", items);
        let mut best = Best::new(&root, wanted);
        root.for_each_child(root, |key, node| {
            if best.is_wanted(key) {
                best.add(Candidate { key, node });
            } else {
                best.beyond.add(&root, node, &node.figures);
            }
        });
        let (kept, beyond) = best.finish();
        let mut sorted: Vec<_> = root.children.iter().map(|item| &item.name).collect();
        sorted.sort_by_key(|name| {
            let index: usize = str::from_utf8(name).unwrap().parse().unwrap();
            (Reverse(keys[index]), index)
        });
        sorted.truncate(wanted);
        prop_assert_eq!(beyond.count as usize + kept.len(), keys.len());
        let all: u64 = keys.iter().sum();
        let kept_sum: u128 = kept.iter().map(|candidate| candidate.key).sum();
        prop_assert_eq!(beyond.figures().allocated_bytes + kept_sum, u128::from(all));
        let kept: Vec<_> = kept.iter().map(|candidate| &candidate.node.name).collect();
        prop_assert_eq!(kept, sorted);
    }
}
