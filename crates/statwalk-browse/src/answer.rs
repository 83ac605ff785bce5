// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answers to questions that can take long.

use statwalk_group::GroupKey;
use statwalk_view::Kind;
use std::ops::ControlFlow;

use crate::data::{Data, Entry, ItemId};
use crate::disk::Disk;
use crate::filter::{Sort, SortKey, is_hidden};
use crate::findings::findings;
use crate::list::{All, ListRows, Query, Wanted};
use crate::ranking::Ranking;
use crate::rebuildable::rebuildable;
use crate::tally::{GroupTally, tally};

/// The most rows of a list of items from everywhere below a directory.
pub(crate) const BELOW_MAX: usize = 1_000;

/// How many items are looked at between two questions whether to stop.
pub(crate) const STOP_PERIOD: u32 = 4096;

/// The rows of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number of the question.
    pub(crate) number: u64,
    pub(crate) rows: ListRows,
    pub(crate) whole: u128,
    pub(crate) largest: u128,
    pub(crate) all: All,
    /// By row, the program that makes the item again, where the view is one of these.
    pub(crate) programs: Vec<&'static str>,
}

impl Answer {
    /// No rows, for a question that asks for none.
    pub(crate) fn nothing(number: u64) -> Answer {
        Answer {
            number,
            rows: ListRows::Items(Vec::new()),
            whole: 0,
            largest: 0,
            all: All::default(),
            programs: Vec::new(),
        }
    }
}

/// Answers a question. Absent where `stop` asked to end.
///
/// It takes a time that grows with the number of items that it looks at, so a shell
/// calls it on a thread of its own. Where the question [asks the disk](Query::asks_disk), a
/// file system that does not answer holds it for ever.
pub fn answer(
    data: &dyn Data,
    query: &Query,
    stop: &dyn Fn() -> bool,
    disk: &dyn Disk,
) -> Option<Answer> {
    let whole = query.dir.and_then(|dir| data.item(dir));
    let whole = whole.map(|item| query.bytes.of(&item));
    match &query.rows {
        Wanted::Items => {
            let list = match query.dir {
                Some(dir) => children(data, query, dir, stop)?,
                None => these(data, query, &data.roots()),
            };
            // While a scan goes on, files are known that the sums lack still.
            let whole = match data.is_final() {
                true => whole,
                false => whole.map(|whole| whole.max(list.all.bytes)),
            };
            Some(list.answer(whole))
        }
        Wanted::These(ids) => Some(these(data, query, ids).answer(None)),
        Wanted::Largest => largest(data, query, whole, stop),
        Wanted::Named(pattern) => findings(data, query, pattern, whole, stop),
        Wanted::Rebuildable => rebuildable(data, query, whole, stop, disk),
        Wanted::Groups(by) => {
            let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
            let mut groups: Vec<GroupTally> = Vec::new();
            for root in roots {
                for more in tally(data, root, *by, query.now_ns, stop)? {
                    match groups.iter_mut().find(|known| known.group == more.group) {
                        Some(known) => known.sums.add(&more.sums),
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
            all.retain(|fault| query.fits(&fault.path));
            Some(Answer {
                rows: ListRows::Faults(all, count),
                ..Answer::nothing(query.number)
            })
        }
    }
}

/// The items of a directory.
fn children(
    data: &dyn Data,
    query: &Query,
    dir: ItemId,
    stop: &dyn Fn() -> bool,
) -> Option<Ranking> {
    let mut list = Ranking::new(query, query.sort, usize::MAX);
    let mut seen = 0_u32;
    let mut stopped = false;
    data.children(dir, &mut |id, item| {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(STOP_PERIOD) && stop() {
            stopped = true;
            return ControlFlow::Break(());
        }
        if !(query.hides && is_hidden(&item)) && query.fits(&item.name) {
            list.take(id, &item);
        }
        ControlFlow::Continue(())
    });
    (!stopped).then_some(list)
}

fn these(data: &dyn Data, query: &Query, ids: &[ItemId]) -> Ranking {
    let mut list = Ranking::new(query, query.sort, usize::MAX);
    for &id in ids {
        if let Some(item) = data.item(id)
            && !(query.hides && is_hidden(&item))
            && query.fits(&item.name)
        {
            list.take(id, &item);
        }
    }
    list
}

/// Gives each item below a directory. Absent where `stop` asked to end.
pub(crate) fn walk(
    data: &dyn Data,
    dir: ItemId,
    stop: &dyn Fn() -> bool,
    visit: &mut dyn FnMut(&Entry<'_>),
) -> Option<()> {
    let mut seen = 0_u32;
    let mut stopped = false;
    data.walk(dir, &mut |entry| {
        seen = seen.wrapping_add(1);
        if seen.is_multiple_of(STOP_PERIOD) && stop() {
            stopped = true;
            return ControlFlow::Break(());
        }
        visit(&entry);
        ControlFlow::Continue(())
    });
    (!stopped).then_some(())
}

fn largest(
    data: &dyn Data,
    query: &Query,
    whole: Option<u128>,
    stop: &dyn Fn() -> bool,
) -> Option<Answer> {
    // The largest, whatever the order of other views is.
    let mut list = Ranking::new(query, Sort::default(), BELOW_MAX);
    let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
    let mut sum = 0;
    for root in roots {
        sum += data.item(root).map_or(0, |item| query.bytes.of(&item));
        walk(data, root, stop, &mut |entry| {
            let item = &entry.item;
            let counts = item.kind == Kind::File && !item.notes.counts_elsewhere;
            if counts && query.fits(&item.name) {
                list.take(entry.id, item);
            }
        })?;
    }
    let mut answer = list.answer(Some(whole.unwrap_or(sum)));
    if let (true, ListRows::Items(ids)) = (query.sort.is_reversed, &mut answer.rows) {
        ids.reverse();
    }
    Some(answer)
}

fn groups_answer(mut groups: Vec<GroupTally>, query: &Query) -> Answer {
    let bytes = |tally: &GroupTally| query.bytes.of_sums(&tally.sums);
    let whole = groups.iter().map(bytes).sum();
    let largest = groups.iter().map(bytes).max().unwrap_or(0);
    let has_order = |group| {
        matches!(
            group,
            GroupKey::ModifiedWithin(_) | GroupKey::SizeBelowPower(_)
        )
    };
    let is_scale = groups.iter().any(|tally| has_order(tally.group));
    groups.sort_unstable_by(|a, b| {
        let by_group = match (a.group, b.group) {
            (GroupKey::Category(a), GroupKey::Category(b)) => a.label().cmp(b.label()),
            (a, b) => a.cmp(&b),
        };
        let order = match query.sort.key {
            // Ages and sizes are a scale, which is read from one end to the other.
            SortKey::Size if is_scale => by_group,
            SortKey::Size => bytes(b).cmp(&bytes(a)).then(by_group),
            SortKey::Entries => b.sums.entries.cmp(&a.sums.entries).then(by_group),
            SortKey::Newest => b
                .sums
                .newest_mtime_ns
                .cmp(&a.sums.newest_mtime_ns)
                .then(by_group),
            SortKey::Name | SortKey::Owner => by_group,
        };
        if query.sort.is_reversed {
            order.reverse()
        } else {
            order
        }
    });
    Answer {
        rows: ListRows::Groups(groups),
        whole,
        largest,
        ..Answer::nothing(query.number)
    }
}
