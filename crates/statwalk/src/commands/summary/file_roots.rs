// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sink that notes which roots are no directories: totals under a filter do not tell.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use statwalk_core::{Batch, Collect, Context, Fields, Origin, Sink};

/// Finds the numbers of the roots that are no directories.
pub(super) struct FileRoots;

/// Those that one worker met.
pub(super) struct FileRootsState(BTreeSet<usize>);

impl Sink for FileRoots {
    type State = FileRootsState;
    type Output = BTreeSet<usize>;

    fn fields(&self) -> Fields {
        Fields::NONE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<FileRootsState> {
        let state = || FileRootsState(BTreeSet::new());
        (0..count).map(|_| state()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<FileRootsState>) -> BTreeSet<usize> {
        states.into_iter().flat_map(|state| state.0).collect()
    }
}

impl Collect for FileRootsState {
    fn batch(&mut self, origin: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        if origin.directory().is_none() {
            self.0.insert(origin.root());
        }
        ControlFlow::Continue(())
    }
}
