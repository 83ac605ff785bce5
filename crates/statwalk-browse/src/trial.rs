// SPDX-License-Identifier: MIT OR Apache-2.0

//! A browser on a small tree, for tests.

use std::sync::Arc;
use std::time::Duration;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Modifier;
use statwalk_view::{Charset, Colour, SizeFormat};

use crate::Disk;
use crate::data::{Data, Fault, Inode, Item, ItemId};
use crate::edited::Edited;
use crate::event::{Effect, Event, Key, ScanState};
use crate::filter::Bytes;
use crate::filtered::Filtered;
use crate::keys::Keymap;
use crate::removal::Manner;
use crate::{Answer, Browser, Cursor, Options, OwnerNames, answer};

#[path = "../tests/small/mod.rs"]
mod small;

pub(crate) use self::small::Small;

impl Small {
    /// Marks a directory that could not be read, and those above it.
    pub(crate) fn lack(&mut self, id: u64) {
        self.lacking.insert(id);
        let mut next = Some(id);
        while let Some(id) = next {
            let (above, item) = self.items.get_mut(&id).expect("it is there");
            item.notes.is_incomplete = true;
            next = *above;
        }
    }
}

pub(crate) const NOW_NS: i64 = 1_700_000_000_000_000_000;
pub(crate) const DAY_NS: i64 = 86_400_000_000_000;

pub(crate) const OWNER: fn(u32) -> Option<String> = |uid| (uid == 0).then(|| "root".to_owned());

/// The number of an item in the scan with the number 0.
pub(crate) fn id(number: u64) -> ItemId {
    ItemId { scan: 0, number }
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
            owners: OwnerNames::new(OWNER),
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
