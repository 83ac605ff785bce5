// SPDX-License-Identifier: MIT OR Apache-2.0

//! The screens.

mod canvas;
mod foot;
mod head;
mod overlay;
mod removal;
mod rows;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Position;

pub(crate) use self::canvas::{Canvas, Look};
use crate::browser::{Browser, Mode};
use crate::data::Data;

/// The smallest screen with rows.
const WIDTH_MIN: u16 = 30;
const HEIGHT_MIN: u16 = 6;

impl Browser {
    /// Draws the screen. Answers with the place of the text cursor, if there is one.
    ///
    /// The time depends on the rows of the screen alone, not on those of the list.
    pub fn draw(&mut self, data: &dyn Data, buffer: &mut Buffer) -> Option<Position> {
        (self.width, self.height) = (buffer.area.width, buffer.area.height);
        let mut canvas = Canvas::new(buffer, self.options.charset, self.options.colour);
        if self.width < WIDTH_MIN || self.height < HEIGHT_MIN {
            canvas.plain(0, 0, "too small");
            return None;
        }
        self.draw_head(data, &mut canvas);
        self.draw_rows(data, &mut canvas);
        let cursor = self.draw_foot(data, &mut canvas);
        match &self.mode {
            Mode::Help(top, line) => Some(self.draw_help(*top, line, &mut canvas)),
            Mode::Info(id, details) => {
                self.draw_info(*id, details.as_ref(), data, &mut canvas);
                None
            }
            Mode::Form(form) => Some(self.draw_form(form, &mut canvas)),
            Mode::Space(table, top) => {
                self.draw_space(table.as_deref(), *top, &mut canvas);
                None
            }
            Mode::Survey(entries) => {
                self.draw_survey(*entries, &mut canvas);
                None
            }
            Mode::Remove(dialog) => self.draw_dialog(dialog, &mut canvas),
            Mode::Report(report, top) => {
                self.draw_report(report, *top, &mut canvas);
                None
            }
            Mode::Rows | Mode::Text | Mode::Search | Mode::Jump(_) | Mode::File(_) => cursor,
        }
    }
}
