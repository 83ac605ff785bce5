// SPDX-License-Identifier: MIT OR Apache-2.0

//! Cuts documents into sentences: Markdown, and the documentation comments of Rust.
//!
//! Code blocks, pictures and addresses are no prose. Words in backquotes count as
//! one word. A heading, a list item and a cell of a table each end a sentence.

/// A sentence and the line in which its paragraph begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Sentence {
    /// Its words; a hyphen joins two words to one.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split_whitespace();
        words.filter(|word| word.contains(|c: char| c.is_alphanumeric() || c == CODE))
    }
}

/// Stands for words in backquotes.
pub(super) const CODE: char = '\u{fffc}';

/// The sentences of a Markdown document.
pub(super) fn of_markdown(text: &str) -> Vec<Sentence> {
    let lines = text.lines().enumerate();
    sentences(lines.map(|(index, line)| (index + 1, line)))
}

/// The sentences of the documentation comments of a Rust source.
pub(super) fn of_rust(text: &str) -> Vec<Sentence> {
    // Other lines are blank lines to the document: they end a paragraph.
    let lines = text.lines().enumerate().map(|(index, line)| {
        let comment = line.trim_start();
        let documentation = comment
            .strip_prefix("//!")
            .or_else(|| comment.strip_prefix("///"));
        let prose = documentation.filter(|rest| !rest.starts_with('/'));
        let prose = prose.unwrap_or_default();
        (index + 1, prose.strip_prefix(' ').unwrap_or(prose))
    });
    sentences(lines)
}

fn sentences<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut paragraph = Paragraph::default();
    let mut fence = None;
    let mut is_after_blank = true;
    for (number, line) in lines {
        let plain = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|m| plain.starts_with(m));
        if fence.is_some() || mark.is_some() {
            paragraph.end(&mut found);
            match fence {
                None => fence = mark,
                Some(_) if fence == mark => fence = None,
                Some(_) => {}
            }
            continue;
        }
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let is_code = is_indented && is_after_blank;
        is_after_blank = plain.is_empty() || is_code;
        let is_link_target = plain.starts_with('[') && plain.contains("]: ");
        if plain.is_empty() || is_code || is_link_target || plain.starts_with("<!--") {
            paragraph.end(&mut found);
            continue;
        }
        let plain = plain.trim_start_matches("> ");
        if let Some(row) = plain.strip_prefix('|') {
            paragraph.end(&mut found);
            for cell in without_code(row).split('|') {
                paragraph.add(number, cell);
                paragraph.end(&mut found);
            }
            continue;
        }
        let item = item(plain);
        let is_heading = plain.starts_with('#');
        if item.is_some() || is_heading {
            paragraph.end(&mut found);
        }
        paragraph.add(number, item.unwrap_or(plain.trim_start_matches('#')));
        if is_heading {
            paragraph.end(&mut found);
        }
    }
    paragraph.end(&mut found);
    found
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let marked = ["- ", "* ", "+ "].into_iter();
    let bullet = marked.filter_map(|mark| line.strip_prefix(mark)).next();
    bullet.or_else(|| {
        let (number, text) = line.split_once(". ")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(text)
    })
}

/// Lines that belong together.
#[derive(Default)]
struct Paragraph {
    line: usize,
    text: String,
}

impl Paragraph {
    fn add(&mut self, line: usize, text: &str) {
        if self.text.is_empty() {
            self.line = line;
        }
        self.text.push_str(text);
        self.text.push(' ');
    }

    fn end(&mut self, found: &mut Vec<Sentence>) {
        let text = without_links(&without_code(&self.text)).replace("**", "");
        self.text.clear();
        let line = self.line;
        let mut rest = text.as_str();
        while let Some(end) = sentence_end(rest) {
            push(found, line, &rest[..end]);
            rest = &rest[end..];
        }
        push(found, line, rest);
    }
}

fn push(found: &mut Vec<Sentence>, line: usize, text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.is_empty() {
        found.push(Sentence { line, text });
    }
}

/// The end of the first sentence: behind its mark, if another sentence may follow.
fn sentence_end(text: &str) -> Option<usize> {
    text.char_indices().find_map(|(at, mark)| {
        if !".!?".contains(mark) {
            return None;
        }
        let rest = &text[at + 1..];
        let after = rest.trim_start_matches([')', '"', '*', '_']);
        let next = after.trim_start();
        let begins = next.chars().next().is_some_and(|c| {
            c.is_uppercase() || c.is_ascii_digit() || c == CODE || "(\"*_[".contains(c)
        });
        let is_word_end = after.starts_with(char::is_whitespace) && begins;
        // A product's name may begin a sentence in lower case.
        let is_own_name = after.starts_with(char::is_whitespace) && next.starts_with("statwalk");
        (is_word_end || is_own_name).then_some(text.len() - after.len())
    })
}

/// Puts a single sign where words stand in backquotes.
fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find('`') {
        let (before, quoted) = rest.split_at(begin);
        let ticks = quoted.len() - quoted.trim_start_matches('`').len();
        let body = &quoted[ticks..];
        let Some(end) = body.find(&quoted[..ticks]) else {
            break;
        };
        plain.push_str(before);
        plain.push(CODE);
        rest = &body[end + ticks..];
    }
    plain.push_str(rest);
    plain
}

/// Keeps the text of links, and nothing of pictures.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let Some(begin) = rest[..middle].rfind('[') else {
            break;
        };
        let Some(end) = rest[middle..].find(')') else {
            break;
        };
        let (before, shown) = (&rest[..begin], &rest[begin + 1..middle]);
        match before.strip_suffix('!') {
            Some(before) => plain.push_str(before),
            None => {
                plain.push_str(before);
                plain.push_str(shown);
            }
        }
        rest = &rest[middle + end + 1..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(sentences: &[Sentence]) -> Vec<(usize, String)> {
        let shown = |sentence: &Sentence| (sentence.line, sentence.text.replace(CODE, "X"));
        sentences.iter().map(shown).collect()
    }

    #[track_caller]
    fn check(markdown: &str, expected: &[(usize, &str)]) {
        let expected: Vec<_> = expected.iter().map(|&(n, t)| (n, t.to_owned())).collect();
        assert_eq!(texts(&of_markdown(markdown)), expected);
    }

    #[test]
    fn paragraphs_headings_and_items_are_apart() {
        check(
            "# One\nTwo goes\non. Three? 4 follows (see X). `five` is code.\n\n- Six\n  goes on\n- Seven\n1. Eight\n",
            &[
                (1, "One"),
                (2, "Two goes on."),
                (2, "Three?"),
                (2, "4 follows (see X)."),
                (2, "X is code."),
                (5, "Six goes on"),
                (7, "Seven"),
                (8, "Eight"),
            ],
        );
    }

    #[test]
    fn points_within_a_sentence_do_not_end_it() {
        check(
            "Linux 6.18 or `a. B` and du.rs. lower case\n",
            &[(1, "Linux 6.18 or X and du.rs. lower case")],
        );
    }

    #[test]
    fn code_is_left_out() {
        check(
            "Before:\n\n```\nA. B. C.\n```\n\n    indented code\n\nAfter ``x`y`` it.\n",
            &[(1, "Before:"), (9, "After X it.")],
        );
        check("~~~\n```\nA. B\n~~~\nC\n", &[(5, "C")]);
    }

    #[test]
    fn cells_of_tables_are_apart() {
        check(
            "| a b | `c|d` |\n|---|---|\n| e. F | g |\n",
            &[
                (1, "a b"),
                (1, "X"),
                (2, "---"),
                (2, "---"),
                (3, "e."),
                (3, "F"),
                (3, "g"),
            ],
        );
    }

    #[test]
    fn links_show_their_text() {
        check(
            "See [the page](https://example.org/a.B) and ![a picture. It](p.svg).\n\n[x]: https://example.org\n",
            &[(1, "See the page and .")],
        );
    }

    #[test]
    fn only_documentation_of_rust_is_read() {
        let source = "//! A file\n//! of two lines.\n\n/// Of `x`.\nfn x() {} // Code.\n    /// An item.\n//// No.\n";
        let expected = [(1, "A file of two lines."), (4, "Of X."), (6, "An item.")];
        assert_eq!(
            texts(&of_rust(source)),
            expected.map(|(n, t)| (n, t.to_owned()))
        );
    }

    #[test]
    fn words_have_letters_or_digits() {
        let sentence = &of_markdown("One – `two three` + 4 re-read.\n")[0];
        assert_eq!(sentence.words().count(), 4);
    }
}
