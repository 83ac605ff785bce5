// SPDX-License-Identifier: MIT OR Apache-2.0

//! The choice of the command.
//!
//! The first word alone selects it, and only that command's definition is built: to build
//! all of them takes longer than to scan a small directory.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{Command, CommandFactory};

use super::summary;
use super::table::{COMMANDS, Invocation, Row};
use crate::flags::command_names::is_command;
use crate::flags::{SummaryFlags, foreign, parse_with, shown_word, with_short_help};

/// The row of a name. Every other word is a path, and a directory of this name is written
/// `./word`.
fn row_of(word: &OsStr) -> Option<&'static Row> {
    COMMANDS.iter().find(|row| word == row.name)
}

/// Whether all words are entries of the working directory, as a shell writes them for `*`:
/// then the first one is probably no command.
fn is_list_of_entries(words: &[OsString]) -> bool {
    let is_entry = |word: &OsString| {
        let bytes = word.as_encoded_bytes();
        let is_plain = !bytes.contains(&b'/') && !bytes.starts_with(b"-");
        is_plain && word != "." && word != ".." && Path::new(word).symlink_metadata().is_ok()
    };
    words.len() > 1 && words.iter().all(is_entry)
}

/// The error that says how to mean the paths, and how to mean the command.
fn ambiguous(words: &[OsString]) -> clap::Error {
    let name = words[0].to_string_lossy();
    let others = match &words[1..] {
        [other] => shown_word(other),
        _ => "…".to_owned(),
    };
    // A text of our own has no place for tips, so they are part of it.
    let message = format!(
        "'{name}' is a command, and all words are names of entries of this directory\n\n  \
         tip: for the paths, use 'statwalk ./{name} {others}'\n  \
         tip: for the command, use 'statwalk {name} -- {others}'"
    );
    SummaryFlags::command().error(ErrorKind::ArgumentConflict, message)
}

/// Reads the command line, without the name of the program.
pub(crate) fn parse(words: &[OsString]) -> Result<Invocation, clap::Error> {
    if let Some(words) = foreign::spelled_out(words, is_command) {
        return parse(&words);
    }
    let Some((row, rest)) = selected(words) else {
        return parse_summary(words).map_err(|error| foreign::with_tip(error, "", words));
    };
    if is_list_of_entries(words) {
        return Err(ambiguous(words));
    }
    (row.parse)(row.definition(), rest)
}

/// The command that the first word selects, and the words behind it.
fn selected(words: &[OsString]) -> Option<(&'static Row, &[OsString])> {
    let (name, rest) = words.split_first()?;
    Some((row_of(name)?, rest))
}

fn parse_summary(words: &[OsString]) -> Result<Invocation, clap::Error> {
    let command = with_short_help(SummaryFlags::command(), words).no_binary_name(true);
    match parse_with(command, words) {
        Ok(flags) => Ok(of_summary(flags)),
        // Only the help lists the subcommands.
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let command = with_short_help(whole(), words).no_binary_name(true);
            parse_with(command, words).map(of_summary)
        }
        Err(error) => Err(error),
    }
}

fn of_summary(flags: SummaryFlags) -> Invocation {
    Box::new(move || summary::run(flags))
}

/// The default view with all commands.
pub(super) fn whole() -> Command {
    SummaryFlags::command().subcommands(COMMANDS.iter().map(Row::definition))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_first_word_is_the_command() {
        let name = |line: &str| selected(&words(line)).map(|(row, _)| row.name);
        assert_eq!(name("top /usr"), Some("top"));
        for line in [
            "./top", "-- top", "-x top", "", "/usr top", "brows/e", "tops",
        ] {
            assert_eq!(name(line), None, "{line}");
            assert!(parse(&words(line)).is_ok(), "{line}");
        }
    }

    #[test]
    fn bad_flags_are_usage_errors() {
        for line in [
            "--nonsense",
            "-d x",
            "-j 0",
            "-s -d 1",
            "--count -a",
            "--si --json",
            "stats --by colour",
            "completions basic",
        ] {
            let Err(error) = parse(&words(line)) else {
                panic!("{line} was taken");
            };
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
