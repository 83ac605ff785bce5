// SPDX-License-Identifier: MIT OR Apache-2.0

//! The plan of a scan as codes and texts.

use statwalk_core::Plan;

/// The choices before the first directory, as the answer has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanText {
    pub(crate) source: String,
    pub(crate) order: String,
    pub(crate) workers_max: usize,
    /// How many workers took part.
    pub(crate) workers: usize,
    pub(crate) open_dirs_max: usize,
    pub(crate) fields: Vec<String>,
    /// The UUID of a btrfs that was read in place, and its generation.
    pub(crate) uuid: Option<String>,
    pub(crate) generation: Option<u64>,
    pub(crate) why: Vec<ReasonText>,
}

/// A reason for a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReasonText {
    pub(crate) code: String,
    pub(crate) text: String,
}

impl PlanText {
    /// The plan of a stored scan that was asked for some fields.
    #[cfg(feature = "snapshot")]
    pub(crate) fn of_snapshot(fields: Vec<String>) -> PlanText {
        PlanText {
            source: "snapshot".to_owned(),
            order: "stored".to_owned(),
            workers_max: 1,
            workers: 1,
            open_dirs_max: 0,
            fields,
            uuid: None,
            generation: None,
            why: vec![ReasonText {
                code: "stored".to_owned(),
                text: "the path names a stored scan, which has all entries".to_owned(),
            }],
        }
    }

    pub(super) fn new(plan: &Plan, workers: usize) -> PlanText {
        let uuid = plan.generation.and_then(|generation| generation.uuid);
        PlanText {
            source: plan.source.to_owned(),
            order: plan.order.to_owned(),
            workers_max: plan.workers_max,
            workers,
            open_dirs_max: plan.open_dirs_max,
            fields: plan.fields.names().map(str::to_owned).collect(),
            uuid: uuid.map(|uuid| uuid.to_string()),
            generation: plan.generation.map(|generation| generation.number),
            why: (plan.why.iter())
                .map(|reason| ReasonText {
                    code: reason.code().to_owned(),
                    text: reason.to_string(),
                })
                .collect(),
        }
    }
}
