// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk report`: the file that it writes, and the numbers in it.

mod ends;
pub(crate) mod page;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Stdio;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use statwalk_testkit::mounts::{FileSystem, bind};
use statwalk_testkit::unprivileged::is_root;
use statwalk_testkit::{Skipped, or_skip, program, trees};

pub(crate) use self::page::Page;
use self::page::{DIRECTORY, FILE, ITSELF, REST, ROOTS};
use crate::run::{Answer, Tree, as_ordinary_user, statwalk};
use crate::schema;

/// The page of a tree.
fn page_of(tree: &Tree, arguments: &[&str]) -> Page {
    let answer = tree.run(&[&["report", "tree", "-o", "-"], arguments].concat());
    assert_eq!(answer.stderr, "");
    Page::of(&answer.stdout)
}

fn json(tree: &Tree, arguments: &[&str]) -> Value {
    tree.run(&[arguments, &["--json", "tree"]].concat()).json()
}

/// A number of JSON: a decimal string in a page.
#[track_caller]
pub(crate) fn number(value: &Value) -> u128 {
    match value {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_u64().unwrap_or_else(|| panic!("{number}")).into(),
    }
}

/// A path or a name of a page.
fn bytes(text: &Value) -> Vec<u8> {
    match text.get("raw") {
        Some(raw) => STANDARD.decode(raw.as_str().unwrap()).unwrap(),
        None => text["text"].as_str().unwrap().into(),
    }
}

/// A path of `--json`.
fn path(entry: &Value) -> Vec<u8> {
    match entry.get("path_b64") {
        Some(raw) => STANDARD.decode(raw.as_str().unwrap()).unwrap(),
        None => entry["path"].as_str().unwrap().into(),
    }
}

/// The sums of groups by their name.
type Groups = BTreeMap<String, [u128; 3]>;

/// The groups of a page, without those that have nothing.
fn groups(page: &Page, list: &str, count: &str, name: impl Fn(&Value) -> String) -> Groups {
    let mut groups = Groups::new();
    for group in page.meta[list].as_array().unwrap() {
        let sums = [&group["allocated"], &group["apparent"], &group[count]].map(number);
        if sums[2] > 0 {
            assert_eq!(groups.insert(name(group), sums), None, "{group}");
        }
    }
    let mut whole = [0; 3];
    for sums in groups.values() {
        (0..3).for_each(|index| whole[index] += sums[index]);
    }
    let totals = &page.meta["totals"];
    let expected = [
        &totals["allocated"],
        &totals["apparent"],
        &totals["entries"],
    ]
    .map(number);
    assert_eq!(whole, expected, "{list}");
    groups
}

/// The groups of `statwalk stats`.
fn stats(tree: &Tree, by: &str, name: impl Fn(&Value) -> String) -> Groups {
    let mut groups = Groups::new();
    for group in json(tree, &["stats", "--by", by])["groups"]
        .as_array()
        .unwrap()
    {
        let sums = ["allocated_bytes", "apparent_bytes", "entries"].map(|key| number(&group[key]));
        let sum = groups.entry(name(group)).or_default();
        (0..3).for_each(|index| sum[index] += sums[index]);
    }
    groups
}

/// The name of a group of files, and one name for all others.
fn of_files(group: &Value, key: &str) -> String {
    match group.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(number) => number.to_string(),
        None => "not_files".to_owned(),
    }
}

fn class_of_age(end_s: i64) -> String {
    match end_s {
        i64::MAX => "oldest".to_owned(),
        end_s => format!("within {end_s}"),
    }
}

fn check_groups(tree: &Tree, page: &Page) {
    let category = |group: &Value| of_files(group, "category");
    let key = |group: &Value| group["key"].as_str().unwrap().to_owned();
    assert_eq!(
        groups(page, "categories", "files", key),
        stats(tree, "category", category)
    );
    let ending = |group: &Value| of_files(group, "extension");
    let name = |group: &Value| of_files(group, "name");
    assert_eq!(
        groups(page, "endings", "files", name),
        stats(tree, "type", ending)
    );
    let owner = |group: &Value| of_files(group, "uid");
    let id = |group: &Value| of_files(group, "id");
    assert_eq!(
        groups(page, "owners", "entries", id),
        stats(tree, "owner", owner)
    );

    // Others than files are one group here, and have ages and sizes of their own there.
    let files_alone = |mut groups: Groups| {
        groups.remove("not_files");
        groups
    };
    // The page has classes: each is the sum of finer groups.
    const YEAR_S: i64 = 365 * 86_400;
    let ends_s = [1, 7, 30, 182].map(|days| days * 86_400);
    let ends_s = [
        ends_s,
        [1, 2, 5, i64::MAX].map(|years: i64| years.saturating_mul(YEAR_S)),
    ];
    let ends_s = ends_s.concat();
    let now_s = |document: &Value| document["started_s"].as_i64().unwrap();
    let document = tree
        .run(&["stats", "--by", "age,type", "--json", "tree"])
        .json();
    let mut ages = Groups::new();
    for group in document["groups"].as_array().unwrap() {
        if group["type"] == "f" {
            let name = match (group.get("age_max_s"), group["age"].as_str()) {
                (Some(limit), _) => {
                    let limit_s = limit.as_i64().unwrap();
                    let class = ends_s.iter().find(|&&end_s| limit_s <= end_s);
                    class_of_age(*class.unwrap())
                }
                (None, age) => age.unwrap_or("unknown").to_owned(),
            };
            let sum = ages.entry(name).or_default();
            let keys = ["allocated_bytes", "apparent_bytes", "entries"];
            (0..3).for_each(|index| sum[index] += number(&group[keys[index]]));
        }
    }
    let age = |group: &Value| match (group.get("from_s"), group.get("to_s")) {
        _ if group["not_files"] == true => "not_files".to_owned(),
        (Some(_), None) => "future".to_owned(),
        (None, _) => "oldest".to_owned(),
        (Some(from_s), _) => {
            // The page was made some seconds earlier or later; limits are hours and more.
            let limit = now_s(&document) - from_s.as_i64().unwrap();
            let nearest = ends_s.iter().min_by_key(|&end_s| end_s.abs_diff(limit));
            class_of_age(*nearest.unwrap())
        }
    };
    let mut found = files_alone(groups(page, "ages", "files", age));
    let last = page.meta["ages"].as_array().unwrap().last().unwrap();
    if last["label"].as_str().unwrap().ends_with("unknown time") {
        // The tree knows no times after 2262 or before 1677.
        let (ours, theirs) = (found.remove("future"), ages.remove("future"));
        assert!(ours < theirs);
    }
    assert_eq!(found, ages);

    let document = tree
        .run(&["stats", "--by", "size,type", "--json", "tree"])
        .json();
    let mut sizes = Groups::new();
    for group in document["groups"].as_array().unwrap() {
        if let Some(from) = group.get("size_min_bytes").filter(|_| group["type"] == "f") {
            let starts = [0, 1, 4 << 10, 64 << 10, 1 << 20, 64 << 20, 1 << 30];
            let class = starts.iter().rfind(|&&start| start <= number(from));
            let sum = sizes.entry(class.unwrap().to_string()).or_default();
            let keys = ["allocated_bytes", "apparent_bytes", "entries"];
            (0..3).for_each(|index| sum[index] += number(&group[keys[index]]));
        }
    }
    let size = |group: &Value| of_files(group, "from_bytes");
    assert_eq!(files_alone(groups(page, "sizes", "files", size)), sizes);
}

/// The same entry as the page and as `--json` have it.
fn check_tree(tree: &Tree, page: &Page) {
    let root = tree.path();
    let root = root.as_os_str().as_bytes();
    let document = json(tree, &["-a", "-d", "99999"]);
    let nodes = page.nodes();
    let mut named = 0;
    for entry in document["tree"].as_array().unwrap() {
        let own = path(entry);
        let whole = [root, own.strip_prefix(b"tree").unwrap()].concat();
        let Some(node) = nodes.get(&whole) else {
            continue;
        };
        named += 1;
        let shown = whole.escape_ascii().to_string();
        let kind = match entry["type"].as_str().unwrap() {
            "d" => DIRECTORY,
            "f" => FILE,
            "l" => 2,
            _ => 3,
        };
        assert_eq!(node.kind, kind, "{shown}");
        assert_eq!(node.allocated, number(&entry["allocated_bytes"]), "{shown}");
        assert_eq!(node.apparent, number(&entry["apparent_bytes"]), "{shown}");
        assert_eq!(node.newest_s, entry["newest_mtime_s"].as_i64(), "{shown}");
        let entries = entry.get("entries").map_or(1, number);
        assert_eq!(u128::from(node.entries), entries, "{shown}");
        let is_incomplete = entry.get("incomplete").is_some_and(|value| value == true);
        assert_eq!(node.flags & 1 != 0, is_incomplete, "{shown}");
    }
    let others = nodes
        .values()
        .filter(|node| matches!(node.kind, REST | ITSELF));
    assert_eq!(named + others.count(), nodes.len());
    assert!(named > 0);
    let detail = &page.meta["detail"];
    assert!(number(&detail["nodes"]) >= nodes.len() as u128, "{detail}");
}

fn check_lists(tree: &Tree, page: &Page) {
    let root = tree.path();
    let root = root.as_os_str().as_bytes();
    let document = json(tree, &["-s"]);
    let totals = &page.meta["totals"];
    for (key, theirs) in [
        ("allocated", "allocated_bytes"),
        ("apparent", "apparent_bytes"),
        ("entries", "entries"),
        ("files", "files"),
        ("directories", "dirs"),
        ("links", "symlinks"),
        ("other", "others"),
        ("errors", "unreadable"),
    ] {
        assert_eq!(
            number(&totals[key]),
            number(&document["roots"][0][theirs]),
            "{key}"
        );
    }
    let top = json(tree, &["top", "-n", "100"]);
    let listed = page.meta["largest"].as_array().unwrap();
    // Others than files are among the largest entries of a small tree.
    let entries = top["top"].as_array().unwrap().iter();
    let files: Vec<&Value> = entries.filter(|entry| entry["type"] == "f").collect();
    assert_eq!(listed.len(), files.len());
    for (ours, file) in listed.iter().zip(files) {
        let whole = [root, path(file).strip_prefix(b"tree").unwrap()].concat();
        assert_eq!(bytes(&ours["path"]), whole);
        assert_eq!(number(&ours["allocated"]), number(&file["allocated_bytes"]));
        assert_eq!(number(&ours["apparent"]), number(&file["apparent_bytes"]));
        assert_eq!(ours["newest_s"].as_i64(), file["mtime_s"].as_i64());
    }
}

/// Checks the category and the owner with most bytes of directories and sums, by the leaves
/// of a page of everything.
fn check_most(full: &Page, page: &Page) {
    let (all, nodes) = (full.nodes(), page.nodes());
    let is_below = |path: &[u8], above: &[u8]| match path.strip_prefix(above) {
        Some(rest) => above.is_empty() || above.ends_with(b"/") || rest.starts_with(b"/"),
        None => false,
    };
    let leaves = all
        .iter()
        .filter(|(_, node)| ![DIRECTORY, ROOTS].contains(&node.kind));
    let leaves: Vec<_> = leaves.collect();
    for (path, node) in &nodes {
        let above = match node.kind {
            DIRECTORY | ROOTS => &path[..],
            REST => path.strip_suffix("/…".as_bytes()).unwrap(),
            _ => continue,
        };
        let shown = nodes.iter().filter(|(shown, other)| {
            let name = shown.strip_prefix(above).unwrap_or(b"");
            let is_child = name.len() > 1 && !name[1..].contains(&b'/');
            node.kind == REST && other.kind != REST && is_below(shown, above) && is_child
        });
        let shown: Vec<_> = shown.map(|(path, _)| path).collect();
        let (mut categories, mut owners) = (BTreeMap::new(), BTreeMap::new());
        for (leaf, bytes) in leaves.iter().filter(|(leaf, _)| is_below(leaf, above)) {
            let is_shown = |shown: &&Vec<u8>| leaf == shown || is_below(leaf, shown);
            if bytes.allocated > 0 && !shown.iter().any(is_shown) {
                // The one without a number is the last.
                let last = u64::MAX;
                *categories
                    .entry(bytes.category.unwrap_or(last))
                    .or_default() += bytes.allocated;
                *owners.entry(bytes.owner.unwrap_or(last)).or_default() += bytes.allocated;
            }
        }
        let most = |sums: BTreeMap<u64, u128>| {
            let best = sums.into_iter().rev().max_by_key(|&(_, bytes)| bytes);
            best.map(|(key, _)| key).filter(|&key| key != u64::MAX)
        };
        let shown = path.escape_ascii().to_string();
        assert_eq!(
            (node.category, node.owner),
            (most(categories), most(owners)),
            "{shown}"
        );
    }
}

/// Checks the newest time of each group by the leaves of a page of everything.
fn check_newest_of_groups(full: &Page, page: &Page) {
    let nodes = full.nodes();
    let check = |list: &str, is_in: &dyn Fn(usize, &Value, &page::Node) -> bool| {
        for (index, group) in page.meta[list].as_array().unwrap().iter().enumerate() {
            let leaves = nodes
                .values()
                .filter(|node| (FILE..REST).contains(&node.kind));
            let theirs = leaves.filter(|&node| is_in(index, group, node));
            let newest = theirs.filter_map(|node| node.newest_s).max();
            assert_eq!(group["newest_s"].as_i64(), newest, "{list} {group}");
        }
    };
    check("categories", &|index, _, node| {
        node.category == Some(index as u64)
    });
    check("owners", &|index, _, node| node.owner == Some(index as u64));
    check("ages", &|_, group, node| {
        let bound = |key| group.get(key).and_then(Value::as_i64);
        let time = node.newest_s.filter(|_| node.kind == FILE);
        let is_within = |time| {
            bound("from_s").is_none_or(|from_s| from_s <= time)
                && bound("to_s").is_none_or(|to_s| time < to_s)
        };
        match group["not_files"] == true {
            true => time.is_none(),
            false => time.is_some_and(is_within),
        }
    });
}

#[test]
fn a_report_has_the_numbers_of_the_other_commands() {
    for (name, model) in trees::named() {
        let tree = Tree::of(&model);
        eprintln!("{name}");
        let full = page_of(&tree, &["--detail=full"]);
        for arguments in [&[][..], &["--detail", "30"], &["--detail=full"]] {
            let page = page_of(&tree, arguments);
            check_most(&full, &page);
            check_tree(&tree, &page);
            check_lists(&tree, &page);
            check_groups(&tree, &page);
            check_newest_of_groups(&full, &page);
        }
    }
}

/// The tree of a scan has a byte for an owner.
#[test]
fn each_of_many_owners_has_its_entries() {
    if !is_root() {
        return statwalk_testkit::Skipped::needs("root, to give files away").report();
    }
    // Some hundreds are equal in one of the trees: then the first of them has most.
    for step in [5_000, 0] {
        let mut entries = String::new();
        for directory in 0..40 {
            entries.push_str(&format!("d{directory}/\n"));
            for number in (directory..400).step_by(40) {
                let bytes = 5_000 + step * number;
                entries.push_str(&format!("d{directory}/f{number} {bytes}\n"));
            }
        }
        check_owners(&Tree::new(&entries));
    }
}

fn check_owners(tree: &Tree) {
    for number in 0..400 {
        let file = tree.path().join(format!("d{}/f{number}", number % 40));
        chown(file, Some(1000 + number), None).unwrap();
    }
    let owner = |group: &Value| of_files(group, "uid");
    let id = |group: &Value| of_files(group, "id");
    let full = page_of(tree, &["--detail=full"]);
    for arguments in [&["--detail", "30"][..], &["--detail=full"]] {
        let page = page_of(tree, arguments);
        check_most(&full, &page);
        let owners = groups(&page, "owners", "entries", id);
        assert_eq!(owners, stats(tree, "owner", owner));
        assert!(owners.len() > 400);
        let listed = page.meta["owners"].as_array().unwrap();
        for (path, node) in page.nodes() {
            let id = node
                .owner
                .and_then(|owner| listed[owner as usize].get("id"));
            match node.kind {
                FILE => {
                    let path = Path::new(OsStr::from_bytes(&path));
                    let uid = fs::symlink_metadata(path).unwrap().uid();
                    assert_eq!(id.and_then(Value::as_u64), Some(uid.into()));
                }
                // All of them have bytes.
                _ => assert!(id.is_some(), "kind {}", node.kind),
            }
        }
    }
}

#[test]
fn with_full_detail_every_entry_is_there() {
    let mut entries = String::new();
    for directory in 0..30 {
        entries.push_str(&format!("d{directory}/\n"));
        for file in 0..40 {
            entries.push_str(&format!("d{directory}/f{file} {}\n", file * directory));
        }
    }
    let tree = Tree::new(&entries);
    let full = page_of(&tree, &["--detail=full"]).nodes();
    let named = full.values().filter(|node| node.kind != ITSELF).count();
    assert_eq!(named, 1 + 30 + 30 * 40);
    assert!(full.values().all(|node| node.kind != REST));
    let small = page_of(&tree, &["--detail=100"]);
    let sums = small
        .nodes()
        .values()
        .filter(|node| node.kind == REST)
        .count();
    assert!(sums > 0 && small.block_count() == 1);
}

#[test]
fn several_roots_stand_side_by_side() {
    let tree = Tree::new("a/\na/x 5000\nb/\nb/y 70000\nc 9");
    let arguments = [
        "report", "tree/a", "tree/b/", "tree/c", "tree/a", "nowhere", "-o", "-",
    ];
    let answer = tree.run(&arguments);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("nowhere"), "{}", answer.stderr);
    let page = Page::of(&answer.stdout);
    let nodes = page.nodes();
    let below = |name: &str| {
        let path = tree.path().join(name);
        nodes[path.as_os_str().as_bytes()].clone()
    };
    assert_eq!(nodes[&b""[..]].kind, 7);
    assert_eq!(nodes[&b""[..]].entries, 5);
    assert_eq!(
        (below("a").kind, below("b/y").kind, below("c").kind),
        (DIRECTORY, FILE, FILE)
    );
    assert_eq!(page.meta["roots"].as_array().unwrap().len(), 3);
    assert_eq!(page.meta["complete"]["is"], false);
    assert_eq!(page.meta["errors_total"], 1);
    // They lie on one file system, of which the scan has read what they have.
    let spaces = page.meta["spaces"].as_array().unwrap();
    assert_eq!(spaces.len(), 1);
    let read = part(&spaces[0], "read by this scan");
    assert_eq!(read, number(&page.meta["totals"]["allocated"]) as i64);
}

/// The bytes of a line of the account.
fn part(space: &Value, label: &str) -> i64 {
    let parts = space["parts"].as_array().unwrap();
    let found = parts.iter().find(|part| part["label"] == label);
    let bytes = found.map(|part| part["bytes"].as_str().unwrap());
    bytes.expect(label).parse().unwrap()
}

#[test]
fn unread_entries_make_a_lower_bound() {
    let tree = Tree::new("locked/\nlocked/file 5000\nopen 9");
    let mut command = or_skip!(as_ordinary_user(&tree));
    fs::set_permissions(tree.path().join("locked"), Permissions::from_mode(0o000)).unwrap();
    let answer = Answer::of(command.args(["report", "tree", "-o", "-"]));
    fs::set_permissions(tree.path().join("locked"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(answer.code, Some(1));
    let page = Page::of(&answer.stdout);
    let locked = tree.path().join("locked");
    let locked = locked.as_os_str().as_bytes();
    assert_eq!(page.nodes()[locked].flags, 1 | 2);
    assert_eq!(page.meta["complete"]["is"], false);
    assert_eq!(bytes(&page.meta["errors"][0]["path"]), locked);
    assert_eq!(page.meta["errors"][0]["cause"], "permission denied");
    let worth = page.meta["worth"].as_array().unwrap();
    let unreadable = worth.iter().find(|hint| hint["kind"] == "unreadable");
    assert_eq!(bytes(&unreadable.unwrap()["path"]), locked);
}

#[test]
fn worth_a_look_is_what_is_old_new_or_made_again() {
    let tree = Tree::new(
        "archive/
         archive/2019/
         archive/2019/a.tar 900000 mtime=1500000000
         archive/new.txt 10
         archive/film.mkv 700000 mtime=1600000000
         today.iso 2000000
         web/
         web/package.json 10
         web/node_modules/
         web/node_modules/.package-lock.json 500000",
    );
    let page = page_of(&tree, &[]);
    let root = tree.path();
    let worth = page.meta["worth"].as_array().unwrap();
    let found: Vec<(String, String)> = (worth.iter())
        .map(|hint| {
            let path = bytes(&hint["path"]);
            let below = Path::new(OsStr::from_bytes(&path))
                .strip_prefix(&root)
                .unwrap();
            (
                hint["kind"].as_str().unwrap().to_owned(),
                below.to_str().unwrap().to_owned(),
            )
        })
        .collect();
    let expected = [
        ("old", "archive/2019"),
        ("old", "archive/film.mkv"),
        ("new", "today.iso"),
        ("new", "web/node_modules/.package-lock.json"),
        ("rebuildable", "web/node_modules"),
    ];
    assert_eq!(
        found,
        expected.map(|(kind, path)| (kind.to_owned(), path.to_owned()))
    );
    assert_eq!(worth[4]["note"], "npm install makes it again");
}

/// Names that would be something else in HTML, JSON, a terminal or Markdown.
const HOSTILE: [&[u8]; 9] = [
    b"<img src=x onerror=alert(1)>",
    b"<script>alert(1)<",
    b"<!--",
    b"new\nline\x1b[2J",
    "right\u{202e}left \u{2028}\u{2029}".as_bytes(),
    b"\xff\xfe invalid",
    b"{{META}}",
    b"`code` | **bold** [a](javascript:x) &amp;",
    &[b'n'; 255],
];

#[test]
fn hostile_names_stay_names() {
    let tree = Tree::new("\u{202e}/");
    for name in HOSTILE {
        fs::write(tree.path().join(OsStr::from_bytes(name)), vec![7; 5_000]).unwrap();
    }
    let answer = tree.run(&["report", "tree", "-o", "-"]).good();
    let text = str::from_utf8(&answer.stdout).unwrap();
    for forbidden in ["<img", "<script>alert", "\x1b", "\u{202e}", "\u{2028}"] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
    let page = Page::of(&answer.stdout);
    let nodes = page.nodes();
    for name in HOSTILE {
        let path = tree.path().join(OsStr::from_bytes(name));
        assert!(
            nodes.contains_key(path.as_os_str().as_bytes()),
            "{}",
            name.escape_ascii()
        );
    }
    check_lists(&tree, &page);
    let answer = tree
        .run(&["report", "tree", "-o", "-", "--format=markdown"])
        .good();
    let text = str::from_utf8(&answer.stdout).unwrap();
    assert!(
        !text.contains('\x1b') && !text.contains('\u{202e}'),
        "{text}"
    );
    for line in text.lines().filter(|line| line.contains("alert")) {
        assert!(line.ends_with('`'), "{line}");
    }
}

#[test]
fn a_redacted_report_has_no_name() {
    let tree = Tree::new(
        "zebra/
         zebra/yellowhammer.iso 90000
         zebra/xerus/
         zebra/xerus/Walrus.TAR.GZ 70000 mtime=1500000000
         zebra/viper.log 5000
         zebra/unicorn -> xerus",
    );
    let toadstool = OsStr::from_bytes(b"zebra/toadstool\xff");
    fs::write(tree.path().join(toadstool), b"x").unwrap();
    let above = tree.path().canonicalize().unwrap();
    let above = above.parent().unwrap().file_name().unwrap();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let forbidden = [
        "zebra",
        "yellowhammer",
        "xerus",
        "alrus",
        "viper",
        "unicorn",
        "toadstool",
        above.to_str().unwrap(),
    ];
    let mut pages = Vec::new();
    for format in ["--format=html", "--format=markdown", "--detail=full"] {
        let arguments = [
            "report",
            "tree/zebra",
            "-o",
            "-",
            "--redact",
            "--exclude=zebra9",
            format,
        ];
        let answer = tree.run(&arguments).good();
        let mut everything = answer.stdout.clone();
        if format != "--format=markdown" {
            let page = Page::of(&answer.stdout);
            everything.extend(page.nodes().into_keys().flatten());
            assert_eq!(page.meta["is_redacted"], true);
            assert_eq!(page.meta["host"]["text"], "host");
            assert_eq!(page.meta["owners"][0]["name"]["text"], "owner-1");
            assert!(page.meta["owners"][0].get("id").is_none());
            pages.push(page);
        }
        let text = everything.escape_ascii().to_string();
        let host = format!("\"{}\"", host.trim());
        for name in forbidden.into_iter().chain([&*host]) {
            assert!(!text.contains(name), "{format}: {name}");
        }
    }
    let [page, full] = &pages[..] else {
        panic!("two pages")
    };
    assert_eq!(
        page.nodes().into_keys().collect::<Vec<_>>(),
        full.nodes().into_keys().collect::<Vec<_>>()
    );
    // An entry has one name everywhere, and its ending.
    let largest = bytes(&page.meta["largest"][0]["path"]);
    assert!(largest.ends_with(b".iso") && page.nodes().contains_key(&largest));
    let old = bytes(&page.meta["worth"][0]["path"]);
    assert_eq!(page.nodes()[&old].kind, DIRECTORY);
}

/// Host, user and root are endings, names, values and words of the command line.
#[test]
fn names_of_host_user_and_root_are_nowhere_in_a_redacted_report() {
    if !is_root() {
        return Skipped::needs("root").report();
    }
    let tree = Tree::new("");
    let names = ["wombathost", "wombatuser", "wombatroot"];
    let root = tree.parent().join("--wombatroot.wombathost");
    fs::create_dir_all(root.join("wombatdir.wombatuser/new")).unwrap();
    for (number, name) in (1..).zip(names) {
        let cases = [
            format!("1690000000.M1P2.{name}"),
            format!("crontab.{name}.gz"),
            format!("{name}.iso"),
            format!("wombatdir.wombatuser/{name}.{name}"),
            format!("wombatdir.wombatuser/dump.{name}-20261101"),
        ];
        for case in cases {
            let file = root.join(case);
            fs::write(&file, vec![1; 20_000 * number]).unwrap();
            chown(&file, Some(4_000_001), Some(4_000_001)).unwrap();
        }
    }
    symlink("wombathost", root.join("wombatlink.wombatuser")).unwrap();
    // The user has a name in a copy of the table of accounts.
    let script = "hostname wombathost && echo 'wombatuser:x:4000001:4000001::/:/bin/sh' | \
        cat /etc/passwd - > accounts && mount --bind accounts /etc/passwd && exec \"$0\" \"$@\"";
    for format in ["--format=html", "--format=markdown", "--detail=full"] {
        let mut command = program::command("unshare");
        command.args(["-u", "-m", "sh", "-c", script]);
        command.arg(env!("CARGO_BIN_EXE_statwalk"));
        command.args(["report", "--redact", "-owombat.html", "--force", format]);
        command.args(["--exclude=wombat9", "--exclude", "wombat8"]);
        command.args(["--", "--wombatroot.wombathost", "wombatmissing"]);
        let answer = Answer::of(command.current_dir(tree.parent()));
        assert_eq!(answer.code, Some(2));
        let missing = "statwalk: cannot open wombatmissing: no such file or directory\n";
        assert_eq!(answer.stderr, missing);
        let mut everything = fs::read(tree.parent().join("wombat.html")).unwrap();
        if format != "--format=markdown" {
            let page = Page::of(&everything);
            let nodes = page.nodes();
            assert_eq!(nodes.values().filter(|node| node.kind == FILE).count(), 15);
            assert!(nodes.keys().any(|path| path.ends_with(b".iso")));
            everything.extend(nodes.into_keys().flatten());
            everything.extend(page.meta.to_string().bytes());
        }
        let text = everything.escape_ascii().to_string();
        let found = text.find("wombat");
        let shown = found.map(|at| &text[at.saturating_sub(60)..text.len().min(at + 60)]);
        assert_eq!(shown, None, "{format}");
    }
}

#[test]
fn the_same_tree_gives_the_same_blocks() {
    let tree = Tree::of(&trees::basic());
    let blocks = || {
        let answer = tree.run(&["report", "tree", "-o", "-"]).good();
        let text = String::from_utf8(answer.stdout).unwrap();
        text[text.find("statwalk-block-0").unwrap()..].to_owned()
    };
    assert_eq!(blocks(), blocks());
}

#[test]
fn a_report_without_a_name_stays_beside_those_of_before() {
    let tree = Tree::new("file 5000");
    let write = |more: &[&str]| {
        let answer = tree.run(&[&["report", "tree"], more].concat()).good();
        let [line] = &answer.lines()[..] else {
            panic!("{:?}", answer.lines());
        };
        line.split_once('\t').unwrap().1.to_owned()
    };
    let first = write(&[]);
    let plain = first.strip_suffix(".html").unwrap();
    assert!(plain.starts_with("statwalk-"), "{first}");
    assert_eq!(write(&[]), format!("{plain}-2.html"));
    assert_eq!(write(&[]), format!("{plain}-3.html"));
    assert_eq!(write(&["--force"]), first);
    let markdown = ["--format", "markdown"];
    assert_eq!(write(&markdown), format!("{plain}.md"));
    assert_eq!(write(&markdown), format!("{plain}-2.md"));
    for name in [
        &first,
        &format!("{plain}-2.html"),
        &format!("{plain}-3.html"),
    ] {
        Page::of(&fs::read(tree.parent().join(name)).unwrap()).nodes();
    }
}

#[test]
fn a_file_is_written_whole_and_replaced_on_request_alone() {
    let tree = Tree::new("file 5000");
    let file = tree.parent().join("report.html");
    let answer = tree.run(&["report", "tree", "-o", "report.html"]).good();
    let written = fs::read(&file).unwrap();
    assert_eq!(answer.lines(), [format!("{}\treport.html", written.len())]);
    Page::of(&written).nodes();

    let refused = tree.run(&["report", "tree", "-o", "report.html"]);
    assert_eq!(refused.code, Some(2));
    let expected = "statwalk: cannot write report.html: file exists; try --force\n";
    assert_eq!(refused.stderr, expected);
    assert_eq!(fs::read(&file).unwrap(), written);

    let document = tree
        .run(&["report", "tree", "-o", "report.html", "--force", "--json"])
        .json();
    schema::check("report", &document);
    let replaced = fs::read(&file).unwrap();
    assert_eq!(document["report"]["bytes"], replaced.len());
    assert_eq!(
        document["report"]["nodes"],
        Page::of(&replaced).nodes().len()
    );
    assert_eq!(document["report"]["path"], "report.html");

    // Nothing else is there.
    let mut names: Vec<_> = fs::read_dir(tree.parent())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["report.html", "tree"]);
}

#[test]
fn without_a_name_the_file_is_named_after_host_path_and_day() {
    let tree = Tree::new("");
    fs::create_dir(tree.path().join("some dir")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = statwalk();
        command
            .args(["report", "some dir", "--print0"])
            .args(arguments);
        Answer::of(command.current_dir(tree.path()).env("TZ", "UTC")).good()
    };
    let name = |answer: &Answer| {
        let row = String::from_utf8(answer.stdout.clone()).unwrap();
        row.trim_end_matches('\0')
            .split_once('\t')
            .unwrap()
            .1
            .to_owned()
    };
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let page = name(&run(&[]));
    assert!(
        page.starts_with(&format!("statwalk-{}-", host.trim())),
        "{page}"
    );
    assert!(
        page.contains("-tree-some-dir-20") && page.ends_with(".html"),
        "{page}"
    );
    let text = name(&run(&["--redact", "--format", "markdown"]));
    assert!(
        text.starts_with("statwalk-report-20") && text.ends_with(".md"),
        "{text}"
    );
    let mut command = statwalk();
    command.args(["report", "../some dir", "--print0"]);
    let up = Answer::of(command.current_dir(tree.path().join("some dir"))).good();
    let up = name(&up);
    assert!(up.contains("-tree-some-dir-20"), "{up}");
    for name in [page, text] {
        assert!(tree.path().join(name).is_file());
    }
}

#[test]
fn a_place_that_takes_no_file_is_named_before_the_scan() {
    let tree = Tree::new("file 5000\nplain 1\nfolder/");
    symlink("nowhere", tree.path().join("lost")).unwrap();
    for (output, reason) in [
        ("tree/nowhere/report.html", "no such file or directory"),
        ("tree/plain/report.html", "not a directory"),
        ("tree/folder", "file exists; try --force"),
        ("tree/lost", "file exists; try --force"),
        ("/dev/null", "file exists; try --force"),
    ] {
        let answer = tree.run(&["report", "tree", "-o", output]);
        let expected = format!("statwalk: cannot write {output}: {reason}\n");
        assert_eq!((answer.code, answer.stderr), (Some(2), expected));
    }
    for output in ["tree/folder", "/dev/null"] {
        let answer = tree.run(&["report", "tree", "-o", output, "--force"]);
        let expected = format!("statwalk: cannot write {output}: not a regular file\n");
        assert_eq!((answer.code, answer.stderr), (Some(2), expected));
    }
    assert!(fs::metadata("/dev/null").unwrap().len() == 0);
    let mut command = or_skip!(as_ordinary_user(&tree));
    fs::set_permissions(tree.path(), Permissions::from_mode(0o555)).unwrap();
    let answer = Answer::of(command.args(["report", "tree", "-o", "tree/report.html"]));
    let expected = "statwalk: cannot write tree/report.html: permission denied\n";
    assert_eq!((answer.code, &*answer.stderr), (Some(2), expected));
}

#[test]
fn a_full_disk_keeps_nothing_of_a_report() {
    let tree = Tree::new("disk/\nmany/");
    for number in 0..3_000 {
        let file = tree.path().join("many").join(incompressible_name(number));
        fs::write(file, vec![7; number % 5_000]).unwrap();
    }
    let disk = tree.path().join("disk");
    let mounted = or_skip!(FileSystem::Tmpfs.mount_sized(&disk, 16 << 10));
    for output in ["tree/disk/report.html", "tree/disk/old.html"] {
        if output.ends_with("old.html") {
            fs::write(disk.join("old.html"), "old").unwrap();
        }
        let answer = tree.run(&["report", "tree/many", "-o", output, "--force"]);
        let expected = format!("statwalk: cannot write {output}: no space left on device\n");
        assert_eq!((answer.code, answer.stderr), (Some(2), expected));
    }
    let names = fs::read_dir(&disk)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["old.html"]);
    assert_eq!(fs::read(disk.join("old.html")).unwrap(), b"old");
    drop(mounted);
}

/// Names that no compression makes small.
pub(crate) fn incompressible_name(number: usize) -> String {
    let mixed = (number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    format!("{:x}", mixed ^ (mixed >> 67))
}

#[test]
fn stdout_takes_a_report_or_the_program_says_so() {
    let tree = Tree::new("file 5000");
    let run = |stdout: Stdio| {
        let mut command = statwalk();
        command
            .args(["report", "tree", "-o", "-"])
            .current_dir(tree.parent());
        command.stdout(stdout).stderr(Stdio::piped());
        Answer::from(program::spawn(&mut command).wait_with_output().unwrap())
    };
    let full = File::options().write(true).open("/dev/full").unwrap();
    let answer = run(full.into());
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot write the output: no space left on device\n"
    );
    // A reader that left is no failure.
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    drop(reader);
    let answer = run(writer.into());
    assert_eq!((answer.code, &*answer.stderr), (Some(0), ""));
}

#[test]
fn flags_that_change_nothing_are_refused() {
    let tree = Tree::new("file 5");
    for (arguments, message) in [
        (
            &["-o", "-", "--json"][..],
            "--json and -o - both write to the standard output",
        ),
        (
            &["-o", "-", "--open"],
            "--open needs a file: name it with -o FILE",
        ),
        (
            &["-o", "-", "--force"],
            "--force needs a file: name it with -o FILE",
        ),
        (
            &["-o", "-", "--detail=many"],
            "invalid value 'many' for --detail: must be a number, or full",
        ),
        (
            &["-o", "-", "--detail=0"],
            "invalid value '0' for --detail: must be a number, or full",
        ),
        (
            &["-o", "-", "--format=markdown", "--detail=9"],
            "--detail is for HTML: the other format has the largest entries alone",
        ),
    ] {
        let answer = tree.run(&[&["report", "tree"], arguments].concat());
        let expected = format!("statwalk: {message}\n");
        assert_eq!((answer.code, answer.stderr), (Some(2), expected));
    }
    let answer = tree.run(&["report", "nowhere", "-o", "none.html"]);
    assert_eq!(answer.code, Some(2));
    assert!(!tree.parent().join("none.html").exists());
}

#[test]
fn a_whole_file_system_is_explained() {
    let tree = Tree::new("disk/");
    let disk = tree.path().join("disk");
    let mounted = or_skip!(FileSystem::Ext4.mount(&disk));
    fs::write(disk.join("file"), vec![7; 3 << 20]).unwrap();
    fs::create_dir(disk.join("dir")).unwrap();
    mounted.settle().unwrap();
    let answer = tree.run(&["report", "tree/disk", "-o", "-"]).good();
    let page = Page::of(&answer.stdout);
    let document = tree.run(&["df", "--json", "tree/disk"]).json();
    let theirs = &document["file_systems"][0];
    assert_eq!(
        number(&page.meta["free_bytes"]),
        number(&theirs["free_bytes"])
    );
    let space = &page.meta["spaces"][0];
    assert_eq!(space["is_exact"], true);
    let used = theirs["used_bytes"].as_i64().unwrap();
    assert_eq!(part(space, "used"), used);
    let read = number(&page.meta["totals"]["allocated"]) as i64;
    assert_eq!(part(space, "read by this scan"), read);
    assert_eq!(part(space, "not in this scan"), used - read);
    assert_eq!(sum_of_level(space, 0), number(&space["total"]) as i64);
    assert_eq!(sum_of_level(space, 2), used - read);
    let metadata = theirs["parts"].as_array().unwrap();
    let metadata = metadata.iter().find(|part| part["part"] == "metadata");
    let metadata = metadata.map(|part| part["bytes"].as_i64().unwrap());
    assert_eq!(metadata, Some(part(space, "metadata")));

    let below = tree.run(&["report", "tree/disk/dir", "-o", "-"]).good();
    let below = Page::of(&below.stdout);
    assert!(below.meta.get("free_bytes").is_none());
    let space = &below.meta["spaces"][0];
    assert_eq!(space["is_exact"], false);
    assert_eq!(part(space, "used"), used);
    let read = number(&below.meta["totals"]["allocated"]) as i64;
    assert_eq!(part(space, "not in this scan"), used - read);
}

fn sum_of_level(space: &Value, level: u64) -> i64 {
    let parts = space["parts"].as_array().unwrap().iter();
    let parts = parts.filter(|part| part["level"] == level);
    let bytes = parts.map(|part| part["bytes"].as_str().unwrap().parse::<i64>().unwrap());
    bytes.sum()
}

/// A mount below was enough to lose all parts.
#[test]
fn a_file_system_with_others_in_it_is_explained() {
    let tree = Tree::new("disk/");
    let disk = tree.path().join("disk");
    let mounted = or_skip!(FileSystem::Ext4.mount(&disk));
    fs::write(disk.join("file"), vec![7; 3 << 20]).unwrap();
    fs::create_dir_all(disk.join("dir/inner")).unwrap();
    let inner = or_skip!(FileSystem::Tmpfs.mount(&disk.join("dir/inner")));
    fs::write(inner.path().join("other"), vec![7; 1 << 20]).unwrap();
    mounted.settle().unwrap();
    let space_of = |arguments: &[&str]| {
        let all = [&["report", "tree/disk", "-o", "-"], arguments].concat();
        let page = Page::of(&tree.run(&all).good().stdout);
        page.meta["spaces"][0].clone()
    };
    let (staying, whole) = (space_of(&["-x"]), space_of(&[]));
    assert_eq!(whole["is_exact"], true);
    for label in ["used", "read by this scan", "not in this scan", "remainder"] {
        assert_eq!(part(&whole, label), part(&staying, label), "{label}");
    }
}

/// The report reached more than the disk has in use: a mounted file counted at both paths.
#[test]
fn a_file_that_is_mounted_again_is_reached_once() {
    // The sources and the points, in order.
    let cases: [&[(&str, &str)]; 7] = [
        &[("disk/big", "disk/point")],
        &[("disk/big", "disk/point"), ("disk/big", "disk/a/point")],
        // The file is the uppermost of a stack.
        &[("disk/a/f", "disk/point"), ("disk/big", "disk/point")],
        // Its other names count once anyway.
        &[("disk/linked", "disk/point")],
        // Only the mounts show it.
        &[("disk/a/f", "disk/point"), ("other", "disk/a")],
        &[
            ("disk/a/f", "disk/point"),
            ("disk/a/f", "disk/big"),
            ("other", "disk/a"),
        ],
        // None of the disk.
        &[("other/f", "disk/point")],
    ];
    for binds in cases {
        let tree = Tree::new("disk/\nother/\nother/f 50000");
        let disk = tree.path().join("disk");
        let mounted = or_skip!(FileSystem::Ext4.mount(&disk));
        fs::create_dir(disk.join("a")).unwrap();
        for (name, size) in [
            ("big", 3),
            ("point", 1),
            ("a/f", 2),
            ("a/point", 1),
            ("linked", 4),
        ] {
            fs::write(disk.join(name), vec![7; size << 20]).unwrap();
        }
        fs::hard_link(disk.join("linked"), disk.join("second")).unwrap();
        mounted.settle().unwrap();
        let at = |name: &str| tree.path().join(name);
        let bound = binds
            .iter()
            .map(|(source, point)| bind(&at(source), &at(point)));
        let bound: Vec<_> = bound.map(Result::unwrap).collect();
        let answer = tree.run(&["report", "-x", "tree/disk", "-o", "-"]).good();
        let page = Page::of(&answer.stdout);
        let document = tree.run(&["df", "--json", "tree/disk"]).json();
        let parts = document["file_systems"][0]["parts"].as_array().unwrap();
        let theirs = |name: &str| {
            let found = parts.iter().find(|part| part["part"] == name);
            found.and_then(|part| part["bytes"].as_i64()).unwrap()
        };
        let space = &page.meta["spaces"][0];
        assert_eq!(space["is_exact"], true, "{binds:?}");
        let ours = |label: &str| {
            let parts = space["parts"].as_array().unwrap();
            let found = parts.iter().find(|part| part["label"] == label);
            found.map_or(0, |part| part["bytes"].as_str().unwrap().parse().unwrap())
        };
        let labels = [
            "read by this scan",
            "hidden below mount points",
            "remainder",
        ];
        assert_eq!(
            labels.map(ours),
            ["reached", "hidden-by-mounts", "remainder"].map(theirs),
            "{binds:?}"
        );
        for mount in bound.into_iter().rev() {
            mount.unmount().unwrap();
        }
    }
}

/// The report had 6 MiB more than the disk: the scan of what mounts hide was one of its own,
/// and counted an inode anew that has a name there and one in the tree.
#[test]
fn an_inode_with_a_name_below_a_mount_point_is_reached_once() {
    let tree = Tree::new("disk/");
    let disk = tree.path().join("disk");
    let mounted = or_skip!(FileSystem::Ext4.mount(&disk));
    let below = disk.join("below");
    fs::create_dir(&below).unwrap();
    fs::write(disk.join("linked"), vec![7; 6 << 20]).unwrap();
    fs::hard_link(disk.join("linked"), below.join("second")).unwrap();
    fs::write(below.join("hidden"), vec![7; 2 << 20]).unwrap();
    fs::hard_link(below.join("hidden"), below.join("third")).unwrap();
    mounted.settle().unwrap();
    let _covering = or_skip!(FileSystem::Tmpfs.mount(&below));
    let document = tree.run(&["df", "--json", "tree/disk"]).json();
    let parts = document["file_systems"][0]["parts"].as_array().unwrap();
    let theirs = |name: &str| {
        let found = parts.iter().find(|part| part["part"] == name);
        found.and_then(|part| part["bytes"].as_i64()).unwrap()
    };
    for more in [&["-x"][..], &[]] {
        let words = [&["report", "tree/disk", "-o", "-"], more].concat();
        let page = Page::of(&tree.run(&words).good().stdout);
        let space = &page.meta["spaces"][0];
        assert_eq!(space["is_exact"], true);
        for (label, name) in [
            ("read by this scan", "reached"),
            ("hidden below mount points", "hidden-by-mounts"),
            ("remainder", "remainder"),
        ] {
            assert_eq!(part(space, label), theirs(name), "{more:?} {label}");
        }
    }
}

#[test]
fn markdown_has_the_same_numbers_in_little_room() {
    let tree = Tree::new(
        "a/
         a/film.mkv 3000000
         a/deep/
         a/deep/notes.md 20000 mtime=100000000
         b/
         b/lib_x.so 500000
         b/gone -> nowhere",
    );
    let answer = tree
        .run(&["report", "tree", "-o", "-", "--format", "markdown"])
        .good();
    let text = String::from_utf8(answer.stdout).unwrap();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let root = tree.path();
    let root = root.to_str().unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line
            .replace(root, "ROOT")
            .replace(&root.replace('_', r"\_"), "ROOT");
        lines.push(line.replace(host.trim(), "HOST"));
    }
    // The date, and directories, which take other space on other file systems.
    assert!(lines[2].contains(" UTC, statwalk "), "{}", lines[2]);
    assert!(
        lines[2].ends_with("8 entries: 3 files, 4 directories, 1 link, 0 others."),
        "{}",
        lines[2]
    );
    lines[2] = "SUMS".to_owned();
    // Its size is that of the file system's blocks.
    assert!(lines[3].ends_with("MiB of video."), "{}", lines[3]);
    lines[3] = "GIST".to_owned();
    let found: Vec<String> = lines
        .into_iter()
        .map(|line| match line.split_once(" | ") {
            // Sizes and shares of the file system.
            Some((size, rest)) if size.ends_with('B') => {
                let rest = rest.split_once(" | ").unwrap().1;
                match rest.strip_prefix("8 | ") {
                    Some(_) => "SIZE | SHARE | 8 | OWNER".to_owned(),
                    None => format!("SIZE | SHARE | {rest}"),
                }
            }
            _ => line,
        })
        .collect();
    let expected = include_str!("expected.md");
    if std::env::var_os("RENEW_HELP").is_some() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/program/report/expected.md"
        );
        fs::write(file, found.join("\n") + "\n").unwrap();
    }
    assert_eq!(found.join("\n") + "\n", expected);
}

/// The rows of directories did not say that something below them is not in their sums.
#[test]
fn tables_of_directories_mark_those_that_lack_something() {
    let tree = Tree::new("a/\na/none/ mode=000\na/x 9000\nb/\nb/y 20000");
    let run = |format: &str| {
        let mut command = as_ordinary_user(&tree)?;
        command.args(["report", "tree", "-o", "-", "--format", format]);
        Ok::<_, Skipped>(Answer::of(&mut command))
    };
    let answer = or_skip!(run("markdown"));
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    let text = String::from_utf8(answer.stdout).unwrap();
    for path in ["a", "a/none"] {
        assert!(
            text.contains(&format!("/tree/{path}` (incomplete)\n")),
            "{text}"
        );
    }
    assert!(text.contains("/tree/b`\n"), "{text}");
    // The table for readers without JavaScript.
    let answer = or_skip!(run("html"));
    let text = String::from_utf8(answer.stdout).unwrap();
    assert!(text.contains("/tree/a (incomplete)</td>"));
    assert!(text.contains("/tree/b</td>"));
}

/// Each share was 0 %, and the files were the first by name.
#[test]
fn a_report_without_blocks_has_shares_of_apparent_sizes() {
    let tree = Tree::new("mount/");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    for (dir, bytes) in [("a", 1_000_000), ("b", 3_000_000)] {
        let dir = tmpfs.path().join(dir);
        fs::create_dir(&dir).unwrap();
        File::create(dir.join("file"))
            .unwrap()
            .set_len(bytes)
            .unwrap();
    }
    let run = |format: &str| {
        let answer = tree.run(&["report", "tree/mount", "-o", "-", "--format", format]);
        String::from_utf8(answer.good().stdout).unwrap()
    };
    let sentence = "No file here has blocks on disk; perhaps this file system counts none. \
                    Sizes, shares and order are apparent sizes.";
    let text = run("markdown");
    assert!(text.contains(sentence), "{text}");
    assert!(!text.contains("Disk"), "{text}");
    for title in ["Largest directories", "Largest files"] {
        let (_, table) = text.split_once(title).unwrap();
        let rows: Vec<&str> = table.lines().skip(4).take(2).collect();
        assert!(
            rows[0].starts_with("2.86 MiB | 75 % ") && rows[0].contains("/b"),
            "{rows:?}"
        );
        assert!(
            rows[1].starts_with("977 KiB | 25 % ") && rows[1].contains("/a"),
            "{rows:?}"
        );
    }
    let page = run("html");
    let (_, table) = page.split_once("<caption>Largest files").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    assert!(
        page.contains(sentence) && table.contains("<th>Apparent</th>"),
        "{table}"
    );
    let [b, a] = ["2.86 MiB", "977 KiB"].map(|size| table.find(size).unwrap());
    assert!(b < a, "{table}");
    let page = Page::of(page.as_bytes());
    assert!(
        page.meta["largest"][0]["path"]["text"]
            .as_str()
            .unwrap()
            .ends_with("/b/file")
    );
}
