// SPDX-License-Identifier: MIT OR Apache-2.0

//! The timer and the line for cron of `docs/snapshots.md`.

use std::fs;
use std::path::Path;

use statwalk_testkit::{Skipped, program};

use crate::run::{Answer, Tree};

const PAGE: &str = include_str!("../../../../docs/snapshots.md");

/// The blocks of code in a language.
fn blocks(language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = PAGE.split(&begin).skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect()
}

#[test]
fn systemd_takes_the_units() {
    let tree = Tree::new("x 1");
    let units = blocks("ini");
    assert_eq!(units.len(), 2);
    let mut files = Vec::new();
    for unit in units {
        let name = unit.lines().next().unwrap().trim_start_matches("# ");
        let file = tree.parent().join(name);
        let program = env!("CARGO_BIN_EXE_statwalk");
        let here = unit.replace("/usr/bin/statwalk", program);
        assert_eq!(here == unit, name.ends_with(".timer"), "{unit}");
        fs::write(&file, here).unwrap();
        files.push(file);
    }
    let mut verify = program::command("systemd-analyze");
    verify.args(["verify", "--man=no"]).args(&files);
    if program::command("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        return Skipped::needs("systemd-analyze").report();
    }
    let answer = Answer::of(&mut verify);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    // It finds a fault where there is one.
    let text = fs::read_to_string(&files[0]).unwrap();
    fs::write(&files[0], text.replace("oneshot", "once")).unwrap();
    let answer = Answer::of(&mut verify);
    assert!(answer.code != Some(0) || !answer.stderr.is_empty());
}

#[test]
fn the_line_of_cron_stores_a_scan() {
    let tree = Tree::new("x 1");
    let blocks = blocks("cron");
    let [line] = &blocks[..] else {
        panic!("{blocks:?}");
    };
    let fields: Vec<&str> = line.trim().splitn(7, ' ').collect();
    let is_time = |field: &&str| {
        field
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'*')
    };
    assert!(fields[..5].iter().all(is_time), "{fields:?}");
    assert_eq!(fields[5], "root");
    let command = fields[6];
    // cron(8) takes a per cent sign for a newline.
    assert!(!command.contains('%'), "{command}");
    // The root file system is the tree's; the shell and the path are those of cron.
    let command = command.replace(" / ", &format!(" {} ", tree.path().display()));
    let directory = Path::new(env!("CARGO_BIN_EXE_statwalk")).parent().unwrap();
    let mut shell = program::command("/bin/sh");
    shell.env_clear().args(["-c", &command]);
    shell.env("PATH", format!("{}:/usr/bin:/bin", directory.display()));
    shell
        .env("HOME", tree.parent())
        .env("XDG_DATA_HOME", tree.parent());
    for _ in 0..2 {
        let answer = Answer::of(&mut shell).good();
        assert!(answer.stdout.is_empty());
    }
    // The second one has removed the first.
    let mut list = crate::run::statwalk();
    list.args(["snapshot", "--list"]);
    let list = Answer::of(list.env("XDG_DATA_HOME", tree.parent())).good();
    assert_eq!(list.lines().len(), 1);
}
