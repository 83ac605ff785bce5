// SPDX-License-Identifier: MIT OR Apache-2.0

//! Globs and extensions fit the names that find(1) finds in a UTF-8 locale.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use statwalk_testkit::{Random, program};

use crate::run::{Answer, Tree, sorted, statwalk};

/// Parts of names: letters of two alphabets, signs of three and four bytes, and bytes that
/// are no UTF-8.
const PARTS: [&[u8]; 14] = [
    b"a",
    b"B",
    b"7",
    b".",
    b"-",
    b"\n",
    "\u{e9}".as_bytes(),
    "\u{c9}".as_bytes(),
    "\u{43f}".as_bytes(),
    "\u{41f}".as_bytes(),
    "\u{20ac}".as_bytes(),
    "\u{1f600}".as_bytes(),
    b"\xff",
    b"\xc3",
];

/// Parts of patterns.
const SIGNS: [&str; 15] = [
    "*",
    "*",
    "?",
    "?",
    "a",
    "b",
    ".",
    "\u{e9}",
    "\u{43f}",
    "\u{20ac}",
    "\\?",
    "[\u{e9}\u{43f}a]",
    "[!\u{e9}]",
    "[!0-9]",
    "[\u{e0}-\u{ef}]",
];

fn made(random: &mut Random, of: &[&[u8]]) -> Vec<u8> {
    let parts = 1 + random.below(5);
    (0..parts).flat_map(|_| random.pick(of).to_vec()).collect()
}

/// The names that a command lists, each ended by NUL and behind `tree/`.
#[track_caller]
fn names(answer: Answer) -> Vec<String> {
    let mut names = sorted(&answer.good().stdout, 0);
    names.retain(|name| name != "tree");
    names
}

#[test]
fn they_fit_as_for_find() {
    let tree = Tree::new("kept 0");
    let mut random = Random::new(7);
    let mut broken = BTreeSet::new();
    for _ in 0..300 {
        let name = made(&mut random, &PARTS);
        if name != b"." && name != b".." {
            fs::write(tree.path().join(OsStr::from_bytes(&name)), "x").unwrap();
            if str::from_utf8(&name).is_err() {
                broken.insert(
                    [b"tree/", &name[..], b"\0"]
                        .concat()
                        .escape_ascii()
                        .to_string(),
                );
            }
        }
    }
    let find = |locale: &str, test: &str, pattern: &str| {
        let mut find = program::command("find");
        find.current_dir(tree.parent()).env("LC_ALL", locale);
        names(Answer::of(find.args([
            "tree",
            "-mindepth",
            "1",
            test,
            pattern,
            "-print0",
        ])))
    };
    let ours = |arguments: &[&str]| {
        let mut ours = statwalk();
        ours.current_dir(tree.parent()).args(["find", "-0"]);
        names(Answer::of(ours.args(arguments).arg("tree")))
    };
    // fnmatch(3) of glibc tries bytes where characters do not fit. So what bytes alone fit
    // is left open, but for names that are no UTF-8.
    let check = |arguments: [&str; 2], test: &str, pattern: &str| {
        let ours: BTreeSet<String> = ours(&arguments).into_iter().collect();
        let of_bytes: BTreeSet<String> = find("C", test, pattern).into_iter().collect();
        let expected: BTreeSet<String> = find("C.UTF-8", test, pattern).into_iter().collect();
        assert_eq!(&ours | &of_bytes, expected, "{arguments:?}");
        let is_broken = |name: &&String| broken.contains(*name);
        let lost: Vec<_> = of_bytes.difference(&ours).filter(is_broken).collect();
        assert!(lost.is_empty(), "{arguments:?}: {lost:?}");
        ours.len()
    };
    let signs = SIGNS.map(str::as_bytes);
    let mut found = 0;
    for _ in 0..80 {
        let pattern = String::from_utf8(made(&mut random, &signs)).unwrap();
        // Without a capital it is case-insensitive.
        found += check(["-g", &pattern], "-iname", &pattern);
        let capital = pattern.replace('\u{e9}', "\u{c9}");
        if capital != pattern && !capital.contains('-') {
            check(["-g", &capital], "-name", &capital);
        }
    }
    assert!(found > 500, "{found}");
    for end in ["\u{e9}", "\u{41f}", "a", "\u{20ac}7"] {
        check(["-e", end], "-iname", &format!("?*.{end}"));
    }
}

#[test]
fn sums_hold_the_same_names() {
    let tree = Tree::new("a 0");
    for name in ["caf\u{e9}", "CAF\u{c9}", "caf1", "caf\u{e9}\u{e9}"] {
        fs::write(tree.path().join(name), [7; 5000]).unwrap();
    }
    for (glob, bytes) in [
        ("caf?", "15000"),
        ("*\u{e9}", "15000"),
        ("caf[!0-9]", "10000"),
    ] {
        let answer = tree.run(&["-s", "-A", "-B1", "-g", glob, "tree"]).good();
        assert_eq!(answer.lines(), [format!("{bytes}\ttree")], "{glob}");
    }
}
