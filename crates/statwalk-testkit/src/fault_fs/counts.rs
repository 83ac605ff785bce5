// SPDX-License-Identifier: MIT OR Apache-2.0

//! Counters of the operations that reached the file system, and waiting for
//! them to reach a value.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::answer::Subject;
use super::rules::Op;
use super::tree::RUNS_FROM;
use super::wire::Call;

/// Operations that reached the file system since it was mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Names looked up, by whatever call goes through them.
    pub lookup: u64,
    /// `stat`, `fstat` and `statx`.
    pub getattr: u64,
    /// Directories opened, with the attempts that failed.
    pub opendir: u64,
    /// Requests for entries, at least one a `getdents64`.
    pub readdir: u64,
    /// Closed directories. The kernel reports it after `close` has returned:
    /// wait with [`FaultMount::wait_for`](super::FaultMount::wait_for).
    pub releasedir: u64,
    /// Symbolic links read.
    pub readlink: u64,
    /// Files opened, with the attempts that failed.
    pub open: u64,
    /// Pieces of files read.
    pub read: u64,
    /// Pieces of files written.
    pub write: u64,
    /// Names of files that were to go.
    pub unlink: u64,
    /// Names of directories that were to go.
    pub rmdir: u64,
    /// Names that were to be others.
    pub rename: u64,
    /// Errors that were answered because a rule said so.
    pub faults: u64,
    /// Calls that a signal ended, see [`Hang::UntilSignal`](super::Hang::UntilSignal).
    pub interrupted: u64,
    /// Calls that hang at the moment.
    pub hanging: u64,
    /// Calls that wait at the moment, by latency or because they hang.
    pub waiting: u64,
    /// The most calls that ever waited at once.
    pub waiting_max: u64,
    /// Moves of the disk's head, see [`Disk`](super::Disk).
    pub seeks: u64,
    /// The blocks that the head passed.
    pub seek_blocks: u64,
    /// Directories open at the moment.
    pub open_dirs: u64,
    /// The most directories that were ever open at once.
    pub open_dirs_max: u64,
}

/// The counters, shared between the server and the test.
#[derive(Debug, Default)]
pub(super) struct Board {
    tallies: Mutex<Tallies>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Tallies {
    all: Counts,
    /// The threads that wait for a change. Without one, a wake-up would be a wasted call.
    waiters: usize,
    /// Only of named entries: an endless directory must not fill it.
    by_ino: HashMap<u64, Counts>,
}

impl Board {
    pub(super) fn counts(&self) -> Counts {
        self.tallies().all
    }

    pub(super) fn counts_of(&self, ino: u64) -> Counts {
        self.tallies().by_ino.get(&ino).copied().unwrap_or_default()
    }

    /// Waits until the counters satisfy `reached`; false when that took too long.
    pub(super) fn wait_for(&self, timeout: Duration, reached: impl Fn(&Counts) -> bool) -> bool {
        let mut tallies = self.tallies();
        tallies.waiters += 1;
        let waited = self
            .changed
            .wait_timeout_while(tallies, timeout, |tallies| !reached(&tallies.all));
        let (mut tallies, _) = waited.expect("no holder of the counters panics");
        tallies.waiters -= 1;
        reached(&tallies.all)
    }

    /// Counts a directory that has been opened.
    pub(super) fn opened_dir(&self) {
        self.change(|counts| {
            counts.open_dirs += 1;
            counts.open_dirs_max = counts.open_dirs_max.max(counts.open_dirs);
        });
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Counts)) {
        let mut tallies = self.tallies();
        change(&mut tallies.all);
        self.tell(tallies);
    }

    /// Counts a request that has arrived.
    pub(super) fn arrived(&self, subject: Subject, call: &Call) {
        let mut tallies = self.tallies();
        count(&mut tallies.all, subject, call);
        if subject.ino < RUNS_FROM {
            count(
                tallies.by_ino.entry(subject.ino).or_default(),
                subject,
                call,
            );
        }
        self.tell(tallies);
    }

    fn tell(&self, tallies: MutexGuard<'_, Tallies>) {
        let somebody_waits = tallies.waiters > 0;
        drop(tallies);
        if somebody_waits {
            self.changed.notify_all();
        }
    }

    fn tallies(&self) -> MutexGuard<'_, Tallies> {
        self.tallies
            .lock()
            .expect("no holder of the counters panics")
    }
}

fn count(counts: &mut Counts, subject: Subject, call: &Call) {
    match (subject.op, call) {
        (Some(Op::Lookup), _) => counts.lookup += 1,
        (Some(Op::Getattr), _) => counts.getattr += 1,
        (Some(Op::Opendir), _) => counts.opendir += 1,
        (Some(Op::Readdir), _) => counts.readdir += 1,
        (Some(Op::Open), _) => counts.open += 1,
        (Some(Op::Read), _) => counts.read += 1,
        (Some(Op::Write), _) => counts.write += 1,
        (Some(Op::Unlink), _) => counts.unlink += 1,
        (Some(Op::Rmdir), _) => counts.rmdir += 1,
        (Some(Op::Rename), _) => counts.rename += 1,
        (None, Call::Releasedir { .. }) => {
            counts.releasedir += 1;
            counts.open_dirs = counts.open_dirs.saturating_sub(1);
        }
        (None, Call::Readlink) => counts.readlink += 1,
        (None, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_directory_does_not_fill_the_counters() {
        let board = Board::default();
        for ino in RUNS_FROM - 1..RUNS_FROM + 100 {
            board.arrived(
                Subject {
                    op: Some(Op::Getattr),
                    ino,
                },
                &Call::Getattr,
            );
        }
        assert_eq!(board.counts().getattr, 101);
        assert_eq!(board.counts_of(RUNS_FROM - 1).getattr, 1);
        assert_eq!(board.tallies().by_ino.len(), 1);
    }
}
