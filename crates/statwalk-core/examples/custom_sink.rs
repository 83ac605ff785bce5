// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink of your own: the directory with the most entries of its own.
//!
//! Run with `cargo run --release -p statwalk-core --example custom_sink -- PATH`.

#![allow(clippy::print_stdout, reason = "an example shows its answer")]

use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_core::{Batch, Collect, Context, DirId, Fields, Origin, Scan, Sink};

/// Finds the directory that holds the most entries that are not directories.
#[derive(Debug)]
pub struct Fullest;

/// What one worker has seen of each directory: its path, and how many entries.
///
/// A large directory comes in several batches, and several workers can have some of
/// them. Only the sum of all is its count, so the number of the directory is the key.
#[derive(Debug, Default)]
pub struct FullestState(HashMap<DirId, (Vec<u8>, usize)>);

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
        let mut sums: HashMap<DirId, (Vec<u8>, usize)> = HashMap::new();
        for (id, (path, count)) in states.into_iter().flat_map(|state| state.0) {
            sums.entry(id).or_insert((path, 0)).1 += count;
        }
        // Of two that are equally full, the first by path, whoever saw it.
        sums.into_values()
            .map(|(path, count)| (count, path))
            .max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
            .unwrap_or_default()
    }
}

impl Collect for FullestState {
    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        // Absent where a root is a file.
        if let Some(directory) = origin.directory() {
            let path = || (directory.path(), 0);
            self.0.entry(directory.id()).or_insert_with(path).1 += batch.len();
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), statwalk_core::Error> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let outcome = Scan::new(root).run(&Fullest)?;
    let (count, path) = outcome.output;
    println!("{count} entries in {}", String::from_utf8_lossy(&path));
    if !outcome.report.is_complete() {
        println!("Some entries could not be read: another directory may hold more.");
    }
    Ok(())
}
