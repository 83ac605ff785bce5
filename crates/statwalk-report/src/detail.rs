// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes of a tree are in a page.

use statwalk_view::Tree;

use crate::block::Columns;
use crate::column::block_of;
use crate::full::full;
use crate::outline::{Cells, Outline};
use crate::redaction::{Names, Naming, Place};
use crate::stripe::Stripe;
use crate::threads::{Next, both, queue, two_queues};
use crate::tree::ReportTree;

/// How much of the tree is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// About so many nodes, the largest first, and sums of the others.
    Nodes(usize),
    /// Every node, in blocks that a viewer opens when it needs them.
    Full,
}

impl Default for Detail {
    /// As many nodes as make a file of one or two MB.
    fn default() -> Detail {
        Detail::Nodes(150_000)
    }
}

/// The nodes of a tree that are in a page.
#[derive(Debug)]
pub struct Choice<N> {
    outline: Option<Outline<N>>,
    names: Names,
}

impl<N: Copy + Send + Sync> Choice<N> {
    /// Chooses nodes on another thread, while this one makes something else of the tree.
    pub fn beside<T: Tree<Node = N>, A>(
        tree: &T,
        detail: Detail,
        names: Names,
        other: impl FnOnce() -> A,
    ) -> (Choice<N>, A) {
        let choose = || match detail {
            Detail::Nodes(nodes_max) => Some(Outline::new(tree, nodes_max)),
            Detail::Full => None,
        };
        let (outline, made) = both(choose, other);
        (Choice { outline, names }, made)
    }

    pub(crate) fn names(&self) -> Names {
        self.names
    }
}

pub(crate) struct Blocks {
    /// Each in parts: its bytes, compressed and in base64.
    pub(crate) blocks: Vec<Vec<String>>,
    /// How many nodes they have.
    pub(crate) node_count: u64,
    /// Whether some of them are sums of others.
    pub(crate) has_sums: bool,
}

pub(crate) fn blocks<T: ReportTree>(
    tree: &T,
    choice: Choice<T::Node>,
    naming: &mut Naming,
) -> Blocks {
    let Some(outline) = choice.outline else {
        let (blocks, node_count) = full(tree, naming);
        return Blocks {
            blocks,
            node_count,
            has_sums: false,
        };
    };
    let cells = outline.cells();
    let of_stripes = |stripes| {
        let mut columns = Columns {
            stripes,
            ..Columns::default()
        };
        columns.align();
        columns
    };
    let packed = |columns: &Columns, next: &Next| columns.packed(next);
    let (columns, packed) = match choice.names {
        Names::Original => two_queues(
            |next| {
                next.work(cells.len(), |places: &mut Vec<Place>, at| {
                    places.clear();
                    stripe(tree, &cells[at], places, &mut Naming::of_originals())
                })
            },
            of_stripes,
            packed,
        ),
        // A number counts the names before it.
        Names::Redacted => {
            let mut places = Vec::new();
            let stripes = cells.iter();
            let stripes = stripes.map(|cells| stripe(tree, cells, &mut places, naming));
            let columns = of_stripes(stripes.collect());
            let packed = queue(|next| columns.packed(next));
            (columns, packed)
        }
    };
    Blocks {
        node_count: columns.len() as u64,
        has_sums: columns.has_rests(),
        blocks: vec![block_of(columns.len(), packed)],
    }
}

/// The columns of some cells. Only redacted names need the places of the cells before.
fn stripe<T: ReportTree>(
    tree: &T,
    cells: &Cells<T::Node>,
    places: &mut Vec<Place>,
    naming: &mut Naming,
) -> Stripe {
    let mut stripe = Stripe::with_room(cells.cells.len());
    for (at, cell) in (cells.start..).zip(&cells.cells) {
        let above = places.get(cell.parent as usize).copied();
        let above = above.unwrap_or(Place::ABOVE);
        places.push(match cell.node {
            Some(node) => stripe.push_node(tree, node, cell.parent, above, naming),
            None => {
                stripe.push_others(tree, cells.others(at), cell.parent);
                Place::ABOVE
            }
        });
    }
    stripe
}
