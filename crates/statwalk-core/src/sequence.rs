// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sequence in which a caller takes entries.

/// The sequence in which [`Scan::entries_in`](crate::Scan::entries_in) and
/// [`Scan::ordered_rows_in`](crate::Scan::ordered_rows_in) give entries, and from which depth
/// on. Where nothing is set, a directory comes before all that is below it.
///
/// ```
/// use statwalk_core::{Scan, Sequence};
///
/// let mut entries = Scan::new("src").entries_in(Sequence::new().sorted().min_depth(1))?;
/// let paths: Vec<Vec<u8>> = entries
///     .by_ref()
///     .map(|entry| Ok(entry?.path()))
///     .collect::<Result<_, statwalk_core::Error>>()?;
/// assert!(entries.finish().is_complete());
/// assert!(paths.is_sorted_by(|a, b| statwalk_core::path_order(a, b).is_lt()));
/// assert!(!paths.contains(&b"src".to_vec()));
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it is for a scan"]
pub struct Sequence {
    pub(crate) is_sorted: bool,
    pub(crate) is_contents_first: bool,
    pub(crate) min_depth: u32,
}

impl Sequence {
    /// The sequence in which entries come soonest.
    pub fn new() -> Sequence {
        Sequence::default()
    }

    /// The entries of a directory by the bytes of their names, and all that is below a
    /// directory right after it. So each scan of a tree gives the same sequence, whatever the
    /// number of workers.
    ///
    /// A missing root still comes at the end. An error comes in the place of its entry: after
    /// the row of that, where it has one.
    ///
    /// Memory: the caller's side holds the entries of the directories on the way to the
    /// present one. It holds entries that were read ahead: up to 131,072, and those that workers
    /// read just then. Second mounts come when the rest of their root was read, and so do links
    /// that are followed. Then it holds all entries of that root which come after the first of
    /// them.
    pub fn sorted(mut self) -> Sequence {
        self.is_sorted = true;
        self
    }

    /// As [`sorted`](Self::sorted), and a directory comes after all that is below it. An error
    /// of a directory comes before it.
    ///
    /// Nothing can be skipped then: all below a directory comes first.
    pub fn contents_first(mut self) -> Sequence {
        self.is_contents_first = true;
        self
    }

    /// Gives nothing above a depth: a root has depth 0, and its entries have depth 1.
    ///
    /// Directories above are read all the same. Their errors come, and the report counts
    /// everything.
    pub fn min_depth(mut self, depth: u32) -> Sequence {
        self.min_depth = depth;
        self
    }

    /// Whether rows wait for their turn.
    pub(crate) fn has_turns(self) -> bool {
        self.is_sorted || self.is_contents_first
    }
}
