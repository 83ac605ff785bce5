// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the engine makes of a tree with all its sinks, as plain values.

use std::collections::BTreeMap;
use std::path::Path;

use statwalk_core::{
    GroupKey, Grouping, Largest, LinkPolicy, MountCrossing, Node, NodeKind, Report, RootTotals,
    Scan, Sink, SizeHistogram, Stats, StatsGroup, SymlinkPolicy, Tally, Top, Totals, Tree,
    TreeSink,
};
use statwalk_testkit::naive::{Options, Subtree};

/// How many entries [`Top`] keeps here: fewer than most trees have.
pub(crate) const TOP_COUNT: usize = 7;

/// Everything that sinks say about one scan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) totals: Vec<RootTotals>,
    /// By root and path: the sums of each directory.
    pub(crate) subtrees: BTreeMap<(usize, Vec<u8>), Subtree>,
    /// By root and path: what is no directory, and whether its bytes count there.
    pub(crate) files: BTreeMap<(usize, Vec<u8>), OtherEntry>,
    pub(crate) by_depth: Vec<(Vec<GroupKey>, Tally)>,
    pub(crate) by_size: Vec<(Vec<GroupKey>, Tally)>,
    pub(crate) by_type: Vec<(Vec<GroupKey>, Tally)>,
    pub(crate) by_category: Vec<(Vec<GroupKey>, Tally)>,
    pub(crate) by_type_and_owner: Vec<(Vec<GroupKey>, Tally)>,
    pub(crate) by_depth_and_category: Vec<(Vec<GroupKey>, Tally)>,
    /// The sizes of files in those groups.
    pub(crate) size_histograms: Vec<Option<SizeHistogram>>,
    pub(crate) by_owner: Vec<(Vec<GroupKey>, Tally)>,
    /// Path and size, the largest first.
    pub(crate) top_allocated: Vec<(Vec<u8>, u64)>,
    pub(crate) top_apparent: Vec<(Vec<u8>, u64)>,
}

/// A file of [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OtherEntry {
    pub(crate) kind: NodeKind,
    pub(crate) is_extra_link: bool,
    pub(crate) size_bytes: u128,
    pub(crate) allocated_bytes: u128,
}

/// A scan with the options that the oracle gets.
pub(crate) fn scan_of<P: AsRef<Path>>(roots: &[P], options: &Options<'_>) -> Scan {
    Scan::of(roots.iter().map(|root| root.as_ref().to_owned()))
        .crossing(match options.one_file_system {
            true => MountCrossing::Stay,
            false => MountCrossing::Enter,
        })
        .links(match options.count_links {
            true => LinkPolicy::Each,
            false => LinkPolicy::Once,
        })
        .symlinks(match options.follow {
            true => SymlinkPolicy::Follow,
            false => SymlinkPolicy::Keep,
        })
        .kernel_file_systems(match options.include_kernfs {
            true => statwalk_core::KernelFileSystems::Enter,
            false => statwalk_core::KernelFileSystems::LeaveOut,
        })
        .errors_kept(1_000_000)
}

/// Runs sinks.
pub(crate) trait Run {
    fn run<S: Sink>(&mut self, sink: &S) -> S::Output;
}

/// By a scan.
pub(crate) struct Live<'a> {
    pub(crate) scan: &'a Scan,
    /// Of the first scan.
    pub(crate) report: Option<Report>,
}

impl Run for Live<'_> {
    fn run<S: Sink>(&mut self, sink: &S) -> S::Output {
        let outcome = self.scan.run(sink).expect("the scan begins");
        self.report.get_or_insert(outcome.report);
        outcome.output
    }
}

/// Scans with all sinks.
pub(crate) fn answer(scan: &Scan) -> (Answer, Report) {
    let mut live = Live { scan, report: None };
    let answer = answer_of(&mut live);
    (answer, live.report.expect("it ran"))
}

/// The answer of all sinks in three runs, because four is the most that go together.
pub(crate) fn answer_of(run: &mut impl Run) -> Answer {
    let sinks = (
        Totals::new(),
        TreeSink::new().with_files(),
        Stats::new(Grouping::Depth),
        Top::new(TOP_COUNT, Largest::Allocated),
    );
    let (totals, tree, by_depth, top_allocated) = run.run(&sinks);
    let sinks = (
        Stats::new(Grouping::Type),
        Stats::new(Grouping::Size),
        Stats::new(Grouping::Owner),
        Top::new(TOP_COUNT, Largest::Apparent),
    );
    let (by_type, by_size, by_owner, top_apparent) = run.run(&sinks);
    let sinks = (
        Stats::new(Grouping::Category),
        Stats::new(Grouping::Type).with_subgroups(Grouping::Owner),
        Stats::new(Grouping::Depth)
            .with_subgroups(Grouping::Category)
            .with_size_histograms(),
    );
    let (by_category, by_type_and_owner, by_depth_and_category) = run.run(&sinks);
    let groups = by_depth_and_category.iter();
    let size_histograms = groups.map(|group| group.sizes.clone()).collect();
    let mut answer = Answer {
        totals,
        subtrees: BTreeMap::new(),
        files: BTreeMap::new(),
        by_depth: plain(by_depth),
        by_size: plain(by_size),
        by_type: plain(by_type),
        by_category: plain(by_category),
        by_type_and_owner: plain(by_type_and_owner),
        by_depth_and_category: plain(by_depth_and_category),
        size_histograms,
        by_owner: plain(by_owner),
        top_allocated: (top_allocated.into_iter())
            .map(|top| (top.path, top.attributes.allocated_bytes().unwrap_or(0)))
            .collect(),
        top_apparent: (top_apparent.into_iter())
            .map(|top| (top.path, top.attributes.size_bytes().unwrap_or(0)))
            .collect(),
    };
    for root in 0..tree.root_count() {
        if let Some(node) = tree.root(root) {
            collect(root, node, &mut answer);
        }
    }
    check_file_numbers(&tree);
    answer
}

/// Each file has a number of its own, below the end.
fn check_file_numbers(tree: &Tree) {
    let mut is_met = vec![false; tree.file_number_end()];
    let mut waiting: Vec<_> = (0..tree.root_count())
        .filter_map(|root| tree.root(root))
        .collect();
    while let Some(node) = waiting.pop() {
        assert_eq!(node.file_number(), None, "{:?}", super::text(&node.path()));
        for file in node.files() {
            let number = file.file_number().expect("it is below a directory");
            let told = super::text(&file.path());
            assert!(!is_met[number], "{told:?} has the number of another");
            is_met[number] = true;
        }
        waiting.extend(node.children());
    }
}

fn plain(groups: Vec<StatsGroup>) -> Vec<(Vec<GroupKey>, Tally)> {
    let plain = |group: StatsGroup| (group.keys, group.tally);
    groups.into_iter().map(plain).collect()
}

/// The sums of every directory, without files being kept.
pub(crate) fn directory_sums(tree: &Tree) -> BTreeMap<(usize, Vec<u8>), Subtree> {
    let mut answer = Answer::default_empty();
    for root in 0..tree.root_count() {
        if let Some(node) = tree.root(root) {
            collect(root, node, &mut answer);
        }
    }
    answer.subtrees
}

impl Answer {
    fn default_empty() -> Answer {
        Answer {
            totals: Vec::new(),
            subtrees: BTreeMap::new(),
            files: BTreeMap::new(),
            by_depth: Vec::new(),
            by_size: Vec::new(),
            by_type: Vec::new(),
            by_category: Vec::new(),
            by_type_and_owner: Vec::new(),
            by_depth_and_category: Vec::new(),
            size_histograms: Vec::new(),
            by_owner: Vec::new(),
            top_allocated: Vec::new(),
            top_apparent: Vec::new(),
        }
    }
}

fn collect(root: usize, node: Node<'_>, answer: &mut Answer) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        if node.is_dir() {
            let sums = Subtree {
                apparent_bytes: node.apparent_bytes().expect("the sink keeps sizes"),
                allocated_bytes: node.allocated_bytes().expect("the sink keeps sizes"),
                entries: node.entries(),
                files: node.file_count(),
                dirs: node.dir_count(),
                newest_mtime_ns: node.newest_mtime_ns(),
            };
            let before = answer.subtrees.insert((root, node.path()), sums);
            assert_eq!(
                before,
                None,
                "{:?} is there twice",
                super::text(&node.path())
            );
        }
        waiting.extend(node.children());
        let itself = (!node.is_dir()).then_some(node);
        for file in node.files().chain(itself) {
            let entry = OtherEntry {
                kind: file.kind(),
                is_extra_link: file.is_extra_link(),
                size_bytes: file.apparent_bytes().unwrap_or(0),
                allocated_bytes: file.allocated_bytes().unwrap_or(0),
            };
            let before = answer.files.insert((root, file.path()), entry);
            let told = super::text(&file.path());
            assert_eq!(before, None, "{told:?} is there twice");
        }
    }
}
