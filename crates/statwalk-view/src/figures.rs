// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of a node of a tree.

/// Sums over a node and all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Disk space.
    pub allocated_bytes: u128,
    /// The sum of the sizes as `ls` shows them.
    pub apparent_bytes: u128,
    /// Names, that of the node too.
    pub entries: u64,
    /// When the youngest file was modified; absent where there is no file, and where it
    /// is not known. A time in the future is shown as an absent one.
    pub newest_mtime_ns: Option<i64>,
    /// Whether an entry could not be read, so that the sums are a lower bound.
    pub incomplete: bool,
}

impl Figures {
    /// Adds the sums of another node.
    pub fn add(&mut self, more: &Figures) {
        self.allocated_bytes = self.allocated_bytes.saturating_add(more.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_add(more.apparent_bytes);
        self.entries = self.entries.saturating_add(more.entries);
        self.newest_mtime_ns = self.newest_mtime_ns.max(more.newest_mtime_ns);
        self.incomplete |= more.incomplete;
    }

    /// Takes sums away, but no time. Those of a scan that goes on can be of different moments.
    pub fn take_away(&mut self, less: &Figures) {
        self.allocated_bytes = self.allocated_bytes.saturating_sub(less.allocated_bytes);
        self.apparent_bytes = self.apparent_bytes.saturating_sub(less.apparent_bytes);
        self.entries = self.entries.saturating_sub(less.entries);
    }
}
