// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers as JSON.
//!
//! One document for each answer, written while it is made. Fields are only ever
//! added; [`SCHEMA`] counts up when one must change.

mod bench;
mod changes;
mod entries;
mod extents;
mod safe_text;
mod scan_report;
mod tree_rows;

use std::io::Write as _;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use statwalk_core::{Report, RootTotals};

pub(crate) use bench::{BenchJson, ConditionsJson, ResultJson};
pub(crate) use changes::ChangesJson;
pub(crate) use entries::{
    FoundJson, GroupJson, GroupsAnswer, TopAnswer, TopJson, size_max, size_min,
};
pub(crate) use extents::ExtentsAnswer;
pub(crate) use scan_report::Counted;
pub(crate) use tree_rows::{TreeAnswer, directory_json};

use crate::failure::Failure;
use crate::output::Output;
use crate::output::screen::Screen;
use crate::request::Request;
use safe_text::SafeText;
use scan_report::{ErrorJson, LeftOutJson, PlanJson, RootJson, errors_of, roots_of};

/// Counts up when a field must change its meaning or go away.
const SCHEMA: u32 = 1;

/// An answer with what every answer is told about its scan.
#[derive(Serialize)]
struct Document<'a, A: Serialize> {
    schema: u32,
    version: &'static str,
    complete: bool,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    elapsed_s: f64,
    plan: PlanJson<'a>,
    roots: Vec<RootJson>,
    #[serde(flatten)]
    answer: A,
    errors: Vec<ErrorJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutJson>,
}

/// An answer that is nothing but what every answer has.
#[derive(Serialize)]
pub(crate) struct NothingElse {}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Writes the document of an answer.
///
/// # Errors
///
/// Returns an error if it cannot be written.
pub(crate) fn write(
    request: &Request,
    screen: Option<Screen>,
    report: &Report,
    totals: &[RootTotals],
    counted: Counted,
    answer: impl Serialize,
) -> Result<(), Failure> {
    let document = Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        complete: report.is_complete(),
        interrupted: report.interrupted,
        // Whole microseconds: the rest would be noise.
        elapsed_s: report.elapsed.as_micros() as f64 / 1e6,
        plan: PlanJson::new(&report.plan),
        roots: roots_of(request, report, totals, counted),
        answer,
        errors: errors_of(request, report),
        left_out: report.left_out.iter().map(LeftOutJson::new).collect(),
    };
    write_whole(screen, &document)
}

/// A document that is not about one scan.
#[derive(Serialize)]
struct Alone<'a, A: Serialize> {
    schema: u32,
    version: &'static str,
    #[serde(flatten)]
    answer: &'a A,
}

/// Writes an answer that is not about one scan.
///
/// # Errors
///
/// Returns an error if it cannot be written.
pub(crate) fn write_alone(screen: Option<Screen>, answer: &impl Serialize) -> Result<(), Failure> {
    let document = Alone {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        answer,
    };
    write_whole(screen, &document)
}

fn write_whole(screen: Option<Screen>, document: &impl Serialize) -> Result<(), Failure> {
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

/// One value in one line, for a stream of them.
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
