// SPDX-License-Identifier: MIT OR Apache-2.0

//! Pairs of flags: each flag has its effect beside each other one, or statwalk refuses
//! the pair.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::time::SystemTime;

use serde_json::{Value, json};
use statwalk_testkit::settle;

use crate::run::{Answer, Tree};

/// Flags that change the answer about [`tree`] when they stand alone.
const FLAGS: [&str; 28] = [
    "--glob=*[!1-9]",
    "--type=f",
    "--inodes",
    "--time",
    "--min-size=100K",
    "--table",
    "--human-readable",
    "--total",
    "--all",
    "--max-depth=2",
    "--max-depth=0",
    "--lines=2",
    "--summarize",
    "--apparent-size",
    "--bytes",
    "--si",
    "--unit=K",
    "--sort=name",
    "--sort=count",
    "--sort=mtime",
    "--reverse",
    "--count",
    "--json",
    "--print0",
    "--follow",
    "--count-links",
    "--exclude=*.o",
    "--exclude-caches",
];

/// As [`CONTAINED`], for every command.
const CONTAINED_EVERYWHERE: [(&str, &str, &str); 6] = [
    ("--human-readable", "--si", "the last one counts"),
    ("--human-readable", "--unit=K", "the last one counts"),
    ("--si", "--unit=K", "the last one counts"),
    ("--apparent-size", "--bytes", "-b means -A, too, as in du"),
    ("--bytes", "--apparent-size", "rows are in bytes already"),
    ("--human-readable", "--table", "a table has units already"),
];

/// Pairs in which the first flag has nothing left to change, and why.
const CONTAINED: [(&str, &str, &str); 22] = [
    ("--glob=*[!1-9]", "--lines=2", "the two largest pass whole"),
    ("--human-readable", "--inodes", "so few inodes need no unit"),
    ("--si", "--inodes", "so few inodes need no unit"),
    ("--all", "--table", "a table shows the large files anyway"),
    ("--total", "--table", "a table has the total below"),
    ("--min-size=100K", "--max-depth=0", "no path is smaller"),
    ("--min-size=100K", "--summarize", "no path is smaller"),
    (
        "--min-size=100K",
        "--apparent-size",
        "nothing is smaller so",
    ),
    ("--min-size=100K", "--bytes", "nothing is smaller so"),
    ("--min-size=100K", "--lines=2", "the two largest are larger"),
    ("--max-depth=2", "--lines=2", "the two largest are roots"),
    ("--max-depth=0", "--lines=2", "the two largest are roots"),
    ("--summarize", "--lines=2", "the two largest are roots"),
    (
        "--exclude-caches",
        "--lines=2",
        "the two largest are roots, without caches",
    ),
    ("--summarize", "--count", "--count alone gives totals"),
    ("--max-depth=0", "--count", "--count alone gives totals"),
    ("--all", "--max-depth=0", "no file has a row at this depth"),
    ("--max-depth=2", "--max-depth=0", "the last one counts"),
    ("--max-depth=0", "--max-depth=2", "the last one counts"),
    ("--sort=name", "--sort=count", "the last one counts"),
    ("--sort=name", "--sort=mtime", "the last one counts"),
    ("--sort=count", "--sort=mtime", "the last one counts"),
];

/// Three roots that differ in their order by name, size, count and time.
fn tree() -> Tree {
    Tree::new(
        "
        mid/
        mid/one.o       90000 mtime=1000000000
        mid/sub/
        mid/sub/deep/
        mid/sub/deep/x  160000 mtime=1000000000
        mid/sub/deep/er/
        mid/sub/deep/er/w  100 mtime=1000000000
        mid/sub/y       1200 mtime=1000000000
        mid/twin        = mid/sub/y
        mid/ghost/
        mid/ghost/hole  3M sparse mtime=1000000000
        mid/out         -> ../../elsewhere
        big/
        big/data        700100 mtime=1200000000
        big/twice       = big/data
        big/more.o      10 mtime=1200000000
        few/
        few/cached/
        few/cached/CACHEDIR.TAG  0
        few/cached/z    150000 mtime=1250000000
        few/n1          1 mtime=1250000000
        few/n2          1 mtime=1250000000
        few/n3.o        1 mtime=1250000000
        few/n4          1 mtime=1250000000
        few/n5          1 mtime=1250000000
        few/n6          1 mtime=1250000000
        few/n7          1 mtime=1250000000
        few/n8          1 mtime=1250000000
        few/n9          1 mtime=1250000000
        ",
    )
}

/// The answer without the parts that differ from run to run.
fn steady(answer: &Answer) -> Vec<u8> {
    match serde_json::from_slice::<Value>(&answer.stdout) {
        Ok(document) if document.is_object() => {
            let parts = ["roots", "tree", "top", "by", "groups"].map(|name| &document[name]);
            let steady = json!(parts);
            steady.to_string().into_bytes()
        }
        // The sentence below a table has the time of the scan.
        _ => match std::str::from_utf8(&answer.stdout) {
            Ok(text) if text.contains(", in ") => {
                let (table, _) = text.rsplit_once(", in ").expect("it is there");
                table.as_bytes().to_vec()
            }
            _ => answer.stdout.clone(),
        },
    }
}

/// The flags of a command, and the pairs of them in which one has nothing left to change.
struct Flags {
    command: &'static [&'static str],
    flags: &'static [&'static str],
    contained: &'static [(&'static str, &'static str, &'static str)],
}

const COMMANDS: [Flags; 4] = [
    Flags {
        command: &[],
        flags: &FLAGS,
        contained: &CONTAINED,
    },
    Flags {
        command: &["find"],
        flags: &[
            "--type=f",
            "--size=+1K",
            "--max-depth=1",
            "--lines=3",
            "--fields=size",
            "--fields=mode,links",
            "--json",
            "--print0",
            "--follow",
            "--exclude=*.o",
            "--exclude-caches",
        ],
        contained: &[
            ("--type=f", "--size=+1K", "only files have a size here"),
            (
                "--max-depth=1",
                "--lines=3",
                "the first three are that high",
            ),
            (
                "--follow",
                "--max-depth=1",
                "the link is a name in any case",
            ),
            ("--exclude-caches", "--max-depth=1", "the cache is deeper"),
            (
                "--exclude-caches",
                "--lines=3",
                "the first three are no cache",
            ),
        ],
    },
    Flags {
        command: &["top"],
        flags: &[
            "--lines=5",
            "--dirs",
            "--apparent-size",
            "--bytes",
            "--human-readable",
            "--si",
            "--unit=K",
            "--reverse",
            "--json",
            "--print0",
            "--table",
            "--size=+1K",
            "--follow",
            "--count-links",
            "--exclude=*.o",
            "--exclude-caches",
        ],
        contained: &[
            ("--lines=5", "--dirs", "there are no more"),
            ("--count-links", "--dirs", "both names are in one root"),
            ("--exclude=*.o", "--dirs", "only roots have such files"),
        ],
    },
    Flags {
        command: &["stats"],
        flags: &[
            "--by=age",
            "--by=depth",
            "--lines=2",
            "--apparent-size",
            "--bytes",
            "--human-readable",
            "--si",
            "--unit=K",
            "--sort=name",
            "--sort=count",
            "--reverse",
            "--json",
            "--print0",
            "--table",
            "--type=f",
            "--size=+1K",
            "--follow",
            "--count-links",
            "--exclude=*.o",
            "--exclude-caches",
        ],
        contained: &[
            ("--by=age", "--by=depth", "the last one counts"),
            ("--lines=2", "--by=age", "there are two ages"),
            ("--sort=name", "--by=age", "that is their own order"),
            ("--sort=name", "--by=depth", "that is their own order"),
            ("--type=f", "--lines=2", "files have the largest groups"),
            ("--lines=2", "--size=+1K", "there are no more"),
            ("--sort=name", "--sort=count", "the last one counts"),
            ("--sort=name", "--type=f", "both orders are the same"),
            ("--sort=name", "--size=+1K", "both orders are the same"),
            ("--sort=count", "--type=f", "both orders are the same"),
            ("--sort=count", "--size=+1K", "both orders are the same"),
            ("--type=f", "--size=+1K", "only files have a size here"),
        ],
    },
];

#[test]
fn no_flag_is_accepted_and_ignored() {
    let tree = tree();
    let elsewhere = tree.parent().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("file"), vec![1; 9_000]).unwrap();
    let mut tag = File::create(tree.path().join("few/cached/CACHEDIR.TAG")).unwrap();
    tag.write_all(b"Signature: 8a477f597d28d172789f06886806bc55\n")
        .unwrap();
    tag.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    settle(tree.parent()).unwrap();
    let mut ignored = Vec::new();
    for command in &COMMANDS {
        let name = command.command.join(" ");
        let found = ignored_pairs(&tree, command);
        ignored.extend(found.into_iter().map(|pair| format!("{name} {pair}")));
    }
    assert_eq!(ignored, [""; 0], "{ignored:#?}");
}

/// The pairs of a command's flags in which one changes nothing.
fn ignored_pairs(tree: &Tree, command: &Flags) -> Vec<String> {
    let answer = |flags: &[&str]| {
        let roots = ["tree/mid", "tree/big", "tree/few"];
        tree.run(&[command.command, flags, &roots[..]].concat())
    };
    let mut ignored = Vec::new();
    let plain = steady(&answer(&[]).good());
    let mut alone = HashMap::new();
    for &flag in command.flags {
        let text = steady(&answer(&[flag]).good());
        if text == plain {
            ignored.push(format!("{flag} alone"));
        }
        alone.insert(flag, text);
    }
    for (index, first) in command.flags.iter().enumerate() {
        for second in &command.flags[index + 1..] {
            let both = answer(&[first, second]);
            if both.code == Some(2) {
                assert!(both.stdout.is_empty(), "{first} {second}");
                continue;
            }
            let both = steady(&both.good());
            for (ignored_flag, other) in [(first, second), (second, first)] {
                let is_contained = (command.contained.iter().chain(&CONTAINED_EVERYWHERE))
                    .any(|(flag, beside, _)| (flag, beside) == (ignored_flag, other));
                if both == alone[other] && !is_contained {
                    ignored.push(format!("{ignored_flag} beside {other}"));
                }
            }
        }
    }
    ignored
}

#[test]
fn refused_pairs_say_what_to_use() {
    let tree = tree();
    for (arguments, text) in [
        (&["--count", "--sort=size"][..], "try --sort count"),
        (&["--count", "--sort=mtime", "-d1"], "try --sort count"),
        (&["-s", "--sort=mtime"], "try --max-depth 0"),
        (&["-s", "--json", "-r"], "try --max-depth 0"),
        (&["-s", "--json", "-A"], "both sizes"),
        (&["--json", "--si"], "cannot be used with"),
        (&["--count", "--unit=K"], "cannot be used with"),
        (&["--json", "-0"], "cannot be used with"),
    ] {
        let answer = tree.run(&[arguments, &["tree"]].concat());
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert!(answer.stderr.contains(text), "{}", answer.stderr);
    }
}

#[test]
fn totals_of_several_paths_are_sorted_where_that_is_asked() {
    let tree = tree();
    let rows = |flags: &[&str]| {
        let roots = ["tree/mid", "tree/big", "tree/few"];
        let answer = tree.run(&[flags, &roots[..]].concat()).good();
        let lines = answer.lines();
        let names = lines.iter().map(|line| line.rsplit('/').next().unwrap());
        names.collect::<Vec<_>>().join(" ")
    };
    // As du has them.
    assert_eq!(rows(&["-s"]), "mid big few");
    assert_eq!(rows(&["-s", "--sort=size"]), "big mid few");
    assert_eq!(rows(&["-s", "-r"]), "few mid big");
    assert_eq!(rows(&["-s", "--sort=name"]), "big few mid");
    assert_eq!(rows(&["-s", "-n2"]), "mid big");
    assert_eq!(rows(&["--count"]), "mid big few");
    assert_eq!(rows(&["--count", "--sort=count", "-n1"]), "few");
}

#[test]
fn count_gives_the_entries_of_each_directory() {
    let tree = tree();
    let answer = tree.run(&["--count", "-d2", "tree"]).good();
    assert_eq!(
        answer.sorted(),
        [
            "12\\ttree/mid\\n",
            "13\\ttree/few\\n",
            "2\\ttree/mid/ghost\\n",
            "30\\ttree\\n",
            "3\\ttree/few/cached\\n",
            "4\\ttree/big\\n",
            "6\\ttree/mid/sub\\n",
        ]
        .map(str::to_owned)
    );
}
