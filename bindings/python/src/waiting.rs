// SPDX-License-Identifier: MIT OR Apache-2.0

//! Waits without the GIL, and looks for Ctrl-C.

use std::time::Duration;

use pyo3::prelude::*;
use statwalk_stream::{Failure, Step};

use crate::errors::of_failure;

/// How long a wait may hide a signal.
const PAUSE: Duration = Duration::from_millis(40);

/// Takes the next step of a scan. Other threads of Python run meanwhile.
pub(crate) fn next<T: Send, S: Send>(
    py: Python<'_>,
    stream: &mut S,
    next_within: impl Fn(&mut S, Duration) -> Result<Step<T>, Failure> + Sync + Send,
) -> PyResult<Step<T>> {
    loop {
        let waited = py.detach(|| next_within(stream, PAUSE));
        // Also where something has come: a caller can take batches for long without a
        // line of Python.
        py.check_signals()?;
        match waited.map_err(of_failure)? {
            Step::Waiting => {}
            step => return Ok(step),
        }
    }
}
