// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans that answer at their end.

use std::time::Duration;

use statwalk_core::{Canceller, Outcome, Running, Sequence, Sink};

use crate::failure::Failure;
use crate::request::Request;

/// How many errors an answer keeps.
const ERRORS_MAX: usize = 1_000;

/// A scan whose answer is one value, for a caller who looks for signals while it waits.
///
/// Dropped, it ends the scan.
#[derive(Debug)]
pub struct Summary<S: Sink> {
    /// Absent after the end.
    running: Option<Running<S>>,
}

impl<S: Sink> Summary<S> {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// Returns an error if a root holds a NUL, if a pattern ends with a slash, and for options
    /// that sums do not have: an order and a least depth.
    pub fn new(request: &Request, sink: S) -> Result<Summary<S>, Failure> {
        if request.sequence() != Sequence::new() {
            return Err(Failure::Invalid(
                "sums have neither an order nor a depth from which on they count",
            ));
        }
        let scan = request.checked_scan()?.errors_kept(ERRORS_MAX);
        let running = Failure::catch(|| scan.start(sink))?.map_err(Failure::Begin)?;
        Ok(Summary {
            running: Some(running),
        })
    }

    /// Waits up to a time. Answers whether the scan has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed.
    pub fn wait_for(&self, timeout: Duration) -> Result<bool, Failure> {
        let waited = |running: &Running<S>| Failure::catch(|| running.wait_for(timeout));
        self.running.as_ref().map_or(Ok(true), waited)
    }

    /// Stops the scan from any thread. The answer has all that its workers have found.
    #[must_use]
    pub fn canceller(&self) -> Option<Canceller> {
        self.running.as_ref().map(Running::canceller)
    }

    /// The answer, with the first thousand errors in its report. Ends the scan if it still
    /// goes on.
    ///
    /// # Errors
    ///
    /// Returns an error if a worker has failed.
    pub fn finish(mut self) -> Result<Outcome<S::Output>, Failure> {
        let Some(running) = self.running.take() else {
            return Err(Failure::Invalid("the scan has no answer"));
        };
        Failure::catch(|| running.finish())
    }
}

impl<S: Sink> Drop for Summary<S> {
    fn drop(&mut self) {
        // Workers must not run any more when a host unloads this library.
        if let Some(running) = self.running.take() {
            let _ = Failure::catch(|| running.finish());
        }
    }
}
