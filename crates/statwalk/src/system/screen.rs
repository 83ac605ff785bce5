// SPDX-License-Identifier: MIT OR Apache-2.0

//! The terminal behind stdout or stderr: its size, its letters and its colours.
//!
//! statwalk reads the environment only where there is a terminal.

use std::env;
use std::io::IsTerminal;

use rustix::fd::BorrowedFd;
use rustix::fs::FileType;
use rustix::termios::isatty;
use statwalk_view::{Charset, Colour, Terminal};

use crate::flags::When;

/// A terminal that shows the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Its width, letters and colours.
    pub(crate) terminal: Terminal,
    /// Its height in lines.
    pub(crate) rows: usize,
    /// Whether the user set the width.
    has_fixed_width: bool,
    /// The terminal behind stderr, on which the errors come below the answer.
    pub(crate) errors: Option<ErrorScreen>,
}

/// A terminal that shows errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorScreen {
    /// Its width and letters.
    pub(crate) terminal: Terminal,
    /// Its height in lines.
    pub(crate) rows: usize,
}

const WIDTH_DEFAULT: usize = 80;
const ROWS_DEFAULT: usize = 24;

/// The terminal behind stdout, if there is one.
pub(crate) fn of_stdout(colour: When) -> Option<Screen> {
    let stdout = rustix::stdio::stdout();
    // The handle of std would allocate its buffer, for nothing.
    isatty(stdout).then(|| screen(stdout, colour).with_errors())
}

/// The screen for a table that the user asks for: the terminal behind stdout, or one of
/// the usual size.
pub(crate) fn table(colour: When, width: Option<u16>) -> Screen {
    let is_terminal = isatty(rustix::stdio::stdout());
    let colour = match colour {
        // A pager or a mail may show the codes as letters.
        When::Auto if !is_terminal => When::Never,
        colour => colour,
    };
    let mut screen = screen(rustix::stdio::stdout(), colour).with_errors();
    if let Some(width) = width {
        screen.terminal.width = width.into();
        screen.has_fixed_width = true;
    }
    screen
}

/// The terminal behind stderr, if there is one.
pub(crate) fn of_stderr() -> Option<ErrorScreen> {
    let stderr = rustix::stdio::stderr();
    isatty(stderr).then(|| {
        let Screen { terminal, rows, .. } = screen(stderr, When::Never);
        ErrorScreen { terminal, rows }
    })
}

pub(crate) fn stdout_is_terminal() -> bool {
    isatty(rustix::stdio::stdout())
}

pub(crate) fn stdout_is_file() -> bool {
    let stat = rustix::fs::fstat(rustix::stdio::stdout());
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// Whether a stream is a terminal that takes colours.
pub(crate) fn takes_colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && is_coloured(When::Auto)
}

/// Whether statwalk may draw on the terminal behind stderr. In the background it may
/// not.
pub(crate) fn is_ours() -> bool {
    let foreground = rustix::termios::tcgetpgrp(rustix::stdio::stderr());
    // A terminal that does not control us has no foreground group.
    let Ok(foreground) = foreground else {
        return true;
    };
    rustix::process::getpgid(None).map_or(true, |own| own == foreground)
}

/// The screen for stderr; the default one where stderr is a file or a pipe, which a
/// person reads later.
pub(crate) fn stderr_or_default() -> ErrorScreen {
    of_stderr().unwrap_or(ErrorScreen {
        terminal: Terminal {
            charset: charset(),
            ..Terminal::default()
        },
        rows: ROWS_DEFAULT,
    })
}

fn screen(fd: BorrowedFd<'_>, colour: When) -> Screen {
    let size = rustix::termios::tcgetwinsize(fd).ok();
    let (columns, rows) = size.map_or((0, 0), |size| (size.ws_col, size.ws_row));
    Screen {
        terminal: Terminal {
            width: size_of("COLUMNS", columns, WIDTH_DEFAULT),
            charset: charset(),
            colour: match is_coloured(colour) {
                true => Colour::On,
                false => Colour::Off,
            },
        },
        rows: size_of("LINES", rows, ROWS_DEFAULT),
        has_fixed_width: false,
        errors: None,
    }
}

/// The size from the environment, as for ls and watch(1), or else from the terminal. A
/// serial line gives 0.
fn size_of(variable: &str, of_terminal: u16, default: usize) -> usize {
    let variable = env::var(variable).ok();
    let wanted = variable.and_then(|value| value.parse::<u16>().ok());
    let known = wanted.into_iter().chain([of_terminal]);
    known
        .map(usize::from)
        .find(|&size| size > 0)
        .unwrap_or(default)
}

impl Screen {
    #[cfg(test)]
    pub(crate) fn of_size(width: usize, rows: usize) -> Screen {
        Screen {
            terminal: Terminal {
                width,
                ..Terminal::default()
            },
            rows,
            has_fixed_width: true,
            errors: None,
        }
    }

    fn with_errors(self) -> Screen {
        Screen {
            errors: of_stderr(),
            ..self
        }
    }

    /// The screen with the size that stdout has now: the user may have resized it since
    /// the scan began.
    pub(crate) fn with_present_size(self) -> Screen {
        let now = screen(rustix::stdio::stdout(), When::Never);
        Screen {
            terminal: Terminal {
                width: match self.has_fixed_width {
                    true => self.terminal.width,
                    false => now.terminal.width,
                },
                ..self.terminal
            },
            rows: now.rows,
            errors: of_stderr(),
            ..self
        }
    }
}

/// Whether the terminal knows no codes.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The colours for a screen of its own.
pub(crate) fn colour(when: When) -> Colour {
    match is_coloured(when) {
        true => Colour::On,
        false => Colour::Off,
    }
}

/// See <https://no-color.org>: any value but the empty one counts.
fn is_coloured(colour: When) -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    match colour {
        When::Always => true,
        When::Never => false,
        When::Auto => !is_set("NO_COLOR") && !is_dumb(),
    }
}

/// The letters of the locale. The first variable that is set decides, as in
/// setlocale(3).
pub(crate) fn charset() -> Charset {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env::var_os(name).filter(|value| !value.is_empty()));
    let locale = set.map(|value| value.to_string_lossy().to_ascii_lowercase());
    match locale {
        Some(locale) if locale.contains("utf-8") || locale.contains("utf8") => Charset::Unicode,
        _ => Charset::Ascii,
    }
}
