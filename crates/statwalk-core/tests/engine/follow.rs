// SPDX-License-Identifier: MIT OR Apache-2.0

//! Scans that follow symbolic links: loops end, each inode counts its bytes
//! once, what is reached without links comes first, and chance decides nothing.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use statwalk_core::{Scan, Source, SymlinkPolicy, Totals, TreeSink};
use statwalk_testkit::{Scratch, settle, trees};

use super::harness::THREADS;
use super::harness::answer::{Answer, answer};
use super::harness::listing::Listing;
use crate::harness::sizes;

fn following(root: &Path, threads: usize) -> Scan {
    Scan::new(root)
        .symlinks(SymlinkPolicy::Follow)
        .threads(threads)
}

/// The answer, which is the same for any number of workers.
fn answered(root: &Path) -> Answer {
    let alone = answer(&following(root, 1)).0;
    for threads in THREADS {
        let (again, report) = answer(&following(root, threads));
        assert_eq!(again, alone, "{threads} workers");
        assert_eq!(report.sum().unreadable, 0, "{:?}", report.errors);
        assert_eq!(report.sum().vanished, 0);
    }
    alone
}

fn allocated(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).unwrap().blocks() * 512
}

fn make(top: &Path) -> PathBuf {
    let dir = top.join("t");
    trees::followable_links().materialise(&dir).unwrap();
    settle(&dir).unwrap();
    dir
}

/// Each link was followed when all else was done, one after another: its directory was opened
/// anew, and it cost three stats.
#[test]
fn a_link_to_a_file_costs_one_stat() {
    let scratch = Scratch::new().unwrap();
    let links = scratch.path().join("links");
    std::fs::create_dir(&links).unwrap();
    std::fs::write(scratch.path().join("file"), b"x").unwrap();
    let mut made = 0;
    let mut calls_for = |count: u64| {
        for number in made..count {
            symlink("../file", links.join(number.to_string())).unwrap();
        }
        made = count;
        [Totals::new(), Totals::new().without_sizes()].map(|sink| {
            let scan = following(&links, 1).source(Source::Posix);
            let outcome = scan.run(&sink).unwrap();
            assert!(outcome.report.is_complete(), "{:?}", outcome.report);
            // Types alone know no inode, and count the names.
            assert_eq!(outcome.output[0].entries, count + 1);
            outcome.report.calls
        })
    };
    let (few, many) = (calls_for(10), calls_for(60));
    assert_eq!([many[0] - few[0], many[1] - few[1]], [50, 50]);
}

#[test]
fn loops_end_and_bytes_count_once() {
    let scratch = Scratch::new().unwrap();
    let dir = make(scratch.path());
    let answer = answered(&dir);
    let totals = answer.totals[0];
    // Two files, by whatever way they are reached.
    assert_eq!(sizes(&totals).file_size_bytes, 3_500);
    // The directories are listed by their real paths: `.`, loop, real, real/inner.
    let files: Vec<_> = answer.files.keys().map(|(_, path)| path.clone()).collect();
    let listed = Scan::new(&dir)
        .run(&Listing::of_names())
        .unwrap()
        .output
        .len();
    assert_eq!(
        totals.entries, listed as u64,
        "each name is one entry: {files:?}"
    );
    let sum: u64 = [
        "",
        "loop",
        "real",
        "real/inner",
        "real/file",
        "real/inner/x",
    ]
    .iter()
    .map(|path| allocated(&dir.join(path)))
    .sum();
    assert_eq!(sizes(&totals).allocated_bytes, sum.into());
}

#[test]
fn a_directory_outside_that_two_links_lead_to_is_listed_once() {
    let scratch = Scratch::new().unwrap();
    let dir = make(scratch.path());
    let outside = scratch.path().join("outside");
    trees::basic().materialise(&outside).unwrap();
    settle(&outside).unwrap();
    let plain = answered(&dir).totals[0];
    // Links in the tree of each name: the first in path order leads there.
    symlink("../outside", dir.join("m-first")).unwrap();
    symlink("../../outside", dir.join("real/outside")).unwrap();
    symlink("../outside/docs", dir.join("z-docs")).unwrap();
    let totals = answered(&dir).totals[0];
    let model = trees::basic().totals();
    assert_eq!(
        sizes(&totals).file_size_bytes,
        sizes(&plain).file_size_bytes + model.file_size_bytes
    );
    let tree = following(&dir, 2).run(&TreeSink::new()).unwrap().output;
    let children: Vec<_> = tree.root(0).unwrap().children().collect();
    let first = children
        .iter()
        .find(|child| child.name() == b"m-first")
        .unwrap();
    // `src/docs` in it is one more link to a directory that was listed.
    assert_eq!(first.entries(), model.entries);
    assert_eq!(first.file_count(), model.files);
}

#[test]
fn a_root_that_is_a_link_is_followed() {
    let scratch = Scratch::new().unwrap();
    let dir = make(scratch.path());
    let link = scratch.path().join("link");
    symlink("t", &link).unwrap();
    let (direct, through) = (answered(&dir), answered(&link));
    assert_eq!(direct.totals, through.totals);
    assert_eq!(direct.by_type, through.by_type);
    let file = scratch.path().join("to-file");
    symlink("t/real/file", &file).unwrap();
    let totals = answered(&file).totals[0];
    assert_eq!(
        (totals.entries, totals.files, sizes(&totals).file_size_bytes),
        (1, 1, 3_000)
    );
    let dangling = scratch.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    let outcome = following(&dangling, 2).run(&Totals::new()).unwrap();
    assert_eq!(outcome.output[0].entries, 0);
    let missing = |errno| Some(statwalk_core::Errno(errno));
    assert_eq!(outcome.report.roots[0].missing, missing(2));
    let circle = scratch.path().join("circle");
    symlink("circle", &circle).unwrap();
    let outcome = following(&circle, 2).run(&Totals::new()).unwrap();
    assert_eq!(outcome.output[0].entries, 0);
    assert_eq!(outcome.report.roots[0].missing, missing(40));
}

#[test]
fn links_that_lead_nowhere_count_as_themselves() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    symlink("nowhere", dir.join("dangling")).unwrap();
    symlink("self", dir.join("self")).unwrap();
    symlink("pong", dir.join("ping")).unwrap();
    symlink("ping", dir.join("pong")).unwrap();
    let totals = answered(&dir).totals[0];
    assert_eq!((totals.entries, totals.symlinks, totals.dirs), (5, 4, 1));
    assert_eq!(sizes(&totals).apparent_bytes, 7 + 4 + 4 + 4);
}

/// A name that led to a directory, and had no bytes, took those of a name that dangles where
/// it came first.
#[test]
fn a_link_with_two_names_counts_where_it_dangles() {
    for [leads, dangles] in [["a", "z"], ["z", "a"]] {
        let scratch = Scratch::new().unwrap();
        let dir = scratch.subdirectory("t").unwrap();
        let (leads, dangles) = (dir.join(leads), dir.join(dangles).join("deep"));
        for dir in [&dir.join("d"), &leads, &dangles] {
            std::fs::create_dir_all(dir).unwrap();
        }
        symlink("../d", leads.join("link")).unwrap();
        std::fs::hard_link(leads.join("link"), dangles.join("link")).unwrap();
        settle(&dir).unwrap();
        for _ in 0..20 {
            let answer = answered(&dir);
            let totals = &answer.totals[0];
            assert_eq!((totals.entries, totals.symlinks), (7, 2));
            assert_eq!(sizes(totals).apparent_bytes, 4);
            assert_eq!(sizes(totals).extra_hard_links, 0);
            let whole = dir.to_str().unwrap().as_bytes().to_vec();
            assert_eq!(answer.subtrees[&(0, whole)].apparent_bytes, 4);
        }
    }
}

/// The real path wins over a link to it, also where the link comes first.
#[test]
fn the_real_path_has_the_bytes() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    for sub in ["a", "m", "z"] {
        std::fs::create_dir(dir.join(sub)).unwrap();
    }
    std::fs::write(dir.join("z/file"), [1; 50_000]).unwrap();
    std::fs::create_dir(dir.join("z/dir")).unwrap();
    std::fs::write(dir.join("z/dir/inner"), [1; 30_000]).unwrap();
    symlink("../z/file", dir.join("a/to-file")).unwrap();
    symlink("../z/dir", dir.join("a/to-dir")).unwrap();
    symlink("../z/dir/inner", dir.join("m/to-inner")).unwrap();
    settle(&dir).unwrap();
    let answer = answered(&dir);
    assert_eq!(sizes(&answer.totals[0]).file_size_bytes, 80_000);
    let of = |sub: &str| {
        let path = dir.join(sub).to_str().unwrap().as_bytes().to_vec();
        answer.subtrees[&(0, path)].apparent_bytes
    };
    // A link to a directory that was listed may bring the bytes of its own name.
    assert!(of("a") < 100, "{} bytes went to the links", of("a"));
    assert_eq!((of("m"), of("z")), (0, 80_000));
    let largest = String::from_utf8(answer.top_apparent[0].0.clone()).unwrap();
    assert!(largest.ends_with("/z/file"), "{largest}");
}

/// What a link leads to and cannot be read is an error, not a link without end.
#[test]
fn links_to_what_cannot_be_read_are_errors() {
    use statwalk_core::{Cause, Errno, Op};
    use statwalk_testkit::{or_skip, unprivileged::as_ordinary_user};
    let scratch = Scratch::new().unwrap();
    let outside = scratch.path().join("outside");
    trees::permissions().materialise(&outside).unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    symlink("../outside/none", dir.join("closed")).unwrap();
    symlink("../outside/none", dir.join("closed-again")).unwrap();
    symlink("../outside/none/hidden", dir.join("hidden")).unwrap();
    or_skip!(as_ordinary_user(|| {
        for threads in THREADS {
            let scan = following(&dir, threads);
            let outcome = scan.run(&Totals::new()).unwrap();
            let errors: Vec<_> = (outcome.report.errors.iter())
                .map(|error| (error.path.clone(), error.op, error.cause))
                .collect();
            let path = |name: &str| dir.join(name).to_str().unwrap().as_bytes().to_vec();
            let expected = [
                (path("closed"), Op::Open, Cause::System(Errno(13))),
                (path("hidden"), Op::Follow, Cause::System(Errno(13))),
            ];
            assert_eq!(errors, expected, "{threads} workers");
            assert_eq!(outcome.output[0].entries, 4);
            assert_eq!(outcome.output[0].dirs, 2);
            assert!(!outcome.report.is_complete());
        }
    }));
}

/// Mounts of kernel file systems are left out behind links too.
#[test]
fn a_link_to_proc_is_not_followed() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    symlink("/proc", dir.join("proc")).unwrap();
    let totals = answered(&dir).totals[0];
    assert_eq!(totals.entries, 2);
}

#[test]
fn types_alone_follow_too() {
    let scratch = Scratch::new().unwrap();
    let dir = make(scratch.path());
    let outside = scratch.path().join("outside");
    trees::basic().materialise(&outside).unwrap();
    symlink("../outside", dir.join("m-first")).unwrap();
    for threads in THREADS {
        let sizes = following(&dir, threads).run(&Totals::new()).unwrap().output[0];
        let types = following(&dir, threads)
            .run(&Totals::new().without_sizes())
            .unwrap()
            .output[0];
        assert_eq!((sizes.entries, sizes.dirs), (types.entries, types.dirs));
        assert_eq!((sizes.files, sizes.symlinks), (types.files, types.symlinks));
    }
}

/// Also where directories must be closed early and found again, through links.
#[test]
fn followed_with_few_descriptors() {
    use super::harness::child;
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    let outside = scratch.subdirectory("outside").unwrap();
    let mut deep = outside.clone();
    for level in 0..60 {
        deep.push("d");
        std::fs::create_dir(&deep).unwrap();
        std::fs::create_dir(deep.join("side")).unwrap();
        std::fs::write(deep.join(format!("f{level}")), b"x").unwrap();
        symlink("../side", deep.join("side/up")).unwrap();
    }
    symlink("../outside", dir.join("link")).unwrap();
    let root = scratch.path().join("root");
    symlink("t", &root).unwrap();
    for root in [&dir, &root] {
        let argument = format!("{}", root.display());
        let found = child::run("follow::followed_in_a_child", &argument);
        assert_eq!(found["files"], 60, "{found:?}");
        assert_eq!(
            (found["unreadable"], found["vanished"]),
            (0, 0),
            "{found:?}"
        );
        assert_eq!(found["entries"], 1 + 1 + 60 * 4, "{found:?}");
    }
}

/// The part of the test above that runs in a child.
pub(crate) fn followed_in_a_child(root: &str) {
    use super::harness::child;
    use rustix::process::{Resource, Rlimit, setrlimit};
    let (current, maximum) = (Some(40), Some(40));
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let outcome = following(Path::new(root), 3).run(&Totals::new()).unwrap();
    child::print_totals(&outcome);
}

/// A directory at the depth limit was delivered once more by each link that leads to it, and
/// so was the root by a link that leads above it.
#[test]
fn a_directory_at_the_depth_limit_counts_once() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("t/root");
    std::fs::create_dir_all(root.join("real")).unwrap();
    for link in ["first", "second"] {
        symlink("real", root.join(link)).unwrap();
    }
    for threads in [1, 3] {
        let scan = Scan::new(&root)
            .symlinks(SymlinkPolicy::Follow)
            .max_depth(1);
        let outcome = scan.threads(threads).run(&Totals::new()).unwrap();
        let found = outcome.output[0];
        assert_eq!((found.entries, found.dirs, found.symlinks), (4, 2, 2));
        assert!(outcome.report.is_complete());
    }
    symlink("..", root.join("up")).unwrap();
    let scan = Scan::new(&root)
        .symlinks(SymlinkPolicy::Follow)
        .max_depth(2);
    let outcome = scan.run(&Totals::new()).unwrap();
    let real = [&root, &root.join("real"), &scratch.path().join("t")].map(|path| allocated(path));
    let sum = u128::from(real.iter().sum::<u64>());
    assert_eq!(sizes(&outcome.output[0]).allocated_bytes, sum);
}

/// The real directory lies at the limit, and a link leads to it from above: what is in it
/// is within the limit on that way, and its own bytes counted twice.
#[test]
fn a_directory_at_the_limit_that_a_link_opens_has_its_bytes_once() {
    let scratch = Scratch::new().unwrap();
    let root = scratch.path().join("root");
    let real = root.join("a/real");
    std::fs::create_dir_all(&real).unwrap();
    std::fs::write(real.join("file"), [1; 10]).unwrap();
    symlink("a/real", root.join("link")).unwrap();
    let paths = [&root, &root.join("a"), &real, &real.join("file")];
    let sum = paths.iter().map(|path| u128::from(allocated(path))).sum();
    for threads in [1, 3] {
        let scan = following(&root, threads).max_depth(2);
        let outcome = scan.run(&Totals::new()).unwrap();
        let found = outcome.output[0];
        assert_eq!((found.dirs, found.files, found.symlinks), (4, 1, 0));
        assert_eq!(sizes(&found).allocated_bytes, sum);
        assert!(outcome.report.is_complete());
    }
}
