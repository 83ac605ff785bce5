// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys, presses of the mouse and pastes, from the bytes that a terminal sends.
//!
//! The sequences are those of xterm (ctlseqs, patch 390), with those of the Linux console
//! and of rxvt where they differ. Reading is left to [`Tty`](super::terminal::Tty).

use std::collections::VecDeque;

use statwalk_browse::{Key, Mouse};

use super::screen::Input;

/// A sequence that is longer than all known ones is dropped.
const SEQUENCE_MAX: usize = 64;
/// The bytes of a paste that are kept: no name and no filter is longer.
const PASTE_MAX: usize = 64 << 10;
const PASTE_END: &[u8] = b"\x1b[201~";

/// The state between two readings.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The begin of a sequence.
    waiting: Vec<u8>,
    /// The text of a paste so far.
    paste: Option<Vec<u8>>,
}

/// The begin of some bytes.
enum Begin {
    /// An input, or something without a meaning; and its length.
    Whole(Option<Input>, usize),
    Paste(usize),
    /// More bytes belong to it.
    Part,
}

impl Decoder {
    /// Takes bytes, and puts what they mean behind `inputs`.
    pub(super) fn take(&mut self, bytes: &[u8], inputs: &mut VecDeque<Input>) {
        self.waiting.extend_from_slice(bytes);
        while !self.waiting.is_empty() {
            if self.paste.is_some() {
                let Some(text) = self.paste_end() else { return };
                inputs.push_back(Input::Paste(text));
                continue;
            }
            let used = match begin(&self.waiting) {
                Begin::Whole(input, length) => {
                    inputs.extend(input);
                    length
                }
                Begin::Paste(length) => {
                    self.paste = Some(Vec::new());
                    length
                }
                Begin::Part if self.waiting.len() > SEQUENCE_MAX => self.waiting.len(),
                Begin::Part => return,
            };
            self.waiting.drain(..used);
        }
    }

    /// Whether the last byte was an Escape, which is a key unless more bytes come at once.
    pub(super) fn has_escape(&self) -> bool {
        self.paste.is_none() && self.waiting == b"\x1b"
    }

    /// Takes that Escape for a key.
    pub(super) fn take_escape(&mut self) -> Option<Input> {
        self.has_escape().then(|| {
            self.waiting.clear();
            Input::Key(Key::Esc)
        })
    }

    /// Forgets the begin of a sequence. The rest of a paste is still text.
    pub(super) fn forget(&mut self) {
        match &mut self.paste {
            Some(text) => text.clear(),
            None => self.waiting.clear(),
        }
    }

    /// Moves bytes into the paste. Answers with its text at its end.
    fn paste_end(&mut self) -> Option<String> {
        let text = self.paste.as_mut()?;
        let end = (self.waiting.windows(PASTE_END.len())).position(|bytes| bytes == PASTE_END);
        // The end can be cut.
        let kept = PASTE_END.len() - 1;
        let count = end.unwrap_or(self.waiting.len().saturating_sub(kept));
        let room = PASTE_MAX.saturating_sub(text.len());
        text.extend_from_slice(&self.waiting[..count.min(room)]);
        self.waiting.drain(..count);
        end?;
        self.waiting.drain(..PASTE_END.len());
        let text = self.paste.take()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The first input of some bytes, of which there is at least one.
fn begin(bytes: &[u8]) -> Begin {
    let key = |key, length| Begin::Whole(Some(Input::Key(key)), length);
    match *bytes {
        [0x1b] => Begin::Part,
        [0x1b, b'[', ..] => control(bytes),
        [0x1b, b'O'] => Begin::Part,
        [0x1b, b'O', letter, ..] => Begin::Whole(letter_key(letter).map(Input::Key), 3),
        [0x1b, 0x1b, ..] => key(Key::Esc, 1),
        // A key together with Alt, which has no meaning here.
        [0x1b, ..] => match begin(&bytes[1..]) {
            Begin::Whole(_, length) => Begin::Whole(None, length + 1),
            _ => Begin::Part,
        },
        [b'\r', ..] => key(Key::Enter, 1),
        [b'\t', ..] => key(Key::Tab, 1),
        [0x7f, ..] => key(Key::Backspace, 1),
        [0, ..] => key(Key::Ctrl(' '), 1),
        [byte @ 1..=0x1a, ..] => key(Key::Ctrl(char::from(byte - 1 + b'a')), 1),
        [byte @ 0x1c..=0x1f, ..] => key(Key::Ctrl(char::from(byte - 0x1c + b'4')), 1),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Begin {
    let most = bytes.len().min(4);
    let text = match std::str::from_utf8(&bytes[..most]) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            let valid = &bytes[..error.valid_up_to()];
            std::str::from_utf8(valid).unwrap_or_default()
        }
        // Cut, and not invalid.
        Err(error) if error.error_len().is_none() => return Begin::Part,
        Err(error) => return Begin::Whole(None, error.error_len().unwrap_or(1)),
    };
    match text.chars().next() {
        Some(c) => Begin::Whole(Some(Input::Key(Key::Char(c))), c.len_utf8()),
        None => Begin::Whole(None, 1),
    }
}

/// A sequence after `ESC [`.
fn control(bytes: &[u8]) -> Begin {
    match bytes[2..] {
        // The old form of the mouse: three bytes, each 32 more than its value.
        [b'M', button, x, y, ..] => {
            let at = |byte: u8| u16::from(byte.saturating_sub(32));
            let mouse = mouse(at(button), at(x), at(y));
            return Begin::Whole(mouse.map(Input::Mouse), 6);
        }
        [b'M', ..] | [b'['] => return Begin::Part,
        // F1 to F5 of the Linux console.
        [b'[', letter, ..] => {
            let number = letter.wrapping_sub(b'A') + 1;
            let key = matches!(letter, b'A'..=b'E').then_some(Key::F(number));
            return Begin::Whole(key.map(Input::Key), 4);
        }
        _ => {}
    }
    // ECMA-48, 5.4: parameters, intermediate bytes, and a final one.
    let is_parameter = |byte: &u8| (0x20..0x40).contains(byte);
    let Some(end) = bytes[2..].iter().position(|byte| !is_parameter(byte)) else {
        return Begin::Part;
    };
    if !(0x40..=0x7e).contains(&bytes[2 + end]) {
        // Another byte breaks it off.
        return Begin::Whole(None, end + 2);
    }
    let (text, last) = (&bytes[2..2 + end], bytes[2 + end]);
    let length = end + 3;
    let (is_sgr, text) = match text {
        [b'<', rest @ ..] => (true, rest),
        text => (false, text),
    };
    let numbers: Vec<u16> = text
        .split(|byte| *byte == b';')
        .map(|digits| {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            digits.parse().unwrap_or(0)
        })
        .collect();
    let mouse_of = |offset: u16| match numbers[..] {
        [button, x, y] => mouse(button.saturating_sub(offset), x, y),
        _ => None,
    };
    let input = match (last, is_sgr) {
        (b'M', true) => mouse_of(0).map(Input::Mouse),
        // A release.
        (_, true) => None,
        // The form of rxvt.
        (b'M', false) => mouse_of(32).map(Input::Mouse),
        (b'~', _) if numbers[0] == 200 => return Begin::Paste(length),
        // The bits of the modifiers, and one: Alt has no meaning here.
        _ if numbers.len() > 1 && numbers[1].saturating_sub(1) & 2 != 0 => None,
        (b'~', _) => numbered_key(numbers[0]).map(Input::Key),
        (b'Z', _) => Some(Input::Key(Key::BackTab)),
        (letter, _) => letter_key(letter).map(Input::Key),
    };
    Begin::Whole(input, length)
}

fn letter_key(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        b'P'..=b'S' => Key::F(letter - b'P' + 1),
        _ => return None,
    })
}

fn numbered_key(number: u16) -> Option<Key> {
    let function = |number: u16| u8::try_from(number).ok().map(Key::F);
    match number {
        1 | 7 => Some(Key::Home),
        3 => Some(Key::Delete),
        4 | 8 => Some(Key::End),
        5 => Some(Key::PageUp),
        6 => Some(Key::PageDown),
        // The numbers have gaps, as the keyboard of a VT220 had.
        11..=15 => function(number - 10),
        17..=21 => function(number - 11),
        23..=26 => function(number - 12),
        28 | 29 => function(number - 13),
        31..=34 => function(number - 14),
        _ => None,
    }
}

/// A press of the first button or a turn of the wheel, at a column and a line from 1.
fn mouse(button: u16, x: u16, y: u16) -> Option<Mouse> {
    // Bits 2 to 4 are modifiers, 5 is a motion, 6 the wheel.
    match button & !0b1_1100 {
        0 => Some(Mouse::Press(x.checked_sub(1)?, y.checked_sub(1)?)),
        64 => Some(Mouse::WheelUp),
        65 => Some(Mouse::WheelDown),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Input> {
        let (mut decoder, mut inputs) = (Decoder::default(), VecDeque::new());
        decoder.take(bytes, &mut inputs);
        inputs.extend(decoder.take_escape());
        inputs.into()
    }

    #[test]
    fn sequences_are_keys() {
        for (bytes, key) in [
            (&b"a"[..], Key::Char('a')),
            (b"\xc3\xa9", Key::Char('é')),
            (b"\r", Key::Enter),
            (b"\t", Key::Tab),
            (b"\x7f", Key::Backspace),
            (b"\x08", Key::Ctrl('h')),
            (b"\x03", Key::Ctrl('c')),
            (b"\x1a", Key::Ctrl('z')),
            (b"\x1b", Key::Esc),
            (b"\x1b[A", Key::Up),
            (b"\x1bOB", Key::Down),
            (b"\x1b[1;5C", Key::Right),
            (b"\x1b[H", Key::Home),
            (b"\x1b[4~", Key::End),
            (b"\x1b[5~", Key::PageUp),
            (b"\x1b[3~", Key::Delete),
            (b"\x1b[Z", Key::BackTab),
            (b"\x1bOP", Key::F(1)),
            (b"\x1b[[E", Key::F(5)),
            (b"\x1b[15~", Key::F(5)),
            (b"\x1b[24~", Key::F(12)),
        ] {
            assert_eq!(all(bytes), [Input::Key(key)], "{}", bytes.escape_ascii());
            // In the middle of others, and cut at each byte.
            for cut in 1..bytes.len() {
                let (mut decoder, mut inputs) = (Decoder::default(), VecDeque::new());
                decoder.take(&bytes[..cut], &mut inputs);
                decoder.take(&bytes[cut..], &mut inputs);
                decoder.take(b"j", &mut inputs);
                let expected = [Input::Key(key), Input::Key(Key::Char('j'))];
                assert_eq!(inputs, expected, "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn the_mouse_presses_and_turns() {
        let press = Input::Mouse(Mouse::Press(4, 9));
        for bytes in [&b"\x1b[<0;5;10M"[..], b"\x1b[M %*", b"\x1b[32;5;10M"] {
            assert_eq!(
                all(bytes),
                std::slice::from_ref(&press),
                "{}",
                bytes.escape_ascii()
            );
        }
        assert_eq!(all(b"\x1b[<0;5;10m\x1b[<2;5;10M\x1b[<35;5;10M"), []);
        let wheel = [Mouse::WheelUp, Mouse::WheelDown].map(Input::Mouse);
        assert_eq!(all(b"\x1b[<64;1;1M\x1b[<65;1;1M"), wheel);
        assert_eq!(all(b"\x1b[<0;0;0M"), []);
    }

    #[test]
    fn a_paste_is_one_text() {
        let paste = b"\x1b[200~today\r\x1b[A\x1b[201~q";
        let expected = [
            Input::Paste("today\r\x1b[A".to_owned()),
            Input::Key(Key::Char('q')),
        ];
        for cut in 0..paste.len() {
            let (mut decoder, mut inputs) = (Decoder::default(), VecDeque::new());
            decoder.take(&paste[..cut], &mut inputs);
            decoder.take(&paste[cut..], &mut inputs);
            assert_eq!(inputs, expected, "{cut}");
        }
        let (mut decoder, mut inputs) = (Decoder::default(), VecDeque::new());
        decoder.take(b"\x1b[200~", &mut inputs);
        for _ in 0..100 {
            decoder.take(&[b'd'; 4096], &mut inputs);
        }
        assert!(inputs.is_empty() && decoder.waiting.len() < 10);
        decoder.take(PASTE_END, &mut inputs);
        assert!(matches!(&inputs[0], Input::Paste(text) if text.len() == PASTE_MAX));
    }

    #[test]
    fn keys_with_alt_and_unknown_sequences_are_nothing() {
        let unknown = b"\x1bd\x1b\xc3\xa9\x1b[1;3A\x1b[2~\x1b[99~\x1b[I\x1bOx\xff\x1b[?62;c";
        assert_eq!(all(unknown), []);
        // A broken sequence takes no key with it.
        assert_eq!(all(b"\x1b[1\rj")[1], Input::Key(Key::Char('j')));
        assert_eq!(all(b"\x1b\x1b"), [Key::Esc, Key::Esc].map(Input::Key));
        let (mut decoder, mut inputs) = (Decoder::default(), VecDeque::new());
        for _ in 0..100 {
            decoder.take(b"\x1b[", &mut inputs);
            decoder.take(&[b'1'; 4096], &mut inputs);
            assert!(decoder.waiting.len() < 5000);
        }
    }
}
