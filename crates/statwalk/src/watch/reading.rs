// SPDX-License-Identifier: MIT OR Apache-2.0

//! Gives a sink the entries of a request, wherever they come from.

use statwalk_core::Sink;

use super::progress::ProgressOptions;
use super::watch;
use crate::answer::record::Record;
use crate::failure::Failure;
use crate::request::Request;

/// The answer of a sink, and the record of the reading.
#[derive(Debug)]
pub(crate) struct Read<T> {
    pub(crate) output: T,
    pub(crate) record: Record,
}

/// Reads the entries of a request.
pub(crate) fn read<S: Sink>(
    request: &Request,
    sink: &S,
    progress: ProgressOptions,
) -> Result<Read<S::Output>, Failure> {
    let outcome = watch(&request.scan, sink, progress)?;
    Ok(Read {
        output: outcome.output,
        record: Record::Scan(outcome.report),
    })
}
