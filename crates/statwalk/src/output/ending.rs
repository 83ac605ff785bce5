// SPDX-License-Identifier: MIT OR Apache-2.0

//! The last lines: the sentences below a table, and what stderr says after the answer.

use std::ffi::OsStr;

use serde::Serialize;
use statwalk_core::Errno;
use statwalk_view::{
    Charset, Ending, NO_BLOCKS, SizeFormat, Summary, Terminal, escape, truncate_end, wrap,
};

use crate::answer::about::{About, LeftOut, Root};
use crate::exit_status::ExitStatus;
use crate::output::json::Fields;
use crate::output::printer::ROWS_FOR_SENTENCES;
use crate::output::{error_summary, explain, json};
use crate::request::Sizes;
use crate::system::screen::{ErrorScreen, Screen};

/// A table of fewer rows would say nothing.
const ROWS_MIN: usize = 3;

/// Where the user reads the errors of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// In the lines on stderr.
    Untold,
    /// In the answer itself.
    Told,
}

/// The form of the last lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// Whether the answer was for a person.
    pub(crate) is_screen: bool,
    /// Whether it was a document, which has every error.
    pub(crate) is_document: bool,
    /// Whether the user wants to read the plan.
    pub(crate) shows_plan: bool,
    /// Whether a signal came.
    pub(crate) has_signal: bool,
    pub(crate) errors: Errors,
    /// The remark on a missing root that is perhaps no path.
    pub(crate) hint: fn(&OsStr) -> String,
    pub(crate) screen: ErrorScreen,
}

/// The lines for stderr after an answer, and the exit status without the signal.
pub(crate) fn last_lines(about: &About, form: &Form) -> (Vec<String>, ExitStatus) {
    let gaps = &about.gaps;
    let charset = form.screen.terminal.charset;
    let mut lines = Vec::new();
    let mut say = |text: &str| lines.push(format!("statwalk: {text}"));
    // No signal comes now where the scan of a snapshot was interrupted.
    let is_partial = gaps.interrupted && about.snapshot.is_some();
    if form.has_signal && gaps.interrupted && !form.is_screen {
        say("interrupted, lower bound");
    } else if is_partial && !form.is_screen {
        say("the snapshot is of an interrupted scan: lower bound");
    }
    for path in &gaps.hanging {
        let path = escape(path, charset);
        say(&format!(
            "{path}: no response from the file system; skipped"
        ));
    }
    let mut status = ExitStatus::Complete;
    for (place, root) in about.roots.iter().enumerate() {
        let Some(errno) = root.gaps.missing else {
            continue;
        };
        let hint = match is_not_there(errno) {
            true => (form.hint)(root.word()),
            false => String::new(),
        };
        // A table of errors on the same terminal has the line already.
        let is_shown = form.errors == Errors::Told && form.is_screen;
        if !is_shown || !hint.is_empty() {
            say(&match &about.list {
                // As du says it.
                Some(list) if root.path.is_empty() => {
                    format!("{list}:{}: invalid zero-length file name", place + 1)
                }
                _ => cannot_open(root, errno, &hint, charset),
            });
        }
        if is_not_there(errno) {
            status = ExitStatus::Failed;
        } else if status == ExitStatus::Complete {
            status = ExitStatus::Incomplete;
        }
    }
    if form.errors == Errors::Untold {
        let summary = error_summary::lines(about, !form.is_document, form.screen);
        lines.extend(summary);
    }
    if form.shows_plan {
        lines.extend(explain::lines(&about.plan));
    }
    let has_gaps = gaps.sum.unreadable > 0 || gaps.sum.changed_dirs > 0 || is_partial;
    if status == ExitStatus::Complete && has_gaps {
        status = ExitStatus::Incomplete;
    }
    (lines, status)
}

fn cannot_open(root: &Root, errno: Errno, hint: &str, charset: Charset) -> String {
    match escape(&root.path, charset) {
        path if path.is_empty() => format!("cannot open '': {errno}"),
        path => format!("cannot open {path}: {errno}{hint}"),
    }
}

/// Whether the error says that a root does not exist: ENOENT, ENOTDIR, ENAMETOOLONG,
/// ELOOP (include/uapi/asm-generic/errno-base.h and errno.h). Others say that it is
/// out of reach.
fn is_not_there(errno: Errno) -> bool {
    matches!(errno, Errno(2 | 20 | 36 | 40))
}

impl About {
    /// The sentences below a table: the totals, and the parts of the tree that are
    /// not in them.
    pub(crate) fn closing_lines(&self, format: SizeFormat, screen: Screen) -> Vec<String> {
        let mut lines = summary(self, screen).lines(format, screen.terminal);
        lines.extend(left_out_line(self, screen.terminal));
        lines
    }

    /// The same sentences below a table that fills the screen: on few rows they are brief
    /// and give way to it.
    pub(crate) fn lines_below(&self, format: SizeFormat, screen: Screen) -> Vec<String> {
        if screen.rows >= ROWS_FOR_SENTENCES {
            return self.closing_lines(format, screen);
        }
        summary(self, screen).brief_lines(screen.terminal)
    }

    /// The sentence below a table of apparent sizes that nobody asked for.
    pub(crate) fn no_blocks_lines(&self, sizes: &Sizes, screen: Screen) -> Vec<String> {
        match sizes.lacks_blocks && screen.rows >= ROWS_FOR_SENTENCES {
            true => wrap(NO_BLOCKS, screen.terminal),
            false => Vec::new(),
        }
    }

    /// The number of rows that fit on the screen between the head of a table and
    /// `below` lines, with the errors and the prompt below them; at least three.
    pub(crate) fn rows_that_fit(&self, below: usize, screen: Screen) -> usize {
        // One line for the head, one for the prompt.
        let used = below + error_lines(self, screen) + 2;
        screen.rows.saturating_sub(used).max(ROWS_MIN)
    }

    /// The JSON document, with the fields of one command.
    pub(crate) fn document(&self, answer: impl Fields) -> impl Serialize {
        json::of_scan(self, self.errors(), answer)
    }
}

/// The number of lines that stderr writes on the screen below the answer.
pub(crate) fn error_lines(about: &About, screen: Screen) -> usize {
    let Some(errors) = screen.errors else {
        return 0;
    };
    let summary = error_summary::lines(about, true, errors);
    summary.len() + about.missing().count() + about.gaps.hanging.len()
}

/// The totals of all roots, and the parts that are not in them.
pub(crate) fn summary(about: &About, screen: Screen) -> Summary {
    let left_out = &about.gaps.sum;
    // The lines on stderr tell it, on the same terminal.
    let is_told = screen.errors.is_some();
    let mut summary = Summary {
        elapsed: about.elapsed,
        unreadable: if is_told { 0 } else { left_out.unreadable },
        crossings: left_out.crossings,
        excluded: left_out.excluded,
        changed_dirs: if is_told { 0 } else { left_out.changed_dirs },
        restless_dirs: left_out.restless_dirs,
        overlays_left_out: left_out.overlays_left_out,
        mounts_perhaps_twice: left_out.mounts_perhaps_twice,
        repeated_names: left_out.repeated_names,
        ending: match about.gaps.interrupted {
            true => Ending::Interrupted,
            false => Ending::Finished,
        },
        ..Summary::default()
    };
    for root in about.roots.iter().map(|root| &root.totals) {
        summary.entries += root.entries;
        summary.files += root.files;
        summary.dirs += root.dirs;
        summary.symlinks += root.symlinks;
        summary.others += root.others;
        if let Some(sizes) = &root.sizes {
            summary.allocated_bytes += sizes.allocated_bytes;
            summary.apparent_bytes += sizes.apparent_bytes;
            summary.extra_hard_links += sizes.extra_hard_links;
        }
    }
    summary
}

/// The line that names the kernel file systems outside the scan.
pub(crate) fn left_out_line(about: &About, terminal: Terminal) -> Option<String> {
    let left_out = about.gaps.left_out.iter();
    let names: Vec<String> = left_out.map(|left| name_of(left, terminal)).collect();
    if names.is_empty() {
        return None;
    }
    let text = format!("Kernel file systems left out: {}.", names.join(", "));
    Some(truncate_end(&text, terminal.width, terminal.charset).into_owned())
}

fn name_of(left_out: &LeftOut, terminal: Terminal) -> String {
    let path = escape(&left_out.path, terminal.charset);
    format!("{path} ({})", left_out.file_system)
}
