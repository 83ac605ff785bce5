// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows by path: what workers bring is held here until its turn comes.
//!
//! A row's turn is known when all names of its directory are. So a directory waits until its
//! worker has said that it is listed, and which names in it come later. If several workers
//! have listed it, it waits until no rows are left that began before. A name that has not come
//! is waited for, until a worker says that it comes no more.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::mem::take;
use std::sync::Arc;

use crate::columns::Directories;
use crate::entry::DirId;
use crate::error::EntryError;
use crate::known_dirs::KnownDirs;
use crate::rows::{Epoch, Listings, Rows};
use crate::sequence::Sequence;

/// The number of a row that is no directory, among rows of directories.
pub(crate) const NO_DIRECTORY: u32 = u32::MAX;

/// The rows of a scan that have no turn yet.
pub(crate) struct SortedRows {
    sequence: Sequence,
    follows_links: bool,
    held: Vec<Option<Held>>,
    /// Places among the held that nobody uses.
    free: Vec<u32>,
    /// Directories of which something has come, until all of them was given.
    nodes: HashMap<u32, Node>,
    /// The directories on the way to the next row.
    frames: Vec<Frame>,
    roots: BTreeMap<u32, Item>,
    next_root: u32,
    /// No root below this one comes any more but those that have come.
    roots_known: u32,
    /// How many rows are held that are in none of the frames.
    ahead: usize,
    /// Errors by root and path, where a slash is less than all other bytes.
    errors: BTreeMap<(usize, Vec<u8>), Vec<EntryError>>,
    /// Errors whose turn has come.
    next_errors: VecDeque<EntryError>,
    /// Those of missing roots, for the end.
    last_errors: Vec<EntryError>,
    later: VecDeque<Later>,
    finished: Vec<u32>,
    incomplete: Vec<u32>,
    /// Directories that nobody needs when the rows that were given are taken.
    left: Vec<u32>,
    /// Skipped directories, and those below that workers were reading.
    dropped: HashSet<u32>,
    is_over: bool,
}

/// Rows of a worker, and how many of them were not given.
struct Held {
    rows: Rows,
    left: usize,
}

/// One of the held rows.
#[derive(Clone, Copy)]
struct Item {
    held: u32,
    row: u32,
    is_directory: bool,
}

/// The rows of a directory that have come.
#[derive(Default)]
struct Node {
    items: Vec<Item>,
    /// Names that come later.
    waiting: Vec<Box<[u8]>>,
    has_waiting: bool,
    /// Those of `waiting`, here or in the frame, that come no more.
    gone: HashSet<Box<[u8]>>,
    is_listed: bool,
    is_finished: bool,
}

/// A directory that was entered.
struct Frame {
    id: u32,
    root: u32,
    /// Its own row, where that comes last.
    own: Option<Item>,
    /// Whether its entries are in order here.
    is_open: bool,
    /// The last one is next, here and below.
    items: Vec<Item>,
    waiting: Vec<Box<[u8]>>,
    /// Those of `waiting` that have come.
    late: BTreeMap<(Vec<u8>, usize), Item>,
}

/// Notes that hold when the rows of all these have come.
struct Later {
    epoch: Epoch,
    listed: Vec<u32>,
    finished: Vec<u32>,
    roots_known: u32,
}

/// Something whose turn has come.
pub(crate) enum Given {
    Rows(Box<Directories>),
    Error(EntryError),
}

/// The outcome of a step.
#[derive(PartialEq)]
enum Step {
    Done,
    /// Something has to come first.
    Waits,
}

/// The first name of a frame.
enum First {
    Item(Item),
    Late(Item),
    /// It has not come.
    Waiting,
    None,
}

impl SortedRows {
    pub(crate) fn new(sequence: Sequence, follows_links: bool) -> SortedRows {
        SortedRows {
            sequence,
            follows_links,
            held: Vec::new(),
            free: Vec::new(),
            nodes: HashMap::new(),
            frames: Vec::new(),
            roots: BTreeMap::new(),
            next_root: 0,
            roots_known: 0,
            ahead: 0,
            errors: BTreeMap::new(),
            next_errors: VecDeque::new(),
            last_errors: Vec::new(),
            later: VecDeque::new(),
            finished: Vec::new(),
            incomplete: Vec::new(),
            left: Vec::new(),
            dropped: HashSet::new(),
            is_over: false,
        }
    }

    /// How many rows are held that were read ahead, for workers who are to wait. Links come
    /// last, and workers who waited for the turn of one would be one worker.
    pub(crate) fn ahead(&self) -> usize {
        match self.follows_links {
            true => 0,
            false => self.ahead,
        }
    }

    /// How many notes wait.
    pub(crate) fn later(&self) -> usize {
        self.later.len()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Notes that nothing comes any more.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
    }

    /// Takes the error of a missing root.
    pub(crate) fn take_missing(&mut self, error: EntryError) {
        self.last_errors.push(error);
    }

    /// Takes rows from a worker. `next_epoch` ends the epoch.
    pub(crate) fn take(&mut self, mut rows: Rows, next_epoch: impl FnOnce() -> Epoch) {
        drop(rows.take_epoch());
        for error in rows.take_errors() {
            let key = (error.root, key_of(&error.path));
            self.errors.entry(key).or_default().push(error);
        }
        let Listings {
            waiting,
            gone,
            listed,
            listed_by_several,
        } = rows.take_listings();
        let directories = rows.columns_mut().1;
        let finished = take(&mut directories.finished);
        self.incomplete.append(&mut directories.incomplete);
        let last_root = self.hold(rows);
        for (dir, name) in waiting {
            if let Some(node) = self.node(dir) {
                node.waiting.push(name);
                node.has_waiting = true;
            }
        }
        for (dir, name) in gone {
            if let Some(node) = self.node(dir) {
                node.gone.insert(name);
            }
        }
        for dir in listed {
            if let Some(node) = self.node(dir) {
                node.is_listed = true;
            }
        }
        let mut later = Later {
            epoch: Epoch::default(),
            listed: listed_by_several,
            finished: Vec::new(),
            roots_known: last_root,
        };
        for &dir in &finished {
            match self.nodes.get_mut(&dir) {
                // Nearly always: no other worker had a part in it.
                Some(node) if node.is_listed && !node.has_waiting => node.is_finished = true,
                _ => later.finished.push(dir),
            }
        }
        self.finished.extend(finished);
        if !later.listed.is_empty() || !later.finished.is_empty() || later.roots_known > 0 {
            later.epoch = next_epoch();
            self.later.push_back(later);
        }
    }

    /// Holds rows, each as an item of its directory. Gives the last root among them.
    fn hold(&mut self, rows: Rows) -> u32 {
        let held = self.free.last().copied();
        let held = held.unwrap_or(self.held.len() as u32);
        let item = |row: usize, is_directory| Item {
            held,
            row: row as u32,
            is_directory,
        };
        let (mut left, mut last_root) = (0, 0);
        let directories = rows.directories();
        for row in 0..directories.len() {
            let own = item(row, true);
            match directories.columns.dir(row) {
                None => {
                    last_root = last_root.max(directories.roots[row]);
                    self.roots.insert(directories.roots[row], own);
                }
                Some(parent) => match self.node(parent.0) {
                    Some(node) => node.items.push(own),
                    None => {
                        self.dropped.insert(directories.ids[row]);
                        continue;
                    }
                },
            }
            left += 1;
        }
        let entries = rows.entries();
        for run in entries.runs(entries.len()) {
            let dir = entries.dir(run.start);
            left += run.len();
            let items = run.clone().map(|row| item(row, false));
            match dir {
                None => {
                    let root = entries.dirs[run.start];
                    last_root = last_root.max(root);
                    self.roots.extend(items.map(|item| (root, item)));
                }
                Some(dir) => match self.node(dir.0) {
                    Some(node) => node.items.extend(items),
                    None => left -= run.len(),
                },
            }
        }
        self.ahead += left;
        if left > 0 {
            let rows = Some(Held { rows, left });
            match self.free.pop() {
                Some(place) => self.held[place as usize] = rows,
                None => self.held.push(rows),
            }
        }
        last_root
    }

    /// The rows of a directory that have come; absent for one that nobody wants.
    fn node(&mut self, dir: u32) -> Option<&mut Node> {
        let is_wanted = self.dropped.is_empty() || !self.dropped.contains(&dir);
        is_wanted.then(|| self.nodes.entry(dir).or_default())
    }

    /// Comes to the notes that hold now.
    pub(crate) fn come_to_later(&mut self) {
        while let Some(later) = self.later.front_mut() {
            if Arc::get_mut(&mut later.epoch).is_none() {
                return;
            }
            let Some(later) = self.later.pop_front() else {
                return;
            };
            self.roots_known = self.roots_known.max(later.roots_known);
            for dir in later.listed {
                if let Some(node) = self.node(dir) {
                    node.is_listed = true;
                }
            }
            for dir in later.finished {
                self.dropped.remove(&dir);
                if let Some(node) = self.nodes.get_mut(&dir) {
                    node.is_finished = true;
                }
            }
        }
    }

    /// Forgets directories of which the caller has taken everything.
    pub(crate) fn forget(&mut self, known: &mut KnownDirs) {
        for dir in self.left.drain(..) {
            known.remove(dir);
        }
    }

    /// Leaves directories that were skipped, and drops what is held of them.
    pub(crate) fn leave_skipped(&mut self, known: &KnownDirs) {
        if !known.has_skipped() {
            return;
        }
        let is_skipped = |frame: &Frame| known.get(frame.id).is_some_and(|dir| dir.is_skipped);
        let Some(at) = self.frames.iter().position(is_skipped) else {
            return;
        };
        let mut dirs = Vec::new();
        for frame in self.frames.split_off(at) {
            let items = frame.items.iter().chain(frame.late.values());
            for &item in items.chain(&frame.own) {
                dirs.extend(self.dir_of(item));
                self.release(item);
            }
            self.left.push(frame.id);
            dirs.push(frame.id);
        }
        while let Some(dir) = dirs.pop() {
            let node = self.nodes.remove(&dir).unwrap_or_default();
            self.ahead -= node.items.len();
            for item in node.items {
                dirs.extend(self.dir_of(item));
                self.release(item);
            }
            if !node.is_finished {
                self.dropped.insert(dir);
            }
        }
    }

    /// The next rows or the next error; absent where something has to come first, and at the
    /// end.
    pub(crate) fn next(&mut self, known: &mut KnownDirs) -> Option<Given> {
        if let Some(error) = self.next_errors.pop_front() {
            return Some(Given::Error(error));
        }
        let mut given = Directories::default();
        given.columns.begin_names();
        while given.len() < Rows::MAX && self.next_errors.is_empty() {
            if self.step(known, &mut given) == Step::Waits {
                break;
            }
        }
        let has_ends = !self.finished.is_empty() || !self.incomplete.is_empty();
        if !given.is_empty() || self.is_over && has_ends {
            given.finished = take(&mut self.finished);
            given.incomplete = take(&mut self.incomplete);
            return Some(Given::Rows(Box::new(given)));
        }
        if self.is_over && self.next_errors.is_empty() {
            let errors = take(&mut self.errors).into_values().flatten();
            self.next_errors = errors.chain(self.last_errors.drain(..)).collect();
        }
        self.next_errors.pop_front().map(Given::Error)
    }

    /// Gives a row, enters a directory or leaves one, or makes errors ready.
    fn step(&mut self, known: &mut KnownDirs, given: &mut Directories) -> Step {
        match self.frames.last() {
            None => return self.step_to_root(known, given),
            Some(frame) if !frame.is_open => return self.open(),
            Some(_) => {}
        }
        let (item, is_late) = match self.first() {
            First::Waiting => return Step::Waits,
            First::None => return self.leave(known, given),
            First::Item(item) => (item, false),
            First::Late(item) => (item, true),
        };
        if self.has_errors_before(item, known) {
            return Step::Done;
        }
        if let Some(frame) = self.frames.last_mut() {
            match is_late {
                true => drop(frame.late.pop_first()),
                false => drop(frame.items.pop()),
            }
            let root = frame.root;
            self.give(item, root, known, given);
        }
        Step::Done
    }

    /// Goes on to the next root.
    fn step_to_root(&mut self, known: &mut KnownDirs, given: &mut Directories) -> Step {
        let Some((&root, &item)) = self.roots.first_key_value() else {
            return Step::Waits;
        };
        // One before it can lie with another worker.
        if root > self.next_root.max(self.roots_known) && !self.is_over {
            return Step::Waits;
        }
        self.roots.pop_first();
        self.next_root = root + 1;
        self.ahead -= 1;
        self.give(item, root, known, given);
        Step::Done
    }

    /// Brings the entries of the last frame in order, once all are known that do not wait.
    fn open(&mut self) -> Step {
        let held = &self.held;
        let Some(frame) = self.frames.last_mut() else {
            return Step::Waits;
        };
        let node = self.nodes.entry(frame.id).or_default();
        if !node.is_listed && !self.is_over {
            return Step::Waits;
        }
        frame.waiting = take(&mut node.waiting);
        let items = take(&mut node.items);
        self.ahead -= items.len();
        // Most names differ within eight bytes, which lie nearer than the names.
        let mut keyed: Vec<(u64, Item)> = (items.into_iter())
            .map(|item| (first_bytes(name_of(held, item)), item))
            .collect();
        keyed.sort_unstable_by(|&(key_a, a), &(key_b, b)| {
            (key_b.cmp(&key_a)).then_with(|| name_of(held, b).cmp(name_of(held, a)))
        });
        frame.items = keyed.into_iter().map(|(_, item)| item).collect();
        frame.waiting.sort_unstable_by(|a, b| b.cmp(a));
        frame.is_open = true;
        Step::Done
    }

    /// The first of the last frame.
    fn first(&mut self) -> First {
        let held = &self.held;
        let (Some(frame), is_over) = (self.frames.last_mut(), self.is_over) else {
            return First::None;
        };
        if frame.waiting.is_empty()
            && frame.late.is_empty()
            && let Some(&item) = frame.items.last()
        {
            return First::Item(item);
        }
        let node = self.nodes.entry(frame.id).or_default();
        let come = take(&mut node.items);
        self.ahead -= come.len();
        for item in come {
            let key = (name_of(held, item).to_vec(), frame.late.len());
            frame.late.insert(key, item);
        }
        let item = frame.items.last().copied();
        let name = item.map(|item| name_of(held, item));
        let late = frame.late.first_key_value();
        let (first, name) = match (name, late) {
            (None, None) => (First::None, None),
            (Some(name), Some(((late, _), &item))) if **late < *name => {
                (First::Late(item), Some(&late[..]))
            }
            (None, Some(((late, _), &item))) => (First::Late(item), Some(&late[..])),
            (Some(name), _) => (item.map_or(First::None, First::Item), Some(name)),
        };
        while let Some(waiting) = frame.waiting.last() {
            let has_come = match name {
                Some(name) if name < &**waiting => break,
                Some(name) => *name == **waiting,
                None => false,
            };
            // It does not exist any more, or was left out.
            if !has_come && !node.gone.remove(waiting) && !node.is_finished && !is_over {
                return First::Waiting;
            }
            frame.waiting.pop();
        }
        first
    }

    /// Leaves the last frame.
    fn leave(&mut self, known: &mut KnownDirs, given: &mut Directories) -> Step {
        let Some(id) = self.frames.last().map(|frame| frame.id) else {
            return Step::Waits;
        };
        if !self.errors.is_empty() {
            let (mut path, root) = (Vec::new(), self.frames[self.frames.len() - 1].root);
            known.push_path(id, &mut path);
            let mut end = key_of(&path);
            if end.last() == Some(&0) {
                end.pop();
            }
            // All names below have a slash there.
            end.push(1);
            if self.make_errors_ready((root as usize, end)) {
                return Step::Done;
            }
        }
        if let Some(Frame {
            own: Some(own),
            root,
            ..
        }) = self.frames.pop()
        {
            self.push(own, root, self.frames.len(), given);
        }
        self.nodes.remove(&id);
        self.left.push(id);
        Step::Done
    }

    /// Gives a row of the last frame, or a root. Enters it if it is a directory.
    fn give(&mut self, item: Item, root: u32, known: &mut KnownDirs, given: &mut Directories) {
        let depth = self.frames.len();
        let Some(id) = self.dir_of(item) else {
            return self.push(item, root, depth, given);
        };
        if let Some(held) = &self.held[item.held as usize] {
            let is_new = known.add(held.rows.directories(), item.row as usize);
            debug_assert!(is_new, "the directory above was given before");
        }
        let own = match self.sequence.is_contents_first {
            true => Some(item),
            false => {
                self.push(item, root, depth, given);
                None
            }
        };
        self.frames.push(Frame {
            id,
            root,
            own,
            is_open: false,
            items: Vec::new(),
            waiting: Vec::new(),
            late: BTreeMap::new(),
        });
    }

    /// Adds a row to those that are given, if it lies deep enough.
    fn push(&mut self, item: Item, root: u32, depth: usize, given: &mut Directories) {
        if depth >= self.sequence.min_depth as usize
            && let Some(held) = &self.held[item.held as usize]
        {
            let row = item.row as usize;
            match item.is_directory {
                true => given.push_row(held.rows.directories(), row),
                false => {
                    given.columns.push_row(held.rows.entries(), row);
                    given.ids.push(NO_DIRECTORY);
                    given.roots.push(root);
                    given.states.push(0);
                }
            }
        }
        self.release(item);
    }

    /// Makes the errors ready whose turn is before that of an item of the last frame. Answers
    /// whether there are some.
    fn has_errors_before(&mut self, item: Item, known: &KnownDirs) -> bool {
        if self.errors.is_empty() {
            return false;
        }
        let Some(frame) = self.frames.last() else {
            return false;
        };
        let (mut path, root) = (Vec::new(), frame.root as usize);
        known.push_path(frame.id, &mut path);
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name_of(&self.held, item));
        self.make_errors_ready((root, key_of(&path)))
    }

    /// Makes the errors below a key ready. Answers whether there are some.
    fn make_errors_ready(&mut self, end: (usize, Vec<u8>)) -> bool {
        while let Some(first) = self.errors.first_entry()
            && *first.key() < end
        {
            self.next_errors.extend(first.remove());
        }
        !self.next_errors.is_empty()
    }

    /// The number of an item that is a directory.
    fn dir_of(&self, item: Item) -> Option<u32> {
        let held = self.held[item.held as usize].as_ref();
        let held = held.filter(|_| item.is_directory)?;
        Some(held.rows.directories().ids[item.row as usize])
    }

    /// Lets go of a row. Its buffers go back to the workers with the last one.
    fn release(&mut self, item: Item) {
        let place = &mut self.held[item.held as usize];
        if let Some(held) = place {
            held.left -= 1;
            if held.left == 0 {
                *place = None;
                self.free.push(item.held);
            }
        }
    }
}

/// The name of a held row.
fn name_of(held: &[Option<Held>], item: Item) -> &[u8] {
    let Some(held) = &held[item.held as usize] else {
        return &[];
    };
    let row = item.row as usize;
    match item.is_directory {
        true => held.rows.directories().columns.name(row),
        false => held.rows.entries().name(row),
    }
}

/// The first bytes of a name as a number, in the order of names.
fn first_bytes(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let count = name.len().min(8);
    bytes[..count].copy_from_slice(&name[..count]);
    u64::from_be_bytes(bytes)
}

/// A path as a key: all that is below a directory comes right after it.
fn key_of(path: &[u8]) -> Vec<u8> {
    // No path has a NUL.
    let bytes = path.iter().map(|&byte| if byte == b'/' { 0 } else { byte });
    bytes.collect()
}

/// Whether a number among those of directories is that of a directory.
pub(crate) fn directory_of(id: u32) -> Option<DirId> {
    (id != NO_DIRECTORY).then_some(DirId(id))
}
