// SPDX-License-Identifier: MIT OR Apache-2.0

//! Who and what has most of the bytes of a directory.

use std::ops::Range;

use crate::block::{Colours, Columns};
use crate::tree::{NO_OWNER, NONE, ReportTree};

/// Bytes by category and by owner. A directory has few of either.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    categories: Vec<(u8, u128)>,
    owners: Vec<(u32, u128)>,
}

impl Tally {
    pub(crate) fn add_leaf(&mut self, category: u8, owner: u32, bytes: u128) {
        if bytes > 0 {
            add(&mut self.categories, category, bytes);
            add(&mut self.owners, owner, bytes);
        }
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        for &(category, bytes) in &other.categories {
            add(&mut self.categories, category, bytes);
        }
        for &(owner, bytes) in &other.owners {
            add(&mut self.owners, owner, bytes);
        }
    }

    /// Adds a node and all that is below it.
    pub(crate) fn add_subtree<T: ReportTree>(&mut self, tree: &T, node: T::Node) {
        let mut waiting = Vec::new();
        let mut next = Some(node);
        if !tree.is_dir(node) {
            self.add_file(tree, node, tree.allocated_bytes(node));
            return;
        }
        while let Some(directory) = next {
            tree.for_each_child(directory, |bytes, child| match tree.is_dir(child) {
                true => waiting.push(child),
                false => self.add_file(tree, child, bytes),
            });
            next = waiting.pop();
        }
    }

    fn add_file<T: ReportTree>(&mut self, tree: &T, node: T::Node, bytes: u128) {
        if bytes == 0 {
            return;
        }
        let (category, owner) = tree.colours(node);
        self.add_leaf(category, owner, bytes);
    }

    /// The category with most bytes; of equals, the first.
    pub(crate) fn category(&self) -> u8 {
        most(&self.categories).unwrap_or(NONE)
    }

    /// The owner with most bytes; of equals, the first.
    pub(crate) fn owner(&self) -> u32 {
        most(&self.owners).unwrap_or(NO_OWNER)
    }
}

/// The children of a directory that were seen so far.
#[derive(Default)]
struct Family {
    tally: Tally,
    /// The place of the sum of those that have no node.
    rest: Option<usize>,
}

/// Gives directories and sums the owner and the category with most bytes, and returns the
/// tallies of some directories.
///
/// `hidden` gives what is below a directory and has no node here. The last directory is
/// asked for first.
pub(crate) fn settle(
    columns: &Columns,
    colours: &mut Colours,
    roots: Range<usize>,
    mut hidden: impl FnMut(usize) -> Option<Tally>,
) -> Vec<Tally> {
    let mut found = vec![Tally::default(); roots.len()];
    // Of directories some of whose children were seen, until their turn comes.
    let mut tallies: Vec<Option<Box<Family>>> = Vec::new();
    tallies.resize_with(columns.len(), || None);
    for at in (0..columns.len()).rev() {
        let above = columns.parent[at] as usize;
        if columns.is_rest(at) {
            if let Some(above) = tallies.get_mut(above) {
                above.get_or_insert_default().rest = Some(at);
            }
            continue;
        }
        if !columns.is_dir(at) {
            if let Some(above) = tallies.get_mut(above) {
                let (category, owner) = (colours.category[at], colours.owner[at]);
                let tally = &mut above.get_or_insert_default().tally;
                tally.add_leaf(category, owner, columns.allocated(at));
            }
            continue;
        }
        let Family { mut tally, rest } = *tallies[at].take().unwrap_or_default();
        if let Some(hidden) = hidden(at) {
            tally.add(&hidden);
            if let Some(rest) = rest {
                colours.category[rest] = hidden.category();
                colours.owner[rest] = hidden.owner();
            }
        }
        colours.category[at] = tally.category();
        colours.owner[at] = tally.owner();
        if let Some(above) = tallies.get_mut(above) {
            above.get_or_insert_default().tally.add(&tally);
        }
        if roots.contains(&at) {
            found[at - roots.start] = tally;
        }
    }
    found
}

fn add<K: Copy + PartialEq>(sums: &mut Vec<(K, u128)>, key: K, bytes: u128) {
    match sums.iter_mut().find(|(known, _)| *known == key) {
        Some((_, sum)) => *sum = sum.saturating_add(bytes),
        None => sums.push((key, bytes)),
    }
}

fn most<K: Copy + Ord>(sums: &[(K, u128)]) -> Option<K> {
    let best = |a: &&(K, u128), b: &&(K, u128)| a.1.cmp(&b.1).then(b.0.cmp(&a.0));
    sums.iter().max_by(best).map(|&(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_bytes_win_and_of_equals_the_first() {
        let mut tally = Tally::default();
        assert_eq!((tally.category(), tally.owner()), (NONE, NO_OWNER));
        tally.add_leaf(7, 1, 0);
        assert_eq!((tally.category(), tally.owner()), (NONE, NO_OWNER));
        tally.add_leaf(7, 1, 10);
        tally.add_leaf(3, 0, 10);
        assert_eq!((tally.category(), tally.owner()), (3, 0));
        let mut other = Tally::default();
        other.add_leaf(7, 2, 1 << 70);
        tally.add(&other);
        assert_eq!((tally.category(), tally.owner()), (7, 2));
    }
}
