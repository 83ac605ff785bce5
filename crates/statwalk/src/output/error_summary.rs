// SPDX-License-Identifier: MIT OR Apache-2.0

//! The errors of a scan in a few lines, grouped by cause.

use statwalk_core::Report;
use statwalk_view::{ErrorCause, ErrorSummary, Terminal};

/// The paths shown for one cause.
const EXAMPLES: usize = 3;

/// The lines of the errors; none where statwalk read everything.
pub(crate) fn lines(report: &Report, terminal: Terminal) -> Vec<String> {
    // Few users ask for the operation; most ask for the reason.
    let mut causes: Vec<(String, u64, Vec<&[u8]>)> = Vec::new();
    for (_, errno, count) in &report.error_counts {
        let text = errno.to_string();
        match causes.iter_mut().find(|cause| cause.0 == text) {
            Some(cause) => cause.1 += count,
            None => causes.push((text, *count, Vec::new())),
        }
    }
    for error in &report.errors {
        let text = error.cause.to_string();
        let cause = causes.iter_mut().find(|cause| cause.0 == text);
        if let Some((_, _, examples)) = cause.filter(|cause| cause.2.len() < EXAMPLES) {
            examples.push(&error.path);
        }
    }
    let sum = report.sum();
    let summary = ErrorSummary {
        unreadable: sum.unreadable,
        causes: causes
            .iter()
            .map(|(text, count, examples)| ErrorCause {
                text,
                count: *count,
                examples: examples.clone(),
            })
            .collect(),
        vanished: sum.vanished,
        changed_dirs: sum.changed_dirs,
    };
    summary.lines(terminal)
}
