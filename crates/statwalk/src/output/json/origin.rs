// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of the origin of an answer, and of its filters.

use serde::ser::SerializeMap;

use super::object::{Fields, Object};
use crate::answer::filter_texts::FilterTexts;
use crate::answer::origin::Origin;

/// A text that can hold any bytes.
struct Text<'a>(&'a Vec<u8>);

impl Fields for Text<'_> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.text("text", self.0);
    }
}

impl Fields for Origin {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.time(["started_s", "started_ns"], Some(self.started_ns));
        object.text("host", &self.host);
        object.list("arguments", self.arguments.iter().map(Text));
    }
}

/// Absent are those that were not given.
impl Fields for FilterTexts {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        object.known("globs", given(&self.globs));
        object.filled("extensions", self.extensions.iter().map(Text));
        object.known("types", given(&self.types));
        object.known("sizes", given(&self.sizes));
        object.known("changed_within", self.changed_within.as_ref());
        object.known("changed_before", self.changed_before.as_ref());
        object.known("owner", self.owner.as_ref());
    }
}

fn given(texts: &[String]) -> Option<&[String]> {
    (!texts.is_empty()).then_some(texts)
}
