// SPDX-License-Identifier: MIT OR Apache-2.0

//! The habits of people who know du, ls, find and fd.

use std::fs::File;
use std::process::Stdio;

use statwalk_testkit::program;

use crate::run::{Answer, Tree, statwalk};

fn tree() -> Tree {
    Tree::new("a/\na/x 3000000\na/y 70000\nb/\nb/z 500\nc 1200\nd/")
}

/// Every unit and total that du knows, on the same rows.
#[test]
fn rows_are_those_of_du() {
    let tree = tree();
    for flags in [
        &["-h"][..],
        &["-sh"],
        &["-k"],
        &["-m"],
        &["-BM"],
        &["-B", "K"],
        &["-B1"],
        &["-B1M"],
        &["--block-size=MB"],
        &["-c"],
        &["-sc"],
        &["-hc"],
        &["-shc"],
        &["--human-readable"],
        &["-s", "--total", "--si"],
    ] {
        let bytes = flags
            .iter()
            .any(|flag| flag.contains(['h', 'k', 'm', 'B', 'i']));
        let base = if bytes { &[][..] } else { &["-B1"] };
        let depth = if flags[0].contains('s') {
            &[][..]
        } else {
            &["-d1"]
        };
        let mut du = program::command("du");
        du.args(base).args(depth).args(flags);
        du.args(["tree/a", "tree/b"]).current_dir(tree.parent());
        let expected = Answer::of(&mut du).good().sorted();
        let arguments = [flags, &["tree/a", "tree/b"]].concat();
        assert_eq!(tree.run(&arguments).good().sorted(), expected, "{flags:?}");
    }
}

#[test]
fn h_alone_is_help_and_beside_a_word_it_is_du_s() {
    let tree = tree();
    let text = |arguments: &[&str]| String::from_utf8(tree.run(arguments).good().stdout).unwrap();
    for command in [&[][..], &["top"], &["stats"], &["extents"], &["changes"]] {
        let help = text(&[command, &["-h"]].concat());
        assert!(help.contains("Usage: statwalk"), "{help}");
        assert!(
            !help.contains(
                "Usage: statwalk [OPTIONS] [PATH]...\n\nArguments:\n  [PATH]...\n         "
            )
        );
    }
    assert_eq!(text(&["-sAh", "tree/a"]), "3.0M\ttree/a\n");
    assert_eq!(text(&["top", "-Ah", "-n1", "tree"]), "2.9M\ttree/a/x\n");
    assert!(text(&["-h", "tree"]).lines().count() >= 3);
    assert_eq!(text(&["help"]), text(&["--help"]));
    assert_eq!(text(&["help", "top"]), text(&["top", "--help"]));
    assert_eq!(text(&["version"]), text(&["--version"]));
    // A path of this name is the path.
    std::fs::create_dir(tree.parent().join("help")).unwrap();
    assert!(text(&["-sA", "help"]).ends_with("\thelp\n"));
    assert!(text(&["help"]).ends_with("\thelp\n"));
}

#[test]
fn paths_come_from_a_file() {
    let tree = tree();
    let list = tree.parent().join("list");
    let run = |bytes: &[u8], name: &str| {
        std::fs::write(&list, bytes).unwrap();
        let mut command = statwalk();
        command.args(["-sA", "--files0-from", name]);
        command.current_dir(tree.parent());
        command.stdin(Stdio::from(File::open(&list).unwrap()));
        Answer::of(&mut command)
    };
    for name in ["list", "-"] {
        for bytes in [&b"tree/b\0tree/c\0"[..], b"tree/b\0tree/c"] {
            let answer = run(bytes, name).good();
            assert_eq!(answer.lines(), ["500\ttree/b", "1200\ttree/c"]);
        }
    }
    let missing = tree.run(&["--files0-from", "nowhere"]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("cannot read nowhere"),
        "{}",
        missing.stderr
    );
    let both = tree.run(&["--files0-from", "list", "tree"]);
    assert_eq!(both.code, Some(2));
}

/// `find … -print0 | statwalk --files0-from=-` ended with a usage error where find had
/// found nothing, and one empty name kept all others from being counted. du counts them.
#[test]
fn a_list_may_be_empty_and_an_empty_name_costs_no_other() {
    let tree = tree();
    let list = tree.parent().join("list");
    let run = |program: &str, bytes: &[u8], name: &str, words: &[&str]| {
        std::fs::write(&list, bytes).unwrap();
        let mut command = match program {
            "du" => std::process::Command::new("du"),
            _ => statwalk(),
        };
        command.env("LC_ALL", "C").args(words);
        command.args(["--files0-from", name]);
        command.current_dir(tree.parent());
        command.stdin(Stdio::from(File::open(&list).unwrap()));
        Answer::of(&mut command)
    };
    let forms = [&["-s", "-B1"][..], &["-d0", "-B1"], &["-sc", "-B1"]];
    for (bytes, places) in [
        (&b""[..], &[][..]),
        (b"\0", &[1]),
        (b"\0\0", &[1, 2]),
        (b"tree/b\0\0tree/c\0\0", &[2, 4]),
        (b"\0tree/b\0nowhere\0\0tree/c", &[1, 4]),
    ] {
        for words in forms {
            for name in ["list", "-"] {
                let expected = run("du", bytes, name, words);
                let found = run("statwalk", bytes, name, words);
                assert_eq!(found.stdout, expected.stdout, "{bytes:?}, {words:?}");
                // 2 is a path that is not there, for which du has 1.
                let is_good = expected.code == Some(0);
                assert_eq!(found.code, Some(if is_good { 0 } else { 2 }), "{bytes:?}");
                let told = |answer: &Answer, program: &str| -> Vec<String> {
                    let lines = answer.stderr.lines();
                    let lines = lines.filter(|line| line.contains("zero-length"));
                    lines.map(|line| line.replacen(program, "", 1)).collect()
                };
                let expected = told(&expected, "du");
                assert_eq!(told(&found, "statwalk"), expected, "{bytes:?}");
                assert_eq!(expected.len(), places.len(), "{bytes:?}");
            }
        }
        let answer = run("statwalk", bytes, "list", &["--json"]);
        let document = answer.json();
        let missing = |root: &&serde_json::Value| root["path"] == "" && root["missing"] == true;
        let roots = document["roots"].as_array().unwrap();
        assert_eq!(roots.iter().filter(missing).count(), places.len());
        assert_eq!(document["complete"], places.is_empty());
    }
    // On a screen, too, nothing is no error.
    let answer = run("statwalk", b"", "list", &["--table"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    // On the command line an empty name has no list.
    let answer = tree.run(&["-s", "", "tree/b"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open '': no such file or directory\n"
    );
}

#[test]
fn a_flag_of_another_program_or_command_gets_its_place() {
    let tree = tree();
    for (arguments, tip) in [
        (&["-S", "tree"][..], "statwalk sums whole subtrees"),
        (&["--threshold=1M"], "use --min-size"),
        (
            &["top", "--inodes"],
            "a flag of 'statwalk' without a command",
        ),
        (&["--by", "owner"], "a flag of 'statwalk stats'"),
        (&["extents", "--owner=root"], "a filter of 'statwalk'"),
        (&["top", "--by", "owner"], "a flag of 'statwalk stats'"),
        (&["stats", "--dirs"], "a flag of 'statwalk top'"),
        (&["--rebuildable"], "a flag of 'statwalk top'"),
        (&["find", "-s"], "a flag of 'statwalk' without a command"),
        (
            &["find", ".", "-name", "*.rs"],
            "try statwalk find . -g '*.rs'",
        ),
        (
            &["find", ".", "-mtime", "+5"],
            "try statwalk find . --changed-before 6d",
        ),
        (
            &["find", ".", "-mtime", "5"],
            "use --changed-within or --changed-before",
        ),
        (
            &["find", "--hidden", "x"],
            "hidden and ignored files always",
        ),
        (&["find", "-i", "x"], "case-insensitive"),
        (&["find", ".", "-iname", "x"], "try statwalk find . -g x"),
        (
            &["find", ".", "-exec", "ls", "{}", ";"],
            "try statwalk find . -0 | xargs -0 -n 1 ls",
        ),
        (
            &["find", ".", "-type", "f", "-name", "*.gz"],
            "try statwalk find . -t f -g '*.gz'",
        ),
        (
            &["find", ".", "-name", "x", "-mindepth", "2"],
            "'-mindepth' belongs to find(1): use awk",
        ),
        (
            &["find", ".", "x", "-x", "ls", "{}"],
            "-x is --one-file-system",
        ),
        (&["find", ".", "-empty"], "find . -t f -S 0B"),
        (
            &["find", ".", "-name", "x", "-delete"],
            "'statwalk find . -g x', and remove it in 'statwalk browse --enable-delete .'",
        ),
        (
            &["find", "-delete"],
            "in 'statwalk browse --enable-delete .'",
        ),
        (
            &["find", ".", "-exec", "rm", "{}", ";"],
            "in 'statwalk browse --enable-delete .'",
        ),
        (&["find", ".", "-type", "f"], "try statwalk find . -t f"),
        (&["find", "-x", "wc"], "statwalk find -0 -t f | xargs -0 wc"),
        (
            &["find", "tree", "-X", "rm", "-f"],
            "use 'statwalk find -0 tree | xargs -0 rm -f'",
        ),
        (&["find", "-x", "rm", "{}"], "-x is --one-file-system here"),
        (&["--top=5"], "use 'statwalk top -n N PATH'"),
        (&["-oFILE", "tree"], "'statwalk PATH > FILE'"),
        (&["-vq", "tree"], "'statwalk --explain PATH'"),
        (&["top", "-group", "root"], "use --owner :GROUP"),
        (&[".", "-name", "x"], "use 'statwalk find -g GLOB PATH'"),
        (
            &["find", "gz", "tree"],
            "paths come before the pattern: try statwalk find tree gz",
        ),
        (&["find", "*.gz", "."], "try statwalk find -g '*.gz' ."),
        (
            &["find", "-x", "wc", "-c"],
            "use 'statwalk find -0 -t f | xargs -0 wc -c'",
        ),
        (
            &["find", "tree", "x", "-x", "wc", "-c"],
            "use 'statwalk find -0 tree x | xargs -0 wc -c'",
        ),
        (
            &["find", "--sort", "size"],
            "by size use 'statwalk top PATH'",
        ),
        (&["--top", "5"], "use 'statwalk top -n N PATH'"),
        (&["-o", "list", "tree"], "'statwalk --json PATH > FILE'"),
        (&["top", "-o", "list"], "'statwalk PATH > FILE'"),
        (
            &["find", "tree", "-o", "list"],
            "'statwalk find PATH > FILE'",
        ),
        (&["-v", "tree"], "'statwalk --explain PATH'"),
        (&["-q", "tree"], "'statwalk --progress never PATH"),
        (&["-u", "tree"], "'statwalk find PATH' lists hidden"),
        (&["-f", "tree"], "'statwalk --count PATH'"),
        (&["-R", "tree"], "'statwalk find PATH'"),
        (
            &["find", "tree", "-ls"],
            "try statwalk find tree --fields inode,mode,links,owner,group,size,mtime",
        ),
    ] {
        let answer = tree.run(arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert!(
            answer.stderr.contains(tip),
            "{arguments:?}: {}",
            answer.stderr
        );
        assert!(answer.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn small_rows_can_be_hidden() {
    let tree = tree();
    let rows = |arguments: &[&str]| tree.run(&[arguments, &["tree"]].concat()).good().sorted();
    assert_eq!(
        rows(&["-A", "--min-size=500B"]),
        [
            "3070000\\ttree/a\\n",
            "3071700\\ttree\\n",
            "500\\ttree/b\\n"
        ]
        .map(str::to_owned)
    );
    assert_eq!(rows(&["-A", "--min-size=501B"]).len(), 2);
    assert!(rows(&["-sA", "--min-size=4MB"]).is_empty());
    let document = tree
        .run(&["-A", "--json", "--min-size=1M", "tree"])
        .good()
        .json();
    assert_eq!(document["tree"].as_array().unwrap().len(), 2);
    let table = tree.run(&["-A", "--table", "--min-size=1M", "tree"]).good();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains(" a/") && !table.contains(" b/"), "{table}");
    for size in ["+1M", "-1M", "many", "5"] {
        let refused = tree.run(&[&format!("--min-size={size}"), "tree"]);
        assert_eq!(refused.code, Some(2), "{size}");
        assert!(refused.stderr.contains("--min-size"), "{}", refused.stderr);
    }
}

#[test]
fn a_limit_has_a_status_of_its_own() {
    let tree = tree();
    std::fs::create_dir(tree.parent().join("elsewhere")).unwrap();
    let run =
        |limit: &str, paths: &[&str]| tree.run(&[&["-sA", "--fail-over", limit], paths].concat());
    run("3071700B", &["tree"]).good();
    let over = run("3071699B", &["tree", "elsewhere"]);
    assert_eq!(over.code, Some(3));
    assert_eq!(
        over.stderr,
        "statwalk: tree has 3,071,700 bytes, and --fail-over allows 3,071,699\n"
    );
    assert_eq!(over.lines().len(), 2);
    // A missing root comes first.
    assert_eq!(run("1B", &["tree", "nowhere"]).code, Some(2));
    assert_eq!(
        tree.run(&["--json", "--fail-over", "1B", "tree"]).code,
        Some(3)
    );
}

#[test]
fn a_table_goes_to_a_pipe_where_that_is_asked() {
    let tree = tree();
    let table = |arguments: &[&str]| {
        let answer = tree.run(&[arguments, &["tree"]].concat()).good();
        String::from_utf8(answer.stdout).unwrap()
    };
    for command in [&[][..], &["top"], &["stats"], &["-s"]] {
        let text = table(&[command, &["--table"]].concat());
        assert!(text.contains(" on disk, "), "{text}");
        assert!(!text.contains('\x1b'), "{text}");
        let coloured = table(&[command, &["--table", "--color=always"]].concat());
        assert!(coloured.contains("\x1b["), "{coloured}");
    }
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    assert!(widest(&table(&["--width=40"])).unwrap() <= 40);
    assert!(!table(&["--width=40"]).contains("NEWEST"));
    assert!(table(&["--width=120"]).contains("NEWEST"));
    for form in ["--json", "-0"] {
        let refused = tree.run(&["--table", form, "tree"]);
        assert_eq!(refused.code, Some(2), "{form}");
    }
}

#[test]
fn a_word_one_letter_from_a_command_is_explained_where_no_path_has_it() {
    let tree = tree();
    let answer = tree.run(&["fidn", "tree"]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(
        answer.stderr,
        "statwalk: cannot open fidn: no such file or directory; try the command 'statwalk find'\n"
    );
    for (word, tip) in [
        (
            "du",
            "to sum directories use 'statwalk PATH', or 'statwalk -s PATH'",
        ),
        (
            "tree",
            "to show the tree use 'statwalk PATH', or 'statwalk -d N PATH'",
        ),
        ("ls", "to list entries use 'statwalk find -d 1 PATH'"),
    ] {
        let mut command = statwalk();
        command.arg(word).current_dir(tree.path());
        let answer = Answer::of(&mut command);
        let expected = format!("statwalk: cannot open {word}: no such file or directory; {tip}\n");
        assert_eq!(answer.stderr, expected);
    }
    let flag = tree.run(&["--tree", "tree"]);
    assert!(flag.stderr.contains("without a flag"), "{}", flag.stderr);
    assert!(!flag.stderr.contains("--threads"), "{}", flag.stderr);
    std::fs::create_dir(tree.parent().join("fidn")).unwrap();
    tree.run(&["fidn"]).good();
}

#[test]
fn flags_that_would_change_nothing_are_refused() {
    let tree = tree();
    for (arguments, text) in [
        (&["find", "-l"][..], "use --fields"),
        (&["find", "--width=40"], "use --table"),
        (&["errors", "-l"], "--json"),
    ] {
        let answer = tree.run(&[arguments, &["tree"]].concat());
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert!(answer.stderr.contains(text), "{}", answer.stderr);
        assert!(answer.stdout.is_empty(), "{arguments:?}");
    }
    tree.run(&["errors", "-l", "--json", "tree"]).good();
}

/// "statwalk find '*.iso' says that there is no such path." The word can be no path.
#[test]
fn a_lone_glob_searches_the_working_directory() {
    let tree = tree();
    let run = |words: &[&str]| {
        let mut command = statwalk();
        command.args(words).current_dir(tree.path());
        Answer::of(&mut command)
    };
    assert_eq!(
        run(&["find", "[xz]"]).good().sorted(),
        run(&["find", ".", "^[xz]$"]).good().sorted()
    );
    assert_eq!(run(&["find", "[xz]"]).good().lines().len(), 2);
    assert_eq!(run(&["find", "?", "-t", "f"]).good().lines().len(), 4);
    // An entry of this name is the path, and a word with a slash is always one.
    std::fs::write(tree.path().join("[xz]"), "").unwrap();
    assert_eq!(run(&["find", "[xz]"]).good().lines(), ["[xz]"]);
    assert_eq!(run(&["find", "./*.iso"]).code, Some(2));
    assert_eq!(run(&["find", "*.iso", "-g", "*"]).code, Some(2));
}

/// The tip for a word would be wrong for a path: behind a dot it is a path again.
#[test]
fn a_missing_path_is_not_offered_as_a_pattern() {
    let tree = tree();
    let missing = tree.run(&["find", "./nowhere"]);
    assert_eq!(missing.code, Some(2));
    let text = "statwalk: cannot open ./nowhere: no such file or directory\n";
    assert_eq!(missing.stderr, text);
    let word = tree.run(&["find", "nowhere"]);
    assert!(
        word.stderr.contains("statwalk find . nowhere"),
        "{}",
        word.stderr
    );
}

#[test]
fn lists_of_types_and_shell_patterns_are_understood() {
    let tree = tree();
    let both = tree.run(&["find", "-t", "f,d", "tree"]).good().sorted();
    let apart = tree.run(&["find", "-tf", "-td", "tree"]).good().sorted();
    assert_eq!((both.len(), &both), (7, &apart));
    std::fs::write(tree.path().join("x.rs"), "").unwrap();
    std::fs::write(tree.path().join("x.rsx"), "").unwrap();
    // No regular expression begins so: the word is the glob that it is without a path.
    let behind = tree.run(&["find", "tree", "*.rs"]).good();
    assert_eq!(behind.lines(), ["tree/x.rs"]);
    let alone = tree.run(&["find", "*.rs"]).good();
    assert_eq!(alone.lines(), ["./tree/x.rs"]);
    let refused = tree.run(&["find", "tree", "a(b"]);
    assert_eq!(refused.code, Some(2));
}
