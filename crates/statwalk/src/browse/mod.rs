// SPDX-License-Identifier: MIT OR Apache-2.0

//! The shell of the browser: it reads keys, shows screens, and does what the browser
//! asks for.
//!
//! One thread has the terminal, and nothing that can take long happens there. Another
//! looks after the scan ([`scan`]), and [`Desk`]s answer questions.

mod cells;
mod changes;
mod decoder;
mod desk;
mod details;
mod early_files;
mod form;
pub(crate) mod keys_file;
mod live_data;
mod message;
mod modes;
mod mounts;
mod numbers;
mod place;
mod real_disk;
mod refresh;
mod removal;
mod report;
mod scan;
mod screen;
mod shell_removals;
mod sightings;
mod source;
mod space;
mod stopped;
#[cfg(feature = "snapshot")]
mod stored_data;
#[cfg(feature = "snapshot")]
mod stored_wishes;
mod terminal;
mod trash_desk;
mod tree_data;
mod undo;
mod watchdog;
mod write;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use statwalk_browse::{
    Browser, Effect, Event, ItemId, Manner, Options, Query, RemovalReport, answer,
};
use statwalk_view::{SizeFormat, escape};

use self::desk::Desk;
use self::message::Message;
use self::numbers::{Numbers, Reason};
use self::removal::{Left, Remover};
use self::report::ReportDesk;
use self::screen::{Input, Screen};
use self::source::Source;
use self::space::SpaceDesk;
#[cfg(feature = "snapshot")]
pub(crate) use self::stored_data::StoredData;
use self::terminal::Tty;
use self::trash_desk::TrashDesk;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::output;
use crate::request::{Request, safe};
use crate::system::open_files;
use crate::system::programs;
use crate::system::screen::stdout_is_terminal;
use crate::system::signals;
use crate::system::stdio::{self, reason};

/// How long a frame waits for an answer, so that most keys need one frame alone.
const ANSWER_WAIT: Duration = Duration::from_millis(8);
/// How long the terminal is asked for input at once, while there is other work.
const BUSY_WAIT: Duration = Duration::from_millis(15);
const IDLE_WAIT: Duration = Duration::from_millis(200);
/// How long input is taken before the next frame.
const FRAME_MAX: Duration = Duration::from_millis(50);
/// How long a removal may take to end before the browser leaves it.
const REMOVAL_WAIT: Duration = Duration::from_secs(1);

/// How long a report may take to end before the browser leaves it.
const REPORT_WAIT: Duration = Duration::from_secs(1);

/// The answer to a wish about an item that the numbers do not have any more.
pub(super) const GONE: &str = "the item is gone";

/// The browser with all that it needs.
struct Shell {
    browser: Browser,
    /// Whether items may be removed.
    removes: bool,
    format: SizeFormat,
    source: Source,
    numbers: Numbers,
    desks: Desks,
    remover: Remover,
    space: SpaceDesk,
    report: ReportDesk,
    trash: TrashDesk,
    /// The number of the last question that is on the screen.
    shown: u64,
    messages: Receiver<Message>,
    sender: Sender<Message>,
    /// The end, with a path to print.
    end: Option<Option<Vec<u8>>>,
}

/// The numbers that the user asks for.
enum Wanted {
    Scan(Box<Request>),
    #[cfg(feature = "snapshot")]
    Snapshot(Arc<StoredData>),
}

/// A thread for each kind of question.
struct Desks {
    rows: Desk,
    /// For rows that need the disk: one that hangs holds no others.
    searchers: Desk,
    filters: Desk,
    facts: Desk,
    readers: Desk,
    listers: Desk,
}

/// Runs the browser until the user quits.
///
/// Returns an error if there is no terminal, if a path is missing, or if the scan cannot
/// begin.
pub(crate) fn run(request: Request, options: Options) -> Result<ExitStatus, Failure> {
    for path in &request.paths {
        if let Err(error) = path.symlink_metadata() {
            let path = safe(&path.to_string_lossy());
            return Err(Failure::Usage(format!(
                "cannot stat {path}: {}",
                reason(&error)
            )));
        }
    }
    let mut screen = Tty::open()?;
    run_on(&mut screen, Wanted::Scan(Box::new(request)), options)
}

/// Runs the browser on a snapshot until the user quits.
///
/// Returns an error if there is no terminal.
#[cfg(feature = "snapshot")]
pub(crate) fn run_on_snapshot(data: StoredData, options: Options) -> Result<ExitStatus, Failure> {
    let mut screen = Tty::open()?;
    run_on(&mut screen, Wanted::Snapshot(Arc::new(data)), options)
}

/// Runs the browser on a file system that the user selects.
pub(crate) fn run_on_mounts(
    request: impl FnOnce(OsString) -> Result<Request, Failure>,
    options: Options,
) -> Result<ExitStatus, Failure> {
    let mut screen = Tty::open()?;
    let selected = mounts::select(&mut screen, &options);
    let started = match selected {
        Ok(Some(path)) => request(OsString::from_vec(path)).map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match started {
        Ok(Some(request)) => run_on(&mut screen, Wanted::Scan(Box::new(request)), options),
        Ok(None) => {
            screen.close();
            Ok(signals::caught().map_or(ExitStatus::Complete, ExitStatus::Interrupted))
        }
        Err(error) => {
            screen.close();
            Err(error)
        }
    }
}

fn run_on(
    screen: &mut dyn Screen,
    wanted: Wanted,
    options: Options,
) -> Result<ExitStatus, Failure> {
    open_files::raise_limit();
    let charset = options.charset;
    let mut shell = match Shell::new(wanted, options, screen.size()) {
        Ok(shell) => shell,
        Err(error) => {
            screen.close();
            return Err(error);
        }
    };
    let result = shell.work(screen);
    // The user has the terminal again, whatever the removal waits for.
    screen.close();
    // A removal ends between two entries, and its journal is written.
    let left = shell.remover.end(REMOVAL_WAIT);
    shell.report.end_within(REPORT_WAIT);
    if let Some(Left { work, path }) = &left {
        let path = safe(&String::from_utf8_lossy(path));
        stdio::say(&format!(
            "left a {work} that still waits for the system, at {path}"
        ));
    }
    if let Some(signal) = signals::caught() {
        return Ok(ExitStatus::Interrupted(signal));
    }
    let path = result?;
    if let Some(path) = path {
        // A shell takes the bytes, `cd "$(statwalk browse)"`, and a terminal would obey them.
        let path = match stdout_is_terminal() {
            true => escape(&path, charset).into_owned().into_bytes(),
            false => path,
        };
        let mut out = output::Output::new();
        out.write(|out| {
            out.write_all(&path)?;
            out.write_all(b"\n")
        })?;
        out.finish()?;
    }
    Ok(match left {
        Some(_) => ExitStatus::Incomplete,
        None => ExitStatus::Complete,
    })
}

impl Shell {
    /// Starts the scan, if one is wanted, and the threads that answer questions, for a screen of
    /// this size.
    fn new(
        wanted: Wanted,
        options: Options,
        (width, height): (u16, u16),
    ) -> Result<Shell, Failure> {
        let (sender, messages) = mpsc::channel();
        let removes = options.removes;
        let remover = Remover::new(options.format, sender.clone());
        let source = match wanted {
            Wanted::Scan(request) => {
                if removes {
                    remover.begin_scan(&request);
                }
                Source::start(request, removes, sender.clone())?
            }
            #[cfg(feature = "snapshot")]
            Wanted::Snapshot(data) => Source::Snapshot(data),
        };
        let base = source.data();
        let desk = |name| {
            Desk::new(name, sender.clone()).map_err(|error| {
                Failure::Usage(format!("cannot start a thread: {}", reason(&error)))
            })
        };
        let space = SpaceDesk::new(options.format, options.charset, sender.clone());
        let report = ReportDesk::new(options.format, sender.clone());
        Ok(Shell {
            removes,
            format: options.format,
            browser: Browser::new(options, width, height, source.now_ns()),
            source,
            numbers: Numbers::new(base),
            desks: Desks {
                rows: desk("rows")?,
                searchers: desk("search")?,
                filters: desk("filter")?,
                facts: desk("facts")?,
                readers: desk("refresh")?,
                listers: desk("files")?,
            },
            remover,
            space,
            report,
            trash: TrashDesk::default(),
            shown: 0,
            messages,
            sender,
            end: None,
        })
    }

    /// Works until the user quits. Answers with the path to print.
    fn work(&mut self, screen: &mut dyn Screen) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(state) = self.source.end_state() {
            self.update(Event::Scan(state), screen);
            self.update(Event::Data, screen);
        }
        self.update(Event::Tick, screen);
        self.draw(screen)?;
        loop {
            let mut is_changed = false;
            // Keys come first: they were meant for the rows of the last frame.
            let since = screen.now();
            while screen.now().saturating_sub(since) < FRAME_MAX && signals::caught().is_none() {
                self.show_question(screen)?;
                let Some(input) = screen.input(Duration::ZERO)? else {
                    break;
                };
                self.take_input(input, screen);
                is_changed = true;
                if self.browser.is_waiting()
                    && let Ok(message) = self.messages.recv_timeout(ANSWER_WAIT)
                {
                    self.take(message, screen);
                }
            }
            while let Ok(message) = self.messages.try_recv() {
                self.take(message, screen);
                is_changed = true;
            }
            if let Some(failed) = self.source.take_failure() {
                self.say(failed, screen);
                is_changed = true;
            }
            if !self.remover.is_busy() {
                for (reading, newer) in std::mem::take(&mut self.numbers.put_off) {
                    self.take(Message::Refreshed(reading, newer), screen);
                    is_changed = true;
                }
            }
            if signals::caught().is_some() {
                return Ok(None);
            }
            if let Some(path) = self.end.take() {
                return Ok(path);
            }
            if screen.was_continued() {
                screen.resume();
                is_changed = true;
            }
            if is_changed {
                self.draw(screen)?;
            }
            if let Some(news) = self.remover.news() {
                self.update(news, screen);
                self.draw(screen)?;
            }
            let is_busy = self.browser.is_waiting() || !self.numbers.all().is_final();
            let wait = if is_busy { BUSY_WAIT } else { IDLE_WAIT };
            if !screen.has_input(wait)? {
                let had_message = self.browser.has_message();
                self.update(Event::Tick, screen);
                // A terminal where nothing changes gets no bytes.
                if had_message != self.browser.has_message() {
                    self.draw(screen)?;
                }
            }
        }
    }

    /// Shows a question that came by itself. It takes only keys that are pressed from then
    /// on: others were meant for what the user saw before.
    fn show_question(&mut self, screen: &mut dyn Screen) -> Result<(), Failure> {
        let question = self.browser.question();
        if self.shown != question {
            let (browser, data) = (&mut self.browser, &*self.numbers.shown);
            screen.draw_question(&mut |buffer| browser.draw(data, buffer))?;
            self.shown = question;
        }
        Ok(())
    }

    /// The first frame with a question is never drawn in another way: a key that answers it
    /// at once would be dropped as one from before.
    fn draw(&mut self, screen: &mut dyn Screen) -> Result<(), Failure> {
        if self.shown != self.browser.question() {
            return self.show_question(screen);
        }
        let (browser, data) = (&mut self.browser, &*self.numbers.shown);
        screen.draw(&mut |buffer| browser.draw(data, buffer))
    }

    fn take_input(&mut self, input: Input, screen: &mut dyn Screen) {
        match input {
            Input::Key(key) => self.update(Event::Key(key), screen),
            Input::Mouse(mouse) => self.update(Event::Mouse(mouse), screen),
            Input::Paste(text) => self.update(Event::Paste(text), screen),
            Input::Size(width, height) => self.update(Event::Resize(width, height), screen),
        }
    }

    fn take(&mut self, message: Message, screen: &mut dyn Screen) {
        match message {
            Message::Event(event) => self.update(event, screen),
            Message::Scanned(number, data, is_partial) if self.source.is_scan(number) => {
                self.take_scan(data, is_partial, screen);
            }
            Message::OfTheLast(ticket, message) if ticket.is_last() => self.take(*message, screen),
            Message::Filtered(filter, data) => {
                self.numbers.shown = data;
                self.update(Event::Filtered(filter), screen);
            }
            Message::Refreshed(reading, newer) if self.remover.is_busy() => {
                self.numbers.put_off.push((reading, newer));
            }
            Message::Refreshed(reading, newer) => self.take_newer(reading, newer, screen),
            Message::Surveyed(proposal) => {
                let event = self.remover.take_proposal(proposal);
                self.update(event, screen);
            }
            Message::Removed(outcome, trails) => self.take_removed(*outcome, trails, screen),
            Message::Undone(undone) => {
                let (text, back) = self.remover.take_undone(*undone);
                self.take_back(text, &back, screen);
            }
            Message::Scanned(..) | Message::OfTheLast(..) => {}
        }
    }

    fn update(&mut self, event: Event, screen: &mut dyn Screen) {
        let at = screen.now();
        let data = Arc::clone(&self.numbers.shown);
        for wish in self.browser.update(event, at, &*data) {
            self.fulfil(wish, screen);
        }
        self.list_files();
    }

    /// Has the files of the directory in view read, while the scan goes on. The rows are
    /// asked for again and again then, and find them.
    fn list_files(&mut self) {
        let dir = self.browser.directory();
        if !self.numbers.lists(dir) {
            return;
        }
        let early = dir.and_then(|dir| self.source.early(dir));
        let (Some((early, number)), Some(request)) = (early, self.source.request()) else {
            return;
        };
        if early.of(number).is_some() {
            return;
        }
        let (scan, path) = (
            request.scan.clone(),
            dir.and_then(|dir| self.numbers.all().path(dir)),
        );
        self.desks.listers.ask(move |stop| {
            early.keep(number, early_files::read(&scan, &path?, stop)?);
            None
        });
    }

    fn say(&mut self, text: impl Into<String>, screen: &mut dyn Screen) {
        self.update(Event::Message(text.into()), screen);
    }

    fn fulfil(&mut self, wish: Effect, screen: &mut dyn Screen) {
        if let Some(event) = self.source.refusal(&wish) {
            return self.update(event, screen);
        }
        match wish {
            Effect::Ask(query) => self.ask_rows(query),
            Effect::Prefer(id) => self.source.prefer(id),
            Effect::Details(id) => self.ask_details(id),
            Effect::ReadForm(texts) => self.update(Event::Form(form::filter(&texts)), screen),
            Effect::SetFilter(filter) => self.set_filter(filter, screen),
            Effect::Refresh(dir) => self.read_again(dir, None, Reason::Wish),
            Effect::ScanAgain => self.scan_again(screen),
            Effect::StopScan => self.source.stop(),
            Effect::Shell(id) => self.run_shell(id, screen),
            Effect::Open(id) => {
                let opened = self.path(id).and_then(|path| programs::open(&path));
                if let Err(error) = opened {
                    self.say(error, screen);
                }
            }
            Effect::Copy(id) => {
                let text = match self.path(id).map(|path| screen.copy(&path)) {
                    Ok(Ok(())) => "the terminal has the path, if it takes such".to_owned(),
                    Ok(Err(_)) => "the terminal does not take the path".to_owned(),
                    Err(gone) => gone,
                };
                self.say(text, screen);
            }
            Effect::Write(ids, name) => {
                let text = self.write_marks(&ids, &name);
                self.say(text.unwrap_or_else(|error| error), screen);
            }
            Effect::Space(id, width) => {
                let root = self.numbers.all().roots().first().copied();
                let path = id.or(root).and_then(|id| self.path(id).ok());
                self.space.ask(path, width);
            }
            Effect::EndSpace => self.space.end(),
            Effect::Identify(ids) => self.remover.identify(ids, self.numbers.all()),
            Effect::Survey(ids) => self.remover.survey(ids, self.numbers.all()),
            Effect::EndSurvey => self.remover.end_survey(),
            Effect::Remove(manner) => self.remove(manner, screen),
            Effect::Report(id) => match id.map(|id| self.path(id)).transpose() {
                Ok(path) => {
                    if let Some(request) = self.source.request() {
                        self.report.begin(request, path);
                    }
                }
                Err(gone) => self.update(Event::Reported(Err(gone)), screen),
            },
            Effect::StopReport => self.report.stop(),
            Effect::StopRemoval => self.remover.stop(),
            Effect::Undo => {
                if let Err(text) = self.remover.undo() {
                    self.update(Event::Restored(text), screen);
                }
            }
            Effect::Suspend => screen.suspend(),
            Effect::Quit(id) => self.end = Some(id.and_then(|id| self.path(id).ok())),
        }
    }

    /// The path of an item, or the sentence that it is gone.
    fn path(&self, id: ItemId) -> Result<Vec<u8>, String> {
        self.numbers.all().path(id).ok_or_else(|| GONE.to_owned())
    }

    fn ask_rows(&mut self, query: Query) {
        let data = Arc::clone(&self.numbers.shown);
        let facts = self.source.facts();
        let desk = match query.asks_disk() {
            true => &mut self.desks.searchers,
            false => &mut self.desks.rows,
        };
        desk.ask(move |stop| {
            let answer = answer(&*data, &query, stop, facts.disk())?;
            Some(Message::Event(Event::Answer(answer)))
        });
    }

    fn ask_details(&mut self, id: ItemId) {
        let data = self.numbers.all();
        let facts = self.source.facts();
        self.desks.facts.ask(move |stop| {
            let details = facts.details(id, &*data, stop)?;
            Some(Message::Event(Event::Details(details)))
        });
    }

    fn run_shell(&mut self, dir: Option<ItemId>, screen: &mut dyn Screen) {
        let path = match dir.map(|dir| self.path(dir)).transpose() {
            Ok(path) => path,
            Err(gone) => return self.say(gone, screen),
        };
        screen.leave();
        let result = programs::shell(path.as_deref());
        screen.resume();
        if let Err(error) = result {
            self.say(error, screen);
        }
    }

    fn write_marks(&self, ids: &[ItemId], name: &str) -> Result<String, String> {
        let paths: Vec<_> = ids
            .iter()
            .map(|id| self.path(*id))
            .collect::<Result<_, _>>()?;
        match write::marks(&paths, Path::new(name)) {
            Ok(()) => Ok(format!("{} paths are in {name}", paths.len())),
            Err(error) => Err(format!("cannot write {name}: {}", reason(&error))),
        }
    }

    fn remove(&mut self, manner: Manner, screen: &mut dyn Screen) {
        if let Err(error) = self.remover.remove(manner) {
            let report = RemovalReport {
                sentence: error,
                ..RemovalReport::default()
            };
            self.update(Event::Removed(report), screen);
        }
    }
}
