// SPDX-License-Identifier: MIT OR Apache-2.0

//! The commands, a row each.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

#[cfg(feature = "snapshot")]
use super::snapshot;
use super::{
    bench, browse, changes, completions, df, errors, extents, find, man, report, stats, top,
};
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
#[cfg(feature = "snapshot")]
use crate::flags::SnapshotFlags;
use crate::flags::command_names::COMMAND_NAMES;
use crate::flags::{
    BenchFlags, BrowseFlags, ChangesFlags, CompletionsFlags, DfFlags, ErrorsFlags, ExtentsFlags,
    FindFlags, ManFlags, ReportFlags, StatsFlags, TopFlags, parse_as,
};

/// A command that is ready to run.
pub(crate) type Invocation = Box<dyn FnOnce() -> Result<ExitStatus, Failure>>;

pub(super) struct Row {
    pub(super) name: &'static str,
    /// Builds the definition of its flags.
    definition: fn() -> Command,
    /// Reads the words behind its name.
    pub(super) parse: fn(Command, &[OsString]) -> Result<Invocation, clap::Error>,
    /// The end of its help.
    exit_status: &'static str,
}

/// A row from the name, the flags, the function that runs them, and the exit statuses.
macro_rules! row {
    ($name:literal, $flags:ty, $run:path, $exit_status:expr) => {
        Row {
            name: $name,
            definition: <$flags>::command,
            parse: |definition, words| {
                let flags: $flags = parse_as(definition, words)?;
                Ok(Box::new(move || $run(flags)))
            },
            exit_status: $exit_status,
        }
    };
}

/// The commands, in the order of the help.
pub(super) const COMMANDS: [Row; COMMAND_NAMES.len()] = [
    row!("browse", BrowseFlags, browse::run, STATUS_OF_BROWSE),
    row!("top", TopFlags, top::run, STATUS_OF_SCANS),
    row!("stats", StatsFlags, stats::run, STATUS_OF_SCANS),
    row!("find", FindFlags, find::run, STATUS_OF_SCANS),
    row!("errors", ErrorsFlags, errors::run, STATUS_OF_SCANS),
    row!("report", ReportFlags, report::run, STATUS_OF_SCANS),
    #[cfg(feature = "snapshot")]
    row!(
        "snapshot",
        SnapshotFlags,
        snapshot::run,
        STATUS_OF_SNAPSHOTS
    ),
    row!("df", DfFlags, df::run, STATUS_OF_SCANS),
    row!("extents", ExtentsFlags, extents::run, STATUS_OF_SCANS),
    row!("changes", ChangesFlags, changes::run, STATUS_OF_CHANGES),
    row!("bench", BenchFlags, bench::run, STATUS_OF_BENCH),
    row!(
        "completions",
        CompletionsFlags,
        completions::run,
        STATUS_OF_TEXTS
    ),
    row!("man", ManFlags, man::run, STATUS_OF_TEXTS),
];

impl Row {
    /// The definition of its flags. Its help ends with the exit statuses, behind the examples.
    pub(super) fn definition(&self) -> Command {
        let definition = match self.name {
            "man" => (self.definition)().mut_arg("command", |arg| arg.value_parser(COMMAND_NAMES)),
            _ => (self.definition)(),
        };
        let text = match definition.get_after_long_help() {
            Some(examples) => format!("{examples}\n\n{}", self.exit_status),
            None => self.exit_status.to_owned(),
        };
        definition.after_long_help(text)
    }
}

const STATUS_OF_SCANS: &str = "\
Exit status:
  0    statwalk read everything
  1    statwalk could not read something: the result is a lower bound
  2    bad usage, a missing path, or output that cannot be written
  130, 143  interrupted: the printed result is a lower bound";

#[cfg(feature = "snapshot")]
const STATUS_OF_SNAPSHOTS: &str = "\
Exit status:
  0    statwalk stored everything, or found no fault
  1    statwalk could not read something, or found a fault
  2    bad usage, a missing path, or a snapshot that cannot be written
  130, 143  interrupted: without --partial nothing is stored";

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::line::whole;

    #[test]
    fn definitions_are_consistent() {
        whole().debug_assert();
    }

    #[test]
    fn every_command_has_its_own_name() {
        for row in &COMMANDS {
            assert_eq!(row.definition().get_name(), row.name);
        }
        assert_eq!(COMMANDS.each_ref().map(|row| row.name), COMMAND_NAMES);
    }
}
