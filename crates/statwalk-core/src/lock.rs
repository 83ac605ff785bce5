// SPDX-License-Identifier: MIT OR Apache-2.0

//! Locks that a panic elsewhere does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value whose changes leave it whole: no step between two that belong
/// together can panic. So a panic of another thread is that thread's alone.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    if crate::simulation::world::current().is_some() {
        return match mutex.try_lock() {
            Err(std::sync::TryLockError::WouldBlock) => panic!("a lock is held across a call"),
            answer => answer.unwrap_or_else(|_| unreachable!("a panic ends a simulation")),
        };
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
