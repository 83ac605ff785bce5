// SPDX-License-Identifier: MIT OR Apache-2.0

//! The index of a tar archive as a source: how little a source needs.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, KeptStat, More, Way};

type Entries = Vec<(CString, usize)>;

/// The names in a tar archive (ustar, POSIX.1-1988), as a tree.
#[derive(Default)]
pub(super) struct TarIndex {
    /// Each with the number of its parent, and its entries with their numbers.
    nodes: Vec<(Attributes, usize, Entries)>,
    /// How many names were asked about.
    pub(super) stats: AtomicU64,
    /// Whether each listing comes a second time.
    pub(super) repeats: bool,
}

impl TarIndex {
    pub(super) fn of(mut archive: &[u8]) -> TarIndex {
        let mut index = TarIndex::default();
        index.add(b"", FileType::Directory, 0);
        while archive.len() >= 512 && archive[0] != 0 {
            let text = |start: usize, end: usize| -> &[u8] {
                let mut parts = archive[start..end].split(|&byte| byte == 0);
                parts.next().unwrap_or_default()
            };
            let digits = text(124, 135).iter().map(|digit| u64::from(digit & 7));
            let size_bytes = digits.fold(0, |size, digit| size << 3 | digit);
            let kind = match archive[156] {
                b'5' => FileType::Directory,
                b'2' => FileType::Symlink,
                _ => FileType::File,
            };
            let path = [text(345, 500), text(0, 100)].join(&b'/');
            index.add(&path, kind, size_bytes);
            archive = &archive[512 + size_bytes.next_multiple_of(512) as usize..];
        }
        index
    }

    /// Adds an entry. Its directory is there: tar writes it before.
    fn add(&mut self, path: &[u8], kind: FileType, size_bytes: u64) {
        let mut above: Vec<&[u8]> = names(path).collect();
        let name = above.pop();
        let parent = self.node(0, &above.join(&b'/')).unwrap_or(0);
        let number = self.nodes.len();
        let attributes = Attributes::of_type(kind)
            .with_size_bytes(size_bytes)
            .with_allocated_bytes(size_bytes.next_multiple_of(512))
            .with_links(1)
            .with_id(FileId::new(1, number as u64 + 1));
        self.nodes.push((attributes, parent, Vec::new()));
        if let Some(name) = name {
            let name = CString::new(name).expect("no NUL");
            self.nodes[parent].2.push((name, number));
        }
    }

    fn node(&self, from: usize, path: &[u8]) -> Result<usize, Failure> {
        names(path).try_fold(from, |node, name| {
            let mut entries = self.nodes[node].2.iter();
            let found = entries.find(|(known, _)| known.to_bytes() == name);
            found.map(|&(_, node)| node).ok_or(Failure::NOT_FOUND)
        })
    }

    fn open(&self, node: usize) -> Result<DirHandle, Failure> {
        match self.nodes[node].0.kind {
            FileType::Directory => Ok(DirHandle::of(node)),
            _ => Err(Failure::NOT_A_DIRECTORY),
        }
    }
}

fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let names = path.split(|&byte| byte == b'/');
    names.filter(|name| !matches!(*name, b"" | b"."))
}

/// The number of an open directory.
fn opened(dir: &DirHandle) -> Result<usize, Failure> {
    dir.own().copied().ok_or(Failure::BAD_HANDLE)
}

impl DirectorySource for TarIndex {
    type Stat = KeptStat;
    type StatError = Failure;

    fn account(&self) -> Account {
        Account::named("tar")
    }

    fn find_root(&self, path: &CStr) -> Result<DirHandle, Failure> {
        self.open(self.node(0, path.to_bytes())?)
    }

    fn find(&self, from: &DirHandle, path: &[u8], _: Way) -> Result<DirHandle, Failure> {
        self.open(self.node(opened(from)?, path)?)
    }

    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Failure> {
        self.open((0..levels).fold(opened(from)?, |node, _| self.nodes[node].1))
    }

    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<KeptStat, Failure> {
        self.stats.fetch_add(1, Relaxed);
        let node = self.node(opened(dir)?, name.to_bytes())?;
        Ok(KeptStat(self.nodes[node].0))
    }

    fn stat_path(&self, path: &CStr) -> Result<KeptStat, Failure> {
        Ok(KeptStat(self.nodes[self.node(0, path.to_bytes())?].0))
    }

    fn stat_directory(&self, dir: &DirHandle) -> Result<KeptStat, Failure> {
        Ok(KeptStat(self.nodes[opened(dir)?].0))
    }

    fn list(
        &self,
        dir: &DirHandle,
        _: &mut [u8],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Failure> {
        let position = self.position(dir)?;
        let entries = &self.nodes[opened(dir)?].2;
        let rounds = 1 + usize::from(self.repeats);
        let all = entries.iter().cycle().take(rounds * entries.len());
        let listed = all.skip(position as usize).take(100);
        let count = listed.clone().count();
        for (name, child) in listed {
            let attributes = &self.nodes[*child].0;
            into.add_with(name, attributes.id.ino, attributes, names);
        }
        self.seek(dir, position + count as u64)?;
        Ok(More::after(count))
    }

    fn is_served(&self, _: &DirHandle) -> bool {
        self.repeats
    }

    fn listed_fields(&self) -> Fields {
        Fields::SIZE | Fields::ALLOCATED | Fields::LINKS | Fields::ID
    }
}
