// SPDX-License-Identifier: MIT OR Apache-2.0

//! A list that grows without copies.

use std::ops::{Index, IndexMut};

/// A list in chunks. The first are small and double, so that few things take
/// little; the others have one size, so that many do not take twice their room.
pub(crate) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
}

const FIRST_POWER: u32 = 4;
const LAST_POWER: u32 = 10;
/// How many chunks are smaller than the last.
const DOUBLING: usize = (LAST_POWER - FIRST_POWER) as usize;

impl<T> Default for Chunks<T> {
    fn default() -> Chunks<T> {
        Chunks { chunks: Vec::new() }
    }
}

impl<T> Chunks<T> {
    /// How many things are in it: 2^32 of an inode's 12 bytes and more would not
    /// fit into memory.
    pub(crate) fn len(&self) -> u32 {
        match self.chunks.split_last() {
            Some((last, full)) => start_of(full.len()) + last.len() as u32,
            None => 0,
        }
    }

    pub(crate) fn push(&mut self, value: T) {
        let (chunk, offset) = place_of(self.len());
        if offset == 0 {
            let power = FIRST_POWER + chunk.min(DOUBLING) as u32;
            self.chunks.push(Vec::with_capacity(1 << power));
        }
        self.chunks[chunk].push(value);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }
}

impl<T> Index<u32> for Chunks<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        let (chunk, offset) = place_of(index);
        &self.chunks[chunk][offset]
    }
}

impl<T> IndexMut<u32> for Chunks<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        let (chunk, offset) = place_of(index);
        &mut self.chunks[chunk][offset]
    }
}

/// The index of the first thing in a chunk.
fn start_of(chunk: usize) -> u32 {
    let doubled = (1 << (FIRST_POWER + chunk.min(DOUBLING) as u32)) - (1 << FIRST_POWER);
    doubled + ((chunk.saturating_sub(DOUBLING) as u32) << LAST_POWER)
}

/// The chunk that an index lies in, and where.
fn place_of(index: u32) -> (usize, usize) {
    let from_first = u64::from(index) + (1 << FIRST_POWER);
    let power = from_first.ilog2().min(LAST_POWER);
    let chunk = (power - FIRST_POWER) as usize;
    let offset = from_first - (1 << power);
    let further = (offset >> LAST_POWER) as usize;
    (chunk + further, offset as usize & ((1 << power) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_stays_where_it_was_put() {
        let mut list = Chunks::default();
        for value in 0..10_000_u32 {
            assert_eq!(list.len(), value);
            list.push(value);
        }
        assert!((0..10_000).all(|value| list[value] == value));
        assert!(list.iter().copied().eq(0..10_000));
        for chunk in 0..list.chunks.len() {
            assert_eq!(place_of(start_of(chunk)), (chunk, 0));
        }
        let room = list.chunks.iter().map(Vec::capacity).sum::<usize>();
        assert!(room < 10_000 + (1 << LAST_POWER));
    }
}
