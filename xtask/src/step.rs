// SPDX-License-Identifier: MIT OR Apache-2.0

//! One command that must succeed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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
        match self.command.status() {
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
        eprintln!("xtask: {}", self.shown);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.shown);
        let (output, both) = std::io::pipe().map_err(|error| failed(&error))?;
        let stderr = both.try_clone().map_err(|error| failed(&error))?;
        let child = self.command.stdout(both).stderr(stderr).spawn();
        // Otherwise this process keeps the pipe open, and its end never comes.
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.map_err(|error| failed(&error))?;
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            read(&String::from_utf8_lossy(&line));
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(failed(&status)),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Runs it, and passes its output on without the output of successful tests. At the
    /// end it repeats the skipped tests and the reasons.
    pub(crate) fn run_and_list_skipped(self) -> Result<(), String> {
        let (mut skipped, ended) = self.run_and_collect_skipped();
        skipped.sort();
        skipped.dedup();
        if skipped.is_empty() {
            println!("xtask: no test was skipped");
        }
        for line in skipped {
            println!("xtask: {line}");
        }
        ended
    }

    /// Runs it as [`run_and_list_skipped`](Self::run_and_list_skipped), and says at the end
    /// how many tests had each need.
    pub(crate) fn run_and_count_skipped(self) -> Result<(), String> {
        let (mut skipped, ended) = self.run_and_collect_skipped();
        // A test can have a need more than once.
        skipped.sort();
        skipped.dedup();
        let mut counts = BTreeMap::new();
        for line in &skipped {
            let need = line.split_once(" (").map_or(&line[..], |(need, _)| need);
            *counts.entry(need).or_insert(0) += 1;
        }
        for (need, count) in counts {
            println!("xtask: {need}: {count} tests");
        }
        ended
    }

    /// Runs it, passes its output on without that of successful tests, and gives the lines
    /// of skipped tests.
    fn run_and_collect_skipped(self) -> (Vec<String>, Result<(), String>) {
        let mut skipped = Vec::new();
        let mut in_output_of_successes = false;
        // Tests that skip say so on standard error, past the capture of the runner.
        let ended = self.run_and_read(|line| {
            skipped.extend(skipped_in(line).map(str::to_owned));
            // The runner lists successes twice, the second time with their output.
            match line {
                "successes:" => in_output_of_successes = true,
                "failures:" => in_output_of_successes = false,
                _ if line.starts_with("test result:") => in_output_of_successes = false,
                _ => {}
            }
            if !in_output_of_successes {
                println!("{line}");
            }
        });
        (skipped, ended)
    }
}

/// What a skipped test says. The runner can have begun the line.
fn skipped_in(line: &str) -> Option<&str> {
    line.find("skipped: needs ").map(|at| &line[at..])
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
            step.run_and_read(|line| found.extend(skipped_in(line).map(str::to_owned)))
                .unwrap();
            assert_eq!(found, ["skipped: needs a moon (sky::moon)"], "{stream}");
        }
        let within = "test sky::moon ... skipped: needs a moon (sky::moon)";
        assert_eq!(
            skipped_in(within),
            Some("skipped: needs a moon (sky::moon)")
        );
        assert_eq!(skipped_in("test entries::skipped_subtrees ... ok"), None);
    }
}
