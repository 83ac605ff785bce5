// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a run left out, of all its suites together. The last lines name it.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// The last line of a run that left nothing out.
const NOTHING: &str = "no test was skipped";

static ALL: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A suite, or a part of one, that this machine cannot run.
pub(crate) fn suite(needs: &str, suite: &str) {
    let line = format!("skipped: needs {needs} ({suite})");
    println!("xtask: {line}");
    note(&line);
}

/// Keeps a line for the end. Whether nobody had said it before.
pub(crate) fn note(line: &str) -> bool {
    let mut all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.insert(line.to_owned())
}

/// Names all that was left out since the program began.
pub(crate) fn print() {
    let all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    print!("{}", closing_lines(&all));
}

/// Whether it is the last line of a run within this one, which can say nothing of the whole.
pub(crate) fn is_nothing(line: &str) -> bool {
    line == NOTHING
}

fn closing_lines(all: &BTreeSet<String>) -> String {
    match all.is_empty() {
        true => format!("xtask: {NOTHING}\n"),
        false => all.iter().map(|line| format!("xtask: {line}\n")).collect(),
    }
}

/// What a skipped test says. The runner can have begun the line.
pub(crate) fn said_in(line: &str) -> Option<&str> {
    line.find("skipped: needs ").map(|at| &line[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_skipped_test_is_found_within_that_of_the_runner() {
        let within = "test sky::moon ... skipped: needs a moon (sky::moon)";
        assert_eq!(said_in(within), Some("skipped: needs a moon (sky::moon)"));
        assert_eq!(said_in("test entries::skipped_subtrees ... ok"), None);
    }

    /// The last suite had skipped nothing, and the last line spoke for all of them.
    #[test]
    fn the_last_lines_name_what_every_suite_skipped() {
        let mut all = BTreeSet::new();
        assert_eq!(closing_lines(&all), "xtask: no test was skipped\n");
        for line in ["skipped: needs b", "skipped: needs a", "skipped: needs b"] {
            all.insert(line.to_owned());
        }
        assert_eq!(
            closing_lines(&all),
            "xtask: skipped: needs a\nxtask: skipped: needs b\n"
        );
    }
}
