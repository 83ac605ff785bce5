// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is odd but no fault: sums beyond 64 bits, short replies, names without types.

use rustix::io::Errno;
use statwalk_core::{Grouping, Op as EngineOp, Scan, Stats, Tally, Totals, TreeSink};
use statwalk_testkit::fault_fs::{FaultFs, Uniform, Where};

use super::{TREE, exact, scan, system, with_each};
use crate::harness::agreement::counts;
use crate::harness::sizes;

#[test]
fn a_sound_file_system_is_counted_exactly() {
    let shape = Uniform {
        depth: 3,
        dirs_each: 3,
        files_each: 5,
        file_size_bytes: 700,
    };
    let fs = FaultFs::builder()
        .entries(TREE)
        .uniform("u", shape)
        .files("many", 3_000, 9);
    let allocated_bytes = fs.expected_allocated_bytes();
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        assert_eq!(sizes(&outcome.output[0]).allocated_bytes, allocated_bytes);
        let found = counts(&outcome.output[0], &outcome.report.roots[0]);
        assert_eq!(found.totals(), mount.expected());
    });
    // Short replies end no directory.
    exact(&fs.entries_per_readdir_max(7));
}

#[test]
fn names_without_types_are_counted_by_type() {
    let fs = FaultFs::builder().entries(TREE).dirs("many", 40);
    let fs = fs.unknown_types(Where::Everywhere);
    exact(&fs);
    with_each(&fs, |mount, threads| {
        let scan = Scan::new(mount.path()).threads(threads);
        let count = &scan.run(&Totals::new().without_sizes()).unwrap().output[0];
        let expected = mount.expected();
        assert_eq!(
            (count.entries, count.dirs),
            (expected.entries, expected.dirs)
        );
        assert_eq!(
            (count.files, count.symlinks),
            (expected.files, expected.symlinks)
        );
    });
}

/// Sums of 64 bits ended at 2^64 - 1 and were called complete.
#[test]
fn sums_beyond_64_bits_are_exact() {
    let mut fs = FaultFs::builder().dir("a/b");
    for path in ["a/x", "a/y", "a/b/z"] {
        let largest = i64::MAX.cast_unsigned();
        fs = fs.file(path, largest).claim_blocks(path, u64::MAX / 512);
    }
    let bytes = 3 * u128::from(i64::MAX.cast_unsigned());
    let allocated_bytes = fs.expected_allocated_bytes();
    assert!(allocated_bytes > 2 << 64);
    with_each(&fs, |mount, threads| {
        let scan = Scan::new(mount.path()).threads(threads);
        let sinks = (
            Totals::new(),
            TreeSink::new(),
            TreeSink::new().with_files(),
            Stats::new(Grouping::Depth),
        );
        let running = scan.start(&sinks).unwrap();
        running.wait();
        assert_eq!(
            running.progress().allocated_bytes,
            Some(3 * ((1 << 64) - 512))
        );
        let outcome = running.finish();
        assert!(outcome.report.is_complete());
        let (totals, tree, with_files, groups) = outcome.output;
        let root = sizes(&totals[0]);
        let sums = (root.apparent_bytes, root.allocated_bytes);
        assert_eq!(sums, (bytes, allocated_bytes));
        assert_eq!(root.file_size_bytes, bytes);
        for tree in [tree, with_files] {
            let root = tree.root(0).unwrap();
            let sums = (Some(sums.0), Some(sums.1));
            assert_eq!((root.apparent_bytes(), root.allocated_bytes()), sums);
            assert!(!root.is_incomplete());
        }
        let sum =
            |of: fn(&Tally) -> u128| groups.iter().map(|group| of(&group.tally)).sum::<u128>();
        let grouped = (sum(|t| t.apparent_bytes), sum(|t| t.allocated_bytes));
        assert_eq!(grouped, sums);
    });
}

#[test]
fn what_takes_more_than_64_bits_hold_is_not_believed() {
    let fs = FaultFs::builder()
        .file("a/sound", 1_000)
        .file("a/mad", 1_000)
        .file("mad/below", 1_000)
        .claim_blocks("a/mad", u64::MAX / 512 + 1)
        .claim_blocks("mad", u64::MAX);
    with_each(&fs, |mount, threads| {
        let outcome = scan(mount, threads);
        assert!(!outcome.report.is_complete());
        assert_eq!(outcome.report.sum().unreadable, 2);
        let overflow = |op| (op, system(Errno::OVERFLOW));
        let errors = outcome.report.errors.iter();
        let errors: Vec<_> = errors.map(|error| (error.op, error.cause)).collect();
        assert_eq!(errors, [overflow(EngineOp::Stat), overflow(EngineOp::Open)]);
        assert!(sizes(&outcome.output[0]).allocated_bytes < 1 << 20);
    });
    // Who does not ask for blocks does not mind.
    with_each(&fs, |mount, threads| {
        let scan = Scan::new(mount.path()).threads(threads);
        let outcome = scan.run(&Totals::new().without_sizes()).unwrap();
        assert!(outcome.report.is_complete());
        assert_eq!(outcome.output[0].files, 3);
    });
}
