// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns that names are held against: regular expressions and globs.
//!
//! The rule about small and capital letters is fd's: a pattern without a
//! capital fits both.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};

use crate::failure::Failure;
use crate::request::{invalid, safe};

/// A pattern that a name can match.
#[derive(Clone, Debug)]
pub(crate) enum NamePattern {
    /// Must match somewhere in the name.
    Regex(Regex),
    /// Must match the whole name.
    Glob(GlobMatcher),
}

impl NamePattern {
    /// Reads a regular expression.
    ///
    /// # Errors
    ///
    /// Returns an error that names the text if it is none.
    pub(crate) fn regex(text: &str) -> Result<NamePattern, Failure> {
        let regex = RegexBuilder::new(text)
            .case_insensitive(!has_capital(text))
            // A name can hold a newline like any other byte.
            .dot_matches_new_line(true)
            .build();
        regex.map(NamePattern::Regex).map_err(|error| {
            let reason = match &error {
                // The text of a syntax error has the pattern in it, on lines of its own.
                regex::Error::Syntax(text) => last_line(text),
                other => other.to_string(),
            };
            // A shell's pattern is the likeliest mistake.
            let remedy = match text.starts_with(['*', '?']) && NamePattern::glob(text).is_ok() {
                true => format!("; for a shell pattern use -g '{}'", safe(text)),
                false => String::new(),
            };
            Failure::Usage(format!(
                "invalid pattern '{}': {reason}{remedy}",
                safe(text)
            ))
        })
    }

    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// Returns an error that names the text if it is none, or holds a slash,
    /// which no name does.
    pub(crate) fn glob(text: &str) -> Result<NamePattern, Failure> {
        if text.contains('/') {
            return Err(invalid("--glob", text, "no name holds a slash"));
        }
        let glob = GlobBuilder::new(text)
            .case_insensitive(!has_capital(text))
            .build();
        match glob {
            Ok(glob) => Ok(NamePattern::Glob(glob.compile_matcher())),
            Err(error) => Err(invalid("--glob", text, error.kind())),
        }
    }

    /// Whether a name matches.
    pub(crate) fn fits(&self, name: &[u8]) -> bool {
        match self {
            NamePattern::Regex(regex) => regex.is_match(name),
            NamePattern::Glob(glob) => glob.is_match(Path::new(OsStr::from_bytes(name))),
        }
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

    #[test]
    fn names_match() {
        let check = |pattern: &NamePattern, name: &[u8], expected| {
            assert_eq!(pattern.fits(name), expected, "{pattern:?} {name:?}");
        };
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
        check(&glob, b"a.rs2", false);
        check(&NamePattern::glob("A*").unwrap(), b"ab", false);
        check(&NamePattern::glob("{a,b}?").unwrap(), b"bc", true);
    }

    #[test]
    fn bad_patterns_are_named_in_one_line() {
        for (made, text) in [
            (NamePattern::regex("a(b"), "a(b"),
            (NamePattern::regex("x{9999999}"), "x{9999999}"),
            (NamePattern::glob("[a"), "[a"),
            (NamePattern::glob("a/b"), "a/b"),
        ] {
            let message = made.unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
