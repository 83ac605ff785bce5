// SPDX-License-Identifier: MIT OR Apache-2.0

//! The next directory, and the worker that lists it.
//!
//! An order drives a source and never names a file system.

mod agenda;
mod any_order;
pub(crate) mod concurrency;
mod controller;
mod frontier;
mod inode_queue;
mod missing;
mod outlet;
mod parking;
pub(crate) mod pool;
pub(crate) mod results;
pub(crate) mod sorted_jobs;
mod sync;
mod worker;

pub use any_order::AnyOrder;

/// The directory that is listed next.
///
/// All orders give the same answers, at different costs.
/// [`tuning::AnyOrder`](crate::tuning::AnyOrder) has three more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// Each worker takes the directory it found last. Without one it takes those that
    /// another worker found first.
    #[default]
    Parallel,
    /// The subdirectories of a directory at once, one after another, by a function that
    /// calls itself. One worker.
    ///
    /// Below 4,096 levels, directories wait on a stack.
    Recursive,
    /// The directory that was found first: level by level. One worker by default.
    ///
    /// Whole levels wait, so it needs the most memory. It keeps the fewest directories
    /// open.
    Queue,
    /// The directory that was found last. One worker by default.
    Stack,
    /// By inode number, over all known directories: for disks that turn, and for trees
    /// that are not in memory. Four workers by default.
    Inode,
}

impl Order {
    /// Its name in the plan and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Order::Parallel => "parallel",
            Order::Recursive => "recursive",
            Order::Queue => "queue",
            Order::Stack => "stack",
            Order::Inode => "inode",
        }
    }
}
