// SPDX-License-Identifier: MIT OR Apache-2.0

//! Several roots: overlapping, repeated, missing, unreadable, files and links.

use std::path::{Path, PathBuf};

use statwalk_core::{
    Errno, Exclusions, Fields, LinkPolicy, MountCrossing, RootTotals, Scan, Source, SymlinkPolicy,
    Totals, TreeSink,
};
use statwalk_testkit::mounts::{FileSystem, bind, ext4_image};
use statwalk_testkit::naive::Options;
use statwalk_testkit::unprivileged::as_ordinary_user;
use statwalk_testkit::{Scratch, or_skip, trees};

use super::harness::agreement::check;
use super::harness::listing::Listing;
use super::harness::{child, made};
use crate::harness::sizes;

/// All orders of a few things.
fn permutations<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    if things.len() < 2 {
        return vec![things.to_vec()];
    }
    let mut all = Vec::new();
    for first in 0..things.len() {
        let mut rest = things.to_vec();
        let taken = rest.remove(first);
        for mut order in permutations(&rest) {
            order.insert(0, taken.clone());
            all.push(order);
        }
    }
    all
}

fn total(roots: &[PathBuf], threads: usize) -> RootTotals {
    let outcome = Scan::of(roots)
        .threads(threads)
        .run(&Totals::new())
        .unwrap();
    assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    let mut sum = RootTotals::default();
    for root in &outcome.output {
        sum.entries += root.entries;
        sum.files += root.files;
        sum.dirs += root.dirs;
        sum.symlinks += root.symlinks;
        sum.others += root.others;
        let (sum, root) = (sum.sizes.get_or_insert_default(), sizes(root));
        sum.file_size_bytes += root.file_size_bytes;
        sum.apparent_bytes += root.apparent_bytes;
        sum.allocated_bytes += root.allocated_bytes;
        sum.extra_hard_links += root.extra_hard_links;
    }
    sum
}

#[test]
fn overlapping_roots_in_every_order_agree_and_add_up() {
    let (_scratch, dir) = made(&trees::hard_links());
    let roots = [
        dir.clone(),
        dir.join("nested"),
        dir.join("nested/inner/x"),
        dir.join("link"),
    ];
    let whole = total(&[dir], 1);
    for order in permutations(&roots) {
        check(&order, &Options::default(), &[1, 3]);
        for threads in [1, 2, 8] {
            assert_eq!(total(&order, threads), whole, "{order:?}");
        }
    }
}

#[test]
fn repeated_roots_count_once() {
    let (_scratch, dir) = made(&trees::basic());
    let parent = dir.parent().unwrap();
    let whole = total(std::slice::from_ref(&dir), 1);
    let spelled = [
        dir.clone(),
        dir.join(""),
        parent.join("./t"),
        parent.join("t/docs/.."),
    ];
    for order in permutations(&spelled) {
        assert_eq!(total(&order, 2), whole, "{order:?}");
        let outcome = Scan::of(&order).run(&Totals::new()).unwrap();
        let reached: Vec<_> = outcome
            .report
            .roots
            .iter()
            .map(|root| root.reached_earlier)
            .collect();
        assert_eq!(reached, [false, true, true, true], "{order:?}");
    }
    // Files, by several ways of writing them.
    let file = dir.join("docs/b.txt");
    let again = [
        file.clone(),
        dir.join("docs/./b.txt"),
        file.clone(),
        dir.join("docs"),
    ];
    check(&again, &Options::default(), &[1, 2]);
    let outcome = Scan::of(&again).run(&Totals::new()).unwrap();
    assert_eq!(
        outcome
            .output
            .iter()
            .map(|root| root.files)
            .collect::<Vec<_>>(),
        [1, 0, 0, 2]
    );
}

#[test]
fn a_root_that_is_no_directory_counts_as_itself() {
    let (_scratch, dir) = made(&trees::symbolic_links());
    let (_special, special) = made(&trees::special());
    for root in [
        dir.join("real/file"),
        dir.join("to-directory"),
        dir.join("to-file"),
        dir.join("dangling"),
        dir.join("self"),
        special.join("pipe"),
        special.join("socket"),
    ] {
        check(&[&root], &Options::default(), &[1, 2]);
        let outcome = Scan::new(&root).run(&TreeSink::new().with_files()).unwrap();
        assert!(outcome.report.is_complete(), "{root:?}");
        let node = outcome.output.root(0).unwrap();
        assert_eq!(node.entries(), 1, "{root:?}");
        assert!(!node.is_dir(), "{root:?}");
    }
}

#[test]
fn a_trailing_slash_follows_a_link() {
    let (_scratch, dir) = made(&trees::symbolic_links());
    let expected = total(&[dir.join("real")], 1);
    assert_eq!(total(&[dir.join("to-directory/")], 2), expected);
    assert_eq!(total(&[dir.join("to-directory/.")], 2), expected);
    let link = total(&[dir.join("to-directory")], 1);
    assert_eq!((link.entries, link.symlinks), (1, 1));
    // Both in one scan: the directory once, the link as itself.
    let both = [
        dir.join("to-directory/"),
        dir.join("real"),
        dir.join("to-directory"),
    ];
    for order in permutations(&both) {
        let sum = total(&order, 2);
        assert_eq!(sum.entries, expected.entries + 1, "{order:?}");
        assert_eq!(
            sizes(&sum).allocated_bytes,
            sizes(&expected).allocated_bytes + sizes(&link).allocated_bytes
        );
    }
}

#[test]
fn missing_roots_are_named_and_the_others_counted() {
    let (_scratch, dir) = made(&trees::basic());
    let roots = [
        dir.join("nothing"),
        dir.join("docs"),
        dir.join("README/below-a-file"),
        dir.join("src"),
        PathBuf::from(""),
    ];
    for threads in [1, 4] {
        let outcome = Scan::of(&roots)
            .threads(threads)
            .run(&Totals::new())
            .unwrap();
        let missing: Vec<_> = outcome
            .report
            .roots
            .iter()
            .map(|root| root.missing)
            .collect();
        let expected = [Some(Errno(2)), None, Some(Errno(20)), None, Some(Errno(2))];
        assert_eq!(missing, expected);
        assert!(!outcome.report.is_complete());
        assert_eq!(outcome.output[0].entries, 0);
        assert_eq!(outcome.output[1].entries, 5);
        assert_eq!(outcome.output[3].entries, 4);
    }
    let nul = Scan::of([Path::new("a\0b")]).run(&Totals::new().without_sizes());
    assert!(nul.unwrap_err().to_string().contains("a\\0b") || nul_is_named());
}

fn nul_is_named() -> bool {
    let error = Scan::new("a\0b")
        .run(&Totals::new().without_sizes())
        .unwrap_err();
    error.path().is_some()
}

#[test]
fn an_unreadable_root_is_an_entry_with_an_error() {
    let (_scratch, dir) = made(&trees::permissions());
    or_skip!(as_ordinary_user(|| {
        let roots = [dir.join("none"), dir.join("open"), dir.join("execute-only")];
        for order in permutations(&roots) {
            check(&order, &Options::default(), &[1, 2]);
        }
        let outcome = Scan::of(&roots).run(&Totals::new()).unwrap();
        assert_eq!(outcome.report.roots[0].missing, None);
        assert_eq!(outcome.report.roots[0].unreadable, 1);
        assert_eq!(outcome.output[0].dirs, 1);
        assert_eq!(outcome.output[1].files, 2);
    }));
}

/// It stood there twice, once for each root, with its error.
#[test]
fn an_unreadable_directory_that_is_a_root_too_counts_once() {
    let (_scratch, dir) = made(&trees::permissions());
    or_skip!(as_ordinary_user(|| {
        let roots = [dir.clone(), dir.join("none")];
        let alone = Scan::new(&dir).run(&Totals::new()).unwrap();
        for roots in permutations(&roots) {
            let outcome = Scan::of(&roots).run(&Totals::new()).unwrap();
            let dirs: u64 = outcome.output.iter().map(|root| root.dirs).sum();
            assert_eq!(dirs, alone.output[0].dirs);
            let sum = outcome.report.sum();
            assert_eq!(sum.unreadable, alone.report.sum().unreadable);
        }
    }));
}

/// A directory at the depth limit that is a root stood there twice.
#[test]
fn a_root_at_the_depth_limit_of_another_counts_once() {
    let (_scratch, dir) = made(&trees::hard_links());
    let roots = [dir.clone(), dir.join("nested")];
    for types_only in [false, true] {
        for threads in [1, 3] {
            let dirs = |roots: &[PathBuf], depth| -> u64 {
                let scan = Scan::of(roots).threads(threads).max_depth(depth);
                let outcome = match types_only {
                    true => scan.run(&Totals::new().without_sizes()),
                    false => scan.run(&Totals::new()),
                };
                outcome.unwrap().output.iter().map(|root| root.dirs).sum()
            };
            let above = dirs(&roots[..1], 1);
            let below = dirs(&roots[1..], 1);
            for roots in permutations(&roots) {
                assert_eq!(dirs(&roots, 1), above + below - 1, "{roots:?}");
            }
        }
    }
}

/// A root below a directory that an earlier root could not read is still read.
#[test]
fn a_root_that_an_earlier_one_could_not_reach_is_read() {
    let (_scratch, dir) = made(&trees::permissions());
    or_skip!(as_ordinary_user(|| {
        let roots = [dir.clone(), dir.join("execute-only/known")];
        let outcome = Scan::of(&roots).run(&Totals::new()).unwrap();
        assert!(!outcome.report.roots[1].reached_earlier);
        assert_eq!(
            (
                outcome.output[1].files,
                sizes(&outcome.output[1]).file_size_bytes
            ),
            (1, 50)
        );
    }));
}

/// The subtrees of a whole tree as roots, one after another, and no root at all.
#[test]
fn many_roots_and_none() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.subdirectory("t").unwrap();
    for number in 0..300 {
        let sub = dir.join(format!("d{number}"));
        std::fs::create_dir(&sub).unwrap();
        std::fs::write(sub.join("f"), vec![0; number]).unwrap();
    }
    let mut roots: Vec<_> = (0..300)
        .map(|number| dir.join(format!("d{number}")))
        .collect();
    check(&roots, &Options::default(), &[1, 3]);
    roots.push(dir.clone());
    check(&roots, &Options::default(), &[1, 3]);
    roots.rotate_right(1);
    check(&roots, &Options::default(), &[1, 3]);
    let none: [&Path; 0] = [];
    let outcome = Scan::of(none).run(&Totals::new()).unwrap();
    assert!(outcome.output.is_empty() && outcome.report.is_complete());
}

/// Each of them was compared with all before it, opened in vain, and had a value for each
/// worker: 13,000 names for `*` took eight times as long as with du, and 139 MB.
#[test]
fn thousands_of_files_as_roots_cost_a_stat_each() {
    let scratch = Scratch::new().unwrap();
    let files: Vec<PathBuf> = (0..2_000)
        .map(|number| scratch.path().join(number.to_string()))
        .collect();
    for file in &files {
        std::fs::write(file, b"x").unwrap();
    }
    let calls = |roots: &[PathBuf]| {
        let scan = Scan::of(roots).threads(1).source(Source::Posix);
        let outcome = scan.run(&Totals::new()).unwrap();
        assert!(outcome.report.is_complete(), "{:?}", outcome.report);
        let counted = outcome.output.iter().filter(|root| root.files == 1).count();
        assert_eq!(counted, roots.len());
        outcome.report.calls
    };
    // The one that finds doubles comes before the scan, and is not counted.
    assert_eq!(calls(&files) - calls(&files[..1_000]), 1_000);
    // A directory that holds them all comes last, and counts none of them again.
    let mut roots = files;
    roots.push(scratch.path().to_owned());
    assert_eq!(total(&roots, 2).files, 2_000);
}

/// A worker opened a relative root from the working directory of that moment, so a program
/// that had gone on to another one got other files of the same name, and no error.
#[test]
fn a_relative_root_leads_from_where_the_scan_began() {
    let scratch = Scratch::new().unwrap();
    for (place, bytes) in [("here", 1), ("elsewhere", 1000)] {
        for root in ["first", "second"] {
            let dir = scratch.path().join(place).join(root).join("below");
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("kept"), vec![0; bytes]).unwrap();
            std::fs::write(dir.join("ignored"), vec![0; 50]).unwrap();
        }
    }
    let here = scratch.path().join("here");
    std::fs::create_dir(here.join(".git")).unwrap();
    std::fs::write(here.join(".gitignore"), "ignored").unwrap();
    std::fs::write(here.join("file"), [0; 7]).unwrap();
    let found = child::run(
        "roots::scanned_from_elsewhere",
        scratch.path().to_str().unwrap(),
    );
    assert_eq!(found["bytes"], 1 + 1 + 7);
    assert_eq!(found["excluded"], 2);
}

/// Goes to another directory while the first of several roots is read.
pub(crate) fn scanned_from_elsewhere(scratch: &str) {
    let elsewhere = Path::new(scratch).join("elsewhere");
    std::env::set_current_dir(Path::new(scratch).join("here")).unwrap();
    let scan = Scan::of(["first", "second", "file"])
        .fields(Fields::NAME)
        .exclusions(Exclusions::new().gitignore(true))
        .filter_dir(move |_| {
            std::env::set_current_dir(&elsewhere).unwrap();
            true
        });
    let outcome = scan.run(&Totals::new()).unwrap();
    assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    let bytes = outcome
        .output
        .iter()
        .map(|root| sizes(root).file_size_bytes);
    println!("bytes={}", bytes.sum::<u128>());
    println!("excluded={}", outcome.report.sum().excluded);
}

/// The first root goes less deep there than the second one. It took the directory, and what
/// lies deeper was lost without a sign.
#[test]
fn a_limited_depth_begins_anew_at_each_root() {
    let scratch = Scratch::new().unwrap();
    let top = scratch.path().join("t");
    let below = top.join("a");
    std::fs::create_dir_all(below.join("b")).unwrap();
    std::fs::write(below.join("b/file"), [0; 10]).unwrap();
    std::os::unix::fs::symlink("a", top.join("link")).unwrap();
    for follow in [SymlinkPolicy::Keep, SymlinkPolicy::Follow] {
        for roots in permutations(&[top.clone(), below.clone()]) {
            for threads in [1, 3] {
                let scan = Scan::of(&roots).max_depth(2).threads(threads);
                let outcome = scan.symlinks(follow).run(&Totals::new()).unwrap();
                let sum = |of: fn(&RootTotals) -> u64| outcome.output.iter().map(of).sum::<u64>();
                assert_eq!(sum(|root| root.dirs), 3, "{roots:?} {follow:?}");
                assert_eq!(sum(|root| root.files), 1, "{roots:?} {follow:?}");
                assert_eq!(sum(|root| root.entries), 5, "{roots:?} {follow:?}");
            }
        }
    }
}

/// It was left out itself, and kept what lies there from the root that comes later.
#[test]
fn a_root_that_a_pattern_leaves_out_takes_nothing_from_a_later_one() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("x.o");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("file"), [0; 10]).unwrap();
    let exclusions = Exclusions::new().glob(b"*.o").unwrap();
    // The pattern does not fit the path with a slash or a dot at its end.
    for again in ["", "."] {
        let scan = Scan::of([dir.clone(), dir.join(again)]).exclusions(exclusions.clone());
        let outcome = scan.run(&Totals::new()).unwrap();
        assert_eq!(outcome.output[0].entries, 0);
        let second = outcome.output[1];
        assert_eq!((second.dirs, second.files), (1, 1));
    }
    // Nor does a pattern of a file leave out another name of its directory.
    let file = dir.join("file");
    let scan = Scan::of([file, dir.join("")]).exclusions(exclusions.glob(b"*e").unwrap());
    assert_eq!(scan.run(&Totals::new()).unwrap().output[1].entries, 1);
}

/// A mount that the first root leaves out stood there as a directory without bytes, and again
/// as the root; a file that is mounted lost its bytes. du counts each once, by its root.
#[test]
fn a_mount_that_is_left_out_belongs_to_its_root() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("m");
    std::fs::create_dir_all(dir.join("mp")).unwrap();
    std::fs::write(dir.join("file"), "").unwrap();
    let _mounted = or_skip!(FileSystem::Tmpfs.mount(&dir.join("mp")));
    std::fs::write(dir.join("mp/below"), [1; 5000]).unwrap();
    let other = scratch.subdirectory("other").unwrap();
    let _other = or_skip!(FileSystem::Tmpfs.mount(&other));
    std::fs::write(other.join("file"), [1; 5000]).unwrap();
    let _file = or_skip!(bind(&other.join("file"), &dir.join("file")));
    let roots = [dir.clone(), dir.join("mp"), dir.join("file")];
    for roots in permutations(&roots) {
        let stay = Options {
            one_file_system: true,
            ..Options::default()
        };
        check(&roots, &stay, &[1, 3]);
        let mut du = std::process::Command::new("du");
        let du = du.args(["-xlc", "-B1"]).args(&roots).output().unwrap();
        let sum = String::from_utf8(du.stdout).unwrap();
        let sum = sum.lines().last().unwrap().split('\t').next().unwrap();
        for threads in [1, 3] {
            let scan = Scan::of(&roots).crossing(MountCrossing::Stay);
            let scan = scan.threads(threads).links(LinkPolicy::Each);
            let outcome = scan.run(&Totals::new()).unwrap();
            let bytes = |root: &RootTotals| sizes(root).allocated_bytes;
            let bytes: u128 = outcome.output.iter().map(bytes).sum();
            assert_eq!(bytes.to_string(), sum, "{roots:?}");
            assert_eq!(outcome.report.sum().crossings, 0, "{roots:?}");
            for depth in [1, u32::MAX] {
                for listing in [Listing::with_sizes(), Listing::of_names()] {
                    let found = scan.clone().max_depth(depth).run(&listing).unwrap().output;
                    let mut paths: Vec<_> = found.iter().map(|entry| &entry.path).collect();
                    paths.sort_unstable();
                    let count = paths.len();
                    paths.dedup();
                    assert_eq!((count, paths.len()), (4, 4), "{roots:?} {depth}");
                }
            }
        }
    }
}

/// A file with one link that is mounted elsewhere counted once for each of the roots that show
/// it. du counts it once.
#[test]
fn a_file_that_is_mounted_counts_once_in_all_roots() {
    let scratch = Scratch::new().unwrap();
    let dir = |name: &str| scratch.subdirectory(name).unwrap();
    let (one, two, three) = (dir("one"), dir("two"), dir("three"));
    std::fs::write(one.join("file"), [1; 9_000]).unwrap();
    std::fs::write(one.join("other"), [1; 5_000]).unwrap();
    for dir in [&two, &three] {
        std::fs::write(dir.join("file"), "").unwrap();
    }
    let _two = or_skip!(bind(&one.join("file"), &two.join("file")));
    let _three = or_skip!(bind(&one.join("file"), &three.join("file")));
    let bytes =
        |path: &Path| std::os::unix::fs::MetadataExt::blocks(&path.metadata().unwrap()) * 512;
    let files = bytes(&one.join("file")) + bytes(&one.join("other"));
    let [file, other] = ["file", "other"].map(|name| one.join(name));
    for (roots, dirs) in [
        (vec![file.clone(), two.join("file")], vec![]),
        (
            vec![file.clone(), two.clone(), three.clone()],
            vec![&two, &three],
        ),
        (vec![one.clone(), two.join("file")], vec![&one]),
        (
            vec![two.clone(), one.clone(), other.clone()],
            vec![&one, &two],
        ),
        (vec![two.join("file"), three.join("file")], vec![]),
    ] {
        let is_whole = roots.contains(&one);
        let expected = match is_whole {
            true => files,
            false => bytes(&file),
        };
        let expected = expected + dirs.iter().map(|dir| bytes(dir)).sum::<u64>();
        for roots in permutations(&roots) {
            let mut du = std::process::Command::new("du");
            let du = du.args(["-c", "-B1"]).args(&roots).output().unwrap();
            let sum = String::from_utf8(du.stdout).unwrap();
            let sum = sum.lines().last().unwrap().split('\t').next().unwrap();
            assert_eq!(sum, expected.to_string(), "du, {roots:?}");
            for threads in [1, 3] {
                let scan = Scan::of(&roots).threads(threads);
                let outcome = scan
                    .run(&(Totals::new(), TreeSink::new().with_files()))
                    .unwrap();
                let (totals, tree) = outcome.output;
                let sums = totals.iter().map(|root| sizes(root).allocated_bytes);
                assert_eq!(sums.sum::<u128>(), u128::from(expected), "{roots:?}");
                let nodes = (0..roots.len()).filter_map(|root| tree.root(root));
                // A name that brings no bytes says so.
                let nodes = nodes.filter(|root| !root.is_extra_link());
                let sums = nodes.filter_map(|root| root.allocated_bytes());
                assert_eq!(sums.sum::<u128>(), u128::from(expected), "tree, {roots:?}");
                let each = scan
                    .links(LinkPolicy::Each)
                    .run(&Totals::new())
                    .unwrap()
                    .output;
                let sums = each.iter().map(|root| sizes(root).allocated_bytes);
                assert!(sums.sum::<u128>() > u128::from(expected), "{roots:?}");
            }
        }
    }
}

/// A binding takes a path at one moment and reads it at another.
#[test]
fn a_relative_root_leads_from_a_given_directory() {
    let (_scratch, dir) = made(&trees::basic());
    let scan = Scan::of(["docs", "none"]).relative_to(&dir);
    let outcome = scan.run(&Listing::with_sizes()).unwrap();
    assert!(outcome.report.roots[1].missing.is_some());
    assert!(
        outcome
            .output
            .iter()
            .any(|entry| entry.path == b"docs/b.txt")
    );
    let whole = total(&[dir.join("docs")], 1);
    assert_eq!(outcome.output.len() as u64, whole.entries);
    let error = scan.relative_to(dir.join("none")).run(&Totals::new());
    assert_eq!(error.unwrap_err().path(), Some(&b"docs"[..]));
}

/// The image was looked for in the working directory.
#[test]
fn a_relative_image_leads_from_a_given_directory() {
    let (scratch, dir) = made(&trees::basic());
    let image = scratch.path().join("image");
    or_skip!(ext4_image(&image, 32 << 20, &[], Some(&dir)));
    let scan = Scan::new("image").source(Source::Ext4);
    let outcome = scan.relative_to(scratch.path()).run(&Totals::new());
    let found = &outcome.unwrap().output[0];
    // And its lost+found.
    assert_eq!(found.entries, total(&[dir], 1).entries + 1);
}
