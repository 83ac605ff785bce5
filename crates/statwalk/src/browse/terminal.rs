// SPDX-License-Identifier: MIT OR Apache-2.0

//! The terminal of the browser: its modes, its input, and its cells.
//!
//! The browser draws on the terminal itself and not on stdout, which can be a pipe. The
//! modes are taken back on every way out, a panic included.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ratatui_core::backend::Backend;
use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{flag, low_level};
use statwalk_browse::Cursor;

use super::cells::{Cells, drawn_size};
use super::decoder::Decoder;
use super::screen::{Input, Screen};
use super::{modes, watchdog};
use crate::failure::Failure;
use crate::system::last_resort;
use crate::system::panics::is_caught;
use crate::system::stdio::reason;

/// The longest path that is copied: terminals refuse long ones, and some are confused.
const COPY_MAX: usize = 64 << 10;

/// How long after an Escape the rest of a sequence may come.
const ESCAPE_WAIT: Duration = Duration::from_millis(20);

/// The most bytes that are dropped at once: more than any terminal keeps.
const DROPPED_MAX: usize = 1 << 20;

/// The status of a program that panicked, as Rust's runtime has it.
const PANICKED: i32 = 101;

/// The terminal, in the modes of the browser.
pub(crate) struct Tty {
    terminal: Terminal<Cells>,
    opened: Instant,
    /// Reads without waiting.
    keyboard: File,
    decoder: Decoder,
    inputs: VecDeque<Input>,
    /// Has bytes after a signal.
    wake: UnixStream,
    /// Whether the size may be another.
    is_resized: Arc<AtomicBool>,
    /// Whether the program was in the background.
    continued: Arc<AtomicBool>,
    /// Whether somebody asks the program to go there.
    is_to_stop: Arc<AtomicBool>,
}

impl Tty {
    /// Takes the terminal, and the signals that end the browser.
    pub(crate) fn open() -> Result<Tty, Failure> {
        let none = |error: io::Error| Failure::Usage(no_terminal(&error));
        let refused = |error: io::Error| {
            Failure::Usage(format!("cannot watch the terminal: {}", reason(&error)))
        };
        if crate::system::screen::is_dumb() {
            let message = "browse needs a terminal that places text, and TERM is dumb; \
                           `statwalk PATH` prints the largest directories";
            return Err(Failure::Usage(message.to_owned()));
        }
        modes::open().map_err(none)?;
        let keyboard = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open("/dev/tty")
            .map_err(none)?;
        let (sender, wake) = UnixStream::pair().map_err(refused)?;
        wake.set_nonblocking(true).map_err(refused)?;
        let flags = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        let [is_resized, continued, is_to_stop] = flags;
        // Without these the program still stops, with the modes of the browser, and its
        // screen keeps its size.
        let _ = flag::register(SIGWINCH, Arc::clone(&is_resized));
        let _ = flag::register(SIGCONT, Arc::clone(&continued));
        let _ = flag::register(SIGTSTP, Arc::clone(&is_to_stop));
        watchdog::start()?;
        let mut waking = vec![SIGWINCH, SIGCONT, SIGTSTP, SIGINT, SIGTERM, SIGQUIT];
        waking.extend((!statwalk_sys::signal_action::is_ignored(SIGHUP)).then_some(SIGHUP));
        for signal in waking {
            let sender = sender.try_clone().map_err(refused)?;
            let _ = low_level::pipe::register(signal, sender);
        }
        statwalk_sys::abort::call_instead(last_resort::aborted).map_err(refused)?;
        let before = panic::take_hook();
        // Without the thread that panicked the browser cannot go on.
        panic::set_hook(Box::new(move |panic| {
            if is_caught() && cfg!(panic = "unwind") {
                return;
            }
            modes::give_back();
            before(panic);
            statwalk_sys::allocator::end_process(PANICKED);
        }));
        modes::take()
            .and_then(|()| Terminal::new(Cells::new()))
            .map(|terminal| Tty {
                terminal,
                opened: Instant::now(),
                keyboard,
                decoder: Decoder::default(),
                inputs: VecDeque::new(),
                wake,
                is_resized,
                continued,
                is_to_stop,
            })
            .inspect_err(|_| modes::give_back())
            .map_err(none)
    }

    /// Waits for input for a time at most, and takes what is there.
    fn gather(&mut self, wait: Duration) -> Result<(), Failure> {
        let mut has_keys = self.is_readable(wait)?;
        while has_keys {
            if self.read()? == 0 {
                break;
            }
            // Behind an Escape the rest of a key can be on its way.
            has_keys = self.decoder.has_escape() && self.is_readable(ESCAPE_WAIT)?;
        }
        self.inputs.extend(self.decoder.take_escape());
        if self.is_resized.swap(false, Ordering::Relaxed) {
            let (width, height) = drawn_size();
            self.inputs.push_back(Input::Size(width, height));
        }
        Ok(())
    }

    /// Whether bytes are there, or come within a time. A signal ends the time.
    fn is_readable(&mut self, wait: Duration) -> Result<bool, Failure> {
        let wait = Timespec::try_from(wait).ok();
        let mut wanted = [
            PollFd::new(&self.keyboard, PollFlags::IN),
            PollFd::new(&self.wake, PollFlags::IN),
        ];
        // Without an answer, a signal came.
        let ready = poll(&mut wanted, wait.as_ref()).unwrap_or(0);
        if ready == 0 {
            return Ok(false);
        }
        let [keys, signals] = wanted.map(|fd| fd.revents());
        if !signals.is_empty() {
            let _ = self.wake.read(&mut [0; 64]);
        }
        match keys.contains(PollFlags::IN) {
            false if !keys.is_empty() => Err(gone()),
            is_there => Ok(is_there),
        }
    }

    /// Reads once, without waiting. Answers with the number of bytes.
    fn read(&mut self) -> Result<usize, Failure> {
        let mut bytes = [0; 4096];
        match self.keyboard.read(&mut bytes) {
            Ok(0) => Err(gone()),
            Ok(count) => {
                self.decoder.take(&bytes[..count], &mut self.inputs);
                Ok(count)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(0)
            }
            Err(_) => Err(gone()),
        }
    }

    /// Forgets all keys that were pressed until now.
    fn drop_input(&mut self) -> Result<(), Failure> {
        let mut dropped = 0;
        while dropped < DROPPED_MAX {
            match self.read()? {
                0 => break,
                count => dropped += count,
            }
            self.inputs.retain(|input| matches!(input, Input::Size(..)));
        }
        self.inputs.retain(|input| matches!(input, Input::Size(..)));
        self.decoder.forget();
        Ok(())
    }
}

/// The reason why the browser does not have the terminal. One that is there can be refused
/// by a limit of the process.
fn no_terminal(error: &io::Error) -> String {
    let limits = [Errno::MFILE, Errno::NFILE, Errno::NOMEM].map(|errno| Some(errno.raw_os_error()));
    let reason = reason(error);
    match limits.contains(&error.raw_os_error()) {
        true => format!("cannot open the terminal: {reason}"),
        false => format!(
            "browse needs a terminal ({reason}); `statwalk PATH` prints the largest directories"
        ),
    }
}

/// The end of every way from a terminal that was closed, or whose session has ended.
fn gone() -> Failure {
    Failure::Usage("the terminal is gone".to_owned())
}

fn of_drawing(error: io::Error) -> Failure {
    match modes::is_gone() {
        true => gone(),
        false => Failure::Output(error),
    }
}

impl Screen for Tty {
    fn size(&self) -> (u16, u16) {
        drawn_size()
    }

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn draw(&mut self, draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>) -> Result<(), Failure> {
        let mut cursor = None;
        let drawn = self.terminal.draw(|frame| {
            cursor = draw(frame.buffer_mut());
            if let Some(cursor) = cursor.filter(|cursor| cursor.is_text) {
                frame.set_cursor_position(cursor.place);
            }
        });
        drawn.map_err(of_drawing)?;
        // A hidden cursor is where the last cell was drawn, until it is moved.
        match cursor.filter(|cursor| !cursor.is_text) {
            Some(cursor) => (self.terminal.backend_mut())
                .set_cursor_position(cursor.place)
                .map_err(of_drawing),
            None => Ok(()),
        }
    }

    fn has_input(&mut self, wait: Duration) -> Result<bool, Failure> {
        if self.is_to_stop.swap(false, Ordering::Relaxed) {
            self.suspend();
        }
        if self.inputs.is_empty() {
            self.gather(wait)?;
        }
        Ok(!self.inputs.is_empty())
    }

    fn input(&mut self, wait: Duration) -> Result<Option<Input>, Failure> {
        self.has_input(wait)?;
        Ok(self.inputs.pop_front())
    }

    fn draw_question(
        &mut self,
        draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>,
    ) -> Result<(), Failure> {
        // A key that answers the frame at once must not be among those that are dropped.
        self.terminal.backend_mut().hold(true);
        let drawn = self.draw(draw);
        self.terminal.backend_mut().hold(false);
        drawn?;
        self.drop_input()?;
        Backend::flush(self.terminal.backend_mut()).map_err(of_drawing)
    }

    fn was_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    fn leave(&mut self) {
        watchdog::lend(true);
        modes::give_back();
    }

    fn resume(&mut self) {
        watchdog::lend(false);
        // A terminal that is gone is noticed at the next frame.
        let _ = modes::take();
        let (width, height) = drawn_size();
        // Forgets what was drawn, and clears.
        let _ = (self.terminal).resize(ratatui_core::layout::Rect::new(0, 0, width, height));
        self.is_resized.store(true, Ordering::Relaxed);
    }

    fn suspend(&mut self) {
        modes::give_back();
        // The default of SIGTSTP: the call returns when somebody continues the program.
        let _ = low_level::emulate_default_handler(SIGTSTP);
        self.continued.store(false, Ordering::Relaxed);
        self.resume();
    }

    /// Asks the terminal (OSC 52, xterm's ctlseqs).
    fn copy(&mut self, path: &[u8]) -> io::Result<()> {
        if path.len() > COPY_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // The path is in base 64, so nothing of it acts on the terminal.
        write!(modes::Writer, "\x1b]52;c;{}\x07", BASE64.encode(path))
    }

    fn close(&mut self) {
        modes::give_back();
    }
}
