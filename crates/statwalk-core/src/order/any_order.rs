// SPDX-License-Identifier: MIT OR Apache-2.0

//! The orders of measurements and of entries by path, beside those that stay.

use super::{Order, concurrency};

/// An order of any kind: one that stays, or one that is there to be measured.
///
/// [`Scan::order`](crate::Scan::order) takes either.
///
/// ```
/// use statwalk_core::tuning::AnyOrder;
/// use statwalk_core::{Order, Scan, Totals};
///
/// for order in [AnyOrder::ReservedStack, AnyOrder::Order(Order::Stack)] {
///     let outcome = Scan::new("src").order(order).run(&Totals::new())?;
///     assert_eq!(outcome.report.plan.order, order.name());
///     assert!(outcome.report.is_complete());
/// }
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyOrder {
    /// An order that stays.
    Order(Order),
    /// As [`Order::Stack`], with room for a million directories from the start.
    ReservedStack,
    /// A thread for each directory, up to 64 at a time by default, as `std::async` makes
    /// of a function that calls itself.
    Futures,
    /// The directory that is first by its path, among those that wait.
    ///
    /// [`Scan::entries_in`](crate::Scan::entries_in) needs it, to hold few entries whose turn
    /// has not come.
    Sorted,
}

impl AnyOrder {
    /// Its name in the plan and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            AnyOrder::Order(order) => order.name(),
            AnyOrder::ReservedStack => "stack-reserved",
            AnyOrder::Futures => "futures",
            AnyOrder::Sorted => "sorted",
        }
    }

    /// The default number of workers; absent if the number follows their waiting.
    pub(crate) fn workers(self) -> Option<usize> {
        match self {
            AnyOrder::Order(Order::Parallel) | AnyOrder::Sorted => None,
            // aio_scandir's number. More of them lie no nearer to each other.
            AnyOrder::Order(Order::Inode) => Some(4),
            AnyOrder::Futures => Some(concurrency::WORKERS_MAX),
            AnyOrder::Order(_) | AnyOrder::ReservedStack => Some(1),
        }
    }

    /// Whether workers may share the entries of a directory if calls wait.
    ///
    /// By inode number each entry is a job anyway, and a future is a whole directory.
    pub(super) fn hands_parts(self) -> bool {
        self != Order::Inode && self != AnyOrder::Futures
    }
}

impl From<Order> for AnyOrder {
    fn from(order: Order) -> AnyOrder {
        AnyOrder::Order(order)
    }
}

impl PartialEq<Order> for AnyOrder {
    fn eq(&self, other: &Order) -> bool {
        *self == AnyOrder::Order(*other)
    }
}
