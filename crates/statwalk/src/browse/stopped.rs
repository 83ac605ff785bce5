// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans that the user stops with `S` at any moment. A test: each row without a mark is that
//! of the whole.

#![cfg(test)]

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

use statwalk_browse::{Data, Edited, Filter, Filtered, Item, ItemId, item_at};
use statwalk_core::Scan;
use statwalk_testkit::generator::{Shape, generate};
use statwalk_testkit::{Random, Scratch};
use statwalk_view::{Kind, NamePattern};

use super::message::Message;
use super::scan::LiveScan;
use super::{refresh, scan};
use crate::flags::When;
use crate::request::{Form, Request, RowEnd};

/// No stop is surely too late after this time.
const LEAST: Duration = Duration::from_micros(20);

type Rows = HashMap<Vec<u8>, Item<'static>>;

fn request(paths: &[PathBuf], threads: usize) -> Request {
    let scan = Scan::of(paths).threads(threads);
    Request::of_scan(
        scan,
        paths.to_vec(),
        Form::Rows(RowEnd::Newline),
        When::Never,
    )
}

/// The numbers of a scan, which may be stopped after a time; and whether it was stopped.
fn scanned(request: &Request, stop: Option<Duration>) -> (Arc<dyn Data>, bool) {
    let (news, messages) = channel();
    let scan = LiveScan::start(request, true, news).unwrap();
    if let Some(time) = stop {
        sleep(time);
        scan.stop();
    }
    loop {
        if let Message::Scanned(_, data, is_stopped) = messages.recv().unwrap() {
            return (data, is_stopped);
        }
    }
}

/// All rows, by path. It must be the same item that a row asks for by its number.
fn rows(data: &dyn Data) -> Rows {
    let mut rows = Rows::new();
    let mut keep = |id: ItemId, item: &Item<'_>| {
        assert_eq!(data.item(id).as_ref(), Some(item));
        let name = item.name.to_vec().into();
        let row = Item {
            name,
            ..item.clone()
        };
        rows.insert(data.path(id).unwrap(), row);
    };
    for root in data.roots() {
        keep(root, &data.item(root).unwrap());
        data.walk(root, &mut |entry| {
            keep(entry.id, &entry.item);
            ControlFlow::Continue(())
        });
    }
    rows
}

/// Compares rows with those of the whole. Answers with the number of those without a mark.
#[track_caller]
fn compare(rows: &Rows, whole: &Rows) -> usize {
    let mut exact = 0;
    for (path, row) in rows {
        let notes = row.notes;
        if notes.is_incomplete || notes.is_unreadable {
            continue;
        }
        // Another name of a file comes first where its directory was read.
        if row.kind == Kind::Directory {
            let path = String::from_utf8_lossy(path);
            assert_eq!(Some(row), whole.get(path.as_bytes()), "{path}");
            exact += 1;
        }
    }
    exact
}

/// After a stop, directories that waited were shown as exact, with a part of their bytes.
#[test]
fn rows_without_a_mark_are_exact_after_a_stop() {
    // Where a directory is read again, the names elsewhere of an inode in it count once more.
    for hard_link_share in [0.1, 0.0] {
        let scratch = Scratch::new().unwrap();
        let roots = ["a", "b"].map(|name| scratch.path().join(name));
        for (root, seed) in roots.iter().zip([7, 8]) {
            let shape = Shape {
                entries: 3_000,
                hard_link_share,
                ..Shape::default()
            };
            generate(root, seed, &shape).unwrap();
        }
        let begin = Instant::now();
        let (whole, is_stopped) = scanned(&request(&roots, 2), None);
        let takes = begin.elapsed();
        assert!(!is_stopped);
        let filter = Filter {
            uid: Some(0),
            name_end: Some(NamePattern::end("1").unwrap()),
            ..Filter::default()
        };
        let filtered = |data: &Arc<dyn Data>| {
            let filtered = Filtered::new(Arc::clone(data), filter.clone(), 0, &|| false);
            rows(&filtered.unwrap())
        };
        let (whole, whole_filtered) = (rows(&*whole), filtered(&whole));
        assert!(whole.values().all(|row| !row.notes.is_incomplete));
        let mut random = Random::new(1);
        let (mut stops, mut exact, mut marked) = (0, 0, 0);
        // The first scan reads more slowly than the others.
        let mut longest = takes;
        while stops < 12 {
            let request = request(&roots, 1 + random.below(3) as usize);
            let time = longest.mul_f64(random.share());
            let (data, is_stopped) = scanned(&request, Some(time));
            let all = rows(&*data);
            exact += compare(&all, &whole);
            compare(&filtered(&data), &whole_filtered);
            // A root that nobody has begun is a row, too.
            assert_eq!(data.roots().len(), roots.len());
            let dirs = all.iter();
            let dirs = dirs.filter(|(_, row)| row.notes.is_incomplete);
            let mut lacking: Vec<&Vec<u8>> = dirs.map(|(path, _)| path).collect();
            if lacking.is_empty() {
                // The stop came after the last entry.
                assert_eq!(all, whole);
                longest = longest.max(LEAST * 2) / 2;
                continue;
            }
            assert!(is_stopped);
            stops += 1;
            marked += lacking.len();
            // The user reads a directory again that lacks something.
            lacking.sort();
            let path: &&Vec<u8> = random.pick(&lacking);
            let dir = item_at(path, &*data).unwrap();
            let newer = refresh::read_again(
                &request.scan,
                scan::sink(&request, true),
                &*data,
                dir,
                None,
                &|| false,
            );
            let mut edited = Edited::new(data);
            edited.renew(dir, newer.unwrap().unwrap()).unwrap();
            if hard_link_share == 0.0 {
                compare(&rows(&edited), &whole);
            }
        }
        // On a busy machine the stops come late, and little is lacking.
        assert!(exact > 50 && marked > 20, "{exact} {marked}");
    }
}
