// SPDX-License-Identifier: MIT OR Apache-2.0

//! A `.gitignore` file, with bounds: files of many lines cost gigabytes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::git_pattern::{Cost, GitPattern};

/// The memory of all patterns that one entry is compared with.
const CHAIN_BYTES_MAX: usize = 32 << 20;

/// The tokens of these patterns. Each entry is compared with all of them.
const CHAIN_TOKENS_MAX: usize = 1 << 16;

/// The memory of all patterns of the process. Those of a directory stay until all below it
/// was read.
const HELD_BYTES_MAX: usize = 128 << 20;

/// The patterns of a `.gitignore` file.
///
/// ```
/// use statwalk_pattern::IgnoreFile;
/// let file = IgnoreFile::new(b"*.o\n!keep.o\n", &IgnoreFile::default()).unwrap();
/// assert_eq!(file.leaves_out(b"src/a.o", false), Some(true));
/// assert_eq!(file.leaves_out(b"keep.o", false), Some(false));
/// assert_eq!(file.leaves_out(b"a.c", false), None);
/// ```
#[derive(Debug, Default)]
pub struct IgnoreFile {
    patterns: Vec<GitPattern>,
    /// With those of the files above.
    cost: Cost,
    _held: Held,
}

/// The bound that a file goes beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The file is too long, or its patterns and those above cost too much.
    OfPatterns,
    /// All files of the process together hold too much.
    OfMemory,
}

impl IgnoreFile {
    /// A longer file is not read.
    pub const TEXT_MAX: usize = 1 << 20;

    /// Reads a file; `above` is that of the nearest directory above that has one.
    ///
    /// # Errors
    ///
    /// Returns an error beyond a bound.
    pub fn new(text: &[u8], above: &IgnoreFile) -> Result<IgnoreFile, Excess> {
        if text.len() > IgnoreFile::TEXT_MAX {
            return Err(Excess::OfPatterns);
        }
        let mut cost = above.cost;
        let mut patterns = Vec::new();
        for pattern in GitPattern::of_file(text) {
            let more = pattern.cost();
            cost.bytes += more.bytes;
            cost.tokens += more.tokens;
            if cost.bytes > CHAIN_BYTES_MAX || cost.tokens > CHAIN_TOKENS_MAX {
                return Err(Excess::OfPatterns);
            }
            patterns.push(pattern);
        }
        Ok(IgnoreFile {
            patterns,
            _held: Held::take(cost.bytes - above.cost.bytes).ok_or(Excess::OfMemory)?,
            cost,
        })
    }

    /// Whether it leaves out the entry at a path below its directory; absent where no
    /// pattern fits.
    #[must_use]
    pub fn leaves_out(&self, path: &[u8], is_directory: bool) -> Option<bool> {
        // The last one that fits decides.
        let mut patterns = self.patterns.iter().rev();
        let fitting = patterns.find(|pattern| pattern.fits(path, is_directory));
        fitting.map(|pattern| !pattern.takes_back())
    }
}

/// The memory of patterns that are in use.
#[derive(Debug, Default)]
struct Held(usize);

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);

impl Held {
    /// Absent where all together hold too much.
    fn take(bytes: usize) -> Option<Held> {
        let held = Held(bytes);
        let before = HELD_BYTES.fetch_add(bytes, Ordering::Relaxed);
        (before.saturating_add(bytes) <= HELD_BYTES_MAX).then_some(held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_bounds() {
        let root = IgnoreFile::default();
        let with = |above: &IgnoreFile, text: &str| IgnoreFile::new(text.as_bytes(), above);
        for text in [
            "x".repeat(IgnoreFile::TEXT_MAX + 1),
            "*[a]".repeat(CHAIN_TOKENS_MAX / 2 + 1),
            "*?\n".repeat(CHAIN_TOKENS_MAX / 2 + 1),
            "[a]\n".repeat(CHAIN_BYTES_MAX / 256),
        ] {
            assert_eq!(with(&root, &text).err(), Some(Excess::OfPatterns));
        }
        // Each directory adds to the patterns of its entries.
        let lines = "a\n".repeat(CHAIN_BYTES_MAX / 4 / size_of::<GitPattern>());
        let mut below = vec![with(&root, &lines).unwrap()];
        let excess = loop {
            match with(&below[below.len() - 1], &lines) {
                Ok(file) => below.push(file),
                Err(excess) => break excess,
            }
        };
        assert_eq!(excess, Excess::OfPatterns);
        assert!(with(&root, &lines).is_ok());
        // Directories beside each other share the memory.
        let mut beside = Vec::new();
        let excess = loop {
            match with(&root, &lines) {
                Ok(file) => beside.push(file),
                Err(excess) => break excess,
            }
        };
        assert_eq!(excess, Excess::OfMemory);
        drop(beside);
        assert!(with(&root, &lines).is_ok());
    }
}
