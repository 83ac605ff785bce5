// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of owners, categories and endings, for the browser.

use statwalk_browse::Names;
use statwalk_core::{Category, Extension};

use crate::system::accounts;

pub(crate) const NAMES: Names = Names {
    // As far as it is text.
    owner: |uid| accounts::user_name(uid).map(|name| String::from_utf8_lossy(&name).into_owned()),
    category: |name| Category::of_name(name).label(),
    ending: |name| Extension::of_name(name).to_vec(),
};
