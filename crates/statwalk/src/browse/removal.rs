// SPDX-License-Identifier: MIT OR Apache-2.0

//! Surveys and removals for the browser. `statwalk-remove` knows the rules and acts; here
//! its facts become sentences.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use rustix::io::Errno;
use statwalk_browse as browse;
use statwalk_browse::{Data, Event, ItemId, RemovalReport, RemovalState};
use statwalk_remove::{
    Degree, End, Item, ItemOutcome, Journal, Manner, Monitor, Now, Outcome, Refusal, Removal, Sums,
    Surroundings, Survey, Trash, degree, fold, survey, word_to_type,
};
use statwalk_view::{Charset, SizeFormat, counted, escape, grouped};

use super::GONE;
use super::desk::{Desk, start};
use super::message::Message;
use super::sightings::{Compared, Sightings, Way};
use super::trash_desk::Trail;
use super::undo::{Back, Moved, Undo, Undone};
use crate::request::Request;
use crate::system::clock;
use crate::system::places;
use crate::system::stdio::reason;

/// How often the browser learns how far a survey or a removal has come.
const NEWS_PERIOD: Duration = Duration::from_millis(100);
/// How often the end of a removal is looked for.
const END_PERIOD: Duration = Duration::from_millis(2);
/// Entries that changed within this time are worth a warning.
const RECENT: Duration = Duration::from_secs(3600);
/// The reason why an item whose inode number moves does not go to the trash.
const NO_UNDO: &str = "statwalk could not tell there which entry goes back";
const STOPPED: &str = "the survey was stopped";
/// The reasons of so many items fit into a dialog.
const REFUSALS_MAX: usize = 3;

/// The desk for removals: one survey or one removal at a time.
pub(super) struct Remover {
    format: SizeFormat,
    sender: Sender<Message>,
    pub(super) sightings: Sightings,
    surveyor: Desk,
    survey: Option<Arc<Monitor>>,
    proposed: Option<Proposed>,
    removal: Option<Ongoing>,
    /// The items of the last move to the trash.
    trashed: Vec<Moved>,
    undo: Option<Undo>,
    news: Instant,
}

/// Items that the user may confirm.
pub(crate) struct Proposed {
    items: Vec<Item>,
    ids: Vec<(Vec<u8>, ItemId)>,
    surroundings: Surroundings,
    journal: Option<Journal>,
    entries: u64,
    freed_most: Option<u64>,
}

struct Ongoing {
    monitor: Arc<Monitor>,
    /// The number that the browser has of each item.
    ids: Vec<(Vec<u8>, ItemId)>,
    /// The bytes of each item.
    bytes: HashMap<Vec<u8>, u64>,
    entries: u64,
    /// The most that becomes free, where clones or snapshots share some of it.
    freed_most: Option<u64>,
    thread: thread::JoinHandle<()>,
}

/// Something that still waits for the system when the browser ends.
pub(super) struct Left {
    pub(super) work: &'static str,
    /// The item in work.
    pub(super) path: Vec<u8>,
}

/// The end of a removal, for the browser.
pub(super) struct Ended {
    /// The items that are gone.
    pub(super) gone: Vec<ItemId>,
    /// Those that lost entries and are still there.
    pub(super) partly: Vec<ItemId>,
    /// The bytes that went to each trash.
    pub(super) trashed: HashMap<Vec<u8>, u128>,
    pub(super) report: RemovalReport,
}

impl Remover {
    pub(super) fn new(format: SizeFormat, sender: Sender<Message>) -> Remover {
        let refused = |error| Message::Surveyed(Err(error));
        let surveyor = Desk::with_a_thread_each("survey", sender.clone(), refused);
        Remover {
            format,
            sender,
            sightings: Sightings::default(),
            surveyor,
            survey: None,
            proposed: None,
            removal: None,
            trashed: Vec::new(),
            undo: None,
            news: Instant::now(),
        }
    }

    /// Resolves the roots of a scan that is about to begin.
    pub(super) fn begin_scan(&self, request: &Request) {
        self.sightings.begin_scan(request);
    }

    /// Looks at items that were just marked.
    pub(super) fn identify(&self, items: Vec<ItemId>, data: Arc<dyn Data>) {
        self.sightings.identify(items, data);
    }

    /// Begins a survey of items.
    pub(super) fn survey(&mut self, items: Vec<ItemId>, data: Arc<dyn Data>) {
        self.end_survey();
        let monitor = Arc::new(Monitor::new());
        self.survey = Some(Arc::clone(&monitor));
        let (sightings, format) = (self.sightings.clone(), self.format);
        self.surveyor.ask_for_the_last(move |_| {
            let ways = items.iter().map(|id| Way::of(*id, &*data));
            let proposal = match ways.collect::<Option<Vec<Way>>>() {
                Some(ways) => propose(&ways, &sightings, &monitor, format),
                None => Err(GONE.to_owned()),
            };
            Some(Message::Surveyed(proposal.map(Box::new)))
        });
    }

    /// Ends a survey, and forgets its items.
    pub(super) fn end_survey(&mut self) {
        self.surveyor.end();
        self.proposed = None;
        if let Some(monitor) = self.survey.take() {
            monitor.stop();
        }
    }

    /// Takes the result of the last survey.
    pub(super) fn take_proposal(
        &mut self,
        proposal: Result<Box<(browse::Proposal, Proposed)>, String>,
    ) -> Event {
        self.survey = None;
        Event::Surveyed(proposal.map(|proposal| {
            let (shown, proposed) = *proposal;
            self.proposed = Some(proposed);
            shown
        }))
    }

    /// Removes the items that the user has confirmed.
    pub(super) fn remove(&mut self, manner: browse::Manner) -> Result<(), String> {
        let proposed = self.proposed.take();
        let proposed = proposed.ok_or_else(|| "nothing is proposed".to_owned())?;
        let bytes = proposed.items.iter();
        let bytes = bytes.map(|item| (item.path().to_vec(), item.bytes()));
        let bytes = bytes.collect();
        let is_by_name = manner == browse::Manner::ByName;
        let manner = match manner {
            browse::Manner::Permanent | browse::Manner::ByName => Manner::Permanent,
            browse::Manner::Trash => Manner::Trash(home_trash().ok_or_else(no_trash)?),
        };
        let mut removal =
            Removal::new(proposed.items, manner, proposed.surroundings).clock(local_now);
        if let Some(journal) = proposed.journal {
            removal = removal.journal(journal);
        }
        if is_by_name {
            removal = removal.by_name();
        }
        let monitor = Arc::new(Monitor::new());
        let (own, sender) = (Arc::clone(&monitor), self.sender.clone());
        let work = move || {
            let outcome = removal.run(&own);
            let moved = outcome.items.iter();
            let moved = moved.filter_map(|item| item.trashed.as_ref());
            let mut trashes: Vec<Vec<u8>> = moved.map(|moved| moved.trash.clone()).collect();
            trashes.sort();
            trashes.dedup();
            // Here, because a look at a path can hang.
            let trails = trashes.into_iter().map(|trash| {
                let trail = Trail::to(&trash);
                (trash, trail)
            });
            let trails = trails.collect();
            let _ = sender.send(Message::Removed(Box::new(outcome), trails));
        };
        let thread = start("removal", work)
            .map_err(|error| format!("cannot start a thread: {}", reason(&error)))?;
        self.removal = Some(Ongoing {
            monitor,
            ids: proposed.ids,
            bytes,
            entries: proposed.entries,
            freed_most: proposed.freed_most,
            thread,
        });
        Ok(())
    }

    /// Whether a survey, a dialog, a removal or an undo goes on.
    pub(super) fn is_busy(&self) -> bool {
        let is_removing = self.survey.is_some() || self.proposed.is_some();
        is_removing || self.removal.is_some() || self.undo.is_some()
    }

    /// Asks the removal to end before its next entry.
    pub(super) fn stop(&self) {
        if let Some(removal) = &self.removal {
            removal.monitor.stop();
        }
    }

    /// Stops a removal or an undo, and waits for its end for a time. Where it hangs in a call
    /// or waits for the journal, the answer names it.
    pub(super) fn end(&mut self, wait: Duration) -> Option<Left> {
        self.end_survey();
        self.stop();
        let (removal, undo) = (self.removal.take(), self.undo.take());
        if let Some(undo) = &undo {
            undo.stop();
        }
        let left = || {
            let removal = removal.as_ref();
            let removal = removal.filter(|removal| !removal.thread.is_finished());
            let undo = undo.as_ref().filter(|undo| !undo.is_finished());
            let removal = removal.map(|removal| ("removal", removal.monitor.path()));
            removal.or(undo.map(|undo| ("move from the trash", undo.path())))
        };
        let start = Instant::now();
        while let Some((work, path)) = left() {
            if start.elapsed() >= wait {
                return Some(Left { work, path });
            }
            thread::sleep(END_PERIOD);
        }
        None
    }

    /// Takes the end of a removal. `data` has the items still.
    pub(super) fn take_outcome(&mut self, mut outcome: Outcome, data: &dyn Data) -> Option<Ended> {
        let Ongoing {
            ids,
            bytes,
            freed_most,
            ..
        } = self.removal.take()?;
        // The removal asks no file system what a file shares; the survey did.
        if let Some(most) = freed_most {
            outcome.freed_bytes = outcome.freed_bytes.min(most);
        }
        let ids: HashMap<&[u8], ItemId> = ids.iter().map(|(path, id)| (&path[..], *id)).collect();
        let id_of = |path: &[u8]| ids.get(path).copied();
        let with_end = |end: End| {
            let items = outcome.items.iter().filter(move |item| item.end == end);
            items.filter_map(|item| id_of(&item.path)).collect()
        };
        let moved = |item: &ItemOutcome| {
            let id = id_of(&item.path);
            let dir = id.and_then(|id| data.path(data.parent(id)?));
            let trashed = item.trashed.clone()?;
            let bytes = bytes.get(&item.path).copied().unwrap_or(0).into();
            Some(Moved {
                trashed,
                id,
                dir,
                bytes,
            })
        };
        let trashed: Vec<Moved> = outcome.items.iter().filter_map(moved).collect();
        let mut sums: HashMap<Vec<u8>, u128> = HashMap::new();
        for moved in &trashed {
            *sums.entry(moved.trashed.trash.clone()).or_default() += moved.bytes;
        }
        let ended = Ended {
            gone: with_end(End::Removed),
            partly: with_end(End::Partly),
            trashed: sums,
            report: report(&outcome, trashed.len(), self.format),
        };
        if !trashed.is_empty() {
            self.trashed = trashed;
        }
        Some(ended)
    }

    /// Begins to move the items of the last move to the trash back.
    pub(super) fn undo(&mut self) -> Result<(), String> {
        if self.trashed.is_empty() {
            return Err("no move to the trash is left to take back".to_owned());
        }
        let undo = Undo::start(self.trashed.clone(), self.sender.clone());
        self.undo = Some(undo.map_err(|error| {
            let reason = reason(&error);
            format!("cannot start a thread, so the items stay in the trash: {reason}")
        })?);
        // What stays there comes back with the end.
        self.trashed.clear();
        Ok(())
    }

    /// Takes the end of an undo. Answers with a sentence, and with the items that are back.
    pub(super) fn take_undone(&mut self, undone: Undone) -> (String, Vec<Back>) {
        self.undo = None;
        self.trashed = undone.left;
        let count = items(undone.back.len());
        let text = match undone.failure {
            None => format!("{count} back"),
            Some(error) => format!("{count} back; cannot {error}"),
        };
        (text, undone.back)
    }

    /// News for the browser, now and then.
    pub(super) fn news(&mut self) -> Option<Event> {
        if self.news.elapsed() < NEWS_PERIOD {
            return None;
        }
        self.news = Instant::now();
        if let Some(removal) = &self.removal {
            return Some(Event::Removing(RemovalState {
                entries: removal.monitor.entry_count(),
                of_entries: removal.entries,
                errors: removal.monitor.failure_count(),
            }));
        }
        let survey = self.survey.as_ref()?;
        Some(Event::Surveying(survey.entry_count()))
    }
}

fn no_trash() -> String {
    format!("{}, so there is no trash", places::no_home())
}

/// Looks at items, counts what is in them, and makes sentences of it.
fn propose(
    wanted: &[Way],
    sightings: &Sightings,
    monitor: &Monitor,
    format: SizeFormat,
) -> Result<(browse::Proposal, Proposed), String> {
    let surroundings = surroundings()?;
    let (mut journal, journal_warning) = open_journal()?;
    let seen = sightings.compare(wanted, monitor).ok_or(STOPPED)?;
    let mut seen = Seen::of(wanted, seen);
    let items = fold(std::mem::take(&mut seen.items));
    let survey = survey(&items, &surroundings, monitor);
    if !survey.is_complete {
        return Err(STOPPED.to_owned());
    }
    let moving = numbers_that_move(&items);
    let trash = home_trash();
    // A dialog that refuses offers nothing, so nothing is tried.
    let must_stay = !seen.refused.is_empty() || !survey.refusals.is_empty();
    let trashes = match &trash {
        None => Err(places::no_home()),
        Some(_) if must_stay => Ok(Vec::new()),
        Some(_) if moving.is_some() => Err(NO_UNDO.to_owned()),
        Some(trash) => {
            (trash.try_for(&items, &surroundings)).map_err(|refusal| refusal.to_string())
        }
    };
    let no_trash = trashes.as_ref().err();
    let no_trash = no_trash.map(|reason| format!("No trash: {reason}."));
    let mut warnings: Vec<String> = changed_since(&seen.changed).into_iter().collect();
    warnings.extend(self::warnings(&survey.total, &survey, format));
    let is_by_name = moving.is_some();
    warnings.extend(moving);
    warnings.extend(journal_warning);
    let mut refused = seen.refused;
    refused.extend(survey.refusals.iter().map(|found| {
        let path = items[found.item].path().to_vec();
        (path, found.refusal.to_string())
    }));
    if let Some(journal) = &mut journal {
        warnings.extend(note_refused(journal, &refused, monitor)?);
    }
    let refusals: Vec<&str> = refused.iter().map(|(_, sentence)| &sentence[..]).collect();
    let why_typed = match trash.map(|trash| degree(&survey.total, &Manner::Trash(trash))) {
        None | Some(Degree::Key) => None,
        Some(Degree::Typed(reasons)) => reasons.first().map(ToString::to_string),
    };
    // The largest come first: among them a mistake costs most.
    let mut by_size: Vec<_> = items.iter().zip(&survey.items).collect();
    by_size.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.allocated_bytes));
    let proposal = browse::Proposal {
        paths: (by_size.iter().map(|(item, _)| item.path().to_vec()))
            .chain(seen.others)
            .collect(),
        entries: survey.total.entry_count,
        bytes: survey.total.allocated_bytes.into(),
        freed_bytes: survey.total.freed_bytes.into(),
        warnings,
        refusal: sentence_of(&refusals, wanted.len()),
        is_by_name,
        no_trash,
        trashes: trashes.unwrap_or_default(),
        why_typed,
        word: word_to_type(&items),
    };
    let counted = items.into_iter().zip(&survey.items);
    let items = counted.map(|(item, sums)| item.with_bytes(sums.allocated_bytes));
    let proposed = Proposed {
        items: items.collect(),
        ids: seen.ids,
        surroundings,
        journal,
        entries: survey.total.entry_count,
        freed_most: (survey.total.shared_bytes > 0).then_some(survey.total.freed_bytes),
    };
    Ok((proposal, proposed))
}

/// Items as they are now, beside those that must stay.
#[derive(Default)]
struct Seen {
    items: Vec<Item>,
    ids: Vec<(Vec<u8>, ItemId)>,
    /// The paths of the others, as the rows show them.
    others: Vec<Vec<u8>>,
    /// Their whole paths, and why they must stay.
    refused: Vec<(Vec<u8>, String)>,
    /// The items that are not as the scan has read them.
    changed: Vec<Vec<u8>>,
}

impl Seen {
    fn of(wanted: &[Way], seen: Vec<Result<Compared, String>>) -> Seen {
        let mut all = Seen::default();
        for (way, seen) in wanted.iter().zip(seen) {
            match seen {
                Ok(seen) => {
                    let path = seen.sighting.path().to_vec();
                    if seen.has_changed {
                        all.changed.push(path.clone());
                    }
                    all.ids.push((path, way.id));
                    all.items.push(seen.sighting.into_item());
                }
                Err(sentence) => {
                    all.others.push(way.path.clone());
                    all.refused.push((absolute(&way.path), sentence));
                }
            }
        }
        all
    }
}

/// The paths that a removal must not touch.
fn surroundings() -> Result<Surroundings, String> {
    let [home, own_home] = places::homes();
    let mut surroundings = Surroundings::read(home.as_deref().map(bytes_of))
        .map_err(|error| format!("cannot read the table of mounts: {}", reason(&error)))?;
    for above in own_home.iter().flat_map(|home| home.ancestors()) {
        surroundings.protect(bytes_of(above));
    }
    let journal = journal_path().map(|path| path.into_os_string().into_vec());
    surroundings.kept.extend(journal);
    Ok(surroundings)
}

/// Records the items that must stay. Answers with a warning where that fails.
fn note_refused(
    journal: &mut Journal,
    refused: &[(Vec<u8>, String)],
    monitor: &Monitor,
) -> Result<Option<String>, String> {
    let lines = refused.iter();
    let lines = lines.map(|(path, sentence)| (&path[..], &sentence[..]));
    match journal.refuse(lines, local_now(), monitor) {
        Ok(()) => Ok(None),
        Err(_) if monitor.is_stopped() => Err(STOPPED.to_owned()),
        Err(error) => Ok(Some(format!(
            "cannot write the journal: {}",
            reason(&error)
        ))),
    }
}

/// The first refusals, the number of the others, and the way to remove the rest of so many
/// items.
fn sentence_of(refusals: &[&str], item_count: usize) -> Option<String> {
    let shown = refusals.len().min(REFUSALS_MAX);
    let mut sentence = refusals[..shown].join("; ");
    match refusals.len() - shown {
        0 => {}
        1 => sentence.push_str("; and 1 more item must stay"),
        more => {
            let more = grouped(more as u64);
            sentence.push_str(&format!("; and {more} more items must stay"));
        }
    }
    if item_count > refusals.len() {
        let them = if refusals.len() == 1 { "it" } else { "them" };
        let way = format!(". View 8 has the marks: Space unmarks {them}, and d takes the others.");
        sentence.push_str(&way);
    }
    (shown > 0).then_some(sentence)
}

/// The warning about items that nobody can know again.
fn numbers_that_move(items: &[Item]) -> Option<String> {
    let mut moving = items.iter().filter(|item| item.is_known_by_name());
    let path = moving.next()?.path().to_vec();
    let sentence = Refusal::MovingNumbers { path }.to_string();
    Some(match moving.count() {
        0 => sentence,
        more => {
            let more = counted(more as u64, "more item", "more items");
            format!("{sentence}; the same is true of {more}")
        }
    })
}

/// The warning about files that are not as the scan has read them.
fn changed_since(paths: &[Vec<u8>]) -> Option<String> {
    let first = escape(paths.first()?, Charset::Unicode);
    Some(match paths.len() {
        1 => format!("changed or replaced after the scan: {first}"),
        count => {
            let count = grouped(count as u64);
            format!("{count} files changed or replaced after the scan, the first: {first}")
        }
    })
}

fn warnings(total: &Sums, survey: &Survey, format: SizeFormat) -> Vec<String> {
    let mut warnings = Vec::new();
    if total.foreign_count > 0 {
        let (one, many) = ("entry of another owner", "entries of other owners");
        warnings.push(counted(total.foreign_count, one, many));
    }
    if let Some(newest) = &total.newest {
        let now = clock::now_ns() / 1_000_000_000;
        let age = u64::try_from(now.saturating_sub(newest.mtime_s)).unwrap_or(0);
        if age < RECENT.as_secs() {
            let path = escape(&newest.path, Charset::Unicode);
            let age = match age {
                0..60 => "less than a minute".to_owned(),
                60..120 => "a minute".to_owned(),
                age => format!("{} minutes", age / 60),
            };
            warnings.push(format!("changed {age} ago: {path}"));
        }
    }
    let kept = total.allocated_bytes.saturating_sub(total.freed_bytes);
    let shared = kept.min(total.shared_bytes);
    for (bytes, words) in [
        (kept - shared, "have other names elsewhere, and stay"),
        (shared, "are shared with clones or snapshots, and may stay"),
    ] {
        if bytes > 0 {
            warnings.push(format!("{} {words}", format.text(bytes.into())));
        }
    }
    if survey.failures.count > 0 {
        let first = survey.failures.listed.first();
        let first = first.map(|failure| format!(", the first: cannot {failure}"));
        let count = grouped(survey.failures.count);
        warnings.push(format!(
            "{count} could not be read{}",
            first.unwrap_or_default()
        ));
    }
    warnings
}

fn report(outcome: &Outcome, trashed: usize, format: SizeFormat) -> RemovalReport {
    let entries = counted(outcome.entry_count, "entry", "entries");
    let mut sentence = match trashed {
        0 => {
            let size = format.text(outcome.freed_bytes.into());
            format!("{entries} removed, {size} freed")
        }
        count => format!("{} in the trash; U takes the last move back", items(count)),
    };
    if outcome.is_stopped {
        sentence.push_str("; stopped before the end");
    }
    match outcome.failures.count {
        0 => {}
        1 => sentence.push_str("; 1 error"),
        count => sentence.push_str(&format!("; {} errors", grouped(count))),
    }
    if outcome.journal.lost_count > 0 {
        let lost = grouped(outcome.journal.lost_count);
        sentence.push_str(&format!("; the journal lacks {lost} lines"));
    }
    let listed = outcome.failures.listed.iter();
    RemovalReport {
        sentence,
        freed_bytes: outcome.freed_bytes.into(),
        errors: listed.map(|failure| failure.to_string()).collect(),
    }
}

fn items(count: usize) -> String {
    counted(count as u64, "item is", "items are")
}

/// The journal, and a warning where there is none for want of space or of a home.
///
/// A removal is the remedy for the first, and the user can set a place for the second.
fn open_journal() -> Result<(Option<Journal>, Option<String>), String> {
    let Some(path) = journal_path() else {
        let none = places::no_home();
        let warning = format!("{none}, so nothing is recorded; XDG_STATE_HOME sets a place");
        return Ok((None, Some(warning)));
    };
    match Journal::open(bytes_of(&path)) {
        Ok(journal) => Ok((Some(journal), None)),
        Err(error) => {
            let full = [Errno::NOSPC, Errno::DQUOT].map(|errno| Some(errno.raw_os_error()));
            let path = escape(bytes_of(&path), Charset::Unicode);
            let text = format!("cannot open the journal {path}: {}", reason(&error));
            match full.contains(&error.raw_os_error()) {
                true => Ok((None, Some(format!("{text}; nothing is recorded")))),
                false => Err(text),
            }
        }
    }
}

fn journal_path() -> Option<PathBuf> {
    let state = places::state()?;
    Some(state.join("statwalk/removed.jsonl"))
}

fn home_trash() -> Option<Trash> {
    let data = places::data()?;
    Some(Trash::new(data.join("Trash").into_os_string().into_vec()))
}

/// The path for the journal, which outlives the working directory.
fn absolute(path: &[u8]) -> Vec<u8> {
    match std::path::absolute(OsStr::from_bytes(path)) {
        Ok(path) => path.into_os_string().into_vec(),
        Err(_) => path.to_vec(),
    }
}

fn bytes_of(path: &(impl AsRef<Path> + ?Sized)) -> &[u8] {
    let path: &OsStr = path.as_ref().as_os_str();
    path.as_bytes()
}

fn local_now() -> Now {
    let now = jiff::Timestamp::now();
    Now {
        seconds: now.as_second(),
        offset_s: TimeZone::system().to_offset(now).seconds(),
    }
}
