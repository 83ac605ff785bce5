// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of the view of directories that a program makes again.

use statwalk_view::Kind;

use crate::answer;
use crate::data::Data;
use crate::event::{Effect, Event, Key};
use crate::filter::Filter;
use crate::trial::{PlainDisk, Small, Trial, assert_screen, id, without};

/// Projects with results of builds, and directories that only look so.
fn projects() -> Small {
    use Kind::{Directory, File, Link};
    let mut small = Small::default();
    for (id, parent, name, kind, bytes) in [
        (1, None, "/data", Directory, 4096),
        (2, Some(1), "web", Directory, 4096),
        (3, Some(2), "package.json", File, 100),
        (4, Some(2), "node_modules", Directory, 4096),
        (5, Some(4), ".package-lock.json", File, 4096),
        (6, Some(4), "big.js", File, 30 << 20),
        (7, Some(4), "__pycache__", Directory, 4096),
        (8, Some(1), "rust", Directory, 4096),
        (9, Some(8), "Cargo.toml", File, 100),
        (10, Some(8), "target", Directory, 4096),
        (11, Some(10), "CACHEDIR.TAG", File, 43),
        (12, Some(10), "program", File, 50 << 20),
        (13, Some(1), "notes", Directory, 4096),
        (14, Some(13), "target", Directory, 4096),
        (15, Some(14), "plan", File, 5 << 20),
        (16, Some(13), "node_modules", File, 77),
        (17, Some(1), ".cfg", Directory, 4096),
        (18, Some(17), "package.json", File, 100),
        (19, Some(17), "node_modules", Directory, 4096),
        (20, Some(19), ".package-lock.json", File, 4096),
        (21, Some(1), "my-cache", Directory, 4096),
        (22, Some(21), "CACHEDIR.TAG", File, 43),
        (23, Some(21), "data", File, 1 << 20),
        (24, Some(1), "tagged", Directory, 4096),
        (25, Some(24), "CACHEDIR.TAG", File, 43),
        (26, Some(1), "linked", Directory, 4096),
        (27, Some(26), "package.json", File, 100),
        (28, Some(26), "node_modules", Link, 0),
    ] {
        small.put(id, parent, name.as_bytes(), kind, bytes);
    }
    small
}

/// The line below the rows.
fn foot(trial: &mut Trial) -> String {
    let screen = trial.screen();
    screen[screen.len() - 2].clone()
}

#[test]
fn the_view_lists_what_a_program_makes_again() {
    let mut trial = Trial::new(projects(), 80, 9);
    trial.keys("9");
    assert_screen(
        &trial.screen(),
        "
 Rebuildable  /data                                        86.1 MiB, 28 entries
       DISK SHARE          NEWEST REBUILT BY       PATH
   50.0 MiB  58 % ████████   33 d cargo build      rust/target/
   30.0 MiB  35 % ████▊      15 d npm install      web/node_modules/
   1.00 MiB   1 % ▏          2 mo CACHEDIR.TAG     my-cache/


 3 directories, 81.0 MiB in all
 ? help  Enter show  Space mark  * mark all  Tab views  i info  q quit",
    );
    // The programs go before the paths do.
    let mut small = Trial::new(projects(), 40, 10);
    small.keys("9");
    assert_eq!(
        small.names(),
        ["rust/target/", "web/node_modules/", "my-cache/"]
    );
    assert_eq!(small.screen()[1], "       DISK PATH");
    small.keys("j");
    let line = foot(&mut small);
    assert_eq!(line, " by npm install · 81.0 MiB in all");
    small.keys("*");
    let line = foot(&mut small);
    assert_eq!(line, " by npm install · 3 marked: 81.0 MiB");
}

#[test]
fn the_rows_are_those_below_the_open_directory() {
    let mut trial = Trial::new(projects(), 100, 12);
    for (dir, expected) in [
        (2, &["node_modules/"][..]),
        (13, &[]),
        // Another name below is no proof, nor is the place of a program.
        (17, &[]),
        (4, &[]),
    ] {
        trial.browser.chosen.place = vec![id(1), id(dir)];
        trial.keys("19");
        let mut names = trial.names();
        if expected.is_empty() {
            assert_eq!(names.len(), 1, "{names:?}");
            assert!(trial.screen()[2].contains("no directory below that a program makes again"));
            names.clear();
        }
        assert_eq!(names, expected, "{dir}");
    }
}

#[test]
fn marks_come_from_keys_alone() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.keys("9");
    assert_eq!(trial.browser.marks.len(), 0);
    trial.keys("*");
    let mut marked = trial.browser.marks.all();
    marked.sort_unstable();
    assert_eq!(marked, [id(4), id(10), id(21)]);
    assert!(
        foot(&mut trial).contains("3 marked: 81.0 MiB"),
        "{}",
        foot(&mut trial)
    );
    trial.keys("j ");
    assert_eq!(trial.browser.marks.len(), 2);
    trial.keys("*");
    assert_eq!(trial.browser.marks.all(), [id(4)]);
}

#[test]
fn enter_goes_to_the_directory_itself() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.keys("9j\n");
    assert_eq!(trial.browser.directory(), Some(id(2)));
    assert_eq!(trial.cursor(), Some(4));
    assert!(trial.screen()[0].starts_with(" statwalk  /data/web "));
    trial.keys("9");
    trial.give(Event::Key(Key::Esc));
    assert!(trial.screen()[0].starts_with(" statwalk  /data/web "));
}

#[test]
fn rows_have_an_order_and_a_choice() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.keys("9n");
    assert_eq!(
        trial.names(),
        ["my-cache/", "web/node_modules/", "rust/target/"]
    );
    // The programs go with their rows.
    assert!(
        trial.screen()[2].contains("CACHEDIR.TAG"),
        "{:?}",
        trial.screen()
    );
    trial.keys("s/mod");
    assert_eq!(trial.names(), ["web/node_modules/"]);
    assert!(trial.screen()[2].contains("npm install"));
    trial.give(Event::Key(Key::Esc));
    assert_eq!(trial.names().len(), 3);
}

#[test]
fn hidden_directories_go_with_a_key() {
    let mut small = projects();
    small.put(29, Some(1), b".venv", Kind::Directory, 4096);
    small.put(30, Some(29), b"pyvenv.cfg", Kind::File, 100);
    small.put(31, Some(1), b"setup.py", Kind::File, 100);
    let mut trial = Trial::new(small, 100, 12);
    trial.keys("9");
    assert_eq!(trial.names().len(), 4);
    trial.keys("e");
    assert_eq!(
        trial.names(),
        ["rust/target/", "web/node_modules/", "my-cache/"]
    );
}

/// A filter hides the files that are the proof, and not the directories that they prove.
#[test]
fn a_filter_keeps_the_proof() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.keys("9");
    let filter = Filter {
        size: Some("+10M".parse().unwrap()),
        ..Filter::default()
    };
    trial.give(Event::Form(Ok(filter)));
    // The files of this size alone count.
    assert_eq!(trial.names(), ["rust/target/", "web/node_modules/"]);
    let foot = foot(&mut trial);
    assert!(
        foot.starts_with(" 2 directories, 80.0 MiB in all · filter: "),
        "{foot}"
    );
}

#[test]
fn files_are_the_proof_and_come_at_the_end_of_the_scan() {
    let mut small = projects();
    small.is_live = true;
    let mut trial = Trial::new(small, 100, 12);
    trial.keys("9");
    let text = "known at the end of the scan: files are the proof";
    assert!(trial.screen()[2].ends_with(text), "{:?}", trial.screen());
    trial.replace(None, projects());
    assert_eq!(trial.names().len(), 3);
}

#[test]
fn a_directory_that_was_not_read_whole_proves_nothing() {
    for number in [4, 10, 21] {
        let mut small = projects();
        small.items.get_mut(&number).unwrap().1.notes.is_incomplete = true;
        let mut trial = Trial::new(small, 100, 12);
        trial.keys("9");
        assert_eq!(trial.names().len(), 2, "{number}");
    }
}

#[test]
fn where_links_are_followed_nothing_is_a_proof() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.browser.options.follows_links = true;
    let before = trial.questions;
    trial.keys("9");
    assert!(trial.screen()[2].ends_with("not known with -L: a link is no proof"));
    assert_eq!(trial.questions, before);
}

#[test]
fn a_removed_directory_has_no_row() {
    let mut trial = Trial::new(projects(), 100, 12);
    trial.keys("9");
    let without = without(&trial.data, &[id(10)]);
    trial.replace(None, without);
    assert_eq!(trial.names(), ["web/node_modules/", "my-cache/"]);
}

#[test]
fn a_question_is_asked_once_and_ends_when_it_is_told() {
    let mut trial = Trial::new(projects(), 100, 12);
    let before = trial.questions;
    trial.keys("9191");
    // The rows of the tree cost little, and are asked for each time.
    assert_eq!(trial.questions - before, 3);

    let mut small = Small::default();
    small.put(1, None, b"/data", Kind::Directory, 0);
    for number in 2..10_000 {
        small.put(
            number,
            Some(1),
            format!("f{number}").as_bytes(),
            Kind::File,
            0,
        );
    }
    let mut browser = Trial::new(small.clone(), 80, 24).browser;
    let mut asked = browser.update(
        Event::Key(Key::Char('9')),
        std::time::Duration::ZERO,
        &small,
    );
    let Some(Effect::Ask(query)) = asked.pop() else {
        panic!("{asked:?}");
    };
    assert!(query.asks_disk());
    assert!(small.is_final());
    assert_eq!(answer(&small, &query, &|| true, &PlainDisk), None);
    assert!(answer(&small, &query, &|| false, &PlainDisk).is_some());
}
