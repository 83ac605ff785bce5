// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories below another one that a program makes again.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use statwalk_view::Kind;
use statwalk_view::rebuildable::{Directories, Listing, Start, TraceKind, Traces, search};

use crate::answer::{Answer, BELOW_MAX, STOP_PERIOD};
use crate::data::{Data, Item, ItemId};
use crate::disk::Disk;
use crate::filter::is_hidden;
use crate::list::{ListRows, Query};
use crate::ranking::Ranking;

/// The directories of data, as a search sees them.
struct Below<'d> {
    /// Without a filter: it would hide the files that are the proof.
    data: &'d dyn Data,
    disk: &'d dyn Disk,
    stop: &'d dyn Fn() -> bool,
    seen: Cell<u32>,
    stopped: Cell<bool>,
}

/// Looks for the outermost directories below that a program makes again, with that
/// program. Absent where `stop` asked to end.
///
/// Files are known at the end of a scan, so there is none before.
pub(crate) fn rebuildable(
    data: &dyn Data,
    query: &Query,
    whole: Option<u128>,
    stop: &dyn Fn() -> bool,
    disk: &dyn Disk,
) -> Option<Answer> {
    if !data.is_final() {
        return Some(Answer::nothing(query.number));
    }
    let below = Below {
        data: data.unfiltered().unwrap_or(data),
        disk,
        stop,
        seen: Cell::new(0),
        stopped: Cell::new(false),
    };
    let mut list = Ranking::new(query, query.sort, BELOW_MAX);
    let mut programs: HashMap<ItemId, &'static str> = HashMap::new();
    let roots = query.dir.map_or_else(|| data.roots(), |dir| vec![dir]);
    for root in roots {
        let start = below.start(root)?;
        search(&below, &start, &mut |id, rule| {
            // The numbers are those of the items that pass the filter.
            let Some(item) = data.item(id).filter(|item| item.entries > 0) else {
                return ControlFlow::Continue(());
            };
            let is_left_out = query.hides && below.is_hidden_below(id, root);
            if !is_left_out && query.fits(&item.name) {
                list.take(id, &item);
                programs.insert(id, rule.rebuilt_by);
            }
            ControlFlow::Continue(())
        });
        if below.stopped.get() {
            return None;
        }
    }
    let mut answer = list.answer(whole);
    if let ListRows::Items(ids) = &answer.rows {
        answer.programs = ids.iter().map(|id| programs[id]).collect();
    }
    Some(answer)
}

impl Below<'_> {
    /// The place where a search begins; absent where it is gone.
    fn start(&self, dir: ItemId) -> Option<Start<ItemId>> {
        let above = std::iter::successors(Some(dir), |id| self.data.parent(*id));
        let mut way: Vec<ItemId> = above.collect();
        let root = way.pop()?;
        let mut path = self.disk.real_path(&self.data.path(root)?);
        let mut is_hidden = false;
        for id in way.into_iter().rev() {
            let name = self.data.item(id)?.name;
            is_hidden |= name.starts_with(b".");
            path.push(b'/');
            path.extend_from_slice(&name);
        }
        Some(Start {
            dir,
            path,
            is_hidden,
        })
    }

    /// Whether an item is hidden, or a directory between it and `root`.
    fn is_hidden_below(&self, id: ItemId, root: ItemId) -> bool {
        let way = std::iter::successors(Some(id), |id| self.data.parent(*id));
        let mut way = way.take_while(|id| *id != root);
        way.any(|id| (self.data.item(id)).is_some_and(|item| is_hidden(&item)))
    }

    fn look_up(&self) -> ControlFlow<()> {
        let seen = self.seen.get().wrapping_add(1);
        self.seen.set(seen);
        if seen.is_multiple_of(STOP_PERIOD) && (self.stop)() {
            self.stopped.set(true);
        }
        match self.stopped.get() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

fn trace_kind(item: &Item<'_>) -> TraceKind {
    match item.kind {
        Kind::Directory => TraceKind::Directory,
        Kind::File => TraceKind::File,
        _ => TraceKind::Other,
    }
}

impl Directories for Below<'_> {
    type Dir = ItemId;

    fn name(&self, dir: ItemId) -> Cow<'_, [u8]> {
        self.data
            .item(dir)
            .map_or(Cow::Borrowed(&[]), |item| item.name)
    }

    fn listing(&self, dir: ItemId) -> Listing<ItemId> {
        let mut listing = Listing {
            traces: Traces::NONE,
            dirs: Vec::new(),
        };
        let notes = self.data.item(dir).map(|item| item.notes);
        if notes.is_none_or(|notes| {
            notes.is_unreadable || notes.is_incomplete || notes.is_excluded || notes.is_mount
        }) {
            listing.traces |= Traces::UNREAD;
        }
        self.data.children(dir, &mut |id, item| {
            listing.traces |= Traces::of(&item.name, trace_kind(&item));
            if item.kind == Kind::Directory {
                listing.dirs.push(id);
            }
            self.look_up()
        });
        listing
    }

    fn has_valid_tag(&self, dir: ItemId) -> bool {
        let path = self.data.path(dir);
        path.is_some_and(|path| self.disk.has_cache_tag(&path))
    }

    fn is_stopped(&self) -> bool {
        self.stopped.get()
    }
}
