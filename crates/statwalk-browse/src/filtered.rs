// SPDX-License-Identifier: MIT OR Apache-2.0

//! The numbers of those items alone that pass a filter.

use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use statwalk_view::{Figures, Kind};

use crate::data::{Data, Item, ItemId};
use crate::filter::Filter;

/// Other data, where only items that pass a filter count.
///
/// Directories without such an item are left out, but for the roots. It takes memory for
/// each directory that is left.
pub struct Filtered {
    data: Arc<dyn Data>,
    filter: Filter,
    now_ns: i64,
    /// By directory, the sums of the items in it that pass.
    sums: HashMap<ItemId, Figures>,
}

impl fmt::Debug for Filtered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filtered")
            .field("filter", &self.filter)
            .field("dir_count", &self.sums.len())
            .finish_non_exhaustive()
    }
}

impl Filtered {
    /// Looks at every item, and keeps the sums. Absent where `stop` asked to end.
    ///
    /// It takes a time that grows with the size of the tree.
    pub fn new(
        data: Arc<dyn Data>,
        filter: Filter,
        now_ns: i64,
        stop: &dyn Fn() -> bool,
    ) -> Option<Filtered> {
        let mut sums: HashMap<ItemId, Figures> = HashMap::new();
        // Directories in an order in which each comes before those in it.
        let mut order: Vec<(ItemId, Option<ItemId>)> = Vec::new();
        let mut seen = 0_u32;
        let mut stopped = false;
        for root in data.roots() {
            order.push((root, None));
            if let Some(item) = data.item(root).filter(|item| item.kind != Kind::Directory) {
                if filter.passes(&item, now_ns) {
                    sums.entry(root).or_default().add(&item.counted());
                }
                continue;
            }
            data.walk(root, &mut |entry| {
                seen = seen.wrapping_add(1);
                if seen.is_multiple_of(4096) && stop() {
                    stopped = true;
                    return ControlFlow::Break(());
                }
                let item = &entry.item;
                if item.kind == Kind::Directory {
                    order.push((entry.id, Some(entry.parent)));
                } else if filter.passes(item, now_ns) {
                    let more = item.counted();
                    sums.entry(entry.parent).or_default().add(&more);
                }
                ControlFlow::Continue(())
            });
        }
        if stopped {
            return None;
        }
        for (dir, parent) in order.into_iter().rev() {
            let (Some(own), Some(parent)) = (sums.get(&dir).copied(), parent) else {
                continue;
            };
            sums.entry(parent).or_default().add(&own);
        }
        Some(Filtered {
            data,
            filter,
            now_ns,
            sums,
        })
    }

    fn adapted<'a>(&self, id: ItemId, item: Item<'a>) -> Item<'a> {
        if item.kind != Kind::Directory {
            return item;
        }
        let sums = self.sums.get(&id).copied().unwrap_or_default();
        Item {
            entries: sums.entries,
            allocated_bytes: sums.allocated_bytes,
            apparent_bytes: sums.apparent_bytes,
            newest_ns: sums.newest_mtime_ns,
            ..item
        }
    }
}

impl Data for Filtered {
    fn roots(&self) -> Vec<ItemId> {
        self.data.roots()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        let item = self.data.item(id)?;
        Some(self.adapted(id, item))
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        self.data.parent(id)
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        self.data.children(dir, &mut |id, item| {
            let counts = match item.kind {
                Kind::Directory => self.sums.contains_key(&id),
                _ => self.filter.passes(&item, self.now_ns),
            };
            match counts {
                true => visit(id, self.adapted(id, item)),
                false => ControlFlow::Continue(()),
            }
        });
    }

    fn unfiltered(&self) -> Option<&dyn Data> {
        Some(&*self.data)
    }
}
