// SPDX-License-Identifier: MIT OR Apache-2.0

//! The rows of a view, and the cursor on one of them.

use statwalk_group::{GroupKey, Grouping};
use statwalk_view::NamePattern;

use crate::answer::Answer;
use crate::data::{Data, Fault, ItemId};
use crate::filter::{Bytes, Sort};
use crate::tally::GroupTally;

/// A question for the rows of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its number. Only the answer to the last question counts.
    pub number: u64,
    pub(crate) rows: Wanted,
    /// The directory; absent for the list of roots.
    pub(crate) dir: Option<ItemId>,
    pub(crate) sort: Sort,
    pub(crate) bytes: Bytes,
    /// A pattern that names match, too.
    pub(crate) names: Option<NamePattern>,
    pub(crate) hides: bool,
    pub(crate) now_ns: i64,
}

impl Query {
    /// Whether it asks for the same as another one, whatever their numbers.
    pub(crate) fn asks_as(&self, other: &Query) -> bool {
        let number = self.number;
        *self
            == Query {
                number,
                ..other.clone()
            }
    }

    /// Whether its answer needs facts of the disk.
    #[must_use]
    pub fn asks_disk(&self) -> bool {
        self.rows == Wanted::Rebuildable
    }

    /// Whether a name, or a path, matches the pattern for names.
    pub(crate) fn fits(&self, name: &[u8]) -> bool {
        (self.names.as_ref()).is_none_or(|names| names.fits(name))
    }
}

/// The rows that a view has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The items of the directory.
    Items,
    /// The largest files below it.
    Largest,
    /// The items below it whose names match.
    Named(NamePattern),
    /// The directories below it that a program makes again.
    Rebuildable,
    /// Groups of everything below it.
    Groups(Grouping),
    /// The faults below it.
    Faults,
    /// These items.
    These(Vec<ItemId>),
}

/// All items that the rows are the first of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct All {
    pub(crate) count: u64,
    /// Their sizes together.
    pub(crate) bytes: u128,
    /// Whether that is a lower bound.
    pub(crate) is_lower: bool,
}

/// The rows of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListRows {
    Items(Vec<ItemId>),
    Groups(Vec<GroupTally>),
    /// The first faults, and the number of all.
    Faults(Vec<Fault>, u64),
}

/// The thing that a row stands for, wherever the row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowKey {
    Item(ItemId),
    Group(GroupKey),
    Fault(Vec<u8>),
}

impl ListRows {
    pub(crate) fn len(&self) -> usize {
        match self {
            ListRows::Items(ids) => ids.len(),
            ListRows::Groups(groups) => groups.len(),
            ListRows::Faults(faults, _) => faults.len(),
        }
    }

    /// Gives the items the numbers that they have in other data, where they are there.
    pub(crate) fn settle(&mut self, data: &dyn Data) {
        if let ListRows::Items(ids) = self {
            for id in ids {
                *id = data.settled(*id).unwrap_or(*id);
            }
        }
    }

    fn key(&self, place: usize) -> Option<RowKey> {
        match self {
            ListRows::Items(ids) => ids.get(place).copied().map(RowKey::Item),
            ListRows::Groups(groups) => {
                let group = groups.get(place)?;
                Some(RowKey::Group(group.group))
            }
            ListRows::Faults(faults, _) => {
                let fault = faults.get(place)?;
                Some(RowKey::Fault(fault.path.clone()))
            }
        }
    }

    fn place_of(&self, key: &RowKey) -> Option<usize> {
        match (self, key) {
            (ListRows::Items(ids), RowKey::Item(wanted)) => ids.iter().position(|id| id == wanted),
            (ListRows::Groups(groups), RowKey::Group(wanted)) => {
                groups.iter().position(|group| group.group == *wanted)
            }
            (ListRows::Faults(faults, _), RowKey::Fault(wanted)) => {
                faults.iter().position(|fault| fault.path == *wanted)
            }
            _ => None,
        }
    }
}

/// The rows of a view, with the cursor. The cursor stays on its row when the order
/// changes.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) rows: ListRows,
    /// The size of the whole, and of the largest row.
    pub(crate) whole: u128,
    pub(crate) largest: u128,
    pub(crate) all: All,
    /// As in [`Answer`].
    pub(crate) programs: Vec<&'static str>,
    cursor: usize,
    /// Whether the cursor belongs to its row, and not to the top.
    is_held: bool,
    /// Where the cursor is to be once the row is there.
    wanted: Option<RowKey>,
    top: usize,
    /// Whether the answer for this view has not come yet.
    pub(crate) is_waiting: bool,
}

impl List {
    pub(crate) fn waiting(wanted: Option<RowKey>) -> List {
        List {
            rows: ListRows::Items(Vec::new()),
            whole: 0,
            largest: 0,
            all: All::default(),
            programs: Vec::new(),
            cursor: 0,
            is_held: false,
            wanted,
            top: 0,
            is_waiting: true,
        }
    }

    /// Takes new rows. A cursor whose row is gone stays at its place. One that nobody has
    /// seen yet stays at the top.
    pub(crate) fn replace(&mut self, answer: Answer) {
        let key = match self.wanted.take() {
            Some(key) => Some(key),
            None if self.is_held => self.rows.key(self.cursor),
            None => None,
        };
        let distance = self.cursor.saturating_sub(self.top);
        self.rows = answer.rows;
        self.programs = answer.programs;
        (self.whole, self.largest, self.all) = (answer.whole, answer.largest, answer.all);
        self.is_waiting = false;
        if let Some(place) = key.and_then(|key| self.rows.place_of(&key)) {
            self.cursor = place;
            self.top = place.saturating_sub(distance);
        }
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
    }

    /// Gives the rows the numbers that their items have in other data. A row whose item is
    /// not there stays until other rows come.
    pub(crate) fn settle(&mut self, data: &dyn Data) {
        self.rows.settle(data);
        if let Some(RowKey::Item(id)) = &mut self.wanted
            && let Some(other) = data.settled(*id)
        {
            *id = other;
        }
    }

    /// Lets the cursor stay on its row from now on: the user has pressed a key.
    pub(crate) fn hold(&mut self) {
        self.is_held = !self.is_waiting;
    }

    /// Puts the cursor on the top, whatever comes to be there.
    pub(crate) fn release(&mut self) {
        self.go_to(0);
        self.is_held = false;
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn key(&self) -> Option<RowKey> {
        self.rows.key(self.cursor)
    }

    /// Puts the cursor on a row.
    pub(crate) fn wish(&mut self, key: RowKey) {
        if let Some(place) = self.rows.place_of(&key) {
            self.go_to(place);
        }
    }

    /// Pins the cursor to its row, also where nobody moved it.
    pub(crate) fn pin(&mut self) {
        self.wanted = self.key();
    }

    pub(crate) fn item(&self) -> Option<ItemId> {
        match &self.rows {
            ListRows::Items(ids) => ids.get(self.cursor).copied(),
            _ => None,
        }
    }

    pub(crate) fn group(&self) -> Option<&GroupTally> {
        match &self.rows {
            ListRows::Groups(groups) => groups.get(self.cursor),
            _ => None,
        }
    }

    pub(crate) fn go_to(&mut self, place: usize) {
        self.wanted = None;
        self.cursor = place.min(self.rows.len().saturating_sub(1));
    }

    pub(crate) fn move_by(&mut self, rows: isize) {
        self.go_to(self.cursor.saturating_add_signed(rows));
    }

    /// The first row of a screen of so many, with the cursor on the screen.
    pub(crate) fn scroll(&mut self, height: usize) -> usize {
        let height = height.max(1);
        let last_top = self.rows.len().saturating_sub(height);
        self.top = self.top.min(last_top);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.cursor >= self.top + height {
            self.top = self.cursor + 1 - height;
        }
        self.top
    }
}
