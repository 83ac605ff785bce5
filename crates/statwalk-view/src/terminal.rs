// SPDX-License-Identifier: MIT OR Apache-2.0

//! The properties of the terminal that the program writes to.

use crate::{Charset, Colour};

/// The properties of the terminal that the program writes to.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Charset, Terminal};
///
/// let serial_line = Terminal { charset: Charset::Ascii, ..Terminal::default() };
/// assert_eq!(serial_line.width, 80);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// The columns of a line; no line gets wider.
    pub width: usize,
    /// The characters that can be shown.
    pub charset: Charset,
    /// Whether escape codes of colours are wanted.
    pub colour: Colour,
}

impl Default for Terminal {
    /// Returns 80 columns of Unicode without colour.
    fn default() -> Terminal {
        Terminal {
            width: 80,
            charset: Charset::Unicode,
            colour: Colour::Off,
        }
    }
}
