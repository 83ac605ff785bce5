// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where the system grants little: no threads, a small stack, little memory, few
//! open files.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use statwalk_testkit::fault_fs::{FaultFs, Latency, Where};
use statwalk_testkit::program::{self, ORDERS};
use statwalk_testkit::{Skipped, or_skip, stretched, unprivileged};

use crate::run::{Answer, LONG, Tree, statwalk, terminal, text_on};

/// No limit of threads holds for root.
const NO_THREADS: &str = "--nproc=0";

/// A tree with links, a large directory, and many levels.
fn tree() -> Tree {
    let tree = Tree::new("a/\na/b/\na/b/f 100\na/g 5000\nlarge/\ndeep/\n");
    for number in 0..2_500 {
        std::fs::write(tree.path().join(format!("large/f{number}")), [b'x'; 3]).unwrap();
    }
    for number in 0..60 {
        std::fs::create_dir_all(tree.path().join(format!("many/d{number}/e/f"))).unwrap();
    }
    let mut deep = tree.path().join("deep");
    for _ in 0..150 {
        deep.push("d");
    }
    std::fs::create_dir_all(deep).unwrap();
    let (first, second) = (tree.path().join("a/g"), tree.path().join("many/g"));
    std::fs::hard_link(first, second).unwrap();
    tree
}

/// The program under limits, as prlimit(1) names them, beside a tree.
fn limited(tree: &Tree, limits: &[&str]) -> Result<Command, Skipped> {
    let program = Path::new(env!("CARGO_BIN_EXE_statwalk"));
    limited_program(program, tree, limits, Command::new("prlimit"))
}

/// As [`limited`], as somebody who is not root.
fn limited_user(tree: &Tree, limits: &[&str]) -> Result<Command, Skipped> {
    let program = Path::new(env!("CARGO_BIN_EXE_statwalk"));
    let copy = match tree.parent().join("statwalk") {
        copy if copy.exists() => copy,
        _ => unprivileged::publish(program, tree.parent()).unwrap(),
    };
    let prlimit = unprivileged::command("prlimit")?;
    limited_program(&copy, tree, limits, prlimit)
}

fn limited_program(
    program: &Path,
    tree: &Tree,
    limits: &[&str],
    mut prlimit: Command,
) -> Result<Command, Skipped> {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return Err(Skipped::needs("prlimit"));
    }
    program::in_known_surroundings(&mut prlimit);
    prlimit.args(limits).arg("--").arg(program);
    prlimit.current_dir(tree.parent());
    Ok(prlimit)
}

/// An answer without what differs from run to run.
fn timeless(answer: &Answer) -> Value {
    let mut document = answer.json();
    let fields = document.as_object_mut().unwrap();
    for time in ["elapsed_s", "started_s", "started_ns"] {
        fields.remove(time);
    }
    document
}

/// Where no thread was to be had, there was no answer: `start a worker for: Resource
/// temporarily unavailable`, also with `-j 1`.
#[test]
fn without_threads_every_order_gives_the_same_answer() {
    let tree = tree();
    for order in ORDERS {
        for workers in [&["-j1"][..], &["-j7"]] {
            let arguments = [&["--json", "-d9", "--order", order, "tree"][..], workers].concat();
            let with = Answer::of(or_skip!(limited_user(&tree, &[])).args(&arguments));
            let with = timeless(&with.good());
            // Also where there is one at first, and no more later.
            for limit in [NO_THREADS, "--nproc=2"] {
                let mut command = or_skip!(limited_user(&tree, &[limit]));
                let without = Answer::of(command.args(&arguments)).good();
                assert_eq!(timeless(&without), with, "{order} {limit}");
            }
        }
    }
}

/// The browser said that it needs a terminal, which was there: a thread was not.
#[test]
fn without_threads_the_browser_says_so() {
    let tree = tree();
    let limits = [NO_THREADS, "--", "setsid", "--ctty"];
    let mut command = or_skip!(limited_user(&tree, &limits));
    let (screen, slave) = terminal(80, 24);
    let stdio = || slave.try_clone().unwrap();
    command.args(["browse", "tree"]).env("TERM", "xterm");
    command.stdin(stdio()).stdout(stdio()).stderr(stdio());
    let mut child = program::spawn(&mut command);
    drop((command, slave));
    let shown = text_on(screen);
    assert_eq!(child.wait().unwrap().code(), Some(2), "{shown}");
    assert!(
        shown.contains("statwalk: cannot start a thread: "),
        "{shown}"
    );
    assert!(!shown.contains("needs a terminal"), "{shown}");
}

#[test]
fn without_threads_every_command_gives_the_same_answer() {
    let tree = tree();
    let commands: [&[&str]; 9] = [
        &["-sA", "tree"],
        &["--count", "tree", "tree/a"],
        &["--follow", "-sA", "tree"],
        &["find", "tree", "f1*"],
        &["find", "--json", "-j3", "tree", "d"],
        &["top", "-n5", "tree"],
        &["top", "--dirs", "-n5", "tree"],
        &["stats", "--json", "tree"],
        &["errors", "tree", "missing"],
    ];
    let take_times_away = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap();
        let words = text.split([',', '\n']);
        let times = ["elapsed_s", "started_s", "started_ns"];
        let words = words.filter(|word| !times.iter().any(|time| word.contains(time)));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    for arguments in commands {
        let without = Answer::of(or_skip!(limited_user(&tree, &[NO_THREADS])).args(arguments));
        let with = Answer::of(or_skip!(limited_user(&tree, &[])).args(arguments));
        assert_eq!(
            (without.code, &without.stderr),
            (with.code, &with.stderr),
            "{arguments:?}"
        );
        let (mut without, mut with) = (
            take_times_away(without.stdout),
            take_times_away(with.stdout),
        );
        // A search that takes long does not sort its rows.
        if arguments[0] == "find" {
            without.sort();
            with.sort();
        }
        let differs = without.iter().zip(&with).find(|(a, b)| a != b);
        assert!(without == with, "{arguments:?}: {differs:?}");
    }
    let bench = ["bench", "--vary", "order", "--rounds", "2", "tree"];
    let answer = Answer::of(or_skip!(limited_user(&tree, &[NO_THREADS])).args(bench));
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
}

/// The thread that would work is the one that sees signals.
#[test]
fn without_threads_signals_are_seen_in_the_middle_of_a_slow_directory() {
    let fs = FaultFs::builder()
        .files("many", 50_000, 1)
        .dirs("dirs", 10_000)
        .latency(Where::Everywhere, Latency::Fixed(Duration::from_millis(5)));
    let mount = or_skip!(fs.mount());
    let tree = Tree::new("");
    for arguments in [
        &["-sA"][..],
        &["-sA", "-j1"],
        &["-sA", "--order", "recursive"],
        &["-sA", "--order", "futures"],
        &["-sA", "--order", "inode"],
        &["find", "-j1", ".", "nothing"],
    ] {
        let mut command = or_skip!(limited_user(&tree, &[NO_THREADS]));
        command.args(arguments).current_dir(mount.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let before = mount.counts().lookup;
        let child = program::spawn(&mut command);
        assert!(mount.wait_for(LONG, |counts| counts.lookup > before + 50));
        let pid = Pid::from_child(&child);
        kill_process(pid, Signal::USR1).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        kill_process(pid, Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let took = start.elapsed();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            took < stretched(Duration::from_secs(5)),
            "{arguments:?}: {took:?}"
        );
        assert_eq!(output.status.signal(), Some(2), "{arguments:?}: {told}");
        assert!(
            told.contains(" · 0 B · ") || told.contains(" entr"),
            "{arguments:?}: {told}"
        );
        assert!(told.contains("interrupted"), "{arguments:?}: {told}");
    }
}

/// `ulimit -s 32` ended in SIGSEGV, where du and find run.
#[test]
fn a_small_stack_is_enough() {
    let tree = tree();
    let commands: [&[&str]; 6] = [
        &["--count", "tree"],
        &["-sA", "--order", "recursive", "tree"],
        &["-sA", "--sort", "name", "tree"],
        &["find", "tree", "f1*"],
        &["top", "--help"],
        &["completions", "bash"],
    ];
    for arguments in commands {
        let expected = Answer::of(statwalk().args(arguments).current_dir(tree.parent())).good();
        for limit in [
            "--stack=16384",
            "--stack=32768",
            "--stack=16384:unlimited",
            "--stack=unlimited",
        ] {
            let mut command = or_skip!(limited(&tree, &[limit]));
            let answer = Answer::of(command.args(arguments)).good();
            assert_eq!(answer.sorted(), expected.sorted(), "{limit}");
        }
        for limit in ["--stack=16384", "--stack=unlimited"] {
            let mut command = or_skip!(limited_user(&tree, &[limit, NO_THREADS]));
            let answer = Answer::of(command.args(arguments)).good();
            assert_eq!(answer.sorted(), expected.sorted(), "{limit}");
        }
    }
    let wrong = Answer::of(or_skip!(limited(&tree, &["--stack=16384"])).arg("--wrong"));
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
}

/// The address space that the program begins in. Below, the kernel or the loader ends it: how
/// large the program is depends on its build.
fn least_mib(tree: &Tree) -> Result<u64, Skipped> {
    let begins = |mib: u64| {
        let mut command = limited(tree, &[&format!("--as={}", mib << 20)])?;
        Ok(Answer::of(command.arg("--version")).code == Some(0))
    };
    let mut least = 8;
    while !begins(least)? {
        least += 1;
    }
    // Without optimisation, Parquet takes most of it.
    assert!(least < 80, "{least}");
    Ok(least)
}

/// With little address space the program aborted (SIGABRT).
#[test]
fn with_little_memory_there_is_an_answer_or_an_error() {
    let tree = tree();
    let arguments = ["--count", "-sA", "find", "top", "--json"];
    let expected = arguments.map(|argument| {
        let answer = Answer::of(
            statwalk()
                .args([argument, "tree"])
                .current_dir(tree.parent()),
        );
        answer.good().stdout.len()
    });
    let least = or_skip!(least_mib(&tree));
    let mut answers = 0;
    let enough = least + 18;
    for mib in [least, least + 6, enough, 128, 400] {
        let limit = format!("--as={}", mib << 20);
        for (argument, expected) in arguments.iter().zip(expected) {
            for way in [&["-j64"][..], &["--order", "futures"]] {
                let mut command = or_skip!(limited(&tree, &[&limit]));
                let answer = Answer::of(command.args([argument, "tree"]).args(way));
                let told = format!("{limit} {argument} {way:?}: {}", answer.stderr);
                match answer.code {
                    Some(0) => {
                        // A time is a part of the JSON.
                        assert!(answer.stdout.len().abs_diff(expected) < 300, "{told}");
                        answers += 1;
                    }
                    Some(2) => assert!(
                        answer.stderr.contains("statwalk: cannot allocate memory: "),
                        "{told}"
                    ),
                    other => panic!("{other:?} {told}"),
                }
                assert!(mib < enough || answer.code == Some(0), "{told}");
            }
        }
    }
    assert!(answers >= 30, "{answers}");
}

/// Room for a million directories is asked for before the first.
#[test]
fn what_cannot_be_allocated_is_said() {
    let tree = tree();
    let limit = format!("--as={}", (or_skip!(least_mib(&tree)) + 18) << 20);
    let mut command = or_skip!(limited(&tree, &[&limit]));
    let answer = Answer::of(command.args(["--order", "stack-reserved", "tree"]));
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    assert_eq!(answer.stdout, b"");
    assert!(
        answer
            .stderr
            .starts_with("statwalk: cannot allocate memory: "),
        "{}",
        answer.stderr
    );
    assert_eq!(answer.stderr.lines().count(), 1, "{}", answer.stderr);
}

#[test]
fn with_few_descriptors_there_is_an_answer_or_an_error() {
    let tree = tree();
    let inherited = inherited_descriptors();
    for arguments in [
        &["--count", "tree"][..],
        &["find", "tree"],
        &["-sA", "--order", "inode", "tree"],
        &["-sA", "--order", "futures", "-j8", "tree"],
    ] {
        let expected = Answer::of(statwalk().args(arguments).current_dir(tree.parent())).good();
        for files in [3, 4, 5, 6, 8, 16, 20] {
            let limit = format!("--nofile={}", files + inherited);
            let answer = Answer::of(or_skip!(limited(&tree, &[&limit])).args(arguments));
            let told = format!("{limit} {arguments:?}: {}", answer.stderr);
            match answer.code {
                Some(0) => assert_eq!(answer.sorted(), expected.sorted(), "{told}"),
                Some(1) => assert!(answer.stderr.contains("too many open files"), "{told}"),
                // A dynamic program needs a descriptor before it begins: ld.so(8).
                Some(127) if files == 3 => {
                    assert!(answer.stderr.contains("shared libraries"), "{told}");
                }
                other => panic!("{other:?} {told}"),
            }
            assert!(files < 16 || answer.code == Some(0), "{told}");
        }
    }
}

/// The descriptors, besides the three, that programs inherit from this process. The
/// program that started the tests can have left some: `flock FILE cargo test` does.
fn inherited_descriptors() -> usize {
    let descriptors = std::fs::read_dir("/proc/self/fdinfo").unwrap();
    let flags = descriptors.filter_map(|descriptor| {
        let descriptor = descriptor.unwrap();
        let number: u32 = descriptor.file_name().to_str()?.parse().ok()?;
        // The one of this directory is closed again.
        let info = std::fs::read_to_string(descriptor.path()).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let flags = u32::from_str_radix(flags.trim(), 8).ok()?;
        (number > 2).then_some(flags)
    });
    flags
        .filter(|flags| flags & OFlags::CLOEXEC.bits() == 0)
        .count()
}

/// With threads, the kernel waits for all processors whenever the table of descriptors grows.
#[test]
fn the_table_of_descriptors_has_room_before_there_are_threads() {
    let tree = tree();
    let mut strace = program::command("strace");
    if strace.arg("--version").output().is_err() {
        return Skipped::needs("strace").report();
    }
    for open_files in [None, Some("--nofile=300:300"), Some("--nofile=8:8")] {
        let log = tree.parent().join("log");
        let mut command = program::command("strace");
        command.args(["-f", "-o"]).arg(&log);
        command.args(["-e", "trace=fcntl,clone,clone3"]);
        if let Some(limit) = open_files {
            command.args(["prlimit", limit]);
        }
        command.arg(env!("CARGO_BIN_EXE_statwalk"));
        command.args(["-s", "-j4", "--source", "posix", "tree"]);
        Answer::of(command.current_dir(tree.parent())).good();
        let log = std::fs::read_to_string(log).unwrap();
        let place = |word: &str| log.lines().position(|line| line.contains(word));
        let room = place("F_DUPFD_CLOEXEC").expect(&log);
        let thread = place("clone").expect(&log);
        assert!(room < thread, "{log}");
        let answer = log.lines().nth(room).unwrap().rsplit("= ").next().unwrap();
        let expected = match open_files {
            None => "4095",
            Some("--nofile=300:300") => "299",
            _ => "7",
        };
        assert_eq!(answer.trim(), expected, "{log}");
    }
}
