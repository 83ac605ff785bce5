// SPDX-License-Identifier: MIT OR Apache-2.0

//! The keys, and what they do.
//!
//! The letters are those of ncdu (its manual, 2.9), then of gdu and dua where ncdu has
//! none.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use crate::event::Key;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table below has a sentence for each")]
pub enum Action {
    Up,
    Down,
    PageUp,
    PageDown,
    HalfUp,
    HalfDown,
    First,
    Last,
    Enter,
    Leave,
    SortName,
    SortSize,
    SortEntries,
    SortNewest,
    SortOwner,
    DirsFirst,
    Apparent,
    Share,
    Entries,
    Newest,
    Owner,
    Hidden,
    Info,
    Refresh,
    ScanAgain,
    StopScan,
    Pause,
    Filter,
    Search,
    Form,
    Jump,
    Mark,
    MarkDown,
    MarkAll,
    Space,
    Write,
    Report,
    Remove,
    Undo,
    Shell,
    Open,
    Copy,
    Tree,
    Largest,
    Types,
    Owners,
    Ages,
    Sizes,
    Errors,
    Marks,
    Rebuildable,
    Found,
    NextView,
    PreviousView,
    Help,
    Escape,
    Suspend,
    Quit,
    QuitPrint,
}

/// An action, its name in the file of keys, its keys, and its sentence.
pub(crate) type Row = (Action, &'static str, &'static [Key], &'static str);

use Action as A;
use Key::{Char, Ctrl, F};

/// All actions, in the order of the help.
pub(crate) const TABLE: [Row; 59] = [
    (A::Up, "up", &[Key::Up, Char('k')], "one row up"),
    (A::Down, "down", &[Key::Down, Char('j')], "one row down"),
    (
        A::PageUp,
        "page-up",
        &[Key::PageUp, Ctrl('b')],
        "one screen up",
    ),
    (
        A::PageDown,
        "page-down",
        &[Key::PageDown, Ctrl('f')],
        "one screen down",
    ),
    (A::HalfUp, "half-up", &[Ctrl('u')], "half a screen up"),
    (A::HalfDown, "half-down", &[Ctrl('d')], "half a screen down"),
    (
        A::First,
        "first",
        &[Key::Home, Char('H')],
        "to the first row",
    ),
    (A::Last, "last", &[Key::End, Char('G')], "to the last row"),
    (
        A::Enter,
        "enter",
        &[Key::Right, Key::Enter, Char('l')],
        "open the directory, or filter by the group",
    ),
    (
        A::Leave,
        "leave",
        &[Key::Left, Char('h'), Char('<'), Key::Backspace],
        "to the directory above",
    ),
    (
        A::SortSize,
        "sort-size",
        &[Char('s')],
        "sort by size; again: reverse",
    ),
    (A::SortName, "sort-name", &[Char('n')], "sort by name"),
    (
        A::SortEntries,
        "sort-entries",
        &[Char('C')],
        "sort by entries",
    ),
    (
        A::SortNewest,
        "sort-newest",
        &[Char('M')],
        "sort by newest change",
    ),
    (A::SortOwner, "sort-owner", &[Char('O')], "sort by owner"),
    (
        A::DirsFirst,
        "directories-first",
        &[Char('t')],
        "directories first, or not",
    ),
    (
        A::Apparent,
        "apparent-size",
        &[Char('a')],
        "disk usage, or apparent size",
    ),
    (
        A::Share,
        "share",
        &[Char('g')],
        "per cent and bar, per cent, bar, or neither",
    ),
    (
        A::Entries,
        "entries",
        &[Char('c')],
        "show or hide the entries",
    ),
    (
        A::Newest,
        "newest",
        &[Char('m')],
        "show or hide the newest change",
    ),
    (A::Owner, "owner", &[Char('u')], "show or hide the owner"),
    (
        A::Hidden,
        "hidden",
        &[Char('e')],
        "show or hide hidden and excluded names",
    ),
    (A::Info, "info", &[Char('i')], "everything about the item"),
    (
        A::Refresh,
        "refresh",
        &[Char('r')],
        "read this directory again, and show the difference",
    ),
    (
        A::ScanAgain,
        "scan-again",
        &[Char('R')],
        "scan everything again",
    ),
    (
        A::StopScan,
        "stop-scan",
        &[Char('S')],
        "stop the scan; its sums are lower bounds then",
    ),
    (
        A::Pause,
        "pause",
        &[Char('p')],
        "keep the order of rows during the scan, or not",
    ),
    (
        A::Filter,
        "filter",
        &[Char('/')],
        "only names with a text, or like a pattern such as *.iso",
    ),
    (
        A::Search,
        "search",
        &[Char('F')],
        "search names below this directory",
    ),
    (
        A::Form,
        "filter-form",
        &[Char('f')],
        "filter by size, age, owner, ending and name",
    ),
    (
        A::Jump,
        "jump",
        &[Char('\'')],
        "to the name that begins with a text",
    ),
    (A::Mark, "mark", &[Char(' ')], "mark the item, or unmark it"),
    (
        A::MarkDown,
        "mark-down",
        &[Char('x')],
        "mark the item and go down",
    ),
    (
        A::MarkAll,
        "mark-all",
        &[Char('*')],
        "invert the marks of all rows",
    ),
    (
        A::Write,
        "write",
        &[Char('E')],
        "write the marked paths to a file",
    ),
    (
        A::Report,
        "report",
        &[Char('W')],
        "write the report of this directory as HTML",
    ),
    (
        A::Space,
        "space",
        &[Char('D')],
        "why df shows another number",
    ),
    (
        A::Remove,
        "remove",
        &[Char('d'), Key::Delete],
        "remove the marked items, or this one; asks before",
    ),
    (
        A::Undo,
        "undo",
        &[Char('U')],
        "take the last move to the trash back",
    ),
    (A::Shell, "shell", &[Char('b')], "a shell in this directory"),
    (
        A::Open,
        "open",
        &[Char('o')],
        "open the item with its program",
    ),
    (
        A::Copy,
        "copy",
        &[Char('y')],
        "copy the path to the clipboard",
    ),
    (A::Tree, "view-tree", &[Char('1')], "view: the directory"),
    (
        A::Largest,
        "view-largest",
        &[Char('2')],
        "view: its largest files",
    ),
    (
        A::Types,
        "view-types",
        &[Char('3')],
        "view: types of files; again: endings of names",
    ),
    (A::Owners, "view-owners", &[Char('4')], "view: owners"),
    (A::Ages, "view-ages", &[Char('5')], "view: ages"),
    (A::Sizes, "view-sizes", &[Char('6')], "view: sizes of files"),
    (A::Errors, "view-errors", &[Char('7')], "view: errors"),
    (A::Marks, "view-marks", &[Char('8')], "view: marks"),
    (
        A::Rebuildable,
        "view-rebuildable",
        &[Char('9')],
        "view: directories that a program makes again",
    ),
    (
        A::Found,
        "view-search",
        &[Char('0')],
        "view: the names that the search finds",
    ),
    (A::NextView, "next-view", &[Key::Tab], "next view"),
    (
        A::PreviousView,
        "previous-view",
        &[Key::BackTab],
        "previous view",
    ),
    (A::Help, "help", &[Char('?'), F(1)], "this help"),
    (
        A::Escape,
        "escape",
        &[Key::Esc],
        "close, or clear the filter",
    ),
    (A::Suspend, "suspend", &[Ctrl('z')], "to the background"),
    (
        A::Quit,
        "quit",
        &[Char('q'), Ctrl('c')],
        "quit; with marks q asks once",
    ),
    (
        A::QuitPrint,
        "quit-print",
        &[Char('Q')],
        "quit, and print the directory",
    ),
];

/// The actions of all keys.
#[derive(Clone, Debug)]
pub struct Keymap {
    actions: HashMap<Key, Action>,
}

/// The reason why keys cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// No action has this name.
    NoAction(String),
    /// No key has this name.
    NoKey(String),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::NoAction(name) => write!(f, "there is no action '{name}'"),
            KeyError::NoKey(name) => write!(f, "there is no key '{name}'"),
        }
    }
}

impl std::error::Error for KeyError {}

impl Default for Keymap {
    fn default() -> Keymap {
        let pairs = TABLE
            .iter()
            .flat_map(|(action, _, keys, _)| keys.iter().map(move |key| (*key, *action)));
        Keymap {
            actions: pairs.collect(),
        }
    }
}

impl Keymap {
    /// Sets the keys of an action, which has no others then.
    ///
    /// # Errors
    ///
    /// Returns an error where no action or no key has the name. Then nothing is set.
    pub fn set(&mut self, action: &str, keys: &[String]) -> Result<(), KeyError> {
        let row = TABLE.iter().find(|(_, name, ..)| *name == action);
        let row = row.ok_or_else(|| KeyError::NoAction(action.to_owned()))?;
        let keys: Vec<Key> = keys
            .iter()
            .map(|key| key.parse())
            .collect::<Result<_, _>>()?;
        self.actions.retain(|_, known| *known != row.0);
        self.actions
            .extend(keys.into_iter().map(|key| (key, row.0)));
        Ok(())
    }

    pub(crate) fn action(&self, key: Key) -> Option<Action> {
        self.actions.get(&key).copied()
    }

    /// The names of the keys of an action, in the order of the table and then of names.
    pub(crate) fn names(&self, row: &Row) -> String {
        let is_its = |key: &&Key| self.actions.get(key) == Some(&row.0);
        let mut names: Vec<String> = row.2.iter().filter(is_its).map(Key::to_string).collect();
        let others = self.actions.iter();
        let others = others.filter(|(key, action)| **action == row.0 && !row.2.contains(key));
        let mut others: Vec<String> = others.map(|(key, _)| key.to_string()).collect();
        others.sort();
        names.extend(others);
        names.join(" ")
    }
}

/// Keys with a name, for the file of keys and the help.
const NAMED: [(Key, &str, &str); 16] = [
    (Key::Up, "up", "↑"),
    (Key::Down, "down", "↓"),
    (Key::Left, "left", "←"),
    (Key::Right, "right", "→"),
    (Key::PageUp, "page-up", "PgUp"),
    (Key::PageDown, "page-down", "PgDn"),
    (Key::Home, "home", "Home"),
    (Key::End, "end", "End"),
    (Key::Enter, "enter", "Enter"),
    (Key::Backspace, "backspace", "Backspace"),
    (Key::Delete, "delete", "Del"),
    (Key::Tab, "tab", "Tab"),
    (Key::BackTab, "back-tab", "Shift-Tab"),
    (Key::Esc, "esc", "Esc"),
    (Key::Char(' '), "space", "Space"),
    (Key::Char('\''), "quote", "'"),
];

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, _, sign)) = NAMED.iter().find(|(key, ..)| key == self) {
            return f.write_str(sign);
        }
        match self {
            Key::Ctrl(c) => write!(f, "Ctrl-{c}"),
            Key::F(number) => write!(f, "F{number}"),
            Key::Char(c) => write!(f, "{c}"),
            _ => unreachable!("every other key has a name"),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads `a`, `ctrl-a`, `f1`, or a name such as `page-up`.
    fn from_str(text: &str) -> Result<Key, KeyError> {
        let unknown = || KeyError::NoKey(text.to_owned());
        if let Some((key, ..)) = NAMED.iter().find(|(_, name, _)| *name == text) {
            return Ok(*key);
        }
        let single = |text: &str| {
            let mut chars = text.chars();
            let first = chars.next().filter(|c| !c.is_control());
            first.filter(|_| chars.next().is_none())
        };
        if let Some(rest) = text.strip_prefix("ctrl-") {
            let letter = single(rest).filter(char::is_ascii_lowercase);
            return letter.map(Key::Ctrl).ok_or_else(unknown);
        }
        let number = text
            .strip_prefix('f')
            .and_then(|digits| digits.parse().ok());
        if let Some(number) = number.filter(|number| (1..=12).contains(number)) {
            return Ok(Key::F(number));
        }
        single(text).map(Key::Char).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_action() {
        let mut seen = HashMap::new();
        for (action, name, keys, _) in TABLE {
            for key in keys {
                assert_eq!(seen.insert(*key, action), None, "{name}: {key}");
            }
        }
    }

    #[test]
    fn every_key_of_the_table_can_be_written() {
        let written = |key: &Key| {
            let named = NAMED.iter().find(|(known, ..)| known == key);
            named.map_or_else(
                || key.to_string().replace("Ctrl-", "ctrl-").replace('F', "f"),
                |row| row.1.to_owned(),
            )
        };
        for (_, name, keys, _) in TABLE {
            for key in keys.iter().filter(|key| **key != Char('F')) {
                assert_eq!(written(key).parse(), Ok(*key), "{name}");
            }
        }
    }

    #[test]
    fn keys_can_be_set() {
        let mut keymap = Keymap::default();
        assert_eq!(keymap.action(Char('s')), Some(Action::SortSize));
        keymap
            .set("sort-size", &["z".into(), "ctrl-s".into()])
            .expect("names");
        assert_eq!(keymap.action(Char('s')), None);
        assert_eq!(keymap.action(Char('z')), Some(Action::SortSize));
        assert_eq!(keymap.action(Ctrl('s')), Some(Action::SortSize));
        let error = keymap.set("sort-colour", &[]);
        assert_eq!(error, Err(KeyError::NoAction("sort-colour".into())));
        for key in ["", "ctrl-", "ctrl-A", "f0", "f13", "shift-a", "\n"] {
            let error = keymap.set("quit", &[key.into()]);
            assert_eq!(error, Err(KeyError::NoKey(key.into())));
        }
        assert_eq!(keymap.action(Char('q')), Some(Action::Quit));
    }
}
