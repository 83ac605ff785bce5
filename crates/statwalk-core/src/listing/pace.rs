// SPDX-License-Identifier: MIT OR Apache-2.0

//! How a lister goes on: whether others are idle, calls are slow, or the scan is over.

/// How a worker goes on with the entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    GoOn,
    /// The scan was cancelled.
    Stop,
    /// Another worker can do the rest: calls wait for long and a worker is idle, or
    /// this thread has other work.
    Share,
}

/// The worker's side that knows the other workers.
pub(crate) trait Pace {
    /// Whether calls wait so long that a hand-over pays even for a few entries.
    fn is_slow(&self) -> bool;
    /// Whether another worker is idle.
    fn somebody_idle(&self) -> bool;
    /// Whether another worker may come and take queued jobs.
    fn has_company(&self) -> bool;
    /// Counts a system call that may wait, and says how to go on.
    fn tick(&self) -> Tick;
    /// Whether the scan was cancelled.
    fn cancelled(&self) -> bool;
    /// Whether a cancelled scan takes what was read of a directory: the caller wants an
    /// answer, and no sink has had enough.
    fn takes_parts(&self) -> bool;
}
