// SPDX-License-Identifier: MIT OR Apache-2.0

//! A disk with one head: what each order costs there.
//!
//! The tree is one that has grown over time: files came to all directories by
//! turns, so that each directory has inodes all over the disk. Whoever reads
//! one directory after another, sorted or not, lets the head pass over the
//! whole disk for each of them; by inode number it passes a few times.
//! The model of the disk is that of `statwalk_testkit::fault_fs::Disk`.

use std::process::{Command, Stdio};
use std::time::Duration;

use statwalk_core::tuning::{Calls, StatOrder};
use statwalk_core::{Order, Scan, Totals};
use statwalk_testkit::fault_fs::{Counts, Disk, FaultFs, FaultFsBuilder, FaultMount};
use statwalk_testkit::{Skipped, or_skip};

const DIRS: u64 = 50;
const FILES_EACH: u64 = 60;
/// An inode a block: none is read by chance with another.
const BLOCKS: u64 = DIRS * FILES_EACH;

fn grown() -> FaultFsBuilder {
    let mut fs = FaultFs::builder();
    for dir in 0..DIRS {
        fs = fs.dir(format!("d{dir:02}"));
    }
    for file in 0..FILES_EACH {
        for dir in 0..DIRS {
            fs = fs.file(format!("d{dir:02}/f{file:02}"), 1);
        }
    }
    fs.disk(Disk {
        inodes_per_block: 1,
        settle: Duration::ZERO,
        per_block: Duration::ZERO,
    })
}

/// What the head did while something read a fresh mount.
fn head(read: impl FnOnce(&FaultMount)) -> Result<Counts, Skipped> {
    let mount = grown().mount()?;
    let before = mount.counts();
    read(&mount);
    let after = mount.counts();
    let mut moved = after;
    moved.seeks -= before.seeks;
    moved.seek_blocks -= before.seek_blocks;
    Ok(moved)
}

fn of_order(order: Order, threads: usize, calls: Calls) -> Result<Counts, Skipped> {
    let moved = head(|mount| {
        let scan = Scan::new(mount.path()).order(order).threads(threads);
        let outcome = scan.calls(calls).run(&Totals::new()).unwrap();
        assert_eq!(outcome.output[0].files, DIRS * FILES_EACH);
        assert!(outcome.report.is_complete());
    })?;
    println!(
        "{:>14}, {threads} workers: {:>5} seeks over {:>7} blocks",
        order.name(),
        moved.seeks,
        moved.seek_blocks
    );
    Ok(moved)
}

#[test]
fn by_inode_the_head_passes_the_disk_a_few_times() {
    let sweeps = |counts: Counts| counts.seek_blocks as f64 / BLOCKS as f64;
    let plain = Calls::default();
    let sorted = Calls::default().stat_order(StatOrder::Inode);
    // One pass and a way back for each directory: within a directory the
    // listing is in the order of the numbers already.
    for order in [
        Order::Parallel,
        Order::Recursive,
        Order::Queue,
        Order::Stack,
    ] {
        for calls in [&plain, &sorted] {
            let passes = sweeps(or_skip!(of_order(order, 1, calls.clone())));
            let expected = 2.0 * DIRS as f64;
            assert!(
                (0.8 * expected..1.1 * expected).contains(&passes),
                "{passes}"
            );
        }
    }
    // The directories, which came first, then one sweep: nearly no way at all.
    let alone = or_skip!(of_order(Order::Inode, 1, plain.clone()));
    assert!(sweeps(alone) < 2.0, "{alone:?}");
    assert!(alone.seeks < 20, "{alone:?}");
    // Several workers overtake each other by a few inodes.
    let together = or_skip!(of_order(Order::Inode, 4, plain));
    assert!(sweeps(together) < 10.0, "{together:?}");

    let du = or_skip!(head(|mount| {
        let mut du = Command::new("du");
        let status = du
            .arg("-s")
            .arg(mount.path())
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success());
    }));
    println!(
        "            du: {:>5} seeks over {:>7} blocks",
        du.seeks, du.seek_blocks
    );
    assert!(sweeps(du) > 10.0 * sweeps(together), "{du:?}, {together:?}");
}
