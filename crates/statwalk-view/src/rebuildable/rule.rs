// SPDX-License-Identifier: MIT OR Apache-2.0

//! A rule: a kind of directory that a program makes again, with the proof that it takes.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::table::RULES;
use super::traces::{PERSONAL, Traces};

/// A kind of directory that a program makes again.
///
/// In its texts a blank divides alternatives.
#[derive(Debug)]
pub struct Rule {
    /// Names of the directory; with a slash, the end of its path. `*` stands for any name,
    /// and at the end of one for the rest of it.
    pub names: &'static str,
    /// All of them must hold.
    pub needs: Vec<Need>,
    /// The place where it holds.
    pub scope: Scope,
    /// The program that makes the directory again, as short as a command.
    pub rebuilt_by: &'static str,
    /// The page or the source that says so.
    pub origin: &'static str,
}

/// The place where a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Not below a directory whose name begins with a dot: programs keep their own
    /// installations there, which look like projects.
    Project,
    /// Everywhere: the directory is a cache wherever it is.
    Everywhere,
}

/// A condition. A name with a slash at its end is that of a directory, others are names of
/// regular files.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// One of these lies beside the directory.
    Beside(&'static str),
    /// One of these lies in it.
    Inside(&'static str),
    /// None of these lies in it, whatever it is.
    Without(&'static str),
    /// None of these lies in it or in a directory within, whatever it is.
    WithoutBelow(&'static str),
    /// Its `CACHEDIR.TAG` begins with the signature.
    ValidTag,
}

/// A rule with its names as traces.
pub(super) struct Ready {
    pub(super) rule: &'static Rule,
    /// Each demands one of its traces.
    beside: Vec<Traces>,
    inside: Vec<Traces>,
    without: Traces,
    pub(super) without_below: Traces,
    pub(super) needs_tag: bool,
}

/// All rules, by the names of their directories. Those of a name keep their order.
pub(super) struct Rules {
    by_name: HashMap<&'static [u8], Vec<(&'static str, Ready)>>,
    /// Those for names with a certain beginning, which can be empty.
    by_beginning: Vec<(&'static [u8], Ready)>,
}

pub(super) static READY: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules {
        by_name: HashMap::new(),
        by_beginning: Vec::new(),
    };
    for rule in RULES.iter() {
        for name in rule.names.split(' ') {
            if let Some(beginning) = name.strip_suffix('*') {
                let beginning = beginning.as_bytes();
                rules.by_beginning.push((beginning, Ready::new(rule)));
                continue;
            }
            let last = name.rsplit('/').next().unwrap_or(name);
            let same = rules.by_name.entry(last.as_bytes()).or_default();
            same.push((name, Ready::new(rule)));
        }
    }
    rules
});

impl Rules {
    /// The rules for a directory, by its path, which ends with its name.
    pub(super) fn of<'r>(&'r self, path: &[u8], name: &[u8]) -> impl Iterator<Item = &'r Ready> {
        let named = self.by_name.get(name).into_iter().flatten();
        let named = named.filter(|(pattern, _)| ends_with(path, pattern));
        let begun = self.by_beginning.iter();
        let begun = begun.filter(|(beginning, _)| name.starts_with(beginning));
        (named.map(|(_, rule)| rule)).chain(begun.map(|(_, rule)| rule))
    }
}

/// Whether a path ends with these names, whole ones.
pub(super) fn ends_with(path: &[u8], end: &str) -> bool {
    let before = path.strip_suffix(end.as_bytes());
    before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

impl Ready {
    fn new(rule: &'static Rule) -> Ready {
        let mut ready = Ready {
            rule,
            beside: Vec::new(),
            inside: Vec::new(),
            without: Traces::of_any(PERSONAL),
            without_below: Traces::NONE,
            needs_tag: false,
        };
        for need in &rule.needs {
            match need {
                Need::Beside(names) => ready.beside.push(Traces::of_all(names)),
                Need::Inside(names) => ready.inside.push(Traces::of_all(names)),
                Need::Without(names) => ready.without |= Traces::of_any(names),
                Need::WithoutBelow(names) => {
                    ready.without |= Traces::of_any(names);
                    ready.without_below |= Traces::of_any(names);
                }
                Need::ValidTag => ready.needs_tag = true,
            }
        }
        ready
    }

    /// Whether the rule holds for a directory with these traces in it and beside it, as
    /// far as they say.
    pub(super) fn holds(&self, beside: Traces, inside: Traces, is_hidden: bool) -> bool {
        let is_here = self.rule.scope == Scope::Everywhere || !is_hidden;
        is_here
            && !inside.meets(self.without)
            && self.beside.iter().all(|&one| beside.meets(one))
            && self.inside.iter().all(|&one| inside.meets(one))
    }
}
