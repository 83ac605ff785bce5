// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows of a scan in order, in the process that began it.

use std::time::Duration;

use statwalk_core::{
    Canceller, DirId, EntryError, Next, OrderedRows, Report, Rows, Scan, Sequence,
};

use crate::failure::Failure;
use crate::request::Request;

/// Lets the caller of a type stop the scan of its `feed`, and get its report.
macro_rules! ends {
    ($type:ident) => {
        impl $type {
            /// Stops the scan from any thread. Rows that the workers have found still come.
            #[must_use]
            pub fn canceller(&self) -> Option<&statwalk_core::Canceller> {
                self.feed.canceller()
            }

            /// The report, once everything was taken.
            #[must_use]
            pub fn report(&self) -> Option<&statwalk_core::Report> {
                self.feed.report()
            }

            /// Ends the scan and gives its report.
            ///
            /// # Errors
            ///
            /// Returns an error if a worker has failed, and in the child of a fork.
            pub fn finish(self) -> Result<statwalk_core::Report, $crate::Failure> {
                self.feed.finish()
            }
        }
    };
}
pub(crate) use ends;

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

/// The rows of a scan as they come.
pub(crate) struct Feed {
    /// Absent after the end.
    source: Option<Box<OrderedRows>>,
    process: u32,
    canceller: Option<Canceller>,
    report: Option<Report>,
    failure: Option<Failure>,
    is_contents_first: bool,
}

impl OwnRows {
    pub(crate) fn get(&self) -> &Rows {
        self.rows.as_ref().expect("nobody has taken them")
    }

    /// The rows themselves, for a process that still has their scan.
    pub(crate) fn into_rows(mut self) -> Rows {
        self.rows.take().expect("they are taken once")
    }

    /// Others that are made of them.
    pub(crate) fn again(&self, make: impl FnOnce(&Rows) -> Rows) -> OwnRows {
        OwnRows {
            rows: Some(make(self.get())),
            process: self.process,
        }
    }

    /// Takes the directories out.
    pub(crate) fn split_off_directories(&mut self) -> OwnRows {
        let rows = self.rows.as_mut().map(Rows::split_off_directories);
        OwnRows {
            rows,
            process: self.process,
        }
    }

    /// Changes them.
    pub(crate) fn map(mut self, change: impl FnOnce(Rows) -> Rows) -> OwnRows {
        self.rows = self.rows.take().map(change);
        self
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
    pub(crate) fn new(request: &Request) -> Result<Feed, Failure> {
        Feed::in_sequence(&request.checked_scan()?, request.sequence())
    }

    #[cfg(test)]
    pub(crate) fn of(scan: &Scan) -> Result<Feed, Failure> {
        Feed::in_sequence(scan, Sequence::new())
    }

    fn in_sequence(scan: &Scan, sequence: Sequence) -> Result<Feed, Failure> {
        let source = Failure::catch(|| scan.ordered_rows_in(sequence))?.map_err(Failure::Begin)?;
        Ok(Feed {
            canceller: source.canceller(),
            is_contents_first: sequence == sequence.contents_first(),
            source: Some(Box::new(source)),
            process: std::process::id(),
            report: None,
            failure: None,
        })
    }

    /// The rows with their directories; absent after the end.
    pub(crate) fn rows(&self) -> Option<&OrderedRows> {
        self.source.as_deref()
    }

    /// Leaves out what is below a directory. Absent, or of a number that has not come, is
    /// `otherwise`.
    pub(crate) fn prune(
        &mut self,
        id: Option<DirId>,
        otherwise: &'static str,
    ) -> Result<(), Failure> {
        let (rows, id) = match (&mut self.source, id) {
            _ if self.is_contents_first => {
                let words = "nothing can be skipped with contents first: all below a directory comes before it";
                return Err(Failure::Invalid(words));
            }
            // A worker that does not exist in the child of a fork may hold a lock.
            (Some(rows), Some(id)) if self.process == std::process::id() => (rows, id),
            _ => return Err(Failure::Invalid(otherwise)),
        };
        (rows.skip(id).then_some(())).ok_or(Failure::Invalid(otherwise))
    }

    pub(crate) fn canceller(&self) -> Option<&Canceller> {
        self.canceller.as_ref()
    }

    /// The next rows. All directories above them came before, or are among them.
    pub(crate) fn next_within(&mut self, timeout: Duration) -> Result<Step<OwnRows>, Failure> {
        self.check()?;
        let step = Failure::catch(|| self.next_rows(timeout));
        step.map_err(|failure| self.keep(failure))
    }

    /// Keeps a failure for all later calls.
    pub(crate) fn keep(&mut self, failure: Failure) -> Failure {
        self.failure = Some(failure.again());
        failure
    }

    /// Fails after a failure, and in the child of a fork.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.failure {
            _ if self.process != std::process::id() => Err(Failure::Forked),
            Some(failure) => Err(failure.again()),
            None => Ok(()),
        }
    }

    fn next_rows(&mut self, timeout: Duration) -> Step<OwnRows> {
        let Some(rows) = &mut self.source else {
            return Step::End;
        };
        match rows.next_within(timeout) {
            Next::Value(rows) => Step::Value(OwnRows {
                rows: Some(rows),
                process: self.process,
            }),
            Next::Failed(error) => Step::Error(error),
            Next::Waiting => Step::Waiting,
            _ => {
                self.end();
                Step::End
            }
        }
    }

    fn end(&mut self) {
        if let Some(source) = self.source.take() {
            self.report = Some(source.finish());
        }
    }

    /// The report, once the scan has ended by itself.
    pub(crate) fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// Ends the scan, waits for its workers and gives its report. A worker that does not
    /// come back from the kernel is left behind after a second.
    pub(crate) fn finish(mut self) -> Result<Report, Failure> {
        self.check()?;
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
        let Some(source) = self.source.take() else {
            return;
        };
        if self.process != std::process::id() {
            std::mem::forget(source);
            return;
        }
        // Workers must not run any more when a host unloads this library. What they
        // found, nobody wants; a panic was a failure before, or nobody asked.
        let _ = Failure::catch(|| source.finish());
    }
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed")
            .field("process", &self.process)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
