// SPDX-License-Identifier: MIT OR Apache-2.0

//! Standard streams that are closed, full, or of the wrong sort, for every
//! command.
//!
//! An answer that cannot be written is a failure with a reason, but for a reader
//! that left; and no text goes to a file that the program opened itself.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use statwalk_testkit::mounts::ext4_image;
use statwalk_testkit::{Scratch, text};

use crate::program::{self, Ended};
use statwalk_testkit::attack::{Attack, Round};

/// Every command, and both that answer without one. With `IMAGE` and `PATTERNS`
/// the program opens files, which then may have the numbers of closed streams.
const COMMANDS: [&[&str]; 19] = [
    &["tree"],
    &["--json", "tree"],
    &["find", "tree"],
    &["find", "--json", "tree"],
    &["find", "-0", "tree"],
    &["--help"],
    &["--version"],
    &["top", "tree"],
    &["top", "--dirs", "--json", "tree"],
    &["stats", "tree"],
    &["stats", "--json", "tree"],
    &["errors", "--json", "tree"],
    &["completions", "bash"],
    &["man"],
    &["find", "--help"],
    &["-h"],
    &["-s", "--explain", "tree"],
    &["-a", "-X", "patterns", "tree"],
    &["--source", "ext4", "image"],
];

/// What stdout is, in the words of a shell.
const STDOUTS: [&str; 5] = [
    ">&-",
    ">/dev/full",
    "1</dev/null",
    READER_LEFT,
    // The same as without, which is what the others are compared with.
    "",
];

/// A pipe whose reader left before the program began.
const READER_LEFT: &str = "| true";

const STDINS: [&str; 2] = ["", "<&-"];
const STDERRS: [&str; 3] = ["", "2>&-", "2>/dev/full"];

fn contents(dir: &Path) -> Vec<Vec<u8>> {
    ["image", "patterns", "tree/file"]
        .map(|name| fs::read(dir.join(name)).unwrap())
        .to_vec()
}

/// Runs the program with these streams.
fn run(dir: &Path, arguments: &[&str], stdin: &str, stdout: &str, stderr: &str) -> Ended {
    let (redirected, reader_left) = match stdout {
        READER_LEFT => ("", true),
        _ => (stdout, false),
    };
    let script = format!("exec \"$0\" \"$@\" {stdin} {redirected} {stderr}");
    let mut command = program::command("sh");
    command.args(["-c", &script]).arg(program::path());
    command.args(arguments).current_dir(dir);
    match reader_left {
        true => {
            let (read, write) = std::io::pipe().unwrap();
            drop(read);
            program::run_to(write, &mut command)
        }
        false => program::run(&mut command),
    }
}

fn check(round: &mut Round, dir: &Path, before: &[Vec<u8>]) {
    let arguments = *round.in_turn(&COMMANDS);
    let stdout = *round.in_turn(&STDOUTS);
    let stdin = *round.random.pick(&STDINS);
    let stderr = *round.random.pick(&STDERRS);
    let ended = run(dir, arguments, stdin, stdout, stderr);
    let told = |what: &str| format!("{what}: {stdin} {stdout} {stderr}: {}", ended.told());
    let can_write = matches!(stdout, "" | READER_LEFT);
    let expected = if can_write { 0 } else { 2 };
    round.check(ended.code() == Some(expected), || {
        told(&format!("must end with {expected}"))
    });
    let says_why = ended.stderr.starts_with("statwalk: ");
    let is_told = match (expected, stderr) {
        (2, "") => says_why,
        (0, "") if !arguments.contains(&"--explain") => ended.stderr.is_empty(),
        _ => true,
    };
    round.check(is_told, || told("stderr"));
    if stdout.is_empty() {
        let plain = run(dir, arguments, "", "", "");
        let is_same = plain.stdout.len().abs_diff(ended.stdout.len()) < 8;
        round.check(is_same && !plain.stdout.is_empty(), || {
            told("another answer")
        });
    }
    round.check(contents(dir) == before, || told("it wrote into a file"));
    round.check(ended.signal() != Some(Signal::PIPE.as_raw()), || {
        told("it died of the pipe")
    });
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure_everywhere() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path();
    let model = text::parse("file 5000\na/\na/b/\na/x 100\nl -> a").unwrap();
    model.materialise(&dir.join("tree")).unwrap();
    fs::write(dir.join("patterns"), "nothing\n").unwrap();
    // Without mkfs it is a file that is no image; that is an error, with 2.
    let commands = match ext4_image(&dir.join("image"), 16 << 20, &[], Some(&dir.join("tree"))) {
        Ok(()) => COMMANDS.len(),
        Err(skipped) => {
            skipped.report();
            fs::write(dir.join("image"), "").unwrap();
            COMMANDS.len() - 1
        }
    };
    let before = contents(dir);
    let attack = Attack {
        kind: "closed_streams",
        rounds_small: (COMMANDS.len() * STDOUTS.len()) as u64,
        checks_least: 1,
    };
    attack.run(|round| {
        if round.seed as usize % COMMANDS.len() >= commands {
            round.check(true, String::new);
            return;
        }
        check(round, dir, &before);
    });
}
