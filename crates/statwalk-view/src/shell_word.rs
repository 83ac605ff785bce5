// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names as words of a shell, to be read on a terminal and pasted back.

use std::fmt::Write as _;

use crate::wrap::{GLUE, glued};
use crate::{Charset, escape};

/// Returns a name as one word that the shell reads as exactly these bytes.
///
/// A plain name stays as it is, and most others stand in single quotes. A name with
/// letters that the terminal must not get, or cannot show, is in `$'…'`, which POSIX has
/// since 2024 and bash, zsh and ksh have long had. [`wrap`](crate::wrap()) breaks no line in
/// the word.
///
/// ```
/// use statwalk_view::{Charset, shell_word};
///
/// assert_eq!(shell_word(b"/srv/a", Charset::Unicode), "/srv/a");
/// assert_eq!(shell_word(b"/srv/it's\n", Charset::Unicode), r"$'/srv/it\'s\x0a'");
/// ```
#[must_use]
pub fn shell_word(name: &[u8], charset: Charset) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@%:,".contains(byte);
    if !name.is_empty() && name.iter().all(is_plain) {
        return String::from_utf8_lossy(name).into_owned();
    }
    // What the terminal shows unchanged is safe there, and between quotes in the shell.
    let shown = escape(name, charset);
    if shown.as_bytes() == name && !name.contains(&b'\'') && !shown.contains(GLUE) {
        return glued(&format!("'{shown}'"));
    }
    let mut word = "$'".to_owned();
    for &byte in name {
        match byte {
            b'\'' | b'\\' => {
                word.push('\\');
                word.push(byte.into());
            }
            b' '..=b'~' => word.push(byte.into()),
            byte => {
                let _ = write!(word, "\\x{byte:02x}");
            }
        }
    }
    word.push('\'');
    glued(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::tests::hostile_name;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    fn read_back(word: &str) -> Vec<u8> {
        let command = format!("printf %s {}", word.replace('\u{a0}', " "));
        let output = Command::new("bash")
            .arg("-c")
            .arg(std::ffi::OsStr::from_bytes(command.as_bytes()))
            .output();
        output.unwrap().stdout
    }

    #[test]
    fn words() {
        fn check(name: &[u8], charset: Charset, expected: &str) {
            assert_eq!(shell_word(name, charset), expected);
        }
        check(b"/a-b_c.d", Charset::Unicode, "/a-b_c.d");
        check(b"", Charset::Unicode, "''");
        check(b"a b", Charset::Unicode, "'a\u{a0}b'");
        check(b"$(id)", Charset::Unicode, "'$(id)'");
        check("é".as_bytes(), Charset::Unicode, "'é'");
        check("\u{a0}".as_bytes(), Charset::Unicode, r"$'\xc2\xa0'");
        check("é".as_bytes(), Charset::Ascii, r"$'\xc3\xa9'");
        check(b"\x1b[2J", Charset::Unicode, r"$'\x1b[2J'");
        check("\u{202e}".as_bytes(), Charset::Unicode, r"$'\xe2\x80\xae'");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn the_shell_reads_the_same_bytes(name in hostile_name()) {
            let name: Vec<u8> = name.into_iter().filter(|&byte| byte != 0).collect();
            for charset in [Charset::Unicode, Charset::Ascii] {
                let word = shell_word(&name, charset);
                prop_assert!(!word.chars().any(char::is_control), "{word:?}");
                prop_assert_eq!(read_back(&word), &name[..], "{}", word);
            }
        }
    }
}
