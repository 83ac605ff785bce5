// SPDX-License-Identifier: MIT OR Apache-2.0

//! The progress line.

use std::process::Stdio;
use std::time::{Duration, Instant};

use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Hang, Op};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Skipped, or_skip, stretched};

use crate::run::{Answer, LONG, Tree, statwalk, terminal, text_on};

fn hangs_in(dir: &str) -> Result<FaultMount, Skipped> {
    FaultFs::builder()
        .files("alive", 5, 1000)
        .dir(dir)
        .hang(dir, Op::Opendir, Hang::UntilSignal)
        .mount()
}

/// What the program wrote while something hung for so long.
fn answer_after(mount: &FaultMount, wait: Duration, arguments: &[&str]) -> Answer {
    let mut command = statwalk();
    command.args(arguments).current_dir(mount.path());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert!(
        mount.wait_for(LONG, |counts| counts.hanging == 1),
        "it does not hang"
    );
    std::thread::sleep(stretched(wait));
    mount.release();
    Answer::from(child.wait_with_output().unwrap())
}

#[test]
fn a_directory_that_does_not_answer_is_named() {
    let mount = or_skip!(hangs_in("dead\x1b[2J"));
    let arguments = ["-sA", "--progress=always"];
    let begin = Instant::now();
    let answer = answer_after(&mount, Duration::from_millis(3_500), &arguments);
    let tenths = begin.elapsed().as_millis() as usize / 100;
    assert_eq!(answer.code, Some(0));
    assert_eq!(answer.lines(), ["5000\t."]);
    let shown = answer.stderr;
    assert!(shown.contains(" entries · "), "{shown:?}");
    let (_, after) = shown.split_once(" - no answer for ").unwrap();
    let (seconds, place) = after.split_once(" s in ").unwrap();
    assert!(seconds.parse::<u64>().is_ok_and(|it| it >= 2), "{shown:?}");
    assert!(place.starts_with(r"./dead\x1b[2J"), "{shown:?}");
    // Only our own codes: back to the start, and clear to the end.
    let codes = shown.replace("\x1b[K", "");
    assert!(
        !codes.contains('\x1b') && !codes.contains('\n'),
        "{shown:?}"
    );
    assert!(shown.ends_with("\r\x1b[K"), "{shown:?}");
    // Ten times a second, from 300 ms on.
    let drawn = shown.matches('\r').count();
    assert!((5..=tenths + 5).contains(&drawn), "{drawn} in {tenths}");
}

#[test]
fn there_is_no_progress_where_no_terminal_shows_it() {
    let mount = or_skip!(hangs_in("dead"));
    let answer = answer_after(&mount, Duration::from_millis(600), &["-sA"]);
    answer.good();
    let mount = or_skip!(hangs_in("dead"));
    let arguments = ["-sA", "--progress", "never"];
    answer_after(&mount, Duration::from_millis(600), &arguments).good();
}

#[test]
fn there_is_no_progress_before_it_is_worth_it() {
    let tree = Tree::new("x 10");
    let answer = tree.run(&["-sA", "--progress=always", "tree"]);
    // On a machine that is busy enough even this takes long.
    assert!(answer.stderr.is_empty() || answer.stderr.ends_with("\r\x1b[K"));
}

#[test]
fn a_percentage_is_shown_of_a_whole_file_system_only() {
    let tree = Tree::new("tmpfs/");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&tree.path().join("tmpfs")));
    let dead = or_skip!(hangs_in("dead"));
    std::fs::create_dir(tmpfs.path().join("dir")).unwrap();
    for n in 0..40 {
        std::fs::write(tmpfs.path().join(format!("dir/{n}")), "").unwrap();
    }
    let shown_of = |root: &std::path::Path, more: &[&str]| {
        let mut command = statwalk();
        command
            .args(["-s", "--progress=always"])
            .args(more)
            .arg(root);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        assert!(
            dead.wait_for(LONG, |counts| counts.hanging == 1),
            "it does not hang"
        );
        std::thread::sleep(stretched(Duration::from_millis(700)));
        dead.release();
        Answer::from(child.wait_with_output().unwrap()).stderr
    };
    // It hangs in a link out of it: a scan that follows links is no whole.
    let link = tmpfs.path().join("link");
    std::os::unix::fs::symlink(dead.path(), link).unwrap();
    let shown = shown_of(tmpfs.path(), &["-L"]);
    assert!(shown.contains(" entries"), "{shown:?}");
    assert!(!shown.contains(" % "), "{shown:?}");
}

/// `statwalk find | less`: the rows and the line would share the screen.
#[test]
fn rows_that_flow_to_a_pipe_have_no_progress_beside_them() {
    let tree = Tree::new("");
    let progress_of = |arguments: &[&str], stdout: Stdio| {
        let mount = hangs_in("dead")?;
        let (master, screen) = terminal(80, 24);
        let mut command = statwalk();
        command.args(arguments).arg(mount.path());
        let mut child = command.stdout(stdout).stderr(screen).spawn().unwrap();
        drop(command);
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
        std::thread::sleep(stretched(Duration::from_millis(900)));
        mount.release();
        assert!(child.wait().unwrap().success());
        Ok(text_on(master))
    };
    let shown: String = or_skip!(progress_of(&["find"], Stdio::piped()));
    assert_eq!(shown, "");
    let asked = or_skip!(progress_of(&["find", "--progress=always"], Stdio::piped()));
    assert!(asked.contains(" entries"), "{asked:?}");
    let file = std::fs::File::create(tree.parent().join("rows")).unwrap();
    let to_file = or_skip!(progress_of(&["find"], Stdio::from(file)));
    assert!(to_file.contains(" entries"), "{to_file:?}");
}

#[test]
fn a_dumb_terminal_shows_no_line_unless_asked_and_then_no_escapes() {
    let shown_with = |when: &str| {
        let mount = hangs_in("dead")?;
        let (master, screen) = terminal(60, 24);
        let mut command = statwalk();
        command.args(["-s", "--progress", when]).arg(mount.path());
        command.env("TERM", "dumb").stdout(Stdio::null());
        let mut child = command.stderr(screen).spawn().unwrap();
        drop(command);
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
        std::thread::sleep(stretched(Duration::from_millis(700)));
        mount.release();
        assert!(child.wait().unwrap().success());
        Ok(text_on(master))
    };
    let shown: String = or_skip!(shown_with("auto"));
    assert_eq!(shown, "");
    let shown = or_skip!(shown_with("always"));
    assert!(shown.contains(" entries"), "{shown:?}");
    assert!(!shown.contains('\x1b'), "{shown:?}");
    // The line goes away: the last thing drawn is blank.
    let lines: Vec<&str> = shown.split('\r').collect();
    let [.., blank, ""] = lines[..] else {
        panic!("{shown:?}");
    };
    assert!(blank.len() == 59 && blank.trim().is_empty(), "{shown:?}");
}
