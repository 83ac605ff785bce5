// SPDX-License-Identifier: MIT OR Apache-2.0

//! The columns of a block as bytes.
//!
//! Little-endian: the length of a header as u32, the header with blanks behind it, then
//! columns, each of which begins at a multiple of 8. The header is JSON. It has the number
//! of nodes, and of each column its type, its place and its length.
//!
//! Most columns are in planes: the lowest bytes of all numbers, then the next ones, and so
//! on. Most numbers are small, so in most planes all bytes are one, and these are left out.

use std::fmt::Write;

use crate::deflate::Deflate;

const ALIGNMENT: usize = 8;

pub(crate) struct Column<'c> {
    name: &'static str,
    numbers: Numbers<'c>,
}

/// The numbers of a column, in parts that stand one after another.
pub(crate) enum Numbers<'c> {
    U8(Vec<&'c [u8]>),
    U32(Vec<&'c [u32]>),
    /// Of each number by how much it is above the one before; the first is above this one.
    Steps(u32, Vec<&'c [u32]>),
    /// Of ends, which begin anew in each part, the lengths.
    Lengths(Vec<&'c [u32]>),
    U64(Vec<&'c [u64]>),
    /// Each whole: neighbours are equal.
    I64(Vec<&'c [i64]>),
    /// Of any length.
    Bytes(Vec<&'c [u8]>),
}

/// A part of a column that is packed at once. Only bytes have more than one.
pub(crate) struct Piece<'c> {
    column: &'c Column<'c>,
    /// A part of [`Numbers::Bytes`]; of others empty.
    part: &'c [u8],
    /// Where it begins in the column.
    start: usize,
    /// Whether the column ends here.
    is_last: bool,
}

/// A piece as it is in the file.
pub(crate) struct Packed {
    /// The name and the type, where the column begins here.
    begins: Option<(&'static str, &'static str)>,
    /// Of each plane the byte that all of it is, in JSON; absent without planes.
    planes: Option<String>,
    byte_count: usize,
    deflated: String,
}

impl<'c> Column<'c> {
    pub(crate) fn new(name: &'static str, numbers: Numbers<'c>) -> Column<'c> {
        Column { name, numbers }
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut parts: Vec<&[u8]> = match &self.numbers {
            Numbers::Bytes(all) => {
                let parts = all
                    .iter()
                    .flat_map(|part| part.chunks(Deflate::PIECE_BYTES));
                parts.collect()
            }
            _ => Vec::new(),
        };
        if parts.is_empty() {
            parts.push(&[]);
        }
        let (count, mut end) = (parts.len(), 0);
        (parts.into_iter().enumerate()).map(move |(at, part)| {
            let start = end;
            end += part.len();
            Piece {
                column: self,
                part,
                start,
                is_last: at + 1 == count,
            }
        })
    }
}

impl Numbers<'_> {
    fn name(&self) -> &'static str {
        match self {
            Numbers::U8(_) => "u8",
            Numbers::U32(_) | Numbers::Steps(..) | Numbers::Lengths(_) => "u32",
            Numbers::U64(_) => "u64",
            Numbers::I64(_) => "i64",
            Numbers::Bytes(_) => "bytes",
        }
    }

    /// How many planes it has; none where it is in one piece.
    fn planes(&self) -> usize {
        match self {
            Numbers::U8(_) => 1,
            Numbers::U32(_) | Numbers::Steps(..) | Numbers::Lengths(_) => 4,
            Numbers::U64(_) => 8,
            Numbers::I64(_) | Numbers::Bytes(_) => 0,
        }
    }

    /// Adds the bytes at a place of all numbers.
    fn add_plane(&self, byte: usize, to: &mut Vec<u8>) {
        match self {
            Numbers::U8(parts) => parts.iter().for_each(|part| to.extend_from_slice(part)),
            Numbers::U32(parts) => {
                let plane = |part: &&[u32]| to.extend(part.iter().map(|n| (n >> (8 * byte)) as u8));
                parts.iter().for_each(plane);
            }
            Numbers::U64(parts) => {
                let plane = |part: &&[u64]| to.extend(part.iter().map(|n| (n >> (8 * byte)) as u8));
                parts.iter().for_each(plane);
            }
            Numbers::Steps(..) | Numbers::Lengths(_) | Numbers::I64(_) | Numbers::Bytes(_) => {}
        }
    }

    /// Numbers that are computed only here, by the thread that packs them.
    fn computed(&self) -> Option<Vec<u32>> {
        let mut computed = Vec::new();
        match self {
            Numbers::Steps(before, parts) => {
                let mut before = *before;
                for &number in parts.iter().copied().flatten() {
                    computed.push(number.wrapping_sub(before));
                    before = number;
                }
            }
            Numbers::Lengths(parts) => {
                for part in parts {
                    let starts = [0].into_iter().chain(part.iter().copied());
                    computed.extend(part.iter().zip(starts).map(|(end, start)| end - start));
                }
            }
            _ => return None,
        }
        Some(computed)
    }
}

impl Piece<'_> {
    pub(crate) fn packed(&self, deflate: &mut Deflate) -> Packed {
        let computed = self.column.numbers.computed();
        let numbers = match &computed {
            Some(computed) => &Numbers::U32(vec![computed]),
            None => &self.column.numbers,
        };
        let mut bytes = std::mem::take(&mut deflate.plain);
        bytes.clear();
        let mut planes = Vec::new();
        for byte in 0..numbers.planes() {
            let start = bytes.len();
            numbers.add_plane(byte, &mut bytes);
            let plane = &bytes[start..];
            let first = plane.first().copied().unwrap_or(0);
            let is_one = plane.iter().all(|&byte| byte == first);
            planes.push(is_one.then_some(first));
            if is_one {
                bytes.truncate(start);
            }
        }
        match numbers {
            Numbers::I64(parts) => {
                for part in parts {
                    bytes.extend(part.iter().flat_map(|n| n.to_le_bytes()));
                }
            }
            Numbers::Bytes(_) => bytes.extend_from_slice(self.part),
            _ => {}
        }
        let byte_count = bytes.len();
        if self.is_last {
            let end = (self.start + byte_count).next_multiple_of(ALIGNMENT);
            bytes.resize(end - self.start, 0);
        }
        let deflated = deflate.piece(&bytes);
        deflate.plain = bytes;
        let name = self.column.name;
        Packed {
            begins: (self.start == 0).then(|| (name, numbers.name())),
            planes: (!planes.is_empty()).then(|| json(&planes)),
            byte_count,
            deflated,
        }
    }
}

fn json(planes: &[Option<u8>]) -> String {
    let planes = planes.iter().map(|byte| match byte {
        Some(byte) => byte.to_string(),
        None => "null".to_owned(),
    });
    planes.collect::<Vec<_>>().join(",")
}

/// The block of so many nodes as raw DEFLATE in base64, a piece a line.
pub(crate) fn block_of(nodes: usize, pieces: Vec<Packed>) -> Vec<String> {
    let mut columns = String::new();
    let mut at = 0;
    let mut all = pieces.iter().peekable();
    while let Some(first) = all.next() {
        let (name, kind) = first.begins.expect("a column begins with its first piece");
        let mut bytes = first.byte_count;
        while let Some(next) = all.next_if(|next| next.begins.is_none()) {
            bytes += next.byte_count;
        }
        let comma = if columns.is_empty() { "" } else { "," };
        let place = format!(r#"{comma}"{name}":{{"type":"{kind}","at":{at},"bytes":{bytes}"#);
        columns.push_str(&place);
        if let Some(planes) = &first.planes {
            let _ = write!(columns, r#","planes":[{planes}]"#);
        }
        columns.push('}');
        at += bytes.next_multiple_of(ALIGNMENT);
    }
    let mut header = format!(r#"{{"nodes":{nodes},"columns":{{{columns}}}}}"#);
    while !(4 + header.len()).is_multiple_of(ALIGNMENT) {
        header.push(' ');
    }
    // It has a few lines.
    let length = (header.len() as u32).to_le_bytes();
    let header = [&length[..], header.as_bytes()].concat();
    let header = Deflate::default().piece(&header);
    let pieces = pieces.into_iter().map(|piece| piece.deflated);
    [header].into_iter().chain(pieces).collect()
}
