// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of a scan itself: plan, roots and errors.

use serde::ser::SerializeMap;
use statwalk_core::{RootReport, RootTotals};

use super::object::{Fields, Object};
use crate::answer::about::{LeftOut, PathError, Root};
use crate::answer::plan_text::{PlanText, ReasonText};

/// The numbers that a scan counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Names and sizes.
    Sizes,
    /// Names; sizes are absent.
    Names,
    /// Inodes, and sizes.
    Inodes,
}

impl Fields for PlanText {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("source", &self.source);
        object.field("order", &self.order);
        object.field("workers_max", self.workers_max);
        object.field("fields", &self.fields);
        // The value for `changes --since`, where statwalk read a btrfs in place.
        object.known("uuid", self.uuid.as_ref());
        object.known("generation", self.generation);
        object.list("why", self.why.iter());
    }
}

impl Fields for ReasonText {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("code", &self.code);
        object.field("text", &self.text);
    }
}

/// A missing root has no counts.
impl Fields for Root {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let is_missing = self.gaps.missing.is_some();
        object.text("path", &self.path);
        object.flag("missing", is_missing);
        object.flag("reached_earlier", self.gaps.reached_earlier);
        object.flag("interrupted", self.gaps.interrupted);
        if !is_missing {
            self.totals.write(object);
            self.gaps.write(object);
        }
    }
}

impl Fields for RootTotals {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("entries", self.entries);
        object.field("files", self.files);
        object.field("dirs", self.dirs);
        object.field("symlinks", self.symlinks);
        object.field("others", self.others);
        if let Some(sizes) = self.sizes {
            object.field("file_size_bytes", sizes.file_size_bytes);
            object.field("apparent_bytes", sizes.apparent_bytes);
            object.field("allocated_bytes", sizes.allocated_bytes);
            object.field("extra_hard_links", sizes.extra_hard_links);
        }
    }
}

impl Fields for RootReport {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.field("unreadable", self.unreadable);
        object.field("vanished", self.vanished);
        object.field("changed_dirs", self.changed_dirs);
        object.field("excluded", self.excluded);
        object.field("crossings", self.crossings);
        let mut rare = |name, count| object.known(name, (count > 0).then_some(count));
        rare("restless_dirs", self.restless_dirs);
        rare("overlays_left_out", self.overlays_left_out);
        rare("mounts_perhaps_twice", self.mounts_perhaps_twice);
        rare("repeated_names", self.repeated_names);
    }
}

impl Fields for PathError<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", self.path);
        object.field("op", self.op.name());
        // Absent where the system gave none, as for a directory that changed.
        object.known("errno", self.cause.errno().map(|errno| errno.0));
        object.field("error", self.cause.to_string());
    }
}

impl Fields for LeftOut {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("path", &self.path);
        object.field("file_system", &self.file_system);
    }
}
