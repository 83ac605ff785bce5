// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of the directory in view. The shell scans and writes, and the browser goes on.

use std::time::Duration;

use statwalk_view::counted;

use crate::browser::Browser;
use crate::event::Effect;

/// How far a report has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportState {
    /// Its scan has read so many names.
    Reading(u64),
    /// The file is being made.
    Writing,
}

impl ReportState {
    /// A part of the line at the foot.
    pub(crate) fn text(self) -> String {
        match self {
            ReportState::Reading(entries) => {
                let entries = counted(entries, "entry", "entries");
                format!("report (Esc stops): {entries}")
            }
            ReportState::Writing => "report (Esc stops): writing".to_owned(),
        }
    }
}

impl Browser {
    pub(crate) fn ask_report(&mut self, at: Duration, wishes: &mut Vec<Effect>) {
        if self.work.report.is_some() {
            return self.say("a report is on its way: Esc stops it", at);
        }
        self.work.report = Some(ReportState::Reading(0));
        wishes.push(Effect::Report(self.directory()));
    }

    /// Takes the name of the file, with what there is to say about it, or the reason why
    /// there is none.
    pub(crate) fn take_report(&mut self, result: Result<String, String>, at: Duration) {
        self.work.report = None;
        let text = match result {
            Ok(file) if self.chosen.filter.is_empty() => file,
            Ok(file) => format!("{file}; the filter is not in it"),
            Err(error) => error,
        };
        self.say_news(text, at);
    }
}
