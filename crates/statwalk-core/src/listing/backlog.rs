// SPDX-License-Identifier: MIT OR Apache-2.0

//! The jobs that a lister leaves to later.

use std::sync::Arc;

use super::listed::Listed;
use super::shared::SharedListing;
use crate::directory::Dir;
use crate::handle::OpenParent;

/// A step in gathering the entries of a directory before their stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathering {
    Begins,
    Ends,
}

/// The worker's side that takes jobs.
pub(crate) trait Backlog {
    /// Queues subdirectories. A worker lists them later.
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]);
    /// Queues the rest of a large directory. Any free worker reads on.
    fn queue_rest(&mut self, listing: Arc<SharedListing>);
    /// Queues entries of a directory. Any worker may stat them.
    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed);
    /// Defers a crossing until the rest of the scan is done.
    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32);
    /// Defers an overlay until all other crossings are done.
    fn defer_overlay(&mut self, parent: &Arc<OpenParent>, name_offset: u32);
    /// Defers a subdirectory that was not found. When the rest is done, a worker
    /// judges whether it has vanished.
    fn defer_vanished(&mut self, parent: &Arc<Dir>, name_offset: u32);
    /// Defers symbolic links. Workers follow them when the rest is done.
    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]);
    /// Whether workers gather the entries of several directories before they stat them.
    fn gathers(&self) -> bool;
    /// Notes that entries of a directory wait for their stats, or that all are done.
    fn gathering(&self, what: Gathering);
}
