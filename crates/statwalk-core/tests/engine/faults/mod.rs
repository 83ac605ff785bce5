// SPDX-License-Identifier: MIT OR Apache-2.0

//! A file system that is slow, broken, hangs or changes while it is read.

mod changes;
mod counts;
mod delays;
pub(crate) mod endless;
mod errors;
mod hangs;
mod interruptions;
mod repeated;
mod vanished;

use std::time::Duration;

use rustix::io::Errno;
use statwalk_core::{Cause, Outcome, RootTotals, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFsBuilder, FaultMount};
use statwalk_testkit::or_skip;

use super::harness::THREADS;
use super::harness::agreement::counts;

/// Longer than anything here takes on a busy machine; only failures wait so long.
const LONG: Duration = Duration::from_secs(20);

/// `finish` promises 100 ms for workers that hang; the rest is for busy machines.
const FINISH_MAX: Duration = Duration::from_millis(400);

const TREE: &str = "
    a/
    a/x      1000
    a/y      2000
    a/l      -> x
    a/hard   = a/y
    b/
    b/c/
    b/c/z    3000
    pipe     fifo
    ";

/// What the system is said to have answered.
fn system(errno: Errno) -> Cause {
    Cause::System(statwalk_core::Errno(errno.raw_os_error()))
}

fn scan(mount: &FaultMount, threads: usize) -> Outcome<Vec<RootTotals>> {
    let scan = Scan::new(mount.path()).threads(threads);
    scan.run(&Totals::new()).unwrap()
}

/// Scans a fresh mount of the description with each number of workers.
fn with_each(fs: &FaultFsBuilder, check: impl Fn(&FaultMount, usize)) {
    for threads in THREADS {
        let mount = or_skip!(fs.clone().mount());
        check(&mount, threads);
    }
}

/// The scan must be whole and exact.
fn exact(fs: &FaultFsBuilder) {
    with_each(fs, |mount, threads| {
        let outcome = scan(mount, threads);
        let found = counts(&outcome.output[0], &outcome.report.roots[0]);
        assert_eq!(found.totals(), mount.expected(), "{threads} workers");
        assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    });
}
