// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sums of a tree.

use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{AsyncTask, BigInt, Buffer, Error, Result, Task};
use napi::{Env, Status};
use napi_derive::napi;
use statwalk_core::{Canceller, Outcome, RootTotals, Totals};
use statwalk_stream::{Failure, Gaps, Summary};

use crate::{ErrorItem, Options, PAUSE, Report, error_item, failed, report, request};

type Shared = Arc<Mutex<Option<Summary<Totals>>>>;

/// A scan that gives sums at its end.
#[napi]
#[derive(Debug)]
pub struct Sum {
    summary: Shared,
    canceller: Option<Canceller>,
}

/// The sums of a tree, what is missing, and the first of its errors.
#[napi(object)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    reason = "index.d.ts says it"
)]
pub struct Sums {
    pub allocated: BigInt,
    pub apparent: BigInt,
    pub entries: f64,
    pub files: f64,
    pub directories: f64,
    pub errors: Vec<ErrorItem>,
    pub report: Report,
}

#[napi]
impl Sum {
    /// Begins a scan of a path, which need not be a directory.
    #[napi(constructor)]
    #[allow(clippy::needless_pass_by_value, reason = "Node gives values")]
    pub fn new(root: Buffer, options: Options) -> Result<Sum> {
        let request = request(&root, &options)?;
        let summary = Summary::new(&request, Totals::new()).map_err(|failure| failed(&failure))?;
        Ok(Sum {
            canceller: summary.canceller(),
            summary: Arc::new(Mutex::new(Some(summary))),
        })
    }

    /// The sums; null if the scan still goes on after a moment. So no thread of libuv is
    /// taken for as long as the scan takes.
    #[napi(ts_return_type = "Promise<Sums | null>")]
    pub fn next(&self) -> AsyncTask<Next> {
        AsyncTask::new(Next(Arc::clone(&self.summary)))
    }

    /// Stops the scan, so that a call of `next` does not wait any more.
    #[napi]
    pub fn stop(&self) {
        if let Some(canceller) = &self.canceller {
            canceller.cancel();
        }
    }

    /// Stops the scan, and waits for its threads.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn close(&self) -> AsyncTask<Close> {
        self.stop();
        AsyncTask::new(Close(Arc::clone(&self.summary)))
    }
}

impl Drop for Sum {
    /// The end of a scan can take a second; then that is no work for the collector.
    fn drop(&mut self) {
        self.stop();
        let summary = Arc::clone(&self.summary);
        // Without a thread the scan ends here.
        let _ = std::thread::Builder::new()
            .name("statwalk-end".to_owned())
            .spawn(move || drop(take(&summary)));
    }
}

fn take(summary: &Shared) -> Option<Summary<Totals>> {
    let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
    summary.take()
}

/// Waits for the end of a scan on a thread of libuv.
#[derive(Debug)]
pub struct Next(Shared);

impl Task for Next {
    type Output = Option<Outcome<Vec<RootTotals>>>;
    type JsValue = Option<Sums>;

    fn compute(&mut self) -> Result<Self::Output> {
        let has_ended = {
            let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = place.as_ref().map(|summary| summary.wait_for(PAUSE));
            waited.transpose().map_err(|failure| failed(&failure))?
        };
        if has_ended == Some(false) {
            return Ok(None);
        }
        let summary = take(&self.0).ok_or(Failure::Invalid("the scan has no answer"));
        let outcome = summary.and_then(Summary::finish);
        outcome.map(Some).map_err(|failure| failed(&failure))
    }

    fn resolve(&mut self, _: Env, outcome: Self::Output) -> Result<Option<Sums>> {
        outcome.map(sums).transpose()
    }
}

/// Ends a scan on a thread of libuv.
#[derive(Debug)]
pub struct Close(Shared);

impl Task for Close {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        drop(take(&self.0));
        Ok(())
    }

    fn resolve(&mut self, _: Env, (): ()) -> Result<()> {
        Ok(())
    }
}

fn sums(outcome: Outcome<Vec<RootTotals>>) -> Result<Sums> {
    let absent = || Error::new(Status::GenericFailure, "the tree has no sums");
    let totals = outcome.output.first().ok_or_else(absent)?;
    let sizes = totals.sizes.ok_or_else(absent)?;
    Ok(Sums {
        allocated: sizes.allocated_bytes.into(),
        apparent: sizes.apparent_bytes.into(),
        entries: totals.entries as f64,
        files: totals.files as f64,
        directories: totals.dirs as f64,
        report: report(Gaps::of(&outcome.report)),
        errors: outcome.report.errors.into_iter().map(error_item).collect(),
    })
}
