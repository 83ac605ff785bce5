// SPDX-License-Identifier: MIT OR Apache-2.0

//! The simulation of the scheduler: one seed with all its steps, many seeds, or the
//! table of the number of workers.

use std::fs;

use crate::step::Step;

/// Where the table stands, and between which lines.
const DOCUMENT: &str = "docs/workers.md";
const BEGIN: &str = "<!-- table: cargo xtask simulate table -->\n";
const END: &str = "<!-- end -->\n";

/// Simulates what `arguments` say: a seed, `seeds` and their number, or `table`.
pub(crate) fn simulate(arguments: &[String]) -> Result<(), String> {
    let number = |text: &String| {
        text.parse::<u64>()
            .map_err(|_| format!("no number: {text}"))
    };
    match arguments {
        [task] if task == "table" => table(),
        [task, count] if task == "seeds" => run("STATWALK_SEEDS", number(count)?),
        [seed] => run("STATWALK_SEED", number(seed)?),
        _ => Err("usage: cargo xtask simulate SEED | seeds COUNT | table".to_owned()),
    }
}

fn run(variable: &str, value: u64) -> Result<(), String> {
    test("simulation::nothing_is_lost", &["--nocapture"])
        .env(variable, &value.to_string())
        .run()
}

fn test<'a>(name: &'a str, more: &[&'a str]) -> Step {
    let mut arguments = vec!["test", "-p", "statwalk-core", "--lib", "--", name];
    arguments.extend(more);
    Step::cargo(&arguments)
}

fn table() -> Result<(), String> {
    let output = test("controller::table", &["--ignored", "--nocapture"]).output()?;
    let rows: String = (output.lines().filter(|line| line.starts_with("| ")))
        .map(|line| format!("{line}\n"))
        .collect();
    if rows.is_empty() {
        return Err("the simulation printed no table".to_owned());
    }
    let text = fs::read_to_string(DOCUMENT).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
        let (table, after) = rest.split_once(END)?;
        let head: String = table
            .lines()
            .take(2)
            .map(|line| format!("{line}\n"))
            .collect();
        Some(format!("{before}{BEGIN}{head}{rows}{END}{after}"))
    });
    let text = parts.ok_or_else(|| format!("{DOCUMENT}: no place for the table"))?;
    fs::write(DOCUMENT, text).map_err(|error| format!("{DOCUMENT}: {error}"))
}
