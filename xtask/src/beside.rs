// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tasks that run beside the longest one, each a process of this program.
//!
//! Their compilers and their tests fill the processors while the tests of the workspace
//! wait. What they print comes in one piece when they end, and where they are at once.

use std::io::Write;
use std::thread::JoinHandle;

use crate::step::Step;
use crate::{skipped, times};

/// The tasks of a second lane.
pub(crate) struct Beside(JoinHandle<Result<(), String>>);

impl Beside {
    /// Begins with the first of these tasks; each begins when the one before has ended.
    pub(crate) fn begin(tasks: &'static [&'static str]) -> Beside {
        Beside(std::thread::spawn(move || {
            let mut failed = Vec::new();
            for task in tasks {
                if let Err(reason) = run(task) {
                    failed.push(reason);
                }
            }
            match failed.is_empty() {
                true => Ok(()),
                false => Err(failed.join("; ")),
            }
        }))
    }

    /// Waits for the last of them.
    pub(crate) fn end(self) -> Result<(), String> {
        self.0
            .join()
            .unwrap_or_else(|_| Err("the tasks beside the tests panicked".to_owned()))
    }
}

fn run(task: &'static str) -> Result<(), String> {
    let step = Step::own(&[task])?;
    let mut printed = Vec::new();
    let ended = step.run_and_read(|line| match Line::of(line) {
        Line::Place(place) => println!("xtask: {task}: {place}"),
        Line::Counted => {}
        Line::Text => {
            printed.extend_from_slice(line.as_bytes());
            printed.push(b'\n');
        }
    });
    let mut stdout = std::io::stdout().lock();
    let head = format!("xtask: {task}: its output\n");
    let tail = match &ended {
        Ok(()) => format!("xtask: {task}: done\n"),
        Err(reason) => format!("xtask: {task}: failed: {reason}\n"),
    };
    // A reader who goes away gets no more, as with the other lines.
    let _ = stdout.write_all(&[head.as_bytes(), &printed, tail.as_bytes()].concat());
    ended
}

/// What a line of a task is for.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    /// It says where the task is.
    Place(&'a str),
    /// It is kept for the last lines of the whole run.
    Counted,
    Text,
}

impl Line<'_> {
    fn of(line: &str) -> Line<'_> {
        let is_repeated = skipped::said_in(line).is_some_and(|said| !skipped::note(said));
        match line.strip_prefix("xtask: ") {
            None => Line::Text,
            Some(_) if is_repeated => Line::Counted,
            Some(own) if times::adopt(own) || skipped::is_nothing(own) => Line::Counted,
            Some(own) => Line::Place(own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_task_is_printed_at_once_or_at_its_end_or_kept() {
        assert_eq!(Line::of("xtask: npm test"), Line::Place("npm test"));
        assert_eq!(Line::of("xtask: no test was skipped"), Line::Counted);
        let row = "xtask: took     3 s, CPU     4 s: npm test";
        assert_eq!(Line::of(row), Line::Counted);
        let skipped = "skipped: needs a sun (beside)";
        let said = format!("xtask: {skipped}");
        assert_eq!(Line::of(&said), Line::Place(skipped));
        // The last lines of the task.
        assert_eq!(Line::of(&said), Line::Counted);
        assert_eq!(Line::of("test result: ok. 3 passed"), Line::Text);
    }
}
