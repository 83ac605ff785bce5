// SPDX-License-Identifier: MIT OR Apache-2.0

//! How a directory comes to be finished: it was delivered, and so was all below it.
//!
//! Each directory with subdirectories counts what is not finished in it. The worker that
//! does the last of that notes the directory as finished, and goes on above. So an
//! interrupted scan knows what it lacks without a list of all that waits: everything
//! that nobody has noted. A job that is dropped, a worker that hangs, and a name that
//! was never opened need no word of their own.

use super::outlet::Events;
use crate::directory::{Dir, Directory};

/// Notes that one thing in a directory is finished: one that waited, or the delivery of
/// the directory itself. With the last one the directory is finished too.
#[inline]
pub(crate) fn settle(dir: &Dir, out: &mut dyn Events) {
    if dir.unfinished.take_one() {
        finish_with_above(dir, out);
    }
}

/// Notes a directory as finished whose last thing was settled, and settles it above.
pub(crate) fn finish_with_above(mut dir: &Dir, out: &mut dyn Events) {
    loop {
        if let Some(pieces) = &dir.pieces
            && !pieces.take_one()
        {
            return;
        }
        let view = dir.view();
        out.finished(&view);
        match dir.place.parent() {
            Some(above) => dir = above,
            None => return out.root_finished(dir.root),
        }
        if !dir.unfinished.take_one() {
            return;
        }
    }
}

/// Notes a directory without a [`Dir`] as finished, and settles it in the one above.
pub(crate) fn finish(directory: &Directory<'_>, out: &mut dyn Events) {
    out.finished(directory);
    match directory.place.parent() {
        Some(above) => settle(above, out),
        None => out.root_finished(directory.root),
    }
}
