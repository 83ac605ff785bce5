// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ends of `statwalk report`: the program that opens the page, signals, and kills at any
//! moment.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::{Skipped, or_skip, program};

use super::page::Page;
use super::{incompressible_name, number};
use crate::run::{Answer, LONG, Tree, is_pending, statwalk, wait_until};
use crate::signals::wait_until_the_rest_is_read;

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_program_of_the_desktop_gets_the_path_of_the_page() {
    let tree = Tree::new("file 5000\nbin/");
    let (bin, said) = (tree.path().join("bin"), tree.parent().join("said"));
    let opener = bin.join("xdg-open");
    // A name that the test waits for appears whole.
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > '{0}.part' && test -s \"$1\" && mv '{0}.part' '{0}'\n",
        said.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |output: &str, path: &str| {
        let mut command = statwalk();
        command.args(["report", "tree", "--open"]);
        command.arg(format!("--output={output}"));
        Answer::of(command.current_dir(tree.parent()).env("PATH", path))
    };
    let whole = tree.parent().join("whole.html").display().to_string();
    for (output, expected) in [
        ("report.html", "./report.html"),
        ("-flag.html", "./-flag.html"),
        (&whole, &whole),
    ] {
        run(output, &path).good();
        wait_until("nothing is opened", || said.exists());
        let words = fs::read_to_string(&said).unwrap();
        assert_eq!(words, format!("1\n{expected}\n"));
        fs::remove_file(&said).unwrap();
    }
    // The file stays where there is no such program.
    let answer = run("alone.html", "/nowhere");
    let expected = "statwalk: cannot start xdg-open: no such file or directory\n";
    assert_eq!((answer.code, &*answer.stderr), (Some(2), expected));
    Page::of(&fs::read(tree.parent().join("alone.html")).unwrap()).nodes();
}

/// As every command gives what it knows, the report has what was read so far.
#[test]
fn a_signal_ends_the_scan_and_the_page_says_so() {
    for (signal, output) in [(Signal::INT, "report.html"), (Signal::TERM, "-")] {
        let fs = FaultFs::builder().files("alive", 5, 1000).dir("dead");
        let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
        let mount = or_skip!(fs.mount());
        let place = Tree::new("");
        let mut command = statwalk();
        command
            .args(["report", "-j2", "-o", output])
            .arg(mount.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.current_dir(place.path()).spawn().unwrap();
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
        wait_until_the_rest_is_read(&mount);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let answer = child.wait_with_output().unwrap();
        assert_eq!(answer.status.signal(), Some(signal.as_raw()));
        let page = match output {
            "-" => Page::of(&answer.stdout),
            file => Page::of(&fs::read(place.path().join(file)).unwrap()),
        };
        assert_eq!(page.meta["complete"]["is"], false);
        let why = page.meta["complete"]["why"].as_str().unwrap();
        assert!(why.contains("interrupted"), "{why}");
        assert_eq!(number(&page.meta["totals"]["files"]), 5);
    }
}

#[test]
fn a_second_signal_leaves_no_file() {
    let fs = FaultFs::builder().dir("dead");
    let fs = fs.hang("dead", Op::Opendir, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    let place = Tree::new("");
    let mut command = statwalk();
    command
        .args(["report", "-o", "report.html"])
        .arg(mount.path());
    let command = command.current_dir(place.path()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
    for _ in 0..2 {
        // The handler has counted the first before the second comes.
        wait_until("it takes the signal", || !is_pending(&child, Signal::INT));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    }
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
    assert_eq!(names(&place.path()), [""; 0]);
}

/// Kills the program again and again while it writes to `out/report.html`, and looks at what
/// is there. Answers with the names that are left beside it, and whether each was whole.
fn kill_again_and_again(
    tree: &Tree,
    command: impl Fn() -> Command,
    rounds: u32,
) -> Vec<(String, bool)> {
    let out = tree.path().join("out");
    let start = || {
        let mut command = command();
        let arguments = ["report", "tree/many", "--detail=full", "--force"];
        command.args(arguments).args(["-o", "tree/out/report.html"]);
        let command = command.current_dir(tree.parent()).process_group(0);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        program::spawn(command)
    };
    let begin = Instant::now();
    assert!(start().wait().unwrap().success());
    let whole = begin.elapsed();
    let expected = fs::read(out.join("report.html")).unwrap();
    let expected = Page::of(&expected).nodes();
    let is_whole = |bytes: &[u8]| {
        let is_ended = bytes.ends_with(b"</html>\n");
        is_ended && Page::of(bytes).nodes() == expected
    };
    let mut left = Vec::new();
    for round in 0..rounds {
        for name in names(&out) {
            fs::remove_file(out.join(name)).unwrap();
        }
        // A report of before stays until the new one is whole.
        let old = (round % 2 == 1).then_some("an old one");
        if let Some(old) = old {
            fs::write(out.join("report.html"), old).unwrap();
        }
        let before = names(&out);
        let mut child = start();
        match round % 4 {
            0 | 1 => sleep(whole * ((round * 37) % rounds) / rounds),
            // The moment when a name appears.
            _ => while names(&out) == before && child.try_wait().unwrap().is_none() {},
        }
        // It may have ended.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        child.wait().unwrap();
        for name in names(&out) {
            let bytes = fs::read(out.join(&name)).unwrap();
            if name != "report.html" {
                left.push((name, is_whole(&bytes)));
            } else if old.map(str::as_bytes) != Some(&bytes) {
                assert!(is_whole(&bytes), "round {round}");
            }
        }
    }
    left
}

fn many() -> Tree {
    let tree = Tree::new("many/\nout/");
    for number in 0..4_000 {
        let file = tree.path().join("many").join(incompressible_name(number));
        fs::write(file, "").unwrap();
    }
    tree
}

fn is_name_of_an_unfinished_file(name: &str) -> bool {
    let number = name.strip_prefix(".statwalk-");
    let number = number.and_then(|rest| rest.strip_suffix(".tmp"));
    number.is_some_and(|number| number.len() == 16)
}

#[test]
fn a_kill_at_any_moment_leaves_no_part_of_a_report() {
    // Only between two names of a whole file can one be left.
    for (name, is_whole) in kill_again_and_again(&many(), statwalk, 40) {
        assert!(is_name_of_an_unfinished_file(&name) && is_whole, "{name}");
    }
}

/// Some file systems have no files without names, and strace makes one of any.
#[test]
fn a_kill_leaves_a_name_of_its_own_where_a_file_needs_one() {
    if program::command("strace")
        .arg("--version")
        .output()
        .is_err()
    {
        return Skipped::needs("strace").report();
    }
    let command = || {
        let mut command = program::command("strace");
        command.args(["-f", "-o", "/dev/null", "-P", "tree/out"]);
        // The first opens the directory.
        command.args(["-e", "inject=openat:error=EOPNOTSUPP:when=2"]);
        command.arg(env!("CARGO_BIN_EXE_statwalk"));
        command
    };
    let tree = many();
    // On a busy machine, no kill of forty may come while the file has its name.
    let mut left = Vec::new();
    for _ in 0..10 {
        left.extend(kill_again_and_again(&tree, command, 40));
        if !left.is_empty() {
            break;
        }
    }
    assert!(!left.is_empty(), "no kill came while the file had it");
    for (name, _) in left {
        assert!(is_name_of_an_unfinished_file(&name), "{name}");
    }
}

/// NFS and many file systems of FUSE have neither files without names nor a rename that
/// refuses. A kill before each call of the writer leaves the report whole, or no name of it.
#[test]
fn a_kill_before_any_call_leaves_a_whole_report_or_none() {
    let strace = |arguments: &[&str]| {
        let mut command = program::command("strace");
        command.args(["-f", "-o", "/dev/null", "-P", "tree/out"]);
        command.args(arguments).arg(env!("CARGO_BIN_EXE_statwalk"));
        command.args(["report", "tree/many", "-j1", "-o", "tree/out/report.html"]);
        command
    };
    if program::command("strace").arg("-V").output().is_err() {
        return Skipped::needs("strace").report();
    }
    let tree = Tree::new("many/\nmany/file 5000\nout/");
    let out = tree.path().join("out");
    let refusals = [
        "inject=openat:error=EOPNOTSUPP:when=2",
        "inject=renameat2:error=EINVAL",
    ];
    for call in [
        "openat",
        "fsync",
        "renameat2",
        "linkat",
        "unlinkat",
        "newfstatat",
    ] {
        let mut kills = 0;
        for number in 1..20 {
            let kill = format!("inject={call}:signal=KILL:when={number}");
            // One call has one injection.
            let others = refusals.iter().filter(|one| !one.contains(call));
            let mut arguments = vec!["-e", "trace=%desc,%file"];
            others.for_each(|one| arguments.extend(["-e", one]));
            arguments.extend(["-e", &kill]);
            let status = strace(&arguments)
                .current_dir(tree.parent())
                .output()
                .unwrap();
            let was_killed = status.status.signal() == Some(Signal::KILL.as_raw());
            kills += u32::from(was_killed);
            for name in names(&out) {
                let bytes = fs::read(out.join(&name)).unwrap();
                if name == "report.html" {
                    assert!(
                        bytes.ends_with(b"</html>\n"),
                        "{call} {number}: {} bytes",
                        bytes.len()
                    );
                } else {
                    assert!(was_killed && is_name_of_an_unfinished_file(&name), "{name}");
                }
                fs::remove_file(out.join(name)).unwrap();
            }
            if !was_killed {
                break;
            }
        }
        assert!(kills > 0 || call == "newfstatat", "{call} was not called");
    }
}
