// SPDX-License-Identifier: MIT OR Apache-2.0

//! The actions of the list of keys.

use statwalk_group::{FileType, GroupKey, Grouping};
use statwalk_view::{Kind, grouped};
use std::time::Duration;

use crate::browser::{Browser, Mode};
use crate::data::{Data, ItemId};
use crate::event::Effect;
use crate::filter::{Bytes, Filter, SortKey};
use crate::keys::Action;
use crate::list::{ListRows, RowKey};
use crate::prompt::{Form, Line};
use crate::view::View;

impl Browser {
    pub(crate) fn act(
        &mut self,
        action: Action,
        at: Duration,
        data: &dyn Data,
        wishes: &mut Vec<Effect>,
    ) {
        let page = self.row_count().max(1).cast_signed();
        match action {
            Action::Up => self.list.move_by(-1),
            Action::Down => self.list.move_by(1),
            Action::PageUp => self.list.move_by(-page),
            Action::PageDown => self.list.move_by(page),
            Action::HalfUp => self.list.move_by(-(page / 2).max(1)),
            Action::HalfDown => self.list.move_by((page / 2).max(1)),
            Action::First => self.list.go_to(0),
            Action::Last => self.list.go_to(usize::MAX),
            Action::Enter => self.enter(at, data, wishes),
            Action::Leave => self.leave(data),
            Action::SortName => self.sort_by(SortKey::Name),
            Action::SortSize => self.sort_by(SortKey::Size),
            Action::SortEntries => self.sort_by(SortKey::Entries),
            Action::SortNewest => self.sort_by(SortKey::Newest),
            Action::SortOwner => self.sort_by(SortKey::Owner),
            Action::DirsFirst => {
                self.chosen.sort.dirs_first = !self.chosen.sort.dirs_first;
                self.reorder();
            }
            Action::Apparent => {
                self.chosen.bytes = match self.chosen.bytes {
                    Bytes::Disk => Bytes::Apparent,
                    Bytes::Apparent => Bytes::Disk,
                };
                self.reorder();
            }
            Action::Share => self.chosen.columns.share = self.chosen.columns.share.next(),
            Action::Entries => self.chosen.columns.entries = !self.chosen.columns.entries,
            Action::Newest => self.chosen.columns.newest = !self.chosen.columns.newest,
            Action::Owner => self.chosen.columns.owner = !self.chosen.columns.owner,
            Action::Hidden => {
                self.chosen.hides = !self.chosen.hides;
                self.reorder();
            }
            Action::Info => self.show_info(data, wishes),
            // These would give the items that go other numbers, and a report would have the
            // numbers of no moment.
            Action::Refresh | Action::ScanAgain | Action::Undo | Action::Report
                if self.work.removal.is_some() =>
            {
                self.say("a removal goes on: Esc stops it", at);
            }
            Action::Refresh | Action::ScanAgain | Action::Undo | Action::Report
                if self.work.is_restoring =>
            {
                self.say("items are on their way back from the trash", at);
            }
            Action::Refresh => self.refresh(at, data, wishes),
            Action::ScanAgain => wishes.push(Effect::ScanAgain),
            Action::StopScan if self.work.removal.is_some() => wishes.push(Effect::StopRemoval),
            Action::StopScan if self.watch.scan.is_over => self.say("no scan goes on", at),
            Action::StopScan => wishes.push(Effect::StopScan),
            Action::Pause => {
                self.asking.is_paused = !self.asking.is_paused;
                let what = match self.asking.is_paused {
                    true => "rows keep their order",
                    false => "rows are sorted while the scan goes on",
                };
                self.say(what, at);
            }
            Action::Filter => self.mode = Mode::Text,
            Action::Search => self.begin_search(),
            Action::Form => self.mode = Mode::Form(Form::default()),
            Action::Jump => self.mode = Mode::Jump(Line::default()),
            Action::Mark | Action::MarkDown => self.mark(action, at, data, wishes),
            Action::MarkAll => {
                if let ListRows::Items(ids) = &self.list.rows {
                    let ids = ids.iter().filter_map(|id| data.settled(*id));
                    let ids: Vec<ItemId> = ids.filter(|id| is_one_item(*id, data)).collect();
                    ids.iter().for_each(|id| self.marks.invert(*id));
                    self.identify(ids, wishes);
                    let (rows, all) = (self.list.rows.len() as u64, self.list.all.count);
                    if all > rows {
                        let (rows, all) = (grouped(rows), grouped(all));
                        self.say(format!("the {rows} rows of {all} items alone"), at);
                    }
                }
                self.reorder_marks();
            }
            Action::Write => match self.marks.len() {
                _ if self.marks.waiting_len() > 0 => {
                    self.say("marks come back at the end of the scan", at);
                }
                0 => self.say("nothing is marked: Space marks the item", at),
                _ => self.mode = Mode::File(Line::default()),
            },
            Action::Report => self.ask_report(at, wishes),
            Action::Space => self.ask_space(wishes),
            Action::Remove => self.propose_removal(at, data, wishes),
            Action::Undo if !self.options.removes => self.propose_removal(at, data, wishes),
            Action::Undo => {
                self.work.is_restoring = true;
                wishes.push(Effect::Undo);
            }
            Action::Shell => self.start(at, Effect::Shell(self.directory()), wishes),
            Action::Open => {
                if let Some(id) = self.item_here(data) {
                    self.start(at, Effect::Open(id), wishes);
                }
            }
            Action::Copy => {
                let id = self.item_here(data).or(self.directory());
                wishes.extend(id.map(Effect::Copy));
            }
            Action::Tree => self.show(View::Tree),
            Action::Largest => self.show(View::Largest),
            Action::Types => self.show(match self.chosen.view {
                View::Groups(Grouping::Category) => View::Groups(Grouping::Type),
                _ => View::Groups(Grouping::Category),
            }),
            Action::Owners => self.show(View::Groups(Grouping::Owner)),
            Action::Ages => self.show(View::Groups(Grouping::Age)),
            Action::Sizes => self.show(View::Groups(Grouping::Size)),
            Action::Errors => self.show(View::Errors),
            Action::Marks => self.show(View::Marks),
            Action::Rebuildable => self.show(View::Rebuildable),
            Action::Found => self.show(View::Found),
            Action::NextView => self.show(self.chosen.view.step(1)),
            Action::PreviousView => self.show(self.chosen.view.step(View::ALL.len() - 1)),
            Action::Help => self.mode = Mode::Help(0, Line::default()),
            Action::Escape => self.escape(wishes),
            Action::Suspend => wishes.push(Effect::Suspend),
            Action::Quit => wishes.push(Effect::Quit(None)),
            Action::QuitPrint => {
                let id = self.directory().or(self.item_here(data));
                wishes.push(Effect::Quit(id));
            }
        }
    }

    fn refresh(&mut self, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        match self.directory() {
            _ if !data.is_final() => self.say("the scan goes on; S stops it", at),
            None => self.say("R scans everything again", at),
            Some(dir) => {
                self.say("reading again", at);
                wishes.push(Effect::Refresh(dir));
            }
        }
    }

    pub(crate) fn show_info(&mut self, data: &dyn Data, wishes: &mut Vec<Effect>) {
        if let Some(id) = self.item_here(data) {
            self.mode = Mode::Info(id, None);
            wishes.push(Effect::Details(id));
        }
    }

    fn start(&mut self, at: Duration, wish: Effect, wishes: &mut Vec<Effect>) {
        match self.options.starts_programs {
            true => wishes.push(wish),
            false => self.say("no programs are started here: -rr forbids it", at),
        }
    }

    pub(crate) fn show(&mut self, view: View) {
        if self.chosen.view != view {
            if view == View::Found {
                self.note_before_results();
            }
            self.chosen.view = view;
            self.chosen.text.text.clear();
            self.renew(None);
        }
    }

    pub(crate) fn sort_by(&mut self, key: SortKey) {
        self.chosen.sort.is_reversed = self.chosen.sort.key == key && !self.chosen.sort.is_reversed;
        self.chosen.sort.key = key;
        self.reorder();
    }

    fn mark(&mut self, action: Action, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        let Some(id) = self.item_here(data) else {
            return self.say("only files and directories can be marked", at);
        };
        if !is_one_item(id, data) {
            return self.say("these can be marked once the scan is done", at);
        }
        self.marks.invert(id);
        self.identify(vec![id], wishes);
        if action == Action::MarkDown {
            self.list.move_by(1);
        }
        self.reorder_marks();
    }

    fn reorder_marks(&mut self) {
        if self.chosen.view == View::Marks {
            self.reorder();
        }
    }

    pub(crate) fn enter(&mut self, at: Duration, data: &dyn Data, wishes: &mut Vec<Effect>) {
        if let Some(tally) = self.list.group() {
            let group = tally.group;
            let View::Groups(by) = self.chosen.view else {
                return;
            };
            let mut filter = self.chosen.filter.clone();
            match group {
                GroupKey::Kind(FileType::Directory) => {
                    return self.say("every directory is shown anyway", at);
                }
                GroupKey::Owner(uid) => filter.uid = Some(uid),
                _ => filter.only(by, group),
            }
            self.chosen.view = View::Tree;
            self.renew(None);
            return self.set_filter(filter, wishes);
        }
        let Some(id) = self.item_here(data) else {
            return;
        };
        let Some(item) = data.item(id) else { return };
        if self.chosen.view != View::Tree {
            return self.go_to_item(id, data, wishes);
        }
        if item.kind == Kind::Directory {
            self.chosen.place.push(id);
            self.chosen.text.text.clear();
            self.renew(None);
            if !data.is_final() {
                wishes.push(Effect::Prefer(id));
            }
        }
    }

    /// Shows the directory of an item, with the cursor on the item.
    fn go_to_item(&mut self, id: ItemId, data: &dyn Data, wishes: &mut Vec<Effect>) {
        if self.chosen.view == View::Found {
            self.note_results();
        }
        let above = std::iter::successors(data.parent(id), |id| data.parent(*id));
        let mut place: Vec<ItemId> = above.collect();
        place.reverse();
        self.chosen.place = place;
        self.chosen.view = View::Tree;
        self.chosen.text.text.clear();
        self.renew(Some(RowKey::Item(id)));
        if let (false, Some(dir)) = (data.is_final(), self.directory()) {
            wishes.push(Effect::Prefer(dir));
        }
    }

    fn leave(&mut self, data: &dyn Data) {
        match self.chosen.view {
            View::Tree => {}
            View::Found => return self.leave_results(),
            _ => return self.show(View::Tree),
        }
        let is_top = self.chosen.place.len() == 1 && data.roots().len() == 1;
        if let Some(left) = self.chosen.place.pop_if(|_| !is_top) {
            self.chosen.text.text.clear();
            self.renew(Some(RowKey::Item(left)));
        }
    }

    fn escape(&mut self, wishes: &mut Vec<Effect>) {
        // Someone in a hurry to stop it presses Esc.
        if self.work.removal.is_some() {
            wishes.push(Effect::StopRemoval);
        } else if self.work.report.is_some() {
            wishes.push(Effect::StopReport);
        } else if !self.chosen.text.text.is_empty() {
            self.chosen.text.text.clear();
            self.reorder();
        } else if self.chosen.view == View::Found {
            self.leave_results();
        } else if self.chosen.view == View::Tree && self.return_to_results() {
            // The filter is that of the results still.
        } else if !self.chosen.filter.is_empty() || self.chosen.is_filtering {
            self.set_filter(Filter::default(), wishes);
        } else if self.chosen.view != View::Tree {
            self.show(View::Tree);
        }
    }

    /// Whether Esc clears the filter, once no text is there.
    pub(crate) fn escape_clears_filter(&self) -> bool {
        match self.chosen.view {
            View::Found => false,
            View::Tree => !self.search.has_left(),
            _ => true,
        }
    }

    pub(crate) fn set_filter(&mut self, filter: Filter, wishes: &mut Vec<Effect>) {
        self.chosen.is_filtering = true;
        wishes.push(Effect::SetFilter(filter));
    }
}

/// Whether a row stands for one item, and not for several.
fn is_one_item(id: ItemId, data: &dyn Data) -> bool {
    data.item(id).is_some_and(|item| item.kind != Kind::Rest)
}
