// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows as bytes, for files that live as long as a merge.
//!
//! A record is the length of its key and of the whole (32 bits each), the key and the value. The
//! key of a row is the number of its directory (32 bits, big-endian) and its name, so that the
//! order of the bytes is that of the rows. The files are read by the program that wrote them.

use crate::error::Error;
use crate::part::{Rows, TIMES};

/// The bytes before the key of a record.
pub(crate) const HEAD_BYTES: usize = 8;

/// Adds a record.
pub(crate) fn push_record(to: &mut Vec<u8>, key: &[&[u8]], value: impl FnOnce(&mut Vec<u8>)) {
    let begin = to.len();
    to.extend_from_slice(&[0; HEAD_BYTES]);
    key.iter().for_each(|part| to.extend_from_slice(part));
    let key_bytes = to.len() - begin - HEAD_BYTES;
    value(to);
    let bytes = to.len() - begin - HEAD_BYTES;
    to[begin..begin + 4].copy_from_slice(&(key_bytes as u32).to_le_bytes());
    to[begin + 4..begin + 8].copy_from_slice(&(bytes as u32).to_le_bytes());
}

/// The lengths of the key and of the whole in the head of a record.
pub(crate) fn lengths(head: &[u8]) -> (usize, usize) {
    let of = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    (of(0) as usize, of(4) as usize)
}

/// Which columns the rows of a scan have: one bit for each, in the order of [`columns`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout(u32);

/// Calls a macro with each column, its type and its bit.
macro_rules! columns {
    ($call:ident) => {
        $call! {
            modes u16 0, uids u32 1, gids u32 2, links u32 3, flags u32 4, flags_masks u32 5,
            rdevs u64 6, sizes u64 7, allocated u64 8, inos u64 9, devs u64 10
        }
    };
}

impl Layout {
    /// That of rows, of which there is one at least.
    pub(crate) fn of(rows: &Rows) -> Layout {
        let mut bits = 0;
        macro_rules! add {
            ($($column:ident $type:ident $bit:literal),+) => {
                $(if !rows.$column.is_empty() {
                    bits |= 1 << $bit;
                })+
            };
        }
        columns!(add);
        for (time, column) in rows.times.iter().enumerate() {
            if !column.is_empty() {
                bits |= 1 << (16 + time);
            }
        }
        Layout(bits)
    }

    fn has(self, bit: u32) -> bool {
        self.0 & (1 << bit) != 0
    }
}

/// Adds the value of a row: all but its directory and its name. `child` is the number of the
/// directory that it is.
pub(crate) fn push_row(rows: &Rows, row: usize, child: u32, to: &mut Vec<u8>) {
    to.extend_from_slice(&child.to_le_bytes());
    to.extend_from_slice(&[rows.marks[row], rows.kinds[row]]);
    macro_rules! push {
        ($($column:ident $type:ident $bit:literal),+) => {
            $(if let Some(value) = rows.$column.get(row) {
                to.extend_from_slice(&value.to_le_bytes());
            })+
        };
    }
    columns!(push);
    for column in &rows.times {
        if let Some(value) = column.get(row) {
            to.extend_from_slice(&value.to_le_bytes());
        }
    }
    // Rare facts at the end, each with what it is.
    for time in 0..TIMES {
        if let Some(seconds) = rows.odd_time(time, row) {
            to.push(time as u8);
            to.extend_from_slice(&seconds.to_le_bytes());
        }
    }
    if let Some(errno) = rows.refusal(row) {
        to.push(REFUSAL);
        to.extend_from_slice(&i64::from(errno).to_le_bytes());
    }
}

/// Marks the error number of a refusal among the rare facts.
const REFUSAL: u8 = 255;

/// Adds a row from its directory, its name, and its value. Gives the number of the directory
/// that it is.
pub(crate) fn read_row(
    layout: Layout,
    (dir, name): (u32, &[u8]),
    mut value: &[u8],
    rows: &mut Rows,
) -> Result<u32, Error> {
    let row = rows.len() as u32;
    let short = || Error::damaged("a row on the disk is too short");
    let child = u32::from_le_bytes(take(&mut value).ok_or_else(short)?);
    let [marks, kind] = take(&mut value).ok_or_else(short)?;
    rows.dirs.push(dir);
    rows.names.extend_from_slice(name);
    rows.ends.push(rows.names.len());
    rows.marks.push(marks);
    rows.kinds.push(kind);
    macro_rules! read {
        ($($column:ident $type:ident $bit:literal),+) => {
            $(if layout.has($bit) {
                let bytes = take(&mut value).ok_or_else(short)?;
                rows.$column.push($type::from_le_bytes(bytes));
            })+
        };
    }
    columns!(read);
    for (time, column) in rows.times.iter_mut().enumerate() {
        if layout.has(16 + time as u32) {
            column.push(i64::from_le_bytes(take(&mut value).ok_or_else(short)?));
        }
    }
    while !value.is_empty() {
        let [fact] = take(&mut value).ok_or_else(short)?;
        let number = i64::from_le_bytes(take(&mut value).ok_or_else(short)?);
        match fact {
            REFUSAL => rows.refusals.push((row, number as i32)),
            time => rows.odd_times.push((row, time, number)),
        }
    }
    Ok(child)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::mark;

    #[test]
    fn a_row_comes_back_from_its_bytes() {
        let rows = Rows {
            dirs: vec![3, 4],
            names: b"onetwo".to_vec(),
            ends: vec![3, 6],
            marks: vec![mark::KNOWN, mark::ROOT],
            kinds: vec![0, 1],
            sizes: vec![u64::MAX, 7],
            links: vec![2, 3],
            times: [vec![], vec![], vec![-1, i64::MIN], vec![]],
            odd_times: vec![(0, 2, 9), (1, 0, -9), (1, 3, 8)],
            refusals: vec![(1, 13)],
            ..Rows::default()
        };
        let layout = Layout::of(&rows);
        let mut again = Rows::default();
        for row in 0..2 {
            let mut value = Vec::new();
            push_row(&rows, row, 77, &mut value);
            let key = (rows.dirs[row], rows.name(row));
            assert_eq!(read_row(layout, key, &value, &mut again).unwrap(), 77);
            for end in 0..value.len() {
                // Whole facts can be missing, and no more.
                let _ = read_row(layout, key, &value[..end], &mut Rows::default());
            }
        }
        assert_eq!(
            (again.names, again.ends, again.dirs),
            (rows.names, rows.ends, rows.dirs)
        );
        assert_eq!((again.sizes, again.links), (rows.sizes, rows.links));
        assert_eq!((again.times, again.odd_times), (rows.times, rows.odd_times));
        assert_eq!((again.marks, again.refusals), (rows.marks, rows.refusals));
    }
}
