// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns that names are held against: texts, globs, ends and regular expressions.
//!
//! The rule about small and capital letters is fd's: a pattern without a
//! capital fits both.

use std::fmt;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

/// A pattern that a name can match.
#[derive(Clone, Debug)]
pub struct NamePattern {
    kind: Kind,
    text: String,
    regex: Regex,
    /// For names in UTF-8 beyond ASCII, where the other one knows bytes alone.
    of_characters: Option<Regex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Must stand somewhere in the name.
    Part,
    /// Must match the whole name.
    Glob,
    /// Must end the name, with something before it.
    End,
    /// Must match somewhere in the name.
    Regex,
}

/// The reason why a text is no pattern, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

/// Two patterns are the same if they are of one kind and have one text.
impl PartialEq for NamePattern {
    fn eq(&self, other: &NamePattern) -> bool {
        (self.kind, &self.text) == (other.kind, &other.text)
    }
}

impl Eq for NamePattern {}

impl NamePattern {
    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is none.
    pub fn regex(text: &str) -> Result<NamePattern, PatternError> {
        NamePattern::new(Kind::Regex, text, text, !has_capital(text))
    }

    /// Reads a glob. As for find(1) in a UTF-8 locale, it is one of characters, and one of
    /// bytes for a name that is no UTF-8.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is none, or holds a slash, which no name does.
    pub fn glob(text: &str) -> Result<NamePattern, PatternError> {
        if text.contains('/') {
            return Err(PatternError("no name holds a slash".to_owned()));
        }
        let is_small = !has_capital(text);
        let glob = GlobBuilder::new(text).case_insensitive(is_small).build();
        let glob = glob.map_err(|error| PatternError(error.kind().to_string()))?;
        let of_bytes = NamePattern::new(Kind::Glob, text, glob.regex(), false)?;
        Ok(NamePattern {
            of_characters: Some(compile(&of_characters(glob.regex()), false)?),
            ..of_bytes
        })
    }

    /// Makes the pattern of names that end in a text, in any case, with something before it.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is too long.
    pub fn end(text: &str) -> Result<NamePattern, PatternError> {
        let bytes: Vec<String> = text.bytes().map(|byte| format!(r"\x{byte:02x}")).collect();
        let of_bytes = format!("(?-u).{}$", bytes.concat());
        let of_characters = format!(".{}$", regex::escape(text));
        Ok(NamePattern {
            of_characters: Some(compile(&of_characters, true)?),
            ..NamePattern::new(Kind::End, text, &of_bytes, true)?
        })
    }

    /// Reads a text that somebody types to find a name: a glob where it holds `*`, `?` or
    /// `[`, else a part of the name.
    ///
    /// ```
    /// use statwalk_view::NamePattern;
    /// let part = NamePattern::typed("read")?;
    /// assert!(part.fits(b"README") && !NamePattern::typed("Read")?.fits(b"README"));
    /// let glob = NamePattern::typed("read*")?;
    /// assert!(glob.fits(b"README") && !glob.fits(b"spread"));
    /// # Ok::<(), statwalk_view::PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if it is meant as a glob and is none, or holds a slash.
    pub fn typed(text: &str) -> Result<NamePattern, PatternError> {
        if text.contains(['*', '?', '[']) {
            return NamePattern::glob(text);
        }
        // A backslash is one like any other here.
        let is_small = !text.chars().any(char::is_uppercase);
        NamePattern::new(Kind::Part, text, &regex::escape(text), is_small)
    }

    fn new(
        kind: Kind,
        text: &str,
        regex: &str,
        is_insensitive: bool,
    ) -> Result<NamePattern, PatternError> {
        Ok(NamePattern {
            kind,
            text: text.to_owned(),
            regex: compile(regex, is_insensitive)?,
            of_characters: None,
        })
    }

    /// Whether a name matches.
    #[must_use]
    pub fn fits(&self, name: &[u8]) -> bool {
        // Most names are ASCII, where both say the same.
        let of_characters = self.of_characters.as_ref();
        match of_characters.filter(|_| !name.is_ascii() && str::from_utf8(name).is_ok()) {
            Some(regex) => regex.is_match(name),
            None => self.regex.is_match(name),
        }
    }

    /// Whether it must match the whole name.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.kind == Kind::Glob
    }

    /// The text that it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn compile(regex: &str, is_insensitive: bool) -> Result<Regex, PatternError> {
    let regex = RegexBuilder::new(regex)
        .case_insensitive(is_insensitive)
        // A name can hold a newline like any other byte.
        .dot_matches_new_line(true)
        .build();
    regex.map_err(|error| match error {
        // The text of a syntax error has the pattern in it, on lines of its own.
        regex::Error::Syntax(error) => PatternError(last_line(&error)),
        error => PatternError(error.to_string()),
    })
}

/// The regular expression of a glob, for characters. globset writes one for bytes: `(?-u)`,
/// and each character beyond ASCII as its bytes in UTF-8, `\xNN`. In a class or before a
/// case-insensitive match these bytes are no character any more.
fn of_characters(of_bytes: &str) -> String {
    let of_bytes = of_bytes.strip_prefix("(?-u)").unwrap_or(of_bytes);
    let mut made = Vec::with_capacity(of_bytes.len());
    let mut rest = of_bytes.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = behind.strip_prefix(b"x").and_then(|hex| hex.get(..2));
        let byte = escaped
            .filter(|_| *first == b'\\')
            .and_then(|hex| str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        // A backslash and the sign behind it belong together: `\\xe9` is a backslash and a word.
        let (taken, len) = match (byte, first) {
            (Some(byte), _) => (&[byte][..], 4),
            (None, b'\\') => (&rest[..rest.len().min(2)], 2),
            (None, _) => (&rest[..1], 1),
        };
        made.extend_from_slice(taken);
        rest = rest.get(len..).unwrap_or_default();
    }
    String::from_utf8_lossy(&made).into_owned()
}

fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or(text);
    line.trim_start_matches("error: ").to_owned()
}

/// Whether a pattern has a capital letter, other than behind a backslash, where
/// it names a class such as `\W`.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            c if c.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &NamePattern, name: &[u8], expected: bool) {
        assert_eq!(pattern.fits(name), expected, "{pattern:?} {name:?}");
    }

    #[test]
    fn names_match() {
        let regex = NamePattern::regex(r"^a.*z$").unwrap();
        check(&regex, b"a\nZ", true);
        check(&regex, b"ba\nz", false);
        check(&NamePattern::regex("Z").unwrap(), b"z", false);
        check(&NamePattern::regex(r"\Wz").unwrap(), b".Z", true);
        check(&NamePattern::regex(r"(?-u)\xff").unwrap(), b"a\xffb", true);
        let glob = NamePattern::glob("*.rs").unwrap();
        check(&glob, b"a.RS", true);
        check(&glob, b".rs", true);
        check(&glob, b"a\xff.rs", true);
        check(&glob, b"a\n.rs", true);
        check(&glob, b"a.rs2", false);
        check(&NamePattern::glob("A*").unwrap(), b"ab", false);
        check(&NamePattern::glob("{a,b}?").unwrap(), b"bc", true);
    }

    #[test]
    fn globs_know_characters() {
        let glob = |text: &str| NamePattern::glob(text).unwrap();
        for (text, fitting, other) in [
            ("caf?", "caf\u{e9}", "caf\u{e9}\u{e9}"),
            ("caf[\u{e9}\u{e8}]", "caf\u{c8}", "caf\u{ea}"),
            ("caf[!0-9]", "caf\u{20ac}", "caf7"),
            ("[!\u{e9}]", "\u{e8}", "\u{e9}"),
            ("[\u{e0}-\u{ef}].txt", "\u{e9}.txt", "\u{f0}.txt"),
            ("*caf\u{e9}*", "CAF\u{c9}.TXT", "CAFE.TXT"),
            ("*CAF\u{c9}*", "CAF\u{c9}.TXT", "caf\u{e9}.txt"),
            ("*[\u{c9}]", "\u{c9}", "\u{e9}"),
            ("{\u{e9},\u{43f}}?", "\u{41f}\u{1f600}", "\u{41f}"),
            (r"\\xe9\?", "\\XE9?", "\u{e9}?"),
            ("\\[\u{e9}", "[\u{c9}", "\u{e9}"),
            ("?\n*", "\u{e9}\n\u{e9}", "\u{e9}n"),
        ] {
            check(&glob(text), fitting.as_bytes(), true);
            check(&glob(text), other.as_bytes(), false);
        }
        // Bytes in a name that is no UTF-8.
        check(&glob("*.txt"), b"\xe9.TXT", true);
        check(&glob("a?c"), b"a\xe9c", true);
        check(&glob("a??"), "a\u{e9}".as_bytes(), false);
        check(&glob("??\u{e9}"), b"a\xff\xc3\xa9", true);
        check(&glob("[!a]*"), b"\xff", true);
        check(&glob("a*b*c"), b"a\xffb\xc3c", true);
    }

    #[test]
    fn ends_know_characters() {
        let end = |text: &str| NamePattern::end(text).unwrap();
        check(&end(".\u{e9}"), "x.\u{c9}".as_bytes(), true);
        check(&end(".\u{e9}"), b"\xff.\xc3\xa9", true);
        check(&end(".\u{e9}"), b"\xff.\xc3\x89", false);
        check(&end(".RS"), b"\xff.rs", true);
        check(&end(".\u{e9}"), "\u{c9}.\u{c9}".as_bytes(), true);
        check(&end(".\u{e9}"), ".\u{c9}".as_bytes(), false);
        check(&end(".\u{e9}"), "x.\u{c9}a".as_bytes(), false);
        check(&end(".rs"), b"\n.RS", true);
        check(&end(".rs"), b"xrs", false);
    }

    #[test]
    fn a_typed_text_is_a_part_or_a_glob() {
        let typed = |text: &str| NamePattern::typed(text).unwrap();
        // Nothing but the three signs makes a glob, and nothing makes a regular expression.
        for text in ["a.c", "a+b", "(x", "{a,b}", r"a\W", "$", "a/b"] {
            let pattern = typed(text);
            assert!(!pattern.is_glob(), "{text}");
            check(&pattern, text.as_bytes(), true);
            check(&pattern, format!("\u{ff}1 {text} 2").as_bytes(), true);
            check(&pattern, b"abc", false);
        }
        check(&typed("a.c"), b"ABC", false);
        check(&typed("main"), b"DoMain.rs", true);
        check(&typed("Main"), b"domain.rs", false);
        check(&typed("Main"), b"DoMain.rs", true);
        check(&typed("\u{e4}"), "\u{c4}pfel".as_bytes(), true);
        check(&typed("\u{c4}"), "\u{e4}pfel".as_bytes(), false);
        check(&typed("b"), b"\xff\nb\xfe", true);
        check(&typed(""), b"anything", true);
        // A star by itself is written as in a shell.
        for text in [r"*\**", "*[*]*"] {
            check(&typed(text), b"a*b", true);
            check(&typed(text), b"ab", false);
        }
        check(&typed("?"), b"\xff", true);
        check(&typed("[!a]*"), b"\nb", true);
        assert_ne!(typed("a"), NamePattern::regex("a").unwrap());
        assert_eq!(typed("a*"), NamePattern::glob("a*").unwrap());
    }

    #[test]
    fn a_reason_has_one_line() {
        for made in [
            NamePattern::regex("a(b"),
            NamePattern::regex("x{9999999}"),
            NamePattern::glob("[a"),
            NamePattern::typed("[a"),
            NamePattern::typed("a/*"),
        ] {
            let message = made.unwrap_err().to_string();
            assert!(!message.is_empty() && !message.contains('\n'), "{message}");
        }
    }
}
