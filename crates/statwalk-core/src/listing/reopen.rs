// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opens directories again that were closed to stay within the descriptor bound.
//!
//! A worker tries three ways, the cheapest first. It still holds a descriptor of the
//! directory; or the directory lies some `..` above the one that it holds; or the way
//! leads down from the nearest open ancestor.
//! Device and inode number must be the same as before. So a tree that another process
//! rearranges cannot lead the scan elsewhere.

use std::sync::{Arc, Weak};

use super::Lister;
use super::open_dir::OpenDir;
use super::source::{DirectorySource, NotOpened, Way};
use crate::dir_handle::DirHandle;
use crate::directory::{Dir, Place};
use crate::entry::FileId;
use crate::failure::Failure;

/// The longest path of one call, in bytes: below `PATH_MAX`, limits.h.
const PATH_BYTES_MAX: usize = 4000;

/// The most levels that a worker climbs by `..`.
const LEVELS_UP_MAX: usize = 64;

impl<D: DirectorySource> Lister<D> {
    /// Opens a closed directory again.
    ///
    /// The worker keeps a copy of the handle for the next subdirectory.
    ///
    /// `ENOENT` says that another directory stands in its place.
    pub(super) fn reopen(&mut self, dir: &Arc<Dir>) -> Result<DirHandle, Failure> {
        let source = &self.context.source;
        if let Some((kept, handle)) = &self.kept
            && Arc::ptr_eq(kept, dir)
        {
            return source.duplicate(handle);
        }
        let handle = match self.found_from_below(dir) {
            Some(handle) => handle,
            None => self.found_from_above(dir)?,
        };
        let copy = source.duplicate(&handle)?;
        self.kept = Some((Arc::clone(dir), handle));
        Ok(copy)
    }

    /// Opens a directory again to read its entries.
    ///
    /// `ENOENT` says that another directory stands in its place.
    pub(super) fn open_again(
        &mut self,
        dir: &OpenDir,
        identity: Option<FileId>,
    ) -> Result<DirHandle, Failure> {
        let opened = match &dir.place {
            Place::Root(path) | Place::File(path) => self.context.source.open_root(path),
            Place::Child(parent, offset) => {
                let base = self.reopen(parent)?;
                let (source, name) = (&self.context.source, parent.child_name(*offset));
                match source.open_child(&base, name) {
                    Err(NotOpened::OtherMount | NotOpened::Automount) => {
                        source.open_across(&base, name)
                    }
                    Err(NotOpened::NotADirectory(_)) if dir.followed => {
                        source.open_through_links(&base, name)
                    }
                    opened => opened,
                }
            }
        };
        let handle = opened.map_err(|refused| match refused {
            NotOpened::Gone(failure) | NotOpened::Refused(failure) => failure,
            NotOpened::NotADirectory(_) | NotOpened::OtherMount | NotOpened::Automount => {
                Failure::NOT_FOUND
            }
        })?;
        match identity == Some(self.context.source.identity(&handle)?) {
            true => Ok(handle),
            false => Err(Failure::NOT_FOUND),
        }
    }

    /// Climbs from the directory that the worker holds.
    fn found_from_below(&self, dir: &Arc<Dir>) -> Option<DirHandle> {
        let (kept, handle) = self.kept.as_ref()?;
        let mut levels = 0;
        let mut above = Arc::clone(kept);
        while !Arc::ptr_eq(&above, dir) {
            above = Arc::clone(above.place.parent()?);
            levels += 1;
            if levels > LEVELS_UP_MAX {
                return None;
            }
        }
        let found = self.context.source.find_above(handle, levels).ok()?;
        self.is_same(&found, dir).then_some(found)
    }

    /// Goes down from the nearest open ancestor, or from the root.
    fn found_from_above(&self, dir: &Arc<Dir>) -> Result<DirHandle, Failure> {
        let source = &self.context.source;
        let mut way = Vec::new();
        let mut above = dir;
        let mut handle = loop {
            way.push(above);
            match &above.place {
                Place::Root(path) | Place::File(path) => {
                    way.pop();
                    break source.find_root(path)?;
                }
                Place::Child(parent, _) => {
                    let held = parent.held.get().and_then(Weak::upgrade);
                    if let Some(open) = held.as_ref().and_then(|held| held.handle.get()) {
                        break source.duplicate(open)?;
                    }
                    above = parent;
                }
            }
        };
        // One call takes as many names of one mount as fit.
        let mut path = Vec::new();
        while let Some(next) = way.pop() {
            let Place::Child(parent, offset) = &next.place else {
                continue;
            };
            let name = parent.child_name(*offset).to_bytes();
            let crosses = parent.mount.id != next.mount.id || next.followed;
            let is_full = path.len() + name.len() + 1 > PATH_BYTES_MAX;
            if !path.is_empty() && (crosses || is_full) {
                handle = source.find(&handle, &path, Way::Within)?;
                path.clear();
            }
            if crosses {
                handle = match next.followed {
                    true => source.find(&handle, name, Way::ThroughLink)?,
                    false => source.find(&handle, name, Way::Across)?,
                };
                continue;
            }
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
        }
        if !path.is_empty() {
            handle = source.find(&handle, &path, Way::Within)?;
        }
        // Another directory stands in its place: for this scan it is gone.
        if self.is_same(&handle, dir) {
            Ok(handle)
        } else {
            Err(Failure::NOT_FOUND)
        }
    }

    fn is_same(&self, handle: &DirHandle, dir: &Dir) -> bool {
        let found = self.context.source.identity(handle);
        found.is_ok_and(|found| dir.identity.get() == Some(&found))
    }
}
