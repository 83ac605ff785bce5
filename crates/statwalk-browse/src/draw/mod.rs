// SPDX-License-Identifier: MIT OR Apache-2.0

//! The screens.

mod canvas;
mod cursor;
mod foot;
mod head;
mod overlay;
mod removal;
mod rows;

use ratatui_core::buffer::Buffer;

pub(crate) use self::canvas::{Canvas, Look};
pub use self::cursor::Cursor;
use crate::browser::{Browser, Mode};
use crate::data::Data;

/// The smallest screen with rows.
const WIDTH_MIN: u16 = 30;
const HEIGHT_MIN: u16 = 6;

impl Browser {
    /// Draws the screen. Answers with the place of the cursor; absent on a screen without
    /// rows.
    ///
    /// The time depends on the rows of the screen alone, not on those of the list.
    pub fn draw(&mut self, data: &dyn Data, buffer: &mut Buffer) -> Option<Cursor> {
        (self.width, self.height) = (buffer.area.width, buffer.area.height);
        let mut canvas = Canvas::new(buffer, self.options.charset, self.options.colour);
        self.is_unseen = self.width < WIDTH_MIN || self.height < HEIGHT_MIN;
        if self.is_unseen {
            canvas.plain(0, 0, "too small");
            return None;
        }
        self.draw_head(data, &mut canvas);
        let row = self.draw_rows(data, &mut canvas);
        let text = self.draw_foot(data, &mut canvas);
        Some(match &self.mode {
            Mode::Help(top, line) => self.draw_help(*top, line, &mut canvas),
            Mode::Info(id, details) => self
                .draw_info(*id, details.as_ref(), data, &mut canvas)
                .unwrap_or(row),
            Mode::Form(form) => self.draw_form(form, &mut canvas),
            Mode::Space(table, top) => self.draw_space(table.as_deref(), *top, &mut canvas),
            Mode::Survey(entries) => self.draw_survey(*entries, &mut canvas),
            Mode::Remove(dialog) => self.draw_dialog(dialog, &mut canvas),
            Mode::Report(report, top) => self.draw_report(report, *top, &mut canvas),
            Mode::Rows | Mode::Text | Mode::Search | Mode::Jump(_) | Mode::File(_) => {
                text.unwrap_or(row)
            }
        })
    }
}
