// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from a root down to an item, by the names that a scan met.
//!
//! Each directory on the way is opened by its name in the one above, and must be the one
//! that the scan met. So a link, a mount or another directory that took its place later
//! leads nowhere.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use crate::births::Births;
use crate::identity::EntryType;
use crate::opening::Opening;
use crate::path;
use crate::recognition::{Recognition, has_moving_numbers, hold};
use crate::refusal::Refusal;
use crate::root::Root;
use crate::seen::Seen;
use crate::sighting::Sighting;

/// One name on the way, with what the scan knows of its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name.
    pub name: Vec<u8>,
    /// The facts of the scan.
    pub known: Known,
}

/// The facts of a scan about an entry; each can be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// `st_dev` and `st_ino`.
    pub device_and_inode: Option<(u64, u64)>,
    /// The type.
    pub entry_type: Option<EntryType>,
}

impl Known {
    fn fits(&self, seen: &Seen) -> bool {
        let identity = &seen.identity;
        let id = (identity.device, identity.inode);
        self.device_and_inode.is_none_or(|known| known == id)
            && (self.entry_type).is_none_or(|known| known == identity.entry_type)
    }

    /// The same, if inode numbers move.
    fn can_fit(&self, seen: &Seen) -> bool {
        let inode = seen.identity.inode;
        let device_and_inode = self.device_and_inode.map(|(device, _)| (device, inode));
        Known {
            device_and_inode,
            ..*self
        }
        .fits(seen)
    }
}

/// Looks for items below roots, one after another.
#[derive(Debug)]
pub struct Lookout {
    opening: Opening,
    /// The directory of the last item: neighbours come one after another.
    last: Option<(Vec<u8>, OwnedFd, Seen, Births)>,
}

impl Default for Lookout {
    fn default() -> Lookout {
        Lookout {
            opening: Opening::probe(),
            last: None,
        }
    }
}

impl Lookout {
    /// Looks at the item at the end of the way, or at the root itself where there is no
    /// step. `root_known` has the facts of the scan about the root.
    ///
    /// The facts are those of one moment: an item that is removed later is compared again.
    ///
    /// Where the inode numbers of the item and of a second entry move, all else tells: the
    /// answer is then [known by name](Sighting::is_known_by_name).
    ///
    /// # Errors
    ///
    /// The way leads elsewhere than at the time of the scan, or nowhere.
    pub fn look(
        &mut self,
        root: &Root,
        root_known: Known,
        steps: &[Step],
    ) -> Result<Sighting, Refusal> {
        let path = steps.iter().fold(root.path().to_vec(), |path, step| {
            path::join(&path, &step.name)
        });
        match self.look_on(root, root_known, steps, &path) {
            // The kernel keeps answers for a while: this can still be that of the scan.
            Ok(sighting) if self.has_moving_number(steps, &path) => {
                Ok((self.look_by_name(root, root_known, steps)).unwrap_or(sighting))
            }
            Ok(sighting) => Ok(sighting),
            Err(stop @ Stop::Failed(_)) => Err(stop.refusal(path, root)),
            Err(stop) => {
                (self.look_by_name(root, root_known, steps)).map_err(|by_name| match by_name {
                    Stop::Moving => by_name.refusal(path, root),
                    _ => stop.refusal(path, root),
                })
            }
        }
    }

    /// Asks the item of the last look.
    fn has_moving_number(&self, steps: &[Step], path: &[u8]) -> bool {
        let open = match (steps.last(), &self.last) {
            (Some(step), Some((_, directory, ..))) => hold(directory, &step.name),
            _ => self.opening.path(path),
        };
        open.is_ok_and(Seen::has_moving_number)
    }

    /// Looks at the item where inode numbers move.
    ///
    /// On the way, a directory without the number of the scan must itself show that its number
    /// moves, and must lie on the mount of the one above. The item needs a second witness.
    fn look_by_name(
        &self,
        root: &Root,
        root_known: Known,
        steps: &[Step],
    ) -> Result<Sighting, Stop> {
        let mut path = root.path().to_vec();
        let mut here = self.opening.path(&path)?;
        let mut seen = Seen::of_open(&here)?;
        let is_root = seen.is_same_inode(&root.seen) && root_known.fits(&seen);
        let can_be_root = Recognition::Name.is_same(&seen, &root.seen)
            && root_known.can_fit(&seen)
            && Seen::has_moving_number(&here)
            && Seen::has_moving_number(&root.open);
        if !is_root && !can_be_root {
            return Err(Stop::Root);
        }
        let mut directory = None;
        for (index, step) in steps.iter().enumerate() {
            if !path::is_plain_name(&step.name) {
                return Err(Stop::Failed(Errno::INVAL));
            }
            path = path::join(&path, &step.name);
            let open = hold(&here, &step.name)?;
            let now = Seen::of_open(&open)?;
            let is_on_way = index + 1 < steps.len();
            if !step.known.can_fit(&now) || is_on_way && !now.is_directory() {
                return Err(Stop::elsewhere(&now, path));
            }
            if !step.known.fits(&now) {
                match Seen::has_moving_number(&open) {
                    true if now.is_on_mount_of(&seen) => {}
                    true => return Err(Stop::Moving),
                    false => return Err(Stop::elsewhere(&now, path)),
                }
            }
            directory = Some((here, seen));
            (here, seen) = (open, now);
        }
        let (above, name) = path::split(&path).ok_or(Stop::Failed(Errno::INVAL))?;
        let (open, above) = match directory {
            Some(directory) => directory,
            None => {
                let open = self.opening.path(above)?;
                let above = Seen::of_open(&open)?;
                (open, above)
            }
        };
        match has_moving_numbers(open.as_fd(), name) {
            true => Ok(Sighting::new(path, above, seen, Recognition::Name)),
            false => Err(Stop::Replaced(path)),
        }
    }

    fn look_on(
        &mut self,
        root: &Root,
        root_known: Known,
        steps: &[Step],
        path: &[u8],
    ) -> Result<Sighting, Stop> {
        let (directory_path, name) = path::split(path).ok_or(Stop::Failed(Errno::INVAL))?;
        let Some((last, above)) = steps.split_last() else {
            if root.is_behind_link {
                return Err(Stop::RootByLink);
            }
            let open = self.opening.path(directory_path).map_err(Stop::of_root)?;
            let births = Births::of(&open);
            let directory = births.kept(Seen::of_open(&open)?);
            let seen = births.kept(Seen::of(&open, name).map_err(Stop::of_root)?);
            if !seen.is_same_inode(&root.seen) || !root_known.fits(&seen) {
                return Err(Stop::Root);
            }
            return Ok(Sighting::new(
                path.to_vec(),
                directory,
                seen,
                Recognition::Inode,
            ));
        };
        if self
            .last
            .as_ref()
            .is_none_or(|last| last.0 != directory_path)
        {
            let (open, seen) = self.directory(root, root_known, above)?;
            let births = Births::of(&open);
            let seen = births.kept(seen);
            self.last = Some((directory_path.to_vec(), open, seen, births));
        }
        let Some((_, open, directory, births)) = &self.last else {
            return Err(Stop::Failed(Errno::INVAL));
        };
        let seen = births.kept(Seen::of(open, &last.name)?);
        if !last.known.fits(&seen) {
            return Err(Stop::elsewhere(&seen, path.to_vec()));
        }
        Ok(Sighting::new(
            path.to_vec(),
            *directory,
            seen,
            Recognition::Inode,
        ))
    }

    /// Opens the last of the directories below a root.
    fn directory(
        &self,
        root: &Root,
        root_known: Known,
        steps: &[Step],
    ) -> Result<(OwnedFd, Seen), Stop> {
        let mut here = self.opening.path(root.path()).map_err(Stop::of_root)?;
        let mut seen = Seen::of_open(&here)?;
        if !seen.is_same_inode(&root.seen) || !root_known.fits(&seen) {
            return Err(Stop::Root);
        }
        let mut path = root.path().to_vec();
        for step in steps {
            if !path::is_plain_name(&step.name) {
                return Err(Stop::Failed(Errno::INVAL));
            }
            path = path::join(&path, &step.name);
            here = hold(&here, &step.name)?;
            seen = Seen::of_open(&here)?;
            if !seen.is_directory() || !step.known.fits(&seen) {
                return Err(Stop::elsewhere(&seen, path));
            }
        }
        Ok((here, seen))
    }
}

/// The reason why a way ends too early.
enum Stop {
    Root,
    RootByLink,
    Link(Vec<u8>),
    Replaced(Vec<u8>),
    /// Inode numbers move, so nobody can say.
    Moving,
    Failed(Errno),
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Failed(errno)
    }
}

impl Stop {
    fn elsewhere(seen: &Seen, path: Vec<u8>) -> Stop {
        match seen.identity.entry_type {
            EntryType::Link => Stop::Link(path),
            _ => Stop::Replaced(path),
        }
    }

    /// A root that cannot be opened is gone, or stands behind a link now.
    fn of_root(errno: Errno) -> Stop {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Stop::Root,
            errno => Stop::Failed(errno),
        }
    }

    fn refusal(self, path: Vec<u8>, root: &Root) -> Refusal {
        match self {
            Stop::Root => {
                let root = root.path().to_vec();
                Refusal::RootChanged { path, root }
            }
            Stop::RootByLink => Refusal::RootByLink { path },
            Stop::Link(link) => Refusal::BehindLink { path, link },
            Stop::Replaced(at) => Refusal::Replaced { path, at },
            Stop::Moving => Refusal::MovingNumbers { path },
            Stop::Failed(errno) => {
                let errno = errno.raw_os_error();
                Refusal::Unseen { path, errno }
            }
        }
    }
}
