// SPDX-License-Identifier: MIT OR Apache-2.0

//! `std::fs::read_dir` in a function that calls itself.

use std::fs;
use std::path::Path;

use crate::found::{Found, Model};

pub fn walk(model: Model, root: &Path) -> Found {
    let mut found = Found::default();
    read(model, root, &mut found);
    found
}

fn read(model: Model, path: &Path, found: &mut Found) {
    let told = |error| format!("{}: {error}", path.display());
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return found.fail(told(error)),
    };
    for entry in entries {
        let (kind, entry) = match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok(typed) => typed,
            Err(error) => {
                found.fail(told(error));
                continue;
            }
        };
        let metadata = model
            .wants_metadata(kind)
            .then(|| entry.metadata().map_err(told));
        found.entry(model, kind, || entry.file_name(), metadata);
        if kind.is_dir() && model != Model::Directory {
            read(model, &entry.path(), found);
        }
    }
}
