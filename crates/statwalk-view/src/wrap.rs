// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sentences broken into lines.

use crate::line::fit;
use crate::{Terminal, text_width};

/// A space at which no line is broken, as between a number and its unit.
pub(crate) const GLUE: char = '\u{a0}';

/// Returns `text` with its spaces turned into [`GLUE`].
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Returns `sentence` in lines of at most the terminal's width, broken at spaces.
///
/// Each no-break space becomes a space. A word wider than a line is cut. The sentence must
/// be safe on a terminal: names in it go through [`escape`](crate::escape()) before.
///
/// ```
/// use statwalk_view::{Terminal, wrap};
///
/// let terminal = Terminal { width: 10, ..Terminal::default() };
/// assert_eq!(wrap("one sentence here", terminal), ["one", "sentence", "here"]);
/// ```
#[must_use]
pub fn wrap(sentence: &str, terminal: Terminal) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in sentence.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && text_width(&line) + 1 + text_width(word) > terminal.width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.extend((!line.is_empty()).then_some(line));
    let spaced = lines.into_iter().map(|line| line.replace(GLUE, " "));
    spaced.map(|line| fit(line, terminal)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled() {
        fn check(sentence: &str, width: usize, expected: &[&str]) {
            let terminal = Terminal {
                width,
                ..Terminal::default()
            };
            assert_eq!(wrap(sentence, terminal), expected);
        }
        check("", 10, &[]);
        check("one two three", 13, &["one two three"]);
        check("one two three", 12, &["one two", "three"]);
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 6, &["one", "two", "three"]);
        check("one  two", 9, &["one two"]);
        check("in 6.3\u{a0}s. Done", 6, &["in", "6.3 s.", "Done"]);
        check("unbreakable", 6, &["unbre…"]);
        check("a b", 0, &["", ""]);
    }
}
