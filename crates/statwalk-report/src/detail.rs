// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which nodes of a tree are in a page.

use std::ops::Range;

use crate::block::Columns;
use crate::full::full;
use crate::outline::Outline;
use crate::redaction::{Naming, Place};
use crate::threads::both;
use crate::tree::{Facts, Flags, Kind, NO_OWNER, NONE, ReportTree};

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
///
/// They depend on sizes and names alone. So they can be chosen while the groups of
/// [`ReportTree::facts`] are not known yet.
#[derive(Debug)]
pub struct Choice<N>(Option<Outline<N>>);

impl<N: Copy> Choice<N> {
    /// Chooses nodes.
    #[must_use]
    pub fn new<T: ReportTree<Node = N>>(tree: &T, detail: Detail) -> Choice<N> {
        Choice(match detail {
            Detail::Nodes(nodes_max) => Some(Outline::new(tree, nodes_max)),
            Detail::Full => None,
        })
    }
}

/// The blocks of a tree.
pub(crate) struct Blocks {
    /// Their bytes, compressed.
    pub(crate) blocks: Vec<Vec<u8>>,
    /// How many nodes they have.
    pub(crate) node_count: u64,
    /// Whether some of them are sums of others.
    pub(crate) has_sums: bool,
}

pub(crate) fn blocks<T: ReportTree>(
    tree: &T,
    choice: &Choice<T::Node>,
    naming: &mut Naming,
) -> Blocks {
    let Some(outline) = &choice.0 else {
        let (blocks, node_count) = full(tree, naming);
        return Blocks {
            blocks,
            node_count,
            has_sums: false,
        };
    };
    let columns = columns(tree, outline, naming);
    let node_count = columns.len() as u64;
    let has_sums = (0..columns.len()).any(|at| columns.is_rest(at));
    let hidden = |at| outline.hidden_below(tree, at);
    let (block, _) = columns.into_deflated(0..0, hidden);
    Blocks {
        blocks: vec![block],
        node_count,
        has_sums,
    }
}

fn columns<T: ReportTree>(tree: &T, outline: &Outline<T::Node>, naming: &mut Naming) -> Columns {
    let count = outline.cells.len();
    match naming.is_of_originals() {
        // Numbers count all before them.
        false => part(tree, outline, 0..count, count, naming),
        true => {
            let half = |cells, room| part(tree, outline, cells, room, &mut Naming::of_originals());
            let second = || half(count / 2..count, count - count / 2);
            let (second, mut first) = both(second, || half(0..count / 2, count));
            first.append(second);
            first
        }
    }
}

/// The columns of some cells. Only redacted names need those before them.
fn part<T: ReportTree>(
    tree: &T,
    outline: &Outline<T::Node>,
    cells: Range<usize>,
    room: usize,
    naming: &mut Naming,
) -> Columns {
    let mut columns = Columns::with_room(room);
    let mut places: Vec<Place> = Vec::new();
    for at in cells {
        let cell = outline.cells[at];
        let above = places.get(cell.parent as usize).copied();
        let above = above.unwrap_or(Place::ABOVE);
        places.push(match cell.node {
            Some(node) => columns.push_node(tree, node, cell.parent, above, naming),
            None => {
                push_rest(&mut columns, outline, at);
                Place::ABOVE
            }
        });
    }
    columns
}

fn push_rest<N: Copy>(columns: &mut Columns, outline: &Outline<N>, at: usize) {
    let figures = outline.rest(at).figures();
    let flags = match figures.incomplete {
        true => Flags::INCOMPLETE,
        false => Flags::default(),
    };
    let facts = Facts {
        kind: Kind::Rest,
        flags,
        owner: NO_OWNER,
        category: NONE,
        ending: NONE,
    };
    columns.push(facts, &figures, b"", outline.cells[at].parent);
}
