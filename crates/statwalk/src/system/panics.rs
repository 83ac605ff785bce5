// SPDX-License-Identifier: MIT OR Apache-2.0

//! The end of the program at a panic, and the one exception.
//!
//! A panic is a fault of the program, so it ends at once, whatever thread it is in: a worker
//! that is gone would let the others wait for ever. But the library that reads Parquet panics
//! on damaged files (arrow-rs#9742). Where panics unwind, `statwalk-snapshot` catches that and
//! makes an error of it. A release aborts, because landing pads cost a scan 5 to 20 % of its
//! instructions. There the hook, which runs before the end, says which snapshot is damaged.

use std::cell::Cell;
use std::panic;
#[cfg(feature = "snapshot")]
use std::path::{Path, PathBuf};
use std::process;
#[cfg(feature = "snapshot")]
use std::sync::OnceLock;

#[cfg(feature = "snapshot")]
use statwalk_view::{Charset, escape};

#[cfg(feature = "snapshot")]
use super::stdio;

/// The status of a program that cannot give an answer.
#[cfg(feature = "snapshot")]
const FAILED: i32 = 2;

/// The folder of the snapshot that the program reads.
#[cfg(feature = "snapshot")]
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

thread_local! {
    /// Whether this thread reads a snapshot.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Lets each panic abort from now on, but for those of a library that reads a snapshot.
pub(crate) fn abort_at_panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if is_caught() {
            #[cfg(feature = "snapshot")]
            if cfg!(panic = "abort") {
                end_at_damage();
            }
            return;
        }
        say(info);
        process::abort();
    }));
}

/// Notes the snapshot that is read from now on.
#[cfg(feature = "snapshot")]
pub(crate) fn reads(folder: &Path) {
    // A program reads one.
    let _ = FOLDER.set(folder.to_owned());
}

/// Ends the program, which cannot go on behind a panic, with the words of an error.
#[cfg(feature = "snapshot")]
fn end_at_damage() -> ! {
    let folder = FOLDER.get().map(|path| path.as_os_str().as_encoded_bytes());
    let folder = escape(folder.unwrap_or(b"a snapshot"), Charset::Unicode).into_owned();
    stdio::say(&format!(
        "cannot read {folder}: the bytes of a page contradict each other"
    ));
    statwalk_sys::allocator::end_process(FAILED);
}

/// Whether a panic of this thread comes from damaged bytes, and somebody says so.
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
