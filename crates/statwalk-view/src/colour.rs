// SPDX-License-Identifier: MIT OR Apache-2.0

//! The escape codes of colours and weights, all of them.
//!
//! Colour never alone carries meaning: every style here stands beside a sign
//! or a word that says the same. The codes are of the 16-colour set, so that
//! the user's own scheme decides how they look.

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Off,
    /// Text with escape codes.
    On,
}

/// The role of a piece of text, as far as its looks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The head of a table.
    Header,
    /// The bar of a share.
    Bar,
    /// The name of a directory, which ends in a slash as well.
    Directory,
    /// The text in place of rows that are not shown; it begins with an ellipsis.
    Rest,
    /// A word of warning.
    Warning,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Header => "\x1b[1m",
            Style::Bar => "\x1b[36m",
            // Blue is dark on black, and yellow is pale on white.
            Style::Directory => "\x1b[1m",
            Style::Rest => "\x1b[2m",
            Style::Warning => "\x1b[31m",
        }
    }
}

const RESET: &str = "\x1b[0m";

impl Colour {
    /// Appends `text` to `out` in the looks of `style`.
    ///
    /// Blank text gets no codes. Measure and shorten text before it is painted.
    ///
    /// # Examples
    ///
    /// ```
    /// use statwalk_view::{Colour, Style};
    ///
    /// let mut out = String::new();
    /// Colour::On.paint(Style::Warning, "incomplete", &mut out);
    /// assert_eq!(out, "\x1b[31mincomplete\x1b[0m");
    ///
    /// out.clear();
    /// Colour::Off.paint(Style::Warning, "incomplete", &mut out);
    /// assert_eq!(out, "incomplete");
    /// ```
    pub fn paint(self, style: Style, text: &str, out: &mut String) {
        if self == Colour::Off || text.trim().is_empty() {
            out.push_str(text);
            return;
        }
        out.push_str(style.code());
        out.push_str(text);
        out.push_str(RESET);
    }
}

/// Returns `line` without the escape codes of [`Style`].
#[cfg(test)]
pub(crate) fn plain(line: &str) -> String {
    let mut text = line.replace(RESET, "");
    for style in [
        Style::Header,
        Style::Bar,
        Style::Directory,
        Style::Rest,
        Style::Warning,
    ] {
        text = text.replace(style.code(), "");
    }
    text
}
