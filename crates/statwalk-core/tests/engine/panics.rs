// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sinks that panic.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{Batch, Collect, Context, Fields, Order, Origin, Scan, Sink};
use statwalk_testkit::trees;

use super::harness::made;

/// Panics at the first entries that it gets.
struct Panics;

impl Sink for Panics {
    type State = Panics;
    type Output = ();

    fn fields(&self) -> Fields {
        Fields::NAME
    }

    fn states(&self, _: &Context, count: usize) -> Vec<Panics> {
        (0..count).map(|_| Panics).collect()
    }

    fn merge(&self, _: &Context, _: Vec<Panics>) {}
}

impl Collect for Panics {
    fn batch(&mut self, _: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        panic!("as this test wants it");
    }
}

/// The other workers waited for ever for the job of the one that was gone.
#[test]
fn a_panic_of_a_sink_reaches_the_caller() {
    let (_scratch, dir) = made(&trees::hard_links());
    for order in [
        AnyOrder::Order(Order::Parallel),
        AnyOrder::Order(Order::Queue),
        AnyOrder::Futures,
        AnyOrder::Order(Order::Inode),
    ] {
        for threads in [1, 4] {
            let scan = Scan::new(&dir).order(order).threads(threads);
            let outcome = catch_unwind(AssertUnwindSafe(|| scan.run(&Panics)));
            let panic = outcome.map(drop).expect_err("there is an outcome");
            let words = panic.downcast_ref::<&str>();
            assert_eq!(
                words,
                Some(&"as this test wants it"),
                "{order:?}, {threads} workers"
            );
            // A closure of the caller has its own words, too, and not words alone.
            let scan = scan.filter_dir(|_| std::panic::panic_any(7_u8));
            let outcome = catch_unwind(AssertUnwindSafe(|| scan.entries().unwrap().count()));
            let panic = outcome.expect_err("entries end");
            assert_eq!(
                panic.downcast_ref::<u8>(),
                Some(&7),
                "{order:?}, {threads} workers"
            );
        }
    }
    let rows = catch_unwind(|| {
        let gathered = Scan::new(&dir).gather(Fields::NAME, |(): &mut (), _| panic!("wanted"));
        gathered.unwrap().count()
    });
    assert!(rows.is_err());
}
