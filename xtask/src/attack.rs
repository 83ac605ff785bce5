// SPDX-License-Identifier: MIT OR Apache-2.0

//! Attacks the program that users get, for as long as is asked: every kind of
//! attack of the tests, one after another, with seeds that no run had before.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::dist;
use crate::step::Step;

pub(crate) const MINUTES: u64 = 10;

/// The files of `crates/statwalk/tests/attack`, and modules within the program.
const KINDS: [&str; 18] = [
    "torn_output",
    "loops",
    "fuse_errors",
    "injected_errors",
    "limits",
    "closed_streams",
    "mutation",
    "random_trees",
    "hostile_images",
    "stops",
    "clock_steps",
    "overlay",
    "shell_removals::any",
    "shell_removals::undo",
    "shell_removals::trash",
    "shell_removals::refresh",
    "shell_removals::mounts",
    "terminal_removals",
];

/// The beginning of those in `crates/statwalk/src/browse`. They test what cargo builds.
const WITHIN_THE_PROGRAM: &str = "shell_removals::";

/// The result of a kind, by its own report.
struct Outcome {
    kind: &'static str,
    /// `N rounds, M checks, D differences`
    summary: Option<String>,
    skipped: Vec<String>,
    failed: bool,
}

pub(crate) fn attack(minutes: u64) -> Result<(), String> {
    let seconds = (minutes * 60 / KINDS.len() as u64).max(1);
    let program = dist::build()?;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    // Room for the rounds of one run between the seeds of two.
    let seed = since_1970.map_or(0, |time| time.as_secs()) * 1_000_000;
    println!(
        "xtask: attack: {} for {seconds} s each from seed {seed}",
        program.display()
    );
    let outcomes: Vec<Outcome> = KINDS
        .into_iter()
        .map(|kind| run(kind, &program, seconds, seed))
        .collect();
    println!();
    for outcome in &outcomes {
        let summary = outcome.summary.as_deref().unwrap_or("did not run");
        println!("{:24} {summary}", outcome.kind);
        for line in &outcome.skipped {
            println!("{:24} {line}", "");
        }
    }
    let bad = outcomes.iter().filter(|outcome| outcome.failed);
    let bad: Vec<&str> = bad.map(|outcome| outcome.kind).collect();
    match bad.is_empty() {
        true => Ok(()),
        false => Err(format!("attack: {}", bad.join(", "))),
    }
}

/// Runs one kind. One that is skipped has not run, but that is no failure.
fn run(kind: &'static str, program: &Path, seconds: u64, seed: u64) -> Outcome {
    let filter = format!("{kind}::");
    let target = match kind.starts_with(WITHIN_THE_PROGRAM) {
        true => ["--bin", "statwalk"],
        false => ["--test", "attack"],
    };
    let test = ["test", "-q", "-p", "statwalk"].into_iter();
    let test = test.chain(target).chain([&filter, "--", "--nocapture"]);
    let test: Vec<&str> = test.collect();
    let mut outcome = Outcome {
        kind,
        summary: None,
        skipped: Vec::new(),
        failed: false,
    };
    let begin = format!("attack: {kind}: ");
    let ended = Step::cargo(&test)
        .env("STATWALK_ATTACK_PROGRAM", &program.to_string_lossy())
        .env("STATWALK_ATTACK_SECONDS", &seconds.to_string())
        .env("STATWALK_ATTACK_SEED", &seed.to_string())
        .run_and_read(|line| {
            println!("{line}");
            // The runner writes dots and names before it, on the same line.
            match line.split_once(&begin) {
                Some((_, rest)) if rest.ends_with("differences") => {
                    outcome.summary = Some(rest.to_owned());
                }
                _ => {}
            }
            if let Some(at) = line.find("skipped: ") {
                outcome.skipped.push(line[at..].to_owned());
            }
        });
    let is_silent = outcome.summary.is_none() && outcome.skipped.is_empty();
    outcome.failed = ended.is_err() || is_silent;
    outcome
}
