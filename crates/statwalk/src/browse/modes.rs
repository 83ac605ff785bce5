// SPDX-License-Identifier: MIT OR Apache-2.0

//! The modes of the terminal: taken for the browser, and given back on every way out.
//!
//! [`give_back`] allocates nothing and waits for nobody. So it works where memory is
//! short, in a panic, and while another thread hangs in a call on the same terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The alternate screen; presses of the mouse in three forms, of which a terminal uses the
/// last that it knows; bracketed paste; no cursor (xterm's ctlseqs).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?1000h\x1b[?1015h\x1b[?1006h\x1b[?2004h\x1b[?25l";
/// All of it back. It begins with the end of a text that may be cut.
const LEAVE: &[u8] =
    b"\x1b\\\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1000l\x1b[m\x1b[?1049l\x1b[?25h";

/// How long a terminal that takes no bytes may hold up the way out.
const LEAVE_WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

static TTY: OnceLock<File> = OnceLock::new();
/// The modes of before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Opens the terminal of the process.
///
/// # Errors
///
/// Returns an error if there is none.
pub(super) fn open() -> io::Result<()> {
    if TTY.get().is_none() {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let _ = TTY.set(tty);
    }
    Ok(())
}

fn tty() -> io::Result<&'static File> {
    TTY.get().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Takes the terminal for the browser.
///
/// # Errors
///
/// Returns an error if it is gone.
pub(super) fn take() -> io::Result<()> {
    let mut tty = tty()?;
    let modes = tcgetattr(tty)?;
    if let Ok(mut before) = BEFORE.lock() {
        *before = Some(modes.clone());
    }
    let mut raw = modes;
    raw.make_raw();
    IS_TAKEN.store(true, SeqCst);
    tcsetattr(tty, OptionalActions::Now, &raw)?;
    tty.write_all(ENTER)
}

/// Gives the terminal back, unless it was given back already.
pub(crate) fn give_back() {
    let Some(tty) = TTY.get() else { return };
    if !IS_TAKEN.swap(false, SeqCst) {
        return;
    }
    let mut wanted = [PollFd::new(tty, PollFlags::OUT)];
    if poll(&mut wanted, Some(&LEAVE_WAIT)).is_ok_and(|ready| ready > 0) {
        let _ = rustix::io::write(tty, LEAVE);
    }
    // The lock is held for an assignment alone, but this thread can be the one in it.
    if let Ok(before) = BEFORE.try_lock()
        && let Some(modes) = &*before
    {
        let _ = tcsetattr(tty, OptionalActions::Now, modes);
    }
}

/// The width and the height of the terminal; absent where it knows none.
pub(super) fn size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(TTY.get()?).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Whether the terminal is gone.
pub(super) fn is_gone() -> bool {
    let Some(tty) = TTY.get() else { return true };
    let mut wanted = [PollFd::new(tty, PollFlags::empty())];
    poll(&mut wanted, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Bytes for the terminal. Those that come after it was given back are dropped.
#[derive(Debug)]
pub(super) struct Writer;

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match IS_TAKEN.load(SeqCst) {
            true => tty()?.write(bytes),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
