// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `changes`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use statwalk_core::Generation;
use statwalk_core::btrfs::{Change, Changes};
use statwalk_view::json_path;

use super::entries::FileJson;

/// The answer of `changes`.
#[derive(Serialize)]
pub(crate) struct ChangesJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    elapsed_s: f64,
    since: u64,
    /// With `generation` the value of `--since` for the next search.
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    generation: u64,
    changes: Vec<ChangeJson>,
}

#[derive(Serialize)]
struct ChangeJson {
    /// The kind of change.
    new: &'static str,
    #[serde(flatten)]
    entry: FileJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    inode: Option<u128>,
    /// All names that a changed directory has now.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<NameJson>>,
}

#[derive(Serialize)]
struct NameJson {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_b64: Option<String>,
}

impl ChangesJson {
    pub(crate) fn new(
        path: &Path,
        since: Generation,
        found: &Changes,
        elapsed: Duration,
    ) -> ChangesJson {
        let (path, path_b64) = json_path(path.as_os_str().as_bytes());
        ChangesJson {
            path,
            path_b64,
            // Whole microseconds: the rest would be noise.
            elapsed_s: elapsed.as_micros() as f64 / 1e6,
            since: since.number,
            uuid: found.generation.uuid.map(|uuid| uuid.to_string()),
            generation: found.generation.number,
            changes: found.changes.iter().map(ChangeJson::new).collect(),
        }
    }
}

impl ChangeJson {
    fn new(change: &Change) -> ChangeJson {
        let name = |name: &Vec<u8>| {
            let (name, name_b64) = json_path(name);
            NameJson { name, name_b64 }
        };
        ChangeJson {
            new: change.kind.name(),
            entry: FileJson::new(&change.path, &change.attributes),
            inode: change.attributes.id().map(|id| id.ino()),
            names: change
                .names
                .as_ref()
                .map(|names| names.iter().map(name).collect()),
        }
    }
}
