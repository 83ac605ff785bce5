// SPDX-License-Identifier: MIT OR Apache-2.0

//! The items below a directory whose names match a pattern.

use std::collections::HashMap;

use statwalk_view::{Kind, NamePattern};

use crate::answer::{Answer, BELOW_MAX, walk};
use crate::data::{Data, Item, ItemId};
use crate::filter::is_hidden;
use crate::list::Query;
use crate::ranking::Ranking;

/// How the items in a directory count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// On their own.
    Open,
    /// With a directory above, which was found.
    Found,
    /// Not at all: their directory is hidden.
    Hidden,
}

struct Findings<'q> {
    query: &'q Query,
    pattern: &'q NamePattern,
    list: Ranking,
    /// All directories that are not open.
    known: HashMap<ItemId, Inside>,
}

/// Looks for the items below a directory whose names match, and sums up their sizes: an
/// item in another one counts with that one. Absent where `stop` asked to end.
pub(crate) fn findings(
    data: &dyn Data,
    query: &Query,
    pattern: &NamePattern,
    whole: Option<u128>,
    stop: &dyn Fn() -> bool,
) -> Option<Answer> {
    let mut findings = Findings {
        query,
        pattern,
        list: Ranking::new(query, query.sort, BELOW_MAX),
        known: HashMap::new(),
    };
    match query.dir {
        Some(dir) => findings.below(data, dir, stop)?,
        None => {
            for root in data.roots() {
                if let Some(item) = data.item(root) {
                    // The name of a root is the path that the user gave.
                    let mut names = item.name.split(|&byte| byte == b'/');
                    let name = names.rfind(|name| !name.is_empty());
                    findings.look(root, name.unwrap_or(&item.name), &item, Inside::Open);
                    findings.below(data, root, stop)?;
                }
            }
        }
    }
    findings.list.all.is_lower |= !data.is_final();
    Some(findings.list.answer(whole))
}

impl Findings<'_> {
    fn below(&mut self, data: &dyn Data, dir: ItemId, stop: &dyn Fn() -> bool) -> Option<()> {
        // The items of a directory come one after another.
        let mut last = (dir, self.inside(dir));
        walk(data, dir, stop, &mut |entry| {
            if entry.parent != last.0 {
                last = (entry.parent, self.inside(entry.parent));
            }
            let item = &entry.item;
            match last.1 {
                Inside::Hidden => self.note(entry.id, item, Inside::Hidden),
                _ if self.query.hides && is_hidden(item) => {
                    self.note(entry.id, item, Inside::Hidden);
                }
                place => self.look(entry.id, &item.name, item, place),
            }
        })
    }

    fn inside(&self, dir: ItemId) -> Inside {
        self.known.get(&dir).copied().unwrap_or(Inside::Open)
    }

    fn note(&mut self, id: ItemId, item: &Item<'_>, inside: Inside) {
        if inside != Inside::Open && item.kind == Kind::Directory {
            self.known.insert(id, inside);
        }
    }

    fn look(&mut self, id: ItemId, name: &[u8], item: &Item<'_>, place: Inside) {
        let is_found = item.kind != Kind::Rest && self.pattern.fits(name) && self.query.fits(name);
        if !is_found {
            return self.note(id, item, place);
        }
        match place == Inside::Found || item.notes.counts_elsewhere {
            true => self.list.take_without_bytes(id, item),
            false => {
                self.list.take(id, item);
                self.list.all.is_lower |= item.notes.is_incomplete || item.notes.is_unreadable;
            }
        }
        self.note(id, item, Inside::Found);
    }
}
