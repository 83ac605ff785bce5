// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trees in memory.

use std::borrow::Cow;
use std::cmp::Reverse;

use proptest::collection::vec;
use proptest::prelude::*;
use statwalk_view::{Figures, Kind, Tree};

use crate::{Groups, NO_OWNER, NONE, ReportTree};

/// An entry with all below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
    pub(super) own_allocated: u128,
    pub(super) apparent: u128,
    pub(super) newest_s: Option<i64>,
    pub(super) owner: u32,
    pub(super) category: u8,
    pub(super) children: Vec<Item>,
}

pub(super) fn file(name: &str, allocated: u64, newest_s: u64) -> Item {
    Item {
        name: name.into(),
        kind: Kind::File,
        own_allocated: allocated.into(),
        apparent: u128::from(allocated) / 2,
        newest_s: Some(newest_s.cast_signed()),
        owner: (allocated % 3) as u32,
        category: (allocated % 5) as u8,
        children: Vec::new(),
    }
}

pub(super) fn directory(name: &str, children: Vec<Item>) -> Item {
    Item {
        name: name.into(),
        kind: Kind::Directory,
        own_allocated: 0,
        apparent: 0,
        newest_s: None,
        owner: 0,
        category: NONE,
        children,
    }
}

impl Item {
    pub(super) fn itself(allocated: u64) -> Item {
        Item {
            kind: Kind::Itself,
            apparent: 0,
            newest_s: None,
            ..file("", allocated, 0)
        }
    }

    pub(super) fn allocated(&self) -> u128 {
        let below: u128 = self.children.iter().map(Item::allocated).sum();
        self.own_allocated + below
    }

    pub(super) fn apparent(&self) -> u128 {
        let below: u128 = self.children.iter().map(Item::apparent).sum();
        self.apparent + below
    }

    pub(super) fn entries(&self) -> u64 {
        let below: u64 = self.children.iter().map(Item::entries).sum();
        below + u64::from(self.kind != Kind::Itself)
    }

    pub(super) fn node_count(&self) -> usize {
        1 + self.children.iter().map(Item::node_count).sum::<usize>()
    }

    fn newest_s(&self) -> Option<i64> {
        let below = self.children.iter().filter_map(Item::newest_s).max();
        self.newest_s.max(below)
    }

    /// The category and the owner with most bytes.
    pub(super) fn most(&self) -> (u8, u32) {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        fn most<K: Ord + Copy>(leaves: &[(K, u128)]) -> Option<K> {
            let mut sums = std::collections::BTreeMap::<K, u128>::new();
            for &(key, bytes) in leaves {
                *sums.entry(key).or_default() += bytes;
            }
            let best = sums
                .into_iter()
                .min_by_key(|&(key, bytes)| (Reverse(bytes), key));
            best.filter(|&(_, bytes)| bytes > 0).map(|(key, _)| key)
        }
        let categories: Vec<_> = leaves
            .iter()
            .map(|item| (item.category, item.own_allocated))
            .collect();
        let owners: Vec<_> = leaves
            .iter()
            .map(|item| (item.owner, item.own_allocated))
            .collect();
        (
            most(&categories).unwrap_or(NONE),
            most(&owners).unwrap_or(NO_OWNER),
        )
    }

    fn leaves<'a>(&'a self, leaves: &mut Vec<&'a Item>) {
        if self.kind != Kind::Directory {
            leaves.push(self);
        }
        self.children.iter().for_each(|child| child.leaves(leaves));
    }

    /// The same as a page has it.
    pub(super) fn sorted(&self) -> Item {
        let mut children: Vec<_> = self.children.iter().map(Item::sorted).collect();
        children.sort_by_key(|child| (Reverse(child.allocated()), child.name.clone()));
        Item {
            children,
            ..self.clone()
        }
    }
}

/// A tree whose nodes are references to its items.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) root: Item,
}

impl Sample {
    pub(super) fn new(root: Item) -> Sample {
        Sample { root }
    }
}

impl<'a> Tree for &'a Sample {
    type Node = &'a Item;

    fn root(&self) -> &'a Item {
        &self.root
    }

    fn name(&self, node: &'a Item) -> Cow<'_, [u8]> {
        Cow::Borrowed(&node.name)
    }

    fn kind(&self, node: &'a Item) -> Kind {
        node.kind
    }

    fn figures(&self, node: &'a Item) -> Figures {
        Figures {
            allocated_bytes: node.allocated(),
            apparent_bytes: node.apparent(),
            entries: node.entries(),
            newest_mtime_ns: node.newest_s().map(|s| s * 1_000_000_000),
            incomplete: false,
        }
    }

    fn for_each_child(&self, node: &'a Item, mut each: impl FnMut(u128, &'a Item)) {
        (node.children.iter()).for_each(|child| each(child.allocated(), child));
    }
}

impl ReportTree for &Sample {
    fn groups(&self, node: Self::Node) -> Groups {
        let (category, owner) = match node.kind {
            Kind::Directory => node.most(),
            _ => (node.category, node.owner),
        };
        Groups {
            owner,
            category,
            ending: NONE,
        }
    }

    fn ending(&self, _: Self::Node) -> Cow<'_, [u8]> {
        Cow::Borrowed(b"log")
    }
}

/// A directory with up to some hundred entries; its name and all others are secret.
pub(super) fn any_tree() -> impl Strategy<Value = Item> {
    let bytes = || prop_oneof![Just(0), 1_u64..9, any::<u64>().prop_map(|bytes| bytes >> 3)];
    let leaf = (bytes(), 0_u64..99).prop_map(|(allocated, newest_s)| file("", allocated, newest_s));
    let tree = leaf.prop_recursive(5, 300, 40, move |below| {
        (vec(below, 0..40), proptest::option::of(bytes())).prop_map(|(mut children, own)| {
            for (number, child) in children.iter_mut().enumerate() {
                child.name = format!("secret{number}").into_bytes();
            }
            children.extend(own.filter(|&own| own > 0).map(Item::itself));
            directory("", children)
        })
    });
    let root = |mut root: Item| {
        root.name = b"/secret".to_vec();
        root
    };
    tree.prop_map(root)
}
