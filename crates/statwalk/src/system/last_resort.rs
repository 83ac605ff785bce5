// SPDX-License-Identifier: MIT OR Apache-2.0

//! The end of a program without memory: the terminal comes back, and the status is 2.

use std::io::Write as _;
use std::sync::OnceLock;

use crate::exit_status::ExitStatus;

/// Gives the terminal back, once something has taken it.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Says how the terminal comes back. Only the first caller is heard.
pub(crate) fn set_give_back(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

fn give_terminal_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        give_back();
    }
}

/// Ends the program where the system refuses memory. Nothing here allocates.
#[cfg_attr(test, allow(dead_code, reason = "tests keep their own allocator"))]
pub(crate) fn out_of_memory(bytes: usize) -> ! {
    give_terminal_back();
    let mut text = [0; 128];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "statwalk: cannot allocate memory: the system or a limit refuses {bytes} bytes"
    );
    let length = 128 - rest.len();
    // Where stderr is closed, there is no reader.
    let _ = rustix::io::write(rustix::stdio::stderr(), &text[..length]);
    statwalk_sys::allocator::end_process(ExitStatus::Failed.code())
}

/// Ends the program where the standard library found no memory for itself. It has said so.
#[cfg_attr(test, allow(dead_code, reason = "tests keep their own end"))]
pub(crate) fn aborted() -> ! {
    give_terminal_back();
    statwalk_sys::allocator::end_process(ExitStatus::Failed.code())
}
