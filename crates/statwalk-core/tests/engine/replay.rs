// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sinks that are driven by rows say what they say of the scan that the rows came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use rustix::io::Errno;
use statwalk_core::{
    Attributes, Batch, Collect, Context, DirId, DirState, Directory, DirectoryRow, EntryError,
    Exclusions, Fields, FileId, FileType, Grouping, Largest, LinkPolicy, LiveDir, LiveTree, Node,
    Origin, Replay, Scan, Sink, Stats, SymlinkPolicy, Time, Top, Totals, Tree, TreeSink,
};
use statwalk_space::btrfs::Inodes;
use statwalk_testkit::fault_fs::{FaultFs, Op, When};
use statwalk_testkit::generator::{Shape, generate};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::naive::Options;
use statwalk_testkit::{or_skip, strategy, trees};

use super::harness::answer::{Answer, Live, Run, answer_of, scan_of};
use super::harness::listing::{Listed, Listing};
use super::harness::records::{Record, Records};
use super::harness::scratch_in_memory;

/// The sinks of the crate, as they stand behind `impl … Sink for`.
///
/// [`Everything`] has those that are public. A fold, and what is gathered (entries and
/// rows), get the same batches as [`Listing`] and [`Records`] there: `entries.rs` and
/// `rows.rs` compare them.
const SINKS: [&str; 10] = [
    "$($sink,)+",
    "&S",
    "Fold<I, E, M>",
    "GatherSink<T>",
    "LiveTree",
    "Option<S>",
    "Stats",
    "Top",
    "Totals",
    "TreeSink",
];

/// By the rows of a scan.
struct Replayed<'a> {
    scan: &'a Scan,
    roots: &'a [&'a Path],
    options: &'a Options<'a>,
    more: Fields,
}

/// Everything that a scan can read.
fn all_fields() -> Fields {
    Records.fields() | Fields::ATIME
}

impl Replayed<'_> {
    fn context(&self) -> Context {
        let roots = (self.roots.iter()).map(|root| root.as_os_str().as_encoded_bytes());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut context = Context::new(roots, now.as_nanos() as i64);
        context.follows = self.options.follow;
        if self.options.count_links {
            context.links = LinkPolicy::Each;
        }
        context
    }
}

impl Run for Replayed<'_> {
    fn run<S: Sink>(&mut self, sink: &S) -> S::Output {
        let (mut rows, mut errors) = (Vec::new(), Vec::<EntryError>::new());
        let scan = self.scan.clone().fields(sink.fields() | self.more);
        for found in scan.rows().unwrap() {
            match found {
                Ok(found) => rows.push(found),
                Err(error) => errors.push(error),
            }
        }
        // A sink is not told about a missing root.
        errors.retain(|error| !self.roots.iter().any(|root| error.to_path_buf() == *root));
        let mut replay = Replay::new(sink, self.context());
        // From the last to the first, as they may come.
        for rows in rows.iter().rev() {
            assert!(replay.rows(rows).is_continue(), "{replay:?}");
        }
        for error in &errors {
            assert!(replay.failed(error).is_continue());
        }
        replay.finish().expect("the rows are whole")
    }
}

/// Keeps what is said of directories, and of errors.
struct Ends;

#[derive(Default)]
struct EndsState(BTreeSet<(&'static str, Vec<u8>)>);

impl Sink for Ends {
    type State = EndsState;
    type Output = BTreeSet<(&'static str, Vec<u8>)>;

    fn fields(&self) -> Fields {
        Fields::TYPE | Fields::SIZE
    }

    fn states(&self, _: &Context, count: usize) -> Vec<EndsState> {
        (0..count).map(|_| EndsState::default()).collect()
    }

    fn merge(&self, _: &Context, states: Vec<EndsState>) -> Self::Output {
        states.into_iter().flat_map(|state| state.0).collect()
    }
}

impl Collect for EndsState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let state = match directory.state() {
            DirState::Listed => "listed",
            DirState::Unreadable => "unreadable",
            DirState::Crossing => "crossing",
            DirState::Excluded => "excluded",
            DirState::AtDepthLimit => "at the limit",
            _ => "another",
        };
        self.0.insert((state, directory.path()));
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        let seen = match origin.directory() {
            None => ("a root", Vec::new()),
            Some(directory) => ("entries", directory.path()),
        };
        self.0.insert(seen);
        ControlFlow::Continue(())
    }

    fn incomplete(&mut self, directory: &Directory<'_>) {
        self.0.insert(("incomplete", directory.path()));
    }

    fn finished(&mut self, directory: &Directory<'_>) {
        self.0.insert(("finished", directory.path()));
    }

    fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        self.0.insert(("failed", error.path.clone()));
        ControlFlow::Continue(())
    }
}

/// By root and path.
type Facts = BTreeMap<(usize, Vec<u8>), String>;

/// All nodes of a tree.
fn facts(run: &mut impl Run, sink: &TreeSink) -> Facts {
    let tree = run.run(sink);
    let mut by_path = Facts::new();
    for root in 0..tree.root_count() {
        let mut waiting: Vec<Node<'_>> = tree.root(root).into_iter().collect();
        while let Some(node) = waiting.pop() {
            for node in node.files().chain([node]) {
                let facts = format!(
                    "{:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {} {}",
                    node.kind(),
                    node.uid(),
                    node.identity(),
                    node.newest_time_ns(),
                    node.entries(),
                    node.allocated_bytes(),
                    node.own_allocated_bytes(),
                    node.has_other_names(),
                    node.is_incomplete(),
                    node.is_extra_link(),
                );
                by_path.insert((root, node.path()), facts);
            }
            waiting.extend(node.children());
        }
    }
    by_path
}

/// A path with the sums of a directory: of a root its bytes, of others their counts,
/// because chance decides which has the bytes of an inode with several names.
type LiveSums = (Vec<u8>, u64, u64, bool);

fn live_sums(run: &mut impl Run, roots: usize) -> Vec<LiveSums> {
    let live = LiveTree::new();
    run.run(&live);
    let mut sums = Vec::new();
    for root in (0..roots).filter_map(|root| live.root(root)) {
        let (disk, apparent) = (root.allocated_bytes, root.apparent_bytes);
        sums.push((Vec::new(), disk, apparent, root.is_incomplete));
        let mut waiting: Vec<(Vec<u8>, LiveDir)> = vec![(root.name.clone(), root)];
        while let Some((path, dir)) = waiting.pop() {
            for child in live.children(dir.id) {
                waiting.push(([&path[..], &child.name].join(&b'/'), child));
            }
            sums.push((path, dir.entries, dir.dirs, dir.is_incomplete));
        }
    }
    sums.sort();
    sums
}

/// What all sinks say.
struct Everything {
    answer: Answer,
    ends: BTreeSet<(&'static str, Vec<u8>)>,
    trees: Vec<Facts>,
    live: Vec<LiveSums>,
    listed: Vec<Listed>,
    /// Absent where a path can come twice.
    records: Option<BTreeMap<Vec<u8>, Record>>,
    others: String,
}

impl Everything {
    fn of(run: &mut impl Run, roots: usize, has_each_path_once: bool) -> Everything {
        let trees = [
            TreeSink::new(),
            TreeSink::new().with_files().with_owners().with_identities(),
            TreeSink::new().with_files().with_inode_counts(),
            TreeSink::new()
                .with_newest(Time::Modified)
                .with_inode_counts(),
            TreeSink::new().with_files().with_newest(Time::Changed),
            TreeSink::new().without_sizes(),
            TreeSink::new().without_types().with_files(),
            TreeSink::new().with_filter(Fields::NAME, |directory, entry| {
                directory.is_none_or(|dir| dir.depth() % 2 == 0) && entry.name.len() > 3
            }),
        ];
        let ages = Stats::new(Grouping::Age).with_subgroups(Grouping::Group);
        let fields = Fields::NAME | Fields::MTIME;
        let filtered = Totals::new().with_filter(fields, |directory, entry| {
            let order = entry.attributes.mtime_order(1_000_000_000);
            directory.is_none_or(|dir| dir.path().len() % 2 == 0) && order.is_some()
        });
        let top = Top::new(5, Largest::Apparent);
        let top = top.with_filter(Fields::OWNER, |directory, entry| {
            let len = directory.map_or(0, |dir| dir.path().len());
            (len + entry.name.len()) % 3 != 0
        });
        let (ages, filtered, top, inodes) = run.run(&(ages, filtered, top, Inodes::new()));
        let top: Vec<_> = (top.iter()).map(|of| (&of.path, of.attributes)).collect();
        let counts = run.run(&Totals::new().without_sizes());
        let names = run.run(&Totals::new().without_types());
        Everything {
            answer: answer_of(run),
            ends: run.run(&Ends),
            trees: trees.iter().map(|sink| facts(run, sink)).collect(),
            live: live_sums(run, roots),
            listed: run.run(&Listing::with_sizes()),
            records: has_each_path_once.then(|| run.run(&Records)),
            others: format!("{ages:?} {filtered:?} {top:?} {inodes:?} {counts:?} {names:?}"),
        }
    }

    #[track_caller]
    fn must_be(&self, expected: &Everything, roots: &[&Path]) {
        same("the answer", &self.answer, &expected.answer, roots);
        same("the ends", &self.ends, &expected.ends, roots);
        same("the trees", &self.trees, &expected.trees, roots);
        same("the live tree", &self.live, &expected.live, roots);
        same("the listing", &self.listed, &expected.listed, roots);
        same("the records", &self.records, &expected.records, roots);
        same("the others", &self.others, &expected.others, roots);
    }
}

/// Shows the place of the first difference: whole answers are too long.
#[track_caller]
fn same<T: PartialEq + Debug>(name: &str, found: &T, expected: &T, roots: &[&Path]) {
    if found == expected {
        return;
    }
    let [found, expected] = [found, expected].map(|value| format!("{value:?}"));
    let bytes = found.bytes().zip(expected.bytes());
    let at = bytes.take_while(|(a, b)| a == b).count();
    let at = at.saturating_sub(300);
    let part = |text: &str| text.chars().skip(at).take(600).collect::<String>();
    panic!(
        "{name} of {roots:?}:\n{}\n{}",
        part(&found),
        part(&expected)
    );
}

/// Compares what all sinks say of a scan and of its rows. Returns the states of directories
/// and other words that were there.
fn check(
    roots: &[&Path],
    options: &Options<'_>,
    configure: impl Fn(Scan) -> Scan,
) -> BTreeSet<&'static str> {
    check_with(all_fields(), roots, options, configure)
}

/// As [`check`], with rows of more fields than each sink asks for.
fn check_with(
    more: Fields,
    roots: &[&Path],
    options: &Options<'_>,
    configure: impl Fn(Scan) -> Scan,
) -> BTreeSet<&'static str> {
    let scan = configure(scan_of(roots, options));
    let has_each_path_once = roots.len() == 1 && !options.follow;
    let report = None;
    let mut live = Live {
        scan: &scan,
        report,
    };
    let expected = Everything::of(&mut live, roots.len(), has_each_path_once);
    for more in [Fields::NONE, more] {
        let mut replayed = Replayed {
            scan: &scan,
            roots,
            options,
            more,
        };
        let found = Everything::of(&mut replayed, roots.len(), has_each_path_once);
        found.must_be(&expected, roots);
    }
    expected.ends.into_iter().map(|(word, _)| word).collect()
}

#[test]
fn every_sink_says_the_same_of_named_trees() {
    let scratch = scratch_in_memory();
    for (name, model) in trees::named() {
        let dir = scratch.path().join(name);
        model.materialise(&dir).unwrap();
        // The large ones take most of the time.
        let threads: &[usize] = match name {
            "deep" | "wide" => &[3],
            _ => &[1, 3],
        };
        for &threads in threads {
            check(&[&dir], &Options::default(), |scan| scan.threads(threads));
        }
        let words = check(&[&dir], &Options::default(), |scan| scan.max_depth(2));
        assert!(name != "deep" || words.contains("at the limit"));
    }
}

#[test]
fn every_sink_says_the_same_of_directories_that_are_not_entered() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("t");
    trees::hard_links().materialise(&dir).unwrap();
    let at = dir.join("mounted");
    let cache = dir.join("cache");
    std::fs::create_dir(&at).unwrap();
    std::fs::create_dir(&cache).unwrap();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55";
    std::fs::write(cache.join("CACHEDIR.TAG"), tag).unwrap();
    std::fs::write(cache.join("left out"), [0; 5000]).unwrap();
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    std::fs::write(mounted.path().join("elsewhere"), [0; 5000]).unwrap();
    for (one_file_system, threads) in [(true, 1), (true, 3), (false, 2)] {
        let options = Options {
            one_file_system,
            ..Options::default()
        };
        let words = check(&[&dir], &options, |scan| {
            let caches = Exclusions::new().caches(true);
            scan.threads(threads).exclusions(caches)
        });
        assert!(words.contains("excluded"));
        assert_eq!(words.contains("crossing"), one_file_system);
    }
}

/// What is stopped at a moment cannot be compared with another scan; the rows say what is
/// whole.
#[test]
fn rows_of_a_stopped_scan_say_what_is_whole() {
    let scratch = scratch_in_memory();
    let dir = scratch.path().join("t");
    let shape = Shape {
        entries: 100_000,
        hard_link_share: 0.0,
        ..Shape::default()
    };
    generate(&dir, 3, &shape).unwrap();
    let sink = TreeSink::new();
    let whole = Scan::new(&dir).run(&sink).unwrap().output;
    let facts_of = |tree: &Tree| {
        let mut facts = BTreeMap::new();
        let mut waiting: Vec<_> = tree.root(0).into_iter().collect();
        while let Some(node) = waiting.pop() {
            let sums = (node.entries(), node.allocated_bytes());
            facts.insert(node.path(), (sums, node.is_incomplete()));
            waiting.extend(node.children());
        }
        facts
    };
    let expected = facts_of(&whole);
    let (mut stopped, mut exact) = (0, 0);
    for seed in 0..12 {
        let scan = Scan::new(&dir).threads(1 + seed % 3).fields(sink.fields());
        let mut rows = scan.rows().unwrap();
        let root = dir.as_os_str().as_encoded_bytes();
        let mut replay = Replay::new(&sink, Context::new([root], 0));
        let mut count = 0;
        while let Some(found) = rows.next() {
            assert!(replay.rows(&found.unwrap()).is_continue(), "{replay:?}");
            if count == seed / 3 {
                rows.cancel();
            }
            count += 1;
        }
        let is_whole = rows.finish().is_complete();
        let found = facts_of(&replay.finish().unwrap());
        let root = found.values().next().unwrap();
        assert!(!(root.1 && is_whole));
        stopped += usize::from(root.1);
        for (path, (sums, is_incomplete)) in found {
            let (known, _) = expected[&path];
            assert!(is_incomplete || sums == known, "{}", path.escape_ascii());
            exact += usize::from(!is_incomplete);
        }
    }
    assert!(stopped > 0 && exact > 0, "{stopped} {exact}");
}

/// A new sink must be compared, too.
#[test]
fn the_sinks_are_those_that_are_compared() {
    let mut found = Vec::new();
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = waiting.pop() {
        if path.ends_with("simulation") {
            continue;
        }
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            waiting.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.lines().map(str::trim);
        for line in code.filter(|line| line.starts_with("impl")) {
            if let Some((_, name)) = line.split_once(" Sink for ") {
                let name = name.trim_end_matches(['{', ' ']);
                found.push(name.trim_matches(['(', ')']).to_owned());
            }
        }
    }
    found.sort();
    assert_eq!(found, SINKS);
}

#[test]
fn every_sink_says_the_same_where_links_are_followed() {
    let scratch = scratch_in_memory();
    for (name, model) in [
        ("followable", trees::followable_links()),
        ("hard", trees::hard_links()),
    ] {
        let dir = scratch.path().join(name);
        model.materialise(&dir).unwrap();
        let follow = Options {
            follow: true,
            ..Options::default()
        };
        for threads in [1, 3] {
            check(&[&dir], &follow, |scan| {
                scan.symlinks(SymlinkPolicy::Follow).threads(threads)
            });
        }
    }
}

/// The first name of an inode is one without a link on the way, however far above that is.
#[test]
fn every_sink_says_the_same_of_names_far_below_a_link() {
    let scratch = scratch_in_memory();
    let dir = scratch.subdirectory("t").unwrap();
    let outside = scratch.subdirectory("outside").unwrap();
    let below = outside.join("sub");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join("f"), [7; 5000]).unwrap();
    std::fs::create_dir(dir.join("z")).unwrap();
    std::fs::hard_link(below.join("f"), dir.join("z/f")).unwrap();
    std::os::unix::fs::symlink("../outside", dir.join("a")).unwrap();
    let follow = Options {
        follow: true,
        ..Options::default()
    };
    for threads in [1, 3] {
        check(&[&dir], &follow, |scan| scan.threads(threads));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_sink_says_the_same_of_random_trees(
        model in strategy::model(),
        threads in 1..5_usize,
        count_links in any::<bool>(),
        follow in any::<bool>(),
    ) {
        let scratch = scratch_in_memory();
        // Its links lead two levels up, and not out of here.
        scratch.subdirectory("above").unwrap();
        let dir = scratch.subdirectory("above/next").unwrap().join("t");
        model.materialise(&dir).unwrap();
        let options = Options { count_links, follow, ..Options::default() };
        check(&[&dir], &options, |scan| scan.threads(threads));
    }

    /// A file, a directory twice, and a root that is missing.
    #[test]
    fn every_sink_says_the_same_of_several_roots(
        model in strategy::model(),
        threads in 1..4_usize,
    ) {
        let scratch = scratch_in_memory();
        let names = ["one", "two", "file", "missing"];
        let [one, two, file, missing] = names.map(|name| scratch.path().join(name));
        model.materialise(&one).unwrap();
        trees::basic().materialise(&two).unwrap();
        std::fs::write(&file, [0; 70]).unwrap();
        let roots: [&Path; 5] = [&two, &file, &one, &two, &missing];
        check(&roots, &Options::default(), |scan| scan.threads(threads));
    }
}

#[test]
fn every_sink_says_the_same_of_a_tree_with_errors() {
    let fault = FaultFs::builder()
        .file("d/good", 1)
        .file("d/bad", 1)
        .file("e/f/g", 1);
    let fault = fault.fail("d/bad", Op::Getattr, Errno::IO, When::Always);
    let fault = fault.fail("e/f", Op::Opendir, Errno::IO, When::Always);
    let mounted = or_skip!(fault.mount());
    // An entry whose stat fails is unreadable for those alone who need its attributes, so
    // the rows have no more fields than the sink needs.
    for threads in [1, 3] {
        let scan = |scan: Scan| scan.threads(threads);
        let words = check_with(Fields::NONE, &[mounted.path()], &Options::default(), scan);
        for word in ["unreadable", "incomplete", "failed", "finished"] {
            assert!(words.contains(word), "{word}");
        }
    }
}

fn id(index: usize) -> DirId {
    DirId::from_index(index).unwrap()
}

fn row(index: usize, parent: Option<usize>, name: &[u8]) -> DirectoryRow<'_> {
    DirectoryRow {
        id: id(index),
        parent: parent.map(id),
        root: 0,
        name,
        attributes: Attributes::of_type(FileType::Directory).with_allocated_bytes(4096),
        state: DirState::Listed,
        is_followed: false,
        refusal: None,
    }
}

fn file(size_bytes: u64, ino: u64) -> Attributes {
    Attributes::of_type(FileType::File)
        .with_size_bytes(size_bytes)
        .with_allocated_bytes(size_bytes)
        .with_links(1)
        .with_id(FileId::new(1, ino))
}

#[test]
fn rows_of_any_origin_drive_a_sink() {
    let sink = (Totals::new(), TreeSink::new());
    let mut replay = Replay::new(&sink, Context::new(["/srv"], 0));
    let mut batch = Batch::new(sink.fields());
    batch.push(b"a", &file(1, 7).with_mtime(3, 0));
    batch.push(b"b", &file(20, 8).with_mtime(2, 0));
    // Entries before their directory, and a directory before its parent.
    assert!(replay.batch(id(2), &batch).is_continue());
    assert!(replay.directory(&row(2, Some(1), b"sub")).is_continue());
    assert!(replay.incomplete(id(2)).is_continue());
    assert!(replay.directory(&row(1, None, b"")).is_continue());
    assert!(replay.finished(id(2)).is_continue());
    let (totals, tree) = replay.finish().unwrap();
    let sizes = totals[0].sizes.unwrap();
    assert_eq!((totals[0].entries, sizes.apparent_bytes), (4, 21));
    assert_eq!(sizes.allocated_bytes, 8213);
    let sub = tree.root(0).unwrap().children().next().unwrap();
    assert_eq!((sub.path(), sub.entries()), (b"/srv/sub".to_vec(), 3));
    assert_eq!(sub.newest_mtime_ns(), Some(3_000_000_000));
    assert!(sub.is_incomplete());
}
