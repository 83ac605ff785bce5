// SPDX-License-Identifier: MIT OR Apache-2.0

//! The expressions of find(1), and the commands of statwalk with the same effect.
//!
//! Meanings: find(1) of GNU findutils 4.10. A size differs by one byte, as `+1M` means more
//! than that there, and at least that here. A size here selects regular files alone, an age in
//! days follows the calendar, and a glob without a capital matches capitals.

use std::ffi::{OsStr, OsString};

use super::foreign::shown;

/// The reason why an expression has no translation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untranslated<'a> {
    /// The first word without an equivalent, if it is one word.
    pub(super) word: Option<&'a OsStr>,
}

/// A command of find(1), as far as it was read.
#[derive(Default)]
struct Translation {
    paths: Vec<String>,
    flags: Vec<String>,
    has_glob: bool,
    user: Option<String>,
    group: Option<String>,
    /// Whether the paths end with NUL bytes.
    is_nul: bool,
    /// The program that gets them.
    program: Option<String>,
    /// Whether it removes what it finds.
    removes: bool,
}

/// The command of statwalk with the effect of the words behind `find`; for one that removes
/// a sentence about the ways to do so.
///
/// Gives the word for which there is no equivalent.
pub(super) fn translated(words: &[OsString]) -> Result<String, Untranslated<'_>> {
    check_alternatives(words)?;
    let mut found = Translation::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let untranslated = || Untranslated { word: Some(word) };
        let name = word.to_str().ok_or_else(untranslated)?;
        match name {
            "-exec" => {
                let program: Vec<&OsString> = rest
                    .by_ref()
                    .take_while(|word| *word != ";" && *word != "+")
                    .collect();
                let is_once = words.iter().any(|word| word == "+");
                found.run(&program, is_once).ok_or_else(untranslated)?;
            }
            _ if takes_value(name) => {
                let value = rest.next().and_then(|value| value.to_str());
                let value = value.ok_or_else(untranslated)?;
                found.test(name, value).ok_or_else(untranslated)?;
            }
            _ => found.take(name, word).ok_or_else(untranslated)?,
        }
    }
    Ok(found.command())
}

/// Several names are alternatives here, and nothing else is.
fn check_alternatives(words: &[OsString]) -> Result<(), Untranslated<'_>> {
    let is_or = |word: &&OsString| *word == "-o" || *word == "-or";
    let is_name = |at: usize| {
        let word = words.get(at);
        word.is_some_and(|word| word == "-name" || word == "-iname")
    };
    let ors = words.iter().filter(is_or).count();
    // Names that must hold together.
    if let Some(at) = (0..words.len()).filter(|at| is_name(*at)).nth(ors + 1) {
        return Err(Untranslated {
            word: Some(&words[at]),
        });
    }
    let Some(or) = words.iter().find(is_or) else {
        return Ok(());
    };
    let is_between_names = |at: usize| at >= 2 && is_name(at - 2) && is_name(at + 1);
    let all = words.iter().enumerate();
    let between = all
        .filter(|(_, word)| is_or(word))
        .all(|(at, _)| is_between_names(at));
    // Without brackets `-type f -name a -o -name b` has any b, too.
    let has_brackets = words.iter().any(|word| word == "(");
    let others = words.iter().filter(|word| {
        let word = word.as_encoded_bytes();
        word.starts_with(b"-")
            && ![&b"-name"[..], b"-iname", b"-o", b"-or", b"-print"].contains(&word)
    });
    match between && (has_brackets || others.count() == 0) {
        true => Ok(()),
        false => Err(Untranslated { word: Some(or) }),
    }
}

fn takes_value(name: &str) -> bool {
    const WITH_VALUE: [&str; 12] = [
        "-name",
        "-iname",
        "-type",
        "-size",
        "-mtime",
        "-mmin",
        "-newermt",
        "-user",
        "-uid",
        "-group",
        "-gid",
        "-maxdepth",
    ];
    WITH_VALUE.contains(&name)
}

impl Translation {
    /// A word by itself: a path, or a predicate without a value.
    fn take(&mut self, name: &str, word: &OsStr) -> Option<()> {
        match name {
            "-empty" => self.flag("-t f -S 0B"),
            "-xdev" | "-mount" => self.flag("-x"),
            "-L" | "-follow" => self.flag("-L"),
            "-print0" => self.is_nul = true,
            "-ls" => self.flag("--fields inode,mode,links,owner,group,size,mtime"),
            "-delete" => self.removes = true,
            "-print" | "-a" | "-and" | "-o" | "-or" | "(" | ")" => {}
            _ if name.starts_with(['-', '!', ',']) => return None,
            _ => self.paths.push(shown(word)),
        }
        Some(())
    }

    /// A predicate with a value.
    fn test(&mut self, name: &str, value: &str) -> Option<()> {
        let number = || value.trim_start_matches(['+', '-']).parse::<u64>().ok();
        match name {
            "-name" | "-iname" => {
                // A glob without a capital matches them all.
                let glob = match name {
                    "-iname" => value.to_lowercase(),
                    _ => value.to_owned(),
                };
                self.has_glob = true;
                self.flag(&format!("-g {}", shown(OsStr::new(&glob))));
            }
            "-type" => self.flag(&format!("-t {}", shown(OsStr::new(value)))),
            "-size" => self.flag(&format!("-S {}", size(value)?)),
            "-mtime" | "-mmin" => {
                let unit = if name == "-mtime" { "d" } else { "m" };
                let number = number()?;
                // find(1) counts whole days that are over.
                let after = number.checked_add(u64::from(name == "-mtime"))?;
                match value.as_bytes().first()? {
                    b'-' => self.flag(&format!("--changed-within {number}{unit}")),
                    b'+' => self.flag(&format!("--changed-before {after}{unit}")),
                    _ => return None,
                }
            }
            "-newermt" => self.flag(&format!("--changed-within {}", shown(OsStr::new(value)))),
            "-user" | "-uid" => self.user = Some(shown(OsStr::new(value))),
            "-group" | "-gid" => self.group = Some(shown(OsStr::new(value))),
            "-maxdepth" => self.flag(&format!("-d {}", number()?)),
            _ => return None,
        }
        Some(())
    }

    fn flag(&mut self, flag: &str) {
        self.flags.push(flag.to_owned());
    }

    /// The program of `-exec`, which gets the paths where `{}` stands: many at once, or one.
    fn run(&mut self, words: &[&OsString], is_once: bool) -> Option<()> {
        let (last, before) = words.split_last()?;
        let is_removal = ["rm", "rmdir", "unlink"]
            .iter()
            .any(|name| words[0] == name);
        if is_removal {
            self.removes = true;
            return Some(());
        }
        let text = |words: &[&OsString]| {
            let words = words.iter().map(|word| shown(word));
            words.collect::<Vec<_>>().join(" ")
        };
        let ends = *last == "{}" && !before.is_empty() && !before.iter().any(|word| *word == "{}");
        self.program = Some(match (ends, is_once) {
            (true, true) => text(before),
            (true, false) => format!("-n 1 {}", text(before)),
            (false, _) => format!("-I {{}} {}", text(words)),
        });
        Some(())
    }

    fn command(mut self) -> String {
        if self.user.is_some() || self.group.is_some() {
            let group = self.group.take().map(|group| format!(":{group}"));
            let owner = self.user.take().unwrap_or_default() + &group.unwrap_or_default();
            self.flag(&format!("--owner {owner}"));
        }
        if self.paths.is_empty() {
            self.paths.push(".".to_owned());
        }
        let browse = format!("statwalk browse --enable-delete {}", self.paths.join(" "));
        // Of several words the last is a pattern, if it can be one.
        if let [_, .., last] = &mut self.paths[..]
            && !self.has_glob
            && !last.contains('/')
        {
            *last = format!("./{last}");
        }
        let mut words = vec!["statwalk find".to_owned()];
        words.append(&mut self.paths);
        words.append(&mut self.flags);
        if self.is_nul || self.program.is_some() {
            words.push("-0".to_owned());
        }
        let command = words.join(" ");
        match (self.removes, self.program) {
            (true, _) => format!(
                "statwalk find removes nothing: see what goes with '{command}', and remove it \
                 in '{browse}'"
            ),
            (false, Some(program)) => format!("try {command} | xargs -0 {program}"),
            (false, None) => format!("try {command}"),
        }
    }
}

/// A size of find(1), which it rounds up to whole units, as a filter.
fn size(value: &str) -> Option<String> {
    let digits = value.trim_start_matches(['+', '-']);
    let unit_at = digits.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = digits.split_at(unit_at);
    let number: u64 = digits.parse().ok()?;
    let unit = match unit {
        "c" => "B",
        "k" | "M" | "G" => unit,
        _ => return None,
    };
    match (value.as_bytes().first()?, unit) {
        (b'+', _) => Some(format!("+{number}{unit}")),
        (b'-', _) => match number.checked_sub(1)? {
            0 => Some("0B".to_owned()),
            most => Some(format!("-{most}{unit}")),
        },
        (_, "B") => Some(format!("{number}B")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Result<&str, &str>) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let found = translated(&words);
        let found = match &found {
            Ok(text) => Ok(text.strip_prefix("try ").unwrap_or(text)),
            Err(error) => Err(error.word.and_then(OsStr::to_str).unwrap_or_default()),
        };
        assert_eq!(found, expected, "find {line}");
    }

    /// "find: '-type' belongs to find(1): use -t TYPE" left the user with the rest.
    #[test]
    fn a_whole_command_has_one_of_the_same_effect() {
        for (line, command) in [
            (". -type f -name *.gz", "statwalk find . -t f -g '*.gz'"),
            ("-name x", "statwalk find . -g x"),
            (". -iname *.ISO", "statwalk find . -g '*.iso'"),
            ("a b -type f", "statwalk find a ./b -t f"),
            ("a b -name x", "statwalk find a b -g x"),
            ("a /b -type f", "statwalk find a /b -t f"),
            (". -size +100M", "statwalk find . -S +100M"),
            (". -size -10k", "statwalk find . -S -9k"),
            (". -size -1M", "statwalk find . -S 0B"),
            (". -size 7c", "statwalk find . -S 7B"),
            (". -mtime -7", "statwalk find . --changed-within 7d"),
            (". -mtime +30", "statwalk find . --changed-before 31d"),
            (". -mmin +5", "statwalk find . --changed-before 5m"),
            (". -user a -group b", "statwalk find . --owner a:b"),
            (". -group b -maxdepth 2", "statwalk find . -d 2 --owner :b"),
            ("-L . -xdev -empty", "statwalk find . -L -x -t f -S 0B"),
            (". -name a -o -name b", "statwalk find . -g a -g b"),
            (
                ". -type f ( -name a -o -iname B ) -print0",
                "statwalk find . -t f -g a -g b -0",
            ),
            (
                ". -name x -exec wc -c {} +",
                "statwalk find . -g x -0 | xargs -0 wc -c",
            ),
            (
                ". -exec file {} ;",
                "statwalk find . -0 | xargs -0 -n 1 file",
            ),
            (
                ". -exec mv {} /t ;",
                "statwalk find . -0 | xargs -0 -I {} mv '{}' /t",
            ),
        ] {
            check(line, Ok(command));
        }
    }

    #[test]
    fn the_first_word_without_an_equivalent_is_named() {
        for (line, word) in [
            (". -name x -mindepth 2", "-mindepth"),
            (". -name x -newer y", "-newer"),
            (". -type f -name a -o -name b", "-o"),
            (". -name a -o -type f", "-o"),
            (". -name a* -name *b", "-name"),
            (". ( -name a* -iname *b -o -name c )", "-name"),
            (". ! -name x", "!"),
            (". -name", "-name"),
            (". -size 5", "-size"),
            (". -size 5k", "-size"),
            (". -mtime 7", "-mtime"),
            (". -maxdepth x", "-maxdepth"),
            (". -exec", "-exec"),
            (". -regex .*", "-regex"),
        ] {
            check(line, Err(word));
        }
    }

    #[test]
    fn a_removal_names_the_browser() {
        for line in [
            "/srv -name x -delete",
            "/srv -name x -exec rm -f {} +",
            "/srv -name x -exec rm {} ;",
        ] {
            check(
                line,
                Ok("statwalk find removes nothing: see what goes with \
                    'statwalk find /srv -g x', and remove it in \
                    'statwalk browse --enable-delete /srv'"),
            );
        }
    }
}
