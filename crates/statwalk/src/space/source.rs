// SPDX-License-Identifier: MIT OR Apache-2.0

//! The scans that explain a file system: watched by a command, or quiet for the browser.

use std::ops::ControlFlow;

use statwalk_core::{Outcome, Sink};
use statwalk_space::btrfs::{ExtentUsage, InodeTable, extent_usage};
use statwalk_view::SizeFormat;

use crate::failure::Failure;
use crate::flags::When;
use crate::request::Request;
use crate::watch::progress::{ProgressOptions, ShareLine};
use crate::watch::{PERIOD, watch};

/// The source of the figures: a scan, and the extents of what it found.
pub(crate) trait SpaceSource {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure>;
    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage>;
}

/// Shows the progress on stderr, and takes signals.
pub(crate) struct Watched {
    pub(crate) progress: When,
    pub(crate) format: SizeFormat,
}

impl SpaceSource for Watched {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure> {
        watch(
            &request.scan,
            sink,
            ProgressOptions::new(request, Some(self.format)),
        )
    }

    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage> {
        let line = ShareLine::new(self.progress);
        let usage = extent_usage(inodes, |progress| {
            line.tick("of files and extents", progress.done, progress.of);
            ControlFlow::Continue(())
        });
        line.clear();
        usage.ok()
    }
}

/// Shows nothing, and asks whether the answer is still wanted.
pub(super) struct Quiet<'a>(pub(super) &'a (dyn Fn() -> bool + Sync));

impl SpaceSource for Quiet<'_> {
    fn scan<S: Sink>(&self, request: &Request, sink: &S) -> Result<Outcome<S::Output>, Failure> {
        let running = request.scan.start(sink)?;
        while !running.wait_for(PERIOD) {
            if (self.0)() {
                running.canceller().cancel();
                break;
            }
        }
        Ok(running.finish())
    }

    fn extents(&self, inodes: InodeTable) -> Option<ExtentUsage> {
        let go_on = |_| match (self.0)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        extent_usage(inodes, go_on).ok()
    }
}
