// SPDX-License-Identifier: MIT OR Apache-2.0

//! A directory tree as data: the entries that a test makes, and the expected result.
//!
//! A [`Model`] is created by the text form ([`crate::text`]), by a proptest
//! strategy ([`crate::strategy`]) or node by node. It knows the answer that does
//! not depend on the file system ([`Model::totals`]); the oracle in
//! [`crate::naive`] has the rest (blocks, inode numbers).
//!
//! Everything goes through directory descriptors, one component at a time, and
//! nothing recurses: a chain of 100,000 directories is an ordinary model.

use std::cmp::Ordering;
use std::collections::HashSet;

mod materialise;

pub(crate) use materialise::write_data;

/// The longest name that Linux file systems take, in bytes.
pub const NAME_MAX: usize = 255;

/// The longest target that a symbolic link can have, in bytes; XFS takes only 1,024.
pub const SYMLINK_MAX: usize = 4095;

/// A tree as data. Node 0 is the root: the directory that the tree is made in.
///
/// Formatted with `{:?}` it is the text form, so that a failing random tree can
/// be pasted into a test.
#[derive(Clone)]
pub struct Model {
    nodes: Vec<Node>,
    /// (parent, name), to refuse a second entry of one name.
    taken: HashSet<(NodeId, Vec<u8>)>,
}

/// Names a node of one [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// One entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The directory that holds it; the root is its own parent.
    pub parent: NodeId,
    /// Its name in that directory; empty for the root.
    pub name: Vec<u8>,
    /// Its kind.
    pub kind: NodeKind,
    /// Permission bits to set. Absent: the umask decides.
    pub mode: Option<u32>,
    /// Modification time to set; without, the time of creation.
    pub mtime: Option<Timestamp>,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// A directory.
    Directory,
    /// A regular file: `data_bytes` of data, then a hole up to `size_bytes`.
    File {
        /// `st_size`.
        size_bytes: u64,
        /// How much of it is written; equal to `size_bytes` for an ordinary file, 0 for one hole.
        data_bytes: u64,
    },
    /// A symbolic link with these bytes as its target.
    Symlink {
        /// 1 to [`SYMLINK_MAX`] bytes, none of them NUL.
        target: Vec<u8>,
    },
    /// A named pipe.
    Fifo,
    /// A socket without a listener.
    Socket,
    /// A character device; making it takes root.
    CharDevice {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// A block device; making it takes root.
    BlockDevice {
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// One more name of an earlier node that is not a directory.
    HardLink {
        /// The earlier node; [`Model::add`] makes this the first name of the inode.
        to: NodeId,
    },
}

impl NodeKind {
    /// A regular file full of data.
    pub fn file(size_bytes: u64) -> NodeKind {
        NodeKind::File {
            size_bytes,
            data_bytes: size_bytes,
        }
    }

    /// A regular file that is one hole.
    pub fn hole(size_bytes: u64) -> NodeKind {
        NodeKind::File {
            size_bytes,
            data_bytes: 0,
        }
    }
}

/// A point in time as the kernel keeps it: `nanos` are always added, also before 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970, negative before.
    pub secs: i64,
    /// 0 to 999,999,999.
    pub nanos: u32,
}

impl Timestamp {
    /// Nanoseconds since 1970; absent where they do not fit (before 1677, after 2262).
    pub fn as_ns(self) -> Option<i64> {
        let ns = i128::from(self.secs) * 1_000_000_000 + i128::from(self.nanos);
        let ns = i64::try_from(ns).ok();
        ns.filter(|&ns| ns != i64::MIN && ns != i64::MAX)
    }
}

/// The type of an entry, as a listing or `st_mode` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryType {
    /// `S_IFDIR`
    Directory,
    /// `S_IFREG`
    File,
    /// `S_IFLNK`
    Symlink,
    /// `S_IFIFO`
    Fifo,
    /// `S_IFSOCK`
    Socket,
    /// `S_IFCHR`
    CharDevice,
    /// `S_IFBLK`
    BlockDevice,
    /// Not known: neither the listing nor stat has it.
    Unknown,
}

impl EntryType {
    /// The letter that `find -printf %y` prints; `U` for [`EntryType::Unknown`].
    pub fn letter(self) -> char {
        match self {
            EntryType::Directory => 'd',
            EntryType::File => 'f',
            EntryType::Symlink => 'l',
            EntryType::Fifo => 'p',
            EntryType::Socket => 's',
            EntryType::CharDevice => 'c',
            EntryType::BlockDevice => 'b',
            EntryType::Unknown => 'U',
        }
    }
}

/// The part of the answer that no file system can change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// All names, the root included.
    pub entries: u64,
    /// Names of regular files.
    pub files: u64,
    /// Directories, the root included.
    pub dirs: u64,
    /// Names of symbolic links.
    pub symlinks: u64,
    /// Names of everything else.
    pub others: u64,
    /// The sum of `st_size` over regular files, a file with several names once.
    pub file_size_bytes: u128,
    /// Regular files and symbolic links, each inode once.
    pub apparent_bytes: u128,
    /// Names beyond the first of their inode.
    pub extra_hard_links: u64,
}

impl Totals {
    /// Counts one name of the given type.
    pub fn count_name(&mut self, entry_type: EntryType) {
        self.entries += 1;
        *match entry_type {
            EntryType::Directory => &mut self.dirs,
            EntryType::File => &mut self.files,
            EntryType::Symlink => &mut self.symlinks,
            _ => &mut self.others,
        } += 1;
    }

    /// Counts the bytes of one inode (or, with `-l`, of one name).
    pub fn count_bytes(&mut self, entry_type: EntryType, size_bytes: u64) {
        if entry_type == EntryType::File {
            self.file_size_bytes += u128::from(size_bytes);
        }
        if matches!(entry_type, EntryType::File | EntryType::Symlink) {
            self.apparent_bytes += u128::from(size_bytes);
        }
    }
}

/// Why [`Model::add`] refused a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Empty, `.`, `..`, longer than [`NAME_MAX`], or with `/` or NUL.
    Name,
    /// The parent is not a directory.
    Parent,
    /// The parent has an entry of this name.
    Taken,
    /// A symbolic link's target is empty, too long or has a NUL.
    Target,
    /// A hard link to a directory.
    HardLink,
}

impl Default for Model {
    fn default() -> Self {
        Model::new()
    }
}

impl Model {
    /// The directory that the tree is made in.
    pub const ROOT: NodeId = NodeId(0);

    /// A tree of nothing but its root.
    pub fn new() -> Model {
        let root = Node {
            parent: Model::ROOT,
            name: Vec::new(),
            kind: NodeKind::Directory,
            mode: None,
            mtime: None,
        };
        Model {
            nodes: vec![root],
            taken: HashSet::new(),
        }
    }

    /// Adds an entry.
    ///
    /// # Errors
    ///
    /// Adds an entry. Refuses one that cannot exist on disk, and leaves the model as it was.
    pub fn add(
        &mut self,
        parent: NodeId,
        name: &[u8],
        mut kind: NodeKind,
    ) -> Result<NodeId, Refused> {
        if self.node(parent).kind != NodeKind::Directory {
            return Err(Refused::Parent);
        }
        if !is_possible_name(name) {
            return Err(Refused::Name);
        }
        match &mut kind {
            NodeKind::Symlink { target } if !is_possible_target(target) => {
                return Err(Refused::Target);
            }
            NodeKind::HardLink { to } => {
                *to = self.inode(*to);
                if self.node(*to).kind == NodeKind::Directory {
                    return Err(Refused::HardLink);
                }
            }
            _ => {}
        }
        if !self.taken.insert((parent, name.to_vec())) {
            return Err(Refused::Taken);
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.nodes.push(Node {
            parent,
            name: name.to_vec(),
            kind,
            mode: None,
            mtime: None,
        });
        Ok(id)
    }

    /// Sets the permission bits of a node; those of a hard link are its inode's.
    pub fn set_mode(&mut self, id: NodeId, mode: u32) {
        let inode = self.inode(id);
        self.nodes[inode.index()].mode = Some(mode);
    }

    /// Sets the modification time of a node; that of a hard link is its inode's.
    pub fn set_mtime(&mut self, id: NodeId, mtime: Timestamp) {
        let inode = self.inode(id);
        self.nodes[inode.index()].mtime = Some(mtime);
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All nodes in the order they were added, the root first.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (NodeId, &Node)> {
        self.nodes
            .iter()
            .enumerate()
            .map(|(index, node)| (NodeId(index as u32), node))
    }

    /// The first name of a hard link's inode; every other node is its own inode.
    pub fn inode(&self, id: NodeId) -> NodeId {
        match self.node(id).kind {
            NodeKind::HardLink { to } => to,
            _ => id,
        }
    }

    /// The type that a listing will show.
    pub fn entry_type(&self, id: NodeId) -> EntryType {
        match self.node(self.inode(id)).kind {
            NodeKind::Directory => EntryType::Directory,
            NodeKind::File { .. } => EntryType::File,
            NodeKind::Symlink { .. } => EntryType::Symlink,
            NodeKind::Fifo => EntryType::Fifo,
            NodeKind::Socket => EntryType::Socket,
            NodeKind::CharDevice { .. } => EntryType::CharDevice,
            NodeKind::BlockDevice { .. } => EntryType::BlockDevice,
            NodeKind::HardLink { .. } => unreachable!("add() resolves hard links to their inode"),
        }
    }

    /// The path below the root, without a leading `/`; empty for the root.
    pub fn path(&self, id: NodeId) -> Vec<u8> {
        let mut components = Vec::new();
        let mut at = id;
        while at != Model::ROOT {
            components.push(self.node(at).name.as_slice());
            at = self.node(at).parent;
        }
        components.reverse();
        components.join(&b'/')
    }

    /// The answer to expect of a complete scan, whatever the file system.
    ///
    /// Symbolic links count the bytes of their target, as Linux's local file
    /// systems do.
    pub fn totals(&self) -> Totals {
        self.fold_totals(|model, id| model.inode(id) == id)
    }

    /// As [`Model::totals`], with the bytes of every name (`--count-links`).
    pub fn totals_of_every_name(&self) -> Totals {
        self.fold_totals(|_, _| true)
    }

    fn fold_totals(&self, counts_bytes: impl Fn(&Model, NodeId) -> bool) -> Totals {
        let mut totals = Totals::default();
        for (id, node) in self.nodes() {
            let entry_type = self.entry_type(id);
            totals.count_name(entry_type);
            totals.extra_hard_links += u64::from(matches!(node.kind, NodeKind::HardLink { .. }));
            if counts_bytes(self, id) {
                totals.count_bytes(entry_type, self.size_bytes(id));
            }
        }
        totals
    }

    /// `st_size` of a regular file or a symbolic link, 0 for everything else.
    pub fn size_bytes(&self, id: NodeId) -> u64 {
        match &self.node(self.inode(id)).kind {
            NodeKind::File { size_bytes, .. } => *size_bytes,
            NodeKind::Symlink { target } => target.len() as u64,
            _ => 0,
        }
    }

    /// All paths below the root (the root itself as the empty path) with their types, in path order.
    ///
    /// A chain of 100,000 directories has paths of 10 GB together: for such a
    /// tree ask [`Model::totals`].
    pub fn entries(&self) -> Vec<(Vec<u8>, EntryType)> {
        let mut entries: Vec<_> = self
            .nodes()
            .map(|(id, _)| (self.path(id), self.entry_type(id)))
            .collect();
        entries.sort_by(|a, b| path_order(&a.0, &b.0));
        entries
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model:\n{}", crate::text::format(self))
    }
}

/// Equal when they describe the same tree, node by node in the same order.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.nodes == other.nodes
    }
}

/// Compares two paths component by component, bytes as unsigned numbers: the order in which "first of its names" is meant.
///
/// `/` counts as lower than every other byte, so a directory is followed by all
/// that it holds: `a`, `a/z`, `a.b`.
pub fn path_order(a: &[u8], b: &[u8]) -> Ordering {
    let weight = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    a.iter().map(weight).cmp(b.iter().map(weight))
}

/// Says whether an entry of this name can exist on Linux.
pub fn is_possible_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name != b"."
        && name != b".."
        && name.len() <= NAME_MAX
        && !name.contains(&b'/')
        && !name.contains(&0)
}

fn is_possible_target(target: &[u8]) -> bool {
    !target.is_empty() && target.len() <= SYMLINK_MAX && !target.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn add_refuses_what_cannot_exist() {
        let mut model = Model::new();
        let file = model.add(Model::ROOT, b"f", NodeKind::file(1)).unwrap();
        let dir = model.add(Model::ROOT, b"d", NodeKind::Directory).unwrap();
        for name in [&b""[..], b".", b"..", b"a/b", b"a\0b", &[b'x'; 256]] {
            assert_eq!(
                model.add(dir, name, NodeKind::Fifo),
                Err(Refused::Name),
                "{name:?}"
            );
        }
        assert_eq!(model.add(file, b"x", NodeKind::Fifo), Err(Refused::Parent));
        assert_eq!(
            model.add(Model::ROOT, b"f", NodeKind::Fifo),
            Err(Refused::Taken)
        );
        let to_directory = NodeKind::HardLink { to: dir };
        assert_eq!(
            model.add(Model::ROOT, b"x", to_directory),
            Err(Refused::HardLink)
        );
        let empty = NodeKind::Symlink { target: Vec::new() };
        assert_eq!(model.add(Model::ROOT, b"x", empty), Err(Refused::Target));
        // Nothing refused has taken its name.
        assert!(model.add(Model::ROOT, b"x", NodeKind::Fifo).is_ok());
        assert!(model.add(dir, &[b'x'; 255], NodeKind::Fifo).is_ok());
    }

    #[test]
    fn totals_count_each_inode_once_and_each_name() {
        let mut model = Model::new();
        let file = model.add(Model::ROOT, b"f", NodeKind::file(100)).unwrap();
        let second = model
            .add(Model::ROOT, b"g", NodeKind::HardLink { to: file })
            .unwrap();
        model
            .add(Model::ROOT, b"h", NodeKind::HardLink { to: second })
            .unwrap();
        let target = b"four".to_vec();
        model
            .add(Model::ROOT, b"l", NodeKind::Symlink { target })
            .unwrap();
        model.add(Model::ROOT, b"p", NodeKind::Fifo).unwrap();
        let once = Totals {
            entries: 6,
            files: 3,
            dirs: 1,
            symlinks: 1,
            others: 1,
            file_size_bytes: 100,
            apparent_bytes: 104,
            extra_hard_links: 2,
        };
        assert_eq!(model.totals(), once);
        let each = Totals {
            file_size_bytes: 300,
            apparent_bytes: 304,
            ..once
        };
        assert_eq!(model.totals_of_every_name(), each);
    }

    #[test]
    fn a_slash_is_lowest_in_path_order() {
        let mut paths: Vec<&[u8]> = vec![b"a.b", b"a", b"b", b"a/z", b"a\x01", b"", b"a/\xff/c"];
        paths.sort_by(|a, b| path_order(a, b));
        let expected: Vec<&[u8]> = vec![b"", b"a", b"a/z", b"a/\xff/c", b"a\x01", b"a.b", b"b"];
        assert_eq!(paths, expected);
    }

    #[test]
    fn timestamps_before_1970_add_their_nanoseconds() {
        assert_eq!(
            Timestamp {
                secs: -1,
                nanos: 250_000_000
            }
            .as_ns(),
            Some(-750_000_000)
        );
        assert_eq!(
            Timestamp {
                secs: i64::MAX / 2,
                nanos: 0
            }
            .as_ns(),
            None
        );
        assert_eq!(
            Timestamp {
                secs: i64::MIN / 2,
                nanos: 0
            }
            .as_ns(),
            None
        );
    }
}
