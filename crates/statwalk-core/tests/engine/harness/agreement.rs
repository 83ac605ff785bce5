// SPDX-License-Identifier: MIT OR Apache-2.0

//! Compares what the engine says with what the oracle says, sink by sink.

use std::collections::BTreeMap;
use std::path::Path;

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{
    Extension, FileType, GroupKey, NodeKind, Order, Report, RootTotals, Scan, Tally, Totals,
    TreeSink,
};
use statwalk_testkit::EntryType;
use statwalk_testkit::naive::{self, Counts, NaiveEntry, NaiveReport, Options, Subtree};

use super::answer::{Answer, OtherEntry, TOP_COUNT, answer, directory_sums, scan_of};
use super::naming;
use super::{ORDERS, text};
use crate::harness::sizes;

/// Scans the roots with each number of workers, and compares everything with the oracle.
pub(crate) fn check<P: AsRef<Path>>(roots: &[P], options: &Options<'_>, threads: &[usize]) {
    check_scan(roots, options, threads, &scan_of(roots, options));
}

/// As [`check`], with a scan whose exclusions are what the oracle's options leave out.
pub(crate) fn check_scan<P: AsRef<Path>>(
    roots: &[P],
    options: &Options<'_>,
    threads: &[usize],
    scan: &Scan,
) {
    let expected = naive::scan_with(roots, options).expect("the oracle can judge");
    for (scan, told) in variants(scan, threads) {
        let (answer, report) = answer(&scan);
        let paths: Vec<_> = roots.iter().map(|root| root.as_ref()).collect();
        let told = format!("{told}, {paths:?}");
        compare_totals(&expected, &answer.totals, &report, options, &told);
        compare_errors(&expected, &report, &told);
        compare_tree(&expected, &answer, &told);
        compare_stats(&expected, &answer, options, &told);
        compare_top(&expected, &answer, options, &told);

        // The sinks that keep less, by themselves.
        let sizes = scan.run(&Totals::new()).expect("the scan begins");
        assert_eq!(sizes.output, answer.totals, "{told}");
        let tree = scan.run(&TreeSink::new()).expect("it begins");
        assert_eq!(directory_sums(&tree.output), answer.subtrees, "{told}");
        let types = scan
            .run(&Totals::new().without_sizes())
            .expect("the scan begins");
        let kinds = |of: &[RootTotals]| -> Vec<_> {
            of.iter()
                .map(|t| (t.entries, t.files, t.dirs, t.symlinks, t.others))
                .collect()
        };
        assert_eq!(kinds(&types.output), kinds(&answer.totals), "{told}");
    }
}

/// The scan with each number of workers, and in every other order.
fn variants(scan: &Scan, threads: &[usize]) -> Vec<(Scan, String)> {
    let parallel = threads.iter().map(|&threads| (ORDERS[0], threads));
    let most = threads.iter().copied().max().unwrap_or(1);
    let others = ORDERS.into_iter().skip(1).flat_map(|order| {
        // Recursion is one worker's.
        let both = [1, most];
        let numbers = if order == Order::Recursive || most == 1 {
            &both[..1]
        } else {
            &both
        };
        numbers
            .iter()
            .map(move |&threads| (order, threads))
            .collect::<Vec<_>>()
    });
    let chosen = parallel.chain(others);
    let variant = |(order, threads): (AnyOrder, usize)| {
        let told = format!("{}, {threads} workers", order.name());
        (scan.clone().order(order).threads(threads), told)
    };
    chosen.map(variant).collect()
}

/// Compares only sums over whole roots; where attribution is left to choice.
pub(crate) fn check_totals<P: AsRef<Path>>(roots: &[P], options: &Options<'_>, threads: &[usize]) {
    let expected = naive::scan_with(roots, options).expect("the oracle can judge");
    for &threads in threads {
        let scan = scan_of(roots, options).threads(threads);
        let outcome = scan.run(&Totals::new()).expect("the scan begins");
        let told = format!("{threads} workers");
        compare_totals(&expected, &outcome.output, &outcome.report, options, &told);
        compare_errors(&expected, &outcome.report, &told);
    }
}

/// The totals of one root as the oracle would put them.
pub(crate) fn counts(totals: &RootTotals, report: &statwalk_core::RootReport) -> Counts {
    let sizes = sizes(totals);
    Counts {
        entries: totals.entries,
        files: totals.files,
        dirs: totals.dirs,
        symlinks: totals.symlinks,
        others: totals.others,
        file_size_bytes: sizes.file_size_bytes,
        apparent_bytes: sizes.apparent_bytes,
        allocated_bytes: sizes.allocated_bytes,
        extra_hard_links: sizes.extra_hard_links,
        unreadable: report.unreadable,
        vanished: report.vanished,
        excluded: report.excluded,
        crossings: report.crossings,
    }
}

fn compare_totals(
    expected: &NaiveReport,
    totals: &[RootTotals],
    report: &Report,
    options: &Options<'_>,
    told: &str,
) {
    assert_eq!(totals.len(), expected.roots.len(), "{told}");
    for ((expected, totals), report) in expected.roots.iter().zip(totals).zip(&report.roots) {
        let path = text(&expected.path);
        let mut counts_expected = expected.counts;
        // The engine counts the names that it leaves out. With every name counted
        // it leaves out none; the oracle counts them all the same.
        if options.count_links {
            counts_expected.extra_hard_links = 0;
        }
        let found = counts(totals, report);
        assert_eq!(found, counts_expected, "{path}, {told}");
        assert_eq!(report.missing.is_some(), expected.missing, "{path}, {told}");
        assert_eq!(report.changed_dirs, 0, "{path}, {told}");
    }
    let whole = expected.total().unreadable == 0 && expected.roots.iter().all(|root| !root.missing);
    assert_eq!(report.is_complete(), whole, "{told}");
    assert!(!report.interrupted, "{told}");
}

fn compare_errors(expected: &NaiveReport, report: &Report, told: &str) {
    let found: Vec<_> = (report.errors.iter())
        .map(|error| {
            (
                error.path.as_slice(),
                error.cause.errno().map_or(0, |errno| errno.0),
            )
        })
        .collect();
    assert_eq!(found, expected.errors(), "{told}");
    let counted: u64 = report.error_counts.iter().map(|count| count.2).sum();
    assert_eq!(counted, expected.total().unreadable, "{told}");
}

fn compare_tree(expected: &NaiveReport, answer: &Answer, told: &str) {
    let mut directories: BTreeMap<(usize, Vec<u8>), Subtree> = BTreeMap::new();
    let mut files = BTreeMap::new();
    for entry in &expected.entries {
        let key = (entry.root, entry.path.clone());
        if entry.entry_type == EntryType::Directory {
            directories.insert(key, expected.subtrees[&entry.path]);
        } else {
            let attributes = entry.attributes.filter(|_| entry.not_entered.is_none());
            let other = OtherEntry {
                kind: NodeKind::Other(kind(entry.entry_type)),
                is_extra_link: attributes.is_some() && !entry.counted,
                size_bytes: attributes.map_or(0, |attributes| attributes.size_bytes.into()),
                allocated_bytes: attributes
                    .map_or(0, |attributes| u128::from(attributes.blocks) * 512),
            };
            files.insert(key, other);
        }
    }
    compare_maps(&directories, &answer.subtrees, told);
    compare_maps(&files, &answer.files, told);
}

/// Names the first difference: whole trees are too much to read.
pub(crate) fn compare_maps<V: PartialEq + std::fmt::Debug>(
    expected: &BTreeMap<(usize, Vec<u8>), V>,
    found: &BTreeMap<(usize, Vec<u8>), V>,
    told: &str,
) {
    for (key, value) in expected {
        let path = text(&key.1);
        assert_eq!(
            found.get(key),
            Some(value),
            "root {}, {path}, {told}",
            key.0
        );
    }
    for key in found.keys() {
        let path = text(&key.1);
        assert!(
            expected.contains_key(key),
            "root {}, {path} too much, {told}",
            key.0
        );
    }
}

fn compare_stats(expected: &NaiveReport, answer: &Answer, options: &Options<'_>, told: &str) {
    let size = |entry: &NaiveEntry| match known(entry) {
        Some(attributes) => GroupKey::SizeBelowPower(64 - attributes.size_bytes.leading_zeros()),
        None => GroupKey::Unknown,
    };
    let owner = |entry: &NaiveEntry| match known(entry) {
        Some(attributes) => GroupKey::Owner(attributes.uid),
        None => GroupKey::Unknown,
    };
    let by_type = |entry: &NaiveEntry| match entry.entry_type {
        EntryType::File => GroupKey::Extension(Extension::of_name(
            &[b"x.", &naming::extension(&entry.path)[..]].concat(),
        )),
        other => GroupKey::Kind(kind(other)),
    };
    let by_category = |entry: &NaiveEntry| match entry.entry_type {
        EntryType::File => GroupKey::Category(naming::category(&entry.path)),
        other => GroupKey::Kind(kind(other)),
    };
    let depth = |entry: &NaiveEntry| {
        let root = &expected.roots[entry.root].path;
        let below = &entry.path[root.len()..];
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let slashes = below.iter().filter(|&&byte| byte == b'/').count() as u32;
        GroupKey::Depth(if below.is_empty() { 0 } else { slashes + 1 })
    };
    let once = !options.count_links;
    let by = |key: &dyn Fn(&NaiveEntry) -> GroupKey| grouped(expected, &|e| vec![key(e)], once);
    let by_two = |first: &dyn Fn(&NaiveEntry) -> GroupKey,
                  second: &dyn Fn(&NaiveEntry) -> GroupKey| {
        grouped(expected, &|entry| vec![first(entry), second(entry)], once)
    };
    assert_eq!(answer.by_size, by(&size), "{told}");
    assert_eq!(answer.by_owner, by(&owner), "{told}");
    assert_eq!(answer.by_type, by(&by_type), "{told}");
    assert_eq!(answer.by_category, by(&by_category), "{told}");
    assert_eq!(answer.by_depth, by(&depth), "{told}");
    let type_and_owner = by_two(&by_type, &owner);
    assert_eq!(answer.by_type_and_owner, type_and_owner, "{told}");
    let depth_and_category = by_two(&depth, &by_category);
    assert_eq!(answer.by_depth_and_category, depth_and_category, "{told}");

    let mut sizes: BTreeMap<Vec<GroupKey>, Vec<u64>> = BTreeMap::new();
    for entry in &expected.entries {
        let files = sizes
            .entry(vec![depth(entry), by_category(entry)])
            .or_default();
        let attributes = known(entry).filter(|_| entry.counted || !once);
        let is_file = entry.entry_type == EntryType::File;
        files.extend(attributes.filter(|_| is_file).map(|of| of.size_bytes));
    }
    for (histogram, (keys, mut files)) in answer.size_histograms.iter().zip(sizes) {
        let histogram = histogram.as_ref().expect("the sink was asked for it");
        files.sort_unstable();
        assert_eq!(
            histogram.file_count(),
            files.len() as u64,
            "{keys:?}, {told}"
        );
        for percent in [1, 50, 90, 99, 100] {
            let found = histogram.percentile(percent);
            let exact = nearest_rank(&files, percent);
            let limits = exact.map(|exact| exact..=exact + exact / 16);
            let is_near = found
                .zip(limits)
                .is_some_and(|(found, limits)| limits.contains(&found));
            assert!(
                is_near || found == exact,
                "{found:?} for {exact:?}, {keys:?}, {told}"
            );
        }
    }
}

/// The percentile of sorted sizes, by its definition.
fn nearest_rank(sizes: &[u64], percent: u8) -> Option<u64> {
    let is_enough = |&&size: &&u64| {
        let not_larger = sizes.iter().filter(|&&other| other <= size).count();
        not_larger * 100 >= sizes.len() * usize::from(percent)
    };
    sizes.iter().find(is_enough).copied()
}

fn grouped(
    expected: &NaiveReport,
    keys: &dyn Fn(&NaiveEntry) -> Vec<GroupKey>,
    once: bool,
) -> Vec<(Vec<GroupKey>, Tally)> {
    let mut groups: BTreeMap<Vec<GroupKey>, Tally> = BTreeMap::new();
    for entry in &expected.entries {
        let tally = groups.entry(keys(entry)).or_default();
        tally.entries += 1;
        let Some(attributes) = known(entry).filter(|_| entry.counted || !once) else {
            continue;
        };
        tally.allocated_bytes += u128::from(attributes.blocks) * 512;
        if matches!(entry.entry_type, EntryType::File | EntryType::Symlink) {
            tally.apparent_bytes += u128::from(attributes.size_bytes);
        }
    }
    groups.into_iter().collect()
}

fn compare_top(expected: &NaiveReport, answer: &Answer, options: &Options<'_>, told: &str) {
    let largest = |size: fn(&naive::NaiveAttributes) -> u64| {
        let mut all: Vec<_> = (expected.entries.iter())
            .filter(|entry| entry.entry_type != EntryType::Directory)
            .filter(|entry| entry.counted || options.count_links)
            .filter_map(|entry| Some((entry, size(&known(entry)?))))
            .collect();
        // The oracle's entries are in path order, and this sort keeps it.
        all.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
        all.truncate(TOP_COUNT);
        let of = |(entry, size): (&NaiveEntry, u64)| (entry.path.clone(), size);
        all.into_iter().map(of).collect::<Vec<_>>()
    };
    let allocated = largest(|attributes| attributes.blocks * 512);
    assert_eq!(answer.top_allocated, allocated, "{told}");
    let apparent = largest(|attributes| attributes.size_bytes);
    assert_eq!(answer.top_apparent, apparent, "{told}");
}

/// The attributes that a scan gets to know.
fn known(entry: &NaiveEntry) -> Option<naive::NaiveAttributes> {
    entry.attributes.filter(|_| entry.not_entered.is_none())
}

fn kind(of: EntryType) -> FileType {
    match of {
        EntryType::Directory => FileType::Directory,
        EntryType::File => FileType::File,
        EntryType::Symlink => FileType::Symlink,
        EntryType::Fifo => FileType::Fifo,
        EntryType::Socket => FileType::Socket,
        EntryType::CharDevice => FileType::CharDevice,
        EntryType::BlockDevice => FileType::BlockDevice,
        EntryType::Unknown => FileType::Unknown,
    }
}
