// SPDX-License-Identifier: MIT OR Apache-2.0

//! Judges names that were listed and are not found: vanished, or an error.
//!
//! ENOENT does not prove that a name has vanished. A file system in user space, one on
//! a network with an old cache, or a damaged one can list a name that it does not find.
//! So the lister reads the directory once more. A name that is gone from the listing
//! has vanished, which is no error. A name that is still listed and not found is an
//! error, if the directory stayed the same between the two.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use super::Lister;
use super::attributes::{fail, sort_in};
use super::contents::Contents;
use super::expand::{Sight, is_no_way};
use super::finished::settle;
use super::job::Fate;
use super::listed::{KeptNames, Listed};
use super::open_dir::OpenDir;
use super::outlet::{Note, Outlet, Pace};
use super::source::{DirectorySource, EntryStat, More, NotOpened};
use crate::dir_handle::DirHandle;
use crate::directory::{Dir, Place};
use crate::entry::{FileId, FileType};
use crate::failure::Failure;
use crate::handle::{Handle, OpenParent};

/// How often a directory is listed that changes under the second look.
const LOOKS_MAX: u32 = 8;

/// How often subdirectories are looked for that were there at the last look, and went away
/// before they were opened.
const SIGHTS_MAX: u32 = 4;

/// A wanted name that a directory lists.
struct Seen<'a, S, T> {
    name: &'a CStr,
    /// The caller's own, as in the wanted names.
    value: T,
    /// Type and inode number are those of the listing.
    kind: FileType,
    ino: u64,
    found: Result<S, Failure>,
}

impl<D: DirectorySource> Lister<D> {
    /// Lists a directory once more for its missing names, and sorts the listed ones
    /// into `contents`.
    pub(super) fn judge_missing(
        &mut self,
        missing: Vec<(CString, FileType)>,
        fd: &DirHandle,
        dir: &OpenDir,
        contents: &mut Contents,
        out: &dyn Pace,
    ) {
        let mut missing: HashMap<CString, FileType> = missing.into_iter().collect();
        let context = Arc::clone(&self.context);
        let looked = self.look_again(fd, &mut missing, out, |seen| match seen.found {
            Err(failure @ Failure::NotFound(_)) => fail(seen.name, seen.kind, failure, contents),
            found => sort_in(
                found,
                seen.name,
                (seen.kind, seen.ino),
                dir.shown(),
                &context.options,
                contents,
            ),
        });
        let is_known = match looked {
            Ok(()) => true,
            // The directory itself was removed.
            Err(Failure::NotFound(_)) => self.is_gone(&dir.place, dir.identity, out),
            // The listing failed: the names may still be there.
            Err(_) => false,
        };
        match is_known {
            true => contents.vanished += missing.len() as u64,
            false => {
                for (name, kind) in missing {
                    fail(&name, kind, Failure::NOT_FOUND, contents);
                }
            }
        }
    }

    /// Lists a directory again, and stats those of its entries that are wanted.
    ///
    /// `each` gets every name that is listed; the others stay in `wanted`. A name can
    /// be made and removed all the time, between its listing and its stat too. So
    /// ENOENT is believed where the directory did not change meanwhile; else it is
    /// listed again.
    ///
    /// After an error the names that were not judged are in `wanted`.
    fn look_again<T>(
        &mut self,
        fd: &DirHandle,
        wanted: &mut HashMap<CString, T>,
        out: &dyn Pace,
        mut each: impl FnMut(Seen<'_, D::Stat, T>),
    ) -> Result<(), Failure> {
        let context = Arc::clone(&self.context);
        let stamp = || {
            context
                .source
                .stat_directory(fd)
                .map(|it| it.change_stamp())
        };
        let mut listed = Listed::default();
        let mut looks_left = LOOKS_MAX;
        loop {
            looks_left -= 1;
            context.source.seek(fd, 0)?;
            let before = stamp();
            let mut in_doubt: Vec<(CString, T, FileType, u64)> = Vec::new();
            while !wanted.is_empty() && !out.cancelled() {
                listed.clear();
                match (context.source).list(fd, &mut self.buffer, KeptNames::All, &mut listed) {
                    Ok(More::Entries) => {}
                    Ok(More::End) => break,
                    Err(failure) => {
                        wanted.extend(in_doubt.into_iter().map(|(name, value, ..)| (name, value)));
                        return Err(failure);
                    }
                }
                for index in 0..listed.len() {
                    let name = listed.name(index);
                    let Some((name, value)) = wanted.remove_entry(name) else {
                        continue;
                    };
                    let (kind, ino) = (listed.kind(index), listed.ino(index));
                    // With the inode number, which a stat of an entry may lack.
                    match context.source.stat_subdirectory(fd, &name) {
                        Err(Failure::NotFound(_)) => in_doubt.push((name, value, kind, ino)),
                        found => each(Seen {
                            name: &name,
                            value,
                            kind,
                            ino,
                            found,
                        }),
                    }
                }
            }
            if in_doubt.is_empty() {
                return Ok(());
            }
            let changes = matches!((before, stamp()), (Ok(before), Ok(after)) if before != after);
            if !changes || looks_left == 0 || out.cancelled() {
                for (name, value, kind, ino) in in_doubt {
                    each(Seen {
                        name: &name,
                        value,
                        kind,
                        ino,
                        found: Err(Failure::NOT_FOUND),
                    });
                }
                return Ok(());
            }
            wanted.extend(in_doubt.into_iter().map(|(name, value, ..)| (name, value)));
        }
    }

    /// Lists a directory once more for its missing subdirectories, and again for those that
    /// were there and went away before they were opened.
    pub(crate) fn judge_vanished(&mut self, dir: &Arc<Dir>, offsets: &[u32], out: &mut dyn Outlet) {
        let mut missing = offsets.to_vec();
        for sights_left in (0..SIGHTS_MAX).rev() {
            missing = self.judge_once(dir, &missing, sights_left > 0, out);
            if missing.is_empty() {
                return;
            }
        }
    }

    /// As [`judge_vanished`](Self::judge_vanished), once. Returns those that are to be looked
    /// for again, if `may_come_again`.
    fn judge_once(
        &mut self,
        dir: &Arc<Dir>,
        offsets: &[u32],
        may_come_again: bool,
        out: &mut dyn Outlet,
    ) -> Vec<u32> {
        let listed = match self.still_listed(dir, offsets, out) {
            Err(failure)
                if is_no_way(failure)
                    && self.is_gone(&dir.place, dir.identity.get().copied(), out) =>
            {
                Vec::new()
            }
            Err(failure) => {
                for &offset in offsets {
                    let place = Place::Child(Arc::clone(dir), offset);
                    self.unreadable_child(&place, None, failure, out);
                    settle(dir, out);
                }
                return Vec::new();
            }
            Ok(listed) => listed,
        };
        let mut still: Vec<u32> = listed.iter().map(|&(offset, _)| offset).collect();
        still.sort_unstable();
        let vanished = |offset: &&u32| still.binary_search(offset).is_err();
        for &offset in offsets.iter().filter(vanished) {
            out.note(dir.root, Note::Vanished);
            out.gone(dir, offset);
            settle(dir, out);
        }
        let mut again = Vec::new();
        for (offset, found) in listed {
            let parent = OpenParent::new(Arc::clone(dir), Handle::Closed);
            // A name that is listed and that nobody finds would be listed for ever.
            let sight = match may_come_again && found.is_some() {
                true => Sight::Again,
                false => Sight::Last,
            };
            let fate = self.child(parent, offset, 0, sight, out);
            if std::mem::take(&mut self.is_lost_again) {
                again.push(offset);
            } else if fate == Fate::Settled {
                settle(dir, out);
            }
        }
        again
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
        out: &dyn Pace,
    ) -> bool {
        let (mut place, mut identity) = (place.clone(), identity);
        loop {
            let Place::Child(above, offset) = &place else {
                return false;
            };
            match self.still_listed(above, &[*offset], out) {
                Ok(listed) => {
                    return match (listed.first(), identity) {
                        (None, _) => true,
                        (Some((_, Some(found))), Some(identity)) => *found != identity,
                        _ => false,
                    };
                }
                Err(failure) if is_no_way(failure) => {
                    let above = Arc::clone(above);
                    identity = above.identity.get().copied();
                    place = above.place.clone();
                }
                Err(_) => return false,
            }
        }
    }

    /// The offsets of those names that a directory still lists, and who has the name
    /// where that could be asked.
    fn still_listed(
        &mut self,
        dir: &Arc<Dir>,
        offsets: &[u32],
        out: &dyn Pace,
    ) -> Result<Vec<(u32, Option<FileId>)>, Failure> {
        let base = self.reopen(dir)?;
        let opened = self.context.source.open_child(&base, c".");
        let fd = opened.map_err(|refusal| match refusal {
            NotOpened::Gone(failure)
            | NotOpened::Refused(failure)
            | NotOpened::NotADirectory(failure) => failure,
            NotOpened::OtherMount | NotOpened::Automount => Failure::OTHER_DEVICE,
        })?;
        let names = offsets
            .iter()
            .map(|&offset| (dir.child_name(offset).to_owned(), offset));
        let mut still = Vec::new();
        self.look_again(&fd, &mut names.collect(), out, |seen| {
            still.push((seen.value, seen.found.ok().map(|found| found.id())));
        })?;
        Ok(still)
    }
}
