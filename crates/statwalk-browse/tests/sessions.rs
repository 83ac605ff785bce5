// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys from files, and the screens after them.
//!
//! `RENEW_SCREENS=1 cargo test -p statwalk-browse --test sessions` writes the screens anew. A
//! change of one is a change that users see.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use statwalk_browse::{
    Browser, Bytes, Data, Disk, Effect, Event, Fault, Filtered, Inode, Item, ItemId, Key, Keymap,
    Options, ScanState, answer,
};
use statwalk_view::{Charset, Colour, Kind, Notes, SizeFormat};

const NOW_NS: i64 = 1_700_000_000_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;
const NO_STOP: &str = "nobody stops it";

/// The sizes of the screens. The smallest is the least that the browser is made for.
const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 10)];

/// From this width on, nothing that a session looks for is cut.
const WIDTH_MIN: u16 = 80;

/// A tree of few items, each with the directory that holds it.
#[derive(Clone, Default)]
struct Small {
    items: BTreeMap<u64, (Option<u64>, Item<'static>)>,
}

impl Small {
    fn example() -> Small {
        let mut small = Small::default();
        for (id, parent, name, kind, bytes) in [
            (1, None, "/data", Kind::Directory, 4096),
            (2, Some(1), "photos", Kind::Directory, 4096),
            (3, Some(1), "src", Kind::Directory, 4096),
            (4, Some(2), "sea.JPG", Kind::File, 50 << 20),
            (5, Some(2), "hills.jpg", Kind::File, 20 << 20),
            (6, Some(3), "main.rs", Kind::File, 8 << 10),
            (7, Some(1), "\x1b[2Jred\n", Kind::File, 1 << 20),
            (8, Some(1), "日本語.txt", Kind::File, 2 << 20),
            (9, Some(1), ".hidden", Kind::Link, 0),
        ] {
            small.put(id, parent, name, kind, bytes);
        }
        small
    }

    fn put(&mut self, id: u64, parent: Option<u64>, name: &str, kind: Kind, bytes: u128) {
        let is_dir = kind == Kind::Directory;
        let item = Item {
            name: name.as_bytes().to_vec().into(),
            kind,
            allocated_bytes: bytes,
            apparent_bytes: if is_dir { 0 } else { bytes / 2 },
            entries: 1,
            newest_ns: (!is_dir).then_some(NOW_NS - 3 * DAY_NS * id as i64),
            uid: Some(if id.is_multiple_of(2) { 0 } else { 1000 }),
            notes: Notes::default(),
        };
        let mut above = parent;
        while let Some(id) = above {
            let (next, sum) = self.items.get_mut(&id).expect("directories come first");
            sum.allocated_bytes += item.allocated_bytes;
            sum.apparent_bytes += item.apparent_bytes;
            sum.entries += 1;
            sum.newest_ns = sum.newest_ns.max(item.newest_ns);
            above = *next;
        }
        self.items.insert(id, (parent, item));
    }
}

/// No session asks it for a cache.
struct NoDisk;

impl Disk for NoDisk {
    fn real_path(&self, path: &[u8]) -> Vec<u8> {
        path.to_vec()
    }

    fn has_cache_tag(&self, _: &[u8]) -> bool {
        false
    }
}

fn id(number: u64) -> ItemId {
    ItemId { scan: 0, number }
}

impl Data for Small {
    fn roots(&self) -> Vec<ItemId> {
        vec![id(1)]
    }

    fn item(&self, id: ItemId) -> Option<Item<'_>> {
        Some(self.items.get(&id.number)?.1.clone())
    }

    fn settled(&self, id: ItemId) -> Option<ItemId> {
        Some(id)
    }

    fn parent(&self, id: ItemId) -> Option<ItemId> {
        let number = self.items.get(&id.number)?.0?;
        Some(self::id(number))
    }

    fn identity(&self, _: ItemId) -> Option<(u64, u64)> {
        None
    }

    fn inode(&self, _: ItemId) -> Option<Inode> {
        None
    }

    fn linked(&self, _: ItemId, _: &mut dyn FnMut(ItemId, Inode)) {}

    fn names(&self, _: (u64, u64)) -> Vec<ItemId> {
        Vec::new()
    }

    fn order(&self, a: ItemId, b: ItemId) -> Ordering {
        a.cmp(&b)
    }

    fn children(&self, dir: ItemId, visit: &mut dyn FnMut(ItemId, Item<'_>) -> ControlFlow<()>) {
        let inside = |(parent, _): &(Option<u64>, Item<'static>)| *parent == Some(dir.number);
        for (number, (_, item)) in self.items.iter().filter(|(_, row)| inside(row)) {
            if visit(id(*number), item.clone()).is_break() {
                return;
            }
        }
    }

    fn faults(&self, _: ItemId) -> (Vec<Fault>, u64) {
        (Vec::new(), 0)
    }

    fn is_final(&self) -> bool {
        true
    }
}

/// A browser, and a shell that answers all questions at once.
struct Shell {
    browser: Browser,
    data: Arc<dyn Data>,
    at: Duration,
    size: (u16, u16),
}

impl Shell {
    fn new(size: (u16, u16)) -> Shell {
        let options = Options {
            keymap: Keymap::default(),
            format: SizeFormat::Binary,
            bytes: Bytes::Disk,
            charset: Charset::Unicode,
            colour: Colour::Off,
            owner: |uid| (uid == 0).then(|| "root".to_owned()),
            starts_programs: true,
            follows_links: false,
            removes: false,
        };
        let mut shell = Shell {
            browser: Browser::new(options, size.0, size.1, NOW_NS),
            data: Arc::new(Small::example()),
            at: Duration::ZERO,
            size,
        };
        shell.give(Event::Scan(ScanState {
            is_over: true,
            ..ScanState::default()
        }));
        shell
    }

    fn give(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for wish in self.browser.update(event, self.at, &*self.data) {
                match wish {
                    Effect::Ask(query) => {
                        let answer =
                            answer(&*self.data, &query, &|| false, &NoDisk).expect(NO_STOP);
                        events.push(Event::Answer(answer));
                    }
                    Effect::SetFilter(filter) => {
                        let all = Arc::new(Small::example());
                        self.data = match filter.is_empty() {
                            true => all,
                            false => Arc::new(
                                Filtered::new(all, filter.clone(), NOW_NS, &|| false)
                                    .expect(NO_STOP),
                            ),
                        };
                        events.push(Event::Filtered(filter));
                    }
                    other => panic!("no session asks for {other:?}"),
                }
            }
        }
    }

    fn press(&mut self, key: Key) {
        self.give(Event::Key(key));
        self.at += Duration::from_secs(1);
        self.give(Event::Tick);
    }

    fn screen(&mut self) -> String {
        let (width, height) = self.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        self.browser.draw(&*self.data, &mut buffer);
        let mut lines = String::new();
        for y in 0..height {
            let mut line = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += statwalk_view::text_width(symbol).max(1) as u16;
            }
            lines += line.trim_end();
            lines.push('\n');
        }
        lines.trim_end_matches('\n').to_owned()
    }
}

/// The screens of a session, each behind its name.
fn screens(session: &str, (width, height): (u16, u16)) -> String {
    let mut shell = Shell::new((width, height));
    let mut screens = String::new();
    for (number, line) in (1..).zip(session.lines()) {
        if line.is_empty() || line.starts_with("# ") || line == "#" {
            continue;
        }
        let place = format!("line {number} at {width}×{height}: {line}");
        match line.split_once(' ') {
            Some(("see" | "not", _)) if width < WIDTH_MIN => {}
            Some((word @ ("see" | "not"), text)) => {
                let screen = shell.screen();
                assert_eq!(screen.contains(text), word == "see", "{place}\n{screen}");
            }
            Some(("shot", name)) => screens += &format!("=== {name}\n{}\n", shell.screen()),
            Some(_) => panic!("{place}"),
            None => shell.press(line.parse().expect(&place)),
        }
    }
    screens
}

#[test]
fn a_session_has_its_screens() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sessions");
    let session = std::fs::read_to_string(folder.join("everyday.keys")).unwrap();
    for size in SIZES {
        let file = folder.join(format!("everyday.{}x{}.txt", size.0, size.1));
        let screens = screens(&session, size);
        if std::env::var_os("RENEW_SCREENS").is_some() {
            std::fs::write(&file, &screens).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        let mut parts = screens.split("=== ").zip(expected.split("=== "));
        if let Some((now, before)) = parts.find(|(now, before)| now != before) {
            panic!(
                "{}: {now}\nbefore: {before}\n\
                 RENEW_SCREENS=1 cargo test -p statwalk-browse --test sessions",
                file.display()
            );
        }
        assert_eq!(screens, expected, "{}", file.display());
    }
}
