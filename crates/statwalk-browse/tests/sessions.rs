// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keys from files, and the screens after them.
//!
//! `RENEW_SCREENS=1 cargo test -p statwalk-browse --test sessions` writes the screens anew. A
//! change of one is a change that users see.

mod small;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use statwalk_browse::{
    Browser, Bytes, Data, Disk, Effect, Event, Fault, Filtered, Inode, Item, ItemId, Key, Keymap,
    Options, OwnerNames, ScanState, answer,
};
use statwalk_view::{Charset, Colour, SizeFormat};

use small::Small;

const NOW_NS: i64 = 1_700_000_000_000_000_000;
const DAY_NS: i64 = 86_400_000_000_000;
const NO_STOP: &str = "nobody stops it";

/// The sizes of the screens. The smallest is the least that the browser is made for.
const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 10)];

/// From this width on, nothing that a session looks for is cut.
const WIDTH_MIN: u16 = 80;

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
            owners: OwnerNames::new(|uid| (uid == 0).then(|| "root".to_owned())),
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
