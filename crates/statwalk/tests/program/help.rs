// SPDX-License-Identifier: MIT OR Apache-2.0

//! The help of the program and of each command, byte for byte, 100 columns wide.
//!
//! `RENEW_HELP=1 cargo test -p statwalk --test program help` writes the files anew;
//! `git diff` then shows the changes.

use std::path::{Path, PathBuf};

use statwalk_testkit::{Skipped, program};

use crate::run::{Answer, Tree, commands, statwalk};

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
    pages.extend(commands().into_iter().map(|name| {
        let text = help(&[&name, "--help"]);
        (name, text)
    }));
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
fn every_help_and_manual_page_has_the_exit_statuses() {
    for name in commands().iter().map(String::as_str).chain([""]) {
        let words = [name, "--help"];
        let text = help(if name.is_empty() { &words[1..] } else { &words });
        let block = text.split("Exit status:\n").nth(1).expect(name);
        let codes = block
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let codes: Vec<&str> = codes.collect();
        let expected = match name {
            "" => &["0", "1", "2", "3", "130,"][..],
            "changes" | "completions" | "man" => &["0", "2"],
            "browse" => &["0", "2", "130,"],
            _ => &["0", "1", "2", "130,"],
        };
        assert_eq!(codes, expected, "{name}");
        let page = manual(name);
        let section = page.split(".SH EXIT STATUS\n.nf\n").nth(1).expect(name);
        let lines = section.lines().take_while(|line| *line != ".fi");
        assert_eq!(lines.count(), expected.len(), "{name}");
    }
}

#[test]
fn every_expected_text_is_of_a_command() {
    let directory = expected_file("statwalk");
    let files = std::fs::read_dir(directory.parent().unwrap()).unwrap();
    let stems = files.map(|file| file.unwrap().path().file_stem().unwrap().to_owned());
    let mut found: Vec<String> = stems.map(|stem| stem.into_string().unwrap()).collect();
    let mut expected = commands();
    expected.extend(["statwalk".to_owned(), "statwalk-short".to_owned()]);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// The page of the program, or that of a command.
fn manual(name: &str) -> String {
    let words = ["man", name];
    let words = if name.is_empty() {
        &words[..1]
    } else {
        &words[..]
    };
    let answer = Answer::of(statwalk().args(words)).good();
    String::from_utf8(answer.stdout).unwrap()
}

#[test]
fn manual_pages_have_every_section_and_a_text_for_each_option() {
    for name in commands().iter().map(String::as_str).chain([""]) {
        let page = manual(name);
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "EXIT STATUS",
            "ENVIRONMENT",
            "FILES",
            "SEE ALSO",
        ] {
            let count = page.matches(&format!("\n.SH {section}\n")).count();
            assert_eq!(count, 1, "{name} {section}");
        }
        assert!(!page.contains("EXTRA"), "{name}");
        let lines: Vec<&str> = page.lines().collect();
        for item in lines.windows(3).filter(|lines| lines[0] == ".TP") {
            let text = item[2];
            assert!(
                !text.is_empty() && !text.starts_with('.'),
                "{name}: {item:?}"
            );
        }
    }
    let whole = manual("");
    assert!(whole.contains(".SH EXAMPLES\n"));
    for name in commands() {
        assert!(
            whole.contains(&format!(".BR statwalk\\-{name} (1)")),
            "{name}"
        );
    }
}

#[test]
fn mandoc_finds_no_fault_in_a_manual_page() {
    let tree = Tree::new("x 1");
    for name in commands().iter().map(String::as_str).chain([""]) {
        let page = tree.parent().join("page.1");
        std::fs::write(&page, manual(name)).unwrap();
        let mut mandoc = program::command("mandoc");
        mandoc.args(["-Tlint", "-W", "all"]).arg(&page);
        let Ok(output) = mandoc.output() else {
            return Skipped::needs("mandoc").report();
        };
        let faults = String::from_utf8_lossy(&output.stdout);
        // It looks for the pages that are named, and for its own database of names.
        let faults: Vec<&str> = faults
            .lines()
            .filter(|fault| !fault.contains("referenced manual not found"))
            // No reader sees the lines of the source.
            .filter(|fault| !fault.contains("input text line longer than 80 bytes"))
            .filter(|fault| !fault.contains("outdated mandoc.db"))
            .collect();
        assert_eq!(faults, [""; 0], "{name}");
    }
}
