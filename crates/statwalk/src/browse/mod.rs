// SPDX-License-Identifier: MIT OR Apache-2.0

//! The shell of the browser: it reads keys, shows screens, and does what the browser
//! asks for.
//!
//! One thread has the terminal, and nothing that can take long happens there. Another
//! looks after the scan ([`scan`]), and [`Desk`]s answer questions.

mod cells;
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
pub(crate) mod names;
mod place;
mod real_disk;
mod refresh;
mod removal;
mod report;
mod scan;
mod screen;
mod shell_removals;
mod sightings;
mod space;
mod stopped;
mod terminal;
mod trash_desk;
mod tree_data;
mod undo;
mod watchdog;
mod write;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use statwalk_browse::{
    Browser, Data, Edited, Effect, Event, Filter, Filtered, ItemId, Manner, Options, RemovalReport,
    answer, child, item_at,
};

use statwalk_view::{SizeFormat, escape};

use self::desk::Desk;
use self::message::{Message, Reading, Reason};
pub(crate) use self::modes::give_back as give_terminal_back;
use self::names::NAMES;
use self::place::Place;
use self::real_disk::RealDisk;
use self::removal::{Left, Remover};
use self::report::ReportDesk;
use self::scan::LiveScan;
use self::screen::{Input, Screen};
use self::space::SpaceDesk;
use self::terminal::Tty;
use self::trash_desk::{Spot, Trail, TrashDesk};
use self::undo::Back;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::output;
use crate::request::{Request, safe};
use crate::system::clock;
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

/// The answer to a reading that had no difference to tell.
const THOSE_OF_NOW: &str = "the numbers are those of now";

/// The answer to a wish about an item that the numbers do not have any more.
pub(super) const GONE: &str = "the item is gone";

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
    base: Arc<Edited>,
    /// The scan was stopped before its end.
    is_partial: bool,
    data: Arc<dyn Data>,
    filter: Filter,
    rows: Desk,
    /// For rows that need the disk: one that hangs holds no others.
    searchers: Desk,
    filters: Desk,
    facts: Desk,
    readers: Desk,
    listers: Desk,
    /// The directory whose files were asked for last, while a scan goes on.
    listed: Option<ItemId>,
    remover: Remover,
    space: SpaceDesk,
    report: ReportDesk,
    /// The directories that are being read again.
    reading: Vec<Reading>,
    /// Answers that wait until no removal is at work: its items have numbers of now.
    put_off: Vec<Message>,
    /// The paths of directories that are to be read again once the scan is over, and those
    /// of trashes.
    owed: Vec<Vec<u8>>,
    owed_trashes: Vec<Vec<u8>>,
    trash: TrashDesk,
    /// The number of the last question that is on the screen.
    shown: u64,
    messages: Receiver<Message>,
    sender: Sender<Message>,
    /// The end, with a path to print.
    end: Option<Option<Vec<u8>>>,
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
    run_on(&mut screen, request, options)
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
    let charset = options.charset;
    let mut shell = match Shell::new(request, options, screen.size()) {
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
            browser: Browser::new(options, width, height, clock::now_ns()),
            request,
            scan,
            data: Arc::clone(&base),
            base: Arc::new(Edited::new(base)),
            is_partial: false,
            filter: Filter::default(),
            rows: desk("rows")?,
            searchers: desk("search")?,
            filters: desk("filter")?,
            facts: desk("facts")?,
            readers: desk("refresh")?,
            listers: desk("files")?,
            listed: None,
            remover,
            space,
            report,
            reading: Vec::new(),
            put_off: Vec::new(),
            owed: Vec::new(),
            owed_trashes: Vec::new(),
            trash: TrashDesk::default(),
            shown: 0,
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
            if !self.put_off.is_empty() && !self.remover.is_busy() {
                for message in std::mem::take(&mut self.put_off) {
                    self.take(message, screen);
                }
                is_changed = true;
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
            let is_busy = self.browser.is_waiting() || !self.base.data().is_final();
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
            let (browser, data) = (&mut self.browser, &*self.data);
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
        let (browser, data) = (&mut self.browser, &*self.data);
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
            Message::Scanned(number, data, is_partial) if number == self.scan.data.number => {
                self.base = Arc::new(Edited::new(data));
                self.is_partial = is_partial;
                self.show_base(Event::Data, screen);
                for path in std::mem::take(&mut self.owed) {
                    self.read_path_again(&path);
                }
                for trash in std::mem::take(&mut self.owed_trashes) {
                    self.read_trash(&trash);
                }
            }
            Message::OfTheLast(ticket, message) if ticket.is_last() => self.take(*message, screen),
            Message::Filtered(filter, data) => {
                self.data = data;
                self.update(Event::Filtered(filter), screen);
            }
            Message::Refreshed(..) if self.remover.is_busy() => self.put_off.push(message),
            Message::Refreshed(reading, newer) if self.reading.contains(&reading) => {
                self.reading.retain(|known| *known != reading);
                self.take_newer(reading, newer, screen);
            }
            Message::Surveyed(proposal) => {
                let event = self.remover.take_proposal(proposal);
                self.update(event, screen);
            }
            Message::Removed(outcome, trails) => self.take_removed(*outcome, trails, screen),
            Message::Undone(undone) => {
                let (text, back) = self.remover.take_undone(*undone);
                self.take_back(text, &back, screen);
            }
            Message::Scanned(..) | Message::Refreshed(..) | Message::OfTheLast(..) => {}
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
        if self.base.data().is_final() || dir == self.listed {
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
            dir.and_then(|dir| self.base.data().path(dir)),
        );
        self.listers.ask(move |stop| {
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
                let desk = match query.asks_disk() {
                    true => &mut self.searchers,
                    false => &mut self.rows,
                };
                desk.ask(move |stop| {
                    let answer = answer(&*data, &query, NAMES, stop, &RealDisk)?;
                    Some(Message::Event(Event::Answer(answer)))
                });
            }
            Effect::Prefer(id) => self.scan.prefer(id),
            Effect::Details(id) => {
                let data = self.base.data();
                self.facts.ask(move |stop| {
                    let details = details::of(id, &*data, stop)?;
                    Some(Message::Event(Event::Details(details)))
                });
            }
            Effect::ReadForm(texts) => {
                let read = form::filter(&texts);
                self.update(Event::Form(read), screen);
            }
            Effect::SetFilter(filter) => self.set_filter(filter, screen),
            Effect::Refresh(dir) => self.read_again(dir, None, Reason::Wish),
            Effect::ScanAgain => self.scan_again(screen),
            Effect::StopScan => self.scan.stop(),
            Effect::Shell(id) => {
                let path = id.map(|id| self.base.data().path(id));
                match path {
                    Some(None) => self.say(GONE, screen),
                    path => {
                        let path = path.flatten();
                        self.run_program(screen, |_| programs::shell(path.as_deref()));
                    }
                }
            }
            Effect::Open(id) => {
                let opened = match self.base.data().path(id) {
                    Some(path) => programs::open(&path),
                    None => Err(GONE.to_owned()),
                };
                if let Err(error) = opened {
                    self.say(error, screen);
                }
            }
            Effect::Copy(id) => {
                let copied = self.base.data().path(id).map(|path| screen.copy(&path));
                let text = match copied {
                    Some(Ok(())) => "the terminal has the path, if it takes such",
                    Some(Err(_)) => "the terminal does not take the path",
                    None => GONE,
                };
                self.say(text, screen);
            }
            Effect::Write(ids, name) => {
                let paths = ids.into_iter().map(|id| self.base.data().path(id));
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
                let root = self.base.data().roots().first().copied();
                let path = id.or(root).and_then(|id| self.base.data().path(id));
                self.space.ask(path, width);
            }
            Effect::EndSpace => self.space.end(),
            Effect::Identify(ids) => self.remover.identify(ids, self.base.data()),
            Effect::Survey(ids) => {
                self.remover.survey(ids, self.base.data());
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
            Effect::Report(id) => match id.map(|id| self.base.data().path(id)) {
                Some(None) => self.update(Event::Reported(Err(GONE.to_owned())), screen),
                path => self.report.begin(&self.request, path.flatten()),
            },
            Effect::StopReport => self.report.stop(),
            Effect::StopRemoval => self.remover.stop(),
            Effect::Undo => {
                if let Err(text) = self.remover.undo() {
                    self.update(Event::Restored(text), screen);
                }
            }
            Effect::Suspend => screen.suspend(),
            Effect::Quit(id) => {
                self.end = Some(id.and_then(|id| self.base.data().path(id)));
            }
        }
    }

    /// Takes what is gone out of all numbers, and reads again what is gone in part, and the
    /// trash.
    fn take_removed(
        &mut self,
        outcome: statwalk_remove::Outcome,
        trails: Vec<(Vec<u8>, Option<Trail>)>,
        screen: &mut dyn Screen,
    ) {
        let Some(mut ended) = (self.remover).take_outcome(outcome, &*self.base.data()) else {
            return;
        };
        let manner = match ended.trashed.is_empty() {
            true => Manner::Permanent,
            false => Manner::Trash,
        };
        Arc::make_mut(&mut self.base).remove(&ended.gone, manner);
        let mut outside = Vec::new();
        for (trash, trail) in trails {
            let bytes = ended.trashed.remove(&trash).unwrap_or(0);
            self.trash.add(&trash, bytes, trail);
            if !self.read_trash(&trash) {
                outside.push(safe(&String::from_utf8_lossy(&trash)));
            }
        }
        if !outside.is_empty() {
            let outside = outside.join(", ");
            (ended.report.sentence).push_str(&format!("; it lies outside of the scan: {outside}"));
        }
        self.show_base(Event::Removed(ended.report), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
        for dir in ended.partly {
            self.read_again(dir, None, Reason::Removal);
        }
    }

    /// Puts items that are back into the numbers. The directory of one that the numbers do
    /// not know any more, or that changed in the trash, is read again.
    fn take_back(&mut self, text: String, back: &[Back], screen: &mut dyn Screen) {
        if back.is_empty() {
            return self.update(Event::Restored(text), screen);
        }
        let known = back.iter().filter(|back| !back.is_changed);
        let known: Vec<ItemId> = known.filter_map(|back| back.id).collect();
        let is_there = Arc::make_mut(&mut self.base).bring_back(&known);
        let there = known.iter().zip(is_there);
        let there: HashSet<ItemId> = (there.filter(|(_, is_there)| *is_there))
            .map(|(id, _)| *id)
            .collect();
        let is_missing = |back: &&Back| back.id.is_none_or(|id| !there.contains(&id));
        let mut dirs: Vec<&Vec<u8>> = (back.iter().filter(is_missing))
            .filter_map(|back| back.dir.as_ref())
            .collect();
        dirs.sort();
        dirs.dedup();
        for dir in dirs {
            match self.base.data().is_final() {
                true => self.read_path_again(dir),
                // The scan can have been there already.
                false => self.owed.push(dir.clone()),
            }
        }
        let mut trashes: Vec<&Vec<u8>> = back.iter().map(|back| &back.trash).collect();
        trashes.sort();
        trashes.dedup();
        for back in back {
            self.trash.take_back(&back.trash, back.bytes);
        }
        for trash in trashes {
            self.read_trash(trash);
        }
        self.show_base(Event::Restored(text), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
    }

    /// Has a trash read again, because items went there or came back. Answers whether the
    /// scan has it.
    ///
    /// It is read whole: `files` and `info` change their own sizes with each item. A trash
    /// that is new to the numbers is read alone, and the directory above it is not.
    fn read_trash(&mut self, trash: &[u8]) -> bool {
        if !self.base.data().is_final() {
            // The scan can have been there already.
            self.owed_trashes.push(trash.to_vec());
            return true;
        }
        let spot = self
            .trash
            .trail(trash)
            .map(|trail| trail.find(&*self.base.data(), self.is_partial));
        let (dir, new) = match spot {
            Some(Spot::Row(id)) => (id, None),
            // The rules of a directory hold for its entries, and not for a root.
            Some(Spot::New(dir, _)) if self.request.reads_gitignore => (dir, None),
            Some(Spot::New(dir, name)) => (dir, Some(name)),
            Some(Spot::Elsewhere) | None => return false,
        };
        Arc::make_mut(&mut self.base).doubt(dir);
        self.read_again(dir, new, Reason::Trash);
        true
    }

    /// Shows all numbers after a change, which the browser learns of.
    fn show_base(&mut self, event: Event, screen: &mut dyn Screen) {
        self.data = self.base.data();
        self.update(event, screen);
        if !self.filter.is_empty() {
            self.set_filter(self.filter.clone(), screen);
        }
    }

    /// Takes newer numbers of a directory, unless they are older than a removal in it.
    fn take_newer(
        &mut self,
        reading: Reading,
        newer: Result<Arc<dyn Data>, String>,
        screen: &mut dyn Screen,
    ) {
        let Reading { dir, new, .. } = reading;
        let reason = reading.reason;
        if self.base.data().item(dir).is_none() {
            // A reading of a directory above was first, or it was removed.
            if reason == Reason::Wish {
                self.say(THOSE_OF_NOW, screen);
            }
            return;
        }
        if self.base.has_moved_since(reading.after, dir) {
            return self.read_again(dir, new, reason);
        }
        let newer = match newer {
            Ok(newer) => newer,
            // The last line says that the sums lack something.
            Err(_) if reason == Reason::Trash => return,
            Err(error) => return self.say(error, screen),
        };
        // Another reading can have met the new entry meanwhile.
        let known = match &new {
            None => Some(dir),
            Some(name) => child(&*self.base.data(), dir, name),
        };
        let change = match (known, new) {
            (None, Some(name)) => {
                let is_there = Arc::make_mut(&mut self.base).graft(dir, &name, newer);
                is_there.then_some([(false, 0); 2])
            }
            (known, _) => {
                let dir = known.unwrap_or(dir);
                self.update(Event::Replacing(Some(dir)), screen);
                Arc::make_mut(&mut self.base).renew(dir, newer)
            }
        };
        let text = match change {
            Some(change) if reason == Reason::Wish => {
                Some(refresh::difference(change, self.format))
            }
            Some(_) if reason == Reason::Removal => Some(THOSE_OF_NOW.to_owned()),
            None if reason != Reason::Trash => {
                Some("cannot read it again alone: R scans everything".to_owned())
            }
            _ => None,
        };
        if change.is_some() {
            let dir = known.unwrap_or(dir);
            self.trash.settle(dir, &*self.base.data());
        }
        self.show_base(Event::Refreshed(text), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
    }

    /// Has a directory read again, or a new entry of it, together with those that are being
    /// read.
    fn read_again(&mut self, dir: ItemId, new: Option<Vec<u8>>, mut reason: Reason) {
        let is_same = |known: &Reading| known.dir == dir && known.new == new;
        let mut same = self.reading.iter().filter(|known| is_same(known));
        // The user waits for the answer still.
        if same.any(|known| known.reason == Reason::Wish) {
            reason = Reason::Wish;
        }
        self.reading.retain(|known| !is_same(known));
        let reading = Reading {
            dir,
            new,
            after: self.base.number(),
            reason,
        };
        self.reading.push(reading);
        // The wish of the user comes first, and the thread does the last job alone.
        let mut all = self.reading.clone();
        all.reverse();
        all.sort_by_key(|reading| reading.reason != Reason::Wish);
        let (scan, base) = (self.request.scan.clone(), self.base.data());
        let sender = self.sender.clone();
        let sink = scan::sink(&self.request, true);
        self.readers.ask(move |stop| {
            for reading in all {
                let new = reading.new.as_deref();
                let newer =
                    refresh::read_again(&scan, sink.clone(), &*base, reading.dir, new, stop)?;
                sender.send(Message::Refreshed(reading, newer)).ok()?;
            }
            None
        });
    }

    fn read_path_again(&mut self, path: &[u8]) {
        if let Some(dir) = item_at(path, &*self.base.data()) {
            self.read_again(dir, None, Reason::Return);
        }
    }

    fn set_filter(&mut self, filter: Filter, screen: &mut dyn Screen) {
        let base = self.base.data();
        self.filter = filter.clone();
        self.filters.end();
        if filter.is_empty() {
            self.data = base;
            return self.update(Event::Filtered(filter), screen);
        }
        if !base.is_final() {
            // Files are known at the end alone; then it applies.
            return;
        }
        let now_ns = clock::now_ns();
        self.filters.ask_for_the_last(move |stop| {
            let filtered = Filtered::new(base, filter.clone(), now_ns, NAMES, stop)?;
            Some(Message::Filtered(filter, Arc::new(filtered)))
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
                self.reading.clear();
                self.trash.begin_scan();
                self.update(Event::InTrash(0), screen);
                self.scan = scan;
                self.listed = None;
                self.filters.end();
                self.base = Arc::new(Edited::new(Arc::clone(&self.scan.data) as Arc<dyn Data>));
                self.data = self.base.data();
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
