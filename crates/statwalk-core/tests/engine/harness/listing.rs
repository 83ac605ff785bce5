// SPDX-License-Identifier: MIT OR Apache-2.0

//! A sink that keeps every name, to see what is there twice, missing or foreign.

use std::ops::ControlFlow;

use statwalk_core::{Batch, Collect, Context, Directory, Fields, FileType, Origin, Sink};

/// Lists everything, sorted by path.
pub(crate) struct Listing {
    pub(crate) fields: Fields,
}

/// One name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    pub(crate) root: usize,
    pub(crate) path: Vec<u8>,
    pub(crate) kind: FileType,
    pub(crate) size_bytes: Option<u64>,
}

pub(crate) struct ListingState(Vec<Listed>);

impl Listing {
    /// With the size of each entry.
    pub(crate) fn with_sizes() -> Listing {
        Listing {
            fields: Fields::NAME | Fields::TYPE | Fields::SIZE,
        }
    }

    /// Names and types alone: nothing is stat'ed.
    pub(crate) fn of_names() -> Listing {
        Listing {
            fields: Fields::NAME | Fields::TYPE,
        }
    }
}

impl Sink for Listing {
    type State = ListingState;
    type Output = Vec<Listed>;

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<ListingState> {
        (0..count).map(|_| ListingState(Vec::new())).collect()
    }

    fn merge(&self, _: &Context, states: Vec<ListingState>) -> Vec<Listed> {
        let mut all: Vec<_> = states.into_iter().flat_map(|state| state.0).collect();
        all.sort();
        all
    }
}

impl Collect for ListingState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.0.push(Listed {
            root: directory.root(),
            path: directory.path(),
            kind: FileType::Directory,
            size_bytes: None,
        });
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        self.0.extend(batch.iter().map(|entry| Listed {
            root: origin.root(),
            path: origin.entry_path(entry.name),
            kind: entry.attributes.kind,
            size_bytes: entry.attributes.size_bytes(),
        }));
        ControlFlow::Continue(())
    }
}
