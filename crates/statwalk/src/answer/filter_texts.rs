// SPDX-License-Identifier: MIT OR Apache-2.0

//! The filters of an answer, as the user wrote them.

use std::os::unix::ffi::OsStrExt;

use crate::flags::FilterFlags;

/// The filters of an answer. Empty or absent are those that were not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterTexts {
    pub(crate) globs: Vec<String>,
    pub(crate) extensions: Vec<Vec<u8>>,
    pub(crate) types: Vec<String>,
    pub(crate) sizes: Vec<String>,
    pub(crate) changed_within: Option<String>,
    pub(crate) changed_before: Option<String>,
    pub(crate) owner: Option<String>,
}

impl FilterTexts {
    /// The given filters; absent where there is none.
    pub(crate) fn new(flags: &FilterFlags) -> Option<FilterTexts> {
        let extensions = flags.extension.iter();
        let filters = FilterTexts {
            globs: flags.glob.clone(),
            extensions: extensions.map(|text| text.as_bytes().to_vec()).collect(),
            types: flags.kind.clone(),
            sizes: flags.size.clone(),
            changed_within: flags.changed_within.clone(),
            changed_before: flags.changed_before.clone(),
            owner: flags.owner.clone(),
        };
        (filters != FilterTexts::default()).then_some(filters)
    }
}
