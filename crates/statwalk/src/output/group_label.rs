// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of groups of entries.

use statwalk_core::GroupKey;

use crate::answer::owner_names::Owners;

/// The label of a group. The name of a user may hold any bytes.
pub(crate) fn label(key: GroupKey, owners: &impl Owners) -> Vec<u8> {
    let name = match key {
        GroupKey::Owner(uid) => owners.user(uid),
        GroupKey::Group(gid) => owners.group(gid),
        _ => None,
    };
    name.unwrap_or_else(|| key.label().into_bytes())
}
