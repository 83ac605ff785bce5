// SPDX-License-Identifier: MIT OR Apache-2.0

//! The script for bash, 4 or newer: bash(1), "Programmable Completion".

use std::fmt::Write as _;

use super::{Page, Value, joined};

pub(super) fn script(pages: &[Page]) -> String {
    let names = pages.iter().map(|page| page.name.as_str());
    let commands: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let mut flags = String::new();
    let mut values = String::new();
    let mut words = String::new();
    for page in pages {
        let name = &page.name;
        let all = page.flags.iter().flat_map(|flag| &flag.names);
        let all: Vec<&str> = all.map(String::as_str).collect();
        let _ = writeln!(flags, "        '{name}') flags='{}' ;;", all.join(" "));
        if let Value::One(list) = &page.words {
            let _ = writeln!(
                words,
                "        '{name}') kind=one list='{}' ;;",
                joined(list)
            );
        }
        for flag in &page.flags {
            let kind = match &flag.value {
                Value::None => continue,
                Value::One(list) => format!("kind=one list='{}'", joined(list)),
                Value::List(list) => format!("kind=list list='{}'", joined(list)),
                Value::Path => "kind=path".to_owned(),
                Value::User => "kind=user".to_owned(),
                Value::Unknown => "kind=unknown".to_owned(),
            };
            let names = flag.names.iter();
            let patterns = names
                // Without a `=` the next word is no value of such a flag.
                .map(|flag_name| match flag.is_optional {
                    true => format!("'{name} ={flag_name}'"),
                    false => format!("'{name} '{{,=}}'{flag_name}'"),
                });
            for pattern in patterns {
                for pattern in expanded(&pattern) {
                    let _ = writeln!(values, "        {pattern}) {kind} ;;");
                }
            }
        }
    }
    TEMPLATE
        .replace("@COMMANDS@", &commands.join(" "))
        .replace("@PATTERN@", &commands.join("|"))
        .replace("@FLAGS@", &flags)
        .replace("@VALUES@", &values)
        .replace("@WORDS@", &words)
}

/// A pattern with and without its `=`: `case` knows no braces.
fn expanded(pattern: &str) -> Vec<String> {
    match pattern.contains("'{,=}'") {
        true => vec![
            pattern.replace("'{,=}'", ""),
            pattern.replace("'{,=}'", "="),
        ],
        false => vec![pattern.to_owned()],
    }
}

/// `kind` says what a word can be. bash breaks words at `=`, unless the user took it out
/// of COMP_WORDBREAKS.
const TEMPLATE: &str = r#"# Completion of statwalk for bash; made by: statwalk completions bash

_statwalk() {
    local cur=$2 prev=$3 command='' flag='' before='' flags='' kind=path list='' word
    COMPREPLY=()
    if ((COMP_CWORD > 1)); then
        case ${COMP_WORDS[1]} in
        @PATTERN@) command=${COMP_WORDS[1]} ;;
        esac
    fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [[ $word == -- ]] && { _statwalk_paths "$cur"; return; }
    done
    if [[ $cur == = ]]; then
        cur='' flag="=$prev"
    elif [[ $prev == = ]]; then
        flag="=${COMP_WORDS[COMP_CWORD - 2]}"
    elif [[ $cur == --*=* ]]; then
        before=${cur%%=*}= flag="=${cur%%=*}" cur=${cur#*=}
    else
        flag=$prev
    fi
    case "$command $flag" in
@VALUES@        *)
        if [[ $cur == -* ]]; then
            case $command in
@FLAGS@            esac
            COMPREPLY=($(compgen -W "$flags" -- "$cur"))
            return
        fi
        case $command in
@WORDS@        esac
        ;;
    esac
    case $kind in
    list)
        [[ $cur == *,* ]] && before+=${cur%,*},
        list=$(compgen -W "$list" -- "${cur##*,}")
        compopt -o nospace 2>/dev/null
        for word in $list; do COMPREPLY+=("$before$word"); done
        ;;
    one)
        for word in $(compgen -W "$list" -- "$cur"); do COMPREPLY+=("$before$word"); done
        ;;
    user)
        for word in $(compgen -u -- "$cur"); do COMPREPLY+=("$before$word"); done
        ;;
    path)
        _statwalk_paths "$cur" "$before"
        # The first word can be a command, too.
        if ((COMP_CWORD == 1)); then
            COMPREPLY+=($(compgen -W '@COMMANDS@' -- "$cur"))
        fi
        ;;
    esac
}

# Directories; where there is none, files.
_statwalk_paths() {
    local path
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        COMPREPLY+=("$2$path")
    done < <(compgen -d -- "$1" || compgen -f -- "$1")
}

complete -F _statwalk statwalk
"#;
