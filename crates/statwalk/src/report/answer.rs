// SPDX-License-Identifier: MIT OR Apache-2.0

//! The scan of a report, and its answer.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use statwalk_core::{CountedInodes, Extension, GroupKey, TopOf, Totals, Tree, TreeSink};
use statwalk_report::{
    Answer, Category, Choice, Detail, Directory, Ending, Failed, Large, Names, Owner, Space, Sums,
};
use statwalk_view::{SizeColumn, counted};

use super::group_sums::GroupSums;
use super::hints::Hints;
use super::survey::{NOT_FILES, Survey};
use super::tree::{Indices, Reported, place_of_owner, reported};
use crate::answer::about::{About, Root};
use crate::answer::largest_files::{LargestFiles, largest_files};
use crate::answer::owner_names::{KnownOwners, OwnerNames, Owners};
use crate::output::rows::largest_directories;
use crate::output::scanned_tree::{Part, bytes};
use crate::rebuildable::{self, FoundTraces, TraceSink};
use crate::stored::StoredScan;

/// How many files are listed.
const LARGEST: usize = 100;
/// How many directories are listed.
const DIRECTORIES: usize = 20;
const SECOND_NS: i64 = 1_000_000_000;

/// The sinks of a report.
pub(crate) type Sinks = (Totals, TreeSink, (LargestFiles, TraceSink));

/// The answers of the sinks, without the totals.
pub(crate) struct Scan {
    pub(crate) tree: Tree,
    pub(crate) largest: Vec<TopOf>,
    pub(crate) traces: FoundTraces,
    /// The stored scan that it is; absent for one of now.
    pub(crate) stored: Option<Arc<StoredScan>>,
}

impl Scan {
    /// The sinks of a report. `counted` is for [`spaces`](super::spaces).
    pub(crate) fn sinks(counted: &CountedInodes) -> Sinks {
        let top = largest_files(LARGEST, SizeColumn::Disk);
        let tree = TreeSink::new().with_files().with_owners();
        let totals = Totals::new().with_counted_inodes(counted);
        (totals, tree, (top, TraceSink))
    }
}

/// Makes the answer of a report, with the tree as the report needs it and, for a page, with
/// its nodes.
pub(crate) fn answer<'a>(
    scan: &'a Scan,
    about: &About,
    spaces: Vec<Space>,
    page: Option<(Detail, Names)>,
) -> (Answer, Reported<'a>, Option<Choice<Part>>) {
    let words: Vec<&OsStr> = about.roots.iter().map(Root::word).collect();
    let (started_ns, ended_ns) = (about.origin.started_ns, about.ended_ns());
    let tree = reported(&scan.tree, about.roots.iter().map(whole_path).collect());
    let totals = totals(&about.roots);
    let errors = errors(&tree, about);
    let count = || {
        let hints = Hints {
            tree: &tree,
            largest: &scan.largest,
            rebuildable: rebuildable::all(
                &scan.tree,
                &words,
                &scan.traces,
                about.gaps.interrupted,
                scan.stored.as_deref(),
            ),
            errors: &errors,
            whole: totals.sums.allocated_bytes,
            now_ns: started_ns,
        };
        let by = match about.has_no_blocks() {
            true => SizeColumn::Apparent,
            false => SizeColumn::Disk,
        };
        let survey = Survey::of(&scan.tree, started_ns);
        (survey, directories(&tree, by), hints.all())
    };
    // Sizes and names alone decide which nodes are in a page, so nobody waits for groups.
    let (choice, (survey, directories, (worth, rebuildable))) = match page {
        Some((detail, names)) => {
            let (choice, counted) = Choice::beside(&tree, detail, names, count);
            (Some(choice), counted)
        }
        None => (None, count()),
    };
    let owners = owners_of(&survey.owners, KnownOwners::of(scan.stored.as_deref()));
    let (categories, not_files) = survey.categories();
    let (listed, mut endings) = survey.endings();
    if let Some((_, Names::Redacted)) = page {
        hide_unknown(&listed, &mut endings);
    }
    let (ages, sizes, percentiles) = (survey.ages(), survey.sizes(), survey.percentiles());
    let tree = tree.with_indices(indices(survey, &owners, &categories, &listed));
    let mut categories: Vec<Category> = (categories.into_iter())
        .map(|(category, sums)| Category {
            key: category.name().to_owned(),
            label: category.label().to_owned(),
            sums,
        })
        .collect();
    categories.push(Category {
        key: "not_files".to_owned(),
        label: NOT_FILES.to_owned(),
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
        ages,
        sizes,
        percentiles,
        // A link or a queue is among the largest entries of a small tree, and no file.
        largest: (scan.largest.iter())
            .filter(|file| file.attributes.kind == statwalk_core::FileType::File)
            .map(|file| large(&tree, file))
            .collect(),
        directories,
        errors,
        errors_total: sum.unreadable + sum.changed_dirs + about.missing().count() as u64,
        changed_total: sum.changed_dirs,
        spaces,
        worth,
        rebuildable,
    };
    (answer, tree, choice)
}

/// Replaces the endings that can be names: of a user, a host or a project.
fn hide_unknown(extensions: &[Extension], endings: &mut [Ending]) {
    for ((number, extension), ending) in (1..).zip(extensions).zip(endings) {
        if let Ending::Named(name, _) = ending
            && !name.is_empty()
            && !extension.is_known()
        {
            *name = format!("ending-{number}");
        }
    }
}

/// The places that groups have in the answer.
fn indices(
    survey: Survey,
    owners: &[Owner],
    categories: &[(statwalk_core::Category, Sums)],
    listed: &[Extension],
) -> Indices {
    let place = |index: usize| u8::try_from(index).expect("there are few groups");
    let categories = categories.iter().enumerate();
    let mut categories: Vec<_> = categories
        .map(|(index, &(category, _))| (category, place(index)))
        .collect();
    let not_files = place(categories.len());
    categories.sort_unstable();
    let endings = listed.iter().enumerate();
    let mut endings: Vec<_> = endings
        .map(|(index, &ending)| (ending, place(index)))
        .collect();
    endings.sort_unstable();
    let owners = places_of_owners(owners);
    let numbered = survey.owners.all();
    Indices {
        owners_of_tallies: numbered
            .map(|(key, _)| place_of_owner(&owners, uid_of(key)))
            .collect(),
        of_groups: survey.places_of_groups(&categories, &endings),
        of_files: survey.of_files,
        tallies: survey.tallies,
        categories,
        endings,
        owners,
        not_files,
    }
}

/// The places of owners by their numbers.
fn places_of_owners(owners: &[Owner]) -> Vec<(u32, u32)> {
    let places = (0..).zip(owners);
    let known = places.filter_map(|(place, owner)| Some((owner.id?, place)));
    let mut places: Vec<_> = known.collect();
    places.sort_unstable();
    places
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

fn present_roots(tree: &Reported<'_>, about: &About) -> Vec<Vec<u8>> {
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
fn errors(tree: &Reported<'_, ()>, about: &About) -> Vec<Failed> {
    let errors = about.errors().map(|error| Failed {
        path: whole_path_of(tree, about, error.path),
        operation: error.op.name().to_owned(),
        cause: error.cause.to_string(),
    });
    errors.collect()
}

/// The path of an entry, whose beginning is a root as the user gave it.
fn whole_path_of(tree: &Reported<'_, ()>, about: &About, path: &[u8]) -> Vec<u8> {
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

fn large(tree: &Reported<'_>, file: &TopOf) -> Large {
    let attributes = &file.attributes;
    let name = &file.path[..];
    Large {
        path: tree.path_of(file),
        allocated_bytes: attributes.allocated_bytes().unwrap_or(0),
        apparent_bytes: attributes.size_bytes().unwrap_or(0),
        newest_s: attributes.mtime_ns().map(|ns| ns.div_euclid(SECOND_NS)),
        owner: tree.indices.owner(attributes.uid()),
        category: tree.indices.category(name),
        ending: tree.indices.ending(name),
    }
}

fn directories(tree: &Reported<'_, ()>, by: SizeColumn) -> Vec<Directory> {
    let nodes = largest_directories(tree.tree, by, |_| true, DIRECTORIES);
    let nodes = nodes.into_iter().map(|node| {
        let (allocated_bytes, apparent_bytes) = bytes(&node);
        Directory {
            path: tree.path_of_node(&node),
            sums: Sums {
                allocated_bytes,
                apparent_bytes,
                entries: node.entries(),
                newest_s: None,
            },
            is_incomplete: node.is_incomplete(),
        }
    });
    nodes.collect()
}

/// The owners, the largest first.
fn owners_of(groups: &GroupSums, known: KnownOwners<'_>) -> Vec<Owner> {
    let mut names = OwnerNames::default();
    let all: Vec<_> = groups
        .all()
        .map(|(key, sums)| (uid_of(key), sums))
        .collect();
    names.keep_users(all.iter().filter_map(|&(uid, _)| uid), known);
    let owners = all.iter().map(|&(id, sums)| Owner {
        id,
        name: id.and_then(|uid| names.user(uid)),
        sums,
    });
    let mut owners: Vec<_> = owners.collect();
    owners.sort_by(|a, b| {
        let by_size = b.sums.allocated_bytes.cmp(&a.sums.allocated_bytes);
        by_size.then(a.id.cmp(&b.id))
    });
    owners
}

/// The owner of a group; absent where it is not known.
fn uid_of(key: GroupKey) -> Option<u32> {
    match key {
        GroupKey::Owner(uid) => Some(uid),
        _ => None,
    }
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
    let unread = match about.gaps.unread_patterns() {
        0 => "could not be read: the sums are a lower bound",
        _ => "could not be read: the sums may not be exact",
    };
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
    left_out.extend(statwalk_view::sentences_of_stacked(
        sum.overlays_left_out,
        sum.mounts_perhaps_twice,
    ));
    left_out
}
