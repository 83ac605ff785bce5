// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of the origin of an answer, and of its filters.

use serde::Serialize;
use statwalk_view::json_path;

use super::seconds_and_rest;
use crate::answer::filter_texts::FilterTexts;
use crate::answer::origin::Origin;

/// When and where an answer was made, and with which words.
#[derive(Serialize)]
pub(super) struct OriginJson {
    started_s: Option<i64>,
    started_ns: Option<u32>,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_b64: Option<String>,
    arguments: Vec<TextJson>,
}

/// A text that can hold any bytes.
#[derive(Serialize)]
pub(super) struct TextJson {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_b64: Option<String>,
}

impl TextJson {
    fn new(bytes: &[u8]) -> TextJson {
        let (text, text_b64) = json_path(bytes);
        TextJson { text, text_b64 }
    }
}

impl OriginJson {
    pub(super) fn new(origin: &Origin) -> OriginJson {
        let (started_s, started_ns) = seconds_and_rest(Some(origin.started_ns));
        let (host, host_b64) = json_path(&origin.host);
        let arguments = origin.arguments.iter();
        OriginJson {
            started_s,
            started_ns,
            host,
            host_b64,
            arguments: arguments.map(|bytes| TextJson::new(bytes)).collect(),
        }
    }
}

/// The filters of an answer. Absent are those that were not given.
#[derive(Serialize)]
pub(super) struct FiltersJson<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    globs: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<TextJson>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    types: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sizes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_within: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
}

impl FiltersJson<'_> {
    pub(super) fn new(filters: &FilterTexts) -> FiltersJson<'_> {
        let extensions = filters.extensions.iter();
        FiltersJson {
            globs: &filters.globs,
            extensions: extensions.map(|text| TextJson::new(text)).collect(),
            types: &filters.types,
            sizes: &filters.sizes,
            changed_within: filters.changed_within.as_deref(),
            changed_before: filters.changed_before.as_deref(),
            owner: filters.owner.as_deref(),
        }
    }
}
