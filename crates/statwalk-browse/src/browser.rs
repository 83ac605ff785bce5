// SPDX-License-Identifier: MIT OR Apache-2.0

//! The state of the browser, and how events change it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use statwalk_view::{Charset, Colour, Kind, SizeFormat, counted};

use crate::answer::Answer;
use crate::columns::{ListColumns, Widths};
use crate::data::{Data, Item, ItemId};
use crate::dialog::Dialog;
use crate::event::{Details, Effect, Event, Key, ScanState};
use crate::filter::{Bytes, Filter, Sort};
use crate::keys::Keymap;
use crate::known_answers::KnownAnswers;
use crate::list::{List, ListRows, Query, RowKey, Wanted};
use crate::marks::Marks;
use crate::message::Message;
use crate::prompt::{Form, Line};
use crate::removal::{RemovalReport, RemovalState};
use crate::report::ReportState;
use crate::search::{self, Search};
use crate::view::View;

/// How long no key must have been pressed before rows change their order.
pub(crate) const QUIET: Duration = Duration::from_millis(800);

/// How often rows change their order while a scan goes on.
const RESORT_PERIOD: Duration = Duration::from_millis(500);

/// How often rows come while the screen has room for more.
const FILL_PERIOD: Duration = Duration::from_millis(100);

/// The sentence where nothing has blocks.
const NO_BLOCKS: &str = "no file here has blocks on disk: sizes are apparent";

/// How long no entry must have come before the scan counts as held up.
const STALL_TIME: Duration = Duration::from_secs(2);

/// The names of owners, by their numbers.
#[derive(Clone)]
pub struct OwnerNames(Arc<dyn Fn(u32) -> Option<String> + Send + Sync>);

impl OwnerNames {
    /// Names that a function knows.
    pub fn new(name: impl Fn(u32) -> Option<String> + Send + Sync + 'static) -> OwnerNames {
        OwnerNames(Arc::new(name))
    }

    /// The name of an owner; absent where nobody knows it.
    pub(crate) fn get(&self, uid: u32) -> Option<String> {
        (self.0)(uid)
    }
}

impl fmt::Debug for OwnerNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerNames").finish_non_exhaustive()
    }
}

/// The choices of a browser that stay for its life.
#[derive(Clone, Debug)]
pub struct Options {
    /// The keys.
    pub keymap: Keymap,
    /// The unit of sizes.
    pub format: SizeFormat,
    /// The size that is shown first.
    pub bytes: Bytes,
    /// The characters of the terminal.
    pub charset: Charset,
    /// Whether there is colour.
    pub colour: Colour,
    /// The names of owners.
    pub owners: OwnerNames,
    /// Whether shells and other programs may be started.
    pub starts_programs: bool,
    /// Whether the scan follows symbolic links, so that a file can be a link to one.
    pub follows_links: bool,
    /// Whether items may be removed.
    pub removes: bool,
}

/// The browser.
///
/// [`update`](Self::update) takes an event and answers with wishes; [`draw`](Self::draw)
/// shows the state.
pub struct Browser {
    pub(crate) options: Options,
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Whether the last frame had no room for rows or a dialog.
    pub(crate) is_unseen: bool,
    pub(crate) watch: ScanWatch,
    pub(crate) chosen: Chosen,
    pub(crate) list: List,
    pub(crate) marks: Marks,
    pub(crate) search: Search,
    pub(crate) mode: Mode,
    pub(crate) message: Option<Message>,
    pub(crate) quit: Quit,
    pub(crate) work: Work,
    pub(crate) asking: Asking,
    /// The moment that ages count from, in nanoseconds since 1970.
    pub(crate) now_ns: i64,
    way_back: WayBack,
}

/// The user's choice of rows.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// The directories from a root to the one that is shown; empty for the list of roots.
    pub(crate) place: Vec<ItemId>,
    pub(crate) view: View,
    pub(crate) sort: Sort,
    pub(crate) bytes: Bytes,
    pub(crate) columns: ListColumns,
    /// A text that names must hold.
    pub(crate) text: Line,
    pub(crate) filter: Filter,
    /// Whether numbers of another filter are on their way.
    pub(crate) is_filtering: bool,
    pub(crate) hides: bool,
}

/// The state of the scan.
#[derive(Debug, Default)]
pub(crate) struct ScanWatch {
    pub(crate) scan: ScanState,
    last_entries: Duration,
    /// For how long no entry has come, where that is long.
    pub(crate) waits: Option<Duration>,
    /// Whether the browser has looked at the end of the scan for blocks.
    knows_blocks: bool,
}

impl ScanWatch {
    fn take(&mut self, scan: ScanState, at: Duration) {
        let has_more = scan.entries != self.scan.entries || scan.is_over;
        if has_more || self.scan.is_over {
            self.last_entries = at;
        }
        let waits = at.saturating_sub(self.last_entries);
        self.waits = (waits >= STALL_TIME).then_some(waits);
        self.scan = scan;
    }
}

/// The question whether to quit although items are marked.
#[derive(Debug, Default)]
pub(crate) struct Quit {
    /// The key that quits when it comes next.
    pub(crate) asks: Option<Key>,
    /// Whether the key before this one asked.
    pub(crate) was_asked: bool,
}

/// Removals and reports.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// The removal that goes on.
    pub(crate) removal: Option<RemovalState>,
    /// The report that is on its way.
    pub(crate) report: Option<ReportState>,
    /// The space that removals made free, in bytes.
    pub(crate) freed_bytes: u128,
    /// The bytes in the trash that the sums lack.
    pub(crate) trashed_bytes: u128,
    /// Whether items are on their way back from the trash.
    pub(crate) is_restoring: bool,
    /// How many questions and reports came by themselves or after another question.
    pub(crate) questions: u64,
}

/// The questions for rows, and when the next one is due. Times are since the start of the
/// browser.
#[derive(Debug, Default)]
pub(crate) struct Asking {
    last_key: Option<Duration>,
    last_ask: Duration,
    /// How long the last answer took.
    answer_time: Duration,
    asked: u64,
    answered: u64,
    /// Whether rows are to come at once.
    pub(crate) is_stale: bool,
    /// Whether other rows are there, which can wait for the fingers to rest.
    is_outdated: bool,
    pub(crate) is_paused: bool,
    /// Answers about the present data, once it is final.
    known: KnownAnswers,
}

/// The way back to items that get other numbers.
#[derive(Debug, Default)]
struct WayBack {
    /// The names of the directories to go into, as soon as they are there, the last first.
    dirs: Vec<Vec<u8>>,
    /// The name of the item for the cursor, once all of them are there.
    cursor: Option<Vec<u8>>,
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser")
            .field("scan", &self.watch.scan)
            .field("place", &self.chosen.place)
            .field("view", &self.chosen.view)
            .field("filter", &self.chosen.filter)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

/// The part of the screen that keys belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The rows.
    Rows,
    /// The text of the filter.
    Text,
    /// The text of the search.
    Search,
    /// The beginning of a name.
    Jump(Line),
    /// The name of a file.
    File(Line),
    Form(Form),
    /// The first line that is shown, and the text that lines must hold.
    Help(usize, Line),
    /// The facts about an item, once they are there.
    Info(ItemId, Option<Details>),
    /// The table of the space of a file system, once it is there, and its first line that
    /// is shown.
    Space(Option<Vec<String>>, usize),
    /// A survey before a removal, with its entries so far.
    Survey(u64),
    Remove(Box<Dialog>),
    /// The end of a removal that left something, and the first line that is shown.
    Report(RemovalReport, usize),
}

impl Browser {
    /// A browser on a screen of this size. `now_ns` is the present, in nanoseconds since
    /// 1970.
    #[must_use]
    pub fn new(options: Options, width: u16, height: u16, now_ns: i64) -> Browser {
        Browser {
            width,
            height,
            is_unseen: false,
            watch: ScanWatch::default(),
            chosen: Chosen {
                bytes: options.bytes,
                ..Chosen::default()
            },
            options,
            list: List::waiting(None),
            marks: Marks::default(),
            search: Search::default(),
            mode: Mode::Rows,
            message: None,
            quit: Quit::default(),
            work: Work::default(),
            asking: Asking {
                is_stale: true,
                ..Asking::default()
            },
            now_ns,
            way_back: WayBack::default(),
        }
    }

    /// Whether an answer is on its way.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        let asks_system = matches!(
            self.mode,
            Mode::Info(_, None) | Mode::Survey(_) | Mode::Space(None, _)
        );
        let is_moving = self.work.removal.is_some() || self.work.is_restoring;
        self.asking.asked != self.asking.answered
            || self.chosen.is_filtering
            || asks_system
            || is_moving
    }

    /// The number of questions and reports that came so far by themselves, or after another
    /// question, and not at a key of their own. The keys for the last one are those that were pressed when it was on the screen.
    #[must_use]
    pub fn question(&self) -> u64 {
        self.work.questions
    }

    /// Whether a message is shown, which goes away by itself.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.message.is_some()
    }

    /// The directory that is shown; absent for the list of roots.
    #[must_use]
    pub fn directory(&self) -> Option<ItemId> {
        self.chosen.place.last().copied()
    }

    /// Takes an event that happened at a time since the start, and answers with wishes.
    pub fn update(&mut self, event: Event, at: Duration, data: &dyn Data) -> Vec<Effect> {
        let mut wishes = Vec::new();
        if matches!(
            event,
            Event::Replacing(_)
                | Event::Data
                | Event::Filtered(_)
                | Event::Refreshed(_)
                | Event::Removed(_)
                | Event::Restored(_)
        ) {
            self.asking.known.forget();
        }
        match event {
            Event::Key(key) => self.take_key(key, at, data, &mut wishes),
            Event::Mouse(mouse) => {
                self.asking.last_key = Some(at);
                self.quit.asks = None;
                self.list.hold();
                self.mouse(mouse, data, &mut wishes);
            }
            Event::Paste(text) => self.paste(&text, at, data),
            Event::Resize(width, height) => (self.width, self.height) = (width, height),
            Event::Tick => {}
            Event::Answer(answer) => self.take_asked(answer, at, data),
            Event::Scan(scan) => self.watch.take(scan, at),
            Event::Replacing(dir) => return self.leave_numbers(dir, data),
            Event::Data => self.take_data(at, data),
            Event::Details(details) => {
                if let Mode::Info(id, known) = &mut self.mode
                    && *id == details.id
                {
                    *known = Some(details);
                }
            }
            Event::Form(Ok(filter)) => {
                self.mode = Mode::Rows;
                self.set_filter(filter, &mut wishes);
            }
            Event::Form(Err(error)) => {
                if let Mode::Form(form) = &mut self.mode {
                    form.error = Some(error);
                }
            }
            Event::Filtered(filter) => {
                self.chosen.filter = filter;
                self.chosen.is_filtering = false;
                self.asking.is_stale = true;
                self.asking.last_key = None;
            }
            Event::Refreshed(text) => self.take_refreshed(text, at, data),
            Event::InTrash(bytes) => self.work.trashed_bytes = bytes,
            Event::Space(table) => self.take_space(table, at),
            Event::Surveying(entries) => {
                if let Mode::Survey(so_far) = &mut self.mode {
                    *so_far = entries;
                }
            }
            Event::Surveyed(proposal) => self.take_proposal(proposal, at),
            Event::Removing(state) => {
                self.work.removal = self.work.removal.is_some().then_some(state);
            }
            Event::Removed(report) => self.take_removed(report, at, data),
            Event::Restored(text) => {
                self.work.is_restoring = false;
                self.reorder();
                self.say(text, at);
            }
            Event::Reporting(state) => {
                self.work.report = self.work.report.is_some().then_some(state);
            }
            Event::Reported(result) => self.take_report(result, at),
            Event::Message(text) => self.say(text, at),
        }
        self.message.take_if(|message| message.is_old(at));
        self.settle(data);
        self.look_for_blocks(at, data);
        self.ask_if_stale(at, data, &mut wishes);
        wishes
    }

    fn take_key(&mut self, key: Key, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        self.asking.last_key = Some(at);
        self.message
            .take_if(|message| message.is_seen(&self.mode, at));
        self.quit.was_asked = self.quit.asks.take().is_some();
        self.list.hold();
        // The user has another way.
        self.way_back = WayBack::default();
        self.key(key, at, data, wishes);
    }

    /// Takes an answer that was on its way.
    fn take_asked(&mut self, mut answer: Answer, at: Duration, data: &dyn Data) {
        // The rows are those of the data of before.
        if self.asking.is_outdated {
            answer.rows.settle(data);
        }
        if answer.number == self.asking.asked {
            self.asking.answer_time = at.saturating_sub(self.asking.last_ask);
            // One that was asked of older data is not kept.
            if data.is_final()
                && !self.asking.is_outdated
                && let Some(query) = self.query()
            {
                self.asking.known.keep(query, &answer);
            }
        }
        self.take_answer(answer);
        self.go_way(data);
    }

    /// Shows apparent sizes where nothing has blocks, once the scan is over. The user can
    /// have the other size back.
    fn look_for_blocks(&mut self, at: Duration, data: &dyn Data) {
        if self.watch.knows_blocks || !data.is_final() {
            return;
        }
        self.watch.knows_blocks = true;
        let roots: Vec<_> = (data.roots().into_iter())
            .filter_map(|root| data.item(root))
            .collect();
        let has_blocks = roots.iter().any(|root| root.allocated_bytes > 0);
        let has_content = roots.iter().any(|root| root.apparent_bytes > 0);
        if self.chosen.bytes == Bytes::Disk && has_content && !has_blocks {
            self.chosen.bytes = Bytes::Apparent;
            self.reorder();
            self.say_news(NO_BLOCKS.to_owned(), at);
        }
    }

    /// Leaves what is not there, and goes into the only root, as soon as it is there.
    fn settle(&mut self, data: &dyn Data) {
        if let Mode::Info(id, _) = self.mode
            && data.item(id).is_none()
        {
            self.mode = Mode::Rows;
        }
        let is_gone = |id: &ItemId| data.item(*id).is_none();
        if let Some(first) = self.chosen.place.iter().position(is_gone) {
            self.chosen.place.truncate(first);
            self.asking.is_stale = true;
        }
        if self.chosen.place.is_empty()
            && let [root] = data.roots()[..]
            && data
                .item(root)
                .is_some_and(|item| item.kind == Kind::Directory)
        {
            self.chosen.place.push(root);
            self.asking.is_stale = true;
        }
    }

    /// Keeps no number of an item in a directory, or of any item, but names instead: these
    /// items get other numbers. `data` has the old ones.
    fn leave_numbers(&mut self, dir: Option<ItemId>, data: &dyn Data) -> Vec<Effect> {
        self.marks.keep_ways(dir, data);
        if let Mode::Info(id, _) = self.mode {
            let mut above = std::iter::successors(data.parent(id), |id| data.parent(*id));
            if dir.is_none_or(|dir| above.any(|above| above == dir)) {
                self.mode = Mode::Rows;
            }
        }
        let depth = match dir {
            None => {
                self.search.forget_ways();
                0
            }
            Some(dir) => match self.chosen.place.iter().position(|id| *id == dir) {
                Some(place) => place + 1,
                // The directory in view lies elsewhere.
                None => return Vec::new(),
            },
        };
        let name = |id: ItemId| Some(data.item(id)?.name.into_owned());
        // The browser goes into an only root by itself.
        let skipped = depth.max(usize::from(dir.is_none() && data.roots().len() == 1));
        let names = self
            .chosen
            .place
            .iter()
            .skip(skipped)
            .map_while(|id| name(*id));
        self.way_back.dirs = names.collect();
        self.way_back.dirs.reverse();
        let cursor = self
            .item_here(data)
            .filter(|_| self.chosen.view == View::Tree);
        self.way_back.cursor = cursor.and_then(name);
        self.chosen.place.truncate(depth);
        self.renew(None);
        Vec::new()
    }

    /// Takes the data of another scan, or of the end of the scan.
    fn take_data(&mut self, at: Duration, data: &dyn Data) {
        let gone = self.marks.settle(data);
        self.list.settle(data);
        self.asking.is_outdated = true;
        if gone > 0 {
            self.say(marks_are_gone(gone), at);
        }
    }

    /// Takes newer numbers of a directory.
    fn take_refreshed(&mut self, text: Option<String>, at: Duration, data: &dyn Data) {
        let gone = self.marks.settle(data);
        let gone = (gone > 0).then(|| marks_are_gone(gone));
        let texts: Vec<String> = text.into_iter().chain(gone).collect();
        self.asking.is_stale = true;
        if !texts.is_empty() {
            self.say(texts.join("; "), at);
        }
        self.go_way(data);
    }

    /// Goes the remembered way, as far as it is there.
    fn go_way(&mut self, data: &dyn Data) {
        while let Some(name) = self.way_back.dirs.last() {
            let mut found = None;
            let mut look = |id: ItemId, item: &Item<'_>| {
                let is_it = item.kind == Kind::Directory && item.name == &name[..];
                found = is_it.then_some(id);
                found.map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
            };
            match self.directory() {
                Some(dir) => data.children(dir, &mut |id, item| look(id, &item)),
                None => {
                    let mut roots = data.roots().into_iter();
                    let _ = roots.try_for_each(|id| match data.item(id) {
                        Some(item) => look(id, &item),
                        None => ControlFlow::Continue(()),
                    });
                }
            }
            let Some(found) = found else { return };
            self.way_back.dirs.pop();
            self.chosen.place.push(found);
            self.renew(None);
        }
        let (Some(name), ListRows::Items(ids)) = (&self.way_back.cursor, &self.list.rows) else {
            return;
        };
        let has_name = |id: &&ItemId| data.item(**id).is_some_and(|item| item.name == &name[..]);
        if let Some(&found) = ids
            .iter()
            .find(has_name)
            .filter(|_| self.chosen.view == View::Tree)
        {
            self.way_back.cursor = None;
            self.list.wish(RowKey::Item(found));
        }
    }

    /// The item under the cursor, by its number in this data.
    pub(crate) fn item_here(&self, data: &dyn Data) -> Option<ItemId> {
        self.list.item().and_then(|id| data.settled(id))
    }

    fn ask_if_stale(&mut self, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        let is_live = !data.is_final();
        let period = match self.list.rows.len() < self.row_count() {
            true => FILL_PERIOD,
            false => RESORT_PERIOD,
        };
        // The scan keeps most of the machine, however long an answer takes.
        let period = period.max(self.asking.answer_time * 4);
        let is_due = at.saturating_sub(self.asking.last_ask) >= period;
        let is_quiet = (self.asking.last_key).is_none_or(|last| at.saturating_sub(last) >= QUIET);
        // Another question would end this one before its answer.
        let is_answered = self.asking.asked == self.asking.answered && !self.list.is_waiting;
        let goes_on = is_live && is_due && !self.asking.is_paused && is_answered;
        if self.asking.is_stale || (is_quiet && (goes_on || self.asking.is_outdated)) {
            self.asking.is_stale = false;
            self.asking.is_outdated = false;
            self.asking.last_ask = at;
            self.asking.asked += 1;
            let Some(query) = self.query() else {
                return self.take_answer(Answer::nothing(self.asking.asked));
            };
            match self.asking.known.to(&query) {
                Some(answer) => self.take_answer(answer),
                None => wishes.push(Effect::Ask(query)),
            }
        }
    }

    /// The question for the rows; absent where a text asks for nothing.
    fn query(&self) -> Option<Query> {
        Some(Query {
            number: self.asking.asked,
            rows: match self.chosen.view {
                View::Tree => Wanted::Items,
                View::Largest => Wanted::Largest,
                View::Groups(by) => Wanted::Groups(by),
                View::Errors => Wanted::Faults,
                View::Marks => Wanted::These(self.marks.all()),
                // A link to a file is no proof.
                View::Rebuildable if self.options.follows_links => return None,
                View::Rebuildable => Wanted::Rebuildable,
                View::Found => Wanted::Named(self.search.pattern().ok()??),
            },
            dir: self.directory(),
            sort: self.chosen.sort,
            bytes: self.chosen.bytes,
            names: search::pattern(&self.chosen.text).ok()?,
            hides: self.chosen.hides,
            now_ns: self.now_ns,
        })
    }

    fn take_answer(&mut self, answer: Answer) {
        if answer.number == self.asking.asked {
            self.asking.answered = answer.number;
            self.list.replace(answer);
        }
    }

    /// Other rows, with the cursor on one of them once they are there.
    pub(crate) fn renew(&mut self, wanted: Option<RowKey>) {
        self.list = List::waiting(wanted);
        self.asking.is_stale = true;
    }

    /// The same rows in another order or choice.
    pub(crate) fn reorder(&mut self) {
        self.list.pin();
        self.asking.is_stale = true;
    }

    /// The columns of the view, and their widths.
    pub(crate) fn widths(&self) -> Widths {
        let (has_entries, has_owner, name_min) = match self.chosen.view {
            View::Tree => (true, true, 20),
            View::Largest => (false, true, 36),
            View::Marks | View::Found => (true, true, 36),
            View::Rebuildable => (false, true, 26),
            View::Groups(_) => (true, false, 20),
            View::Errors => return Widths::of_names(self.width.into()),
        };
        let columns = ListColumns {
            entries: self.chosen.columns.entries && has_entries,
            owner: self.chosen.columns.owner && has_owner,
            program: self.chosen.view == View::Rebuildable,
            ..self.chosen.columns
        };
        Widths::new(self.width.into(), columns, name_min)
    }

    /// The number of rows that the screen has room for.
    pub(crate) fn row_count(&self) -> usize {
        usize::from(self.height).saturating_sub(HEAD_LINES + FOOT_LINES)
    }
}

fn marks_are_gone(count: usize) -> String {
    counted(count as u64, "mark is gone", "marks are gone")
}

/// The lines above the rows: the place, and the titles of columns.
pub(crate) const HEAD_LINES: usize = 2;
/// The lines below the rows: a summary, and keys.
pub(crate) const FOOT_LINES: usize = 2;
