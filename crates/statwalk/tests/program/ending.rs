// SPDX-License-Identifier: MIT OR Apache-2.0

//! Exit codes, closed pipes, full disks.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use statwalk_testkit::fault_fs::{Changes, FaultFs, Op, When};
use statwalk_testkit::{or_skip, program, trees};

use crate::run::{Answer, Tree, statwalk};

/// A tree of which every answer is longer than a pipe holds.
fn large() -> Tree {
    let tree = Tree::new("a/");
    for n in 0..2_000 {
        let name = format!("a/{}{n}", "x".repeat(120));
        std::fs::create_dir(tree.path().join(name)).unwrap();
    }
    tree
}

const ANSWERS: [&[&str]; 6] = [
    &["-d2", "tree"],
    &["-d2", "--json", "tree"],
    &["find", "tree"],
    &["find", "--json", "tree"],
    &["top", "--dirs", "-n9999", "tree"],
    &["--help"],
];

/// Answers that no scan comes before.
const SHORT_ANSWERS: [&[&str]; 8] = [
    &["-h"],
    &["--version"],
    &["-V"],
    &["find", "--help"],
    &["man"],
    &["man", "top"],
    &["completions", "bash"],
    &["completions", "zsh"],
];

#[test]
fn a_reader_who_leaves_is_no_failure() {
    let tree = large();
    for arguments in ANSWERS {
        // Gone before anything is written, and after the first bytes.
        for taken in [0, 10] {
            let mut child = statwalk()
                .args(arguments)
                .current_dir(tree.parent())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_exact(&mut vec![0; taken]).unwrap();
            drop(stdout);
            let answer = Answer::from(child.wait_with_output().unwrap());
            assert_eq!(
                (answer.code, answer.stderr.as_str()),
                (Some(0), ""),
                "{arguments:?}"
            );
        }
    }
}

/// A socket that is closed with bytes unread resets the connection, once: a program
/// that writes then gets another error than from a pipe.
#[test]
fn a_reader_who_leaves_a_socket_is_no_failure() {
    let tree = large();
    for arguments in ANSWERS {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let mut child = statwalk()
            .args(arguments)
            .current_dir(tree.parent())
            .stdout(OwnedFd::from(theirs))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        ours.read_exact(&mut [0; 10]).unwrap();
        // Time to write more than was read.
        std::thread::sleep(Duration::from_millis(30));
        drop(ours);
        let mut stderr = String::new();
        let mut errors = child.stderr.take().unwrap();
        errors.read_to_string(&mut stderr).unwrap();
        let code = child.wait().unwrap().code();
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn closed_standard_streams_are_not_what_it_opens_next() {
    let tree = large();
    let answer = |streams: &str| {
        let mut shell = program::command("sh");
        let script = format!("exec \"$0\" -s --json tree {streams}");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_statwalk")]);
        Answer::of(shell.current_dir(tree.parent()))
    };
    let whole = answer("").good().json();
    let without = answer("<&- 2>&-").good().json();
    assert_eq!(without["roots"], whole["roots"]);
    assert_eq!(answer(">&- 2>&- <&-").code, Some(2));
}

/// What is written goes nowhere, least of all into a file that is opened later.
#[test]
fn an_answer_to_a_closed_stdout_is_a_failure() {
    let tree = large();
    std::fs::write(tree.parent().join("globs"), "none\n").unwrap();
    let answer = |arguments: &[&str]| {
        let mut shell = program::command("sh");
        shell.args([
            "-c",
            "exec \"$0\" \"$@\" >&-",
            env!("CARGO_BIN_EXE_statwalk"),
        ]);
        Answer::of(shell.args(arguments).current_dir(tree.parent()))
    };
    let mut all = ANSWERS.to_vec();
    all.extend(SHORT_ANSWERS);
    all.push(&["-s", "-X", "globs", "tree"]);
    // Nothing is written: no write fails.
    all.push(&["errors", "tree"]);
    all.push(&["find", "tree", "no-such-name"]);
    for arguments in all {
        let answer = answer(arguments);
        assert_eq!(
            (answer.code, answer.stderr.as_str()),
            (
                Some(2),
                "statwalk: cannot write the output: bad file descriptor\n"
            ),
            "{arguments:?}"
        );
    }
    let svg = &["bench", "--rounds=2", "--budget=1", "--svg", "bars", "tree"];
    assert_eq!(answer(svg).code, Some(2));
    let bars = std::fs::read_to_string(tree.parent().join("bars")).unwrap();
    assert!(bars.starts_with("<svg") && bars.trim_end().ends_with("</svg>"));
    // Its name leads to what keeps the place.
    let named = answer(&[
        "bench",
        "--rounds=2",
        "--budget=1",
        "--svg",
        "/dev/stdout",
        "tree",
    ]);
    assert!(named.stderr.contains("is a directory"), "{}", named.stderr);
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let tree = large();
    for arguments in ANSWERS.iter().chain(&SHORT_ANSWERS) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = statwalk();
        command
            .args(*arguments)
            .current_dir(tree.parent())
            .stdout(full);
        let output = command
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output();
        let answer = Answer::from(output.unwrap());
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert_eq!(
            answer.stderr, "statwalk: cannot write the output: no space left on device\n",
            "{arguments:?}"
        );
    }
}

/// A limit on the size of files killed the program, without a word about the file.
#[test]
fn a_file_that_grows_beyond_its_limit_is_a_failure() {
    let tree = large();
    let script = "ulimit -f 1; exec \"$0\" report tree -o page.html";
    let run = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_statwalk")])
        .current_dir(tree.parent())
        .output();
    let answer = Answer::from(run.unwrap());
    assert_eq!(answer.code, Some(2), "{}", answer.stderr);
    let words = "page.html: file too large";
    assert!(answer.stderr.contains(words), "{}", answer.stderr);
    let left = std::fs::read_dir(tree.parent()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        left.iter()
            .all(|name| !name.to_string_lossy().contains("html")),
        "{left:?}"
    );
}

/// A file system in user space can answer EINTR as often as it likes.
#[test]
fn an_output_that_is_always_interrupted_is_given_up() {
    use rustix::io::Errno;
    let tree = Tree::new("x 10");
    for (when, expected) in [(When::First(5), 0), (When::Always, 2)] {
        let fs = FaultFs::builder()
            .writable()
            .text("out", "")
            .text("err", "");
        let fs = fs.fail("out", Op::Write, Errno::INTR, when);
        let mount = or_skip!(fs.fail("err", Op::Write, Errno::INTR, when).mount());
        let appended = |name| File::options().append(true).open(mount.join(name)).unwrap();
        for arguments in [&["-s", "tree"][..], &["find", "tree"], &["--help"]] {
            let mut command = statwalk();
            command.args(arguments).current_dir(tree.parent());
            command.stdout(appended("out")).stderr(Stdio::piped());
            let answer = Answer::from(command.spawn().unwrap().wait_with_output().unwrap());
            assert_eq!(answer.code, Some(expected), "{arguments:?} {when:?}");
            let told = match expected {
                0 => "",
                _ => "statwalk: cannot write the output: interrupted system call\n",
            };
            assert_eq!(answer.stderr, told, "{arguments:?} {when:?}");
        }
        let mut command = statwalk();
        let status = command.args(["-s", "nowhere"]).stdout(Stdio::null());
        let status = status.stderr(appended("err")).status().unwrap();
        assert_eq!(status.code(), Some(2));
        assert!(mount.counts().write > 3);
    }
}

/// The plot takes its name last. Where the file system lets no name be replaced, the file
/// stays, and nothing is left beside it.
#[test]
fn a_plot_that_cannot_take_its_name_leaves_the_file() {
    let tree = Tree::new("x 10");
    let fs = FaultFs::builder().writable().text("bars", "earlier");
    let mount = or_skip!(fs.mount());
    let mut command = statwalk();
    command.args(["bench", "--rounds=2", "--budget=1", "--vary=level", "--svg"]);
    command.arg(mount.join("bars")).arg("tree");
    let answer = Answer::of(command.current_dir(tree.parent()));
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stderr.contains("bars: file exists"),
        "{}",
        answer.stderr
    );
    assert_eq!(std::fs::read(mount.join("bars")).unwrap(), b"earlier");
    let names = std::fs::read_dir(mount.join("")).unwrap();
    assert_eq!(names.count(), 1);
}

#[test]
fn a_root_that_is_missing_comes_before_what_is_unreadable() {
    use rustix::io::Errno;
    let fs = FaultFs::builder().entries("a/\na/x 100\na/no/\na/y 5");
    let fs = fs.fail("a/no", Op::Opendir, Errno::IO, When::Always);
    let mount = or_skip!(fs.mount());
    let answer = |arguments: &[&str], paths: &[&str]| {
        let mut command = statwalk();
        command
            .args(arguments)
            .args(paths)
            .current_dir(mount.path());
        Answer::of(&mut command)
    };
    for arguments in [
        &["-d1"][..],
        &["-s"],
        &["--count"],
        &["-a"],
        &["--json"],
        &["-s", "--json"],
        &["top"],
        &["top", "--dirs"],
        &["top", "--json"],
        &["stats"],
        &["stats", "--json"],
        &["find"],
        &["find", "-0"],
        &["find", "--json"],
        &["errors"],
        &["errors", "--json"],
    ] {
        for paths in [&["./a", "./nope"][..], &["./nope", "./a"]] {
            let both = answer(arguments, paths);
            assert_eq!(both.code, Some(2), "{arguments:?}: {}", both.stderr);
            assert!(
                both.stderr.contains("nope: no such file"),
                "{}",
                both.stderr
            );
        }
        let unreadable = answer(arguments, &["./a"]);
        assert_eq!(
            unreadable.code,
            Some(1),
            "{arguments:?}: {}",
            unreadable.stderr
        );
        let missing = answer(arguments, &["./nope"]);
        assert_eq!(missing.code, Some(2), "{arguments:?}: {}", missing.stderr);
    }
    let bench = ["bench", "--rounds=2", "--budget=1", "--vary=buffer"];
    assert_eq!(answer(&bench, &["./a"]).code, Some(1));
    assert_eq!(answer(&bench, &["./nope"]).code, Some(2));
}

/// An unreadable entry hid that the rest alone was too large: status 1 and not 3.
#[test]
fn a_lower_bound_above_the_limit_is_above_it() {
    use rustix::io::Errno;
    let fs = FaultFs::builder().entries("a/\na/x 100\na/no/");
    let fs = fs.fail("a/no", Op::Opendir, Errno::IO, When::Always);
    let mount = or_skip!(fs.mount());
    let code = |limit: &str, paths: &[&str]| {
        let mut command = statwalk();
        command.args(["-sA", "--fail-over", limit]).args(paths);
        Answer::of(command.current_dir(mount.path())).code
    };
    assert_eq!(code("1M", &["a"]), Some(1));
    assert_eq!(code("99B", &["a"]), Some(3));
    assert_eq!(code("99B", &["a", "nope"]), Some(2));
}

#[test]
fn what_vanished_is_no_error_and_what_changed_is() {
    let gone = FaultFs::builder()
        .entries("a/\na/x 100\na/gone 100")
        .vanished("a/gone");
    let mount = or_skip!(gone.mount());
    let mut command = statwalk();
    let answer = Answer::of(command.args(["-s", "--json"]).arg(mount.path())).good();
    assert_eq!(answer.json()["complete"], true);
    assert_eq!(answer.json()["roots"][0]["vanished"], 1);

    let changes = FaultFs::builder().files("a", 10, 0);
    let mount = or_skip!(changes.attributes_change("a", Changes::Forever).mount());
    let mut command = statwalk();
    let answer = Answer::of(command.args(["-s", "--json"]).arg(mount.path()));
    assert_eq!(answer.code, Some(1), "{}", answer.stderr);
    assert_eq!(answer.json()["complete"], false);
    assert_eq!(answer.json()["roots"][0]["changed_dirs"], 1);
    let path = mount.join("a");
    assert_eq!(
        answer.json()["errors"],
        serde_json::json!([{"path": path, "op": "read", "error": "changed while it was read"}])
    );
    assert!(
        answer
            .stderr
            .contains("1 directory changed while being read"),
        "{}",
        answer.stderr
    );
    let answer = Answer::of(statwalk().arg("errors").arg(mount.path()));
    let row = format!("read\tchanged while it was read\t{}\n", path.display());
    assert_eq!(String::from_utf8_lossy(&answer.stdout), row);
    assert_eq!(answer.code, Some(1));
}

#[test]
fn errors_are_grouped_by_cause() {
    use rustix::io::Errno;
    let mut fs = FaultFs::builder();
    for n in 0..20 {
        let name = format!("io/{n:02}");
        fs = fs.file(&name, 1);
        fs = fs.fail(name.as_str(), Op::Getattr, Errno::IO, When::Always);
    }
    // What was being done does not matter: one could not be opened, one not be stat'ed.
    let fs = fs.dir("closed").file("secret", 1);
    let fs = fs.fail("closed", Op::Opendir, Errno::ACCESS, When::Always);
    let fs = fs.fail("secret", Op::Getattr, Errno::ACCESS, When::Always);
    let mount = or_skip!(fs.mount());
    let mut command = statwalk();
    let answer = Answer::of(command.arg("-s").current_dir(mount.path()));
    assert_eq!(answer.code, Some(1));
    assert_eq!(
        answer.stderr,
        "statwalk: 22 entries could not be read; the totals are a lower bound\n\
         \x20 input/output error  20  ./io/00, ./io/01, ./io/02 … 17 more\n\
         \x20 permission denied    2  ./closed, ./secret\n\
         \x20 statwalk errors . shows all\n"
    );
}

#[test]
fn the_plan_is_told_beside_the_answer() {
    let tree = Tree::new("x 10");
    let answer = tree.run(&["-sA", "--explain", "-j3", "tree"]);
    assert_eq!((answer.code, answer.lines()), (Some(0), vec!["10\ttree"]));
    for expected in [
        "source   posix",
        "order    parallel",
        "of at most 3",
        "size",
        "asked for",
    ] {
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
    // Flags that change nothing in the answer.
    for flag in [
        "--nice",
        "--no-sync",
        "--source=auto",
        "--source=posix",
        "--order=parallel",
    ] {
        assert_eq!(
            tree.run(&["-sA", flag, "tree"]).good().lines(),
            ["10\ttree"]
        );
    }
}

#[test]
fn as_many_files_are_opened_as_may_be() {
    let tree = Tree::of(&trees::deep(200));
    let run = |limit: &str| {
        let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
        let mut command = program::command("sh");
        command
            .args(["-c", &script, env!("CARGO_BIN_EXE_statwalk")])
            .args(["-sA", "--explain", "tree"])
            .current_dir(tree.parent());
        let answer = Answer::of(&mut command);
        assert_eq!((answer.code, answer.lines()), (Some(0), vec!["1\ttree"]));
        let (_, most) = answer.stderr.split_once("open     at most ").unwrap();
        most.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    // The soft limit alone is raised, the hard one holds.
    assert!(run("-Sn 64 && ulimit -Hn 200") > 64);
    assert!(run("-n 64") < 64);
}

#[test]
fn a_missing_root_is_among_the_errors() {
    let tree = Tree::new("x 5");
    let answer = tree.run(&["errors", "nowhere", "tree", "neither"]);
    assert_eq!(answer.code, Some(2));
    let reason = "open\tno such file or directory";
    assert_eq!(
        answer.lines(),
        [format!("{reason}\tnowhere"), format!("{reason}\tneither")]
    );
    let answer = tree.run(&["errors", "-n1", "--json", "nowhere", "tree", "neither"]);
    let errors = answer.json()["errors"].clone();
    assert_eq!(errors.as_array().unwrap().len(), 1);
    assert_eq!(errors[0]["path"], "nowhere");
}
