// SPDX-License-Identifier: MIT OR Apache-2.0

//! Locks that a panic elsewhere does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value whose changes leave it whole: no step between two that belong
/// together can panic. So a panic of another thread is that thread's alone.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
