// SPDX-License-Identifier: MIT OR Apache-2.0

//! The last lines of the program, after the answer, and its exit status.

use std::os::unix::ffi::OsStrExt;

use statwalk_core::{Cause, Errno, LeftOut, Op, Report, RootTotals};
use statwalk_view::{Ending, Summary, Terminal, escape, truncate_end};

use crate::exit_status::ExitStatus;
use crate::failure::{line, say};
use crate::flags;
use crate::output::{error_summary, explain, screen};
use crate::request::{Form, Request};
use crate::watch::signals;

/// Where the user reads the errors of the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errors {
    /// In the lines on stderr.
    Untold,
    /// In the answer itself.
    Told,
}

/// Writes to stderr the rest of the report, and gives the exit status.
pub(crate) fn conclude(request: &Request, report: &Report, errors: Errors) -> ExitStatus {
    let signal = signals::caught();
    if signal.is_some() && report.interrupted && !matches!(request.form, Form::Screen(_)) {
        say("interrupted, lower bound");
    }
    for path in &report.hanging {
        say(&format!(
            "{}: no response from the file system; skipped",
            on_stderr(path)
        ));
    }
    let mut status = ExitStatus::Complete;
    for (place, (path, root)) in request.paths.iter().zip(&report.roots).enumerate() {
        let Some(errno) = root.missing else { continue };
        let hint = match is_not_there(errno) {
            true if flags::is_command(path.as_os_str()) => {
                " (a command must be the first word)".to_owned()
            }
            true => flags::similar_command(path.as_os_str())
                .map(|name| format!("; try the command 'statwalk {name}'"))
                .unwrap_or_default(),
            false => String::new(),
        };
        // A table of errors on the same terminal has the line already.
        let is_shown = errors == Errors::Told && matches!(request.form, Form::Screen(_));
        if !is_shown || !hint.is_empty() {
            let path = on_stderr(path.as_os_str().as_bytes());
            match &request.list {
                // As du says it.
                Some(list) if path.is_empty() => {
                    say(&format!(
                        "{list}:{}: invalid zero-length file name",
                        place + 1
                    ));
                }
                _ if path.is_empty() => say(&format!("cannot open '': {errno}")),
                _ => say(&format!("cannot open {path}: {errno}{hint}")),
            }
        }
        if is_not_there(errno) {
            status = ExitStatus::Failed;
        } else if status == ExitStatus::Complete {
            status = ExitStatus::Incomplete;
        }
    }
    if errors == Errors::Untold {
        for text in error_summary::lines(request, report, screen::stderr_or_default()) {
            line(&text);
        }
    }
    if request.explain {
        explain::tell(report);
    }
    let sum = report.sum();
    if status == ExitStatus::Complete && (sum.unreadable > 0 || sum.changed_dirs > 0) {
        status = ExitStatus::Incomplete;
    }
    signal.map_or(status, ExitStatus::Interrupted)
}

/// The number of lines that [`conclude`] writes to the terminal that shows the answer.
pub(crate) fn error_lines(request: &Request, report: &Report) -> usize {
    let Some(screen) = screen::of_stderr() else {
        return 0;
    };
    let missing = report.roots.iter().filter(|root| root.missing.is_some());
    error_summary::lines(request, report, screen).len() + missing.count() + report.hanging.len()
}

/// Whether the error says that a root does not exist: ENOENT, ENOTDIR, ENAMETOOLONG,
/// ELOOP (include/uapi/asm-generic/errno-base.h and errno.h). Others say that it is
/// out of reach.
fn is_not_there(errno: Errno) -> bool {
    matches!(errno, Errno(2 | 20 | 36 | 40))
}

fn on_stderr(path: &[u8]) -> String {
    escape(path, screen::charset()).into_owned()
}

/// The error of one path: a root that is missing, or an entry of the scan.
#[derive(Clone, Copy)]
pub(crate) struct PathError<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) op: Op,
    pub(crate) cause: Cause,
}

/// The missing roots, then the entries that statwalk could not read.
pub(crate) fn errors<'a>(
    request: &'a Request,
    report: &'a Report,
) -> impl Iterator<Item = PathError<'a>> {
    let roots = request.paths.iter().zip(&report.roots);
    let missing = roots.filter_map(|(path, root)| {
        Some(PathError {
            path: path.as_os_str().as_bytes(),
            op: Op::Open,
            cause: Cause::System(root.missing?),
        })
    });
    missing.chain(report.errors.iter().map(|error| PathError {
        path: &error.path,
        op: error.op,
        cause: error.cause,
    }))
}

/// The totals of all roots, and the parts that are not in them.
pub(crate) fn summary(report: &Report, totals: &[RootTotals]) -> Summary {
    let left_out = report.sum();
    // The lines on stderr tell it, on the same terminal.
    let is_told = screen::of_stderr().is_some();
    let mut summary = Summary {
        elapsed: report.elapsed,
        unreadable: if is_told { 0 } else { left_out.unreadable },
        crossings: left_out.crossings,
        excluded: left_out.excluded,
        changed_dirs: if is_told { 0 } else { left_out.changed_dirs },
        ending: match report.interrupted {
            true => Ending::Interrupted,
            false => Ending::Finished,
        },
        ..Summary::default()
    };
    for root in totals {
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
pub(crate) fn left_out_line(report: &Report, terminal: Terminal) -> Option<String> {
    let names: Vec<String> = report
        .left_out
        .iter()
        .map(|left| name_of(left, terminal))
        .collect();
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
