// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way from marked items to their removal.
//!
//! The browser removes nothing: its shell does, and knows the rules. No key alone
//! removes anything: a survey comes first, then a [`Dialog`] that begins with *Cancel*.

use std::time::Duration;

use statwalk_view::Kind;

use crate::browser::{Browser, Mode};
use crate::data::{Data, ItemId};
use crate::dialog::{Choice, Dialog};
use crate::event::{Effect, Key};

/// How items go away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// They move to the trash, which frees nothing yet.
    Trash,
    /// They are gone.
    Permanent,
    /// They are gone, and so is another entry of the same type that has such a name by then.
    /// The user has answered a question more.
    ByName,
}

/// The facts that the user must know before a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The whole path of each item.
    pub paths: Vec<Vec<u8>>,
    /// Their entries, with everything below.
    pub entries: u64,
    /// The space on disk, in bytes.
    pub bytes: u128,
    /// The space that would be free without them, in bytes.
    pub freed_bytes: u128,
    /// Sentences that a careful user reads before: other owners, a change just now. These
    /// and those below are safe for a terminal.
    pub warnings: Vec<String>,
    /// The reason why nothing is removed, if there is one.
    pub refusal: Option<String>,
    /// Whether nobody can know an item again but by its name and type, so that a question
    /// comes more. A sentence among the warnings says so.
    pub is_by_name: bool,
    /// The reason why the trash does not take the items; absent where it does.
    pub no_trash: Option<String>,
    /// The directories of the trash that take the items, each once; empty where there is
    /// none.
    pub trashes: Vec<Vec<u8>>,
    /// The reason why the trash, too, needs the word that the user types; absent where a key
    /// suffices.
    pub why_typed: Option<String>,
    /// That word, safe for a terminal.
    pub word: String,
}

/// How far a removal has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalState {
    /// The entries that are gone.
    pub entries: u64,
    /// All entries that the survey met.
    pub of_entries: u64,
    /// The entries that could not be removed.
    pub errors: u64,
}

/// The end of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalReport {
    /// A sentence about all of it, safe for a terminal.
    pub sentence: String,
    /// The space that is free now, in bytes.
    pub freed_bytes: u128,
    /// A line for each path that is still there, with the cause, safe for a terminal.
    pub errors: Vec<String>,
}

impl Browser {
    /// Has the shell look at items that were just marked. A removal takes what was marked,
    /// and nothing that has its name later.
    pub(crate) fn identify(&self, mut ids: Vec<ItemId>, wishes: &mut Vec<Effect>) {
        ids.retain(|id| self.marks.has(*id));
        if self.options.removes && !ids.is_empty() {
            wishes.push(Effect::Identify(ids));
        }
    }

    /// Begins with the marked items, or the one under the cursor.
    pub(crate) fn propose_removal(
        &mut self,
        at: Duration,
        data: &dyn Data,
        wishes: &mut Vec<Effect>,
    ) {
        if !self.options.removes {
            return self.say("nothing is removed here: --enable-delete allows it", at);
        }
        if self.work.removal.is_some() {
            return self.say("a removal goes on: Esc stops it", at);
        }
        if self.work.is_restoring {
            return self.say("items are on their way back from the trash", at);
        }
        if !data.is_final() {
            return self.say("the scan goes on; S stops it", at);
        }
        let marked = self.marks.outermost(data);
        let is_at_cursor = marked.is_empty();
        let items = match is_at_cursor {
            true => self.item_here(data).into_iter().collect(),
            false => marked,
        };
        let is_real = |id: &ItemId| data.item(*id).is_some_and(|item| item.kind != Kind::Rest);
        if items.is_empty() || !items.iter().all(is_real) {
            return self.say("only files and directories can be removed", at);
        }
        self.mode = Mode::Survey(0);
        if is_at_cursor {
            // This moment is that of its mark.
            wishes.push(Effect::Identify(items.clone()));
        }
        wishes.push(Effect::Survey(items));
    }

    /// Takes the result of the survey that the user waits for.
    pub(crate) fn take_proposal(&mut self, proposal: Result<Proposal, String>, at: Duration) {
        if !matches!(self.mode, Mode::Survey(_)) {
            return;
        }
        self.mode = Mode::Rows;
        match proposal {
            Ok(proposal) => {
                self.work.questions += 1;
                self.mode = Mode::Remove(Box::new(Dialog::new(proposal)));
            }
            Err(error) => self.say(error, at),
        }
    }

    pub(crate) fn dialog_key(
        &mut self,
        mut dialog: Box<Dialog>,
        key: Key,
        at: Duration,
        wishes: &mut Vec<Effect>,
    ) {
        let was_asked_again = dialog.is_asked_again;
        match dialog.take(key) {
            None => {
                self.work.questions += u64::from(dialog.is_asked_again && !was_asked_again);
                self.mode = Mode::Remove(dialog);
            }
            Some(Choice::Cancel) => {
                wishes.push(Effect::EndSurvey);
                self.say("nothing was removed", at);
            }
            Some(Choice::Remove(manner)) => {
                self.work.removal = Some(RemovalState {
                    of_entries: dialog.proposal.entries,
                    ..RemovalState::default()
                });
                wishes.push(Effect::Remove(manner));
            }
        }
    }

    /// Takes the end of a removal. `data` has the items no more.
    pub(crate) fn take_removed(&mut self, report: RemovalReport, at: Duration, data: &dyn Data) {
        self.work.removal = None;
        self.work.freed_bytes += report.freed_bytes;
        self.marks.forget_gone(data);
        self.reorder();
        match report.errors.is_empty() {
            true => self.say(report.sentence, at),
            false => {
                self.work.questions += 1;
                self.mode = Mode::Report(report, 0);
            }
        }
    }

    pub(crate) fn report_key(&mut self, report: RemovalReport, top: usize, key: Key) {
        let page = usize::from(self.height).saturating_sub(8).max(1);
        let last = report.errors.len().saturating_sub(1);
        let top = match key {
            Key::Esc | Key::Enter | Key::Char('q') => return,
            Key::Up | Key::Char('k') => top.saturating_sub(1),
            Key::Down | Key::Char('j') => (top + 1).min(last),
            Key::PageUp => top.saturating_sub(page),
            Key::PageDown => (top + page).min(last),
            Key::Home => 0,
            Key::End => last,
            _ => top,
        };
        self.mode = Mode::Report(report, top);
    }
}
