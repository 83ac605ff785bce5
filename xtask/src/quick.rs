// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tests of a contributor's loop: unit tests, named trees and the answers of the
//! program, without root and without other tools.

use std::fs;
use std::path::Path;

use crate::step::Step;

/// Tests that take longer than 4 seconds, and those that wait for a terminal. Each is the
/// beginning of names as the runner lists them.
const LONG: [&str; 37] = [
    // Of the program.
    "browse::shell_removals::",
    "browse_end::",
    "browse_search::",
    "browse_trash::",
    "completion::zsh_",
    "df::a_dead_file_system",
    "df::df_refuses_paths",
    "df::without_a_path_all",
    "documented::every_documented",
    "ending::an_answer_to_a_closed",
    "filters::a_long_list",
    "filters::everything_is_found",
    "limits::without_threads",
    "old_kernels::trees_agree",
    "pairs::no_flag",
    "rebuildable::the_marked_ones",
    "report::a_report_has_the_numbers",
    "schema::every_answer",
    "schema::the_strict_form",
    "torn_rows::",
    // Of the engine.
    "changing_tree::",
    "descriptors::",
    "du_find::usr_agrees",
    "exclusions::any_pattern",
    "faults::endless::",
    "large_directory::",
    "largest::of_equals",
    "latency::",
    "link_memory::",
    "live::at_the_end",
    "memory::waiting",
    "random_trees::",
    "replay::every_sink_says_the_same_of_named",
    "simulation::",
    "stops::",
    "tricks::every_choice",
    // Of the removal.
    "churn::",
];

/// Attacks with random input: they are made to go on for long.
const ATTACKS: &str = "attack";

pub(crate) fn test() -> Result<(), String> {
    let mut arguments = vec!["test", "--workspace", "--lib", "--bins"];
    let targets = suites_but(&[ATTACKS])?;
    for target in &targets {
        arguments.extend(["--test", target]);
    }
    arguments.push("--");
    every_pattern_names_a_test(&arguments)?;
    for name in LONG {
        arguments.extend(["--skip", name]);
    }
    Step::cargo(&arguments)
        .env("STATWALK_QUICK", "1")
        .run_and_count_skipped()?;
    println!(
        "xtask: {} groups of long tests, the attacks and the examples of the documentation were left out: cargo xtask test runs them",
        LONG.len()
    );
    Ok(())
}

/// The names of the test programs beside the code of the crates, but for some.
pub(crate) fn suites_but(left_out: &[&str]) -> Result<Vec<String>, String> {
    let mut targets = Vec::new();
    for package in entries(Path::new("crates"))? {
        let tests = Path::new("crates").join(package).join("tests");
        if !tests.is_dir() {
            continue;
        }
        for name in entries(&tests)? {
            let is_file = Path::new(&name).extension().is_some_and(|end| end == "rs");
            let target = name.trim_end_matches(".rs");
            let is_suite = is_file || tests.join(&name).join("main.rs").is_file();
            if is_suite && !left_out.contains(&target) {
                targets.push(target.to_owned());
            }
        }
    }
    targets.sort();
    Ok(targets)
}

fn entries(directory: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", directory.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    Ok(names)
}

/// A test that gets another name would else run here again, and nobody would know why the
/// loop is slow.
fn every_pattern_names_a_test(arguments: &[&str]) -> Result<(), String> {
    let list = [arguments, &["--list"]].concat();
    let list = Step::cargo(&list).output()?;
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    let lost = LONG
        .iter()
        .filter(|long| !names.iter().any(|name| name.contains(**long)));
    let lost: Vec<&str> = lost.copied().collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "xtask/src/quick.rs: no test is named {}",
            lost.join(", ")
        )),
    }
}
