// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text of a `.trashinfo` file, and the names in a trash.
//!
//! Format: the FreeDesktop.org Trash specification, version 1.0.

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::now::Now;

/// The ending of the files in `info`.
pub(crate) const ENDING: &[u8] = b".trashinfo";

/// The longest name that common file systems take.
const NAME_MAX: usize = 255;

/// The text for an item that was at `path`: absolute, or relative to the trash's mount point.
pub(crate) fn text(path: &[u8], now: Now) -> Vec<u8> {
    let mut text = b"[Trash Info]\nPath=".to_vec();
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(byte);
            }
            byte => text.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    text.extend_from_slice(format!("\nDeletionDate={}\n", date(now)).as_bytes());
    text
}

/// The local date; the epoch where a clock shows no date at all.
fn date(now: Now) -> String {
    let moment = Timestamp::from_second(now.seconds).unwrap_or_default();
    let offset = Offset::from_seconds(now.offset_s).unwrap_or(Offset::UTC);
    offset
        .to_datetime(moment)
        .strftime("%Y-%m-%dT%H:%M:%S")
        .to_string()
}

/// The name in the trash at the n-th attempt: `name`, `name.2`, `name.3`.
pub(crate) fn name_in_trash(name: &[u8], attempt: u32) -> Vec<u8> {
    match attempt {
        1 => name_with(name, ""),
        n => name_with(name, &format!(".{n}")),
    }
}

/// A name with a suffix. Long names are cut.
pub(crate) fn name_with(name: &[u8], suffix: &str) -> Vec<u8> {
    let mut room = NAME_MAX - ENDING.len() - suffix.len();
    if name.len() > room {
        // Not within a character.
        while name.get(room).is_some_and(|byte| byte & 0xc0 == 0x80) && room > 200 {
            room -= 1;
        }
    }
    [&name[..name.len().min(room)], suffix.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_escaped_bytes_and_local_time() {
        let now = Now {
            seconds: 951_782_400,
            offset_s: 3_600,
        };
        let text = text(b"/a b/%\n\xff.txt", now);
        let expected =
            "[Trash Info]\nPath=/a%20b/%25%0A%FF.txt\nDeletionDate=2000-02-29T01:00:00\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn names_leave_room_for_the_ending() {
        assert_eq!(name_in_trash(b"a", 1), b"a");
        assert_eq!(name_in_trash(b"a", 12), b"a.12");
        let long = "ä".repeat(127);
        let cut = name_in_trash(long.as_bytes(), 10);
        assert!(cut.len() + ENDING.len() <= NAME_MAX);
        assert!(String::from_utf8(cut).unwrap().ends_with("ä.10"));
    }
}
