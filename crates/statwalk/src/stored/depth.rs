// SPDX-License-Identifier: MIT OR Apache-2.0

//! Cuts the rows of a stored scan at a depth, as a scan with that limit would give them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use statwalk_core::{Columns, DirState, Directories};

/// A limit of depth, which learns the depths of directories from the rows.
pub(super) struct DepthLimit {
    depth_max: u32,
    /// By number: the directories that may have entries.
    depths: HashMap<u32, u32, RandomState>,
}

impl DepthLimit {
    pub(super) fn new(depth_max: u32) -> DepthLimit {
        DepthLimit {
            depth_max,
            depths: HashMap::default(),
        }
    }

    /// The rows that are not too deep. A directory comes before what is in it.
    pub(super) fn cut(
        &mut self,
        entries: &Columns,
        directories: &Directories,
    ) -> (Columns, Directories) {
        let mut kept = Directories::default();
        let columns = &directories.columns;
        for row in 0..columns.len() {
            let depth = match columns.has_dir.get(row) {
                false => 0,
                true => match self.depths.get(&columns.dirs[row]) {
                    Some(&above) if above < self.depth_max => above + 1,
                    _ => continue,
                },
            };
            let mut state = directories.states[row];
            if depth == self.depth_max && state == DirState::Listed.number() {
                state = DirState::AtDepthLimit.number();
            }
            self.depths.insert(directories.ids[row], depth);
            kept.ids.push(directories.ids[row]);
            kept.columns.push_row(columns, row);
            kept.roots.push(directories.roots[row]);
            kept.states.push(state);
        }
        let is_read = |id: &&u32| self.depths.get(id).is_some_and(|&at| at < self.depth_max);
        let is_known = |id: &&u32| self.depths.contains_key(id);
        kept.finished = directories
            .finished
            .iter()
            .filter(is_known)
            .copied()
            .collect();
        kept.incomplete = directories
            .incomplete
            .iter()
            .filter(is_read)
            .copied()
            .collect();
        let mut kept_entries = Columns::default();
        for row in 0..entries.len() {
            if !entries.has_dir.get(row) || is_read(&&entries.dirs[row]) {
                kept_entries.push_row(entries, row);
            }
        }
        (kept_entries, kept)
    }
}
