// SPDX-License-Identifier: MIT OR Apache-2.0

//! The place of the terminal's cursor: screen readers and braille displays read there.

use ratatui_core::layout::Position;

/// The place of the terminal's cursor after a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Its cell.
    pub place: Position,
    /// Whether the user types there, so that it is shown. Elsewhere the cursor is hidden,
    /// because the selected row or choice is marked already.
    pub is_text: bool,
}

impl Cursor {
    /// Where the user types.
    pub(crate) fn of_text(x: usize, y: usize) -> Cursor {
        Cursor {
            place: Position::new(x as u16, y as u16),
            is_text: true,
        }
    }

    /// On the selected row or choice, or at the beginning of a text.
    pub(crate) fn of_choice(x: usize, y: usize) -> Cursor {
        Cursor {
            is_text: false,
            ..Cursor::of_text(x, y)
        }
    }
}
