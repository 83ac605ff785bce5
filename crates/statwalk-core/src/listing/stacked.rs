// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounts that show the files of other directories.

use std::collections::HashSet;

use crate::entry::FileId;
use crate::reason::Reason;

/// The kind of a mount that shows the files of other directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stacked {
    /// By the kernel. Its layers can be found.
    Overlay,
    /// By a program.
    Union,
}

/// The layers of such a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layers {
    /// Everything that the mount shows lies in them.
    Known(Vec<FileId>),
    /// They lie outside of the scanned trees.
    Elsewhere,
    Unknown,
}

/// The ways by which a scan can count a file twice, as the mounts have them.
#[derive(Debug, Default)]
pub(crate) struct DoubleWays {
    /// Mounts whose directories can be reached through another mount, too.
    pub(crate) mounts: DoubleMounts,
    /// The layers of the overlays below the roots.
    pub(crate) layers: HashSet<FileId>,
}

/// The mounts whose directories a scan can reach by two ways.
#[derive(Clone, Debug)]
pub(crate) enum DoubleMounts {
    /// These, by their numbers.
    Known(HashSet<u64>),
    /// The system does not tell. It can be any of them.
    Unknown,
}

impl Default for DoubleMounts {
    fn default() -> DoubleMounts {
        DoubleMounts::Known(HashSet::new())
    }
}

impl DoubleMounts {
    pub(crate) fn contains(&self, mount: u64) -> bool {
        match self {
            DoubleMounts::Known(mounts) => mounts.contains(&mount),
            DoubleMounts::Unknown => true,
        }
    }

    /// The reason for the plan, if directories are remembered because of them.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self {
            DoubleMounts::Known(mounts) if mounts.is_empty() => None,
            DoubleMounts::Known(_) => Some(Reason::MountedTwice),
            DoubleMounts::Unknown => Some(Reason::MountsUnknown),
        }
    }
}
