// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of the search by name.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use statwalk_view::{Kind, NamePattern};

use crate::data::{Data, ItemId};
use crate::event::{Effect, Event, Key};
use crate::filter::Filter;
use crate::trial::{PlainDisk, Small, Trial, id, renewed, without};

/// The line below the rows.
fn foot(trial: &mut Trial) -> String {
    let screen = trial.screen();
    screen[screen.len() - 2].clone()
}

#[track_caller]
fn check_found(text: &str, expected: &[&str], sum: &str) {
    let mut small = Small::example();
    small.put(10, Some(3), b"a*b", Kind::File, 1024);
    small.put(11, Some(3), b"a+b", Kind::File, 2048);
    small.put(12, Some(3), b"\xff\nB", Kind::File, 512);
    let mut trial = Trial::new(small, 100, 20);
    trial.keys("F");
    trial.keys(text);
    assert_eq!(trial.names(), expected, "{text}");
    let count = expected.len();
    let items = if count == 1 { "item" } else { "items" };
    trial.keys("\n");
    let foot = foot(&mut trial);
    assert!(
        foot.starts_with(&format!(" {count} {items}, {sum} in all · ")),
        "{foot}"
    );
}

/// On 40 columns the sum of the marks was cut off.
#[test]
fn the_line_below_the_rows_has_the_marks_on_a_small_screen() {
    let mut trial = Trial::new(Small::example(), 40, 10);
    trial.keys("Fjpg\n");
    assert_eq!(foot(&mut trial), " 2 items, 70.0 MiB in all");
    trial.keys(" ");
    assert_eq!(foot(&mut trial), " 70.0 MiB in all · 1 marked: 50.0 MiB");
    // All of it where there is room.
    let mut trial = Trial::new(Small::example(), 80, 10);
    trial.keys("Fjpg\n ");
    let text = " 2 items, 70.0 MiB in all · names with 'jpg' · 1 marked: 50.0 MiB";
    assert_eq!(foot(&mut trial), text);
}

#[test]
fn names_below_are_found() {
    check_found("jpg", &["photos/sea.JPG", "photos/hills.jpg"], "70.0 MiB");
    check_found("JPG", &["photos/sea.JPG"], "50.0 MiB");
    check_found("h*.jpg", &["photos/hills.jpg"], "20.0 MiB");
    check_found("photos", &["photos/"], "70.0 MiB");
    check_found("red", &[r"\x1b[2Jred\n"], "1.00 MiB");
    check_found("本", &["日本語.txt"], "2.00 MiB");
    check_found("hidden", &[".hidden"], "0 B");
    // Signs of regular expressions are letters, and those of globs can be so.
    check_found("+", &["src/a+b"], "2.00 KiB");
    check_found("a?b", &["src/a+b", "src/a*b"], "3.00 KiB");
    check_found(r"a\*b", &["src/a*b"], "1.00 KiB");
    check_found("b", &["src/a+b", "src/a*b", r"src/\xff\nB"], "3.50 KiB");
    check_found(
        "?[!x]b",
        &[r"src/a+b", r"src/a*b", r"src/\xff\nB"],
        "3.50 KiB",
    );
}

#[test]
fn a_text_that_is_no_pattern_is_named() {
    for key in ["F", "/"] {
        let mut trial = Trial::new(Small::example(), 80, 20);
        trial.keys(key);
        trial.keys("[a");
        let line = trial.screen()[2].clone();
        assert!(line.starts_with("  '[a' is no pattern: "), "{line}");
        trial.keys("-z]*");
        assert!(!trial.names().is_empty());
        trial.keys("\x1b");
        assert_eq!(trial.names().len(), 5);
    }
}

/// A key is one more letter, and each is another question.
#[test]
fn only_the_last_text_is_answered() {
    let mut trial = Trial::new(Small::example(), 80, 20);
    trial.keys("F");
    let question = |trial: &mut Trial, key: char| {
        let wishes = trial
            .browser
            .update(Event::Key(Key::Char(key)), trial.at, &*trial.data);
        let [Effect::Ask(query)] = &wishes[..] else {
            panic!("{wishes:?}");
        };
        query.clone()
    };
    let first = question(&mut trial, 'j');
    assert!(foot(&mut trial).ends_with("searching"));
    let second = question(&mut trial, 's');
    let give = |trial: &mut Trial, query| {
        let answer = crate::answer(&*trial.data, query, &|| false, &PlainDisk).unwrap();
        trial.give(Event::Answer(answer));
    };
    give(&mut trial, &first);
    assert!(foot(&mut trial).ends_with("searching"));
    give(&mut trial, &second);
    assert!(trial.screen()[2].contains("no name below holds 'js'"));
}

#[test]
fn an_item_in_another_one_counts_once() {
    let mut small = Small::example();
    small.put(10, Some(2), b"photos.zip", Kind::File, 4 << 20);
    small.put(11, Some(2), b"my photos", Kind::Directory, 4096);
    small.put(12, Some(11), b"photos.txt", Kind::File, 4096);
    small.put(13, Some(1), b"photos.md", Kind::File, 8192);
    let mut trial = Trial::new(small.clone(), 120, 20);
    trial.keys("FS*");
    assert_eq!(trial.screen()[2], "  no name below is like S*");
    trial.keys("\x1bFphotos\n");
    let names = [
        "photos/",
        "photos/photos.zip",
        "photos/my photos/",
        "photos.md",
        "photos/my photos/photos.txt",
    ];
    assert_eq!(trial.names(), names);
    let all = small.items[&2].1.allocated_bytes + 8192;
    assert_eq!(trial.browser.list.all.bytes, all);
    assert!(foot(&mut trial).starts_with(" 5 items, 74.0 MiB in all · names with 'photos'"));
    // Another name of an inode counts where its bytes do.
    small.items.get_mut(&13).unwrap().1.notes.counts_elsewhere = true;
    let mut trial = Trial::new(small, 120, 20);
    trial.keys("Fphotos\n");
    assert_eq!(trial.names().len(), 5);
    assert_eq!(trial.browser.list.all.bytes, all - 8192);
}

#[test]
fn a_result_is_shown_and_esc_leads_back() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    // On `src/`, in another order.
    trial.keys("nj");
    assert_eq!(trial.cursor(), Some(3));
    trial.keys("Fjpg\nsj");
    assert_eq!(trial.names(), ["photos/sea.JPG", "photos/hills.jpg"]);
    assert!(trial.screen()[0].starts_with(" Search  /data "));
    trial.keys("\n");
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    assert_eq!(trial.cursor(), Some(5));
    assert!(trial.screen()[19].contains("Esc results"));
    // Somewhere else, and back to the results.
    trial.keys("hl\x1b");
    assert!(trial.screen()[0].starts_with(" Search  /data "));
    assert_eq!(trial.cursor(), Some(5));
    trial.keys("\x1b");
    assert!(trial.screen()[0].starts_with(" statwalk  /data "));
    assert_eq!(trial.cursor(), Some(3));
    assert!(!trial.screen()[19].contains("Esc results"));
    trial.keys("\x1b");
    assert_eq!(trial.cursor(), Some(3));
}

#[test]
fn esc_leaves_the_prompt_and_the_filter_stays() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("3\n");
    assert_eq!(trial.names(), ["photos/"]);
    trial.keys("/o\n");
    trial.keys("Fs");
    assert_eq!(
        trial.names(),
        ["photos/", "photos/sea.JPG", "photos/hills.jpg"]
    );
    trial.keys("\x1b");
    // The text is there again, and the filter still.
    assert_eq!(trial.names(), ["photos/"]);
    assert!(foot(&mut trial).contains("names with 'o' · filter: images"));
    trial.keys("Fhills\n");
    let line = foot(&mut trial);
    assert!(line.contains("1 item, 20.0 MiB in all"), "{line}");
    assert!(line.ends_with("filter: images"), "{line}");
    trial.keys("\n");
    assert!(!foot(&mut trial).contains("Esc clears"));
    trial.keys("\x1b\x1b\x1b");
    assert!(foot(&mut trial).contains("filter: images (Esc clears)"));
    trial.keys("\x1b");
    assert_eq!(trial.names().len(), 5);
    // Nothing is looked for twice: the other text is another search.
    trial.keys("F");
    assert_eq!(
        trial.screen()[2],
        "  type a part of a name, or a pattern such as *.iso"
    );
    trial.keys("\n");
    assert_eq!(trial.screen()[2], "  F searches names below");
}

#[test]
fn a_text_can_become_another_one() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("Fjpg\nj");
    trial.keys("F");
    trial.give(Event::Key(Key::Ctrl('u')));
    trial.keys("s");
    // The first row is the largest, wherever the cursor was.
    assert_eq!(trial.cursor(), Some(2));
    trial.give(Event::Paste("ea\n".to_owned()));
    assert_eq!(trial.names(), ["photos/sea.JPG"]);
    trial.keys("\n");
    // A text for names is one more condition.
    trial.keys("/hills\n");
    assert!(trial.screen()[2].contains("no name that was found holds 'hills'"));
    trial.keys("\x1b");
    assert_eq!(trial.names(), ["photos/sea.JPG"]);
}

#[test]
fn the_view_has_a_digit_and_a_place_in_the_row() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("Fjpg\nl");
    assert!(trial.screen()[0].starts_with(" statwalk  /data/photos "));
    // As all views, it is that of the open directory.
    trial.keys("0");
    assert!(trial.screen()[0].starts_with(" Search  /data/photos "));
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    trial.keys("\x1b9\t");
    assert!(trial.screen()[0].starts_with(" Search "));
    trial.keys("\t");
    assert!(trial.screen()[0].starts_with(" statwalk "));
    trial.give(Event::Key(Key::BackTab));
    assert!(trial.screen()[0].starts_with(" Search "));
    trial.keys("h");
    assert!(trial.screen()[0].starts_with(" statwalk "));
}

#[test]
fn a_long_list_says_that_it_ends() {
    let mut small = Small::example();
    for number in 0..1_500 {
        let name = format!("file {number:04}");
        small.put(
            100 + number,
            Some(3),
            name.as_bytes(),
            Kind::File,
            512 * u128::from(number % 700),
        );
    }
    let sum = small.items[&3].1.allocated_bytes - 4096 - (8 << 10);
    let mut trial = Trial::new(small, 120, 20);
    trial.keys("Ffile\n");
    assert_eq!(trial.browser.list.rows.len(), 1_000);
    assert_eq!(trial.browser.list.all.bytes, sum);
    let line = foot(&mut trial);
    assert!(
        line.starts_with(" 1,000 of 1,500 items, 241 MiB in all"),
        "{line}"
    );
    assert_eq!(trial.names()[..2], ["src/file 0699", "src/file 1399"]);
    trial.keys("s");
    assert_eq!(trial.names()[0], "src/file 1400");
    trial.keys("n");
    assert_eq!(trial.names()[..2], ["src/file 0000", "src/file 0001"]);
    trial.keys("n");
    assert_eq!(trial.names()[0], "src/file 1499");
    trial.keys("M");
    assert_eq!(trial.names()[0], "src/file 0000");
    // `*` cannot mark rows that are not there.
    trial.keys("*");
    assert!(foot(&mut trial).contains("the 1,000 rows of 1,500 items alone"));
    assert_eq!(trial.browser.marks.len(), 1_000);
    // So does the list of the largest files.
    trial.keys("2");
    assert!(foot(&mut trial).starts_with(" 1,000 of 1,505 items"));
}

#[test]
fn hidden_names_are_left_out_with_all_below() {
    let mut small = Small::example();
    small.put(10, Some(1), b".cache", Kind::Directory, 4096);
    small.put(11, Some(10), b"main.o", Kind::File, 4096);
    small.put(12, Some(10), b"deep", Kind::Directory, 4096);
    small.put(13, Some(12), b"main.c", Kind::File, 4096);
    let mut trial = Trial::new(small, 120, 20);
    trial.keys("Fmain\n");
    assert_eq!(trial.names().len(), 3);
    trial.keys("e");
    assert_eq!(trial.names(), ["src/main.rs"]);
    assert!(foot(&mut trial).contains("1 item, 8.00 KiB in all"));
}

#[test]
fn roots_are_found_by_their_last_name() {
    let mut small = Small::example();
    small.put(20, None, b"/srv/data/", Kind::Directory, 4096);
    small.put(21, Some(20), b"data", Kind::File, 4096);
    small.put(22, None, b"/data/file", Kind::File, 512);
    let mut trial = Trial::new(small, 120, 20);
    trial.keys("Fdata\n");
    assert_eq!(trial.names(), ["/data/", "/srv/data/", "/srv/data/data"]);
    assert_eq!(
        trial.browser.list.all.bytes,
        (3 << 12) + (73 << 20) + (8 << 10) + 8192
    );
    trial.keys("jj\n");
    assert!(trial.screen()[0].starts_with(" statwalk  /srv/data/ "));
    trial.keys("\x1b\x1b");
    assert!(trial.screen()[0].starts_with(" statwalk  all paths "));
}

#[test]
fn a_scan_that_goes_on_has_its_directories() {
    let mut small = Small::example();
    for file in 4..=9 {
        small.items.remove(&file);
    }
    small.put(10, Some(1), b"", Kind::Rest, 1 << 20);
    small.is_live = true;
    let mut trial = Trial::new(small, 120, 20);
    trial.keys("Fs*\n");
    assert_eq!(trial.names(), ["src/"]);
    let line = foot(&mut trial);
    assert!(
        line.contains("1 directory so far, ≥ 12.0 KiB in all")
            && line.contains("files at the end of the scan"),
        "{line}"
    );
    trial.keys("F");
    trial.give(Event::Key(Key::Ctrl('u')));
    trial.keys("*.jpg\n");
    assert!(trial.screen()[2].contains("no directory so far: files come at the end"));
    trial.data = Arc::new(Small::example());
    trial.at += Duration::from_secs(1);
    trial.give(Event::Data);
    assert_eq!(trial.names(), ["photos/sea.JPG", "photos/hills.jpg"]);
    assert!(foot(&mut trial).contains("2 items, 70.0 MiB in all"));
}

/// A question that takes longer than the time between two ended each time before its
/// answer.
#[test]
fn a_slow_question_is_not_asked_again_before_its_answer() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 20);
    trial.at += Duration::from_secs(2);
    let wishes = trial.browser.update(Event::Tick, trial.at, &*trial.data);
    let [Effect::Ask(query)] = &wishes[..] else {
        panic!("{wishes:?}");
    };
    for _ in 0..9 {
        trial.at += Duration::from_secs(1);
        assert_eq!(
            trial.browser.update(Event::Tick, trial.at, &*trial.data),
            []
        );
    }
    let answer = crate::answer(&*trial.data, query, &|| false, &PlainDisk).unwrap();
    let event = Event::Answer(answer);
    assert_eq!(trial.browser.update(event, trial.at, &*trial.data), []);
    // It took nine seconds, so another one comes later.
    for (seconds, count) in [(26, 0), (2, 1)] {
        trial.at += Duration::from_secs(seconds);
        let wishes = trial.browser.update(Event::Tick, trial.at, &*trial.data);
        assert_eq!(wishes.len(), count, "{wishes:?}");
    }
}

#[test]
fn results_are_marked_by_their_paths() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("Fjpg\njx");
    assert_eq!(trial.browser.marks.all(), [id(5)]);
    trial.keys("*");
    assert_eq!(trial.browser.marks.all(), [id(4)]);
    trial.keys("Elist\n");
    assert_eq!(
        trial.wishes,
        [Effect::Write(vec![id(4)], "list".to_owned())]
    );
    // Mark and results survive a scan with other numbers.
    let mut other = Small {
        scan: 1,
        ..Small::default()
    };
    other.put(50, None, b"/data", Kind::Directory, 4096);
    other.put(51, Some(50), b"photos", Kind::Directory, 4096);
    other.put(4, Some(51), b"hills.jpg", Kind::File, 512);
    other.put(5, Some(51), b"sea.JPG", Kind::File, 1024);
    trial.replace(None, other);
    assert!(trial.screen()[0].starts_with(" Search  /data "));
    assert_eq!(trial.names(), ["photos/sea.JPG", "photos/hills.jpg"]);
    let marked = trial.browser.marks.all();
    assert_eq!(marked, [ItemId { scan: 1, number: 5 }]);
    // The ways back lead to places of now.
    trial.keys("\n\x1b\x1b\x1b");
    assert!(trial.screen()[0].starts_with(" statwalk  /data "));
}

#[test]
fn a_removal_and_its_undo_change_the_results() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("Fjpg\nj\n");
    let all = Arc::clone(&trial.data);
    trial.data = Arc::new(without(&all, &[id(4)]));
    trial.give(Event::Removed(crate::RemovalReport::default()));
    trial.keys("\x1b");
    assert_eq!(trial.names(), ["photos/hills.jpg"]);
    assert!(foot(&mut trial).contains("1 item, 20.0 MiB in all"));
    trial.data = all;
    trial.give(Event::Restored("is back".to_owned()));
    assert_eq!(trial.names(), ["photos/sea.JPG", "photos/hills.jpg"]);
    assert_eq!(trial.cursor(), Some(5));
    // Also where the results are not on the screen, and their directory goes.
    trial.keys("\n");
    let without = without(&trial.data, &[id(2)]);
    trial.data = Arc::new(without);
    trial.give(Event::Removed(crate::RemovalReport::default()));
    assert!(trial.screen()[0].starts_with(" statwalk  /data "));
    trial.keys("\x1b");
    assert!(trial.screen()[2].contains("no name below holds 'jpg'"));
}

#[test]
fn a_directory_that_is_read_again_has_other_results() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.keys("lFjpg\nj");
    trial.keys("r");
    assert_eq!(trial.wishes, [Effect::Refresh(id(2))]);
    let mut newer = Small {
        scan: 1,
        ..Small::default()
    };
    newer.put(1, None, b"/data/photos", Kind::Directory, 4096);
    newer.put(2, Some(1), b"new.jpg", Kind::File, 30 << 20);
    let old: Arc<dyn Data> = Arc::new(Small::example());
    let edited = renewed(old, id(2), Arc::new(newer));
    trial.replace(Some(id(2)), edited);
    assert!(trial.screen()[0].starts_with(" Search  /data/photos "));
    assert_eq!(trial.names(), ["new.jpg"]);
    assert!(trial.screen()[2].contains("30.0 MiB"));
    trial.keys("\x1b");
    assert_eq!(trial.names(), ["new.jpg"]);
    trial.keys("h0");
    assert_eq!(trial.names(), ["photos/new.jpg"]);
}

#[test]
fn a_filter_on_names_is_one_of_files() {
    let mut trial = Trial::new(Small::example(), 120, 20);
    trial.give(Event::Form(Ok(Filter {
        name: Some(NamePattern::typed("*.jpg").unwrap()),
        ..Filter::default()
    })));
    assert_eq!(trial.names(), ["photos/"]);
    assert!(trial.screen()[0].ends_with("70.0 MiB, 2 entries"));
    assert!(foot(&mut trial).contains("filter: names like *.jpg (Esc clears)"));
    trial.keys("l");
    assert_eq!(trial.names(), ["sea.JPG", "hills.jpg"]);
    trial.give(Event::Form(Ok(Filter {
        name: Some(NamePattern::typed("Sea").unwrap()),
        ..Filter::default()
    })));
    assert!(trial.screen()[2].contains("nothing passes the filter names with 'Sea'"));
    assert!(trial.screen()[0].ends_with("0 B, 0 entries"));
}

/// The matching items and the sum, as nobody would make them fast.
fn naive(small: &Small, dir: u64, pattern: &NamePattern) -> (Vec<u64>, u128) {
    let above =
        |number: u64| std::iter::successors(small.items[&number].0, |number| small.items[number].0);
    let is_below = |number: u64| above(number).any(|above| above == dir);
    let found = (small.items.iter())
        .filter(|(number, (_, item))| is_below(**number) && pattern.fits(&item.name));
    let mut found: Vec<u64> = found.map(|(number, _)| *number).collect();
    let is_outermost = |number: &&u64| !above(**number).any(|above| found.contains(&above));
    let bytes = |number: &u64| small.items[number].1.allocated_bytes;
    let sum = found.iter().filter(is_outermost).map(bytes).sum();
    found.sort_by_key(|number| {
        let item = &small.items[number].1;
        (
            std::cmp::Reverse(item.allocated_bytes),
            item.name.clone(),
            *number,
        )
    });
    (found, sum)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_search_finds_what_is_there(
        items in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..6, 0u128..9, any::<bool>()), 0..40),
        dir in any::<prop::sample::Index>(),
        text in prop_oneof![Just("a"), Just("a*"), Just("*"), Just("b"), Just("?b")],
    ) {
        let mut small = Small::default();
        small.put(1, None, b"/a", Kind::Directory, 4096);
        let mut dirs = vec![1];
        for (number, (parent, name, bytes, is_dir)) in (2..).zip(items) {
            let name = [&b"a"[..], b"ab", b"b", b"bb", b"c\n", b"\xffb"][name];
            let kind = if is_dir { Kind::Directory } else { Kind::File };
            small.put(number, Some(*parent.get(&dirs)), name, kind, bytes * 512);
            if is_dir {
                dirs.push(number);
            }
        }
        let dir = *dir.get(&dirs);
        let mut trial = Trial::new(small.clone(), 80, 20);
        trial.browser.chosen.place = std::iter::successors(Some(dir), |dir| small.items[dir].0)
            .map(id)
            .collect();
        trial.browser.chosen.place.reverse();
        trial.keys("F");
        trial.keys(text);
        let (found, sum) = naive(&small, dir, &NamePattern::typed(text).unwrap());
        let crate::list::ListRows::Items(rows) = &trial.browser.list.rows else { panic!("items") };
        let rows: Vec<u64> = rows.iter().map(|id| id.number).collect();
        prop_assert_eq!(trial.browser.list.all.count, found.len() as u64);
        prop_assert_eq!(rows, found);
        prop_assert_eq!(trial.browser.list.all.bytes, sum);
    }
}
