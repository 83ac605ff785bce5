// SPDX-License-Identifier: MIT OR Apache-2.0

//! The directories of a scan, and what is missing in them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use statwalk_format::path_order;

use crate::error::Error;
use crate::machine::Machine;
use crate::manifest::{Facts, Missing};
use crate::numbering::{NONE, Numbering};
use crate::part::{Class, DirState, Part, PartError, Rows, mark};

/// The name of the file that marks a cache.
pub(crate) const TAG_NAME: &[u8] = b"CACHEDIR.TAG";

/// The directories of a part, which can lack all other rows.
pub(crate) struct Tree<'a> {
    part: &'a Part,
    pub(crate) numbering: Numbering,
    /// The root of each directory, by number.
    pub(crate) roots: Vec<u32>,
    pub(crate) errors: Vec<ErrorRow<'a>>,
    /// The losses in and below directories, by number; none of those that lack nothing.
    missing: BTreeMap<u32, Missing>,
    pub(crate) total_missing: Missing,
    is_incomplete: Vec<bool>,
    is_finished: Vec<bool>,
}

/// A path of which something is missing, and where it lies.
pub(crate) struct ErrorRow<'a> {
    pub(crate) error: Cow<'a, PartError>,
    /// The number of the directory that it is, or that holds it; [`NONE`] where there is none.
    pub(crate) dir: u32,
}

impl<'a> Tree<'a> {
    /// Numbers the directories of a part.
    pub(crate) fn of(part: &'a Part, facts: &Facts) -> Result<Tree<'a>, Error> {
        let numbering = Numbering::of(part)?;
        let of_dir = |&at: &u32| part.dirs[at as usize].root;
        let roots: Vec<u32> = numbering.dirs.iter().map(of_dir).collect();
        check_roots(&part.rows, &numbering, &roots, facts)?;
        let mut tree = Tree {
            part,
            is_incomplete: marked(&numbering, &part.incomplete)?,
            is_finished: marked(&numbering, &part.finished)?,
            missing: BTreeMap::new(),
            total_missing: Missing::default(),
            numbering,
            roots,
            errors: Vec::new(),
        };
        tree.find_errors(facts);
        Ok(tree)
    }

    /// Brings errors and directories that were not entered into one list, in path order.
    fn find_errors(&mut self, facts: &Facts) {
        let mut errors: Vec<ErrorRow<'a>> = Vec::new();
        for error in &self.part.errors {
            let dir = self.dir_of(error, facts);
            errors.push(ErrorRow {
                error: Cow::Borrowed(error),
                dir,
            });
        }
        for number in 0..self.numbering.len() {
            let state = self.state(number);
            let Some(reason) = state.reason() else {
                continue;
            };
            let error = PartError {
                path: self.path(number as u32, usize::MAX).unwrap_or_default(),
                root: self.roots[number],
                op: "enter",
                errno: None,
                class: Class::NotEntered,
                reason: Some(reason),
            };
            errors.push(ErrorRow {
                error: Cow::Owned(error),
                dir: number as u32,
            });
        }
        errors.sort_by(|a, b| {
            let [a, b] = [&a.error, &b.error];
            (a.root.cmp(&b.root))
                .then_with(|| path_order(&a.path, &b.path))
                .then(a.class.cmp(&b.class))
                .then_with(|| (a.op, a.errno, a.reason).cmp(&(b.op, b.errno, b.reason)))
        });
        for ErrorRow { error, dir } in &errors {
            let missing = match *dir {
                NONE => &mut self.total_missing,
                dir => self.missing.entry(dir).or_default(),
            };
            match error.class {
                Class::Unreadable => missing.unreadable += 1,
                Class::Changed => missing.changed += 1,
                Class::Vanished => missing.vanished += 1,
                Class::NotEntered => missing.not_entered += 1,
            }
        }
        self.bring_up();
        // They have no paths.
        let vanished = facts.roots.iter().map(|root| root.vanished);
        self.total_missing.vanished = self.total_missing.vanished.max(vanished.sum());
        self.errors = errors;
    }

    /// Brings the losses of each directory to those above it.
    fn bring_up(&mut self) {
        let mut own = std::mem::take(&mut self.missing);
        // A parent has a smaller number.
        while let Some((number, missing)) = own.pop_last() {
            match self.numbering.parents[number as usize] {
                NONE => self.total_missing.add(&missing),
                parent => own.entry(parent).or_default().add(&missing),
            }
            self.missing.insert(number, missing);
        }
    }

    /// The losses in and below a directory.
    pub(crate) fn missing(&self, number: u32) -> Missing {
        self.missing.get(&number).copied().unwrap_or_default()
    }

    pub(crate) fn is_incomplete(&self, number: u32) -> bool {
        self.is_incomplete[number as usize]
    }

    pub(crate) fn is_finished(&self, number: u32) -> bool {
        self.is_finished[number as usize]
    }

    /// The directory that an error is of, or that holds its path; [`NONE`] where there is none.
    fn dir_of(&self, error: &PartError, facts: &Facts) -> u32 {
        let Some(root) = facts.roots.get(error.root as usize) else {
            return NONE;
        };
        // Those of roots are in their order.
        let first = (0..self.numbering.len() as u32).find(|&number| {
            let number = number as usize;
            self.numbering.parents[number] == NONE && self.roots[number] == error.root
        });
        let (Some(mut dir), Some(below)) = (first, error.path.strip_prefix(&root.path[..])) else {
            return NONE;
        };
        for name in below
            .split(|&byte| byte == b'/')
            .filter(|name| !name.is_empty())
        {
            let children = self.numbering.children(dir);
            let of = |child: &u32| {
                self.part
                    .rows
                    .name(self.numbering.rows[*child as usize] as usize)
            };
            match children.binary_search_by(|child| of(child).cmp(name)) {
                Ok(at) => dir = children[at],
                Err(_) => break,
            }
        }
        dir
    }

    pub(crate) fn state(&self, number: usize) -> DirState {
        self.part.dirs[self.numbering.dirs[number] as usize].state
    }

    /// The path of a directory, beginning with its root as given; absent if it is longer than
    /// a limit.
    pub(crate) fn path(&self, number: u32, bytes_max: usize) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let (mut at, mut bytes) = (number, 0);
        while at != NONE {
            let name = self
                .part
                .rows
                .name(self.numbering.rows[at as usize] as usize);
            bytes += name.len() + 1;
            if bytes > bytes_max.saturating_add(1) {
                return None;
            }
            names.push(name);
            at = self.numbering.parents[at as usize];
        }
        Some(join(names.into_iter().rev()))
    }

    /// Whether a directory has a valid tag of a cache; absent where that is not known. `has_file`
    /// says whether a regular file of that name is in it.
    pub(crate) fn cachedir_tag(
        &self,
        number: u32,
        has_file: bool,
        machine: &mut dyn Machine,
    ) -> Option<bool> {
        match (self.state(number as usize), has_file) {
            (DirState::Listed, false) => Some(false),
            (DirState::Listed, true) => {
                machine.is_cachedir(&self.path(number, usize::MAX).unwrap_or_default())
            }
            _ => None,
        }
    }
}

/// Whether each row of a root is of one of the roots, and each directory of the root of its
/// parent.
fn check_roots(
    rows: &Rows,
    numbering: &Numbering,
    roots: &[u32],
    facts: &Facts,
) -> Result<(), Error> {
    let is_root = |&&row: &&u32| rows.has(row as usize, mark::ROOT);
    let of_roots = numbering.order.iter().take_while(is_root);
    let is_known = |&row: &u32| (rows.dirs[row as usize] as usize) < facts.roots.len();
    if !of_roots.copied().all(|row| is_known(&row)) {
        return Err(Error::unfit("a root is not one of the scan"));
    }
    for (number, &root) in roots.iter().enumerate() {
        let row = numbering.rows[number] as usize;
        let expected = match numbering.parents[number] {
            NONE => rows.dirs[row],
            parent => roots[parent as usize],
        };
        if root != expected {
            return Err(Error::unfit(
                "a directory belongs to another root than its parent",
            ));
        }
    }
    Ok(())
}

/// By number, which directories of the part a list names.
fn marked(numbering: &Numbering, ids: &[u32]) -> Result<Vec<bool>, Error> {
    let mut marked = vec![false; numbering.len()];
    for &id in ids {
        let number = numbering.number(id);
        let number = number.ok_or_else(|| Error::unfit("an end of a directory that has no row"))?;
        marked[number as usize] = true;
    }
    Ok(marked)
}

/// Joins the names that lead to a directory. The first is a root, which can end in a slash.
pub(crate) fn join<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    let mut path: Vec<u8> = Vec::new();
    for (at, name) in names.enumerate() {
        if at > 0 && !path.is_empty() && path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_ends_in_a_slash_has_no_second_one() {
        let path = |names: &[&'static str]| {
            String::from_utf8(join(names.iter().map(|name| name.as_bytes()))).unwrap()
        };
        assert_eq!(path(&["/", "a", "b"]), "/a/b");
        assert_eq!(path(&["", "a"]), "a");
        assert_eq!(path(&["/srv"]), "/srv");
    }
}
