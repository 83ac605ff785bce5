// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `changes`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use serde::ser::SerializeMap;
use statwalk_core::Generation;
use statwalk_space::btrfs::{Change, Changes};

use super::entries::EntryJson;
use super::object::{Fields, Object};

/// The answer of `changes`.
pub(crate) struct ChangesJson<'a> {
    pub(crate) path: &'a Path,
    pub(crate) since: Generation,
    pub(crate) found: &'a Changes,
    pub(crate) elapsed: Duration,
}

impl Fields for ChangesJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let generation = self.found.generation;
        object.text("path", self.path.as_os_str().as_bytes());
        object.elapsed(self.elapsed);
        object.field("since", self.since.number);
        // With `generation` the value of `--since` for the next search.
        object.known("uuid", generation.uuid.map(|uuid| uuid.to_string()));
        object.field("generation", generation.number);
        object.list("changes", self.found.changes.iter());
    }
}

impl Fields for Change {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("new", self.kind.name());
        EntryJson::of_file(&self.path, &self.attributes).write(object);
        object.known("inode", self.attributes.id().map(|id| id.ino()));
        if let Some(names) = &self.names {
            object.list("names", names.iter().map(Name));
        }
    }
}

/// A name that a changed directory has now.
struct Name<'a>(&'a Vec<u8>);

impl Fields for Name<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("name", self.0);
    }
}
