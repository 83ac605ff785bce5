// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of the origin of an answer, and of its filters.

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_view::json_path;

use super::seconds_and_rest;
use crate::flags::FilterFlags;
use crate::request::origin::Origin;

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
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TextJson {
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

/// The filters of an answer, as the user wrote them. Absent are those that were not given.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct FiltersJson {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    globs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<TextJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_within: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

impl FiltersJson {
    /// The given filters; absent where there is none.
    pub(crate) fn new(flags: &FilterFlags) -> Option<FiltersJson> {
        let extensions = flags.extension.iter();
        let filters = FiltersJson {
            globs: flags.glob.clone(),
            extensions: extensions
                .map(|text| TextJson::new(text.as_bytes()))
                .collect(),
            types: flags.kind.clone(),
            sizes: flags.size.clone(),
            changed_within: flags.changed_within.clone(),
            changed_before: flags.changed_before.clone(),
            owner: flags.owner.clone(),
        };
        let is_empty = filters.globs.is_empty()
            && filters.extensions.is_empty()
            && filters.types.is_empty()
            && filters.sizes.is_empty()
            && filters.changed_within.is_none()
            && filters.changed_before.is_none()
            && filters.owner.is_none();
        (!is_empty).then_some(filters)
    }
}
