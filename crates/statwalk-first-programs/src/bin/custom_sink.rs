// SPDX-License-Identifier: MIT OR Apache-2.0

//! Directories without any entry, by a sink.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use statwalk_core::{Batch, Collect, Context, DirId, Directory, Fields, Origin, Scan, Sink};

struct EmptyDirs;

#[derive(Default)]
struct Seen {
    all: BTreeMap<DirId, PathBuf>,
    filled: BTreeSet<DirId>,
}

impl Sink for EmptyDirs {
    type State = Seen;
    type Output = Vec<PathBuf>;

    fn fields(&self) -> Fields {
        Fields::TYPE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<Seen> {
        (0..count).map(|_| Seen::default()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<Seen>) -> Vec<PathBuf> {
        let mut seen = Seen::default();
        for state in states {
            seen.all.extend(state.all);
            seen.filled.extend(state.filled);
        }
        seen.all.retain(|id, _| !seen.filled.contains(id));
        let mut paths: Vec<_> = seen.all.into_values().collect();
        paths.sort();
        paths
    }
}

impl Collect for Seen {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.filled.extend(directory.parent());
        self.all.insert(directory.id(), directory.to_path_buf());
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        if !batch.is_empty() {
            self.filled.extend(origin.directory().map(Directory::id));
        }
        ControlFlow::Continue(())
    }
}

fn main() -> io::Result<()> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let outcome = Scan::new(root).run(&EmptyDirs)?;
    for path in &outcome.output {
        println!("{}", path.display());
    }
    if !outcome.report.is_complete() {
        return Err(io::Error::other("some directories could not be read"));
    }
    Ok(())
}
