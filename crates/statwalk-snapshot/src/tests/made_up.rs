// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests with snapshots that no writer makes: well-formed files whose values contradict each
//! other.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use statwalk_core::{Fields, Replay, Scan, Totals};
use statwalk_testkit::Scratch;

use crate::check::check;
use crate::folder::Folder;
use crate::machine::{FileSystem, Machine};
use crate::manifest::{Facts, Manifest, Root};
use crate::merge::{MergeOptions, merge};
use crate::part::Part;
use crate::schema::{Kind, TableName};
use crate::snapshot::{Found, Snapshot};
use crate::table::Table;
use crate::table_writer::TableWriter;

struct Nobody;

impl Machine for Nobody {
    fn user(&mut self, _: u32) -> Option<Vec<u8>> {
        Some(b"ann".to_vec())
    }

    fn group(&mut self, _: u32) -> Option<Vec<u8>> {
        None
    }

    fn file_system(&mut self, _: u64) -> FileSystem {
        FileSystem::default()
    }

    fn is_cachedir(&mut self, _: &[u8]) -> Option<bool> {
        None
    }
}

/// A snapshot of a few directories, with a file of two names.
pub(crate) fn snapshot_in(at: &Path) -> PathBuf {
    let root = at.join("root");
    for dir in ["a/b/c", "a/d", "e"] {
        std::fs::create_dir_all(root.join(dir)).unwrap();
    }
    for name in ["a/one", "a/b/two", "e/three", "four"] {
        std::fs::write(root.join(name), name).unwrap();
    }
    std::fs::hard_link(root.join("four"), root.join("a/d/five")).unwrap();
    let mut part = Part::new();
    let mut rows = Scan::new(&root).fields(Fields::ALL).rows().unwrap();
    for found in &mut rows {
        part.add_rows(&found.unwrap()).unwrap();
    }
    assert!(rows.finish().is_complete());
    let facts = Facts {
        roots: vec![Root {
            path: b"/root".to_vec(),
            absolute: b"/root".to_vec(),
            ..Root::default()
        }],
        ..Facts::default()
    };
    let folder = Folder::begin(at, 1).unwrap();
    let options = MergeOptions::default();
    let manifest = merge(&part, facts, &mut Nobody, &folder, &options).unwrap();
    folder.finish(&manifest, OsStr::new("whole")).unwrap()
}

/// Another value for a cell.
#[derive(Clone, Debug)]
enum Cell {
    Number(i64),
    Text(&'static str),
    None,
}

/// Writes a snapshot again, with another value in one cell.
fn rewritten(whole: &Path, at: &Path, place: (TableName, &str, usize), cell: &Cell) -> PathBuf {
    let mut manifest = Manifest::read(whole).unwrap();
    let folder = Folder::begin(at, 2).unwrap();
    let old = manifest.clone();
    for name in TableName::ALL {
        let table = Table::new(name, whole, &old);
        let columns = table.read_all(0..table.rows()).unwrap();
        let mut writer = TableWriter::new(name).unwrap();
        writer
            .group(&folder, columns.len(), |column, cells| {
                let of = name.columns()[name.index(column)];
                for row in 0..columns.len() {
                    if (name, column, row) == place {
                        match cell {
                            Cell::Number(value) if of.kind == Kind::Bool => cells.bool(*value == 1),
                            Cell::Number(value) => cells.number(*value),
                            Cell::Text(text) => cells.bytes(text.as_bytes()),
                            Cell::None => cells.none(),
                        }
                        continue;
                    }
                    let values = columns.values(column).unwrap();
                    match of.kind {
                        Kind::Int => cells.number_or_none(values.number(row)),
                        Kind::Bool => match values.number(row) {
                            Some(value) => cells.bool(value == 1),
                            None => cells.none(),
                        },
                        Kind::Decimal => match values.decimal(row) {
                            Some(value) => cells.decimal(value),
                            None => cells.none(),
                        },
                        Kind::Text | Kind::Bytes => match values.text(row) {
                            Some(text) => cells.bytes(text),
                            None => cells.none(),
                        },
                    }
                }
            })
            .unwrap();
        *manifest.tables.of_mut(name) = writer.finish(&folder).unwrap();
    }
    let name = format!("rewritten-{}", std::fs::read_dir(at).unwrap().count());
    folder.finish(&manifest, OsStr::new(&name)).unwrap()
}

/// Asks a snapshot everything. Errors are right, and so is an answer.
pub(crate) fn read_all(path: &Path) {
    let Ok(snapshot) = Snapshot::open(path) else {
        return;
    };
    let _ = snapshot.roots();
    let _ = snapshot.errors();
    let _ = snapshot.owners();
    let _ = snapshot.file_systems();
    for number in 0..snapshot.dir_count().min(50) {
        let _ = snapshot.path(number);
        let Ok(dir) = snapshot.dir(number) else {
            continue;
        };
        if dir.entry_count < 1000 {
            let _ = snapshot.children(&dir);
        }
        if let Ok(rows) = snapshot.scan_rows(Some(&dir), Fields::ALL) {
            for rows in rows {
                if rows.is_err() {
                    break;
                }
            }
        }
    }
    if let Ok(Some(Found::Dir(dir))) = snapshot.find(b"/root/a/b") {
        let _ = snapshot.dir(dir.last);
    }
    if let Ok(rows) = snapshot.scan_rows(None, Fields::ALL) {
        let mut replay = Replay::new(Totals::new(), snapshot.context(0));
        for rows in rows {
            let Ok((entries, directories)) = rows else {
                break;
            };
            if replay.columns(&entries, &directories).is_break() {
                break;
            }
        }
        let _ = replay.finish();
    }
    let _ = check(path);
}

/// The bindings make their columns of the same table of the engine.
#[test]
fn each_column_of_the_engine_has_its_name_and_type_here() {
    for column in statwalk_core::Column::of(Fields::ALL) {
        // The device of an entry is a file system here.
        let name = if column.name == "dev" {
            "fs"
        } else {
            column.name
        };
        let of = TableName::Entries.columns();
        let found = of.iter().find(|other| other.name == name);
        assert_eq!(found.map(|found| found.kind), Some(Kind::Int), "{name}");
    }
}

#[test]
fn a_snapshot_that_is_written_again_is_whole() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let again = rewritten(
        &whole,
        scratch.path(),
        (TableName::Dirs, "dir", 99),
        &Cell::None,
    );
    assert_eq!(
        Manifest::read(&again).unwrap(),
        Manifest::read(&whole).unwrap()
    );
    assert_eq!(check(&again).unwrap().faults, []);
    let checked = check(&whole).unwrap();
    assert_eq!(
        (checked.entries, checked.dirs, checked.fault_count),
        (11, 6, 0)
    );
}

/// A table of more than 64 row groups has several files, and a range of rows crosses them.
#[test]
fn a_long_table_has_several_files() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let mut manifest = Manifest::read(&whole).unwrap();
    let folder = Folder::begin(scratch.path(), 2).unwrap();
    let mut writer = TableWriter::new(TableName::Owners).unwrap();
    for group in 0..150 {
        writer
            .group(&folder, 2, |column, cells| {
                for row in 0..2 {
                    match column {
                        "kind" => cells.bytes(b"user"),
                        "id" => cells.number(2 * group + row),
                        "name" => cells.bytes(format!("user {}", 2 * group + row).as_bytes()),
                        _ => cells.none(),
                    }
                }
            })
            .unwrap();
    }
    let files = writer.finish(&folder).unwrap();
    let rows: Vec<u64> = files.iter().map(|file| file.rows).collect();
    assert_eq!(rows, [128, 128, 44]);
    assert_eq!(files[2].name, "owners/part-00002.parquet");
    manifest.tables.owners = files;
    let table = Table::new(TableName::Owners, folder.path(), &manifest);
    for (begin, end) in [
        (0, 300),
        (127, 129),
        (255, 257),
        (1, 2),
        (299, 300),
        (300, 300),
    ] {
        let columns = table.read(begin..end, &["id", "name"]).unwrap();
        let ids: Vec<_> = (0..columns.len())
            .map(|row| columns.number("id", row))
            .collect();
        assert_eq!(
            ids,
            (begin..end).map(|id| Some(id as i64)).collect::<Vec<_>>()
        );
        for row in 0..columns.len() {
            let name = format!("user {}", begin + row as u64);
            assert_eq!(columns.required_text("name", row).unwrap(), name);
        }
    }
    assert!(table.read(299..301, &["id"]).is_err());
}

#[test]
fn the_check_names_each_lie() {
    use Cell::{None as Absent, Number, Text};
    use TableName::{Dirs, Entries, Filesystems, Owners};
    let lies: Vec<(TableName, &str, usize, Cell, &str)> = vec![
        (Dirs, "dir", 2, Number(3), "impossible dir"),
        (Dirs, "last", 1, Number(0), "impossible last"),
        (Dirs, "last", 1, Number(i64::MAX), "impossible last"),
        (Dirs, "last", 2, Number(5), "subtree reaches out"),
        (Dirs, "parent", 1, Number(1), "impossible parent"),
        (Dirs, "parent", 2, Number(5), "impossible parent"),
        (Dirs, "parent", 3, Number(1), "parent is not the directory"),
        (Dirs, "parent", 5, Absent, "parent is not the directory"),
        (Dirs, "root", 0, Number(7), "impossible root"),
        (Dirs, "entry", 3, Number(1 << 62), "impossible entry"),
        (Dirs, "entry", 3, Number(0), "another row"),
        (
            Dirs,
            "first_entry",
            2,
            Number(1 << 62),
            "impossible entries",
        ),
        (Dirs, "first_entry", 2, Number(5), "do not follow"),
        (Dirs, "entries", 2, Number(i64::MAX), "impossible entries"),
        (Dirs, "entries", 2, Number(-1), "impossible entries"),
        (Dirs, "state", 1, Text("asleep"), "impossible state"),
        (Dirs, "below_size", 0, Number(5), "sums are not those"),
        (Dirs, "below_files", 1, Number(5), "sums are not those"),
        (Dirs, "unreadable", 1, Number(5), "lacks something else"),
        (Dirs, "listing", 4, Number(5), "hash of its rows"),
        (Entries, "dir", 4, Number(0), "name does not come after"),
        (Entries, "dir", 2, Number(-5), "impossible dir"),
        (Entries, "name", 2, Text("a"), "name does not come after"),
        (Entries, "name", 2, Text("x/y"), "impossible name"),
        (Entries, "name", 2, Text(""), "impossible name"),
        (Entries, "name_raw", 2, Text("zz"), "name_raw"),
        (Entries, "type", 1, Text("file"), "type does not go with"),
        (Entries, "type", 1, Text("door"), "impossible type"),
        (Entries, "mode", 3, Number(1 << 40), "impossible mode"),
        (Entries, "uid", 3, Number(-1), "impossible uid"),
        (Entries, "size", 6, Number(1 << 62), "sums are not those"),
        (Entries, "size", 3, Number(-7), "impossible size"),
        (Entries, "mtime", 3, Number(7), "hash of its rows"),
        (Entries, "fs", 3, Number(99), "hash of its rows"),
        (
            Entries,
            "counts",
            3,
            Number(1),
            "another name of the inode comes before",
        ),
        (Entries, "counts", 7, Number(0), "no other name"),
        (Entries, "child", 1, Number(2), "another row"),
        (Entries, "child", 1, Number(0), "impossible child"),
        (Entries, "child", 1, Number(1 << 62), "impossible child"),
        (Entries, "child", 3, Number(1), "impossible below_entries"),
        (
            Entries,
            "below_entries",
            1,
            Absent,
            "impossible below_entries",
        ),
        (
            Entries,
            "below_size",
            1,
            Number(1),
            "sums are not those of the directory",
        ),
        (Owners, "kind", 0, Text("dog"), "impossible kind"),
        (Owners, "id", 0, Number(1 << 40), "impossible id"),
        (
            Filesystems,
            "identity",
            0,
            Text("other"),
            "hash of its rows",
        ),
    ];
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let mut silent: Vec<String> = Vec::new();
    for (table, column, row, cell, words) in lies {
        let path = rewritten(&whole, scratch.path(), (table, column, row), &cell);
        let checked = check(&path).unwrap();
        let says_so = checked
            .faults
            .iter()
            .any(|fault| fault.words.contains(words));
        if !says_so {
            silent.push(format!("{column} of {row} {cell:?}: {:?}", checked.faults));
        }
        read_all(&path);
        std::fs::remove_dir_all(path).unwrap();
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn the_check_names_a_file_that_changed() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let file = whole.join("owners/part-00000.parquet");
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let checked = check(&whole).unwrap();
    let fault = checked.faults[0].to_string();
    assert_eq!(
        fault,
        "owners/part-00000.parquet: the hash is another than in the manifest"
    );
    bytes.pop();
    std::fs::write(&file, &bytes).unwrap();
    assert!(
        check(&whole).unwrap().faults[1]
            .words
            .contains("the manifest says")
    );
    std::fs::remove_file(&file).unwrap();
    let words = &check(&whole).unwrap().faults[0].words;
    assert!(
        words.starts_with("read ") || words.starts_with("open "),
        "{words}"
    );
}

/// Damage of every kind in each file. Nothing panics, and nothing takes much memory or time.
#[test]
fn damaged_files_are_errors() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    // Panics of libraries are caught; their words would fill the screen.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_ours = |file: &str| file.contains("statwalk");
        if panic
            .location()
            .is_none_or(|location| is_ours(location.file()))
        {
            usual(panic);
        }
    }));
    let mut seed = 7_u64;
    let mut random = move |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut files = vec![crate::manifest::MANIFEST_NAME.to_owned()];
    files.extend(TableName::ALL.map(|name| name.file_name(0)));
    for round in 0..300 {
        let name = &files[round % files.len()];
        let path = whole.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        match random(4) {
            0 => {
                for _ in 0..=random(4) {
                    let at = random(damaged.len());
                    damaged[at] ^= 1 << random(8);
                }
            }
            1 => {
                let (at, count) = (random(damaged.len()), random(40));
                let end = damaged.len().min(at + count);
                damaged[at..end].fill([0, 0xFF, 0x7F, 0x80][random(4)]);
            }
            2 => {
                // Near the end, where the footer is.
                let at = damaged.len() - 1 - random(damaged.len().min(600));
                damaged[at] = random(256) as u8;
            }
            _ => {
                let (from, to) = (random(damaged.len()), random(damaged.len()));
                let count = random(64).min(damaged.len() - from.max(to));
                let part = damaged[from..from + count].to_vec();
                damaged[to..to + count].copy_from_slice(&part);
            }
        }
        std::fs::write(&path, &damaged).unwrap();
        read_all(&whole);
        std::fs::write(&path, &bytes).unwrap();
    }
    for name in &files[1..] {
        let path = whole.join(name);
        let bytes = std::fs::read(&path).unwrap();
        for end in (0..bytes.len()).step_by(bytes.len() / 20) {
            // With a manifest that agrees on the length.
            let manifest = whole.join(crate::manifest::MANIFEST_NAME);
            let text = std::fs::read_to_string(&manifest).unwrap();
            let said = format!("\"bytes\": {}", bytes.len());
            let shorter = text.replace(&said, &format!("\"bytes\": {end}"));
            std::fs::write(&manifest, shorter).unwrap();
            std::fs::write(&path, &bytes[..end]).unwrap();
            read_all(&whole);
            std::fs::write(&manifest, text).unwrap();
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(check(&whole).unwrap().faults, []);
}

/// A page of texts that repeat the one before takes a few bytes for each, and 60,000 in memory.
#[test]
fn texts_that_repeat_each_other_do_not_fill_the_memory() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let mut manifest = Manifest::read(&whole).unwrap();
    let folder = Folder::begin(scratch.path(), 2).unwrap();
    let text = vec![b'a'; 60_000];
    let mut writer = TableWriter::new(TableName::Owners).unwrap();
    writer
        .group(&folder, 8192, |column, cells| {
            for row in 0..8192 {
                match column {
                    "kind" => cells.bytes(b"user"),
                    "id" => cells.number(row),
                    "name" => cells.bytes(&text),
                    _ => cells.none(),
                }
            }
        })
        .unwrap();
    manifest.tables.owners = writer.finish(&folder).unwrap();
    assert!(manifest.tables.owners[0].bytes < 200_000);
    let table = Table::new(TableName::Owners, folder.path(), &manifest);
    let error = table.read(0..8192, &["name"]).unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
    assert!(table.read(0..100, &["name"]).is_ok());
}

/// A FIFO kept a reader waiting for ever.
#[test]
fn what_is_no_file_is_an_error() {
    let scratch = Scratch::new().unwrap();
    let whole = snapshot_in(scratch.path());
    let entries = whole.join("entries/part-00000.parquet");
    let make_fifo = |path: &Path| {
        std::fs::remove_file(path).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
    };
    make_fifo(&entries);
    let snapshot = Snapshot::open(&whole).unwrap();
    let error = snapshot.roots().unwrap_err().to_string();
    assert!(error.ends_with("not a regular file"), "{error}");
    let words = &check(&whole).unwrap().faults[0].words;
    assert!(words.contains("not a regular file"), "{words}");
    make_fifo(&whole.join("_manifest.json"));
    let error = Snapshot::open(&whole).unwrap_err().to_string();
    assert!(error.ends_with("not a regular file"), "{error}");
}
