// SPDX-License-Identifier: MIT OR Apache-2.0

//! Gives a sink the entries of a request, wherever they come from.

use statwalk_core::{Progress, Sink};

use super::progress::ProgressOptions;
use super::{Lookout, watch};
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
    if let Some((stored, reading)) = &request.stored {
        let mut lookout = Lookout::new(progress);
        let output = stored.replay(sink, reading, &mut |entries| {
            lookout.look_now_and_then(|| {
                let mut progress = Progress::default();
                progress.entries = entries;
                progress
            })
        });
        lookout.end();
        return Ok(Read {
            output: output?,
            record: Record::Stored(Box::new(stored.findings(reading)?)),
        });
    }
    let outcome = watch(&request.scan, sink, progress)?;
    Ok(Read {
        output: outcome.output,
        record: Record::Scan(Box::new(outcome.report)),
    })
}
