// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line: the flags of every command, and the choice of the command.
//!
//! Each flag is defined here once; help, completions and manual page come from the
//! same definitions. [`request`](crate::request) interprets the values: here a date is
//! still a text.
//!
//! The first word alone selects the command, and only that command's definition is
//! built: to build all of them takes longer than to scan a small directory.

mod bench_flags;
mod browse_flags;
mod changes_flags;
mod df_flags;
mod errors_flags;
mod extents_flags;
mod filter_flags;
mod find_expression;
mod find_flags;
mod foreign;
mod report_flags;
mod scan_flags;
mod size_flags;
mod stats_flags;
mod summary_flags;
mod top_flags;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, Command, CommandFactory, FromArgMatches, Parser};
use clap_complete::Shell;

pub(crate) use bench_flags::{Axis, BenchFlags, Level};
pub(crate) use browse_flags::BrowseFlags;
pub(crate) use changes_flags::ChangesFlags;
pub(crate) use df_flags::DfFlags;
pub(crate) use errors_flags::ErrorsFlags;
pub(crate) use extents_flags::{ExtentsFlags, ExtentsSortName};
pub(crate) use filter_flags::FilterFlags;
pub(crate) use find_flags::{FieldName, FindFlags};
pub(crate) use foreign::shown as shown_word;
pub(crate) use report_flags::{ReportFlags, ReportFormat};
pub(crate) use scan_flags::{
    FormFlags, LinkFlags, ORDERS, OrderChoice, ReadFlags, ScanFlags, SourceName, StatByName,
    StatOrderName, WalkFlags, When,
};
pub(crate) use size_flags::{SizeFlags, UnitFlags};
pub(crate) use stats_flags::{By, StatsFlags, StatsSortName};
pub(crate) use summary_flags::{SortName, SummaryFlags, TimeName};
pub(crate) use top_flags::TopFlags;

/// The command, with its flags.
pub(crate) enum Invocation {
    Summary(Box<SummaryFlags>),
    Browse(Box<BrowseFlags>),
    Top(Box<TopFlags>),
    Stats(Box<StatsFlags>),
    Find(Box<FindFlags>),
    Errors(Box<ErrorsFlags>),
    Report(Box<ReportFlags>),
    Df(Box<DfFlags>),
    Extents(Box<ExtentsFlags>),
    Changes(Box<ChangesFlags>),
    Bench(Box<BenchFlags>),
    Completions(Shell),
    Man(Option<String>),
}

/// Print a script that completes commands and flags in a shell
///
/// For instance: statwalk completions bash > ~/.local/share/bash-completion/completions/statwalk
#[derive(Parser)]
#[command(name = "completions", disable_version_flag = true)]
struct CompletionsFlags {
    /// Print the script for this shell
    shell: Shell,
}

/// Print the manual page, in the form that man reads
///
/// For instance: statwalk man | man -l -
#[derive(Parser)]
#[command(name = "man", disable_version_flag = true)]
struct ManFlags {
    /// Print the page of this command [default: the page of statwalk itself]
    #[arg(value_parser = COMMANDS.map(|(name, _)| name), hide_possible_values = true)]
    command: Option<String>,
}

/// Builds the definition of a command.
type Definition = fn() -> Command;

/// The commands, in the order of the help.
const COMMANDS: [(&str, Definition); 12] = [
    ("browse", BrowseFlags::command),
    ("top", TopFlags::command),
    ("stats", StatsFlags::command),
    ("find", FindFlags::command),
    ("errors", ErrorsFlags::command),
    ("report", ReportFlags::command),
    ("df", DfFlags::command),
    ("extents", ExtentsFlags::command),
    ("changes", ChangesFlags::command),
    ("bench", BenchFlags::command),
    ("completions", CompletionsFlags::command),
    ("man", ManFlags::command),
];

/// Whether `word` is the name of a command. Every other word is a path, and a
/// directory of this name is written `./word`.
pub(crate) fn is_command(word: &OsStr) -> bool {
    COMMANDS.iter().any(|(name, _)| word == *name)
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

/// The command whose name is one letter away from a word: a letter too many, too few or
/// another one, or two that changed places.
pub(crate) fn similar_command(word: &OsStr) -> Option<&'static str> {
    let word = word.as_encoded_bytes();
    let names = COMMANDS.iter().map(|(name, _)| *name);
    names.into_iter().find(|name| {
        let name = name.as_bytes();
        let same = word.iter().zip(name).take_while(|(a, b)| a == b).count();
        let (word, name) = (&word[same..], &name[same..]);
        match (word, name) {
            ([_, word @ ..], _) if word == name => true,
            (_, [_, name @ ..]) if word == name => true,
            ([_, word @ ..], [_, name @ ..]) if word == name => true,
            ([a, b, word @ ..], [c, d, name @ ..]) => a == d && b == c && word == name,
            _ => false,
        }
    })
}

/// Reads the command line, without the name of the program.
///
/// # Errors
///
/// Returns clap's message: a usage error, or help that the user asked for.
pub(crate) fn parse(words: &[OsString]) -> Result<Invocation, clap::Error> {
    if let Some(words) = foreign::spelled_out(words) {
        return parse(&words);
    }
    let Some((name, rest)) = words.split_first().filter(|(first, _)| is_command(first)) else {
        return parse_summary(words).map_err(|error| foreign::with_tip(error, "", words));
    };
    if is_list_of_entries(words) {
        return Err(ambiguous(words));
    }
    Ok(match name.to_str() {
        Some("browse") => Invocation::Browse(Box::new(parse_as(rest)?)),
        Some("top") => Invocation::Top(Box::new(parse_as(rest)?)),
        Some("stats") => Invocation::Stats(Box::new(parse_as(rest)?)),
        Some("find") => Invocation::Find(Box::new(parse_as(rest)?)),
        Some("errors") => Invocation::Errors(Box::new(parse_as(rest)?)),
        Some("report") => Invocation::Report(Box::new(parse_as(rest)?)),
        Some("df") => Invocation::Df(Box::new(parse_as(rest)?)),
        Some("extents") => Invocation::Extents(Box::new(parse_as(rest)?)),
        Some("changes") => Invocation::Changes(Box::new(parse_as(rest)?)),
        Some("bench") => Invocation::Bench(Box::new(parse_as(rest)?)),
        Some("completions") => Invocation::Completions(parse_as::<CompletionsFlags>(rest)?.shell),
        _ => Invocation::Man(parse_as::<ManFlags>(rest)?.command),
    })
}

fn parse_summary(words: &[OsString]) -> Result<Invocation, clap::Error> {
    let command = with_short_help(SummaryFlags::command(), words).no_binary_name(true);
    match parse_with(command, words) {
        Ok(flags) => Ok(Invocation::Summary(Box::new(flags))),
        // Only the help lists the subcommands.
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let command = with_short_help(whole(), words).no_binary_name(true);
            parse_with(command, words).map(|flags| Invocation::Summary(Box::new(flags)))
        }
        Err(error) => Err(error),
    }
}

fn parse_as<P: Args + CommandFactory>(words: &[OsString]) -> Result<P, clap::Error> {
    let command = with_short_help(with_exit_status(P::command()), words);
    let name = command.get_name().to_owned();
    let full_name = format!("statwalk {name}");
    let mut command = command.no_binary_name(true).bin_name(full_name);
    if matches!(name.as_str(), "find" | "top" | "stats")
        && let Some(error) = foreign::refused(&mut command, words)
    {
        return Err(error);
    }
    parse_with(command, words)
        .map_err(|error| foreign::with_tip(with_path_tip(error, &name), &name, words))
}

/// Adds the exit statuses of a command to the end of its help, behind its examples.
fn with_exit_status(command: Command) -> Command {
    let statuses = match command.get_name() {
        "changes" => STATUS_OF_CHANGES,
        "bench" => STATUS_OF_BENCH,
        "browse" => STATUS_OF_BROWSE,
        "completions" | "man" => STATUS_OF_TEXTS,
        _ => STATUS_OF_SCANS,
    };
    let text = match command.get_after_long_help() {
        Some(examples) => format!("{examples}\n\n{statuses}"),
        None => statuses.to_owned(),
    };
    command.after_long_help(text)
}

const STATUS_OF_SCANS: &str = "\
Exit status:
  0    statwalk read everything
  1    statwalk could not read something: the result is a lower bound
  2    bad usage, a missing path, or output that cannot be written
  130, 143  interrupted: the printed result is a lower bound";

const STATUS_OF_CHANGES: &str = "\
Exit status:
  0    statwalk printed every change
  2    bad usage, a path without such changes, or output that cannot be written";

const STATUS_OF_BENCH: &str = "\
Exit status:
  0    all settings give the same answer, and statwalk read everything
  1    answers differ, or statwalk could not read something
  2    bad usage, a missing path, or output that cannot be written
  130, 143  interrupted: the printed times are those of the runs so far";

const STATUS_OF_BROWSE: &str = "\
Exit status:
  0    the user quit
  2    bad usage, a missing path, or no terminal
  130, 143  a signal ended the browser";

const STATUS_OF_TEXTS: &str = "\
Exit status:
  0    statwalk printed the text
  2    bad usage, or output that cannot be written";

/// Lets `-h` alone print help: beside another word it shows sizes with units, as in du,
/// ls and df.
fn with_short_help(command: Command, words: &[OsString]) -> Command {
    let has_flag = || {
        command
            .get_arguments()
            .any(|arg| arg.get_id() == HUMAN_READABLE)
    };
    match words == ["-h"] && has_flag() {
        true => command.mut_arg(HUMAN_READABLE, |arg| arg.action(ArgAction::HelpShort)),
        false => command,
    }
}

const HUMAN_READABLE: &str = "human_readable";

/// Adds a tip to a usage error of a command, where a directory has the same name: how
/// to scan that directory.
fn with_path_tip(mut error: clap::Error, name: &str) -> clap::Error {
    if !error.use_stderr() || !Path::new(name).is_dir() {
        return error;
    }
    let tip = format!("'{name}' is taken as the command; to scan the directory, use './{name}'");
    add_tip(&mut error, tip);
    error
}

/// Adds a tip to a usage error.
fn add_tip(error: &mut clap::Error, tip: String) {
    let mut tips = match error.remove(ContextKind::Suggested) {
        Some(ContextValue::StyledStrs(tips)) => tips,
        _ => Vec::new(),
    };
    tips.push(tip.into());
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
}

fn parse_with<P: FromArgMatches>(
    mut command: Command,
    words: &[OsString],
) -> Result<P, clap::Error> {
    let mut matches = command.try_get_matches_from_mut(words)?;
    let flags = P::from_arg_matches_mut(&mut matches);
    let flags = flags.map_err(|error| error.format(&mut command));
    // It has a thousand parts, and the program ends soon: to free them would only take
    // time.
    std::mem::forget((command, matches));
    flags
}

/// The default view with all commands.
pub(crate) fn whole() -> Command {
    let subcommands = COMMANDS.into_iter();
    let subcommands = subcommands.map(|(_, command)| with_exit_status(command()));
    SummaryFlags::command().subcommands(subcommands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn definitions_are_consistent() {
        whole().debug_assert();
    }

    #[test]
    fn every_subcommand_has_its_own_name() {
        for (name, command) in COMMANDS {
            assert_eq!(command().get_name(), name);
        }
    }

    #[test]
    fn words_one_letter_from_a_command_are_known() {
        let check = |word: &str, expected| {
            assert_eq!(similar_command(word.as_ref()), expected, "{word}");
        };
        for word in ["fin", "fnd", "fidn", "finds", "fimd", "xfind"] {
            check(word, Some("find"));
        }
        check("stat", Some("stats"));
        check("tpo", Some("top"));
        check("t", None);
        check("", None);
        check("findall", None);
        check("manual", None);
    }

    #[test]
    fn every_order_has_a_name_and_a_line_of_help() {
        let values = ORDERS.map(|order| order.to_possible_value().expect("a line of help"));
        let names = values.each_ref().map(|value| value.get_name());
        assert_eq!(names, statwalk_testkit::program::ORDERS);
        assert!(values.iter().all(|value| value.get_help().is_some()));
    }

    #[test]
    fn the_first_word_is_the_subcommand() {
        assert!(matches!(parse(&words("top /usr")), Ok(Invocation::Top(_))));
        for line in [
            "./top", "-- top", "-x top", "", "/usr top", "brows/e", "tops",
        ] {
            assert!(
                matches!(parse(&words(line)), Ok(Invocation::Summary(_))),
                "{line}"
            );
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
