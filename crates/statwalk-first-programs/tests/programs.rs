// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the first programs on small trees, and compares their output.

use std::fs::File;
use std::io;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime};

use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op, When};
use statwalk_testkit::{Scratch, stretched, text};

/// A tree from its text, in a directory of its own. Programs run within it.
fn tree(entries: &str) -> io::Result<Scratch> {
    let scratch = Scratch::new()?;
    let model = text::parse(entries).expect("a tree");
    model.materialise(&scratch.path().join("tree"))?;
    statwalk_testkit::settle(scratch.path())?;
    Ok(scratch)
}

fn run(program: &str, within: &Path, root: &str) -> Output {
    let mut command = Command::new(program);
    let output = command.current_dir(within).arg(root).output();
    output.expect("the program starts")
}

/// The output of a program that succeeds and has nothing to complain about.
fn lines(program: &str, within: &Path) -> Vec<String> {
    let output = run(program, within, "tree");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{program}: {errors}"
    );
    let text = String::from_utf8(output.stdout).expect("names of the tree are UTF-8");
    text.lines().map(str::to_owned).collect()
}

/// The errors of a program that must not succeed.
fn complaint(program: &str, within: &Path, root: &str) -> String {
    let output = run(program, within, root);
    assert!(!output.status.success(), "{program} is content with a gap");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn newest_ten() -> io::Result<()> {
    let scratch = tree("old/\n")?;
    let dir = scratch.path().join("tree/old");
    // Some before 1970, where nanoseconds are negative.
    let newest = SystemTime::UNIX_EPOCH + Duration::from_secs(500_000_000);
    for age in 0..12_u64 {
        let file = File::create(dir.join(format!("{age:02}")))?;
        file.set_modified(newest - Duration::from_secs(age * 100_000_000))?;
    }
    let expected: Vec<_> = (0..10).map(|age| format!("tree/old/{age:02}")).collect();
    assert_eq!(
        lines(env!("CARGO_BIN_EXE_newest_ten"), scratch.path()),
        expected
    );
    Ok(())
}

#[test]
fn duplicates_by_size() -> io::Result<()> {
    let scratch = tree("a 5\nd/\nd/b 5\nd/c 7\nd/e 9\nf 9\n")?;
    let program = env!("CARGO_BIN_EXE_duplicates_by_size");
    let expected = [r#"5 ["tree/a", "tree/d/b"]"#, r#"9 ["tree/d/e", "tree/f"]"#];
    assert_eq!(lines(program, scratch.path()), expected);
    let complaint = complaint(program, scratch.path(), "absent");
    assert_eq!(complaint, "open absent: no such file or directory\n");
    Ok(())
}

#[test]
fn longest_path() -> io::Result<()> {
    let scratch = tree("a/\na/b/\na/b/longest-name 1\na/b/short 1\nshort 1\n")?;
    let program = env!("CARGO_BIN_EXE_longest_path");
    assert_eq!(lines(program, scratch.path()), ["tree/a/b/longest-name"]);
    let complaint = complaint(program, scratch.path(), "absent");
    assert!(
        complaint.contains("absent") && complaint.contains("NotFound"),
        "{complaint}"
    );
    Ok(())
}

#[test]
fn owner_sums() -> io::Result<()> {
    let scratch = tree("a 5\nd/\nd/b 10\nd/c 200\n")?;
    let own = rustix::process::getuid().as_raw();
    let mut expected = vec![format!("{own} 215")];
    // Only root gives a file away.
    if own == 0 {
        chown(scratch.path().join("tree/d/c"), Some(4_711), None)?;
        expected = vec!["0 15".to_owned(), "4711 200".to_owned()];
    }
    assert_eq!(
        lines(env!("CARGO_BIN_EXE_owner_sums"), scratch.path()),
        expected
    );
    Ok(())
}

#[test]
fn cancel_after_a_second() -> io::Result<()> {
    let program = env!("CARGO_BIN_EXE_cancel_after_a_second");
    let scratch = tree("a 5\nd/\nd/b 10\n")?;
    assert_eq!(
        lines(program, scratch.path()),
        ["4 entries, complete: true"]
    );

    let fs = FaultFs::builder().entries("a/\na/x 1\nb/\nb/y 1\n");
    let mount = match fs.hang("b", Op::Readdir, Hang::UntilSignal).mount() {
        Ok(mount) => mount,
        Err(skipped) => {
            skipped.report();
            return Ok(());
        }
    };
    let started = Instant::now();
    let output = run(program, mount.path(), ".");
    let time = started.elapsed();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "3 entries, complete: false\nno answer from ./b\n");
    assert!(
        time >= Duration::from_secs(1) && time < stretched(Duration::from_secs(10)),
        "{time:?}"
    );
    Ok(())
}

#[test]
fn prune_by_name() -> io::Result<()> {
    let pruned = "node_modules/\nnode_modules/x 1\nd/\nd/node_modules/\nd/node_modules/y/\n\
        .git/\n.git/objects/\n.git/objects/z 1\n";
    let scratch = tree(&format!("{pruned}d/kept 1\nnode_modules.txt 1\n"))?;
    let expected = ["tree/d/kept", "tree/node_modules.txt"];
    assert_eq!(
        lines(env!("CARGO_BIN_EXE_prune_by_name"), scratch.path()),
        expected
    );
    Ok(())
}

#[test]
fn custom_sink() -> io::Result<()> {
    let scratch = tree("a/\nb/\nb/c/\nb/c/d/\ne/\ne/f 1\n")?;
    let program = env!("CARGO_BIN_EXE_custom_sink");
    assert_eq!(lines(program, scratch.path()), ["tree/a", "tree/b/c/d"]);
    let complaint = complaint(program, scratch.path(), "absent");
    assert!(complaint.contains("could not be read"), "{complaint}");
    Ok(())
}

#[test]
fn rows_with_anyhow() -> io::Result<()> {
    let program = env!("CARGO_BIN_EXE_rows_with_anyhow");
    let scratch = tree("b 5\na 7\n")?;
    let lines = lines(program, scratch.path());
    assert_eq!(lines[1..], ["7 tree/a", "5 tree/b"]);

    let complaint = complaint(program, scratch.path(), "absent");
    let parts: Vec<_> = complaint.lines().map(str::trim).collect();
    assert_eq!(parts[0], "Error: cannot list the tree");
    assert!(
        complaint.contains("open absent: no such file or directory"),
        "{complaint}"
    );
    Ok(())
}

#[test]
fn rows_with_io_result() -> io::Result<()> {
    let program = env!("CARGO_BIN_EXE_rows_with_io_result");
    let scratch = tree("b 5\na/\na/c 7\n")?;
    assert_eq!(lines(program, scratch.path()), ["a", "b"]);
    let output = run(program, scratch.path(), "absent");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing there\n");
    Ok(())
}

/// A directory that cannot be opened ends each program with a status, and most with
/// its name.
#[test]
fn no_program_is_content_with_a_gap() -> io::Result<()> {
    let fs = FaultFs::builder().entries("a/\na/x 1\nshut/\n");
    let shut = fs.fail("shut", Op::Opendir, Errno::ACCESS, When::Always);
    let mount = match shut.mount() {
        Ok(mount) => mount,
        Err(skipped) => {
            skipped.report();
            return Ok(());
        }
    };
    for (program, names_it) in [
        (env!("CARGO_BIN_EXE_newest_ten"), true),
        (env!("CARGO_BIN_EXE_duplicates_by_size"), true),
        (env!("CARGO_BIN_EXE_longest_path"), true),
        (env!("CARGO_BIN_EXE_owner_sums"), true),
        (env!("CARGO_BIN_EXE_cancel_after_a_second"), true),
        (env!("CARGO_BIN_EXE_prune_by_name"), true),
        (env!("CARGO_BIN_EXE_custom_sink"), false),
        (env!("CARGO_BIN_EXE_rows_with_anyhow"), true),
    ] {
        let complaint = complaint(program, mount.path(), ".");
        assert_eq!(
            complaint.contains("./shut"),
            names_it,
            "{program}: {complaint}"
        );
    }
    Ok(())
}
