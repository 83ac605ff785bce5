// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `bench`.

use serde::Serialize;
use statwalk_view::Spread;

use crate::bench::conditions::{Conditions, Load};

/// The answer of `bench`.
#[derive(Serialize)]
pub(crate) struct BenchJson {
    pub(crate) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_b64: Option<String>,
    pub(crate) conditions: ConditionsJson,
    pub(crate) entries: u64,
    pub(crate) dirs: u64,
    /// Whether statwalk read everything in every run.
    pub(crate) complete: bool,
    pub(crate) seed: u64,
    pub(crate) rounds_asked: u32,
    /// The warm rounds; the first one, which does not count, too.
    pub(crate) rounds_done: u32,
    /// The cold rounds, all of which count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cold_rounds_done: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_by: Option<&'static str>,
    pub(crate) elapsed_s: f64,
    pub(crate) results: Vec<ResultJson>,
    /// The flags of the best setting, empty for the default; absent where unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) best_warm: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) best_cold: Option<String>,
}

/// A setting. Without a time it was not measured, or its answer differs.
#[derive(Serialize)]
pub(crate) struct ResultJson {
    pub(crate) cache: &'static str,
    pub(crate) level: &'static str,
    pub(crate) setting: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flags: Option<String>,
    pub(crate) rounds: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wall_s: Option<SpreadJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_s: Option<SpreadJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls_per_entry: Option<f64>,
    /// The workers of the largest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workers: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) differs: Option<String>,
}

/// The median and the quartiles.
#[derive(Serialize)]
pub(crate) struct SpreadJson {
    median: f64,
    first_quartile: f64,
    third_quartile: f64,
}

impl From<Spread> for SpreadJson {
    fn from(spread: Spread) -> SpreadJson {
        SpreadJson {
            median: spread.median,
            first_quartile: spread.low,
            third_quartile: spread.high,
        }
    }
}

/// The surroundings of the measurement.
#[derive(Serialize)]
pub(crate) struct ConditionsJson {
    kernel: String,
    processors: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mount_options: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotational: Option<bool>,
    /// The share of the processors that other processes used.
    #[serde(skip_serializing_if = "Option::is_none")]
    others_share: Option<f64>,
    /// The share that the host of a virtual machine took.
    #[serde(skip_serializing_if = "Option::is_none")]
    stolen_share: Option<f64>,
}

impl ConditionsJson {
    pub(crate) fn new(conditions: &Conditions, load: &Load) -> ConditionsJson {
        ConditionsJson {
            kernel: conditions.kernel.clone(),
            processors: conditions.processors,
            processor: conditions.processor.clone(),
            file_system: conditions.file_system.clone(),
            mount_options: conditions.mount_options.clone(),
            device: conditions.device.clone(),
            rotational: conditions.is_rotational,
            others_share: load.others,
            stolen_share: load.stolen,
        }
    }
}
