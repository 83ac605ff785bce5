// SPDX-License-Identifier: MIT OR Apache-2.0

//! Ends the browser where its thread with the terminal cannot.
//!
//! That thread can hang in the kernel, in a write to a terminal that takes no bytes. It also
//! waits for programs that the user started.
//!
//! So another thread looks at signals and at the terminal. A second signal ends the
//! browser at once.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGQUIT};

use super::modes;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::system::signals;
use crate::system::stdio::reason;

/// How long the browser may take to end by itself.
const GRACE: Duration = Duration::from_millis(2_500);

/// How often the terminal is looked at: no event tells that it is gone while nobody reads.
const PERIOD: Duration = Duration::from_millis(500);

/// Whether another program has the terminal.
static IS_LENT: AtomicBool = AtomicBool::new(false);

/// Begins to look, and takes the signals that end the browser.
pub(super) fn start() -> Result<(), Failure> {
    let refused = |what, error: io::Error| {
        let reason = reason(&error);
        Failure::Usage(format!("cannot {what}: {reason}"))
    };
    let no_pipe = |error| refused("watch for signals", error);
    let (pipe, mut signals) = UnixStream::pair().map_err(no_pipe)?;
    signals.set_nonblocking(true).map_err(no_pipe)?;
    thread::Builder::new()
        .name("browse-watchdog".to_owned())
        .spawn(move || watch(&mut signals))
        .map_err(|error| refused("start a thread", error))?;
    signals::install_with_pipe(&pipe).map_err(no_pipe)
}

/// Tells that another program has the terminal. Its keys can mean a signal to both, which
/// is its alone then, as in system(3).
pub(super) fn lend(is_lent: bool) {
    if !is_lent {
        forget_keys();
    }
    IS_LENT.store(is_lent, SeqCst);
}

fn forget_keys() {
    if matches!(signals::caught(), Some(SIGINT | SIGQUIT)) {
        signals::forget();
    }
}

fn watch(pipe: &mut UnixStream) -> ! {
    let mut deadline: Option<Instant> = None;
    let mut caught = 0;
    loop {
        let wait = deadline.map_or(PERIOD, |end| end.saturating_duration_since(Instant::now()));
        let wait = Timespec::try_from(wait.min(PERIOD)).ok();
        let _ = poll(&mut [PollFd::new(&*pipe, PollFlags::IN)], wait.as_ref());
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = pipe.read(&mut bytes) {
            caught += count;
        }
        if IS_LENT.load(SeqCst) {
            forget_keys();
        }
        let is_caught = signals::caught().is_some();
        if !is_caught {
            caught = 0;
        }
        if !is_caught && !modes::is_gone() {
            // A signal that was meant for another program has no deadline.
            deadline = None;
            continue;
        }
        let end = *deadline.get_or_insert_with(|| Instant::now() + GRACE);
        if caught > 1 || Instant::now() >= end {
            leave(caught > 1);
        }
    }
}

fn leave(is_wanted: bool) -> ! {
    modes::give_back();
    if !is_wanted {
        crate::system::stdio::say("the browser still waits for the system, and was left");
    }
    match signals::caught() {
        Some(signal) => signals::die_of(signal),
        None => statwalk_sys::allocator::end_process(ExitStatus::Failed.code()),
    }
}
