// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ignore crate's parallel walker with all of its filters off.

use std::path::Path;
use std::sync::Mutex;

use ignore::{DirEntry, Error, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use crate::found::{Found, Model};

pub fn walk(model: Model, root: &Path) -> Found {
    let all = Mutex::new(Found::default());
    WalkBuilder::new(root)
        .standard_filters(false)
        .max_depth(Some(model.depth()))
        .build_parallel()
        .visit(&mut Visitors { model, all: &all });
    all.into_inner().expect("no thread panics: panics abort")
}

struct Visitors<'s> {
    model: Model,
    all: &'s Mutex<Found>,
}

/// What one thread has found; handed over when the thread is done.
struct Visitor<'s> {
    model: Model,
    found: Found,
    all: &'s Mutex<Found>,
}

impl<'s> ParallelVisitorBuilder<'s> for Visitors<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Visitor {
            model: self.model,
            found: Found::default(),
            all: self.all,
        })
    }
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, Error>) -> WalkState {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                self.found.fail(error);
                return WalkState::Continue;
            }
        };
        if entry.depth() == 0 {
            return WalkState::Continue;
        }
        let kind = entry.file_type().expect("only standard input has no type");
        let metadata = self.model.wants_metadata(kind).then(|| entry.metadata());
        self.found
            .entry(self.model, kind, || entry.file_name().to_owned(), metadata);
        WalkState::Continue
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        let found = std::mem::take(&mut self.found);
        self.all
            .lock()
            .expect("no thread panics: panics abort")
            .add(found);
    }
}
