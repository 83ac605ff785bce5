// SPDX-License-Identifier: MIT OR Apache-2.0

//! System calls that a filter refuses, one by one: those of containers and of old kernels.
//!
//! strace first shows which calls a job of the program makes, so the list is the program's own.
//! Then it refuses each of them, in place of seccomp. The answer is the one without a
//! filter, or the program says that something is missing and why.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use statwalk_testkit::mounts::{FileSystem, bind};
use statwalk_testkit::{Skipped, or_skip, program, text, unprivileged};

use crate::run::{Answer, Tree, sorted};

/// The errors of filters: systemd and Podman, Docker, and one that looks like a right that
/// the user lacks.
const ERRORS: [(&str, &str); 3] = [
    ("ENOSYS", "function not implemented"),
    ("EPERM", "operation not permitted"),
    ("EACCES", "permission denied"),
];

/// No program lives without these.
const VITAL: [&str; 5] = [
    "execve",
    "exit",
    "exit_group",
    "rt_sigreturn",
    "restart_syscall",
];

/// Memory, threads and signals: the first job tries them for all.
const OF_THE_RUNTIME: [&str; 17] = [
    "brk",
    "clone3",
    "futex",
    "getrandom",
    "gettid",
    "madvise",
    "mmap",
    "mprotect",
    "munmap",
    "prctl",
    "prlimit64",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "sched_getaffinity",
    "set_robust_list",
    "uname",
];

/// The reason why a run without an answer is none of the program's faults.
fn excuse(call: &str, error: &str, answer: &Answer) -> Option<&'static str> {
    let text = answer.stderr.as_str();
    match (call, answer.code) {
        ("write", Some(2)) => Some("nothing can be said without write"),
        // `__libc_fatal` of glibc, sysdeps/nptl/futex-internal.h: it knows four errors.
        ("futex", None) if text.starts_with("The futex facility returned") => {
            Some("the C library aborts")
        }
        // library/std/src/sys/random/linux.rs takes ENOSYS and EPERM for a filter.
        ("getrandom", None) if error == "EACCES" && text.contains("random data") => {
            Some("the standard library has no other source for its hash tables")
        }
        // The standard library asserts it: `closedir` in library/std/src/sys/fs/unix.rs, and
        // with debug assertions fcntl for each descriptor.
        ("close", None) if text.contains("during closedir") => Some("the standard library aborts"),
        _ => None,
    }
}

/// A user who runs the program, with a program that this user can read.
struct Runner<'t> {
    tree: &'t Tree,
    program: PathBuf,
    start: fn() -> Result<Command, Skipped>,
}

impl Runner<'_> {
    /// Runs the program under strace.
    fn run(&self, strace: &[&str], words: &[&str]) -> Result<Answer, Skipped> {
        let mut command = (self.start)()?;
        program::in_known_surroundings(&mut command);
        // A run that does not end is killed with strace and without a status.
        command.args(["-s", "KILL", "60", "strace", "-f", "-qq"]);
        command.args(strace).arg(&self.program).args(words);
        command.current_dir(self.tree.parent());
        let answer = Answer::of(&mut command);
        if answer.stderr.contains("strace:") || answer.stderr.contains("ptrace") {
            return Err(Skipped::needs("strace, and the right to trace"));
        }
        Ok(answer)
    }

    /// The calls that a job makes itself, each with the number that the loader made before.
    fn calls(&self, strace: &[&str], words: &[&str]) -> Result<BTreeMap<String, usize>, Skipped> {
        let trace = self.tree.parent().join("trace");
        let path = trace.to_str().unwrap();
        self.run(&[&["-o", path], strace].concat(), words)?;
        let text = std::fs::read_to_string(&trace).unwrap();
        std::fs::remove_file(&trace).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let lines: Vec<&str> = lines.map(|(_, line)| line.trim_start()).collect();
        // The first call of a program, after those of the loader: `prepare` in
        // crates/statwalk-sys/src/entry_point.rs, or the runtime of Rust.
        let start = (lines.iter())
            .position(|line| line.starts_with("fcntl(0, F_GETFD") || line.starts_with("poll("));
        let (loader, own) = lines.split_at(start.expect("the program begins"));
        let name = |line: &&str| Some(line.split_once('(')?.0.to_owned());
        let own = own.iter().filter_map(name);
        let is_call = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let mut calls: BTreeMap<String, usize> =
            own.filter(is_call).map(|call| (call, 0)).collect();
        calls.retain(|call, _| !VITAL.contains(&call.as_str()));
        for call in loader.iter().filter_map(name) {
            calls.entry(call).and_modify(|count| *count += 1);
        }
        Ok(calls)
    }

    /// How often a call must be allowed for the program to begin: never, or as often as
    /// the loader makes it, where that dies without it.
    ///
    /// strace counts for each thread, so a thread may make the call as often again.
    fn allowance(&self, call: &str, of_loader: usize) -> Result<usize, Skipped> {
        if of_loader == 0 {
            return Ok(0);
        }
        let begins = self.without(call, 0, "EPERM", &["--version"])?.code == Some(0);
        // Nothing is written without write, and that is another matter.
        Ok(if begins || call == "write" {
            0
        } else {
            of_loader
        })
    }

    /// Runs a job without some calls.
    fn without(
        &self,
        calls: &str,
        after: usize,
        error: &str,
        words: &[&str],
    ) -> Result<Answer, Skipped> {
        let inject = format!("inject={calls}:error={error}:when={}+", after + 1);
        let trace = format!("trace={calls}");
        let strace = [
            "--seccomp-bpf",
            "-o",
            "/dev/null",
            "-e",
            &trace,
            "-e",
            &inject,
        ];
        self.run(&strace, words)
    }
}

/// The part of an answer that is the same in each run.
fn facts(answer: &Answer) -> Vec<String> {
    let Ok(mut json) = serde_json::from_slice::<Value>(&answer.stdout) else {
        return sorted(&answer.stdout, b'\n');
    };
    let document = json.as_object_mut().unwrap();
    for moving in ["started_s", "started_ns", "elapsed_s", "host", "plan"] {
        document.remove(moving);
    }
    // A report shows less where less is known of host and disk, and each sync of btrfs counts.
    for (part, moving) in [("report", "bytes"), ("extents", "file_systems")] {
        if let Some(part) = document.get_mut(part).and_then(Value::as_object_mut) {
            part.remove(moving);
        }
    }
    for file_system in (document.get_mut("file_systems"))
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        file_system.as_object_mut().unwrap().remove("elapsed_s");
    }
    vec![json.to_string()]
}

/// Whether each part of `statwalk df --json` is as it should be, or said to be unknown.
fn says_what_is_unknown(found: &Answer, expected: &Answer) -> bool {
    let space = |answer: &Answer| {
        let mut json = serde_json::from_slice::<Value>(&answer.stdout).ok()?;
        Some(json.get_mut("file_systems")?.get_mut(0)?.take())
    };
    let (Some(found), Some(expected)) = (space(found), space(expected)) else {
        return false;
    };
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    let part = |space: &Value, part: &str| {
        let parts = space["parts"].as_array().unwrap().iter();
        let mut bytes = parts.filter(|row| row["part"] == part);
        bytes.next().map(|row| row["bytes"].clone())
    };
    let parts = ["reached", "deleted-open", "hidden-by-mounts"];
    let is_right = |name: &&str| {
        let found = part(&found, name);
        found.is_none() || found == part(&expected, name)
    };
    !is_empty(&found["unknown"]) && parts.iter().all(is_right)
}

/// Refuses each call of each job: with all errors where no earlier job made the call, else
/// with one of them in turn. Without those that another test has `tried`.
fn refuse_each(runner: &Runner<'_>, jobs: &[&[&str]], tried: &[&str]) -> Result<(), Skipped> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut turn = 0;
    let mut faults = Vec::new();
    for words in jobs {
        let expected = runner.run(&["-o", "/dev/null", "-e", "trace=none"], words)?;
        assert_eq!(expected.code, Some(0), "{words:?}: {}", expected.stderr);
        for (call, of_loader) in runner.calls(&[], words)? {
            if tried.contains(&call.as_str()) {
                continue;
            }
            let (allowed, errors) = match known.get(&call) {
                Some(_) if OF_THE_RUNTIME.contains(&call.as_str()) => continue,
                Some(&allowed) => (allowed, &ERRORS[turn % ERRORS.len()..][..1]),
                None => (runner.allowance(&call, of_loader)?, &ERRORS[..]),
            };
            turn += 1;
            known.insert(call.clone(), allowed);
            for (error, text) in errors {
                let answer = runner.without(&call, allowed, error, words)?;
                if !is_sound(&answer, &expected, text) && excuse(&call, error, &answer).is_none() {
                    faults.push(format!(
                        "{words:?} without {call} ({error}, after {allowed}): {:?} {}\n  {:?}\n  {:?}",
                        answer.code,
                        answer.stderr.trim_end(),
                        facts(&answer),
                        facts(&expected)
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
    // The list is the program's own, so an empty one is a test of nothing.
    for call in ["statx", "openat", "getdents64", "geteuid", "fcntl"] {
        assert!(known.contains_key(call), "{call}: {known:?}");
    }
    Ok(())
}

/// Whether an answer is the expected one, or says what is missing and why.
fn is_sound(answer: &Answer, expected: &Answer, reason: &str) -> bool {
    let said = [&answer.stderr[..], &String::from_utf8_lossy(&answer.stdout)].concat();
    match answer.code {
        Some(0) => facts(answer) == facts(expected) || says_what_is_unknown(answer, expected),
        Some(1) => said.contains(reason),
        // A job that cannot begin names what it cannot do, and where.
        Some(2) => said.starts_with("statwalk: cannot "),
        _ => false,
    }
}

/// Some entries with a hard link and a symbolic one.
const ENTRIES: &str = "a/\na/b/\na/b/file 7000\na/file 100\nlink -> a\nc/\nc/hard = a/file";

fn as_root(tree: &Tree) -> Runner<'_> {
    Runner {
        tree,
        program: env!("CARGO_BIN_EXE_statwalk").into(),
        start: || Ok(Command::new("timeout")),
    }
}

fn as_nobody(tree: &Tree) -> Runner<'_> {
    let program = Path::new(env!("CARGO_BIN_EXE_statwalk"));
    let program = unprivileged::publish(program, tree.parent()).unwrap();
    // Traces and reports are written here.
    std::fs::set_permissions(tree.parent(), Permissions::from_mode(0o777)).unwrap();
    Runner {
        tree,
        program,
        start: || unprivileged::command("timeout"),
    }
}

#[test]
fn answers_of_an_ordinary_user_are_right_or_say_why_not() {
    let tree = Tree::new(ENTRIES);
    let report = ["report", "--force", "-o", "report.html", "--json", "tree"];
    let jobs: [&[&str]; 4] = [
        &["--json", "-j2", "tree"],
        &["find", "-j1", ".", "tree"],
        &["top", "-j2", "tree"],
        &report,
    ];
    or_skip!(refuse_each(&as_nobody(&tree), &jobs, &[]));
}

/// A directory that is mounted twice, another file system, and one of the kernel: their
/// totals rest on more calls.
#[test]
fn answers_about_mounts_are_right_or_say_why_not() {
    let tree = Tree::new("m/");
    let at = tree.path().join("m");
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    text::parse(ENTRIES)
        .unwrap()
        .materialise(&at.join("t"))
        .unwrap();
    let mut others = Vec::new();
    for (name, source) in [
        ("bound", at.join("t/a")),
        ("kernel", "/proc/self/net".into()),
    ] {
        std::fs::create_dir(at.join(name)).unwrap();
        others.push(or_skip!(bind(&source, &at.join(name))));
    }
    std::fs::create_dir(at.join("other")).unwrap();
    others.push(or_skip!(FileSystem::Tmpfs.mount(&at.join("other"))));
    std::fs::write(at.join("other/file"), [7; 5000]).unwrap();
    mounted.settle().unwrap();
    let jobs: [&[&str]; 7] = [
        &["-j1", "tree"],
        &["--json", "-j2", "tree"],
        &["-x", "--json", "-s", "-j2", "tree"],
        &["--count", "--json", "-j2", "tree"],
        &["stats", "--json", "tree"],
        &["errors", "tree"],
        &["df", "--json", "tree/m"],
    ];
    or_skip!(refuse_each(&as_root(&tree), &jobs, &OF_THE_RUNTIME));
    drop(others);
}

/// File systems that are read without the kernel.
#[test]
fn answers_from_devices_are_right_or_say_why_not() {
    let tree = Tree::new("e/\nb/");
    let mut mounted = Vec::new();
    for (name, file_system) in [("e", FileSystem::Ext4), ("b", FileSystem::Btrfs)] {
        let at = tree.path().join(name);
        let there = or_skip!(file_system.mount(&at));
        text::parse(ENTRIES)
            .unwrap()
            .materialise(&at.join("t"))
            .unwrap();
        there.settle().unwrap();
        mounted.push(there);
    }
    let jobs: [&[&str]; 3] = [
        &["--source", "ext4", "--json", "tree/e"],
        &["--source", "btrfs", "--json", "tree/b"],
        &["extents", "--json", "tree/b"],
    ];
    or_skip!(refuse_each(&as_root(&tree), &jobs, &OF_THE_RUNTIME));
}

/// Without statx and fstatat there is no size of anything.
#[test]
fn without_any_stat_there_is_no_answer() {
    let tree = Tree::new(ENTRIES);
    let runner = as_root(&tree);
    let without_statx = ["-e", "inject=statx:error=EPERM"];
    let calls = or_skip!(runner.calls(&without_statx, &["tree"]));
    // The loader stats its libraries before the program begins.
    let libraries = calls["newfstatat"];
    for (error, text) in ERRORS {
        let statx = format!("inject=statx:error={error}");
        let fstatat = format!("inject=newfstatat:error={error}:when={}+", libraries + 1);
        let strace = ["-o", "/dev/null", "-e", &statx, "-e", &fstatat];
        for words in [&["tree"][..], &["find", ".", "tree"], &["df", "tree"]] {
            let answer = or_skip!(runner.run(&strace, words));
            let told = format!("{words:?} {error}: {:?} {}", answer.code, answer.stderr);
            assert_eq!((answer.code, answer.stdout.len()), (Some(2), 0), "{told}");
            let is_named = answer.stderr.contains("statx and fstatat are refused");
            assert!(
                is_named || words[0] == "df" && told.contains(text),
                "{told}"
            );
        }
    }
}
