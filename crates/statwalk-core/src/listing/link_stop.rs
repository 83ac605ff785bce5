// SPDX-License-Identifier: MIT OR Apache-2.0

//! How far the link count of a directory has spared stats. `unknown.rs` asks for it.

use std::collections::HashSet;
use std::ffi::CString;
use std::sync::Arc;

use super::change_stamp::ChangeStamp;

/// Stops the stats in a directory, once the worker has found as many subdirectories as
/// the link count says.
#[derive(Default)]
pub(super) struct LinkStop {
    pub(super) was_asked: bool,
    /// The number of subdirectories. Absent if the link count does not count them.
    pub(super) subdirs: Option<u32>,
    /// The change stamp at the time of the link count.
    pub(super) before: Option<ChangeStamp>,
    /// Whether entries were left without a stat.
    pub(super) was_used: bool,
    /// The subdirectories, where they were searched before the entries are delivered.
    pub(super) known: Option<Arc<KnownSubdirs>>,
}

/// All subdirectories that a directory had at one moment.
#[derive(Debug)]
pub(super) struct KnownSubdirs {
    pub(super) names: HashSet<CString>,
    /// The change stamp of that moment.
    pub(super) stamp: ChangeStamp,
}

impl LinkStop {
    /// Whether the link count tells when all subdirectories are found.
    pub(super) fn can_be_used(&self) -> bool {
        self.subdirs.is_some()
    }

    /// Whether entries were left without a stat.
    pub(super) fn was_used(&self) -> bool {
        self.was_used
    }
}
