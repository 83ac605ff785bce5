// SPDX-License-Identifier: MIT OR Apache-2.0

//! Walks through structures in Thrift's compact protocol before the library decodes them.
//!
//! A damaged file can claim a list of 2^31 elements, for which the library takes memory at
//! once. Here each length is compared with the bytes that are there. The protocol is described
//! in Thrift's own "Thrift compact protocol encoding".

/// The deepest structure of a footer has five levels.
const DEPTH_MAX: u32 = 12;

/// The sizes that a page header claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageSizes {
    /// The length of the header itself.
    pub(crate) header_bytes: usize,
    pub(crate) uncompressed_bytes: i64,
    pub(crate) compressed_bytes: i64,
    pub(crate) values: i64,
}

/// Checks a structure. Gives its length; absent if it does not end, or has a list of more than
/// so many elements.
pub(crate) fn check(bytes: &[u8], list_max: usize) -> Option<usize> {
    let mut walk = Walk::new(bytes, list_max);
    walk.structure(&mut Vec::new(), &mut |_, _| {})?;
    Some(walk.at)
}

/// The sizes in a page header, which a page begins with.
pub(crate) fn page_sizes(bytes: &[u8]) -> Option<PageSizes> {
    let mut sizes = PageSizes::default();
    // A page header has statistics at most, and no list.
    let mut walk = Walk::new(bytes, 64);
    walk.structure(&mut Vec::new(), &mut |path, value| match path {
        [2] => sizes.uncompressed_bytes = value,
        [3] => sizes.compressed_bytes = value,
        // In the header of a data page, of a dictionary, and of a data page of version 2.
        [5 | 7 | 8, 1] => sizes.values = value,
        _ => {}
    })?;
    sizes.header_bytes = walk.at;
    Some(sizes)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    list_max: usize,
}

/// Gets each number: the numbers of the fields that lead to it, and its value.
type Found<'f> = dyn FnMut(&[i64], i64) + 'f;

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8], list_max: usize) -> Walk<'a> {
        Walk {
            bytes,
            at: 0,
            list_max,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        let end = self.at.checked_add(count)?;
        self.at = (end <= self.bytes.len()).then_some(end)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn structure(&mut self, path: &mut Vec<i64>, found: &mut Found<'_>) -> Option<()> {
        if path.len() as u32 >= DEPTH_MAX {
            return None;
        }
        let mut field: i64 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.zigzag()?,
                delta => field.checked_add(i64::from(delta))?,
            };
            path.push(field);
            match head & 15 {
                // Booleans have their value in the head.
                1 | 2 => {}
                kind => self.value(kind, path, found)?,
            }
            path.pop();
        }
    }

    fn value(&mut self, kind: u8, path: &mut Vec<i64>, found: &mut Found<'_>) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let value = self.zigzag()?;
                found(path, value);
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let count = usize::try_from(self.varint()?).ok()?;
                self.skip(count)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => usize::try_from(self.varint()?).ok()?,
                    count => usize::from(count),
                };
                // An element has a byte at least.
                if count > self.list_max || count > self.bytes.len() - self.at {
                    return None;
                }
                path.push(-1);
                for _ in 0..count {
                    self.value(head & 15, path, found)?;
                }
                path.pop();
                Some(())
            }
            12 => self.structure(path, found),
            // No structure of Parquet has a map.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_header_gives_its_sizes() {
        // type 0, uncompressed 300, compressed 5, and a data page header with 7 values.
        let header = [
            0x15, 0, 0x15, 0xD8, 0x04, 0x15, 0x0A, 0x2C, 0x15, 0x0E, 0, 0, 99,
        ];
        let sizes = PageSizes {
            header_bytes: 12,
            uncompressed_bytes: 300,
            compressed_bytes: 5,
            values: 7,
        };
        assert_eq!(page_sizes(&header), Some(sizes));
        for end in 0..12 {
            assert_eq!(page_sizes(&header[..end]), None);
        }
    }

    #[test]
    fn a_list_or_a_text_beyond_the_end_is_refused() {
        // A list of 2^31 elements, and one of 3 of which none is there.
        assert_eq!(
            check(&[0x19, 0xF5, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0], usize::MAX),
            None
        );
        assert_eq!(check(&[0x19, 0x35], usize::MAX), None);
        assert_eq!(check(&[0x19, 0x35, 2, 2, 2, 0], 3), Some(6));
        assert_eq!(check(&[0x19, 0x35, 2, 2, 2, 0], 2), None);
        assert_eq!(check(&[0x18, 0xFF, 0xFF, 0xFF, 0x7F, 0], 9), None);
        // Structures in structures without an end.
        assert_eq!(check(&[0x1C; 4000], 9), None);
        assert_eq!(check(&[0x1B, 0, 0], 9), None);
    }
}
