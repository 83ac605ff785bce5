// SPDX-License-Identifier: MIT OR Apache-2.0

//! The results of one worker, with the state of its sink.

use std::any::Any;

use crossbeam_utils::CachePadded;

use crate::error::ErrorList;
use crate::per_root::of_root;
use crate::report::{LeftOut, RootReport};
use crate::sink::Collect;

/// The state of a worker without its type: workers and their pool are compiled once,
/// and not for each sink.
pub(crate) trait State: Any + Send {
    fn collector(&mut self) -> &mut dyn Collect;
}

impl<C: Collect> State for CachePadded<C> {
    fn collector(&mut self) -> &mut dyn Collect {
        &mut **self
    }
}

/// Takes the types off states.
///
/// Each lies on cache lines of its own: workers write into them all the time.
pub(crate) fn without_types<C: Collect>(states: Vec<C>) -> Vec<Box<dyn State>> {
    let boxed = |state| Box::new(CachePadded::new(state)) as Box<dyn State>;
    states.into_iter().map(boxed).collect()
}

/// The states as the sink made them.
pub(crate) fn with_types<C: Collect>(states: Vec<Box<dyn State>>) -> Vec<C> {
    let typed = states.into_iter().map(|state| {
        let state: Box<dyn Any> = state;
        let state = state.downcast::<CachePadded<C>>().expect(ONE_TYPE);
        CachePadded::into_inner(*state)
    });
    typed.collect()
}

const ONE_TYPE: &str = "all states of a scan are of its sink";

/// The results of one worker.
///
/// A worker locks them for a delivery, never across a system call. So they can be taken
/// from a worker that hangs.
pub(crate) struct Results {
    pub(crate) state: Box<dyn State>,
    /// By root; shorter than the roots where the worker had nothing to say of the last.
    pub(crate) roots: Vec<RootReport>,
    /// By root: whether this worker noted it as finished.
    pub(crate) finished_roots: Vec<bool>,
    pub(crate) errors: ErrorList,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Results {
    pub(crate) fn new(state: Box<dyn State>) -> Results {
        Results {
            state,
            roots: Vec::new(),
            finished_roots: Vec::new(),
            errors: ErrorList::default(),
            left_out: Vec::new(),
        }
    }

    /// The report of a root.
    pub(crate) fn root(&mut self, root: usize) -> &mut RootReport {
        of_root(&mut self.roots, root)
    }

    /// Its state as the sink made it.
    pub(crate) fn state_as<C: Collect>(&mut self) -> &mut C {
        let state: &mut dyn Any = &mut *self.state;
        state.downcast_mut::<CachePadded<C>>().expect(ONE_TYPE)
    }
}
