// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table that says why df and the scan show other numbers.

use std::time::Duration;

use crate::browser::{Browser, Mode};
use crate::event::{Effect, Key};

/// The widest table that is legible.
const WIDTH_MAX: u16 = 100;
/// The frame of the box, and the room beside its text.
const FRAME: u16 = 4;

impl Browser {
    pub(crate) fn ask_space(&mut self, wishes: &mut Vec<Effect>) {
        self.mode = Mode::Space(None, 0);
        let width = self.width.min(WIDTH_MAX).saturating_sub(FRAME).max(1);
        wishes.push(Effect::Space(self.directory(), width.into()));
    }

    pub(crate) fn take_space(&mut self, table: Result<Vec<String>, String>, at: Duration) {
        if !matches!(self.mode, Mode::Space(None, _)) {
            return;
        }
        self.mode = Mode::Rows;
        match table {
            Ok(lines) => self.mode = Mode::Space(Some(lines), 0),
            Err(error) => self.say(error, at),
        }
    }

    pub(crate) fn space_key(
        &mut self,
        table: Option<Vec<String>>,
        top: usize,
        key: Key,
        wishes: &mut Vec<Effect>,
    ) {
        if matches!(key, Key::Esc | Key::Enter | Key::Char('q' | 'D')) {
            return wishes.push(Effect::EndSpace);
        }
        let last = table
            .as_ref()
            .map_or(0, |lines| lines.len().saturating_sub(1));
        let top = match key {
            Key::Up | Key::Char('k') => top.saturating_sub(1),
            Key::Down | Key::Char('j') => (top + 1).min(last),
            Key::Home => 0,
            _ => top,
        };
        self.mode = Mode::Space(table, top);
    }
}
