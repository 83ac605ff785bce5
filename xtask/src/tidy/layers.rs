// SPDX-License-Identifier: MIT OR Apache-2.0

//! The arrows between rooms: `layers.txt` says what each may name, and all else is refused.

use std::collections::BTreeSet;
use std::path::Path;

const TABLE: &str = include_str!("layers.txt");

/// The repository, where a test runs in the folder of this crate.
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Names of other crates and of the machine, of which a room needs leave.
const OUTSIDE: [&str; 13] = [
    "statwalk_",
    "rustix",
    "libc",
    "crossterm",
    "std::fs",
    "std::io",
    "std::env",
    "std::os",
    "std::net",
    "std::process",
    "std::thread",
    "Instant",
    "SystemTime",
];

/// A part of a crate.
struct Room<'a> {
    name: &'a str,
    /// Its files and folders.
    places: Vec<String>,
    /// Rooms, modules of its own crate, and names from outside.
    may: BTreeSet<&'a str>,
    /// Text that no line of code has there.
    never: Vec<&'a str>,
}

fn rooms() -> Vec<Room<'static>> {
    let mut rooms: Vec<Room<'static>> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let Some((word, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let words = rest.split_whitespace();
        match (word, rooms.last_mut()) {
            ("room", _) => rooms.push(Room {
                name: rest,
                places: Vec::new(),
                may: BTreeSet::new(),
                never: Vec::new(),
            }),
            ("in", Some(room)) => room.places.extend(words.map(whole_path)),
            ("may", Some(room)) => room.may.extend(words),
            ("never", Some(room)) => room.never.push(rest.trim_matches('"')),
            _ => panic!("layers.txt: {line}"),
        }
    }
    rooms
}

/// `core/order` is the folder of that name in the sources of `statwalk-core`.
fn whole_path(short: &str) -> String {
    let (krate, rest) = short.split_once('/').unwrap_or((short, ""));
    let krate = match krate {
        "program" => "crates/statwalk".to_owned(),
        _ => format!("crates/statwalk-{krate}"),
    };
    match rest.strip_suffix(".toml") {
        Some(_) => format!("{krate}/{rest}"),
        None => format!("{krate}/src/{rest}")
            .trim_end_matches('/')
            .to_owned(),
    }
}

/// The room with the longest place that holds a file.
fn room_of<'a>(rooms: &'a [Room<'a>], file: &Path) -> Option<&'a Room<'a>> {
    let places = rooms
        .iter()
        .flat_map(|room| room.places.iter().map(move |place| (place, room)));
    let holding = places.filter(|(place, _)| file.starts_with(place));
    holding
        .max_by_key(|(place, _)| place.len())
        .map(|(_, room)| room)
}

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    thread_local! {
        static ROOMS: Vec<Room<'static>> = rooms();
    }
    if !is_test(file) {
        ROOMS.with(|rooms| check_in(rooms, file, text, faults));
    }
}

fn check_in(rooms: &[Room<'_>], file: &Path, text: &str, faults: &mut Vec<String>) {
    let Some(room) = room_of(rooms, file) else {
        return;
    };
    let code = without_tests(text);
    for (number, line) in code.lines().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for word in room.never.iter().filter(|word| line.contains(**word)) {
            faults.push(format!("{}:{}: has {word}", file.display(), number + 1));
        }
    }
    if file.extension().is_none_or(|extension| extension != "rs") {
        return;
    }
    for name in names(file, &code) {
        let is_allowed = match name {
            Name::Outside(ref name) => room.may.contains(&**name),
            Name::Module(ref module) => may_name(rooms, room, file, module),
        };
        if !is_allowed {
            let (Name::Outside(name) | Name::Module(name)) = name;
            let room = room.name;
            faults.push(format!(
                "{}: `{room}` may not name {name} (xtask/src/tidy/layers.txt)",
                file.display()
            ));
        }
    }
}

/// Whether a room may name a module of its crate: its room, the module itself, or one above.
fn may_name(rooms: &[Room<'_>], room: &Room<'_>, file: &Path, module: &str) -> bool {
    let sources: Vec<_> = file.iter().take(3).collect();
    let sources: std::path::PathBuf = sources.iter().collect();
    let mut above = module;
    loop {
        if room.may.contains(above) {
            return true;
        }
        let here = Path::new(HERE).join(&sources).join(above);
        let place = [here.with_extension("rs"), here.join("mod.rs")];
        if let Some(place) = place.iter().find(|place| place.exists()) {
            let other = room_of(rooms, place.strip_prefix(HERE).unwrap_or(place));
            return other
                .is_none_or(|other| other.name == room.name || room.may.contains(other.name));
        }
        match above.rsplit_once('/') {
            Some((next, _)) => above = next,
            // An item at the root of the crate.
            None => return room.may.contains("root"),
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Outside(String),
    /// By its path below the crate, with slashes.
    Module(String),
}

/// The names in paths of code.
fn names(file: &Path, code: &str) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let mut module: Vec<String> = (file.iter().skip(3))
        .map(|part| part.to_string_lossy().trim_end_matches(".rs").to_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&&**last))
    {
        module.pop();
    }
    let code = without_comments(code);
    for outside in OUTSIDE {
        for (at, _) in code.match_indices(outside) {
            let is_begin = !code[..at].ends_with(is_part_of_name);
            let rest = &code[at..];
            let end = outside.len()
                + rest[outside.len()..]
                    .find(|c| !is_part_of_name(c))
                    .unwrap_or(0);
            let is_whole = outside.ends_with('_') || end == outside.len();
            if is_begin && is_whole {
                names.insert(Name::Outside(rest[..end].to_owned()));
            }
        }
    }
    for (begin, is_super) in [("crate::", false), ("super::", true)] {
        for (at, _) in code.match_indices(begin) {
            let before = &code[..at];
            let is_inside = before.ends_with(|c| is_part_of_name(c) || c == ':' || c == '$');
            // `pub(in crate::…)` opens a door and goes through none.
            if is_inside || before.ends_with("(in ") {
                continue;
            }
            let mut rest = &code[at..];
            let mut up = 0;
            while let Some(next) = rest.strip_prefix("super::") {
                (rest, up) = (next, up + 1);
            }
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            let base: &[String] = match is_super {
                true => &module[..module.len().saturating_sub(up)],
                false => &[],
            };
            for item in items(rest).into_iter().filter(|item| !item.is_empty()) {
                let path: Vec<&str> = (base.iter().map(String::as_str)).chain([&*item]).collect();
                names.insert(Name::Module(path.join("/")));
            }
        }
    }
    names
}

/// The paths at the begin of a text, with slashes: one, or several in braces.
fn items(text: &str) -> Vec<String> {
    let end = text.find(|c| !is_part_of_name(c)).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    if let Some(next) = rest.strip_prefix("::").filter(|_| !first.is_empty()) {
        let below = items(next).into_iter().filter(|item| !item.is_empty());
        let below: Vec<String> = below.map(|item| format!("{first}/{item}")).collect();
        return if below.is_empty() {
            vec![first.to_owned()]
        } else {
            below
        };
    }
    let Some(inner) = rest.strip_prefix('{').filter(|_| first.is_empty()) else {
        return vec![first.to_owned()];
    };
    let (mut depth, mut begin, mut all) = (0_usize, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                all.extend(items(inner[begin..at].trim_start()));
                begin = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    all
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A file without the module of tests at its end.
fn without_tests(text: &str) -> String {
    let end = text
        .find("\n#[cfg(test)]\nmod tests {")
        .unwrap_or(text.len());
    text[..end].to_owned()
}

/// A text without comments; a string can hold their sign, and then no name follows in its line.
fn without_comments(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Tests of a room may name the others, to compare with them.
fn is_test(file: &Path) -> bool {
    let mut parts = file.iter().map(|part| part.to_string_lossy());
    parts.any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(file: &str, code: &str) -> Vec<String> {
        let mut faults = Vec::new();
        check(Path::new(file), code, &mut faults);
        faults
    }

    #[test]
    fn every_file_of_a_crate_with_rooms_lies_in_one() {
        for room in rooms() {
            for place in room.places {
                assert!(Path::new(HERE).join(&place).exists(), "{place}");
            }
        }
    }

    #[test]
    fn a_name_that_a_room_may_not_have_is_a_fault() {
        let order = "crates/statwalk-core/src/order/pool.rs";
        assert_eq!(faults(order, "use crate::listing::Lister;"), [""; 0]);
        assert_eq!(faults(order, "use std::fs;").len(), 1);
        assert_eq!(
            faults(order, "use crate::{listing, source::choice};").len(),
            1
        );
        assert_eq!(faults(order, "// std::fs\n").len(), 0);
        // Nobody had said that it may not.
        assert_eq!(faults(order, "use rustix::net;").len(), 1);
        assert_eq!(
            faults(
                "crates/statwalk-browse/src/list.rs",
                "use std::time::Instant;"
            )
            .len(),
            1
        );
    }

    #[test]
    fn paths_are_read_in_braces_and_from_above() {
        let file = Path::new("crates/statwalk-core/src/listing/read.rs");
        let found = names(
            file,
            "use super::{open_dir::OpenDir, source};\nuse crate::entry;",
        );
        let found: Vec<String> = (found.into_iter())
            .map(|(Name::Outside(name) | Name::Module(name))| name)
            .collect();
        assert_eq!(
            found,
            ["entry", "listing/open_dir/OpenDir", "listing/source"]
        );
    }
}
