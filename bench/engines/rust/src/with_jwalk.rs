// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jwalk crate: directories are listed by rayon's threads and handed over
//! in order. Its callback runs in those threads, so attributes are read there.

use std::fs::Metadata;
use std::path::Path;

use jwalk::WalkDirGeneric;

use crate::found::{Found, Model};

// jwalk wants a state that can be made out of nothing and cloned; errors of
// the crate cannot be cloned, so only their text is kept.
type Attributes = Option<Result<Metadata, String>>;

pub fn walk(model: Model, root: &Path) -> Found {
    let mut found = Found::default();
    let walk = WalkDirGeneric::<((), Attributes)>::new(root)
        .skip_hidden(false)
        .max_depth(model.depth())
        .process_read_dir(move |_, _, _, children| {
            for child in children.iter_mut().flatten() {
                if model.wants_metadata(child.file_type) {
                    child.client_state = Some(child.metadata().map_err(|e| e.to_string()));
                }
            }
        });
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.fail(error);
                continue;
            }
        };
        // A directory that could not be listed arrives as an entry that tells why.
        if let Some(error) = entry.read_children.as_ref().and_then(|below| below.error()) {
            found.fail(error);
        }
        if entry.depth == 0 {
            continue;
        }
        found.entry(
            model,
            entry.file_type,
            || entry.file_name.clone(),
            entry.client_state,
        );
    }
    found
}
