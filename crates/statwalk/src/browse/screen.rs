// SPDX-License-Identifier: MIT OR Apache-2.0

//! The screen, as the shell of the browser uses it.
//!
//! The terminal is one ([`Tty`](super::terminal::Tty)). Tests have another, without a
//! terminal, whose keys and frames they know.

use std::io;
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use statwalk_browse::{Cursor, Key, Mouse};

use crate::failure::Failure;

/// Something from the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    Mouse(Mouse),
    /// A text that came as one, with all that it held.
    Paste(String),
    Size(u16, u16),
}

/// A screen with a keyboard.
pub(crate) trait Screen {
    /// The width and the height.
    fn size(&self) -> (u16, u16);

    /// The time since it was opened.
    fn now(&self) -> Duration;

    /// Draws a frame. `draw` answers with the place of the cursor, if there is one: there it
    /// is afterwards, shown or hidden.
    fn draw(&mut self, draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>) -> Result<(), Failure>;

    /// Whether there is input, or comes within a time.
    fn has_input(&mut self, wait: Duration) -> Result<bool, Failure>;

    /// The next input, if it comes within a time.
    fn input(&mut self, wait: Duration) -> Result<Option<Input>, Failure>;

    /// Draws a frame with a question, and forgets all keys that were pressed before it is
    /// there, read or not.
    fn draw_question(
        &mut self,
        draw: &mut dyn FnMut(&mut Buffer) -> Option<Cursor>,
    ) -> Result<(), Failure>;

    /// Whether the program came back from the background since the last call.
    fn was_continued(&self) -> bool;

    /// Gives it to another program for a time.
    fn leave(&mut self);

    /// Takes it again, and forgets what was on it.
    fn resume(&mut self);

    /// Puts the program into the background, as Ctrl-Z does.
    fn suspend(&mut self);

    /// Puts a path into the clipboard.
    fn copy(&mut self, path: &[u8]) -> io::Result<()>;

    /// Gives the screen back.
    fn close(&mut self);
}
