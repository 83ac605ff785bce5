// SPDX-License-Identifier: MIT OR Apache-2.0

//! Flags that fingers know from other programs, and flags on the wrong command.
//!
//! statwalk does not guess: the usage error says where the flag belongs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use statwalk_view::{Charset, shell_word};

use super::add_tip;
use super::find_expression::translated;

/// Flags, one space apart, with the place where they belong or the flag to use instead.
type Tips = &'static [(&'static str, &'static str)];

const FILTER: &str = "a filter of 'statwalk' without a command, 'find', 'top' and 'stats'";

/// Flags that only some commands of statwalk have.
const ELSEWHERE: Tips = &[
    (
        "-g -e -t -S --glob --extension --type --size --changed-within --changed-before --owner",
        FILTER,
    ),
    ("--fields", "a flag of 'statwalk find'"),
    ("--by", "a flag of 'statwalk stats'"),
    ("--dirs --rebuildable", "a flag of 'statwalk top'"),
    ("--detail --redact", "a flag of 'statwalk report'"),
    ("--since", "a flag of 'statwalk changes'"),
    ("--rounds --vary --cold --svg", "a flag of 'statwalk bench'"),
    (
        "-a -s -c --all --summarize --total --count --inodes --time --time-style --files0-from \
         --min-size --fail-over",
        "a flag of 'statwalk' without a command",
    ),
];

/// Flags of du, ncdu, dust, dua, fd and find.
const FOREIGN: Tips = &[
    (
        "-S --separate-dirs",
        "statwalk sums whole subtrees; -S SIZE is a filter",
    ),
    (
        "-t --threshold",
        "for du's threshold use --min-size SIZE; -t TYPE is a filter",
    ),
    (
        "-D -H --dereference-args",
        "to follow a link among the paths, write 'LINK/'; -L follows every link",
    ),
    (
        "-i --ignore-case",
        "a pattern without a capital is case-insensitive",
    ),
    ("-E", "use --exclude GLOB"),
    (
        "-I --hidden --no-ignore",
        "statwalk shows hidden and ignored files always",
    ),
    ("--exec --exec-batch", "use -0 and a pipe to 'xargs -0'"),
    ("--depth --maxdepth", "use -d N or --max-depth N"),
    (
        "-o --output --output-file",
        "to write a file use 'statwalk PATH > FILE', or 'statwalk --json PATH > FILE'",
    ),
    (
        "-v --verbose",
        "to see how statwalk reads use 'statwalk --explain PATH'",
    ),
    (
        "-q --quiet --silent",
        "use 'statwalk --progress never PATH 2> /dev/null'",
    ),
    (
        "-u --unrestricted",
        "'statwalk find PATH' lists hidden and ignored files always",
    ),
    (
        "-f --filecount",
        "to count files use 'statwalk --count PATH'",
    ),
    (
        "-R --recursive",
        "statwalk sums whole subtrees; to list every path use 'statwalk find PATH'",
    ),
    (
        "--tree --as-tree",
        "statwalk shows the tree without a flag; for more levels use 'statwalk -d N PATH'",
    ),
    (
        "--top --head",
        "use 'statwalk top -n N PATH', or 'statwalk top --dirs -n N PATH'",
    ),
];

/// Flags that only the default view and `stats` have, where `find` and others get them.
const SORTS: Tips = &[(
    "--sort",
    "by size use 'statwalk top PATH'; by name 'statwalk find PATH | sort'; \
     by time 'statwalk find --fields mtime PATH | sort -n'",
)];

/// Predicates of find(1), which begin with one dash, and the flag to use.
const PREDICATES: [(&str, &str); 47] = [
    ("-name", "use 'statwalk find -g GLOB PATH'"),
    (
        "-iname",
        "use 'statwalk find -g GLOB PATH' with small letters",
    ),
    ("-type", "use -t TYPE"),
    ("-size", "use -S SIZE"),
    ("-empty", "use -t f -S 0B, which finds empty files"),
    ("-mtime", "use --changed-within or --changed-before"),
    ("-mmin", "use --changed-within or --changed-before"),
    ("-newer", "use --changed-within DATE"),
    ("-newermt", "use --changed-within DATE"),
    ("-atime", "use --fields atime and awk"),
    ("-ctime", "use --fields ctime and awk"),
    ("-user", "use --owner USER"),
    ("-uid", "use --owner NUMBER"),
    ("-group", "use --owner :GROUP"),
    ("-gid", "use --owner :NUMBER"),
    ("-perm", "use --fields mode and grep"),
    ("-executable", "use --fields mode and grep"),
    ("-links", "use --fields links and awk"),
    ("-inum", "use --fields inode and awk"),
    ("-path", PATHS),
    ("-ipath", PATHS),
    ("-wholename", PATHS),
    ("-regex", REGEX),
    ("-iregex", REGEX),
    ("-maxdepth", "use -d N"),
    ("-mindepth", "use awk -F/ 'NF > N'"),
    ("-depth", "use 'sort -r'"),
    ("-okdir", XARGS),
    ("-samefile", "use --fields inode and grep"),
    ("-nouser", "use --fields owner and grep"),
    ("-xdev", "use -x"),
    ("-mount", "use -x"),
    ("-follow", "use -L"),
    ("-prune", "use --exclude GLOB"),
    ("-not", "use --exclude GLOB, or grep -v"),
    (
        "-o",
        "use several -g, -e or -t; to write a file use 'statwalk find PATH > FILE'",
    ),
    ("-or", "use several -g, -e or -t"),
    ("-and", "a path must pass all filters anyway"),
    ("-print", "statwalk prints every path that it finds"),
    ("-print0", "use -0"),
    ("-printf", "use --fields FIELD,…"),
    (
        "-ls",
        "use 'statwalk find --fields inode,mode,links,owner,group,size,mtime PATH'",
    ),
    (
        "-delete",
        "statwalk find removes nothing; use 'statwalk browse --enable-delete PATH'",
    ),
    ("-exec", XARGS),
    ("-execdir", XARGS),
    ("-ok", XARGS),
    ("-quit", "use -n 1"),
];

const PATHS: &str = "use grep: statwalk matches names";
const REGEX: &str = "use 'statwalk find PATH PATTERN': the pattern is a regular expression";
const XARGS: &str = "use -0 and a pipe to 'xargs -0'";

/// Programs whose work statwalk does under another name, where a word is taken for a command.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "du",
        "to sum directories use 'statwalk PATH', or 'statwalk -s PATH'",
    ),
    (
        "tree",
        "to show the tree use 'statwalk PATH', or 'statwalk -d N PATH'",
    ),
    ("ls", "to list entries use 'statwalk find -d 1 PATH'"),
    ("fd", "to search for names use 'statwalk find PATH PATTERN'"),
];

/// The command in place of another program, for a word that is no path.
pub(crate) fn of_other_program(word: &OsStr) -> Option<&'static str> {
    let found = PROGRAMS.iter().find(|(name, _)| word == *name);
    found.map(|(_, tip)| *tip)
}

/// The places of a path in a command that fd or find runs.
const PLACEHOLDERS: [&str; 5] = ["{}", "{/}", "{//}", "{.}", "{/.}"];

/// Refuses the words of find(1) and fd where statwalk would take them for others:
/// `-exec` for the extension `xec`, and a command behind `-x` for a pattern.
pub(super) fn refused(command: &mut Command, words: &[OsString]) -> Option<clap::Error> {
    let is_find = command.get_name() == "find";
    if is_find && let Some(message) = excluded_program(words) {
        return Some(command.error(ErrorKind::UnknownArgument, message));
    }
    let flags = words.iter().take_while(|word| *word != "--");
    let mut told = flags.filter_map(|word| match predicate(word, is_find) {
        Some(found) if is_find => Some(of_find(found, words)),
        Some((name, tip)) => Some(format!("'{name}' belongs to find(1): {tip}")),
        None if PLACEHOLDERS.iter().any(|place| word == place) => Some(format!(
            "statwalk runs no command: {XARGS}; -x is --one-file-system here"
        )),
        None => None,
    });
    let message = told.next()?;
    Some(command.error(ErrorKind::UnknownArgument, message))
}

/// The sentence about a command of find(1), in which this predicate comes first: the
/// command of the same effect as a whole, or the word that has none.
fn of_find(found: &(&str, &str), words: &[OsString]) -> String {
    let (name, tip) = match translated(words) {
        Ok(command) => return format!("'{}' belongs to find(1): {command}", found.0),
        Err(untranslated) => untranslated
            .word
            .and_then(|word| predicate(word, true))
            .unwrap_or(found),
    };
    format!("'{name}' belongs to find(1): {tip}")
}

/// The sentence about fd's `-X` with a program, where no file with patterns has its name.
fn excluded_program(words: &[OsString]) -> Option<String> {
    let place = words.iter().position(|word| word == "-X")?;
    let program = words.get(place + 1)?;
    let is_path = program.as_encoded_bytes().contains(&b'/') || program == "-";
    let pipe = command_of_fd(words).filter(|_| !is_path)?;
    let program = shown(program);
    Some(format!(
        "cannot open {program}: -X reads patterns from a file here; to run a program use '{pipe}'"
    ))
}

/// The predicate that a word is. Beside other commands `-o` is the file of the output.
fn predicate(word: &OsStr, is_find: bool) -> Option<&'static (&'static str, &'static str)> {
    let mut predicates = PREDICATES.iter();
    predicates.find(|(name, _)| word == *name && (is_find || *name != "-o"))
}

/// The pipe for a command behind fd's `-x` or `-X`: a word that is no entry, where the rest
/// has a flag that statwalk does not know.
fn command_of_fd(words: &[OsString]) -> Option<String> {
    let place = words.iter().position(|word| word == "-x" || word == "-X")?;
    let (before, program) = (&words[..place], &words[place + 1..]);
    let first = program.first()?;
    let is_program =
        !first.as_encoded_bytes().starts_with(b"-") && Path::new(first).symlink_metadata().is_err();
    let text = |words: &[OsString]| -> String {
        let words = words.iter().map(|word| shown(word));
        words.collect::<Vec<_>>().join(" ")
    };
    is_program.then(|| match before {
        [] => format!("statwalk find -0 -t f | xargs -0 {}", text(program)),
        before => format!(
            "statwalk find -0 {} | xargs -0 {}",
            text(before),
            text(program)
        ),
    })
}

/// A word as the user must write it.
pub(crate) fn shown(word: &OsStr) -> String {
    let word = shell_word(word.as_encoded_bytes(), Charset::Unicode);
    word.replace('\u{a0}', " ")
}

/// The words that `help`, `help COMMAND` and `version` stand for, where no path has such
/// a name.
pub(crate) fn spelled_out(
    words: &[OsString],
    is_command: impl Fn(&OsStr) -> bool,
) -> Option<Vec<OsString>> {
    let (first, rest) = words.split_first()?;
    let meaning = match (first.to_str()?, rest) {
        ("help", []) => vec!["--help".into()],
        ("help", [name]) if is_command(name) => vec![name.clone(), "--help".into()],
        ("version", []) => vec!["--version".into()],
        _ => return None,
    };
    Path::new(first)
        .symlink_metadata()
        .is_err()
        .then_some(meaning)
}

/// Adds to a usage error of a command where a flag belongs, if it is known. The default
/// view has no name.
pub(crate) fn with_tip(mut error: clap::Error, command: &str, words: &[OsString]) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let is_find = command == "find";
    if is_find && let Some(pipe) = command_of_fd(words) {
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::SuggestedArg);
        let tip = format!("-x is --one-file-system here; to run a program use '{pipe}'");
        add_tip(&mut error, tip);
        return error;
    }
    if let Some((predicate, tip)) = words.iter().find_map(|word| predicate(word, is_find)) {
        error.remove(ContextKind::Suggested);
        add_tip(
            &mut error,
            format!("'{predicate}' belongs to find(1): {tip}"),
        );
        return error;
    }
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            word.split('=').next().unwrap_or_default().to_owned()
        }
        _ => return error,
    };
    let known = |tips: Tips| {
        let entry = tips
            .iter()
            .find(|(flags, _)| flags.split(' ').any(|other| other == flag));
        entry.map(|(_, tip)| *tip)
    };
    // Beside the default view these letters are du's.
    let tip = match command {
        "" => known(FOREIGN).or_else(|| known(ELSEWHERE)),
        _ => known(ELSEWHERE)
            .or_else(|| known(FOREIGN))
            .or_else(|| known(SORTS)),
    };
    if let Some(tip) = tip {
        // clap guesses at a misspelt flag or a value; this one is known.
        error.remove(ContextKind::Suggested);
        error.remove(ContextKind::SuggestedArg);
        add_tip(&mut error, format!("'{flag}': {tip}"));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{
        BenchFlags, ChangesFlags, FindFlags, ReportFlags, StatsFlags, SummaryFlags, TopFlags,
    };
    use clap::CommandFactory;

    #[test]
    fn each_flag_is_one_of_the_command_that_the_tip_names() {
        let mut commands = [
            (None, SummaryFlags::command()),
            (Some("find"), FindFlags::command()),
            (Some("stats"), StatsFlags::command()),
            (Some("top"), TopFlags::command()),
            (Some("report"), ReportFlags::command()),
            (Some("changes"), ChangesFlags::command()),
            (Some("bench"), BenchFlags::command()),
        ];
        for (flags, tip) in ELSEWHERE {
            let is_named = |name: Option<&str>| match name {
                Some(name) => tip.contains(&format!("{name}'")),
                None => tip.contains("without a command"),
            };
            let named = commands.iter_mut().filter(|(name, _)| is_named(*name));
            let named: Vec<_> = named.collect();
            assert!(!named.is_empty(), "{tip}");
            for (name, command) in named {
                command.build();
                let has = |flag: &str| {
                    command.get_arguments().any(|arg| {
                        let long = arg.get_long_and_visible_aliases().unwrap_or_default();
                        let short = arg.get_short_and_visible_aliases().unwrap_or_default();
                        long.iter().any(|long| format!("--{long}") == flag)
                            || short.iter().any(|short| format!("-{short}") == flag)
                    })
                };
                for flag in flags.split(' ') {
                    assert!(has(flag), "{flag} of {name:?}");
                }
            }
        }
    }
}
