// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs a scan and looks after it: signals, progress, and where it hangs.

pub(crate) mod progress;
pub(crate) mod reading;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use statwalk_core::{Outcome, Progress, Scan, Sink};

use crate::failure::Failure;
use crate::system::open_files;
use crate::system::signals;
use crate::watch::progress::{ProgressLine, ProgressOptions};

/// How often the scan is looked after. A signal waits as long at most, and a
/// scan that takes less is not disturbed at all.
pub(crate) const PERIOD: Duration = Duration::from_millis(40);

/// Runs a scan until it is done or a signal stops it.
pub(crate) fn watch<S: Sink>(
    scan: &Scan,
    sink: &S,
    progress: ProgressOptions,
) -> Result<Outcome<S::Output>, Failure> {
    let mut lookout = Lookout::new(progress);
    let running = scan.start(sink)?;
    while !running.wait_for(PERIOD) {
        if lookout.look(|| running.progress()).is_break() {
            running.canceller().cancel();
            break;
        }
    }
    lookout.end();
    Ok(running.finish())
}

/// Looks for signals while a scan goes on, and shows its progress.
pub(crate) struct Lookout {
    line: ProgressLine,
    next: Instant,
}

impl Lookout {
    /// Takes signals as wishes from now on.
    pub(crate) fn new(progress: ProgressOptions) -> Lookout {
        signals::install();
        open_files::raise_limit();
        Lookout {
            line: ProgressLine::new(progress),
            next: Instant::now() + PERIOD,
        }
    }

    /// Breaks where a signal ends the scan. Does nothing where it was called just now.
    pub(crate) fn look_now_and_then(&mut self, progress: impl Fn() -> Progress) -> ControlFlow<()> {
        let now = Instant::now();
        if now < self.next {
            return ControlFlow::Continue(());
        }
        self.next = now + PERIOD;
        self.look(progress)
    }

    /// Breaks where a signal ends the scan.
    pub(crate) fn look(&mut self, progress: impl Fn() -> Progress) -> ControlFlow<()> {
        if signals::caught().is_some() {
            return ControlFlow::Break(());
        }
        if signals::take_status_request() {
            self.line.print_status(&progress());
        }
        self.line.tick(progress);
        ControlFlow::Continue(())
    }

    /// Ends the progress line. The next signal kills.
    pub(crate) fn end(&mut self) {
        self.line.clear();
        signals::let_next_kill();
    }
}
