// SPDX-License-Identifier: MIT OR Apache-2.0

//! Two things at once.

use std::thread;

/// Does something on another thread while this one does something else. Where the system
/// has no thread to give, it is done here.
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
