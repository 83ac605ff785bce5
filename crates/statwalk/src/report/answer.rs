// SPDX-License-Identifier: MIT OR Apache-2.0

//! The scan of a report, and its answer.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use statwalk_core::{
    DirId, Extension, GroupKey, Grouping, Largest, Stats, StatsGroup, Top, TopOf, Totals, Tree,
    TreeSink,
};
use statwalk_report::{
    Answer, Category, Choice, Detail, Directory, Failed, Large, Names, Owner, Space, Sums,
};
use statwalk_view::rebuildable::Traces;
use statwalk_view::{SizeColumn, counted};

use super::hints::Hints;
use super::survey::Survey;
use super::tree::{Indices, Part, ScannedTree, bytes};
use crate::answer::about::{About, Root};
use crate::answer::owner_names::{OwnerNames, Owners};
use crate::output::rows::largest_directories;
use crate::rebuildable::{self, TraceSink};

/// How many files are listed.
const LARGEST: usize = 100;
/// How many directories are listed.
const DIRECTORIES: usize = 20;
const SECOND_NS: i64 = 1_000_000_000;

/// The sinks of a report.
pub(crate) type Sinks = (Totals, TreeSink, (Top, Stats, TraceSink));

/// The answers of the sinks, without the totals.
pub(crate) struct Scan {
    pub(crate) tree: Tree,
    pub(crate) largest: Vec<TopOf>,
    pub(crate) owners: Vec<StatsGroup>,
    pub(crate) traces: HashMap<DirId, Traces>,
}

impl Scan {
    pub(crate) fn sinks() -> Sinks {
        let top = Top::new(LARGEST, Largest::Allocated);
        let owners = Stats::new(Grouping::Owner);
        let tree = TreeSink::new().with_files().with_owners();
        (Totals::new(), tree, (top, owners, TraceSink))
    }
}

/// Makes the answer of a report, with the tree as the report needs it and, for a page, with
/// its nodes.
pub(crate) fn answer<'a>(
    scan: &'a Scan,
    about: &mut About,
    space: Option<Space>,
    page: Option<(Detail, Names)>,
) -> (Answer, ScannedTree<'a>, Option<Choice<Part<'a>>>) {
    about.owners = names_of(&scan.owners);
    let about = &*about;
    let words: Vec<&OsStr> = about.roots.iter().map(Root::word).collect();
    let (started_ns, ended_ns) = (about.origin.started_ns, about.ended_ns());
    let tree = ScannedTree {
        tree: &scan.tree,
        paths: about.roots.iter().map(whole_path).collect(),
        indices: OnceLock::new(),
    };
    let totals = totals(&about.roots);
    let errors = errors(&tree, about);
    let owners = owners_of(&scan.owners, &about.owners);
    let count = || {
        let survey = Survey::of(&scan.tree, started_ns);
        let (categories, endings) = (survey.categories(), survey.endings());
        tree.indices
            .get_or_init(|| indices(&survey, &categories.0, &endings.0, &owners));
        let hints = Hints {
            tree: &tree,
            largest: &scan.largest,
            rebuildable: rebuildable::all(&scan.tree, &words, &scan.traces, about.gaps.interrupted),
            errors: &errors,
            whole: totals.sums.allocated_bytes,
            now_ns: started_ns,
        };
        let groups = (survey, categories, endings);
        (groups, directories(&tree), hints.all())
    };
    let (choice, (groups, directories, worth)) = match page {
        Some((detail, names)) => {
            let (choice, counted) = Choice::beside(&tree, detail, names, count);
            (Some(choice), counted)
        }
        None => (None, count()),
    };
    let (survey, (categories, not_files), (_, endings)) = groups;
    let mut categories: Vec<Category> = (categories.into_iter())
        .map(|(category, sums)| Category {
            key: category.name().to_owned(),
            label: category.label().to_owned(),
            sums,
        })
        .collect();
    categories.push(Category {
        key: "not_files".to_owned(),
        label: survey.not_files_label(),
        sums: not_files,
    });
    let sum = &about.gaps.sum;
    let answer = Answer {
        program: concat!("statwalk ", env!("CARGO_PKG_VERSION")).to_owned(),
        roots: present_roots(&tree, about),
        host: about.origin.host.clone(),
        time_ns: ended_ns,
        options: about.origin.arguments.clone(),
        gaps: gaps(about),
        left_out: left_out(about),
        totals,
        categories,
        endings,
        owners,
        ages: survey.ages(),
        sizes: survey.sizes(),
        percentiles: survey.percentiles(),
        largest: scan.largest.iter().map(|file| large(&tree, file)).collect(),
        directories,
        errors,
        errors_total: sum.unreadable + sum.changed_dirs + about.missing().count() as u64,
        space,
        worth,
    };
    (answer, tree, choice)
}

/// The places that the groups will have in the answer.
fn indices(
    survey: &Survey,
    categories: &[(statwalk_core::Category, Sums)],
    listed: &[Extension],
    owners: &[Owner],
) -> Indices {
    let places = |index: usize| u8::try_from(index).expect("there are few groups");
    let mut indices = Indices {
        not_files: places(categories.len()),
        categories: (categories.iter().enumerate())
            .map(|(index, &(category, _))| (category, places(index)))
            .collect(),
        endings: (listed.iter().enumerate())
            .map(|(index, &ending)| (ending, places(index)))
            .collect(),
        of_files: Default::default(),
        owners: (0..)
            .zip(owners)
            .filter_map(|(index, owner)| Some((owner.id?, index)))
            .collect(),
    };
    indices.categories.sort_unstable();
    indices.endings.sort_unstable();
    indices.owners.sort_unstable();
    indices.of_files = survey.places_of_files(&indices.categories, &indices.endings);
    indices
}

/// The path from the root of the file system, without a slash at its end.
fn whole_path(root: &Root) -> Vec<u8> {
    let path = Path::new(root.word());
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut whole = whole.as_os_str().as_bytes().to_vec();
    while whole.len() > 1 && whole.ends_with(b"/") {
        whole.pop();
    }
    whole
}

fn present_roots(tree: &ScannedTree<'_>, about: &About) -> Vec<Vec<u8>> {
    let roots = tree.paths.iter().zip(&about.roots);
    let present =
        roots.filter(|(_, root)| root.gaps.missing.is_none() && !root.gaps.reached_earlier);
    present.map(|(path, _)| path.clone()).collect()
}

fn totals(roots: &[Root]) -> statwalk_report::Totals {
    let mut totals = statwalk_report::Totals::default();
    for root in roots.iter().map(|root| &root.totals) {
        totals.sums.entries += root.entries;
        totals.files += root.files;
        totals.directories += root.dirs;
        totals.links += root.symlinks;
        totals.other += root.others;
        if let Some(sizes) = &root.sizes {
            totals.sums.allocated_bytes += sizes.allocated_bytes;
            totals.sums.apparent_bytes += sizes.apparent_bytes;
        }
    }
    totals
}

/// The missing roots, and the entries that could not be read.
fn errors(tree: &ScannedTree<'_>, about: &About) -> Vec<Failed> {
    let errors = about.errors().map(|error| Failed {
        path: whole_path_of(tree, about, error.path),
        operation: error.op.name().to_owned(),
        cause: error.cause.to_string(),
    });
    errors.collect()
}

/// The path of an entry, whose beginning is a root as the user gave it.
fn whole_path_of(tree: &ScannedTree<'_>, about: &About, path: &[u8]) -> Vec<u8> {
    let below = |root: &[u8]| {
        let rest = path.strip_prefix(root)?;
        let is_whole = rest.is_empty() || rest.starts_with(b"/") || root.ends_with(b"/");
        is_whole.then_some((root.len(), rest))
    };
    let roots = about.roots.iter().zip(&tree.paths);
    let fitting = roots.filter_map(|(root, whole)| Some((below(&root.path)?, whole)));
    let Some(((_, rest), whole)) = fitting.max_by_key(|((length, _), _)| *length) else {
        return path.to_vec();
    };
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    match (rest.is_empty(), whole.ends_with(b"/")) {
        (true, _) => whole.clone(),
        (false, true) => [whole, rest].concat(),
        (false, false) => [whole, &b"/"[..], rest].concat(),
    }
}

fn large(tree: &ScannedTree<'_>, file: &TopOf) -> Large {
    let attributes = &file.attributes;
    let is_file = attributes.kind == statwalk_core::FileType::File;
    let name = &file.path[..];
    Large {
        path: tree.path_of(file),
        allocated_bytes: attributes.allocated_bytes().unwrap_or(0),
        apparent_bytes: attributes.size_bytes().unwrap_or(0),
        newest_s: attributes.mtime_ns().map(|ns| ns.div_euclid(SECOND_NS)),
        owner: tree.indices().owner(attributes.uid()),
        category: match is_file {
            true => tree.indices().category(name),
            false => tree.indices().not_files,
        },
        ending: match is_file {
            true => tree.indices().ending(name),
            false => statwalk_report::NONE,
        },
    }
}

fn directories(tree: &ScannedTree<'_>) -> Vec<Directory> {
    let nodes = largest_directories(tree.tree, SizeColumn::Disk, |_| true, DIRECTORIES);
    let nodes = nodes.into_iter().map(|node| {
        let (allocated_bytes, apparent_bytes) = bytes(&node);
        Directory {
            path: tree.path(node),
            sums: Sums {
                allocated_bytes,
                apparent_bytes,
                entries: node.entries(),
            },
        }
    });
    nodes.collect()
}

/// The names of the owners.
fn names_of(groups: &[StatsGroup]) -> OwnerNames {
    let mut names = OwnerNames::default();
    for key in groups.iter().flat_map(|group| &group.keys) {
        if let GroupKey::Owner(uid) = key {
            names.keep_user(*uid);
        }
    }
    names
}

/// The owners, the largest first.
fn owners_of(groups: &[StatsGroup], names: &OwnerNames) -> Vec<Owner> {
    let mut owners: Vec<Owner> = Vec::new();
    for group in groups {
        let id = match group.keys.first() {
            Some(GroupKey::Owner(uid)) => Some(*uid),
            _ => None,
        };
        owners.push(Owner {
            id,
            name: id.and_then(|uid| names.user(uid)),
            sums: Sums {
                allocated_bytes: group.tally.allocated_bytes,
                apparent_bytes: group.tally.apparent_bytes,
                entries: group.tally.entries,
            },
        });
    }
    owners.sort_by(|a, b| {
        let by_size = b.sums.allocated_bytes.cmp(&a.sums.allocated_bytes);
        by_size.then(a.id.cmp(&b.id))
    });
    owners
}

/// The reasons for which the sums are a lower bound.
fn gaps(about: &About) -> Vec<String> {
    let sum = &about.gaps.sum;
    let missing = about.missing().count();
    let mut gaps = Vec::new();
    if about.gaps.interrupted {
        gaps.push("The scan was interrupted: all sums are a lower bound.".to_owned());
    }
    let mut say = |count: u64, one: &str, many: &str, what: &str| {
        if count > 0 {
            gaps.push(format!("{} {what}.", counted(count, one, many)));
        }
    };
    let unread = "could not be read: the sums are a lower bound";
    say(sum.unreadable, "entry", "entries", unread);
    let moved = "changed while statwalk read them";
    say(sum.changed_dirs, "directory", "directories", moved);
    say(missing as u64, "path", "paths", "could not be opened");
    gaps
}

/// The sentences about entries that the scan left out on purpose.
fn left_out(about: &About) -> Vec<String> {
    let sum = &about.gaps.sum;
    let mut left_out = Vec::new();
    let mut say = |count: u64, one: &str, many: &str| {
        if count > 0 {
            left_out.push(format!("Not in the sums: {}.", counted(count, one, many)));
        }
    };
    say(sum.crossings, "other file system", "other file systems");
    say(sum.excluded, "excluded entry", "excluded entries");
    left_out
}
