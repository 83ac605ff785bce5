// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that keeps all that it is given, and what is wrong with it.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::DirId;
use crate::fields::Fields;
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
    pub(super) dir_paths: HashSet<Vec<u8>>,
    /// The directories that are finished, with their root.
    pub(super) finished: HashSet<(usize, Vec<u8>)>,
    /// Rows that came below a directory that was finished, and directories that were
    /// finished twice or before they were delivered.
    pub(super) too_late: Vec<Vec<u8>>,
    /// Names that were said to come later, each with the number of its directory.
    pub(super) waiting: HashSet<(DirId, Vec<u8>)>,
    /// Those that have come, or were said to come no more.
    pub(super) settled: HashSet<(DirId, Vec<u8>)>,
    /// Names that came after they were said to come no more.
    pub(super) come_back: Vec<Vec<u8>>,
    gone: HashSet<(DirId, Vec<u8>)>,
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

impl Log {
    /// Whether a directory above a path is finished, as a part of a root.
    pub(super) fn is_in_finished(&self, root: usize, path: &[u8]) -> bool {
        let slashes = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/');
        let mut above = slashes.map(|(end, _)| &path[..end]);
        above.any(|above| self.finished.contains(&(root, above.to_vec())))
    }
}

impl Recorded {
    fn take(&mut self, root: usize, path: Vec<u8>) {
        self.rows += 1;
        let mut log = lock(&self.log);
        log.rows += 1;
        let count = log.delivered.entry(path.clone()).or_default();
        *count += 1;
        if *count > 1 {
            log.twice.push(path.clone());
        }
        if log.is_in_finished(root, &path) {
            log.too_late.push(path);
        }
    }
}

impl Recorded {
    fn come(&mut self, directory: Option<DirId>, name: &[u8]) {
        let Some(directory) = directory else { return };
        let mut log = lock(&self.log);
        let key = (directory, name.to_vec());
        if log.gone.contains(&key) {
            log.come_back.push(name.to_vec());
        }
        log.settled.insert(key);
    }
}

impl Collect for Recorded {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.take(directory.root(), directory.path());
        self.come(directory.parent(), directory.name());
        let mut log = lock(&self.log);
        log.dirs.push(directory.id());
        log.dir_paths.insert(directory.path());
        ControlFlow::Continue(())
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        let path = directory.path();
        let mut log = lock(&self.log);
        let is_known = log.dir_paths.contains(&path);
        let root = directory.root();
        let is_in_finished = log.is_in_finished(root, &path);
        if !is_known || is_in_finished || !log.finished.insert((root, path.clone())) {
            log.too_late.push(path);
        }
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        for entry in batch.iter() {
            self.take(origin.root(), origin.entry_path(entry.name));
            self.come(origin.directory().map(Directory::id), entry.name);
        }
        ControlFlow::Continue(())
    }

    fn waiting(&mut self, directory: DirId, names: &mut dyn Iterator<Item = &[u8]>) {
        let mut log = lock(&self.log);
        log.waiting
            .extend(names.map(|name| (directory, name.to_vec())));
    }

    fn gone(&mut self, directory: DirId, name: &[u8]) {
        let mut log = lock(&self.log);
        let key = (directory, name.to_vec());
        log.gone.insert(key.clone());
        log.settled.insert(key);
    }
}
