// SPDX-License-Identifier: MIT OR Apache-2.0

//! Threads, clocks, and the place where a thread waits.
//!
//! The order starts its workers, measures them and lets them wait by this file alone.
//! In the tests of this crate a simulation can stand in the place of the system: see
//! `simulation`.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::threads;
#[cfg(test)]
use crate::{lock::lock, simulation::world};

pub(crate) use crate::system::threads::{IoPriority, niceness, set_idle, set_niceness};

/// The current time.
pub(crate) fn now() -> Instant {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.now();
    }
    Instant::now()
}

/// The time since then.
pub(crate) fn since(then: Instant) -> Duration {
    now().saturating_duration_since(then)
}

/// Starts a thread that nobody waits for.
pub(crate) fn start(
    name: String,
    stack_bytes: usize,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.start_thread(stack_bytes, work);
    }
    let builder = thread::Builder::new().name(name).stack_size(stack_bytes);
    builder.spawn(work).map(drop)
}

/// Marks a place where the work of others matters. In a simulation it lets them run.
pub(crate) fn meet_others() {
    #[cfg(test)]
    if let Some(world) = world::current() {
        world.compute(Duration::from_micros(10));
    }
}

/// The number by which others can ask for the clocks of the calling thread.
pub(crate) fn number() -> i32 {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.thread();
    }
    threads::number()
}

/// How long a thread has computed, and how long it has waited for a processor until
/// it last had one; absent where the thread has ended.
pub(crate) fn cpu_and_wait(thread: i32) -> Option<(Duration, Duration)> {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.cpu_and_wait(thread);
    }
    threads::cpu_and_wait(thread)
}

/// Whether a thread could run and does not.
pub(crate) fn is_kept_from_processors(thread: i32) -> bool {
    #[cfg(test)]
    if let Some(world) = world::current() {
        return world.is_kept_from_processors(thread);
    }
    threads::is_kept_from_processors(thread)
}

/// A place where threads wait for a call.
#[derive(Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    /// Waits for a call, or for nothing. `guard` is that of `mutex`.
    #[cfg_attr(loom, allow(dead_code, reason = "only its twin in loom waits there"))]
    pub(crate) fn wait<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
    ) -> MutexGuard<'a, T> {
        #[cfg(test)]
        if let Some(world) = world::current() {
            drop(guard);
            world.wait(self, None);
            return lock(mutex);
        }
        let _ = mutex;
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`wait`](Self::wait), and no longer than a time.
    pub(crate) fn wait_at_most<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> MutexGuard<'a, T> {
        #[cfg(test)]
        if let Some(world) = world::current() {
            drop(guard);
            world.wait(self, Some(timeout));
            return lock(mutex);
        }
        let _ = mutex;
        let answer = self.0.wait_timeout(guard, timeout);
        answer.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Calls one of those that wait.
    #[cfg_attr(loom, allow(dead_code, reason = "only its twin in loom waits there"))]
    pub(crate) fn call_one(&self) {
        #[cfg(test)]
        if let Some(world) = world::current() {
            return world.call_one(self);
        }
        self.0.notify_one();
    }

    /// Calls all that wait.
    pub(crate) fn call_all(&self) {
        #[cfg(test)]
        if let Some(world) = world::current() {
            return world.call_all(self);
        }
        self.0.notify_all();
    }
}
