// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answers to questions that can take long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::data::{Data, Item, ItemId, Kind};
use crate::filter::{SortKey, holds, is_hidden};
use crate::list::{Query, Rows, Wanted};
use crate::tally::{Group, Tally, tally};

/// The number of rows in the list of the largest files.
const LARGEST_MAX: usize = 1_000;

/// How many items are looked at between two questions whether to stop.
const STOP_PERIOD: u32 = 4096;

/// The rows of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number of the question.
    pub(crate) number: u64,
    pub(crate) rows: Rows,
    pub(crate) whole: u128,
    pub(crate) largest: u128,
}

/// Answers a question. Absent where `stop` asked to end.
///
/// It takes a time that grows with the number of items that it looks at, so a shell
/// calls it on a thread of its own.
pub fn answer(data: &dyn Data, query: &Query, stop: &dyn Fn() -> bool) -> Option<Answer> {
    let whole = query.dir.and_then(|dir| data.item(dir));
    let whole = whole.map(|item| query.bytes.of(&item));
    match &query.rows {
        Wanted::Items => {
            let mut list = Sorting::new(query);
            match query.dir {
                Some(dir) => list.children(data, dir, stop)?,
                None => list.these(data, &data.roots()),
            }
            // While a scan goes on, files are known that the sums lack still.
            let whole = match data.is_final() {
                true => whole,
                false => whole.map(|whole| whole.max(list.sum)),
            };
            list.answer(whole)
        }
        Wanted::These(ids) => {
            let mut list = Sorting::new(query);
            list.these(data, ids);
            list.answer(None)
        }
        Wanted::Largest => largest(data, query, whole, stop),
        Wanted::Groups(by) => {
            let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
            let mut groups: Vec<Tally> = Vec::new();
            for root in roots {
                for more in tally(data, root, *by, query.now_ns, stop)? {
                    match groups.iter_mut().find(|known| known.group == more.group) {
                        Some(known) => known.add(&more),
                        None => groups.push(more),
                    }
                }
            }
            Some(groups_answer(groups, query))
        }
        Wanted::Faults => {
            let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
            let (mut all, mut count) = (Vec::new(), 0);
            for root in roots {
                let (faults, more) = data.faults(root);
                all.extend(faults);
                count += more;
            }
            all.retain(|fault| holds(&fault.path, &query.text));
            Some(Answer {
                number: query.number,
                rows: Rows::Faults(all, count),
                whole: 0,
                largest: 0,
            })
        }
    }
}

/// The place of a row in the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Number(Reverse<u128>),
    Time(Reverse<Option<i64>>),
    Owner(Option<u32>),
    Nothing,
}

/// Items that become rows.
struct Sorting<'q> {
    query: &'q Query,
    ranked: Vec<(bool, Rank, Box<[u8]>, ItemId)>,
    largest: u128,
    sum: u128,
}

impl<'q> Sorting<'q> {
    fn new(query: &'q Query) -> Sorting<'q> {
        Sorting {
            query,
            ranked: Vec::new(),
            largest: 0,
            sum: 0,
        }
    }

    fn children(&mut self, data: &dyn Data, dir: ItemId, stop: &dyn Fn() -> bool) -> Option<()> {
        let mut seen = 0_u32;
        let mut stopped = false;
        data.children(dir, &mut |id, item| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(STOP_PERIOD) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            self.take(id, &item);
            ControlFlow::Continue(())
        });
        (!stopped).then_some(())
    }

    fn these(&mut self, data: &dyn Data, ids: &[ItemId]) {
        for &id in ids {
            if let Some(item) = data.item(id) {
                self.take(id, &item);
            }
        }
    }

    fn take(&mut self, id: ItemId, item: &Item<'_>) {
        let query = self.query;
        if (query.hides && is_hidden(item)) || !holds(&item.name, &query.text) {
            return;
        }
        let bytes = query.bytes.of(item);
        self.largest = self.largest.max(bytes);
        self.sum += bytes;
        let rank = match query.sort.key {
            SortKey::Size => Rank::Number(Reverse(bytes)),
            SortKey::Entries => Rank::Number(Reverse(item.entries.into())),
            SortKey::Newest => Rank::Time(Reverse(item.newest_ns)),
            SortKey::Owner => Rank::Owner(item.uid),
            SortKey::Name => Rank::Nothing,
        };
        let comes_later = query.sort.dirs_first && item.kind != Kind::Directory;
        let name = item.name.as_ref().into();
        self.ranked.push((comes_later, rank, name, id));
    }

    fn answer(mut self, whole: Option<u128>) -> Option<Answer> {
        let is_reversed = self.query.sort.is_reversed;
        self.ranked.sort_unstable_by(|a, b| {
            let order = (&a.1, &a.2, a.3).cmp(&(&b.1, &b.2, b.3));
            let order = if is_reversed { order.reverse() } else { order };
            a.0.cmp(&b.0).then(order)
        });
        let ids = self.ranked.into_iter().map(|(.., id)| id).collect();
        Some(Answer {
            number: self.query.number,
            rows: Rows::Items(ids),
            whole: whole.unwrap_or(self.sum),
            largest: self.largest,
        })
    }
}

fn largest(
    data: &dyn Data,
    query: &Query,
    whole: Option<u128>,
    stop: &dyn Fn() -> bool,
) -> Option<Answer> {
    let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
    // The smallest of the largest is on top.
    let mut heap: BinaryHeap<Reverse<(u128, Reverse<ItemId>)>> = BinaryHeap::new();
    let mut seen = 0_u32;
    let mut stopped = false;
    let mut sum = 0;
    for root in roots {
        sum += data.item(root).map_or(0, |item| query.bytes.of(&item));
        data.walk(root, &mut |entry| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(STOP_PERIOD) && stop() {
                stopped = true;
                return ControlFlow::Break(());
            }
            let item = &entry.item;
            let counts = item.kind == Kind::File && !item.notes.counts_elsewhere;
            if counts && holds(&item.name, &query.text) {
                heap.push(Reverse((query.bytes.of(item), Reverse(entry.id))));
                if heap.len() > LARGEST_MAX {
                    heap.pop();
                }
            }
            ControlFlow::Continue(())
        });
        if stopped {
            return None;
        }
    }
    let mut found: Vec<_> = heap.into_iter().map(|Reverse(one)| one).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let largest = found.first().map_or(0, |(bytes, _)| *bytes);
    let ids = found.into_iter().map(|(_, Reverse(id))| id);
    let mut ids: Vec<ItemId> = ids.collect();
    if query.sort.is_reversed {
        ids.reverse();
    }
    Some(Answer {
        number: query.number,
        rows: Rows::Items(ids),
        whole: whole.unwrap_or(sum),
        largest,
    })
}

fn groups_answer(mut groups: Vec<Tally>, query: &Query) -> Answer {
    let bytes = |tally: &Tally| tally.bytes(query.bytes);
    let whole = groups.iter().map(bytes).sum();
    let largest = groups.iter().map(bytes).max().unwrap_or(0);
    let has_order = |group: &Group| matches!(group, Group::Age(_) | Group::Size(_));
    let is_scale = groups.iter().any(|tally| has_order(&tally.group));
    groups.sort_unstable_by(|a, b| {
        let by_group = a.group.cmp(&b.group);
        let order = match query.sort.key {
            // Ages and sizes are a scale, which is read from one end to the other.
            SortKey::Size if is_scale => by_group,
            SortKey::Size => bytes(b).cmp(&bytes(a)).then(by_group),
            SortKey::Entries => b.entries.cmp(&a.entries).then(by_group),
            SortKey::Newest => b.newest_ns.cmp(&a.newest_ns).then(by_group),
            SortKey::Name | SortKey::Owner => by_group,
        };
        if query.sort.is_reversed {
            order.reverse()
        } else {
            order
        }
    });
    Answer {
        number: query.number,
        rows: Rows::Groups(groups),
        whole,
        largest,
    }
}
