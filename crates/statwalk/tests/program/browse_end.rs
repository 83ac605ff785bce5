// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ends of the browser: signals, a terminal that is gone, and a lack of memory.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use rustix::termios::{LocalModes, tcgetattr};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::{or_skip, program, stretched};

use super::browse::{Browser, LEAVE_SCREEN, remover, tree};
use super::run::{LONG, Tree, resize, terminal, wait_until};

/// Much longer than the browser may take to end, and much shorter than for ever.
const SOON: Duration = Duration::from_secs(15);

/// Whether a terminal is as it was before: it shows what is typed.
fn is_cooked(terminal: impl AsFd) -> bool {
    let modes = tcgetattr(terminal).unwrap().local_modes;
    modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
}

/// The lock of the journal, as another process holds it.
fn locked_journal(tree: &Tree) -> File {
    let state = tree.parent().join(".local/state/statwalk");
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&state).unwrap();
    let mut options = OpenOptions::new();
    let journal = options.append(true).create(true);
    let journal = journal.open(state.join("removed.jsonl")).unwrap();
    flock(&journal, FlockOperation::LockExclusive).unwrap();
    journal
}

/// Neither a signal nor `q` ended the browser while a removal waited for the lock of the
/// journal, and a second signal left the terminal raw. Then the browser ended, and left the
/// removal behind. The end stops the removal now: nothing was begun, and nothing is left.
#[test]
fn a_removal_that_waits_does_not_hold_up_the_end() {
    let ends = [
        Some(Signal::TERM),
        Some(Signal::INT),
        Some(Signal::HUP),
        Some(Signal::QUIT),
        None,
    ];
    for end in ends {
        let tree = tree();
        let lock = locked_journal(&tree);
        let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
        assert!(!is_cooked(&browser.screen));
        browser.press("d");
        browser.wait_for("[Cancel]");
        browser.press("y");
        browser.wait_for("removing (Esc stops)");
        let begin = Instant::now();
        match end {
            Some(signal) => browser.signal(signal),
            None => browser.press("q"),
        }
        let (status, _, shown) = browser.end();
        let took = begin.elapsed();
        assert!(took < stretched(SOON), "{end:?}: {took:?}");
        assert_eq!(status.signal(), end.map(Signal::as_raw));
        if end.is_none() {
            assert_eq!(status.code(), Some(0));
        }
        assert!(shown.contains(LEAVE_SCREEN) && !shown.contains("left a removal"));
        assert!(tree.path().join("sub/a").exists());
        assert_eq!(lock.metadata().unwrap().len(), 0);
    }
}

/// A removal hung in a call of a file system, and not at the journal.
#[test]
fn a_file_system_that_hangs_in_a_removal_does_not_hold_up_the_end() {
    let ends = [None, Some(Signal::TERM), Some(Signal::HUP)];
    for (op, path) in [
        (Op::Unlink, "sub/file"),
        (Op::Rmdir, "sub/empty"),
        (Op::Rename, "sub"),
    ] {
        for (end, hang) in ends
            .into_iter()
            .zip([Hang::UntilSignal, Hang::UntilReleased].into_iter().cycle())
        {
            let tree = tree();
            let fs = FaultFs::builder().file("sub/file", 30_000).dir("sub/empty");
            // The trash of the home, where a move needs no new directory.
            let fs = fs
                .dir("home/.local/share/Trash/files")
                .dir("home/.local/share/Trash/info");
            let mount = or_skip!(fs.writable().hang(path, op, hang).mount());
            let root = mount.path().to_str().unwrap().to_owned();
            let state = tree.parent().join("state").display().to_string();
            let environment = vec![
                ("HOME", mount.join("home").display().to_string()),
                ("XDG_STATE_HOME", state),
            ];
            let arguments = ["--enable-delete", &root];
            let started = Browser::with(tree.parent(), &arguments, environment, Stdio::inherit);
            let mut browser = or_skip!(started);
            browser.wait_for("sub/");
            browser.wait_for_scan();
            browser.jump_to("sub");
            browser.press("d");
            browser.wait_for("[Cancel]");
            browser.press(if op == Op::Rename { "y" } else { "\t\t\rsub\r" });
            browser.wait_for("removing (Esc stops)");
            let hangs = mount.wait_for(LONG, |counts| counts.hanging == 1);
            assert!(hangs, "{op:?}: {}", browser.screen());
            // Keys are taken meanwhile.
            browser.press("?");
            browser.wait_for("one row up");
            browser.press("q");
            wait_until("the help stays", || {
                !browser.screen().contains("one row up")
            });
            let begin = Instant::now();
            match end {
                Some(signal) => browser.signal(signal),
                None => browser.press("q"),
            }
            browser.wait_for_bytes("left a removal that still waits for the system");
            assert!(is_cooked(&browser.screen), "{op:?} {end:?}");
            let shown = browser.shown();
            assert!(shown.find(LEAVE_SCREEN) < shown.find("left a removal"));
            if hang == Hang::UntilReleased {
                // No signal ends the thread that waits, so the process waits with it.
                std::thread::sleep(Duration::from_millis(300));
                assert_eq!(browser.child.try_wait().unwrap(), None, "{op:?} {end:?}");
                mount.release();
            }
            let (status, ..) = browser.end();
            let took = begin.elapsed();
            assert!(took < stretched(SOON), "{op:?} {end:?}: {took:?}");
            assert_eq!(status.signal(), end.map(Signal::as_raw), "{op:?}");
            if end.is_none() {
                assert_eq!(status.code(), Some(1), "{op:?}");
            }
            // Another name was never touched.
            let is_renamed = op == Op::Rename && hang == Hang::UntilReleased;
            assert!(is_renamed || mount.join("sub").exists(), "{op:?} {end:?}");
        }
    }
}

/// SIGUSR1, which asks a scan for its status, killed the browser and left the terminal raw.
/// So did all signals that kill a program which does not know them.
#[test]
fn no_signal_leaves_the_terminal_raw() {
    let tree = tree();
    for signal in [Signal::USR1, Signal::PIPE, Signal::XFSZ, Signal::WINCH] {
        // A key before the rows of the end has no item.
        let mut browser = or_skip!(remover(&tree, &["tree"]));
        browser.signal(signal);
        browser.press("i");
        browser.wait_for("Disk usage");
        browser.press("\x1b");
        wait_until("the box stays", || !browser.screen().contains("Disk usage"));
        browser.press("q");
        assert_eq!(browser.end().0.code(), Some(0), "{signal:?}");
    }
    let ending = [
        Signal::USR2,
        Signal::ALARM,
        Signal::VTALARM,
        Signal::PROF,
        Signal::XCPU,
        Signal::IO,
        Signal::QUIT,
        Signal::HUP,
    ];
    for signal in ending {
        let browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
        browser.wait_for("sub/");
        browser.signal(signal);
        let screen = browser.screen.try_clone().unwrap();
        let (status, _, shown) = browser.end();
        let number = signal.as_raw();
        let ends = status.signal() == Some(number) || status.code() == Some(128 + number);
        assert!(ends, "{signal:?} {status:?}");
        assert!(is_cooked(screen), "{signal:?}");
        assert_eq!(shown.matches(LEAVE_SCREEN).count(), 1, "{signal:?}");
    }
}

/// A second signal ends it at once.
#[test]
fn the_second_signal_does_not_wait() {
    let tree = tree();
    let _lock = locked_journal(&tree);
    let mut browser = or_skip!(remover(&tree, &["--enable-delete", "tree"]));
    browser.press("d");
    browser.wait_for("[Cancel]");
    browser.press("y");
    browser.wait_for("removing (Esc stops)");
    browser.signal(Signal::TERM);
    wait_until("no screen", || browser.shown().contains(LEAVE_SCREEN));
    browser.signal(Signal::TERM);
    let screen = browser.screen.try_clone().unwrap();
    let (status, _, shown) = browser.end();
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    assert!(is_cooked(screen));
    assert_eq!(shown.matches(LEAVE_SCREEN).count(), 1);
}

/// A browser on a terminal that can be taken away, which ignores SIGHUP if asked.
struct Closable {
    child: Child,
    screen: Option<File>,
    parser: vt100::Parser,
}

impl Closable {
    fn start(tree: &Tree, is_deaf: bool, arguments: &str, shell: Option<&str>) -> Closable {
        let (screen, terminal) = terminal(80, 24);
        let trap = if is_deaf { "trap '' HUP; " } else { "" };
        let line = format!(
            "{trap}exec {} browse {arguments}",
            env!("CARGO_BIN_EXE_statwalk")
        );
        let mut command = program::command("setsid");
        command
            .args(["--ctty", "sh", "-c", &line])
            .current_dir(tree.parent())
            .env("TERM", "xterm-256color")
            .env("HOME", tree.parent())
            .envs(shell.map(|shell| ("SHELL", shell)))
            .stdin(terminal.try_clone().unwrap())
            .stderr(Stdio::null())
            .stdout(terminal);
        let child = program::spawn(&mut command);
        Closable {
            child,
            screen: Some(File::from(screen)),
            parser: vt100::Parser::new(24, 80, 0),
        }
    }

    /// Reads until a text is on the screen, and no scan goes on.
    fn wait_for(&mut self, text: &str) {
        let screen = self.screen.as_mut().unwrap();
        let begin = Instant::now();
        loop {
            let shown = self.parser.screen().contents();
            if shown.contains(text) && !shown.contains("reading:") {
                return;
            }
            assert!(begin.elapsed() < LONG, "{text} does not come: {shown}");
            let mut wanted = [PollFd::new(&*screen, PollFlags::IN)];
            let wait = Timespec::try_from(Duration::from_millis(100)).unwrap();
            if poll(&mut wanted, Some(&wait)).unwrap() > 0 {
                let mut bytes = [0; 4096];
                let count = screen.read(&mut bytes).unwrap();
                self.parser.process(&bytes[..count]);
            }
        }
    }

    fn press(&mut self, keys: &str) {
        let screen = self.screen.as_mut().unwrap();
        screen.write_all(keys.as_bytes()).unwrap();
    }

    /// Takes the terminal away, and waits for the end.
    fn close(mut self) -> std::process::ExitStatus {
        drop(self.screen.take());
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if begin.elapsed() > LONG {
                let _ = self.child.kill();
                panic!("the browser does not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// `trap '' HUP`, then the window was closed: the browser used a whole processor for ever.
#[test]
fn the_end_of_the_terminal_is_the_end() {
    or_skip!(
        program::command("setsid")
            .arg("--version")
            .output()
            .map_err(|_| { statwalk_testkit::Skipped::needs("setsid") })
    );
    for is_deaf in [true, false] {
        let ends = |status: std::process::ExitStatus| match is_deaf {
            true => assert_eq!(status.code(), Some(2), "{status}"),
            // The kernel sends SIGHUP and closes the terminal; either can be first.
            false => assert!(
                status.signal() == Some(Signal::HUP.as_raw()) || status.code() == Some(2),
                "{status}"
            ),
        };
        let tree = tree();
        let mut browser = Closable::start(&tree, is_deaf, "tree", None);
        browser.wait_for("sub/");
        ends(browser.close());
        let mut mounts = Closable::start(&tree, is_deaf, "", None);
        mounts.wait_for("Enter browse");
        ends(mounts.close());
        let lock = locked_journal(&tree);
        let mut remover = Closable::start(&tree, is_deaf, "--enable-delete tree", None);
        remover.wait_for("sub/");
        remover.press("'sub\r");
        remover.press("d");
        remover.wait_for("[Cancel]");
        remover.press("y");
        remover.wait_for("removing (Esc stops)");
        ends(remover.close());
        drop(lock);
        // A program that does not care, run from the browser.
        let shell = tree.parent().join("shell");
        std::fs::write(
            &shell,
            "#!/bin/sh\ntrap '' HUP\necho begun >/dev/tty\nsleep 20\n",
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&shell, mode).unwrap();
        let shell = shell.display().to_string();
        let mut browser = Closable::start(&tree, is_deaf, "tree", Some(&shell));
        browser.wait_for("sub/");
        browser.press("b");
        browser.wait_for("begun");
        ends(browser.close());
    }
}

/// A signal while a program runs from the browser ends the browser alone.
#[test]
fn a_program_of_the_user_does_not_hold_up_a_signal() {
    let tree = tree();
    let shell = tree.parent().join("shell");
    std::fs::write(&shell, "#!/bin/sh\necho begun >/dev/tty\nsleep 20\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&shell, mode).unwrap();
    let shell = vec![("SHELL", shell.display().to_string())];
    let mut browser = or_skip!(Browser::with(
        tree.parent(),
        &["tree"],
        shell,
        Stdio::inherit
    ));
    browser.wait_for("sub/");
    browser.press("b");
    browser.wait_for("begun");
    let begin = Instant::now();
    // Ctrl-C is for the program.
    browser.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(700));
    assert!(browser.child.try_wait().unwrap().is_none());
    browser.signal(Signal::TERM);
    let status = browser.end().0;
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    let took = begin.elapsed();
    assert!(took < stretched(SOON), "{took:?}");
}

fn limit_memory(child: &Child, bytes: u64) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let limit = Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    prlimit(pid, Resource::As, limit).unwrap();
}

/// A window of 65535 columns and lines asked for 171 GB.
#[test]
fn a_window_of_any_size_is_drawn() {
    let tree = tree();
    let mut browser = or_skip!(Browser::start(tree.parent(), &["tree"]));
    browser.wait_for("sub/");
    limit_memory(&browser.child, 1 << 30);
    resize(&browser.screen, u16::MAX, u16::MAX);
    let before = browser.shown().len();
    wait_until("no large screen", || browser.shown().len() > before + 1000);
    // A storm of sizes.
    for size in 0..500_u16 {
        resize(&browser.screen, size * 131, size.wrapping_mul(977));
    }
    resize(&browser.screen, 80, 24);
    browser.press("j");
    wait_until("no small screen", || {
        // The place of the cursor follows.
        let shown = browser.shown();
        let end = shown.rfind("\x1b[?25l");
        end.is_some_and(|at| shown.len() - at < 24)
    });
    browser.press("q");
    assert_eq!(browser.end().0.code(), Some(0));
}

/// Out of memory, the terminal stayed in the modes of the browser.
#[test]
fn the_terminal_comes_back_where_memory_ends() {
    let tree = tree();
    // Arenas of other threads have reserved address space, where malloc would find some.
    let arenas = vec![("MALLOC_ARENA_MAX", "1".to_owned())];
    let started = Browser::with(tree.parent(), &["tree"], arenas, Stdio::inherit);
    let browser = or_skip!(started);
    browser.wait_for("sub/");
    assert!(!is_cooked(&browser.screen));
    limit_memory(&browser.child, 1 << 20);
    // Two buffers of cells that are too much.
    resize(&browser.screen, 2000, 250);
    let screen = browser.screen.try_clone().unwrap();
    let (status, _, shown) = browser.end();
    assert_eq!(status.code(), Some(2), "{shown}");
    assert!(is_cooked(screen));
    let message = shown.find("cannot allocate memory");
    assert!(
        message.is_some() && shown.find(LEAVE_SCREEN) < message,
        "{shown}"
    );
}
