// SPDX-License-Identifier: MIT OR Apache-2.0

//! A search by name: its text, and the ways back from its results.

use std::time::Duration;

use statwalk_view::NamePattern;

use crate::browser::{Browser, Mode};
use crate::data::{Data, ItemId};
use crate::event::{Effect, Key};
use crate::list::{List, RowKey};
use crate::prompt::Line;
use crate::view::View;

/// A state of the rows that the user can come back to.
#[derive(Clone, Debug)]
struct Spot {
    place: Vec<ItemId>,
    view: View,
    text: Line,
    row: Option<RowKey>,
}

/// A search, and where Esc leads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) text: Line,
    /// The rows before the results.
    before: Option<Spot>,
    /// The results, where the user left them for the directory of one.
    left: Option<Spot>,
}

impl Search {
    /// The pattern to look for; absent where the text is empty, or the reason why it is no
    /// pattern.
    pub(crate) fn pattern(&self) -> Result<Option<NamePattern>, String> {
        pattern(&self.text)
    }

    /// Whether Esc leads back to results.
    pub(crate) fn has_left(&self) -> bool {
        self.left.is_some()
    }

    /// Forgets the ways back: the items there get other numbers.
    pub(crate) fn forget_ways(&mut self) {
        (self.before, self.left) = (None, None);
    }
}

/// The pattern that a line has; absent where it is empty, or the reason why there is none.
pub(crate) fn pattern(line: &Line) -> Result<Option<NamePattern>, String> {
    match line.text.as_str() {
        "" => Ok(None),
        text => match NamePattern::typed(text) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(error) => Err(format!("'{text}' is no pattern: {error}")),
        },
    }
}

impl Browser {
    fn spot(&self) -> Spot {
        Spot {
            place: self.chosen.place.clone(),
            view: self.chosen.view,
            text: self.chosen.text.clone(),
            row: self.list.key(),
        }
    }

    fn go_to_spot(&mut self, spot: Spot) {
        self.chosen.place = spot.place;
        self.chosen.view = spot.view;
        self.chosen.text = spot.text;
        self.list = List::waiting(spot.row);
        self.asking.is_stale = true;
    }

    /// Asks for the text: a new one, or another one in the results.
    pub(crate) fn begin_search(&mut self) {
        if self.chosen.view != View::Found {
            self.search.text = Line::default();
            self.show(View::Found);
        }
        self.mode = Mode::Search;
    }

    /// Remembers the rows before results that come now.
    pub(crate) fn note_before_results(&mut self) {
        self.search.before = Some(self.spot());
        self.search.left = None;
    }

    /// Remembers the results: the user goes to one of them.
    pub(crate) fn note_results(&mut self) {
        self.search.left = Some(self.spot());
    }

    /// Goes back to the rows before the results.
    pub(crate) fn leave_results(&mut self) {
        match self.search.before.take() {
            Some(spot) => self.go_to_spot(spot),
            None => self.show(View::Tree),
        }
    }

    /// Goes back to the results that were left. Answers whether there were any.
    pub(crate) fn return_to_results(&mut self) -> bool {
        let spot = self.search.left.take();
        let is_there = spot.is_some();
        if let Some(spot) = spot {
            self.go_to_spot(spot);
        }
        is_there
    }

    pub(crate) fn search_key(
        &mut self,
        key: Key,
        at: Duration,
        data: &dyn Data,
        wishes: &mut Vec<Effect>,
    ) {
        self.mode = Mode::Search;
        match key {
            Key::Esc => {
                self.mode = Mode::Rows;
                self.leave_results();
            }
            Key::Enter => self.mode = Mode::Rows,
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                self.row_key(key, at, data, wishes);
            }
            key if self.search.text.take(key) => self.search_anew(),
            _ => {}
        }
    }

    /// Looks for another text. The cursor is on the first result then.
    pub(crate) fn search_anew(&mut self) {
        self.list.release();
        // The rows stay until those of the new text come.
        self.list.is_waiting = true;
        self.asking.is_stale = true;
    }
}
