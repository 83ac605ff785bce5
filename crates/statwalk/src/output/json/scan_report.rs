// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of a scan itself: plan, roots and errors.

use serde::Serialize;
use statwalk_view::json_path;

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

#[derive(Serialize)]
pub(super) struct PlanJson<'a> {
    source: &'a str,
    order: &'a str,
    workers_max: usize,
    fields: &'a [String],
    /// The value for `changes --since`, where statwalk read a btrfs in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    why: Vec<ReasonJson<'a>>,
}

/// A reason for a choice.
#[derive(Serialize)]
struct ReasonJson<'a> {
    code: &'a str,
    text: &'a str,
}

impl PlanJson<'_> {
    pub(super) fn new(plan: &PlanText) -> PlanJson<'_> {
        PlanJson {
            source: &plan.source,
            order: &plan.order,
            workers_max: plan.workers_max,
            fields: &plan.fields,
            uuid: plan.uuid.as_deref(),
            generation: plan.generation,
            why: plan.why.iter().map(ReasonJson::new).collect(),
        }
    }
}

impl ReasonJson<'_> {
    fn new(reason: &ReasonText) -> ReasonJson<'_> {
        ReasonJson {
            code: &reason.code,
            text: &reason.text,
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
    /// Present where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    restless_dirs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overlays_left_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mounts_perhaps_twice: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeated_names: Option<u64>,
}

#[derive(Serialize)]
struct SizesJson {
    file_size_bytes: u128,
    apparent_bytes: u128,
    allocated_bytes: u128,
    extra_hard_links: u64,
}

/// A count that is left out where it is zero.
fn present(count: u64) -> Option<u64> {
    (count > 0).then_some(count)
}

impl RootJson {
    pub(super) fn new(root: &Root) -> RootJson {
        let (path, path_b64) = json_path(&root.path);
        let (gaps, totals) = (&root.gaps, &root.totals);
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
            unreadable: gaps.unreadable,
            vanished: gaps.vanished,
            changed_dirs: gaps.changed_dirs,
            excluded: gaps.excluded,
            crossings: gaps.crossings,
            restless_dirs: present(gaps.restless_dirs),
            overlays_left_out: present(gaps.overlays_left_out),
            mounts_perhaps_twice: present(gaps.mounts_perhaps_twice),
            repeated_names: present(gaps.repeated_names),
        };
        RootJson {
            path,
            path_b64,
            missing: gaps.missing.is_some().then_some(true),
            reached_earlier: gaps.reached_earlier.then_some(true),
            interrupted: gaps.interrupted.then_some(true),
            counts: gaps.missing.is_none().then_some(counts),
        }
    }
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
pub(super) struct LeftOutJson<'a> {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    file_system: &'a str,
}

impl LeftOutJson<'_> {
    pub(super) fn new(left_out: &LeftOut) -> LeftOutJson<'_> {
        let (path, path_b64) = json_path(&left_out.path);
        LeftOutJson {
            path,
            path_b64,
            file_system: &left_out.file_system,
        }
    }
}
