// SPDX-License-Identifier: MIT OR Apache-2.0

//! Boxes of a removal: the survey, the dialog, and the paths that are still there.

use statwalk_view::{counted, grouped, text_width, truncate_to_width};

use super::canvas::{Canvas, Look};
use super::cursor::Cursor;
use super::overlay::pieces;
use crate::browser::Browser;
use crate::dialog::{Choice, Dialog};
use crate::prompt::Line;
use crate::removal::{Manner, RemovalReport};

/// How many paths the dialog shows; the others are in the view of marks.
const PATHS_MAX: usize = 8;

impl Browser {
    pub(super) fn draw_survey(&self, entries: u64, canvas: &mut Canvas<'_>) -> Cursor {
        let [x, y, width, _] = canvas.frame("Remove", 44, 3);
        let text = counted(entries, "entry", "entries");
        let text = format!("reading what is there: {text}");
        canvas.text(x, y, width, &text, Look::Plain);
        Cursor::of_choice(x, y)
    }

    /// The dialog. The lines that a decision needs most are there on the smallest screen.
    pub(super) fn draw_dialog(&self, dialog: &Dialog, canvas: &mut Canvas<'_>) -> Cursor {
        let width = canvas.width().min(76);
        let inner = width.saturating_sub(4);
        let below = self.dialog_text(dialog, inner, canvas);
        // An empty line where it costs nothing, the choices, and the line to type.
        let foot = match canvas.height() >= 2 + 1 + below.len() + 3 {
            true => 3,
            false => 2,
        };
        let room = canvas.height().saturating_sub(2 + below.len() + foot);
        let paths = paths(
            &dialog.proposal.paths,
            inner,
            room.clamp(1, PATHS_MAX),
            canvas,
        );
        let shown = paths.len();
        let height = 2 + shown + below.len() + foot;
        let [x, y, inner, height] = canvas.frame("Remove", width, height.min(canvas.height()));
        for (line, path) in paths.iter().enumerate() {
            canvas.text(x, y + line, inner, path, Look::Plain);
        }
        // Where the screen is too small for all, the last lines of the text are cut.
        let end = height.saturating_sub(foot);
        for (line, (text, look)) in (shown..end).zip(&below) {
            canvas.text(x, y + line, inner, text, *look);
        }
        let choices_y = y + height.saturating_sub(2);
        let chosen_x = draw_choices(dialog, [x, choices_y, inner], canvas);
        match &dialog.typed {
            None => Cursor::of_choice(chosen_x, choices_y),
            Some(line) => {
                let y = y + height.saturating_sub(1);
                draw_word(dialog, line, [x, y, inner], canvas)
            }
        }
    }

    /// The sentences of the dialog.
    fn dialog_text(
        &self,
        dialog: &Dialog,
        width: usize,
        canvas: &Canvas<'_>,
    ) -> Vec<(String, Look)> {
        let proposal = &dialog.proposal;
        let mut below: Vec<(String, Look)> = Vec::new();
        let mut say = |text: &str, look| {
            let text = canvas.sentence(text);
            let lines = canvas.wrap(&text, width).into_iter();
            below.extend(lines.map(|line| (line, look)));
        };
        // A number and its unit stay on one line.
        let size = |bytes| self.options.format.text(bytes).replace(' ', "\u{a0}");
        match &proposal.refusal {
            // The sums are without the items that must stay.
            Some(refusal) => say(refusal, Look::Alarm),
            None => {
                let entries = counted(proposal.entries, "entry", "entries");
                let (bytes, freed) = (size(proposal.bytes), size(proposal.freed_bytes));
                let nothing = size(0);
                let text = match dialog.manner() {
                    Some(Manner::Trash) => format!(
                        "{entries}: moves {bytes} to the trash; \
                         frees {nothing} until it is emptied"
                    ),
                    Some(Manner::Permanent | Manner::ByName) => {
                        format!("{entries}, {bytes}; frees {freed} at once")
                    }
                    None => format!(
                        "{entries}, {bytes}; frees {freed} if removed forever, \
                         {nothing} in the trash"
                    ),
                };
                say(&text, Look::Bold);
            }
        }
        if dialog.is_asked_again {
            let name = match proposal.paths.len() {
                1 => "this name",
                _ => "one of these names",
            };
            say(
                &format!(
                    "Remove by name? If another entry of the same type takes {name} before \
                     the removal, that entry goes."
                ),
                Look::Alarm,
            );
        } else {
            for warning in &proposal.warnings {
                say(warning, Look::Alarm);
            }
            if let (None, Some(reason)) = (&proposal.refusal, &proposal.no_trash) {
                say(reason, Look::Plain);
            }
        }
        let chosen = dialog.choices()[dialog.place].0;
        if chosen == Choice::Remove(Manner::Trash) {
            let text = trash_text(&proposal.trashes, width, canvas);
            let lines = canvas.wrap(&text, width).into_iter();
            below.extend(lines.map(|line| (line, Look::Plain)));
        }
        below
    }

    pub(super) fn draw_report(
        &self,
        report: &RemovalReport,
        top: usize,
        canvas: &mut Canvas<'_>,
    ) -> Cursor {
        let width = canvas.width().min(100);
        let sentence = canvas.sentence(&report.sentence);
        let sentence = canvas.wrap(&sentence, width.saturating_sub(4));
        let height = (report.errors.len() + sentence.len() + 3).min(canvas.height());
        let [x, y, width, height] = canvas.frame("Removed", width, height);
        for (line, text) in sentence.iter().enumerate() {
            canvas.text(x, y + line, width, text, Look::Bold);
        }
        let start = sentence.len() + 1;
        let errors = report.errors.iter().skip(top);
        for (line, error) in (start..height).zip(errors) {
            let error = canvas.sentence(error);
            canvas.text(x, y + line, width, &error, Look::Plain);
        }
        // The first of the errors in view.
        Cursor::of_choice(x, y + start.min(height.saturating_sub(1)))
    }
}

/// The choices in a line, with the place of the chosen one.
fn draw_choices(dialog: &Dialog, [x, y, inner]: [usize; 3], canvas: &mut Canvas<'_>) -> usize {
    let (mut column, mut chosen_x) = (x, x);
    for (place, title) in titles(dialog, inner).into_iter().enumerate() {
        let text = match place == dialog.place {
            true => format!("[{title}]"),
            false => format!(" {title} "),
        };
        let look = match place == dialog.place {
            true => {
                chosen_x = column + 1;
                Look::Bold
            }
            false => Look::Plain,
        };
        canvas.text(column, y, (x + inner).saturating_sub(column), &text, look);
        column += text_width(&text) + 1;
    }
    chosen_x
}

/// The word to type, and what is typed of it.
fn draw_word(
    dialog: &Dialog,
    line: &Line,
    [x, y, inner]: [usize; 3],
    canvas: &mut Canvas<'_>,
) -> Cursor {
    let wanted = canvas.sentence(&dialog.proposal.word);
    let title = match dialog.is_wrong {
        true => "This is another text. Type ",
        false => "Type ",
    };
    let typed = canvas.name(line.text.as_bytes());
    let widths = [title, &wanted, " to remove: ", &typed].map(text_width);
    let is_short = widths.iter().sum::<usize>() > inner;
    let middle = if is_short { ": " } else { " to remove: " };
    let parts = [
        (title, Look::Plain),
        (&wanted, Look::Word),
        (middle, Look::Plain),
        (&typed, Look::Bold),
    ];
    let mut column = x;
    for (text, look) in parts {
        canvas.text(column, y, (x + inner).saturating_sub(column), text, look);
        column = (column + text_width(text)).min(x + inner);
    }
    Cursor::of_text(column, y)
}

/// The titles of the choices, short ones where the others are wider than the box.
fn titles(dialog: &Dialog, width: usize) -> Vec<&'static str> {
    let choices = dialog.choices();
    let titles: Vec<_> = choices.iter().map(|(_, title)| *title).collect();
    // A bracket or a space on each side, and a space between two.
    let widths = titles.iter().map(|title| text_width(title) + 3);
    if widths.sum::<usize>() <= width + 1 {
        return titles;
    }
    let short = choices.iter().map(|(choice, title)| match choice {
        Choice::Cancel => *title,
        Choice::Remove(Manner::Trash) => "Trash",
        Choice::Remove(Manner::Permanent) => "Forever",
        Choice::Remove(Manner::ByName) => "By name",
    });
    short.collect()
}

/// The place of the trash, and the way to empty it that holds for each: the trash
/// specification of freedesktop.org, 1.0, gives it `files` and `info`.
fn trash_text(trashes: &[Vec<u8>], width: usize, canvas: &Canvas<'_>) -> String {
    let name = |trash: &Vec<u8>| {
        // A path is broken at the end of a line, and at no space of its own.
        let pieces = pieces(&canvas.name(trash), width);
        let glued = pieces.iter().map(|piece| piece.replace(' ', "\u{a0}"));
        glued.collect::<Vec<_>>().join(" ")
    };
    let places = match trashes {
        [] => "the trash".to_owned(),
        [trash] => name(trash),
        [first, second] => format!("{} and {}", name(first), name(second)),
        [first, rest @ ..] => format!("{} and {} more", name(first), grouped(rest.len() as u64)),
    };
    let its = if trashes.len() > 1 { "their" } else { "its" };
    format!("To empty {places}, remove all in {its} files and info.")
}

/// The paths in at most `room` lines: a lone one whole where it fits, several a line each.
fn paths(paths: &[Vec<u8>], width: usize, room: usize, canvas: &Canvas<'_>) -> Vec<String> {
    if let [path] = paths {
        let path = pieces(&canvas.name(path), width);
        if path.len() <= room {
            return path;
        }
    }
    let cut = |path: &Vec<u8>| {
        let path = canvas.name(path);
        truncate_to_width(&path, width, canvas.charset).to_string()
    };
    let has_more = paths.len() > room;
    let shown = if has_more { room - 1 } else { paths.len() };
    let mut lines: Vec<String> = paths.iter().take(shown).map(cut).collect();
    if has_more {
        let more = grouped((paths.len() - shown) as u64);
        lines.push(format!("and {more} more; view 8 has them"));
    }
    lines
}
