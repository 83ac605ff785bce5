// SPDX-License-Identifier: MIT OR Apache-2.0

//! Paths in JSON, where text is Unicode and paths are bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the values of `path` and, where it is needed, `path_b64`.
///
/// `path` has one U+FFFD for each byte that is not valid UTF-8. Only then is
/// there `path_b64`: the exact bytes in base64 (RFC 4648 section 4, with
/// padding). JSON escapes control characters itself, so nothing else is
/// changed here; a terminal is not meant to see this.
///
/// # Examples
///
/// ```
/// use statwalk_view::json_path;
///
/// assert_eq!(json_path(b"/data"), ("/data".to_owned(), None));
/// assert_eq!(json_path(b"a\xff"), ("a\u{fffd}".to_owned(), Some("Yf8=".to_owned())));
/// ```
#[must_use]
pub fn json_path(path: &[u8]) -> (String, Option<String>) {
    if let Ok(text) = std::str::from_utf8(path) {
        return (text.to_owned(), None);
    }
    let mut text = String::with_capacity(path.len() + 8);
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    (text, Some(STANDARD.encode(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths() {
        fn check(path: &[u8], text: &str, base64: Option<&str>) {
            assert_eq!(
                json_path(path),
                (text.to_owned(), base64.map(str::to_owned))
            );
        }
        check(b"", "", None);
        check("/data/Größe".as_bytes(), "/data/Größe", None);
        // A true U+FFFD is valid, so nothing is lost and no base64 is needed.
        check("\u{fffd}".as_bytes(), "\u{fffd}", None);
        check(b"a\nb", "a\nb", None);
        check(b"\xff", "\u{fffd}", Some("/w=="));
        // A cut-off sequence of three bytes counts each byte.
        check(b"x\xe2\x82", "x\u{fffd}\u{fffd}", Some("eOKC"));
        check(b"\xe2\x82y", "\u{fffd}\u{fffd}y", Some("4oJ5"));
        // An encoded surrogate is three invalid bytes.
        check(b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}", Some("7aCA"));
    }

    proptest! {
        #[test]
        fn the_bytes_come_back(path: Vec<u8>) {
            let (text, base64) = json_path(&path);
            let back = base64.map_or(text.clone().into_bytes(), |code| STANDARD.decode(code).unwrap());
            prop_assert_eq!(&back, &path);
            // Byte for byte: each byte is kept or became one U+FFFD.
            let length: usize = path.utf8_chunks()
                .map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum();
            prop_assert_eq!(text.chars().count(), length);
        }
    }
}
