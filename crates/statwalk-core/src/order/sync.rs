// SPDX-License-Identifier: MIT OR Apache-2.0

//! The synchronisation primitives of the orders: those of loom in its model
//! checks (`--cfg loom`), those of the standard library otherwise.

#[cfg(loom)]
pub(super) use loom::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub(super) use std::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};
