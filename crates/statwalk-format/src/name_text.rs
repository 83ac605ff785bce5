// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names and paths as text, for tables whose columns of text must be UTF-8.

use std::borrow::Cow;

/// Gives a name or a path as text that leads back to its bytes.
///
/// One that is UTF-8 and has no `\x` is its own text. In any other, each byte that is no
/// UTF-8 is `\xNN` with two upper-case digits, and each backslash before an `x` is `\x5C`.
/// [`bytes_of_text`] gives the bytes.
///
/// ```
/// use statwalk_format::text_of_bytes;
///
/// assert_eq!(text_of_bytes("/data/größe".as_bytes()), "/data/größe");
/// assert_eq!(text_of_bytes(b"caf\xE9"), r"caf\xE9");
/// assert_eq!(text_of_bytes(br"C:\x41"), r"C:\x5Cx41");
/// ```
#[must_use]
pub fn text_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !has_escape(bytes) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(bytes)),
    }
}

/// Gives the bytes of a text of [`text_of_bytes`]. A `\x` without two digits behind it, which
/// that never makes, stands for itself.
///
/// ```
/// use statwalk_format::{bytes_of_text, text_of_bytes};
///
/// assert_eq!(*bytes_of_text(r"caf\xE9"), *b"caf\xE9");
/// let odd = b"\\x41 \xFF\\";
/// assert_eq!(*bytes_of_text(&text_of_bytes(odd)), *odd);
/// ```
#[must_use]
pub fn bytes_of_text(text: &str) -> Cow<'_, [u8]> {
    let bytes = text.as_bytes();
    if !has_escape(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut found = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = match rest {
            [b'\\', b'x', high, low, behind @ ..] => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (16 * high + low, behind),
                _ => (first, &rest[1..]),
            },
            _ => (first, behind),
        };
        found.push(byte);
        rest = behind;
    }
    Cow::Owned(found)
}

/// Whether bytes have a `\x`, so that their text can differ from them.
#[must_use]
pub fn has_escape(bytes: &[u8]) -> bool {
    // Nearly no name has a backslash, and a search for one byte is fast.
    bytes.contains(&b'\\') && bytes.windows(2).any(|pair| pair == br"\x")
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        let mut valid = chunk.valid();
        // An escape that follows a chunk begins with a backslash, so no pair crosses its end.
        while let Some(at) = valid.find(r"\x") {
            text.push_str(&valid[..at]);
            text.push_str(r"\x5C");
            valid = &valid[at + 1..];
        }
        text.push_str(valid);
        for byte in chunk.invalid() {
            text.push_str(&format!(r"\x{byte:02X}"));
        }
    }
    text
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random: an example of each short name would be too many.
    fn names() -> impl Iterator<Item = Vec<u8>> {
        let alphabet = [
            b'\\', b'x', b'4', b'C', b'a', 0xC3, 0xA9, 0xFF, 0x80, 0xED, 0xA0,
        ];
        let base = alphabet.len();
        (0..base.pow(5)).map(move |number| {
            let length = number % 6;
            (0..length as u32)
                .map(|place| alphabet[number / base.pow(place) % base])
                .collect()
        })
    }

    #[test]
    fn every_text_leads_back_to_its_bytes() {
        let mut seen = std::collections::HashMap::new();
        for name in names() {
            let text = text_of_bytes(&name);
            assert_eq!(*bytes_of_text(&text), *name, "{text}");
            // Two names have two texts.
            let other = seen.insert(text.into_owned(), name.clone());
            assert!(other.is_none_or(|other| other == name));
        }
    }

    #[test]
    fn most_names_are_their_own_text() {
        for name in [
            "",
            "plain",
            "größe",
            r"back\slash",
            r"\",
            "日本",
            "\u{202e}",
        ] {
            assert!(matches!(text_of_bytes(name.as_bytes()), Cow::Borrowed(text) if text == name));
        }
        assert_eq!(*bytes_of_text(r"\x \xg1 \x4"), *br"\x \xg1 \x4");
        // Lower case was never written.
        assert_eq!(*bytes_of_text(r"\xff"), *br"\xff");
    }
}
