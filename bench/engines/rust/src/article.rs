// SPDX-License-Identifier: MIT OR Apache-2.0

//! The algorithm of the fourth article in Rust: a task of a work-stealing pool
//! for each directory, one list under a lock for what all tasks find, whole
//! paths in the records, symbolic links passed over.
//!
//! The article names a Rust version and does not print it. This one follows the
//! C++ version that it ends with: the type and one stat for each entry.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::Scope;

use crate::found::{Found, Model};

pub fn walk(model: Model, root: &Path) -> Found {
    let found = Mutex::new(Found::default());
    rayon::scope(|tasks| read_dir(model, root.to_owned(), &found, tasks));
    found.into_inner().expect(UNPOISONED)
}

const UNPOISONED: &str = "no task panics: panics abort";

fn read_dir<'s>(model: Model, path: PathBuf, found: &'s Mutex<Found>, tasks: &Scope<'s>) {
    let told = |error| format!("{}: {error}", path.display());
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) => return found.lock().expect(UNPOISONED).fail(told(error)),
    };
    for entry in entries {
        let (kind, path) = match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
            Ok(typed) => typed,
            Err(error) => {
                found.lock().expect(UNPOISONED).fail(told(error));
                continue;
            }
        };
        if kind.is_symlink() {
            continue;
        }
        let metadata = model
            .wants_metadata(kind)
            .then(|| fs::symlink_metadata(&path).map_err(told));
        found.lock().expect(UNPOISONED).entry(
            model,
            kind,
            || path.clone().into_os_string(),
            metadata,
        );
        if kind.is_dir() && model != Model::Directory {
            tasks.spawn(move |tasks| read_dir(model, path, found, tasks));
        }
    }
}
