// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which directory is listed next, and by whom.
//!
//! An order drives a source and never names a file system.

mod agenda;
pub(crate) mod concurrency;
mod controller;
mod frontier;
mod inode_queue;
mod parking;
pub(crate) mod pool;
mod sync;
mod worker;

/// Which directory is listed next.
///
/// All orders give the same answers. `docs/orders.md` says what each costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Order {
    /// Each worker takes what it found last, and what others found first where
    /// it has nothing to do.
    #[default]
    Parallel,
    /// A directory's subdirectories at once, one after another, by a function
    /// that calls itself. One worker.
    ///
    /// From 4,096 levels on what is below waits on a stack.
    Recursive,
    /// What was found first: level by level. One worker unless told otherwise.
    ///
    /// Whole levels wait, so it needs the most memory, and keeps the fewest
    /// directories open for what is below them.
    Queue,
    /// What was found last. One worker unless told otherwise.
    Stack,
    /// As [`Stack`](Self::Stack), with room for a million directories taken
    /// before the first.
    ReservedStack,
    /// A thread for each directory, up to 64 at a time unless told otherwise: what
    /// `std::async` makes of a function that calls itself.
    Futures,
    /// By inode number, over all that is known of the tree: for rotating disks
    /// and for what is not in memory. Four workers unless told otherwise.
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

    /// How many workers it has unless told otherwise; none where the number
    /// follows what they do.
    pub(crate) fn workers(self) -> Option<usize> {
        match self {
            Order::Parallel => None,
            // aio_scandir's number. More are no nearer to each other.
            Order::Inode => Some(4),
            Order::Futures => Some(concurrency::WORKERS_MAX),
            _ => Some(1),
        }
    }

    /// Whether a directory's entries may be handed around in parts where calls wait.
    ///
    /// By inode number each entry goes by itself anyway, and a future is a
    /// directory.
    fn hands_parts(self) -> bool {
        !matches!(self, Order::Inode | Order::Futures)
    }
}
