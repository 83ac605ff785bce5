// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes of a tree are in a page.

use std::sync::{Arc, Mutex, mpsc};

use crate::block::Columns;
use crate::full::full;
use crate::outline::{Cells, Outline};
use crate::redaction::{Names, Naming, Place};
use crate::stripe::Stripe;
use crate::threads::beside;
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
    /// The columns of the outline; absent where names are redacted: then numbers count all
    /// names before them.
    stripes: Option<Vec<Stripe>>,
    names: Names,
}

impl<N: Copy + Send + Sync> Choice<N> {
    /// Chooses nodes, and does something else meanwhile on another thread.
    ///
    /// The choice depends on sizes and names alone. When `count` has ended, the tree must
    /// know the groups of [`ReportTree::facts`] and [`ReportTree::add_to`]. Then that thread
    /// gathers the columns of what is chosen already.
    pub fn beside<T: ReportTree<Node = N>, A: Send>(
        tree: &T,
        detail: Detail,
        names: Names,
        count: impl FnOnce() -> A + Send,
    ) -> (Choice<N>, A) {
        let Detail::Nodes(nodes_max) = detail else {
            let choice = Choice {
                outline: None,
                stripes: None,
                names,
            };
            return (choice, count());
        };
        let (chosen, waiting) = mpsc::channel::<Arc<Cells<N>>>();
        let waiting = Mutex::new(waiting);
        let gather = || {
            let mut made = Vec::new();
            // A thread keeps the lock while it waits for cells. Once the choice is made, the
            // sender is gone, and no thread waits any more.
            let next = || waiting.lock().expect("none panics with it").recv();
            while let Ok(cells) = next() {
                let mut naming = Naming::of_originals();
                made.push((
                    cells.start,
                    stripe(tree, &cells, &mut Vec::new(), &mut naming),
                ));
            }
            made
        };
        let choose = || {
            let outline = Outline::new(tree, nodes_max, |cells| {
                if names == Names::Original {
                    chosen.send(cells).expect("this function has the receiver");
                }
            });
            drop(chosen);
            outline
        };
        let (counted, outline, mut made) = beside(count, choose, gather);
        made.sort_unstable_by_key(|&(start, _)| start);
        let stripes = made.into_iter().map(|(_, stripe)| stripe).collect();
        let choice = Choice {
            outline: Some(outline),
            stripes: (names == Names::Original).then_some(stripes),
            names,
        };
        (choice, counted)
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
    let stripes = choice.stripes;
    let columns = Columns {
        stripes: stripes.unwrap_or_else(|| renamed(tree, &outline, naming)),
        ..Columns::default()
    };
    let node_count = columns.len() as u64;
    let has_sums = columns.has_rests();
    Blocks {
        blocks: vec![columns.into_deflated()],
        node_count,
        has_sums,
    }
}

fn renamed<T: ReportTree>(
    tree: &T,
    outline: &Outline<T::Node>,
    naming: &mut Naming,
) -> Vec<Stripe> {
    let mut places = Vec::new();
    let cells = outline.cells();
    let stripes = cells.map(|cells| stripe(tree, cells, &mut places, naming));
    stripes.collect()
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
