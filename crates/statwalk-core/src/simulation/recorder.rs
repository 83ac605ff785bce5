// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that keeps all that it is given, and what is wrong with it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::batch::Batch;
use crate::directory::Directory;
use crate::entry::{DirId, Fields};
use crate::lock::lock;
use crate::sink::{Collect, Context, Sink};

/// All that was delivered so far, to be read while the scan goes on.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// How often each path was delivered.
    pub(super) delivered: HashMap<Vec<u8>, u32>,
    pub(super) rows: usize,
    /// Rows that were delivered twice.
    pub(super) twice: Vec<Vec<u8>>,
    /// The directories that were delivered.
    pub(super) dirs: Vec<DirId>,
}

/// Keeps all rows.
pub(super) struct Recorder {
    pub(super) fields: Fields,
    pub(super) log: Arc<Mutex<Log>>,
}

pub(super) struct Recorded {
    rows: usize,
    log: Arc<Mutex<Log>>,
}

impl Sink for Recorder {
    type State = Recorded;
    /// How many rows the states have.
    type Output = usize;

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<Recorded> {
        let state = |_| Recorded {
            rows: 0,
            log: Arc::clone(&self.log),
        };
        (0..count).map(state).collect()
    }

    fn merge(&self, _: &Context, states: Vec<Recorded>) -> usize {
        states.iter().map(|state| state.rows).sum()
    }
}

impl Recorded {
    fn take(&mut self, path: Vec<u8>) {
        self.rows += 1;
        let mut log = lock(&self.log);
        log.rows += 1;
        let count = log.delivered.entry(path.clone()).or_default();
        *count += 1;
        if *count > 1 {
            log.twice.push(path);
        }
    }
}

impl Collect for Recorded {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.take(directory.path());
        lock(&self.log).dirs.push(directory.id());
        ControlFlow::Continue(())
    }

    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        for entry in batch.iter() {
            self.take(directory.entry_path(entry.name));
        }
        ControlFlow::Continue(())
    }
}
