// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys, pasted texts and the mouse: to which part of the screen they go, and what they mean there.

use std::time::Duration;

use crate::browser::{Browser, HEAD_LINES, Mode};
use crate::data::{Data, ItemId};
use crate::event::{Effect, Key, Mouse};
use crate::keys::Action;
use crate::list::ListRows;
use crate::prompt::Line;

impl Browser {
    pub(crate) fn key(
        &mut self,
        key: Key,
        at: Duration,
        data: &dyn Data,
        wishes: &mut Vec<Effect>,
    ) {
        if key == Key::Ctrl('c') {
            return wishes.push(Effect::Quit(None));
        }
        match std::mem::replace(&mut self.mode, Mode::Rows) {
            Mode::Rows => self.row_key(key, at, data, wishes),
            Mode::Text => self.text_key(key, at, data, wishes),
            Mode::Search => self.search_key(key, at, data, wishes),
            Mode::Jump(line) => self.jump_key(line, key, data),
            Mode::File(mut line) => match key {
                Key::Esc => {}
                Key::Enter if !line.text.is_empty() => {
                    wishes.push(Effect::Write(self.marks.outermost(data), line.text));
                }
                key => {
                    line.take(key);
                    self.mode = Mode::File(line);
                }
            },
            Mode::Form(mut form) => match key {
                Key::Esc => {}
                Key::Enter => {
                    wishes.push(Effect::ReadForm(form.texts()));
                    self.mode = Mode::Form(form);
                }
                key => {
                    form.error = None;
                    form.take(key);
                    self.mode = Mode::Form(form);
                }
            },
            Mode::Help(top, line) => self.help_key(top, line, key),
            Mode::Space(table, top) => self.space_key(table, top, key, wishes),
            Mode::Survey(_) if key == Key::Esc || key == Key::Char('q') => {
                wishes.push(Effect::EndSurvey);
            }
            Mode::Survey(entries) => self.mode = Mode::Survey(entries),
            // Nobody sees what another key would remove.
            Mode::Remove(dialog) if self.is_unseen && key != Key::Esc => {
                self.mode = Mode::Remove(dialog);
            }
            Mode::Remove(dialog) => self.dialog_key(dialog, key, at, wishes),
            Mode::Report(report, top) => self.report_key(report, top, key),
            Mode::Info(id, details) => {
                // ncdu, too, moves on with its information open.
                let action = self.options.keymap.action(key);
                match action {
                    Some(Action::Up | Action::Down) => {
                        self.row_key(key, at, data, wishes);
                        self.show_info(data, wishes);
                    }
                    Some(Action::Info | Action::Escape | Action::Quit) | None => {}
                    Some(Action::Copy) => {
                        wishes.push(Effect::Copy(id));
                        self.mode = Mode::Info(id, details);
                    }
                    Some(_) => self.row_key(key, at, data, wishes),
                }
            }
        }
    }

    /// Takes a text from the clipboard, where a line is typed. The word that confirms a
    /// removal is typed by hand.
    pub(crate) fn paste(&mut self, text: &str, at: Duration, data: &dyn Data) {
        match &mut self.mode {
            Mode::Text => {
                self.chosen.text.paste(text);
                self.reorder();
            }
            Mode::Search => {
                self.search.text.paste(text);
                self.search_anew();
            }
            Mode::Jump(line) => {
                let mut line = std::mem::take(line);
                line.paste(text);
                self.jump(line, data);
            }
            Mode::File(line) | Mode::Help(_, line) => line.paste(text),
            Mode::Form(form) => form.fields[form.place].paste(text),
            Mode::Rows => self.say("a pasted text is no key: / takes it as a filter", at),
            _ => {}
        }
    }

    pub(crate) fn row_key(
        &mut self,
        key: Key,
        at: Duration,
        data: &dyn Data,
        wishes: &mut Vec<Effect>,
    ) {
        if let Some(action) = self.options.keymap.action(key) {
            if action == Action::Quit && self.marks.count() > 0 && !self.quit.was_asked {
                self.quit.asks = Some(key);
                return;
            }
            self.act(action, at, data, wishes);
        }
    }

    fn text_key(&mut self, key: Key, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        self.mode = Mode::Text;
        match key {
            Key::Esc => {
                self.chosen.text.text.clear();
                self.mode = Mode::Rows;
                self.reorder();
            }
            Key::Enter => self.mode = Mode::Rows,
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                self.row_key(key, at, data, wishes);
            }
            key if self.chosen.text.take(key) => self.reorder(),
            _ => {}
        }
    }

    fn jump_key(&mut self, mut line: Line, key: Key, data: &dyn Data) {
        if line.take(key) {
            self.jump(line, data);
        }
    }

    fn jump(&mut self, line: Line, data: &dyn Data) {
        if let ListRows::Items(ids) = &self.list.rows {
            let is_it = |id: &ItemId| begins_with(&line.text, *id, data);
            if let Some(place) = ids.iter().position(is_it) {
                self.list.go_to(place);
            }
        }
        self.mode = Mode::Jump(line);
    }

    /// Whether the rows are there and none of them begins with the text of a jump: the
    /// cursor is where it was.
    pub(crate) fn jumps_nowhere(&self, line: &Line, data: &dyn Data) -> bool {
        let is_known = matches!(self.list.rows, ListRows::Items(_)) && !self.asking.is_stale;
        let here = self.list.item();
        is_known && !here.is_some_and(|id| begins_with(&line.text, id, data))
    }

    fn help_key(&mut self, top: usize, mut line: Line, key: Key) {
        let page = usize::from(self.height).saturating_sub(4).max(1);
        let top = match key {
            Key::Esc | Key::Enter | Key::F(1) => return,
            Key::Char('q' | '?') if line.text.is_empty() => return,
            Key::Up => top.saturating_sub(1),
            Key::Down => top + 1,
            Key::PageUp => top.saturating_sub(page),
            Key::PageDown => top + page,
            Key::Home => 0,
            key => {
                line.take(key);
                0
            }
        };
        self.mode = Mode::Help(top, line);
    }

    pub(crate) fn mouse(&mut self, mouse: Mouse, data: &dyn Data, wishes: &mut Vec<Effect>) {
        if self.mode != Mode::Rows {
            return;
        }
        match mouse {
            Mouse::WheelUp => self.list.move_by(-3),
            Mouse::WheelDown => self.list.move_by(3),
            Mouse::Press(column, line) => {
                if line == 1 {
                    let widths = self.widths();
                    if let Some(key) = widths.column_at(column.into()) {
                        self.sort_by(key);
                    }
                    return;
                }
                let Some(row) = usize::from(line).checked_sub(HEAD_LINES) else {
                    return;
                };
                if row >= self.row_count() {
                    return;
                }
                let place = self.list.scroll(self.row_count()) + row;
                if place >= self.list.rows.len() {
                    return;
                }
                // A second press opens.
                match place == self.list.cursor() {
                    true => self.enter(Duration::ZERO, data, wishes),
                    false => self.list.go_to(place),
                }
            }
        }
    }
}

/// Whether the name of an item begins with a text, in large or small letters.
fn begins_with(text: &str, id: ItemId, data: &dyn Data) -> bool {
    data.item(id).is_some_and(|item| {
        let start = item.name.get(..text.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
    })
}
