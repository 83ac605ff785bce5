// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of the browser on data of their own.

use std::ops::ControlFlow;
use std::time::Duration;

use proptest::prelude::*;
use statwalk_view::{Kind, NamePattern, Notes};

use crate::ReportState;
use crate::data::{Data, Fault, ItemId};
use crate::event::{Details, Effect, Event, Key, Mouse, ScanState};
use crate::filter::Filter;
use crate::trial::{Small, Trial, assert_screen, id, renewed};

#[test]
fn a_directory_on_80_columns() {
    let mut trial = Trial::new(Small::example(), 80, 10);
    assert_screen(
        &trial.screen(),
        "
 statwalk  /data                                            73.0 MiB, 9 entries
       DISK SHARE              ENTRIES NEWEST OWNER    NAME
   70.0 MiB  96 % ████████           3   12 d root     photos/
   2.00 MiB   3 % ▎                  1   24 d root     日本語.txt
   1.00 MiB   1 % ▏                  1   21 d 1000     \\x1b[2Jred\\n
   12.0 KiB  <1 %                    2   18 d 1000     src/
 @      0 B   0 %                    1   27 d 1000     .hidden

 5 items
 ? help  / names  F search  f filter  s sort  Tab views  Space mark  q quit
",
    );
}

#[test]
fn a_directory_on_40_columns() {
    let mut trial = Trial::new(Small::example(), 40, 7);
    assert_screen(
        &trial.screen(),
        "
 statwalk  /data    73.0 MiB, 9 entries
       DISK SHARE NAME
   70.0 MiB  96 % photos/
   2.00 MiB   3 % 日本語.txt
   1.00 MiB   1 % \\x1b[2Jred\\n
 5 items
 ? help  / names  F search  f filter
",
    );
}

/// A view of groups looks at each item.
#[test]
fn a_view_is_made_once_for_the_same_data() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("3");
    let types = trial.screen();
    trial.keys("2");
    let largest = trial.screen();
    let before = trial.questions;
    trial.keys("3");
    assert_eq!(trial.screen(), types);
    trial.keys("2");
    assert_eq!(trial.screen(), largest);
    assert_eq!(trial.questions, before);
    // Another order is another question.
    trial.keys("3n");
    assert_eq!(trial.questions, before + 1);
    assert_ne!(trial.screen(), types);
    // Other data: everything is asked anew.
    let mut more = trial.all.clone();
    more.put(10, Some(2), b"sky.jpg", Kind::File, 90 << 20);
    trial.data = std::sync::Arc::new(more);
    trial.give(Event::Data);
    trial.keys("2");
    assert_ne!(trial.screen(), largest);
}

#[test]
fn a_screen_without_room_says_so() {
    for (width, height) in [(29, 24), (80, 5), (1, 1)] {
        let mut trial = Trial::new(Small::example(), width, height);
        assert!(trial.screen()[0].starts_with(if width == 1 { "…" } else { "too small" }));
        trial.keys("jjl?\x1bi\x1b/x\n2345678");
        trial.screen();
    }
}

#[test]
fn rows_are_sorted_by_each_column() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    let (photos, txt, red, src, hidden) =
        ("photos/", "日本語.txt", r"\x1b[2Jred\n", "src/", ".hidden");
    assert_eq!(trial.names(), [photos, txt, red, src, hidden]);
    trial.keys("s");
    assert_eq!(trial.names(), [hidden, src, red, txt, photos]);
    trial.keys("n");
    assert_eq!(trial.names(), [red, hidden, photos, src, txt]);
    trial.keys("n");
    assert_eq!(trial.names(), [txt, src, photos, hidden, red]);
    trial.keys("C");
    assert_eq!(trial.names(), [photos, src, red, hidden, txt]);
    trial.keys("M");
    assert_eq!(trial.names(), [photos, src, red, txt, hidden]);
    trial.keys("nt");
    assert_eq!(trial.names(), [photos, src, red, hidden, txt]);
    trial.keys("e");
    assert_eq!(trial.names(), [photos, src, red, txt]);
    trial.keys("ets");
    assert_eq!(trial.names(), [photos, txt, red, src, hidden]);
    trial.keys("a");
    assert!(trial.screen()[0].ends_with("36.5 MiB, 9 entries"));
}

#[test]
fn the_cursor_stays_on_its_item() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("jjj");
    assert_eq!(trial.cursor(), Some(3));
    for keys in [
        "s", "n", "n", "C", "M", "O", "t", "a", "e", "e", "g", "c", "m", "u",
    ] {
        trial.keys(keys);
        trial.screen();
        assert_eq!(trial.cursor(), Some(3), "{keys}");
    }
}

#[test]
fn a_jump_that_finds_nothing_says_so() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    let nothing = "no name begins so";
    let foot = |trial: &mut Trial| trial.screen()[10].clone();
    trial.keys("'SR");
    assert_eq!(trial.cursor(), Some(3));
    assert_eq!(foot(&mut trial), " go to: SR");
    trial.keys("x");
    assert_eq!(trial.cursor(), Some(3));
    assert!(foot(&mut trial).starts_with(" go to: SRx "));
    assert!(foot(&mut trial).ends_with(nothing));
    trial.give(Event::Key(Key::Backspace));
    assert_eq!(foot(&mut trial), " go to: SR");
    // There are no rows where nothing is known yet.
    trial.keys("\n/nobody\n'a");
    assert_eq!(foot(&mut trial).matches(nothing).count(), 1);
    trial.keys("\n");
    assert!(!foot(&mut trial).contains(nothing));
}

#[test]
fn one_goes_into_directories_and_out() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("l");
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    // A file has nothing in it.
    trial.keys("l");
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    trial.keys("h");
    assert_eq!(trial.cursor(), Some(2));
    // Nothing is above the root.
    trial.keys("h<");
    assert!(trial.screen()[0].starts_with(" statwalk  /data "));
    // Only a scan that goes on can read it next.
    assert!(trial.wishes.is_empty());
}

#[test]
fn several_roots_are_rows() {
    let mut small = Small::example();
    small.put(20, None, b"/srv", Kind::Directory, 4096);
    small.put(21, None, b"/file", Kind::File, 512);
    let mut trial = Trial::new(small, 80, 20);
    assert_eq!(trial.names(), ["/data/", "/srv/", "/file"]);
    trial.keys("l");
    assert!(trial.screen()[0].starts_with(" statwalk  /data "));
    trial.keys("h");
    assert!(trial.screen()[0].starts_with(" statwalk  all paths "));
    assert_eq!(trial.cursor(), Some(1));
}

#[test]
fn rows_move_only_while_no_key_is_pressed() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 20);
    trial.keys("j");
    assert_eq!(trial.cursor(), Some(8));
    let mut grown = trial.all.clone();
    grown.put(30, Some(3), b"target", Kind::File, 500 << 20);
    trial.data = std::sync::Arc::new(grown);
    trial.at += Duration::from_millis(700);
    trial.give(Event::Tick);
    assert_eq!(trial.names()[0], "photos/");
    // The numbers are those of now in any case.
    assert!(trial.screen()[5].contains("500 MiB"));
    trial.at += Duration::from_millis(150);
    trial.give(Event::Tick);
    assert_eq!(trial.names()[0], "src/");
    assert_eq!(trial.cursor(), Some(8));
    assert!(trial.screen()[0].contains("≥ "));
}

#[test]
fn the_end_of_a_scan_moves_no_row_under_a_finger() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 20);
    trial.keys("jk");
    let mut grown = Small::example();
    grown.put(30, Some(3), b"target", Kind::File, 500 << 20);
    trial.data = std::sync::Arc::new(grown);
    trial.give(Event::Data);
    assert_eq!(trial.names()[0], "photos/");
    trial.at += Duration::from_secs(1);
    trial.give(Event::Tick);
    assert_eq!(trial.names()[0], "src/");
    // It was on the first row, and is on the same item.
    assert_eq!(trial.cursor(), Some(2));
}

/// Files that are known before the end get the numbers of the tree there.
#[test]
fn the_cursor_and_marks_follow_to_other_numbers() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small.clone(), 80, 20);
    trial.keys("jj ");
    assert_eq!(trial.cursor(), Some(7));
    small.is_live = false;
    for (early, settled) in [(7, 70), (8, 80)] {
        let item = small.items.remove(&early).unwrap();
        small.items.insert(settled, item);
        small.moved.insert(early, settled);
    }
    trial.data = std::sync::Arc::new(small);
    trial.give(Event::Data);
    trial.at += Duration::from_secs(1);
    trial.give(Event::Tick);
    assert_eq!(trial.cursor(), Some(70));
    assert_eq!(trial.browser.marks.all(), [id(70)]);
}

/// They are known earlier than the sums that they are a part of.
#[test]
fn shares_stay_below_one_while_a_scan_goes_on() {
    let mut small = Small::example();
    small.is_live = true;
    small.items.get_mut(&1).unwrap().1.allocated_bytes = 1 << 20;
    let mut trial = Trial::new(small, 80, 20);
    let screen = trial.screen();
    assert!(screen[2].contains(" 96 % "), "{}", screen[2]);
}

/// The rows showed 79 and 23 per cent: shares of a sum of before.
#[test]
fn shares_are_those_of_the_sums_that_are_shown() {
    let mut small = Small::default();
    small.put(1, None, b"/data", Kind::Directory, 0);
    small.put(2, Some(1), b"one", Kind::Directory, 60 << 20);
    small.put(3, Some(1), b"two", Kind::Directory, 40 << 20);
    small.is_live = true;
    let mut trial = Trial::new(small.clone(), 80, 20);
    assert!(trial.screen()[2].contains(" 60 % "));
    // More of both comes before the next question.
    small.put(4, Some(3), b"three", Kind::Directory, 60 << 20);
    trial.data = std::sync::Arc::new(small.clone());
    let screen = trial.screen();
    assert!(
        screen[2].contains(" 38 % ") && screen[3].contains(" 63 % "),
        "{screen:?}"
    );
    // A directory that nobody has read yet is not an empty one.
    assert!(screen[2].starts_with("   "), "{}", screen[2]);
    small.is_live = false;
    let mut trial = Trial::new(small, 80, 20);
    assert!(trial.screen()[3].starts_with(" e"), "{:?}", trial.screen());
}

#[test]
fn a_scan_that_waits_says_where() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 10);
    let state = |entries| {
        Event::Scan(ScanState {
            entries,
            current: b"/data/dead".to_vec(),
            ..ScanState::default()
        })
    };
    for (seconds, entries, expected) in [
        (1, 7, " reading: 7 entries"),
        (2, 7, " reading: 7 entries"),
        (4, 7, " no answer for 3 s (S stops): /data/dead"),
        (5, 8, " reading: 8 entries"),
    ] {
        trial.at = Duration::from_secs(seconds);
        trial.give(state(entries));
        assert!(
            trial.screen()[8].starts_with(expected),
            "{:?}",
            trial.screen()
        );
    }
    trial.keys("S");
    assert_eq!(trial.wishes, [Effect::StopScan]);
}

#[test]
fn a_directory_that_is_entered_is_read_next() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 20);
    trial.keys("l");
    assert_eq!(trial.wishes, [Effect::Prefer(id(2))]);
}

#[test]
fn names_are_filtered_as_they_are_typed() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("/");
    trial.keys("s");
    assert_eq!(trial.names(), ["photos/", "src/"]);
    trial.keys("rq");
    assert_eq!(
        trial.screen()[2],
        "  no name here holds 'srq': Esc clears it"
    );
    trial.give(Event::Key(Key::Backspace));
    trial.keys("\n");
    assert_eq!(trial.names(), ["src/"]);
    // The letters move again, and Esc clears.
    trial.keys("j\x1b");
    assert_eq!(trial.names().len(), 5);
}

#[test]
fn a_name_is_jumped_to() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("'SR");
    assert_eq!(trial.cursor(), Some(3));
    trial.keys("\n");
    assert_eq!(trial.names().len(), 5);
}

#[test]
fn groups_filter_the_tree() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("3");
    assert!(trial.screen()[0].starts_with(" Types  /data"));
    let groups = [
        "images",
        "documents",
        "no extension",
        "directories",
        "source code",
        "links, devices, sockets, pipes",
    ];
    assert_eq!(trial.names(), groups);
    // A category alone, and the endings in it.
    trial.keys("\n");
    assert_eq!(trial.names(), ["photos/"]);
    trial.keys("33");
    assert!(trial.screen()[0].starts_with(" Endings  /data"));
    assert_eq!(trial.names(), [".jpg"]);
    trial.keys("3");
    assert_eq!(trial.names(), ["images"]);
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("33");
    let groups = [
        ".jpg",
        ".txt",
        "no ending",
        "directories",
        ".rs",
        "links, devices, sockets, pipes",
    ];
    assert_eq!(trial.names(), groups);
    trial.keys("\n");
    assert_eq!(trial.names(), ["photos/"]);
    assert!(trial.screen()[0].ends_with("70.0 MiB, 2 entries"));
    trial.keys("l");
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    // A second group on top of the first.
    trial.keys("4j\n");
    assert_eq!(trial.names(), ["hills.jpg"]);
    trial.keys("\x1b");
    trial.keys("h");
    assert_eq!(trial.names().len(), 5);
}

#[test]
fn all_views_have_the_same_sum() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    for view in ["3", "3", "4", "5", "6"] {
        trial.keys(view);
        assert_eq!(
            trial.browser.list.whole,
            3 * 4096 + (73 << 20) + (8 << 10),
            "{view}"
        );
    }
}

#[test]
fn the_largest_files_are_shown_in_their_directory() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("2");
    let names = [
        "photos/sea.JPG",
        "photos/hills.jpg",
        "日本語.txt",
        r"\x1b[2Jred\n",
        "src/main.rs",
    ];
    assert_eq!(trial.names(), names);
    trial.keys("j\n");
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    assert_eq!(trial.cursor(), Some(5));
}

#[test]
fn marks_count_once() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys(" lx");
    assert!(trial.screen()[18].contains("2 marked: 70.0 MiB"));
    trial.keys("8");
    assert_eq!(trial.names(), ["/data/photos/", "/data/photos/sea.JPG"]);
    trial.keys("Elist\n");
    let outermost = Effect::Write(vec![id(2)], "list".to_owned());
    assert_eq!(trial.wishes, [outermost]);
    // The first mark is taken back.
    trial.keys(" ");
    assert_eq!(trial.names(), ["/data/photos/sea.JPG"]);
}

#[test]
fn errors_are_rows() {
    let mut small = Small::example();
    small.faults.push(Fault {
        path: b"/data/secret\x07".to_vec(),
        cause: "permission denied".to_owned(),
    });
    let mut trial = Trial::new(small, 80, 10);
    trial.keys("7");
    assert_eq!(trial.screen()[2], r"  /data/secret\x07  permission denied");
    let mut trial = Trial::new(Small::example(), 80, 10);
    trial.keys("7");
    assert_eq!(trial.screen()[2], "  everything could be read");
}

#[test]
fn information_comes_when_it_is_there() {
    let mut trial = Trial::new(Small::example(), 80, 24);
    trial.keys("i");
    assert_eq!(trial.wishes, [Effect::Details(id(2))]);
    assert!(
        trial
            .screen()
            .iter()
            .any(|line| line.contains("asking the system"))
    );
    let details = |number, text: &str| {
        Event::Details(Details {
            id: id(number),
            rows: vec![("Mode", text.to_owned())],
        })
    };
    // An answer about another item is not shown.
    trial.give(details(7, "wrong"));
    trial.give(details(2, "drwxr-xr-x"));
    let screen = trial.screen().join("\n");
    assert!(screen.contains("Mode             drwxr-xr-x") && !screen.contains("wrong"));
    assert!(screen.contains("70.0 MiB (73,404,416 B)"));
}

#[test]
fn the_space_of_the_file_system_is_a_table() {
    let mut trial = Trial::new(Small::example(), 60, 12);
    trial.keys("D");
    let asked = Effect::Space(Some(id(1)), 56);
    assert_eq!(trial.wishes, [asked]);
    let lines: Vec<String> = (0..30).map(|n| format!("{n} GiB")).collect();
    let screen = trial.screen().join("\n");
    assert!(screen.contains("reading the file system"), "{screen}");
    trial.give(Event::Space(Ok(lines.clone())));
    assert!(trial.screen().join("\n").contains("3 GiB"));
    trial.keys("jjjjj");
    let screen = trial.screen().join("\n");
    assert!(
        screen.contains(" 5 GiB") && !screen.contains(" 4 GiB"),
        "{screen}"
    );
    trial.keys("q");
    assert!(trial.screen().join("\n").contains("photos"));
    // An answer that comes too late is none.
    trial.give(Event::Space(Ok(lines)));
    assert!(trial.screen().join("\n").contains("photos"));
}

#[test]
fn help_can_be_searched() {
    let mut trial = Trial::new(Small::example(), 80, 24);
    trial.keys("?clip");
    let screen = trial.screen().join("\n");
    assert!(screen.contains("copy the path to the clipboard") && !screen.contains("one row up"));
    trial.keys("\x1b");
    assert!(!trial.screen().join("\n").contains("clipboard"));
}

#[test]
fn the_mouse_moves_opens_and_sorts() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.give(Event::Mouse(Mouse::Press(30, 4)));
    assert_eq!(trial.cursor(), Some(7));
    trial.give(Event::Mouse(Mouse::Press(60, 1)));
    assert_eq!(trial.names()[0], r"\x1b[2Jred\n");
    trial.give(Event::Mouse(Mouse::Press(60, 4)));
    assert_eq!(trial.cursor(), Some(2));
    trial.give(Event::Mouse(Mouse::Press(60, 4)));
    assert_eq!(trial.names(), [r"hills.jpg", "sea.JPG"]);
    // Below the rows is nothing.
    trial.give(Event::Mouse(Mouse::Press(60, 15)));
}

#[test]
fn without_programs_none_is_started() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.browser.options.starts_programs = false;
    trial.keys("bo");
    assert!(trial.wishes.is_empty());
    assert!(trial.screen()[18].contains("-rr forbids it"));
}

#[test]
fn the_end_prints_the_directory() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("lQ");
    assert_eq!(trial.wishes, [Effect::Quit(Some(id(2)))]);
}

#[test]
fn a_new_scan_leads_to_the_same_place() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("lj");
    trial.keys("R");
    assert_eq!(trial.wishes, [Effect::ScanAgain]);
    let mut other = Small {
        scan: 1,
        ..Small::default()
    };
    other.put(50, None, b"/data", Kind::Directory, 4096);
    other.is_live = true;
    trial.replace(None, other.clone());
    other.put(51, Some(50), b"photos", Kind::Directory, 4096);
    other.put(52, Some(51), b"new", Kind::File, 4 << 30);
    other.put(53, Some(51), b"hills.jpg", Kind::File, 512);
    other.is_live = false;
    trial.data = std::sync::Arc::new(other);
    trial.at += Duration::from_secs(1);
    trial.give(Event::Data);
    assert_eq!(trial.names(), ["new", "hills.jpg"]);
    assert_eq!(trial.cursor(), Some(53));
}

/// Items of `Small::example` with other numbers, each of another item there.
fn with_other_numbers(scan: u64, left_out: &[u64]) -> Small {
    let (old, mut new) = (
        Small::example(),
        Small {
            scan,
            ..Small::default()
        },
    );
    let number = |old: u64| match old {
        1 => 1,
        old => 11 - old,
    };
    for (id, (parent, item)) in &old.items {
        if !left_out.contains(id) {
            let bytes = match item.kind {
                Kind::Directory => 4096,
                _ => item.allocated_bytes,
            };
            new.put(
                number(*id),
                parent.map(number),
                &item.name,
                item.kind,
                bytes,
            );
        }
    }
    new
}

/// The user marked directory 17 of 24, scanned everything again, and the mark was on
/// directory 6: ids of the old scan named items of the new one.
#[test]
fn a_mark_is_on_the_same_path_after_a_new_scan() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    // photos/, and the two files in it.
    trial.keys(" l*");
    assert_eq!(trial.browser.marks.len(), 3);
    let old: Vec<ItemId> = trial.browser.marks.all();
    // The beginning of a scan knows only directories.
    let mut begun = with_other_numbers(1, &[4, 5, 6, 7, 8, 9]);
    begun.is_live = true;
    trial.replace(None, begun);
    assert_eq!(trial.browser.marks.len(), 0);
    assert!(old.iter().all(|id| trial.data.item(*id).is_none()));
    assert!(trial.screen()[18].contains("3 marks at the end of the scan"));
    // Nothing acts on marks that may be none.
    trial.wishes.clear();
    trial.keys("Elist\n");
    assert_eq!(trial.wishes, []);
    trial.keys("q\x1b");
    // hills.jpg is gone, and sea.JPG is a directory now.
    let mut end = with_other_numbers(1, &[4, 5]);
    end.put(20, Some(9), b"sea.JPG", Kind::Directory, 4096);
    trial.data = std::sync::Arc::new(end);
    trial.at += Duration::from_secs(1);
    trial.give(Event::Data);
    assert!(trial.screen()[18].contains("2 marks are gone"));
    let marked = trial.browser.marks.all();
    let paths = marked.iter().map(|id| trial.data.path(*id).unwrap());
    assert_eq!(paths.collect::<Vec<_>>(), [b"/data/photos"]);
    trial.wishes.clear();
    trial.keys("8");
    assert_eq!(trial.names(), ["/data/photos/"]);
}

/// Of several roots, a name below one can be the name of another.
#[test]
fn a_new_scan_leads_to_the_same_root() {
    let roots = |scan| {
        let mut small = with_other_numbers(scan, &[]);
        small.put(20, None, b"photos", Kind::Directory, 4096);
        small.put(21, Some(20), b"other", Kind::File, 512);
        small
    };
    let mut trial = Trial::new(roots(1), 80, 20);
    trial.keys("lljR");
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    trial.replace(None, roots(2));
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    let here = trial.browser.item_here(&*trial.data).unwrap();
    assert_eq!(trial.data.path(here).unwrap(), b"/data/photos/hills.jpg");
}

#[test]
fn a_directory_is_read_again() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("l*");
    trial.keys("jr");
    assert_eq!(trial.wishes, [Effect::Refresh(id(2))]);
    let mut newer = Small {
        scan: 1,
        ..Small::default()
    };
    newer.put(1, None, b"/data/photos", Kind::Directory, 4096);
    newer.put(7, Some(1), b"hills.jpg", Kind::File, 20 << 20);
    newer.put(3, Some(1), b"raw", Kind::Directory, 4096);
    newer.put(4, Some(3), b"sea.raw", Kind::File, 1 << 30);
    let old = std::sync::Arc::new(Small::example());
    let newer = std::sync::Arc::new(newer);
    let edited = renewed(old, id(2), newer);
    let replaced = trial.browser.marks.all();
    trial.replace(Some(id(2)), edited);
    // Nothing knows the items of before.
    for id in replaced {
        let data = &trial.data;
        assert_eq!(
            (data.item(id), data.settled(id), data.path(id)),
            (None, None, None)
        );
    }
    assert_eq!(trial.names(), ["raw/", "hills.jpg"]);
    assert!(trial.screen()[0].ends_with("1.02 GiB, 4 entries"));
    // A mark stays on its path, and the cursor on its name.
    let foot = trial.screen()[18].clone();
    assert!(foot.contains("read again; 1 mark is gone"), "{foot}");
    let [marked] = trial.browser.marks.all()[..] else {
        panic!("one mark");
    };
    let here = trial.browser.list.item().unwrap();
    assert_eq!(marked, here);
    assert_eq!(trial.data.path(here).unwrap(), b"/data/photos/hills.jpg");
    trial.keys("kl");
    assert_eq!(trial.names(), ["sea.raw"]);
    trial.keys("hh");
    assert!(trial.screen()[0].ends_with("1.02 GiB, 10 entries"));
    assert_eq!(trial.cursor(), Some(2));
    // All sums agree with those of the items.
    for root in trial.data.roots() {
        check_sums(&*trial.data, root);
    }
    trial.keys("3");
    let whole = trial.data.item(id(1)).unwrap().allocated_bytes;
    assert_eq!(trial.browser.list.whole, whole);
}

/// The numbers come while the user is already in a directory below.
#[test]
fn a_directory_that_is_read_again_is_not_left() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("rlj");
    assert_eq!(trial.wishes, [Effect::Refresh(id(1))]);
    let old = std::sync::Arc::new(Small::example());
    let newer = std::sync::Arc::new(with_other_numbers(1, &[]));
    let edited = renewed(old, id(1), newer);
    trial.replace(Some(id(1)), edited);
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    let here = trial.browser.item_here(&*trial.data).unwrap();
    assert_eq!(trial.data.path(here).unwrap(), b"/data/photos/hills.jpg");
}

/// The row of all other files was marked by `*`, and named nothing that could be removed.
#[test]
fn no_key_marks_a_row_of_several_items() {
    let mut small = Small::example();
    small.is_live = true;
    small.put(10, Some(1), b"", Kind::Rest, 80 << 20);
    let mut trial = Trial::new(small, 80, 20);
    assert_eq!(trial.names()[0], "<files>");
    for keys in [" ", "kx", "*"] {
        trial.keys("H");
        trial.keys(keys);
        assert!(!trial.browser.marks.has(id(10)), "{keys}");
    }
    assert_eq!(trial.browser.marks.len(), 5);
    trial.keys("H");
    trial.give(Event::Mouse(Mouse::Press(30, 2)));
    trial.keys("*");
    assert_eq!(trial.browser.marks.len(), 0);
}

/// The numbers of a directory are those of its items and its own block.
fn check_sums(data: &dyn Data, dir: ItemId) {
    let own = data.item(dir).unwrap();
    let (mut bytes, mut entries) = (4096, 1);
    data.children(dir, &mut |id, item| {
        assert_eq!(data.parent(id), Some(dir));
        assert_eq!(data.item(id).as_ref(), Some(&item));
        bytes += item.allocated_bytes;
        entries += item.entries;
        if item.kind == Kind::Directory {
            check_sums(data, id);
        }
        ControlFlow::Continue(())
    });
    assert_eq!((own.allocated_bytes, own.entries), (bytes, entries));
}

#[test]
fn a_directory_that_is_gone_is_left() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("l");
    let mut other = Small {
        scan: 1,
        ..Small::default()
    };
    other.put(50, None, b"/data", Kind::Directory, 4096);
    other.put(51, Some(50), b"new", Kind::File, 512);
    trial.replace(None, other);
    assert_eq!(trial.names(), ["new"]);
}

/// Keys that a seed presses, in any mode.
fn any_key() -> impl Strategy<Value = Key> {
    let letters = "kjlhsnCMOtagcmueirRp/fF'x *[Eboy012345678?qQG+1Md."
        .chars()
        .collect::<Vec<_>>();
    prop_oneof![
        6 => proptest::sample::select(letters).prop_map(Key::Char),
        3 => proptest::sample::select(vec![
            Key::Up, Key::Down, Key::Left, Key::Right, Key::PageUp, Key::PageDown, Key::Home,
            Key::End, Key::Enter, Key::Backspace, Key::Tab, Key::BackTab, Key::Esc, Key::F(1),
            Key::Ctrl('u'), Key::Ctrl('d'), Key::Ctrl('w'),
        ]),
    ]
}

/// The terminal's cursor stayed where the last cell was drawn: a screen reader read the foot,
/// or the row below the selected one.
#[test]
fn the_cursor_is_on_the_selected_row_and_field() {
    let mut trial = Trial::new(Small::example(), 80, 24);
    for (keys, name) in [
        ("", "photos/"),
        ("j", "日"),
        ("k", "photos/"),
        ("G", ".hidden"),
        ("2", "photos/sea.JPG"),
        ("3", "images"),
    ] {
        trial.keys(keys);
        let (text, is_text) = trial.at_cursor();
        assert!(text.starts_with(name) && !is_text, "{keys}: {text}");
    }
    trial.keys("1l");
    assert!(trial.at_cursor().0.starts_with("sea.JPG"));
    // Fields of a form, one after another, and texts.
    trial.keys("f");
    let mut ends = Vec::new();
    for keys in ["", "x", "\t"] {
        trial.keys(keys);
        let (text, is_text) = trial.at_cursor();
        assert!(is_text, "{text}");
        ends.push(text);
    }
    // In the place of an example, behind what was typed, and in the next field.
    assert!(ends[1].starts_with(' ') && ends[0].len() > ends[1].len());
    assert!(ends[2] != ends[1]);
    trial.keys("\x1b/se");
    let (text, is_text) = trial.at_cursor();
    assert!(is_text && text.trim().is_empty(), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is pressed: the cursor is on a row, rows belong to the view, the screen
    /// keeps its size, and nothing but safe text is on it.
    #[test]
    fn any_keys_leave_a_screen(
        keys in proptest::collection::vec((any_key(), 0u64..1200), 0..60),
        width in 1u16..130,
        height in 1u16..40,
        is_live: bool,
    ) {
        let mut small = Small::example();
        small.is_live = is_live;
        let mut trial = Trial::new(small, width, height);
        for (key, pause) in keys {
            trial.at += Duration::from_millis(pause);
            trial.give(Event::Key(key));
            trial.give(Event::Tick);
            let list = &trial.browser.list;
            prop_assert!(list.cursor() == 0 || list.cursor() < list.rows.len());
            for line in trial.screen() {
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
        prop_assert!(trial.browser.chosen.filter == Filter::default() || !trial.browser.chosen.is_filtering);
    }

    /// Esc, often enough, leads back to all rows.
    #[test]
    fn escape_leads_back(keys in proptest::collection::vec(any_key(), 0..40)) {
        let mut trial = Trial::new(Small::example(), 80, 24);
        for key in keys {
            if key != Key::Char('e') {
                trial.give(Event::Key(key));
            }
        }
        for _ in 0..6 {
            trial.keys("\x1b");
        }
        trial.keys("hhhh\x1b");
        prop_assert_eq!(trial.names().len(), 5);
    }
}

/// Under a filter a directory with one file that passes had `e`, "an empty directory".
#[test]
fn a_directory_with_a_name_is_not_empty() {
    let mut data = Small::example();
    data.put(10, Some(1), b"nothing", Kind::Directory, 4096);
    let mut trial = Trial::new(data, 80, 12);
    let row = |trial: &mut Trial, name: &str| {
        let screen = trial.screen();
        screen
            .into_iter()
            .find(|line| line.ends_with(name))
            .unwrap()
    };
    assert!(row(&mut trial, " nothing/").starts_with(" e"));
    assert!(row(&mut trial, " src/").starts_with("   "));
    let filter = Filter {
        name_end: Some(NamePattern::end(".rs").unwrap()),
        ..Filter::default()
    };
    trial.give(Event::Form(Ok(filter)));
    let src = row(&mut trial, " src/");
    assert!(src.starts_with("   ") && src.contains(" 1 "), "{src}");
}

/// Every row was 0 B and 0 %, in the order of the names.
#[test]
fn apparent_sizes_stand_in_where_nothing_has_blocks() {
    let mut data = Small::default();
    for (number, parent, name, kind, bytes) in [
        (1, None, "/phone", Kind::Directory, 0),
        (2, Some(1), "a", Kind::File, 2 << 20),
        (3, Some(1), "b", Kind::File, 6 << 20),
    ] {
        data.put(number, parent, name.as_bytes(), kind, bytes);
    }
    let with_blocks = data.clone();
    for (_, item) in data.items.values_mut() {
        item.allocated_bytes = 0;
    }
    // While the scan goes on, blocks can come.
    data.is_live = true;
    let mut trial = Trial::new(data.clone(), 80, 12);
    let screen = trial.screen();
    assert!(screen[1].contains("DISK"), "{screen:?}");
    data.is_live = false;
    trial.replace(None, data);
    let screen = trial.screen();
    assert!(screen[1].contains("APPARENT"), "{screen:?}");
    assert!(
        screen[2].contains("3.00 MiB  75 %") && screen[2].ends_with(" b"),
        "{screen:?}"
    );
    assert!(
        screen[3].contains("1.00 MiB  25 %") && screen[3].ends_with(" a"),
        "{screen:?}"
    );
    let is_told = |screen: &[String]| {
        screen
            .iter()
            .any(|line| line.contains("no file here has blocks"))
    };
    assert!(is_told(&screen), "{screen:?}");
    // The user has the last word.
    trial.keys("a");
    let screen = trial.screen();
    assert!(screen[1].contains("DISK"), "{screen:?}");
    let mut trial = Trial::new(with_blocks, 80, 12);
    let screen = trial.screen();
    assert!(
        screen[1].contains("DISK") && !is_told(&screen),
        "{screen:?}"
    );
}

/// After `S` a directory that nobody had read was "empty", and the view of errors said that
/// everything could be read.
#[test]
fn what_was_not_read_is_not_called_empty() {
    let notes = [
        (
            Notes {
                is_incomplete: true,
                ..Notes::default()
            },
            " . ",
            "not read to the end",
        ),
        (
            Notes {
                is_unreadable: true,
                ..Notes::default()
            },
            " ! ",
            "could not be read",
        ),
        (
            Notes {
                is_excluded: true,
                ..Notes::default()
            },
            " < ",
            "left out",
        ),
        (
            Notes {
                is_mount: true,
                ..Notes::default()
            },
            " > ",
            "another file system",
        ),
        (Notes::default(), " e ", " empty"),
    ];
    for (notes, letter, sentence) in notes {
        let mut data = Small::example();
        data.put(10, Some(1), b"unread", Kind::Directory, 4096);
        data.items.get_mut(&10).unwrap().1.notes = notes;
        let mut trial = Trial::new(data, 80, 12);
        trial.give(Event::Scan(ScanState {
            is_over: true,
            is_interrupted: notes.is_incomplete,
            ..ScanState::default()
        }));
        let screen = trial.screen();
        let row = screen
            .iter()
            .find(|line| line.ends_with(" unread/"))
            .unwrap();
        assert!(row.starts_with(letter), "{row}");
        trial.keys("'unread\n ");
        let bound = if notes.is_incomplete { "≥ " } else { "" };
        let marked = format!("1 marked: {bound}4.00 KiB");
        let screen = trial.screen();
        assert!(
            screen.iter().any(|line| line.contains(&marked)),
            "{screen:?}"
        );
        trial.keys("i");
        let screen = trial.screen().join("\n");
        assert_eq!(
            screen.contains("lower bounds"),
            notes.is_incomplete,
            "{screen}"
        );
        trial.keys("\x1b\n");
        let screen = trial.screen();
        assert!(screen[2].contains(sentence), "{screen:?}");
        assert_eq!(screen[0].contains('≥'), notes.is_incomplete, "{screen:?}");
        trial.keys("7");
        let screen = trial.screen();
        assert_eq!(
            screen[2].contains("everything could be read"),
            !notes.is_incomplete
        );
    }
}

/// The mouse worked, and `?` did not say so.
#[test]
fn the_help_names_the_mouse() {
    for (width, height) in [(80, 24), (40, 10)] {
        let mut trial = Trial::new(Small::example(), width, height);
        trial.keys("?mouse");
        let screen = trial.screen().join("\n");
        for text in ["press row", "press again", "wheel", "press title"] {
            assert!(screen.contains(text), "{screen}");
        }
    }
}

/// On 40 columns, half of a sentence was cut off.
#[test]
fn the_help_is_whole_on_a_small_screen() {
    for (width, height) in [(30, 10), (40, 10), (80, 24)] {
        let mut trial = Trial::new(Small::example(), width, height);
        trial.keys("?");
        for _ in 0..300 {
            let screen = trial.screen();
            let mut lines = screen.iter().filter(|line| line.contains('│'));
            assert!(lines.all(|line| !line.contains('…')), "{screen:?}");
            trial.give(Event::Key(Key::Down));
        }
        // It is the end.
        let screen = trial.screen().join("\n");
        assert!(screen.contains("e (sign)"), "{screen}");
    }
}

/// A user marked items for a long time, pressed `q`, and all marks were gone.
#[test]
fn q_asks_once_where_items_are_marked() {
    let quits = |keys: &str| {
        let mut trial = Trial::new(Small::example(), 80, 12);
        trial.keys(keys);
        let quit = trial
            .wishes
            .iter()
            .filter(|wish| matches!(wish, Effect::Quit(_)));
        (quit.count(), trial.screen()[10].clone())
    };
    assert_eq!(quits("q").0, 1);
    let (count, foot) = quits("xxq");
    assert_eq!((count, foot.as_str()), (0, " 2 marked; q again quits"));
    assert_eq!(quits("xxqq").0, 1);
    // Another key forgets the question.
    let (count, foot) = quits("xxqj");
    assert!(count == 0 && !foot.contains("again"), "{foot}");
    assert_eq!(quits("xxqjq").0, 0);
    assert_eq!(quits("xxq?qq").0, 0);
    assert_eq!(quits("xxQ").0, 1);
    assert_eq!(quits("*q*q").0, 1);
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("xq");
    trial.give(Event::Mouse(Mouse::WheelDown));
    trial.keys("q");
    assert_eq!(trial.browser.quit.asks, Some(Key::Char('q')));
    trial.give(Event::Key(Key::Ctrl('c')));
    assert!(trial.wishes.contains(&Effect::Quit(None)));
}

/// The foot said `filter` alone, and an empty list did not say which.
#[test]
fn the_active_filter_is_named() {
    for (width, text) in [(120, "*.iso, 1.00 MiB or more"), (40, "*.iso")] {
        let mut trial = Trial::new(Small::example(), width, 12);
        trial.give(Event::Form(Ok(Filter {
            size: Some(statwalk_view::SizeFilter::AtLeast(1 << 20)),
            name_end: Some(NamePattern::end(".iso").unwrap()),
            ..Filter::default()
        })));
        let screen = trial.screen();
        let foot = &screen[10];
        assert!(foot.contains(&format!("filter: {text}")), "{foot}");
        assert!(foot.contains("(Esc clears)"), "{foot}");
        let list = [screen[2].trim(), screen[3].trim()].join(" ");
        assert_eq!(
            list.trim(),
            "nothing passes the filter *.iso, 1.00 MiB or more: Esc clears it"
        );
        // Esc clears the text first.
        trial.keys("/x\n");
        let line = trial.screen()[2].clone();
        let both = "  no name that passes the filter holds 'x'";
        assert!(line.starts_with(&both[..width.min(38).into()]), "{line}");
        trial.keys("\x1b");
        assert!(trial.screen()[2].contains(text), "{:?}", trial.screen());
    }
}

#[test]
fn the_report_of_the_directory_in_view_is_written_meanwhile() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("lW");
    assert_eq!(trial.wishes, [Effect::Report(Some(id(2)))]);
    trial.give(Event::Reporting(ReportState::Reading(1_234)));
    let foot = trial.screen()[10].clone();
    assert_eq!(foot, " report (Esc stops): 1,234 entries · 2 items");
    // The browser goes on, and there is one report at a time.
    trial.keys("hW");
    let foot = trial.screen()[10].clone();
    assert_eq!(foot, " a report is on its way: Esc stops it");
    assert_eq!(trial.wishes.len(), 1);
    trial.give(Event::Reporting(ReportState::Writing));
    trial.keys("\x1b");
    assert_eq!(trial.wishes[1..], [Effect::StopReport]);
    trial.give(Event::Reported(Err("the report was stopped".to_owned())));
    assert_eq!(trial.screen()[10], " the report was stopped");
    // Esc has its other meaning again.
    trial.at += Duration::from_secs(1);
    trial.keys("\x1b");
    assert_eq!(trial.wishes.len(), 2);
    assert!(!trial.screen()[10].contains("report"));
}

/// The name of a report went by while the user typed, or was away for a coffee.
#[test]
fn the_name_of_a_report_stays_until_it_was_seen() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("W/src");
    trial.give(Event::Reported(Ok("x.html has the report".to_owned())));
    trial.keys("\n");
    let foot = " x.html has the report";
    assert_eq!(trial.screen()[10], foot);
    // A key that was on its way.
    trial.keys("j");
    trial.at += Duration::from_secs(3_600);
    trial.give(Event::Tick);
    assert_eq!(trial.screen()[10], foot);
    trial.keys("j");
    assert_ne!(trial.screen()[10], foot);
}

#[test]
fn a_report_has_no_filter_and_is_of_one_moment() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("3\nW");
    trial.give(Event::Reported(Ok("x.html has the report".to_owned())));
    let foot = " x.html has the report; the filter is not in it";
    assert_eq!(trial.screen()[10], foot);
    trial.browser.work.is_restoring = true;
    trial.at += Duration::from_secs(1);
    trial.keys("W");
    let foot = " items are on their way back from the trash";
    assert_eq!(trial.screen()[10], foot);
    assert_eq!(trial.wishes.len(), 1);
}
