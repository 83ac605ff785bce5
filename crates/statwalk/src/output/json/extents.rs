// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `extents`.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde::ser::SerializeMap;
use statwalk_space::btrfs::{CompressionUsage, ExtentDir, ExtentSums, ExtentUsage};

use super::object::{Fields, Object};
use crate::answer::about::About;

/// The answer of `extents`.
pub(crate) struct ExtentsJson<'a> {
    pub(crate) usage: &'a ExtentUsage,
    pub(crate) dirs: Vec<ExtentDir<'a>>,
    pub(crate) about: &'a About,
}

struct DirJson<'a> {
    dir: &'a ExtentDir<'a>,
    about: &'a About,
}

struct GenerationJson<'a>(&'a (PathBuf, u64));

impl Fields for ExtentsJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let ExtentsJson { usage, dirs, about } = self;
        usage.total.write(object);
        object.list("compression", usage.compression.iter());
        object.list("file_systems", usage.generations.iter().map(GenerationJson));
        // The files that are not in the sums.
        object.field("files_elsewhere", usage.files_elsewhere);
        object.field("extents_gone", usage.extents_gone);
        object.list("tree", dirs.iter().map(|dir| DirJson { dir, about }));
    }
}

impl Fields for ExtentSums {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("disk_bytes", self.disk_bytes);
        object.field("exclusive_bytes", self.exclusive_bytes);
        object.field("shared_bytes", self.shared_bytes());
        object.field("referenced_bytes", self.referenced_bytes);
        object.field("inline_bytes", self.inline_bytes);
    }
}

impl Fields for CompressionUsage {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("compression", self.compression.name());
        object.field("extents", self.extents);
        object.field("disk_bytes", self.disk_bytes);
        object.field("plain_bytes", self.plain_bytes);
    }
}

impl Fields for GenerationJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", self.0.0.as_os_str().as_bytes());
        object.field("generation", self.0.1);
    }
}

impl Fields for DirJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let path = self.dir.path();
        object.text("path", &path);
        self.dir.sums().write(object);
        // Whether something in it could not be read.
        object.field("incomplete", self.about.has_errors_at_or_below(&path));
    }
}
