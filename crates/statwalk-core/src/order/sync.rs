// SPDX-License-Identifier: MIT OR Apache-2.0

//! The synchronisation primitives of [`Parking`](super::parking::Parking): those of loom
//! in its model checks (`--cfg loom`), those of the system otherwise.

#[cfg(not(loom))]
pub(super) use crate::threads::Condvar;
#[cfg(loom)]
pub(super) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub(super) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering, fence},
};

/// As [`crate::threads::Condvar`].
#[cfg(loom)]
#[derive(Default)]
pub(super) struct Condvar(loom::sync::Condvar);

#[cfg(loom)]
impl Condvar {
    pub(super) fn wait<'a, T>(
        &self,
        _mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
    ) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap()
    }

    pub(super) fn call_one(&self) {
        self.0.notify_one();
    }

    pub(super) fn call_all(&self) {
        self.0.notify_all();
    }
}
