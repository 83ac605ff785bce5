// SPDX-License-Identifier: MIT OR Apache-2.0

//! Errors of the kernel itself, to every system call that the program makes:
//! strace answers in place of the kernel.
//!
//! The answer is exact, or says that it is not, or there is none and a reason;
//! never a crash, never a hang.

use std::collections::BTreeSet;
use std::process::Command;

use statwalk_testkit::{Scratch, Skipped, or_skip, strategy};

use crate::program;
use crate::sound::{Sound, View};
use statwalk_testkit::attack::Attack;

/// Calls of a scan, the ones that matter most first. Without those that only the
/// C library makes before the program begins, such as `brk`: it dies of an error.
/// And without those that cannot fail, such as `prlimit64` of a limit that exists.
const CALLS: [&str; 22] = [
    "openat",
    "openat2",
    "statx",
    "getdents64",
    "fstatfs",
    "close",
    "fcntl",
    "lseek",
    "mmap",
    "write",
    "readlink",
    "ioctl",
    "newfstatat",
    "fstat",
    "read",
    "pread64",
    "poll",
    "clone3",
    "mprotect",
    "sched_getaffinity",
    "munmap",
    "rt_sigaction",
];

const ERRORS: [&str; 20] = [
    "ENOENT",
    "EIO",
    "EINTR",
    "ENOMEM",
    "EACCES",
    "ELOOP",
    "ENOTDIR",
    "EXDEV",
    "ESTALE",
    "EMFILE",
    "ENFILE",
    "EAGAIN",
    "EINVAL",
    "ENOSYS",
    "EPERM",
    "EBADF",
    "EFAULT",
    "EOVERFLOW",
    "ENOSPC",
    "EPIPE",
];

fn strace() -> Result<(), Skipped> {
    let probe = Command::new("strace")
        .args(["-o", "/dev/null", "true"])
        .status();
    match probe {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Skipped::needs("strace, and the right to trace")),
    }
}

#[test]
fn errors_of_the_kernel_are_told() {
    or_skip!(strace());
    let limits = strategy::Limits {
        entries_max: 40,
        depth_max: 5,
        size_bytes_max: 10_000,
        kinds: strategy::Kinds::All,
    };
    let model = strategy::of_seed(&strategy::models(limits), 12);
    let sound = Sound::of(&model);
    let scratch = Scratch::new().unwrap();
    model.materialise(&scratch.path().join("tree")).unwrap();
    let mut struck = BTreeSet::new();
    let attack = Attack {
        kind: "injected_errors",
        rounds_small: 66,
        checks_least: 1,
    };
    attack.run(|round| {
        let call = *round.in_turn(&CALLS);
        let first = match round.random.below(3) {
            // The first is made by the C library before the program begins.
            _ if call == "mprotect" => 2 + round.random.below(10),
            0 => 1,
            _ => 1 + round.random.below(20),
        };
        let error = *round.in_turn(&ERRORS);
        // Where debug assertions are on, std asks with fcntl whether a descriptor that it
        // closes is open, and aborts where it is not.
        let error = match (call, error) {
            ("fcntl", "EBADF") => "EPERM",
            (_, error) => error,
        };
        // For ever interrupted is no kernel: the standard library would wait for ever.
        // A write that says "try again" for ever is a terminal that is paused.
        let often: &[&str] = match error {
            "EINTR" => &["", "+2", "+7"],
            "EAGAIN" if call == "write" => &["", "+2", "+7"],
            _ => &["", "", "+", "+2", "+7"],
        };
        let often = *round.random.pick(often);
        let view = *round.random.pick(&View::ALL);
        let mut command = program::command("strace");
        // `-qq` keeps what strace itself says out of stderr.
        command
            .args(["-f", "-qq", "-o"])
            .arg(scratch.path().join("calls"));
        command.args(["-e", &format!("trace={call}"), "-e"]);
        command.arg(format!("inject={call}:error={error}:when={first}{often}"));
        command.arg(program::path()).args(view.arguments());
        let threads = format!("-j{}", 1 + round.random.below(4));
        let order = round
            .random
            .pick(&["parallel", "recursive", "queue", "inode"]);
        command.args([&threads, "--order", order, "tree"]);
        command.current_dir(scratch.path());
        let ended = program::run(&mut command);
        let calls = std::fs::read(scratch.path().join("calls")).unwrap();
        if String::from_utf8_lossy(&calls).contains("(INJECTED)") {
            struck.insert(call);
        }
        // A dynamic program has a loader, which makes the first calls. Where they fail
        // the program does not begin.
        if ended.code() == Some(127) && ended.stdout.is_empty() {
            let is_loader = ended
                .stderr
                .contains("error while loading shared libraries");
            round.check(is_loader, || ended.told());
            return;
        }
        // Part of the answer may be there before a write fails, and all that
        // would be said of it may be what fails.
        if call == "write" && ended.code() == Some(2) {
            round.check(true, String::new);
            return;
        }
        // A reader that left is no failure.
        if call == "write" && error == "EPIPE" && ended.code() == Some(0) {
            round.check(true, String::new);
            return;
        }
        sound.judge(round, &ended, view, b"tree", &[0, 1, 2]);
    });
    println!("struck: {struck:?}");
}
