// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON documents, field by field.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};
use statwalk_testkit::fault_fs::{FaultFs, Repetition, Where};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{or_skip, trees};

use crate::run::{Answer, Tree, as_ordinary_user, statwalk};

fn allocated(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).unwrap().blocks() * 512
}

/// The document without what differs from run to run, which is checked here.
fn steady(mut document: Value) -> Value {
    let map = document.as_object_mut().unwrap();
    assert_eq!(map.remove("schema"), Some(json!(2)));
    assert_eq!(
        map.remove("version"),
        Some(json!(env!("CARGO_PKG_VERSION")))
    );
    // The origin, which a test of its own looks at.
    for field in ["started_s", "started_ns", "host", "arguments"] {
        assert!(map.remove(field).is_some(), "{field}");
    }
    let elapsed_s = map.remove("elapsed_s").unwrap().as_f64().unwrap();
    assert!(elapsed_s > 0.0 && elapsed_s < 60.0, "{elapsed_s}");
    let plan = map.remove("plan").unwrap();
    assert_eq!(plan["source"], "posix");
    assert_eq!(plan["order"], "parallel");
    assert!(plan["workers_max"].as_u64().unwrap() >= 1);
    let why = plan["why"].as_array().unwrap();
    let workers = (why.iter()).find(|reason| reason["code"] == "workers-by-processors");
    let text = workers.and_then(|reason| reason["text"].as_str());
    assert!(
        text.is_some_and(|text| text.contains("processors")),
        "{why:?}"
    );
    assert!(plan["fields"].as_array().unwrap().contains(&json!("type")));
    assert_eq!(plan.as_object().unwrap().len(), 5);
    document
}

const SMALL: &str = "
    dir/
    dir/file    1000000  mtime=1000000000+5
    dir/inner/
    dir/inner/again  = dir/file
    empty/
    link        -> dir
    pipe        fifo     mtime=900000000
    sparse      10G sparse mtime=800000000
";

#[test]
fn the_document_of_a_small_tree() {
    let tree = Tree::new(SMALL);
    let path = tree.path();
    let link = std::fs::symlink_metadata(path.join("link")).unwrap();
    let file = allocated(&path.join("dir/file"));
    let dir = allocated(&path.join("dir")) + file + allocated(&path.join("dir/inner"));
    let empty = allocated(&path.join("empty"));
    let others: u64 = ["", "link", "pipe", "sparse"]
        .iter()
        .map(|name| allocated(&path.join(name)))
        .sum();
    let whole = dir + empty + others;
    let sparse: u64 = 10 << 30;
    let answer = tree.run(&["--json", "tree"]).good();
    assert_eq!(answer.stdout.last(), Some(&b'\n'));
    assert_eq!(
        steady(answer.json()),
        json!({
            "complete": true,
            "roots": [{
                "path": "tree",
                "entries": 9, "files": 3, "dirs": 4, "symlinks": 1, "others": 1,
                "file_size_bytes": 1_000_000 + sparse,
                "apparent_bytes": 1_000_003 + sparse,
                "allocated_bytes": whole,
                "extra_hard_links": 1,
                "unreadable": 0, "vanished": 0, "changed_dirs": 0, "excluded": 0, "crossings": 0,
            }],
            "tree": [
                {
                    "path": "tree", "type": "d",
                    "apparent_bytes": 1_000_003 + sparse, "allocated_bytes": whole,
                    "entries": 9, "files": 3, "dirs": 4,
                    "newest_mtime_s": link.mtime(), "newest_mtime_ns": link.mtime_nsec(),
                    "incomplete": false,
                },
                {
                    "path": "tree/dir", "type": "d",
                    "apparent_bytes": 1_000_000, "allocated_bytes": dir,
                    "entries": 4, "files": 2, "dirs": 2,
                    "newest_mtime_s": 1_000_000_000, "newest_mtime_ns": 5, "incomplete": false,
                },
                {
                    "path": "tree/empty", "type": "d",
                    "apparent_bytes": 0, "allocated_bytes": empty,
                    "entries": 1, "files": 0, "dirs": 1, "incomplete": false,
                },
            ],
            "errors": [],
        })
    );
}

#[test]
fn the_tree_goes_as_deep_as_asked() {
    let tree = Tree::new(SMALL);
    let paths = |arguments: &[&str]| -> Vec<String> {
        let document = tree
            .run(&[&["--json", "--sort=name", "tree"], arguments].concat())
            .good();
        let document = document.json();
        let rows = document["tree"].as_array().unwrap().iter();
        rows.map(|row| {
            format!(
                "{} {}",
                row["type"].as_str().unwrap(),
                row["path"].as_str().unwrap()
            )
        })
        .collect()
    };
    assert_eq!(paths(&["-d0"]), ["d tree"]);
    assert_eq!(
        paths(&["-d2"]),
        ["d tree", "d tree/dir", "d tree/dir/inner", "d tree/empty"]
    );
    let totals = tree.run(&["--json", "-s", "tree"]).good().json();
    assert_eq!(totals["tree"], json!([]));
    assert_eq!(
        paths(&["-a"]),
        [
            "d tree",
            "d tree/dir",
            "d tree/empty",
            "l tree/link",
            "p tree/pipe",
            "f tree/sparse"
        ]
    );
    assert_eq!(paths(&["-n1"]), ["d tree/dir"]);
    assert_eq!(paths(&["-n1", "--sort=size"]), ["d tree"]);
}

#[test]
fn a_further_name_of_a_file_brings_no_bytes() {
    let tree = Tree::of(&trees::hard_links());
    let document = tree.run(&["--json", "-a", "-d9", "tree"]).good().json();
    let row = |path: &str| {
        let rows = document["tree"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == path);
        row.unwrap_or_else(|| panic!("{path}")).clone()
    };
    let (first, further) = (row("tree/a/three"), row("tree/z/first"));
    assert_eq!(first["apparent_bytes"], 10_000);
    assert_eq!(first.get("extra_hard_link"), None);
    assert_eq!(further["apparent_bytes"], 0);
    assert_eq!(further["allocated_bytes"], 0);
    assert_eq!(further["extra_hard_link"], true);
    assert_eq!(row("tree/z")["apparent_bytes"], 0);
}

#[test]
fn totals_alone_need_no_names() {
    let tree = Tree::new(SMALL);
    let document = tree.run(&["-s", "--json", "tree"]).good().json();
    let fields = json!(["type", "size", "allocated", "links", "id"]);
    assert_eq!(document["plan"]["fields"], fields);
    assert_eq!(document["roots"][0]["extra_hard_links"], 1);
    let every_name = tree.run(&["-sl", "--json", "tree"]).good().json();
    assert_eq!(every_name["roots"][0]["extra_hard_links"], 0);
    assert_eq!(
        every_name["roots"][0]["file_size_bytes"].as_u64().unwrap(),
        document["roots"][0]["file_size_bytes"].as_u64().unwrap() + 1_000_000
    );
}

#[test]
fn counts_have_no_sizes() {
    let tree = Tree::new(SMALL);
    let document = tree.run(&["--count", "--json", "tree"]).good().json();
    assert_eq!(document["plan"]["fields"], json!(["type"]));
    assert_eq!(
        steady(document),
        json!({
            "complete": true,
            "roots": [{
                "path": "tree",
                "entries": 9, "files": 3, "dirs": 4, "symlinks": 1, "others": 1,
                "unreadable": 0, "vanished": 0, "changed_dirs": 0, "excluded": 0, "crossings": 0,
            }],
            "tree": [],
            "errors": [],
        })
    );
}

#[test]
fn exact_bytes_stand_beside_a_path_that_is_no_text() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let tree = Tree::new("bad-\\xff\\xfe\\e[2J/\ngood-\\u{e9}/");
    let document = tree.run(&["--json", "--sort=name", "tree"]).good().json();
    assert_eq!(
        document["tree"][1]["path"],
        "tree/bad-\u{fffd}\u{fffd}\x1b[2J"
    );
    let exact = STANDARD.encode(b"tree/bad-\xff\xfe\x1b[2J");
    assert_eq!(document["tree"][1]["path_b64"], exact);
    assert_eq!(document["tree"][2]["path"], "tree/good-\u{e9}");
    assert_eq!(document["tree"][2].get("path_b64"), None);
}

#[test]
fn a_root_that_is_no_directory_is_itself() {
    let tree = Tree::new("file 10\nlink -> file\npipe fifo");
    let document = tree
        .run(&["--json", "tree/file", "tree/link", "tree/pipe"])
        .good()
        .json();
    let kinds = document["tree"].as_array().unwrap().iter();
    let kinds: Vec<&str> = kinds.map(|row| row["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["f", "l", "p"]);
    assert_eq!(document["roots"][1]["symlinks"], 1);
    assert_eq!(document["roots"][0]["dirs"], 0);
}

#[test]
fn a_missing_root_is_told_and_the_others_are_counted() {
    let tree = Tree::new("file 10");
    let answer = tree.run(&["-s", "--json", "nope", "tree", "tree"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open nope: no such file or directory\n"
    );
    let document = answer.json();
    assert_eq!(document["complete"], false);
    assert_eq!(
        document["roots"][0],
        json!({"path": "nope", "missing": true})
    );
    assert_eq!(document["roots"][1]["entries"], 2);
    assert_eq!(document["roots"][2]["entries"], 0);
    assert_eq!(document["roots"][2]["reached_earlier"], true);
    assert_eq!(
        document["errors"],
        json!([{"path": "nope", "op": "open", "errno": 2, "error": "no such file or directory"}])
    );
}

#[test]
fn what_cannot_be_read_is_listed() {
    let tree = Tree::new("a/\na/none/ mode=000\na/none/x 10\nb/\nb/y 20\nb/z 30");
    let mut command = or_skip!(as_ordinary_user(&tree));
    command.args(["--json", "tree"]);
    let answer = Answer::of(&mut command);
    assert_eq!(answer.code, Some(1));
    assert_eq!(
        answer.stderr,
        "statwalk: 1 entry could not be read; the totals are a lower bound\n\
         \x20 permission denied  1  tree/a/none\n"
    );
    let document = answer.json();
    assert_eq!(document["complete"], false);
    assert_eq!(
        document["errors"],
        json!([{"path": "tree/a/none", "op": "open", "errno": 13, "error": "permission denied"}])
    );
    assert_eq!(document["roots"][0]["unreadable"], 1);
    assert_eq!(document["roots"][0]["dirs"], 4);
    let incomplete = |path: &str| {
        let rows = document["tree"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == path).unwrap();
        row["incomplete"].as_bool().unwrap()
    };
    assert!(incomplete("tree") && incomplete("tree/a") && !incomplete("tree/b"));
}

#[test]
fn numbers_are_exact() {
    let tree = Tree::new("mount/");
    // One of the few that take such a file.
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    // Beyond 2^53, where a floating-point number would lose the last digit.
    let size = (1_u64 << 62) + 1;
    let file = std::fs::File::create(tmpfs.path().join("huge")).unwrap();
    file.set_len(size).unwrap();
    let answer = tree.run(&["-s", "--json", "tree"]).good();
    let text = String::from_utf8(answer.stdout).unwrap();
    assert!(
        text.contains(&format!("\"file_size_bytes\":{size},")),
        "{text}"
    );
}

/// Three sparse files of any user were 18446744073709551615 bytes, and complete.
#[test]
fn sums_beyond_64_bits_are_exact() {
    let tree = Tree::new("mount/");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    for name in ["a", "b", "c"] {
        let file = std::fs::File::create(tmpfs.path().join(name)).unwrap();
        file.set_len(i64::MAX.cast_unsigned()).unwrap();
    }
    let sum = 3 * u128::from(i64::MAX.cast_unsigned());
    let shows = |arguments: &[&str], expected: &str| {
        let answer = tree.run(arguments).good();
        let text = String::from_utf8(answer.stdout).unwrap();
        assert!(text.contains(expected), "{arguments:?} {text}");
        assert!(!text.contains("18446744073709551615"), "{text}");
    };
    let field = format!("\"apparent_bytes\":{sum},");
    for command in [
        &["-s"][..],
        &["-d1"],
        &["-a"],
        &["stats", "--by", "size"],
        &["top", "--dirs"],
    ] {
        shows(&[command, &["--json", "tree"]].concat(), &field);
    }
    shows(&["-sb", "tree"], &format!("{sum}\ttree\n"));
    shows(&["-b", "tree"], &format!("{sum}\ttree/mount\n"));
}

/// Times beyond 64 bits of nanoseconds, and how they lie to others.
#[test]
fn a_time_that_does_not_fit_is_absent() {
    let tree = Tree::new("mount/");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("mount")));
    let touch = |name: &str, date: &str| {
        let path = tmpfs.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let touch = std::process::Command::new("touch")
            .args(["-d", date])
            .arg(&path)
            .status();
        assert!(touch.unwrap().success());
    };
    touch("mixed/late", "2300-01-01 00:00:00.5 UTC");
    touch("mixed/known", "2001-09-09 01:46:40 UTC");
    touch("only/late", "2300-01-01 00:00:00 UTC");
    touch("only/early", "1600-01-01 00:00:00.999 UTC");
    let list = |arguments: &[&str]| {
        let answer = tree.run(&[&["find", "tree/mount"], arguments].concat());
        let answer = answer.good();
        let mut rows: Vec<String> = answer.lines().into_iter().map(str::to_owned).collect();
        rows.retain(|row| row.ends_with("late") || row.ends_with("early"));
        rows.sort();
        rows
    };
    let (late, early) = (
        ["tree/mount/mixed/late", "tree/mount/only/late"],
        ["tree/mount/only/early"],
    );
    assert_eq!(list(&["-tf", "--changed-within", "2w"]), late);
    assert_eq!(list(&["-tf", "--changed-before", "2y"]), early);
    let answer = tree
        .run(&["-a", "-d9", "--json", "tree/mount"])
        .good()
        .json();
    let time = |path: &str| {
        let rows = answer["tree"].as_array().unwrap();
        let row = rows.iter().find(|row| row["path"] == path).unwrap();
        row.get("newest_mtime_s").and_then(Value::as_i64)
    };
    for path in late.iter().chain(&early).chain(&["tree/mount/only"]) {
        assert_eq!(time(path), None, "{path}");
    }
    for path in ["tree/mount/mixed/known", "tree/mount/mixed", "tree/mount"] {
        assert_eq!(time(path), Some(1_000_000_000), "{path}");
    }
    let answer = tree.run(&["top", "--json", "tree/mount"]).good().json();
    for file in answer["top"].as_array().unwrap() {
        let is_known = file["path"] == "tree/mount/mixed/known";
        assert_eq!(file.get("mtime_s").is_some(), is_known, "{file}");
    }
    let answer = tree.run(&["stats", "--by", "age", "-tf", "--json", "tree/mount"]);
    let answer = answer.good().json();
    let group = |age: &str| {
        let groups = answer["groups"].as_array().unwrap();
        let group = groups.iter().find(|group| group["age"] == age);
        group.map(|group| group["entries"].as_u64().unwrap())
    };
    assert_eq!((group("future"), group("oldest")), (Some(2), Some(2)));
}

#[test]
fn every_named_tree_gives_its_totals() {
    for (name, model) in trees::named() {
        let tree = Tree::of(&model);
        let document = tree.run(&["-s", "--json", "tree"]).good().json();
        let root = &document["roots"][0];
        let totals = model.totals();
        for (field, expected) in [
            ("entries", totals.entries.into()),
            ("files", totals.files.into()),
            ("dirs", totals.dirs.into()),
            ("symlinks", totals.symlinks.into()),
            ("others", totals.others.into()),
            ("file_size_bytes", totals.file_size_bytes),
            ("apparent_bytes", totals.apparent_bytes),
        ] {
            assert_eq!(
                root[field].as_u64().map(u128::from),
                Some(expected),
                "{name} {field}"
            );
        }
    }
}

/// A file system that lists each name twice, as the table, JSON, a count and find see it.
#[test]
fn names_that_come_twice_count_once_and_are_told() {
    for repetition in [Repetition::Beside, Repetition::Again] {
        let fs = FaultFs::builder()
            .entries("a/\na/x 1000\na/y 2000\na/deep/\nz 5")
            .repeats(Where::Everywhere, repetition);
        let mount = or_skip!(fs.mount());
        let run = |arguments: &[&str]| {
            let mut command = statwalk();
            command.args(arguments).current_dir(mount.path());
            Answer::of(&mut command).good()
        };
        for arguments in [&["--json"][..], &["--json", "-s"], &["--json", "--count"]] {
            let document = run(arguments).json();
            assert_eq!(document["complete"], true, "{arguments:?}");
            let root = &document["roots"][0];
            assert_eq!(root["repeated_names"], 5, "{arguments:?}");
            assert_eq!(root["entries"], 6, "{arguments:?}");
        }
        assert_eq!(
            run(&["--json", "-s"]).json()["roots"][0]["file_size_bytes"],
            3005
        );
        assert_eq!(run(&["--count"]).lines(), ["6\t."]);
        let found = run(&["find"]);
        let mut names = found.lines();
        names.sort_unstable();
        assert_eq!(names, ["./a", "./a/deep", "./a/x", "./a/y", "./z"]);
        // The rows of `a`, `z` and the root.
        assert_eq!(run(&["-a"]).lines().len(), 3);
    }
}
