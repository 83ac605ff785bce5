// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns that names are held against: texts, globs and regular expressions.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Must stand somewhere in the name.
    Part,
    /// Must match the whole name.
    Glob,
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

    /// Reads a glob.
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
        NamePattern::new(Kind::Glob, text, glob.regex(), false)
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
        let regex = RegexBuilder::new(regex)
            .case_insensitive(is_insensitive)
            // A name can hold a newline like any other byte.
            .dot_matches_new_line(true)
            .build();
        let text = text.to_owned();
        match regex {
            Ok(regex) => Ok(NamePattern { kind, text, regex }),
            // The text of a syntax error has the pattern in it, on lines of its own.
            Err(regex::Error::Syntax(error)) => Err(PatternError(last_line(&error))),
            Err(error) => Err(PatternError(error.to_string())),
        }
    }

    /// Whether a name matches.
    #[must_use]
    pub fn fits(&self, name: &[u8]) -> bool {
        self.regex.is_match(name)
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
