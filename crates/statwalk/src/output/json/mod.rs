// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers as JSON.
//!
//! Each answer is one document, written while it is made. A release adds fields and
//! takes none away; [`SCHEMA`] counts up when a field must change.

mod changes;
mod df;
mod entries;
mod extents;
mod object;
mod origin;
mod safe_text;
mod scan_report;
mod tree_rows;

use std::io::Write as _;

use serde::ser::{Serialize, SerializeMap};
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, PrettyFormatter};

pub(crate) use changes::ChangesJson;
pub(crate) use df::{DfJson, FileSystemJson, NotScannedJson};
pub(crate) use entries::{EntryJson, GroupJson, Rebuildable};
pub(crate) use extents::ExtentsJson;
pub(crate) use object::{Field, Fields, Json, Object};
pub(crate) use scan_report::Counted;
pub(crate) use tree_rows::{NodeJson, TreeRows};

use crate::answer::about::{About, PathError};
use crate::answer::origin::Origin;
use crate::failure::Failure;
use crate::output::Output;
use crate::system::screen::Screen;
use safe_text::SafeText;

/// The number of the format; it counts up when a field changes its meaning or goes.
const SCHEMA: u32 = 2;

/// An answer with the fields that the answers of all scans have.
struct Document<'a, A> {
    about: &'a About,
    errors: Vec<PathError<'a>>,
    answer: A,
}

impl<A: Fields> Fields for Document<'_, A> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        let about = self.about;
        write_head(&about.origin, object);
        object.known("filters", about.filters.as_ref().map(Json));
        object.field("complete", about.gaps.is_complete);
        object.flag("interrupted", about.gaps.interrupted);
        object.elapsed(about.elapsed);
        object.field("plan", Json(&about.plan));
        object.list("roots", about.roots.iter());
        self.answer.write(object);
        object.list("errors", self.errors.iter());
        object.filled("left_out", about.gaps.left_out.iter());
    }
}

/// An answer of more or less than one scan.
struct Alone<'a, A> {
    origin: &'a Origin,
    answer: A,
}

impl<A: Fields> Fields for Alone<'_, A> {
    fn write(&self, object: &mut Object<impl SerializeMap>) {
        write_head(self.origin, object);
        self.answer.write(object);
    }
}

fn write_head(origin: &Origin, object: &mut Object<impl SerializeMap>) {
    object.field("schema", SCHEMA);
    object.field("version", env!("CARGO_PKG_VERSION"));
    origin.write(object);
}

/// The document of a scan with these errors: `answer` has the fields of one command.
pub(crate) fn of_scan<'a>(
    about: &'a About,
    errors: impl Iterator<Item = PathError<'a>>,
    answer: impl Fields,
) -> impl Serialize {
    let errors = errors.collect();
    Json(Document {
        about,
        errors,
        answer,
    })
}

/// The document of a command that does more or less than one scan.
pub(crate) fn alone(origin: &Origin, answer: impl Fields) -> impl Serialize {
    Json(Alone { origin, answer })
}

/// Writes a document: on a screen indented, and without letters that a terminal obeys.
pub(crate) fn write(screen: Option<Screen>, document: &impl Serialize) -> Result<(), Failure> {
    let mut out = Output::new();
    out.write(|out| {
        match screen {
            None => document.serialize(&mut Serializer::new(&mut *out)),
            Some(_) => {
                let formatter = SafeText(PrettyFormatter::new());
                document.serialize(&mut Serializer::with_formatter(&mut *out, formatter))
            }
        }?;
        out.write_all(b"\n")
    })?;
    out.finish()
}

/// Appends one value as one line, for a stream of values.
pub(crate) fn line(value: &impl Serialize, screen: Option<Screen>, out: &mut Vec<u8>) {
    let written = match screen {
        None => value.serialize(&mut Serializer::new(&mut *out)),
        Some(_) => {
            let formatter = SafeText(CompactFormatter);
            value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))
        }
    };
    written.expect("a vector takes any text, and our values are plain");
    out.push(b'\n');
}
