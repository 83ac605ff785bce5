// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the sources have in common that read directories without listing them by
//! system calls.
//!
//! Such a source is no list of its own but a shorter way within the lister:
//! whether a directory comes from it is decided anew for each, and where it is in
//! doubt the kernel is asked, so that a doubt costs one directory and not a
//! subtree.

mod mount_points;
pub(crate) mod volume_table;

pub(super) use mount_points::MountPoints;
