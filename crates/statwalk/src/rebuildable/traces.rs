// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sink that notes which directories hold names that rules ask for.

use std::collections::HashMap;
use std::ops::ControlFlow;

use foldhash::fast::RandomState;
use statwalk_core::{
    Batch, Collect, Context, DirId, DirState, Directory, Fields, FileType, Origin, Sink,
};
use statwalk_view::rebuildable::{TraceKind, Traces};

/// The traces of each directory that has any.
pub(crate) type FoundTraces = HashMap<DirId, Traces, RandomState>;

/// Finds them.
pub(crate) struct TraceSink;

/// The traces that one worker met, a few for each directory.
pub(crate) struct TraceState(Vec<(DirId, Traces)>);

impl TraceState {
    fn note(&mut self, dir: DirId, traces: Traces) {
        if !traces.is_none() {
            self.0.push((dir, traces));
        }
    }
}

impl Sink for TraceSink {
    type State = TraceState;
    type Output = FoundTraces;

    fn fields(&self) -> Fields {
        Fields::NAME | Fields::TYPE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<TraceState> {
        (0..count).map(|_| TraceState(Vec::new())).collect()
    }

    fn merge(&self, _: &Context, states: Vec<TraceState>) -> FoundTraces {
        let mut all = FoundTraces::default();
        for (dir, traces) in states.into_iter().flat_map(|state| state.0) {
            *all.entry(dir).or_default() |= traces;
        }
        all
    }
}

impl Collect for TraceState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        if let Some(parent) = directory.parent() {
            self.note(parent, Traces::of(directory.name(), TraceKind::Directory));
        }
        if directory.state() != DirState::Listed {
            self.note(directory.id(), Traces::UNREAD);
        }
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let Some(directory) = origin.directory() else {
            return ControlFlow::Continue(());
        };
        let mut traces = Traces::NONE;
        // By columns: a call for each name would be most of the cost.
        let names = batch.names();
        let mut start = 0;
        for (&end, &kind) in batch.name_ends().iter().zip(batch.kinds()) {
            let name = &names[start..end as usize];
            start = end as usize;
            let kind = match kind {
                FileType::File => TraceKind::File,
                _ => TraceKind::Other,
            };
            traces |= Traces::of(name, kind);
        }
        self.note(directory.id(), traces);
        ControlFlow::Continue(())
    }
}
