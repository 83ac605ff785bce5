// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counts the tests, as `docs/testing.md` has them.

use std::collections::BTreeMap;

use crate::step::Step;

pub(crate) fn print() -> Result<(), String> {
    let mut group = String::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    Step::cargo(&["test", "--workspace", "--", "--list"]).run_and_read(|line| {
        if let Some(named) = group_of(line) {
            group = named;
        } else if line.ends_with(": test") {
            *counts.entry(group.clone()).or_insert(0) += 1;
        }
    })?;
    println!("| Tests | Number |\n|---|---:|");
    for (group, count) in &counts {
        println!("| {group} | {count} |");
    }
    println!("| all | {} |", counts.values().sum::<u64>());
    Ok(())
}

/// The tests that come after a line of cargo.
fn group_of(line: &str) -> Option<String> {
    let line = line.trim_start();
    if line.starts_with("Doc-tests ") {
        return Some("examples in the documentation of the code".to_owned());
    }
    let program = line.strip_prefix("Running ")?;
    let (source, _) = program.split_once(' ')?;
    match source {
        "unittests" => Some("unit tests, beside the code".to_owned()),
        _ => {
            let name = source.trim_start_matches("tests/");
            let name = name.trim_end_matches(".rs").trim_end_matches("/main");
            Some(format!("`{name}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_cargo_names_its_tests() {
        let check = |line: &str, group: Option<&str>| assert_eq!(group_of(line).as_deref(), group);
        let unit = "     Running unittests src/main.rs (target/debug/deps/statwalk-aa08)";
        check(unit, Some("unit tests, beside the code"));
        let program = "     Running tests/program/main.rs (target/debug/deps/program-5c88)";
        check(program, Some("`program`"));
        check(
            "   Doc-tests statwalk_core",
            Some("examples in the documentation of the code"),
        );
        check("rows::a_deep_tree_has_one_row: test", None);
    }
}
