// SPDX-License-Identifier: MIT OR Apache-2.0

//! The terminal of the browser: its modes, its input, and its cells.
//!
//! The browser draws on the terminal itself and not on stdout, which can be a pipe. The
//! modes are taken back on every way out, a panic included.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, KeyCode, KeyEventKind, KeyModifiers,
    MouseButton, MouseEventKind,
};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Position;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::{flag, low_level};
use statwalk_browse::{Key, Mouse};

use super::screen::{Input, Screen};
use crate::failure::{Failure, reason};

/// The longest path that is copied: terminals refuse long ones, and some are confused.
const COPY_MAX: usize = 64 << 10;

type Backend = CrosstermBackend<BufWriter<File>>;

/// The terminal, in the modes of the browser.
pub(crate) struct Tty {
    terminal: Terminal<Backend>,
    opened: Instant,
    /// Whether the program was in the background.
    continued: Arc<AtomicBool>,
    /// Whether somebody asks the program to go there.
    is_to_stop: Arc<AtomicBool>,
}

impl Tty {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none.
    pub(crate) fn open() -> Result<Tty, Failure> {
        let none = |error: io::Error| {
            let reason = reason(&error);
            let message = format!(
                "browse needs a terminal ({reason}); `statwalk PATH` prints the largest directories"
            );
            Failure::Usage(message)
        };
        if crate::output::screen::is_dumb() {
            let message = "browse needs a terminal that places text, and TERM is dumb; \
                           `statwalk PATH` prints the largest directories";
            return Err(Failure::Usage(message.to_owned()));
        }
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let tty = tty.map_err(none)?;
        terminal::size().map_err(none)?;
        let continued = Arc::new(AtomicBool::new(false));
        let is_to_stop = Arc::new(AtomicBool::new(false));
        // Without these the program still stops, with the modes of the browser.
        let _ = flag::register(SIGCONT, Arc::clone(&continued));
        let _ = flag::register(SIGTSTP, Arc::clone(&is_to_stop));
        enter().map_err(none)?;
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 << 10, tty));
        let terminal = Terminal::new(backend)
            .inspect_err(|_| restore())
            .map_err(none)?;
        Ok(Tty {
            terminal,
            opened: Instant::now(),
            continued,
            is_to_stop,
        })
    }
}

impl Screen for Tty {
    fn size(&self) -> (u16, u16) {
        terminal::size().unwrap_or((80, 24))
    }

    fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    fn draw(
        &mut self,
        draw: &mut dyn FnMut(&mut Buffer) -> Option<Position>,
    ) -> Result<(), Failure> {
        let drawn = self.terminal.draw(|frame| {
            if let Some(place) = draw(frame.buffer_mut()) {
                frame.set_cursor_position(place);
            }
        });
        drawn.map(drop).map_err(Failure::Output)
    }

    fn has_input(&mut self, wait: Duration) -> Result<bool, Failure> {
        if self.is_to_stop.swap(false, Ordering::Relaxed) {
            self.suspend();
        }
        event::poll(wait).map_err(Failure::Output)
    }

    fn input(&mut self, wait: Duration) -> Result<Option<Input>, Failure> {
        if !self.has_input(wait)? {
            return Ok(None);
        }
        let event = event::read().map_err(Failure::Output)?;
        Ok(Some(input_of(event)))
    }

    fn was_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    fn leave(&mut self) {
        restore();
    }

    fn resume(&mut self) {
        // A terminal that is gone is noticed at the next frame.
        let _ = enter();
        let _ = self.terminal.clear();
    }

    fn suspend(&mut self) {
        restore();
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
        let mut tty = OpenOptions::new().write(true).open("/dev/tty")?;
        // The path is in base 64, so nothing of it acts on the terminal.
        write!(tty, "\x1b]52;c;{}\x07", BASE64.encode(path))?;
        tty.flush()
    }

    fn close(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    terminal::enable_raw_mode()?;
    let mut tty = OpenOptions::new().write(true).open("/dev/tty")?;
    execute!(tty, EnterAlternateScreen, EnableMouseCapture, cursor::Hide)
}

/// Takes all modes back. It can be called twice.
fn restore() {
    if let Ok(mut tty) = OpenOptions::new().write(true).open("/dev/tty") {
        let _ = execute!(tty, DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
    }
    let _ = terminal::disable_raw_mode();
}

fn input_of(event: event::Event) -> Input {
    match event {
        event::Event::Key(key) if key.kind != KeyEventKind::Release => {
            key_of(key.code, key.modifiers).map_or(Input::Nothing, Input::Key)
        }
        event::Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                Input::Mouse(Mouse::Press(mouse.column, mouse.row))
            }
            MouseEventKind::ScrollUp => Input::Mouse(Mouse::WheelUp),
            MouseEventKind::ScrollDown => Input::Mouse(Mouse::WheelDown),
            _ => Input::Nothing,
        },
        event::Event::Resize(width, height) => Input::Size(width, height),
        _ => Input::Nothing,
    }
}

fn key_of(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    if modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(c.to_ascii_lowercase())
        }
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::F(number) => Key::F(number),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Esc => Key::Esc,
        _ => return None,
    })
}
