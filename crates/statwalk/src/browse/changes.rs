// SPDX-License-Identifier: MIT OR Apache-2.0

//! The changes of the numbers, as the shell has them read and shows them.

use std::sync::Arc;

use statwalk_browse::{Data, Event, Filter, Filtered, ItemId, Manner, item_at};

use super::message::Message;
use super::numbers::{Newer, Reading, Reason, Taken};
use super::screen::Screen;
use super::source::Source;
use super::trash_desk::{Spot, Trail};
use super::undo::Back;
use super::{Shell, refresh, scan};
use crate::request::safe;

/// The answer to a reading that had no difference to tell.
const THOSE_OF_NOW: &str = "the numbers are those of now";

impl Shell {
    /// Takes the numbers at the end of the scan, and reads again what changed during it.
    pub(super) fn take_scan(
        &mut self,
        data: Arc<dyn Data>,
        is_partial: bool,
        screen: &mut dyn Screen,
    ) {
        let owed = self.numbers.end_scan(data, is_partial);
        self.show_all(Event::Data, screen);
        for (path, reason) in owed {
            match reason {
                Reason::Trash => drop(self.read_trashes([&path[..]])),
                _ => self.read_path_again(&path),
            }
        }
    }

    /// Takes what is gone out of all numbers, and reads again what is gone in part, and the
    /// trash.
    pub(super) fn take_removed(
        &mut self,
        outcome: statwalk_remove::Outcome,
        trails: Vec<(Vec<u8>, Option<Trail>)>,
        screen: &mut dyn Screen,
    ) {
        let Some(mut ended) = (self.remover).take_outcome(outcome, &*self.numbers.all()) else {
            return;
        };
        let manner = match ended.trashed.is_empty() {
            true => Manner::Permanent,
            false => Manner::Trash,
        };
        self.numbers.remove(&ended.gone, manner);
        let trashes: Vec<Vec<u8>> = trails.iter().map(|(trash, _)| trash.clone()).collect();
        for (trash, trail) in trails {
            let bytes = ended.trashed.remove(&trash).unwrap_or(0);
            self.trash.add(&trash, bytes, trail);
        }
        let outside = self.read_trashes(trashes.iter().map(|trash| &trash[..]));
        let outside: Vec<String> = (outside.into_iter())
            .map(|trash| safe(&String::from_utf8_lossy(trash)))
            .collect();
        if !outside.is_empty() {
            let outside = outside.join(", ");
            (ended.report.sentence).push_str(&format!("; it lies outside of the scan: {outside}"));
        }
        self.show_all(Event::Removed(ended.report), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
        for dir in ended.partly {
            self.read_again(dir, None, Reason::Removal);
        }
    }

    /// Puts items that are back into the numbers. The directory of one that the numbers do
    /// not know any more, or that changed in the trash, is read again.
    pub(super) fn take_back(&mut self, text: String, back: &[Back], screen: &mut dyn Screen) {
        if back.is_empty() {
            return self.update(Event::Restored(text), screen);
        }
        let known = back.iter().filter(|back| !back.is_changed);
        let known: Vec<ItemId> = known.filter_map(|back| back.id).collect();
        let there = self.numbers.bring_back(&known);
        let is_missing = |back: &&Back| back.id.is_none_or(|id| !there.contains(&id));
        let mut dirs: Vec<&Vec<u8>> = (back.iter().filter(is_missing))
            .filter_map(|back| back.dir.as_ref())
            .collect();
        dirs.sort();
        dirs.dedup();
        for dir in dirs {
            if !self.numbers.owe(dir, Reason::Return) {
                self.read_path_again(dir);
            }
        }
        let mut trashes: Vec<&Vec<u8>> = back.iter().map(|back| &back.trash).collect();
        trashes.sort();
        trashes.dedup();
        for back in back {
            self.trash.take_back(&back.trash, back.bytes);
        }
        self.read_trashes(trashes.into_iter().map(|trash| &trash[..]));
        self.show_all(Event::Restored(text), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
    }

    /// Has trashes read again, because items went there or came back. Answers with those that
    /// the scan does not have.
    ///
    /// Each is read whole: `files` and `info` change their own sizes with each item. A trash
    /// that is new to the numbers is read alone, and the directory above it is not.
    fn read_trashes<'t>(&mut self, trashes: impl IntoIterator<Item = &'t [u8]>) -> Vec<&'t [u8]> {
        let (mut places, mut outside) = (Vec::new(), Vec::new());
        let reads_gitignore = self
            .source
            .request()
            .is_some_and(|request| request.reads_gitignore);
        let all = self.numbers.all();
        for trash in trashes {
            if self.numbers.owe(trash, Reason::Trash) {
                continue;
            }
            let trail = self.trash.trail(trash);
            match trail.map(|trail| trail.find(&*all, self.numbers.is_partial)) {
                Some(Spot::Row(id)) => places.push((id, None)),
                // The rules of a directory hold for its entries, and not for a root.
                Some(Spot::New(dir, _)) if reads_gitignore => {
                    places.push((dir, None));
                }
                Some(Spot::New(dir, name)) => places.push((dir, Some(name))),
                Some(Spot::Elsewhere) | None => outside.push(trash),
            }
        }
        // Before the readings begin, so that none is older than a doubt about its directory.
        drop(all);
        places.iter().for_each(|(dir, _)| self.numbers.doubt(*dir));
        for (dir, new) in places {
            self.numbers.read(dir, new, Reason::Trash);
        }
        self.go_on_reading();
        outside
    }

    /// Shows all numbers after a change, which the browser learns of.
    fn show_all(&mut self, event: Event, screen: &mut dyn Screen) {
        let filter = self.numbers.show_all();
        self.update(event, screen);
        if let Some(filter) = filter {
            self.set_filter(filter, screen);
        }
    }

    /// Takes newer numbers of a directory, unless they are older than a removal in it.
    pub(super) fn take_newer(&mut self, reading: Reading, newer: Newer, screen: &mut dyn Screen) {
        let Some(taken) = self.numbers.take(&reading, newer) else {
            return;
        };
        let reason = reading.reason;
        let (dir, replaced, change) = match taken {
            Taken::Gone if reason == Reason::Wish => return self.say(THOSE_OF_NOW, screen),
            // The last line says that the sums lack something.
            Taken::Failed(_) if reason == Reason::Trash => return,
            Taken::Gone => return,
            Taken::Old => return self.read_again(reading.dir, reading.new, reason),
            Taken::Failed(error) => return self.say(error, screen),
            Taken::Changed {
                dir,
                replaced,
                change,
            } => (dir, replaced, change),
        };
        if replaced.is_some() {
            self.update(Event::Replacing(replaced), screen);
        }
        let text = match (change, reason) {
            (_, Reason::Trash) | (Some(_), Reason::Return) => None,
            (Some(change), Reason::Wish) => Some(refresh::difference(change, self.format)),
            (Some(_), Reason::Removal) => Some(THOSE_OF_NOW.to_owned()),
            (None, _) => Some("cannot read it again alone: R scans everything".to_owned()),
        };
        if change.is_some() {
            self.trash.settle(dir, &*self.numbers.all());
        }
        self.show_all(Event::Refreshed(text), screen);
        self.update(Event::InTrash(self.trash.lacking()), screen);
    }

    /// Has a directory read again, or a new entry of it, together with those that are being
    /// read.
    pub(super) fn read_again(&mut self, dir: ItemId, new: Option<Vec<u8>>, reason: Reason) {
        self.numbers.read(dir, new, reason);
        self.go_on_reading();
    }

    fn go_on_reading(&mut self) {
        let all = self.numbers.wanted_readings();
        if all.is_empty() {
            return;
        }
        let Some(request) = self.source.request() else {
            return;
        };
        let (scan, base) = (request.scan.clone(), self.numbers.all());
        let sender = self.sender.clone();
        let sink = scan::sink(request, true);
        self.desks.readers.ask(move |stop| {
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
        if let Some(dir) = item_at(path, &*self.numbers.all()) {
            self.read_again(dir, None, Reason::Return);
        }
    }

    pub(super) fn set_filter(&mut self, filter: Filter, screen: &mut dyn Screen) {
        self.desks.filters.end();
        let Some(all) = self.numbers.set_filter(filter.clone()) else {
            if filter.is_empty() {
                self.update(Event::Filtered(filter), screen);
            }
            return;
        };
        let now_ns = self.source.now_ns();
        self.desks.filters.ask_for_the_last(move |stop| {
            let filtered = Filtered::new(all, filter.clone(), now_ns, stop)?;
            Some(Message::Filtered(filter, Arc::new(filtered)))
        });
    }

    pub(super) fn scan_again(&mut self, screen: &mut dyn Screen) {
        let Some(request) = self.source.request().cloned() else {
            return;
        };
        if self.removes {
            self.remover.begin_scan(&request);
        }
        match Source::start(Box::new(request), self.removes, self.sender.clone()) {
            Ok(source) => {
                // Ids of the scan before mean nothing from now on.
                self.update(Event::Replacing(None), screen);
                self.trash.begin_scan();
                self.update(Event::InTrash(0), screen);
                self.desks.filters.end();
                self.numbers.begin_scan(source.data());
                self.source = source;
                self.update(Event::Data, screen);
            }
            Err(error) => self.say(error.to_string(), screen),
        }
    }
}
