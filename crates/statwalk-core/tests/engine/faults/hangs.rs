// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls that do not return: the report names where.

use std::time::{Duration, Instant};

use statwalk_core::{MountCrossing, Scan, Source, Totals};
use statwalk_testkit::fault_fs::{FaultFs, FaultFsBuilder, Hang, Latency, Op, Where};
use statwalk_testkit::{Scratch, mounts, or_skip, stretched};

use super::{FINISH_MAX, LONG, TREE};
use crate::harness::text;

/// Waits until a worker hangs below the given entry and the others have nothing to do.
fn hanging_scan(fs: FaultFsBuilder, threads: usize, directory: &str, counted_min: u64) {
    let mount = or_skip!(fs.mount());
    let sink = Totals::new();
    let running = Scan::new(mount.path())
        .threads(threads)
        .start(&sink)
        .unwrap();
    assert!(mount.wait_for(LONG, |counts| counts.hanging >= 1));
    assert!(
        !running.wait_for(Duration::from_millis(150)),
        "it cannot be done"
    );
    let expected = match directory {
        "" => mount.path().to_path_buf(),
        directory => mount.join(directory),
    };
    let expected = expected.to_str().unwrap();
    let current = running.progress().current;
    let named: Vec<_> = current.iter().map(|(path, _)| text(path)).collect();
    assert_eq!(named, [expected], "{threads} workers");

    let start = Instant::now();
    let outcome = running.finish();
    let took = start.elapsed();
    assert!(took < stretched(FINISH_MAX), "{took:?}");
    assert!(outcome.report.interrupted && !outcome.report.is_complete());
    let hanging: Vec<_> = outcome
        .report
        .hanging
        .iter()
        .map(|path| text(path))
        .collect();
    assert_eq!(hanging, [expected], "{threads} workers");
    assert!(
        outcome.output[0].entries >= counted_min,
        "{:?}",
        outcome.output
    );
    mount.release();
}

#[test]
fn a_hanging_directory_is_named_and_left_behind() {
    for op in [Op::Opendir, Op::Readdir, Op::Lookup] {
        let fs = FaultFs::builder()
            .entries(TREE)
            .hang("b/c", op, Hang::UntilReleased);
        hanging_scan(fs.clone(), 1, "b/c", 1);
        // Others go on: everything but what hangs is counted.
        hanging_scan(fs, 4, "b/c", 8);
    }
}

#[test]
fn a_hanging_stat_names_the_directory_of_the_entry() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .hang("a/y", Op::Getattr, Hang::UntilReleased);
    hanging_scan(fs.clone(), 1, "a", 1);
    hanging_scan(fs, 4, "a", 4);
}

#[test]
fn a_hanging_root_is_named() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .hang("", Op::Readdir, Hang::UntilReleased);
    hanging_scan(fs.clone(), 1, "", 0);
    hanging_scan(fs, 4, "", 0);
}

/// A dead file system is not asked where the scan does not enter it.
#[test]
fn a_scan_that_stays_passes_a_dead_mount() {
    let fs = FaultFs::builder().entries(TREE);
    let mount = or_skip!(fs.hang("", Op::Getattr, Hang::UntilReleased).mount());
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    std::fs::write(scratch.path().join("file"), "12345").unwrap();
    let bound = or_skip!(mounts::bind(mount.path(), &at));
    for source in [Source::Auto, Source::Posix] {
        for threads in [1, 4] {
            let scan = Scan::new(scratch.path())
                .crossing(MountCrossing::Stay)
                .source(source)
                .threads(threads);
            let sink = Totals::new();
            let running = scan.start(&sink).unwrap();
            assert!(running.wait_for(LONG), "it hangs");
            let outcome = running.finish();
            let root = &outcome.report.roots[0];
            assert_eq!((root.crossings, root.unreadable), (1, 0), "{root:?}");
            // The root, the file and the mount point.
            assert_eq!(outcome.output[0].entries, 3);
        }
    }
    drop(bound);
    mount.release();
}

/// In a large directory that workers share it may be any of them that hangs.
#[test]
fn a_hanging_stat_in_a_shared_directory_names_it() {
    let mut fs = FaultFs::builder().entries(TREE).latency_of(
        Where::Everywhere,
        Op::Getattr,
        Latency::Fixed(Duration::from_micros(200)),
    );
    for number in 0..3_000 {
        let name = format!("big/s{number:04}");
        fs = fs.file(&name, 1);
        // Those of the third buffer: by then others help.
        if number >= 2_000 {
            fs = fs.hang(name.as_str(), Op::Getattr, Hang::UntilReleased);
        }
    }
    for threads in [1, 2, 4] {
        let mount = or_skip!(fs.clone().mount());
        let sink = Totals::new();
        let scan = Scan::new(mount.path()).threads(threads);
        let running = scan.start(&sink).unwrap();
        assert!(mount.wait_for(LONG, |counts| counts.hanging >= 1));
        // The others read on until nothing is left but what hangs.
        let start = Instant::now();
        let (current, hanging) = loop {
            let hanging = mount.counts().hanging as usize;
            let current = running.progress().current;
            let is_still = mount.counts().hanging as usize == hanging;
            if is_still && current.len() == hanging || start.elapsed() > LONG {
                break (current, hanging);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let big = mount.join("big");
        let expected = vec![big.to_str().unwrap().to_owned(); hanging];
        let named =
            |paths: Vec<Vec<u8>>| -> Vec<_> { paths.iter().map(|path| text(path)).collect() };
        let current = current.into_iter().map(|(path, _)| path).collect();
        assert_eq!(named(current), expected, "{threads} workers");
        let outcome = running.finish();
        // Several workers hang there, and it is named once.
        assert_eq!(named(outcome.report.hanging), expected[..1]);
        mount.release();
    }
}

/// What is scanned after all else, because it must wait: mounts seen twice, links.
#[test]
fn a_hanging_link_target_is_named_by_the_link() {
    let fs = FaultFs::builder()
        .entries(TREE)
        .hang("b/c", Op::Opendir, Hang::UntilReleased);
    for threads in [1, 3] {
        let mount = or_skip!(fs.clone().mount());
        let scratch = statwalk_testkit::Scratch::new().unwrap();
        let dir = scratch.subdirectory("t").unwrap();
        std::os::unix::fs::symlink(mount.join("b/c"), dir.join("link")).unwrap();
        let sink = Totals::new();
        let scan = Scan::new(&dir).threads(threads);
        let scan = scan.symlinks(statwalk_core::SymlinkPolicy::Follow);
        let running = scan.start(&sink).unwrap();
        assert!(mount.wait_for(LONG, |counts| counts.hanging >= 1));
        std::thread::sleep(Duration::from_millis(150));
        let hanging = running.finish().report.hanging;
        let hanging: Vec<_> = hanging.iter().map(|path| text(path)).collect();
        assert_eq!(
            hanging,
            [dir.join("link").to_str().unwrap()],
            "{threads} workers"
        );
        mount.release();
    }
}
