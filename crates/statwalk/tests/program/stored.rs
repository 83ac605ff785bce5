// SPDX-License-Identifier: MIT OR Apache-2.0

//! Commands from a snapshot: the same answers as live, at the time it was taken.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::io::Errno;
use serde_json::Value;
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op, When};
use statwalk_testkit::{Random, or_skip, trees};

use crate::report::page::Page;
use crate::run::{Answer, Tree, as_ordinary_user, statwalk};

/// The commands that read a snapshot; the default view has no name.
const COMMANDS: [&str; 6] = ["", "top", "stats", "find", "errors", "report"];

/// Flags of view and filter, with the commands that are asked with them. Every flag that the
/// help of a command lists is here, or in one of the two lists below.
const VIEWS: [(&str, &[&str]); 70] = [
    ("", &["", "top", "stats", "find", "errors"]),
    ("--json", &["", "top", "stats", "find", "errors"]),
    ("--print0", &["", "top", "stats", "find", "errors"]),
    ("--table", &["", "top", "stats", "find", "errors"]),
    ("--width=200", &["", "top", "stats", "find", "errors"]),
    ("--table --color=always", &["find", "errors"]),
    ("--width=200 --color=always", &["", "top", "stats"]),
    ("--all", &[""]),
    ("--all --json -d9", &[""]),
    ("--max-depth=1", &["", "top", "find", "errors"]),
    ("--max-depth=2 --json", &["", "top", "find", "errors"]),
    ("--max-depth=0", &["", "top", "find", "errors"]),
    ("--lines=3", &["", "top", "stats", "errors"]),
    // Fewer would be any of them.
    ("--lines=99", &["find"]),
    ("--summarize", &[""]),
    ("--summarize --json", &[""]),
    ("--total", &[""]),
    ("--apparent-size", &["", "top", "stats"]),
    ("--bytes", &["", "top", "stats"]),
    ("--human-readable", &["", "top", "stats"]),
    ("--si", &["", "top", "stats"]),
    ("--unit=K", &["", "top", "stats"]),
    ("-k", &["", "top", "stats"]),
    ("-m", &["", "top", "stats"]),
    ("--time", &[""]),
    ("--time=atime", &[""]),
    ("--time=ctime --time-style=full-iso", &[""]),
    ("--inodes --max-depth=9", &[""]),
    ("--inodes --json", &[""]),
    ("--sort=name", &["", "stats"]),
    ("--sort=count --reverse", &["", "stats"]),
    ("--sort=mtime", &[""]),
    ("--reverse", &["", "top", "stats"]),
    ("--min-size=4K", &[""]),
    ("--fail-over=1K", &[""]),
    ("--count", &[""]),
    ("--count --json --max-depth=9", &[""]),
    ("--dirs", &["top"]),
    ("--dirs --json", &["top"]),
    ("--rebuildable", &["top"]),
    ("--rebuildable --json", &["top"]),
    ("--by=owner", &["stats"]),
    ("--by=group,age --json", &["stats"]),
    ("--by=category,size --width=200", &["stats"]),
    ("--by=depth,owner", &["stats"]),
    ("--percentiles", &["stats"]),
    ("--fields=all", &["find"]),
    ("--fields=all --json", &["find"]),
    ("--fields=owner,group --table", &["find"]),
    ("--count-links", &["", "top", "stats", "find"]),
    ("--count-links --json", &["", "top", "stats", "errors"]),
    ("--glob=*.log", &["", "top", "stats", "find"]),
    ("--glob=*.log --json --max-depth=9", &["", "top", "find"]),
    ("--extension=o", &["", "top", "stats", "find"]),
    ("--type=f,l", &["", "top", "stats", "find"]),
    ("--type=d", &["", "stats", "find"]),
    ("--size=+4k", &["", "top", "stats", "find"]),
    ("--changed-within=9y", &["", "top", "stats", "find"]),
    ("--changed-before=2020-01-01", &["", "top", "stats", "find"]),
    ("--owner=root", &["", "top", "stats", "find"]),
    ("--owner=!0:0", &["", "top", "stats", "find"]),
    ("--format=markdown -o -", &["report"]),
    ("--format=markdown --redact -o -", &["report"]),
    ("--format=markdown -o - --count-links", &["report"]),
    ("--format=markdown -o - --explain", &["report"]),
    ("--format=markdown -o r.md --force --json", &["report"]),
    ("--format=markdown -o r.md --force --print0", &["report"]),
    (
        "--format=markdown -o r.md --force --table --color=always",
        &["report"],
    ),
    ("--format=markdown -o r.md --force --width=200", &["report"]),
    ("--explain", &["", "top", "stats", "find", "errors"]),
];

/// Flags of the scan, with a value where they need one.
const SCANS: [&str; 15] = [
    "--one-file-system",
    "--exclude=x",
    "--exclude-from=/dev/null",
    "--exclude-caches",
    "--gitignore",
    "--include-kernfs",
    "--threads=1",
    "--order=stack",
    "--source=posix",
    "--nice",
    "--buffer=8K",
    "--stat-order=inode",
    "--cached-attributes",
    "--follow",
    "--no-sync",
];

/// Flags that change neither an answer nor a scan, and those that have tests of their own.
const OTHERS: [&str; 12] = [
    "--help",
    "--version",
    "--progress",
    "--no-dereference",
    // A list of paths names no snapshot.
    "--files0-from",
    "--detail",
    "--force",
    "--open",
    "--output",
    // Those of the default view that have a letter alone in the table above.
    "--kib",
    "--mib",
    "--apparent",
];

/// A tree with a store beside it.
struct Place {
    tree: Tree,
    root: PathBuf,
}

impl Place {
    fn of(tree: Tree) -> Place {
        let root = tree.path().canonicalize().unwrap();
        Place { tree, root }
    }

    /// A tree of everything, old enough for ages that hold for years.
    fn new() -> Place {
        let tree = Tree::new(
            "a/\na/b/\na/b/deep/\na/b/deep/x.log 9000\na/y.LOG 100\nweb/\nweb/package.json 300\n\
             web/node_modules/\nweb/node_modules/.package-lock.json 9\ncache/\n\
             cache/CACHEDIR.TAG 0\nobj/\nobj/a.o 5000\nobj/b.o 70000\nlink -> a\nempty/",
        );
        let root = tree.path();
        let tag = b"Signature: 8a477f597d28d172789f06886806bc55\n";
        fs::write(root.join("cache/CACHEDIR.TAG"), tag).unwrap();
        // The first name by path order is not the first by directories.
        fs::write(root.join("a.first"), vec![1; 20_000]).unwrap();
        fs::hard_link(root.join("a.first"), root.join("a/second")).unwrap();
        fs::hard_link(root.join("a.first"), root.join("obj/third")).unwrap();
        let hostile = std::ffi::OsString::from_vec(b"\xff\n\x1b[2J".to_vec());
        fs::create_dir(root.join(&hostile)).unwrap();
        fs::write(root.join(&hostile).join("\u{202e}txt"), b"x").unwrap();
        symlink("nowhere", root.join(&hostile).join("l")).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
        for path in all_below(&root) {
            if !path.is_symlink() {
                let file = fs::File::open(&path).unwrap();
                file.set_modified(old).unwrap();
            }
        }
        Place::of(tree)
    }

    fn command(&self) -> Command {
        let mut command = statwalk();
        command.env("XDG_DATA_HOME", self.tree.parent().join("data"));
        command.current_dir(self.tree.parent());
        command
    }

    fn run(&self, words: &[&str]) -> Answer {
        Answer::of(self.command().args(words))
    }

    #[track_caller]
    fn store(&self) {
        let root = self.root.to_str().unwrap();
        // Each first access moves a time: that of a directory, or of a tag.
        self.run(&["top", "--rebuildable", root]);
        let tag = fs::read(self.root.join("cache/CACHEDIR.TAG"));
        drop(tag);
        let answer = self.run(&["snapshot", "--access-times", root]);
        assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    }

    /// The answers of a command with flags, live and from the snapshot.
    fn both(&self, command: &str, flags: &[&str]) -> [Answer; 2] {
        let root = self.root.to_str().unwrap();
        [root.to_owned(), format!("{root}@last")].map(|path| {
            let mut words: Vec<&str> = flags.to_vec();
            if !command.is_empty() {
                words.insert(0, command);
            }
            words.push(&path);
            self.run(&words)
        })
    }

    #[track_caller]
    fn check(&self, command: &str, flags: &str) {
        let words: Vec<&str> = flags.split_whitespace().collect();
        let [live, stored] = self.both(command, &words);
        let what = format!("{command} {flags}");
        assert_eq!(stored.code, live.code, "{what}: {}", stored.stderr);
        let name = format!("{}@last", self.root.display());
        let same =
            |text: &str| without_times(text).replace(&name, &self.root.display().to_string());
        if !words.contains(&"--explain") {
            assert_eq!(same(&stored.stderr), same(&live.stderr), "{what}");
        }
        check_same(&what, &stored, &live);
    }
}

/// Compares two answers line by line. A list of `find` has no order of its own.
#[track_caller]
fn check_same(what: &str, found: &Answer, expected: &Answer) {
    let [found, expected] = [found, expected].map(|answer| comparable(&answer.stdout));
    let [mut found, mut expected] =
        [&found, &expected].map(|text| text.lines().collect::<Vec<_>>());
    if what.starts_with("find") {
        found.sort_unstable();
        expected.sort_unstable();
    }
    let lines = found.iter().zip(&expected);
    if let Some((found, expected)) = lines.clone().find(|(found, expected)| found != expected) {
        panic!("{what}:\n{found:.600}\nis not\n{expected:.600}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// All entries below a directory, each before the directory that it is in.
fn all_below(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            all.extend(all_below(&path));
        }
        all.push(path);
    }
    all.push(root.to_owned());
    all
}

/// An answer without the facts that differ: when, how fast, and by which plan.
fn comparable(stdout: &[u8]) -> String {
    let text = stdout.escape_ascii().to_string().replace("\\n", "\n");
    let json: Option<Value> = serde_json::from_slice(stdout).ok();
    let Some(Value::Object(mut document)) = json else {
        return without_times(&without_date(&text));
    };
    for name in ["started_s", "started_ns", "arguments", "elapsed_s", "plan"] {
        document.remove(name);
    }
    format!("{:#}", Value::Object(document))
}

/// The text of a report without its date, which is that of the scan.
fn without_date(text: &str) -> String {
    match text.split_once(" UTC, statwalk ") {
        Some((before, behind)) if before.len() > DATE.len() => {
            let (before, _) = before.split_at(before.len() - DATE.len());
            format!("{before}{DATE} UTC, statwalk {behind}")
        }
        _ => text.to_owned(),
    }
}

const DATE: &str = "2026-11-29 17:48";

/// A text without the time that the scan took: `in 0.3 s`, `in 12 ms`.
fn without_times(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len().saturating_sub(1) {
        let is_number = words[at]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let unit = words[at + 1].split(['.', ',', '\n', ';']).next();
        if words[at - 1] == "in" && is_number && matches!(unit, Some("s" | "ms" | "\u{b5}s")) {
            words[at] = "N";
            let rest = words[at + 1].trim_start_matches(['s', 'm', '\u{b5}']);
            words[at + 1] = rest;
        }
    }
    words.join(" ")
}

/// The long flags in the help of a command.
fn flags_of(command: &str) -> BTreeSet<String> {
    let words: &[&str] = if command.is_empty() {
        &["--help"]
    } else {
        &[command, "--help"]
    };
    let help = Answer::of(statwalk().args(words)).good();
    let lines = help.lines();
    let flags = lines.iter().filter_map(|line| {
        let line = line.trim_start();
        let line = match line.as_bytes() {
            [b'-', letter, b',', b' ', ..] if *letter != b'-' => &line[4..],
            _ => line,
        };
        let name = line.strip_prefix("--")?;
        let name = name.split([' ', '[', '=']).next()?;
        Some(format!("--{name}"))
    });
    flags.collect()
}

#[test]
fn every_command_with_every_flag_answers_as_live() {
    let place = Place::new();
    place.store();
    for command in COMMANDS {
        let mut missing = flags_of(command);
        assert!(missing.len() > 10, "{command}: {missing:?}");
        for (flags, commands) in VIEWS {
            if commands.contains(&command) {
                place.check(command, flags);
                for word in flags.split_whitespace() {
                    missing.remove(word.split('=').next().unwrap());
                }
            }
        }
        for flag in SCANS {
            missing.remove(flag.split('=').next().unwrap());
        }
        missing.retain(|flag| !OTHERS.contains(&flag.as_str()));
        assert!(
            missing.is_empty(),
            "'{command}' was not asked with {missing:?}"
        );
    }
}

#[test]
fn a_page_has_the_same_nodes() {
    let place = Place::new();
    place.store();
    for flags in [&["-o", "-"][..], &["-o", "-", "--detail", "full"]] {
        let [live, stored] = place.both("report", flags);
        assert_eq!(stored.code, Some(0), "{}", stored.stderr);
        let [live, stored] = [live, stored].map(|answer| Page::of(&answer.stdout).nodes());
        assert!(live.len() > 20, "{}", live.len());
        assert_eq!(
            live.keys().collect::<Vec<_>>(),
            stored.keys().collect::<Vec<_>>()
        );
        for (path, node) in &live {
            assert_eq!(format!("{node:?}"), format!("{:?}", stored[path]));
        }
    }
}

#[test]
fn flags_of_the_scan_are_refused() {
    let place = Place::new();
    place.store();
    for command in COMMANDS {
        let known = flags_of(command);
        for flag in SCANS {
            let name = flag.split('=').next().unwrap();
            assert!(known.contains(name), "{command} {name}");
            let [_, answer] = place.both(command, &[flag]);
            assert_eq!(answer.code, Some(2), "{command} {flag}");
            assert_eq!(
                answer.stderr,
                format!("statwalk: {name} is for a scan, and a snapshot was scanned before\n")
            );
            assert!(answer.stdout.is_empty());
        }
    }
}

#[test]
fn named_trees_have_the_same_answers() {
    for (_, model) in trees::named() {
        let place = Place::of(Tree::of(&model));
        place.store();
        for (command, flags) in [
            ("", "--all --json --max-depth=99"),
            ("", "--inodes --json --max-depth=99"),
            ("top", "--json -n 999"),
            ("top", "--dirs --json -n 999"),
            ("stats", "--by=depth,type --json"),
            ("find", "--fields=all"),
            ("errors", "--json"),
        ] {
            place.check(command, flags);
        }
    }
}

#[test]
fn a_directory_in_a_snapshot_has_the_same_answers() {
    let place = Place::new();
    place.store();
    let root = place.root.display().to_string();
    let folder = place.tree.parent().join("out");
    place
        .run(&["snapshot", "--access-times", "-o", "out", &root])
        .good();
    for below in ["a", "a/b", "web", "empty"] {
        let path = format!("{root}/{below}");
        for words in [
            &["--json", "--all", "-d9"][..],
            &["top", "--json"],
            &["top", "--rebuildable", "--json"],
            &["find", "--fields=all"],
            &["stats", "--by=depth"],
        ] {
            let run = |path: &str| place.run(&[words, &[path]].concat());
            let live = run(&path);
            for name in [
                format!("{path}@last"),
                format!("{}:{path}", folder.display()),
            ] {
                let stored = run(&name);
                assert_eq!(
                    (stored.code, stored.stderr.as_str()),
                    (Some(0), ""),
                    "{name}"
                );
                let [found, expected] = [&stored, &live].map(|one| comparable(&one.stdout));
                assert!(
                    found == expected,
                    "{words:?} {name}:\n{found}\nis not\n{expected}"
                );
            }
        }
    }
    // In the directory itself, the path can be left out.
    let mut command = place.command();
    let answer = Answer::of(
        command
            .args(["find", "@last"])
            .current_dir(place.root.join("a")),
    );
    assert_eq!(
        answer.sorted(),
        place.run(&["find", &format!("{root}/a")]).sorted()
    );
    // A snapshot keeps what is gone.
    fs::remove_dir_all(place.root.join("web")).unwrap();
    let gone = place.run(&["-s", &format!("{root}/web@last")]).good();
    assert!(gone.lines()[0].ends_with("/web"), "{:?}", gone.lines());
    for (word, why) in [
        (format!("{root}/new@last"), "the snapshot does not have it"),
        (format!("{root}/obj/a.o@last"), "not a directory"),
        (format!("{root}@1"), "the store has 1 snapshot of "),
        (format!("{root}@7d"), "are newer: "),
        (format!("{root}@2020-01-01"), "are newer: "),
        (
            format!("{root}@lats"),
            "no such file or directory; a snapshot has a name such as /home@last",
        ),
        (
            "/nowhere/at/all@last".to_owned(),
            "no snapshot has /nowhere/at/all; the store has ",
        ),
    ] {
        let answer = place.run(&["-s", &word]);
        assert_eq!(answer.code, Some(2), "{word}");
        assert!(answer.stderr.contains(why), "{word}: {}", answer.stderr);
    }
}

#[test]
fn a_snapshot_is_one_of_its_time() {
    let place = Place::new();
    place.store();
    let root = place.root.display().to_string();
    let before = place.run(&["--json", "-a", &format!("{root}@last")]).good();
    fs::write(place.root.join("later"), vec![0; 1_000_000]).unwrap();
    let after = place.run(&["--json", "-a", &format!("{root}@last")]).good();
    assert_eq!(comparable(&before.stdout), comparable(&after.stdout));
    // The machine and the begin are those of the scan.
    let document = after.json();
    let list = place.run(&["snapshot", "--list", "--json"]).good().json();
    assert_eq!(document["started_s"], list["snapshots"][0]["began_s"]);
    assert_eq!(document["started_ns"], list["snapshots"][0]["began_ns"]);
    place.store();
    let newer = place.run(&["-s", &format!("{root}@last")]).good().stdout;
    let older = place.run(&["-s", &format!("{root}@1")]).good().stdout;
    assert!(newer != older);
    assert_eq!(
        place.run(&["-s", &format!("{root}@0")]).good().stdout,
        newer
    );
    let today = place.run(&["-s", &format!("{root}@0d")]).good().stdout;
    assert_eq!(today, newer);
}

#[test]
fn owners_are_those_of_the_scan() {
    let place = Place::new();
    let root = place.root.to_str().unwrap();
    // Without times of the last access.
    place.run(&["snapshot", root]).good();
    let name = format!("{root}@last");
    let live = place.run(&["find", "--owner=root", root]).good();
    let stored = place.run(&["find", "--owner=root", &name]).good();
    assert_eq!(stored.sorted(), live.sorted());
    for owner in ["daemon", ":daemon"] {
        // This machine has the user, and the snapshot does not.
        let answer = place.run(&["find", "--owner", owner, &name]);
        assert_eq!(answer.code, Some(2));
        assert!(answer.stderr.contains("'daemon'"), "{}", answer.stderr);
    }
    let answer = place.run(&["--time=atime", &name]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stderr.contains("--access-times"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_path_of_the_very_name_is_that_path() {
    let place = Place::new();
    place.store();
    let word = format!("{}@last", place.root.display());
    fs::create_dir(&word).unwrap();
    let answer = place.run(&["-sA", &word]);
    assert_eq!(answer.code, Some(0));
    assert_eq!(
        answer.stderr,
        format!("statwalk: '{word}' is taken as the path of that name, which exists\n")
    );
    assert_eq!(answer.lines(), [format!("0\t{word}")]);
    fs::remove_dir(&word).unwrap();
    place.run(&["-sA", &word]).good();
    // Beside other paths a folder is a folder, and a name is refused.
    place
        .run(&["snapshot", "-o", "out", place.root.to_str().unwrap()])
        .good();
    let sums = place.run(&["-sA", "out", "tree"]).good();
    assert_eq!(sums.lines().len(), 2);
    let sum = place.run(&["-sA", "out"]).good();
    assert!(sum.lines()[0].ends_with(place.root.to_str().unwrap()));
    let sum = place.run(&["-sA", "out/."]).good();
    assert!(sum.lines()[0].ends_with("\tout/."), "{:?}", sum.lines());
    let answer = place.run(&["-s", &word, "tree"]);
    assert_eq!(answer.code, Some(2));
    let why = "a snapshot is read alone, without other paths\n";
    assert!(answer.stderr.ends_with(why), "{}", answer.stderr);
}

#[test]
fn errors_and_their_status_come_from_the_snapshot() {
    let tree = Tree::new("locked/\nlocked/file 5\nopen/\nopen/shut/\nopen/file 9");
    let mut store = or_skip!(as_ordinary_user(&tree));
    for path in ["locked", "open/shut"] {
        fs::set_permissions(tree.path().join(path), Permissions::from_mode(0o000)).unwrap();
    }
    let data = tree.parent().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o777)).unwrap();
    let root = tree.path().canonicalize().unwrap();
    let name = format!("{}@last", root.display());
    let answer = Answer::of(store.arg("snapshot").arg(&root).env("XDG_DATA_HOME", &data));
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    for words in [
        &["--json", "-d9"][..],
        &["-d9"],
        &["--width=100"],
        &["errors"],
        &["errors", "--json"],
        &["errors", "--table"],
        &["top", "--json"],
        &["stats", "--json"],
        &["find"],
        &["top", "-d1", "--json"],
        &["errors", "-d1", "--json"],
    ] {
        let [live, stored] = [root.to_str().unwrap(), &name].map(|path| {
            let mut command = or_none(&tree);
            Answer::of(command.args(words).arg(path).env("XDG_DATA_HOME", &data))
        });
        assert_eq!(stored.code, live.code, "{words:?} {}", stored.stderr);
        let same = |text: &str| without_times(text).replace("@last", "");
        assert_eq!(same(&stored.stderr), same(&live.stderr), "{words:?}");
        check_same(&words.join(" "), &stored, &live);
    }
}

fn or_none(tree: &Tree) -> Command {
    as_ordinary_user(tree).unwrap_or_else(|_| statwalk())
}

/// A client of NFS remembers for a minute that a name was missing: the listing has the new
/// snapshot, and a look-up does not find it.
#[test]
fn a_snapshot_that_is_seen_late_is_read() {
    let place = Place::new();
    place.store();
    let root = place.root.to_str().unwrap();
    let data = place.tree.parent().join("data");
    let list = place.run(&["snapshot", "--list", "--json"]).good().json();
    let folder = Path::new(list["snapshots"][0]["folder"].as_str().unwrap());
    let folder = folder.strip_prefix(&data).unwrap();
    let live = place.run(&["--json", "-a", &format!("{root}@last")]).good();
    for name in [folder.to_owned(), folder.join("_manifest.json")] {
        let mut builder = FaultFs::builder();
        for path in all_below(&data).iter().filter(|path| path.is_file()) {
            let inside = path.strip_prefix(&data).unwrap();
            builder = builder.text(inside, fs::read(path).unwrap());
        }
        let late = builder.fail(name.clone(), Op::Lookup, Errno::NOENT, When::First(4));
        let mount = or_skip!(late.mount());
        for words in [&["--json", "-a"][..], &["snapshot", "--list"]] {
            let path = match words[0] {
                "snapshot" => root.to_owned(),
                _ => format!("{root}@last"),
            };
            let mut command = place.command();
            command
                .args(words)
                .arg(path)
                .env("XDG_DATA_HOME", mount.path());
            let answer = Answer::of(&mut command).good();
            if words[0] == "--json" {
                check_same("late", &answer, &live);
            }
        }
        assert!(mount.counts().faults >= 4, "{name:?}");
    }
}

/// The library panics in a page of this snapshot, which has two wrong bytes: a release died of
/// SIGABRT. The program unwinds now, and aborts at all other panics.
#[test]
fn a_page_in_which_the_library_panics_is_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/damaged-snapshot");
    let entries = folder.join("entries/part-00000.parquet");
    for words in [
        &["find", "--fields=all"][..],
        &["top"],
        &["report", "-o", "-", "--format=markdown"],
    ] {
        let answer = Answer::of(statwalk().args(words).arg(&folder));
        assert_eq!(answer.code, Some(2), "{words:?} {}", answer.stderr);
        assert_eq!(
            answer.stderr,
            format!(
                "statwalk: cannot read {}: the bytes of a page contradict each other\n",
                entries.display()
            )
        );
    }
    let mut check = statwalk();
    let answer = Answer::of(check.args(["snapshot", "--check"]).arg(&folder));
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), ""));
    assert!(!answer.stdout.is_empty());
}

#[test]
fn scribbled_files_are_errors() {
    let place = Place::new();
    place
        .run(&["snapshot", "-o", "out", place.root.to_str().unwrap()])
        .good();
    let out = place.tree.parent().join("out");
    let mut random = Random::new(5353);
    let mut refused = 0;
    for table in ["entries", "dirs", "errors", "owners", "filesystems"] {
        let file = out.join(table).join("part-00000.parquet");
        let Ok(good) = fs::read(&file) else { continue };
        for _ in 0..30 {
            let mut bytes = good.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
            if random.one_in(8) {
                bytes.truncate(random.below(bytes.len() as u64) as usize);
            }
            fs::write(&file, bytes).unwrap();
            let words: &[&str] = match random.below(3) {
                0 => &["--json", "-a", "out"],
                1 => &["find", "--fields=all", "out"],
                _ => &["snapshot", "--check", "out"],
            };
            let answer = place.run(words);
            let code = answer.code.expect("no signal ends it");
            assert!(code <= 2, "{words:?} {code} {}", answer.stderr);
            let is_ours = |line: &str| line.starts_with("statwalk: ") || line.starts_with("  ");
            assert!(
                answer.stderr.lines().all(is_ours),
                "{words:?} {}",
                answer.stderr
            );
            refused += u32::from(code > 0);
        }
        fs::write(&file, good).unwrap();
    }
    assert!(refused > 30, "{refused}");
    place.run(&["-s", "out"]).good();
}

/// The look at a manifest must not take the answer of a scan away.
#[test]
fn a_path_that_gives_no_answer_is_scanned() {
    let builder = FaultFs::builder()
        .files("alive", 5, 1000)
        .text("_manifest.json", "{}");
    let hanging = builder.hang("_manifest.json", Op::Lookup, Hang::UntilSignal);
    let mount = or_skip!(hanging.mount());
    let mut command = statwalk();
    let child = command
        .args(["--count", "-s", "."])
        .current_dir(mount.path());
    let answer = Answer::of(child).good();
    assert_eq!(answer.lines(), ["8\t."]);
}

#[test]
fn a_folder_that_is_damaged_is_told() {
    let place = Place::new();
    place
        .run(&["snapshot", "-o", "out", place.root.to_str().unwrap()])
        .good();
    let out = place.tree.parent().join("out");
    let entries = out.join("entries/part-00000.parquet");
    let bytes = fs::read(&entries).unwrap();
    for damaged in [
        &bytes[..bytes.len() / 2],
        b"",
        b"PAR1 and more that is no Parquet PAR1",
    ] {
        fs::write(&entries, damaged).unwrap();
        for words in [
            &["-s", "out"][..],
            &["find", "out"],
            &["top", "--json", "out"],
        ] {
            let answer = place.run(words);
            assert_eq!(answer.code, Some(2), "{words:?}: {}", answer.stderr);
            assert!(
                answer.stderr.starts_with("statwalk: cannot read "),
                "{}",
                answer.stderr
            );
        }
    }
    fs::remove_file(&entries).unwrap();
    let answer = place.run(&["-s", "out"]);
    assert!(
        answer.stderr.ends_with("no such file or directory\n"),
        "{}",
        answer.stderr
    );
    fs::write(out.join("_manifest.json"), "{}").unwrap();
    let answer = place.run(&["-s", "out"]);
    assert_eq!(answer.code, Some(2));
    let name = std::ffi::OsStr::new("out").as_bytes();
    assert!(
        answer.stderr.contains(std::str::from_utf8(name).unwrap()),
        "{}",
        answer.stderr
    );
}
