// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls that are slow: they overlap, and a scan of them can be cancelled.

use std::time::{Duration, Instant};

use statwalk_core::{Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Latency, Op, Uniform, Where};
use statwalk_testkit::{or_skip, stretched};

use super::{FINISH_MAX, exact, scan};

#[test]
fn slow_calls_change_nothing_and_overlap() {
    let shape = Uniform {
        depth: 2,
        dirs_each: 4,
        files_each: 3,
        file_size_bytes: 10,
    };
    let latency = Latency::Between {
        least: Duration::from_micros(100),
        most: Duration::from_millis(2),
        seed: 7,
    };
    let fs = FaultFs::builder()
        .uniform("u", shape)
        .latency(Where::Everywhere, latency);
    exact(&fs);
    let mount = or_skip!(fs.mount());
    assert!(scan(&mount, 8).report.is_complete());
    assert!(mount.counts().waiting_max >= 4, "{:?}", mount.counts());
}

/// Cancelling while calls are slow: what is there, at once.
#[test]
fn a_slow_scan_is_cancelled_at_once() {
    for threads in [1, 4] {
        let fs = FaultFs::builder()
            .files("many", 50_000, 1)
            .dirs("dirs", 10_000)
            .latency(Where::Everywhere, Latency::Fixed(Duration::from_millis(5)));
        let mount = or_skip!(fs.mount());
        let scan = Scan::new(mount.path()).threads(threads);
        let sink = Totals::new();
        let running = scan.start(&sink).unwrap();
        assert!(
            !running.wait_for(Duration::from_millis(300)),
            "nobody is so fast"
        );
        let canceller = running.canceller();
        let start = Instant::now();
        std::thread::spawn(move || canceller.cancel());
        running.wait();
        let outcome = running.finish();
        let took = start.elapsed();
        assert!(took < stretched(FINISH_MAX), "{took:?}");
        assert!(outcome.report.interrupted && !outcome.report.is_complete());
        // Slow is not hanging: a worker that still answers is not named.
        assert_eq!(
            outcome.report.hanging,
            Vec::<Vec<u8>>::new(),
            "{threads} workers"
        );
    }
}

/// Where the listing gives no types, counting stats every entry: slow, and to be stopped.
#[test]
fn a_slow_count_without_types_is_cancelled_at_once() {
    let latency = Latency::Fixed(Duration::from_millis(5));
    let fs = FaultFs::builder()
        .files("many", 5_000, 1)
        .unknown_types(Where::Everywhere)
        .latency_of(Where::Everywhere, Op::Getattr, latency);
    let mount = or_skip!(fs.mount());
    let sink = Totals::new().without_sizes();
    let running = Scan::new(mount.path()).threads(2).start(&sink).unwrap();
    assert!(!running.wait_for(Duration::from_millis(300)));
    let start = Instant::now();
    let outcome = running.finish();
    let took = start.elapsed();
    assert!(took < stretched(FINISH_MAX), "{took:?}");
    assert_eq!(outcome.report.hanging, Vec::<Vec<u8>>::new());
}
