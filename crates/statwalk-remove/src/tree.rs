// SPDX-License-Identifier: MIT OR Apache-2.0

//! Removes one item with all that it holds, for good.
//!
//! A directory is emptied in passes: names of one buffer are removed, then
//! subdirectories are emptied one by one, then the directory goes. Some file systems skip
//! names in a listing while names are removed, so a directory that is not yet empty gets
//! another pass, as long as passes remove something.

use std::collections::HashSet;
use std::os::fd::AsFd;

use rustix::io::Errno;

use crate::descent::{Descent, Left};
use crate::door::{self, Expected, Kept};
use crate::failure::{Cause, Failures, Operation};
use crate::item::{Found, Item};
use crate::listing::Listing;
use crate::monitor::{Monitor, PathClock};
use crate::opening::Opening;
use crate::outcome::End;
use crate::recognition::Recognition;
use crate::seen::Seen;

/// So many subdirectories of one directory wait; the others come in the next pass.
const WAITING_MAX: usize = 65_536;

/// Passes through one directory, in case another process fills it as fast.
const PASSES_MAX: u32 = 1_000;

/// Removes trees, one after another.
pub(crate) struct Remover<'a> {
    pub opening: Opening,
    pub monitor: &'a Monitor,
    pub protected: &'a [(u64, u64)],
    pub failures: Failures,
    pub entry_count: u64,
    pub freed_bytes: u64,
    listing: Listing,
    clock: PathClock,
}

/// The state of a directory that is being emptied.
#[derive(Default)]
struct Emptying {
    /// Subdirectories that wait.
    waiting: Vec<(Vec<u8>, Seen)>,
    /// Names that stay. Another pass leaves them alone.
    kept: HashSet<Vec<u8>>,
    pass_count: u32,
    /// Entries that this pass has removed.
    removed_count: u64,
    /// This pass did not see all names.
    is_cut: bool,
}

impl<'a> Remover<'a> {
    pub(crate) fn new(
        opening: Opening,
        monitor: &'a Monitor,
        protected: &'a [(u64, u64)],
    ) -> Remover<'a> {
        Remover {
            opening,
            monitor,
            protected,
            failures: Failures::default(),
            entry_count: 0,
            freed_bytes: 0,
            listing: Listing::new(),
            clock: PathClock::new(),
        }
    }

    /// Removes an item, if it is still the confirmed one.
    pub(crate) fn remove(&mut self, item: &Item) -> End {
        let before = self.entry_count;
        let is_removed = match self.remove_item(item) {
            Ok(is_removed) => is_removed,
            Err(cause) => {
                self.monitor.fail();
                (self.failures).add(Operation::Remove, cause, || item.path().to_vec());
                false
            }
        };
        match (is_removed, self.entry_count > before) {
            (true, _) => End::Removed,
            (false, true) => End::Partly,
            (false, false) => End::Untouched,
        }
    }

    fn remove_item(&mut self, item: &Item) -> Result<bool, Cause> {
        let (directory, name) = (item.directory_path(), item.name());
        let Found { base, seen } = item.find(self.opening)?;
        if !seen.is_directory() {
            let expected = match item.recognition() {
                Recognition::Inode => Expected::Item(item.identity()),
                Recognition::Name => Expected::Named(&seen),
            };
            return match door::remove_item(base.as_fd(), name, &expected) {
                Ok(seen) => {
                    self.count(&seen);
                    Ok(true)
                }
                Err(Kept::Directory(_)) => Err(Cause::Changed),
                Err(Kept::Failed(cause)) => Err(cause),
            };
        }
        let by = item.recognition();
        let descent = Descent::new(self.opening, base.as_fd(), directory, self.protected)?;
        let mut descent = descent.by(by);
        descent.enter(name, &seen, Emptying::default())?;
        if descent.seen().identity != by.kept(*item.identity()) {
            return Err(Cause::Changed);
        }
        Ok(self.empty(&mut descent))
    }

    /// Removes the only directory of a descent, and says whether it is gone.
    fn empty(&mut self, descent: &mut Descent<'_, Emptying>) -> bool {
        self.pass(descent);
        let mut is_removed = false;
        while descent.depth() > 0 && !self.monitor.is_stopped() {
            if let Some(index) = descent.displaced() {
                self.abandon(descent, index);
                is_removed = false;
                continue;
            }
            let next = descent.state().and_then(|state| state.waiting.pop());
            if let Some((name, seen)) = next {
                match descent.enter(&name, &seen, Emptying::default()) {
                    Ok(()) => self.pass(descent),
                    Err(cause) => self.not_entered(descent, name, &seen, cause),
                }
            } else if let Some(left) = descent.leave() {
                is_removed = self.finish(descent, left);
            }
        }
        is_removed && descent.depth() == 0
    }

    /// An empty directory that nobody may read can still be removed.
    fn not_entered(
        &mut self,
        descent: &mut Descent<'_, Emptying>,
        name: Vec<u8>,
        seen: &Seen,
        cause: Cause,
    ) {
        if cause == Cause::from(Errno::ACCESS)
            && let Ok(seen) = door::remove(descent.directory(), &name, &descent.emptied(seen))
        {
            self.count(&seen);
            return;
        }
        self.keep(descent, name, Operation::Open, cause);
    }

    /// Removes a directory that was left, or enters it for another pass.
    fn finish(&mut self, descent: &mut Descent<'_, Emptying>, left: Left<Emptying>) -> bool {
        let Left {
            name,
            seen,
            mut state,
            lost,
        } = left;
        if let Some(lost) = lost {
            self.monitor.fail();
            (self.failures).add(Operation::Remove, Cause::Moved, || lost.path);
            if let Some(state) = descent.state() {
                state.kept.insert(lost.name);
            }
            return false;
        }
        let mut cause = None;
        if state.kept.is_empty() && !state.is_cut {
            let expected = descent.emptied(&seen);
            let removed = match descent.depth() {
                0 => door::remove_item(descent.directory(), &name, &expected),
                _ => door::remove(descent.directory(), &name, &expected),
            };
            match removed {
                Ok(seen) => {
                    self.count(&seen);
                    if let Some(above) = descent.state() {
                        above.removed_count += 1;
                    }
                    return true;
                }
                Err(Kept::Failed(failed)) => cause = Some(failed),
                Err(Kept::Directory(_)) => cause = Some(Cause::Changed),
            }
        }
        let is_not_empty = match &cause {
            // A listing can have skipped names.
            None => true,
            Some(Cause::Errno(number)) => *number == Errno::NOTEMPTY.raw_os_error(),
            Some(_) => false,
        };
        if is_not_empty && state.removed_count > 0 && state.pass_count < PASSES_MAX {
            state.removed_count = 0;
            state.is_cut = false;
            match descent.enter(&name, &seen, state) {
                Ok(()) => {
                    self.pass(descent);
                    return false;
                }
                Err(failed) => cause = Some(failed),
            }
        }
        match cause {
            Some(cause) => self.keep(descent, name, Operation::Remove, cause),
            // The names that it keeps are listed.
            None => {
                if let Some(above) = descent.state() {
                    above.kept.insert(name);
                }
            }
        }
        false
    }

    /// Leaves a directory that another process has moved, and all below it.
    fn abandon(&mut self, descent: &mut Descent<'_, Emptying>, index: usize) {
        let path = descent.path_of_level(index);
        self.monitor.fail();
        (self.failures).add(Operation::Remove, Cause::Moved, || path);
        while descent.depth() > index {
            let Some(left) = descent.leave() else {
                return;
            };
            let name = left.lost.map_or(left.name, |lost| lost.name);
            if let Some(above) = descent.state() {
                above.kept.insert(name);
            }
        }
    }

    /// Removes the files of the directory in work, and gathers its subdirectories.
    fn pass(&mut self, descent: &mut Descent<'_, Emptying>) {
        let Some(mut state) = descent.state().map(std::mem::take) else {
            return;
        };
        state.pass_count += 1;
        (self.clock).tick(self.monitor, || descent.path());
        loop {
            match self.listing.next(descent.directory()) {
                Ok(Some(names)) => {
                    if let Some(index) = descent.displaced() {
                        return self.abandon(descent, index);
                    }
                    self.remove_names(names, descent, &mut state);
                }
                Ok(None) => break,
                Err(errno) => {
                    self.monitor.fail();
                    (self.failures).add(Operation::List, errno, || descent.path());
                    state.kept.insert(Vec::new());
                    break;
                }
            }
            if state.waiting.len() >= WAITING_MAX {
                state.is_cut = true;
                break;
            }
            if self.monitor.is_stopped() {
                break;
            }
        }
        if let Some(own) = descent.state() {
            *own = state;
        }
    }

    fn remove_names(
        &mut self,
        names: Vec<Vec<u8>>,
        descent: &Descent<'_, Emptying>,
        state: &mut Emptying,
    ) {
        for name in names {
            if self.monitor.is_stopped() {
                return;
            }
            if state.kept.contains(&name) {
                continue;
            }
            let expected = Expected::Within(descent.seen());
            match door::remove(descent.directory(), &name, &expected) {
                Ok(seen) => {
                    self.count(&seen);
                    state.removed_count += 1;
                    (self.clock).tick(self.monitor, || descent.path());
                }
                Err(Kept::Directory(seen)) => state.waiting.push((name, *seen)),
                // Another process removed it: that is as good.
                Err(Kept::Failed(Cause::Errno(number)))
                    if number == Errno::NOENT.raw_os_error() => {}
                Err(Kept::Failed(cause)) => {
                    self.monitor.fail();
                    (self.failures).add(Operation::Remove, cause, || descent.path_of(&name));
                    state.kept.insert(name);
                }
            }
        }
    }

    fn keep(
        &mut self,
        descent: &mut Descent<'_, Emptying>,
        name: Vec<u8>,
        operation: Operation,
        cause: Cause,
    ) {
        self.monitor.fail();
        (self.failures).add(operation, cause, || descent.path_of(&name));
        if let Some(state) = descent.state() {
            state.kept.insert(name);
        }
    }

    fn count(&mut self, seen: &Seen) {
        let is_last_link = seen.is_directory() || seen.link_count <= 1;
        let freed = if is_last_link {
            seen.allocated_bytes
        } else {
            0
        };
        self.entry_count += 1;
        self.freed_bytes += freed;
        self.monitor.count(freed);
    }
}
