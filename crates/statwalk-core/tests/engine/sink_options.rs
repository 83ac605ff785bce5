// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every combination of the options of a sink, against std.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use statwalk_core::{
    FileId, FileType, MemoryEntry, MemoryTree, Node, NodeId, NodeKind, Scan, Time, Totals, Tree,
    TreeSink, path_order,
};
use statwalk_testkit::unprivileged::is_root;
use statwalk_testkit::{Scratch, settle, trees};

/// Which attributes a tree keeps of every entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Names,
    Types,
    Sizes,
}

#[derive(Clone, Copy, Debug)]
struct Options {
    level: Level,
    files: bool,
    inodes: bool,
    owners: bool,
    identities: bool,
    link_names: bool,
    newest: bool,
}

impl Options {
    fn all() -> impl Iterator<Item = Options> {
        let levels = [Level::Names, Level::Types, Level::Sizes];
        levels.into_iter().flat_map(|level| {
            (0..64).map(move |bits| Options {
                level,
                files: bits & 1 != 0,
                inodes: bits & 2 != 0,
                owners: bits & 4 != 0,
                identities: bits & 8 != 0,
                newest: bits & 16 != 0,
                link_names: bits & 32 != 0,
            })
        })
    }

    /// The sink, with its options in an order or in the reverse.
    fn sink(self, reversed: bool) -> TreeSink {
        let mut set: Vec<fn(TreeSink) -> TreeSink> = Vec::new();
        match self.level {
            Level::Names => set.push(TreeSink::without_types),
            Level::Types => set.push(TreeSink::without_sizes),
            Level::Sizes => {}
        }
        let mut set_if = |is_set, option| {
            if is_set {
                set.push(option);
            }
        };
        set_if(self.files, TreeSink::with_files);
        set_if(self.inodes, TreeSink::with_inode_counts);
        set_if(self.owners, TreeSink::with_owners);
        set_if(self.identities, TreeSink::with_identities);
        set_if(self.link_names, TreeSink::with_link_names);
        set_if(self.newest, |sink| sink.with_newest(Time::Changed));
        if reversed {
            set.reverse();
        }
        set.into_iter().fold(TreeSink::new(), |sink, set| set(sink))
    }
}

/// The tree as std has it.
#[derive(Default)]
struct Expected {
    names: u64,
    inodes: HashSet<u64>,
    allocated_bytes: u128,
    newest_change_ns: i64,
    newest_file_ns: i64,
}

impl Expected {
    fn see(&mut self, of: &Metadata) {
        self.names += 1;
        if self.inodes.insert(of.ino()) {
            self.allocated_bytes += u128::from(of.blocks()) * 512;
        }
        let ns = |seconds: i64, ns: i64| seconds * 1_000_000_000 + ns;
        let changed = ns(of.ctime(), of.ctime_nsec());
        self.newest_change_ns = self.newest_change_ns.max(changed);
        if !of.is_dir() {
            let modified = ns(of.mtime(), of.mtime_nsec());
            self.newest_file_ns = self.newest_file_ns.max(modified);
        }
    }

    fn visit(&mut self, path: &Path) {
        let metadata = path.symlink_metadata().unwrap();
        self.see(&metadata);
        if metadata.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                self.visit(&entry.unwrap().path());
            }
        }
    }
}

fn files_below<'a>(node: Node<'a>, files: &mut Vec<Node<'a>>) {
    files.extend(node.files());
    node.children().for_each(|child| files_below(child, files));
}

fn check(tree: &Tree, options: Options, expected: &Expected) {
    let root = tree.root(0).unwrap();
    let entries = match options.inodes {
        true => expected.inodes.len() as u64,
        false => expected.names,
    };
    assert_eq!(root.entries(), entries, "{options:?}");
    assert!(!root.is_incomplete(), "{options:?}");
    let allocated_bytes = match options.level {
        Level::Sizes => Some(expected.allocated_bytes),
        Level::Names | Level::Types => None,
    };
    assert_eq!(root.allocated_bytes(), allocated_bytes, "{options:?}");
    let has_sizes = options.level == Level::Sizes;
    assert_eq!(root.apparent_bytes().is_some(), has_sizes, "{options:?}");
    let newest_ns = match (options.newest, options.level) {
        (true, _) => Some(expected.newest_change_ns),
        (false, Level::Sizes) => Some(expected.newest_file_ns),
        (false, Level::Names | Level::Types) => None,
    };
    assert_eq!(root.newest_time_ns(), newest_ns, "{options:?}");
    assert_eq!(root.identity().is_some(), options.identities, "{options:?}");
    assert_eq!(root.uid().is_some(), options.owners, "{options:?}");

    let mut files = Vec::new();
    files_below(root, &mut files);
    assert_eq!(!files.is_empty(), options.files, "{options:?}");
    let knows_links = options.inodes || options.level == Level::Sizes;
    for file in &files {
        assert_eq!(file.uid().is_some(), options.owners, "{options:?}");
        let has_other_names = file.has_other_names();
        assert_eq!(has_other_names.is_some(), knows_links, "{options:?}");
        assert!(!file.name().is_empty() && !file.is_incomplete());
    }
    check_names(tree, root, &files, options);
    if options.files {
        let extra = files.iter().filter(|file| file.is_extra_link()).count();
        let extra_names = expected.names as usize - expected.inodes.len();
        assert_eq!(
            extra,
            if knows_links { extra_names } else { 0 },
            "{options:?}"
        );
        let sum: Option<u128> = files.iter().map(Node::allocated_bytes).sum();
        assert_eq!(sum > Some(0), has_sizes, "{options:?}");
        assert_eq!(sum.is_some(), has_sizes, "{options:?}");
    }
}

/// Each file of several names, and its inode, against std.
fn check_names(tree: &Tree, root: Node<'_>, files: &[Node<'_>], options: Options) {
    let mut linked = Vec::new();
    linked_below(root, &mut linked);
    let mut expected: HashMap<(u64, u64), Vec<Vec<u8>>> = HashMap::new();
    for file in files {
        let path = file.path();
        let metadata = Path::new(OsStr::from_bytes(&path))
            .symlink_metadata()
            .unwrap();
        let id = FileId::new(metadata.dev(), metadata.ino());
        let links = u32::try_from(metadata.nlink()).unwrap();
        let is_known = options.link_names && links > 1;
        assert_eq!(file.inode(), is_known.then_some((id, links)), "{options:?}");
        assert_eq!(linked.contains(&file.id()), is_known, "{options:?}");
        if is_known {
            let names = expected.entry((metadata.dev(), metadata.ino()));
            names.or_default().push(path);
        }
    }
    let count: usize = expected.values().map(Vec::len).sum();
    assert_eq!(linked.len(), count, "{options:?}");
    assert_eq!(
        count > 0,
        options.files && options.link_names,
        "{options:?}"
    );
    for ((dev, ino), mut paths) in expected {
        let mut names: Vec<Node<'_>> = tree.names_of(FileId::new(dev, ino)).collect();
        names.sort_by(|a, b| a.cmp_path(b));
        paths.sort_by(|a, b| path_order(a, b));
        let found: Vec<_> = names.iter().map(Node::path).collect();
        assert_eq!(found, paths, "{options:?}");
        if let Some(first) = names
            .first()
            .filter(|file| file.has_other_names().is_some())
        {
            assert!(!first.is_extra_link(), "{options:?}");
        }
    }
}

fn linked_below(dir: Node<'_>, linked: &mut Vec<NodeId>) {
    for file in dir.linked_files() {
        let place = file.file_place().unwrap();
        assert_eq!(dir.file_at(place).map(|file| file.id()), Some(file.id()));
        linked.push(file.id());
    }
    dir.children().for_each(|child| linked_below(child, linked));
}

/// A tree without sizes kept no owners, no identities and no times, and counted names
/// where inodes were asked for.
#[test]
fn a_tree_keeps_what_each_combination_of_options_says() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    trees::hard_links().materialise(&dir).unwrap();
    settle(&dir).unwrap();
    let mut expected = Expected::default();
    expected.visit(&dir);
    assert!((expected.inodes.len() as u64) < expected.names);
    for options in Options::all() {
        let scan = Scan::new(&dir);
        for reversed in [false, true] {
            let tree = scan.run(&options.sink(reversed)).unwrap().output;
            check(&tree, options, &expected);
        }
    }
}

/// Beside a sink that wants sizes, a tree of counts had the bytes of its directories.
#[test]
fn a_sink_keeps_no_more_where_another_wants_more() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    trees::hard_links().materialise(&dir).unwrap();
    settle(&dir).unwrap();
    let mut expected = Expected::default();
    expected.visit(&dir);
    for options in Options::all() {
        let all = (
            Totals::new(),
            TreeSink::new().with_owners().with_identities(),
            Totals::new().without_sizes(),
            options.sink(false),
        );
        let (sizes, _, types, tree) = Scan::new(&dir).run(&all).unwrap().output;
        check(&tree, options, &expected);
        let allocated_bytes = sizes[0].sizes.map(|sizes| sizes.allocated_bytes);
        assert_eq!(allocated_bytes, Some(expected.allocated_bytes));
        assert_eq!(types[0].sizes, None);
        assert_eq!(
            (types[0].entries, types[0].files),
            (sizes[0].entries, sizes[0].files)
        );
    }
}

#[test]
fn each_default_is_new() {
    let text = |sink: &dyn std::fmt::Debug| format!("{sink:?}");
    assert_eq!(text(&Totals::default()), text(&Totals::new()));
    assert_eq!(text(&TreeSink::default()), text(&TreeSink::new()));
}

/// A tree has a byte for the number of an owner.
#[test]
fn every_owner_is_known_however_many_there_are() {
    if !is_root() {
        return statwalk_testkit::Skipped::needs("root, to give files away").report();
    }
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let mut expected = HashMap::new();
    for number in 0..700_u32 {
        let below = dir.join(format!("d{}", number % 350));
        fs::create_dir_all(&below).unwrap();
        let file = below.join(format!("f{number}"));
        fs::write(&file, b"x").unwrap();
        chown(&file, Some(1000 + number), None).unwrap();
        chown(&below, Some(5000 + number % 350), None).unwrap();
        expected.insert(format!("f{number}").into_bytes(), 1000 + number);
        expected.insert(
            format!("d{}", number % 350).into_bytes(),
            5000 + number % 350,
        );
    }
    for threads in [1, 4] {
        let scan = Scan::new(&dir).threads(threads);
        let sink = TreeSink::new().with_files().with_owners();
        let tree = scan.run(&sink).unwrap().output;
        let mut found = HashMap::new();
        for below in tree.root(0).unwrap().children() {
            found.insert(below.name().to_vec(), below.uid().unwrap());
            let files = below.files();
            found.extend(files.map(|file| (file.name().to_vec(), file.uid().unwrap())));
        }
        assert_eq!(found, expected);
    }
    // A file as a root has a record of its own.
    let roots = (0..700).map(|number| dir.join(format!("d{}/f{number}", number % 350)));
    let sink = TreeSink::new().with_files().with_owners();
    let tree = Scan::of(roots).run(&sink).unwrap().output;
    for number in 0..700 {
        let root = tree.root(number as usize).unwrap();
        assert_eq!(root.uid(), Some(1000 + number));
    }
}

/// A socket has no content, whatever size its inode has.
#[test]
fn only_files_and_links_have_apparent_bytes() {
    let mut tree = MemoryTree::new();
    let socket = MemoryEntry::of_type(FileType::Socket).size_bytes(777);
    tree.insert("t/socket", socket).unwrap();
    tree.insert("t/file", MemoryEntry::file(300)).unwrap();
    let sink = TreeSink::new().with_files();
    let tree = Scan::new("t").run_in_memory(tree, &sink).unwrap().output;
    let root = tree.root(0).unwrap();
    let files = root.files().map(|file| file.apparent_bytes().unwrap());
    assert_eq!(
        (files.sum::<u128>(), root.apparent_bytes()),
        (300, Some(300))
    );
}

#[test]
fn a_file_says_the_same_as_its_node() {
    let scratch = Scratch::new().unwrap();
    for (name, model) in trees::named() {
        let dir = scratch.path().join(name);
        model.materialise(&dir).unwrap();
        let some_file = fs::read_dir(&dir).unwrap().find_map(|entry| {
            let entry = entry.unwrap();
            (!entry.file_type().unwrap().is_dir()).then(|| entry.path())
        });
        let roots = [Some(dir), some_file].into_iter().flatten();
        let sink = TreeSink::new().with_files().with_owners();
        let tree = Scan::of(roots).run(&sink).unwrap().output;
        let mut waiting: Vec<Node<'_>> = (0..tree.root_count())
            .filter_map(|index| tree.root(index))
            .collect();
        while let Some(node) = waiting.pop() {
            assert_eq!(tree.node(node.id()).path(), node.path());
            assert_eq!(node.as_file().is_none(), node.is_dir());
            if let Some(file) = node.as_file() {
                assert_eq!(file.node().id(), node.id());
                assert_eq!(NodeKind::Other(file.kind()), node.kind());
                assert_eq!(file.name(), node.name());
                assert_eq!(file.uid(), node.uid());
                assert_eq!(
                    file.allocated_bytes().map(u128::from),
                    node.allocated_bytes()
                );
                assert_eq!(file.apparent_bytes().map(u128::from), node.apparent_bytes());
                assert_eq!(file.mtime_ns(), node.newest_mtime_ns());
                assert_eq!(file.is_incomplete(), node.is_incomplete());
                assert_eq!(file.is_extra_link(), node.is_extra_link());
            }
            let mut files = Vec::new();
            node.for_each_file(|file| files.push(file.node()));
            let ids = |nodes: &[Node<'_>]| nodes.iter().map(Node::id).collect::<Vec<_>>();
            assert_eq!(ids(&files), ids(&node.files().collect::<Vec<_>>()));
            waiting.extend(node.children().chain(files));
        }
    }
}
