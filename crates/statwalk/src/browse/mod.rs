// SPDX-License-Identifier: MIT OR Apache-2.0

//! The shell of the browser: it reads keys, shows screens, and does what the browser
//! asks for.
//!
//! One thread has the terminal, and nothing that can take long happens there. Another
//! looks after the scan ([`scan`]), and [`Clerk`]s answer questions.

mod clerk;
mod details;
mod early_files;
mod form;
pub(crate) mod keys_file;
mod live_data;
mod mounts;
mod numbers;
mod programs;
mod refresh;
mod removal;
mod scan;
mod screen;
mod sightings;
mod space;
mod terminal;
mod tree_data;
mod write;

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use statwalk_browse::{
    Browser, Data, Effect, Event, Filter, Filtered, ItemId, Options, Proposal, RemovalReport,
    Without, answer,
};

use statwalk_view::SizeFormat;

use self::clerk::Clerk;
use self::numbers::Place;
use self::removal::{Proposed, Remover};
use self::scan::LiveScan;
use self::screen::{Input, Screen};
use self::space::SpaceDesk;
use self::terminal::Tty;
use crate::clock;
use crate::exit_status::ExitStatus;
use crate::failure::{Failure, reason};
use crate::output;
use crate::request::{Request, open_files, safe};
use crate::watch::signals;

/// How long a frame waits for an answer, so that most keys need one frame alone.
const ANSWER_WAIT: Duration = Duration::from_millis(8);
/// How long the terminal is asked for input at once, while there is other work.
const BUSY_WAIT: Duration = Duration::from_millis(15);
const IDLE_WAIT: Duration = Duration::from_millis(200);

/// The answer to a wish about an item that the numbers do not have any more.
pub(super) const GONE: &str = "the item is gone";

/// News from another thread for the one with the terminal.
pub(crate) enum Message {
    Event(Event),
    /// The numbers at the end of a scan.
    Scanned(u64, Arc<dyn Data>),
    /// The numbers with a directory that was read again, of the scan with this number and
    /// as the so manieth; and a sentence about the difference.
    Refreshed(u64, u64, ItemId, Arc<dyn Data>, String),
    /// The numbers of items that pass, of the scan with this number.
    Filtered(u64, Filter, Arc<dyn Data>),
    /// The table with this number.
    Space(u64, Result<Vec<String>, String>),
    /// The result of the survey with this number.
    Surveyed(u64, Result<Box<(Proposal, Proposed)>, String>),
    /// The end of a removal.
    Removed(Box<statwalk_remove::Outcome>),
}

/// The browser with all that it needs.
struct Shell {
    browser: Browser,
    request: Request,
    /// Whether items may be removed.
    removes: bool,
    format: SizeFormat,
    /// The scan. Answers about one with another number come too late.
    scan: LiveScan,
    /// All numbers, and those that pass the filter.
    base: Arc<dyn Data>,
    data: Arc<dyn Data>,
    filter: Filter,
    rows: Clerk,
    filters: Clerk,
    facts: Clerk,
    readers: Clerk,
    listers: Clerk,
    /// The directory whose files were asked for last, while a scan goes on.
    listed: Option<ItemId>,
    remover: Remover,
    space: SpaceDesk,
    /// How many directories were read again since the scan.
    layers: u64,
    messages: Receiver<Message>,
    sender: Sender<Message>,
    /// The end, with a path to print.
    end: Option<Option<Vec<u8>>>,
}

/// Runs the browser until the user quits.
///
/// # Errors
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
    signals::install();
    run_on(&mut screen, request, options)
}

/// Runs the browser on a file system that the user selects.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn run_on_mounts(
    request: impl FnOnce(OsString) -> Result<Request, Failure>,
    options: Options,
) -> Result<ExitStatus, Failure> {
    let mut screen = Tty::open()?;
    signals::install();
    let selected = mounts::select(&mut screen, &options);
    let started = match selected {
        Ok(Some(path)) => request(OsString::from_vec(path)).map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match started {
        Ok(Some(request)) => run_on(&mut screen, request, options),
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
    request: Request,
    options: Options,
) -> Result<ExitStatus, Failure> {
    open_files::raise_limit();
    let mut shell = match Shell::new(request, options, screen.size()) {
        Ok(shell) => shell,
        Err(error) => {
            screen.close();
            return Err(error);
        }
    };
    let result = shell.work(screen);
    // A removal ends between two entries, and its journal is written.
    shell.remover.end();
    screen.close();
    let path = result?;
    if let Some(signal) = signals::caught() {
        return Ok(ExitStatus::Interrupted(signal));
    }
    if let Some(path) = path {
        let mut out = output::Output::new();
        out.write(|out| {
            out.write_all(&path)?;
            out.write_all(b"\n")
        })?;
        out.finish()?;
    }
    Ok(ExitStatus::Complete)
}

impl Shell {
    /// Starts the scan, and the threads that answer questions, for a screen of this size.
    fn new(
        request: Request,
        options: Options,
        (width, height): (u16, u16),
    ) -> Result<Shell, Failure> {
        let (sender, messages) = mpsc::channel();
        let removes = options.removes;
        let remover = Remover::new(options.format, sender.clone());
        if removes {
            remover.begin_scan(&request);
        }
        let scan = LiveScan::start(&request, removes, sender.clone())?;
        let base: Arc<dyn Data> = Arc::clone(&scan.data) as Arc<dyn Data>;
        let clerk = |name| {
            Clerk::new(name, sender.clone()).map_err(|error| {
                Failure::Usage(format!("cannot start a thread: {}", reason(&error)))
            })
        };
        let space = SpaceDesk::new(options.format, options.charset, sender.clone());
        Ok(Shell {
            removes,
            format: options.format,
            browser: Browser::new(options, width, height, clock::now_ns()),
            request,
            scan,
            data: Arc::clone(&base),
            base,
            filter: Filter::default(),
            rows: clerk("rows")?,
            filters: clerk("filter")?,
            facts: clerk("facts")?,
            readers: clerk("refresh")?,
            listers: clerk("files")?,
            listed: None,
            remover,
            space,
            layers: 0,
            messages,
            sender,
            end: None,
        })
    }

    /// Works until the user quits. Answers with the path to print.
    fn work(&mut self, screen: &mut dyn Screen) -> Result<Option<Vec<u8>>, Failure> {
        self.update(Event::Tick, screen);
        self.draw(screen)?;
        loop {
            let mut is_changed = false;
            while let Ok(message) = self.messages.try_recv() {
                self.take(message, screen);
                is_changed = true;
            }
            while let Some(input) = screen.input(Duration::ZERO)? {
                self.take_input(input, screen);
                is_changed = true;
                if self.browser.is_waiting()
                    && let Ok(message) = self.messages.recv_timeout(ANSWER_WAIT)
                {
                    self.take(message, screen);
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
            let is_busy = self.browser.is_waiting() || !self.base.is_final();
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

    fn draw(&mut self, screen: &mut dyn Screen) -> Result<(), Failure> {
        let (browser, data) = (&mut self.browser, &*self.data);
        screen.draw(&mut |buffer| browser.draw(data, buffer))
    }

    fn take_input(&mut self, input: Input, screen: &mut dyn Screen) {
        match input {
            Input::Key(key) => self.update(Event::Key(key), screen),
            Input::Mouse(mouse) => self.update(Event::Mouse(mouse), screen),
            Input::Size(width, height) => self.update(Event::Resize(width, height), screen),
            Input::Nothing => {}
        }
    }

    fn take(&mut self, message: Message, screen: &mut dyn Screen) {
        match message {
            Message::Event(event) => self.update(event, screen),
            Message::Scanned(number, data) if number == self.scan.data.number => {
                self.base = Arc::clone(&data);
                self.data = data;
                self.update(Event::Data, screen);
                // The filter of the numbers so far.
                if !self.filter.is_empty() {
                    self.set_filter(self.filter.clone());
                }
            }
            Message::Filtered(number, filter, data) if number == self.scan.data.number => {
                self.data = data;
                self.filter = filter.clone();
                self.update(Event::Filtered(filter), screen);
            }
            // The items of the dialog have numbers of the data of now.
            Message::Refreshed(..) if self.remover.is_busy() => {
                self.say("not read again: a removal is at work", screen);
            }
            Message::Refreshed(number, layer, dir, data, text)
                if number == self.scan.data.number && layer == self.layers + 1 =>
            {
                self.layers = layer;
                self.update(Event::Replacing(Some(dir)), screen);
                self.data = Arc::clone(&data);
                self.base = data;
                self.update(Event::Refreshed(text), screen);
                if !self.filter.is_empty() {
                    self.set_filter(self.filter.clone());
                }
            }
            Message::Space(number, table) => {
                if self.space.is_wanted(number) {
                    self.update(Event::Space(table), screen);
                }
            }
            Message::Surveyed(number, proposal) => {
                if let Some(event) = self.remover.take_proposal(number, proposal) {
                    self.update(event, screen);
                }
            }
            Message::Removed(outcome) => self.take_removed(*outcome, screen),
            Message::Scanned(..) | Message::Filtered(..) | Message::Refreshed(..) => {}
        }
    }

    fn update(&mut self, event: Event, screen: &mut dyn Screen) {
        let at = screen.now();
        let data = Arc::clone(&self.data);
        for wish in self.browser.update(event, at, &*data) {
            self.fulfil(wish, screen);
        }
        self.list_files();
    }

    /// Has the files of the directory in view read, while the scan goes on. The rows are
    /// asked for again and again then, and find them.
    fn list_files(&mut self) {
        let dir = self.browser.directory();
        if self.base.is_final() || dir == self.listed {
            return;
        }
        self.listed = dir;
        let place = dir.and_then(|dir| Place::of(dir, self.scan.data.number));
        let Some(Place::Dir(number)) = place else {
            return;
        };
        let early = Arc::clone(&self.scan.data.early);
        if early.of(number).is_some() {
            return;
        }
        let (scan, path) = (
            self.request.scan.clone(),
            dir.and_then(|dir| self.base.path(dir)),
        );
        self.listers.give(move |stop| {
            early.keep(number, early_files::read(&scan, &path?, stop)?);
            None
        });
    }

    fn say(&mut self, text: impl Into<String>, screen: &mut dyn Screen) {
        self.update(Event::Message(text.into()), screen);
    }

    fn fulfil(&mut self, wish: Effect, screen: &mut dyn Screen) {
        match wish {
            Effect::Ask(query) => {
                let data = Arc::clone(&self.data);
                self.rows.give(move |stop| {
                    let answer = answer(&*data, &query, stop)?;
                    Some(Message::Event(Event::Answer(answer)))
                });
            }
            Effect::Prefer(id) => self.scan.prefer(id),
            Effect::Details(id) => {
                let data = Arc::clone(&self.base);
                self.facts.give(move |stop| {
                    let details = details::of(id, &*data, stop)?;
                    Some(Message::Event(Event::Details(details)))
                });
            }
            Effect::ReadForm(texts) => {
                let read = form::filter(&texts);
                self.update(Event::Form(read), screen);
            }
            Effect::SetFilter(filter) => self.set_filter(filter),
            Effect::Refresh(dir) => self.read_again(dir),
            Effect::ScanAgain => self.scan_again(screen),
            Effect::StopScan => self.scan.stop(),
            Effect::Shell(id) => {
                let path = id.map(|id| self.base.path(id));
                match path {
                    Some(None) => self.say(GONE, screen),
                    path => {
                        let path = path.flatten();
                        self.run_program(screen, |_| programs::shell(path.as_deref()));
                    }
                }
            }
            Effect::Open(id) => {
                let opened = match self.base.path(id) {
                    Some(path) => programs::open(&path),
                    None => Err(GONE.to_owned()),
                };
                if let Err(error) = opened {
                    self.say(error, screen);
                }
            }
            Effect::Copy(id) => {
                let copied = self.base.path(id).map(|path| screen.copy(&path));
                let text = match copied {
                    Some(Ok(())) => "the terminal has the path, if it takes such",
                    Some(Err(_)) => "the terminal does not take the path",
                    None => GONE,
                };
                self.say(text, screen);
            }
            Effect::Write(ids, name) => {
                let paths = ids.into_iter().map(|id| self.base.path(id));
                let Some(paths) = paths.collect::<Option<Vec<_>>>() else {
                    return self.say(GONE, screen);
                };
                let text = match write::marks(&paths, Path::new(&name)) {
                    Ok(()) => format!("{} paths are in {name}", paths.len()),
                    Err(error) => format!("cannot write {name}: {}", reason(&error)),
                };
                self.say(text, screen);
            }
            Effect::Space(id, width) => {
                let root = self.base.roots().first().copied();
                let path = id.or(root).and_then(|id| self.base.path(id));
                self.space.ask(path, width);
            }
            Effect::EndSpace => self.space.end(),
            Effect::Identify(ids) => self.remover.identify(ids, Arc::clone(&self.base)),
            Effect::Survey(ids) => {
                self.remover.survey(ids, Arc::clone(&self.base));
            }
            Effect::EndSurvey => self.remover.end_survey(),
            Effect::Remove(manner) => {
                if let Err(error) = self.remover.remove(manner) {
                    let report = RemovalReport {
                        sentence: error,
                        ..RemovalReport::default()
                    };
                    self.update(Event::Removed(report), screen);
                }
            }
            Effect::StopRemoval => self.remover.stop(),
            Effect::Undo => {
                let (text, is_changed) = self.remover.undo();
                self.say(text, screen);
                if is_changed {
                    self.scan_again(screen);
                }
            }
            Effect::Suspend => screen.suspend(),
            Effect::Quit(id) => {
                self.end = Some(id.and_then(|id| self.base.path(id)));
            }
        }
    }

    /// Takes what is gone out of all numbers, and reads again what is gone in part.
    fn take_removed(&mut self, outcome: statwalk_remove::Outcome, screen: &mut dyn Screen) {
        let Some(ended) = self.remover.take_outcome(outcome) else {
            return;
        };
        self.base = Arc::new(Without::new(Arc::clone(&self.base), &ended.gone));
        self.data = Arc::clone(&self.base);
        self.update(Event::Removed(ended.report), screen);
        if let [dir] = ended.partly[..] {
            self.read_again(dir);
        }
        if !self.filter.is_empty() {
            self.set_filter(self.filter.clone());
        }
    }

    fn read_again(&mut self, dir: ItemId) {
        let (scan, base) = (self.request.scan.clone(), Arc::clone(&self.base));
        let (number, layer) = (self.scan.data.number, self.layers + 1);
        let format = self.format;
        self.readers.give(move |stop| {
            let read = refresh::read_again(&scan, &base, dir, format, stop)?;
            Some(match read {
                Ok((data, text)) => Message::Refreshed(number, layer, dir, data, text),
                Err(error) => Message::Event(Event::Message(error)),
            })
        });
    }

    fn set_filter(&mut self, filter: Filter) {
        let (base, number) = (Arc::clone(&self.base), self.scan.data.number);
        self.filter = filter.clone();
        if !base.is_final() && !filter.is_empty() {
            // Files are known at the end alone; then it applies.
            return;
        }
        let now_ns = clock::now_ns();
        self.filters.give(move |stop| {
            if filter.is_empty() {
                return Some(Message::Filtered(number, filter, base));
            }
            let filtered = Filtered::new(base, filter.clone(), now_ns, stop)?;
            Some(Message::Filtered(number, filter, Arc::new(filtered)))
        });
    }

    fn scan_again(&mut self, screen: &mut dyn Screen) {
        if self.removes {
            self.remover.begin_scan(&self.request);
        }
        match LiveScan::start(&self.request, self.removes, self.sender.clone()) {
            Ok(scan) => {
                // Ids of the scan before mean nothing from now on.
                self.update(Event::Replacing(None), screen);
                self.layers = 0;
                self.scan = scan;
                self.listed = None;
                self.base = Arc::clone(&self.scan.data) as Arc<dyn Data>;
                self.data = Arc::clone(&self.base);
                self.update(Event::Data, screen);
            }
            Err(error) => self.say(error.to_string(), screen),
        }
    }

    fn run_program(
        &mut self,
        screen: &mut dyn Screen,
        run: impl FnOnce(&mut dyn Screen) -> Result<(), String>,
    ) {
        screen.leave();
        let result = run(screen);
        screen.resume();
        if let Err(error) = result {
            self.say(error, screen);
        }
    }
}
