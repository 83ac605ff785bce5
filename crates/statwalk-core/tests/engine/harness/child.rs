// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs a part of a test in a process of its own: this program again, with a
//! filter for one test that does nothing unless it is asked to.
//!
//! What a process alone can show (peak memory, descriptors, system calls, a
//! limit) is measured there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

const VARIABLE: &str = "STATWALK_ENGINE_TEST_CHILD";

/// The argument that [`command`] gave, in the child; nothing elsewhere.
pub(crate) fn argument() -> Option<String> {
    std::env::var(VARIABLE).ok()
}

/// This program, to run only the test of the given name with an argument.
///
/// `before` are programs to run it under, such as `strace`.
pub(crate) fn command(before: &[&str], test: &str, argument: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    command_of(&program, before, test, argument)
}

/// As [`command`], with a copy of this program.
pub(crate) fn command_of(program: &Path, before: &[&str], test: &str, argument: &str) -> Command {
    let mut words = before.iter();
    let mut command = match words.next() {
        Some(first) => {
            let mut command = Command::new(first);
            command.args(words).arg(program);
            command
        }
        None => Command::new(program),
    };
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, argument);
    command
}

/// Runs it, and reads the lines `name=number` that it prints.
pub(crate) fn run(test: &str, argument: &str) -> BTreeMap<String, u64> {
    let output = command(&[], test, argument).output().expect("it runs");
    numbers(&output)
}

/// The lines `name=number` of a child that succeeded.
pub(crate) fn numbers(output: &Output) -> BTreeMap<String, u64> {
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{printed}\n{complaints}",
        output.status
    );
    let numbers: BTreeMap<_, _> = (printed.split(['\n', ' ']))
        .filter_map(|word| {
            let (name, number) = word.split_once('=')?;
            Some((name.to_owned(), number.parse().ok()?))
        })
        .collect();
    assert!(
        !numbers.is_empty(),
        "the child did nothing:\n{printed}\n{complaints}"
    );
    numbers
}

/// Prints the totals of a scan, in the child.
pub(crate) fn print_totals(outcome: &statwalk_core::Outcome<Vec<statwalk_core::RootTotals>>) {
    let (sum, report) = (&outcome.output[0], outcome.report.sum());
    for (name, number) in [
        ("entries", sum.entries),
        ("files", sum.files),
        ("dirs", sum.dirs),
        ("file_size_bytes", sum.file_size_bytes as u64),
        ("unreadable", report.unreadable),
        ("vanished", report.vanished),
        ("changed_dirs", report.changed_dirs),
        ("crossings", report.crossings),
        ("complete", u64::from(outcome.report.is_complete())),
        ("workers_max", outcome.report.plan.workers_max as u64),
        ("elapsed_ms", outcome.report.elapsed.as_millis() as u64),
        ("calls", outcome.report.calls),
        ("peak_kib", peak_kib()),
    ] {
        println!("{name}={number}");
    }
}

/// The most memory that this process ever had, in KiB.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.expect("the kernel tells")
}

/// How many descriptors a process has open.
pub(crate) fn open_descriptors() -> usize {
    std::fs::read_dir(Path::new("/proc/self/fd")).map_or(0, Iterator::count)
}
