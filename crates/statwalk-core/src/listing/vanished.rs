// SPDX-License-Identifier: MIT OR Apache-2.0

//! Judges names that were listed and are not found: vanished, or an error.
//!
//! ENOENT does not prove that a name has vanished. A file system in user space, one on
//! a network with an old cache, or a damaged one can list a name that it does not find.
//! So the lister reads the directory once more. A name that is gone from the listing
//! has vanished, which is no error. A name that is still listed is an error.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use super::Lister;
use super::contents::Contents;
use super::expand::{Sight, is_no_way};
use super::listed::{KeptNames, Listed, fail, sort_in};
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet, Pace};
use super::source::{DirectorySource, More, NotOpened};
use crate::directory::{Dir, Place};
use crate::entry::{FileId, FileType};
use crate::error::SystemErrno as Errno;
use crate::handle::{DirHandle, Handle, OpenParent};

impl<D: DirectorySource> Lister<D> {
    /// Lists a directory once more for its missing names, and sorts the listed ones
    /// into `contents`.
    pub(super) fn judge_missing(
        &mut self,
        missing: Vec<(CString, FileType)>,
        fd: &DirHandle,
        dir: &OpenDir,
        contents: &mut Contents,
        out: &impl Pace,
    ) {
        let mut missing: HashMap<CString, FileType> = missing.into_iter().collect();
        let context = Arc::clone(&self.context);
        let mut listed = Listed::default();
        let mut is_there = context.source.seek(fd, 0).is_ok();
        while is_there && !missing.is_empty() && !out.cancelled() {
            listed.clear();
            match (context.source).list(fd, &mut self.buffer, KeptNames::All, &mut listed) {
                Ok(More::Entries) => {}
                Ok(More::End) => break,
                // The directory itself was removed.
                Err(Errno::NOENT) if self.is_gone(&dir.place, dir.identity, out) => break,
                Err(_) => is_there = false,
            }
            for index in 0..listed.len() {
                let name = listed.name(index);
                if missing.remove(name).is_none() {
                    continue;
                }
                let (kind, ino) = (listed.kind(index), listed.ino(index));
                match context.source.stat_entry(fd, name) {
                    Err(Errno::NOENT) => fail(name, kind, Errno::NOENT, contents),
                    found => sort_in(
                        found,
                        name,
                        (kind, ino),
                        dir.mount.id,
                        &context.options,
                        contents,
                    ),
                }
            }
        }
        match is_there {
            true => contents.vanished += missing.len() as u64,
            // The listing failed: the names may still be there.
            false => {
                for (name, kind) in missing {
                    fail(&name, kind, Errno::NOENT, contents);
                }
            }
        }
    }

    /// Lists a directory once more for its missing subdirectories.
    pub(crate) fn judge_vanished(
        &mut self,
        dir: &Arc<Dir>,
        offsets: &[u32],
        out: &mut impl Outlet,
    ) {
        let listed = match self.still_listed(dir, offsets, out) {
            Err(errno) if is_no_way(errno) && self.is_gone(&dir.place, dir.identity, out) => {
                Vec::new()
            }
            Err(errno) => {
                for &offset in offsets {
                    let place = Place::Child(Arc::clone(dir), offset);
                    self.unreadable_child(&place, None, errno, out);
                }
                return;
            }
            Ok(listed) => listed,
        };
        for _ in listed.len()..offsets.len() {
            out.note(dir.root, Note::Vanished);
        }
        for offset in listed {
            let parent = OpenParent::new(Arc::clone(dir), Handle::Closed);
            self.child(parent, offset, 0, Sight::Second, out);
        }
    }

    /// Whether a listed entry has vanished: its name or a directory above it is gone, or
    /// another entry has its name now.
    ///
    /// In doubt the answer is no, because a lost entry must be an error. It is no for a
    /// root, too: the caller named it.
    pub(super) fn is_gone(
        &mut self,
        place: &Place,
        identity: Option<FileId>,
        out: &impl Pace,
    ) -> bool {
        let (mut place, mut identity) = (place.clone(), identity);
        loop {
            let Place::Child(above, offset) = &place else {
                return false;
            };
            match self.still_listed(above, &[*offset], out) {
                Ok(listed) if listed.is_empty() => return true,
                Ok(_) => {
                    let base = self.reopen(above);
                    let found = base.and_then(|base| {
                        self.context.source.identity_of_entry(&base, place.name())
                    });
                    return match (found, identity) {
                        (Ok(found), Some(identity)) => found != identity,
                        _ => false,
                    };
                }
                Err(errno) if is_no_way(errno) => {
                    let above = Arc::clone(above);
                    identity = above.identity;
                    place = above.place.clone();
                }
                Err(_) => return false,
            }
        }
    }

    /// The offsets of those names that a directory still lists.
    fn still_listed(
        &mut self,
        dir: &Arc<Dir>,
        offsets: &[u32],
        out: &impl Pace,
    ) -> Result<Vec<u32>, Errno> {
        let base = self.reopen(dir)?;
        let opened = self.context.source.open_child(&base, c".");
        let fd = opened.map_err(|refusal| match refusal {
            NotOpened::Gone(errno)
            | NotOpened::Refused(errno)
            | NotOpened::NotADirectory(errno) => errno,
            NotOpened::OtherMount | NotOpened::Automount => Errno::XDEV,
        })?;
        let names = offsets
            .iter()
            .map(|&offset| (dir.child_name(offset), offset));
        let mut wanted: HashMap<_, _> = names.collect();
        let mut still = Vec::new();
        let mut listed = Listed::default();
        let context = Arc::clone(&self.context);
        while !wanted.is_empty() && !out.cancelled() {
            listed.clear();
            match (context.source).list(&fd, &mut self.buffer, KeptNames::All, &mut listed)? {
                More::Entries => {}
                More::End => break,
            }
            let found = (0..listed.len()).filter_map(|index| wanted.remove(listed.name(index)));
            still.extend(found);
        }
        Ok(still)
    }
}
