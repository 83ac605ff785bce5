// SPDX-License-Identifier: MIT OR Apache-2.0

//! Work on two threads.

use std::sync::atomic::{AtomicUsize, Ordering};
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

/// Does so many jobs on two threads, the first ones first, each with what a thread keeps
/// from job to job.
pub(crate) fn queue<S: Default, R: Send>(
    count: usize,
    job: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut state = S::default();
        let mut done = Vec::new();
        loop {
            match next.fetch_add(1, Ordering::Relaxed) {
                at if at < count => done.push((at, job(&mut state, at))),
                _ => return done,
            }
        }
    };
    let (mut all, own) = both(some, some);
    all.extend(own);
    all.sort_unstable_by_key(|&(at, _)| at);
    all.into_iter().map(|(_, done)| done).collect()
}
