// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names that can be replaced.

/// Names in chunks, each ended by NUL, which no name contains.
#[derive(Default)]
pub(super) struct NameArena {
    chunks: Vec<Vec<u8>>,
    /// Bytes that belong to no name any more.
    unused_bytes: usize,
}

/// The size of one chunk; a longer name has one of its own.
const CHUNK_BYTES: usize = 1 << 15;
/// From so many unused bytes on it is worth moving the others.
const UNUSED_BYTES_MIN: usize = CHUNK_BYTES;

impl NameArena {
    /// Offsets are below this: 2 GiB of names.
    pub(super) const OFFSET_MAX: u32 = (1 << 31) - 1;

    pub(super) fn push(&mut self, name: &[u8]) -> u32 {
        let bytes = name.len() + 1;
        let last = self.chunks.last();
        if last.is_none_or(|chunk| chunk.len() + bytes > CHUNK_BYTES) {
            // Few names are to take little, so the first one grows.
            let room = match self.chunks.len() {
                0 => 0,
                _ => CHUNK_BYTES,
            };
            self.chunks.push(Vec::with_capacity(room.max(bytes)));
        }
        let last = self.chunks.len() - 1;
        let chunk = &mut self.chunks[last];
        let offset = last * CHUNK_BYTES + chunk.len();
        chunk.extend_from_slice(name);
        chunk.push(0);
        u32::try_from(offset)
            .ok()
            .filter(|&offset| offset <= Self::OFFSET_MAX)
            .expect("128 GiB of names of hard links, of which this is a 64th")
    }

    pub(super) fn get(&self, at: u32) -> &[u8] {
        let behind = &self.chunks[at as usize / CHUNK_BYTES][at as usize % CHUNK_BYTES..];
        let end = behind.iter().position(|&byte| byte == 0);
        &behind[..end.unwrap_or(behind.len())]
    }

    /// Puts another name in the place of one, and answers where it is.
    pub(super) fn replace(&mut self, at: u32, name: &[u8]) -> u32 {
        let room = self.get(at).len();
        if name.len() > room {
            self.unused_bytes += room + 1;
            return self.push(name);
        }
        self.unused_bytes += room - name.len();
        let chunk = &mut self.chunks[at as usize / CHUNK_BYTES];
        let place = &mut chunk[at as usize % CHUNK_BYTES..];
        place[..name.len()].copy_from_slice(name);
        place[name.len()] = 0;
        at
    }

    /// Whether half of it belongs to no name any more.
    pub(super) fn wants_compaction(&self) -> bool {
        self.unused_bytes >= UNUSED_BYTES_MIN
            && self.unused_bytes >= self.chunks.len() * CHUNK_BYTES / 2
    }

    /// Moves all names that are in use together, and tells each where it is.
    pub(super) fn compact(&mut self, used: impl Iterator<Item = (u32, impl FnOnce(u32))>) {
        let old = std::mem::take(self);
        for (at, moved_to) in used {
            moved_to(self.push(old.get(at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_after_they_were_replaced_and_moved() {
        let mut arena = NameArena::default();
        let name = |number: usize, length: usize| vec![b'a' + (number % 26) as u8; length];
        let mut at: Vec<u32> = (0..3000).map(|n| arena.push(&name(n, n % 300))).collect();
        for length in [5, 4, 0, 299, 300, 40_000, 7] {
            for (number, at) in at.iter_mut().enumerate().filter(|(n, _)| n % 3 != 1) {
                *at = arena.replace(*at, &name(number, length.min(300 + number % 2 * 39_700)));
            }
            let check = |arena: &NameArena, at: &[u32]| {
                for (number, &at) in at.iter().enumerate() {
                    let length = match number % 3 {
                        1 => number % 300,
                        _ => length.min(300 + number % 2 * 39_700),
                    };
                    assert_eq!(arena.get(at), name(number, length));
                }
            };
            check(&arena, &at);
            if arena.wants_compaction() {
                arena.compact(at.iter_mut().map(|at| (*at, move |to| *at = to)));
                check(&arena, &at);
                assert!(!arena.wants_compaction());
            }
        }
    }
}
