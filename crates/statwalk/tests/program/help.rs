// SPDX-License-Identifier: MIT OR Apache-2.0

//! The help of the program and of each command, byte for byte, 100 columns wide.
//!
//! `RENEW_HELP=1 cargo test -p statwalk --test program help` writes the files anew;
//! `git diff` then shows the changes.

use std::path::{Path, PathBuf};

use crate::run::{Answer, statwalk};

/// The commands, in the order of the help.
const COMMANDS: [&str; 9] = [
    "top",
    "stats",
    "find",
    "errors",
    "extents",
    "changes",
    "bench",
    "completions",
    "man",
];

fn expected_file(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/help");
    directory.join(format!("{name}.txt"))
}

fn help(words: &[&str]) -> String {
    let answer = Answer::of(statwalk().args(words).env("COLUMNS", "100")).good();
    String::from_utf8(answer.stdout).unwrap()
}

#[test]
fn help_is_the_expected_text() {
    let renews = std::env::var_os("RENEW_HELP").is_some();
    let mut pages = vec![
        ("statwalk".to_owned(), help(&["--help"])),
        ("statwalk-short".to_owned(), help(&["-h"])),
    ];
    pages.extend(COMMANDS.map(|name| (name.to_owned(), help(&[name, "--help"]))));
    let mut stale = Vec::new();
    for (name, found) in &pages {
        let file = expected_file(name);
        if renews {
            std::fs::write(&file, found).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if expected != *found {
            let lines = found.lines().zip(expected.lines());
            let first = lines.clone().find(|(found, expected)| found != expected);
            stale.push(format!("{name}: {first:?}"));
        }
    }
    assert!(
        stale.is_empty(),
        "the help differs from tests/program/help (found, expected): {stale:#?}\n\
         RENEW_HELP=1 cargo test -p statwalk --test program help"
    );
}

#[test]
fn every_command_of_the_help_has_an_expected_text() {
    let help = help(&["-h"]);
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    assert_eq!(listed.collect::<Vec<_>>(), COMMANDS);
}
