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
        place(&self.categories, Category::of_name(name)).unwrap_or(NONE)
    }

    pub(super) fn ending(&self, name: &[u8]) -> u8 {
        place(&self.endings, Extension::of_name(name)).unwrap_or(NONE)
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
        let (kind, category, ending) = match node.kind() {
            NodeKind::Directory(state) => {
                flags = flags
                    | match state {
                        DirState::Unreadable => Flags::UNREADABLE,
                        DirState::Crossing => Flags::CROSSING,
                        DirState::Excluded => Flags::EXCLUDED,
                        _ => Flags::default(),
                    };
                (Kind::Directory, NONE, NONE)
            }
            NodeKind::Other(FileType::File) => {
                let name = node.name();
                (Kind::File, indices.category(name), indices.ending(name))
            }
            NodeKind::Other(kind) => (kind_of(kind), indices.not_files, NONE),
            _ => (Kind::Other, indices.not_files, NONE),
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
        self.sized_children(part).map(|(_, child)| child)
    }
}

/// The children of a directory, and at last the bytes that none of them has.
struct Below<'a, I> {
    directory: Node<'a>,
    entries: I,
    /// The bytes that no entry so far has; absent when they were given.
    rest: Option<u128>,
}

impl<'a> Below<'a, ()> {
    fn new(directory: Node<'a>) -> Below<'a, impl Iterator<Item = Node<'a>>> {
        Below {
            directory,
            entries: directory.children().chain(directory.files()),
            rest: directory.is_dir().then(|| allocated_bytes(&directory)),
        }
    }
}

impl<'a, I: Iterator<Item = Node<'a>>> Iterator for Below<'a, I> {
    type Item = (u128, Part<'a>);

    fn next(&mut self) -> Option<(u128, Part<'a>)> {
        if let Some(entry) = self.entries.next() {
            let bytes = allocated_bytes(&entry);
            let rest = self.rest.as_mut()?;
            *rest = rest.saturating_sub(bytes);
            return Some((bytes, Part::Node(entry)));
        }
        // A directory itself has fewer than 2^64 bytes.
        let rest = self.rest.take().filter(|&rest| rest > 0)?;
        let bytes = u64::try_from(rest).unwrap_or(u64::MAX);
        Some((bytes.into(), Part::Itself(self.directory, bytes)))
    }
}

impl<'a> ReportTree for ScannedTree<'a> {
    fn sized_children(&self, part: Part<'a>) -> impl Iterator<Item = (u128, Part<'a>)> {
        let (all, node) = match part {
            Part::All => (Some(roots(self.tree)), None),
            Part::Root(node, _) | Part::Node(node) => (None, Some(node)),
            Part::Itself(..) => (None, None),
        };
        let all = all.into_iter().flatten().map(|(index, root)| {
            let bytes = allocated_bytes(&root);
            (bytes, Part::Root(root, index as u32))
        });
        all.chain(node.into_iter().flat_map(Below::new))
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
