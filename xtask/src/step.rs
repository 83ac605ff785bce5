// SPDX-License-Identifier: MIT OR Apache-2.0

//! One command that must succeed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::skipped;
use crate::times::Lap;

pub(crate) struct Step {
    command: Command,
    shown: String,
}

impl Step {
    /// A call of the cargo that runs this program.
    pub(crate) fn cargo(arguments: &[&str]) -> Step {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(arguments);
        Step {
            command,
            shown: format!("cargo {}", arguments.join(" ")),
        }
    }

    /// A call of the nightly cargo, which rustup finds.
    pub(crate) fn nightly(arguments: &[&str]) -> Step {
        let mut command = Command::new("cargo");
        command.arg("+nightly").args(arguments);
        Step {
            command,
            shown: format!("cargo +nightly {}", arguments.join(" ")),
        }
    }

    /// Another task of this program.
    pub(crate) fn own(arguments: &[&str]) -> Result<Step, String> {
        let shown = format!("cargo xtask {}", arguments.join(" "));
        let program = std::env::current_exe().map_err(|error| format!("{shown}: {error}"))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(Step { command, shown })
    }

    /// A call of a program by its path.
    pub(crate) fn program(path: &str, arguments: &[&str]) -> Step {
        let mut command = Command::new(path);
        command.args(arguments);
        Step {
            command,
            shown: format!("{path} {}", arguments.join(" ")),
        }
    }

    /// A call of npm in a folder.
    pub(crate) fn npm(arguments: &[&str], folder: &str) -> Step {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(folder);
        Step {
            command,
            shown: format!("npm {}", arguments.join(" ")),
        }
    }

    /// A line for the shell.
    pub(crate) fn shell(line: &str) -> Step {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        Step {
            command,
            shown: line.to_owned(),
        }
    }

    pub(crate) fn env(mut self, key: &str, value: &str) -> Step {
        self.command.env(key, value);
        self
    }

    /// Whether it succeeds, without a word.
    pub(crate) fn succeeds_quietly(mut self) -> bool {
        let quiet = self.command.stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    }

    pub(crate) fn run(mut self) -> Result<(), String> {
        eprintln!("xtask: {}", self.shown);
        let ended = self.command.spawn().and_then(|mut child| {
            Lap::of(&child).end(&self.shown);
            child.wait()
        });
        self.judged(ended)
    }

    /// What its end means.
    fn judged(&self, ended: std::io::Result<ExitStatus>) -> Result<(), String> {
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{}: {status}", self.shown)),
            Err(error) => Err(format!("{}: {error}", self.shown)),
        }
    }

    /// Runs it and gives its standard output.
    pub(crate) fn output(mut self) -> Result<String, String> {
        let output = self.command.stderr(Stdio::inherit()).output();
        match output {
            Ok(output) if output.status.success() => {
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            }
            Ok(output) => Err(format!("{}: {}", self.shown, output.status)),
            Err(error) => Err(format!("{}: {error}", self.shown)),
        }
    }

    /// Runs it and gives each line of its standard output and error to `read`.
    pub(crate) fn run_and_read(mut self, mut read: impl FnMut(&str)) -> Result<(), String> {
        let (mut child, lines) = self.begin()?;
        lines.for_each(|line| read(&line));
        let ended = child.wait();
        self.judged(ended)
    }

    /// Begins it, with one pipe for its standard output and error.
    fn begin(&mut self) -> Result<(Child, impl Iterator<Item = String> + use<>), String> {
        eprintln!("xtask: {}", self.shown);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.shown);
        let (output, both) = std::io::pipe().map_err(|error| failed(&error))?;
        let stderr = both.try_clone().map_err(|error| failed(&error))?;
        let child = self.command.stdout(both).stderr(stderr).spawn();
        let child = child.map_err(|error| failed(&error))?;
        // Otherwise this process keeps the pipe open, and its end never comes.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
        Ok((child, lines))
    }

    /// Runs it, and passes its output on without the output of successful tests. The skipped
    /// tests are kept for the last lines of all.
    pub(crate) fn run_and_note_skipped(self) -> Result<(), String> {
        let (skipped, ended) = self.run_and_collect_skipped();
        for line in &skipped {
            skipped::note(line);
        }
        ended
    }

    /// Runs it as [`run_and_note_skipped`](Self::run_and_note_skipped), and says at the end
    /// how many tests had each need.
    pub(crate) fn run_and_count_skipped(self) -> Result<(), String> {
        let (mut skipped, ended) = self.run_and_collect_skipped();
        // A test can have a need more than once.
        skipped.sort();
        skipped.dedup();
        for line in counted(&skipped) {
            println!("xtask: {line}");
        }
        ended
    }

    /// Runs it, passes its output on without that of successful tests, and gives the lines
    /// of skipped tests. Each program of tests gets a row of times.
    fn run_and_collect_skipped(mut self) -> (Vec<String>, Result<(), String>) {
        let mut skipped = Vec::new();
        let (mut child, lines) = match self.begin() {
            Ok(begun) => begun,
            Err(reason) => return (skipped, Err(reason)),
        };
        let mut lap = Lap::of(&child);
        let mut part = self.shown.clone();
        let mut in_output_of_successes = false;
        // Tests that skip say so on standard error, past the capture of the runner.
        for line in lines {
            if let Some(next) = program_in(&line) {
                lap.part(&part);
                part = next.to_owned();
            }
            skipped.extend(skipped::said_in(&line).map(str::to_owned));
            // The runner lists successes twice, the second time with their output.
            match &line[..] {
                "successes:" => in_output_of_successes = true,
                "failures:" => in_output_of_successes = false,
                _ if line.starts_with("test result:") => in_output_of_successes = false,
                _ => {}
            }
            if !in_output_of_successes {
                println!("{line}");
            }
        }
        lap.end(&part);
        let ended = child.wait();
        (skipped, self.judged(ended))
    }
}

/// The program of tests that cargo begins now.
fn program_in(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let is_begun = line.starts_with("Running ") || line.starts_with("Doc-tests ");
    // Without the path of what was built.
    is_begun.then(|| line.split_once(" (").map_or(line, |(source, _)| source))
}

/// How many tests had each need.
fn counted(skipped: &[String]) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for line in skipped {
        let need = line.split_once(" (").map_or(&line[..], |(need, _)| need);
        *counts.entry(need).or_insert(0) += 1;
    }
    let counts = counts.into_iter().map(|(need, count)| match count {
        1 => format!("{need}: 1 test"),
        _ => format!("{need}: {count} tests"),
    });
    counts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test command said that no test was skipped, and read the wrong stream.
    #[test]
    fn a_skipped_test_is_found_on_either_stream() {
        for stream in ["1", "2"] {
            let script = format!("echo 'skipped: needs a moon (sky::moon)' >&{stream}");
            let mut step = Step {
                command: Command::new("sh"),
                shown: "sh".to_owned(),
            };
            step.command.args(["-c", &script]);
            let mut found = Vec::new();
            step.run_and_read(|line| found.extend(skipped::said_in(line).map(str::to_owned)))
                .unwrap();
            assert_eq!(found, ["skipped: needs a moon (sky::moon)"], "{stream}");
        }
    }

    #[test]
    fn a_need_of_one_test_is_that_of_a_test() {
        let skipped = [
            "skipped: needs a moon (a)",
            "skipped: needs a sun (a)",
            "skipped: needs a sun (b)",
        ];
        let counts = counted(&skipped.map(str::to_owned));
        assert_eq!(
            counts,
            [
                "skipped: needs a moon: 1 test",
                "skipped: needs a sun: 2 tests"
            ]
        );
    }

    #[test]
    fn a_program_of_tests_is_named_without_its_path() {
        let line = "     Running tests/engine/main.rs (target/debug/deps/engine-5c88)";
        assert_eq!(program_in(line), Some("Running tests/engine/main.rs"));
        let line = "   Doc-tests statwalk_core";
        assert_eq!(program_in(line), Some("Doc-tests statwalk_core"));
        assert_eq!(program_in("running 12 tests"), None);
    }
}
