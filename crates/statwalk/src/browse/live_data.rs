// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers while a scan goes on: directories, and the files of those that were looked
//! at. All other files of a directory are one row.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use statwalk_browse::{Data, Entry, Item, ItemId};
use statwalk_core::{DirId, LiveDir, LiveTree};
use statwalk_view::Kind;

use super::early_files::EarlyFiles;
use super::place::Place;

/// The numbers of a scan that goes on.
pub(crate) struct LiveData {
    /// The number of the scan.
    pub(crate) number: u64,
    pub(crate) tree: LiveTree,
    /// The roots, as the user gave them.
    pub(crate) roots: Vec<Vec<u8>>,
    /// The files of directories, as their rows were made: to sum them up takes longer than
    /// a frame may.
    pub(crate) rests: Mutex<HashMap<DirId, Item<'static>>>,
    pub(crate) early: Arc<EarlyFiles>,
}

impl LiveData {
    /// The numbers of a scan that begins, with the number of the scan.
    pub(crate) fn new(number: u64, tree: LiveTree, roots: Vec<Vec<u8>>) -> LiveData {
        LiveData {
            number,
            tree,
            roots,
            rests: Mutex::default(),
            early: Arc::default(),
        }
    }

    fn place(&self, id: ItemId) -> Option<Place> {
        Place::of(id, self.number)
    }

    fn id(&self, place: Place) -> ItemId {
        place.id(self.number)
    }

    fn root_of(&self, index: usize) -> Option<LiveDir> {
        self.tree.root(index)
    }

    /// The files of a directory together: its sums without those of its directories, and of
    /// the files that have rows of their own.
    fn rest(
        &self,
        id: DirId,
        children: &[LiveDir],
        files: &[Item<'static>],
    ) -> Option<Item<'static>> {
        let dir = self.tree.directory(id)?;
        let mut rest = (dir.entries, dir.allocated_bytes, dir.apparent_bytes);
        rest.0 = rest.0.saturating_sub(1);
        for child in children {
            // The sums of the parent are read first, and lag behind.
            rest.0 = rest.0.saturating_sub(child.entries);
            rest.1 = rest.1.saturating_sub(child.allocated_bytes);
            rest.2 = rest.2.saturating_sub(child.apparent_bytes);
        }
        let mut rest = (rest.0, u128::from(rest.1), u128::from(rest.2));
        for file in files {
            rest.0 = rest.0.saturating_sub(1);
            rest.1 = rest.1.saturating_sub(file.allocated_bytes);
            rest.2 = rest.2.saturating_sub(file.apparent_bytes);
        }
        let rest = (rest.0 > 0).then(|| Item {
            allocated_bytes: rest.1,
            apparent_bytes: rest.2,
            entries: rest.0,
            ..Item::unknown(Vec::new(), Kind::Rest)
        })?;
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        rests.insert(id, rest.clone());
        Some(rest)
    }
}

fn item_of(dir: LiveDir) -> Item<'static> {
    let kind = match dir.dirs {
        0 => Kind::File,
        _ => Kind::Directory,
    };
    Item {
        allocated_bytes: dir.allocated_bytes.into(),
        apparent_bytes: dir.apparent_bytes.into(),
        entries: dir.entries.max(1),
        ..Item::unknown(dir.name, kind)
    }
}

impl Data for LiveData {
    fn roots(&self) -> Vec<ItemId> {
        let root = |index| match self.root_of(index) {
            Some(dir) => Place::Dir(dir.id),
            None => Place::Root(index),
        };
        (0..self.roots.len())
            .map(|index| self.id(root(index)))
            .collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        match self.place(id)? {
            Place::Dir(dir) => self.tree.directory(dir).map(item_of),
            Place::Rest(dir) => {
                let rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
                rests.get(&dir).cloned()
            }
            Place::Early(dir, place) => self.early.of(dir)?.get(place).cloned(),
            Place::File(..) => None,
            Place::Root(index) => {
                let path = &self.roots.get(index)?[..];
                Some(Item::unknown(path, Kind::Other))
            }
        }
    }

    /// A root gets another number once its directory is known.
    fn settled(&self, id: ItemId) -> Option<ItemId> {
        if let Place::Root(index) = self.place(id)?
            && let Some(dir) = self.root_of(index)
        {
            return Some(self.id(Place::Dir(dir.id)));
        }
        self.item(id).map(|_| id)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        match self.place(id)? {
            Place::Dir(dir) => {
                let parent = self.tree.directory(dir)?.parent?;
                Some(self.id(Place::Dir(parent)))
            }
            Place::Rest(dir) | Place::File(dir, _) | Place::Early(dir, _) => {
                Some(self.id(Place::Dir(dir)))
            }
            Place::Root(_) => None,
        }
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        let Some(Place::Dir(dir)) = self.place(dir) else {
            return;
        };
        let children = self.tree.children(dir);
        let files = self.early.of(dir).unwrap_or_default();
        let rest = self.rest(dir, &children, files.all());
        for child in children {
            let id = self.id(Place::Dir(child.id));
            if visit(id, item_of(child)).is_break() {
                return;
            }
        }
        for (place, file) in files.all().iter().enumerate() {
            if visit(self.id(Place::Early(dir, place)), file.clone()).is_break() {
                return;
            }
        }
        if let Some(rest) = rest {
            let _ = visit(self.id(Place::Rest(dir)), rest);
        }
    }

    /// Without files: those of a few directories say nothing of all below one.
    fn walk(&self, dir: ItemId, visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>) {
        let Some(Place::Dir(top)) = self.place(dir) else {
            return;
        };
        let mut waiting = vec![top];
        while let Some(above) = waiting.pop() {
            let children = self.tree.children(above);
            let rest = self.rest(above, &children, &[]);
            let dirs = children.into_iter().map(|child| {
                let id = child.id;
                (Place::Dir(id), item_of(child))
            });
            let parent = self.id(Place::Dir(above));
            for (place, item) in dirs.chain(rest.map(|rest| (Place::Rest(above), rest))) {
                if let (Place::Dir(id), Kind::Directory) = (place, item.kind) {
                    waiting.push(id);
                }
                let id = self.id(place);
                if visit(Entry { id, parent, item }).is_break() {
                    return;
                }
            }
        }
    }

    fn is_final(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use statwalk_core::Scan;

    use super::super::early_files;
    use super::*;

    #[test]
    fn files_with_rows_are_not_counted_twice() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("sub")).unwrap();
        for (name, bytes) in [("one", 40_000), ("two", 9_000), ("sub/three", 100_000)] {
            std::fs::write(root.path().join(name), vec![1; bytes]).unwrap();
        }
        let scan = Scan::new(root.path());
        let tree = LiveTree::new();
        scan.run(&tree).unwrap();
        let path = root.path().as_os_str().as_encoded_bytes().to_vec();
        let data = LiveData::new(1, tree, vec![path.clone()]);
        let rows = || {
            let mut rows = Vec::new();
            data.children(data.roots()[0], &mut |_, item| {
                rows.push((item.name.into_owned(), item.kind, item.apparent_bytes));
                ControlFlow::Continue(())
            });
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            rows
        };
        let sub = (b"sub".to_vec(), Kind::Directory, 100_000);
        assert_eq!(rows(), [(Vec::new(), Kind::Rest, 49_000), sub.clone()]);
        let Some(Place::Dir(dir)) = data.place(data.roots()[0]) else {
            panic!("the root is a directory");
        };
        let files = early_files::read(&scan, &path, &|| false).unwrap();
        data.early.keep(dir, files);
        let one = (b"one".to_vec(), Kind::File, 40_000);
        let two = (b"two".to_vec(), Kind::File, 9_000);
        assert_eq!(rows(), [one.clone(), sub, two]);
        // One that came after the reading is a rest again.
        std::fs::write(root.path().join("four"), vec![1; 7_000]).unwrap();
        let tree = LiveTree::new();
        scan.run(&tree).unwrap();
        let later = LiveData {
            number: 1,
            tree,
            roots: vec![path],
            rests: Mutex::default(),
            early: Arc::clone(&data.early),
        };
        let mut rest = 0;
        later.children(later.roots()[0], &mut |id, item| {
            if item.kind == Kind::Rest {
                rest = item.apparent_bytes;
            }
            assert_eq!(later.item(id).map(|it| it.kind), Some(item.kind));
            ControlFlow::Continue(())
        });
        assert_eq!(rest, 7_000);
        let mut walked = Vec::new();
        data.walk(data.roots()[0], &mut |entry| {
            walked.push(entry.item.kind);
            ControlFlow::Continue(())
        });
        walked.sort_by_key(|kind| *kind as u8);
        assert_eq!(walked, [Kind::Directory, Kind::Rest, Kind::Rest]);
    }
}
