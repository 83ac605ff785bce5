// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory that is preferred is read next.

use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex};

use statwalk_core::{Batch, Collect, Context, DirId, Directory, Fields, Order, Origin, Scan, Sink};
use statwalk_testkit::trees::{WideFiles, make_wide};

use super::harness::scratch_in_memory;

/// The directories in the order in which they came. The first at depth 2 waits until it
/// may go on.
#[derive(Clone, Default)]
struct Gate {
    state: Arc<(Mutex<Came>, Condvar)>,
}

#[derive(Default)]
struct Came {
    dirs: Vec<(Vec<u8>, DirId)>,
    waits: bool,
    is_open: bool,
}

impl Sink for Gate {
    type State = Gate;
    type Output = ();

    fn fields(&self) -> Fields {
        Fields::NAME
    }

    fn states(&self, _: &Context, count: usize) -> Vec<Gate> {
        vec![self.clone(); count]
    }

    fn merge(&self, _: &Context, _: Vec<Gate>) {}
}

impl Collect for Gate {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let (state, changed) = &*self.state;
        let mut came = state.lock().unwrap();
        came.dirs.push((directory.name().to_vec(), directory.id()));
        if directory.depth() == 2 && !came.is_open {
            came.waits = true;
            changed.notify_all();
            drop(changed.wait_while(came, |came| !came.is_open).unwrap());
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, _: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn what_lies_below_it_comes_next() {
    let scratch = scratch_in_memory();
    for outer in 0..8 {
        let outer_dir = scratch.path().join(outer.to_string());
        std::fs::create_dir(&outer_dir).unwrap();
        for inner in 0..5 {
            let dir = outer_dir.join(format!("{outer}-{inner}"));
            make_wide(&dir, 3, WideFiles::Empty).unwrap();
        }
    }
    let gate = Gate::default();
    let scan = Scan::new(scratch.path()).threads(1).order(Order::Queue);
    let running = scan.start(gate.clone()).unwrap();
    let (state, changed) = &*gate.state;
    let came = state.lock().unwrap();
    let mut came = changed.wait_while(came, |came| !came.waits).unwrap();
    // All at depth 1 are there. The last of them would have the last turn.
    assert_eq!(came.dirs.len(), 1 + 8 + 1);
    let (entered, id) = came.dirs[8].clone();
    running.prefer(id);
    came.is_open = true;
    changed.notify_all();
    drop(came);
    running.wait();
    assert!(running.finish().report.is_complete());
    let came = state.lock().unwrap();
    assert_eq!(came.dirs.len(), 1 + 8 + 40);
    let names = came.dirs[10..15].iter().map(|(name, _)| &name[..1]);
    assert!(names.eq([&entered[..]; 5]));
}
