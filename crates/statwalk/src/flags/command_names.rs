// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of the commands: to ask what a word means builds no command.

use std::ffi::OsStr;

/// How many there are.
const COUNT: usize = 12 + cfg!(feature = "snapshot") as usize;

/// The names, in the order of the help.
pub(crate) const COMMAND_NAMES: [&str; COUNT] = [
    "browse",
    "top",
    "stats",
    "find",
    "errors",
    "report",
    #[cfg(feature = "snapshot")]
    "snapshot",
    "df",
    "extents",
    "changes",
    "bench",
    "completions",
    "man",
];

/// Whether a word is the name of a command.
pub(crate) fn is_command(word: &OsStr) -> bool {
    COMMAND_NAMES.iter().any(|name| word == *name)
}

/// The command whose name is one letter away from a word: a letter too many, too few or
/// another one, or two that changed places.
pub(crate) fn similar_command(word: &OsStr) -> Option<&'static str> {
    let word = word.as_encoded_bytes();
    COMMAND_NAMES.into_iter().find(|name| {
        let name = name.as_bytes();
        let same = word.iter().zip(name).take_while(|(a, b)| a == b).count();
        let (word, name) = (&word[same..], &name[same..]);
        match (word, name) {
            ([_, word @ ..], _) if word == name => true,
            (_, [_, name @ ..]) if word == name => true,
            ([_, word @ ..], [_, name @ ..]) if word == name => true,
            ([a, b, word @ ..], [c, d, name @ ..]) => a == d && b == c && word == name,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_one_letter_from_a_command_are_known() {
        let check = |word: &str, expected| {
            assert_eq!(similar_command(word.as_ref()), expected, "{word}");
        };
        for word in ["fin", "fnd", "fidn", "finds", "fimd", "xfind"] {
            check(word, Some("find"));
        }
        check("stat", Some("stats"));
        check("tpo", Some("top"));
        check("t", None);
        check("", None);
        check("findall", None);
        check("manual", None);
    }
}
