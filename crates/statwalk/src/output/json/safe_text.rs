// SPDX-License-Identifier: MIT OR Apache-2.0

//! JSON that is safe on a terminal.
//!
//! JSON escapes the controls of ASCII itself. It lets DEL, C1 controls and letters pass
//! that reverse the reading order. On a terminal statwalk writes them as `\u202e`,
//! which a reader of JSON decodes to the same text.

use std::io::{self, Write};

use serde_json::ser::Formatter;
use statwalk_view::{Charset, escape};

/// Escapes letters that a terminal obeys, and leaves the layout to another formatter.
pub(super) struct SafeText<F>(pub(super) F);

impl<F: Formatter> Formatter for SafeText<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut units = [0; 2];
        for c in fragment.chars() {
            let mut bytes = [0; 4];
            let text = c.encode_utf8(&mut bytes);
            // A backslash never comes here: JSON escapes it.
            if escape(text.as_bytes(), Charset::Unicode) == *text {
                out.write_all(text.as_bytes())?;
            } else {
                for unit in c.encode_utf16(&mut units) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::Serializer;
    use serde_json::ser::CompactFormatter;

    #[test]
    fn the_text_is_the_same_and_harmless() {
        let text = "a\x1b[2J\x7f\u{9b}é\u{202e}\\\u{e0041}😀\n";
        let mut out = Vec::new();
        let formatter = SafeText(CompactFormatter);
        text.serialize(&mut Serializer::with_formatter(&mut out, formatter))
            .unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, r#""a\u001b[2J\u007f\u009bé\u202e\\\udb40\udc41😀\n""#);
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
    }
}
