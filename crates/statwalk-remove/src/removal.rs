// SPDX-License-Identifier: MIT OR Apache-2.0

//! A removal on a thread of its own.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::io::Errno;
use statwalk_sys::mount_table::Watch;

use crate::failure::{Cause, Operation};
use crate::fold::fold;
use crate::item::Item;
use crate::journal::{ItemEnd, Journal};
use crate::monitor::Monitor;
use crate::mount_index::MountIndex;
use crate::now::Now;
use crate::opening::Opening;
use crate::outcome::{End, ItemOutcome, Outcome};
use crate::refusal::{Refusal, refusal_of};
use crate::surroundings::Surroundings;
use crate::trash_can::{Trash, Trashed};
use crate::tree::Remover;

/// The fate of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Remove them; nothing brings them back.
    Permanent,
    /// Move them to the trash of their own file system. This frees nothing.
    Trash(Trash),
}

impl Manner {
    fn kind(&self) -> &'static str {
        match self {
            Manner::Permanent => "permanent",
            Manner::Trash(_) => "trash",
        }
    }
}

/// Confirmed items, and the way to remove them.
///
/// # Examples
///
/// ```
/// use statwalk_remove::{End, Item, Manner, Now, Removal, Surroundings};
///
/// # let directory = statwalk_testkit::Scratch::new()?;
/// let path = directory.path().join("old");
/// std::fs::create_dir_all(path.join("deep/er"))?;
///
/// // The identity that the user confirms.
/// let item = Item::look(path.as_os_str().as_encoded_bytes())?;
/// let surroundings = Surroundings::read(None)?;
///
/// let removal = Removal::new(vec![item], Manner::Permanent, surroundings);
/// let outcome = removal.start()?.wait();
/// assert_eq!(outcome.items[0].end, End::Removed);
/// assert_eq!(outcome.entry_count, 3);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Removal {
    items: Vec<Item>,
    manner: Manner,
    surroundings: Surroundings,
    journal: Option<Journal>,
    clock: Box<dyn Fn() -> Now + Send>,
    opening: Opening,
    mount_watch: Option<Watch>,
    /// Of the last table.
    mount_index: MountIndex,
    by_name: bool,
}

impl fmt::Debug for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Removal")
            .field("items", &self.items)
            .field("manner", &self.manner)
            .finish_non_exhaustive()
    }
}

impl Removal {
    /// Takes the items, [folded](fold()), in their order.
    #[must_use]
    pub fn new(items: Vec<Item>, manner: Manner, surroundings: Surroundings) -> Removal {
        Removal {
            items: fold(items),
            manner,
            surroundings,
            journal: None,
            clock: Box::new(Now::default),
            opening: Opening::probe(),
            mount_watch: None,
            mount_index: MountIndex::default(),
            by_name: false,
        }
    }

    /// Writes a line to a journal before each item, and one after. An item that holds the journal is refused.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Removal {
        self.surroundings.kept.push(journal.path().to_vec());
        self.journal = Some(journal);
        self
    }

    /// Sets the clock of the journal and the trash. Without one, each time is 1970.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Now + Send + 'static) -> Removal {
        self.clock = Box::new(clock);
        self
    }

    /// Removes items whose [inode numbers move](Item::is_known_by_name), too. The entry with
    /// the name goes, if its type, its mount and its modification time are the confirmed
    /// ones. It can be another one, so the user is asked once more.
    ///
    /// Without this they stay, and the trash never takes them.
    #[must_use]
    pub fn by_name(mut self) -> Removal {
        self.by_name = true;
        self
    }

    /// Opens each name by itself, as on kernels without `openat2`.
    #[must_use]
    pub fn without_openat2(mut self) -> Removal {
        self.opening = Opening::Openat;
        self
    }

    /// Begins on a new thread.
    ///
    /// # Errors
    ///
    /// The system has no thread. Then nothing was removed.
    pub fn start(self) -> io::Result<Running> {
        let monitor = Arc::new(Monitor::new());
        let own = Arc::clone(&monitor);
        let thread = thread::Builder::new()
            .name("removal".to_owned())
            .spawn(move || self.run(&own))?;
        Ok(Running {
            monitor,
            thread: Some(thread),
        })
    }

    /// Removes the items on the calling thread.
    #[must_use]
    pub fn run(mut self, monitor: &Monitor) -> Outcome {
        let mut outcome = Outcome::default();
        for item in std::mem::take(&mut self.items) {
            let before = (outcome.entry_count, outcome.freed_bytes);
            let failures_before = (outcome.failures.listed.len(), outcome.failures.count);
            let begun = match monitor.is_stopped() {
                true => None,
                false => {
                    monitor.set_path(item.path().to_vec());
                    self.item(&item, monitor, &mut outcome)
                }
            };
            let has_begun = begun.is_some();
            let (end, trashed) = begun.unwrap_or((End::Untouched, None));
            let ended = ItemOutcome {
                path: item.path().to_vec(),
                end,
                entry_count: outcome.entry_count - before.0,
                freed_bytes: outcome.freed_bytes - before.1,
                trashed,
            };
            if let (Some(journal), true) = (&mut self.journal, has_begun) {
                let first = outcome.failures.listed.get(failures_before.0);
                let stopped = || monitor.is_stopped().then(|| "stopped".to_owned());
                let reason = first.map(ToString::to_string).or_else(stopped);
                let end = ItemEnd {
                    end,
                    entry_count: ended.entry_count,
                    freed_bytes: ended.freed_bytes,
                    error_count: outcome.failures.count - failures_before.1,
                    reason: reason.filter(|_| end != End::Removed),
                    trash: ended.trashed.as_ref().map(Trashed::place),
                };
                journal.end(&item, self.manner.kind(), (self.clock)(), &end, monitor);
            }
            outcome.items.push(ended);
        }
        if let Some(journal) = self.journal {
            outcome.journal = journal.close(monitor);
        }
        outcome.is_stopped = monitor.is_stopped();
        outcome
    }

    /// Removes an item, unless a stop ends the wait to write that this begins.
    fn item(
        &mut self,
        item: &Item,
        monitor: &Monitor,
        outcome: &mut Outcome,
    ) -> Option<(End, Option<Trashed>)> {
        let path = || item.path().to_vec();
        let mut refuse = |operation, cause: Cause| {
            monitor.fail();
            outcome.failures.add(operation, cause, path);
            Some((End::Untouched, None))
        };
        // Something may have been mounted since the survey.
        match self.surroundings.renew_mounts(&mut self.mount_watch) {
            Ok(false) => {}
            Ok(true) => self.mount_index = MountIndex::of(&self.surroundings.mounts),
            Err(error) => return refuse(Operation::Remove, cause_of(&error)),
        }
        let (surroundings, index) = (&self.surroundings, &self.mount_index);
        if let Some(refusal) = refusal_of(item, surroundings, index) {
            return refuse(Operation::Remove, refusal.into());
        }
        if let Manner::Trash(trash) = &self.manner
            && let Err(refusal) = trash.place_of(item, surroundings, index)
        {
            return refuse(Operation::Trash, refusal.into());
        }
        let is_allowed = self.by_name && self.manner == Manner::Permanent;
        if item.is_known_by_name() && !is_allowed {
            return refuse(
                Operation::Remove,
                Refusal::MovingNumbers { path: path() }.into(),
            );
        }
        // An item that stays has no line of its beginning.
        if let Err(cause) = item.find(self.opening) {
            return refuse(Operation::Stat, cause);
        }
        let now = (self.clock)();
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.announce(item, self.manner.kind(), now, monitor)
        {
            if error.kind() == io::ErrorKind::WouldBlock && monitor.is_stopped() {
                return None;
            }
            return refuse(Operation::Journal, cause_of(&error));
        }
        match &self.manner {
            Manner::Trash(trash) => match trash.take(item, surroundings, index, now) {
                Ok(trashed) => {
                    outcome.entry_count += 1;
                    monitor.count(0);
                    Some((End::Removed, Some(trashed)))
                }
                Err(cause) => refuse(Operation::Trash, cause),
            },
            Manner::Permanent => {
                let mut remover = Remover::new(self.opening, monitor, &surroundings.protected);
                remover.failures = std::mem::take(&mut outcome.failures);
                let end = remover.remove(item);
                outcome.failures = std::mem::take(&mut remover.failures);
                outcome.entry_count += remover.entry_count;
                outcome.freed_bytes += remover.freed_bytes;
                Some((end, None))
            }
        }
    }
}

fn cause_of(error: &io::Error) -> Cause {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    Cause::Errno(errno.raw_os_error())
}

/// A removal that is going on. Without it, nobody waits for the end: dropping it stops the
/// removal before its next entry.
#[derive(Debug)]
pub struct Running {
    monitor: Arc<Monitor>,
    thread: Option<JoinHandle<Outcome>>,
}

impl Running {
    /// The progress, and the way to stop.
    #[must_use]
    pub fn monitor(&self) -> &Arc<Monitor> {
        &self.monitor
    }

    /// Says whether [`Running::wait`] would return at once.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end.
    ///
    /// # Panics
    ///
    /// If the thread of the removal has panicked, with its panic.
    #[must_use]
    pub fn wait(mut self) -> Outcome {
        let thread = self.thread.take().expect("only this function takes it");
        match thread.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.monitor.stop();
    }
}
