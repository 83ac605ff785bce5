// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest entries.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;

use super::entry_filter::{EntryFilter, with_filter};
use super::path_order;
use super::seen_inodes::may_repeat;
use super::{Collect, Context, Sink};
use crate::batch::Batch;
use crate::directory::{Directory, Origin};
use crate::entry::{Attributes, DirId, FileId};
use crate::fields::Fields;

/// By what entries are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Largest {
    /// The space they take.
    Allocated,
    /// `st_size`.
    Apparent,
}

/// A worker keeps twice this many before it chooses among them.
const KEPT_MIN: usize = 64;

/// Keeps the largest entries that are not directories.
///
/// An inode with several names is listed once, by the first of them in path
/// order. Entries of equal size are in path order.
///
/// ```
/// use statwalk_core::{Largest, Scan, Top};
/// let outcome = Scan::new(".").run(&Top::new(20, Largest::Allocated))?;
/// let top = outcome.output;
/// assert!(top.len() <= 20);
/// assert!(outcome.report.is_complete());
/// # Ok::<(), statwalk_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Top {
    count: usize,
    by: Largest,
    filter: EntryFilter,
}

impl Top {
    /// Keeps `count` entries.
    #[must_use]
    pub fn new(count: usize, by: Largest) -> Top {
        Top {
            count,
            by,
            filter: EntryFilter::default(),
        }
    }

    fn state(&self, context: &Context) -> TopState {
        TopState {
            top: self.clone(),
            context: context.clone(),
            kept: Vec::new(),
            linked: BTreeMap::new(),
            bar: None,
        }
    }
}

with_filter!(Top "Keeps");

/// One of the largest.
#[derive(Clone, Debug)]
pub struct TopOf {
    /// The path, beginning with its root as the caller gave it.
    pub path: Vec<u8>,
    /// Its attributes.
    pub attributes: Attributes,
    /// The number of its directory, as in [`Node::dir_id`](super::Node::dir_id) of a tree
    /// from the same scan; absent for a root that is no directory.
    pub dir_id: Option<DirId>,
    rank: Rank,
    linked: Option<FileId>,
}

impl TopOf {
    /// Which root it belongs to: an index into the roots of the scan.
    #[must_use]
    pub fn root(&self) -> usize {
        self.rank.root
    }

    fn order(&self, other: &TopOf) -> Ordering {
        (self.rank.cmp(&other.rank)).then_with(|| path_order(&self.path, &other.path))
    }
}

/// The key that orders entries before their paths do.
///
/// Larger comes first, then what was reached without following links, then
/// roots in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    size_bytes: Reverse<u64>,
    behind_link: bool,
    root: usize,
}

/// The largest entries that one worker found.
pub struct TopState {
    top: Top,
    context: Context,
    kept: Vec<TopOf>,
    /// Inodes with several names among them.
    linked: BTreeMap<FileId, usize>,
    /// An entry must come before this one to be among the largest.
    bar: Option<Bar>,
}

impl fmt::Debug for TopState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopState")
            .field("kept_count", &self.kept.len())
            .finish_non_exhaustive()
    }
}

/// The last of the largest so far.
struct Bar {
    rank: Rank,
    path: Vec<u8>,
}

/// How the entries of one directory lie to the bar where they have its rank. Many
/// files are of one size, and to build the path of each would cost more than all
/// else.
enum Equals {
    /// They come before it, or behind, whatever their names are.
    All(Ordering),
    /// The bar lies in this directory or below, so names decide. Its path goes on
    /// after so many bytes.
    ByName(usize),
}

impl Equals {
    fn of(origin: Origin<'_>, bar: &Bar) -> Equals {
        let path = origin.entry_path(b"");
        match bar.path.starts_with(&path) {
            true => Equals::ByName(path.len()),
            false => Equals::All(path_order(&path, &bar.path)),
        }
    }

    fn order(&self, name: &[u8], bar: &Bar) -> Ordering {
        match *self {
            Equals::All(order) => order,
            Equals::ByName(from) => path_order(name, &bar.path[from..]),
        }
    }
}

impl Sink for Top {
    type State = TopState;
    type Output = Vec<TopOf>;

    fn fields(&self) -> Fields {
        let own = Fields::NAME
            | Fields::TYPE
            | Fields::SIZE
            | Fields::ALLOCATED
            | Fields::MTIME
            | Fields::LINKS
            | Fields::ID;
        own | self.filter.fields()
    }

    fn states(&self, context: &Context, count: usize) -> Vec<TopState> {
        (0..count).map(|_| self.state(context)).collect()
    }

    fn merge(&self, context: &Context, states: Vec<TopState>) -> Vec<TopOf> {
        let mut all = self.state(context);
        for state in states {
            for entry in state.kept {
                all.offer(entry);
            }
        }
        all.shrink();
        all.kept.sort_unstable_by(TopOf::order);
        all.kept
    }
}

impl TopState {
    /// The size of the smallest that is kept, once there are enough.
    fn size_min(&self) -> u64 {
        let bar = self.bar.as_ref();
        bar.map_or(0, |bar| bar.rank.size_bytes.0)
    }

    /// Keeps an entry. Answers whether the bar may have changed.
    fn offer(&mut self, entry: TopOf) -> bool {
        if let Some(id) = entry.linked {
            if let Some(&index) = self.linked.get(&id) {
                if entry.order(&self.kept[index]) == Ordering::Less {
                    self.kept[index] = entry;
                }
                return false;
            }
            self.linked.insert(id, self.kept.len());
        }
        self.kept.push(entry);
        // Twice the number, so that choosing is rare.
        let is_full = self.kept.len() >= self.top.count.max(KEPT_MIN).saturating_mul(2);
        if is_full {
            self.shrink();
        }
        is_full
    }

    /// Drops all but the largest.
    fn shrink(&mut self) {
        let count = self.top.count;
        if self.kept.len() > count {
            self.kept.select_nth_unstable_by(count, TopOf::order);
            self.kept.truncate(count);
            let last = self.kept.iter().max_by(|a, b| a.order(b));
            self.bar = last.map(|entry| Bar {
                rank: entry.rank,
                path: entry.path.clone(),
            });
        }
        self.linked = (self.kept.iter().enumerate())
            .filter_map(|(index, entry)| Some((entry.linked?, index)))
            .collect();
    }
}

impl Collect for TopState {
    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        let behind_link = self.context.follows && origin.0.is_behind_link();
        let mut equals = None;
        let sizes = match self.top.by {
            Largest::Allocated => batch.allocated_bytes(),
            Largest::Apparent => batch.size_bytes(),
        };
        let mut size_min = self.size_min();
        for (index, &size_bytes) in sizes.iter().enumerate() {
            // Nearly all are smaller, and the other tests cost more.
            if size_bytes < size_min || !batch.known()[index] {
                continue;
            }
            let rank = Rank {
                size_bytes: Reverse(size_bytes),
                behind_link,
                root: origin.root(),
            };
            if let Some(bar) = &self.bar {
                let order = rank.cmp(&bar.rank).then_with(|| {
                    let equals = equals.get_or_insert_with(|| Equals::of(origin, bar));
                    equals.order(batch.name(index), bar)
                });
                if order == Ordering::Greater {
                    continue;
                }
            }
            let entry = batch.entry(index);
            if !self.top.filter.passes(origin.directory(), || entry) {
                continue;
            }
            let bar_changed = self.offer(TopOf {
                path: origin.entry_path(entry.name),
                rank,
                linked: if may_repeat(&self.context, batch, index) {
                    entry.attributes.id()
                } else {
                    None
                },
                attributes: entry.attributes,
                dir_id: origin.directory().map(Directory::id),
            });
            if bar_changed {
                equals = None;
                size_min = self.size_min();
            }
        }
        ControlFlow::Continue(())
    }
}
