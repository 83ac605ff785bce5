// SPDX-License-Identifier: MIT OR Apache-2.0

//! Slow calls: how long they take, and how many are under way at once.

use std::thread;
use std::time::{Duration, Instant};

use statwalk_testkit::fault_fs::{FaultFs, Latency, Op, Where};
use statwalk_testkit::or_skip;

use super::{names, stat};

#[test]
fn every_operation_takes_its_fixed_time() {
    let each = Duration::from_millis(20);
    let fs = FaultFs::builder()
        .files("d", 3, 0)
        .latency(Where::Everywhere, Latency::Fixed(each));
    let mount = or_skip!(fs.mount());
    let start = Instant::now();
    // A lookup, an opendir and two readdir; the close is not waited for.
    assert_eq!(names(&mount.join("d")).len(), 3);
    assert!(start.elapsed() >= 4 * each, "{:?}", start.elapsed());
    assert_eq!(mount.counts().waiting_max, 1);
}

#[test]
fn latency_can_be_that_of_one_operation_on_one_path() {
    let each = Duration::from_millis(30);
    let fs = FaultFs::builder().entries("slow 0\nfast 0").latency_of(
        "slow",
        Op::Getattr,
        Latency::Fixed(each),
    );
    let mount = or_skip!(fs.mount());
    stat(&mount.join("fast")).unwrap();
    assert_eq!(mount.counts().waiting_max, 0);
    let start = Instant::now();
    stat(&mount.join("slow")).unwrap();
    assert!(start.elapsed() >= each, "{:?}", start.elapsed());
    assert_eq!(mount.counts().waiting_max, 1);
}

#[test]
fn variable_latency_is_never_below_its_least() {
    let (least, most) = (Duration::from_millis(5), Duration::from_millis(25));
    let latency = Latency::Between {
        least,
        most,
        seed: 7,
    };
    let fs =
        FaultFs::builder()
            .files("d", 12, 0)
            .latency_of(Where::Everywhere, Op::Getattr, latency);
    let mount = or_skip!(fs.mount());
    let taken: Vec<_> = (0..12)
        .map(|n| {
            let start = Instant::now();
            stat(&mount.join(format!("d/f{n:06}"))).unwrap();
            start.elapsed()
        })
        .collect();
    assert!(taken.iter().all(|taken| *taken >= least), "{taken:?}");
    let (fastest, slowest) = (taken.iter().min().unwrap(), taken.iter().max().unwrap());
    assert!(*slowest >= *fastest + Duration::from_millis(5), "{taken:?}");
}

#[test]
fn slow_calls_are_served_side_by_side() {
    let latency = Latency::Fixed(Duration::from_secs(3));
    let fs =
        FaultFs::builder()
            .files("d", 10, 0)
            .latency_of(Where::Everywhere, Op::Getattr, latency);
    let mount = or_skip!(fs.mount());
    thread::scope(|scope| {
        for n in 0..10 {
            let path = mount.join(format!("d/f{n:06}"));
            scope.spawn(move || stat(&path).unwrap());
        }
    });
    assert_eq!(mount.counts().waiting_max, 10);
}

#[test]
fn server_slots_limit_what_is_served_at_once() {
    let each = Duration::from_millis(30);
    let fs = FaultFs::builder()
        .files("d", 6, 0)
        .latency_of(Where::Everywhere, Op::Getattr, Latency::Fixed(each))
        .server_slots(2);
    let mount = or_skip!(fs.mount());
    let start = Instant::now();
    thread::scope(|scope| {
        for n in 0..6 {
            let path = mount.join(format!("d/f{n:06}"));
            scope.spawn(move || stat(&path).unwrap());
        }
    });
    assert!(
        start.elapsed() >= 3 * each,
        "six calls on two slots in {:?}",
        start.elapsed()
    );
}
