// SPDX-License-Identifier: MIT OR Apache-2.0

//! Who and what has most of the bytes of a directory.

use std::ops::Range;

use crate::block::{Columns, NOTHING};
use crate::stripe::{Colours, Stripe};
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

impl Family {
    fn add(&mut self, others: &Family) {
        self.tally.add(&others.tally);
        self.rest = self.rest.or(others.rest);
    }

    fn clear(&mut self) {
        self.tally.categories.clear();
        self.tally.owners.clear();
        self.rest = None;
    }
}

/// The families of directories whose turn has not come.
struct Families {
    /// That of the node before, and its directory. Siblings stand together, so most nodes
    /// are of the family of the one before.
    last: Family,
    last_parent: usize,
    /// Of each node the place of its family in `kept`, or [`NOTHING`].
    places: Vec<u32>,
    kept: Vec<Family>,
    /// Places in `kept` of families whose turn has come.
    free: Vec<u32>,
    /// Empty ones, whose memory is used again.
    spare: Vec<Family>,
}

impl Families {
    fn new(nodes: usize) -> Families {
        Families {
            last: Family::default(),
            last_parent: usize::MAX,
            places: vec![NOTHING; nodes],
            kept: Vec::new(),
            free: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// The family below a directory. Below nothing is one that nobody asks for.
    fn below(&mut self, parent: usize) -> &mut Family {
        if parent != self.last_parent {
            self.keep_last();
            self.last_parent = parent;
        }
        &mut self.last
    }

    fn keep_last(&mut self) {
        let Some(place) = self.places.get_mut(self.last_parent) else {
            return self.last.clear();
        };
        if let Some(kept) = self.kept.get_mut(*place as usize) {
            kept.add(&self.last);
            return self.last.clear();
        }
        let next = self.spare.pop().unwrap_or_default();
        let last = std::mem::replace(&mut self.last, next);
        match self.free.pop() {
            Some(free) => {
                self.kept[free as usize] = last;
                *place = free;
            }
            None => {
                // There are fewer than nodes.
                *place = self.kept.len() as u32;
                self.kept.push(last);
            }
        }
    }

    fn take(&mut self, directory: usize) -> Family {
        if directory == self.last_parent {
            self.keep_last();
            self.last_parent = usize::MAX;
        }
        let place = std::mem::replace(&mut self.places[directory], NOTHING);
        match self.kept.get_mut(place as usize) {
            Some(kept) => {
                self.free.push(place);
                std::mem::take(kept)
            }
            None => self.spare.pop().unwrap_or_default(),
        }
    }

    fn give_back(&mut self, mut family: Family) {
        family.clear();
        self.spare.push(family);
    }
}

/// Gives directories and sums the owner and the category with most bytes, and returns the
/// tallies of some directories.
///
/// `hidden` gives what is below a directory and has no node here. The last directory is
/// asked for first.
pub(crate) fn settle(
    columns: &Columns,
    colours: &mut [Colours],
    roots: Range<usize>,
    mut hidden: impl FnMut(usize) -> Option<Tally>,
) -> Vec<Tally> {
    let mut found = vec![Tally::default(); roots.len()];
    let mut families = Families::new(columns.len());
    for (number, stripe) in columns.stripes.iter().enumerate().rev() {
        for index in (0..stripe.len()).rev() {
            let at = number * Stripe::NODES + index;
            let above = stripe.parent[index] as usize;
            if stripe.is_rest(index) {
                families.below(above).rest = Some(at);
                continue;
            }
            let own = &mut colours[number];
            if !stripe.is_dir(index) {
                let (category, owner) = (own.category[index], own.owner[index]);
                let tally = &mut families.below(above).tally;
                tally.add_leaf(category, owner, stripe.allocated(index));
                continue;
            }
            let mut family = families.take(at);
            let tally = &mut family.tally;
            let hidden = hidden(at);
            if let Some(hidden) = &hidden {
                tally.add(hidden);
            }
            own.category[index] = tally.category();
            own.owner[index] = tally.owner();
            if let (Some(rest), Some(hidden)) = (family.rest, hidden) {
                let (of_rest, at) = (&mut colours[rest / Stripe::NODES], rest % Stripe::NODES);
                of_rest.category[at] = hidden.category();
                of_rest.owner[at] = hidden.owner();
            }
            families.below(above).tally.add(tally);
            if roots.contains(&at) {
                found[at - roots.start] = tally.clone();
            }
            families.give_back(family);
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
