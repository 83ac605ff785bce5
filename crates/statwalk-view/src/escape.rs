// SPDX-License-Identifier: MIT OR Apache-2.0

//! The one way by which a name reaches a terminal.
//!
//! File names are chosen by anyone. They can hold codes that move the cursor, set the
//! title or answer as if typed. They can hold characters that turn the reading order
//! around, and characters that are not seen at all. Here each of them becomes visible,
//! and no two names look the same because of them.
//!
//! Classes of characters: the Unicode Character Database, version 17 (general
//! categories Cc, Cf, Zl and Zp in UnicodeData.txt, `Default_Ignorable_Code_Point`
//! in DerivedCoreProperties.txt, noncharacters in section 23.7 of the standard).

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::Charset;

/// Returns `name` so that a terminal shows all of it and obeys none of it.
///
/// The form is that of a Rust byte string where it applies:
///
/// | In the name | Shown as |
/// |---|---|
/// | newline, carriage return, tabulator | `\n`, `\r`, `\t` |
/// | other control characters below U+0020, and U+007F | `\x1b` |
/// | a byte that is not part of valid UTF-8 | `\xff` (always `\x80` or above) |
/// | controls U+0080 to U+009F, bidirectional and other format characters, line and paragraph separators, zero-width and other characters that are shown as nothing, tags, noncharacters | `\u{202e}` |
/// | a backslash | `\\` |
/// | anything else that is not ASCII, where the terminal is [`Charset::Ascii`] | `\u{e9}` |
///
/// The backslash is always doubled, so that the text can be turned back into
/// the same bytes, and two names never look alike on account of escapes. The
/// joiner U+200D and the variation selectors are escaped in emoji, too: they
/// are invisible, and terminals disagree about the width of what they join.
///
/// # Examples
///
/// ```
/// use statwalk_view::{Charset, escape};
///
/// assert_eq!(escape("Größe".as_bytes(), Charset::Unicode), "Größe");
/// assert_eq!(escape(b"a\x1b[2J\n\xff", Charset::Unicode), r"a\x1b[2J\n\xff");
/// assert_eq!(escape("x\u{202e}gpj.exe".as_bytes(), Charset::Unicode), r"x\u{202e}gpj.exe");
/// assert_eq!(escape(br"C:\x1b", Charset::Unicode), r"C:\\x1b");
/// ```
#[must_use]
pub fn escape(name: &[u8], charset: Charset) -> Cow<'_, str> {
    let plain = match std::str::from_utf8(name) {
        Ok(text) if text.chars().all(|c| is_plain(c, charset)) => return Cow::Borrowed(text),
        _ => name.utf8_chunks(),
    };
    let mut text = String::with_capacity(name.len() + 16);
    for chunk in plain {
        for c in chunk.valid().chars() {
            if is_plain(c, charset) {
                text.push(c);
            } else {
                push_escaped(c, &mut text);
            }
        }
        for byte in chunk.invalid() {
            push_hex(*byte, &mut text);
        }
    }
    Cow::Owned(text)
}

fn push_escaped(c: char, text: &mut String) {
    match c {
        '\\' => text.push_str(r"\\"),
        '\n' => text.push_str(r"\n"),
        '\r' => text.push_str(r"\r"),
        '\t' => text.push_str(r"\t"),
        _ if c.is_ascii() => push_hex(c as u8, text),
        _ => write!(text, "\\u{{{:x}}}", u32::from(c)).expect("a String takes any text"),
    }
}

fn push_hex(byte: u8, text: &mut String) {
    write!(text, "\\x{byte:02x}").expect("a String takes any text");
}

fn is_plain(c: char, charset: Charset) -> bool {
    match c {
        '\\' => false,
        ' '..='~' => true,
        '\0'..='\u{9f}' => false,
        _ => charset == Charset::Unicode && !is_hidden(c),
    }
}

/// Returns whether `c`, beyond U+009F, steers the text or is shown as nothing.
fn is_hidden(c: char) -> bool {
    matches!(c,
        // Soft hyphen, combining grapheme joiner.
        '\u{ad}' | '\u{34f}'
        // Arabic and Syriac signs that enclose what follows, Arabic letter mark.
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}'
        // Hangul fillers, Khmer inherent vowels, Mongolian selectors.
        | '\u{115f}'..='\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        // Zero-width space, joiners, marks of direction.
        | '\u{200b}'..='\u{200f}'
        // Line and paragraph separators; embeddings and overrides of direction.
        | '\u{2028}'..='\u{202e}'
        // Word joiner, invisible operators, isolates, deprecated formats.
        | '\u{2060}'..='\u{206f}'
        // Variation selectors, byte order mark, interlinear annotation.
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        // Noncharacters.
        | '\u{fdd0}'..='\u{fdef}'
        // Kaithi number signs, hieroglyph joiners, shorthand, musical formats.
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, the second set of variation selectors, and what lies unassigned around them.
        | '\u{e0000}'..='\u{e0fff}'
    ) || u32::from(c) & 0xfffe == 0xfffe // the last two of each plane: noncharacters
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names() {
        fn check(name: &[u8], expected: &str) {
            assert_eq!(escape(name, Charset::Unicode), expected);
        }
        check(b"", "");
        check(b"plain name~.txt", "plain name~.txt");
        check(
            "Größe, 日本語, e\u{301}, 😀".as_bytes(),
            "Größe, 日本語, e\u{301}, 😀",
        );
        check(b"\0\x01\x1b\x7f", r"\x00\x01\x1b\x7f");
        check(b"a\nb\rc\td", r"a\nb\rc\td");
        check(b"\x1b]0;title\x07", r"\x1b]0;title\x07");
        check(br"back\slash", r"back\\slash");
        // A name that spells an escape differs from the escape.
        check(b"\\n", r"\\n");
        check(b"\n", r"\n");
        // C1 as UTF-8, and the same byte alone.
        check("\u{9b}31m".as_bytes(), r"\u{9b}31m");
        check(b"\x9b31m", r"\x9b31m");
        check(
            "\u{85}\u{80}\u{9f}\u{a0}".as_bytes(),
            "\\u{85}\\u{80}\\u{9f}\u{a0}",
        );
        check(b"caf\xe9", r"caf\xe9");
        // Overlong slash, encoded surrogate, cut-off sequence.
        check(b"\xc0\xaf", r"\xc0\xaf");
        check(b"\xed\xa0\x80", r"\xed\xa0\x80");
        check(b"x\xe2\x82", r"x\xe2\x82");
        check(
            "a\u{202e}b\u{2066}c\u{200e}d\u{61c}".as_bytes(),
            r"a\u{202e}b\u{2066}c\u{200e}d\u{61c}",
        );
        check(
            "a\u{200b}b\u{2060}c\u{feff}".as_bytes(),
            r"a\u{200b}b\u{2060}c\u{feff}",
        );
        check("\u{2028}\u{2029}".as_bytes(), r"\u{2028}\u{2029}");
        check(
            "👩\u{200d}💻 ❤\u{fe0f}".as_bytes(),
            r"👩\u{200d}💻 ❤\u{fe0f}",
        );
        check("\u{e0041}\u{e0100}".as_bytes(), r"\u{e0041}\u{e0100}");
        check(
            "\u{ad}\u{3164}\u{fff9}\u{ffff}\u{10fffe}".as_bytes(),
            r"\u{ad}\u{3164}\u{fff9}\u{ffff}\u{10fffe}",
        );
        // A true U+FFFD is a visible character.
        check("\u{fffd}".as_bytes(), "\u{fffd}");
    }

    #[test]
    fn ascii_terminals_get_ascii() {
        fn check(name: &[u8], expected: &str) {
            assert_eq!(escape(name, Charset::Ascii), expected);
        }
        check(b"plain", "plain");
        // U+00DB is C3 9B in UTF-8, and 9B alone begins a control sequence.
        check("Û".as_bytes(), r"\u{db}");
        check("日\\".as_bytes(), r"\u{65e5}\\");
        check(b"\xff\n", r"\xff\n");
    }

    #[test]
    fn a_plain_name_is_not_copied() {
        assert!(matches!(
            escape("é".as_bytes(), Charset::Unicode),
            Cow::Borrowed("é")
        ));
        assert!(matches!(escape(b"\\", Charset::Unicode), Cow::Owned(_)));
    }

    /// Names with many dangerous characters.
    pub(crate) fn hostile_name() -> impl Strategy<Value = Vec<u8>> {
        let character = prop_oneof![
            any::<char>(),
            proptest::char::range('\0', '\u{ff}'),
            proptest::char::range('\u{2000}', '\u{206f}'),
            proptest::char::range('\u{e0000}', '\u{e007f}'),
            proptest::sample::select(vec![
                '\\', 'x', 'u', '{', '}', 'n', '1', 'b', '\u{feff}', '日', '\u{301}'
            ]),
        ];
        let part = prop_oneof![
            character.prop_map(|c| c.to_string().into_bytes()),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
    }

    /// Undoes [`escape`].
    fn unescape(text: &str) -> Vec<u8> {
        let mut name = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                name.extend(c.to_string().bytes());
                continue;
            }
            match chars.next().unwrap() {
                '\\' => name.push(b'\\'),
                'n' => name.push(b'\n'),
                'r' => name.push(b'\r'),
                't' => name.push(b'\t'),
                'x' => {
                    let digits: String = chars.by_ref().take(2).collect();
                    name.push(u8::from_str_radix(&digits, 16).unwrap());
                }
                'u' => {
                    assert_eq!(chars.next(), Some('{'));
                    let digits: String = chars.by_ref().take_while(|&c| c != '}').collect();
                    let c = char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap();
                    name.extend(c.to_string().bytes());
                }
                other => panic!("unknown escape {other:?}"),
            }
        }
        name
    }

    /// The characters that must never pass, by the specification and not by the code.
    fn is_forbidden(c: char) -> bool {
        c.is_control()
            || matches!(u32::from(c),
                0x202a..=0x202e | 0x2066..=0x2069 | 0x200e | 0x200f | 0x61c
                | 0x200b..=0x200d | 0x2060 | 0xfeff | 0x2028 | 0x2029 | 0xe0000..=0xe007f)
    }

    #[test]
    fn every_character_was_looked_at() {
        let passes = |c: char| {
            let text = c.to_string();
            matches!(escape(text.as_bytes(), Charset::Unicode), Cow::Borrowed(_))
        };
        let mut shown = 0;
        for c in '\0'..=char::MAX {
            if passes(c) {
                assert!(!is_forbidden(c), "{c:?}");
                assert!(c == ' ' || !c.is_ascii_whitespace(), "{c:?}");
                shown += 1;
            } else {
                // All that is left out is invisible, but for the backslash.
                assert!(
                    !c.is_alphanumeric() || c as u32 & 0xfffe == 0xfffe || is_filler(c),
                    "{c:?}"
                );
            }
        }
        assert!(shown > 1_000_000);
        // Marks that combine with a letter are part of many scripts.
        assert!(passes('\u{301}') && passes('\u{5b0}') && passes('\u{e31}'));
    }

    /// Letters by category, blank by looks.
    fn is_filler(c: char) -> bool {
        matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
    }

    proptest! {
        #[test]
        fn the_text_can_be_turned_back(name in hostile_name()) {
            for charset in [Charset::Unicode, Charset::Ascii] {
                prop_assert_eq!(&unescape(&escape(&name, charset)), &name);
            }
        }

        #[test]
        fn nothing_forbidden_passes(name in hostile_name()) {
            prop_assert!(!escape(&name, Charset::Unicode).chars().any(is_forbidden));
            prop_assert!(escape(&name, Charset::Ascii).bytes().all(|b| (b' '..=b'~').contains(&b)));
        }

        #[test]
        fn different_names_look_different(a in hostile_name(), b in hostile_name()) {
            prop_assert_eq!(a == b, escape(&a, Charset::Unicode) == escape(&b, Charset::Unicode));
        }
    }
}
