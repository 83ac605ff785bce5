// SPDX-License-Identifier: MIT OR Apache-2.0

//! The modes of the terminal: taken for the browser, and given back on every way out.
//!
//! [`give_back`] allocates nothing, and waits for another thread only in the midst of it and
//! for a moment. So it works where memory is short, in a panic, and while another thread
//! hangs in a call on the same terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::system::last_resort::set_give_back;

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
/// Whose the terminal is.
static OWNER: AtomicU8 = AtomicU8::new(OTHERS);
const OTHERS: u8 = 0;
const BROWSER: u8 = 1;
/// A thread gives it back.
const RETURNING: u8 = 2;

/// How often, and how many times, a second thread looks whether the first one gave it back.
const RETURN_PERIOD: Duration = Duration::from_millis(1);
const RETURN_LOOKS: u32 = 100;

/// Opens the terminal of the process.
pub(super) fn open() -> io::Result<()> {
    if TTY.get().is_none() {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let _ = TTY.set(tty);
        set_give_back(give_back);
    }
    Ok(())
}

fn tty() -> io::Result<&'static File> {
    TTY.get().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Takes the terminal for the browser.
pub(super) fn take() -> io::Result<()> {
    let mut tty = tty()?;
    let modes = tcgetattr(tty)?;
    if let Ok(mut before) = BEFORE.lock() {
        *before = Some(modes.clone());
    }
    let mut raw = modes;
    raw.make_raw();
    OWNER.store(BROWSER, SeqCst);
    tcsetattr(tty, OptionalActions::Now, &raw)?;
    tty.write_all(ENTER)
}

/// Gives the terminal back, unless it was given back already. Where another thread does so,
/// it waits for that: the caller may end the process next.
pub(super) fn give_back() {
    let Some(tty) = TTY.get() else { return };
    if let Err(owner) = OWNER.compare_exchange(BROWSER, RETURNING, SeqCst, SeqCst) {
        let mut looks = 0;
        while owner == RETURNING && OWNER.load(SeqCst) == RETURNING && looks < RETURN_LOOKS {
            thread::sleep(RETURN_PERIOD);
            looks += 1;
        }
        if looks == RETURN_LOOKS {
            // The other one hangs, or is this one.
            restore(tty);
        }
        return;
    }
    let mut wanted = [PollFd::new(tty, PollFlags::OUT)];
    if poll(&mut wanted, Some(&LEAVE_WAIT)).is_ok_and(|ready| ready > 0) {
        let _ = rustix::io::write(tty, LEAVE);
    }
    restore(tty);
    OWNER.store(OTHERS, SeqCst);
}

fn restore(tty: &File) {
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
        match OWNER.load(SeqCst) {
            BROWSER => tty()?.write(bytes),
            _ => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::AsFd;
    use std::sync::mpsc;

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use rustix::termios::LocalModes;

    use super::*;

    fn is_cooked(terminal: impl AsFd) -> bool {
        let modes = tcgetattr(terminal).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// Two threads had no memory. One wrote the bytes that leave the screen, and the other
    /// ended the process before the modes were back.
    #[test]
    fn a_second_thread_returns_once_the_terminal_is_back() {
        let (screen, terminal) = statwalk_testkit::terminal::terminal(80, 24).unwrap();
        TTY.set(File::from(terminal.try_clone().unwrap())).unwrap();
        take().unwrap();
        assert!(!is_cooked(&terminal));
        // The first one waits for room on the terminal.
        let mut full = File::from(terminal.try_clone().unwrap());
        let flags = fcntl_getfl(&full).unwrap();
        fcntl_setfl(&full, flags | OFlags::NONBLOCK).unwrap();
        while full.write(&[b'x'; 4096]).is_ok() {}
        let (begun, begins) = mpsc::channel();
        let first = thread::spawn(move || {
            begun.send(()).unwrap();
            give_back();
        });
        begins.recv().unwrap();
        while OWNER.load(SeqCst) == BROWSER {
            thread::yield_now();
        }
        give_back();
        assert!(is_cooked(&terminal));
        first.join().unwrap();
        let mut all = [0; 4096];
        assert!(File::from(screen).read(&mut all).unwrap() > 0);
    }
}
