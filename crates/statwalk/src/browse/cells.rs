// SPDX-License-Identifier: MIT OR Apache-2.0

//! The cells of the terminal, as ratatui draws them.
//!
//! The size is bounded. Two buffers have 40 bytes and more for each cell, and a terminal
//! can claim 65,535 columns and lines.
//!
//! ratatui-crossterm asks for the size and for the place of the cursor by itself. That can
//! start a program, and can read keys. So here neither is asked for.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_crossterm::CrosstermBackend;

use super::modes::{self, Writer};

/// The most columns that are drawn.
const WIDTH_MAX: u16 = 2_048;
/// The most cells: 1,024 columns and 512 lines.
const CELLS_MAX: u32 = 1 << 19;

/// The terminal for ratatui.
pub(super) struct Cells {
    inner: CrosstermBackend<Held>,
    is_held: Arc<AtomicBool>,
}

/// A buffer that can keep its bytes: crossterm flushes with each change of the cursor.
struct Held {
    buffer: BufWriter<Writer>,
    is_held: Arc<AtomicBool>,
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.is_held.load(Ordering::Relaxed) {
            true => Ok(()),
            false => self.buffer.flush(),
        }
    }
}

impl Cells {
    pub(super) fn new() -> Cells {
        let buffer = BufWriter::with_capacity(64 << 10, Writer);
        let is_held = Arc::new(AtomicBool::new(false));
        let held = Held {
            buffer,
            is_held: Arc::clone(&is_held),
        };
        Cells {
            inner: CrosstermBackend::new(held),
            is_held,
        }
    }

    /// Keeps frames that have room in the buffer, until the next flush.
    pub(super) fn hold(&mut self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }
}

/// The width and the height of the part that is drawn: the upper left one of a very large
/// terminal.
pub(super) fn drawn_size() -> (u16, u16) {
    bounded(modes::size().unwrap_or((80, 24)))
}

fn bounded((width, height): (u16, u16)) -> (u16, u16) {
    let width = width.clamp(1, WIDTH_MAX);
    let lines = u16::try_from(CELLS_MAX / u32::from(width)).unwrap_or(u16::MAX);
    (width, height.clamp(1, lines))
}

impl Backend for Cells {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.inner.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(drawn_size().into())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: drawn_size().into(),
            pixels: Size::ZERO,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.is_held.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Backend::flush(&mut self.inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_terminals_are_drawn_in_part() {
        assert_eq!(bounded((80, 24)), (80, 24));
        assert_eq!(bounded((1_024, 512)), (1_024, 512));
        assert_eq!(bounded((1_024, 513)), (1_024, 512));
        assert_eq!(bounded((0, 0)), (1, 1));
        for size in [(u16::MAX, u16::MAX), (1, u16::MAX), (u16::MAX, 1)] {
            let (width, height) = bounded(size);
            assert!(u32::from(width) * u32::from(height) <= CELLS_MAX);
            assert!(width <= size.0 && height <= size.1);
        }
    }
}
