// SPDX-License-Identifier: MIT OR Apache-2.0

//! Starting the program, and others that its answers are compared with.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use statwalk_testkit::{Model, Scratch, Skipped, program, settle, text, unprivileged};

/// Longer than anything takes on a busy machine; only failures wait so long.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A tree that a test made.
pub(crate) struct Tree {
    // Removed when this goes.
    scratch: Scratch,
}

impl Tree {
    /// Makes a tree from its text form.
    pub(crate) fn new(entries: &str) -> Tree {
        Tree::of(&text::parse(entries).unwrap())
    }

    pub(crate) fn of(model: &Model) -> Tree {
        let scratch = Scratch::new().unwrap();
        let tree = scratch.path().join("tree");
        model.materialise(&tree).unwrap();
        settle(&tree).unwrap();
        Tree { scratch }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("tree")
    }

    /// The directory that it is in, as `tree`.
    pub(crate) fn parent(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs the program beside the tree, which it knows as `tree`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(statwalk().args(arguments).current_dir(self.parent()))
    }
}

/// The program, in surroundings that are the same everywhere.
pub(crate) fn statwalk() -> Command {
    program::command(env!("CARGO_BIN_EXE_statwalk"))
}

/// The commands, in the order of the help, which clap makes from their definitions.
pub(crate) fn commands() -> Vec<String> {
    let answer = Answer::of(statwalk().arg("-h")).good();
    let lines = answer.lines();
    let listed = lines
        .iter()
        .skip_while(|line| **line != "Commands:")
        .skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next());
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.len() >= 9, "{names:?}");
    names
}

/// The program as somebody who is not root, beside a tree.
pub(crate) fn as_ordinary_user(tree: &Tree) -> Result<Command, Skipped> {
    let path = Path::new(env!("CARGO_BIN_EXE_statwalk"));
    let copy = unprivileged::publish(path, tree.parent()).unwrap();
    let mut command = unprivileged::command(copy)?;
    program::in_known_surroundings(&mut command);
    command.current_dir(tree.parent());
    Ok(command)
}

/// What a program answered.
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn of(command: &mut Command) -> Answer {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Answer::from(program::spawn(command).wait_with_output().unwrap())
    }

    /// The rows, sorted.
    pub(crate) fn sorted(&self) -> Vec<String> {
        sorted(&self.stdout, b'\n')
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        std::str::from_utf8(&self.stdout).unwrap().lines().collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            let text = String::from_utf8_lossy(&self.stdout);
            panic!("{error} in {text}{}", self.stderr)
        })
    }

    /// Everything was well, and nothing was said on stderr.
    #[track_caller]
    pub(crate) fn good(self) -> Answer {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
        self
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }
}

/// Rows ended by `end`, sorted, as text in which no two rows look the same.
pub(crate) fn sorted(bytes: &[u8], end: u8) -> Vec<String> {
    let rows = bytes.split_inclusive(|&byte| byte == end);
    let mut rows: Vec<String> = rows.map(|row| row.escape_ascii().to_string()).collect();
    rows.sort();
    rows
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a signal waits for a process that has not run since: proc_pid_status(5). Another
/// one of its kind would be lost.
pub(crate) fn is_pending(child: &Child, signal: Signal) -> bool {
    let status = format!("/proc/{}/status", child.id());
    let status = std::fs::read_to_string(status).unwrap();
    let waits = |name: &str| {
        let bits = status.lines().find_map(|line| line.strip_prefix(name));
        let bits = u64::from_str_radix(bits.unwrap().trim(), 16).unwrap();
        bits & (1 << (signal.as_raw() - 1)) != 0
    };
    waits("SigPnd:") || waits("ShdPnd:")
}

/// A terminal of a known size: the side of the screen, and that of programs.
pub(crate) fn terminal(columns: u16, rows: u16) -> (OwnedFd, OwnedFd) {
    statwalk_testkit::terminal::terminal(columns, rows).unwrap()
}

/// The text on a terminal, once no program has it open any more.
pub(crate) fn text_on(master: OwnedFd) -> String {
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    let mut screen = File::from(master);
    // Reading fails when nobody has the terminal open any more.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    // A terminal shows a newline as two bytes.
    let text = String::from_utf8(shown).expect("a terminal gets text");
    text.replace("\r\n", "\n")
}

/// Gives a terminal another size.
pub(crate) fn resize(master: &OwnedFd, columns: u16, rows: u16) {
    statwalk_testkit::terminal::resize(master, columns, rows).unwrap();
}
