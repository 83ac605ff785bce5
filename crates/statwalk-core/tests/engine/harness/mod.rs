// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the tests share: scanning with every sink at once, comparing with the
//! oracle, and running a part of a test in a process of its own.

pub(crate) mod agreement;
pub(crate) mod answer;
pub(crate) mod child;
pub(crate) mod listing;
mod naming;
pub(crate) mod records;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{Order, RootSizes, RootTotals};
use statwalk_testkit::naive::Options;
use statwalk_testkit::{Model, Scratch};

/// The numbers of workers that tests use: one, a few, more than processors.
pub(crate) const THREADS: [usize; 4] = [1, 2, 3, 8];

/// All orders, the usual one first.
pub(crate) const ORDERS: [AnyOrder; 8] = [
    AnyOrder::Order(Order::Parallel),
    AnyOrder::Order(Order::Recursive),
    AnyOrder::Order(Order::Queue),
    AnyOrder::Order(Order::Stack),
    AnyOrder::ReservedStack,
    AnyOrder::Futures,
    AnyOrder::Order(Order::Inode),
    AnyOrder::Sorted,
];

/// A scratch directory in memory where there is one: large trees belong there.
pub(crate) fn scratch_in_memory() -> Scratch {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => Scratch::within(memory),
        false => Scratch::new(),
    }
    .expect("a temporary directory")
}

/// Mounts are entered, and everything else is as by default.
pub(crate) const ENTER: Options<'_> = Options {
    one_file_system: false,
    count_links: false,
    follow: false,
    include_kernfs: false,
    exclude: None,
};

/// Waits, a minute at most, until something is so.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The sums of bytes of a scan that reads sizes.
pub(crate) fn sizes(totals: &RootTotals) -> RootSizes {
    totals.sizes.expect("the scan reads sizes")
}

/// Makes the tree in a scratch directory of its own.
pub(crate) fn made(tree: &Model) -> (Scratch, PathBuf) {
    let scratch = Scratch::new().expect("a temporary directory");
    let dir = scratch.path().join("t");
    tree.materialise(&dir).expect("a tree that can be made");
    statwalk_testkit::settle(&dir).expect("its file system can be written");
    (scratch, dir)
}

/// Bytes as text, for messages.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
