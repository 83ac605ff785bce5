// SPDX-License-Identifier: MIT OR Apache-2.0

//! Work on two threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

/// Does `other` on another thread while this one does `own`. Where the system has no thread
/// to give, it is done here.
pub(crate) fn both<A: Send, B>(other: impl Fn() -> A + Sync, own: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, &other);
        let own = own();
        let other = match started {
            Ok(thread) => thread.join().expect("it only computes"),
            Err(_) => other(),
        };
        (other, own)
    })
}

/// The next job of a queue that two threads work on.
#[derive(Default)]
pub(crate) struct Next(AtomicUsize);

impl Next {
    /// Does those of so many jobs that no other thread takes, the first ones first, each with
    /// what this thread keeps from job to job. Answers with the place of each.
    pub(crate) fn work<S: Default, R>(
        &self,
        count: usize,
        job: impl Fn(&mut S, usize) -> R,
    ) -> Vec<(usize, R)> {
        let mut state = S::default();
        let mut done = Vec::new();
        loop {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                at if at < count => done.push((at, job(&mut state, at))),
                _ => return done,
            }
        }
    }
}

/// Does the jobs of a queue on two threads.
pub(crate) fn queue<R: Send>(work: impl Fn(&Next) -> Vec<(usize, R)> + Sync) -> Vec<R> {
    let next = Next::default();
    let some = || work(&next);
    let (others, own) = both(some, some);
    in_order(others, own)
}

/// Does the jobs of two queues on two threads, and between them makes of the results of the
/// first, on this thread, what the second needs.
///
/// A fresh thread can wait for milliseconds on the processor of its parent while another is
/// idle, and so can one that sleeps. So one thread helps with both queues and stays awake
/// between them.
pub(crate) fn two_queues<A: Send, M: Send + Sync, B: Send>(
    first: impl Fn(&Next) -> Vec<(usize, A)> + Sync,
    between: impl FnOnce(Vec<A>) -> M,
    second: impl Fn(&M, &Next) -> Vec<(usize, B)> + Sync,
) -> (M, Vec<B>) {
    let [next, next_of_second] = [Next::default(), Next::default()];
    let made = OnceLock::new();
    let results = thread::scope(|scope| {
        let (first, second) = (&first, &second);
        let (next, next_of_second) = (&next, &next_of_second);
        // What one thread gives to the other. Both ends go where a thread panics or never
        // starts, so nobody waits for it.
        let (done, others) = mpsc::channel();
        let (give, given) = mpsc::channel::<&M>();
        let help = move || {
            // The receiver goes only in a panic.
            let _ = done.send(first(next));
            let made = awake(&given)?;
            Some(second(made, next_of_second))
        };
        let helper = thread::Builder::new().spawn_scoped(scope, help);
        let own = first(next);
        let others = awake(&others).unwrap_or_default();
        let made = made.get_or_init(|| between(in_order(others, own)));
        // Absent without a thread.
        let _ = give.send(made);
        let own = second(made, next_of_second);
        let others = match helper {
            Ok(helper) => helper.join().expect("it only computes"),
            Err(_) => None,
        };
        in_order(others.unwrap_or_default(), own)
    });
    let made = made.into_inner().expect("it was made between the queues");
    (made, results)
}

/// Waits without sleep for what another thread gives. Absent where that one has gone.
fn awake<R>(from: &mpsc::Receiver<R>) -> Option<R> {
    loop {
        match from.try_recv() {
            Ok(given) => return Some(given),
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

/// The results of both threads in the order of the jobs.
fn in_order<R>(mut some: Vec<(usize, R)>, others: Vec<(usize, R)>) -> Vec<R> {
    some.extend(others);
    some.sort_unstable_by_key(|&(at, _)| at);
    some.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::thread::ThreadId;

    use super::*;

    #[test]
    fn the_second_queue_has_all_of_the_first() {
        let threads = Mutex::new(HashSet::<ThreadId>::new());
        for count in [0, 1, 2, 100] {
            let squares = |next: &Next| {
                threads.lock().unwrap().insert(thread::current().id());
                next.work(count, |(), at| at * at)
            };
            let join = |squares: Vec<usize>| squares;
            let doubled =
                |all: &Vec<usize>, next: &Next| next.work(all.len(), |(), at| 2 * all[at]);
            let (all, twice) = two_queues(squares, join, doubled);
            assert_eq!(all, (0..count).map(|at| at * at).collect::<Vec<_>>());
            assert_eq!(
                twice,
                all.iter().map(|square| 2 * square).collect::<Vec<_>>()
            );
        }
        assert!(threads.lock().unwrap().len() > 1);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let this = thread::current().id();
        for panicking in [
            "other first",
            "own first",
            "between",
            "own second",
            "other second",
        ] {
            let is = |queue: &str| {
                let own = thread::current().id() == this;
                panicking == format!("{} {queue}", if own { "own" } else { "other" })
            };
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                two_queues(
                    |next| {
                        assert!(!is("first"));
                        next.work(10, |(), at| at)
                    },
                    |all| {
                        assert!(panicking != "between");
                        all
                    },
                    |all, next| {
                        assert!(!is("second"));
                        next.work(all.len(), |(), at| at)
                    },
                )
            }));
            assert!(panicked.is_err(), "{panicking}");
        }
    }
}
