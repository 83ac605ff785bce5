// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs a scan and looks after it: signals, progress, and where it hangs.

pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod used_inodes;

use std::time::Duration;

use statwalk_core::{Outcome, Scan, Sink};

use crate::failure::Failure;
use crate::request::open_files;
use crate::watch::progress::{ProgressLine, ProgressOptions};

/// How often the scan is looked after. A signal waits as long at most, and a
/// scan that takes less is not disturbed at all.
const PERIOD: Duration = Duration::from_millis(40);

/// Somebody who has something to do while a scan goes on.
pub(crate) trait Companion {
    /// Is called some times a second.
    fn tick(&mut self) {}

    /// Is called when the scan is over or was stopped, before its answer is
    /// awaited. A worker whom the companion keeps must be free when it returns.
    fn ending(&mut self) {}
}

/// Nobody.
impl Companion for () {}

/// Runs a scan until it is done or a signal stops it.
///
/// # Errors
///
/// Returns an error if the scan cannot begin.
pub(crate) fn watch<S: Sink>(
    scan: &Scan,
    sink: &S,
    progress: ProgressOptions,
    companion: &mut dyn Companion,
) -> Result<Outcome<S::Output>, Failure> {
    signals::install();
    open_files::raise_limit();
    let mut line = ProgressLine::new(progress);
    let running = scan.start(sink)?;
    while !running.wait_for(PERIOD) {
        if signals::caught().is_some() {
            running.canceller().cancel();
            break;
        }
        if signals::take_status_request() {
            line.print_status(&running.progress());
        }
        line.tick(|| running.progress());
        companion.tick();
    }
    line.clear();
    companion.ending();
    signals::let_next_kill();
    Ok(running.finish())
}
