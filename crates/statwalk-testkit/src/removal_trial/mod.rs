// SPDX-License-Identifier: MIT OR Apache-2.0

//! Trials of removals through the browser: a user marks, looks, reads again and confirms,
//! while everything around the marks moves.
//!
//! The user (`user.rs`) knows the browser by its screen alone, so one trial runs before a
//! shell in the process and before a terminal: each is a [`Seat`]. A forest holds the
//! tree of the browser, and another with the same names that nobody marks. The
//! mover exchanges, renames, replaces and links them, and the mounter mounts on them. The
//! judge compares pictures of the disk by inode: what is gone must have been marked, on the
//! screen when it was confirmed, and the same item at both moments. Nothing that a mount
//! shows or covers goes with an item around it.

#![allow(
    clippy::unwrap_used,
    reason = "a trial may panic as tests may, where the disk does not do what it needs"
)]

mod forest;
mod frame;
mod judge;
mod mounter;
mod mover;
mod picture;
mod user;

use std::path::{Path, PathBuf};

pub use frame::Frame;

use crate::Skipped;
use crate::attack::Round;
use crate::mounts::{needs_root, program};
use forest::Forest;
use user::User;

/// A place before a browser.
pub trait Seat {
    /// The screen as it is now.
    fn frame(&mut self) -> Frame;

    /// Presses the keys that a terminal sends as this text, at once.
    fn press(&mut self, keys: &str);

    /// Presses keys if the screen still shows this frame, and answers whether it did.
    /// Where another frame can come meanwhile unseen, the answer is absent.
    fn press_on(&mut self, frame: &Frame, keys: &str) -> Option<bool>;

    /// Waits until all keys had their effect, and nothing is read, asked or removed.
    fn settle(&mut self);

    /// Waits until the browser has looked at the items that were just marked.
    fn see_marks(&mut self);

    /// Waits until a frame has something, for a few seconds at most. Answers with the last
    /// frame.
    fn wait(&mut self, has: &dyn Fn(&Frame) -> bool) -> Frame;
}

/// The part of the work that a trial does more often than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// None.
    Any,
    /// Each removal is a move, which is taken back at once or after more work.
    Undo,
    /// The trash lies within the tree, and each removal is a move.
    Trash,
    /// Directories and the whole tree are read again, and again before that ends.
    Refresh,
    /// Mounts come and go on the trees. It needs root, and a mount namespace of its own.
    Mounts,
}

/// The directories of a trial: the browser starts in one, with the other as its home.
#[derive(Clone, Debug)]
pub struct Ground {
    /// An empty directory for the trees.
    pub trees: PathBuf,
    /// The home of the user, with the journal, on the same file system.
    pub home: PathBuf,
    /// The directory of the trash, in the home or in [`Ground::root`].
    pub data: PathBuf,
}

/// The name of a directory of data in the tree. No other thing has it.
const DATA: &str = ".share";

impl Focus {
    /// Checks that its trials can run here.
    ///
    /// # Errors
    ///
    /// Skipped where mounts are missing that it needs.
    pub fn check(self) -> Result<(), Skipped> {
        if self == Focus::Mounts {
            needs_root()?;
            program("unshare")?;
        }
        Ok(())
    }
}

impl Ground {
    /// The trees in a directory of the home, and the trash where the focus has it.
    pub fn new(home: &Path, focus: Focus) -> Ground {
        let trees = home.join("t");
        let mut ground = Ground {
            data: home.join(".local/share"),
            home: home.to_owned(),
            trees,
        };
        if focus == Focus::Trash {
            ground.data = ground.root().join(DATA);
        }
        ground
    }

    /// The root that the browser shows.
    pub fn root(&self) -> PathBuf {
        self.trees.join("tree")
    }

    fn trash(&self) -> PathBuf {
        self.data.join("Trash")
    }

    fn journal(&self) -> PathBuf {
        self.home.join(".local/state/statwalk/removed.jsonl")
    }
}

/// The deeds of trials, so that a kind can show that it was no idle one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Confirmed dialogs.
    pub confirmed: u64,
    /// Items that went.
    pub removed: u64,
    /// Dialogs and items that were refused.
    pub refused: u64,
    /// Moves that were taken back.
    pub undone: u64,
    /// The confirmed dialogs with a mount above, at or in one of the items, also one that
    /// came meanwhile.
    pub confirmed_at_mounts: u64,
    /// The refused dialogs with a mount at or in one of the items.
    pub refused_at_mounts: u64,
}

/// Makes the trees of a trial in an empty directory, before its browser starts.
///
/// # Panics
///
/// Panics if they cannot be made.
pub fn plant(ground: &Ground, round: &mut Round) {
    Forest::plant(ground, &mut round.random);
}

/// Sits down before a browser that shows [`Ground::root`] and may remove, and works there.
/// The browser is left open.
///
/// # Panics
///
/// Panics if the disk does not do what the trial needs.
pub fn run(
    ground: &Ground,
    focus: Focus,
    seat: &mut dyn Seat,
    round: &mut Round,
    deeds: &mut Deeds,
) {
    let forest = Forest::of(ground);
    User::new(forest, focus, seat, round, deeds).work();
}

fn name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
