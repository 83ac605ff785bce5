// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line: the flags of every command.
//!
//! Each flag is defined here once; help, completions and manual page come from the
//! same definitions. [`request`](crate::request) interprets the values: here a date is
//! still a text.
//!
//! `commands/table.rs` has the commands, and `commands/line.rs` chooses one.

mod bench_flags;
mod browse_flags;
mod changes_flags;
pub(crate) mod command_names;
mod completions_flags;
mod df_flags;
mod errors_flags;
mod extents_flags;
mod filter_flags;
mod find_expression;
mod find_flags;
pub(crate) mod foreign;
mod man_flags;
mod report_flags;
mod scan_flags;
mod size_flags;
#[cfg(feature = "snapshot")]
mod snapshot_flags;
mod stats_flags;
mod summary_flags;
mod top_flags;

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgAction, Command, FromArgMatches};

pub(crate) use bench_flags::{Axis, BenchFlags, Level};
pub(crate) use browse_flags::BrowseFlags;
pub(crate) use changes_flags::ChangesFlags;
pub(crate) use completions_flags::CompletionsFlags;
pub(crate) use df_flags::DfFlags;
pub(crate) use errors_flags::ErrorsFlags;
pub(crate) use extents_flags::{ExtentsFlags, ExtentsSortName};
pub(crate) use filter_flags::FilterFlags;
pub(crate) use find_flags::{FieldName, FindFlags};
pub(crate) use foreign::shown as shown_word;
pub(crate) use man_flags::ManFlags;
pub(crate) use report_flags::{ReportFlags, ReportFormat};
pub(crate) use scan_flags::{
    FormFlags, LinkFlags, ORDERS, OrderChoice, ReadFlags, ScanFlags, SourceName, StatOrderName,
    WalkFlags, When,
};
pub(crate) use size_flags::{SizeFlags, UnitFlags};
#[cfg(feature = "snapshot")]
pub(crate) use snapshot_flags::SnapshotFlags;
pub(crate) use stats_flags::{StatsFlags, StatsSortName};
pub(crate) use summary_flags::{SortName, SummaryFlags, TimeName};
pub(crate) use top_flags::TopFlags;

/// Reads the words behind the name of a command.
pub(crate) fn parse_as<P: FromArgMatches>(
    definition: Command,
    words: &[OsString],
) -> Result<P, clap::Error> {
    let command = with_short_help(definition, words);
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

/// Lets `-h` alone print help: beside another word it shows sizes with units, as in du,
/// ls and df.
pub(crate) fn with_short_help(command: Command, words: &[OsString]) -> Command {
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

pub(crate) fn parse_with<P: FromArgMatches>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_order_has_a_name_and_a_line_of_help() {
        let values = ORDERS.map(|order| order.to_possible_value().expect("a line of help"));
        let names = values.each_ref().map(|value| value.get_name());
        assert_eq!(names, statwalk_testkit::program::ORDERS);
        assert!(values.iter().all(|value| value.get_help().is_some()));
    }
}
