// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names that lie close together.

/// Where a name lies among the names of its worker.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(super) struct NameAt {
    pub(super) offset: u32,
    pub(super) chunk: u16,
}

/// Names in chunks that never move, each behind its length.
#[derive(Default)]
pub(super) struct Names {
    chunks: Vec<Vec<u8>>,
}

impl Names {
    /// 65,536 chunks hold a terabyte of names; only the first pages that are
    /// written take memory.
    const CHUNK_BYTES: usize = 16 << 20;
    const FIRST_CHUNK_BYTES: usize = 16 << 10;
    /// Stands before names whose length takes four bytes more. Most file
    /// systems end at 255 bytes; those that keep UTF-16 give up to 1,560.
    const LONG: u8 = u8::MAX;

    pub(super) fn push(&mut self, name: &[u8]) -> NameAt {
        let bytes = name.len() + 5;
        let full = self
            .chunks
            .last()
            .is_none_or(|chunk| chunk.capacity() - chunk.len() < bytes);
        if full {
            let size = match self.chunks.len() {
                0 => Self::FIRST_CHUNK_BYTES,
                1..=10 => Self::FIRST_CHUNK_BYTES << self.chunks.len(),
                _ => Self::CHUNK_BYTES,
            };
            self.chunks.push(Vec::with_capacity(size.max(bytes)));
        }
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        let offset = chunk.len();
        match u8::try_from(name.len()) {
            Ok(length) if length != Self::LONG => chunk.push(length),
            _ => {
                chunk.push(Self::LONG);
                chunk.extend_from_slice(&(name.len() as u32).to_le_bytes());
            }
        }
        chunk.extend_from_slice(name);
        NameAt {
            chunk: index as u16,
            offset: offset as u32,
        }
    }

    /// The memory of the names that are there, and of the list of chunks.
    pub(super) fn memory_bytes(&self) -> usize {
        let names: usize = self.chunks.iter().map(Vec::len).sum();
        names + self.chunks.capacity() * size_of::<Vec<u8>>()
    }

    #[inline]
    pub(super) fn get(&self, at: NameAt) -> &[u8] {
        let start = at.offset as usize;
        let behind = &self.chunks[usize::from(at.chunk)][start..];
        match behind {
            [Self::LONG, a, b, c, d, rest @ ..] => {
                &rest[..u32::from_le_bytes([*a, *b, *c, *d]) as usize]
            }
            [length, rest @ ..] => &rest[..usize::from(*length)],
            [] => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_come_back() {
        let mut names = Names::default();
        let lengths = [0, 1, 254, 255, 256, 1_560, 100_000];
        let places: Vec<_> = (0..3)
            .flat_map(|_| lengths)
            .map(|length| (length, names.push(&vec![length as u8; length])))
            .collect();
        for (length, at) in places {
            assert_eq!(names.get(at), vec![length as u8; length]);
        }
    }
}
