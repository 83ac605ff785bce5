// SPDX-License-Identifier: MIT OR Apache-2.0

//! What has no meaning is named, with status 2, and nothing is scanned.

use statwalk_testkit::program;

use crate::run::{Answer, Tree, commands, statwalk};

#[test]
fn what_has_no_meaning_is_named() {
    let tree = Tree::new("x 1");
    std::fs::write(tree.parent().join("bad-patterns"), "good\n[b\0d\n").unwrap();
    for (arguments, expected) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["-d", "deep"], "deep"),
        (&["-d", "-1"], "-1"),
        (&["-n", "1.5"], "1.5"),
        (&["-j", "0"], "0"),
        (&["-j", "many"], "many"),
        (&["-s", "-d2"], "--max-depth"),
        (&["-s", "-a"], "--all"),
        (&["--count", "-b"], "--bytes"),
        (
            &["--unit", "parsec"],
            "invalid value 'parsec' for --unit: must be B, K or KiB",
        ),
        (
            &["--unit", ""],
            "invalid value '' for --unit: must be B, K or KiB",
        ),
        (&["--sort", "colour"], "colour"),
        (&["--color", "sometimes"], "sometimes"),
        (
            &["-X", "nope"],
            "cannot read patterns from nope: no such file or directory",
        ),
        (
            &["-X", "bad-patterns"],
            "cannot read patterns from bad-patterns: ",
        ),
        (&["-X", "bad-patterns"], "it holds a NUL"),
        (&["-X", "tree"], "tree: is a directory"),
        (&["--order", "random"], "random"),
        (
            &["--buffer", "5M"],
            "invalid value '5M' for --buffer: must be between 1K and 4M",
        ),
        (
            &["--buffer", "x"],
            "invalid value 'x' for --buffer: must be between 1K and 4M",
        ),
        (&["--since", "7", "."], "--since"),
        (&["--extents", "."], "--extents"),
        (&["changes", "--since", "7"], "<PATH>"),
        (&["changes", "."], "--since <[UUID:]GENERATION>"),
        (&["changes", "--since", "7", "a", "b"], "'b'"),
        (&["changes", "--since", "yesterday", "."], "yesterday"),
        (&["changes", "--since", "-1", "."], "'-1'"),
        (&["changes", "--since", "7", "-s", "."], "'-s'"),
        (
            &["changes", "/proc", "--since", "7"],
            "cannot open /proc: it lies on proc; only a btrfs keeps its changes",
        ),
        (&["extents", "-L", "."], "'-L'"),
        (&["extents", "-l", "."], "'-l'"),
        (&["extents", "-A", "."], "'-A'"),
        (&["extents", "--no-sync", "."], "'--no-sync'"),
        (&["extents", "-s", "-d2", "."], "--max-depth"),
        (&["extents", "--sort", "mtime", "."], "values: size, name"),
        (
            &["extents", "/proc/self"],
            "nothing on a btrfs was found there",
        ),
        (
            &["top", "-S", "+1Q"],
            "invalid value '+1Q' for --size: must have the unit",
        ),
        (
            &["top", "-S", "big"],
            "invalid value 'big' for --size: must be a size such as",
        ),
        (
            &["top", "-S", "100"],
            "invalid value '100' for --size: must have a unit",
        ),
        (
            &["top", "-S", "-99999999999999999999k"],
            "must be below 16 EiB",
        ),
        (
            &["top", "--changed-within", "yesterday"],
            "invalid value 'yesterday' for --changed-within: must be a span",
        ),
        (
            &["top", "--changed-before", "2026-02-30"],
            "invalid value '2026-02-30' for --changed-before: must be a date",
        ),
        (
            &["top", "--owner", "no-such-user"],
            "for --owner: there is no user 'no-such-user'",
        ),
        (
            &["top", "--owner", ":no-such-group"],
            "for --owner: there is no group 'no-such-group'",
        ),
        (
            &["top", "-t", "z"],
            "invalid value 'z' for --type: must be f file",
        ),
        (&["top", "-t", "d"], "top lists no directories: try --dirs"),
        (&["top", "--dirs", "--owner", "root"], "--owner"),
        (&["top", "-g", "[a"], "invalid value '[a' for --glob: "),
        (
            &["find", "-g", "a/b"],
            "invalid value 'a/b' for --glob: no name holds a slash",
        ),
        (&["find", "tree", "a(b"], "invalid pattern 'a(b': "),
        (&["stats", "--by", "colour"], "colour"),
        (&["completions", "basic"], "basic"),
        (&["man", "nope"], "'nope'"),
        (
            &["--unit", "\x1b[2J"],
            "invalid value '\\x1b[2J' for --unit",
        ),
    ] {
        let answer = tree.run(arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}: {}", answer.stderr);
        assert!(
            answer.stderr.contains(expected),
            "{arguments:?} says {:?}",
            answer.stderr
        );
        assert_eq!(answer.stdout, b"", "{arguments:?}");
        assert!(!answer.stderr.contains('\x1b'), "{arguments:?}");
    }
}

/// `statwalk *` beside a file named `find` ran `find`: it printed nothing and exited with
/// status 0. Beside `bench`, a benchmark ran.
#[test]
fn a_list_of_entries_is_not_taken_for_a_command() {
    let tree = Tree::new("find 4096\nlogs/\nlogs/a 1\nzeta 1");
    let here = |words: &[&str]| {
        let mut command = statwalk();
        command.args(words).current_dir(tree.path());
        Answer::of(&mut command)
    };
    for words in [&["find", "logs", "zeta"][..], &["find", "zeta"]] {
        let answer = here(words);
        assert_eq!(answer.code, Some(2), "{words:?}: {}", answer.stderr);
        assert_eq!(answer.stdout, b"", "{words:?}");
        let others = if words.len() == 2 { "zeta" } else { "…" };
        for tip in [
            format!("for the paths, use 'statwalk ./find {others}'"),
            format!("for the command, use 'statwalk find -- {others}'"),
        ] {
            assert!(answer.stderr.contains(&tip), "{words:?}: {}", answer.stderr);
        }
    }
    // Both tips work.
    let paths = here(&["-sA", "./find", "logs", "zeta"]).good();
    assert_eq!(paths.lines(), ["4096\t./find", "1\tlogs", "1\tzeta"]);
    assert_eq!(here(&["find", "--", "zeta", "."]).good().lines(), ["zeta"]);
    // A flag, a path with a slash, the directory itself, and a word that is no entry mean
    // the command.
    for words in [
        &["find", "-t", "f", "zeta"][..],
        &["find", "zeta", "./logs"],
        &["find", "zeta", "."],
        &["find", "logs", "^zet"],
        &["find"],
    ] {
        let answer = here(words);
        assert_eq!(answer.code, Some(0), "{words:?}: {}", answer.stderr);
    }
    // Without an entry of its name, the first word is the command.
    std::fs::remove_file(tree.path().join("find")).unwrap();
    assert_eq!(here(&["find", "zeta", "logs"]).code, Some(0));
}

#[test]
fn usage_errors_of_a_command_say_how_to_scan_a_directory_of_its_name() {
    let tree = Tree::new("x 1");
    for name in &commands() {
        let tip =
            format!("tip: '{name}' is taken as the command; to scan the directory, use './{name}'");
        let words = [name, "--nonsense"];
        let answer = tree.run(&words);
        assert_eq!(answer.code, Some(2), "{name}");
        assert!(!answer.stderr.contains("tip: '"), "{}", answer.stderr);
        // A file of this name is no directory.
        let path = tree.parent().join(name);
        std::fs::write(&path, b"").unwrap();
        assert!(!tree.run(&words).stderr.contains(&tip), "{name}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let answer = tree.run(&words);
        assert_eq!(answer.code, Some(2), "{name}");
        assert!(answer.stderr.contains(&tip), "{}", answer.stderr);
        assert_eq!(answer.stdout, b"", "{name}");
        // The path of the tip works.
        let scanned = tree.run(&["-sA", &format!("./{name}")]).good();
        assert_eq!(scanned.lines(), [format!("0\t./{name}")]);
        // Help is no error.
        let help = tree.run(&[name, "--help"]).good().stdout;
        assert!(!String::from_utf8(help).unwrap().contains(&tip), "{name}");
    }
    // Words that look like a list of directories.
    for (words, cause) in [
        (&["changes"][..], "<PATH>"),
        (&["man", "trees"], "'trees'"),
        (&["completions", "trees"], "'trees'"),
        (&["top", "--dir"], "'--dirs'"),
    ] {
        let answer = tree.run(words);
        assert_eq!(answer.code, Some(2), "{words:?}");
        let tip = format!("use './{}'", words[0]);
        for text in [cause, &tip] {
            assert!(answer.stderr.contains(text), "{}", answer.stderr);
        }
    }
}

#[test]
fn missing_roots_are_named() {
    let tree = Tree::new("x 10");
    let answer = tree.run(&["-sA", "nope", "tree", "tree/x/y", ""]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(answer.lines(), ["10\ttree"]);
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open nope: no such file or directory\n\
         statwalk: cannot open tree/x/y: not a directory\n\
         statwalk: cannot open '': no such file or directory\n"
    );
    let answer = tree.run(&["-x", "top"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stderr.contains("must be the first word"),
        "{}",
        answer.stderr
    );
    let answer = tree.run(&["bad\x1b[2J"]);
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open bad\\x1b[2J: no such file or directory\n"
    );
}

#[test]
fn help_is_no_error() {
    let tree = Tree::new("x 10");
    for (arguments, expected) in [
        (&["-h"][..], "errors"),
        (&["--help"], "Examples:"),
        (&["-V"], concat!("statwalk ", env!("CARGO_PKG_VERSION"))),
        (&["top", "-h"], "--dirs"),
        (&["find", "--help"], "PATTERN"),
        (&["stats", "--help"], "--by"),
        (&["extents", "--help"], "EXCLUSIVE"),
        (&["changes", "--help"], "--since <[UUID:]GENERATION>"),
        (&["completions", "zsh"], "#compdef statwalk"),
        (&["completions", "fish"], "exclude-caches"),
        (&["completions", "bash"], "--apparent-size"),
        (&["man"], ".TH STATWALK 1"),
        (&["man", "top"], "statwalk\\-top"),
        (&["man", "changes"], "statwalk\\-changes"),
        (&["completions", "fish"], "__statwalk_is_in 'extents'"),
    ] {
        let answer = tree.run(arguments).good();
        let text = String::from_utf8(answer.stdout).unwrap();
        assert!(text.contains(expected), "{arguments:?}");
    }
    let short = tree.run(&["-h"]).good().stdout.len();
    let full = tree.run(&["--help"]).good().stdout.len();
    assert!(short * 3 / 2 < full);
    assert!(full < 12_000);
}

#[test]
fn every_error_has_the_prefix_of_the_program() {
    for arguments in [
        &["--nonsense"][..],
        &["-d", "x"],
        &["-s", "-d1"],
        &["stats", "--by", "colour"],
        &["changes", "."],
        &["completions"],
        &["nowhere"],
        &["--buffer", "5M"],
        &["find", "--owner", "nobody-has-this-name"],
        &["--source", "btrfs", "/proc"],
    ] {
        let answer = Answer::of(statwalk().args(arguments));
        let text = &answer.stderr;
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert!(text.starts_with("statwalk: "), "{arguments:?}: {text}");
        assert!(!text.contains("error:"), "{arguments:?}: {text}");
        assert!(!text.contains("os error"), "{arguments:?}: {text}");
    }
}

/// The list was empty then, and the answer 0 bytes with status 0.
#[test]
fn a_closed_stdin_is_no_empty_list() {
    let script = r#""$0" -c --files0-from - <&-"#;
    let mut command = program::command("sh");
    let answer = Answer::of(command.args(["-c", script, env!("CARGO_BIN_EXE_statwalk")]));
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot read -: bad file descriptor\n"
    );
    assert!(answer.stdout.is_empty());
}
