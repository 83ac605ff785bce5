// SPDX-License-Identifier: MIT OR Apache-2.0

//! A tree with sums, which every view reads.

use std::borrow::Cow;

use crate::{Details, Figures, Kind, Notes};

/// A tree of directories with the sums of all that is below them.
///
/// # Examples
///
/// A tree in a vector, where each node knows its children by index:
///
/// ```
/// use std::borrow::Cow;
/// use statwalk_view::{Figures, Kind, Terminal, Tree, TreeOptions, tree_table};
///
/// struct Node { name: &'static str, figures: Figures, children: Vec<usize> }
///
/// struct Nodes(Vec<Node>);
///
/// impl Tree for Nodes {
///     type Node = usize;
///     fn root(&self) -> usize { 0 }
///     fn name(&self, node: usize) -> Cow<'_, [u8]> { self.0[node].name.as_bytes().into() }
///     fn kind(&self, _: usize) -> Kind { Kind::Directory }
///     fn figures(&self, node: usize) -> Figures { self.0[node].figures }
///     fn for_each_child(&self, node: usize, mut each: impl FnMut(u128, usize)) {
///         for &child in &self.0[node].children {
///             each(self.allocated_bytes(child), child);
///         }
///     }
/// }
///
/// let figures = |gib: u128, entries| Figures {
///     allocated_bytes: gib << 30, entries, ..Figures::default()
/// };
/// let tree = Nodes(vec![
///     Node { name: "/data", figures: figures(100, 40), children: vec![1, 2] },
///     Node { name: "a", figures: figures(25, 30), children: vec![] },
///     Node { name: "b", figures: figures(75, 9), children: vec![] },
/// ]);
/// let terminal = Terminal { width: 72, ..Terminal::default() };
/// let options = TreeOptions { terminal, ..TreeOptions::default() };
/// assert_eq!(tree_table(&tree, &options), [
///     "   DISK  SHARE                                   ENTRIES  NEWEST  /data",
///     "75.0 GiB  75 % ████████████████████████                9   –      ├── b/",
///     "25.0 GiB  25 % ████████                               30   –      └── a/",
/// ]);
/// ```
pub trait Tree: Sync {
    /// A handle of a node, typically an index.
    type Node: Copy + Send + Sync;

    /// Returns the node that all others are below.
    ///
    /// Where it is [`Kind::Roots`], it has no name, and its children are trees of their own.
    fn root(&self) -> Self::Node;

    /// Returns the exact name of a node; of a root, the path to show.
    fn name(&self, node: Self::Node) -> Cow<'_, [u8]>;

    /// Returns the kind of a node.
    fn kind(&self, node: Self::Node) -> Kind;

    /// Returns whether a node is a directory, or all roots together.
    fn is_dir(&self, node: Self::Node) -> bool {
        matches!(self.kind(node), Kind::Directory | Kind::Roots)
    }

    /// Returns whether a node may have a row where files have none.
    fn has_row(&self, node: Self::Node) -> bool {
        self.is_dir(node)
    }

    /// Returns how many files or directories a node stands for.
    ///
    /// It is more than one where a tree does not keep files and gives those of a
    /// directory as one node, which is never shown by itself. It is 0 for the blocks of
    /// a directory itself.
    fn count(&self, node: Self::Node) -> u64 {
        u64::from(self.kind(node) != Kind::Itself)
    }

    /// Returns the sums over a node and all that is below it.
    fn figures(&self, node: Self::Node) -> Figures;

    /// Returns the disk space of its figures, for a caller who needs no other sum.
    fn allocated_bytes(&self, node: Self::Node) -> u128 {
        self.figures(node).allocated_bytes
    }

    /// Returns the facts that change the meaning of its figures.
    fn notes(&self, node: Self::Node) -> Notes {
        let _ = node;
        Notes::default()
    }

    /// Returns the owner of a node; absent where it is unknown.
    fn uid(&self, node: Self::Node) -> Option<u32> {
        let _ = node;
        None
    }

    /// Returns the directory that holds a node; absent for a root, and where the tree does not
    /// know it.
    fn parent(&self, node: Self::Node) -> Option<Self::Node> {
        let _ = node;
        None
    }

    /// Returns the names that lead to a node, with slashes between them.
    fn path(&self, node: Self::Node) -> Vec<u8> {
        let way = std::iter::successors(Some(node), |&node| self.parent(node));
        let names: Vec<_> = way.map(|node| self.name(node)).collect();
        let mut path = Vec::new();
        for name in names.iter().rev() {
            if !path.is_empty() && path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        path
    }

    /// Returns what rows for other programs have beside; absent where the tree is not for them.
    fn details(&self, node: Self::Node) -> Option<Details> {
        let _ = node;
        None
    }

    /// Calls `each` with the children of a directory, in any order, each with its disk space.
    ///
    /// The views look at millions of children: an iterator over several kinds of children took
    /// a tenth of the time of a report after the scan more.
    fn for_each_child(&self, node: Self::Node, each: impl FnMut(u128, Self::Node));
}
