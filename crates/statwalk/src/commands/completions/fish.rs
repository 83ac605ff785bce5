// SPDX-License-Identifier: MIT OR Apache-2.0

//! The script for fish: complete(1).

use std::fmt::Write as _;

use super::{Flag, Page, Value};

pub(super) fn script(pages: &[Page]) -> String {
    let names = pages.iter().map(|page| page.name.as_str());
    let commands: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut script = TEMPLATE.replace("@COMMANDS@", &commands.join(" "));
    for page in pages {
        if !page.name.is_empty() {
            let about = quoted(&page.about);
            // Paths stand beside the commands: nothing turns them off.
            let _ = writeln!(
                script,
                "complete -c statwalk -n __statwalk_is_first -a {} -d {about}",
                page.name
            );
        }
        let condition = format!(
            "complete -c statwalk -n \"__statwalk_is_in '{}'\"",
            page.name
        );
        for flag in &page.flags {
            let _ = writeln!(script, "{condition}{}", options(flag));
        }
        if let Value::One(list) = &page.words {
            let _ = writeln!(script, "{condition} -f -a {}", lines(list));
        }
    }
    script
}

const TEMPLATE: &str = r"# Completion of statwalk for fish; made by: statwalk completions fish

function __statwalk_is_first
    test (count (commandline -opc)) -eq 1
end

# Whether the command is $argv[1]; nothing stands for the default view.
function __statwalk_is_in
    set -l words (commandline -opc)
    set -l command ''
    if set -q words[2]; and contains -- $words[2] @COMMANDS@
        set command $words[2]
    end
    test $command = $argv[1]
end

";

fn options(flag: &Flag) -> String {
    let mut options = String::new();
    for name in &flag.names {
        let _ = match name.strip_prefix("--") {
            Some(long) => write!(options, " -l {long}"),
            None => write!(options, " -s {}", name.trim_start_matches('-')),
        };
    }
    // An optional value follows a `=`, and the next word is none.
    let needs = if flag.is_optional { "" } else { "r" };
    let _ = match &flag.value {
        Value::None => Ok(()),
        Value::One(list) => write!(options, " -f{needs} -a {}", lines(list)),
        Value::List(list) => {
            let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
            let list = format!(
                "(__fish_complete_list , 'printf \"%s\\\\n\" {}')",
                names.join(" ")
            );
            write!(options, " -x -a {}", quoted(&list))
        }
        Value::Path => write!(options, " -rF"),
        Value::User => write!(options, " -x -a '(__fish_complete_users)'"),
        Value::Unknown => write!(options, " -x"),
    };
    let _ = write!(options, " -d {}", quoted(&flag.help));
    options
}

/// Values with their help, as the option `-a` has them: a line each.
fn lines(values: &[(String, String)]) -> String {
    let lines = values.iter().map(|(name, help)| match help.as_str() {
        "" => name.clone(),
        help => format!("{name}\\t{}", quoted(help)),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    // The list is read as a command line once more.
    format!("\"{}\"", text.replace('"', "\\\"").replace('$', "\\$"))
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}
