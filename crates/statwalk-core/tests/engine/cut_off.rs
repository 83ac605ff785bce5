// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan that is stopped gives what it has read, also of directories that it has not
//! read to their end.

use std::time::Duration;

use statwalk_core::tuning::{Calls, Sharing};
use statwalk_core::{Order, Scan, Totals, TreeSink};
use statwalk_testkit::fault_fs::{FaultFs, Latency, Op, Where};
use statwalk_testkit::or_skip;

/// Longer than anything takes on a busy machine; only failures wait so long.
const LONG: Duration = Duration::from_secs(60);

/// One directory of 3,000 files, each of which takes some milliseconds. No file is lost:
/// neither those that workers hold, nor those that wait until the directory is verified.
#[test]
fn what_was_read_of_a_directory_counts() {
    let shared = Calls::default();
    let alone = Calls::default().sharing(Sharing::Never);
    for (calls, order, threads, latency_ms) in [
        (&shared, Order::Parallel, Some(4), 5),
        // With as many workers as help.
        (&shared, Order::Parallel, None, 50),
        (&alone, Order::Parallel, Some(4), 5),
        (&shared, Order::Recursive, None, 5),
        (&shared, Order::Inode, Some(4), 5),
    ] {
        let latency = Latency::Fixed(Duration::from_millis(latency_ms));
        let fs = FaultFs::builder().files("", 3_000, 1).latency_of(
            Where::Everywhere,
            Op::Lookup,
            latency,
        );
        let mount = or_skip!(fs.mount());
        let scan = Scan::new(mount.path()).order(order).calls(calls.clone());
        let scan = match threads {
            Some(threads) => scan.threads(threads),
            None => scan,
        };
        let sinks = (Totals::new(), TreeSink::new());
        let running = scan.start(sinks).unwrap();
        // Not after a time: on a busy machine the number of workers grows slowly.
        assert!(mount.wait_for(LONG, |counts| counts.lookup >= 200));
        assert!(!running.wait_for(Duration::ZERO));
        let outcome = running.finish();
        assert!(outcome.report.interrupted);
        assert_eq!(outcome.report.hanging, Vec::<Vec<u8>>::new());
        let (totals, tree) = outcome.output;
        let asked = mount.counts().lookup;
        println!("{order:?}: {} of {asked}", totals[0].files);
        assert!(totals[0].files >= 100, "{order:?}: {}", totals[0].files);
        // The last call of each worker may have come too late.
        assert!(totals[0].files + 70 >= asked, "{order:?}: {asked}");
        let root = tree.root(0).unwrap();
        assert_eq!((root.file_count(), root.dir_count()), (totals[0].files, 1));
        assert!(root.is_incomplete());
    }
}
