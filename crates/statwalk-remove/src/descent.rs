// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from an item down to the directory in work, by descriptor.
//!
//! The way can have 100,000 levels. The item and the deepest levels stay open; the
//! others are found again. `..` of an open directory leads to a level only if the inode
//! found there is the level's, with its creation time: inode numbers are used again.
//! Without a creation time, or where `..` leads elsewhere, the names are walked from the
//! item. So each open directory lay in the item when it was opened, whatever other
//! processes rename. A level that moves out later is looked for now and then.
//!
//! Where inode numbers move, nothing could be found again: all levels stay open, and there
//! are fewer. A level is in its place while its name leads to a directory on the same mount,
//! and while the kernel has it at that path.

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::births::Births;
use crate::door::Expected;
use crate::failure::Cause;
use crate::opening::Opening;
use crate::path;
use crate::recognition::Recognition;
use crate::seen::Seen;

/// Levels that stay open, besides the item.
const OPEN_MAX: usize = 32;

/// Levels that stay open where inode numbers move. Deeper directories are not entered.
const KEPT_OPEN_MAX: usize = 512;

/// So often all open levels are looked at, and not only the last.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The time of one look at closed levels: a tenth of the interval.
const CLIMB_TIME: Duration = Duration::from_millis(1);

/// A way up through the closed levels, which goes on at the next look.
struct Climb {
    /// The level with this number, as `..` of the one below.
    open: OwnedFd,
    index: usize,
}

/// One directory on the way, with the caller's state for it.
struct Level<T> {
    name: Vec<u8>,
    seen: Seen,
    /// The first level and the last are always open.
    open: Option<OwnedFd>,
    state: T,
}

/// A directory that the descent has left.
pub(crate) struct Left<T> {
    pub name: Vec<u8>,
    pub seen: Seen,
    pub state: T,
    /// Levels that could not be found again, and were left too.
    pub lost: Option<Lost>,
}

/// The levels between the directory that was left and the one that is in work now.
pub(crate) struct Lost {
    /// The name of the uppermost, in the directory in work.
    pub name: Vec<u8>,
    /// The path of the lowest.
    pub path: Vec<u8>,
}

/// The open way to the directory in work.
pub(crate) struct Descent<'a, T> {
    opening: Opening,
    /// The directory that holds the item.
    base: BorrowedFd<'a>,
    base_path: &'a [u8],
    base_seen: Seen,
    protected: &'a [(u64, u64)],
    levels: Vec<Level<T>>,
    /// The levels from here on are open.
    first_open: usize,
    open_max: usize,
    looked: Instant,
    births: Births,
    by: Recognition,
    /// The level of the last look, where inode numbers move.
    turn: usize,
    climb: Option<Climb>,
    /// `..` may lead up, where creation times tell inodes apart.
    may_go_up: bool,
}

impl<'a, T> Descent<'a, T> {
    /// Begins in the directory that holds the item; [`Descent::enter`] enters the item.
    pub(crate) fn new(
        opening: Opening,
        base: BorrowedFd<'a>,
        base_path: &'a [u8],
        protected: &'a [(u64, u64)],
    ) -> Result<Descent<'a, T>, Errno> {
        let births = Births::of(base);
        Ok(Descent {
            opening,
            base,
            base_path,
            base_seen: births.kept(Seen::of_open(base)?),
            births,
            by: Recognition::Inode,
            turn: 0,
            climb: None,
            protected,
            levels: Vec::new(),
            first_open: 1,
            open_max: OPEN_MAX,
            looked: Instant::now(),
            may_go_up: true,
        })
    }

    /// Sets the facts by which directories are known again, before the first is entered.
    pub(crate) fn by(mut self, by: Recognition) -> Descent<'a, T> {
        self.by = by;
        self.base_seen = by.kept_of(self.base_seen);
        self
    }

    fn kept(&self, seen: Seen) -> Seen {
        self.by.kept_of(self.births.kept(seen))
    }

    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The directory in work; the one that holds the item before the first level.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        match self.levels.last() {
            Some(level) => level
                .open
                .as_ref()
                .expect("the last level is always open")
                .as_fd(),
            None => self.base,
        }
    }

    /// The attributes of the directory in work when it was entered.
    pub(crate) fn seen(&self) -> &Seen {
        self.levels
            .last()
            .map_or(&self.base_seen, |level| &level.seen)
    }

    /// The state of the directory in work.
    pub(crate) fn state(&mut self) -> Option<&mut T> {
        self.levels.last_mut().map(|level| &mut level.state)
    }

    /// The path of the directory in work.
    pub(crate) fn path(&self) -> Vec<u8> {
        self.path_of_first(self.levels.len())
    }

    /// The path of a level.
    pub(crate) fn path_of_level(&self, index: usize) -> Vec<u8> {
        self.path_of_first(index + 1)
    }

    fn path_of_first(&self, count: usize) -> Vec<u8> {
        let mut path = self.base_path.to_vec();
        for level in self.levels.iter().take(count) {
            if path.last() != Some(&b'/') {
                path.push(b'/');
            }
            path.extend_from_slice(&level.name);
        }
        path
    }

    /// The path of a name in the directory in work.
    pub(crate) fn path_of(&self, name: &[u8]) -> Vec<u8> {
        path::join(&self.path(), name)
    }

    /// Enters a subdirectory, which must still be the `expected` inode on the same mount.
    ///
    /// # Errors
    ///
    /// The directory cannot be opened, is another one, or must not be entered.
    pub(crate) fn enter(&mut self, name: &[u8], expected: &Seen, state: T) -> Result<(), Cause> {
        if !self.levels.is_empty() && !expected.is_on_mount_of(self.seen()) {
            return Err(Cause::Mount);
        }
        let id = (expected.identity.device, expected.identity.inode);
        if self.protected.contains(&id) {
            return Err(Cause::Protected);
        }
        if self.by == Recognition::Name && self.levels.len() >= KEPT_OPEN_MAX {
            return Err(Errno::MFILE.into());
        }
        let open = self.open(name)?;
        let seen = self.kept(Seen::of_open(&open)?);
        if !seen.is_same(&self.by.kept_of(*expected)) {
            return Err(Cause::Changed);
        }
        self.levels.push(Level {
            name: name.to_vec(),
            seen,
            open: Some(open),
            state,
        });
        self.close_above();
        Ok(())
    }

    /// The directory as it must still be when its name goes.
    pub(crate) fn emptied<'s>(&self, seen: &'s Seen) -> Expected<'s> {
        match self.by {
            Recognition::Inode => Expected::Emptied(seen),
            Recognition::Name => Expected::Named(seen),
        }
    }

    /// Leaves the directory in work for the one that holds it.
    ///
    /// If that one is no longer found, the directory in work is the nearest open one
    /// above, and [`Left::lost`] names the levels between both.
    pub(crate) fn leave(&mut self) -> Option<Left<T>> {
        let mut left = self.levels.pop()?;
        // Another directory can become the level of this number.
        (self.climb).take_if(|climb| climb.index >= self.levels.len());
        if let Some(open) = &left.open
            && !self.births.stay()
            && let Ok(now) = Seen::of_open(open)
        {
            left.seen = self.kept(now);
        }
        let mut lost = None;
        if self.levels.last().is_some_and(|level| level.open.is_none()) {
            let is_found = left.open.is_some_and(|from| self.go_up(&from)) || self.walk_again();
            if !is_found {
                let path = self.path();
                let mut name = Vec::new();
                while let Some(level) = self.levels.pop_if(|level| level.open.is_none()) {
                    name = level.name;
                }
                lost = Some(Lost { name, path });
            }
        }
        self.first_open = self.first_open.min(self.levels.len().max(1));
        Some(Left {
            name: left.name,
            seen: left.seen,
            state: left.state,
            lost,
        })
    }

    /// Finds a level that another process has moved out of the one above.
    ///
    /// The directory in work is looked at each time, the other open levels every 10 ms.
    /// The closed levels follow one after another, for at most 1 ms at each look.
    pub(crate) fn displaced(&mut self) -> Option<usize> {
        let last = self.levels.len().checked_sub(1)?;
        if !self.is_in_place(last) {
            return Some(last);
        }
        if self.looked.elapsed() < LOOK_INTERVAL {
            return None;
        }
        self.looked = Instant::now();
        if self.by == Recognition::Name {
            return self.without_its_name(last);
        }
        let mut open = (0..last).filter(|&index| self.levels[index].open.is_some());
        open.find(|&index| !self.is_in_place(index))
            .or_else(|| self.displaced_above())
    }

    /// Looks at the levels above the last in turn, which can be many questions.
    fn without_its_name(&mut self, last: usize) -> Option<usize> {
        let begin = Instant::now();
        for _ in 0..last {
            self.turn = if self.turn + 1 < last {
                self.turn + 1
            } else {
                0
            };
            if !self.has_its_name(self.turn) {
                return Some(self.turn);
            }
            if begin.elapsed() >= CLIMB_TIME {
                break;
            }
        }
        None
    }

    /// Climbs through the closed levels by `..`, and finds one that lies elsewhere.
    fn displaced_above(&mut self) -> Option<usize> {
        let begin = Instant::now();
        let (mut from, mut index) = match self.climb.take() {
            Some(climb) => (climb.open, climb.index),
            None if self.first_open < 2 => return None,
            None => {
                let lowest = self.levels.get(self.first_open)?.open.as_ref()?;
                // It was looked at just now.
                (self.opening.above(lowest).ok()?, self.first_open - 1)
            }
        };
        // The item itself is always open.
        while index > 0 {
            // Without the right to look there is no answer.
            let open = self.opening.above(&from).ok()?;
            let found = Seen::of_open(&open).ok()?;
            if !found.is_same_inode(&self.levels[index - 1].seen) {
                return Some(index);
            }
            (from, index) = (open, index - 1);
            if begin.elapsed() >= CLIMB_TIME {
                self.climb = Some(Climb { open: from, index });
                break;
            }
        }
        None
    }

    fn is_in_place(&self, index: usize) -> bool {
        if self.by == Recognition::Name {
            return self.has_its_name(index);
        }
        let (above, above_open) = match index.checked_sub(1) {
            Some(above) => {
                let above = &self.levels[above];
                (&above.seen, above.open.as_ref().map(AsFd::as_fd))
            }
            None => (&self.base_seen, Some(self.base)),
        };
        let open = self.levels[index].open.as_ref();
        let Some(found) = open.and_then(|open| Seen::of(open, b"..").ok()) else {
            return false;
        };
        // A union without numbers of its own shows others after it has copied a directory.
        let is_above_now = |open| Seen::of_open(open).is_ok_and(|now| found.is_same_inode(&now));
        found.is_same_inode(above) || above_open.is_some_and(is_above_now)
    }

    fn has_its_name(&self, index: usize) -> bool {
        let level = &self.levels[index];
        let above = match index.checked_sub(1) {
            Some(above) => self.levels[above].open.as_ref().map(AsFd::as_fd),
            None => Some(self.base),
        };
        let (Some(above), Some(open)) = (above, &level.open) else {
            return false;
        };
        Seen::of(above, &level.name).is_ok_and(|now| self.kept(now).is_same(&level.seen))
            && kernel_path(open).is_none_or(|path| path == self.path_of_level(index))
    }

    fn open(&mut self, name: &[u8]) -> Result<OwnedFd, Errno> {
        loop {
            match self.opening.listing(self.directory(), name) {
                // Leave descriptors to the rest of the process.
                Err(Errno::MFILE | Errno::NFILE)
                    if self.by == Recognition::Inode && self.open_count() > 2 =>
                {
                    self.open_max = self.open_count() / 2;
                    self.close_above();
                }
                other => return other,
            }
        }
    }

    fn open_count(&self) -> usize {
        self.levels.len().saturating_sub(self.first_open)
    }

    fn close_above(&mut self) {
        if self.by == Recognition::Name {
            return;
        }
        while self.open_count() > self.open_max.max(1) {
            self.levels[self.first_open].open = None;
            self.first_open += 1;
        }
    }

    /// Opens the last level as `..` of the one below.
    fn go_up(&mut self, from: &OwnedFd) -> bool {
        let index = self.levels.len() - 1;
        let level = &mut self.levels[index];
        if !self.may_go_up || level.seen.born.is_none() {
            return false;
        }
        let Ok(open) = self.opening.listing(from, b"..") else {
            return false;
        };
        let found = Seen::of_open(&open);
        if !found.is_ok_and(|found| found.born.is_some() && found.is_same(&level.seen)) {
            return false;
        }
        level.open = Some(open);
        self.first_open = index;
        true
    }

    /// Opens the last levels by their names from the item.
    fn walk_again(&mut self) -> bool {
        let count = self.levels.len();
        let first_kept = count.saturating_sub(self.open_max / 2 + 1).max(1);
        for index in 1..count {
            let above = self.levels[index - 1].open.as_ref();
            let above = above.expect("the first level is open, and each one opened the next");
            let level = &self.levels[index];
            let open = match &level.open {
                Some(_) => None,
                None => match self.opening.listing(above, &level.name) {
                    Ok(open) => Some(open),
                    Err(_) => return self.forget_walk(),
                },
            };
            if let Some(open) = open {
                if !Seen::of_open(&open).is_ok_and(|found| found.is_same(&level.seen)) {
                    return self.forget_walk();
                }
                self.levels[index].open = Some(open);
            }
            if index > 1 && index <= first_kept {
                self.levels[index - 1].open = None;
            }
        }
        self.first_open = first_kept.min(count - 1).max(1);
        true
    }

    fn forget_walk(&mut self) -> bool {
        for level in self.levels.iter_mut().skip(1) {
            level.open = None;
        }
        false
    }
}

/// The path of an open directory, where the kernel has one. A file system that no longer
/// knows the directory by its name leaves none (proc_pid_fd(5)).
fn kernel_path(open: &OwnedFd) -> Option<Vec<u8>> {
    let link = format!("/proc/self/fd/{}", open.as_raw_fd());
    let path = rustix::fs::readlink(link, Vec::new()).ok()?.into_bytes();
    (!path.ends_with(b" (deleted)")).then_some(path)
}

#[cfg(test)]
mod tests;
