// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as a report needs to see it.

use std::borrow::Cow;

use statwalk_core::{
    Category, DirId, DirState, Extension, FileType, Node, NodeId, NodeKind, TopOf, Tree, TreeFile,
};
use statwalk_report::{Facts, Flags, Kind, NO_OWNER, NONE, ReportTree, SizedTree, Tally};
use statwalk_view::Figures;

use super::tallies::Tallies;
use crate::output::rows::roots;

/// A tree with files and owners, and the indices of groups; without them, `()`, it has sizes
/// and names alone.
pub(crate) struct ScannedTree<'a, I = Indices> {
    pub(super) tree: &'a Tree,
    /// The whole paths of all roots, in the order of the scan.
    pub(super) paths: Vec<Vec<u8>>,
    pub(super) indices: I,
}

/// The places of groups in an answer.
#[derive(Debug)]
pub(crate) struct Indices {
    /// Categories with their places, by category.
    pub(super) categories: Vec<(Category, u8)>,
    /// The listed extensions with their places, by extension.
    pub(super) endings: Vec<(Extension, u8)>,
    /// The number of the group of each file, by the number of the file.
    pub(super) of_files: Vec<u32>,
    /// The places of the category and of the ending of each group, by this number.
    pub(super) of_groups: Vec<(u8, u8)>,
    /// The bytes of each directory by category and by owner, with numbers for both.
    pub(super) tallies: Tallies,
    /// The places of owners, by their numbers there.
    pub(super) owners_of_tallies: Vec<u32>,
    /// Owners with their places, by number.
    pub(super) owners: Vec<(u32, u32)>,
    /// The place of the category of what is no file.
    pub(super) not_files: u8,
}

/// A node of the tree, in 16 bytes: a page has many of them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// All roots together.
    All,
    /// A root, by its index.
    Root(u32),
    /// A directory or a file.
    Node(NodeId),
    /// So many bytes of a directory itself, as [`u64::to_ne_bytes`] has them: an integer
    /// would have to lie at a multiple of 8, and make all parts larger.
    Itself(DirId, [u8; 8]),
}

const _: () = assert!(size_of::<Option<Part>>() == 16);

impl Indices {
    /// The category and the owner with most bytes of a directory.
    fn most(&self, directory: DirId) -> (u8, u32) {
        let (category, owner) = (|key| self.category_of(key), |key| self.owner_of(key));
        self.tallies.most(directory, category, owner)
    }

    /// Adds the bytes of a directory, and returns whether they are known.
    fn add_to(&self, tally: &mut Tally, directory: DirId) -> bool {
        let (category, owner) = (|key| self.category_of(key), |key| self.owner_of(key));
        self.tallies.add_to(tally, directory, category, owner)
    }

    /// The place of a category of the tallies.
    fn category_of(&self, number: u8) -> u8 {
        let of = |&(category, _): &(Category, u8)| category.number();
        let at = self.categories.binary_search_by_key(&number, of);
        at.map_or(self.not_files, |at| self.categories[at].1)
    }

    /// The place of an owner of the tallies.
    fn owner_of(&self, number: u32) -> u32 {
        self.owners_of_tallies[number as usize]
    }

    pub(super) fn category(&self, name: &[u8]) -> u8 {
        place_or_none(&self.categories, Category::of_name(name))
    }

    pub(super) fn ending(&self, name: &[u8]) -> u8 {
        place_or_none(&self.endings, Extension::of_name(name))
    }

    /// The places of the category and of the ending of a file.
    fn groups(&self, file: &TreeFile<'_>) -> (u8, u8) {
        match file.node().file_number() {
            Some(number) => self.of_groups[self.of_files[number] as usize],
            // A root.
            None => (self.category(file.name()), self.ending(file.name())),
        }
    }

    pub(super) fn owner(&self, uid: Option<u32>) -> u32 {
        place_of_owner(&self.owners, uid)
    }
}

fn place<K: Copy + Ord, P: Copy>(places: &[(K, P)], key: K) -> Option<P> {
    let at = places.binary_search_by_key(&key, |&(key, _)| key).ok()?;
    Some(places[at].1)
}

/// The place of an owner; [`NO_OWNER`] where it is not known.
pub(super) fn place_of_owner(places: &[(u32, u32)], uid: Option<u32>) -> u32 {
    uid.and_then(|uid| place(places, uid)).unwrap_or(NO_OWNER)
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

/// The bytes that count under the name of a file: on disk, and apparent. A file that could
/// not be read has none, and a flag that says so.
pub(super) fn bytes_of_file(file: &TreeFile<'_>) -> (u64, u64) {
    match file.is_extra_link() {
        true => (0, 0),
        false => (
            file.allocated_bytes().unwrap_or(0),
            file.apparent_bytes().unwrap_or(0),
        ),
    }
}

/// The bytes on the disk and the apparent ones of a node, and of all below a directory.
pub(super) fn bytes(node: &Node<'_>) -> (u128, u128) {
    match node.as_file() {
        Some(file) => {
            let (allocated_bytes, apparent_bytes) = bytes_of_file(&file);
            (allocated_bytes.into(), apparent_bytes.into())
        }
        None => (
            node.allocated_bytes().unwrap_or(0),
            node.apparent_bytes().unwrap_or(0),
        ),
    }
}

/// The first of these [`bytes`].
fn allocated_bytes(node: &Node<'_>) -> u128 {
    match node.as_file() {
        Some(file) => bytes_of_file(&file).0.into(),
        None => bytes_of_directory(node),
    }
}

/// The first of the [`bytes`] of a directory.
pub(super) fn bytes_of_directory(node: &Node<'_>) -> u128 {
    node.allocated_bytes().unwrap_or(0)
}

impl<'a, I> ScannedTree<'a, I> {
    /// A directory or a file; absent for anything else.
    #[inline]
    fn node(&self, part: Part) -> Option<Node<'a>> {
        match part {
            Part::Root(index) => self.tree.root(index as usize),
            Part::Node(id) => Some(self.tree.node(id)),
            Part::All | Part::Itself(..) => None,
        }
    }

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
        let Some(dir) = file.dir_id else {
            let root = self.tree.root(file.root());
            return root.map_or_else(|| file.path.clone(), |root| self.path(root));
        };
        match self.tree.directory(dir) {
            Some(directory) => {
                let mut path = self.path(directory);
                if !path.ends_with(b"/") {
                    path.push(b'/');
                }
                path.extend_from_slice(name);
                path
            }
            None => file.path.clone(),
        }
    }
}

impl<'a> ScannedTree<'a> {
    fn facts_of(&self, node: Node<'a>) -> Facts {
        match node.as_file() {
            Some(file) => self.facts_of_file(&file),
            None => self.facts_of_directory(&node),
        }
    }

    fn facts_of_file(&self, file: &TreeFile<'a>) -> Facts {
        let mut flags = Flags::default();
        if file.is_incomplete() {
            flags = flags | Flags::INCOMPLETE | Flags::UNREADABLE;
        }
        if file.is_extra_link() {
            flags = flags | Flags::EXTRA_NAME;
        }
        let (category, ending) = self.groups_of(file);
        Facts {
            kind: kind_of(file.kind()),
            flags,
            owner: self.indices.owner(file.uid()),
            category,
            ending,
        }
    }

    fn facts_of_directory(&self, node: &Node<'a>) -> Facts {
        let mut flags = match node.is_incomplete() {
            true => Flags::INCOMPLETE,
            false => Flags::default(),
        };
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
            _ => Kind::Other,
        };
        let (category, owner) = match node.dir_id() {
            Some(directory) => self.indices.most(directory),
            None => (NONE, NO_OWNER),
        };
        Facts {
            kind,
            flags,
            owner,
            category,
            ending: NONE,
        }
    }

    /// Adds the bytes of a node, and returns whether all below it are known.
    fn add_known(&self, tally: &mut Tally, part: Part) -> bool {
        let indices = &self.indices;
        if let Part::Itself(directory, bytes) = part {
            let bytes = u64::from_ne_bytes(bytes).into();
            tally.add_entry(indices.not_files, self.owner_of(directory), bytes);
            return true;
        }
        let Some(node) = self.node(part) else {
            return false;
        };
        match (node.as_file(), node.dir_id()) {
            (Some(file), _) => {
                let bytes = bytes_of_file(&file).0;
                if bytes > 0 {
                    let (category, _) = self.groups_of(&file);
                    tally.add_entry(category, indices.owner(file.uid()), bytes.into());
                }
                true
            }
            (None, Some(directory)) => indices.add_to(tally, directory),
            (None, None) => false,
        }
    }

    /// The place of the owner of a directory.
    fn owner_of(&self, directory: DirId) -> u32 {
        let directory = self.tree.directory(directory);
        self.indices
            .owner(directory.and_then(|directory| directory.uid()))
    }

    /// The category and the ending of an entry that is no directory.
    fn groups_of(&self, file: &TreeFile<'a>) -> (u8, u8) {
        match file.kind() {
            FileType::File => self.indices.groups(file),
            _ => (self.indices.not_files, NONE),
        }
    }
}

fn figures_of(node: &Node<'_>) -> Figures {
    let (allocated_bytes, apparent_bytes) = bytes(node);
    if let Some(file) = node.as_file() {
        return Figures {
            allocated_bytes,
            apparent_bytes,
            entries: 1,
            newest_mtime_ns: file.mtime_ns(),
            incomplete: file.is_incomplete(),
        };
    }
    Figures {
        allocated_bytes,
        apparent_bytes,
        entries: node.entries(),
        newest_mtime_ns: node.newest_mtime_ns(),
        incomplete: node.is_incomplete(),
    }
}

impl<I: Sync> statwalk_view::Tree for ScannedTree<'_, I> {
    type Node = Part;

    fn root(&self) -> Part {
        let mut roots = roots(self.tree);
        match (roots.next(), roots.next()) {
            (Some((index, _)), None) => Part::Root(index as u32),
            _ => Part::All,
        }
    }

    fn name(&self, part: Part) -> Cow<'_, [u8]> {
        match part {
            Part::All | Part::Itself(..) => Cow::Borrowed(b""),
            Part::Root(index) => Cow::Borrowed(&self.paths[index as usize]),
            Part::Node(id) => Cow::Borrowed(self.tree.node(id).name()),
        }
    }

    fn is_dir(&self, part: Part) -> bool {
        match self.node(part) {
            Some(node) => node.is_dir(),
            None => matches!(part, Part::All),
        }
    }

    fn count(&self, part: Part) -> u64 {
        u64::from(!matches!(part, Part::Itself(..)))
    }

    fn figures(&self, part: Part) -> Figures {
        match part {
            Part::Root(_) | Part::Node(_) => {
                let node = self.node(part);
                node.map_or_else(Figures::default, |node| figures_of(&node))
            }
            Part::Itself(_, bytes) => Figures {
                allocated_bytes: u64::from_ne_bytes(bytes).into(),
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

    fn allocated_bytes(&self, part: Part) -> u128 {
        match (self.node(part), part) {
            (Some(node), _) => allocated_bytes(&node),
            (None, Part::Itself(_, bytes)) => u64::from_ne_bytes(bytes).into(),
            (None, _) => self.figures(part).allocated_bytes,
        }
    }

    fn children(&self, part: Part) -> impl Iterator<Item = Part> {
        let mut children = Vec::new();
        self.for_each_child(part, |_, child| children.push(child));
        children.into_iter()
    }
}

impl<'a, I: Sync> SizedTree for ScannedTree<'a, I> {
    fn for_each_child(&self, part: Part, mut each: impl FnMut(u128, Part)) {
        if let Part::All = part {
            let roots = roots(self.tree);
            return roots.for_each(|(index, root)| {
                each(allocated_bytes(&root), Part::Root(index as u32));
            });
        }
        let Some(directory) = self.node(part).filter(Node::is_dir) else {
            return;
        };
        // The bytes that no entry so far has.
        let mut rest = allocated_bytes(&directory);
        let mut entry = |bytes: u128, node: Node<'a>| {
            rest = rest.saturating_sub(bytes);
            each(bytes, Part::Node(node.id()));
        };
        for child in directory.children() {
            entry(bytes_of_directory(&child), child);
        }
        directory.for_each_file(|file| entry(bytes_of_file(&file).0.into(), file.node()));
        if let Some(id) = directory.dir_id().filter(|_| rest > 0) {
            // A directory itself has fewer than 2^64 bytes.
            let bytes = u64::try_from(rest).unwrap_or(u64::MAX);
            each(bytes.into(), Part::Itself(id, bytes.to_ne_bytes()));
        }
    }
}

impl ReportTree for ScannedTree<'_> {
    fn facts(&self, part: Self::Node) -> Facts {
        let nothing = Facts {
            kind: Kind::Roots,
            flags: Flags::default(),
            owner: NO_OWNER,
            category: NONE,
            ending: NONE,
        };
        match (self.node(part), part) {
            (Some(node), _) => self.facts_of(node),
            (None, Part::Itself(directory, _)) => Facts {
                kind: Kind::Itself,
                owner: self.owner_of(directory),
                category: self.indices.not_files,
                ..nothing
            },
            (None, _) => {
                let mut tally = Tally::default();
                self.add_to(&mut tally, part);
                Facts {
                    owner: tally.owner(),
                    category: tally.category(),
                    ..nothing
                }
            }
        }
    }

    fn add_to(&self, tally: &mut Tally, part: Self::Node) {
        if self.add_known(tally, part) {
            return;
        }
        let mut waiting = vec![part];
        while let Some(part) = waiting.pop() {
            self.for_each_child(part, |_, child| {
                if !self.add_known(tally, child) {
                    waiting.push(child);
                }
            });
        }
    }

    fn ending(&self, part: Self::Node) -> Cow<'_, [u8]> {
        let file = self.node(part).and_then(|node| node.as_file());
        match file.filter(|file| file.kind() == FileType::File) {
            Some(file) => match Extension::of_name(file.name()) {
                known if known.is_known() => known.to_vec().into(),
                _ => Cow::Borrowed(b""),
            },
            None => Cow::Borrowed(b""),
        }
    }
}
