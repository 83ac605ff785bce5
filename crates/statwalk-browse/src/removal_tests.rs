// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of the way from a key to a removal.

use std::sync::Arc;

use crate::event::{Effect, Event, Key, Mouse};
use crate::removal::{Manner, Proposal, RemovalReport, RemovalState};
use crate::trial::{Small, Trial, assert_screen, id, without};

fn trial(width: u16, height: u16) -> Trial {
    let mut trial = Trial::new(Small::example(), width, height);
    trial.browser.options.removes = true;
    trial
}

fn proposal(paths: &[&[u8]]) -> Proposal {
    Proposal {
        paths: paths.iter().map(|path| path.to_vec()).collect(),
        entries: 3,
        bytes: 70 << 20,
        freed_bytes: 50 << 20,
        warnings: Vec::new(),
        refusal: None,
        is_by_name: false,
        no_trash: None,
        trashes: vec![b"/home/kim/.local/share/Trash".to_vec()],
        why_typed: None,
        word: match paths {
            [path] => {
                let name = path.rsplit(|&byte| byte == b'/').next().unwrap();
                statwalk_view::escape(name, statwalk_view::Charset::Unicode).into_owned()
            }
            paths => format!("{} items", paths.len()),
        },
    }
}

/// The wishes since the last look, without those that every browser has.
fn wishes(trial: &mut Trial) -> Vec<Effect> {
    std::mem::take(&mut trial.wishes)
}

#[test]
fn nothing_is_removed_unless_it_is_allowed() {
    let mut trial = Trial::new(Small::example(), 80, 12);
    trial.keys("d");
    assert_eq!(wishes(&mut trial), []);
    let text = trial.screen()[10].clone();
    assert_eq!(text, " nothing is removed here: --enable-delete allows it");
    trial.keys("U");
    assert_eq!(wishes(&mut trial), []);
}

#[test]
fn nothing_is_removed_while_a_scan_goes_on() {
    let mut small = Small::example();
    small.is_live = true;
    let mut trial = Trial::new(small, 80, 12);
    trial.browser.options.removes = true;
    trial.keys("d");
    assert_eq!(wishes(&mut trial), []);
}

#[test]
fn the_marks_are_proposed_or_the_item_under_the_cursor() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    let photos = vec![id(2)];
    let expected = [Effect::Identify(photos.clone()), Effect::Survey(photos)];
    assert_eq!(wishes(&mut trial), expected);
    // Esc gives the survey up, and its answer comes too late.
    trial.keys("\x1b");
    assert_eq!(wishes(&mut trial), [Effect::EndSurvey]);
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    trial.keys("\n");
    assert_eq!(wishes(&mut trial), []);
    // A mark inside of a marked directory is part of it.
    trial.keys("h jxxhgg");
    trial.keys("d");
    let marked = trial.browser.marks.outermost(&*trial.data);
    // Each mark has its identity from the moment when it was made.
    let identified = [2, 8, 7].map(|number| Effect::Identify(vec![id(number)]));
    let expected = [&identified[..], &[Effect::Survey(marked)]].concat();
    assert_eq!(wishes(&mut trial), expected);
}

/// Nobody sees what `y` would remove.
#[test]
fn a_dialog_that_is_not_on_the_screen_takes_esc_alone() {
    for (width, height) in [(29, 24), (80, 5)] {
        let mut trial = trial(width, height);
        trial.screen();
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
        assert!(trial.screen()[0].starts_with("too small"));
        wishes(&mut trial);
        trial.keys("y\t\t\nphotos\n");
        assert_eq!(wishes(&mut trial), []);
        // The screen grows: a key counts once the dialog is there.
        trial.give(Event::Resize(80, 24));
        trial.keys("y");
        assert_eq!(wishes(&mut trial), []);
        assert!(trial.screen().iter().any(|line| line.contains("[Cancel]")));
        trial.give(Event::Resize(width, height));
        trial.screen();
        trial.keys("\x1b");
        assert_eq!(wishes(&mut trial), [Effect::EndSurvey]);
    }
}

/// In another browser the wheel moved the cursor below the dialog, and another item went.
#[test]
fn the_mouse_changes_nothing_below_the_dialog() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    let before = trial.screen();
    for mouse in [
        Mouse::Press(60, 4),
        Mouse::Press(60, 4),
        Mouse::Press(5, 1),
        Mouse::WheelDown,
        Mouse::WheelUp,
    ] {
        trial.give(Event::Mouse(mouse));
        assert_eq!(trial.screen(), before);
    }
    wishes(&mut trial);
    trial.keys("y");
    assert_eq!(wishes(&mut trial), [Effect::Remove(Manner::Trash)]);
}

#[test]
fn the_dialog_begins_with_cancel() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    assert_screen(
        &trial.screen()[3..10],
        "
  ┌─ Remove ─────────────────────────────────────────────────────────────────┐
  │ /data/photos                                                             │
  │ 3 entries: moves 70.0 MiB to the trash; frees 0 B until it is emptied    │
 @│                                                                          │
  │ [Cancel]  Move to trash   Remove forever                                 │
  │                                                                          │
  └──────────────────────────────────────────────────────────────────────────┘",
    );
    wishes(&mut trial);
    trial.keys("\n");
    assert_eq!(wishes(&mut trial), [Effect::EndSurvey]);
    assert!(trial.browser.work.removal.is_none());
}

#[test]
fn few_go_to_the_trash_by_one_more_key() {
    for keys in ["y", "\t\n", "ly"] {
        let mut trial = trial(80, 14);
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
        wishes(&mut trial);
        trial.keys(keys);
        assert_eq!(wishes(&mut trial), [Effect::Remove(Manner::Trash)]);
    }
}

/// The dialog took `y`, and said so nowhere; for 1,001 entries it did not, and said nothing.
#[test]
fn the_key_line_of_the_dialog_is_true() {
    let why = || Some("more than 1,000 entries".to_owned());
    let cases: [(Proposal, &str, &str, &str); 7] = [
        (
            proposal(&[b"/a"]),
            "",
            " y move to the trash  Tab next choice  Enter choose  Esc leave it",
            "trash",
        ),
        (
            proposal(&[b"/a"]),
            "\t",
            " y move to the trash  Tab next choice  Enter choose  Esc leave it",
            "trash",
        ),
        (
            proposal(&[b"/a"]),
            "\t\t",
            " y type the name  Tab next choice  Enter choose  Esc leave it",
            "asks",
        ),
        (
            Proposal {
                why_typed: why(),
                ..proposal(&[b"/a"])
            },
            "",
            " more than 1,000 entries: Tab chooses  Enter choose  Esc leave it",
            "",
        ),
        (
            Proposal {
                why_typed: why(),
                ..proposal(&[b"/a"])
            },
            "\t",
            " y type the name  Tab next choice  Enter choose  Esc leave it",
            "asks",
        ),
        (
            Proposal {
                no_trash: Some("No trash.".to_owned()),
                why_typed: why(),
                ..proposal(&[b"/a"])
            },
            "",
            " no trash: Tab chooses  Enter choose  Esc leave it",
            "",
        ),
        (
            Proposal {
                refusal: Some("a mount".to_owned()),
                ..proposal(&[b"/a"])
            },
            "",
            " Esc leave it",
            "",
        ),
    ];
    for (proposal, before, line, effect) in cases {
        for width in [30, 40, 80] {
            let mut trial = trial(width, 14);
            trial.keys("d");
            trial.give(Event::Surveyed(Ok(proposal.clone())));
            trial.keys(before);
            wishes(&mut trial);
            let shown = trial.screen()[13].clone();
            match width {
                80 => assert_eq!(shown, line),
                40 => assert!(line.starts_with(&shown) && shown.len() > 10, "{shown}"),
                _ => assert!(shown.len() > 10, "{shown}"),
            }
            trial.keys("y");
            let removed = wishes(&mut trial) == [Effect::Remove(Manner::Trash)];
            let asks = trial.screen()[13].starts_with(" Enter remove");
            assert_eq!(
                (removed, asks),
                (effect == "trash", effect == "asks"),
                "{line}"
            );
        }
    }
}

/// The dialog said that the trash frees nothing, beside the bytes that a removal for good
/// frees. It said neither where the trash is nor how to empty it.
#[test]
fn the_dialog_says_where_the_trash_is_and_how_to_empty_it() {
    let shown = |width, height, trashes: &[&[u8]]| {
        let mut trial = trial(width, height);
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(Proposal {
            trashes: trashes.iter().map(|trash| trash.to_vec()).collect(),
            ..proposal(&[&b"/long".repeat(30)])
        })));
        trial.keys("\t");
        let lines = trial.screen();
        let inner = lines
            .iter()
            .filter_map(|line| line.trim().strip_prefix('│'));
        let inner: Vec<&str> = inner
            .map(|line| line.trim_end_matches('│').trim())
            .collect();
        inner.join(" ")
    };
    let home: &[u8] = b"/home/kim/.local/share/Trash";
    let sentence = "To empty /home/kim/.local/share/Trash, \
                    remove all in its files and info.";
    for (width, height) in [(40, 10), (80, 24), (120, 40)] {
        let text = shown(width, height, &[home]);
        assert!(text.contains(sentence), "{text}");
        assert!(
            text.contains("moves 70.0 MiB to the trash; frees 0 B until it is emptied"),
            "{text}"
        );
        assert!(!text.contains("50.0 MiB"), "{text}");
        let choices = match width {
            40 => "Cancel  [Trash]  Forever",
            _ => "Cancel  [Move to trash]  Remove forever",
        };
        assert!(text.contains(choices), "{text}");
    }
    let two = shown(80, 24, &[home, b"/mnt/a  b/.Trash-1000"]);
    assert!(
        two.contains("Trash and /mnt/a  b/.Trash-1000, remove all in their"),
        "{two}"
    );
    // A long or hostile place hides no number.
    let long = [&b"/mnt".repeat(40)[..], b"/\x1b[2J/.Trash-0"].concat();
    let text = shown(40, 10, &[&long]);
    assert!(text.contains("; frees 0 B until it is emptied"), "{text}");
    let text = shown(80, 24, &[&long]);
    assert!(
        text.contains(r"\x1b[2J/.Trash-0, remove all in its files"),
        "{text}"
    );
}

/// The dialog said "frees 50.0 MiB" where `y` moves to the trash, which frees nothing.
#[test]
fn the_line_of_the_sums_says_what_the_next_key_does() {
    let why = || Some("more than 1,000 entries".to_owned());
    let trash = "3 entries: moves 70.0 MiB to the trash; frees 0 B until it is emptied";
    let forever = "3 entries, 70.0 MiB; frees 50.0 MiB at once";
    let both = "3 entries, 70.0 MiB; frees 50.0 MiB if removed forever, 0 B in the trash";
    let cases = [
        (None, None, [trash, trash, forever]),
        (None, why(), [both, trash, forever]),
        (
            Some("No trash.".to_owned()),
            why(),
            [forever, forever, forever],
        ),
    ];
    for (no_trash, why_typed, lines) in cases {
        let mut trial = trial(80, 24);
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(Proposal {
            no_trash,
            why_typed,
            ..proposal(&[b"/a"])
        })));
        for line in lines {
            let screen = trial.screen().join("\n");
            assert!(screen.contains(line), "{line}\n{screen}");
            assert_eq!(screen.matches("frees").count(), 1, "{screen}");
            trial.keys("\t");
        }
    }
}

/// The typed name is not enough where nobody can know the item again.
#[test]
fn a_removal_by_name_is_asked_twice() {
    let sentence = "the file system of /data/photos gives an entry another inode number";
    let asked = || {
        let mut trial = trial(80, 24);
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(Proposal {
            is_by_name: true,
            warnings: vec![sentence.to_owned()],
            no_trash: Some("No trash.".to_owned()),
            ..proposal(&[b"/data/photos"])
        })));
        let questions = trial.browser.question();
        let first = trial.screen().join("\n");
        assert!(
            first.contains(sentence) && !first.contains("by name"),
            "{first}"
        );
        trial.keys("\typhotos");
        assert!(trial.screen()[23].starts_with(" Enter next question  Esc leave it"));
        wishes(&mut trial);
        trial.keys("\n");
        assert_eq!(wishes(&mut trial), []);
        // Keys that were typed ahead are none for it.
        assert_eq!(trial.browser.question(), questions + 1);
        let (at_cursor, _) = trial.at_cursor();
        assert!(at_cursor.starts_with("Cancel]"), "{at_cursor}");
        trial
    };
    let mut trial = asked();
    assert_screen(
        &trial.screen()[7..16],
        "
  ┌─ Remove ─────────────────────────────────────────────────────────────────┐
  │ /data/photos                                                             │
  │ 3 entries, 70.0 MiB; frees 50.0 MiB at once                              │
  │ Remove by name? If another entry of the same type takes this name before │
  │ the removal, that entry goes.                                            │
  │                                                                          │
  │ [Cancel]  Remove by name                                                 │
  │                                                                          │
  └──────────────────────────────────────────────────────────────────────────┘",
    );
    let line = " y remove by name  Tab next choice  Enter choose  Esc leave it";
    assert_eq!(trial.screen()[23], line);
    for (keys, wish) in [
        ("y", Effect::Remove(Manner::ByName)),
        ("\t\n", Effect::Remove(Manner::ByName)),
        ("\n", Effect::EndSurvey),
        ("\x1b", Effect::EndSurvey),
        ("n", Effect::EndSurvey),
    ] {
        let mut trial = asked();
        trial.keys(keys);
        assert_eq!(wishes(&mut trial), [wish], "{keys:?}");
    }
}

/// The prompt did not mark what had to be typed.
#[test]
fn the_word_to_type_is_marked() {
    let mut trial = trial(80, 24);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/a", b"/b"]))));
    trial.keys("\t\ty2 it");
    let (marked, cursor) = trial.underlined();
    assert_eq!(marked, "2 items");
    assert!(
        trial
            .screen()
            .join("\n")
            .contains("Type 2 items to remove: 2 it")
    );
    assert!(cursor.is_text);
}

/// The terminal's cursor stayed where the last cell was drawn, and a screen reader read
/// another row than the selected one.
#[test]
fn the_cursor_is_on_the_selected_choice() {
    let mut trial = trial(80, 24);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/a"]))));
    for choice in ["Cancel]", "Move to trash]", "Remove forever]", "Cancel]"] {
        let (text, is_text) = trial.at_cursor();
        assert!(text.starts_with(choice) && !is_text, "{choice}: {text}");
        trial.keys("\t");
    }
}

#[test]
fn many_and_forever_need_the_name() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    wishes(&mut trial);
    // `y` after a choice asks for the name, and a wrong one removes nothing.
    trial.keys("\t\ty");
    trial.keys("photo\n");
    assert_eq!(wishes(&mut trial), []);
    let line = trial.screen()[8].clone();
    assert_eq!(
        line.trim_end_matches('│').trim_end(),
        "  │ This is another text. Type photos to remove: photo"
    );
    trial.keys("s\n");
    assert_eq!(wishes(&mut trial), [Effect::Remove(Manner::Permanent)]);

    let mut trial = self::trial(80, 14);
    trial.keys("d");
    let large = Proposal {
        why_typed: Some("more than 1,000 entries".to_owned()),
        ..proposal(&[b"/data/a", b"/data/b"])
    };
    trial.give(Event::Surveyed(Ok(large)));
    wishes(&mut trial);
    trial.keys("y");
    assert_eq!(wishes(&mut trial), []);
    trial.keys("\t\n2 items\n");
    assert_eq!(wishes(&mut trial), [Effect::Remove(Manner::Trash)]);
}

#[test]
fn a_hostile_name_is_typed_as_the_screen_shows_it() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/\x1b[2Jred\n"]))));
    wishes(&mut trial);
    trial.keys("\t\t\n");
    let shown = statwalk_view::escape(b"\x1b[2Jred\n", statwalk_view::Charset::Unicode);
    assert!(!shown.contains('\x1b'));
    trial.keys(&shown);
    trial.keys("\n");
    assert_eq!(wishes(&mut trial), [Effect::Remove(Manner::Permanent)]);
}

#[test]
fn a_refusal_leaves_nothing_to_choose() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    let refused = Proposal {
        refusal: Some("/data is a mount point".to_owned()),
        ..proposal(&[b"/data"])
    };
    trial.give(Event::Surveyed(Ok(refused)));
    wishes(&mut trial);
    let screen = trial.screen().join("\n");
    assert!(screen.contains("/data is a mount point"), "{screen}");
    // It said 0 entries of an item that it had not counted.
    assert!(!screen.contains("entries, "), "{screen}");
    trial.keys("y\t\ty");
    assert_eq!(wishes(&mut trial), []);
    trial.keys("\n");
    assert_eq!(wishes(&mut trial), [Effect::EndSurvey]);
}

/// On 40 columns, a line ended with a number and the next began with its unit.
#[test]
fn a_number_and_its_unit_are_on_one_line() {
    for width in 30..=80 {
        let mut trial = trial(width, 14);
        trial.keys("d");
        trial.give(Event::Surveyed(Ok(proposal(&[b"/data"]))));
        let screen = trial.screen().join("\n");
        assert!(screen.contains("70.0 MiB"), "{screen}");
        assert!(screen.contains("0 B"), "{screen}");
    }
}

#[test]
fn the_smallest_screens_have_the_choices() {
    for (width, height) in [(30, 6), (40, 10), (80, 24)] {
        let mut trial = trial(width, height);
        trial.keys("d");
        let warned = Proposal {
            warnings: vec!["5 entries of other owners".repeat(4); 4],
            ..proposal(&[&[b"/x".repeat(300), b"\n".to_vec()].concat()])
        };
        trial.give(Event::Surveyed(Ok(warned)));
        let screen = trial.screen().join("\n");
        assert!(screen.contains("[Cancel]"), "{screen}");
    }
}

#[test]
fn esc_stops_a_removal() {
    let mut trial = trial(80, 14);
    trial.keys("d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    trial.keys("y");
    trial.give(Event::Removing(RemovalState {
        entries: 1,
        of_entries: 3,
        errors: 2,
    }));
    let foot = trial.screen()[12].clone();
    assert!(
        foot.starts_with(" removing (Esc stops): 1 of 3 entries · 2 are still there"),
        "{foot}"
    );
    wishes(&mut trial);
    // No second removal meanwhile, and no new numbers.
    trial.keys("drRU\x1b");
    assert_eq!(wishes(&mut trial), [Effect::StopRemoval]);
}

#[test]
fn removed_items_are_in_no_sum_and_no_mark() {
    let mut trial = trial(80, 14);
    let before = trial.data.item(id(1)).unwrap().into_owned_sums();
    let photos = trial.data.item(id(2)).unwrap().into_owned_sums();
    trial.keys(" d");
    trial.give(Event::Surveyed(Ok(proposal(&[b"/data/photos"]))));
    trial.keys("y");
    trial.data = Arc::new(without(&trial.data, &[id(2)]));
    trial.give(Event::Removed(RemovalReport {
        sentence: "3 entries are in the trash".to_owned(),
        freed_bytes: 5 << 20,
        errors: Vec::new(),
    }));
    let screen = trial.screen().join("\n");
    assert!(screen.contains("3 entries are in the trash"), "{screen}");
    assert!(!screen.contains("photos"), "{screen}");
    assert_eq!(trial.browser.marks.len(), 0);
    let after = trial.data.item(id(1)).unwrap().into_owned_sums();
    assert_eq!(after.0, before.0 - photos.0);
    assert_eq!(after.1, before.1 - photos.1);
    let mut sum = (4096, 1);
    trial.data.children(id(1), &mut |_, item| {
        sum.0 += item.allocated_bytes;
        sum.1 += item.entries;
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!(sum, after);
    // The message goes, the freed bytes stay.
    trial.give(Event::Key(Key::Down));
    let foot = trial.screen()[12].clone();
    assert!(foot.contains("5.00 MiB freed"), "{foot}");
}

#[test]
fn an_item_that_is_open_and_goes_is_left() {
    let mut trial = trial(80, 14);
    trial.keys("l");
    assert_eq!(trial.browser.directory(), Some(id(2)));
    trial.data = Arc::new(without(&trial.data, &[id(2)]));
    trial.give(Event::Removed(RemovalReport::default()));
    assert_eq!(trial.browser.directory(), Some(id(1)));
}

#[test]
fn what_is_still_there_is_listed() {
    let mut trial = trial(80, 14);
    trial.give(Event::Removed(RemovalReport {
        sentence: "2 of 3 entries removed".to_owned(),
        freed_bytes: 0,
        errors: (0..30).map(|n| format!("/data/{n}\x1b: denied")).collect(),
    }));
    let screen = trial.screen().join("\n");
    assert!(screen.contains("2 of 3 entries removed"), "{screen}");
    assert!(
        screen.contains("/data/0") && !screen.contains('\x1b'),
        "{screen}"
    );
    trial.give(Event::Key(Key::End));
    assert!(trial.screen().join("\n").contains("/data/29"));
    trial.keys("q");
    assert!(trial.screen().join("\n").contains("photos"));
}

trait Sums {
    fn into_owned_sums(self) -> (u128, u64);
}

impl Sums for crate::data::Item<'_> {
    fn into_owned_sums(self) -> (u128, u64) {
        (self.allocated_bytes, self.entries)
    }
}
