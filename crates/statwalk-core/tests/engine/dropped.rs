// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is left of a scan whose answer nobody wants any more: nothing.

use std::time::{Duration, Instant};

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{Order, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Hang, Latency, Op, Uniform, Where};
use statwalk_testkit::{or_skip, stretched};

use super::harness::{child, wait_until};

/// How many threads of this process are workers.
fn workers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| {
        let name = task.ok()?.path().join("comm");
        std::fs::read_to_string(name).ok()
    });
    names.filter(|name| name.starts_with("statwalk-")).count()
}

/// In a process of its own, because it counts threads and descriptors.
pub(crate) fn drops_a_scan(argument: &str) {
    let shape = Uniform {
        // The directory that hangs can be the last that workers come to.
        depth: if argument == "hanging" { 3 } else { 4 },
        dirs_each: 9,
        files_each: 3,
        file_size_bytes: 1,
    };
    let fs = FaultFs::builder()
        .uniform("", shape)
        .latency(Where::Everywhere, Latency::Fixed(Duration::from_millis(3)));
    let fs = match argument {
        "hanging" => fs.dir("dead").hang("dead", Op::Opendir, Hang::UntilSignal),
        _ => fs,
    };
    let mount = fs.mount().unwrap();
    let before = child::open_descriptors();
    let sink = Totals::new();
    for order in [
        AnyOrder::Order(Order::Parallel),
        AnyOrder::Order(Order::Queue),
        AnyOrder::Futures,
        AnyOrder::Order(Order::Inode),
    ] {
        let scan = Scan::new(mount.path()).order(order).threads(8);
        let running = scan.start(&sink).unwrap();
        let canceller = running.canceller();
        let listed = mount.counts().opendir;
        wait_until("it does not begin", || mount.counts().opendir > listed + 30);
        assert!(!running.wait_for(Duration::from_millis(1)));
        if argument == "hanging" {
            wait_until("it does not hang", || mount.counts().hanging > 0);
        }
        let start = Instant::now();
        drop(running);
        // It waits for nobody, least of all for the one that hangs.
        let took = start.elapsed();
        let listed = mount.counts().opendir;
        assert!(
            took < stretched(Duration::from_secs(1)),
            "{order:?}: {took:?}"
        );
        if argument == "hanging" {
            // The directory it reads, and those above that it was opened from.
            wait_until("the others go on", || workers() == 1);
            wait_until("descriptors stay open", || {
                child::open_descriptors() <= before + 3
            });
            mount.release();
        }
        wait_until("workers go on", || workers() == 0);
        // Each of 8 workers ends with the directory that it reads.
        let more = mount.counts().opendir - listed;
        assert!(more < 200, "{order:?}: {more} directories more");
        // Nothing is held for the sake of somebody who could still stop it.
        assert_eq!(child::open_descriptors(), before, "{order:?}");
        canceller.cancel();
        if argument == "hanging" {
            break;
        }
    }
    println!("done=1");
}

/// Up to 64 workers scanned on after the scan was dropped.
#[test]
fn workers_end_with_the_scan() {
    or_skip!(FaultFs::builder().mount().map(drop));
    for argument in ["slow", "hanging"] {
        let numbers = child::run("dropped::drops_a_scan", argument);
        assert_eq!(numbers["done"], 1, "{argument}");
    }
}
