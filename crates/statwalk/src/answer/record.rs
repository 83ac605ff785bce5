// SPDX-License-Identifier: MIT OR Apache-2.0

//! The record of a scan: its time, its plan and its gaps, beside its answer.

use std::time::Duration;

use statwalk_core::{Report, RootReport};

use crate::answer::about::{Gaps, LeftOut};
use crate::answer::plan_text::PlanText;

/// The record of the place that the entries came from.
#[derive(Debug)]
pub(crate) enum Record {
    /// The report of the engine on a scan that has ended.
    Scan(Box<Report>),
    /// Of a stored scan.
    Stored(Box<Findings>),
}

/// The same in the words of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub(crate) elapsed: Duration,
    pub(crate) plan: PlanText,
    /// For each root, in the order of the arguments.
    pub(crate) roots: Vec<RootReport>,
    pub(crate) gaps: Gaps,
}

impl From<Record> for Findings {
    fn from(record: Record) -> Findings {
        match record {
            Record::Scan(report) => (*report).into(),
            Record::Stored(findings) => *findings,
        }
    }
}

impl From<Report> for Findings {
    fn from(report: Report) -> Findings {
        let (is_complete, sum) = (report.is_complete(), report.sum());
        Findings {
            elapsed: report.elapsed,
            plan: PlanText::new(&report.plan, report.workers),
            roots: report.roots,
            gaps: Gaps {
                is_complete,
                interrupted: report.interrupted,
                sum,
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
