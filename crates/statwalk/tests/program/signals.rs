// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signals, on file systems that hang.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Hang, Op};
use statwalk_testkit::{Skipped, or_skip, program, stretched};

use crate::run::{LONG, Tree, is_pending, statwalk, terminal, text_on, wait_until};

/// A file system that answers for everything but `dead`.
fn half_dead() -> Result<FaultMount, Skipped> {
    FaultFs::builder()
        .files("alive", 5, 1000)
        .dir("dead")
        .hang("dead", Op::Opendir, Hang::UntilSignal)
        .mount()
}

/// The program, once it hangs.
fn hanging(mount: &FaultMount, arguments: &[&str]) -> Child {
    let mut command = statwalk();
    command.args(arguments).current_dir(mount.path());
    start(&mut command, mount)
}

fn start(command: &mut Command, mount: &FaultMount) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    assert!(
        mount.wait_for(LONG, |counts| counts.hanging == 1),
        "it does not hang"
    );
    child
}

pub(crate) fn wait_until_the_rest_is_read(mount: &FaultMount) {
    wait_until("`alive` is closed", || mount.counts().releasedir > 0);
    // What was read is delivered at about that time.
    std::thread::sleep(stretched(Duration::from_millis(100)));
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).unwrap();
}

/// How it ended, and what it wrote.
fn end(mut child: Child) -> (ExitStatus, String, String) {
    let (mut out, mut err) = (String::new(), String::new());
    // The answers here are smaller than a pipe.
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    (child.wait().unwrap(), out, err)
}

#[test]
fn the_first_signal_stops_the_scan_and_what_is_known_is_printed() {
    for (signal, number) in [(Signal::INT, 2), (Signal::TERM, 15)] {
        let mount = or_skip!(half_dead());
        let child = hanging(&mount, &["--json", "-j2"]);
        wait_until_the_rest_is_read(&mount);
        let start = Instant::now();
        send(&child, signal);
        let (status, out, err) = end(child);
        let took = start.elapsed();
        assert!(took < stretched(Duration::from_secs(20)), "{took:?}");
        assert_eq!(status.signal(), Some(number), "{err}");
        assert!(
            err.starts_with("statwalk: interrupted, lower bound\n"),
            "{err}"
        );
        assert!(
            err.contains("./dead: no response from the file system; skipped"),
            "{err}"
        );
        let document: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["complete"], false);
        assert_eq!(document["interrupted"], true);
        assert_eq!(document["roots"][0]["files"], 5);
    }
}

/// A row for each path, and rows of groups, had no mark where a signal had stopped the scan.
#[test]
fn each_view_with_sums_says_that_a_stopped_scan_lacks_something() {
    let mark = " (incomplete)";
    let mut views = vec![
        (&[][..], mark),
        (&["-a"], mark),
        (&["-d0"], mark),
        (&["-s"], mark),
        (&["-sc"], mark),
        (&["--count"], mark),
        (&["--inodes"], mark),
        (&["--time"], mark),
        (&["top", "--dirs"], mark),
        (&["top"], "lower bound"),
        (&["top", "--rebuildable"], "lower bound"),
        (&["stats"], "Each row is a lower bound"),
        (&["stats", "--by", "owner,age"], "Each row is a lower bound"),
    ];
    let markdown = ["report", "-o", "-", "--format", "markdown"];
    let page = ["report", "-o", "-", "--format", "html"];
    views.push((&markdown, "/up` (incomplete)"));
    views.push((&page, "/up (incomplete)</td>"));
    let mounts = views.iter().map(|_| {
        let fs = FaultFs::builder().files("alive", 5, 1000).dir("up/dead");
        fs.hang("up/dead", Op::Opendir, Hang::UntilSignal).mount()
    });
    let mounts: Vec<FaultMount> = or_skip!(mounts.collect());
    // Each waits for a worker that hangs.
    std::thread::scope(|scope| {
        for ((arguments, expected), mount) in views.into_iter().zip(&mounts) {
            scope.spawn(move || check_stopped(mount, arguments, expected));
        }
    });
}

/// The view of a stopped scan has a text, and no mark at the directory that was read.
fn check_stopped(mount: &FaultMount, arguments: &[&str], expected: &str) {
    let (master, screen) = terminal(100, 24);
    let mut command = statwalk();
    command.args(arguments).args(["-j2", "."]);
    command.current_dir(mount.path()).env("NO_COLOR", "1");
    command.stderr(Stdio::null());
    // A page is nothing for a terminal.
    match arguments.contains(&"html") {
        true => command.stdout(Stdio::piped()),
        false => command.stdout(screen),
    };
    let mut child = program::spawn(&mut command);
    drop(command);
    let hangs = mount.wait_for(LONG, |counts| counts.hanging == 1);
    assert!(hangs, "{arguments:?} does not hang");
    wait_until_the_rest_is_read(mount);
    send(&child, Signal::INT);
    let text = match child.stdout.take() {
        Some(mut out) => {
            let mut text = String::new();
            out.read_to_string(&mut text).unwrap();
            text
        }
        None => text_on(master),
    };
    assert_eq!(child.wait().unwrap().signal(), Some(2), "{arguments:?}");
    assert!(text.contains(expected), "{arguments:?}: {text}");
    let mut whole = ["alive (inc", "alive/ (inc", "alive` (inc"].iter();
    assert!(
        !whole.any(|row| text.contains(row)),
        "{arguments:?}: {text}"
    );
}

/// It was 2, and a shell that runs a loop went on.
#[test]
fn a_signal_comes_before_what_cannot_be_written_or_is_missing() {
    for arguments in [
        &["-s", "-j2"][..],
        &["--json", "-j2"],
        &["top", "-j2"],
        &["stats", "-j2"],
        &["errors", "--json", "-j2"],
        &["extents", "-j2"],
        // An order with one worker could begin with the directory that hangs.
        &["bench", "--rounds=2", "--vary=buffer"],
    ] {
        let mount = or_skip!(half_dead());
        let mut command = statwalk();
        command.args(arguments).current_dir(mount.path());
        if arguments[0] != "bench" {
            command.args([".", "./missing"]);
        }
        let full = std::fs::File::options().write(true).open("/dev/full");
        command.stdout(full.unwrap()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let hangs = mount.wait_for(LONG, |counts| counts.hanging == 1);
        assert!(hangs, "{arguments:?} does not hang");
        wait_until_the_rest_is_read(&mount);
        send(&child, Signal::INT);
        let mut err = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut err).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(2), "{arguments:?}: {err}");
    }
}

/// It waited for the worker that hangs, until a signal came.
#[test]
fn find_ends_at_once_where_nothing_can_be_written() {
    for (stdout, code) in [("/dev/full", 2), ("a closed pipe", 0)] {
        let mount = or_skip!(half_dead());
        let mut command = statwalk();
        command.args(["find", "-j2"]).current_dir(mount.path());
        match stdout {
            "/dev/full" => {
                let full = std::fs::File::options().write(true).open(stdout);
                command.stdout(full.unwrap());
            }
            _ => {
                let (from, to) = std::io::pipe().unwrap();
                drop(from);
                command.stdout(to);
            }
        }
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let start = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < LONG);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{stdout}: {err}");
        assert_eq!(err.contains("no space left on device"), code == 2, "{err}");
    }
}

#[test]
fn others_go_on_where_one_worker_hangs() {
    // The first directory that is read is the one that hangs.
    let fs = FaultFs::builder().dir("dead").files("alive", 5, 1000).hang(
        "dead",
        Op::Opendir,
        Hang::UntilSignal,
    );
    let mount = or_skip!(fs.mount());
    let child = hanging(&mount, &["-sA", "-j2"]);
    wait_until_the_rest_is_read(&mount);
    send(&child, Signal::TERM);
    let (status, out, err) = end(child);
    assert_eq!(
        (status.signal(), out.as_str()),
        (Some(15), "5000\t.\n"),
        "{err}"
    );
}

#[test]
fn find_prints_what_it_found_before_the_signal() {
    let mount = or_skip!(half_dead());
    let child = hanging(&mount, &["find", "-j2"]);
    wait_until_the_rest_is_read(&mount);
    send(&child, Signal::INT);
    let (status, out, err) = end(child);
    assert_eq!(status.signal(), Some(2), "{err}");
    assert_eq!(
        out.lines()
            .filter(|path| path.starts_with("./alive/f"))
            .count(),
        5,
        "{out}"
    );
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let mount = or_skip!(half_dead());
    // The answer is longer than a pipe holds, and nobody reads it.
    let many = Tree::new("");
    for n in 0..1_000 {
        let name = format!("{}{n}", "x".repeat(150));
        std::fs::create_dir(many.path().join(name)).unwrap();
    }
    let mut command = statwalk();
    command
        .args(["--json", "tree"])
        .arg(mount.path())
        .current_dir(many.parent());
    let mut child = start(&mut command, &mount);
    send(&child, Signal::INT);
    wait_until("it takes the signal", || !is_pending(&child, Signal::INT));
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it should be writing");
    send(&child, Signal::INT);
    let mut status = None;
    wait_until("the second signal ends it", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().signal(), Some(2));
}

#[test]
fn after_the_scan_one_signal_is_enough() {
    let many = Tree::new("");
    for n in 0..1_000 {
        let name = format!("{}{n}", "x".repeat(150));
        std::fs::create_dir(many.path().join(name)).unwrap();
    }
    for arguments in [&["tree"][..], &["find", "tree"]] {
        let mut command = statwalk();
        command.args(arguments).current_dir(many.parent());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Nobody reads, so it is stuck in its answer.
        let mut first = [0];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "it should be writing");
        send(&child, Signal::TERM);
        let mut status = None;
        wait_until("the signal ends it", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().signal(), Some(15), "{arguments:?}");
    }
}

#[test]
fn the_status_is_told_on_request() {
    let mount = or_skip!(half_dead());
    let child = hanging(&mount, &["-s", "-j2"]);
    wait_until_the_rest_is_read(&mount);
    for _ in 0..2 {
        send(&child, Signal::USR1);
        // One that comes before the last was answered can be the same.
        wait_until("it takes the signal", || !is_pending(&child, Signal::USR1));
        std::thread::sleep(stretched(Duration::from_millis(300)));
    }
    mount.release();
    let (status, out, err) = end(child);
    assert_eq!(status.code(), Some(0), "{err}");
    assert_eq!(out.lines().count(), 1);
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 2, "{err}");
    assert!(lines[0].starts_with("statwalk: "), "{err}");
    assert!(lines[0].contains(" entries · "), "{err}");
    assert!(lines[0].ends_with("./dead"), "{err}");
}
