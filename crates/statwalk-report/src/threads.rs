// SPDX-License-Identifier: MIT OR Apache-2.0

//! Work on two threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

/// Does `other` on another thread while this one does `own`. Where the system has no thread
/// to give, it is done here.
fn both<A: Send, B>(other: impl Fn() -> A + Sync, own: impl FnOnce() -> B) -> (A, B) {
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

/// Does `other` on another thread while this one does `own`. Then each does `rest`, which
/// shares what is left among all that call it, but none before `other` has ended.
pub(crate) fn beside<A: Send, B, R: Send>(
    other: impl FnOnce() -> A + Send,
    own: impl FnOnce() -> B,
    rest: impl Fn() -> Vec<R> + Sync,
) -> (A, B, Vec<R>) {
    let (ended, end) = mpsc::channel::<()>();
    let other = Mutex::new(Some((other, ended)));
    let first = || {
        let taken = other.lock().expect("none panics with it").take();
        let (other, ended) = taken.expect("it is done once");
        let done = other();
        drop(ended);
        (done, rest())
    };
    thread::scope(|scope| {
        let started = thread::Builder::new().spawn_scoped(scope, first);
        let own = own();
        let ((other, mut all), more) = match started {
            Ok(thread) => {
                // Nothing is sent. It returns when the sender is dropped.
                let _ = end.recv();
                let more = rest();
                (thread.join().expect("it only computes"), more)
            }
            Err(_) => (first(), Vec::new()),
        };
        all.extend(more);
        (other, own, all)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    #[test]
    fn the_rest_waits_for_the_other_and_is_shared() {
        let has_ended = AtomicBool::new(false);
        let next = AtomicUsize::new(0);
        let other = || {
            thread::sleep(Duration::from_millis(20));
            has_ended.store(true, Ordering::Release);
            "other"
        };
        let rest = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= 1000 {
                    return done;
                }
                assert!(has_ended.load(Ordering::Acquire), "too early");
                done.push(at);
            }
        };
        let (other, own, mut done) = beside(other, || "own", rest);
        assert_eq!((other, own), ("other", "own"));
        done.sort_unstable();
        assert!(done.into_iter().eq(0..1000));
    }
}
