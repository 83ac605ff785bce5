// SPDX-License-Identifier: MIT OR Apache-2.0

//! How large a node must be to be in the file, where not all are.

use std::cmp::Ordering;

use statwalk_view::Tree;
use statwalk_view::best_first::Candidate;

/// How many children a directory shows at least: with one alone, its table would say
/// nothing.
pub(crate) const AT_ONCE: usize = 20;

/// The rank of the last nodes that are chosen.
///
/// A node has the rank of its size; the largest [`AT_ONCE`] children of a directory have
/// that of the first of them, because they are chosen together. No node has a higher rank
/// than its directory.
pub(crate) struct Limit {
    rank: u64,
    /// How many nodes of this very rank can be chosen; `usize::MAX` where there is room for
    /// the whole tree.
    equals: usize,
}

impl Limit {
    /// The limit under which about so many nodes are chosen. The sum of a directory's other
    /// children counts as one.
    pub(crate) fn new<T: Tree>(tree: &T, nodes_max: usize) -> Limit {
        let mut highest = Highest::new(nodes_max.max(1));
        highest.add(u64::MAX, 1);
        let mut waiting = vec![tree.root()];
        let mut ranks = Vec::new();
        while let Some(directory) = waiting.pop() {
            ranks.clear();
            tree.for_each_child(directory, |bytes, child| {
                let rank = rank_of(bytes);
                ranks.push(rank);
                if highest.is_wanted(rank) && tree.is_dir(child) {
                    waiting.push(child);
                }
            });
            let first = ranks.iter().copied().max().unwrap_or(0);
            if !highest.is_wanted(first) {
                continue;
            }
            if ranks.len() <= AT_ONCE {
                highest.add(first, ranks.len());
                continue;
            }
            highest.add(first, AT_ONCE + 1);
            let (_, _, others) = ranks.select_nth_unstable_by(AT_ONCE - 1, |a, b| b.cmp(a));
            others.iter().for_each(|&rank| highest.add(rank, 1));
        }
        highest.limit()
    }

    /// Whether nodes of a size can be chosen.
    pub(crate) fn allows(&self, bytes: u128) -> bool {
        rank_of(bytes) >= self.rank
    }

    /// Whether all nodes of a size are chosen.
    pub(crate) fn takes_all(&self, bytes: u128) -> bool {
        rank_of(bytes) > self.rank || self.equals == usize::MAX
    }

    /// How many nodes of the last rank can still be chosen.
    pub(crate) fn equals(&self) -> usize {
        self.equals
    }

    /// How many children of a directory are chosen, the first in the order of their sizes.
    /// Nodes of the last rank are chosen as long as there is room for some.
    pub(crate) fn take<N>(&mut self, children: &[Candidate<N>]) -> usize {
        let Some(first) = children.first() else {
            return 0;
        };
        let together = children.len().min(AT_ONCE);
        if self.equals == usize::MAX {
            return children.len();
        }
        match rank_of(first.key).cmp(&self.rank) {
            Ordering::Less => return 0,
            Ordering::Equal if self.equals == 0 => return 0,
            Ordering::Equal => self.equals = self.equals.saturating_sub(together),
            Ordering::Greater => {}
        }
        let above = children.partition_point(|child| rank_of(child.key) > self.rank);
        let equals = children.partition_point(|child| self.allows(child.key));
        let taken = above.max(together);
        let more = equals.saturating_sub(taken).min(self.equals);
        self.equals -= more;
        taken + more
    }
}

/// The rank of a size. Sizes of 2^64 bytes and more are alike.
fn rank_of(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The highest of many ranks. Holds at most twice as many as are wanted.
struct Highest {
    wanted: usize,
    ranks: Vec<u64>,
    /// A rank must be higher, once more than are wanted were added.
    bar: Option<u64>,
}

impl Highest {
    fn new(wanted: usize) -> Highest {
        Highest {
            wanted,
            ranks: Vec::new(),
            bar: None,
        }
    }

    fn is_wanted(&self, rank: u64) -> bool {
        self.bar.is_none_or(|bar| rank > bar)
    }

    fn add(&mut self, rank: u64, count: usize) {
        if self.is_wanted(rank) {
            self.ranks.extend(std::iter::repeat_n(rank, count));
            if self.ranks.len() >= self.wanted.saturating_mul(2) {
                self.prune();
            }
        }
    }

    fn prune(&mut self) {
        if self.ranks.len() > self.wanted {
            let by_rank = |a: &u64, b: &u64| b.cmp(a);
            let (_, &mut least, _) = (self.ranks).select_nth_unstable_by(self.wanted - 1, by_rank);
            self.bar = Some(least);
            self.ranks.truncate(self.wanted);
        }
    }

    fn limit(mut self) -> Limit {
        self.prune();
        let Some(rank) = self.bar else {
            return Limit {
                rank: 0,
                equals: usize::MAX,
            };
        };
        let equals = self.ranks.iter().filter(|&&one| one == rank).count();
        Limit { rank, equals }
    }
}
