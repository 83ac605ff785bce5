// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scanned tree, as a report needs to see it.

use std::borrow::Cow;

use statwalk_core::{Category, DirId, Extension, FileType, Node, TopOf, Tree, TreeFile};
use statwalk_report::{Groups, NO_OWNER, NONE, ReportTree, Tally};
use statwalk_view::Tree as _;

use super::tallies::Tallies;
use crate::output::rows::roots;
use crate::output::scanned_tree::{Own, Part, ScannedTree, bytes_of_file, name_of_file};

/// A tree with files and owners, and the indices of groups; without them, `()`, it has sizes
/// and names alone.
pub(crate) type Reported<'a, I = Indices> = ScannedTree<'static, &'a Tree, I>;

/// A tree without indices. Its roots have their whole paths.
pub(super) fn reported(tree: &Tree, paths: Vec<Vec<u8>>) -> Reported<'_, ()> {
    let mut roots = roots(tree);
    let top = match (roots.next(), roots.next()) {
        (Some((index, _)), None) => Part::Root(index as u32),
        _ => Part::All,
    };
    drop(roots);
    ScannedTree {
        paths,
        top,
        own: Own::Everywhere,
        ..ScannedTree::new(tree)
    }
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

impl<I: Sync> Reported<'_, I> {
    /// The path of a node, which begins with the whole path of its root.
    pub(super) fn path_of_node(&self, node: &Node<'_>) -> Vec<u8> {
        self.path(self.part_of(node))
    }

    /// The path of a file, which begins with the whole path of its root.
    pub(super) fn path_of(&self, file: &TopOf) -> Vec<u8> {
        let Some(dir) = file.dir_id else {
            let root = self.tree.root(file.root());
            return root.map_or_else(|| file.path.clone(), |root| self.path_of_node(&root));
        };
        match self.tree.directory(dir) {
            Some(directory) => {
                let mut path = self.path_of_node(&directory);
                if !path.ends_with(b"/") {
                    path.push(b'/');
                }
                path.extend_from_slice(name_of_file(file));
                path
            }
            None => file.path.clone(),
        }
    }
}

impl Reported<'_> {
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
    fn groups_of(&self, file: &TreeFile<'_>) -> (u8, u8) {
        match file.kind() {
            FileType::File => self.indices.groups(file),
            _ => (self.indices.not_files, NONE),
        }
    }
}

impl ReportTree for Reported<'_> {
    fn groups(&self, part: Part) -> Groups {
        let node = self.node(part);
        let file = node.and_then(|node| node.as_file());
        let directory = node.and_then(|node| node.dir_id());
        let (owner, (category, ending)) = match (file, directory, part) {
            (Some(file), ..) => (self.indices.owner(file.uid()), self.groups_of(&file)),
            (None, Some(directory), _) => {
                let (category, owner) = self.indices.most(directory);
                (owner, (category, NONE))
            }
            (None, None, Part::Itself(directory, _)) => {
                (self.owner_of(directory), (self.indices.not_files, NONE))
            }
            (None, None, _) => {
                let mut tally = Tally::default();
                self.add_to(&mut tally, part);
                (tally.owner(), (tally.category(), NONE))
            }
        };
        Groups {
            owner,
            category,
            ending,
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
