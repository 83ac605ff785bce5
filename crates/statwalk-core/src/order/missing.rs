// SPDX-License-Identifier: MIT OR Apache-2.0

//! The subdirectories that one worker did not find, until it judges them.
//!
//! A caller who takes entries by path waits for each name, so a worker judges a missing one at
//! once. For that it lists the directory again. Where many vanish from a large directory, most
//! of its time would go there. So it gathers names while its judgements have taken more than
//! a second and a fifth of its time, or until it has nothing else to do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::agenda::{Item, by_parent};
use crate::directory::Dir;
use crate::threads;

/// How long judgements may take whatever else a worker does.
const FREE: Duration = Duration::from_secs(1);

/// Beyond that they may take one part in so many of its time.
const PARTS: u32 = 5;

/// From so many names on a worker judges them in any case.
const MANY: usize = 65_536;

/// The subdirectories that one worker did not find.
#[derive(Default)]
pub(super) struct Missing {
    names: Vec<(Arc<Dir>, u32)>,
    /// How long all judgements of the worker took.
    took: Duration,
}

impl Missing {
    pub(super) fn push(&mut self, parent: &Arc<Dir>, name_offset: u32) {
        self.names.push((Arc::clone(parent), name_offset));
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether a worker that began at a time is to judge them before its next job.
    #[inline]
    pub(super) fn is_due(&self, began: Instant) -> bool {
        match self.len() {
            0 => false,
            MANY.. => true,
            _ => self.took <= FREE + threads::since(began) / PARTS,
        }
    }

    /// Takes them, those of one directory as one item.
    pub(super) fn take(&mut self) -> Vec<Item> {
        by_parent(std::mem::take(&mut self.names))
    }

    /// Notes a judgement that began at a time and ends now.
    pub(super) fn judged(&mut self, begin: Instant) {
        self.took += threads::since(begin);
    }
}
