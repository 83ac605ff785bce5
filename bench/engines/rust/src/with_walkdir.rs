// SPDX-License-Identifier: MIT OR Apache-2.0

//! The walkdir crate: one thread, depth first.

use std::path::Path;

use walkdir::WalkDir;

use crate::found::{Found, Model};

pub fn walk(model: Model, root: &Path) -> Found {
    let mut found = Found::default();
    for entry in WalkDir::new(root).min_depth(1).max_depth(model.depth()) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.fail(error);
                continue;
            }
        };
        let kind = entry.file_type();
        let metadata = model.wants_metadata(kind).then(|| entry.metadata());
        found.entry(model, kind, || entry.file_name().to_owned(), metadata);
    }
    found
}
