// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sentences about directories that pass a filter on names, and the command that sums
//! whole directories.

use statwalk_view::{Terminal, text_width, wrap};

use crate::answer::about::About;
use crate::output::error_summary::command;
use crate::request::filters::NameFilters;

/// The sentences for a table in which directories have passed the filters.
pub(crate) fn below_directories(
    about: &About,
    names: &NameFilters,
    terminal: Terminal,
) -> Vec<String> {
    let mut text = format!(
        "{} selects entries by their own names: a directory counts itself alone, \
         without what is below it.",
        names.flag
    );
    if let Some(command) = of_whole_directories(about, names) {
        let command = whole(command, terminal);
        text.push_str(&format!(" {command} sums whole directories."));
    }
    wrap(&text, terminal)
}

/// The sentences below a list of files without any.
pub(crate) fn below_no_files(
    about: &About,
    names: &NameFilters,
    terminal: Terminal,
) -> Vec<String> {
    let Some(command) = of_whole_directories(about, names) else {
        return Vec::new();
    };
    let command = whole(command, terminal);
    let text = format!("No file passes the filters. {command} lists whole directories.");
    wrap(&text, terminal)
}

/// The command on one line, to be copied, where one line has the room.
fn whole(command: String, terminal: Terminal) -> String {
    match text_width(&command) <= terminal.width {
        true => command.replace(' ', "\u{a0}"),
        false => command,
    }
}

fn of_whole_directories(about: &About, names: &NameFilters) -> Option<String> {
    let words = names.for_directories.as_ref()?;
    Some(command(about, &format!("top --dirs {words}")))
}
