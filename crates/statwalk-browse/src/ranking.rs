// SPDX-License-Identifier: MIT OR Apache-2.0

//! Items that become rows: the first ones of an order.

use std::cmp::{Ordering, Reverse};

use statwalk_view::Kind;

use crate::answer::Answer;
use crate::data::{Item, ItemId};
use crate::filter::{Bytes, Sort, SortKey};
use crate::list::{All, ListRows, Query};

/// The place of a row in the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Number(Reverse<u128>),
    Time(Reverse<Option<i64>>),
    Owner(Option<u32>),
    Nothing,
}

struct Ranked {
    comes_later: bool,
    rank: Rank,
    name: Box<[u8]>,
    id: ItemId,
}

/// The first items of an order, and the sums of all that were taken.
pub(crate) struct Ranking {
    number: u64,
    bytes: Bytes,
    sort: Sort,
    max: usize,
    ranked: Vec<Ranked>,
    /// Whether `ranked` begins with the first `max` items so far, in their order.
    is_full: bool,
    largest: u128,
    pub(crate) all: All,
}

impl Ranking {
    /// A list of at most so many rows.
    pub(crate) fn new(query: &Query, sort: Sort, max: usize) -> Ranking {
        Ranking {
            number: query.number,
            bytes: query.bytes,
            sort,
            max,
            ranked: Vec::new(),
            is_full: false,
            largest: 0,
            all: All::default(),
        }
    }

    /// Takes an item.
    pub(crate) fn take(&mut self, id: ItemId, item: &Item<'_>) {
        self.all.bytes += self.bytes.of(item);
        self.take_without_bytes(id, item);
    }

    /// Takes an item whose bytes count with another one.
    pub(crate) fn take_without_bytes(&mut self, id: ItemId, item: &Item<'_>) {
        let bytes = self.bytes.of(item);
        self.largest = self.largest.max(bytes);
        self.all.count += 1;
        let rank = match self.sort.key {
            SortKey::Size => Rank::Number(Reverse(bytes)),
            SortKey::Entries => Rank::Number(Reverse(item.entries.into())),
            SortKey::Newest => Rank::Time(Reverse(item.newest_ns)),
            SortKey::Owner => Rank::Owner(item.uid),
            SortKey::Name => Rank::Nothing,
        };
        let comes_later = self.sort.dirs_first && item.kind != Kind::Directory;
        let is_reversed = self.sort.is_reversed;
        let key = (comes_later, &rank, &*item.name, id);
        if self.is_full && compare(is_reversed, key, self.ranked[self.max - 1].key()).is_gt() {
            return;
        }
        self.ranked.push(Ranked {
            comes_later,
            rank,
            name: item.name.as_ref().into(),
            id,
        });
        if self.ranked.len() / 2 >= self.max {
            self.cut();
        }
    }

    /// Keeps the first ones alone, in their order.
    fn cut(&mut self) {
        let is_reversed = self.sort.is_reversed;
        (self.ranked).sort_unstable_by(|a, b| compare(is_reversed, a.key(), b.key()));
        self.ranked.truncate(self.max);
        self.is_full = self.ranked.len() == self.max;
    }

    /// The rows. Without a size of the whole, it is that of all items.
    pub(crate) fn answer(mut self, whole: Option<u128>) -> Answer {
        self.cut();
        let ids = self.ranked.into_iter().map(|ranked| ranked.id).collect();
        Answer {
            number: self.number,
            rows: ListRows::Items(ids),
            whole: whole.unwrap_or(self.all.bytes),
            largest: self.largest,
            all: self.all,
            programs: Vec::new(),
        }
    }
}

type Key<'r> = (bool, &'r Rank, &'r [u8], ItemId);

impl Ranked {
    fn key(&self) -> Key<'_> {
        (self.comes_later, &self.rank, &self.name, self.id)
    }
}

fn compare(is_reversed: bool, a: Key<'_>, b: Key<'_>) -> Ordering {
    let order = (a.1, a.2, a.3).cmp(&(b.1, b.2, b.3));
    let order = if is_reversed { order.reverse() } else { order };
    a.0.cmp(&b.0).then(order)
}
