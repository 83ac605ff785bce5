// SPDX-License-Identifier: MIT OR Apache-2.0

//! The script for zsh: zshcompsys(1), `_arguments`.

use std::fmt::Write as _;

use super::{Flag, Page, Value, joined};

pub(super) fn script(pages: &[Page]) -> String {
    let mut commands = String::new();
    let mut cases = String::new();
    let mut whole = String::new();
    for page in pages {
        let specs = specs(page);
        if page.name.is_empty() {
            whole = specs;
            continue;
        }
        let described = format!("{}:{}", page.name, page.about);
        let _ = writeln!(commands, "        {}", quoted(&described));
        let _ = write!(cases, "    {})\n{specs}        ;;\n", page.name);
    }
    TEMPLATE
        .replace("@COMMANDS@", &commands)
        .replace("@CASES@", &cases)
        .replace("@WHOLE@", &whole)
}

const TEMPLATE: &str = r"#compdef statwalk
# Completion of statwalk for zsh; made by: statwalk completions zsh

_statwalk() {
    local ret=1
    local -a commands specs
    commands=(
@COMMANDS@    )
    # The first word can be a command or a path.
    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
        _describe -t commands command commands && ret=0
        _statwalk_paths && ret=0
        return ret
    fi
    case $words[2] in
@CASES@    *)
@WHOLE@        _arguments -s -S : $specs
        return
        ;;
    esac
    # The command stands where the program stood.
    (( CURRENT-- ))
    shift words
    _arguments -s -S : $specs
}

# Directories; where there is none, files.
_statwalk_paths() {
    _files -/ || _files
}

if [[ $funcstack[1] == _statwalk ]]; then
    # The completion system loaded this file and waits for the words.
    _statwalk
else
    # Read by source. Without the completion system nobody has defined compdef.
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _statwalk statwalk
fi
";

fn specs(page: &Page) -> String {
    let mut specs = "        specs=(\n".to_owned();
    for flag in &page.flags {
        for name in &flag.names {
            let _ = writeln!(specs, "            {}", quoted(&spec(flag, name)));
        }
    }
    let words = match &page.words {
        Value::One(list) => format!("1:word:({})", joined(list)),
        _ => "*:path:_statwalk_paths".to_owned(),
    };
    let _ = write!(specs, "            {}\n        )\n", quoted(&words));
    specs
}

/// The specification of one spelling of a flag, which rules out the others.
fn spec(flag: &Flag, name: &str) -> String {
    let excluded = match flag.can_repeat {
        true => "*".to_owned(),
        false => format!("({})", flag.names.join(" ")),
    };
    let is_long = name.starts_with("--");
    let sign = match (&flag.value, flag.is_optional, is_long) {
        (Value::None, _, _) => "",
        (_, true, _) => "=-",
        (_, false, true) => "=",
        (_, false, false) => "+",
    };
    let help = escaped(&flag.help, "\\[]:");
    let colons = if flag.is_optional { "::" } else { ":" };
    let action = match &flag.value {
        Value::None => return format!("{excluded}{name}[{help}]"),
        Value::One(list) => format!("value:(({}))", with_help(list)),
        Value::List(list) => format!("list:_values -s , value {}", joined(list)),
        Value::Path => "path:_files".to_owned(),
        Value::User => "user:_users".to_owned(),
        Value::Unknown => "value: ".to_owned(),
    };
    format!("{excluded}{name}{sign}[{help}]{colons}{action}")
}

/// Values with their help, as an action in double parentheses has them.
fn with_help(values: &[(String, String)]) -> String {
    let pairs = values.iter().map(|(name, help)| match help.as_str() {
        "" => name.clone(),
        help => format!("{name}\\:\"{}\"", escaped(help, "\\\":()")),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str, special: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if special.contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
