// SPDX-License-Identifier: MIT OR Apache-2.0

//! A browser on a small tree, for tests.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Modifier;
use statwalk_view::{Charset, Colour, Kind, Notes, SizeFormat};

use crate::Disk;
use crate::data::{Data, Fault, Inode, Item, ItemId, order_by_path};
use crate::edited::Edited;
use crate::event::{Effect, Event, Key, ScanState};
use crate::filter::Bytes;
use crate::filtered::Filtered;
use crate::keys::Keymap;
use crate::removal::Manner;
use crate::{Answer, Browser, Cursor, Options, answer};

pub(crate) const NOW_NS: i64 = 1_700_000_000_000_000_000;
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

pub(crate) const OWNER: fn(u32) -> Option<String> = |uid| (uid == 0).then(|| "root".to_owned());

/// The number of an item in the scan with the number 0.
pub(crate) fn id(number: u64) -> ItemId {
    ItemId { scan: 0, number }
}

/// A tree of few items.
#[derive(Clone, Default)]
pub(crate) struct Small {
    /// The number of its scan.
    pub(crate) scan: u64,
    pub(crate) items: BTreeMap<u64, (Option<u64>, Item<'static>)>,
    /// The inodes of items that have several names.
    pub(crate) inodes: BTreeMap<u64, Inode>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) is_live: bool,
    /// Items of earlier data, and their numbers here.
    pub(crate) moved: BTreeMap<u64, u64>,
}

impl Small {
    pub(crate) fn put(
        &mut self,
        id: u64,
        parent: Option<u64>,
        name: &[u8],
        kind: Kind,
        bytes: u128,
    ) {
        let is_dir = kind == Kind::Directory;
        let item = Item {
            name: name.to_vec().into(),
            kind,
            allocated_bytes: bytes,
            apparent_bytes: if is_dir { 0 } else { bytes / 2 },
            entries: 1,
            newest_ns: (!is_dir).then_some(NOW_NS - 3 * DAY_NS * i64::try_from(id).unwrap()),
            uid: Some(if id.is_multiple_of(2) { 0 } else { 1000 }),
            notes: Notes::default(),
        };
        let mut above = parent;
        while let Some(id) = above {
            let (next, sum) = self.items.get_mut(&id).unwrap();
            sum.allocated_bytes += item.allocated_bytes;
            sum.apparent_bytes += item.apparent_bytes;
            sum.entries += 1;
            sum.newest_ns = sum.newest_ns.max(item.newest_ns);
            above = *next;
        }
        self.items.insert(id, (parent, item));
    }

    /// `/data` with two directories, four files and hostile names.
    pub(crate) fn example() -> Small {
        let mut small = Small::default();
        small.put(1, None, b"/data", Kind::Directory, 4096);
        small.put(2, Some(1), b"photos", Kind::Directory, 4096);
        small.put(3, Some(1), b"src", Kind::Directory, 4096);
        small.put(4, Some(2), b"sea.JPG", Kind::File, 50 << 20);
        small.put(5, Some(2), b"hills.jpg", Kind::File, 20 << 20);
        small.put(6, Some(3), b"main.rs", Kind::File, 8 << 10);
        small.put(7, Some(1), b"\x1b[2Jred\n", Kind::File, 1 << 20);
        small.put(8, Some(1), "日本語.txt".as_bytes(), Kind::File, 2 << 20);
        small.put(9, Some(1), b".hidden", Kind::Link, 0);
        small
    }
}

impl Small {
    fn id(&self, number: u64) -> ItemId {
        ItemId {
            scan: self.scan,
            number,
        }
    }

    fn found(&self, id: ItemId) -> Option<&(Option<u64>, Item<'static>)> {
        let is_own = id.scan == self.scan;
        self.items.get(&id.number).filter(|_| is_own)
    }
}

impl Data for Small {
    fn roots(&self) -> Vec<ItemId> {
        let roots = self
            .items
            .iter()
            .filter(|(_, (parent, _))| parent.is_none());
        roots.map(|(id, _)| self.id(*id)).collect()
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        self.found(id).map(|(_, item)| item.clone())
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        let moved = self.moved.get(&id.number).copied();
        let settled = self.id(moved.unwrap_or(id.number));
        (id.scan == self.scan && self.found(settled).is_some()).then_some(settled)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        let (parent, _) = self.found(id)?;
        parent.map(|number| self.id(number))
    }

    fn identity(&self, _: ItemId) -> Option<(u64, u64)> {
        None
    }

    fn inode(&self, id: ItemId) -> Option<Inode> {
        self.found(id)?;
        self.inodes.get(&id.number).copied()
    }

    fn linked(&self, top: ItemId, visit: &mut dyn FnMut(ItemId, Inode)) {
        for (&number, &inode) in &self.inodes {
            let id = self.id(number);
            let mut way = std::iter::successors(Some(id), |id| self.parent(*id));
            if way.any(|above| above == top) {
                visit(id, inode);
            }
        }
    }

    fn names(&self, inode: (u64, u64)) -> Vec<ItemId> {
        let names = self.inodes.iter().filter(|(_, known)| known.id == inode);
        names.map(|(number, _)| self.id(*number)).collect()
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        order_by_path(self, a, b)
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        for (id, (parent, item)) in &self.items {
            let is_inside = dir.scan == self.scan && *parent == Some(dir.number);
            if is_inside && visit(self.id(*id), item.clone()).is_break() {
                return;
            }
        }
    }

    fn faults(&self, dir: ItemId) -> (Vec<Fault>, u64) {
        let path = self.path(dir).unwrap_or_default();
        let below = |fault: &&Fault| {
            let rest = fault.path.strip_prefix(&path[..]);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        let faults: Vec<Fault> = self.faults.iter().filter(below).cloned().collect();
        let count = faults.len() as u64;
        (faults, count)
    }

    fn is_final(&self) -> bool {
        !self.is_live
    }
}

/// The numbers without some items.
pub(crate) fn without(data: &Arc<dyn Data>, items: &[ItemId]) -> Edited {
    let mut edited = Edited::new(Arc::clone(data));
    edited.remove(items, Manner::Trash);
    edited
}

/// The numbers with newer ones of a directory.
pub(crate) fn renewed(data: Arc<dyn Data>, dir: ItemId, newer: Arc<dyn Data>) -> Edited {
    let mut edited = Edited::new(data);
    edited.renew(dir, newer).unwrap();
    edited
}

/// A disk where paths are real, and a directory is a cache whose name holds `cache`.
pub(crate) struct PlainDisk;

impl Disk for PlainDisk {
    fn real_path(&self, path: &[u8]) -> Vec<u8> {
        path.to_vec()
    }

    fn has_cache_tag(&self, path: &[u8]) -> bool {
        path.windows(5).any(|part| part == b"cache")
    }
}

/// A browser with its data, where questions are answered at once.
pub(crate) struct Trial {
    pub(crate) browser: Browser,
    pub(crate) all: Small,
    pub(crate) data: Arc<dyn Data>,
    pub(crate) at: Duration,
    /// The wishes to the shell, but for answers.
    pub(crate) wishes: Vec<Effect>,
    /// The number of questions.
    pub(crate) questions: usize,
}

impl Trial {
    pub(crate) fn new(data: Small, width: u16, height: u16) -> Trial {
        let options = Options {
            keymap: Keymap::default(),
            format: SizeFormat::Binary,
            bytes: Bytes::Disk,
            charset: Charset::Unicode,
            colour: Colour::Off,
            owner: OWNER,
            starts_programs: true,
            follows_links: false,
            removes: false,
        };
        let mut trial = Trial {
            browser: Browser::new(options, width, height, NOW_NS),
            data: Arc::new(data.clone()),
            all: data,
            at: Duration::ZERO,
            wishes: Vec::new(),
            questions: 0,
        };
        trial.give(Event::Scan(ScanState {
            is_over: !trial.all.is_live,
            ..ScanState::default()
        }));
        trial
    }

    pub(crate) fn give(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for wish in self.browser.update(event, self.at, &*self.data) {
                match wish {
                    Effect::Ask(query) => {
                        self.questions += 1;
                        let answer: Option<Answer> =
                            answer(&*self.data, &query, &|| false, &PlainDisk);
                        events.push(Event::Answer(answer.unwrap()));
                    }
                    Effect::SetFilter(filter) => {
                        let all = Arc::new(self.all.clone());
                        let stop = || false;
                        self.data = match filter.is_empty() {
                            true => all,
                            false => {
                                Arc::new(Filtered::new(all, filter.clone(), NOW_NS, &stop).unwrap())
                            }
                        };
                        events.push(Event::Filtered(filter));
                    }
                    other => self.wishes.push(other),
                }
            }
        }
    }

    /// Gives the browser other numbers of a directory, or of everything.
    pub(crate) fn replace(&mut self, dir: Option<ItemId>, data: impl Data + 'static) {
        self.give(Event::Replacing(dir));
        self.data = Arc::new(data);
        self.at += Duration::from_secs(1);
        self.give(match dir {
            None => Event::Data,
            Some(_) => Event::Refreshed(Some("read again".to_owned())),
        });
    }

    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.give(Event::Key(match key {
                '\n' => Key::Enter,
                '\x1b' => Key::Esc,
                '\t' => Key::Tab,
                key => Key::Char(key),
            }));
        }
    }

    /// The text from the cursor on, and whether the user types there.
    pub(crate) fn at_cursor(&mut self) -> (String, bool) {
        let (buffer, cursor) = self.drawn();
        let Position { x, y } = cursor.place;
        let text = (x..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        (text.collect(), cursor.is_text)
    }

    /// The text that is underlined, and the cursor.
    pub(crate) fn underlined(&mut self) -> (String, Cursor) {
        let (buffer, cursor) = self.drawn();
        let cells = buffer.content.iter();
        let marked = cells.filter(|cell| cell.modifier.contains(Modifier::UNDERLINED));
        (marked.map(Cell::symbol).collect(), cursor)
    }

    fn drawn(&mut self) -> (Buffer, Cursor) {
        let (width, height) = (self.browser.width, self.browser.height);
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let cursor = self.browser.draw(&*self.data, &mut buffer);
        (buffer, cursor.expect("the screen has rows"))
    }

    pub(crate) fn screen(&mut self) -> Vec<String> {
        let (width, height) = (self.browser.width, self.browser.height);
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        self.browser.draw(&*self.data, &mut buffer);
        let text = |y: u16| {
            let mut line = String::new();
            let mut skip = 0;
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    line.push_str(symbol);
                    skip = statwalk_view::text_width(symbol).max(1);
                }
                skip -= 1;
            }
            line.trim_end().to_owned()
        };
        (0..height).map(text).collect()
    }

    /// The names that the rows end with.
    pub(crate) fn names(&mut self) -> Vec<String> {
        let screen = self.screen();
        let rows = &screen[2..screen.len() - 2];
        let start = self.browser.widths().name_start();
        let name = |row: &String| row.chars().skip(start).collect::<String>();
        rows.iter()
            .filter(|row| !row.is_empty())
            .map(name)
            .collect()
    }

    pub(crate) fn cursor(&self) -> Option<u64> {
        self.browser.list.item().map(|id| id.number)
    }
}

pub(crate) fn assert_screen(actual: &[String], expected: &str) {
    let expected = expected.strip_prefix('\n').unwrap();
    let actual = actual.join("\n");
    assert_eq!(actual, expected.trim_end_matches('\n'), "\n{actual}\n");
}
