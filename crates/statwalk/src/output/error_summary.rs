// SPDX-License-Identifier: MIT OR Apache-2.0

//! The errors of a scan in a few lines, grouped by cause.

use statwalk_view::{ErrorCause, ErrorSummary};

use crate::answer::about::About;
use crate::output::printer::ROWS_FOR_SENTENCES;
use crate::system::screen::ErrorScreen;

/// The paths shown for one cause.
const EXAMPLES: usize = 3;

/// The lines of the errors, two on a small screen; none where statwalk read everything.
/// `names_command` where they name the command that lists all.
pub(crate) fn lines(about: &About, names_command: bool, screen: ErrorScreen) -> Vec<String> {
    // Few users ask for the operation; most ask for the reason.
    let mut causes: Vec<(String, u64, Vec<&[u8]>)> = Vec::new();
    for (_, cause, count) in &about.gaps.error_counts {
        let text = cause.to_string();
        match causes.iter_mut().find(|cause| cause.0 == text) {
            Some(cause) => cause.1 += count,
            None => causes.push((text, *count, Vec::new())),
        }
    }
    for error in &about.gaps.errors {
        let text = error.cause.to_string();
        let cause = causes.iter_mut().find(|cause| cause.0 == text);
        if let Some((_, _, examples)) = cause.filter(|cause| cause.2.len() < EXAMPLES) {
            examples.push(&error.path);
        }
    }
    let sum = &about.gaps.sum;
    let command = command(about, "errors");
    let summary = ErrorSummary {
        unreadable: sum.unreadable,
        unread_patterns: about.gaps.unread_patterns(),
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
        command: names_command.then_some(&*command),
    };
    match screen.rows < ROWS_FOR_SENTENCES {
        true => summary.brief_lines(screen.terminal),
        false => summary.lines(screen.terminal),
    }
}

/// The command of this name for the paths of a scan, to be copied into a shell.
pub(crate) fn command(about: &About, name: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(byte);
    let path = match (&about.snapshot, &about.roots[..]) {
        (Some(word), _) => Some(word),
        (None, [root]) => Some(&root.path),
        _ => None,
    };
    match path {
        Some(path) if path.iter().all(is_plain) => {
            format!("statwalk {name} {}", String::from_utf8_lossy(path))
        }
        // A shell would read the path otherwise, or there are several.
        _ => format!("statwalk {name} PATH"),
    }
}
