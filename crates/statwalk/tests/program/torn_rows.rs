// SPDX-License-Identifier: MIT OR Apache-2.0

//! No reader gets a row that was not found: `find` writes from several workers
//! while it scans, to readers of all kinds.
//!
//! After 100 ms rows of a part were written in pieces of 4,096 bytes, and where
//! the pipe was full in the middle of a row, another part went on:
//! `find -0 | xargs -0 rm` got paths that nobody has.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{PipeReader, PipeWriter, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process};
use statwalk_testkit::fault_fs::{FaultFs, FaultFsBuilder, Hang, Latency, Op, Where};
use statwalk_testkit::or_skip;

use crate::run::{statwalk, wait_until};

/// How somebody reads.
#[derive(Clone, Copy, Debug)]
enum Reader {
    /// A little at a time, with pauses, like `dd` in a loop.
    Pausing,
    /// The first bytes one by one.
    Bytewise,
    /// From a pipe that holds one page.
    OfOnePage,
    /// From a pipe that the program must not wait for.
    OfNonblocking,
    /// As `OfNonblocking`, with one page.
    OfNonblockingPage,
}

const READERS: [Reader; 5] = [
    Reader::Pausing,
    Reader::Bytewise,
    Reader::OfOnePage,
    Reader::OfNonblocking,
    Reader::OfNonblockingPage,
];

const FORMS: [&str; 3] = ["--color=never", "-0", "--json"];

const PAGE: usize = 4096;

impl Reader {
    fn pipe(self) -> (PipeReader, PipeWriter) {
        let (from, to) = std::io::pipe().unwrap();
        if matches!(self, Reader::OfOnePage | Reader::OfNonblockingPage) {
            assert_eq!(fcntl_setpipe_size(&to, PAGE).unwrap(), PAGE);
        }
        if matches!(self, Reader::OfNonblocking | Reader::OfNonblockingPage) {
            let flags = fcntl_getfl(&to).unwrap();
            fcntl_setfl(&to, flags | OFlags::NONBLOCK).unwrap();
        }
        (from, to)
    }

    /// Reads to the end. `turn` makes the readings of several runs differ.
    fn read(self, mut from: PipeReader, turn: usize) -> Vec<u8> {
        let mut all = Vec::new();
        let mut take = |count: usize| {
            let mut piece = vec![0; count];
            let count = from.read(&mut piece).unwrap();
            all.extend_from_slice(&piece[..count]);
            count > 0
        };
        let pauses = match self {
            Reader::Bytewise => {
                for _ in 0..6_000 + 100 * turn {
                    take(1);
                }
                10
            }
            Reader::Pausing => 40,
            _ => 100,
        };
        for _ in 0..pauses {
            take(3_000 + 700 * (turn % 5));
            thread::sleep(Duration::from_millis(5));
        }
        while take(64 << 10) {}
        all
    }
}

/// A slow file system of long and short names, and its paths below `root`.
fn slow_tree() -> (FaultFsBuilder, Vec<String>) {
    const FILES: u64 = 60;
    let mut dirs: Vec<String> = (0..120).map(|n| format!("d{n}")).collect();
    dirs.extend((0..30).map(|n| format!("{n}{}", "x".repeat(220))));
    // Paths of more than a page, and of more than PATH_MAX.
    for n in 0..2 {
        let long = n.to_string() + &"y".repeat(200);
        dirs.extend((1..=24).map(|depth| vec![long.as_str(); depth].join("/")));
    }
    let mut fs = FaultFs::builder();
    let mut paths = Vec::new();
    for dir in dirs {
        let depth = dir.matches('/').count() as u64;
        let files = if depth == 0 { FILES } else { 2 };
        fs = fs.dir(&dir).files(&dir, files, 0);
        paths.extend((0..files).map(|n| format!("{dir}/f{n:06}")));
        paths.push(dir);
    }
    let slow = Latency::Between {
        least: Duration::from_micros(500),
        most: Duration::from_millis(4),
        seed: 1,
    };
    (fs.latency(Where::Everywhere, slow), paths)
}

/// A run of `find`, and where its answer can be read.
fn start(root: &Path, arguments: &[&str], reader: Reader) -> (Child, PipeReader) {
    let (from, to) = reader.pipe();
    let mut command = statwalk();
    command.args(["find", "-j4", "--source=posix"]);
    command.args(arguments).arg(".").current_dir(root);
    // The command goes, and with it our end of the pipe.
    let child = command.stdout(to).stderr(Stdio::piped()).spawn();
    (child.unwrap(), from)
}

/// How a run ended, and what it said.
fn end(mut child: Child) -> (ExitStatus, String) {
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().unwrap();
    pipe.read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap(), stderr)
}

/// What `find` writes to a reader.
fn found(root: &Path, arguments: &[&str], reader: Reader, turn: usize) -> Vec<u8> {
    let (child, from) = start(root, arguments, reader);
    let bytes = reader.read(from, turn);
    let (status, stderr) = end(child);
    assert_eq!(
        (status.code(), stderr.as_str()),
        (Some(0), ""),
        "{reader:?}"
    );
    bytes
}

fn row_end(form: &str) -> u8 {
    if form == "-0" { 0 } else { b'\n' }
}

/// The paths in an answer.
fn paths(bytes: &[u8], form: &str) -> Vec<String> {
    let end = row_end(form);
    let rows = bytes.strip_suffix(&[end]).expect("the last row is whole");
    let rows = rows.split(|&byte| byte == end);
    let text = rows.map(|row| str::from_utf8(row).unwrap());
    match form {
        "--json" => text
            .map(|row| {
                let row: serde_json::Value =
                    serde_json::from_str(row).unwrap_or_else(|error| panic!("{error} in {row:?}"));
                row["path"].as_str().unwrap().to_owned()
            })
            .collect(),
        _ => text.map(str::to_owned).collect(),
    }
}

/// How often each path was found too often (or, below 0, too rarely).
fn difference(found: &[String], expected: &[String]) -> HashMap<String, i32> {
    let mut counts: HashMap<String, i32> = HashMap::new();
    for path in found {
        *counts.entry(path.clone()).or_default() += 1;
    }
    for path in expected {
        *counts.entry(format!("./{path}")).or_default() -= 1;
    }
    counts.retain(|_, count| *count != 0);
    counts
}

/// Has each reader read some times, all readers at once.
fn for_each_reader(test: impl Fn(Reader, &str, usize) + Sync) {
    thread::scope(|scope| {
        for (lane, reader) in READERS.into_iter().enumerate() {
            let test = &test;
            scope.spawn(move || {
                for turn in 0..6 {
                    test(reader, FORMS[(turn + lane) % FORMS.len()], turn);
                }
            });
        }
    });
}

#[test]
fn no_reader_gets_a_torn_row() {
    let (fs, expected) = slow_tree();
    let mount = or_skip!(fs.mount());
    for_each_reader(|reader, form, turn| {
        let bytes = found(mount.path(), &[form], reader, turn);
        let torn = difference(&paths(&bytes, form), &expected);
        assert!(torn.is_empty(), "{reader:?} {form}: {torn:?}");
    });
}

#[test]
fn as_many_whole_rows_come_as_were_asked_for() {
    let (fs, expected) = slow_tree();
    let mount = or_skip!(fs.mount());
    let expected: HashSet<String> = expected.iter().map(|path| format!("./{path}")).collect();
    for_each_reader(|reader, form, turn| {
        let count = 4_000 + turn;
        let arguments = [form, "-n", &count.to_string()];
        let bytes = found(mount.path(), &arguments, reader, turn);
        let found = paths(&bytes, form);
        assert_eq!(found.len(), count, "{reader:?} {form}");
        let found: HashSet<String> = found.into_iter().collect();
        assert_eq!(found.len(), count, "{reader:?} {form}");
        let torn: Vec<_> = found.difference(&expected).collect();
        assert!(torn.is_empty(), "{reader:?} {form}: {torn:?}");
    });
}

/// The signals that end a program, but for those that this process ignores: a child
/// ignores them, too.
fn ending_signals() -> Vec<Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    let mut signals = vec![Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];
    signals.retain(|signal| ignored >> (signal.as_raw() - 1) & 1 == 0);
    assert!(!signals.is_empty());
    signals
}

/// Only the very last row may be cut, where nobody reads on. SIGHUP and SIGQUIT killed at
/// once: `find -0` ended with the half of a path.
/// Whether there is something to read.
fn has_bytes(from: &PipeReader) -> bool {
    let mut polled = [PollFd::new(from, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).unwrap() > 0
}

/// Whether a process has a handler for a signal: proc_pid_status(5).
fn takes(pid: Pid, signal: Signal) -> bool {
    let status = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = fs::read_to_string(status).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
    caught & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn what_comes_before_and_after_a_signal_is_whole() {
    let (fs, mut expected) = slow_tree();
    // So that no scan is over before the signal.
    let fs = fs.dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    expected.push("dead".to_owned());
    let mount = or_skip!(fs.mount());
    let expected: HashSet<String> = expected.iter().map(|path| format!("./{path}")).collect();
    let signals = ending_signals();
    let has_told = AtomicBool::new(false);
    for_each_reader(|reader, form, turn| {
        let (child, from) = start(mount.path(), &[form], reader);
        let pid = Pid::from_child(&child);
        let signal = signals[turn % signals.len()];
        // On a busy machine it may not even have begun, or have no row.
        wait_until("it takes the signal", || takes(pid, signal));
        wait_until("rows come", || has_bytes(&from));
        let reading = thread::spawn(move || reader.read(from, turn));
        thread::sleep(Duration::from_millis(120 + 17 * turn as u64));
        kill_process(pid, signal).unwrap();
        let (status, stderr) = end(child);
        let mut bytes = reading.join().unwrap();
        let expected_end = Some(signal.as_raw());
        assert_eq!(status.signal(), expected_end, "{reader:?} {form}: {stderr}");
        // Not where the reader, or this machine, was too slow for it to write all it has.
        let is_told = stderr.contains("interrupted");
        assert!(is_told || stderr.is_empty(), "{signal:?}: {stderr}");
        has_told.fetch_or(is_told, Ordering::Relaxed);
        let last = bytes.iter().rposition(|byte| *byte == row_end(form));
        bytes.truncate(last.expect("some rows came") + 1);
        let found = paths(&bytes, form);
        let torn: Vec<_> = found
            .iter()
            .filter(|row| !expected.contains(*row))
            .collect();
        assert!(torn.is_empty(), "{reader:?} {form}: {torn:?}");
        let once: HashSet<&String> = found.iter().collect();
        assert_eq!(once.len(), found.len(), "{reader:?} {form}");
    });
    assert!(has_told.into_inner());
}
