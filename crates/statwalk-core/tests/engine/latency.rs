// SPDX-License-Identifier: MIT OR Apache-2.0

//! File systems where each call waits: the number of workers follows.

use std::time::{Duration, Instant};

use statwalk_core::{Next, Reason, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, FaultFsBuilder, Latency, Uniform, Where};
use statwalk_testkit::{Skipped, or_skip, slowness};

use super::harness::child;

/// Up to how many calls the engine has under way at once.
const BOUND: f64 = 64.0;

/// Whether one of some scans comes to a share: neighbours that come and go meet each of them
/// otherwise.
fn reaches(share: f64, latency: Latency, mean: Duration) -> Result<bool, Skipped> {
    for _ in 0..5 {
        if share_of_bound(latency, mean)? >= share {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Scans a tree of 13,300 files, and returns the time as a share of what it
/// would take with all calls overlapping as far as the bound allows, where
/// nothing else has the processors.
fn share_of_bound(latency: Latency, mean: Duration) -> Result<f64, Skipped> {
    let shape = Uniform {
        depth: 2,
        dirs_each: 11,
        files_each: 100,
        file_size_bytes: 1,
    };
    let fs = FaultFs::builder()
        .uniform("u", shape)
        .latency(Where::Everywhere, latency);
    let mount = fs.mount()?;
    let start = Instant::now();
    let outcome = Scan::new(mount.path()).run(&Totals::new()).unwrap();
    let elapsed = start.elapsed().as_secs_f64();
    assert_eq!(outcome.output[0].files, mount.expected().files);
    let counts = mount.counts();
    let calls = counts.lookup + counts.getattr + counts.opendir + counts.readdir;
    let ideal = calls as f64 * mean.as_secs_f64() / BOUND;
    println!(
        "{latency:?}: {calls} calls in {elapsed:.3} s, {:.2} of the bound, {} workers, {:?}",
        ideal / elapsed,
        outcome.report.workers,
        outcome.report.plan.why.last(),
    );
    let told = outcome
        .report
        .plan
        .why
        .iter()
        .any(|why| matches!(why, Reason::MoreWorkers { .. }));
    assert!(told, "{:?}", outcome.report.plan.why);
    Ok(ideal / elapsed * slowness())
}

// Alone on two processors they come to 0.8 and more; other tests run beside them.

const MS: Duration = Duration::from_millis(1);

#[test]
fn ten_milliseconds_a_call_are_met_with_many_workers() {
    assert!(or_skip!(reaches(0.65, Latency::Fixed(10 * MS), 10 * MS)));
}

/// So short that the file system and the scan share the processors: 64,000 calls a
/// second take one and a half of them, and other tests want them too. A scan that
/// stays at eight workers comes to 0.12, `bench/latency` says what is reached.
#[test]
fn one_millisecond_a_call_is_met_with_many_workers() {
    assert!(or_skip!(reaches(0.15, Latency::Fixed(MS), MS)));
}

#[test]
fn variable_latency_is_met_with_many_workers() {
    let latency = Latency::Between {
        least: 2 * MS,
        most: 18 * MS,
        seed: 3,
    };
    assert!(or_skip!(reaches(0.65, latency, 10 * MS)));
}

/// Whoever waits in pieces that are shorter than the pause between two looks.
#[test]
fn waiting_in_short_pieces_is_enough() {
    let fs = FaultFs::builder()
        .files("d", 1_000, 1)
        .latency(Where::Everywhere, Latency::Fixed(5 * MS));
    let mount = or_skip!(fs.mount());
    let sink = Totals::new();
    let scan = Scan::new(mount.path());
    let running = scan.start(&sink).unwrap();
    while !running.wait_for(5 * MS) {}
    assert!(running.finish().report.workers > 8);
}

/// A tree of small directories: each call of two workers brings the caller something soon.
fn small_directories() -> FaultFsBuilder {
    let shape = Uniform {
        depth: 2,
        dirs_each: 20,
        files_each: 1,
        file_size_bytes: 1,
    };
    FaultFs::builder()
        .uniform("u", shape)
        .latency(Where::Everywhere, Latency::Fixed(MS))
}

#[test]
fn a_caller_of_rows_who_never_waits_long_gets_many_workers() {
    let mount = or_skip!(small_directories().mount());
    let mut rows = Scan::new(mount.path()).rows().unwrap();
    let count: usize = rows.by_ref().map(|rows| rows.unwrap().len()).sum();
    assert_eq!(count as u64, mount.expected().files);
    let workers = rows.finish().workers;
    assert!(workers > 8, "{workers}");
}

#[test]
fn a_caller_who_asks_without_waiting_gets_many_workers() {
    let mount = or_skip!(small_directories().mount());
    let mut rows = Scan::new(mount.path()).rows().unwrap();
    let mut count = 0;
    loop {
        match rows.next_within(Duration::ZERO) {
            Next::Value(rows) => count += rows.len() as u64,
            Next::Waiting => std::thread::sleep(MS / 2),
            Next::End => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, mount.expected().files);
    let workers = rows.finish().workers;
    assert!(workers > 8, "{workers}");
}

/// In a process of its own: threads of one wait for each other's maps, and other tests
/// map whole devices.
#[test]
fn a_scan_in_memory_keeps_its_workers() {
    let numbers = child::run("latency::scanned_in_memory", "");
    assert!(numbers["workers"] <= numbers["processors"], "{numbers:?}");
}

/// The part of the test above that runs in a child: the workers of the middle one of nine scans,
/// because neighbours that take the processors away can look like a slow file system.
pub(crate) fn scanned_in_memory(_: &str) {
    let scratch = super::harness::scratch_in_memory();
    for dir in 0..300 {
        let dir = scratch.path().join(format!("d{dir}"));
        std::fs::create_dir(&dir).unwrap();
        for file in 0..60 {
            std::fs::write(dir.join(format!("f{file}")), b"").unwrap();
        }
    }
    let workers = (0..9).map(|_| {
        let scan = Scan::new(scratch.path());
        scan.run(&Totals::new()).unwrap().report.workers
    });
    let mut workers: Vec<_> = workers.collect();
    workers.sort_unstable();
    println!("workers={}", workers[4]);
    let processors = std::thread::available_parallelism().unwrap();
    println!("processors={processors}");
}
