// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans that a signal stops at any moment: each row without a mark is that of the whole.
//!
//! An interrupted scan showed directories that waited as exact, with a part of their
//! bytes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use statwalk_testkit::generator::{Shape, generate};
use statwalk_testkit::{Random, Scratch};

use crate::program::{self, Ended, spawn, statwalk};
use statwalk_testkit::attack::{Attack, Round};

const ROUND_STOPS: usize = 4;

/// Trees that stay as they are, with the whole answer for each.
struct Place {
    dir: PathBuf,
    /// By path.
    rows: HashMap<String, Value>,
    takes: Duration,
    // Away when this goes.
    _scratch: Option<Scratch>,
}

fn json_of(dir: &Path) -> std::process::Command {
    let mut command = statwalk();
    command.args(["--json", "-x", "-a", "-d", "4"]).arg(dir);
    command
}

fn rows(ended: &Ended) -> Vec<Value> {
    let document = ended.json().unwrap_or_default();
    document["tree"].as_array().cloned().unwrap_or_default()
}

fn path_of(row: &Value) -> String {
    format!("{}{}", row["path"], row["path_b64"])
}

impl Place {
    fn new(dir: PathBuf, scratch: Option<Scratch>) -> Place {
        let begin = Instant::now();
        let whole = program::run(&mut json_of(&dir));
        let takes = begin.elapsed();
        let rows = rows(&whole).into_iter().map(|row| (path_of(&row), row));
        let rows: HashMap<_, _> = rows.collect();
        assert!(rows.len() > 10, "{}", whole.told());
        Place {
            dir,
            rows,
            takes,
            _scratch: scratch,
        }
    }

    fn all() -> Vec<Place> {
        let scratch = Scratch::new().unwrap();
        let dir = scratch.path().join("tree");
        let shape = Shape {
            entries: 30_000,
            hard_link_share: 0.1,
            ..Shape::default()
        };
        generate(&dir, 7, &shape).unwrap();
        let usr = ["/usr/share", "/usr/lib"].map(PathBuf::from);
        let usr = usr.into_iter().filter(|dir| dir.is_dir());
        let mut places: Vec<_> = usr.map(|dir| Place::new(dir, None)).collect();
        places.push(Place::new(dir, Some(scratch)));
        places
    }

    /// Runs a command and stops it at a moment of the time that it would take.
    fn stopped(&self, command: &mut std::process::Command, random: &mut Random) -> (Ended, Signal) {
        let signal = *random.pick(&[Signal::INT, Signal::TERM]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = spawn(command);
        std::thread::sleep(self.takes.mul_f64(random.share()));
        // It may have ended.
        let _ = kill_process(Pid::from_child(&child), signal);
        (program::end(command, child), signal)
    }

    fn check(&self, round: &mut Round) {
        let threads = (1 + round.random.below(4)).to_string();
        let order = *round
            .random
            .pick(&["parallel", "recursive", "queue", "stack", "inode"]);
        let mut command = json_of(&self.dir);
        command.args(["-j", &threads, "--order", order]);
        let (ended, signal) = self.stopped(&mut command, &mut round.random);
        if self.ends_early(&ended, signal, round) {
            return;
        }
        let document = ended.json();
        // A signal that comes when the scan is over ends the program while it writes.
        round.check(document.is_ok() || ended.signal().is_some(), || {
            ended.told()
        });
        let Ok(document) = document else { return };
        let interrupted = document["interrupted"] == true;
        let is_marked = document["roots"][0]["interrupted"] == true;
        round.check(document["complete"] == !interrupted, || ended.told());
        round.check(!is_marked || interrupted, || ended.told());
        for row in rows(&ended) {
            let path = path_of(&row);
            let is_root = row["path"].as_str() == self.dir.to_str();
            round.check(!is_root || row["incomplete"] == is_marked, || {
                format!("the root must have a mark: {}", ended.told())
            });
            // Another name of a file comes first where its directory was read.
            let is_exact = row["incomplete"] != true && row["type"] == "d";
            round.check(!is_exact || self.rows.get(&path) == Some(&row), || {
                format!("{row} is not {:?}: {}", self.rows.get(&path), ended.command)
            });
        }
    }

    /// The other views say as a whole that they lack something.
    fn check_view(&self, round: &mut Round) {
        let view = *round.random.pick(&["top", "stats", "find", "table"]);
        let mut command = statwalk();
        match view {
            "table" => command.args(["--table", "--width", "100", "-x"]),
            "find" => command.args(["find", "-0", "-x"]),
            view => command.args([view, "--json", "-x"]),
        };
        command.arg(&self.dir);
        let (ended, signal) = self.stopped(&mut command, &mut round.random);
        if self.ends_early(&ended, signal, round) || ended.signal().is_none() {
            return;
        }
        match view {
            "find" => {
                let is_whole = ended.stdout.is_empty() || ended.stdout.ends_with(b"\0");
                round.check(is_whole, || format!("a row is cut: {}", ended.told()));
            }
            "table" => {
                let table = String::from_utf8_lossy(&ended.stdout).into_owned();
                let says = format!("{table}{}", ended.stderr).contains("nterrupted");
                let head = table.lines().nth(1).unwrap_or_default();
                let is_marked = head.ends_with(" (incomplete)");
                round.check(says || !is_marked, || ended.told());
            }
            _ => {
                // Where the scan was over, the signal came while the program wrote.
                let Ok(document) = ended.json() else { return };
                let interrupted = document["interrupted"] == true;
                round.check(document["complete"] == !interrupted, || ended.told());
            }
        }
    }

    /// The signal came before the program could take it.
    fn ends_early(&self, ended: &Ended, signal: Signal, round: &mut Round) -> bool {
        let by = ended.signal();
        let is_known = by.is_none_or(|by| by == signal.as_raw());
        round.check(is_known, || ended.told());
        ended.stdout.is_empty() && ended.stderr.is_empty()
    }
}

#[test]
fn rows_without_a_mark_are_exact() {
    let places = Place::all();
    let attack = Attack {
        kind: "stops",
        rounds_small: 6,
        checks_least: 1,
    };
    attack.run(|round| {
        let place = round.in_turn(&places);
        for _ in 0..ROUND_STOPS {
            place.check(round);
            place.check_view(round);
        }
    });
}
