// SPDX-License-Identifier: MIT OR Apache-2.0

//! `find --fields`: every attribute, as std reads it.

use std::ffi::OsStr;
use std::fs::{self, FileTimes, Metadata, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use statwalk_testkit::{program, settle};

use crate::run::{Answer, Tree};

/// Every field, in the order of `--fields=all`.
const NAMES: [&str; 16] = [
    "type",
    "size",
    "allocated",
    "links",
    "inode",
    "device",
    "mtime",
    "atime",
    "ctime",
    "btime",
    "owner",
    "group",
    "uid",
    "gid",
    "mode",
    "rdev",
];

fn tree() -> Tree {
    let tree = Tree::new(
        "
        a/
        a/x      70000 mtime=1000000000
        a/twin   = a/x
        hole     3M sparse
        link     -> a/x
        pipe     fifo
        old      10
        nobody/
        ",
    );
    let at = |path: &str| tree.path().join(path);
    fs::write(at("a").join(OsStr::from_bytes(b"tab\tline\n\xff")), b"odd").unwrap();
    let file = fs::File::options().write(true).open(at("old")).unwrap();
    let before = UNIX_EPOCH - Duration::from_nanos(1_500_000_000);
    file.set_times(FileTimes::new().set_modified(before))
        .unwrap();
    fs::set_permissions(at("old"), Permissions::from_mode(0o4705)).unwrap();
    // Only root may give a file away; the test works with either owner.
    let _ = std::os::unix::fs::chown(at("nobody"), Some(3_999_999_999), Some(3_999_999_998));
    settle(tree.parent()).unwrap();
    tree
}

/// The name of an account in a file such as /etc/passwd.
fn name_of(table: &str, number: u32) -> Option<String> {
    let text = fs::read_to_string(table).unwrap();
    let mut lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line = lines.find(|line| line.get(2) == Some(&number.to_string().as_str()))?;
    Some(line[0].to_owned())
}

fn letter(of: &Metadata) -> &'static str {
    let kind = of.file_type();
    match () {
        () if kind.is_file() => "f",
        () if kind.is_dir() => "d",
        () if kind.is_symlink() => "l",
        () if kind.is_fifo() => "p",
        () if kind.is_char_device() => "c",
        () => panic!("another type"),
    }
}

fn decimal(seconds: i64, ns: i64) -> String {
    let ns = i128::from(seconds) * 1_000_000_000 + i128::from(ns);
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn device(number: u64) -> String {
    format!(
        "{}:{}",
        rustix::fs::major(number),
        rustix::fs::minor(number)
    )
}

/// The column of a field as std has it; empty where there is none.
fn column(name: &str, of: &Metadata) -> String {
    let born = || {
        let ns = of.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{}.{:09}", ns.as_secs(), ns.subsec_nanos()))
    };
    match name {
        "type" => letter(of).to_owned(),
        "size" => of.size().to_string(),
        "allocated" => (of.blocks() * 512).to_string(),
        "links" => of.nlink().to_string(),
        "inode" => of.ino().to_string(),
        "device" => device(of.dev()),
        "mtime" => decimal(of.mtime(), of.mtime_nsec()),
        "atime" => decimal(of.atime(), of.atime_nsec()),
        "ctime" => decimal(of.ctime(), of.ctime_nsec()),
        "btime" => born().unwrap_or_default(),
        "owner" => name_of("/etc/passwd", of.uid()).unwrap_or(of.uid().to_string()),
        "group" => name_of("/etc/group", of.gid()).unwrap_or(of.gid().to_string()),
        "uid" => of.uid().to_string(),
        "gid" => of.gid().to_string(),
        "mode" => format!("{:04o}", of.mode() & 0o7777),
        "rdev" if of.file_type().is_char_device() => device(of.rdev()),
        "rdev" => String::new(),
        other => panic!("no value for {other} in column()"),
    }
}

/// The rows that `find -0` prints, apart.
fn rows(answer: Answer) -> Vec<Vec<u8>> {
    let answer = answer.good();
    let rows = answer.stdout.split_inclusive(|&byte| byte == 0);
    rows.map(|row| row.strip_suffix(b"\0").expect("a whole row").to_vec())
        .collect()
}

#[track_caller]
fn check_row(tree: &Tree, row: &[u8], names: &[&str]) {
    let columns: Vec<&[u8]> = row.splitn(names.len() + 1, |&byte| byte == b'\t').collect();
    let path = columns.get(names.len()).copied().unwrap_or_default();
    assert!(
        path.starts_with(b"tree"),
        "the row does not have the columns {names:?} and a path: {:?}",
        String::from_utf8_lossy(row)
    );
    let path = tree.parent().join(OsStr::from_bytes(path));
    let metadata = path.symlink_metadata().unwrap();
    for (name, found) in names.iter().zip(&columns) {
        let found = std::str::from_utf8(found).unwrap();
        // The scan itself reads directories and links.
        if *name != "atime" || metadata.is_file() {
            assert_eq!(
                found,
                column(name, &metadata),
                "{name} of {}",
                path.display()
            );
        }
    }
}

/// The error of an unknown field lists all that the program knows.
fn assert_that_names_has_every_field(tree: &Tree) {
    let answer = tree.run(&["find", "--fields=colour", "tree"]);
    let list = answer.stderr.split_once("[possible values: ");
    let list = list.and_then(|(_, rest)| rest.split_once(", all]"));
    let known: Vec<&str> = list.expect("a list").0.split(", ").collect();
    let missing: Vec<_> = known.iter().filter(|name| !NAMES.contains(name)).collect();
    assert!(
        missing.is_empty(),
        "NAMES of tests/program/fields.rs lacks {missing:?}: add each there, to column() and to keys()"
    );
    assert_eq!(known, NAMES, "NAMES has another order, or a name too many");
}

#[test]
fn every_field_is_as_std_reads_it() {
    let tree = tree();
    assert_that_names_has_every_field(&tree);
    for source in ["auto", "posix"] {
        let source = format!("--source={source}");
        let all = rows(tree.run(&["find", "-0", "--fields=all", &source, "tree"]));
        assert_eq!(all.len(), 9);
        for row in &all {
            check_row(&tree, row, &NAMES);
        }
        for name in NAMES {
            let field = format!("--fields={name}");
            let found = rows(tree.run(&["find", "-0", &field, &source, "tree"]));
            assert_eq!(found.len(), 9);
            for row in &found {
                check_row(&tree, row, &[name]);
            }
        }
        let some = rows(tree.run(&[
            "find",
            "-0",
            "--fields",
            "mtime,size,owner",
            &source,
            "tree",
        ]));
        for row in &some {
            check_row(&tree, row, &["mtime", "size", "owner"]);
        }
    }
}

#[test]
fn a_device_node_has_its_device() {
    let tree = Tree::new("x 1");
    let answer = tree.run(&["find", "--fields=type,rdev", "-t", "c", "-d1", "/dev"]);
    let null = answer
        .lines()
        .into_iter()
        .find(|row| row.ends_with("\t/dev/null"));
    assert_eq!(null, Some("c\t1:3\t/dev/null"), "{:?}", answer.lines());
}

/// The fields of the JSON that a name stands for.
fn keys(name: &str) -> &[&str] {
    match name {
        "size" => &["apparent_bytes"],
        "allocated" => &["allocated_bytes"],
        "mtime" => &["mtime_s", "mtime_ns"],
        "atime" => &["atime_s", "atime_ns"],
        "ctime" => &["ctime_s", "ctime_ns"],
        "btime" => &["btime_s", "btime_ns"],
        "owner" => &["uid", "user"],
        "group" => &["gid", "group"],
        "type" => &[],
        "links" => &["links"],
        "inode" => &["inode"],
        "device" => &["device"],
        "uid" => &["uid"],
        "gid" => &["gid"],
        "mode" => &["mode"],
        "rdev" => &["rdev"],
        other => panic!("no keys for {other} in keys()"),
    }
}

#[test]
fn json_has_the_fields_that_are_named_and_no_others() {
    let tree = tree();
    for name in NAMES {
        let field = format!("--fields={name}");
        // The filter reads a size, which nobody asked for.
        let answer = tree
            .run(&["find", "--json", &field, "-S+1B", "tree"])
            .good();
        let lines = answer.lines();
        // Four names of regular files with content, two of one file.
        assert_eq!(lines.len(), 5, "{lines:?}");
        for line in lines {
            let row: Value = serde_json::from_str(line).unwrap();
            let row = row.as_object().unwrap();
            let present = row.keys().map(String::as_str);
            let present: Vec<&str> = present.filter(|key| !key.starts_with("path")).collect();
            let mut expected = vec!["type"];
            let is_absent =
                |key: &str| key == "rdev" || (key.starts_with("btime") && row.get(key).is_none());
            expected.extend(keys(name).iter().filter(|key| !is_absent(key)));
            expected.sort_unstable();
            let mut present = present;
            present.sort_unstable();
            assert_eq!(present, expected, "{name}: {line}");
        }
    }
    let line = |path: &str| {
        let answer = tree.run(&["find", "--json", "--fields=all", "tree"]).good();
        let mut rows = answer
            .lines()
            .into_iter()
            .map(|line| serde_json::from_str(line).unwrap());
        rows.find(|row: &Value| row["path"] == path)
            .expect("it is found")
    };
    let old = line("tree/old");
    let metadata = Path::new(&tree.path()).join("old").metadata().unwrap();
    assert_eq!(old["mode"], "4705");
    assert_eq!(
        (&old["mtime_s"], &old["mtime_ns"]),
        (&json!(-2), &json!(500_000_000))
    );
    assert_eq!(old["inode"], metadata.ino());
    let nobody = line("tree/nobody");
    if nobody["uid"] == 3_999_999_999_u32 {
        assert!(
            nobody.get("user").is_none() && nobody.get("group").is_none(),
            "{nobody}"
        );
    }
}

#[test]
fn on_a_terminal_sizes_have_units_and_times_are_dates() {
    let tree = tree();
    let answer = tree.run(&[
        "find",
        "--table",
        "--fields=size,mtime,btime",
        "-t",
        "f",
        "tree",
    ]);
    let answer = answer.good();
    let lines = answer.lines();
    let row = lines
        .iter()
        .find(|line| line.ends_with("\ttree/a/x"))
        .unwrap();
    assert!(row.starts_with("68.4 KiB\t2001-09-0"), "{row}");
    let odd = lines
        .iter()
        .find(|line| line.contains("tree/a/tab"))
        .unwrap();
    assert!(odd.ends_with(r"tree/a/tab\tline\n\xff"), "{odd}");
}

#[test]
fn a_field_that_nobody_knows_gets_the_list() {
    let tree = Tree::new("x 1");
    let answer = tree.run(&["find", "--fields=size,colour", "tree"]);
    assert_eq!(answer.code, Some(2));
    let text = &answer.stderr;
    assert!(
        text.starts_with("statwalk: invalid value 'colour' for '--fields"),
        "{text}"
    );
    for name in NAMES.into_iter().chain(["all"]) {
        assert!(text.contains(name), "{name}: {text}");
    }
    let elsewhere = tree.run(&["top", "--fields=size"]);
    assert!(
        elsewhere.stderr.contains("a flag of 'statwalk find'"),
        "{}",
        elsewhere.stderr
    );
}

/// find(1) has the same numbers.
#[test]
fn rows_are_those_of_find() {
    let tree = tree();
    let ours = rows(tree.run(&[
        "find",
        "-0",
        "--fields=type,size,links,inode,uid,mode",
        "tree",
    ]));
    let mut find = program::command("find");
    find.args([
        "tree",
        "-mindepth",
        "1",
        "-printf",
        "%y\\t%s\\t%n\\t%i\\t%U\\t%m\\t%p\\0",
    ]);
    let theirs = rows(Answer::of(find.current_dir(tree.parent())));
    // find writes 644 where we write 0644.
    let short = |row: &[u8]| String::from_utf8_lossy(row).replace("\t0", "\t");
    let sorted = |rows: &[Vec<u8>]| {
        let mut rows: Vec<String> = rows.iter().map(|row| short(row)).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&ours), sorted(&theirs));
}
