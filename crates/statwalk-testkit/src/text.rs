// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text form of a tree: one line per entry, as a listing would show it.
//!
//! ```text
//! # lines that begin with `#` are comments
//! ./            mode=755            the root's own attributes
//! dir/          mode=000            a directory ends with a slash
//! dir/file      100                 a file of 100 bytes
//! dir/sparse    1T sparse           one hole of 1 TiB; suffixes K M G T are powers of 1024
//! dir/mixed     1M data=4K          4 KiB of data, then a hole
//! link          -> dir/file         a symbolic link
//! second        = dir/file          one more name of an earlier entry
//! pipe          fifo
//! sock          socket
//! null          char 1:3
//! loop          block 7:0
//! old           0 mtime=-1+500000000   half a second before 1970
//! ```
//!
//! (The explanations on the right are not part of the form.)
//!
//! Names and targets are bytes. In them `\n`, `\t`, `\r`, `\e` (ESC), `\s`
//! (space), `\\`, `\xHH` and `\u{HEX}` (UTF-8) stand for other bytes.
//! Parents come before their entries.

use std::collections::HashMap;
use std::fmt::Write;

use crate::model::{Model, Node, NodeId, NodeKind, Timestamp};

/// A line that is not in the text form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// The fault.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a tree from its text form.
///
/// # Errors
///
/// The first line that makes no sense, or that describes an impossible entry.
///
/// # Examples
///
/// ```
/// let tree = statwalk_testkit::text::parse("
///     a/
///     a/file   100
///     b        = a/file
/// ")?;
/// assert_eq!(tree.totals().entries, 4);
/// assert_eq!(tree.totals().file_size_bytes, 100);
/// # Ok::<(), statwalk_testkit::text::ParseError>(())
/// ```
pub fn parse(text: &str) -> Result<Model, ParseError> {
    let mut model = Model::new();
    let mut known = HashMap::from([(Vec::new(), Model::ROOT)]);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        parse_line(line, &mut model, &mut known).map_err(|message| ParseError {
            line: index + 1,
            message,
        })?;
    }
    Ok(model)
}

fn parse_line(
    line: &str,
    model: &mut Model,
    known: &mut HashMap<Vec<u8>, NodeId>,
) -> Result<(), String> {
    let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
    let first = words.remove(0);
    let mut mode = None;
    let mut mtime = None;
    while let Some(word) = words.last() {
        if let Some(octal) = word.strip_prefix("mode=") {
            mode = Some(u32::from_str_radix(octal, 8).map_err(|e| format!("{word}: {e}"))?);
        } else if let Some(time) = word.strip_prefix("mtime=") {
            mtime = Some(parse_time(time).ok_or_else(|| format!("not a time: {word}"))?);
        } else {
            break;
        }
        words.pop();
    }

    let id = if first == "./" {
        Model::ROOT
    } else {
        let (path, kind) = match first.strip_suffix('/') {
            Some(path) if words.is_empty() => (path, NodeKind::Directory),
            Some(_) => return Err(format!("a directory takes nothing: {}", words.join(" "))),
            None => (first, parse_kind(&words, known)?),
        };
        let path = unescape(path)?;
        let (parent, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&path[..0], &path[..]),
        };
        let parent = *known
            .get(parent)
            .ok_or("its directory must come before it")?;
        let id = model
            .add(parent, name, kind)
            .map_err(|refused| format!("{refused:?}"))?;
        known.insert(path, id);
        id
    };
    if let Some(mode) = mode {
        model.set_mode(id, mode);
    }
    if let Some(mtime) = mtime {
        model.set_mtime(id, mtime);
    }
    Ok(())
}

fn parse_kind(words: &[&str], known: &HashMap<Vec<u8>, NodeId>) -> Result<NodeKind, String> {
    match words {
        ["->", target] => Ok(NodeKind::Symlink {
            target: unescape(target)?,
        }),
        ["=", path] => {
            let to = *known
                .get(&unescape(path)?)
                .ok_or(format!("no entry {path} before this"))?;
            Ok(NodeKind::HardLink { to })
        }
        ["fifo"] => Ok(NodeKind::Fifo),
        ["socket"] => Ok(NodeKind::Socket),
        ["char", device] => {
            let (major, minor) = parse_device(device)?;
            Ok(NodeKind::CharDevice { major, minor })
        }
        ["block", device] => {
            let (major, minor) = parse_device(device)?;
            Ok(NodeKind::BlockDevice { major, minor })
        }
        [size] => Ok(NodeKind::file(parse_size(size)?)),
        [size, "sparse"] => Ok(NodeKind::hole(parse_size(size)?)),
        [size, data] if data.starts_with("data=") => {
            let (size_bytes, data_bytes) = (parse_size(size)?, parse_size(&data["data=".len()..])?);
            if data_bytes > size_bytes {
                return Err("more data than size".to_owned());
            }
            Ok(NodeKind::File {
                size_bytes,
                data_bytes,
            })
        }
        _ => Err(format!("not a kind of entry: {:?}", words.join(" "))),
    }
}

fn parse_size(word: &str) -> Result<u64, String> {
    let (digits, shift) = match word.as_bytes().last() {
        Some(b'K') => (&word[..word.len() - 1], 10),
        Some(b'M') => (&word[..word.len() - 1], 20),
        Some(b'G') => (&word[..word.len() - 1], 30),
        Some(b'T') => (&word[..word.len() - 1], 40),
        _ => (word, 0),
    };
    let number: u64 = digits
        .parse()
        .map_err(|e| format!("not a size: {word}: {e}"))?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| format!("too large: {word}"))
}

fn parse_device(word: &str) -> Result<(u32, u32), String> {
    let numbers = word
        .split_once(':')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    numbers.ok_or_else(|| format!("not MAJOR:MINOR: {word}"))
}

/// `SECONDS` or `SECONDS+NANOSECONDS`; the nanoseconds are always added.
fn parse_time(word: &str) -> Option<Timestamp> {
    let (secs, nanos) = word.split_once('+').unwrap_or((word, "0"));
    let time = Timestamp {
        secs: secs.parse().ok()?,
        nanos: nanos.parse().ok()?,
    };
    (time.nanos < 1_000_000_000).then_some(time)
}

/// Turns an escaped name into its bytes.
///
/// # Errors
///
/// Says which escape is not known.
pub fn unescape(word: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some(position) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..position]);
        let escape = &rest[position + 1..];
        let wrong = || format!("not an escape: {}", &rest[position..]);
        let letter = escape.chars().next().ok_or_else(wrong)?;
        rest = &escape[letter.len_utf8()..];
        match letter {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'e' => bytes.push(0x1b),
            's' => bytes.push(b' '),
            '\\' => bytes.push(b'\\'),
            'x' => {
                let digits = rest.get(..2).ok_or_else(wrong)?;
                bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest
                    .strip_prefix('{')
                    .and_then(|inner| inner.split_once('}'))
                    .ok_or_else(wrong)?;
                let code = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
                let character = char::from_u32(code).ok_or_else(wrong)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
            }
            _ => return Err(wrong()),
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// Writes the bytes of a name in visible ASCII, for [`unescape`].
pub fn escape(bytes: &[u8]) -> String {
    let mut word = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\n' => word.push_str("\\n"),
            b'\t' => word.push_str("\\t"),
            b'\r' => word.push_str("\\r"),
            0x1b => word.push_str("\\e"),
            b' ' => word.push_str("\\s"),
            b'\\' => word.push_str("\\\\"),
            // At the start of a line it would begin a comment.
            b'#' => word.push_str("\\x23"),
            0x21..=0x7e => word.push(char::from(byte)),
            _ => write!(word, "\\x{byte:02x}").expect("a String takes everything"),
        }
    }
    word
}

/// Writes a tree in its text form; [`parse`] makes the same tree of it.
pub fn format(model: &Model) -> String {
    let mut text = String::new();
    for (id, node) in model.nodes() {
        let line = format_line(model, id, node);
        if !line.is_empty() {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

fn format_line(model: &Model, id: NodeId, node: &Node) -> String {
    let mut line = if id == Model::ROOT {
        // The root has a line only for attributes.
        if node.mode.is_none() && node.mtime.is_none() {
            return String::new();
        }
        ".".to_owned()
    } else {
        escape(&model.path(id))
    };
    match &node.kind {
        NodeKind::Directory => line.push('/'),
        NodeKind::File {
            size_bytes,
            data_bytes,
        } if size_bytes == data_bytes => {
            line += &format!("  {size_bytes}");
        }
        NodeKind::File {
            size_bytes,
            data_bytes: 0,
        } => line += &format!("  {size_bytes} sparse"),
        NodeKind::File {
            size_bytes,
            data_bytes,
        } => {
            line += &format!("  {size_bytes} data={data_bytes}");
        }
        NodeKind::Symlink { target } => line += &format!("  -> {}", escape(target)),
        NodeKind::Fifo => line += "  fifo",
        NodeKind::Socket => line += "  socket",
        NodeKind::CharDevice { major, minor } => line += &format!("  char {major}:{minor}"),
        NodeKind::BlockDevice { major, minor } => line += &format!("  block {major}:{minor}"),
        NodeKind::HardLink { to } => line += &format!("  = {}", escape(&model.path(*to))),
    }
    if let Some(mode) = node.mode {
        line += &format!(" mode={mode:03o}");
    }
    if let Some(Timestamp { secs, nanos }) = node.mtime {
        line += &match nanos {
            0 => format!(" mtime={secs}"),
            _ => format!(" mtime={secs}+{nanos}"),
        };
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EntryType;

    const EVERYTHING: &str = "\
./ mode=755 mtime=7
dir/ mode=000
dir/file  100 mode=640 mtime=-1+500000000
dir/sparse  1099511627776 sparse
dir/mixed  1048576 data=4096
link  -> dir/file mtime=3
second  = dir/file
third  = link
pipe  fifo
sock  socket
null  char 1:3
loop  block 7:0
\\x23\\s\\n\\e[31m\\xff\\\\  0
";

    #[test]
    fn what_is_written_reads_as_the_same_tree() {
        let model = parse(EVERYTHING).unwrap();
        assert_eq!(format(&model), EVERYTHING);
        assert_eq!(parse(&format(&model)).unwrap(), model);
    }

    #[test]
    fn a_tree_is_what_its_lines_say() {
        let model = parse(EVERYTHING).unwrap();
        let entries = model.entries();
        let types: String = entries
            .iter()
            .map(|(_, entry_type)| entry_type.letter())
            .collect();
        assert_eq!(types, "dfdffflbcpfsl");
        assert_eq!(
            entries[1],
            (b"# \n\x1b[31m\xff\\".to_vec(), EntryType::File)
        );
        let totals = model.totals();
        assert_eq!(totals.extra_hard_links, 2);
        assert_eq!(totals.file_size_bytes, 100 + (1 << 40) + (1 << 20));
        assert_eq!(
            totals.apparent_bytes,
            totals.file_size_bytes + "dir/file".len() as u128
        );
    }

    #[test]
    fn sizes_have_suffixes_and_unicode_has_escapes() {
        let model = parse("a\\u{202e}b 3K sparse").unwrap();
        assert_eq!(model.entries()[1].0, "a\u{202e}b".as_bytes());
        assert_eq!(model.totals().file_size_bytes, 3072);
    }

    #[test]
    fn an_error_names_its_line() {
        let check = |text: &str, message: &str| {
            let error = parse(text).unwrap_err();
            assert!(error.message.contains(message), "{text:?}: {error}");
            assert_eq!(error.line, text.lines().count(), "{text:?}: {error}");
        };
        check("a 1\na 2", "Taken");
        check("a/b 1", "its directory must come before it");
        check("a 1\na/b 1", "Parent");
        check("a/ 1", "a directory takes nothing");
        check("a 1X", "not a size");
        check("a 99999999T", "too large");
        check("a = b", "no entry b before this");
        check("d/\na = d", "HardLink");
        check("a 1 data=2", "more data than size");
        check("a char 1", "not MAJOR:MINOR");
        check("a 0 mtime=1+1000000000", "not a time");
        check("a 0 mode=8", "mode=8");
        check("a\\q 0", "not an escape");
        check("a\\x4 0", "not an escape");
        check("a", "not a kind of entry");
        check("..  1", "Name");
    }
}
