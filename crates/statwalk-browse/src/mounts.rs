// SPDX-License-Identifier: MIT OR Apache-2.0

//! The list of mounted file systems, from which the user selects one.

use ratatui_core::buffer::Buffer;
use statwalk_view::{bar, share, truncate_to_width};

use crate::browser::Options;
use crate::draw::Cursor;
use crate::draw::{Canvas, Look};
use crate::event::{Event, Key, Mouse};
use crate::keys::{Action, TABLE};

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The directory where it is mounted.
    pub point: Vec<u8>,
    /// The type of the file system.
    pub file_system: String,
    /// Its space; absent where the file system gives no answer.
    pub space: Option<MountSpace>,
}

/// The space of a file system, as df counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountSpace {
    /// All bytes.
    pub total_bytes: u64,
    /// The used bytes.
    pub used_bytes: u64,
    /// The bytes that a user can still have.
    pub free_bytes: u64,
    /// The used inodes, and all; absent where it counts none.
    pub inodes: Option<(u64, u64)>,
}

/// A wish of the user for the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountWish {
    /// This directory.
    Browse(Vec<u8>),
    /// The program in the background.
    Suspend,
    /// The end.
    Quit,
}

/// The list of mounted file systems.
#[derive(Clone, Debug)]
pub struct Mounts {
    options: Options,
    rows: Vec<Mount>,
    cursor: usize,
    top: usize,
    height: usize,
    /// Whether the keys are shown.
    helps: bool,
    /// Whether the next Esc quits.
    asks_quit: bool,
}

/// The keys of the list.
const KEYS: [(Action, &str); 9] = [
    (Action::Enter, "browse the file system"),
    (Action::Up, "one row up"),
    (Action::Down, "one row down"),
    (Action::PageUp, "one screen up"),
    (Action::PageDown, "one screen down"),
    (Action::First, "to the first row"),
    (Action::Last, "to the last row"),
    (Action::Quit, "quit"),
    (Action::Escape, "close; twice: quit"),
];

/// The lines above and below the rows.
const HEAD_LINES: usize = 2;
const FOOT_LINES: usize = 2;

impl Mounts {
    /// A list in the order of the given rows.
    #[must_use]
    pub fn new(options: Options, rows: Vec<Mount>) -> Mounts {
        Mounts {
            options,
            rows,
            cursor: 0,
            top: 0,
            height: 1,
            helps: false,
            asks_quit: false,
        }
    }

    /// Other rows, with the cursor on the same file system.
    pub fn replace(&mut self, rows: Vec<Mount>) {
        let here = self.rows.get(self.cursor).map(|row| row.point.clone());
        let place = rows
            .iter()
            .position(|row| Some(&row.point) == here.as_ref());
        self.cursor = place.unwrap_or(0);
        self.rows = rows;
    }

    /// Takes an event.
    pub fn update(&mut self, event: &Event) -> Option<MountWish> {
        let last = self.rows.len().saturating_sub(1);
        let was_asked = std::mem::take(&mut self.asks_quit);
        if self.helps {
            match event {
                Event::Key(Key::Ctrl('c')) => return Some(MountWish::Quit),
                Event::Key(_) => self.helps = false,
                _ => {}
            }
            return None;
        }
        let action = match event {
            Event::Key(Key::Ctrl('c')) => return Some(MountWish::Quit),
            Event::Key(key) => self.options.keymap.action(*key)?,
            Event::Mouse(Mouse::WheelUp) => Action::Up,
            Event::Mouse(Mouse::WheelDown) => Action::Down,
            Event::Mouse(Mouse::Press(_, line)) => {
                let row = usize::from(*line).checked_sub(HEAD_LINES)?;
                let place = self.top + row;
                if row >= self.height || place > last {
                    return None;
                }
                let is_second = std::mem::replace(&mut self.cursor, place) == place;
                if !is_second {
                    return None;
                }
                Action::Enter
            }
            _ => return None,
        };
        match action {
            Action::Up => self.cursor = self.cursor.saturating_sub(1),
            Action::Down => self.cursor = (self.cursor + 1).min(last),
            Action::PageUp => self.cursor = self.cursor.saturating_sub(self.height),
            Action::PageDown => self.cursor = (self.cursor + self.height).min(last),
            Action::First => self.cursor = 0,
            Action::Last => self.cursor = last,
            Action::Enter => {
                let row = self.rows.get(self.cursor)?;
                return Some(MountWish::Browse(row.point.clone()));
            }
            Action::Suspend => return Some(MountWish::Suspend),
            Action::Help => self.helps = true,
            Action::Escape if !was_asked => self.asks_quit = true,
            Action::Quit | Action::QuitPrint | Action::Escape => return Some(MountWish::Quit),
            _ => {}
        }
        None
    }

    /// Draws the list. Answers with the place of the cursor.
    pub fn draw(&mut self, buffer: &mut Buffer) -> Cursor {
        let mut canvas = Canvas::new(buffer, self.options.charset, self.options.colour);
        let (width, height) = (canvas.width(), canvas.height());
        self.height = height.saturating_sub(HEAD_LINES + FOOT_LINES).max(1);
        let last_top = self.rows.len().saturating_sub(self.height);
        self.top = self.top.min(last_top).min(self.cursor);
        if self.cursor >= self.top + self.height {
            self.top = self.cursor + 1 - self.height;
        }
        canvas.text(1, 0, width, "statwalk  mounted file systems", Look::Bold);
        canvas.reverse(0);
        let columns = MountColumns::new(width);
        let titles = ["USED", "FREE", "SHARE", "", "INODES", "TYPE"];
        for ((start, width), title) in columns.cells().into_iter().zip(titles) {
            match title {
                "TYPE" => canvas.text(start, 1, width, title, Look::Dim),
                _ => canvas.right(start, 1, width, title, Look::Dim),
            }
        }
        canvas.text(columns.point, 1, width, "MOUNTED ON", Look::Dim);
        let mut cursor = Cursor::of_choice(0, 0);
        for line in 0..self.height.min(self.rows.len() - self.top) {
            let row = &self.rows[self.top + line];
            self.draw_row(row, HEAD_LINES + line, &columns, &mut canvas);
            if self.top + line == self.cursor {
                canvas.reverse(HEAD_LINES + line);
                let x = columns.point.min(width.saturating_sub(1));
                cursor = Cursor::of_choice(x, HEAD_LINES + line);
            }
        }
        let keys = match (self.helps, self.asks_quit) {
            (true, _) => "any key closes",
            (false, true) => "Esc again quits",
            (false, false) => "Enter browse  j k move  ? help  q quit",
        };
        canvas.text(1, height.saturating_sub(1), width, keys, Look::Dim);
        if self.helps {
            return self.draw_help(&mut canvas);
        }
        cursor
    }

    fn draw_help(&self, canvas: &mut Canvas<'_>) -> Cursor {
        let width = canvas.width().min(60);
        let [x, y, width, height] = canvas.frame("Keys", width, KEYS.len() + 2);
        let rows = TABLE.iter().filter_map(|row| {
            let (_, text) = KEYS.iter().find(|(action, _)| *action == row.0)?;
            Some((self.options.keymap.names(row), *text))
        });
        let keys_width = (width / 3).clamp(10, 22);
        for (line, (keys, text)) in rows.take(height).enumerate() {
            canvas.text(x, y + line, keys_width, &keys, Look::Bold);
            let rest = width.saturating_sub(keys_width + 1);
            canvas.text(x + keys_width + 1, y + line, rest, text, Look::Plain);
        }
        Cursor::of_choice(x, y)
    }

    fn draw_row(&self, row: &Mount, y: usize, columns: &MountColumns, canvas: &mut Canvas<'_>) {
        let format = self.options.format;
        let texts = match row.space {
            None => [
                "no answer".to_owned(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ],
            Some(space) => {
                // As df: the part that root keeps for itself is neither used nor free.
                let whole = space.used_bytes.saturating_add(space.free_bytes);
                let (used, whole) = (u128::from(space.used_bytes), u128::from(whole));
                let inodes = space.inodes.filter(|(_, all)| *all > 0);
                [
                    format.text(used),
                    format.text(space.free_bytes.into()),
                    share(used, whole),
                    bar(used, whole, columns.bar, canvas.charset),
                    inodes.map_or_else(
                        || canvas.charset.absent().to_owned(),
                        |(used, all)| share(used.into(), all.into()),
                    ),
                ]
            }
        };
        let looks = [Look::Bold, Look::Plain, Look::Plain, Look::Bar, Look::Dim];
        let cells = columns.cells();
        for (((start, width), text), look) in cells.into_iter().zip(&texts).zip(looks) {
            canvas.right(start, y, width, text, look);
        }
        let kind = canvas.name(row.file_system.as_bytes());
        canvas.text(cells[5].0, y, cells[5].1, &kind, Look::Dim);
        let room = canvas.width().saturating_sub(columns.point);
        let point = canvas.name(&row.point);
        let point = truncate_to_width(&point, room, canvas.charset);
        canvas.text(columns.point, y, room, &point, Look::Bold);
    }
}

/// The places of the columns.
struct MountColumns {
    bar: usize,
    has_details: bool,
    point: usize,
}

impl MountColumns {
    fn new(width: usize) -> MountColumns {
        let mut columns = MountColumns {
            bar: if width >= 60 { 10 } else { 0 },
            has_details: width >= 70,
            point: 0,
        };
        let (start, width) = columns.cells()[5];
        columns.point = start + if width > 0 { width + 1 } else { 0 };
        columns
    }

    /// Begin and width of used, free, share, bar, inodes and type.
    fn cells(&self) -> [(usize, usize); 6] {
        let details = usize::from(self.has_details);
        let mut next = 1;
        [9, 9, 5, self.bar, 6 * details, 8 * details].map(|width| {
            let start = next;
            next += if width > 0 { width + 1 } else { 0 };
            (start, width)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::OwnerNames;
    use crate::filter::Bytes;
    use crate::keys::Keymap;
    use crate::trial::OWNER;
    use ratatui_core::layout::Rect;
    use statwalk_view::{Charset, Colour, SizeFormat};

    fn example() -> Mounts {
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
        let space = |used: u64, free: u64, inodes| {
            Some(MountSpace {
                total_bytes: used + free,
                used_bytes: used,
                free_bytes: free,
                inodes,
            })
        };
        let mount = |point: &[u8], file_system: &str, space| Mount {
            point: point.to_vec(),
            file_system: file_system.to_owned(),
            space,
        };
        let rows = vec![
            mount(b"/", "ext4", space(30 << 30, 70 << 30, Some((1, 4)))),
            mount(b"/srv/\x1b[2J", "nfs4", None),
            mount(b"/data", "btrfs", space(1 << 40, 0, None)),
        ];
        Mounts::new(options, rows)
    }

    fn screen(mounts: &mut Mounts, width: u16, height: u16) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        mounts.draw(&mut buffer);
        let line = |y: u16| {
            let cells = (0..width).map(|x| buffer[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }

    #[test]
    fn file_systems_are_rows() {
        let lines = screen(&mut example(), 80, 8);
        let expected = [
            " statwalk  mounted file systems",
            "      USED      FREE SHARE            INODES TYPE     MOUNTED ON",
            "  30.0 GiB  70.0 GiB  30 % ███          25 % ext4     /",
            " no answer                                   nfs4     /srv/\\x1b[2J",
            "  1.00 TiB       0 B 100 % ██████████      – btrfs    /data",
            "",
            "",
            " Enter browse  j k move  ? help  q quit",
        ];
        assert_eq!(lines, expected);
        let narrow = screen(&mut example(), 40, 8);
        assert_eq!(narrow[2], "  30.0 GiB  70.0 GiB  30 % /");
        for (width, height) in [(1, 1), (10, 3), (30, 4)] {
            screen(&mut example(), width, height);
        }
    }

    #[test]
    fn one_is_selected() {
        let mut mounts = example();
        screen(&mut mounts, 80, 8);
        let press = |mounts: &mut Mounts, key| mounts.update(&Event::Key(key));
        assert_eq!(press(&mut mounts, Key::Char('j')), None);
        mounts.replace(mounts.rows.iter().rev().cloned().collect());
        let wish = press(&mut mounts, Key::Enter);
        assert_eq!(wish, Some(MountWish::Browse(b"/srv/\x1b[2J".to_vec())));
        assert_eq!(press(&mut mounts, Key::Char('q')), Some(MountWish::Quit));
        let click = |mounts: &mut Mounts, line| mounts.update(&Event::Mouse(Mouse::Press(3, line)));
        assert_eq!(click(&mut mounts, 4), None);
        assert_eq!(
            click(&mut mounts, 4),
            Some(MountWish::Browse(b"/".to_vec()))
        );
        assert_eq!(click(&mut mounts, 7), None);
    }

    /// `?` did nothing, and one Esc too many ended the program.
    #[test]
    fn keys_are_shown_and_esc_asks() {
        let mut mounts = example();
        let press = |mounts: &mut Mounts, key| mounts.update(&Event::Key(key));
        assert_eq!(press(&mut mounts, Key::Char('?')), None);
        let shown = screen(&mut mounts, 80, 24).join("\n");
        for (action, text) in KEYS {
            assert!(shown.contains(text), "{action:?} {shown}");
        }
        for (width, height) in [(1, 1), (10, 3), (40, 10)] {
            screen(&mut mounts, width, height);
        }
        assert_eq!(press(&mut mounts, Key::Esc), None);
        assert!(
            !screen(&mut mounts, 80, 24)
                .join("\n")
                .contains("one row up")
        );
        assert_eq!(press(&mut mounts, Key::Esc), None);
        assert_eq!(screen(&mut mounts, 80, 24)[23], " Esc again quits");
        assert_eq!(press(&mut mounts, Key::Char('j')), None);
        assert_eq!(press(&mut mounts, Key::Esc), None);
        assert_eq!(press(&mut mounts, Key::Esc), Some(MountWish::Quit));
    }
}
