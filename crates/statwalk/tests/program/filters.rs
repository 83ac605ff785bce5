// SPDX-License-Identifier: MIT OR Apache-2.0

//! `find`, `top`, `stats` and `errors`.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Skipped, or_skip, program, trees};

use crate::run::{Answer, Tree, as_ordinary_user, sorted, statwalk};
use crate::schema;

/// A tree with files of known sizes and ages, some of them hidden or ignored.
fn tree() -> Tree {
    let tree = Tree::new(
        "
        src/
        src/main.rs      1000     mtime=1000000000
        src/lib.RS       2000
        src/Readme.md    3000     mtime=1500000000
        src/.hidden.rs   10
        docs/
        docs/readme.txt  500000   mtime=1000000000
        docs/deep/
        docs/deep/a.tar.gz  7000000 sparse
        link.rs          -> src/main.rs
        pipe             fifo
        .gitignore       5
        ",
    );
    std::fs::write(tree.path().join(".gitignore"), "*.md\n").unwrap();
    tree
}

#[track_caller]
fn found(tree: &Tree, arguments: &[&str]) -> String {
    let answer = tree.run(&[&["find"], arguments].concat()).good();
    let names = answer.lines().into_iter();
    let mut names: Vec<_> = names.map(|path| path.trim_start_matches("tree/")).collect();
    // A list that takes longer than 100 ms is not sorted, and another test looks at that.
    names.sort_by_key(|path| path.split('/').collect::<Vec<_>>());
    names.join(" ")
}

/// Entries, bytes on disk and apparent bytes of what `find` lists.
fn listed(tree: &Tree, filter: &[&str]) -> (u64, u64, u64) {
    let fields = ["--json", "--fields", "allocated,size", "tree"];
    let answer = tree.run(&[&["find"], filter, &fields].concat()).good();
    let mut sum = (0, 0, 0);
    for line in answer.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        sum.0 += 1;
        sum.1 += row["allocated_bytes"].as_u64().unwrap();
        if ["f", "l"].contains(&row["type"].as_str().unwrap()) {
            sum.2 += row["apparent_bytes"].as_u64().unwrap();
        }
    }
    sum
}

/// With filters, the default view sums what `find` lists, and the root where it passes.
#[test]
fn the_default_view_counts_only_what_passes() {
    let tree = tree();
    let root = std::fs::metadata(tree.path()).unwrap();
    for filter in [
        &["-g", "*.rs"][..],
        &["-e", "md", "-e", "txt"],
        &["-t", "f"],
        &["-t", "l,p"],
        &["-S", "+2kB"],
        &["-S", "+1kB", "-S", "-3kB", "-g", "[rl]*"],
        &["--changed-before", "2012-01-01"],
        &["--changed-within", "1h", "-t", "f"],
        &["--owner", "!4242"],
        &["--owner", "4242"],
    ] {
        let filter = [filter, &["--exclude", "docs/deep"]].concat();
        let (mut entries, mut disk, apparent) = listed(&tree, &filter);
        if filter.contains(&"!4242") {
            (entries, disk) = (entries + 1, disk + root.blocks() * 512);
        }
        let run = |flags: &[&str]| tree.run(&[&filter[..], flags, &["tree"]].concat()).good();
        for (flags, number) in [
            (&["-s"][..], disk),
            (&["-sb"], apparent),
            (&["--count"], entries),
            (&["--inodes", "-d0"], entries),
            (&["-d0", "-c"], disk),
        ] {
            let rows = run(flags);
            assert_eq!(
                rows.lines()[0],
                format!("{number}\ttree"),
                "{filter:?} {flags:?}"
            );
        }
        for flags in [&["-d9"][..], &["-d9", "-a"]] {
            let rows = run(flags);
            assert_eq!(
                rows.lines().last(),
                Some(&&*format!("{disk}\ttree")),
                "{filter:?}"
            );
            // A directory without anything that passes has no row.
            let document = run(&[flags, &["--json"]].concat()).json();
            assert_eq!(document["roots"][0]["entries"], entries, "{filter:?}");
            let nodes = document["tree"].as_array().unwrap();
            assert_eq!(nodes[0]["entries"], entries, "{filter:?}");
            let mut below = nodes.iter().skip(1);
            assert!(below.all(|node| node["entries"] != 0), "{nodes:?}");
            assert_eq!(rows.lines().len(), nodes.len(), "{filter:?}: {nodes:?}");
        }
    }
    let table = tree.run(&["--table", "-e", "rs", "tree"]).good();
    let table = table.lines().concat();
    assert!(table.contains("src") && !table.contains("docs"), "{table}");
}

/// Unless the machine is busy: the list of a scan of more than 100 ms is not sorted.
#[test]
fn a_short_list_is_sorted() {
    let tree = tree();
    let is_sorted = || {
        let answer = tree.run(&["find", "tree"]).good();
        let lines = answer.lines();
        let parts = lines.iter().map(|path| path.split('/').collect::<Vec<_>>());
        lines.len() == 12 && parts.is_sorted()
    };
    assert!((0..100).any(|_| is_sorted()));
}

#[test]
fn names_are_found() {
    let tree = tree();
    let check = |arguments: &[&str], expected: &str| {
        assert_eq!(found(&tree, arguments), expected, "{arguments:?}");
    };
    check(
        &["tree"],
        ".gitignore docs docs/deep docs/deep/a.tar.gz docs/readme.txt link.rs pipe src \
         src/.hidden.rs src/Readme.md src/lib.RS src/main.rs",
    );
    check(&["tree", "readme"], "docs/readme.txt src/Readme.md");
    check(&["tree", "Readme"], "src/Readme.md");
    check(&["tree", r"^[a-z]+\.rs$"], "link.rs src/lib.RS src/main.rs");
    check(
        &["tree/src", "tree/docs", "^r"],
        "docs/readme.txt src/Readme.md",
    );
    check(
        &["-g", "*.rs", "tree"],
        "link.rs src/.hidden.rs src/lib.RS src/main.rs",
    );
    check(&["-g", "m*", "-g", "pipe", "tree"], "pipe src/main.rs");
    check(
        &["-e", "rs", "-t", "f", "tree"],
        "src/.hidden.rs src/lib.RS src/main.rs",
    );
    check(&["-e", "tar.gz", "tree"], "docs/deep/a.tar.gz");
    check(&["-t", "d", "tree"], "docs docs/deep src");
    check(&["-tl", "-tp", "tree"], "link.rs pipe");
    check(&["tree", "readme", "-e", "md"], "src/Readme.md");
    check(&["-d1", "tree"], ".gitignore docs link.rs pipe src");
    check(&["-d1", "-td", "tree"], "docs src");
    check(&["--gitignore", "-emd", "tree"], "");
    check(&["--exclude", "docs", "tree", "readme"], "src/Readme.md");
    check(&["tree/pipe"], "pipe");
}

#[test]
fn attributes_are_found() {
    let tree = tree();
    let check = |arguments: &[&str], expected: &str| {
        assert_eq!(found(&tree, arguments), expected, "{arguments:?}");
    };
    check(
        &["-S", "+3kB", "tree"],
        "docs/deep/a.tar.gz docs/readme.txt src/Readme.md",
    );
    check(
        &["-S", "+1kB", "-S", "-2kB", "tree"],
        "src/lib.RS src/main.rs",
    );
    check(&["-S", "-10b", "tree"], ".gitignore src/.hidden.rs");
    check(&["-S1kB", "tree"], "src/main.rs");
    check(
        &["--changed-before", "2002-01-01", "tree"],
        "docs/readme.txt src/main.rs",
    );
    check(
        &[
            "--changed-before",
            "2020-01-01",
            "--changed-within",
            "2010-01-01",
            "tree",
        ],
        "src/Readme.md",
    );
    check(
        &["--changed-within", "1h", "-t", "d", "tree"],
        "docs docs/deep src",
    );
    check(
        &["--changed-before", "@1000000001", "tree"],
        "docs/readme.txt src/main.rs",
    );
    check(&["--changed-before", "@1000000000", "tree"], "");
    let me = rustix::process::geteuid().as_raw();
    check(
        &["--owner", &me.to_string(), "-e", "md", "tree"],
        "src/Readme.md",
    );
    check(&["--owner", &format!("!{me}"), "tree"], "");
    check(&["--owner", &format!("{me}:4242"), "tree"], "");
}

#[test]
fn everything_is_found_that_find_finds() {
    for (name, model) in trees::named() {
        let tree = Tree::of(&model);
        let mut find = program::command("find");
        find.args(["tree", "-mindepth", "1", "-print0"])
            .current_dir(tree.parent());
        let mut ours = statwalk();
        ours.args(["find", "-0", "tree"]).current_dir(tree.parent());
        let (theirs, ours) = (Answer::of(&mut find), Answer::of(&mut ours).good());
        assert_eq!(sorted(&ours.stdout, 0), sorted(&theirs.stdout, 0), "{name}");
    }
}

#[test]
fn a_long_list_comes_whole() {
    let tree = Tree::new("a/\nb/");
    for n in 0..5_000 {
        let dir = if n % 2 == 0 { "a" } else { "b" };
        let long = "x".repeat(100);
        std::fs::write(tree.path().join(format!("{dir}/{long}{n}")), "").unwrap();
    }
    let mut find = program::command("find");
    find.args(["tree", "-mindepth", "1"])
        .current_dir(tree.parent());
    let theirs = Answer::of(&mut find);
    for threads in ["1", "4"] {
        let ours = tree.run(&["find", "-j", threads, "tree"]).good();
        assert_eq!(ours.sorted(), theirs.sorted());
    }
    // No more than asked for, and all of them are there.
    let some = tree.run(&["find", "-n", "700", "tree"]).good().sorted();
    assert_eq!(some.len(), 700);
    let all = theirs.sorted();
    assert!(some.iter().all(|row| all.binary_search(row).is_ok()));
    assert_eq!(tree.run(&["find", "-n0", "tree"]).good().stdout, b"");
}

#[test]
fn only_filters_on_attributes_read_attributes() {
    let fs = FaultFs::builder()
        .entries("a/\na/x 100\na/y.rs 200")
        .fail("a/x", Op::Getattr, rustix::io::Errno::IO, When::Always)
        .fail("a/y.rs", Op::Getattr, rustix::io::Errno::IO, When::Always);
    let mount = or_skip!(fs.mount());
    let run = |arguments: &[&str]| {
        let mut command = statwalk();
        command.args(arguments).current_dir(mount.path());
        Answer::of(&mut command)
    };
    let by_name = run(&["find", "-e", "rs"]).good();
    assert_eq!(by_name.lines(), ["./a/y.rs"]);
    assert_eq!(run(&["find", "-tf", "--json"]).good().lines().len(), 2);
    assert_eq!(run(&["--count"]).good().lines(), ["4\t."]);
    assert_eq!(mount.counts().faults, 0);
    let by_size = run(&["find", "-S", "+1b"]);
    assert_eq!((by_size.code, by_size.stdout.len()), (Some(1), 0));
    assert!(mount.counts().faults >= 2);
}

#[test]
fn what_is_found_can_be_json() {
    let tree = tree();
    let answer = tree.run(&["find", "--json", "-e", "md", "tree"]).good();
    assert_eq!(
        answer.json(),
        json!({"path": "tree/src/Readme.md", "type": "f"})
    );
    let answer = tree
        .run(&["find", "--json", "-S3kB", "--changed-before=1d", "tree"])
        .good();
    assert_eq!(
        answer.json(),
        json!({
            "path": "tree/src/Readme.md", "type": "f",
            "apparent_bytes": 3000, "mtime_s": 1_500_000_000, "mtime_ns": 0,
        })
    );
    let answer = tree.run(&["find", "--json", "-t", "d", "tree"]).good();
    let lines = answer.lines();
    let paths = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let paths: Vec<_> = paths.map(|found| found["path"].clone()).collect();
    assert_eq!(paths, ["tree/docs", "tree/docs/deep", "tree/src"]);
}

#[test]
fn one_word_is_a_path() {
    let tree = Tree::new("x 1");
    let answer = tree.run(&["find", "readme"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open readme: no such file or directory\n\
         statwalk: 'readme' is taken as a path. To search the current directory: \
         statwalk find . readme\n"
    );
}

/// Each was a command that the shell or statwalk reads otherwise.
#[test]
fn the_command_in_an_error_can_be_pasted() {
    let tree = Tree::new("x 1");
    for name in ["-r", "two words", "$x;y"] {
        fs::write(tree.path().join(name), "").unwrap();
    }
    for (words, remedy, found) in [
        (
            &["two words"][..],
            "statwalk find . 'two words'",
            "./two words",
        ),
        (&["x;y"], "statwalk find . 'x;y'", "./$x;y"),
        (&["--", "-r"], "statwalk find -- . -r", "./-r"),
        (&["--", "-r", "."], "statwalk find -- . -r", "./-r"),
        (&["--", "-r*", "."], "statwalk find --glob='-r*' .", "./-r"),
    ] {
        // The words name entries, and a path of the same name would be read.
        let elsewhere = statwalk_testkit::Scratch::new().unwrap();
        let mut failing = statwalk();
        failing
            .arg("find")
            .args(words)
            .current_dir(elsewhere.path());
        let answer = Answer::of(&mut failing);
        assert_eq!(answer.code, Some(2), "{words:?}");
        let line = answer.stderr.lines().last().unwrap();
        assert!(line.ends_with(remedy), "{words:?}: {line}");
        let mut shell = program::command("sh");
        let program = statwalk().get_program().to_owned();
        let arguments = remedy.strip_prefix("statwalk").unwrap();
        shell
            .args(["-c", &format!("\"$0\"{arguments}")])
            .arg(program);
        let answer = Answer::of(shell.current_dir(tree.path())).good();
        assert_eq!(answer.lines(), [found], "{remedy}");
    }
}

#[test]
fn the_largest_files_are_at_the_top() {
    let tree = tree();
    let top = |arguments: &[&str]| -> Vec<String> {
        let answer = tree
            .run(&[&["top", "-A", "tree"], arguments].concat())
            .good();
        answer.lines().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(
        top(&["-n3"]),
        [
            "7000000\ttree/docs/deep/a.tar.gz",
            "500000\ttree/docs/readme.txt",
            "3000\ttree/src/Readme.md"
        ]
    );
    assert_eq!(top(&["-n1", "-e", "rs"]), ["2000\ttree/src/lib.RS"]);
    assert_eq!(top(&["-r", "-n2"])[1], "7000000\ttree/docs/deep/a.tar.gz");
    assert_eq!(top(&["-n0"]), [""; 0]);
    // The sparse file takes nothing.
    let on_disk = tree.run(&["top", "-n1", "tree"]).good();
    assert!(on_disk.lines()[0].ends_with("\ttree/docs/readme.txt"));

    let dirs = top(&["--dirs"]);
    assert_eq!(
        dirs,
        [
            "7500000\ttree/docs",
            "7000000\ttree/docs/deep",
            "6010\ttree/src"
        ]
    );
    assert_eq!(
        top(&["--dirs", "-g", "*e*", "-n5"]),
        ["7000000\ttree/docs/deep"]
    );

    let json = tree
        .run(&["top", "-A", "-n1", "--json", "tree"])
        .good()
        .json();
    assert_eq!(json["schema"], 2);
    assert_eq!(json["roots"][0]["entries"], 13);
    let first = &json["top"][0];
    assert_eq!(first["path"], "tree/docs/deep/a.tar.gz");
    assert_eq!(first["apparent_bytes"], 7_000_000);
    assert_eq!((&first["type"], &first["links"]), (&json!("f"), &json!(1)));
    let json = tree
        .run(&["top", "-A", "-n1", "--dirs", "--json", "tree"])
        .good()
        .json();
    assert_eq!(json["top"][0]["path"], "tree/docs");
    assert_eq!(json["top"][0]["files"], 2);
}

#[test]
fn a_file_with_several_names_is_listed_once() {
    let tree = Tree::of(&trees::hard_links());
    let answer = tree.run(&["top", "-A", "-n3", "tree"]).good();
    assert_eq!(
        answer.lines(),
        [
            "10000\ttree/a/three",
            "500\ttree/nested/inner/x",
            "300\ttree/pair"
        ]
    );
}

#[test]
fn entries_are_grouped() {
    let tree = tree();
    let rows = |arguments: &[&str]| -> Vec<String> {
        let answer = tree
            .run(&[&["stats", "-A", "tree"], arguments].concat())
            .good();
        answer.lines().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(
        rows(&["--by", "type"]),
        [
            "7000000\t1\t.tar.gz",
            "500000\t1\t.txt",
            "3010\t3\t.rs",
            "3000\t1\t.md",
            "11\t1\tsymbolic links",
            "5\t1\tno extension",
            "0\t4\tdirectories",
            "0\t1\tpipes",
        ]
    );
    assert_eq!(
        rows(&["--by", "category"]),
        [
            "7000000\t1\tarchives",
            "503000\t2\tdocuments",
            "3010\t3\tsource code",
            "11\t1\tsymbolic links",
            "5\t1\tconfiguration",
            "0\t4\tdirectories",
            "0\t1\tpipes",
        ]
    );
    assert_eq!(
        rows(&["--by=depth"]),
        ["0\t1\t0", "16\t5\t1", "506010\t6\t2", "7000000\t1\t3"]
    );
    assert_eq!(
        rows(&["--by=depth", "--sort=count", "-n1"]),
        ["506010\t6\t2"]
    );
    assert_eq!(rows(&["--by=owner", "-e", "md"]).len(), 1);
    assert_eq!(
        rows(&["--by=size", "-t", "f", "-S", "+1kB"]),
        [
            "6000\t3\tbelow 4 KiB",
            "500000\t1\t64 KiB to 1 MiB",
            "7000000\t1\t1 to 64 MiB",
        ]
    );
    let ages = rows(&["--by=age", "-t", "f"]);
    assert_eq!(ages.last().unwrap(), "504000\t3\tmore than 5 years");
    assert_eq!(ages[0], "7002015\t4\twithin a day");

    let json = tree
        .run(&["stats", "--by=type", "--json", "tree"])
        .good()
        .json();
    assert_eq!(json["by"], json!(["type"]));
    let groups = json["groups"].as_array().unwrap();
    let rust = groups
        .iter()
        .find(|group| group["extension"] == "rs")
        .unwrap();
    assert_eq!(
        (&rust["entries"], &rust["apparent_bytes"]),
        (&json!(3), &json!(3010))
    );
    let json = tree
        .run(&["stats", "--by=size", "-S7MB", "--json", "tree"])
        .good()
        .json();
    assert_eq!(
        json["groups"][0],
        json!({
            "size_min_bytes": 4_194_304, "size_max_bytes": 8_388_607,
            "entries": 1, "apparent_bytes": 7_000_000, "allocated_bytes": 0,
            "file_sizes": {
                "files": 1, "median_bytes": 7_000_000, "p90_bytes": 7_000_000,
                "p99_bytes": 7_000_000, "largest_bytes": 7_000_000,
            },
        })
    );
}

#[test]
fn two_keys_cross() {
    let tree = tree();
    let rows = |arguments: &[&str]| -> Vec<String> {
        let answer = tree
            .run(&[&["stats", "-A", "tree"], arguments].concat())
            .good();
        answer.lines().into_iter().map(str::to_owned).collect()
    };
    // The first key in its own order, the second by size.
    assert_eq!(
        rows(&["--by", "depth,category"]),
        [
            "0\t1\t0\tdirectories",
            "11\t1\t1\tsymbolic links",
            "5\t1\t1\tconfiguration",
            "0\t2\t1\tdirectories",
            "0\t1\t1\tpipes",
            "503000\t2\t2\tdocuments",
            "3010\t3\t2\tsource code",
            "0\t1\t2\tdirectories",
            "7000000\t1\t3\tarchives",
        ]
    );
    assert_eq!(
        rows(&["--by=depth,category", "-n1", "-r"]),
        ["7000000\t1\t3\tarchives"]
    );
    assert_eq!(
        rows(&["--by=category,type", "--sort=count", "-n2"]),
        [
            "0\t4\tdirectories\tdirectories",
            "3010\t3\tsource code\t.rs",
        ]
    );
    let json = tree
        .run(&["stats", "--by=depth,type", "-A", "--json", "tree"])
        .good()
        .json();
    assert_eq!(json["by"], json!(["depth", "type"]));
    let groups = json["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 10);
    let archive = groups.last().unwrap();
    assert_eq!(
        (&archive["depth"], &archive["type"], &archive["extension"]),
        (&json!(3), &json!("f"), &json!("tar.gz"))
    );

    let answer = tree
        .run(&[
            "stats",
            "-A",
            "--by=depth,type",
            "--table",
            "--width=60",
            "tree",
        ])
        .good();
    let head: Vec<_> = answer.lines().into_iter().take(4).collect();
    assert_eq!(
        head,
        [
            "APPARENT  SHARE             ENTRIES  DEPTH, TYPE",
            "     0 B    0 %                   1  0",
            "     0 B    0 %                   1    directories",
            "    16 B   <1 %                   5  1",
        ]
    );
    for keys in ["type,type", "type,owner,age"] {
        let answer = tree.run(&["stats", "--by", keys, "tree"]);
        assert_eq!(answer.code, Some(2));
        let reason = "must be one key or two different ones";
        assert!(answer.stderr.contains(keys) && answer.stderr.contains(reason));
    }
}

#[test]
fn sizes_of_files_have_percentiles() {
    let tree = Tree::new("a.c 1000\nb.c 3000\nc.c 2000\nd.h 0\ne.h = a.c\nlink -> a.c");
    let answer = tree.run(&["stats", "-A", "--percentiles", "tree"]).good();
    // The percentiles are those of buckets: up to 1/16 larger, and exact for the largest.
    assert_eq!(
        answer.lines(),
        [
            "6000\t3\t2047\t3000\t3000\t.c",
            "3\t1\t\t\t\tsymbolic links",
            "0\t1\t\t\t\tdirectories",
            "0\t2\t0\t0\t0\t.h",
        ]
    );
    let answer = tree
        .run(&[
            "stats",
            "-A",
            "--percentiles",
            "--table",
            "--width=80",
            "tree",
        ])
        .good();
    assert_eq!(
        answer.lines()[..3],
        [
            "APPARENT  SHARE  ENTRIES    MEDIAN      90 %      99 %  TYPE",
            "5.86 KiB  100 %        3  2.00 KiB  2.93 KiB  2.93 KiB  .c",
            "     3 B   <1 %        1                                symbolic links",
        ]
    );
}

#[test]
fn every_error_is_listed() {
    let tree = Tree::new("ok 1\nnone/ mode=000\nnames/ mode=444\nnames/a 1\nnames/b 2");
    let run = |arguments: &[&str]| {
        let mut command = as_ordinary_user(&tree)?;
        Ok::<_, Skipped>(Answer::of(command.args(arguments)))
    };
    let answer = or_skip!(run(&["errors", "tree"]));
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    assert_eq!(
        answer.lines(),
        [
            "stat\tpermission denied\ttree/names/a",
            "stat\tpermission denied\ttree/names/b",
            "open\tpermission denied\ttree/none",
        ]
    );
    let answer = or_skip!(run(&["errors", "--json", "tree"]));
    assert_eq!(answer.json()["errors"].as_array().unwrap().len(), 3);
    assert_eq!(answer.json()["roots"][0]["unreadable"], 3);
    // What cannot be stat'ed is found by name all the same.
    let answer = or_skip!(run(&["find", "tree", "^a$"]));
    assert_eq!(answer.lines(), ["tree/names/a"]);
    // An unreadable root is status 1, and the others are counted.
    let answer = or_skip!(run(&["-s", "tree/none", "tree/ok"]));
    assert_eq!((answer.code, answer.lines().len()), (Some(1), 2));
}

/// `find -d 1` walked the whole tree to show its first level.
#[test]
fn a_depth_ends_the_scan() {
    let tree = Tree::new(
        "
        a/
        a/file  100
        a/b/
        a/b/file  2000
        a/b/c/
        a/b/c/file 30000
        file  10
        ",
    );
    let missing = tree.path().join("a/b/none");
    fs::create_dir(&missing).unwrap();
    for depth in ["0", "1", "2", "3", "9"] {
        let mut find = program::command("find");
        find.args(["tree", "-mindepth", "1", "-maxdepth", depth]);
        let expected = Answer::of(find.current_dir(tree.parent()));
        let answer = tree.run(&["find", "-d", depth, "tree"]).good();
        assert_eq!(answer.sorted(), expected.sorted(), "{depth}");
        let typed = tree.run(&[
            "find",
            "-d",
            depth,
            "-t",
            "d",
            "--changed-within",
            "1d",
            "tree",
        ]);
        find_directories(&tree, depth, &typed.good());
    }
    let answer = tree
        .run(&["top", "-d", "2", "-b", "-n", "1", "tree"])
        .good();
    assert_eq!(answer.lines(), ["100\ttree/a/file"]);
    let answer = tree.run(&["top", "-d", "1", "--dirs", "tree"]);
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    or_skip!(errors_end_too(&tree));
}

#[track_caller]
fn find_directories(tree: &Tree, depth: &str, found: &Answer) {
    let mut find = program::command("find");
    find.args(["tree", "-mindepth", "1", "-maxdepth", depth, "-type", "d"]);
    let expected = Answer::of(find.current_dir(tree.parent()));
    assert_eq!(found.sorted(), expected.sorted(), "{depth}");
}

/// What is below the depth is not opened, so that it is no error.
fn errors_end_too(tree: &Tree) -> Result<(), Skipped> {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = tree.path().join("a/b/none");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o0)).unwrap();
    for (depth, code) in [("1", 0), ("3", 0), ("4", 1)] {
        let mut command = as_ordinary_user(tree)?;
        let answer = Answer::of(command.args(["errors", "-d", depth, "tree"]));
        assert_eq!(answer.code, Some(code), "{depth}: {}", answer.stderr);
    }
    Ok(())
}

/// A tree on a file system without types, older than a second: the link counts of its
/// directories tell how many subdirectories there are.
fn untyped(at: &Path) {
    for dir in 0..20 {
        let dir = at.join(format!("t/many/dir{dir}"));
        fs::create_dir_all(&dir).unwrap();
        for file in 0..20 {
            fs::write(dir.join(format!("{file}.jpg")), "").unwrap();
        }
        symlink("..", dir.join("up")).unwrap();
    }
    for dir in ["t/skipped/below", "t/over/below", "t/many/dir3/.thumbnail"] {
        fs::create_dir_all(at.join(dir)).unwrap();
    }
    let mut dirs = vec![at.join("t")];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
            }
        }
        let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
        let dir = fs::File::open(dir).unwrap();
        dir.set_modified(hour_ago).unwrap();
    }
}

#[test]
fn directories_are_found_without_the_types_of_the_rest() {
    let home = Tree::new("mnt/\nother/\nother/deep/\nother/file 1");
    let at = home.path().join("mnt");
    let _mounted = or_skip!(FileSystem::Ext4WithoutFiletype.mount(&at));
    untyped(&at);
    let _over = or_skip!(mounts::bind(&home.path().join("other"), &at.join("t/over")));
    let find = |arguments: &[&str]| {
        let output = program::command("find")
            .args(["mnt/t", "-mindepth", "1"])
            .args(arguments)
            .current_dir(home.path())
            .output()
            .unwrap();
        sorted(&output.stdout, b'\n')
    };
    let found = |arguments: &[&str]| {
        let mut command = statwalk();
        command.args(["find", "mnt/t"]).args(arguments);
        let answer = Answer::of(command.current_dir(home.path()));
        answer.good().sorted()
    };
    for source in [&[][..], &["--source", "posix"], &["-j1"]] {
        let found = |arguments: &[&str]| found(&[arguments, source].concat());
        assert_eq!(found(&["-t", "d"]), find(&["-type", "d"]));
        assert_eq!(found(&["-t", "d", "-x"]), find(&["-type", "d", "-xdev"]));
        for depth in ["1", "2", "3"] {
            let expected = find(&["-type", "d", "-maxdepth", depth]);
            assert_eq!(found(&["-t", "d", "-d", depth]), expected, "{depth}");
        }
        let pruned = find(&["-name", "skipped", "-prune", "-o", "-type", "d", "-print"]);
        assert_eq!(found(&["-t", "d", "--exclude", "skipped"]), pruned);
        let named = find(&["-type", "d", "-name", "dir1*"]);
        assert_eq!(found(&["-t", "d", "-g", "dir1*"]), named);
        let others = find(&["-type", "d", "-o", "-type", "l"]);
        assert_eq!(found(&["-t", "d", "-t", "l"]), others);
    }

    let mut strace = program::command("strace");
    if strace.arg("--version").output().is_err() {
        return Skipped::needs("strace").report();
    }
    let stats = |arguments: &[&str]| {
        let log = home.path().join("log");
        let mut command = program::command("strace");
        command
            .args(["-f", "-e", "trace=statx,newfstatat", "-o"])
            .arg(&log);
        command.arg(env!("CARGO_BIN_EXE_statwalk"));
        command.args(["find", "mnt/t", "--source", "posix", "-j1", "-t", "d"]);
        Answer::of(command.args(arguments).current_dir(home.path())).good();
        let log = fs::read_to_string(log).unwrap();
        log.lines().filter(|line| line.contains('(')).count()
    };
    // A few for each of the 27 directories, and none for the 440 entries in them.
    let (directories, all) = (stats(&[]), stats(&["-t", "l"]));
    assert!(directories < 200 && all > 440, "{directories} of {all}");
}

/// A long `.gitignore` was read in part, and one that cannot be read not at all, without a
/// word: the sums had entries that git ignores.
#[test]
fn a_gitignore_that_is_not_read_is_an_error_that_names_it() {
    let directories = [
        "sparse",
        "fifo",
        "signs",
        "zero",
        "good",
        "directory",
        "link",
    ];
    let tree = Tree::new("");
    let at = |name: &str| tree.path().join(name);
    for name in directories {
        fs::create_dir(at(name)).unwrap();
        std::fs::write(at(name).join("x.o"), "x").unwrap();
    }
    let sparse = fs::File::create(at("sparse/.gitignore")).unwrap();
    sparse.set_len(10 << 30).unwrap();
    std::fs::write(at("signs/.gitignore"), "*[a]?\n".repeat(40_000)).unwrap();
    std::fs::write(at("good/.gitignore"), "*.o\n").unwrap();
    fs::create_dir(at("directory/.gitignore")).unwrap();
    symlink("../good/.gitignore", at("link/.gitignore")).unwrap();
    let fifo = at("fifo/.gitignore");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    std::fs::write(at("zero/.gitignore"), "*.o\n").unwrap();
    let zero = mounts::bind(Path::new("/dev/zero"), &at("zero/.gitignore"));
    let mut expected = vec![
        ("tree/fifo/.gitignore", "not a regular file"),
        ("tree/signs/.gitignore", "file too large"),
        ("tree/sparse/.gitignore", "file too large"),
    ];
    match &zero {
        Ok(_) => expected.push(("tree/zero/.gitignore", "not a regular file")),
        Err(skipped) => skipped.report(),
    }
    let answer = tree.run(&["--gitignore", "--json", "tree"]);
    assert_eq!(answer.code, Some(1));
    let document = answer.json();
    schema::check("summary", &document);
    assert_eq!(document["complete"], false);
    let errors = document["errors"].as_array().unwrap();
    let errors: Vec<_> = errors
        .iter()
        .map(|error| {
            assert_eq!(error["op"], "read patterns from");
            (
                error["path"].as_str().unwrap(),
                error["error"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(errors, expected);
    // The others were read all the same, and a directory or a link of the name is none.
    let excluded = if zero.is_ok() { 1 } else { 2 };
    assert_eq!(document["roots"][0]["excluded"], excluded);
    let rows = document["tree"].as_array().unwrap();
    for row in rows.iter().filter(|row| row["path"] != "tree") {
        let path = row["path"].as_str().unwrap();
        let is_named = expected.iter().any(|(error, _)| {
            error
                .strip_prefix(path)
                .is_some_and(|rest| rest == "/.gitignore")
        });
        assert_eq!(row["incomplete"] == true, is_named, "{row}");
    }
    // One above the root, in a repository.
    fs::create_dir_all(at("sparse/.git")).unwrap();
    fs::create_dir(at("sparse/below")).unwrap();
    let answer = tree.run(&["--gitignore", "tree/sparse/below"]);
    let above = format!("file too large  1  {}", at("sparse/.gitignore").display());
    assert!(answer.stderr.contains(&above), "{}", answer.stderr);
    fs::create_dir_all(at("fifo/.git")).unwrap();
    fs::create_dir(at("fifo/below")).unwrap();
    let told = tree.run(&["--gitignore", "tree/fifo/below"]).stderr;
    let above = format!("not a regular file  1  {}", at("fifo/.gitignore").display());
    assert!(told.contains(&above), "{told}");
    // They can be too high.
    assert!(
        answer.stderr.contains("the totals may not be exact"),
        "{}",
        answer.stderr
    );
    assert_eq!(answer.code, Some(1));
}
