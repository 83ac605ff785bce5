// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs a part of a test in a process of its own: this program again, with a
//! filter for the one test that runs such parts.
//!
//! A process alone can show its peak memory, its descriptors, its system calls and
//! what a limit does to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use crate::{
    automounts, calls, changing_tree, descriptors, dropped, faults, follow, large_directory,
    large_untyped, latency, link_memory, memory, roots,
};

/// The part's name and its argument, separated by the first blank.
const VARIABLE: &str = "STATWALK_ENGINE_TEST_CHILD";

/// Does its work with the argument that the parent gave.
type Part = fn(&str);

/// All parts. Each one has the name that [`command`] takes.
const PARTS: [(&str, Part); 15] = [
    (
        "automounts::done_as_a_stranger",
        automounts::done_as_a_stranger,
    ),
    ("calls::scanned_under_strace", calls::scanned_under_strace),
    (
        "changing_tree::with_few_descriptors",
        changing_tree::with_few_descriptors,
    ),
    ("child::echo", echo),
    (
        "descriptors::scanned_with_few_descriptors",
        descriptors::scanned_with_few_descriptors,
    ),
    ("dropped::drops_a_scan", dropped::drops_a_scan),
    (
        "faults::endless::scanned_and_stopped",
        faults::endless::scanned_and_stopped,
    ),
    ("follow::followed_in_a_child", follow::followed_in_a_child),
    (
        "large_directory::scanned_in_a_child",
        large_directory::scanned_in_a_child,
    ),
    (
        "large_untyped::scanned_in_a_child",
        large_untyped::scanned_in_a_child,
    ),
    ("latency::scanned_in_memory", latency::scanned_in_memory),
    ("link_memory::scanned", link_memory::scanned),
    ("memory::scanned_in_an_order", memory::scanned_in_an_order),
    ("memory::summed_in_an_order", memory::summed_in_an_order),
    (
        "roots::scanned_from_elsewhere",
        roots::scanned_from_elsewhere,
    ),
];

const TEST: &str = "harness::child::a_child_does_its_part_or_fails";

/// In a child, this test is the part that the parent asked for. In the parent it
/// checks that a child cannot succeed without doing its part.
#[test]
fn a_child_does_its_part_or_fails() {
    if let Ok(request) = std::env::var(VARIABLE) {
        let (name, argument) = request.split_once(' ').expect("a name and an argument");
        let part = PARTS.iter().find(|(known, _)| *known == name);
        let (_, part) = part.expect("the name of a part");
        return part(argument);
    }
    assert_eq!(run("child::echo", "number=7")["number"], 7);
    let unknown = command(&[], "child::nobody", "").output().expect("it runs");
    assert!(!unknown.status.success());
}

/// Prints its argument.
fn echo(argument: &str) {
    println!("{argument}");
}

/// This program, to do only the part of the given name with an argument.
///
/// `before` are programs to run it under, such as `strace`.
pub(crate) fn command(before: &[&str], part: &str, argument: &str) -> Command {
    let program = std::env::current_exe().expect("this program has a path");
    command_of(&program, before, part, argument)
}

/// As [`command`], with a copy of this program.
pub(crate) fn command_of(program: &Path, before: &[&str], part: &str, argument: &str) -> Command {
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
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(VARIABLE, format!("{part} {argument}"));
    command
}

/// Runs it, and reads the lines `name=number` that it prints.
pub(crate) fn run(part: &str, argument: &str) -> BTreeMap<String, u64> {
    let output = command(&[], part, argument).output().expect("it runs");
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
    if let Some(sizes) = sum.sizes {
        println!("file_size_bytes={}", sizes.file_size_bytes);
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
