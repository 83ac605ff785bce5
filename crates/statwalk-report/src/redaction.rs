// SPDX-License-Identifier: MIT OR Apache-2.0

//! Names in a report that is for others: each becomes a number, and endings that say a format
//! stay.
//!
//! An entry has the same number in the tree and in the lists. A number counts the entries
//! of its kind in the order in which the report has them, so the same scan gives the same
//! numbers.

use std::borrow::Cow;
use std::collections::HashMap;

use statwalk_view::Kind;

use crate::answer::Answer;

/// The names in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// As they are.
    #[default]
    Original,
    /// Numbers for host, owners, roots and all entries.
    Redacted,
}

/// The names of a report while it is made.
pub(crate) struct Naming(Option<Redaction>);

/// A place among the paths that lists name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

impl Place {
    /// Above all roots.
    pub(crate) const ABOVE: Place = Place(0);
    /// No list names a path here or below.
    const UNNAMED: Place = Place(u32::MAX);
}

struct Redaction {
    roots: Vec<Vec<u8>>,
    counts: HashMap<&'static str, u64>,
    places: Vec<Named>,
}

/// A place with its new name and those below.
#[derive(Default)]
struct Named {
    name: Option<Vec<u8>>,
    below: HashMap<Vec<u8>, Place>,
}

impl Naming {
    pub(crate) fn new(names: Names, answer: &Answer) -> Naming {
        Naming(match names {
            Names::Original => None,
            Names::Redacted => Some(Redaction::new(answer)),
        })
    }

    /// One that leaves all names as they are.
    pub(crate) fn of_originals() -> Naming {
        Naming(None)
    }

    /// The name of a node that stands below a place, and its own place. `ending` gives the
    /// ending that stays.
    pub(crate) fn of_node<'n>(
        &mut self,
        above: Place,
        kind: Kind,
        name: Cow<'n, [u8]>,
        ending: impl FnOnce() -> Vec<u8>,
    ) -> (Cow<'n, [u8]>, Place) {
        let Some(redaction) = &mut self.0 else {
            return (name, Place::UNNAMED);
        };
        let word = match kind {
            // They have no name.
            Kind::Rest | Kind::Itself | Kind::Roots => return (name, Place::ABOVE),
            _ if above == Place::ABOVE => "root",
            Kind::Directory => "dir",
            Kind::File => "file",
            Kind::Link => "link",
            Kind::Other => "other",
        };
        let place = redaction.below(above, &name);
        (redaction.give(place, word, &ending()).into(), place)
    }

    /// The same answer without names.
    pub(crate) fn apply<'a>(&mut self, answer: &'a Answer) -> Cow<'a, Answer> {
        let Some(redaction) = &mut self.0 else {
            return Cow::Borrowed(answer);
        };
        let mut answer = answer.clone();
        answer.host = b"host".to_vec();
        // Words without a hyphen are paths and patterns, and behind an equals sign can be one.
        // Behind two hyphens alone all are.
        answer.options = (answer.options.iter())
            .take_while(|word| *word != b"--")
            .filter(|word| word.starts_with(b"--") && word.len() > 2)
            .map(|word| {
                let end = word.iter().position(|&byte| byte == b'=');
                word[..end.unwrap_or(word.len())].to_vec()
            })
            .collect();
        for (number, owner) in (1..).zip(&mut answer.owners) {
            if owner.id.take().is_some() || owner.name.is_some() {
                owner.name = Some(format!("owner-{number}").into_bytes());
            }
        }
        for space in &mut answer.spaces {
            space.point.clear();
        }
        for part in answer.spaces.iter_mut().flat_map(|space| &mut space.parts) {
            // The reason for a gap can name a device, and so a volume.
            part.note = part.note.take().filter(|note| !note.contains('/'));
        }
        for root in &mut answer.roots {
            *root = redaction.path(root, "root");
        }
        for large in &mut answer.largest {
            large.path = redaction.path(&large.path, "file");
        }
        for directory in &mut answer.directories {
            directory.path = redaction.path(&directory.path, "dir");
        }
        let again = answer.rebuildable.largest.iter_mut();
        for hint in answer.worth.iter_mut().chain(again) {
            hint.path = redaction.path(&hint.path, "entry");
        }
        for failed in &mut answer.errors {
            failed.path = redaction.path(&failed.path, "entry");
        }
        Cow::Owned(answer)
    }
}

impl Redaction {
    fn new(answer: &Answer) -> Redaction {
        let mut redaction = Redaction {
            roots: answer.roots.clone(),
            counts: HashMap::new(),
            places: vec![Named::default()],
        };
        let directories = answer.directories.iter().map(|directory| &directory.path);
        let named = (answer.roots.iter())
            .chain(answer.largest.iter().map(|large| &large.path))
            .chain(directories)
            .chain(answer.worth.iter().map(|hint| &hint.path))
            .chain(answer.rebuildable.largest.iter().map(|hint| &hint.path))
            .chain(answer.errors.iter().map(|failed| &failed.path));
        for path in named {
            let mut place = Place::ABOVE;
            for name in parts(&redaction.roots, path) {
                place = redaction.add(place, &name);
            }
        }
        redaction
    }

    fn add(&mut self, above: Place, name: &[u8]) -> Place {
        match self.below(above, name) {
            Place::UNNAMED => {
                let place = Place(self.places.len() as u32);
                self.places.push(Named::default());
                let below = &mut self.places[above.0 as usize].below;
                below.insert(name.to_vec(), place);
                place
            }
            place => place,
        }
    }

    fn below(&self, above: Place, name: &[u8]) -> Place {
        let named = self.places.get(above.0 as usize);
        let place = named.and_then(|named| named.below.get(name));
        place.copied().unwrap_or(Place::UNNAMED)
    }

    /// The new name of an entry. One that a list names keeps it.
    fn give(&mut self, place: Place, word: &'static str, ending: &[u8]) -> Vec<u8> {
        let known = self.places.get(place.0 as usize);
        if let Some(name) = known.and_then(|named| named.name.clone()) {
            return name;
        }
        let count = self.counts.entry(word).or_default();
        *count += 1;
        let slash = if word == "root" { "/" } else { "" };
        let mut name = format!("{slash}{word}-{count}").into_bytes();
        if !ending.is_empty() {
            name.push(b'.');
            name.extend_from_slice(ending);
        }
        if let Some(named) = self.places.get_mut(place.0 as usize) {
            named.name = Some(name.clone());
        }
        name
    }

    /// The path of new names; `last` is the kind of the last where the tree has it not.
    fn path(&mut self, path: &[u8], last: &'static str) -> Vec<u8> {
        let parts = parts(&self.roots, path);
        let count = parts.len();
        let mut place = Place::ABOVE;
        let mut whole = Vec::new();
        for (index, name) in parts.iter().enumerate() {
            place = self.below(place, name);
            let word = match index {
                0 => "root",
                _ if index + 1 == count => last,
                _ => "dir",
            };
            if index > 0 {
                whole.push(b'/');
            }
            whole.extend(self.give(place, word, &[]));
        }
        whole
    }
}

/// The longest root of a path, and the names below it.
fn parts(roots: &[Vec<u8>], path: &[u8]) -> Vec<Vec<u8>> {
    let below = |root: &&Vec<u8>| {
        let rest = path.strip_prefix(&root[..])?;
        (rest.is_empty() || root.ends_with(b"/") || rest.starts_with(b"/")).then_some(rest)
    };
    let longest = roots.iter().filter(|root| below(root).is_some());
    let Some(root) = longest.max_by_key(|root| root.len()) else {
        return vec![path.to_vec()];
    };
    let rest = below(&root).unwrap_or_default();
    let names = rest.split(|&byte| byte == b'/');
    let names = names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec);
    [root.clone()].into_iter().chain(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_root_and_names() {
        let roots = [b"/".to_vec(), b"/srv".to_vec(), b"/srv/a".to_vec()];
        let check = |path: &str, expected: &[&str]| {
            let parts = parts(&roots, path.as_bytes());
            let parts: Vec<_> = parts
                .iter()
                .map(|part| str::from_utf8(part).unwrap())
                .collect();
            assert_eq!(parts, expected, "{path}");
        };
        check("/", &["/"]);
        check("/usr/b", &["/", "usr", "b"]);
        check("/srv/a", &["/srv/a"]);
        check("/srv/ab/c", &["/srv", "ab", "c"]);
        check("elsewhere", &["elsewhere"]);
    }

    #[test]
    fn an_entry_has_one_name_in_the_tree_and_in_lists() {
        let directory = |path: &str| crate::Directory {
            path: path.into(),
            sums: crate::Sums::default(),
            is_incomplete: false,
        };
        let answer = Answer {
            roots: vec![b"/srv".to_vec()],
            options: [
                &b"--exclude=kim"[..],
                b"-ofile",
                b"/srv",
                b"--redact",
                b"--",
                b"--kim",
            ]
            .map(<[u8]>::to_vec)
            .to_vec(),
            spaces: vec![crate::Space {
                point: b"/srv/kim".to_vec(),
                parts: ["opens /dev/kim", "needs root"]
                    .map(|note| crate::Part {
                        label: "part".to_owned(),
                        bytes: 0,
                        level: 0,
                        note: Some(note.to_owned()),
                    })
                    .to_vec(),
                ..crate::Space::default()
            }],
            directories: vec![directory("/srv/kim"), directory("/srv/lee/deep")],
            ..Answer::default()
        };
        let mut naming = Naming::new(Names::Redacted, &answer);
        let mut name = |above, kind, name: &'static str, ending: &str| {
            let name = Cow::Borrowed(name.as_bytes());
            let (name, place) = naming.of_node(above, kind, name, || ending.into());
            (String::from_utf8(name.into_owned()).unwrap(), place)
        };
        let (root, srv) = name(Place::ABOVE, Kind::Directory, "/srv", "");
        assert_eq!(root, "/root-1");
        assert_eq!(name(srv, Kind::Directory, "other", "").0, "dir-1");
        assert_eq!(name(srv, Kind::Directory, "kim", "").0, "dir-2");
        assert_eq!(name(srv, Kind::File, "a.ISO", "iso").0, "file-1.iso");
        let redacted = naming.apply(&answer);
        let paths: Vec<_> = redacted
            .directories
            .iter()
            .map(|one| &one.path[..])
            .collect();
        assert_eq!(paths, [&b"/root-1/dir-2"[..], b"/root-1/dir-3/dir-4"]);
        assert_eq!(redacted.options, [&b"--exclude"[..], b"--redact"]);
        assert!(redacted.spaces[0].point.is_empty());
        let parts = redacted.spaces.iter().flat_map(|space| &space.parts);
        let notes: Vec<_> = parts.map(|part| part.note.as_deref()).collect();
        assert_eq!(notes, [None, Some("needs root")]);
    }
}
