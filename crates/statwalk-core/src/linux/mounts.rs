// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of mounted file systems for one scan.
//!
//! A scan itself does not need the table. The table says which directories a scan
//! can reach twice.

use std::io;
use std::sync::{Arc, Mutex};

pub(crate) use statwalk_sys::mount_overlaps::{Mounts, RootMount, ancestors, reached_twice};
use statwalk_sys::mount_table::Watch;
pub(crate) use statwalk_sys::mount_table::{Mount, is_within, read};

use crate::lock::lock;

/// How many lines of the table a look at it pays for. A process that mounts all the time
/// would else make each look read the whole table.
const LINES_PER_LOOK: usize = 64;

/// The table of mounts for one scan: read once, and again when it has changed.
#[derive(Debug, Default)]
pub(crate) struct MountTable {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    watch: Option<Watch>,
    known: Option<Arc<Mounts>>,
    looks_since_read: usize,
    #[cfg(test)]
    reads: usize,
}

impl MountTable {
    /// The mounts as they are, or as they were shortly before: where others mount all the
    /// time, a look can miss their last changes. Unknown without `/proc`.
    ///
    /// `is_kept` says that more looks will follow: then a descriptor stays open.
    pub(crate) fn look(&self, is_kept: bool) -> Arc<Mounts> {
        let mut state = lock(&self.state);
        state.looks_since_read += 1;
        let looks = state.looks_since_read;
        let is_new = match (&state.known, &state.watch) {
            (Some(known), Some(watch)) => {
                let is_paid = looks.saturating_mul(LINES_PER_LOOK) >= known.all.len();
                is_paid && watch.has_changed().unwrap_or(true)
            }
            _ => true,
        };
        if is_new {
            let mounts = state.read(is_kept).map(Mounts::of);
            state.known = Some(Arc::new(mounts.unwrap_or_default()));
            state.looks_since_read = 0;
        }
        state.known.clone().unwrap_or_default()
    }

    /// The mounts as they were at the last look; none before the first.
    pub(crate) fn known(&self) -> Arc<Mounts> {
        lock(&self.state).known.clone().unwrap_or_default()
    }
}

impl State {
    fn read(&mut self, is_kept: bool) -> io::Result<Vec<Mount>> {
        #[cfg(test)]
        {
            self.reads += 1;
        }
        let mut watch = self.watch.take().map_or_else(Watch::open, Ok)?;
        let mounts = watch.read()?;
        self.watch = is_kept.then_some(watch);
        Ok(mounts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_once() {
        let table = MountTable::default();
        for _ in 0..1000 {
            assert!(table.look(true).all.iter().any(|mount| mount.point == b"/"));
        }
        // Other tests mount meanwhile, in this mount namespace: most looks meet no change.
        assert!(lock(&table.state).reads < 500);
    }

    #[test]
    fn a_look_pays_for_few_lines() {
        let table = MountTable::default();
        let lines = 100 * LINES_PER_LOOK;
        table.look(true);
        {
            let mut state = lock(&table.state);
            let many = (0..lines as u64).map(|id| Mount {
                id,
                ..Mount::default()
            });
            state.known = Some(Arc::new(Mounts::of(many.collect())));
        }
        for _ in 0..99 {
            assert_eq!(table.look(true).all.len(), lines);
        }
        assert_eq!(lock(&table.state).reads, 1);
    }
}
