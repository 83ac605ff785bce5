// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hashes as text.

/// The lower-case digits of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|&byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

/// Whether a text is a SHA-256 in lower-case digits.
pub(crate) fn is_sha256(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 64 && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_lower_case() {
        assert_eq!(hex(&[0, 0xAF, 0x10]), "00af10");
        assert!(is_sha256(&"0f".repeat(32)));
        assert!(!is_sha256(&"0F".repeat(32)) && !is_sha256("0f"));
    }
}
