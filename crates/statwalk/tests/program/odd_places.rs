// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories that were removed and can still be reached, and those whose path is too long.

use std::fs;
use std::path::Path;

use statwalk_testkit::mounts::{self, FileSystem};
use statwalk_testkit::{Skipped, or_skip, program};

use crate::run::{Answer, Tree};

/// Runs a script with `$0` as statwalk in a directory.
fn script(directory: &Path, script: &str) -> Answer {
    let mut command = program::command("sh");
    command.args(["-ec", script, env!("CARGO_BIN_EXE_statwalk")]);
    Answer::of(command.current_dir(directory))
}

/// The listing of a removed directory fails with ENOENT. That was an error for ever, where du
/// and find see an empty directory.
#[test]
fn a_removed_working_directory_is_empty() {
    let tree = Tree::new("kept 0");
    for command in [
        "-s .",
        "-a .",
        "find .",
        "stats .",
        "-s --source posix -j2 .",
    ] {
        let gone = format!("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" {command}");
        let answer = script(&tree.path(), &gone).good();
        assert!(!answer.stderr.contains("cannot"), "{command}");
    }
}

#[test]
fn a_bind_mount_of_a_removed_directory_is_empty() {
    let tree = Tree::new("top/\ntop/here/\ntop/f 5000\ngone/");
    let gone = tree.path().join("gone");
    let _bound = or_skip!(mounts::bind(&gone, &tree.path().join("top/here")));
    fs::remove_dir(&gone).unwrap();
    let document = tree.run(&["--json", "-s", "tree/top"]).good().json();
    assert_eq!(document["complete"], true, "{document:#}");
    assert_eq!(document["roots"][0]["files"], 1, "{document:#}");
}

/// `df .` took the path of the directory, which can be longer than a path may be.
#[test]
fn df_answers_where_no_path_leads() {
    let tree = Tree::new("at/");
    // df reads a whole file system.
    let at = tree.path().join("at");
    let _mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    let deep = "
        name=$(printf '%0200d' 7)
        for i in $(seq 25); do mkdir $name; cd -P $name; done
        exec \"$0\" df --json .";
    let removed = "mkdir gone; cd gone; rmdir ../gone; exec \"$0\" df --json .";
    let run = |text: &str| script(&at, text).good().json()["file_systems"][0]["path"].clone();
    let expected = run("exec \"$0\" df --json .");
    assert!(!expected.is_null());
    assert_eq!([run(deep), run(removed)], [expected.clone(), expected]);
}

/// Each name of each root was looked up from the top: cubic time.
#[test]
fn roots_within_each_other_take_no_link_for_each_name() {
    let mut strace = program::command("strace");
    if strace.arg("--version").output().is_err() {
        return Skipped::needs("strace").report();
    }
    let tree = Tree::new("kept 0");
    let paths: Vec<String> = (1..=60).map(|depth| vec!["d"; depth].join("/")).collect();
    fs::create_dir_all(tree.path().join(paths.last().unwrap())).unwrap();
    fs::write(tree.parent().join("list"), paths.join("\0")).unwrap();
    let log = tree.parent().join("log");
    let mut command = program::command("strace");
    command.args(["-f", "-e", "trace=readlink,readlinkat", "-o"]);
    command.arg(&log).arg(env!("CARGO_BIN_EXE_statwalk"));
    command.args(["-s", "--source", "posix", "--files0-from", "../list"]);
    Answer::of(command.current_dir(tree.path())).good();
    let log = fs::read_to_string(log).unwrap();
    let calls = log.lines().filter(|line| line.contains('(')).count();
    // One for each root, and a few of the program.
    assert!((60..150).contains(&calls), "{calls}");
}

/// Hosts of containers have many overlays of a few layers: `statwalk /` counted the layers
/// once more for each of them, and said nothing.
#[test]
fn overlays_beside_their_layers_count_once_and_others_are_told() {
    let tree = Tree::new("lower/\nupper/\nwork/\nat/\nview/");
    let home = tree.path();
    let [lower, upper, work, at] = ["lower", "upper", "work", "at"].map(|name| home.join(name));
    fs::write(lower.join("base"), vec![7; 4 << 20]).unwrap();
    fs::write(upper.join("app"), vec![7; 2 << 20]).unwrap();
    let counts = || {
        let document = tree.run(&["--json", "-s", "tree"]).good().json();
        let root = &document["roots"][0];
        let mib = root["file_size_bytes"].as_u64().unwrap() >> 20;
        let told = ["overlays_left_out", "mounts_perhaps_twice", "crossings"];
        (mib, told.map(|field| root[field].as_u64()))
    };
    let sentences = |command: &str| {
        let words = [command, "--table", "--width", "300", "tree"];
        let words = words.into_iter().filter(|word| !word.is_empty());
        let told = tree.run(&words.collect::<Vec<_>>()).good();
        told.lines().join("\n")
    };
    {
        let _mounted = or_skip!(mounts::overlay(&at, &lower, &upper, &work));
        assert_eq!(counts(), (6, [Some(1), None, Some(0)]));
        let left_out = "Counted once: 1 overlay left out, as its layers are in this total.";
        let text = sentences("");
        assert!(
            text.contains(left_out) && !text.contains("Not in this"),
            "{text}"
        );
        // By itself it answers as ever.
        let document = tree.run(&["--json", "-s", "tree/at"]).good().json();
        assert_eq!(document["roots"][0]["files"], 2, "{document:#}");
    }
    let options = "lowerdir=lower,upperdir=upper,workdir=work";
    let _mounted = or_skip!(mounts::overlay_from(&home, &at, options));
    assert_eq!(counts(), (12, [None, Some(1), Some(0)]));
    let perhaps = "Perhaps counted twice: 1 mount shows files of other directories";
    let text = sentences("");
    assert!(text.contains(perhaps), "{text}");
}
