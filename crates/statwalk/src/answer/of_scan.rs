// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from a scan to the values of its answer: the one place that knows both.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use statwalk_core::{Report, RootTotals};

use crate::answer::about::{About, Gaps, LeftOut, Root};
use crate::answer::owner_names::OwnerNames;
use crate::answer::plan_text::PlanText;
use crate::request::Request;

impl About {
    /// Takes from a scan that has ended all that an answer needs. `totals` are those of its
    /// roots; a list of entries has none.
    pub(crate) fn of_scan(request: &Request, report: Report, totals: &[RootTotals]) -> About {
        let is_complete = report.is_complete();
        let roots = request.paths.iter().zip(&report.roots).enumerate();
        About {
            origin: Arc::clone(&request.origin),
            elapsed: report.elapsed,
            filters: request.filters.clone(),
            plan: PlanText::new(&report.plan, report.workers),
            roots: roots
                .map(|(index, (path, gaps))| Root {
                    path: path.as_os_str().as_bytes().to_vec(),
                    gaps: *gaps,
                    totals: totals.get(index).copied().unwrap_or_default(),
                })
                .collect(),
            list: request.list.clone(),
            owners: OwnerNames::default(),
            elsewhere: None,
            gaps: Gaps {
                is_complete,
                interrupted: report.interrupted,
                sum: report.sum(),
                errors: report.errors,
                error_counts: report.error_counts,
                left_out: (report.left_out.into_iter())
                    .map(|left_out| LeftOut {
                        path: left_out.path,
                        file_system: left_out.file_system.to_owned(),
                    })
                    .collect(),
                hanging: report.hanging,
            },
        }
    }
}
