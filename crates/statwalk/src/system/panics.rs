// SPDX-License-Identifier: MIT OR Apache-2.0

//! The end of the program at a panic, and the one exception.
//!
//! A panic is a fault of the program, so it ends at once, whatever thread it is in: a worker
//! that is gone would let the others wait for ever. But the library that reads Parquet panics
//! on damaged files (arrow-rs#9742). `statwalk-snapshot` catches that, so the program is built
//! with panics that unwind, and this hook aborts where nobody catches.

use std::cell::Cell;
use std::panic;
use std::process;

thread_local! {
    /// Whether this thread reads a snapshot.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Lets each panic abort from now on, but for those of a library that reads a snapshot.
pub(crate) fn abort_at_panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if is_caught() {
            return;
        }
        say(info);
        process::abort();
    }));
}

/// Whether somebody catches a panic of this thread, and says what is wrong.
pub(crate) fn is_caught() -> bool {
    IS_CAUGHT.get()
}

/// Reads a snapshot: a panic of its library is caught behind this call.
#[cfg(feature = "snapshot")]
pub(crate) fn caught<T>(read: impl FnOnce() -> T) -> T {
    let before = IS_CAUGHT.replace(true);
    // The value goes back at a panic that comes through, too.
    let _back = Back(before);
    read()
}

#[cfg(feature = "snapshot")]
struct Back(bool);

#[cfg(feature = "snapshot")]
impl Drop for Back {
    fn drop(&mut self) {
        IS_CAUGHT.set(self.0);
    }
}

#[cfg(all(test, feature = "snapshot"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_excepted_while_it_reads() {
        assert!(!IS_CAUGHT.get());
        caught(|| {
            assert!(IS_CAUGHT.get());
            caught(|| assert!(IS_CAUGHT.get()));
            assert!(IS_CAUGHT.get());
        });
        let through = panic::catch_unwind(|| caught(|| panic!("through")));
        assert!(through.is_err() && !IS_CAUGHT.get());
    }
}
