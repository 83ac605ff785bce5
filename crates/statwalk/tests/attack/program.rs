// SPDX-License-Identifier: MIT OR Apache-2.0

//! Starting the program, with a bound on the time that it takes.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
pub(crate) use statwalk_testkit::program::{command, in_known_surroundings};

use statwalk_testkit::attack::{Round, shortened};
use statwalk_testkit::is_within;

/// Nothing here takes as long as this, in the time of the machine as it is (`is_within`).
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The program that is attacked: the one that cargo built with this test, or
/// the one that the environment names.
pub(crate) fn path() -> PathBuf {
    let Some(named) = std::env::var_os("STATWALK_ATTACK_PROGRAM") else {
        return env!("CARGO_BIN_EXE_statwalk").into();
    };
    let path = PathBuf::from(named);
    assert!(path.is_file(), "STATWALK_ATTACK_PROGRAM: no file {path:?}");
    path
}

/// The program in surroundings that are the same everywhere.
pub(crate) fn statwalk() -> Command {
    command(path())
}

/// Starts a program as the leader of a process group, so that it can be killed with
/// all that it started.
pub(crate) fn spawn(command: &mut Command) -> Child {
    statwalk_testkit::program::spawn(command.process_group(0))
}

/// How a program ended.
pub(crate) struct Ended {
    /// The command, for what is told of it.
    pub(crate) command: String,
    /// Absent where it had to be killed, because it did not end.
    pub(crate) status: Option<ExitStatus>,
    /// Empty where somebody else reads it.
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Runs a program to its end and reads what it writes.
pub(crate) fn run(command: &mut Command) -> Ended {
    run_to(Stdio::piped(), command)
}

/// As [`run`], with another stdout.
pub(crate) fn run_to(stdout: impl Into<Stdio>, command: &mut Command) -> Ended {
    command.stdout(stdout).stderr(Stdio::piped());
    let child = spawn(command);
    // Otherwise this process would keep the stream open too.
    command.stdout(Stdio::null());
    end(command, child)
}

/// Waits for the end of a program that runs, and reads what it writes to pipes.
pub(crate) fn end(command: &Command, mut child: Child) -> Ended {
    let stdout = child.stdout.take().map(reader);
    let stderr = child.stderr.take().map(reader);
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if !is_within(start.elapsed(), LONG) {
            // What it started too: a program that strace traces would go on without it.
            kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap();
            child.wait().unwrap();
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let read = |reader: Option<JoinHandle<Vec<u8>>>| {
        reader.map_or_else(Vec::new, |reader| reader.join().unwrap())
    };
    Ended {
        command: shown(command),
        status,
        stdout: read(stdout),
        stderr: String::from_utf8_lossy(&read(stderr)).into_owned(),
    }
}

/// A command without its environment, which is always the same.
pub(crate) fn shown(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words = words.map(|word| format!("{word:?}"));
    words.collect::<Vec<_>>().join(" ")
}

fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

impl Ended {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status?.code()
    }

    /// By which signal it died.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.status?.signal()
    }

    pub(crate) fn json(&self) -> Result<Value, String> {
        serde_json::from_slice(&self.stdout).map_err(|error| format!("no JSON: {error}"))
    }

    /// The paths of `-0`; the last is not whole where its end is missing.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout
            .split_inclusive(|&byte| byte == 0)
            .map(|row| row.strip_suffix(b"\0").unwrap_or(row))
    }

    /// What it did, for a difference.
    pub(crate) fn told(&self) -> String {
        let first = &self.stdout[..self.stdout.len().min(600)];
        let stdout = first.escape_ascii().to_string();
        let shown = |text, bytes_max| shortened(text, bytes_max).trim_end().to_owned();
        let status = match self.status {
            Some(status) => status.to_string(),
            None => format!("killed after {LONG:?} of a calm machine"),
        };
        format!(
            "{}\n    {status}\n    stderr: {}\n    stdout: {}",
            self.command,
            shown(&self.stderr, 400),
            shown(&stdout, 600)
        )
    }

    /// It ended by itself with one of these codes, and by no signal.
    pub(crate) fn check_end(&self, round: &mut Round, codes: &[i32]) -> bool {
        let is_possible = self.code().is_some_and(|code| codes.contains(&code));
        round.check(is_possible, || {
            format!("must end with one of {codes:?}: {}", self.told())
        })
    }
}
