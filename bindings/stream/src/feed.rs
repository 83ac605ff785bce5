// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows of a scan, in an order in which their paths are known.

use std::sync::Arc;
use std::time::{Duration, Instant};

use statwalk_core::{Canceller, EntryError, GatheredRows, Next, Report, Rows, Scan, SkippedDirs};

use crate::failure::Failure;
use crate::request::Request;
use crate::tree::Tree;

/// Something that a scan gives to its caller.
#[derive(Debug)]
#[must_use]
pub enum Step<T> {
    /// A value.
    Value(T),
    /// An entry that could not be read. The scan goes on.
    Error(EntryError),
    /// Nothing has come in the time that the caller waits.
    Waiting,
    /// Nothing comes any more.
    End,
}

/// Rows that belong to a process: in the child of a fork nobody drops them, because a
/// worker that does not exist there may hold their locks.
#[derive(Debug)]
pub(crate) struct OwnRows {
    /// There until they are taken.
    rows: Option<Rows>,
    process: u32,
}

/// Rows for the caller.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// Directories of these rows, or of others that are still held: each after its parent.
    pub(crate) directories: Vec<(Arc<OwnRows>, usize)>,
    /// Rows whose directories are all known.
    pub(crate) rows: Vec<Arc<OwnRows>>,
}

/// The rows of a scan as they come.
pub(crate) struct Feed {
    /// Absent after the end.
    rows: Option<GatheredRows>,
    process: u32,
    canceller: Option<Canceller>,
    /// Absent where nobody needs paths: then rows come in any order.
    tree: Option<Tree>,
    /// Rows with a directory whose parent has not come.
    held: Vec<(u32, Arc<OwnRows>)>,
    /// How many rows have come.
    count: u32,
    report: Option<Report>,
    failure: Option<Failure>,
    pub(crate) skipped: SkippedDirs,
}

impl OwnRows {
    pub(crate) fn get(&self) -> &Rows {
        self.rows.as_ref().expect("nobody has taken them")
    }

    /// The rows themselves, for a process that still has their scan.
    pub(crate) fn into_rows(mut self) -> Rows {
        self.rows.take().expect("they are taken once")
    }
}

impl Drop for OwnRows {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.rows.take());
        }
    }
}

impl Feed {
    pub(crate) fn new(request: &Request, wants_paths: bool) -> Result<Feed, Failure> {
        Feed::of(request.scan(), wants_paths)
    }

    pub(crate) fn of(scan: Scan, wants_paths: bool) -> Result<Feed, Failure> {
        let skipped = SkippedDirs::default();
        let scan = match wants_paths {
            true => scan.skip_dirs(&skipped),
            false => scan,
        };
        let rows = Failure::catch(|| scan.rows())?.map_err(Failure::Begin)?;
        Ok(Feed {
            canceller: rows.canceller(),
            rows: Some(rows),
            process: std::process::id(),
            tree: wants_paths.then(Tree::default),
            held: Vec::new(),
            count: 0,
            report: None,
            failure: None,
            skipped,
        })
    }

    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// Leaves out what is below a directory, if it is known.
    pub(crate) fn prune(&mut self, id: u32) -> bool {
        let Some(tree) = &mut self.tree else {
            return false;
        };
        if !tree.is_known(id) {
            return false;
        }
        let mut path = Vec::new();
        tree.path_to(id, &mut path);
        self.skipped.add(tree.root(id) as usize, &path);
        tree.prune(id);
        true
    }

    /// Whether an error lies at or below a directory that the caller does not want.
    pub(crate) fn is_below_pruned(&self, error: &EntryError) -> bool {
        self.skipped.has(error.root, &error.path)
    }

    pub(crate) fn canceller(&self) -> Option<&Canceller> {
        self.canceller.as_ref()
    }

    /// The next rows. Where paths are wanted, all directories above them are known, or
    /// are among them.
    pub(crate) fn next_within(&mut self, timeout: Duration) -> Result<Step<Ready>, Failure> {
        if let Some(failure) = &self.failure {
            return Err(failure.again());
        }
        let step = match self.process == std::process::id() {
            true => Failure::catch(|| self.next_rows(timeout)),
            false => Err(Failure::Forked),
        };
        step.inspect_err(|failure| self.failure = Some(failure.again()))
    }

    fn next_rows(&mut self, timeout: Duration) -> Step<Ready> {
        // Too far away for a clock: then nobody waits in vain.
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let Some(gathered) = &mut self.rows else {
                return Step::End;
            };
            let left =
                deadline.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
            match gathered.next_within(left) {
                Next::Value(rows) => {
                    let rows = OwnRows {
                        rows: Some(rows),
                        process: self.process,
                    };
                    let rows = Arc::new(rows);
                    let ready = match self.tree.is_some() {
                        true => self.hold(rows),
                        false => Ready {
                            directories: Vec::new(),
                            rows: vec![rows],
                        },
                    };
                    if !ready.rows.is_empty() || !ready.directories.is_empty() {
                        return Step::Value(ready);
                    }
                }
                Next::Failed(error) => return Step::Error(error),
                Next::Waiting => return Step::Waiting,
                _ => self.end(),
            }
        }
    }

    /// Keeps rows, and gives those that are known by them.
    fn hold(&mut self, rows: Arc<OwnRows>) -> Ready {
        let Some(tree) = &mut self.tree else {
            return Ready::default();
        };
        self.count = self.count.wrapping_add(1);
        let settled = tree.add(rows.get().directories(), self.count);
        self.held.push((self.count, rows));
        let held = &self.held;
        let directories = settled.into_iter().filter_map(|id| {
            let (number, row) = tree.place(id);
            let (_, rows) = held.iter().find(|(held, _)| *held == number)?;
            Some((Arc::clone(rows), row))
        });
        let directories = directories.collect();
        let rows = (self.held).extract_if(.., |(_, rows)| tree.knows_all_of(rows.get()));
        Ready {
            directories,
            rows: rows.map(|(_, rows)| rows).collect(),
        }
    }

    /// Takes the report. Rows that are still held belong to a directory that lies with
    /// a worker that hangs: the report says that the scan was interrupted.
    fn end(&mut self) {
        if let Some(rows) = self.rows.take() {
            self.report = Some(rows.finish());
        }
        self.held.clear();
    }

    /// The report, once the scan has ended by itself.
    pub(crate) fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Ends the scan, waits for its workers and gives its report. A worker that does not
    /// come back from the kernel is left behind after a second.
    pub(crate) fn finish(mut self) -> Result<Report, Failure> {
        if self.process != std::process::id() {
            return Err(Failure::Forked);
        }
        if let Some(failure) = &self.failure {
            return Err(failure.again());
        }
        let ended = Failure::catch(|| self.end());
        ended.and_then(|()| {
            self.report
                .take()
                .ok_or(Failure::Invalid("the scan has no report"))
        })
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let Some(rows) = self.rows.take() else { return };
        if self.process != std::process::id() {
            std::mem::forget(rows);
            return;
        }
        // Workers must not run any more when a host unloads this library. What they
        // found, nobody wants; a panic was a failure before, or nobody asked.
        let _ = Failure::catch(|| rows.finish());
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed")
            .field("rows", &self.rows)
            .field("held", &self.held.len())
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
