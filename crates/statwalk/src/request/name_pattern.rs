// SPDX-License-Identifier: MIT OR Apache-2.0

//! Patterns of names from the command line.

use statwalk_view::NamePattern;

use crate::failure::Failure;
use crate::request::{invalid, safe};

/// Reads a regular expression. A text that begins with `*` or `?` is none, because these
/// repeat something before them: so it is the glob that it is without a path.
pub(crate) fn regex(text: &str) -> Result<NamePattern, Failure> {
    let pattern = match text.starts_with(['*', '?']) {
        true => NamePattern::glob(text),
        false => NamePattern::regex(text),
    };
    pattern.map_err(|reason| Failure::Usage(format!("invalid pattern '{}': {reason}", safe(text))))
}

pub(crate) fn glob(text: &str) -> Result<NamePattern, Failure> {
    NamePattern::glob(text).map_err(|reason| invalid("--glob", text, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_patterns_are_named_in_one_line() {
        for (made, text) in [
            (regex("a(b"), "a(b"),
            (regex("x{9999999}"), "x{9999999}"),
            (regex("*[a"), "*[a"),
            (glob("[a"), "[a"),
            (glob("a/b"), "a/b"),
        ] {
            let message = made.unwrap_err().to_string();
            assert!(message.contains(&format!("'{text}'")), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
