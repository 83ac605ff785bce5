// SPDX-License-Identifier: MIT OR Apache-2.0

//! Answers as JSON.
//!
//! Each answer is one document, written while it is made. A release adds fields and
//! takes none away; [`SCHEMA`] counts up when a field must change.

mod bench;
mod changes;
mod df;
mod entries;
mod extents;
mod origin;
mod safe_text;
mod scan_report;
mod tree_rows;

use std::io::Write as _;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, PrettyFormatter};

pub(crate) use bench::{BenchJson, ConditionsJson, ResultJson};
pub(crate) use changes::ChangesJson;
pub(crate) use df::{DfJson, FileSystemJson, NotScannedJson};
pub(crate) use entries::{
    FoundJson, GroupJson, GroupsAnswer, RebuildableJson, TopAnswer, TopJson, size_max, size_min,
};
pub(crate) use extents::ExtentsJsonAnswer;
pub(crate) use scan_report::Counted;
pub(crate) use tree_rows::{TreeAnswer, TreeRows, node_json};

use crate::answer::about::{About, PathError};
use crate::answer::origin::Origin;
use crate::failure::Failure;
use crate::output::Output;
use crate::system::screen::Screen;
use origin::{FiltersJson, OriginJson};
use safe_text::SafeText;
use scan_report::{ErrorJson, LeftOutJson, PlanJson, RootJson};

/// The number of the format; it counts up when a field changes its meaning or goes.
const SCHEMA: u32 = 2;

/// An answer with the fields that the answers of all scans have.
#[derive(Serialize)]
struct Document<'a, A: Serialize> {
    schema: u32,
    version: &'static str,
    #[serde(flatten)]
    origin: OriginJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    filters: Option<FiltersJson<'a>>,
    complete: bool,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    elapsed_s: f64,
    plan: PlanJson<'a>,
    roots: Vec<RootJson>,
    #[serde(flatten)]
    answer: A,
    errors: Vec<ErrorJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutJson<'a>>,
}

/// An answer without fields of its own.
#[derive(Serialize)]
pub(crate) struct NothingElse {}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The document of a scan with these errors: `answer` has the fields of one command.
pub(crate) fn of_scan<'a>(
    about: &'a About,
    errors: impl Iterator<Item = PathError<'a>>,
    answer: impl Serialize,
) -> impl Serialize {
    Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        origin: OriginJson::new(&about.origin),
        filters: about.filters.as_ref().map(FiltersJson::new),
        complete: about.gaps.is_complete,
        interrupted: about.gaps.interrupted,
        // Whole microseconds: the rest would be noise.
        elapsed_s: about.elapsed.as_micros() as f64 / 1e6,
        plan: PlanJson::new(&about.plan),
        roots: about.roots.iter().map(RootJson::new).collect(),
        answer,
        errors: errors.map(ErrorJson::new).collect(),
        left_out: about.gaps.left_out.iter().map(LeftOutJson::new).collect(),
    }
}

/// A document of more or less than one scan.
#[derive(Serialize)]
struct Alone<A: Serialize> {
    schema: u32,
    version: &'static str,
    #[serde(flatten)]
    origin: OriginJson,
    #[serde(flatten)]
    answer: A,
}

/// The document of a command that does more or less than one scan.
pub(crate) fn alone(origin: &Origin, answer: impl Serialize) -> impl Serialize {
    Alone {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        origin: OriginJson::new(origin),
        answer,
    }
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

/// The whole seconds of a time since 1970, rounded down, and the nanoseconds that follow.
///
/// One number of nanoseconds has more digits than a double keeps, and jq and
/// JavaScript read every number as a double.
fn seconds_and_rest(time_ns: Option<i64>) -> (Option<i64>, Option<u32>) {
    const SECOND_NS: i64 = 1_000_000_000;
    let rest = |ns: i64| u32::try_from(ns.rem_euclid(SECOND_NS)).ok();
    let seconds = time_ns.map(|ns| ns.div_euclid(SECOND_NS));
    (seconds, time_ns.and_then(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_and_a_rest_that_is_never_negative() {
        let check = |ns, s, rest| assert_eq!(seconds_and_rest(Some(ns)), (Some(s), Some(rest)));
        check(1_000_000_000_000_000_005, 1_000_000_000, 5);
        check(0, 0, 0);
        check(-1, -1, 999_999_999);
        check(i64::MIN, -9_223_372_037, 145_224_192);
        assert_eq!(seconds_and_rest(None), (None, None));
    }
}
