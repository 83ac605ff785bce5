// SPDX-License-Identifier: MIT OR Apache-2.0

//! The tree that fits on the screen: the default view of a scan.
//!
//! The largest closed directory is opened again and again, until the rows are
//! used up. What is shown is found from the top: of a tree of millions, only
//! the children of opened directories are looked at, and there are at most as
//! many of those as rows.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::charset::Position;
use crate::line::Line;
use crate::list_table::{BAR_WIDTH, SHARE_WIDTH};
use crate::{
    SizeFormat, Style, Terminal, age, bar, escape, grouped, share, text_width, truncate_to_width,
};

/// A tree of directories, as the view needs to see it.
///
/// # Examples
///
/// A tree in a vector, where each node knows its children by index:
///
/// ```
/// use std::borrow::Cow;
/// use statwalk_view::{Figures, Tree, TreeOptions, tree_table};
///
/// struct Node { name: &'static str, figures: Figures, children: Vec<usize> }
///
/// struct Nodes(Vec<Node>);
///
/// impl Tree for Nodes {
///     type Node = usize;
///     fn root(&self) -> usize { 0 }
///     fn name(&self, node: usize) -> Cow<'_, [u8]> { self.0[node].name.as_bytes().into() }
///     fn is_dir(&self, _: usize) -> bool { true }
///     fn figures(&self, node: usize) -> Figures { self.0[node].figures }
///     fn children(&self, node: usize) -> impl Iterator<Item = usize> {
///         self.0[node].children.iter().copied()
///     }
/// }
///
/// let figures = |gib: u64, entries| Figures {
///     allocated_bytes: gib << 30, entries, ..Figures::default()
/// };
/// let tree = Nodes(vec![
///     Node { name: "/data", figures: figures(100, 40), children: vec![1, 2] },
///     Node { name: "a", figures: figures(25, 30), children: vec![] },
///     Node { name: "b", figures: figures(75, 9), children: vec![] },
/// ]);
/// assert_eq!(tree_table(&tree, &TreeOptions::default()), [
///     "   DISK  SHARE             ENTRIES  NEWEST  /data",
///     "75.0 GiB  75 % ██████████        9     –    ├── b/",
///     "25.0 GiB  25 % ███▍             30     –    └── a/",
/// ]);
/// ```
pub trait Tree {
    /// What stands for a node, typically an index.
    type Node: Copy;

    /// Returns the directory that the view is of.
    fn root(&self) -> Self::Node;

    /// Returns the exact name of a node; of the root, the path to show.
    fn name(&self, node: Self::Node) -> Cow<'_, [u8]>;

    /// Returns whether a node is a directory.
    fn is_dir(&self, node: Self::Node) -> bool;

    /// Returns how many files or directories a node stands for: more than one
    /// where a tree does not keep files and gives those of a directory as one
    /// node. Such a node is never shown by itself.
    fn count(&self, node: Self::Node) -> u64 {
        let _ = node;
        1
    }

    /// Returns the sums over a node and all that is below it.
    fn figures(&self, node: Self::Node) -> Figures;

    /// Returns the children of a directory, in any order; called at most once
    /// for a directory, and only if it is opened.
    fn children(&self, node: Self::Node) -> impl Iterator<Item = Self::Node>;
}

/// Sums over a node and all that is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Disk space.
    pub allocated_bytes: u64,
    /// The sum of the sizes as `ls` shows them.
    pub apparent_bytes: u64,
    /// Names, that of the node too.
    pub entries: u64,
    /// When the youngest file was modified; absent where there is no file, and
    /// where it is not known.
    pub newest_mtime_ns: Option<i64>,
    /// Whether something could not be read, so that the sums are a lower bound.
    pub incomplete: bool,
}

/// How a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// The rows below the head at most. For a view that does not scroll, the
    /// height of the terminal less one for the head, one for the prompt, and
    /// what stands below the tree.
    pub rows_max: usize,
    /// How deep rows go: 1 is the children of the root. Sums stay whole.
    pub depth_max: Option<usize>,
    /// Whether files have rows of their own.
    pub files: Files,
    /// The size that is shown, and that shares are of.
    pub column: SizeColumn,
    /// How sizes are written.
    pub size: SizeFormat,
    /// What stands first, and what is opened first.
    pub sort: SortKey,
    /// Whether siblings stand the other way round.
    pub direction: Direction,
    /// The present moment, in nanoseconds since 1970-01-01 00:00 UTC.
    pub now_ns: i64,
    /// What the lines are written to.
    pub terminal: Terminal,
}

/// Whether files have rows of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// Files are in the sums, and in the row for the rest of their directory.
    #[default]
    Hidden,
    /// Files have rows as directories have.
    Shown,
}

/// The size that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeColumn {
    /// Disk space.
    #[default]
    Disk,
    /// The size as `ls` shows it.
    Apparent,
}

/// What siblings are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The largest first.
    #[default]
    Size,
    /// By the bytes of the name; the largest directories are opened.
    Name,
    /// The most entries first.
    Count,
    /// The most recently modified first.
    Mtime,
}

/// Whether siblings stand in the order of their [`SortKey`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// As the key says.
    #[default]
    Forward,
    /// The other way round. The same rows are shown, and the row for the rest
    /// stays the last.
    Reversed,
}

impl Default for TreeOptions {
    /// Returns 20 rows of disk space, the largest first, in 1970.
    fn default() -> TreeOptions {
        TreeOptions {
            rows_max: 20,
            depth_max: None,
            files: Files::default(),
            column: SizeColumn::default(),
            size: SizeFormat::default(),
            sort: SortKey::default(),
            direction: Direction::default(),
            now_ns: 0,
            terminal: Terminal::default(),
        }
    }
}

/// Returns the lines of the view: a head, then at most `rows_max` rows.
///
/// The largest nodes whose parents are shown are the rows. Where a directory
/// has children that are not shown, its last row is `… 41 more` with their
/// sums; where these are files, which have no rows unless they are asked for,
/// it is `… 41 files`. A directory of which nothing is shown is closed, and
/// has no such row. Shares are of the root. The bars have one scale for the
/// whole view, on which the largest row is full. Siblings that are equal in
/// what they are sorted by stand in the order of their names.
///
/// No line is wider than the terminal: a name is cut in its middle, guides of
/// outer directories are left out, and where there is still no room, the bar,
/// the age, the count and the share go, in this order.
#[must_use]
pub fn tree_table<T: Tree>(tree: &T, options: &TreeOptions) -> Vec<String> {
    let mut selection = Selection::new(tree, options);
    selection.fill();
    let rows = selection.into_rows();
    Layout::new(tree, options, &rows).lines(&rows)
}

// --- which rows ---

/// A directory or file that has a row; the root has none and is the first.
struct Shown<N> {
    node: N,
    depth: usize,
    figures: Figures,
    is_dir: bool,
    /// The children that may be shown, in the order in which they will be.
    candidates: Vec<Candidate<N>>,
    /// The rows of the first of the candidates.
    children: Vec<usize>,
    /// The children that cannot be shown.
    beyond: Rest,
}

#[derive(Clone, Copy)]
struct Candidate<N> {
    key: u64,
    node: N,
}

/// What is not shown of a directory.
#[derive(Clone, Copy, Default)]
struct Rest {
    count: u64,
    dir_count: u64,
    figures: Figures,
    /// Whether there are files among it whose time is not known.
    has_unknown_time: bool,
}

impl Rest {
    fn add<T: Tree>(&mut self, tree: &T, node: T::Node, more: &Figures) {
        let is_dir = tree.is_dir(node);
        let sum = &mut self.figures;
        self.count += tree.count(node);
        self.dir_count += u64::from(is_dir);
        // A directory without files has none, but a file always has one.
        self.has_unknown_time |= !is_dir && more.newest_mtime_ns.is_none();
        sum.allocated_bytes = sum.allocated_bytes.saturating_add(more.allocated_bytes);
        sum.apparent_bytes = sum.apparent_bytes.saturating_add(more.apparent_bytes);
        sum.entries = sum.entries.saturating_add(more.entries);
        sum.newest_mtime_ns = sum.newest_mtime_ns.max(more.newest_mtime_ns);
        sum.incomplete |= more.incomplete;
    }

    fn figures(&self) -> Figures {
        let newest_mtime_ns = self.figures.newest_mtime_ns;
        Figures {
            newest_mtime_ns: newest_mtime_ns.filter(|_| !self.has_unknown_time),
            ..self.figures
        }
    }
}

/// What can be done next; the largest is done first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    key: u64,
    /// Of equals, what was found first.
    age: Reverse<usize>,
    action: Action,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// Find the children of a row's directory.
    Open(usize),
    /// Give the next candidate of a row's directory a row.
    Show(usize),
}

struct Selection<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    shown: Vec<Shown<T::Node>>,
    steps: BinaryHeap<Step>,
    steps_count: usize,
    rows_used: usize,
}

const ROOT: usize = 0;

impl<'a, T: Tree> Selection<'a, T> {
    fn new(tree: &'a T, options: &'a TreeOptions) -> Self {
        let mut selection = Selection {
            tree,
            options,
            shown: Vec::new(),
            steps: BinaryHeap::new(),
            steps_count: 0,
            rows_used: 0,
        };
        selection.add(tree.root(), 0);
        selection
    }

    /// Adds a node to those shown, and the opening of it to what can be done.
    fn add(&mut self, node: T::Node, depth: usize) {
        let figures = self.tree.figures(node);
        let is_dir = self.tree.is_dir(node);
        let index = self.shown.len();
        self.shown.push(Shown {
            node,
            depth,
            figures,
            is_dir,
            candidates: Vec::new(),
            children: Vec::new(),
            beyond: Rest::default(),
        });
        if is_dir && self.options.depth_max.is_none_or(|max| depth < max) {
            self.push_step(self.key(&figures), Action::Open(index));
        }
    }

    fn push_step(&mut self, key: u64, action: Action) {
        let age = Reverse(self.steps_count);
        self.steps_count += 1;
        self.steps.push(Step { key, age, action });
    }

    /// Returns what nodes are chosen by; never more than that of the parent.
    fn key(&self, figures: &Figures) -> u64 {
        match self.options.sort {
            SortKey::Size | SortKey::Name => self.options.column.of(figures),
            SortKey::Count => figures.entries,
            // The order of signed numbers, kept in unsigned ones.
            SortKey::Mtime => figures
                .newest_mtime_ns
                .map_or(0, |ns| ns.cast_unsigned() ^ (1 << 63)),
        }
    }

    /// Shows rows until there is no room for more.
    fn fill(&mut self) {
        while self.rows_used < self.options.rows_max
            && let Some(step) = self.steps.pop()
        {
            match step.action {
                Action::Open(index) => self.open(index),
                Action::Show(index) => self.show(index),
            }
        }
        // A row `… 1 more` can as well be that one.
        for index in 0..self.shown.len() {
            if self.has_rest_row(index) && self.hidden_count(index) == 1 {
                self.show(index);
            }
        }
    }

    /// Finds the candidates among the children of a directory.
    fn open(&mut self, index: usize) {
        let room = self.options.rows_max - self.rows_used;
        let mut best = Best::new(self.tree, room);
        for node in self.tree.children(self.shown[index].node) {
            let is_dir = self.tree.is_dir(node);
            let figures = self.tree.figures(node);
            let key = self.key(&figures);
            if best.is_wanted(key) && (is_dir || self.options.files == Files::Shown) {
                best.add(Candidate { key, node });
            } else {
                best.beyond.add(self.tree, node, &figures);
            }
        }
        let (candidates, beyond) = best.finish();
        self.shown[index].candidates = candidates;
        self.shown[index].beyond = beyond;
        if self.has_rest_row(index) {
            // Only the root has one from the start, for there must be something.
            self.rows_used += 1;
        }
        self.push_show(index);
    }

    fn push_show(&mut self, index: usize) {
        let row = &self.shown[index];
        if let Some(next) = row.candidates.get(row.children.len()) {
            self.push_step(next.key, Action::Show(index));
        }
    }

    /// Gives the next candidate of a directory a row, if there is room.
    fn show(&mut self, index: usize) {
        let row = &self.shown[index];
        let Some(&Candidate { node, .. }) = row.candidates.get(row.children.len()) else {
            return;
        };
        // The first row of a directory brings the row for the rest with it; the
        // last takes its place.
        let rest_before = usize::from(self.has_rest_row(index));
        let rest_after = usize::from(self.hidden_count(index) > 1);
        let rows_used = self.rows_used + 1 + rest_after - rest_before;
        if rows_used > self.options.rows_max {
            return;
        }
        self.rows_used = rows_used;
        let child = self.shown.len();
        self.shown[index].children.push(child);
        self.add(node, self.shown[index].depth + 1);
        self.push_show(index);
    }

    fn hidden_count(&self, index: usize) -> u64 {
        let row = &self.shown[index];
        row.beyond.count + (row.candidates.len() - row.children.len()) as u64
    }

    fn has_rest_row(&self, index: usize) -> bool {
        let is_open = index == ROOT || !self.shown[index].children.is_empty();
        is_open && self.hidden_count(index) > 0
    }

    /// Returns the rows in the order in which they stand on the screen.
    fn into_rows(mut self) -> Vec<Row<T::Node>> {
        for index in 0..self.shown.len() {
            let mut children = std::mem::take(&mut self.shown[index].children);
            let shown_count = children.len();
            if self.options.sort == SortKey::Name {
                let name = |&child: &usize| self.tree.name(self.shown[child].node);
                children.sort_by(|a, b| name(a).cmp(&name(b)));
            }
            if self.options.direction == Direction::Reversed {
                children.reverse();
            }
            let row = &mut self.shown[index];
            row.children = children;
            for candidate in row.candidates.drain(..).skip(shown_count) {
                let figures = self.tree.figures(candidate.node);
                row.beyond.add(self.tree, candidate.node, &figures);
            }
        }

        let mut rows = Vec::with_capacity(self.rows_used);
        let mut stack = Vec::new();
        self.push_children(ROOT, &mut stack);
        while let Some((index, position)) = stack.pop() {
            match index {
                Place::Node(index) => {
                    let row = &self.shown[index];
                    rows.push(Row {
                        depth: row.depth,
                        position,
                        figures: row.figures,
                        label: Label::Node(row.node, row.is_dir),
                    });
                    self.push_children(index, &mut stack);
                }
                Place::Rest(index) => {
                    let row = &self.shown[index];
                    rows.push(Row {
                        depth: row.depth + 1,
                        position,
                        figures: row.beyond.figures(),
                        label: Label::Rest(row.beyond.count, row.beyond.dir_count),
                    });
                }
            }
        }
        rows
    }

    /// Puts the rows below a directory on the stack, the first on top.
    fn push_children(&self, index: usize, stack: &mut Vec<(Place, Position)>) {
        let row = &self.shown[index];
        let mut position = Position::Last;
        if row.beyond.count > 0 && (index == ROOT || !row.children.is_empty()) {
            stack.push((Place::Rest(index), position));
            position = Position::Inner;
        }
        for &child in row.children.iter().rev() {
            stack.push((Place::Node(child), position));
            position = Position::Inner;
        }
    }
}

/// The row of a node, or of what is not shown of a node.
enum Place {
    Node(usize),
    Rest(usize),
}

/// The largest of many candidates.
///
/// Holds at most twice as many as are wanted, whatever their number.
struct Best<'a, T: Tree> {
    tree: &'a T,
    wanted: usize,
    candidates: Vec<Candidate<T::Node>>,
    /// What is smaller than this is not among the largest.
    key_min: u64,
    /// What is not among them, or is no candidate.
    beyond: Rest,
}

impl<'a, T: Tree> Best<'a, T> {
    fn new(tree: &'a T, wanted: usize) -> Self {
        Best {
            tree,
            wanted,
            candidates: Vec::new(),
            key_min: 0,
            beyond: Rest::default(),
        }
    }

    /// Returns whether a candidate with `key` can be among the largest.
    fn is_wanted(&self, key: u64) -> bool {
        key >= self.key_min
    }

    fn add(&mut self, candidate: Candidate<T::Node>) {
        self.candidates.push(candidate);
        if self.candidates.len() >= self.wanted.saturating_mul(2).max(64) {
            self.prune();
        }
    }

    /// Leaves the largest, in no order.
    fn prune(&mut self) {
        let Some(last) = self.wanted.checked_sub(1) else {
            return;
        };
        if self.candidates.len() <= self.wanted {
            return;
        }
        let tree = self.tree;
        self.candidates
            .select_nth_unstable_by(last, |a, b| before(tree, a, b));
        self.key_min = self.candidates[last].key;
        for candidate in self.candidates.drain(self.wanted..) {
            let figures = tree.figures(candidate.node);
            self.beyond.add(tree, candidate.node, &figures);
        }
    }

    fn finish(mut self) -> (Vec<Candidate<T::Node>>, Rest) {
        self.prune();
        let tree = self.tree;
        self.candidates.sort_unstable_by(|a, b| before(tree, a, b));
        (self.candidates, self.beyond)
    }
}

/// The larger first; of equals, the first by name.
fn before<T: Tree>(tree: &T, a: &Candidate<T::Node>, b: &Candidate<T::Node>) -> Ordering {
    b.key
        .cmp(&a.key)
        .then_with(|| tree.name(a.node).cmp(&tree.name(b.node)))
}

impl SizeColumn {
    fn of(self, figures: &Figures) -> u64 {
        match self {
            SizeColumn::Disk => figures.allocated_bytes,
            SizeColumn::Apparent => figures.apparent_bytes,
        }
    }

    fn title(self) -> &'static str {
        match self {
            SizeColumn::Disk => "DISK",
            SizeColumn::Apparent => "APPARENT",
        }
    }
}

// --- what the rows look like ---

struct Row<N> {
    /// 1 for the children of the root.
    depth: usize,
    position: Position,
    figures: Figures,
    label: Label<N>,
}

enum Label<N> {
    /// A node, and whether it is a directory.
    Node(N, bool),
    /// How many children have no row, and how many of these are directories.
    Rest(u64, u64),
}

/// The least room for a name before a column gives way to it.
const LABEL_WIDTH_MIN: usize = 24;

/// The room kept for a name beside the guides.
const NAME_WIDTH_MIN: usize = 16;

/// The width of a size such as `2.02 TiB`; more only where sizes are longer.
const SIZE_WIDTH_MIN: usize = 8;

const ENTRIES_TITLE: &str = "ENTRIES";
const SHARE_TITLE: &str = "SHARE";
const NEWEST_TITLE: &str = "NEWEST";
const GUIDE_WIDTH: usize = 4;
const INCOMPLETE: &str = " (incomplete)";

/// The columns that are shown, fewer where there is little room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Columns {
    Size,
    SizeShare,
    SizeShareEntries,
    SizeShareEntriesNewest,
    All,
}

struct Layout<'a, T: Tree> {
    tree: &'a T,
    options: &'a TreeOptions,
    columns: Columns,
    size_width: usize,
    entries_width: usize,
    label_width: usize,
    whole_bytes: u64,
    largest_bytes: u64,
}

impl<'a, T: Tree> Layout<'a, T> {
    fn new(tree: &'a T, options: &'a TreeOptions, rows: &[Row<T::Node>]) -> Self {
        let root = tree.figures(tree.root());
        let sizes = rows.iter().map(|row| options.column.of(&row.figures));
        let size_texts = sizes.clone().map(|bytes| options.size.text(bytes).len());
        let size_width = size_texts.max().unwrap_or(0).max(SIZE_WIDTH_MIN);
        let entries_width = grouped(root.entries).len().max(ENTRIES_TITLE.len());

        let all = [
            Columns::All,
            Columns::SizeShareEntriesNewest,
            Columns::SizeShareEntries,
            Columns::SizeShare,
        ];
        let room = |columns: Columns| {
            let mut taken = size_width + 2;
            for (part, width) in [
                (Columns::SizeShare, 1 + SHARE_WIDTH),
                (Columns::SizeShareEntries, 2 + entries_width),
                (Columns::SizeShareEntriesNewest, 2 + NEWEST_TITLE.len()),
                (Columns::All, 1 + BAR_WIDTH),
            ] {
                if columns >= part {
                    taken += width;
                }
            }
            options.terminal.width.saturating_sub(taken)
        };
        let columns = all
            .into_iter()
            .find(|&columns| room(columns) >= LABEL_WIDTH_MIN)
            .unwrap_or(Columns::Size);
        Layout {
            tree,
            options,
            columns,
            size_width,
            entries_width,
            label_width: room(columns),
            whole_bytes: options.column.of(&root),
            largest_bytes: sizes.max().unwrap_or(0),
        }
    }

    fn lines(&self, rows: &[Row<T::Node>]) -> Vec<String> {
        let mut lines = Vec::with_capacity(rows.len() + 1);
        lines.push(self.header());
        let mut positions = Vec::new();
        for row in rows {
            positions.truncate(row.depth - 1);
            positions.push(row.position);
            lines.push(self.row(row, &positions));
        }
        lines
    }

    fn header(&self) -> String {
        // One column further left than the cells, so that two blanks divide it
        // from the next title.
        let title = self.options.column.title();
        let title_width = (self.size_width - 1).max(title.len());
        let mut text = format!("{title:>title_width$}");
        text.extend(std::iter::repeat_n(' ', self.size_width - title_width));
        if self.columns >= Columns::SizeShare {
            text.push_str(&format!(" {SHARE_TITLE:<SHARE_WIDTH$}"));
        }
        if self.columns >= Columns::All {
            text.extend(std::iter::repeat_n(' ', 1 + BAR_WIDTH));
        }
        if self.columns >= Columns::SizeShareEntries {
            let width = self.entries_width;
            text.push_str(&format!("  {ENTRIES_TITLE:>width$}"));
        }
        if self.columns >= Columns::SizeShareEntriesNewest {
            text.push_str(&format!("  {NEWEST_TITLE}"));
        }
        let mut line = Line::default();
        line.push_as(Style::Header, text);
        line.pad(2);
        let name = self.tree.name(self.tree.root());
        let name = escape(&name, self.options.terminal.charset).into_owned();
        line.push_as(Style::Header, self.cut(&name, self.label_width));
        line.finish(self.options.terminal)
    }

    fn row(&self, row: &Row<T::Node>, positions: &[Position]) -> String {
        let charset = self.options.terminal.charset;
        let bytes = self.options.column.of(&row.figures);
        let mut line = Line::default();

        let width = self.size_width;
        line.push(format!("{:>width$}", self.options.size.text(bytes)));
        if self.columns >= Columns::SizeShare {
            let share = share(bytes, self.whole_bytes);
            line.push(format!(" {share:>SHARE_WIDTH$}"));
        }
        if self.columns >= Columns::All {
            line.pad(1);
            let bar = bar(bytes, self.largest_bytes, BAR_WIDTH, charset);
            line.push_as(Style::Bar, bar);
        }
        if self.columns >= Columns::SizeShareEntries {
            let width = self.entries_width;
            line.push(format!("  {:>width$}", grouped(row.figures.entries)));
        }
        if self.columns >= Columns::SizeShareEntriesNewest {
            let newest = row.figures.newest_mtime_ns.map_or_else(
                || charset.absent().to_owned(),
                |mtime_ns| age(mtime_ns, self.options.now_ns),
            );
            // Units below one another, and room for the longest words.
            let newest = format!("{newest:>4}");
            line.push(format!("  {newest:<width$}", width = NEWEST_TITLE.len()));
        }
        line.pad(2);

        let prefix = self.prefix(positions);
        let mark = if row.figures.incomplete {
            INCOMPLETE
        } else {
            ""
        };
        let room = self
            .label_width
            .saturating_sub(text_width(&prefix) + text_width(mark));
        line.push(prefix);
        let (style, label) = self.label(&row.label);
        line.push_as(style, self.cut(&label, room).into_owned());
        line.push_as(Style::Warning, mark);
        line.finish(self.options.terminal)
    }

    fn label(&self, label: &Label<T::Node>) -> (Option<Style>, String) {
        let charset = self.options.terminal.charset;
        match *label {
            Label::Node(node, is_dir) => {
                let mut text = escape(&self.tree.name(node), charset).into_owned();
                if !is_dir {
                    return (None, text);
                }
                text.push('/');
                (Some(Style::Directory), text)
            }
            Label::Rest(count, dir_count) => {
                let what = match self.options.files {
                    Files::Hidden if dir_count == 0 && count == 1 => "file",
                    Files::Hidden if dir_count == 0 => "files",
                    _ => "more",
                };
                let text = format!("{} {} {what}", charset.ellipsis(), grouped(count));
                (Some(Style::Rest), text)
            }
        }
    }

    /// Returns the guides and the branch left of a name; of many guides, the
    /// inner ones.
    fn prefix(&self, positions: &[Position]) -> String {
        let charset = self.options.terminal.charset;
        let Some((last, outer)) = positions.split_last() else {
            return String::new();
        };
        let room = self.label_width.saturating_sub(NAME_WIDTH_MIN) / GUIDE_WIDTH;
        // One for the branch, and where some are left out, one for their sign.
        let guides = match room.saturating_sub(1) {
            room if outer.len() <= room => outer.len(),
            room => room.saturating_sub(1),
        };
        let mut prefix = String::new();
        if guides < outer.len() {
            prefix.push_str(charset.guide_cut());
        }
        for position in &outer[outer.len() - guides..] {
            prefix.push_str(charset.guide(*position));
        }
        prefix.push_str(charset.branch(*last));
        prefix
    }

    fn cut<'t>(&self, text: &'t str, room: usize) -> Cow<'t, str> {
        truncate_to_width(text, room, self.options.terminal.charset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::plain;
    use crate::escape::tests::hostile_name;
    use crate::{Charset, Colour};
    use proptest::prelude::*;
    use std::cell::{Cell, RefCell};

    const GIB: u64 = 1 << 30;
    const MINUTE: i64 = 60_000_000_000;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const NOW: i64 = 20_000 * DAY;

    /// A tree whose directories have the sums of what is in them.
    #[derive(Clone, Debug)]
    struct Item {
        name: Vec<u8>,
        is_dir: bool,
        figures: Figures,
        children: Vec<Item>,
    }

    fn file(name: &str, bytes: u64, entries: u64, age_ns: i64) -> Item {
        Item {
            name: name.as_bytes().to_vec(),
            is_dir: false,
            figures: Figures {
                allocated_bytes: bytes,
                apparent_bytes: bytes / 2,
                entries,
                newest_mtime_ns: Some(NOW - age_ns),
                incomplete: false,
            },
            children: Vec::new(),
        }
    }

    fn dir(name: &str, children: Vec<Item>) -> Item {
        let mut rest = Rest::default();
        for (index, child) in children.iter().enumerate() {
            rest.add(&Items(&children), Some(index), &child.figures);
        }
        let mut figures = rest.figures;
        figures.entries += 1;
        Item {
            name: name.as_bytes().to_vec(),
            is_dir: true,
            figures,
            children,
        }
    }

    /// A directory with sums of its own, which stand for a tree below it.
    fn leaf(name: &str, bytes: u64, entries: u64, age_ns: i64) -> Item {
        Item {
            is_dir: true,
            ..file(name, bytes, entries, age_ns)
        }
    }

    /// As many directories as `count`, which have `bytes` and `entries` together.
    fn leaves(count: u64, bytes: u64, entries: u64, age_ns: i64) -> Vec<Item> {
        let part = |whole: u64, index| whole / count + u64::from(index < whole % count);
        (0..count)
            .map(|i| {
                leaf(
                    &format!("d{i}"),
                    part(bytes, i),
                    part(entries, i),
                    age_ns + i as i64,
                )
            })
            .collect()
    }

    /// Siblings, without a tree.
    struct Items<'a>(&'a [Item]);

    impl Tree for Items<'_> {
        type Node = Option<usize>;
        fn root(&self) -> Option<usize> {
            None
        }
        fn name(&self, node: Option<usize>) -> Cow<'_, [u8]> {
            Cow::Borrowed(node.map_or(b"", |index| &self.0[index].name))
        }
        fn is_dir(&self, node: Option<usize>) -> bool {
            node.is_none_or(|index| self.0[index].is_dir)
        }
        fn figures(&self, node: Option<usize>) -> Figures {
            node.map_or(Figures::default(), |index| self.0[index].figures)
        }
        fn children(&self, _: Option<usize>) -> impl Iterator<Item = Option<usize>> {
            std::iter::empty()
        }
    }

    impl<'a> Tree for &'a Item {
        type Node = &'a Item;
        fn root(&self) -> &'a Item {
            self
        }
        fn name(&self, node: &'a Item) -> Cow<'_, [u8]> {
            Cow::Borrowed(&node.name)
        }
        fn is_dir(&self, node: &'a Item) -> bool {
            node.is_dir
        }
        fn figures(&self, node: &'a Item) -> Figures {
            node.figures
        }
        fn children(&self, node: &'a Item) -> impl Iterator<Item = &'a Item> {
            node.children.iter()
        }
    }

    fn check(root: &Item, options: &TreeOptions, expected: &[&str]) {
        assert_eq!(tree_table(&root, options), expected);
    }

    fn rows(rows_max: usize) -> TreeOptions {
        TreeOptions {
            rows_max,
            now_ns: NOW,
            ..TreeOptions::default()
        }
    }

    fn with(mut item: Item, more: Vec<Item>) -> Item {
        item.children.extend(more);
        let name = String::from_utf8(item.name).unwrap();
        let mut with = dir(&name, item.children);
        with.figures.entries -= 1;
        with
    }

    /// The tree of the command line's description.
    fn example() -> Item {
        let climate = with(
            dir(
                "climate",
                vec![leaf("2019-raw", 412 * GIB, 2_113, 3 * 366 * DAY)],
            ),
            leaves(41, 714 * GIB, 879_091, 2 * DAY),
        );
        let projects = with(
            dir("projects", vec![climate]),
            leaves(17, 940 * GIB, 323_127, 5 * HOUR),
        );
        let home = with(
            dir("home", vec![]),
            leaves(20, 131 * 1024 * GIB / 100, 9_870_450, 12 * MINUTE),
        );
        let others = leaves(9, 892 * GIB, 1_328_337, DAY);
        with(with(dir("/data", vec![home, projects]), others), vec![])
    }

    /// A tree that gives the files of its root as one node.
    struct Bundled {
        files: u64,
        newest_mtime_ns: Option<i64>,
    }

    impl Tree for Bundled {
        type Node = u8;
        fn root(&self) -> u8 {
            0
        }
        fn name(&self, _: u8) -> Cow<'_, [u8]> {
            Cow::Borrowed(b"dir")
        }
        fn is_dir(&self, node: u8) -> bool {
            node < 2
        }
        fn count(&self, node: u8) -> u64 {
            if node == 2 { self.files } else { 1 }
        }
        fn figures(&self, node: u8) -> Figures {
            Figures {
                allocated_bytes: 1 << 10,
                entries: self.count(node),
                newest_mtime_ns: self.newest_mtime_ns.filter(|_| node == 2),
                ..Figures::default()
            }
        }
        fn children(&self, node: u8) -> impl Iterator<Item = u8> {
            if node == 0 { 1..3 } else { 0..0 }
        }
    }

    #[test]
    fn files_that_are_not_kept_are_counted() {
        let check = |files, newest_mtime_ns, expected: &str| {
            let tree = Bundled {
                files,
                newest_mtime_ns,
            };
            let lines = tree_table(&tree, &rows(9));
            assert_eq!(lines[1..].len(), 2, "{lines:?}");
            assert!(lines[1].ends_with("├── dir/"), "{lines:?}");
            assert!(lines[2].ends_with(expected), "{lines:?}");
        };
        check(41, Some(NOW), "41   now    └── … 41 files");
        check(1, Some(NOW), " 1   now    └── … 1 file");
        // Some file may be younger than all whose time is known.
        check(2, None, " 2     –    └── … 2 files");
    }

    #[test]
    fn the_example() {
        check(
            &example(),
            &rows(7),
            &[
                "   DISK  SHARE                ENTRIES  NEWEST  /data",
                "2.02 TiB  48 % ██████████   1,204,331   5 h    ├── projects/",
                "1.10 TiB  26 % █████▌         881,204   2 d    │   ├── climate/",
                " 412 GiB  10 % ██               2,113   3 y    │   │   ├── 2019-raw/",
                " 714 GiB  17 % ███▌           879,091   2 d    │   │   └── … 41 more",
                " 940 GiB  22 % ████▌          323,127   5 h    │   └── … 17 more",
                "1.31 TiB  31 % ██████▌      9,870,450  12 m    ├── home/",
                " 892 GiB  21 % ████▍        1,328,337   1 d    └── … 9 more",
            ],
        );
    }

    #[test]
    fn fewer_rows_close_the_smaller_directories() {
        check(
            &example(),
            &rows(6),
            &[
                "   DISK  SHARE                ENTRIES  NEWEST  /data",
                "2.02 TiB  48 % ██████████   1,204,331   5 h    ├── projects/",
                "1.10 TiB  26 % █████▌         881,204   2 d    │   ├── climate/",
                " 940 GiB  22 % ████▌          323,127   5 h    │   └── … 17 more",
                "1.31 TiB  31 % ██████▌      9,870,450  12 m    ├── home/",
                "99.1 GiB   2 % ▌              147,593   1 d    ├── d0/",
                " 793 GiB  18 % ███▉         1,180,744   1 d    └── … 8 more",
            ],
        );
    }

    #[test]
    fn few_rows() {
        let head = "   DISK  SHARE                ENTRIES  NEWEST  /data";
        check(&example(), &rows(0), &[head]);
        check(
            &example(),
            &rows(1),
            &[
                head,
                "4.20 TiB 100 % ██████████  12,403,118  12 m    └── … 11 more",
            ],
        );
        check(
            &example(),
            &rows(2),
            &[
                head,
                "2.02 TiB  48 % █████████▎   1,204,331   5 h    ├── projects/",
                "2.18 TiB  52 % ██████████  11,198,787  12 m    └── … 10 more",
            ],
        );
    }

    /// Two directories, one of them with two files, and three files.
    fn small() -> Item {
        dir(
            "/s",
            vec![
                file("notes.txt", 1024, 1, HOUR),
                dir(
                    "b",
                    vec![
                        file("one", 4096, 1, 3 * DAY),
                        dir("inner", vec![file("deep", 8192, 1, 15 * DAY)]),
                        file("two", 4096, 1, DAY),
                    ],
                ),
                file("empty", 0, 1, -HOUR),
                dir("a", vec![]),
                file("more.txt", 1024, 1, 0),
            ],
        )
    }

    #[test]
    fn files_are_in_the_rest() {
        check(
            &small(),
            &rows(10),
            &[
                "   DISK  SHARE             ENTRIES  NEWEST  /s",
                "16.0 KiB  89 % ██████████        5   1 d    ├── b/",
                "8.00 KiB  44 % █████             2   2 w    │   ├── inner/",
                "8.00 KiB  44 % █████             2   1 d    │   └── … 2 files",
                "     0 B   0 %                   1     –    ├── a/",
                "2.00 KiB  11 % █▎                3  future  └── … 3 files",
            ],
        );
        let one = dir("/one", vec![file("f", 2048, 1, 0)]);
        check(
            &one,
            &rows(10),
            &[
                "   DISK  SHARE             ENTRIES  NEWEST  /one",
                "2.00 KiB 100 % ██████████        1   now    └── … 1 file",
            ],
        );
        let nothing = dir("/none", vec![]);
        check(
            &nothing,
            &rows(10),
            &["   DISK  SHARE             ENTRIES  NEWEST  /none"],
        );
    }

    #[test]
    fn files_have_rows_if_asked_for() {
        let options = TreeOptions {
            files: Files::Shown,
            ..rows(9)
        };
        check(
            &small(),
            &options,
            &[
                "   DISK  SHARE             ENTRIES  NEWEST  /s",
                "16.0 KiB  89 % ██████████        5   1 d    ├── b/",
                "8.00 KiB  44 % █████             2   2 w    │   ├── inner/",
                "8.00 KiB  44 % █████             1   2 w    │   │   └── deep",
                "4.00 KiB  22 % ██▌               1   3 d    │   ├── one",
                "4.00 KiB  22 % ██▌               1   1 d    │   └── two",
                "1.00 KiB   6 % ▋                 1   now    ├── more.txt",
                "1.00 KiB   6 % ▋                 1   1 h    ├── notes.txt",
                "     0 B   0 %                   1     –    ├── a/",
                "     0 B   0 %                   1  future  └── empty",
            ],
        );
        check(
            &small(),
            &TreeOptions {
                rows_max: 4,
                ..options
            },
            &[
                "   DISK  SHARE             ENTRIES  NEWEST  /s",
                "16.0 KiB  89 % ██████████        5   1 d    ├── b/",
                "8.00 KiB  44 % █████             2   2 w    │   ├── inner/",
                "8.00 KiB  44 % █████             2   1 d    │   └── … 2 more",
                "2.00 KiB  11 % █▎                4  future  └── … 4 more",
            ],
        );
    }

    /// The names in the rows of a view, in their order.
    fn names(root: &Item, options: &TreeOptions) -> Vec<String> {
        let mut lines = tree_table(&root, options);
        lines.remove(0);
        let name = |line: String| line.rsplit("── ").next().unwrap().to_owned();
        lines.into_iter().map(name).collect()
    }

    #[test]
    fn the_depth_is_limited() {
        let names = |depth_max| {
            let options = TreeOptions {
                depth_max: Some(depth_max),
                ..rows(10)
            };
            names(&small(), &options)
        };
        assert_eq!(names(0), [""; 0]);
        assert_eq!(names(1), ["b/", "a/", "… 3 files"]);
        assert_eq!(names(2), ["b/", "inner/", "… 2 files", "a/", "… 3 files"]);
        assert_eq!(names(3), names(2));
    }

    #[test]
    fn siblings_are_sorted() {
        let root = dir(
            "/",
            vec![
                leaf("c", 30, 1, 2 * DAY),
                leaf("a", 10, 3, 3 * DAY),
                leaf("b", 20, 2, DAY),
                leaf("d", 10, 3, 3 * DAY),
            ],
        );
        let check = |sort, all: [&str; 4], two: [&str; 3]| {
            let mut options = TreeOptions { sort, ..rows(10) };
            assert_eq!(names(&root, &options), all);
            options.rows_max = 3;
            assert_eq!(names(&root, &options), two);
            // The same rows, the other way round, and the rest still last.
            options.direction = Direction::Reversed;
            assert_eq!(names(&root, &options), [two[1], two[0], two[2]]);
        };
        check(
            SortKey::Size,
            ["c/", "b/", "a/", "d/"],
            ["c/", "b/", "… 2 more"],
        );
        check(
            SortKey::Name,
            ["a/", "b/", "c/", "d/"],
            ["b/", "c/", "… 2 more"],
        );
        check(
            SortKey::Count,
            ["a/", "d/", "b/", "c/"],
            ["a/", "d/", "… 2 more"],
        );
        check(
            SortKey::Mtime,
            ["b/", "c/", "a/", "d/"],
            ["b/", "c/", "… 2 more"],
        );
    }

    #[test]
    fn of_equal_directories_the_first_is_opened() {
        let pair = |name: &str, child: &str| dir(name, vec![leaf(child, 10, 1, 0)]);
        let root = dir("/", vec![pair("b", "b1"), pair("a", "a1")]);
        assert_eq!(names(&root, &rows(3)), ["a/", "a1/", "b/"]);
    }

    /// A directory whose tree does not keep its 300 files: one node for all.
    struct Merged {
        newest_mtime_ns: Option<i64>,
    }

    impl Tree for Merged {
        type Node = &'static str;
        fn root(&self) -> &'static str {
            "/"
        }
        fn name(&self, node: &'static str) -> Cow<'_, [u8]> {
            node.as_bytes().into()
        }
        fn is_dir(&self, node: &'static str) -> bool {
            node != "files"
        }
        fn count(&self, node: &'static str) -> u64 {
            if node == "files" { 300 } else { 1 }
        }
        fn figures(&self, node: &'static str) -> Figures {
            let newest_mtime_ns = match node {
                "files" => self.newest_mtime_ns,
                _ => Some(NOW - HOUR),
            };
            Figures {
                allocated_bytes: if node == "a" { 2048 } else { 1024 },
                entries: self.count(node),
                newest_mtime_ns,
                ..Figures::default()
            }
        }
        fn children(&self, node: &'static str) -> impl Iterator<Item = &'static str> {
            let children: &[_] = if node == "/" {
                &["files", "b", "a"]
            } else {
                &[]
            };
            children.iter().copied()
        }
    }

    #[test]
    fn one_node_can_stand_for_many_files() {
        let check = |newest_mtime_ns, rows_max, expected: &str| {
            let lines = tree_table(&Merged { newest_mtime_ns }, &rows(rows_max));
            let last = lines.last().unwrap();
            assert!(last.ends_with(expected), "{last}");
        };
        check(Some(NOW - DAY), 3, "    300   1 d    └── … 300 files");
        check(Some(NOW - DAY), 2, "    301   1 h    └── … 301 more");
        // The directory's time is known, but the files may be younger.
        check(None, 3, "    300     –    └── … 300 files");
        check(None, 2, "    301     –    └── … 301 more");
    }

    #[test]
    fn times_before_1970_are_older() {
        let mut root = dir(
            "/",
            vec![
                leaf("none", 1, 1, 0),
                leaf("old", 1, 1, NOW + DAY),
                leaf("new", 1, 1, NOW),
            ],
        );
        root.children[0].figures.newest_mtime_ns = None;
        let options = TreeOptions {
            sort: SortKey::Mtime,
            ..rows(10)
        };
        assert_eq!(names(&root, &options), ["new/", "old/", "none/"]);
    }

    #[test]
    fn the_other_size() {
        let options = TreeOptions {
            column: SizeColumn::Apparent,
            size: SizeFormat::Bytes,
            ..rows(3)
        };
        check(
            &small(),
            &options,
            &[
                "APPARENT SHARE             ENTRIES  NEWEST  /s",
                "    8192  89 % ██████████        5   1 d    ├── b/",
                "       0   0 %                   1     –    ├── a/",
                "    1024  11 % █▎                3  future  └── … 3 files",
            ],
        );
        let options = TreeOptions {
            column: SizeColumn::Disk,
            size: SizeFormat::Unit(crate::Unit::MiB),
            ..rows(1)
        };
        check(
            &example(),
            &options,
            &[
                "          DISK  SHARE                ENTRIES  NEWEST  /data",
                "4,402,626.6 MiB 100 % ██████████  12,403,118  12 m    └── … 11 more",
            ],
        );
    }

    #[test]
    fn incomplete_directories_say_so() {
        let mut secret = leaf("secret", 4096, 9, DAY);
        secret.figures.incomplete = true;
        let root = dir("/", vec![leaf("b", 9000, 1, DAY), dir("a", vec![secret])]);
        assert_eq!(
            names(&root, &rows(10)),
            ["b/", "a/ (incomplete)", "secret/ (incomplete)"]
        );
        assert_eq!(names(&root, &rows(2)), ["b/", "a/ (incomplete)"]);
        assert_eq!(names(&root, &rows(1)), ["… 2 more (incomplete)"]);
    }

    #[test]
    fn names_are_escaped_and_cut() {
        let long = format!("{}.tar", "x".repeat(300));
        let root = dir(
            "/\x1b[2J",
            vec![leaf("a\nb\u{202e}", 2, 1, 0), leaf(&long, 1, 1, 0)],
        );
        check(
            &root,
            &rows(10),
            &[
                r"   DISK  SHARE             ENTRIES  NEWEST  /\x1b[2J",
                r"     2 B  67 % ██████████        1   now    ├── a\nb\u{202e}/",
                r"     1 B  33 % █████             1   now    └── xxxxxxxxxxxxxxxx…xxxxxxxxxx.tar/",
            ],
        );
    }

    fn at(width: usize) -> TreeOptions {
        let terminal = Terminal {
            width,
            ..Terminal::default()
        };
        TreeOptions {
            terminal,
            ..rows(2)
        }
    }

    #[test]
    fn columns_give_way_to_names() {
        let check = |width, expected: [&str; 3]| check(&example(), &at(width), &expected);
        check(
            71,
            [
                "   DISK  SHARE                ENTRIES  NEWEST  /data",
                "2.02 TiB  48 % █████████▎   1,204,331   5 h    ├── projects/",
                "2.18 TiB  52 % ██████████  11,198,787  12 m    └── … 10 more",
            ],
        );
        check(
            70,
            [
                "   DISK  SHARE     ENTRIES  NEWEST  /data",
                "2.02 TiB  48 %   1,204,331   5 h    ├── projects/",
                "2.18 TiB  52 %  11,198,787  12 m    └── … 10 more",
            ],
        );
        check(
            59,
            [
                "   DISK  SHARE     ENTRIES  /data",
                "2.02 TiB  48 %   1,204,331  ├── projects/",
                "2.18 TiB  52 %  11,198,787  └── … 10 more",
            ],
        );
        check(
            51,
            [
                "   DISK  SHARE  /data",
                "2.02 TiB  48 %  ├── projects/",
                "2.18 TiB  52 %  └── … 10 more",
            ],
        );
        check(
            39,
            [
                "   DISK   /data",
                "2.02 TiB  ├── projects/",
                "2.18 TiB  └── … 10 more",
            ],
        );
        check(
            20,
            [
                "   DISK   /data",
                "2.02 TiB  ├── pro…s/",
                "2.18 TiB  └── … 1…re",
            ],
        );
        check(12, ["   DISK   /…", "2.02 TiB  ├…", "2.18 TiB  └…"]);
        check(4, ["   …", "2.0…", "2.1…"]);
        check(0, ["", "", ""]);
    }

    #[test]
    fn ascii() {
        let mut options = rows(5);
        options.terminal.charset = Charset::Ascii;
        let mut root = example();
        root.children[1].children[0].name = "Größe".into();
        check(
            &root,
            &options,
            &[
                r"   DISK  SHARE                ENTRIES  NEWEST  /data",
                r"2.02 TiB  48 % ##########   1,204,331   5 h    |-- projects/",
                r"1.10 TiB  26 % #####          881,204   2 d    |   |-- Gr\u{f6}\u{df}e/",
                r" 940 GiB  22 % #####          323,127   5 h    |   `-- ... 17 more",
                r"1.31 TiB  31 % ######       9,870,450  12 m    |-- home/",
                r" 892 GiB  21 % ####         1,328,337   1 d    `-- ... 9 more",
            ],
        );
    }

    #[test]
    fn colour_changes_no_letter() {
        let without = tree_table(&&example(), &rows(7));
        let mut options = rows(7);
        options.terminal.colour = Colour::On;
        let lines = tree_table(&&example(), &options);
        assert!(
            lines[1].ends_with("├── \x1b[34mprojects/\x1b[0m"),
            "{}",
            lines[1]
        );
        assert!(
            lines[4].ends_with("└── \x1b[2m… 41 more\x1b[0m"),
            "{}",
            lines[4]
        );
        let lines: Vec<String> = lines.iter().map(|line| plain(line)).collect();
        assert_eq!(lines, without);
    }

    #[test]
    fn outer_guides_are_left_out_where_the_tree_is_deep() {
        let mut deep = leaf("end", 1024, 1, 0);
        for _ in 0..9 {
            deep = dir("d", vec![deep]);
        }
        let root = dir("/", vec![dir("a", vec![deep]), leaf("b", 1, 1, 0)]);
        let lines = tree_table(&&root, &rows(20));
        assert_eq!(lines.len(), 13);
        for (line, expected) in [
            (1, "   now    ├── a/"),
            (4, "   now    │           └── d/"),
            (5, "   now    │               └── d/"),
            (6, "   now    …               └── d/"),
            (11, "   now    …               └── end/"),
            (12, "   now    └── b/"),
        ] {
            assert!(lines[line].ends_with(expected), "{}", lines[line]);
        }
    }

    /// A tree of 10^12 directories, which are made when they are looked at.
    struct Endless {
        touched: Cell<u64>,
        opened: RefCell<Vec<u64>>,
    }

    impl Tree for Endless {
        /// The path as a number: a digit of base 1000 for each level.
        type Node = (u32, u64);
        fn root(&self) -> (u32, u64) {
            (0, 0)
        }
        fn name(&self, (_, path): (u32, u64)) -> Cow<'_, [u8]> {
            (path % 1000).to_string().into_bytes().into()
        }
        fn is_dir(&self, _: (u32, u64)) -> bool {
            self.touched.set(self.touched.get() + 1);
            true
        }
        fn figures(&self, (depth, path): (u32, u64)) -> Figures {
            self.touched.set(self.touched.get() + 1);
            Figures {
                allocated_bytes: (1 << 60 >> (10 * depth)) + path % 1000,
                entries: 1000u64.pow(4 - depth),
                ..Figures::default()
            }
        }
        fn children(&self, (depth, path): (u32, u64)) -> impl Iterator<Item = (u32, u64)> {
            self.opened.borrow_mut().push(path);
            let count = if depth < 4 { 1000 } else { 0 };
            (0..count).map(move |index| (depth + 1, path * 1000 + index))
        }
    }

    #[test]
    fn what_is_not_shown_is_not_looked_at() {
        let tree = Endless {
            touched: Cell::new(0),
            opened: RefCell::default(),
        };
        let lines = tree_table(&tree, &rows(30));
        assert_eq!(lines.len(), 31);
        assert!(lines[1].ends_with("├── 999/"), "{}", lines[1]);
        // The rows are the root's largest children and the rest. Each was opened
        // once, to see whether something in it is larger than the next, and no
        // grandchild was.
        let mut opened = tree.opened.take();
        opened.sort_unstable();
        let rows = (1000 - 29)..1000;
        assert!(
            opened
                .into_iter()
                .all(|path| path == 0 || rows.contains(&path))
        );
        let touched = tree.touched.get();
        assert!(touched < 30 * 1000 * 4, "{touched}");
    }

    fn item() -> impl Strategy<Value = Item> {
        let file = (hostile_name(), 0u64..5000, any::<bool>(), -9..9i64);
        let file = file.prop_map(|(name, bytes, incomplete, age)| {
            let mut item = self::file("", bytes, 1, age * DAY);
            item.name = name;
            item.figures.incomplete = incomplete;
            item
        });
        let tree = file.prop_recursive(6, 80, 8, |item| {
            (hostile_name(), proptest::collection::vec(item, 0..8)).prop_map(|(name, children)| {
                let mut item = dir("", children);
                item.name = name;
                item
            })
        });
        tree.prop_map(|item| dir("/root", vec![item.clone(), item]))
    }

    fn any_options() -> impl Strategy<Value = TreeOptions> {
        use proptest::option::of;
        use proptest::sample::select;
        (
            (0usize..25, of(0usize..5), 0usize..110),
            select(vec![Files::Hidden, Files::Shown]),
            select(vec![
                SortKey::Size,
                SortKey::Name,
                SortKey::Count,
                SortKey::Mtime,
            ]),
            select(vec![Direction::Forward, Direction::Reversed]),
            select(vec![Charset::Unicode, Charset::Ascii]),
            select(vec![Colour::Off, Colour::On]),
        )
            .prop_map(
                |((rows_max, depth_max, width), files, sort, direction, charset, colour)| {
                    TreeOptions {
                        rows_max,
                        depth_max,
                        files,
                        column: SizeColumn::Disk,
                        size: SizeFormat::Binary,
                        sort,
                        direction,
                        now_ns: NOW,
                        terminal: Terminal {
                            width,
                            charset,
                            colour,
                        },
                    }
                },
            )
    }

    proptest! {
        #[test]
        fn the_view_fits(root in item(), options in any_options()) {
            let lines = tree_table(&&root, &options);
            prop_assert!(lines.len() <= options.rows_max + 1);
            for line in lines {
                let line = plain(&line);
                prop_assert!(text_width(&line) <= options.terminal.width, "{line}");
                prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }

        #[test]
        fn colour_never_changes_the_text(root in item(), mut options in any_options()) {
            options.terminal.colour = Colour::On;
            let coloured: Vec<String> =
                tree_table(&&root, &options).iter().map(|line| plain(line)).collect();
            options.terminal.colour = Colour::Off;
            prop_assert_eq!(coloured, tree_table(&&root, &options));
        }

        #[test]
        fn rows_below_the_root_add_up(root in item(), mut options in any_options()) {
            options.rows_max += 1;
            options.depth_max = options.depth_max.map(|depth| depth + 1);
            options.size = SizeFormat::Bytes;
            options.terminal = Terminal { width: 1000, ..Terminal::default() };
            let (mut bytes, mut entries) = (0, 0);
            let lines = tree_table(&&root, &options);
            let label = text_width(lines[0].strip_suffix("/root").unwrap());
            for line in &lines[1..] {
                // The branch of the first level stands at the left edge.
                if !matches!(line.chars().nth(label), Some('├' | '└')) {
                    continue;
                }
                let words: Vec<&str> = line.split_whitespace().collect();
                bytes += words[0].parse::<u64>().unwrap();
                let count = words.iter().skip(3).find_map(|word| word.parse::<u64>().ok());
                entries += count.unwrap();
            }
            let sum = |figure: fn(&Figures) -> u64| -> u64 {
                root.children.iter().map(|child| figure(&child.figures)).sum()
            };
            prop_assert_eq!(bytes, sum(|figures| figures.allocated_bytes));
            prop_assert_eq!(entries, sum(|figures| figures.entries));
        }

        #[test]
        fn the_largest_are_kept(keys in proptest::collection::vec(0u64..50, 0..400), wanted in 1usize..40) {
            let items: Vec<Item> = keys.iter().enumerate()
                .map(|(index, &key)| leaf(&format!("{index:04}"), key, 1, 0)).collect();
            let tree = Items(&items);
            let mut best = Best::new(&tree, wanted);
            for (index, &key) in keys.iter().enumerate() {
                if best.is_wanted(key) {
                    best.add(Candidate { key, node: Some(index) });
                } else {
                    best.beyond.add(&tree, Some(index), &items[index].figures);
                }
            }
            let (kept, beyond) = best.finish();
            let mut sorted: Vec<usize> = (0..keys.len()).collect();
            sorted.sort_by_key(|&index| (Reverse(keys[index]), index));
            sorted.truncate(wanted);
            prop_assert_eq!(beyond.count as usize + kept.len(), keys.len());
            let all: u64 = keys.iter().sum();
            let kept_sum: u64 = kept.iter().map(|candidate| candidate.key).sum();
            prop_assert_eq!(beyond.figures.allocated_bytes + kept_sum, all);
            let kept: Vec<usize> = kept.iter().map(|candidate| candidate.node.unwrap()).collect();
            prop_assert_eq!(kept, sorted);
        }
    }
}
