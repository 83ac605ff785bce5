// SPDX-License-Identifier: MIT OR Apache-2.0

//! The number of workers on machines that no test has: up to a thousand processors, and
//! devices of any latency.
//!
//! A tree is scanned with the number that the controller finds, and with fixed numbers.

use std::fmt::Write;
use std::time::Duration;

use super::run;
use super::scenario::{Caller, Scenario, Tree};
use super::source::Listings;
use super::world::{Machine, Span};
use crate::fields::Fields;
use crate::order::Order;

/// A device, and how many of a hundred calls it is needed for.
struct Device {
    name: &'static str,
    latency: Duration,
    width: usize,
    missing_percent: u32,
}

const fn device(name: &'static str, latency_us: u64, width: usize, missing_percent: u32) -> Device {
    Device {
        name,
        latency: Duration::from_micros(latency_us),
        width,
        missing_percent,
    }
}

const DEVICES: [Device; 7] = [
    device("memory", 0, 1, 0),
    device("flash, cold: 80 µs, 32 at once, 20 % of calls", 80, 32, 20),
    device("disk, cold: 8 ms, one at a time, 5 % of calls", 8_000, 1, 5),
    device(
        "file system in user space: 100 µs, one at a time",
        100,
        1,
        100,
    ),
    device("network: 0.5 ms", 500, 100_000, 100),
    device("network: 10 ms", 10_000, 100_000, 100),
    device("network: 10 ms, 16 at once", 10_000, 16, 100),
];

const PROCESSORS: [usize; 5] = [1, 2, 8, 64, 1_000];

/// The numbers of workers that are tried besides.
const FIXED: [usize; 6] = [1, 2, 8, 64, 256, 1_000];

/// How long a call computes.
const CALL: Duration = Duration::from_nanos(1_500);

/// A tree of so many directories, each with ten files.
fn tree(dirs: usize) -> Tree {
    let (mut tree, root) = Tree::with_root();
    let mut above = vec![root];
    while above.len() < dirs {
        let parent = above[(above.len() - 1) / 40];
        above.push(tree.add(parent, true));
    }
    for dir in above {
        for _ in 0..10 {
            tree.add(dir, false);
        }
    }
    tree
}

fn scenario(device: &Device, processors: usize, threads: Option<usize>, tree: &Tree) -> Scenario {
    Scenario {
        machine: Machine {
            processors,
            device_width: device.width,
            call: Span::always(CALL),
            latency: Span {
                least: device.latency / 2,
                most: device.latency * 3 / 2,
            },
            missing_percent: device.missing_percent,
            threads_max: usize::MAX,
            free_descriptors: 100_000,
            wake: Span::always(Duration::from_micros(20)),
        },
        tree: tree.clone(),
        roots: vec!["/t"],
        order: Order::Parallel.into(),
        threads,
        fields: Fields::NAME | Fields::SIZE,
        max_depth: u32::MAX,
        leaves_out_caches: false,
        withheld_max: 64 * 1024,
        listings: Listings {
            at_once: 256,
            have_types: true,
            links_count: true,
            copies: 1,
            rounds: 1,
        },
        caller: Caller {
            cancels: None,
            enters: None,
            patience: Duration::from_secs(3600),
        },
    }
}

/// The time of the scan of a tree, and its last number of workers.
fn scan(
    device: &Device,
    processors: usize,
    threads: Option<usize>,
    tree: &Tree,
) -> (Duration, usize) {
    let (ended, _) = run(&scenario(device, processors, threads, tree), 0, false);
    (ended.finished_at, ended.workers_at_last)
}

/// The best of the fixed numbers, and its time.
fn best(device: &Device, processors: usize, tree: &Tree) -> (Duration, usize) {
    let times = FIXED.map(|workers| (scan(device, processors, Some(workers), tree).0, workers));
    times.into_iter().min().expect("there are some")
}

/// Too few workers where calls wait, or too many where they do not, cost a multiple.
#[test]
fn the_controller_is_near_the_best_fixed_number() {
    let tree = tree(1_000);
    for (device, processors, most) in [
        (&DEVICES[0], 8, 1.5),
        (&DEVICES[2], 2, 1.3),
        (&DEVICES[3], 8, 1.3),
        // The best has a thousand, and the controller up to 64.
        (&DEVICES[5], 2, 16.0),
        (&DEVICES[6], 64, 1.5),
    ] {
        let (time, workers) = scan(device, processors, None, &tree);
        let (fastest, with) = best(device, processors, &tree);
        let ratio = time.as_secs_f64() / fastest.as_secs_f64();
        assert!(
            ratio <= most,
            "{}, {processors} processors: {time:?} with {workers} workers, {fastest:?} with {with}",
            device.name
        );
    }
}

/// 64 workers waited for a file system that served one call in 10 ms. A scan that was
/// stopped there gave each 100 ms, called all of them dead, and lost what they had.
#[test]
fn slow_is_not_dead() {
    let device = device("serial", 10_000, 1, 100);
    let mut scenario = scenario(&device, 2, None, &tree(100));
    scenario.threads = Some(64);
    for cancelled_at in [1_000, 3_000, 6_200] {
        scenario.caller.cancels = Some(Duration::from_millis(cancelled_at));
        let (ended, _) = run(&scenario, 0, false);
        assert!(ended.report.interrupted);
        assert_eq!(ended.report.hanging, Vec::<Vec<u8>>::new());
    }
}

/// The table of `docs/workers.md`, printed; `cargo xtask simulate --table` writes it.
#[test]
#[ignore = "takes a minute: cargo xtask simulate --table"]
#[allow(clippy::print_stdout)]
fn table() {
    let tree = tree(4_000);
    let mut text = String::new();
    for device in &DEVICES {
        for processors in PROCESSORS {
            let (time, workers) = scan(device, processors, None, &tree);
            let (fastest, with) = best(device, processors, &tree);
            let ratio = time.as_secs_f64() / fastest.as_secs_f64();
            writeln!(
                text,
                "| {} | {processors} | {workers} | {} | {with} | {} | {ratio:.2} |",
                device.name,
                milliseconds(time),
                milliseconds(fastest),
            )
            .expect("a string takes all");
        }
    }
    println!("{text}");
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}
