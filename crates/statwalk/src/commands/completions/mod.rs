// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk completions`: a script that completes commands, flags, values and paths.
//!
//! The scripts for bash, zsh and fish are ours. Those of `clap_complete` offer no path
//! beside the commands, and files as the value of every flag without a list. The other
//! shells get them all the same.

mod bash;
mod fish;
mod zsh;

use std::io::Write as _;

use clap::builder::ValueHint;
use clap::{Arg, ArgAction, Command};
use clap_complete::Shell;

use crate::commands::line::whole;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::CompletionsFlags;
use crate::output::Output;

pub(super) fn run(flags: CompletionsFlags) -> Result<ExitStatus, Failure> {
    let shell = flags.shell;
    let script = match shell {
        Shell::Bash => bash::script(&Page::all()).into_bytes(),
        Shell::Zsh => zsh::script(&Page::all()).into_bytes(),
        Shell::Fish => fish::script(&Page::all()).into_bytes(),
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut whole(), "statwalk", &mut script);
            script
        }
    };
    let mut out = Output::new();
    out.write(|out| out.write_all(&script))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}

/// The flags and words that follow a command, or the program.
struct Page {
    /// The command; empty for the default view.
    name: String,
    about: String,
    flags: Vec<Flag>,
    /// The words that are no flags.
    words: Value,
}

/// A flag in all its spellings.
struct Flag {
    /// With their dashes; the short ones first.
    names: Vec<String>,
    help: String,
    value: Value,
    /// Whether the value can be absent, and else follows a `=`.
    is_optional: bool,
    can_repeat: bool,
}

/// The value of a flag, or of a word that is no flag.
enum Value {
    /// A flag that takes none.
    None,
    /// One of these, with a line of help each, which may be empty.
    One(Vec<(String, String)>),
    /// A list of these with commas between.
    List(Vec<(String, String)>),
    Path,
    User,
    /// A number, a date or a pattern, which no shell can know.
    Unknown,
}

/// Values that clap does not know, by the name of the flag: the likeliest of those that
/// the flag takes.
const LIKELY: [(&str, &[(&str, &str)]); 3] = [
    (
        "--unit",
        &[
            ("B", ""),
            ("KiB", ""),
            ("MiB", ""),
            ("GiB", ""),
            ("TiB", ""),
            ("kB", ""),
            ("MB", ""),
            ("GB", ""),
            ("TB", ""),
        ],
    ),
    (
        "--type",
        &[
            ("f", "regular file"),
            ("d", "directory"),
            ("l", "symbolic link"),
            ("p", "named pipe"),
            ("s", "socket"),
            ("c", "character device"),
            ("b", "block device"),
        ],
    ),
    (
        "--time-style",
        &[("full-iso", ""), ("long-iso", ""), ("iso", "")],
    ),
];

impl Page {
    /// The default view, then each command in the order of the help.
    fn all() -> Vec<Page> {
        let mut whole = whole();
        // Adds the flags for help and version.
        whole.build();
        let mut pages = vec![Page::new(&whole, String::new())];
        let commands = whole.get_subcommands();
        pages.extend(commands.map(|command| Page::new(command, command.get_name().to_owned())));
        pages
    }

    fn new(command: &Command, name: String) -> Page {
        let arguments = || command.get_arguments().filter(|arg| !arg.is_hide_set());
        let words = arguments().find(|arg| arg.is_positional());
        let about = command.get_about().map(ToString::to_string);
        Page {
            name,
            about: about.unwrap_or_default(),
            flags: arguments()
                .filter(|arg| !arg.is_positional())
                .map(Flag::new)
                .collect(),
            words: match words.map(Value::listed) {
                Some(values) if !values.is_empty() => Value::One(values),
                _ => Value::Path,
            },
        }
    }
}

impl Flag {
    fn new(arg: &Arg) -> Flag {
        let shorts = arg.get_short().map(|short| format!("-{short}"));
        let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
        let longs = longs.into_iter().map(|long| format!("--{long}"));
        let help = arg.get_help().map(ToString::to_string);
        let values = arg.get_num_args();
        Flag {
            names: shorts.into_iter().chain(longs).collect(),
            help: help.unwrap_or_default(),
            value: Value::of(arg),
            is_optional: values.is_some_and(|range| range.min_values() == 0)
                && arg.get_action().takes_values(),
            can_repeat: matches!(arg.get_action(), ArgAction::Append),
        }
    }
}

impl Value {
    fn of(arg: &Arg) -> Value {
        if !arg.get_action().takes_values() {
            return Value::None;
        }
        let long = arg.get_long().map(|long| format!("--{long}"));
        let has_commas = arg.get_value_delimiter().is_some();
        let values = match LIKELY
            .iter()
            .find(|(name, _)| long.as_deref() == Some(name))
        {
            Some((_, likely)) => likely
                .iter()
                .map(|(value, help)| ((*value).to_owned(), (*help).to_owned()))
                .collect(),
            None => Value::listed(arg),
        };
        match arg.get_value_hint() {
            _ if !values.is_empty() && has_commas => Value::List(values),
            _ if !values.is_empty() => Value::One(values),
            _ if long.as_deref() == Some("--owner") => Value::User,
            ValueHint::AnyPath | ValueHint::FilePath => Value::Path,
            _ => Value::Unknown,
        }
    }

    /// The values that clap knows.
    fn listed(arg: &Arg) -> Vec<(String, String)> {
        let values = arg.get_possible_values();
        let shown = values.iter().filter(|value| !value.is_hide_set());
        let help = |value: &clap::builder::PossibleValue| {
            value
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        shown
            .map(|value| (value.get_name().to_owned(), help(value)))
            .collect()
    }
}

/// The values alone, with blanks between.
fn joined(values: &[(String, String)]) -> String {
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    names.join(" ")
}
