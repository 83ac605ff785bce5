// SPDX-License-Identifier: MIT OR Apache-2.0

//! `statwalk man`: the manual pages.
//!
//! Options come from the flags; `EXAMPLES` and `EXIT STATUS` from the end of the help.
//! `mandoc -Tlint` finds no fault in a page, and a test holds it there.

use std::io::Write as _;

use clap::{Arg, Command};
use clap_mangen::Man;

use crate::commands::line::whole;
use crate::exit_status::ExitStatus;
use crate::failure::Failure;
use crate::flags::ManFlags;
use crate::output::Output;

/// The day of the last change of the sections below; options change without it.
const DATE: &str = "2026-11-29";

const ENVIRONMENT: [(&str, &str); 10] = [
    (
        "COLUMNS, LINES",
        "The size of the screen, before that of the terminal.",
    ),
    (
        "HOME",
        "The place of the three XDG directories below, where their variables are not set. \
         Where it belongs to another user than the effective one, as with sudo, the home of \
         the effective user in the database of accounts is taken for them. \
         The browser removes neither of these directories nor one above.",
    ),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "The first that is set names the locale. In one of UTF-8, tables have bars and guides; \
         in another, ASCII.",
    ),
    ("NO_COLOR", "Any value but the empty one turns colour off."),
    (
        "SHELL",
        "The shell that the browser starts in a directory; /bin/sh without it.",
    ),
    (
        "TERM",
        "With dumb, there is neither colour nor progress unless a flag asks for them, \
         and no browser.",
    ),
    ("TZ", "The time zone of dates in filters and rows."),
    (
        "XDG_CONFIG_HOME",
        "The directory of statwalk/keys.toml; ~/.config without it.",
    ),
    (
        "XDG_DATA_HOME",
        "The directory of the trash, and of the store of snapshots; ~/.local/share without it. \
         Without it the store of root is /var/lib/statwalk.",
    ),
    (
        "XDG_STATE_HOME",
        "The directory of statwalk/removed.jsonl; ~/.local/state without it.",
    ),
];

const FILES: [(&str, &str); 6] = [
    (
        "/etc/passwd, /etc/group",
        "The names of owners, before getent(1).",
    ),
    (".gitignore", "Patterns of names, with --gitignore."),
    (
        "CACHEDIR.TAG",
        "The mark of a directory that --exclude-caches skips.",
    ),
    (
        "$XDG_CONFIG_HOME/statwalk/keys.toml",
        "The keys of the browser, and whether it may remove.",
    ),
    (
        "$XDG_STATE_HOME/statwalk/removed.jsonl",
        "The journal of removals.",
    ),
    (
        "$XDG_DATA_HOME/Trash, .Trash-UID",
        "The trash of removals: that of the home, and that at the top of another mount.",
    ),
];

/// The programs that a reader may look for.
const RELATED: [&str; 4] = ["df(1)", "du(1)", "find(1)", "ncdu(1)"];

pub(super) fn run(flags: ManFlags) -> Result<ExitStatus, Failure> {
    let page = page(flags.command.as_deref()).map_err(Failure::Output)?;
    let mut out = Output::new();
    out.write(|out| out.write_all(page.as_bytes()))?;
    out.finish()?;
    Ok(ExitStatus::Complete)
}

fn page(name: Option<&str>) -> std::io::Result<String> {
    let mut whole = whole();
    whole.build();
    let pages: Vec<String> = whole
        .get_subcommands()
        .map(|command| format!("statwalk-{}(1)", command.get_name()))
        .collect();
    let own = name.and_then(|name| whole.find_subcommand(name));
    let end = own.unwrap_or(&whole).get_after_long_help();
    let end = end.map(ToString::to_string).unwrap_or_default();
    let command = match name {
        None => whole,
        Some(name) => {
            let found = whole.find_subcommand(name).cloned();
            let found = found.expect("clap takes the names of commands alone");
            // The page of a command is called as git's are.
            let name = format!("statwalk-{}", found.get_name());
            found.name(name)
        }
    };
    // clap_mangen leaves out the text of an option that the short help does not show.
    let command = command.mut_args(|arg: Arg| arg.hide_short_help(false));
    let command: Command = command.after_long_help(None::<&str>);
    let own = command.get_name().to_owned();
    let title = own.to_uppercase();
    let source = concat!("statwalk ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command)
        .title(title)
        .date(DATE)
        .source(source)
        .manual("User Commands");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if name.is_none() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut text = tidy(&String::from_utf8_lossy(&text));
    text.push_str(&indented_section(&end, "Examples:"));
    text.push_str(&indented_section(&end, "Exit status:"));
    text.push_str(&list_section("ENVIRONMENT", &ENVIRONMENT));
    text.push_str(&list_section("FILES", &FILES));
    let others = pages.iter().map(String::as_str).chain(["statwalk(1)"]);
    let mut others: Vec<&str> = others
        .chain(RELATED)
        .filter(|page| page.strip_suffix("(1)") != Some(own.as_str()))
        .collect();
    others.sort_unstable();
    let last = others.len() - 1;
    text.push_str(".SH SEE ALSO\n");
    for (index, page) in others.into_iter().enumerate() {
        let name = escaped(page.trim_end_matches("(1)"));
        let comma = if index < last { "," } else { "" };
        text.push_str(&format!(".BR {name} (1){comma}\n"));
    }
    Ok(text)
}

/// Makes of clap_mangen's text one that mandoc takes: an empty line is a request for
/// space.
fn tidy(page: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in page.lines() {
        let line = line.trim_end();
        if line.is_empty() {
            while lines.last().is_some_and(|last| last == ".br") {
                lines.pop();
            }
            lines.push(".sp".to_owned());
        } else if line.contains(".ds Aq ") && lines.iter().any(|known| known == line) {
            // Each section defines the quote anew.
        } else if line == ".br" && lines.last().is_some_and(|last| last == ".sp") {
            // The space is a break already.
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// The block of the help below `heading`, as a section with its line breaks.
fn indented_section(help: &str, heading: &str) -> String {
    let blocks = help.split("\n\n");
    let Some(block) = blocks
        .filter_map(|block| block.strip_prefix(heading))
        .next()
    else {
        return String::new();
    };
    let title = heading.trim_end_matches(':').to_uppercase();
    let mut text = format!(".SH {title}\n.nf\n");
    for line in block.lines().filter(|line| !line.is_empty()) {
        let line = escaped(line.strip_prefix("  ").unwrap_or(line));
        text.push_str(&format!("\\&{line}\n"));
    }
    text + ".fi\n"
}

fn list_section(title: &str, items: &[(&str, &str)]) -> String {
    let mut lines = vec![format!(".SH {title}")];
    for (name, meaning) in items {
        lines.push(".TP".to_owned());
        lines.push(format!("\\fB{}\\fR", escaped(name)));
        lines.push(escaped(meaning));
    }
    lines.join("\n") + "\n"
}

/// Text of which roff changes nothing: man(7) and groff_char(7).
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
}
