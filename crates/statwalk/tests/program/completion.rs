// SPDX-License-Identifier: MIT OR Apache-2.0

//! The words that a shell offers for a line: the scripts run in bash, zsh and fish.

use std::fs;

use statwalk_testkit::{Skipped, program};

use crate::run::{Answer, Tree};

/// A line whose last word is completed, with all words that must be offered, and whether
/// those are the only ones.
const LINES: &[(&str, &[&str], bool)] = &[
    ("statwalk sta", &["stats", "stables"], true),
    (
        "statwalk ",
        &["top", "find", "man", "stables", "topics"],
        false,
    ),
    ("statwalk top st", &["stables"], true),
    ("statwalk -s to", &["topics"], true),
    ("statwalk -x fil", &["file.img"], true),
    ("statwalk --so", &["--sort", "--source"], true),
    ("statwalk find --fie", &["--fields"], true),
    (
        "statwalk --sort ",
        &["size", "name", "count", "mtime"],
        true,
    ),
    ("statwalk --order pa", &["parallel"], true),
    ("statwalk --order s", &["stack", "stack-reserved"], true),
    (
        "statwalk --source ",
        &["auto", "posix", "ext4", "btrfs"],
        true,
    ),
    ("statwalk --color ", &["auto", "always", "never"], true),
    ("statwalk -B M", &["MiB", "MB"], true),
    ("statwalk top --unit Ki", &["KiB"], true),
    (
        "statwalk stats --by ",
        &["type", "category", "owner", "group", "age", "size", "depth"],
        true,
    ),
    ("statwalk stats --sort ", &["size", "name", "count"], true),
    ("statwalk find --owner roo", &["root"], true),
    (
        "statwalk find -t ",
        &["f", "d", "l", "p", "s", "c", "b"],
        true,
    ),
    ("statwalk --exclude-from fil", &["file.img"], true),
    (
        "statwalk completions ",
        &["bash", "zsh", "fish", "elvish", "powershell"],
        true,
    ),
    ("statwalk man ex", &["extents"], true),
    (
        "statwalk bench --level ",
        &["names", "types", "sizes", "full"],
        true,
    ),
    ("statwalk --max-depth ", &[], true),
];

/// The same for words that hold a part of the value already: the shells offer either the
/// value or the whole word.
const PARTS: &[(&str, &[&str])] = &[
    ("statwalk --sort=n", &["name"]),
    ("statwalk --time=", &["mtime", "atime", "ctime"]),
    ("statwalk find --fields size,mt", &["mtime"]),
    ("statwalk find --fields=size,links,in", &["inode"]),
    ("statwalk bench --vary order,l", &["level"]),
    ("statwalk stats --by owner,ca", &["category"]),
];

fn tree() -> Tree {
    let tree = Tree::new("stables/\ntopics/\nfile.img 1\n");
    for shell in ["bash", "zsh", "fish"] {
        let script = tree.run(&["completions", shell]).good().stdout;
        fs::write(tree.parent().join(format!("script.{shell}")), script).unwrap();
    }
    tree
}

/// Runs a shell in the tree with a line; absent where there is no such shell.
fn offered(
    tree: &Tree,
    shell: &str,
    arguments: &[&str],
    driver: &str,
    line: &str,
) -> Option<Vec<String>> {
    let file = tree.parent().join("driver");
    fs::write(&file, driver).unwrap();
    let mut command = program::command(shell);
    command
        .args(arguments)
        .arg(&file)
        .arg(line)
        .current_dir(tree.path());
    // fish keeps its state at home.
    command.env("HOME", tree.parent());
    if let Err(error) = program::command(shell).arg("--version").output() {
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        return None;
    }
    let answer = Answer::of(&mut command);
    assert_eq!(answer.stderr, "", "{shell}: {line}");
    let words = answer.lines();
    let words = words.iter().map(|word| {
        let word = word.split('\t').next().unwrap();
        word.trim_end_matches('/').trim_end().to_owned()
    });
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.sort();
    words.dedup();
    Some(words)
}

#[track_caller]
fn check_shell(shell: &str, arguments: &[&str], driver: &str) {
    let tree = tree();
    let offer = |line: &str| offered(&tree, shell, arguments, driver, line);
    for (line, expected, is_all) in LINES {
        let Some(found) = offer(line) else {
            return Skipped::needs(shell).report();
        };
        for word in *expected {
            assert!(
                found.iter().any(|it| it == word),
                "{shell}: '{line}' offers {found:?}"
            );
        }
        if *is_all {
            assert_eq!(
                found.len(),
                expected.len(),
                "{shell}: '{line}' offers {found:?}"
            );
        }
    }
    for (line, expected) in PARTS {
        let found = offer(line).expect("the shell ran before");
        assert_eq!(
            found.len(),
            expected.len(),
            "{shell}: '{line}' offers {found:?}"
        );
        for value in *expected {
            assert!(
                found.iter().any(|it| it.ends_with(value)),
                "{shell}: '{line}' offers {found:?}"
            );
        }
    }
}

#[test]
fn bash_offers_commands_paths_and_values() {
    // Words as readline breaks them: at blanks, and before and behind `=`.
    check_shell(
        "bash",
        &["--norc"],
        r#"
        source ../script.bash
        line=${1//=/ = }
        read -ra COMP_WORDS <<<"$line"
        [[ $line == *' ' ]] && [[ $line != *'= ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _statwalk statwalk "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
        "#,
    );
}

#[test]
fn fish_offers_commands_paths_and_values() {
    check_shell(
        "fish",
        &["--no-config"],
        "source ../script.fish\ncomplete -C $argv[1]\n",
    );
}

#[test]
fn zsh_offers_commands_paths_and_values() {
    // An inner zsh gets the line and a tabulator; each word that it would add is printed.
    check_shell(
        "zsh",
        &["-f"],
        r#"
        zmodload zsh/zpty
        cp ../script.zsh ../_statwalk
        zpty inner zsh -f -i
        zpty -w inner "PS1=; fpath=(${PWD:h} \$fpath); autoload -Uz compinit; compinit -u -D"
        zpty -w inner 'compadd() {
            local word; local -a found
            for word in "$@"; do
                [[ $word == (-|--) ]] && break
                [[ $word == -[OAD]* ]] && { builtin compadd "$@"; return }
            done
            builtin compadd -O found "$@"
            for word in $found; do print; print -r -- "<$word>"; done
            builtin compadd "$@"
        }'
        zpty -w inner 'zle -C offer complete-word _main_complete
        ended() { zle offer; print; print -r -- "<E""ND>"; exit }
        zle -N ended; bindkey "^I" ended; print "<REA""DY>"'
        zpty -r -m inner line '*<READY>*'
        zpty -w -n inner "$1"$'\t'
        zpty -r -m inner line '*<END>*'
        for word in ${(f)${line//$'\r'/}}; do
            [[ $word == \<*\> && $word != '<END>' ]] && print -r -- ${${word#<}%>}
        done
        "#,
    );
}

/// "source <(statwalk completions zsh) prints an error of _arguments." A script that is
/// read has to ask for the completion; one in fpath is a function already.
#[test]
fn each_script_can_be_sourced() {
    let tree = tree();
    for (shell, arguments, line, expected) in [
        (
            "zsh",
            &["-f"][..],
            "source ../script.zsh && print -r -- $_comps[statwalk]",
            "_statwalk",
        ),
        (
            "bash",
            &["--norc"],
            "source ../script.bash; complete -p statwalk",
            "complete -F _statwalk statwalk",
        ),
        (
            "fish",
            &["--no-config"],
            "source ../script.fish; complete -C 'statwalk fin'",
            "find",
        ),
    ] {
        match offered(&tree, shell, arguments, line, "") {
            Some(words) => assert!(words.iter().any(|word| word == expected), "{words:?}"),
            None => Skipped::needs(shell).report(),
        }
    }
}
