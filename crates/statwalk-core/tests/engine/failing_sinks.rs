// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that fails ends the scan, and its error comes out.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use statwalk_core::{
    Batch, Collect, Context, Directory, Fields, MemoryEntry, MemoryTree, Op, Origin, Scan, Sink,
    Totals,
};
use statwalk_testkit::trees::{WideFiles, make_wide};

use super::harness::scratch_in_memory;

/// Takes so many directories, and is full then.
struct Full {
    left: Arc<AtomicU64>,
}

struct FullState {
    left: Arc<AtomicU64>,
    error: Option<io::Error>,
}

impl Full {
    fn after(dirs: u64) -> Full {
        let left = Arc::new(AtomicU64::new(dirs));
        Full { left }
    }
}

impl Sink for Full {
    type State = FullState;
    type Output = ();

    fn fields(&self) -> Fields {
        Fields::TYPE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<FullState> {
        let state = || FullState {
            left: Arc::clone(&self.left),
            error: None,
        };
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, _: Vec<FullState>) {}
}

impl Collect for FullState {
    fn directory(&mut self, _: &Directory<'_>) -> ControlFlow<()> {
        let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
        let took = self.left.fetch_update(set, get, |left| left.checked_sub(1));
        if took.is_ok() {
            return ControlFlow::Continue(());
        }
        self.error = Some(io::ErrorKind::StorageFull.into());
        ControlFlow::Break(())
    }

    fn batch(&mut self, _: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

#[test]
fn the_error_of_a_sink_comes_out() {
    let scratch = scratch_in_memory();
    for dir in 0..300 {
        make_wide(&scratch.path().join(dir.to_string()), 2, WideFiles::Empty).unwrap();
    }
    for threads in [1, 4] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let error = scan.run(&Full::after(20)).unwrap_err();
        assert_eq!(error.op(), Op::Collect);
        let kind = error.io_error().unwrap().kind();
        assert_eq!(kind, io::ErrorKind::StorageFull);
        assert_eq!(error.to_string(), "collect entries: no storage space");
        // Beside others, and in a sink that may be absent.
        let several = (Totals::new(), Some(Full::after(20)));
        assert!(scan.run(&several).is_err());
        let running = scan.start(Full::after(20)).unwrap();
        running.wait();
        let report = running.finish().report;
        assert!(report.sink_error.is_some() && report.interrupted && !report.is_complete());
        // One that has room does not fail.
        assert!(scan.run(&Full::after(301)).unwrap().report.is_complete());
    }
    // Also where the last directory of all is one too many.
    let scan = Scan::new(scratch.path()).threads(2);
    assert!(scan.run(&Full::after(300)).is_err());
}

#[test]
fn a_scan_in_memory_ends_with_it_too() {
    let mut tree = MemoryTree::new();
    tree.insert("t/a/file", MemoryEntry::file(10)).unwrap();
    let scan = Scan::new("/t");
    assert!(scan.run_in_memory(tree.clone(), &Full::after(1)).is_err());
    assert!(scan.run_in_memory(tree, &Full::after(2)).is_ok());
}
