// SPDX-License-Identifier: MIT OR Apache-2.0

//! Rows that contradict each other: a replay ends with an error that says why, and
//! otherwise its answer has everything.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use statwalk_core::{
    Attributes, Batch, Bits, Columns, Context, DirId, DirState, Directories, DirectoryRow,
    EntryError, Fields, FileId, FileType, Grouping, Largest, LiveTree, Node, OddTime, Replay,
    ReplayError, Sink, Stats, Time, Top, Totals, TreeSink,
};
use statwalk_space::btrfs::Inodes;

const ROOTS: [&str; 2] = ["/srv", "/data/file"];

/// Rows of a tree that need not be true.
#[derive(Clone, Debug, Default)]
struct Table {
    directories: Vec<Dir>,
    entries: Vec<Entry>,
    incomplete: Vec<u32>,
    finished: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Dir {
    id: u32,
    parent: Option<u32>,
    root: usize,
    name: Vec<u8>,
    state: DirState,
    is_followed: bool,
    attributes: Attributes,
}

/// Where an entry lies: in the directory of a number, or nowhere, as a root.
#[derive(Clone, Copy, Debug)]
enum At {
    Dir(u32),
    Root(usize),
}

#[derive(Clone, Debug)]
struct Entry {
    at: At,
    name: Vec<u8>,
    is_direct: bool,
    attributes: Attributes,
}

/// Values at the ends of their range, and usual ones.
fn attributes(kind: FileType) -> impl Strategy<Value = Attributes> {
    let number = || select(vec![0, 1, 4096, u64::MAX / 2, u64::MAX]);
    let small = || select(vec![0, 1, 2, 3, u32::MAX]);
    let seconds = || select(vec![i64::MIN, -9_300_000_000, -1, 0, 7, i64::MAX]);
    let nanoseconds = select(vec![0, 999_999_999, u32::MAX]);
    let times = (seconds(), seconds(), nanoseconds);
    (number(), number(), small(), 0..4_u64, small(), times).prop_map(
        move |(size, allocated, links, ino, owner, (mtime, ctime, nanoseconds))| {
            Attributes::of_type(kind)
                .with_size_bytes(size)
                .with_allocated_bytes(allocated)
                .with_links(links)
                .with_id(FileId::new(size % 3, ino))
                .with_owner(owner, owner)
                .with_mtime(mtime, nanoseconds)
                .with_time(Time::Changed, ctime, 0)
                .with_time(Time::Accessed, 7, 0)
        },
    )
}

/// A directory below one of those before it, or in no other.
fn directory() -> impl Strategy<Value = (Index, DirState, bool, Attributes)> {
    let states = vec![
        DirState::Listed,
        DirState::Listed,
        DirState::Unreadable,
        DirState::Crossing,
        DirState::AtDepthLimit,
    ];
    let of_dir = attributes(FileType::Directory);
    (any::<Index>(), select(states), any::<bool>(), of_dir)
}

fn entry() -> impl Strategy<Value = (Index, bool, Attributes)> {
    let kinds = vec![FileType::File, FileType::Symlink, FileType::Unknown];
    let of_entry = select(kinds).prop_flat_map(attributes);
    (any::<Index>(), any::<bool>(), of_entry)
}

/// Rows without a contradiction, in any order.
fn table() -> impl Strategy<Value = Table> {
    let directories = vec(directory(), 1..8);
    let entries = vec(entry(), 0..10);
    let numbers = select(vec![1_u32, 1 << 20, 536_870_909]);
    let picked = vec(any::<Index>(), 0..3);
    let is_stopped = any::<bool>();
    let drawn = (directories, entries, numbers, picked, is_stopped);
    let tables = drawn.prop_map(|(directories, entries, factor, picked, is_stopped)| {
        // Dense numbers, and such as no scan gives.
        let id = |index: usize| (index as u32 * factor).wrapping_sub(u32::from(factor > 1));
        let mut table = Table::default();
        for (number, (above, state, is_followed, attributes)) in directories.into_iter().enumerate()
        {
            let above = number.checked_sub(1).map(|last| above.index(last + 1));
            table.directories.push(Dir {
                id: id(number),
                parent: above.map(id),
                root: 0,
                name: format!("d{number}").into_bytes(),
                state,
                is_followed,
                attributes,
            });
        }
        let count = table.directories.len();
        for (number, (at, is_direct, attributes)) in entries.into_iter().enumerate() {
            table.entries.push(Entry {
                at: At::Dir(id(at.index(count))),
                name: format!("f{number}").into_bytes(),
                is_direct,
                attributes,
            });
        }
        // Names of one inode that disagree are no contradiction of rows: the first one counts.
        let mut inodes = HashMap::new();
        for entry in &mut table.entries {
            entry.attributes = *inodes
                .entry(entry.attributes.id())
                .or_insert(entry.attributes);
        }
        table.entries.push(Entry {
            at: At::Root(1),
            name: ROOTS[1].into(),
            is_direct: true,
            // No other root has its inode: chance decides which has the bytes.
            attributes: full(FileType::File).with_id(FileId::new(9, 9)),
        });
        table.incomplete = picked.iter().map(|at| id(at.index(count))).collect();
        // A scan that is stopped leaves the way to the top unfinished.
        let finished = table.directories.iter().skip(usize::from(is_stopped));
        table.finished = finished.map(|dir| dir.id).collect();
        table
    });
    let tables = tables.prop_flat_map(|table| {
        let Table {
            directories,
            entries,
            incomplete,
            finished,
        } = table;
        let orders = (
            Just(directories).prop_shuffle(),
            Just(entries).prop_shuffle(),
        );
        (orders, Just(incomplete), Just(finished).prop_shuffle())
    });
    tables.prop_map(|((directories, entries), incomplete, finished)| Table {
        directories,
        entries,
        incomplete,
        finished,
    })
}

#[derive(Clone, Debug)]
enum Damage {
    Id(Index, Index),
    NewId(Index, u32),
    Parent(Index, Index),
    NoParent(Index),
    Root(Index, usize),
    Name(Index, Vec<u8>),
    State(Index, DirState),
    Again(Index),
    Missing(Index),
    EntryDir(Index, u32),
    EntryName(Index, Vec<u8>),
    EntryIn(Index, Index),
    EntryRoot(Index, usize),
    EntryAgain(Index),
    Incomplete(u32),
    Finished(u32),
    FinishedAgain(Index),
    NotFinished(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    use Damage::*;
    let at = any::<Index>;
    let number = || select(vec![0, 1, 3, 77, 1 << 30, u32::MAX - 1, u32::MAX]);
    let names: [&[u8]; 6] = [b"", b".", b"..", b"a/b", b"a\0", b"fine"];
    let name = || select(names.map(<[u8]>::to_vec).to_vec());
    let states = vec![DirState::Listed, DirState::Excluded];
    prop_oneof![
        (at(), at()).prop_map(|(at, id)| Id(at, id)),
        (at(), number()).prop_map(|(at, id)| NewId(at, id)),
        (at(), at()).prop_map(|(at, parent)| Parent(at, parent)),
        at().prop_map(NoParent),
        (at(), select(vec![0, 1, 2, usize::MAX])).prop_map(|(at, root)| Root(at, root)),
        (at(), name()).prop_map(|(at, name)| Name(at, name)),
        (at(), select(states)).prop_map(|(at, state)| State(at, state)),
        at().prop_map(Again),
        at().prop_map(Missing),
        (at(), number()).prop_map(|(at, id)| EntryDir(at, id)),
        (at(), name()).prop_map(|(at, name)| EntryName(at, name)),
        (at(), at()).prop_map(|(at, dir)| EntryIn(at, dir)),
        (at(), select(vec![0, 1, 2])).prop_map(|(at, root)| EntryRoot(at, root)),
        at().prop_map(EntryAgain),
        number().prop_map(Incomplete),
        number().prop_map(Finished),
        at().prop_map(FinishedAgain),
        at().prop_map(NotFinished),
    ]
}

impl Table {
    fn damaged(mut self, damages: &[Damage]) -> Table {
        for damage in damages {
            let id_at = |at: &Index| self.directories[at.index(self.directories.len())].id;
            let dirs = self.directories.len();
            match damage {
                Damage::Id(at, other) => self.directories[at.index(dirs)].id = id_at(other),
                Damage::NewId(at, id) => self.directories[at.index(dirs)].id = *id,
                Damage::Parent(at, other) => {
                    self.directories[at.index(dirs)].parent = Some(id_at(other));
                }
                Damage::NoParent(at) => self.directories[at.index(dirs)].parent = None,
                // A column has 32 bits for it.
                Damage::Root(at, root) => {
                    self.directories[at.index(dirs)].root = *root as u32 as usize
                }
                Damage::Name(at, name) => self.directories[at.index(dirs)].name.clone_from(name),
                Damage::State(at, state) => self.directories[at.index(dirs)].state = *state,
                Damage::Again(at) => {
                    let again = self.directories[at.index(dirs)].clone();
                    self.directories.push(again);
                }
                Damage::Missing(at) if dirs > 1 => drop(self.directories.remove(at.index(dirs))),
                Damage::Missing(_) => {}
                Damage::EntryDir(at, id) => {
                    let at = at.index(self.entries.len());
                    self.entries[at].at = At::Dir(*id);
                }
                Damage::EntryName(at, name) => {
                    let at = at.index(self.entries.len());
                    self.entries[at].name.clone_from(name);
                }
                Damage::EntryIn(at, other) => {
                    let (at, dir) = (at.index(self.entries.len()), id_at(other));
                    self.entries[at].at = At::Dir(dir);
                }
                Damage::EntryRoot(at, root) => {
                    let at = at.index(self.entries.len());
                    self.entries[at].at = At::Root(*root);
                }
                Damage::EntryAgain(at) => {
                    let again = self.entries[at.index(self.entries.len())].clone();
                    self.entries.push(again);
                }
                Damage::Incomplete(id) => self.incomplete.push(*id),
                Damage::Finished(id) => self.finished.push(*id),
                Damage::FinishedAgain(at) if !self.finished.is_empty() => {
                    self.finished
                        .push(self.finished[at.index(self.finished.len())]);
                }
                Damage::NotFinished(at) if !self.finished.is_empty() => {
                    self.finished.swap_remove(at.index(self.finished.len()));
                }
                Damage::FinishedAgain(_) | Damage::NotFinished(_) => {}
            }
        }
        self
    }

    /// Whether nothing contradicts anything: by its own rules, from the whole table.
    fn is_true(&self) -> bool {
        let is_name = |name: &[u8]| {
            let text = name.escape_ascii().to_string();
            !(matches!(&*text, "" | "." | "..") || text.contains('/') || text.contains("\\x00"))
        };
        let mut by_id = HashMap::new();
        let mut roots = HashSet::new();
        for dir in &self.directories {
            if by_id.insert(dir.id, dir).is_some() {
                return false;
            }
        }
        for dir in &self.directories {
            let fits = match dir.parent.map(|parent| by_id.get(&parent)) {
                None => dir.root < ROOTS.len() && roots.insert(dir.root),
                Some(None) => false,
                Some(Some(above)) => above.root == dir.root && is_name(&dir.name),
            };
            let mut top = dir;
            for _ in 0..=self.directories.len() {
                match top.parent.and_then(|parent| by_id.get(&parent)) {
                    Some(above) => top = above,
                    None => break,
                }
            }
            if !fits || top.parent.is_some() {
                return false;
            }
        }
        let entries_fit = self.entries.iter().all(|entry| match entry.at {
            At::Dir(dir) => by_id.contains_key(&dir) && is_name(&entry.name),
            At::Root(root) => {
                ROOTS
                    .get(root)
                    .is_some_and(|path| entry.name == path.as_bytes())
                    && roots.insert(root)
            }
        });
        let ended: HashSet<_> = self.finished.iter().collect();
        let ends_fit = ended.len() == self.finished.len()
            && ended.iter().all(|id| by_id.contains_key(id))
            && (self.directories.iter()).all(|dir| {
                ended.contains(&dir.id) || dir.parent.is_none_or(|id| !ended.contains(&id))
            });
        let lacks = self.incomplete.iter().all(|id| by_id.contains_key(id));
        entries_fit && ends_fit && lacks
    }

    /// Gives a sink the rows one by one. Numbers say which comes next.
    fn drive<S: Sink>(&self, replay: &mut Replay<S>, fields: Fields, order: &[Index]) {
        enum Row<'a> {
            Directory(&'a Dir),
            Entry(&'a Entry),
            Incomplete(u32),
        }
        let directories = self.directories.iter().map(Row::Directory);
        let entries = self.entries.iter().map(Row::Entry);
        let incomplete = self.incomplete.iter().map(|&id| Row::Incomplete(id));
        let mut rows: Vec<_> = directories.chain(entries).chain(incomplete).collect();
        let mut is_over = false;
        let mut order = order.iter().cycle();
        while let Some(last) = rows.len().checked_sub(1) {
            let flow = match rows.swap_remove(order.next().unwrap().index(last + 1)) {
                Row::Directory(dir) => replay.directory(&DirectoryRow {
                    id: id(dir.id),
                    parent: dir.parent.map(id),
                    root: dir.root,
                    name: &dir.name,
                    attributes: dir.attributes,
                    state: dir.state,
                    is_followed: dir.is_followed,
                    refusal: None,
                }),
                Row::Entry(entry) => {
                    let mut batch = Batch::new(fields);
                    batch.push(&entry.name, &entry.attributes);
                    match (entry.at, entry.is_direct) {
                        (At::Root(root), _) => replay.root(root, &batch),
                        (At::Dir(dir), true) => replay.batch(id(dir), &batch),
                        (At::Dir(dir), false) => replay.followed(id(dir), &batch),
                    }
                }
                Row::Incomplete(of) => replay.incomplete(id(of)),
            };
            assert!(flow.is_break() || !is_over, "it goes on after a break");
            is_over = flow.is_break();
        }
        let mut ends = Directories::default();
        ends.finished.clone_from(&self.finished);
        let _ = replay.columns(&Columns::default(), &ends);
    }

    fn columns(&self) -> (Columns, Directories) {
        let (mut entries, mut directories) = (Columns::default(), Directories::default());
        entries.name_offsets.push(0);
        for entry in &self.entries {
            let Entry { at, is_direct, .. } = *entry;
            push(&mut entries, at, &entry.name, is_direct, &entry.attributes);
        }
        directories.columns.name_offsets.push(0);
        for dir in &self.directories {
            directories.ids.push(dir.id);
            directories.roots.push(dir.root as u32);
            directories.states.push(dir.state.number());
            let at = dir.parent.map_or(At::Root(9), At::Dir);
            let columns = &mut directories.columns;
            push(columns, at, &dir.name, !dir.is_followed, &dir.attributes);
        }
        directories.finished.clone_from(&self.finished);
        directories.incomplete.clone_from(&self.incomplete);
        (entries, directories)
    }
}

/// Adds a row as another program would.
fn push(columns: &mut Columns, at: At, name: &[u8], is_direct: bool, of: &Attributes) {
    let row = columns.kinds.len() as u32;
    let (dir, has_dir) = match at {
        At::Dir(dir) => (dir, true),
        At::Root(root) => (root as u32, false),
    };
    columns.dirs.push(dir);
    columns.has_dir.push(has_dir);
    columns.names.extend(name);
    columns.name_offsets.push(columns.names.len() as i32);
    columns.kinds.push(of.kind.number());
    columns.is_direct.push(is_direct);
    columns.is_known.push(of.size_bytes().is_some());
    let into = &mut columns.attributes;
    into.size_bytes.push(of.size_bytes().unwrap_or(7));
    into.allocated_bytes.push(of.allocated_bytes().unwrap_or(7));
    into.links.push(of.links().unwrap_or(7));
    let id = of.id().unwrap_or(FileId::new(7, 7));
    into.inos.push(id.ino() as u64);
    into.devs.push(id.dev());
    into.uids.push(of.uid().unwrap_or(7));
    into.gids.push(of.gid().unwrap_or(7));
    for time in [Time::Modified, Time::Accessed, Time::Changed] {
        let (ns, seconds) = (of.time_ns(time), of.time_s(time));
        if let (None, Some(seconds)) = (ns, seconds) {
            into.odd_times.push(OddTime::new(row, time, seconds));
        }
        into.times_ns[time.index()].push(ns.unwrap_or(match seconds.unwrap_or(-1) < 0 {
            true => i64::MIN,
            false => i64::MAX,
        }));
        columns.times_are_known[time.index()].push(ns.is_some());
    }
}

fn id(number: u32) -> DirId {
    DirId::from_index(number as usize).unwrap()
}

fn context(now_ns: i64) -> Context {
    Context::new(ROOTS, now_ns)
}

/// Drives all sinks of the crate, and gives their answers as text, and the totals of all
/// entries and directories.
fn answer(
    context: &Context,
    drive: &mut dyn FnMut(&mut dyn Driven),
) -> Result<(String, u64), ReplayError> {
    let trees = (
        TreeSink::new().with_files().with_owners().with_identities(),
        TreeSink::new().with_inode_counts(),
        TreeSink::new().with_newest(Time::Changed),
        Totals::new(),
    );
    let mut replay = Replay::new(&trees, context.clone());
    drive(&mut (&mut replay, trees.fields()));
    let (first, second, third, totals) = replay.finish()?;
    let facts = |node: Node<'_>| {
        let path = node.path().escape_ascii().to_string();
        let (dirs, bytes) = (node.dir_count(), node.allocated_bytes());
        let (times, lacks) = (node.newest_time_ns(), node.is_incomplete());
        let (kind, owner) = (node.kind(), node.uid());
        format!("{path} {kind:?} {owner:?} {dirs} {bytes:?} {times:?} {lacks}")
    };
    let mut all = Vec::new();
    for tree in [&first, &second, &third] {
        let mut waiting: Vec<_> = (0..ROOTS.len())
            .filter_map(|root| tree.root(root))
            .collect();
        while let Some(node) = waiting.pop() {
            all.extend(node.files().chain([node]).map(facts));
            waiting.extend(node.children());
        }
    }
    all.sort();
    let stats = (
        Stats::new(Grouping::Age).with_subgroups(Grouping::Owner),
        Stats::new(Grouping::Type).with_size_histograms(),
        Top::new(3, Largest::Apparent),
        Inodes::new(),
    );
    let mut replay = Replay::new(&stats, context.clone());
    drive(&mut (&mut replay, stats.fields()));
    let (ages, types, top, inodes) = replay.finish()?;
    let top: Vec<_> = top.iter().map(|of| &of.path).collect();
    let live = LiveTree::new();
    let mut replay = Replay::new(&live, context.clone());
    drive(&mut (&mut replay, live.fields()));
    replay.finish()?;
    let live: Vec<_> = (0..ROOTS.len()).map(|root| live.root(root)).collect();
    let live = live
        .iter()
        .flatten()
        .map(|root| (root.entries, root.allocated_bytes));
    let live: Vec<_> = live.collect();
    let entries = totals.iter().map(|totals| totals.entries).sum();
    let text = format!("{totals:?} {all:?} {ages:?} {types:?} {top:?} {inodes:?} {live:?}");
    Ok((text, entries))
}

/// A replay of any sink.
trait Driven {
    fn row_by_row(&mut self, table: &Table, order: &[Index]);
    fn by_columns(&mut self, entries: &Columns, directories: &Directories) -> ControlFlow<()>;
}

impl<S: Sink> Driven for (&mut Replay<S>, Fields) {
    fn row_by_row(&mut self, table: &Table, order: &[Index]) {
        table.drive(self.0, self.1, order);
    }

    fn by_columns(&mut self, entries: &Columns, directories: &Directories) -> ControlFlow<()> {
        self.0.columns(entries, directories)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// The rows one by one in two orders, and all in columns.
    #[test]
    fn rows_are_refused_if_and_only_if_they_are_not_true(
        table in table(),
        damages in vec(damage(), 0..3),
        follows in any::<bool>(),
        now_ns in select(vec![i64::MIN, 0, i64::MAX]),
        orders in [vec(any::<Index>(), 1..20), vec(any::<Index>(), 1..20)],
    ) {
        prop_assert!(table.is_true());
        let table = table.damaged(&damages);
        let mut context = context(now_ns);
        context.follows = follows;
        let (entries, directories) = table.columns();
        let answers = [
            answer(&context, &mut |replay| replay.row_by_row(&table, &orders[0])),
            answer(&context, &mut |replay| replay.row_by_row(&table, &orders[1])),
            answer(&context, &mut |replay| {
                let _ = replay.by_columns(&entries, &directories);
            }),
        ];
        for found in &answers {
            match found {
                Ok((_, entries)) => {
                    let rows = table.directories.len() + table.entries.len();
                    prop_assert_eq!(*entries, rows as u64);
                    prop_assert!(table.is_true());
                }
                Err(error) => prop_assert!(!table.is_true(), "{}", error),
            }
        }
        let texts = answers.map(|found| found.map_or_else(|_| String::new(), |found| found.0));
        prop_assert_eq!(&texts[0], &texts[1]);
        prop_assert_eq!(&texts[0], &texts[2]);
    }
}

#[derive(Clone, Debug)]
enum Spoil {
    Pop,
    Push(i64),
    Set(Index, i64),
    Clear,
}

fn spoil() -> impl Strategy<Value = Spoil> {
    let value = || select(vec![i64::MIN, -1, 0, 1, 3, 200, 1 << 31, i64::MAX]);
    let at = any::<Index>;
    prop_oneof![
        Just(Spoil::Pop),
        value().prop_map(Spoil::Push),
        (at(), value()).prop_map(|(at, value)| Spoil::Set(at, value)),
        Just(Spoil::Clear),
    ]
}

impl Spoil {
    fn column<T>(&self, column: &mut Vec<T>, value: impl Fn(i64) -> T) {
        match self {
            Spoil::Pop => drop(column.pop()),
            Spoil::Push(new) => column.push(value(*new)),
            Spoil::Set(at, new) if !column.is_empty() => {
                let at = at.index(column.len());
                column[at] = value(*new);
            }
            Spoil::Clear => column.clear(),
            Spoil::Set(..) => {}
        }
    }

    fn bits(&self, bits: &mut Bits) {
        match self {
            Spoil::Pop | Spoil::Clear => *bits = Bits::default(),
            Spoil::Push(value) | Spoil::Set(_, value) => bits.push(value & 1 == 1),
        }
    }

    /// Spoils one of the columns.
    fn apply(&self, which: usize, columns: &mut Columns) {
        let of = &mut columns.attributes;
        match which {
            0 => self.column(&mut columns.dirs, |value| value as u32),
            1 => self.column(&mut columns.names, |value| value as u8),
            2 | 3 => self.column(&mut columns.name_offsets, |value| value as i32),
            4 => self.column(&mut columns.kinds, |value| value as u8),
            5 => self.column(&mut of.size_bytes, |value| value as u64),
            6 => self.column(&mut of.allocated_bytes, |value| value as u64),
            7 => self.column(&mut of.links, |value| value as u32),
            8 => self.column(&mut of.inos, |value| value as u64),
            9 => self.column(&mut of.devs, |value| value as u64),
            10 => self.column(&mut of.times_ns[Time::Modified.index()], |value| value),
            11 => self.column(&mut of.times_ns[Time::Changed.index()], |value| value),
            12 => self.column(&mut of.uids, |value| value as u32),
            13 => self.column(&mut of.gids, |value| value as u32),
            14 => self.column(&mut of.modes, |value| value as u16),
            15 => self.bits(&mut columns.is_direct),
            16 => self.bits(&mut columns.is_known),
            17 => self.bits(&mut columns.times_are_known[Time::Modified.index()]),
            18 => self.bits(&mut columns.times_are_known[Time::Born.index()]),
            19 => self.bits(&mut columns.has_dir),
            _ => self.column(&mut of.odd_times, |value| {
                let time = Time::ALL[value.unsigned_abs() as usize % 4];
                OddTime::new(value as u32, time, value)
            }),
        }
    }

    fn apply_to_directories(&self, which: usize, directories: &mut Directories) {
        match which {
            0 => self.column(&mut directories.ids, |value| value as u32),
            1 => self.column(&mut directories.roots, |value| value as u32),
            2 => self.column(&mut directories.states, |value| value as u8),
            3 => self.column(&mut directories.finished, |value| value as u32),
            4 => self.column(&mut directories.incomplete, |value| value as u32),
            other => self.apply(other - 5, &mut directories.columns),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A panic would fail it, and a loop would not end.
    #[test]
    fn spoiled_columns_are_an_answer_or_an_error(
        table in table(),
        spoils in vec((any::<bool>(), 0..26_usize, spoil()), 1..4),
    ) {
        let (mut entries, mut directories) = table.columns();
        for (is_entries, which, spoil) in spoils {
            match is_entries {
                true => spoil.apply(which, &mut entries),
                false => spoil.apply_to_directories(which, &mut directories),
            }
        }
        let mut is_broken = false;
        let found = answer(&context(0), &mut |replay| {
            is_broken |= replay.by_columns(&entries, &directories).is_break();
        });
        prop_assert!(!is_broken || found.is_err());
        if let Err(error) = found {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

/// The rows of a file in a root.
fn one_file() -> (Columns, Directories) {
    let table = Table {
        directories: vec![Dir {
            id: 5,
            parent: None,
            root: 0,
            name: Vec::new(),
            state: DirState::Listed,
            is_followed: false,
            attributes: full(FileType::Directory),
        }],
        entries: vec![Entry {
            at: At::Dir(5),
            name: b"file".to_vec(),
            is_direct: true,
            attributes: full(FileType::File),
        }],
        ..Table::default()
    };
    table.columns()
}

fn full(kind: FileType) -> Attributes {
    Attributes::of_type(kind)
        .with_size_bytes(70)
        .with_allocated_bytes(4096)
        .with_links(1)
        .with_id(FileId::new(1, 2))
        .with_owner(0, 0)
        .with_mtime(7, 0)
        .with_time(Time::Changed, 7, 0)
        .with_time(Time::Accessed, 7, 0)
}

#[test]
fn a_column_that_does_not_fit_is_named() {
    type Change = fn(&mut Columns, &mut Directories);
    let changes: [(&str, Change); 18] = [
        ("dirs", |entries, _| entries.dirs.push(5)),
        ("is_direct", |entries, _| entries.is_direct.push(true)),
        ("is_known", |entries, _| entries.is_known = Bits::default()),
        ("name_offsets", |entries, _| entries.name_offsets[0] = 1),
        ("name_offsets", |entries, _| entries.name_offsets[1] = -4),
        ("name_offsets", |entries, _| entries.name_offsets[1] = 5),
        ("name_offsets", |entries, _| entries.name_offsets[1] = 3),
        ("name_offsets", |entries, _| entries.name_offsets.push(4)),
        ("name_offsets", |entries, _| entries.name_offsets.clear()),
        ("size_bytes", |entries, _| {
            entries.attributes.size_bytes.push(1);
        }),
        ("devs", |entries, _| entries.attributes.devs.clear()),
        ("gids", |entries, _| entries.attributes.gids.clear()),
        ("odd_times", |entries, _| {
            let odd = OddTime::new(1, Time::Modified, 1);
            entries.attributes.odd_times.push(odd);
        }),
        ("times_are_known", |entries, _| {
            entries.attributes.times_ns[Time::Modified.index()][0] = i64::MAX;
        }),
        ("times_are_known", |entries, _| {
            entries.times_are_known[Time::Changed.index()] = Bits::default();
        }),
        ("has_dir", |_, directories| {
            directories.columns.has_dir.push(true);
        }),
        ("states", |_, directories| directories.states[0] = 77),
        ("name_offsets", |_, directories| {
            directories.columns.name_offsets[1] = 9;
        }),
    ];
    let replay = || Replay::new(Totals::new(), context(0));
    for (name, change) in changes {
        let (mut entries, mut directories) = one_file();
        let mut good = replay();
        assert!(good.columns(&entries, &directories).is_continue());
        assert_eq!(good.finish().unwrap()[0].entries, 2);
        change(&mut entries, &mut directories);
        let mut bad = replay();
        assert!(bad.columns(&entries, &directories).is_break(), "{name}");
        let error = bad.finish().unwrap_err().to_string();
        assert_eq!(error, format!("column {name} does not go with the others"));
    }
    let (mut entries, directories) = one_file();
    entries.attributes.size_bytes.clear();
    let mut poor = replay();
    assert!(poor.columns(&entries, &directories).is_break());
    let error = poor.finish().unwrap_err().to_string();
    assert_eq!(error, "rows lack fields: size");
}

fn row(number: u32, parent: Option<u32>, name: &[u8]) -> DirectoryRow<'_> {
    DirectoryRow {
        id: id(number),
        parent: parent.map(id),
        root: 0,
        name,
        attributes: Attributes::of_type(FileType::Directory).with_allocated_bytes(4096),
        state: DirState::Listed,
        is_followed: false,
        refusal: None,
    }
}

/// A replay that has one root, with the number 0.
fn begun() -> Replay<Totals> {
    let mut replay = Replay::new(Totals::new(), context(0));
    assert!(replay.directory(&row(0, None, b"")).is_continue());
    replay
}

#[test]
fn a_contradiction_ends_the_replay_at_once() {
    let of_root = |root, row| DirectoryRow { root, ..row };
    for (wrong, words) in [
        (row(0, Some(0), b"x"), "directory 0 comes twice"),
        (row(0, None, b""), "directory 0 comes twice"),
        (row(1, None, b""), "root 0 comes twice"),
        (of_root(2, row(1, None, b"")), "root 2 is missing"),
        (
            of_root(1, row(1, Some(0), b"x")),
            "directory 1 belongs to another root than its parent",
        ),
        (
            row(1, Some(0), b"a/b"),
            "directory 1 has an invalid name, or an entry with one",
        ),
        (
            row(1, Some(0), b".."),
            "directory 1 has an invalid name, or an entry with one",
        ),
    ] {
        let mut replay = begun();
        assert!(replay.directory(&wrong).is_break(), "{words}");
        assert!(replay.directory(&row(5, Some(0), b"x")).is_break());
        assert!(replay.incomplete(id(0)).is_break() && replay.finished(id(0)).is_break());
        assert_eq!(replay.finish().unwrap_err().to_string(), words);
    }
    let file = Attributes::of_type(FileType::File);
    let fields = Totals::new().fields() | Fields::NAME;
    let mut named = begun();
    let mut batch = Batch::new(fields);
    batch.push(b"../x", &file);
    assert!(named.batch(id(0), &batch).is_break());
    assert!(matches!(named.finish(), Err(ReplayError::Name(of)) if of == id(0)));
    let mut full = begun();
    let mut batch = Batch::new(fields);
    // A batch without an entry says nothing, and is no root.
    assert!(full.root(1, &batch).is_continue());
    batch.push(ROOTS[1].as_bytes(), &file);
    assert!(full.root(1, &batch).is_continue());
    assert!(full.root(1, &batch).is_break());
    assert!(matches!(full.finish(), Err(ReplayError::RootTwice(1))));
    let mut of_other_name = begun();
    let mut wrong = Batch::new(fields);
    wrong.push(b"other", &file);
    assert!(of_other_name.root(1, &wrong).is_break());
    assert!(matches!(
        of_other_name.finish(),
        Err(ReplayError::RootName(1))
    ));
    let mut of_many = begun();
    batch.push(ROOTS[1].as_bytes(), &file);
    assert!(of_many.root(1, &batch).is_break());
    assert!(matches!(of_many.finish(), Err(ReplayError::RootTwice(1))));
    let mut early = begun();
    assert!(early.directory(&row(1, Some(0), b"x")).is_continue());
    assert!(early.finished(id(0)).is_break());
    let words = "directory 0 was finished before a directory in it";
    assert_eq!(early.finish().unwrap_err().to_string(), words);
    let mut unknown = begun();
    assert!(unknown.finished(id(3)).is_break());
    assert!(matches!(unknown.finish(), Err(ReplayError::Missing(of)) if of == id(3)));
    let mut of_no_root = begun();
    let error = EntryError {
        path: b"/x".to_vec(),
        op: statwalk_core::Op::Open,
        cause: statwalk_core::Cause::Changed,
        root: 2,
    };
    assert!(of_no_root.failed(&error).is_break());
    assert!(matches!(of_no_root.finish(), Err(ReplayError::Root(2))));
    let mut poor = begun();
    assert!(poor.batch(id(0), &Batch::new(Fields::SIZE)).is_break());
    let words = "rows lack fields: allocated, links, id";
    assert_eq!(poor.finish().unwrap_err().to_string(), words);
}

#[test]
fn what_waits_at_the_end_says_why() {
    let error = |rows: &[(u32, u32)]| {
        let mut replay = begun();
        for &(number, parent) in rows {
            let row = row(number, Some(parent), b"x");
            assert!(replay.directory(&row).is_continue());
        }
        replay.finish().unwrap_err()
    };
    let circle = |rows| match error(rows) {
        ReplayError::Circle(of) => of.index(),
        other => panic!("{other}"),
    };
    assert!(matches!(error(&[(2, 1)]), ReplayError::Missing(of) if of == id(1)));
    // 9 waits for 8, which nobody has; 1 and 2 for each other.
    let rows = [(1, 2), (2, 1), (9, 8)];
    assert!(matches!(error(&rows), ReplayError::Missing(of) if of == id(8)));
    assert_eq!(circle(&[(7, 7)]), 7);
    assert!([1, 2].contains(&circle(&[(1, 2), (2, 1), (3, 2)])));
    // The smallest number lies below the circle, and not in it.
    assert!([5, 6].contains(&circle(&[(5, 6), (6, 5), (1, 5), (2, 1)])));
    let words = error(&[(7, 7)]).to_string();
    assert_eq!(words, "directory 7 lies in itself");
}

#[test]
fn a_long_chain_that_begins_below_takes_no_stack() {
    const DEPTH: u32 = 100_000;
    let sink = (Totals::new(), TreeSink::new());
    let mut replay = Replay::new(&sink, context(0));
    for number in (1..DEPTH).rev() {
        let row = row(number, Some(number - 1), b"x");
        assert!(replay.directory(&row).is_continue());
    }
    assert!(replay.directory(&row(0, None, b"")).is_continue());
    let (totals, tree) = replay.finish().unwrap();
    assert_eq!(totals[0].dirs, u64::from(DEPTH));
    assert_eq!(tree.root(0).unwrap().dir_count(), u64::from(DEPTH));
}

#[test]
fn a_number_can_come_again_after_its_directory_is_finished() {
    let sink = (Totals::new(), TreeSink::new());
    let mut replay = Replay::new(&sink, context(0));
    assert!(replay.directory(&row(0, None, b"")).is_continue());
    for name in [b"a", b"b"] {
        assert!(replay.directory(&row(1, Some(0), name)).is_continue());
        assert!(replay.incomplete(id(1)).is_continue());
        assert!(replay.finished(id(1)).is_continue());
    }
    let (totals, tree) = replay.finish().unwrap();
    assert_eq!(totals[0].dirs, 3);
    let names: Vec<_> = tree
        .root(0)
        .unwrap()
        .children()
        .map(|dir| dir.path())
        .collect();
    assert_eq!(names, [b"/srv/a", b"/srv/b"]);
}
