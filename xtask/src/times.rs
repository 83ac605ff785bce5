// SPDX-License-Identifier: MIT OR Apache-2.0

//! What each step of a run took: by the clock, and of the processors.
//!
//! Beside other work the first says nothing, and the second still does.

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The beginning of a row, by which a run finds those of a run within it.
const ROW: &str = "took ";
/// Shorter ones are not worth a row.
const SHOWN_MIN: Duration = Duration::from_secs(1);
/// Linux counts processor time in these for user space, on every architecture.
const TICKS_PER_S: u64 = 100;

static ROWS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The times of a child and of all that it waited for, from now on.
pub(crate) struct Lap {
    child: Pid,
    begun: Instant,
    cpu: Duration,
}

impl Lap {
    /// Begins with the child.
    pub(crate) fn of(child: &std::process::Child) -> Lap {
        Lap {
            child: Pid::from_child(child),
            begun: Instant::now(),
            cpu: Duration::ZERO,
        }
    }

    /// Ends a part of the child's work, and begins the next.
    pub(crate) fn part(&mut self, what: &str) {
        let cpu = cpu(&self.child.as_raw_nonzero().to_string()).unwrap_or(self.cpu);
        let wall = self.begun.elapsed();
        note(&row(wall, cpu.saturating_sub(self.cpu), what));
        (self.begun, self.cpu) = (Instant::now(), cpu);
    }

    /// Waits for the end of the child, but leaves it to its owner to take it away.
    pub(crate) fn end(mut self, what: &str) {
        // Without a wait the time of the last part is that of a child that still works.
        let _ = waitid(
            WaitId::Pid(self.child),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        self.part(what);
    }
}

/// Keeps a row, of this run or of one within it.
fn note(row: &str) {
    if let Some(row) = row.strip_prefix(ROW).filter(|row| is_shown(row)) {
        let mut rows = ROWS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        rows.push(format!("{ROW}{row}"));
    }
}

/// Keeps the row that a run within this one printed. Whether it was one.
pub(crate) fn adopt(line: &str) -> bool {
    let is_row = line.starts_with(ROW);
    if is_row {
        note(line);
    }
    is_row
}

/// Prints the rows, and the times of the whole.
pub(crate) fn print(begun: Instant) {
    let rows = ROWS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for row in rows.iter() {
        println!("xtask: {row}");
    }
    let all = cpu("self").unwrap_or_default();
    println!(
        "xtask: {:.0} s by the clock, {:.0} s of the processors in all",
        begun.elapsed().as_secs_f64(),
        all.as_secs_f64()
    );
}

fn row(wall: Duration, cpu: Duration, what: &str) -> String {
    format!(
        "{ROW}{:>5.0} s, CPU {:>5.0} s: {what}",
        wall.as_secs_f64(),
        cpu.as_secs_f64()
    )
}

fn is_shown(row: &str) -> bool {
    let wall = row
        .split_once(" s,")
        .and_then(|(wall, _)| wall.trim().parse().ok());
    wall.is_some_and(|wall: u64| wall >= SHOWN_MIN.as_secs())
}

/// Processor time of a process and of the children that it has waited for.
fn cpu(process: &str) -> Option<Duration> {
    of_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

fn of_stat(stat: &str) -> Option<Duration> {
    // The second field is a name with any bytes in it.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields = rest.split(' ').skip(11).take(4);
    let ticks = fields.map(str::parse::<u64>).sum::<Result<u64, _>>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_process_are_its_own_and_its_childrens() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 1 2 3 4 100 20 3000 400 20 0 1 0 5 6 7";
        assert_eq!(of_stat(stat), Some(Duration::from_millis(35_200)));
        assert_eq!(of_stat("7"), None);
        assert!(cpu("self").is_some());
    }

    #[test]
    fn a_run_adopts_the_rows_of_a_run_within_it() {
        let within = row(
            Duration::from_secs(71),
            Duration::from_secs(90),
            "cargo build",
        );
        assert_eq!(within, "took    71 s, CPU    90 s: cargo build");
        assert!(adopt(&within) && !adopt("cargo build"));
        assert!(adopt(&row(Duration::ZERO, Duration::ZERO, "nothing")));
        let rows = ROWS.lock().unwrap();
        assert!(rows.contains(&within) && !rows.iter().any(|row| row.ends_with("nothing")));
    }

    #[test]
    fn the_work_of_a_child_that_has_ended_is_counted() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"])
            .spawn()
            .unwrap();
        let lap = Lap::of(&child);
        let _ = waitid(
            WaitId::Pid(lap.child),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        );
        let took = cpu(&lap.child.as_raw_nonzero().to_string());
        assert!(took.is_some_and(|took| !took.is_zero()), "{took:?}");
        lap.end("a loop");
        assert!(child.wait().unwrap().success());
    }
}
