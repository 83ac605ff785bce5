// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink of your own: the directory with the most entries of its own.
//!
//! Run with `cargo run --release -p statwalk-core --example custom_sink -- PATH`.

#![allow(clippy::print_stdout, reason = "an example shows its answer")]

use std::ops::ControlFlow;

use statwalk_core::{Batch, Collect, Context, Directory, Fields, Scan, Sink};

/// Finds the directory that holds the most entries that are not directories.
struct Fullest;

/// What one worker has seen.
#[derive(Default)]
struct FullestState {
    count: usize,
    path: Vec<u8>,
}

impl Sink for Fullest {
    type State = FullestState;
    type Output = (usize, Vec<u8>);

    fn fields(&self) -> Fields {
        // Only types: no entry is stat'ed.
        Fields::TYPE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<FullestState> {
        (0..count).map(|_| FullestState::default()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<FullestState>) -> (usize, Vec<u8>) {
        // Of two that are equally full, the first by path, whoever saw it.
        states
            .into_iter()
            .map(|state| (state.count, state.path))
            .max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
            .unwrap_or_default()
    }
}

impl Collect for FullestState {
    fn batch(&mut self, directory: &Directory<'_>, batch: &Batch) -> ControlFlow<()> {
        // A directory of more than 65,536 entries comes in several batches; this
        // example is content with the fullest batch.
        if batch.len() > self.count {
            self.count = batch.len();
            self.path = directory.path();
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), statwalk_core::Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let outcome = Scan::new(root).run(&Fullest)?;
    let (count, path) = outcome.output;
    println!("{count} entries in {}", String::from_utf8_lossy(&path));
    Ok(())
}
