// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `df`.

use std::os::unix::ffi::OsStrExt;

use serde::ser::SerializeMap;
use statwalk_space::{
    FileSystem, HiddenDirectory, Holder, SpaceAccount, UnknownPart, UnnamedFile, UsedPart,
};
use statwalk_view::json_path;

use super::object::{Fields, Object};
use crate::answer::about::About;
use crate::system::file_systems::MountedSpace;

/// The answer of `df`.
pub(crate) struct DfJson<'a> {
    pub(crate) file_systems: Vec<FileSystemJson<'a>>,
    pub(crate) not_scanned: Vec<NotScannedJson<'a>>,
}

/// A file system, and the parts of its used bytes.
pub(crate) struct FileSystemJson<'a> {
    pub(crate) found: &'a FileSystem,
    pub(crate) account: &'a SpaceAccount,
    pub(crate) about: &'a About,
}

/// A file system that no scan explains, with the reason.
pub(crate) struct NotScannedJson<'a> {
    pub(crate) mounted: &'a MountedSpace,
    pub(crate) reason: &'a str,
}

impl Fields for DfJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let mut scans = self.file_systems.iter();
        let is_complete = |scan: &FileSystemJson<'_>| {
            scan.about.gaps.is_complete && scan.account.unknown.is_empty()
        };
        object.field("complete", scans.clone().all(is_complete));
        object.flag("interrupted", scans.any(|scan| scan.about.gaps.interrupted));
        object.list("file_systems", self.file_systems.iter());
        object.filled("not_scanned", self.not_scanned.iter());
    }
}

impl Fields for NotScannedJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let space = self.mounted.space;
        object.text("path", self.mounted.point.as_os_str().as_bytes());
        object.field("file_system", &self.mounted.file_system);
        object.known("total_bytes", space.map(|space| space.total_bytes));
        object.known("free_bytes", space.map(|space| space.free_bytes));
        object.known("used_bytes", space.map(|space| space.used_bytes));
        object.field("reason", self.reason);
    }
}

impl Fields for FileSystemJson<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let (found, account) = (self.found, self.account);
        let capacity = account.capacity;
        object.text("path", found.point().as_os_str().as_bytes());
        object.known("file_system", found.file_system());
        object.known("source", found.source().map(|source| json_path(source).0));
        object.elapsed(self.about.elapsed);
        object.known("device_bytes", capacity.device_bytes);
        object.field("total_bytes", capacity.total_bytes);
        object.field("free_bytes", capacity.free_bytes);
        object.field("reserved_bytes", capacity.reserved_bytes);
        object.field("used_bytes", capacity.used_bytes);
        object.known("used_inodes", capacity.used_inodes);
        object.known("total_inodes", capacity.total_inodes);
        object.field("changed_bytes", account.changed_bytes);
        object.list("parts", account.parts.iter());
        object.list("unknown", account.unknown.iter());
        object.field("unreadable", account.unreadable);
        object.list("unnamed", account.unnamed.iter());
        object.list("hidden", account.hidden.iter());
        let errors: Vec<_> = self.about.errors().collect();
        object.list("errors", errors.iter());
    }
}

impl Fields for (UsedPart, i64) {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("part", self.0.name());
        object.field("bytes", self.1);
    }
}

impl Fields for UnknownPart {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("part", self.part.name());
        object.field("reason", &self.reason);
    }
}

impl Fields for UnnamedFile {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("inode", self.inode);
        object.field("allocated_bytes", self.allocated_bytes);
        if let Some(path) = &self.path {
            object.text("path", path);
        }
        object.list("holders", self.holders.iter());
        object.field("more_holders", self.more_holders);
    }
}

/// A directory that a mount covers.
impl Fields for HiddenDirectory {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", self.point.as_os_str().as_bytes());
        object.field("allocated_bytes", self.allocated_bytes);
        object.field("entries", self.entries);
    }
}

impl Fields for Holder {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("pid", self.pid);
        object.text("name", &self.name);
    }
}
