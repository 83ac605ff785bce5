// SPDX-License-Identifier: MIT OR Apache-2.0

//! A buffer that takes safe text in a few styles.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use statwalk_view::{Charset, Colour, Terminal, escape, text_width, truncate_end, wrap};

/// The styles of the screen. The colours are those of the terminal. Yellow and blue are not
/// among them: many terminals have a yellow that is lost on white, and a blue on black.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    Bold,
    Dim,
    Bar,
    Marked,
    Alarm,
    /// A word that the user has to type.
    Word,
}

/// A buffer, with the abilities of the terminal.
pub(crate) struct Canvas<'b> {
    buffer: &'b mut Buffer,
    pub(crate) charset: Charset,
    colour: Colour,
}

impl<'b> Canvas<'b> {
    pub(crate) fn new(buffer: &'b mut Buffer, charset: Charset, colour: Colour) -> Canvas<'b> {
        buffer.reset();
        Canvas {
            buffer,
            charset,
            colour,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.buffer.area.width.into()
    }

    pub(crate) fn height(&self) -> usize {
        self.buffer.area.height.into()
    }

    fn style(&self, look: Look) -> Style {
        let coloured = |colour| match self.colour {
            Colour::On => Style::new().fg(colour),
            Colour::Off => Style::new(),
        };
        match look {
            Look::Plain => Style::new(),
            Look::Bold => Style::new().add_modifier(Modifier::BOLD),
            Look::Dim => Style::new().add_modifier(Modifier::DIM),
            Look::Bar => coloured(Color::Cyan),
            Look::Marked => coloured(Color::Magenta).add_modifier(Modifier::BOLD),
            Look::Alarm => coloured(Color::Red).add_modifier(Modifier::BOLD),
            Look::Word => Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        }
    }

    /// Writes text that holds no name, cut at the end of the line.
    pub(crate) fn plain(&mut self, x: usize, y: usize, text: &str) {
        self.text(x, y, self.width().saturating_sub(x), text, Look::Plain);
    }

    /// Writes text that is safe already, cut at a width.
    pub(crate) fn text(&mut self, x: usize, y: usize, width: usize, text: &str, look: Look) {
        let width = width.min(self.width().saturating_sub(x));
        if y >= self.height() || width == 0 {
            return;
        }
        let text = truncate_end(text, width, self.charset);
        let style = self.style(look);
        let (x, y) = (x as u16, y as u16);
        let (end, _) = self.buffer.set_stringn(x, y, text, width, style);
        self.claim_halves(x, end, y);
    }

    /// Makes sure that the next picture writes over the second cell of a flag.
    ///
    /// A wide sign goes as a whole when another one takes its first cell, so the buffer's
    /// differences leave out the second. But some terminals have the two letters of a flag as
    /// two signs, and the second stayed.
    fn claim_halves(&mut self, x: u16, end: u16, y: u16) {
        for x in x..end.saturating_sub(1) {
            let sign = self.buffer[(x, y)].symbol();
            let is_flag = sign.chars().count() > 1 && text_width(sign) > 1;
            if is_flag {
                // No picture shows this cell: it is the one behind a wide sign.
                self.buffer[(x + 1, y)].set_symbol("");
            }
        }
    }

    /// Writes text at the right end of a column.
    pub(crate) fn right(&mut self, x: usize, y: usize, width: usize, text: &str, look: Look) {
        let own = text_width(text).min(width);
        self.text(x + width - own, y, own, text, look);
    }

    /// The lines of a text in a column, without colours.
    pub(crate) fn wrap(&self, text: &str, width: usize) -> Vec<String> {
        let terminal = Terminal {
            width,
            charset: self.charset,
            colour: Colour::Off,
        };
        wrap(text, terminal)
    }

    /// A name, safe for the terminal.
    pub(crate) fn name(&self, name: &[u8]) -> String {
        escape(name, self.charset).into_owned()
    }

    /// A sentence of the shell, in which names are escaped already. Everything else that is
    /// unsafe is escaped here.
    pub(crate) fn sentence(&self, text: &str) -> String {
        let pieces = text.split('\\').map(|piece| self.name(piece.as_bytes()));
        pieces.collect::<Vec<_>>().join("\\")
    }

    /// Turns the colours of a line around.
    pub(crate) fn reverse(&mut self, y: usize) {
        if y < self.height() {
            let area = Rect::new(0, y as u16, self.buffer.area.width, 1);
            let style = Style::new().add_modifier(Modifier::REVERSED);
            self.buffer.set_style(area, style);
        }
    }

    /// An empty box with a frame and a title, for text above the rows. Answers with the
    /// place of its content and the content's width and height.
    pub(crate) fn frame(&mut self, title: &str, width: usize, height: usize) -> [usize; 4] {
        let (width, height) = (width.min(self.width()), height.min(self.height()));
        let (x, y) = ((self.width() - width) / 2, (self.height() - height) / 2);
        let signs = match self.charset {
            Charset::Unicode => ["┌", "─", "┐", "│", "└", "┘"],
            Charset::Ascii => ["+", "-", "+", "|", "+", "+"],
        };
        let [top_left, line, top_right, side, bottom_left, bottom_right] = signs;
        let inner = width.saturating_sub(2);
        let blank = " ".repeat(inner);
        for row in y..y + height {
            let text = match row {
                row if row == y => format!("{top_left}{}{top_right}", line.repeat(inner)),
                row if row + 1 == y + height => {
                    format!("{bottom_left}{}{bottom_right}", line.repeat(inner))
                }
                _ => format!("{side}{blank}{side}"),
            };
            let area = Rect::new(x as u16, row as u16, width as u16, 1);
            for place in area.positions() {
                self.buffer[place].reset();
            }
            self.text(x, row, width, &text, Look::Plain);
        }
        self.text(
            x + 2,
            y,
            inner.saturating_sub(2),
            &format!(" {title} "),
            Look::Bold,
        );
        [
            x + 2,
            y + 1,
            width.saturating_sub(4),
            height.saturating_sub(2),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marked rows were yellow, which xterm shows on white with a contrast of 1.7 to 1.
    #[test]
    fn no_colour_is_lost_on_white_or_on_black() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 1, 1));
        let canvas = Canvas::new(&mut buffer, Charset::Unicode, Colour::On);
        for look in [
            Look::Plain,
            Look::Bold,
            Look::Dim,
            Look::Bar,
            Look::Marked,
            Look::Alarm,
            Look::Word,
        ] {
            let Style { fg, bg, .. } = canvas.style(look);
            let is_legible = match fg {
                None | Some(Color::Red | Color::Magenta) => true,
                // A bar says nothing that the number beside it does not.
                Some(Color::Cyan) => look == Look::Bar,
                Some(_) => false,
            };
            assert!(is_legible && bg.is_none(), "{look:?}");
        }
    }

    #[test]
    fn nothing_stays_of_a_flag() {
        let picture = |text: &str| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
            Canvas::new(&mut buffer, Charset::Unicode, Colour::Off).plain(0, 0, text);
            buffer
        };
        let flag = "a\u{1f1e9}\u{1f1ea}x";
        for (before, after, expected) in [
            (flag, "", &[(0, " "), (1, " "), (2, " "), (3, " ")][..]),
            ("", flag, &[(0, "a"), (1, "\u{1f1e9}\u{1f1ea}"), (3, "x")]),
            (flag, "abcx", &[(1, "b"), (2, "c")]),
            (flag, flag, &[]),
        ] {
            let (old, new) = (picture(before), picture(after));
            let written = old.diff(&new).into_iter();
            let written: Vec<_> = written.map(|(x, _, cell)| (x, cell.symbol())).collect();
            assert_eq!(written, expected, "{before} {after}");
        }
    }
}
