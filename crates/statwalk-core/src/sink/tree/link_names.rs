// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of inodes that have several, in 30 bytes each: with them the names of an inode
//! are found, and the inode of a name.

use super::identities::DirIdentity;
use crate::entry::FileId;

/// A name, with the number of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(2))]
pub(super) struct LinkName {
    pub(super) identity: DirIdentity,
    pub(super) dir: u32,
    pub(super) file: u64,
    /// How many names the inode had.
    pub(super) links: u32,
}

impl LinkName {
    fn place(&self) -> (u32, u64) {
        (self.dir, self.file)
    }
}

/// All such names of a tree.
#[derive(Default)]
pub(super) struct LinkNames {
    /// By directory.
    names: Vec<LinkName>,
    /// The places of the names, by inode.
    by_inode: Vec<u32>,
}

impl LinkNames {
    pub(super) fn new(mut names: Vec<LinkName>) -> LinkNames {
        names.shrink_to_fit();
        names.sort_unstable_by_key(LinkName::place);
        // So many names would take more than 100 GB.
        let count = u32::try_from(names.len()).expect("there are fewer than 2^32 such names");
        let mut by_inode: Vec<u32> = (0..count).collect();
        by_inode.sort_unstable_by_key(|&at| names[at as usize].identity);
        LinkNames { names, by_inode }
    }

    /// The names in a directory.
    pub(super) fn of_dir(&self, dir: u32) -> &[LinkName] {
        let start = self.names.partition_point(|name| { name.dir } < dir);
        let names = &self.names[start..];
        let end = names.partition_point(|name| name.dir == dir);
        &names[..end]
    }

    /// The name that a file is.
    pub(super) fn of_file(&self, dir: u32, file: u64) -> Option<&LinkName> {
        let at = (self.names).binary_search_by_key(&(dir, file), LinkName::place);
        at.ok().map(|at| &self.names[at])
    }

    /// The names of an inode.
    pub(super) fn of_inode(&self, identity: DirIdentity) -> impl Iterator<Item = &LinkName> {
        let name = |at: &u32| &self.names[*at as usize];
        let start = (self.by_inode).partition_point(|at| name(at).identity < identity);
        let names = self.by_inode[start..].iter().map(name);
        names.take_while(move |name| name.identity == identity)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.names.capacity() * size_of::<LinkName>() + self.by_inode.capacity() * size_of::<u32>()
    }
}

/// The identity of an inode among these devices; absent where none of them is its own.
pub(super) fn identity_of(id: FileId, devices: &[u64]) -> Option<DirIdentity> {
    let device = devices.iter().position(|&device| device == id.dev)?;
    DirIdentity::new(id.ino, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: () = assert!(size_of::<LinkName>() == 26);

    #[test]
    fn names_are_found_by_directory_file_and_inode() {
        let names = (0..1000_u64).map(|number| LinkName {
            identity: DirIdentity::new(number % 97, (number % 3) as usize).unwrap(),
            dir: (number * 7 % 13) as u32 * 2,
            file: number,
            links: 9,
        });
        let all: Vec<LinkName> = names.collect();
        let names = LinkNames::new(all.clone());
        for dir in 0..30 {
            let found: Vec<u64> = names.of_dir(dir).iter().map(|name| name.file).collect();
            let wanted = all.iter().filter(|name| name.dir == dir);
            assert_eq!(found, wanted.map(|name| name.file).collect::<Vec<_>>());
        }
        for name in &all {
            assert_eq!(names.of_file(name.dir, name.file), Some(name));
            assert_eq!(names.of_file(name.dir + 1, name.file), None);
            let mut found: Vec<u64> = names
                .of_inode(name.identity)
                .map(|name| name.file)
                .collect();
            found.sort_unstable();
            let wanted = all.iter().filter(|other| other.identity == name.identity);
            assert_eq!(found, wanted.map(|name| name.file).collect::<Vec<_>>());
        }
        let unknown = DirIdentity::new(3, 3).unwrap();
        assert_eq!(names.of_inode(unknown).count(), 0);
    }
}
