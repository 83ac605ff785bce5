// SPDX-License-Identifier: MIT OR Apache-2.0

//! Values that workers fill while they scan: each entry comes once, and soon.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use statwalk_core::{Fields, Fill, Found, Gathered, Next, Scan};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Op};
use statwalk_testkit::trees::{WideFiles, make_wide};
use statwalk_testkit::{or_skip, stretched};

use super::harness::{ORDERS, scratch_in_memory};

/// Longer than anything takes on a busy machine; only failures wait so long.
const LONG: Duration = Duration::from_secs(60);

/// The paths of all entries, in values of up to `full` paths.
fn gather(scan: &Scan, full: usize) -> Gathered<Vec<Vec<u8>>> {
    let fill = move |paths: &mut Vec<Vec<u8>>, found: Found<'_>| {
        match found {
            Found::Directory(directory) => paths.push(directory.path()),
            Found::Entries(directory, batch) => {
                paths.extend(batch.iter().map(|entry| directory.entry_path(entry.name)));
            }
            _ => unreachable!("it is one of these"),
        }
        match paths.len() {
            len if len >= full => Fill::Full,
            0 => Fill::Nothing,
            _ => Fill::Some,
        }
    };
    scan.gather(Fields::NAME, fill).unwrap()
}

#[test]
fn each_entry_comes_once() {
    let scratch = scratch_in_memory();
    let mut expected = vec![scratch.path().as_os_str().as_encoded_bytes().to_vec()];
    for dir in 0..150 {
        let dir = scratch.path().join(dir.to_string());
        make_wide(&dir, 20, WideFiles::Empty).unwrap();
        expected.push(dir.as_os_str().as_encoded_bytes().to_vec());
        let files = std::fs::read_dir(&dir).unwrap();
        expected
            .extend(files.map(|file| file.unwrap().path().into_os_string().into_encoded_bytes()));
    }
    expected.sort();
    for order in ORDERS {
        for (threads, full) in [(1, 1), (4, 1), (4, 100), (4, usize::MAX)] {
            let scan = Scan::new(scratch.path()).order(order).threads(threads);
            let mut found: Vec<_> = gather(&scan, full).flat_map(Result::unwrap).collect();
            found.sort();
            assert!(found == expected, "{order:?} {threads} {full}");
        }
    }
}

/// A value that is not full comes all the same, also from a worker that goes on to
/// something that hangs.
#[test]
fn nothing_lies_with_a_worker_that_hangs() {
    for threads in [1, 2] {
        let fault = FaultFs::builder().file("alive/file", 1).dir("dead");
        let mounted = or_skip!(fault.hang("dead", Op::Opendir, Hang::UntilSignal).mount());
        let mut gathered = gather(&Scan::new(mounted.path()).threads(threads), usize::MAX);
        assert!(mounted.wait_for(LONG, |counts| counts.hanging == 1));
        let start = Instant::now();
        let mut found = Vec::new();
        // The root, and with several workers what is alive, whichever comes first.
        let enough = if threads == 1 { 1 } else { 3 };
        while found.len() < enough {
            assert!(start.elapsed() < LONG, "{found:?}");
            match gathered.next_within(Duration::from_millis(5)) {
                Next::Value(paths) => found.extend(paths),
                Next::Waiting => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(gathered.progress().is_some_and(|it| it.dirs > 0));
        let report = gathered.finish();
        assert!(report.interrupted && !report.hanging.is_empty());
        mounted.release();
    }
}

/// Whoever ends a scan still gets what was read before, and no more.
#[test]
fn a_cancelled_scan_gives_what_it_has() {
    let scratch = scratch_in_memory();
    for dir in 0..2_000 {
        make_wide(&scratch.path().join(dir.to_string()), 5, WideFiles::Empty).unwrap();
    }
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let fill = move |found_some: &mut u32, _: Found<'_>| {
        count.fetch_add(1, Ordering::Relaxed);
        *found_some += 1;
        Fill::Full
    };
    let scan = Scan::new(scratch.path()).threads(4);
    let mut gathered = scan.gather(Fields::NAME, fill).unwrap();
    let first = gathered.next().unwrap().unwrap();
    // The queue is full by then.
    std::thread::sleep(Duration::from_millis(50));
    gathered.cancel();
    let rest: u32 = gathered.by_ref().map(Result::unwrap).sum();
    assert!(gathered.report().unwrap().interrupted);
    let made = made.load(Ordering::Relaxed);
    assert_eq!((first + rest) as usize, made);
    assert!(made < 4_000, "it goes on in memory: {made}");
    assert!(gathered.next().is_none());
}

/// The end of a scan wakes a caller who waits.
#[test]
fn the_end_comes_at_once() {
    let scratch = scratch_in_memory();
    let mut least = LONG;
    for _ in 0..20 {
        let start = Instant::now();
        assert_eq!(gather(&Scan::new(scratch.path()), 1).count(), 1);
        least = least.min(start.elapsed());
    }
    assert!(least < stretched(Duration::from_millis(5)), "{least:?}");
}
