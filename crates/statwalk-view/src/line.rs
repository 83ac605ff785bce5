// SPDX-License-Identifier: MIT OR Apache-2.0

//! One line of output, made of plain and styled pieces.

use std::borrow::Cow;

use crate::{Colour, Style, Terminal, text_width, truncate_end};

/// A line that is being put together.
///
/// Its width is known before any escape code is in it, so that a line that is
/// too wide can be cut without cutting a code.
#[derive(Debug, Default)]
pub(crate) struct Line<'a> {
    pieces: Vec<(Option<Style>, Cow<'a, str>)>,
    width: usize,
}

impl<'a> Line<'a> {
    pub(crate) fn push(&mut self, text: impl Into<Cow<'a, str>>) {
        self.push_as(None, text);
    }

    pub(crate) fn push_as(
        &mut self,
        style: impl Into<Option<Style>>,
        text: impl Into<Cow<'a, str>>,
    ) {
        let text = text.into();
        self.width += text_width(&text);
        self.pieces.push((style.into(), text));
    }

    pub(crate) fn pad(&mut self, columns: usize) {
        self.push(" ".repeat(columns));
    }

    /// Returns the line without blanks at its end, not wider than `terminal`.
    ///
    /// A line that has to be cut loses its colour: there is hardly room for
    /// anything then.
    pub(crate) fn finish(self, terminal: Terminal) -> String {
        let colour = if self.width <= terminal.width {
            terminal.colour
        } else {
            Colour::Off
        };
        let mut text = String::new();
        let is_blank = |piece: &str| piece.trim_end_matches(' ').is_empty();
        let blank = self
            .pieces
            .iter()
            .rev()
            .take_while(|piece| is_blank(&piece.1));
        let count = self.pieces.len() - blank.count();
        for (index, (style, piece)) in self.pieces[..count].iter().enumerate() {
            let piece = if index + 1 == count {
                piece.trim_end_matches(' ')
            } else {
                piece
            };
            match style {
                Some(style) => colour.paint(*style, piece, &mut text),
                None => text.push_str(piece),
            }
        }
        match colour {
            Colour::On => text,
            Colour::Off => fit(text, terminal),
        }
    }
}

/// Returns plain `text`, cut at its end if it is wider than `terminal`.
pub(crate) fn fit(text: String, terminal: Terminal) -> String {
    match truncate_end(&text, terminal.width, terminal.charset) {
        Cow::Borrowed(_) => text,
        Cow::Owned(cut) => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, colour: Colour, expected: &str) {
        let mut line = Line::default();
        line.push("10 % ");
        line.push_as(Style::Bar, "██");
        line.pad(2);
        line.push_as(Style::Directory, "home/");
        line.pad(3);
        assert_eq!(line.width, 17);
        let terminal = Terminal {
            width,
            colour,
            ..Terminal::default()
        };
        assert_eq!(line.finish(terminal), expected);
    }

    #[test]
    fn no_blanks_stand_at_the_end() {
        let mut line = Line::default();
        line.push_as(Style::Header, "DISK ");
        line.push_as(Style::Bar, "  ");
        line.push("");
        let terminal = Terminal {
            colour: Colour::On,
            ..Terminal::default()
        };
        assert_eq!(line.finish(terminal), "\x1b[1mDISK\x1b[0m");
        assert_eq!(Line::default().finish(terminal), "");
    }

    #[test]
    fn lines() {
        check(17, Colour::Off, "10 % ██  home/");
        check(14, Colour::Off, "10 % ██  home/");
        check(13, Colour::Off, "10 % ██  hom…");
        check(
            17,
            Colour::On,
            "10 % \x1b[36m██\x1b[0m  \x1b[1mhome/\x1b[0m",
        );
        check(13, Colour::On, "10 % ██  hom…");
        check(0, Colour::On, "");
    }
}
