// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns that text takes on a terminal, and text cut to fit them.
//!
//! Text here has been through [`escape()`](crate::escape()). An escape such as
//! `\u{202e}` is cut as a whole or not at all, and so is a letter with the
//! marks that combine with it.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Charset;

/// Returns the number of columns that `text` takes on a terminal.
#[must_use]
pub fn text_width(text: &str) -> usize {
    text.width()
}

/// Returns `text` cut in the middle to at most `columns` columns.
///
/// The ends of a name say most: its subject and its type. A cut text has an ellipsis
/// in place of the missing part.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Charset, truncate_to_width};
///
/// let cut = |text, columns| truncate_to_width(text, columns, Charset::Unicode);
/// assert_eq!(cut("climate-2019.nc", 15), "climate-2019.nc");
/// assert_eq!(cut("climate-2019.nc", 10), "clima…9.nc");
/// assert_eq!(cut(r"a\u{202e}z", 9), "a…z");
/// ```
#[must_use]
pub fn truncate_to_width(text: &str, columns: usize, charset: Charset) -> Cow<'_, str> {
    cut(text, columns, charset, |room| room.div_ceil(2))
}

/// Returns `text` cut at its end to at most `columns` columns.
///
/// For text that changes often, such as the path in the progress line: its
/// beginning stays where it is.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Charset, truncate_end};
///
/// assert_eq!(truncate_end("/data/projects/climate", 11, Charset::Unicode), "/data/proj…");
/// ```
#[must_use]
pub fn truncate_end(text: &str, columns: usize, charset: Charset) -> Cow<'_, str> {
    cut(text, columns, charset, |room| room)
}

/// Cuts `text`; `head_room` says how much of the room belongs to the beginning.
fn cut(
    text: &str,
    columns: usize,
    charset: Charset,
    head_room: impl Fn(usize) -> usize,
) -> Cow<'_, str> {
    if text_width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let ellipsis = charset.ellipsis();
    let Some(room) = columns.checked_sub(text_width(ellipsis)) else {
        return Cow::Owned(".".repeat(columns));
    };
    let units = units(text);
    let fit = |units: &mut dyn Iterator<Item = &&str>, room: usize| {
        let mut used = 0;
        units
            .take_while(|unit| {
                used += text_width(unit);
                used <= room
            })
            .count()
    };
    let mut head = fit(&mut units.iter(), head_room(room));
    let head_width: usize = units[..head].iter().map(|unit| text_width(unit)).sum();
    let tail = fit(
        &mut units[head..].iter().rev(),
        if head_room(room) == room {
            0
        } else {
            room - head_width
        },
    );

    // The width of a text is not always the sum of its parts; cut on while
    // what was joined is wider than what was measured.
    let mut first_of_tail = units.len() - tail;
    loop {
        let (before, after) = (&units[..head], &units[first_of_tail..]);
        let short = [&before.concat(), ellipsis, &after.concat()].concat();
        if text_width(&short) <= columns {
            return Cow::Owned(short);
        }
        if after.is_empty() {
            head -= 1;
        } else {
            first_of_tail += 1;
        }
    }
}

/// Returns the parts of `text` that are never split.
fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (unit, after) = rest.split_at(unit_len(rest));
        units.push(unit);
        rest = after;
    }
    units
}

/// Returns the length in bytes of the first part of `text`, which is not empty.
fn unit_len(text: &str) -> usize {
    let mut len = escape_len(text)
        .or_else(|| text.chars().next().map(char::len_utf8))
        .unwrap_or(text.len());
    for c in text[len..].chars() {
        let longer = len + c.len_utf8();
        // What adds no width combines with what stands before it, as an
        // accent does, or the modifier of an emoji.
        let joins = c.width() == Some(0) || text[..longer].width() <= text[..len].width();
        if !joins {
            break;
        }
        len = longer;
    }
    len
}

/// Returns the length of the escape at the beginning of `text`.
fn escape_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'\\') {
        return None;
    }
    let len = match bytes.get(1)? {
        b'\\' | b'n' | b'r' | b't' => 2,
        b'x' => 4,
        b'u' => text.find('}')? + 1,
        _ => return None,
    };
    text.is_char_boundary(len).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape;
    use crate::escape::tests::hostile_name;
    use proptest::prelude::*;

    #[test]
    fn the_middle_is_cut() {
        fn check(text: &str, columns: usize, expected: &str) {
            assert_eq!(truncate_to_width(text, columns, Charset::Unicode), expected);
        }
        check("", 0, "");
        check("abc", 3, "abc");
        check("abcd", 3, "a…d");
        check("abcde", 4, "ab…e");
        check("abc", 1, "…");
        check("abc", 0, "");
        // A wide character that does not fit leaves its room to the end.
        check("日本語日本語", 6, "日…語");
        check("日本語abcdef", 6, "日…def");
        // Escapes stay whole.
        check(r"abc\x1bdef", 9, r"abc…def");
        check(r"abc\x1bdef", 10, r"abc\x1bdef");
        check(r"\u{202e}abcdefghij", 12, "…abcdefghij");
        check(r"\\\\\\", 5, r"\\…\\");
        // So do letters with marks.
        check("e\u{301}e\u{301}e\u{301}e\u{301}", 3, "e\u{301}…e\u{301}");
    }

    #[test]
    fn the_end_is_cut() {
        fn check(text: &str, columns: usize, unicode: &str, ascii: &str) {
            assert_eq!(truncate_end(text, columns, Charset::Unicode), unicode);
            assert_eq!(truncate_end(text, columns, Charset::Ascii), ascii);
        }
        check("abcdef", 6, "abcdef", "abcdef");
        check("abcdef", 5, "abcd…", "ab...");
        check("abcdef", 3, "ab…", "...");
        check("abcdef", 2, "a…", "..");
        check("abcdef", 0, "", "");
        check(r"ab\nd", 4, "ab…", "a...");
    }

    #[test]
    fn a_text_can_be_wider_than_its_parts() {
        // A variation selector that is itself varied: unicode-width counts the
        // quotation mark as wide only in the company of what follows. Names do
        // not have them, because `escape` shows them.
        let odd = "‘\u{fe0f}\u{fe01}ا";
        let sum: usize = units(odd).into_iter().map(text_width).sum();
        assert_eq!((sum, text_width(odd)), (2, 3));
        let in_tail = format!("ᄀل{odd}");
        assert_eq!(truncate_to_width(&in_tail, 5, Charset::Unicode), "ᄀ…ا");
        let in_head = format!("{odd}❤🇦");
        assert_eq!(
            truncate_end(&in_head, 3, Charset::Unicode),
            "‘\u{fe0f}\u{fe01}…"
        );
    }

    #[test]
    fn units_are_escapes_and_letters_with_their_marks() {
        fn check(text: &str, expected: &[&str]) {
            assert_eq!(units(text), expected);
        }
        check(
            r"a\\\x1b\u{202e}\n",
            &["a", r"\\", r"\x1b", r"\u{202e}", r"\n"],
        );
        check("e\u{301}x", &["e\u{301}", "x"]);
        check("👍🏽!", &["👍🏽", "!"]);
        // Not of `escape`, but no reason to panic.
        check(r"\", &[r"\"]);
        check(r"\u{12", &[r"\", "u", "{", "1", "2"]);
        check("\\x日", &["\\", "x", "日"]);
    }

    proptest! {
        #[test]
        fn the_width_is_kept(name in hostile_name(), text in any::<String>(), columns in 0usize..60) {
            for charset in [Charset::Unicode, Charset::Ascii] {
                for text in [&*escape(&name, charset), &text] {
                    for cut in [truncate_to_width(text, columns, charset), truncate_end(text, columns, charset)] {
                        prop_assert!(text_width(&cut) <= columns, "{cut:?}");
                        prop_assert_eq!(cut == text, text_width(text) <= columns);
                    }
                }
            }
        }

        #[test]
        fn no_escape_is_split(name in hostile_name(), columns in 0usize..60) {
            let text = escape(&name, Charset::Unicode);
            let cut = truncate_to_width(&text, columns, Charset::Unicode);
            let whole = units(&text);
            for part in units(&cut).into_iter().filter(|&part| part != "…") {
                prop_assert!(whole.contains(&part), "{part:?} of {text:?}");
            }
        }
    }
}
