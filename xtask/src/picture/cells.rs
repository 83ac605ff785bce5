// SPDX-License-Identifier: MIT OR Apache-2.0

//! A screen as SVG: text with escape codes in, shapes out.
//!
//! Bars are drawn as rectangles: a font of the reader can lack their characters. The
//! colours follow the scheme of the page.

use std::fmt::Write as _;

/// The width of a character and the height of a line.
pub(crate) const CELL: (f64, f64) = (8.4, 17.0);
pub(crate) const MARGIN: f64 = 14.0;

/// The styles of the classes below, without the element around them.
pub(crate) const STYLE: &str = "\
text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; \
fill: #1f2328; white-space: pre; }\
.page { fill: #f6f8fa; } .bold { font-weight: bold; } .dim { fill: #6e7781; }\
.warning { fill: #cf222e; } .mark { fill: #bf3989; } .bar { fill: #1b7c83; } .back { fill: #1f2328; }\
.inverse { fill: #f6f8fa; } .underlined { text-decoration: underline; }\
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .page { fill: #161b22; }\
.dim { fill: #8b949e; } .warning { fill: #ff7b72; } .mark { fill: #f778ba; } .bar { fill: #39c5cf; }\
.back { fill: #e6edf3; } .inverse { fill: #161b22; } }";

/// How a piece of text looks: SGR codes, as far as statwalk writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
    is_inverse: bool,
    colour: Option<Colour>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Red,
    Magenta,
    /// Of earlier programs.
    Yellow,
    Cyan,
}

impl Look {
    /// Takes the numbers of one code: `1;36`.
    fn take(&mut self, numbers: &str) {
        let mut numbers = numbers.split(';');
        while let Some(number) = numbers.next() {
            match number {
                // `38;5;N` is a colour of the palette; tmux writes the first eight so, too.
                "38" if numbers.next() == Some("5") => {
                    self.colour = match numbers.next() {
                        Some("1") => Some(Colour::Red),
                        Some("5") => Some(Colour::Magenta),
                        Some("3") => Some(Colour::Yellow),
                        Some("6") => Some(Colour::Cyan),
                        _ => None,
                    };
                }
                "" | "0" => *self = Look::default(),
                "1" => self.is_bold = true,
                "2" => self.is_dim = true,
                "4" => self.is_underlined = true,
                "24" => self.is_underlined = false,
                "7" => self.is_inverse = true,
                "22" => (self.is_bold, self.is_dim) = (false, false),
                "27" => self.is_inverse = false,
                "31" => self.colour = Some(Colour::Red),
                "35" => self.colour = Some(Colour::Magenta),
                "33" => self.colour = Some(Colour::Yellow),
                "36" => self.colour = Some(Colour::Cyan),
                "39" => self.colour = None,
                _ => {}
            }
        }
    }

    fn class(self) -> String {
        let mut names = Vec::new();
        if self.is_bold {
            names.push("bold");
        }
        if self.is_underlined {
            names.push("underlined");
        }
        match (self.is_inverse, self.colour) {
            (true, _) => names.push("inverse"),
            (false, Some(Colour::Red)) => names.push("warning"),
            (false, Some(Colour::Magenta)) => names.push("mark"),
            (false, Some(Colour::Yellow)) => names.push("yellow"),
            (false, Some(Colour::Cyan)) => names.push("bar"),
            (false, None) if self.is_dim => names.push("dim"),
            (false, None) => {}
        }
        names.join(" ")
    }
}

/// A piece of a line in one look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    pub(crate) column: usize,
    pub(crate) look: Look,
    pub(crate) text: &'a str,
}

/// Divides a line at its escape codes, at wide gaps, and around bars.
pub(crate) fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut column, mut look) = (0, Look::default());
    for (index, part) in line.split('\x1b').enumerate() {
        let code = part.strip_prefix('[').and_then(|part| part.split_once('m'));
        let text = match code {
            Some((numbers, text)) if index > 0 => {
                look.take(numbers);
                text
            }
            _ => part,
        };
        add(text, look, &mut column, &mut pieces);
    }
    pieces
}

fn add<'a>(mut rest: &'a str, look: Look, column: &mut usize, pieces: &mut Vec<Piece<'a>>) {
    while !rest.is_empty() {
        // Blanks have no ink, and a browser would fold them.
        let blank = rest.len() - rest.trim_start_matches(' ').len();
        if blank > 0 && !look.is_inverse {
            *column += blank;
            rest = &rest[blank..];
            continue;
        }
        let is_bar = |text: &str| text.starts_with(|c| filled(c) > 0.0);
        let begins_as_bar = is_bar(rest);
        let mut ends = rest.char_indices().map(|(at, _)| at);
        let end = ends.find(|&at| {
            let next = &rest[at..];
            is_bar(next) != begins_as_bar || (next.starts_with("  ") && !look.is_inverse)
        });
        let (text, next) = rest.split_at(end.unwrap_or(rest.len()));
        let shown = if look.is_inverse {
            text
        } else {
            text.trim_end_matches(' ')
        };
        pieces.push(Piece {
            column: *column,
            look,
            text: shown,
        });
        *column += text.chars().count();
        rest = next;
    }
}

/// Draws a piece of a line whose upper edge is at `top`.
pub(crate) fn draw(piece: &Piece<'_>, top: f64, out: &mut String) {
    let x = MARGIN + piece.column as f64 * CELL.0;
    let length = piece.text.chars().count() as f64 * CELL.0;
    // Writing into a string cannot fail.
    if piece.look.is_inverse {
        let height = CELL.1;
        let _ = writeln!(
            out,
            "<rect class=\"back\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{length:.1}\" \
             height=\"{height:.1}\" shape-rendering=\"crispEdges\"/>"
        );
    }
    if piece.text.starts_with(|c| filled(c) > 0.0) {
        let columns: f64 = piece.text.chars().map(filled).sum();
        let (width, height) = (columns * CELL.0, CELL.1 - 4.0);
        let y = top + 2.0;
        let class = match piece.look.is_inverse {
            true => "inverse",
            false => "bar",
        };
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
        return;
    }
    if piece.text.trim().is_empty() {
        return;
    }
    let (y, class) = (top + 13.0, piece.look.class());
    let class = match class.is_empty() {
        true => String::new(),
        false => format!(" class=\"{class}\""),
    };
    let text = piece.text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\">{text}</text>"
    );
}

/// How much of its column a character of a bar fills.
fn filled(character: char) -> f64 {
    // U+2588 is a full block, and U+258F one eighth.
    match u32::from(character) {
        code @ 0x2588..=0x258F => f64::from(0x2590 - code) / 8.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> Vec<(usize, String, &str)> {
        let found = pieces(line);
        let found = found.iter();
        found
            .map(|piece| (piece.column, piece.look.class(), piece.text))
            .collect()
    }

    #[test]
    fn pieces_stand_where_the_terminal_shows_them() {
        let class = str::to_owned;
        assert_eq!(
            shown("  1 B \x1b[36m█▌\x1b[0m   \x1b[1ma b/\x1b[0m"),
            [
                (2, class(""), "1 B"),
                (6, class("bar"), "█▌"),
                (11, class("bold"), "a b/")
            ]
        );
        assert_eq!("█▌▏".chars().map(filled).sum::<f64>(), 1.625);
    }

    #[test]
    fn codes_add_up_until_they_are_taken_back() {
        let class = str::to_owned;
        assert_eq!(
            shown("\x1b[1m\x1b[38;5;6ma\x1b[39;49mb\x1b[22m c\x1b[7m d  e \x1b[27mf"),
            [
                (0, class("bold bar"), "a"),
                (1, class("bold"), "b"),
                (3, class(""), "c"),
                (4, class("inverse"), " d  e "),
                (10, class(""), "f"),
            ]
        );
    }

    #[test]
    fn names_are_text_and_no_markup() {
        let mut out = String::new();
        draw(&pieces("<b> & c")[0], 0.0, &mut out);
        assert!(out.contains(">&lt;b> &amp; c</text>"), "{out}");
    }
}
