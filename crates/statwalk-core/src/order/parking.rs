// SPDX-License-Identifier: MIT OR Apache-2.0

//! The place where workers without work wait, without polling.
//!
//! The danger is the lost wake-up: a worker looks for work and finds none. Another one
//! queues some and sees nobody wait. Then the first falls asleep.
//! So a worker first announces that it will wait, then looks once more, and only then
//! waits. A worker that queues work looks for announcements after that. One of the two
//! sees the other. The fences keep the order of those steps, and the model check below
//! tries every interleaving.

use super::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence};

/// The workers that wait, and the calls that have not reached one yet.
pub(super) struct Parking {
    waiting: AtomicUsize,
    calls: Mutex<usize>,
    called: Condvar,
}

impl Parking {
    pub(super) fn new() -> Parking {
        Parking {
            waiting: AtomicUsize::new(0),
            calls: Mutex::new(0),
            called: Condvar::default(),
        }
    }

    /// Whether a worker waits, or is about to.
    pub(super) fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether workers wait and nobody has called one.
    #[cfg(test)]
    pub(super) fn all_sleep(&self) -> bool {
        self.somebody_waits() && *self.lock() == 0
    }

    /// Wakes one worker, if any waits. Call it after queueing work.
    pub(super) fn call_one(&self) {
        fence(Ordering::SeqCst);
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > 0 {
            let mut calls = self.lock();
            // A call too many wakes a worker once for nothing.
            if *calls < waiting {
                *calls += 1;
                self.called.call_one();
            }
        }
    }

    /// Wakes all workers.
    pub(super) fn call_all(&self) {
        fence(Ordering::SeqCst);
        *self.lock() = self.waiting.load(Ordering::Relaxed);
        self.called.call_all();
    }

    /// Waits for a call, unless `look_again` finds a reason not to.
    pub(super) fn wait_unless(&self, look_again: impl FnOnce() -> bool) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !look_again() {
            let mut calls = self.lock();
            while *calls == 0 {
                calls = self.called.wait(&self.calls, calls);
            }
            *calls -= 1;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        // A number cannot be left half written.
        match self.calls.lock() {
            Ok(calls) => calls,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    //! Run with `RUSTFLAGS="--cfg loom" cargo test --release -p statwalk-core --lib model`.

    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;
    use loom::thread;

    /// The hand-over of work as the parallel order does it, with a plain queue
    /// in the place of the deques.
    struct Pool {
        queue: Mutex<Vec<usize>>,
        pending: AtomicUsize,
        done: AtomicBool,
        parking: Parking,
    }

    impl Pool {
        fn work(&self) -> usize {
            let mut worked = 0;
            loop {
                let job = self.queue.lock().unwrap().pop();
                match job {
                    Some(children) => {
                        worked += 1;
                        if children > 0 {
                            self.pending.fetch_add(1, Ordering::Relaxed);
                            self.queue.lock().unwrap().push(children - 1);
                            self.parking.call_one();
                        }
                        if self.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
                            self.done.store(true, Ordering::Release);
                            self.parking.call_all();
                        }
                    }
                    None if self.done.load(Ordering::Acquire) => return worked,
                    None => self.parking.wait_unless(|| {
                        self.done.load(Ordering::Acquire) || !self.queue.lock().unwrap().is_empty()
                    }),
                }
            }
        }
    }

    fn check(first_jobs: Vec<usize>, workers: usize, expected: usize) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let pool = Arc::new(Pool {
                pending: AtomicUsize::new(first_jobs.len()),
                queue: Mutex::new(first_jobs.clone()),
                done: AtomicBool::new(false),
                parking: Parking::new(),
            });
            let others: Vec<_> = (1..workers)
                .map(|_| {
                    let pool = Arc::clone(&pool);
                    thread::spawn(move || pool.work())
                })
                .collect();
            let mut worked = pool.work();
            for other in others {
                worked += other.join().unwrap();
            }
            assert_eq!(worked, expected);
        });
    }

    #[test]
    fn model_nobody_sleeps_while_there_is_work() {
        check(vec![1], 2, 2);
        check(vec![1, 0], 2, 3);
    }

    #[test]
    fn model_three_workers_all_end() {
        check(vec![1], 3, 2);
    }
}
