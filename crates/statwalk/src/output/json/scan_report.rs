// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of a scan itself: plan, roots and errors.

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_core::{LeftOut, Plan, Reason, Report, RootTotals};
use statwalk_view::json_path;

use crate::output::ending::PathError;
use crate::request::Request;

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

#[derive(Serialize)]
pub(super) struct PlanJson<'a> {
    source: &'a str,
    order: &'a str,
    workers_max: usize,
    fields: Vec<&'static str>,
    /// The value for `changes --since`, where statwalk read a btrfs in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    why: Vec<ReasonJson>,
}

/// A reason for a choice.
#[derive(Serialize)]
struct ReasonJson {
    code: &'static str,
    text: String,
}

impl PlanJson<'_> {
    pub(super) fn new(plan: &Plan) -> PlanJson<'_> {
        let uuid = plan.generation.and_then(|generation| generation.uuid);
        PlanJson {
            source: plan.source,
            order: plan.order,
            workers_max: plan.workers_max,
            fields: plan.fields.names().collect(),
            uuid: uuid.map(|uuid| uuid.to_string()),
            generation: plan.generation.map(|generation| generation.number),
            why: plan.why.iter().map(ReasonJson::new).collect(),
        }
    }
}

impl ReasonJson {
    fn new(reason: &Reason) -> ReasonJson {
        ReasonJson {
            code: reason.code(),
            text: reason.to_string(),
        }
    }
}

/// A root. A missing one has no counts.
#[derive(Serialize)]
pub(super) struct RootJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    /// Present where the root is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<bool>,
    /// Present where an earlier root had reached it: all of it belongs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached_earlier: Option<bool>,
    /// Present where the scan ended before it had read all below the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
    #[serde(flatten)]
    counts: Option<CountsJson>,
}

#[derive(Serialize)]
struct CountsJson {
    entries: u64,
    files: u64,
    dirs: u64,
    symlinks: u64,
    others: u64,
    #[serde(flatten)]
    sizes: Option<SizesJson>,
    unreadable: u64,
    vanished: u64,
    changed_dirs: u64,
    excluded: u64,
    crossings: u64,
}

#[derive(Serialize)]
struct SizesJson {
    file_size_bytes: u128,
    apparent_bytes: u128,
    allocated_bytes: u128,
    extra_hard_links: u64,
}

pub(super) fn roots_of(request: &Request, report: &Report, totals: &[RootTotals]) -> Vec<RootJson> {
    let roots = request.paths.iter().zip(&report.roots).zip(totals);
    roots
        .map(|((path, root), totals)| {
            let (path, path_b64) = json_path(path.as_os_str().as_bytes());
            let sizes = totals.sizes.map(|sizes| SizesJson {
                file_size_bytes: sizes.file_size_bytes,
                apparent_bytes: sizes.apparent_bytes,
                allocated_bytes: sizes.allocated_bytes,
                extra_hard_links: sizes.extra_hard_links,
            });
            let counts = CountsJson {
                entries: totals.entries,
                files: totals.files,
                dirs: totals.dirs,
                symlinks: totals.symlinks,
                others: totals.others,
                sizes,
                unreadable: root.unreadable,
                vanished: root.vanished,
                changed_dirs: root.changed_dirs,
                excluded: root.excluded,
                crossings: root.crossings,
            };
            RootJson {
                path,
                path_b64,
                missing: root.missing.is_some().then_some(true),
                reached_earlier: root.reached_earlier.then_some(true),
                interrupted: root.interrupted.then_some(true),
                counts: root.missing.is_none().then_some(counts),
            }
        })
        .collect()
}

#[derive(Serialize)]
pub(super) struct ErrorJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    op: &'static str,
    /// Absent where the system gave none, as for a directory that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    errno: Option<i32>,
    error: String,
}

impl ErrorJson {
    pub(super) fn new(error: PathError<'_>) -> ErrorJson {
        let (path, path_b64) = json_path(error.path);
        ErrorJson {
            path,
            path_b64,
            op: error.op.name(),
            errno: error.cause.errno().map(|errno| errno.0),
            error: error.cause.to_string(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct LeftOutJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    file_system: &'static str,
}

impl LeftOutJson {
    pub(super) fn new(left_out: &LeftOut) -> LeftOutJson {
        let (path, path_b64) = json_path(&left_out.path);
        LeftOutJson {
            path,
            path_b64,
            file_system: left_out.file_system,
        }
    }
}
