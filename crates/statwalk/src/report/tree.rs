// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as a report needs to see it.

use std::borrow::Cow;
use std::sync::OnceLock;

use statwalk_core::{Category, DirState, Extension, FileType, Node, NodeKind, TopOf, Tree};
use statwalk_report::{Facts, Flags, Kind, NO_OWNER, NONE, ReportTree};
use statwalk_view::Figures;

use crate::output::rows::roots;

/// A tree with files and owners, and the indices of groups.
pub(crate) struct ScannedTree<'a> {
    pub(super) tree: &'a Tree,
    /// The whole paths of all roots, in the order of the scan.
    pub(super) paths: Vec<Vec<u8>>,
    /// Not known before all files were seen; the nodes of a page are chosen meanwhile.
    pub(super) indices: OnceLock<Indices>,
}

/// The places of groups in an answer.
#[derive(Debug, Default)]
pub(super) struct Indices {
    /// Categories with their places, by category.
    pub(super) categories: Vec<(Category, u8)>,
    /// The listed extensions with their places, by extension.
    pub(super) endings: Vec<(Extension, u8)>,
    /// The places of the category and of the ending of each file, by the number of the file.
    pub(super) of_files: Vec<(u8, u8)>,
    /// Owners with their places, by number.
    pub(super) owners: Vec<(u32, u32)>,
    /// The place of the category of what is no file.
    pub(super) not_files: u8,
}

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// All roots together.
    All,
    /// A root, by its index.
    Root(Node<'a>, u32),
    /// A directory or a file.
    Node(Node<'a>),
    /// So many bytes of a directory itself.
    Itself(Node<'a>, u64),
}

impl Indices {
    pub(super) fn category(&self, name: &[u8]) -> u8 {
        place_or_none(&self.categories, Category::of_name(name))
    }

    pub(super) fn ending(&self, name: &[u8]) -> u8 {
        place_or_none(&self.endings, Extension::of_name(name))
    }

    /// The places of the category and of the ending of a file.
    fn groups(&self, file: &Node<'_>) -> (u8, u8) {
        match file.file_number() {
            Some(number) => self.of_files[number],
            // A root.
            None => (self.category(file.name()), self.ending(file.name())),
        }
    }

    pub(super) fn owner(&self, uid: Option<u32>) -> u32 {
        uid.and_then(|uid| place(&self.owners, uid))
            .unwrap_or(NO_OWNER)
    }
}

fn place<K: Copy + Ord, P: Copy>(places: &[(K, P)], key: K) -> Option<P> {
    let at = places.binary_search_by_key(&key, |&(key, _)| key).ok()?;
    Some(places[at].1)
}

/// The place of a group; [`NONE`] where it has none.
pub(super) fn place_or_none<K: Copy + Ord>(places: &[(K, u8)], key: K) -> u8 {
    place(places, key).unwrap_or(NONE)
}

/// The kind of an entry that is no directory.
pub(super) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::File => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The bytes that count under the name of a node: on disk, and apparent. A file that could
/// not be read has none, and a flag that says so.
pub(super) fn bytes(node: &Node<'_>) -> (u128, u128) {
    match node.is_extra_link() {
        true => (0, 0),
        false => (
            node.allocated_bytes().unwrap_or(0),
            node.apparent_bytes().unwrap_or(0),
        ),
    }
}

/// The first of these [`bytes`].
fn allocated_bytes(node: &Node<'_>) -> u128 {
    match node.is_extra_link() {
        true => 0,
        false => node.allocated_bytes().unwrap_or(0),
    }
}

/// The first of the [`bytes`] of a directory.
pub(super) fn bytes_of_directory(node: &Node<'_>) -> u128 {
    node.allocated_bytes().unwrap_or(0)
}

impl<'a> ScannedTree<'a> {
    /// The path of a node, which begins with the whole path of its root.
    pub(super) fn path(&self, node: Node<'a>) -> Vec<u8> {
        let mut names = Vec::new();
        let mut top = node;
        while let Some(parent) = top.parent() {
            names.push(top.name());
            top = parent;
        }
        let root = roots(self.tree).find(|(_, root)| root.dir_id() == top.dir_id());
        let mut path = root.map_or(top.name().to_vec(), |(index, _)| self.paths[index].clone());
        for name in names.into_iter().rev() {
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        path
    }

    /// The path of a file, which begins with the whole path of its root.
    pub(super) fn path_of(&self, file: &TopOf) -> Vec<u8> {
        let name = file
            .path
            .rsplit(|&byte| byte == b'/')
            .next()
            .unwrap_or_default();
        match self.tree.directory(file.dir_id) {
            Some(directory) if directory.is_dir() => {
                let mut path = self.path(directory);
                if !path.ends_with(b"/") {
                    path.push(b'/');
                }
                path.extend_from_slice(name);
                path
            }
            // A root that is a file.
            Some(root) => self.path(root),
            None => file.path.clone(),
        }
    }

    /// # Panics
    ///
    /// Panics before they are known.
    pub(super) fn indices(&self) -> &Indices {
        self.indices.get().expect("the groups are counted first")
    }

    fn facts_of(&self, node: Node<'a>) -> Facts {
        let indices = self.indices();
        let mut flags = match node.is_incomplete() {
            true => Flags::INCOMPLETE,
            false => Flags::default(),
        };
        let owner = indices.owner(node.uid());
        let (category, ending) = self.groups_of(&node);
        let kind = match node.kind() {
            NodeKind::Directory(state) => {
                flags = flags
                    | match state {
                        DirState::Unreadable => Flags::UNREADABLE,
                        DirState::Crossing => Flags::CROSSING,
                        DirState::Excluded => Flags::EXCLUDED,
                        _ => Flags::default(),
                    };
                Kind::Directory
            }
            NodeKind::Other(kind) => kind_of(kind),
            _ => Kind::Other,
        };
        if kind != Kind::Directory {
            if node.is_incomplete() {
                flags = flags | Flags::UNREADABLE;
            }
            if node.is_extra_link() {
                flags = flags | Flags::EXTRA_NAME;
            }
        }
        Facts {
            kind,
            flags,
            owner,
            category,
            ending,
        }
    }

    /// The category and the ending of a node.
    fn groups_of(&self, node: &Node<'a>) -> (u8, u8) {
        match node.kind() {
            NodeKind::Directory(_) => (NONE, NONE),
            NodeKind::Other(FileType::File) => self.indices().groups(node),
            _ => (self.indices().not_files, NONE),
        }
    }
}

fn figures_of(node: &Node<'_>) -> Figures {
    let (allocated_bytes, apparent_bytes) = bytes(node);
    Figures {
        allocated_bytes,
        apparent_bytes,
        entries: node.entries(),
        newest_mtime_ns: node.newest_mtime_ns(),
        incomplete: node.is_incomplete(),
    }
}

impl<'a> statwalk_view::Tree for ScannedTree<'a> {
    type Node = Part<'a>;

    fn root(&self) -> Part<'a> {
        let mut roots = roots(self.tree);
        match (roots.next(), roots.next()) {
            (Some((index, root)), None) => Part::Root(root, index as u32),
            _ => Part::All,
        }
    }

    fn name(&self, part: Part<'a>) -> Cow<'_, [u8]> {
        match part {
            Part::All | Part::Itself(..) => Cow::Borrowed(b""),
            Part::Root(_, index) => Cow::Borrowed(&self.paths[index as usize]),
            Part::Node(node) => Cow::Borrowed(node.name()),
        }
    }

    fn is_dir(&self, part: Part<'a>) -> bool {
        match part {
            Part::All => true,
            Part::Root(node, _) | Part::Node(node) => node.is_dir(),
            Part::Itself(..) => false,
        }
    }

    fn count(&self, part: Part<'a>) -> u64 {
        u64::from(!matches!(part, Part::Itself(..)))
    }

    fn figures(&self, part: Part<'a>) -> Figures {
        match part {
            Part::Root(node, _) | Part::Node(node) => figures_of(&node),
            Part::Itself(_, bytes) => Figures {
                allocated_bytes: bytes.into(),
                ..Figures::default()
            },
            Part::All => {
                let mut sum = Figures::default();
                for root in roots(self.tree).map(|(_, root)| figures_of(&root)) {
                    sum.allocated_bytes += root.allocated_bytes;
                    sum.apparent_bytes += root.apparent_bytes;
                    sum.entries += root.entries;
                    sum.newest_mtime_ns = sum.newest_mtime_ns.max(root.newest_mtime_ns);
                    sum.incomplete |= root.incomplete;
                }
                sum
            }
        }
    }

    fn allocated_bytes(&self, part: Part<'a>) -> u128 {
        match part {
            Part::Root(node, _) | Part::Node(node) => allocated_bytes(&node),
            Part::Itself(_, bytes) => bytes.into(),
            Part::All => self.figures(part).allocated_bytes,
        }
    }

    fn children(&self, part: Part<'a>) -> impl Iterator<Item = Part<'a>> {
        let mut children = Vec::new();
        self.for_each_child(part, |_, child| children.push(child));
        children.into_iter()
    }
}

impl<'a> ReportTree for ScannedTree<'a> {
    fn for_each_child(&self, part: Part<'a>, mut each: impl FnMut(u128, Part<'a>)) {
        let directory = match part {
            Part::All => {
                return roots(self.tree).for_each(|(index, root)| {
                    each(allocated_bytes(&root), Part::Root(root, index as u32));
                });
            }
            Part::Root(node, _) | Part::Node(node) if node.is_dir() => node,
            _ => return,
        };
        // The bytes that no entry so far has.
        let mut rest = allocated_bytes(&directory);
        let mut entry = |bytes: u128, node: Node<'a>| {
            rest = rest.saturating_sub(bytes);
            each(bytes, Part::Node(node));
        };
        for child in directory.children() {
            entry(bytes_of_directory(&child), child);
        }
        for file in directory.files() {
            entry(allocated_bytes(&file), file);
        }
        if rest > 0 {
            // A directory itself has fewer than 2^64 bytes.
            let bytes = u64::try_from(rest).unwrap_or(u64::MAX);
            each(bytes.into(), Part::Itself(directory, bytes));
        }
    }

    fn facts(&self, part: Self::Node) -> Facts {
        let nothing = Facts {
            kind: Kind::Roots,
            flags: Flags::default(),
            owner: NO_OWNER,
            category: NONE,
            ending: NONE,
        };
        match part {
            Part::All => nothing,
            Part::Root(node, _) | Part::Node(node) => self.facts_of(node),
            Part::Itself(node, _) => Facts {
                kind: Kind::Itself,
                owner: self.indices().owner(node.uid()),
                category: self.indices().not_files,
                ..nothing
            },
        }
    }

    fn colours(&self, part: Self::Node) -> (u8, u32) {
        match part {
            Part::Node(node) => (self.groups_of(&node).0, self.indices().owner(node.uid())),
            _ => {
                let facts = self.facts(part);
                (facts.category, facts.owner)
            }
        }
    }

    fn ending(&self, part: Self::Node) -> Cow<'_, [u8]> {
        match part {
            Part::Root(node, _) | Part::Node(node)
                if matches!(node.kind(), NodeKind::Other(FileType::File)) =>
            {
                Extension::of_name(node.name()).to_vec().into()
            }
            _ => Cow::Borrowed(b""),
        }
    }
}
