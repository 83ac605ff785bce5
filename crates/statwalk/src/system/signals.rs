// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signals: a request to stop, or a question for the status.
//!
//! The handlers only set flags. The thread that waits for the scan reads the flags some
//! times a second (see [`watch`](crate::watch)). So no thread waits for signals, and a
//! scan of one directory does not pay for one.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGXCPU, SIGXFSZ,
};
use signal_hook::{flag, low_level};
use statwalk_sys::signal_action;

/// The signal that asks the program to stop; 0 for none.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);
/// Whether the next such signal kills.
static NEXT_KILLS: AtomicBool = AtomicBool::new(false);
/// Whether SIGUSR1 asks for the status.
static STATUS_WANTED: AtomicBool = AtomicBool::new(false);

/// The signals that end the program.
fn ending() -> impl Iterator<Item = i32> {
    let all = [SIGINT, SIGTERM, SIGQUIT, SIGHUP];
    // `nohup` and `trap '' HUP` ask the program to live on.
    all.into_iter()
        .filter(|&signal| signal != SIGHUP || !signal_action::is_ignored(signal))
}

/// Takes the first signal that ends the program as a request to stop, and SIGUSR1 as a
/// question.
///
/// A second one kills at once.
pub(crate) fn install() {
    for signal in ending() {
        // Handlers run in the order of registration: the one that kills must come
        // before the one that arms it. Where a registration fails, the signal kills, as
        // it does by default.
        let _ = flag::register_conditional_default(signal, &NEXT_KILLS)
            .and_then(|_| flag::register_usize(signal, &CAUGHT, signal.unsigned_abs() as usize))
            .and_then(|_| flag::register(signal, &NEXT_KILLS));
    }
    let _ = flag::register(SIGUSR1, &STATUS_WANTED);
}

/// Signals that kill a program which has no use for them. Nobody presses them.
const KILLING: [i32; 6] = [SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU];

/// Takes the signals that end the browser as a request to stop. Each of those that users
/// send writes a byte into a pipe, and none kills: the reader of the pipe decides. A kill
/// would leave the terminal raw.
///
/// SIGUSR1 asks for the status, which the screen shows. SIGXFSZ is a write that fails.
///
/// Returns an error if the system refuses one. It kills then, as it does by default.
pub(crate) fn install_with_pipe(pipe: &UnixStream) -> io::Result<()> {
    for signal in ending() {
        flag::register_usize(signal, &CAUGHT, signal.unsigned_abs() as usize)?;
        low_level::pipe::register(signal, pipe.try_clone()?)?;
    }
    let killing = KILLING.into_iter();
    for signal in killing.filter(|&signal| !signal_action::is_ignored(signal)) {
        flag::register_usize(signal, &CAUGHT, signal.unsigned_abs() as usize)?;
    }
    for signal in [SIGUSR1, SIGXFSZ] {
        flag::register(signal, &STATUS_WANTED)?;
    }
    Ok(())
}

/// From now on a file that grows beyond a limit (`ulimit -f`) is a write that fails. By default
/// SIGXFSZ kills, without a word about the file.
pub(crate) fn let_large_writes_fail() {
    static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
    /// Nobody asks: the write itself fails.
    static HAS_COME: AtomicBool = AtomicBool::new(false);
    if !IS_INSTALLED.swap(true, Ordering::Relaxed) {
        // Where the registration fails, the signal kills as before.
        let _ = flag::register(SIGXFSZ, &HAS_COME);
    }
}

/// Forgets the signal: it was meant for another program.
pub(crate) fn forget() {
    CAUGHT.store(0, Ordering::SeqCst);
}

/// The signal that asked the program to stop.
pub(crate) fn caught() -> Option<i32> {
    match CAUGHT.load(Ordering::SeqCst) {
        0 => None,
        signal => i32::try_from(signal).ok(),
    }
}

/// Whether SIGUSR1 asked for the status since the last call.
pub(crate) fn take_status_request() -> bool {
    STATUS_WANTED.load(Ordering::Relaxed) && STATUS_WANTED.swap(false, Ordering::Relaxed)
}

/// From now on a signal kills: no scan is left to stop.
pub(crate) fn let_next_kill() {
    NEXT_KILLS.store(true, Ordering::SeqCst);
}

/// Dies of a signal, so that the parent process sees it.
pub(crate) fn die_of(signal: i32) -> ! {
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}
