// SPDX-License-Identifier: MIT OR Apache-2.0

//! What could not be read, in a few lines grouped by cause.

use statwalk_core::Report;
use statwalk_view::{ErrorCause, ErrorSummary, Terminal};

/// Paths shown for one cause.
const EXAMPLES: usize = 3;

/// The lines that say what could not be read; none where everything was.
pub(crate) fn lines(report: &Report, terminal: Terminal) -> Vec<String> {
    // What was being done does not matter to most people; why it failed does.
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
