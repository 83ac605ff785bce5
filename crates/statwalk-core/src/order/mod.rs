// SPDX-License-Identifier: MIT OR Apache-2.0

//! The next directory, and the worker that lists it.
//!
//! An order drives a source and never names a file system.

mod agenda;
pub(crate) mod concurrency;
mod controller;
mod frontier;
mod inode_queue;
mod outlet;
mod parking;
pub(crate) mod pool;
pub(crate) mod results;
mod sync;
mod worker;

/// The directory that is listed next.
///
/// All orders give the same answers, at different costs.
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
    /// As [`Stack`](Self::Stack), with room for a million directories from the start.
    ReservedStack,
    /// A thread for each directory, up to 64 at a time by default, as `std::async` makes
    /// of a function that calls itself.
    Futures,
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
            Order::ReservedStack => "stack-reserved",
            Order::Futures => "futures",
            Order::Inode => "inode",
        }
    }

    /// The default number of workers; absent if the number follows their waiting.
    pub(crate) fn workers(self) -> Option<usize> {
        match self {
            Order::Parallel => None,
            // aio_scandir's number. More of them lie no nearer to each other.
            Order::Inode => Some(4),
            Order::Futures => Some(concurrency::WORKERS_MAX),
            _ => Some(1),
        }
    }

    /// Whether workers may share the entries of a directory if calls wait.
    ///
    /// By inode number each entry is a job anyway, and a future is a whole directory.
    fn hands_parts(self) -> bool {
        !matches!(self, Order::Inode | Order::Futures)
    }
}
