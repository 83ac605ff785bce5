// SPDX-License-Identifier: MIT OR Apache-2.0

//! The pool and the other workers, as the lister of a worker sees them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::AnyOrder;
use super::frontier::WorkerSlot;
use super::missing::Missing;
use super::pool::Pool;
use super::results::Results;
use super::worker::Duty;
use crate::batch::Batch;
use crate::directory::{Dir, Directory, Origin, Place};
use crate::entry::DirId;
use crate::error::{Cause, EntryError, Op};
use crate::failure::Failure;
use crate::handle::OpenParent;
use crate::listing::Job;
use crate::listing::finished::finish_with_above;
use crate::listing::listed::Listed;
use crate::listing::outlet::{Backlog, Events, Gathering, ListedBy, Note, Pace, Tick};
use crate::listing::shared::SharedListing;
use crate::listing::source::DirectorySource;
use crate::lock::lock;
use crate::per_root::of_root;
use crate::progress::WorkerProgress;
use crate::report::LeftOut;
use crate::tally;
use crate::threads;

/// One worker alone is too slow after this many directories, entries, or this time.
/// Starting a thread takes as long as reading some ten directories.
const ALONE_DIRS_MAX: u32 = 16;
const ALONE_ENTRIES_MAX: u64 = 1_000;
const ALONE_TIME_MAX: Duration = Duration::from_micros(300);

/// The worker's side of the pool, as its lister sees it.
pub(super) struct WorkerOutlet<D> {
    pub(super) pool: Arc<Pool<D>>,
    pub(super) slot: WorkerSlot,
    pub(super) last_parent: Option<Arc<Dir>>,
    /// Each counts as a job that is being done.
    pub(super) missing: Missing,
    pub(super) dirs_done: u32,
    /// Added to the counts of this thread: the counts of earlier workers in this slot,
    /// less what the thread did elsewhere.
    pub(super) calls_before: u64,
    pub(super) work_before: u64,
    /// The time until which the thread is lent; absent if it is the worker's own.
    pub(super) lent_until: Option<Instant>,
    /// Whether it still has to begin the next item of the agenda.
    pub(super) duty: Duty,
}

impl<D: DirectorySource> WorkerOutlet<D> {
    pub(super) fn take(&mut self) -> Option<Job> {
        let taken = self.pool.frontier.take(&mut self.slot)?;
        if taken.more {
            self.pool.parking.call_one();
        }
        Some(taken.job)
    }

    pub(super) fn begin(&mut self, job: &Job) {
        self.tell_work();
        match job {
            Job::Child {
                parent,
                name_offset,
                ..
            } => {
                self.dirs_done += 1;
                self.begin_child(&parent.dir, *name_offset);
            }
            Job::Rest(listing) | Job::Part(listing, _) => self.begin_in(listing.place()),
            Job::Entry(entry) => self.begin_in(entry.listing.place()),
        }
    }

    pub(super) fn begin_in(&mut self, place: &Place) {
        match place {
            Place::Root(path) | Place::File(path) => {
                self.last_parent = None;
                self.pool.progress[self.slot.index()].begin_root(path);
            }
            Place::Child(parent, offset) => self.begin_child(parent, *offset),
        }
    }

    pub(super) fn begin_child(&mut self, parent: &Arc<Dir>, offset: u32) {
        let same = self
            .last_parent
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, parent));
        self.pool.progress[self.slot.index()].begin_child(parent, offset, same);
        if !same {
            self.last_parent = Some(Arc::clone(parent));
        }
    }

    /// Notes that the subdirectory or link of the last [`begin`](Self::begin) is
    /// settled.
    pub(super) fn settle_last_parent(&mut self) {
        // In place, because seldom something is the last in its parent.
        let last = self.last_parent.as_ref();
        if last.is_none_or(|parent| !parent.unfinished.take_one()) {
            return;
        }
        let parent = self.last_parent.take();
        if let Some(parent) = &parent {
            finish_with_above(parent, self);
        }
        self.last_parent = parent;
    }

    /// Publishes how much this worker has done.
    pub(super) fn tell_work(&self) {
        let calls = self.calls_before.wrapping_add(tally::made());
        let work = self.work_before.wrapping_add(work_of_thread());
        self.pool.progress[self.slot.index()].tell_work(calls, work);
    }

    /// Whether the thread is lent and wanted back.
    #[inline]
    pub(super) fn is_late(&self) -> bool {
        self.lent_until.is_some_and(|until| threads::now() >= until)
    }

    pub(super) fn rest(&mut self) {
        self.last_parent = None;
        self.pool.progress[self.slot.index()].rest();
    }

    /// Starts more workers once there is enough work.
    pub(super) fn call_help(&self) {
        if !self.pool.wants_helpers.load(Ordering::Relaxed) {
            return;
        }
        let entries = &self.pool.progress[self.slot.index()].entries;
        let enough = self.dirs_done >= ALONE_DIRS_MAX
            || entries.load(Ordering::Relaxed) >= ALONE_ENTRIES_MAX
            || threads::since(self.pool.started) >= ALONE_TIME_MAX;
        if enough {
            self.pool.start_helper();
        }
    }

    pub(super) fn with_results(&self, work: impl FnOnce(&mut Results)) {
        match &mut *lock(&self.pool.results[self.slot.index()]) {
            Some(results) => work(results),
            // The scan ended without this worker, which hung.
            None => self.pool.cancelled.store(true, Ordering::Relaxed),
        }
    }

    /// Ends the scan because no number is left for a directory. With the number of
    /// another it would be counted in its place.
    pub(super) fn end_for_lack_of_numbers(&mut self, directory: &Directory<'_>) {
        let (root, path) = (directory.root, directory.path());
        self.failed(root, path, Op::Read, Failure::OVERFLOW);
        self.pool.cancelled.store(true, Ordering::Relaxed);
        self.pool.parking.call_all();
    }

    /// Gives an error to the sink, and keeps it for the report.
    pub(super) fn report(&mut self, error: EntryError) {
        let kept_max = self.pool.errors_kept_max;
        self.with_results(|results| {
            if results.state.collector().failed(&error).is_break() {
                self.pool.end_for_sink();
            }
            results.errors.keep(kept_max, || error);
        });
    }

    /// Tells a sink that takes entries by path of names that come later.
    fn tell_waiting(&self, parent: &Dir, name_offsets: &[u32]) {
        if self.pool.frontier.sorted().is_some() && parent.id != DirId::NONE_LEFT {
            let mut names = name_offsets
                .iter()
                .map(|&offset| parent.child_name(offset).to_bytes());
            self.with_results(|results| results.state.collector().waiting(parent.id, &mut names));
        }
    }

    pub(super) fn missing(&self, root: usize, failure: Failure) {
        self.with_results(|results| results.root(root).missing = Some(failure.errno()));
    }
}

impl<D: DirectorySource> Backlog for WorkerOutlet<D> {
    fn queue(&mut self, parent: &Arc<OpenParent>, name_offsets: &[u32], inos: &[u64]) {
        self.tell_waiting(&parent.dir, name_offsets);
        self.pool
            .pending
            .fetch_add(name_offsets.len(), Ordering::Relaxed);
        let frontier = &self.pool.frontier;
        frontier.push(&mut self.slot, parent, name_offsets, inos);
        if self.pool.order == AnyOrder::Futures {
            return self.pool.start_tasks(name_offsets.len());
        }
        self.call_help();
        self.pool.parking.call_one();
    }

    fn queue_rest(&mut self, listing: Arc<SharedListing>) {
        self.pool.pending.fetch_add(1, Ordering::Relaxed);
        let job = Job::Rest(listing);
        self.pool.frontier.push_one(&mut self.slot, job);
        self.pool.parking.call_one();
    }

    fn queue_part(&mut self, listing: &Arc<SharedListing>, part: Listed) {
        // By inode number each entry is a job.
        let weight = match self.pool.frontier.inode_queue() {
            Some(_) => part.len(),
            None => 1,
        };
        self.pool.pending.fetch_add(weight, Ordering::Relaxed);
        let job = Job::Part(Arc::clone(listing), Box::new(part));
        self.pool.frontier.push_one(&mut self.slot, job);
        self.call_help();
        self.pool.parking.call_one();
    }

    fn defer(&mut self, parent: &Arc<OpenParent>, name_offset: u32) {
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).crossings.push(item);
    }

    fn defer_overlay(&mut self, parent: &Arc<OpenParent>, name_offset: u32) {
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).overlays.push(item);
    }

    fn defer_vanished(&mut self, parent: &Arc<Dir>, name_offset: u32) {
        // The caller waits for it.
        if self.pool.frontier.sorted().is_some() {
            return self.missing.push(parent, name_offset);
        }
        let item = (Arc::clone(parent), name_offset);
        lock(&self.pool.agenda).vanished.push(item);
    }

    fn defer_links(&mut self, parent: &Arc<Dir>, name_offsets: &[u32]) {
        self.tell_waiting(parent, name_offsets);
        let items = name_offsets
            .iter()
            .map(|&offset| (Arc::clone(parent), offset));
        lock(&self.pool.agenda).links.extend(items);
    }

    fn gathers(&self) -> bool {
        self.pool.frontier.inode_queue().is_some()
    }

    fn gathering(&self, what: Gathering) {
        if let Some(queue) = self.pool.frontier.inode_queue() {
            match what {
                Gathering::Begins => queue.opened(),
                Gathering::Ends => {
                    queue.closed();
                    self.pool.parking.call_one();
                }
            }
        }
    }
}

impl<D: DirectorySource> Pace for WorkerOutlet<D> {
    #[inline]
    fn is_slow(&self) -> bool {
        self.pool.is_slow.load(Ordering::Relaxed) || self.is_late()
    }

    fn somebody_idle(&self) -> bool {
        self.call_help();
        self.pool.parking.somebody_waits() || self.is_late()
    }

    fn has_company(&self) -> bool {
        self.call_help();
        self.pool.results.len() > 1 && self.pool.order.hands_parts() || self.is_late()
    }

    #[inline]
    fn tick(&self) -> Tick {
        self.tell_work();
        if self.pool.is_cancelled() {
            Tick::Stop
        } else if self.is_slow() && (self.pool.parking.somebody_waits() || self.is_late()) {
            // A lent thread does the rest when it is lent again.
            Tick::Share
        } else {
            Tick::GoOn
        }
    }

    fn cancelled(&self) -> bool {
        self.tell_work();
        self.pool.is_cancelled()
    }

    fn takes_parts(&self) -> bool {
        self.pool.takes_parts()
    }
}

impl<D: DirectorySource> Events for WorkerOutlet<D> {
    fn next_id(&mut self) -> DirId {
        if self.slot.ids.is_empty() {
            self.slot.ids = self.pool.take_ids();
        }
        self.slot.ids.next().map_or(DirId::NONE_LEFT, DirId)
    }

    fn deliver(&mut self, directory: &Directory<'_>, announce: bool, batches: &[&Batch]) {
        if has_no_number(directory) {
            return self.end_for_lack_of_numbers(directory);
        }
        let progress = &self.pool.progress[self.slot.index()];
        let entries: usize = batches.iter().map(|batch| batch.len()).sum();
        WorkerProgress::add(&progress.entries, entries as u64 + u64::from(announce));
        WorkerProgress::add(&progress.dirs, u64::from(announce));
        let bytes = batches.iter().flat_map(|batch| batch.allocated_bytes());
        (progress.allocated_bytes).add(bytes.map(|&bytes| u128::from(bytes)).sum());
        progress.step();
        self.with_results(|results| {
            let state = results.state.collector();
            let mut flow = match announce {
                true => state.directory(directory),
                false => std::ops::ControlFlow::Continue(()),
            };
            for batch in batches {
                if flow.is_continue() && !batch.is_empty() {
                    flow = state.batch(Origin(directory), batch);
                }
            }
            if flow.is_break() {
                self.pool.end_for_sink();
            }
            if directory.is_last && !self.pool.is_cancelled() {
                if self.pool.frontier.sorted().is_some() {
                    state.listed(directory.id, true);
                }
                state.finished(directory);
            }
        });
        if self.pool.is_cancelled() {
            self.pool.parking.call_all();
        }
    }

    fn listed(&mut self, directory: &Directory<'_>, by: ListedBy) {
        let Some(sorted) = self.pool.frontier.sorted() else {
            return;
        };
        sorted.listed(directory.id);
        if self.pool.is_cancelled() || has_no_number(directory) {
            return;
        }
        self.with_results(|results| {
            results
                .state
                .collector()
                .listed(directory.id, by == ListedBy::One)
        });
    }

    fn rows_by_path(&self) -> Option<u64> {
        self.pool.frontier.sorted()?;
        let entries = &self.pool.progress[self.slot.index()].entries;
        Some(entries.load(Ordering::Relaxed))
    }

    /// Once the scan is cancelled all else is gone anyway.
    fn gone(&mut self, parent: &Dir, name_offset: u32) {
        if parent.id == DirId::NONE_LEFT || self.pool.is_cancelled() {
            return;
        }
        let name = parent.child_name(name_offset).to_bytes();
        self.with_results(|results| results.state.collector().gone(parent.id, name));
    }

    /// Once the scan is cancelled nothing is finished any more: a worker that stops
    /// may have left out anything.
    fn finished(&mut self, directory: &Directory<'_>) {
        if self.pool.is_cancelled() || has_no_number(directory) {
            return;
        }
        self.with_results(|results| results.state.collector().finished(directory));
    }

    fn root_finished(&mut self, root: u32) {
        if !self.pool.is_cancelled() {
            self.with_results(|results| {
                *of_root(&mut results.finished_roots, root as usize) = true
            });
        }
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        if has_no_number(directory) {
            return;
        }
        self.lacks(directory);
        self.with_results(|results| results.state.collector().incomplete(directory));
    }

    fn lacks(&mut self, directory: &Directory<'_>) {
        (self.pool.context).lack(Some(directory.id), directory.place);
    }

    fn changed(&mut self, directory: &Directory<'_>) {
        self.lacks(directory);
        let error = EntryError {
            path: directory.path(),
            op: Op::Read,
            cause: Cause::Changed,
            root: directory.root(),
        };
        self.with_results(|results| {
            results.root(error.root).changed_dirs += 1;
            results.state.collector().incomplete(directory);
        });
        self.report(error);
    }

    fn failed(&mut self, root: u32, path: Vec<u8>, op: Op, failure: Failure) {
        let cause = failure.cause();
        WorkerProgress::add(&self.pool.progress[self.slot.index()].unreadable, 1);
        self.with_results(|results| {
            results.root(root as usize).unreadable += 1;
            results.errors.count(op, cause, 1);
        });
        self.report(EntryError {
            path,
            op,
            cause,
            root: root as usize,
        });
    }

    fn note(&mut self, root: u32, note: Note) {
        self.with_results(|results| {
            let root = results.root(root as usize);
            match note {
                Note::Vanished => root.vanished += 1,
                Note::Excluded => root.excluded += 1,
                Note::Crossing => root.crossings += 1,
                Note::OverlayLeftOut => root.overlays_left_out += 1,
                Note::PerhapsTwice => root.mounts_perhaps_twice += 1,
                Note::TimesMoved => root.restless_dirs += 1,
                Note::NamesRepeated(names) => root.repeated_names += names,
            }
        });
    }

    fn left_out(&mut self, path: Vec<u8>, file_system: &'static str) {
        self.with_results(|results| results.left_out.push(LeftOut { path, file_system }));
    }
}

/// Whether no number was left for a directory, or for the one above it.
fn has_no_number(directory: &Directory<'_>) -> bool {
    directory.id == DirId::NONE_LEFT || directory.parent() == Some(DirId::NONE_LEFT)
}

/// Calls of the calling thread, and entries that it read without.
pub(super) fn work_of_thread() -> u64 {
    tally::made() + tally::read()
}
