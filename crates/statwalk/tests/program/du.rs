// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every flag of GNU du: it gives du's numbers here, or a sentence says what to use.
//!
//! The flags come from `du --help`, so that a newer du with a new flag fails the first
//! test.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use statwalk_testkit::{program, settle};

use crate::run::{Answer, Tree, sorted, statwalk};

/// What becomes of a flag.
enum Fate {
    /// Rows of directories down to depth 1 are those of du, with these words.
    Rows(&'static [&'static [&'static str]]),
    /// The rows of the paths alone are those of du, with these words.
    Totals(&'static [&'static [&'static str]]),
    /// A usage error with this text.
    Refused(&'static str),
    /// It has a test of its own.
    Elsewhere,
}

use Fate::{Elsewhere, Refused, Rows, Totals};

/// Each flag of du with its fate; `-B1` is added to both programs where no word sets a
/// unit.
const FLAGS: &[(&str, Fate)] = &[
    ("-0", Rows(&[&["-0"]])),
    ("--null", Rows(&[&["--null"]])),
    ("-a", Rows(&[&["-a"], &["-ah"], &["-ac", "-k"]])),
    ("--all", Rows(&[&["--all"]])),
    ("--apparent-size", Elsewhere),
    (
        "-B",
        Rows(&[
            &["-BM"],
            &["-B", "K"],
            &["-B1"],
            &["-B1M"],
            &["-B512"],
            &["-B", "4K"],
            &["-BMiB"],
            &["-BkB"],
            &["-B3MB"],
            &["-B1000"],
            &["-BGiB"],
        ]),
    ),
    (
        "--block-size",
        Rows(&[&["--block-size=MB"], &["--block-size=2KiB"]]),
    ),
    ("-b", Elsewhere),
    ("--bytes", Elsewhere),
    (
        "-c",
        Rows(&[&["-c"], &["-hc"], &["-c", "--time"], &["-c", "--inodes"]]),
    ),
    ("--total", Rows(&[&["--total", "-m"]])),
    ("-D", Refused("write 'LINK/'")),
    ("--dereference-args", Refused("write 'LINK/'")),
    ("-d", Rows(&[&["-d0"], &["-d2"], &["-d", "9"]])),
    (
        "--max-depth",
        Rows(&[&["--max-depth=2"], &["--max-depth", "0", "-c"]]),
    ),
    ("--files0-from", Totals(&[&["-s", "--files0-from=list"]])),
    ("-H", Refused("write 'LINK/'")),
    ("-h", Rows(&[&["-h"], &["-hd2"]])),
    ("--human-readable", Rows(&[&["--human-readable"]])),
    (
        "--inodes",
        Rows(&[
            &["--inodes"],
            &["--inodes", "-d9"],
            &["--inodes", "-l"],
            &["--inodes", "-a"],
            &["--inodes", "-h"],
            &["--inodes", "--si"],
            &["--inodes", "-x", "--exclude=o*"],
        ]),
    ),
    ("-k", Rows(&[&["-k"]])),
    ("-L", Totals(&[&["-sL"]])),
    ("--dereference", Totals(&[&["-s", "--dereference"]])),
    ("-l", Rows(&[&["-l"], &["-lc", "-d2"]])),
    ("--count-links", Rows(&[&["--count-links"]])),
    (
        "-m",
        Rows(&[
            &["-m"],
            &["-h", "-m"],
            &["-k", "-m"],
            &["-m", "-h"],
            &["--si", "-k"],
        ]),
    ),
    ("-P", Rows(&[&["-P"], &["-L", "-P"]])),
    ("--no-dereference", Rows(&[&["-L", "--no-dereference"]])),
    ("-S", Refused("-S SIZE is a filter")),
    ("--separate-dirs", Refused("sums whole subtrees")),
    ("--si", Rows(&[&["--si"], &["--si", "-a"]])),
    (
        "-s",
        Totals(&[
            &["-s"],
            &["-sh"],
            &["-sch"],
            &["-s", "--time"],
            &["-s", "--inodes"],
        ]),
    ),
    ("--summarize", Totals(&[&["--summarize"]])),
    ("-t", Refused("use --min-size SIZE")),
    ("--threshold", Refused("use --min-size SIZE")),
    (
        "--time",
        Rows(&[
            &["--time"],
            &["--time", "-d9"],
            &["--time", "-a"],
            &["--time=atime"],
            &["--time=access"],
            &["--time=use"],
            &["--time=ctime"],
            &["--time=status", "-k"],
            &["--time", "--inodes"],
        ]),
    ),
    (
        "--time-style",
        Rows(&[
            &["--time", "--time-style=full-iso"],
            &["--time", "--time-style", "long-iso"],
            &["--time=ctime", "--time-style=iso"],
            &["--time=atime", "--time-style=+%s %j"],
            &["--time", "--time-style=+%c; %x %X; %r"],
        ]),
    ),
    ("-X", Rows(&[&["-X", "patterns"]])),
    (
        "--exclude-from",
        Rows(&[&["--exclude-from=patterns", "-a"]]),
    ),
    (
        "--exclude",
        Rows(&[&["--exclude", "*/x"], &["--exclude=few"]]),
    ),
    ("-x", Rows(&[&["-x"]])),
    ("--one-file-system", Rows(&[&["--one-file-system", "-d2"]])),
    ("--help", Elsewhere),
    ("--version", Elsewhere),
];

/// Links of both kinds, a sparse file, odd names, and times that differ: some
/// directories are newer than their content, others older.
///
/// No other name of a file decides a row: du counts the name that it meets first, and
/// statwalk the first by its path (docs/compare.md).
fn tree() -> Tree {
    let tree = Tree::new(
        "
        a/
        a/x            3000000 mtime=1000000000
        a/sub/
        a/sub/deep/
        a/sub/deep/y   70000 mtime=1300000000
        a/sub/deep/twin = a/sub/deep/y
        few/
        few/x          500 mtime=1350000000
        few/hole       5M sparse mtime=800000000
        few/same       = a/sub/deep/y
        empty/
        alone          1 mtime=1400000000
        to-file        -> a/x
        to-dir         -> a/sub
        ",
    );
    let odd = tree.path().join(OsStr::from_bytes(b"odd\xff \xe2\x80\xae"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("new\nline\t"), vec![1; 9_000]).unwrap();
    fs::write(odd.join("-s"), b"").unwrap();
    // The clock of a file system is coarse: others could have the same time.
    let newest = fs::File::create(odd.join("newest")).unwrap();
    let soon = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    newest.set_modified(soon).unwrap();
    fs::write(tree.parent().join("patterns"), "few\n*.o\nnew*\n").unwrap();
    fs::write(
        tree.parent().join("list"),
        b"tree/a\0tree/alone\0tree/few\0",
    )
    .unwrap();
    let set = |path: &str, modified: u64, accessed: u64| {
        let at = |s| SystemTime::UNIX_EPOCH + Duration::new(s, 123_456_789);
        let times = FileTimes::new()
            .set_modified(at(modified))
            .set_accessed(at(accessed));
        let file = File::open(tree.path().join(path)).unwrap();
        file.set_times(times).unwrap();
    };
    set("a/x", 1_000_000_000, 1_600_000_000);
    set("a/sub", 1_200_000_000, 1_100_000_000);
    set("empty", 1_500_000_000, 1_500_000_001);
    set("few", 700_000_000, 700_000_000);
    set("a", 600_000_000, 600_000_000);
    set("", 500_000_000, 500_000_000);
    settle(tree.parent()).unwrap();
    tree
}

/// The flags in `du --help`.
fn flags_of_du() -> BTreeSet<String> {
    let help = Answer::of(program::command("du").arg("--help")).good();
    let help = String::from_utf8(help.stdout).unwrap();
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let declared = lines.filter(|line| line.trim_start().starts_with('-'));
    // Two blanks divide the flags from their description.
    let flags = declared.filter_map(|line| line.trim_start().split("  ").next());
    let flags = flags.flat_map(|flags| flags.split(", "));
    let name = |flag: &str| flag.split(['=', '[', ' ']).next().unwrap().to_owned();
    flags.map(name).collect()
}

/// Paths of which one lies in another; but with `-l`, where du counts such a path twice.
fn roots(words: &[&str]) -> &'static [&'static str] {
    let counts_links = words
        .iter()
        .any(|word| word.starts_with("-l") || word.contains("links"));
    if counts_links {
        &["tree"]
    } else {
        &["tree/a", "tree"]
    }
}

fn du(tree: &Tree, words: &[&str]) -> Answer {
    let mut du = program::command("du");
    // So that statwalk's time zone is tried too.
    du.args(words)
        .current_dir(tree.parent())
        .env("TZ", "Asia/Kathmandu");
    Answer::of(&mut du).good()
}

fn ours(tree: &Tree, words: &[&str]) -> Answer {
    let mut ours = statwalk();
    ours.args(words)
        .current_dir(tree.parent())
        .env("TZ", "Asia/Kathmandu");
    Answer::of(&mut ours)
}

#[test]
fn every_flag_of_du_has_a_fate() {
    let known: BTreeSet<String> = FLAGS.iter().map(|(flag, _)| (*flag).to_owned()).collect();
    let found = flags_of_du();
    assert!(found.len() > 30, "{found:?}");
    let unknown: Vec<_> = found.difference(&known).collect();
    assert_eq!(unknown, [""; 0]);
}

#[test]
fn each_flag_gives_the_rows_of_du_or_says_what_to_use() {
    let tree = tree();
    let mut wrong = Vec::new();
    for (flag, fate) in FLAGS {
        let (depth, lines) = match fate {
            Rows(lines) => (&["-d1"][..], *lines),
            Totals(lines) => (&[][..], *lines),
            Refused(text) => {
                let answer = ours(&tree, &[flag, "tree"]);
                assert_eq!(answer.code, Some(2), "{flag}");
                assert!(answer.stderr.contains(text), "{flag}: {}", answer.stderr);
                // One sentence, and no guess beside it.
                let tips = answer.stderr.matches("tip:").count();
                assert!(tips <= 1, "{}", answer.stderr);
                assert_eq!(answer.stdout, b"", "{flag}");
                continue;
            }
            Elsewhere => continue,
        };
        for words in lines {
            let has_unit = words.iter().any(|word| {
                let short = word.starts_with('-') && !word.starts_with("--");
                let letters = short && word.contains(['h', 'k', 'm', 'B']);
                let long = ["--block-size", "--human-readable", "--si", "--inodes"];
                letters || long.iter().any(|flag| word.starts_with(flag))
            });
            let unit = if has_unit { &[][..] } else { &["-B1"] };
            let roots = if flag.starts_with("--files0") {
                &[][..]
            } else {
                roots(words)
            };
            let depth = match words.iter().any(|word| {
                word.contains("d2")
                    || word.contains("d9")
                    || word.contains("depth")
                    || word.starts_with("-d")
            }) {
                true => &[][..],
                false => depth,
            };
            let end = if words.contains(&"-0") || words.contains(&"--null") {
                0
            } else {
                b'\n'
            };
            let expected = du(&tree, &[unit, depth, words, roots].concat());
            let found = ours(&tree, &[words, roots].concat());
            assert_eq!(
                (found.code, found.stderr.as_str()),
                (Some(0), ""),
                "{words:?}"
            );
            let (expected, found) = (sorted(&expected.stdout, end), sorted(&found.stdout, end));
            if expected != found {
                wrong.push(format!(
                    "{words:?}:\n du       {expected:?}\n statwalk {found:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The sizes of a directory and of those below.
fn bytes_of_directories(path: &Path) -> u64 {
    let below = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let below = below.filter(|entry| entry.file_type().unwrap().is_dir());
    let below: u64 = below.map(|entry| bytes_of_directories(&entry.path())).sum();
    below + path.metadata().unwrap().len()
}

/// Until coreutils 9.2 du counted the sizes of directories, too.
#[test]
fn apparent_sizes_are_those_of_a_new_du() {
    let tree = tree();
    let roots = ["tree/a", "tree/few", "tree/empty"];
    let is_old = !du(&tree, &["-bs", "tree/empty"]).stdout.starts_with(b"0\t");
    for words in [
        &["-b"][..],
        &["--bytes", "-l"],
        &["--apparent-size"],
        &["--apparent-size", "-d9"],
        &["-bs"],
    ] {
        let base = match words {
            ["-bs"] => &["-B1"][..],
            ["--apparent-size", "-d9"] => &["-B1"],
            _ => &["-B1", "-d1"],
        };
        let rows = du(&tree, &[base, words, &roots].concat()).stdout;
        let rows = rows
            .split(|&byte| byte == b'\n')
            .filter(|row| !row.is_empty());
        let expected = rows.map(|row| {
            let tab = row.iter().position(|&byte| byte == b'\t').unwrap();
            let path = tree.parent().join(OsStr::from_bytes(&row[tab + 1..]));
            let bytes: u64 = std::str::from_utf8(&row[..tab]).unwrap().parse().unwrap();
            let own = if is_old {
                bytes_of_directories(&path)
            } else {
                0
            };
            [(bytes - own).to_string().as_bytes(), &row[tab..], b"\n"].concat()
        });
        let expected = expected.collect::<Vec<_>>().concat();
        let found = ours(&tree, &[words, &roots].concat()).good();
        assert_eq!(
            sorted(&found.stdout, b'\n'),
            sorted(&expected, b'\n'),
            "{words:?}"
        );
    }
}

/// `statwalk -sLb` had the length of a link besides the directory to which it leads, where
/// that was listed by another name: du counts nothing for the link.
#[test]
fn a_followed_link_brings_no_bytes_of_its_own() {
    // Longer than 59 bytes, so that the link has a block of its own on ext4.
    let long = format!("{}d", "./".repeat(40));
    let shapes: &[&[(&str, &str)]] = &[
        &[],
        &[("d", "once")],
        &[("d", "a"), ("d", "twice")],
        &[("d/e", "below")],
        &[("../d/e", "f/deep")],
        &[(&long, "long")],
        &[(&long, "a-long"), (&long, "z-long")],
        &[("d/x", "file")],
        &[("d/x", "file"), ("../d/x", "f/again")],
        &[("..", "d/up"), (".", "here")],
        &[("../f", "d/f"), ("../d", "f/d")],
        &[("../outside", "out")],
        &[("../outside", "out"), ("../../outside", "f/out")],
        &[("../outside/in", "a-in"), ("../outside", "z-out")],
        &[("a-link", "b-link"), ("d", "a-link"), ("b-link", "c-link")],
    ];
    for links in shapes {
        let tree = Tree::new("d/\nd/x 1000\nd/e/\nf/\nf/y 200\n");
        let at = |path: &str| tree.path().join(path);
        fs::create_dir_all(at("../outside/in")).unwrap();
        fs::write(at("../outside/in/z"), [1; 50_000]).unwrap();
        for (target, link) in *links {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        settle(tree.parent()).unwrap();

        // The directories that are reached, each once.
        let mut inodes = BTreeSet::new();
        let mut of_directories = 0;
        let mut waiting = vec![tree.path()];
        while let Some(path) = waiting.pop() {
            let metadata = path.metadata().unwrap();
            if !metadata.is_dir() || !inodes.insert(metadata.ino()) {
                continue;
            }
            of_directories += metadata.len();
            let entries = fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let number = |answer: &Answer| -> u64 {
            let text = String::from_utf8_lossy(&answer.stdout);
            text.split('\t').next().unwrap().parse().unwrap()
        };
        let is_old = number(&du(&tree, &["-bs", "tree/d/e"])) > 0;
        let own = if is_old { of_directories } else { 0 };
        let expected = number(&du(&tree, &["-sLb", "tree"])) - own;
        for order in ["-sLb", "-sLA", "-Lbd0", "-sLbj1"] {
            let found = ours(&tree, &[order, "tree"]).good();
            assert_eq!(number(&found), expected, "{order}, {links:?}");
        }
        let expected = number(&du(&tree, &["-sLB1", "tree"]));
        let found = ours(&tree, &["-sL", "tree"]).good();
        assert_eq!(number(&found), expected, "{links:?}");
    }
}

#[test]
fn times_and_inodes_are_in_tables_and_json() {
    let tree = tree();
    let table = |words: &[&str]| {
        let words = [words, &["--width=80", "tree"]].concat();
        String::from_utf8(ours(&tree, &words).good().stdout).unwrap()
    };
    let times = table(&["--time", "--sort=mtime"]);
    let mut lines = times.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .contains("DISK  MODIFIED          PATH"),
        "{times}"
    );
    // The odd directory is newer than everything else.
    assert!(lines.next().unwrap().ends_with("  tree"), "{times}");
    assert!(lines.next().unwrap().contains("odd"), "{times}");
    let empty = "  2017-07-14 08:25  tree/empty";
    assert!(lines.any(|line| line.ends_with(empty)), "{times}");
    assert!(table(&["--time=atime"]).contains("ACCESSED"));
    assert!(table(&["--time=ctime", "-s"]).contains("CHANGED"));
    let inodes = table(&["--inodes"]);
    assert!(
        inodes.contains("INODES") && !inodes.contains("NEWEST"),
        "{inodes}"
    );
    let root = fs::metadata(tree.path()).unwrap();
    assert!(root.is_dir() && root.nlink() > 1);
    let document = ours(&tree, &["--inodes", "--json", "-s", "tree"])
        .good()
        .json();
    let rows = document["tree"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{document}");
    // All names but two further ones of `y`.
    let names = document["roots"][0]["entries"].as_u64().unwrap();
    assert_eq!(rows[0]["inodes"].as_u64().unwrap(), names - 2);
    assert!(rows[0].get("entries").is_none());
}

#[test]
fn times_without_a_meaning_are_refused() {
    let tree = Tree::new("x 1");
    for (words, text) in [
        (&["--time=birth"][..], "invalid value 'birth'"),
        (&["--time", "--json"], "cannot be used with"),
        (&["--time", "--count"], "cannot be used with"),
        (&["--time-style=iso"], "--time"),
        (
            &["--time", "--time-style=pretty"],
            "must be full-iso, long-iso, iso or +FORMAT",
        ),
        (&["--time", "--time-style=+%!"], "for --time-style: "),
        (
            &["--time", "--time-style=+%.3f"],
            "date has no conversion %.3f",
        ),
        (&["--inodes", "--count"], "cannot be used with"),
        (&["--inodes", "--min-size=1M"], "cannot be used with"),
        (&["--inodes", "-A"], "cannot be used with"),
        (&["top", "--time"], "a flag of 'statwalk' without a command"),
        (&["top", "-c"], "a flag of 'statwalk' without a command"),
        (&["-B0"], "must be between 1 and 2^64 bytes"),
        (&["-B17E"], "must be between 1 and 2^64 bytes"),
        (&["-B4x"], "must be B, K or KiB"),
    ] {
        let answer = tree.run(&[words, &["tree"]].concat());
        assert_eq!(answer.code, Some(2), "{words:?}");
        assert!(answer.stderr.contains(text), "{words:?}: {}", answer.stderr);
        assert_eq!(answer.stdout, b"", "{words:?}");
    }
}

/// A path whose bytes count under an earlier one had a row of 0, and du has none.
#[test]
fn a_further_name_of_a_file_has_no_row_as_in_du() {
    let tree = Tree::new("dir/\nfile 5000\nsingle 6000\nfollowed -> single");
    let at = |name: &str| tree.path().join(name);
    fs::hard_link(at("file"), at("link")).unwrap();
    fs::hard_link(at("file"), at("dir/link")).unwrap();
    settle(tree.parent()).unwrap();
    let words: [&[&str]; 14] = [
        &["tree/file", "tree/link"],
        &["tree/link", "tree/file", "tree/link"],
        &["-s", "tree/file", "tree/link"],
        &["-a", "tree/file", "tree/link"],
        &["-c", "tree/file", "tree/link"],
        &["-b", "tree/file", "tree/link"],
        &["-l", "tree/file", "tree/link"],
        &["-sl", "tree/file", "tree/link"],
        &["--inodes", "tree/file", "tree/link"],
        &["tree/dir", "tree/file"],
        &["tree/file", "tree/dir"],
        &["-L", "tree/single", "tree/followed"],
        &["-sL", "tree/followed", "tree/single"],
        // A link is no name of its target.
        &["tree/single", "tree/followed"],
    ];
    for words in words {
        let is_of_sizes = !["-b", "--inodes"].contains(&words[0]);
        let unit = is_of_sizes.then_some("-B1");
        let words: Vec<&str> = unit.into_iter().chain(words.iter().copied()).collect();
        let [ours, du] = [ours(&tree, &words).good(), du(&tree, &words)];
        assert_eq!(ours.lines(), du.lines(), "{words:?}");
    }
    for words in [
        &["tree/file", "tree/link"][..],
        &["-s", "tree/file", "tree/link"],
        &["-s", "-t", "f", "tree/file", "tree/link"],
    ] {
        let answer = tree.run(&[&["--table"], words].concat()).good();
        let lines = answer.lines();
        let rows = lines.iter().filter(|line| line.ends_with(" tree/link"));
        assert_eq!(rows.count(), 0, "{lines:?}");
        let sentence = "tree/link has no row: an earlier path has its bytes.";
        assert!(lines.contains(&sentence), "{lines:?}");
    }
    // A filter kept the row, with 0. A directory that has one file, of another path, has one.
    for (words, rows) in [
        (
            &["-s", "-t", "f", "tree/file", "tree/link"][..],
            &["tree/file"][..],
        ),
        (&["-s", "-g", "*", "tree/link", "tree/file"], &["tree/link"]),
        (
            &["-sL", "-t", "f", "tree/followed", "tree/single"],
            &["tree/followed"],
        ),
        (
            &["-s", "-t", "f", "tree/file", "tree/dir"],
            &["tree/file", "tree/dir"],
        ),
        (
            &["-s", "-t", "f", "tree/file", "tree/single"],
            &["tree/file", "tree/single"],
        ),
    ] {
        let answer = tree.run(words).good();
        let found = answer.lines();
        let found: Vec<&str> = (found.iter())
            .map(|row| row.split_once('\t').unwrap().1)
            .collect();
        assert_eq!(found, rows, "{words:?}");
    }
    let document = tree
        .run(&["--json", "tree/file", "tree/link"])
        .good()
        .json();
    let rows = document["tree"].as_array().unwrap();
    assert_eq!(rows[0].get("extra_hard_link"), None);
    assert_eq!(rows[1]["path"], "tree/link");
    assert_eq!(rows[1]["extra_hard_link"], true);
}
