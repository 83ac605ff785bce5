// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a scan that were given out and have more to come, by their numbers.

use crate::columns::Directories;

/// How many numbers a page has. A worker gives out many in a row, so directories of a page are
/// finished at about the same time.
const PAGE: usize = 256;

/// Directories by their numbers, with all above them.
///
/// Numbers are nearly dense, so a number leads to its directory without a search. Pages
/// without directories go away.
#[derive(Debug, Default)]
pub(crate) struct KnownDirs {
    pages: Vec<Option<Box<Page>>>,
    /// A page without directories: often the next ones need it at once.
    spare: Option<Box<Page>>,
    skipped: usize,
}

#[derive(Debug)]
struct Page {
    dirs: [Option<KnownDir>; PAGE],
    /// Their names, and those of directories that went away.
    names: Vec<u8>,
    count: usize,
}

/// A directory that was given out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownDir {
    name: u32,
    name_len: u32,
    /// Absent for a root.
    parent: Option<u32>,
    pub(crate) depth: u32,
    pub(crate) root: u32,
    pub(crate) is_skipped: bool,
}

impl Default for Page {
    fn default() -> Page {
        Page {
            dirs: [None; PAGE],
            names: Vec::new(),
            count: 0,
        }
    }
}

impl KnownDirs {
    /// Adds a directory whose parent is among them, or that is a root. Answers whether it
    /// could.
    pub(crate) fn add(&mut self, directories: &Directories, row: usize) -> bool {
        let columns = &directories.columns;
        let parent = columns.dir(row).map(|parent| parent.0);
        let depth = match parent.map(|parent| self.get(parent)) {
            None => 0,
            Some(Some(parent)) => parent.depth + 1,
            Some(None) => return false,
        };
        let id = directories.ids[row] as usize;
        if self.pages.len() <= id / PAGE {
            self.pages.resize_with(id / PAGE + 1, || None);
        }
        let new = || Box::new(Page::default());
        let page =
            self.pages[id / PAGE].get_or_insert_with(|| self.spare.take().unwrap_or_else(new));
        let name = columns.name(row);
        let dir = KnownDir {
            // A caller's path fits, and the kernel's names are shorter than 256 bytes.
            name: page.names.len() as u32,
            name_len: name.len() as u32,
            parent,
            depth,
            root: directories.roots[row],
            is_skipped: false,
        };
        page.names.extend_from_slice(name);
        page.count += usize::from(page.dirs[id % PAGE].replace(dir).is_none());
        true
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&KnownDir> {
        let page = self.pages.get(id as usize / PAGE)?.as_ref()?;
        page.dirs[id as usize % PAGE].as_ref()
    }

    /// The name of a directory, and what is known of it.
    fn named(&self, id: u32) -> Option<(&[u8], &KnownDir)> {
        let page = self.pages.get(id as usize / PAGE)?.as_ref()?;
        let dir = page.dirs[id as usize % PAGE].as_ref()?;
        let name = &page.names[dir.name as usize..][..dir.name_len as usize];
        Some((name, dir))
    }

    /// Forgets a directory. All in it and below it was taken.
    pub(crate) fn remove(&mut self, id: u32) {
        let Some(place) = self.pages.get_mut(id as usize / PAGE) else {
            return;
        };
        let Some(page) = place else { return };
        if let Some(dir) = page.dirs[id as usize % PAGE].take() {
            self.skipped -= usize::from(dir.is_skipped);
            page.count -= 1;
            if page.count == 0 {
                page.names.clear();
                self.spare = place.take();
            }
        }
    }

    /// Appends the path of a directory. Answers whether it is known.
    pub(crate) fn push_path(&self, id: u32, path: &mut Vec<u8>) -> bool {
        let (mut length, mut at) = (0, Some(id));
        while let Some(id) = at {
            let Some(dir) = self.get(id) else {
                return false;
            };
            length += dir.name_len as usize + 1;
            at = dir.parent;
        }
        let start = path.len();
        path.resize(start + length, 0);
        // From the last name to the first, because a directory knows its parent.
        let (mut end, mut at, mut is_first) = (path.len(), Some(id), true);
        while let Some((name, dir)) = at.and_then(|id| self.named(id)) {
            // A root can end with a slash, and needs no other.
            let is_root_with_slash =
                dir.parent.is_none() && (name.is_empty() || name.ends_with(b"/"));
            if !is_first && !is_root_with_slash {
                end -= 1;
                path[end] = b'/';
            }
            path[end - name.len()..end].copy_from_slice(name);
            end -= name.len();
            (at, is_first) = (dir.parent, false);
        }
        path.drain(start..end);
        true
    }

    /// Whether a directory of this number, or of one that is not much lower, was among them.
    pub(crate) fn can_have_come(&self, id: u32) -> bool {
        (id as usize) < self.pages.len() * PAGE
    }

    /// Leaves out all that is below a directory.
    pub(crate) fn skip(&mut self, id: u32) {
        let page = self.pages.get_mut(id as usize / PAGE);
        let page = page.and_then(Option::as_mut);
        if let Some(dir) = page.and_then(|page| page.dirs[id as usize % PAGE].as_mut()) {
            self.skipped += usize::from(!std::mem::replace(&mut dir.is_skipped, true));
        }
    }

    /// Whether a directory was skipped, or one above it.
    pub(crate) fn is_at_or_below_skipped(&self, id: u32) -> bool {
        let mut at = (self.skipped > 0).then_some(id);
        while let Some(dir) = at.and_then(|id| self.get(id)) {
            if dir.is_skipped {
                return true;
            }
            at = dir.parent;
        }
        false
    }

    /// Whether one of them was skipped.
    pub(crate) fn has_skipped(&self) -> bool {
        self.skipped > 0
    }

    /// How many directories are known.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.pages.iter().flatten().map(|page| page.count).sum()
    }
}
