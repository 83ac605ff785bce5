// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of a directory, on a thread of its own.
//!
//! It scans the directory anew: the numbers of the screen can be of another time, have a
//! filter, or lack files while their scan goes on. The file says when it was scanned.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use statwalk_browse::{Event, ReportState};
use statwalk_core::CountedInodes;
use statwalk_report::{Detail, Names, html};
use statwalk_view::{SizeFormat, counted};

use super::desk::Desk;
use super::message::Message;
use crate::answer::about::About;
use crate::answer::largest_files;
use crate::answer::record::Record;
use crate::report::{self, file_name_of};
use crate::request::{Request, safe};
use crate::system::stdio::reason;
use crate::system::whole_file::{Existing, WholeFile};

/// How often the scan asks whether it is still wanted.
const PERIOD: Duration = Duration::from_millis(20);
/// How often the browser learns how far it has come.
const NEWS_PERIOD: Duration = Duration::from_millis(100);
const STOPPED: &str = "the report was stopped, and there is no file";

/// The desk for reports, one at a time.
pub(super) struct ReportDesk {
    format: SizeFormat,
    news: Sender<Message>,
    desk: Desk,
}

impl ReportDesk {
    pub(super) fn new(format: SizeFormat, sender: Sender<Message>) -> ReportDesk {
        let refused = |error| Message::Event(Event::Reported(Err(error)));
        ReportDesk {
            format,
            news: sender.clone(),
            desk: Desk::with_a_thread_each("report", sender, refused),
        }
    }

    /// Begins the report of a directory; of all roots without one.
    pub(super) fn begin(&mut self, request: &Request, directory: Option<Vec<u8>>) {
        let request = match directory {
            Some(path) => request.of_directory(PathBuf::from(OsString::from_vec(path))),
            None => request.of_now(),
        };
        let (news, format) = (self.news.clone(), self.format);
        // The user learns of a report that was stopped, too.
        self.desk.ask(move |stop| {
            let result = write(request, format, stop, &news);
            Some(Message::Event(Event::Reported(result)))
        });
    }

    /// Stops the report, of which nothing stays.
    pub(super) fn stop(&self) {
        self.desk.end();
    }

    /// Stops the report, and waits so long at most for its end. Where a file has a name for
    /// the time of writing, that goes then.
    pub(super) fn end_within(&mut self, wait: Duration) {
        self.desk.end_within(wait);
    }
}

/// Scans, and writes the file. Answers with a sentence that has its name.
fn write(
    request: Request,
    format: SizeFormat,
    stop: &dyn Fn() -> bool,
    news: &Sender<Message>,
) -> Result<String, String> {
    let (mut file, path) = begin(&request)?;
    let path = safe(&path.to_string_lossy());
    let failed = |error: &io::Error| format!("cannot write {path}: {}", reason(error));
    // The browser may be gone.
    let tell = |state| drop(news.send(Message::Event(Event::Reporting(state))));
    let inodes = CountedInodes::new();
    let running = request.scan.start(report::Scan::sinks(&inodes));
    let running = running.map_err(|error| error.to_string())?;
    let mut next_news = Instant::now() + NEWS_PERIOD;
    while !running.wait_for(PERIOD) {
        if stop() {
            return Err(STOPPED.to_owned());
        }
        if Instant::now() >= next_news {
            next_news += NEWS_PERIOD;
            tell(ReportState::Reading(running.progress().entries));
        }
    }
    let outcome = running.finish();
    tell(ReportState::Writing);
    let (totals, tree, (largest, traces)) = outcome.output;
    let record = Record::Scan(Box::new(outcome.report));
    let spaces = report::spaces(&request, &totals, &record, &tree, &inodes);
    let about = About::of_scan(&request, record, &totals);
    if !about.has_root() {
        let missing = about.missing().next().map(|(_, errno)| errno);
        let why = missing.map_or_else(String::new, |errno| format!(": {errno}"));
        return Err(format!("there is nothing to report on{why}"));
    }
    let scan = report::Scan {
        tree,
        largest: largest_files::chosen(largest, about.has_no_blocks()),
        traces,
        stored: None,
    };
    let page = Some((Detail::default(), Names::Original));
    let (answer, tree, choice) = report::answer(&scan, &about, spaces, page);
    let choice = choice.expect("a page was asked for");
    let page = html(&answer, &tree, choice);
    let mut byte_count = 0;
    for piece in page.into_pieces() {
        if stop() {
            return Err(STOPPED.to_owned());
        }
        byte_count += piece.len() as u128;
        file.write(piece.as_bytes())
            .map_err(|error| failed(&error))?;
    }
    let path = file.finish().map_err(|error| failed(&error))?;
    let path = safe(&path.to_string_lossy());
    let size = format.text(byte_count);
    let errors = match answer.errors_total {
        0 => String::new(),
        errors => format!(" and {}", counted(errors, "error", "errors")),
    };
    Ok(format!("{path} has the report: {size}{errors}"))
}

/// Begins the file of a report, which has the name of `statwalk report`.
fn begin(request: &Request) -> Result<(WholeFile, PathBuf), String> {
    let plain = file_name_of(request, Names::Original, "html");
    WholeFile::begin_numbered(&plain, Existing::Kept).map_err(|error| {
        let path = safe(&plain.to_string_lossy());
        format!("cannot write {path}: {}", reason(&error))
    })
}
