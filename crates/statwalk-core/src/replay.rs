// SPDX-License-Identifier: MIT OR Apache-2.0

//! Drives a sink from rows instead of a scan.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use foldhash::quality::RandomState;

use crate::batch::Batch;
use crate::columns::{Columns, Directories, DirectoryRow};
use crate::directory::{Dir, DirState, Directory, MountMark, Origin, Place};
use crate::entry::DirId;
use crate::error::EntryError;
use crate::fields::Fields;
use crate::rows::Rows;
use crate::sink::{Collect, Context, Sink};
use crate::unfinished::Unfinished;
use statwalk_format::is_entry_name;

/// Drives a sink from rows: those of [`Scan::rows`](crate::Scan::rows), or of a stored
/// scan.
///
/// The sink answers as in a scan. It sees what a scan with one worker shows: each directory
/// once, after its parent and before its entries, and the ends of directories from below to
/// the top.
///
/// Four things differ, because rows do not have them:
///
/// - Directories get numbers of their own, in the order in which the sink gets them. A scan
///   numbers them by chance. So the numbers of rows can be any, and a number can come again
///   once its directory is [`finished`](Self::finished).
/// - Where an inode has several names, [`LiveTree`](crate::LiveTree) gives its bytes to the
///   name that comes first, and [`Totals`](crate::Totals) to the root of that name. Rows
///   come in another order than the entries of a scan. Where links are followed, the first
///   name also decides whether a link has bytes: it has none where it leads to a directory.
/// - A sink learns of an error where its caller tells it by [`failed`](Self::failed). Rows
///   with more fields than the sink asks for can have an error that its own scan would not
///   meet.
/// - There is no [`Report`](crate::Report).
///
/// Rows may come in any order. Those whose directory has not come wait in memory: of
/// [`Rows`] in the order of their scan about as many as its workers hold. Each directory
/// takes up to 400 bytes and its name, until it is finished.
///
/// Rows need not be true. Rows that contradict each other, or that no scan gives, end the
/// replay: each method breaks from then on, and [`finish`](Self::finish) says why. It does
/// not see that a directory has a name twice, or that the names of an inode disagree about
/// its size.
///
/// # Examples
///
/// ```
/// use statwalk_core::{Context, Fields, Replay, Scan, Sink, Totals};
///
/// let sink = Totals::new();
/// let scan = Scan::new("src");
/// let mut rows = scan.clone().fields(sink.fields()).rows()?;
/// let mut replay = Replay::new(&sink, Context::new(["src"], 0));
/// for rows in &mut rows {
///     if replay.rows(&rows?).is_break() {
///         break;
///     }
/// }
/// assert!(rows.finish().is_complete());
/// let replayed = replay.finish()?;
/// assert_eq!(replayed, scan.run(&sink)?.output);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replay<S: Sink> {
    sink: S,
    context: Context,
    state: S::State,
    fields: Fields,
    /// By the numbers of the rows, as all below.
    known: HashMap<u32, Known, RandomState>,
    waiting: HashMap<u32, Waiting, RandomState>,
    /// Those of [`Rows`], which the sink learns at the end.
    finished: Vec<u32>,
    begun_roots: HashSet<usize, RandomState>,
    /// The number that the sink gets for the next directory.
    next_id: u32,
    /// Empty, and used again.
    batch: Batch,
    is_over: bool,
    error: Option<ReplayError>,
}

/// A directory that the sink has got, and that is not finished.
struct Known {
    /// The number that the sink has for it.
    id: DirId,
    parent: Option<DirId>,
    place: Place,
    root: u32,
    depth: u32,
    is_followed: bool,
    state: DirState,
    /// How many directories in it are not finished.
    unfinished: u32,
}

/// Rows whose directory or parent has not come.
#[derive(Default)]
struct Waiting {
    children: Vec<Child>,
    batches: Vec<(Batch, Way)>,
    is_incomplete: bool,
}

/// A directory without its parent.
struct Child {
    name: Vec<u8>,
    /// Without the name.
    row: DirectoryRow<'static>,
}

/// How entries were reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As their directory.
    Direct,
    /// By following links to files.
    ByLinks,
}

/// Why a replay has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// The rows lack these fields, which the sink needs.
    Fields(Fields),
    /// The column of this name does not go with the others: it has too few or too many
    /// values, or one that is not possible.
    Column(&'static str),
    /// No row has the directory of this number, or it was finished. Entries, a directory or
    /// an end refer to it.
    Missing(DirId),
    /// Two directories have this number.
    Twice(DirId),
    /// The directory of this number lies in itself.
    Circle(DirId),
    /// The directory of this number was finished before one that lies in it.
    Early(DirId),
    /// The directory of this number has a name that none can have, or an entry in it has:
    /// empty, `.`, `..`, or with `/` or NUL.
    Name(DirId),
    /// The directory of this number belongs to another root than its parent.
    OtherRoot(DirId),
    /// The context does not have this root.
    Root(usize),
    /// Two rows are this root.
    RootTwice(usize),
    /// This root has another name than in the context.
    RootName(usize),
    /// There are more directories than a sink has numbers for.
    TooMany,
    /// The sink could not go on.
    Sink(io::Error),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut of = |id: &DirId, words| write!(f, "directory {} {words}", id.index());
        match self {
            ReplayError::Fields(fields) => {
                let names: Vec<&str> = fields.names().collect();
                write!(f, "rows lack fields: {}", names.join(", "))
            }
            ReplayError::Column(name) => write!(f, "column {name} does not go with the others"),
            ReplayError::Missing(id) => of(id, "is missing or was finished before"),
            ReplayError::Twice(id) => of(id, "comes twice"),
            ReplayError::Circle(id) => of(id, "lies in itself"),
            ReplayError::Early(id) => of(id, "was finished before a directory in it"),
            ReplayError::Name(id) => of(id, "has an invalid name, or an entry with one"),
            ReplayError::OtherRoot(id) => of(id, "belongs to another root than its parent"),
            ReplayError::Root(root) => write!(f, "root {root} is missing"),
            ReplayError::RootTwice(root) => write!(f, "root {root} comes twice"),
            ReplayError::RootName(root) => write!(f, "root {root} has another name"),
            ReplayError::TooMany => f.write_str("too many directories"),
            ReplayError::Sink(error) => write!(f, "collect entries: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReplayError::Sink(error) => Some(error),
            _ => None,
        }
    }
}

impl<S: Sink> fmt::Debug for Replay<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("directories", &self.known.len())
            .field("waiting", &self.waiting.len())
            .field("is_over", &self.is_over)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl<S: Sink> Replay<S> {
    /// A replay for a sink, with the facts that a scan would tell it.
    ///
    /// # Panics
    ///
    /// Panics if the sink makes no state for one worker.
    #[must_use]
    pub fn new(sink: S, context: Context) -> Replay<S> {
        let mut states = sink.states(&context, 1);
        let state = states.pop();
        let state = state.expect("a sink makes as many states as it is asked for");
        let fields = sink.fields();
        Replay {
            sink,
            context,
            state,
            fields,
            known: HashMap::default(),
            waiting: HashMap::default(),
            finished: Vec::new(),
            begun_roots: HashSet::default(),
            next_id: 0,
            batch: Batch::new(fields),
            is_over: false,
            error: None,
        }
    }

    /// Gives the sink all rows, and keeps the ends of directories for
    /// [`finish`](Self::finish).
    ///
    /// Breaks if the sink does, or if something is wrong with the rows: nothing that comes
    /// later changes the answer.
    pub fn rows(&mut self, rows: &Rows) -> ControlFlow<()> {
        self.columns(rows.entries(), rows.directories())
    }

    /// As [`rows`](Self::rows), from columns of any origin.
    ///
    /// Each column has one value for each row. Columns of fields that the sink does not
    /// need may be empty. A time that is not known has `i64::MIN` in its column.
    ///
    /// ```
    /// use statwalk_core::{Columns, Context, DirId, Directories, FileType, Replay, Totals};
    ///
    /// let mut directories = Directories::default();
    /// directories.ids = vec![3];
    /// directories.states = vec![0];
    /// directories.roots = vec![0];
    /// let mut columns = Columns::default();
    /// columns.dirs = vec![3, 3];
    /// columns.kinds = vec![FileType::File.number(); 2];
    /// for _ in 0..2 {
    ///     columns.has_dir.push(true);
    ///     columns.is_direct.push(true);
    ///     columns.is_known.push(true);
    /// }
    /// let of_directories = &mut directories.columns;
    /// of_directories.dirs = vec![0];
    /// of_directories.has_dir.push(false);
    /// of_directories.kinds = vec![FileType::Directory.number()];
    /// of_directories.is_direct.push(true);
    /// of_directories.is_known.push(true);
    ///
    /// let sink = Totals::new().without_sizes();
    /// let mut replay = Replay::new(sink, Context::new(["/srv"], 0));
    /// assert!(replay.columns(&columns, &directories).is_continue());
    /// assert_eq!(replay.finish()?[0].files, 2);
    /// # Ok::<(), statwalk_core::ReplayError>(())
    /// ```
    pub fn columns(&mut self, entries: &Columns, directories: &Directories) -> ControlFlow<()> {
        self.go_on()?;
        if let Some(column) = entries.misfit().or_else(|| directories.misfit()) {
            return self.fail(ReplayError::Column(column));
        }
        let of_directories = directories.columns.fields() | Fields::NAME;
        self.check_fields(entries.fields().intersection(of_directories))?;
        for row in 0..directories.len() {
            self.directory(&directories.row(row))?;
        }
        for run in entries.runs(Rows::MAX) {
            let Some(dir) = entries.dir(run.start) else {
                let mut batch = Batch::new(self.fields);
                let root = entries.dirs[run.start] as usize;
                entries.copy_to(run, &mut batch);
                self.root(root, &batch)?;
                continue;
            };
            let way = match entries.is_direct.get(run.start) {
                true => Way::Direct,
                false => Way::ByLinks,
            };
            if !self.known.contains_key(&dir.0) {
                let fields = self.fields;
                let batch = self.wait_for(dir).batch(way, fields);
                entries.copy_to(run, batch);
                continue;
            }
            let mut batch = std::mem::take(&mut self.batch);
            entries.copy_to(run, &mut batch);
            let flow = self.collect(dir, &batch, way);
            batch.clear();
            self.batch = batch;
            flow?;
        }
        for &id in &directories.incomplete {
            self.incomplete(DirId(id))?;
        }
        self.finished.extend(&directories.finished);
        ControlFlow::Continue(())
    }

    /// Gives the sink a directory, as soon as it has got the parent.
    ///
    /// The name of a root is not looked at: it is the path in the context. A root that is no
    /// directory comes by [`root`](Self::root).
    ///
    /// ```
    /// use statwalk_core::{
    ///     Attributes, Batch, Context, DirId, DirState, DirectoryRow, FileType, Replay, Sink, Totals,
    /// };
    ///
    /// let sink = Totals::new().without_sizes();
    /// let mut replay = Replay::new(&sink, Context::new(["/srv"], 0));
    /// let id = DirId::from_index(0).expect("it is small");
    /// let root = DirectoryRow {
    ///     id,
    ///     parent: None,
    ///     root: 0,
    ///     name: b"",
    ///     attributes: Attributes::of_type(FileType::Directory),
    ///     state: DirState::Listed,
    ///     is_followed: false,
    ///     refusal: None,
    /// };
    /// let mut batch = Batch::new(sink.fields());
    /// batch.push(b"file", &Attributes::of_type(FileType::File));
    /// assert!(replay.directory(&root).is_continue());
    /// assert!(replay.batch(id, &batch).is_continue());
    /// assert_eq!(replay.finish()?[0].entries, 2);
    /// # Ok::<(), statwalk_core::ReplayError>(())
    /// ```
    pub fn directory(&mut self, row: &DirectoryRow<'_>) -> ControlFlow<()> {
        self.go_on()?;
        if let Some(parent) = row.parent
            && !self.known.contains_key(&parent.0)
        {
            let name = row.name.to_vec();
            let row = DirectoryRow {
                id: row.id,
                parent: row.parent,
                root: row.root,
                name: b"",
                attributes: row.attributes,
                state: row.state,
                is_followed: row.is_followed,
                refusal: row.refusal,
            };
            self.wait_for(parent).children.push(Child { name, row });
            return ControlFlow::Continue(());
        }
        self.begin(row)?;
        if self.waiting.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut begun = vec![row.id];
        while let Some(id) = begun.pop() {
            let Some(waiting) = self.waiting.remove(&id.0) else {
                continue;
            };
            if waiting.is_incomplete {
                self.incomplete(id)?;
            }
            for (batch, way) in waiting.batches {
                self.collect(id, &batch, way)?;
            }
            for Child { name, row } in waiting.children {
                self.begin(&DirectoryRow { name: &name, ..row })?;
                begun.push(row.id);
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives the sink entries of a directory, as soon as it has got the directory. A batch
    /// that waits is copied.
    ///
    /// The batch keeps all fields that the sink asks for.
    pub fn batch(&mut self, directory: DirId, batch: &Batch) -> ControlFlow<()> {
        self.entries(directory, batch, Way::Direct)
    }

    /// As [`batch`](Self::batch), with entries that were reached by following links to
    /// files: the names are those of the links, and the attributes those of the files.
    pub fn followed(&mut self, directory: DirId, batch: &Batch) -> ControlFlow<()> {
        self.entries(directory, batch, Way::ByLinks)
    }

    /// Gives the sink a root that is no directory: a batch of one entry, whose name is the
    /// path in the context.
    ///
    /// The batch keeps all fields that the sink asks for.
    pub fn root(&mut self, root: usize, batch: &Batch) -> ControlFlow<()> {
        self.check_fields(batch.wanted())?;
        if batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let path = match self.begin_root(root) {
            Ok(path) => path,
            Err(error) => return self.fail(error),
        };
        if batch.len() != 1 {
            return self.fail(ReplayError::RootTwice(root));
        }
        if batch.wanted().contains(Fields::NAME) && batch.name(0) != path.to_bytes() {
            return self.fail(ReplayError::RootName(root));
        }
        let flow = self.state.batch(
            Origin(&Directory::of(
                &Place::File(path),
                DirId(self.next_id),
                root as u32,
                0,
            )),
            batch,
        );
        self.next_id += 1;
        self.note(flow)
    }

    fn entries(&mut self, dir: DirId, batch: &Batch, way: Way) -> ControlFlow<()> {
        self.check_fields(batch.wanted())?;
        if self.known.contains_key(&dir.0) {
            return self.collect(dir, batch, way);
        }
        self.wait_for(dir).batches.push((batch.clone(), way));
        ControlFlow::Continue(())
    }

    /// Tells the sink that a directory lacks something, which could not be read, as soon as
    /// it has got the directory.
    pub fn incomplete(&mut self, directory: DirId) -> ControlFlow<()> {
        self.go_on()?;
        match self.view(directory) {
            Some((view, state)) => state.incomplete(&view),
            None => self.wait_for(directory).is_incomplete = true,
        }
        ControlFlow::Continue(())
    }

    /// Tells the sink that a directory is finished, and forgets the directory: all
    /// directories in it are finished, and nothing in it comes later.
    pub fn finished(&mut self, directory: DirId) -> ControlFlow<()> {
        self.go_on()?;
        let Some(known) = self.known.get(&directory.0) else {
            return self.fail(ReplayError::Missing(directory));
        };
        if known.unfinished > 0 {
            return self.fail(ReplayError::Early(directory));
        }
        if let Some((view, state)) = self.view(directory) {
            state.finished(&view);
        }
        let known = self.known.remove(&directory.0);
        let parent = known.and_then(|known| known.parent);
        if let Some(above) = parent.and_then(|parent| self.known.get_mut(&parent.0)) {
            above.unfinished -= 1;
        }
        ControlFlow::Continue(())
    }

    /// Gives the sink an entry that could not be read. A missing root is none: a scan does
    /// not tell its sink, either.
    pub fn failed(&mut self, error: &EntryError) -> ControlFlow<()> {
        self.go_on()?;
        if error.root >= self.context.roots.len() {
            return self.fail(ReplayError::Root(error.root));
        }
        let flow = self.state.failed(error);
        self.note(flow)
    }

    /// Gives the answer of the sink.
    ///
    /// # Errors
    ///
    /// Returns the first error: of the rows, of the sink, or of rows that still wait for
    /// their directory.
    pub fn finish(mut self) -> Result<S::Output, ReplayError> {
        if let ControlFlow::Continue(()) = self.go_on() {
            // A break is in the error.
            let _ = self.end();
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(error) = self.state.take_error() {
            return Err(ReplayError::Sink(error));
        }
        Ok(self.sink.merge(&self.context, vec![self.state]))
    }

    /// Tells the sink about the ends of directories that were kept.
    fn end(&mut self) -> ControlFlow<()> {
        if let Some(error) = self.error_of_waiting() {
            return self.fail(error);
        }
        let mut finished = std::mem::take(&mut self.finished);
        // Those below come first. The order of siblings means nothing.
        finished.sort_by_cached_key(|id| {
            let depth = self.known.get(id).map_or(0, |known| known.depth);
            (Reverse(depth), *id)
        });
        for id in finished {
            self.finished(DirId(id))?;
        }
        ControlFlow::Continue(())
    }

    /// Why rows wait for a directory, if any do.
    fn error_of_waiting(&self) -> Option<ReplayError> {
        let first = *self.waiting.keys().min()?;
        let children = self.waiting.iter().flat_map(|(&parent, waiting)| {
            let children = waiting.children.iter();
            children.map(move |child| (child.row.id.0, parent))
        });
        let parents: HashMap<u32, u32, RandomState> = children.collect();
        let missing = self.waiting.keys().filter(|id| !parents.contains_key(id));
        if let Some(&id) = missing.min() {
            return Some(ReplayError::Missing(DirId(id)));
        }
        // Each has a parent that waits, too. So the way up leads into a circle.
        let (mut at, mut seen) = (first, HashSet::<u32, RandomState>::default());
        while seen.insert(at) {
            at = *parents.get(&at)?;
        }
        Some(ReplayError::Circle(DirId(at)))
    }

    fn go_on(&self) -> ControlFlow<()> {
        match self.is_over {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn note(&mut self, flow: ControlFlow<()>) -> ControlFlow<()> {
        self.is_over |= flow.is_break();
        flow
    }

    fn fail(&mut self, error: ReplayError) -> ControlFlow<()> {
        self.is_over = true;
        self.error.get_or_insert(error);
        ControlFlow::Break(())
    }

    fn check_fields(&mut self, there: Fields) -> ControlFlow<()> {
        self.go_on()?;
        let missing = self.fields.without(there | Fields::TYPE);
        match missing == Fields::NONE {
            true => ControlFlow::Continue(()),
            false => self.fail(ReplayError::Fields(missing)),
        }
    }

    fn wait_for(&mut self, directory: DirId) -> &mut Waiting {
        self.waiting.entry(directory.0).or_default()
    }

    /// A directory that the sink has got, as it sees it now.
    fn view(&mut self, directory: DirId) -> Option<(Directory<'_>, &mut S::State)> {
        let known = self.known.get(&directory.0)?;
        let view = Directory {
            followed: known.is_followed,
            state: known.state,
            ..Directory::of(&known.place, known.id, known.root, known.depth)
        };
        Some((view, &mut self.state))
    }

    fn collect(&mut self, directory: DirId, batch: &Batch, way: Way) -> ControlFlow<()> {
        if batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut names = (0..batch.len()).map(|index| batch.name(index));
        if batch.wanted().contains(Fields::NAME) && !names.all(is_entry_name) {
            return self.fail(ReplayError::Name(directory));
        }
        let Some((mut view, state)) = self.view(directory) else {
            return self.fail(ReplayError::Missing(directory));
        };
        view.followed |= way == Way::ByLinks;
        let flow = state.batch(Origin(&view), batch);
        self.note(flow)
    }

    /// Gives the sink a directory whose parent it has got.
    fn begin(&mut self, row: &DirectoryRow<'_>) -> ControlFlow<()> {
        let known = match self.known_of(row) {
            Ok(known) => known,
            Err(error) => return self.fail(error),
        };
        self.next_id += 1;
        if let Some(above) = row.parent.and_then(|parent| self.known.get_mut(&parent.0)) {
            above.unfinished += 1;
        }
        self.known.insert(row.id.0, known);
        let Some((view, state)) = self.view(row.id) else {
            return self.fail(ReplayError::Missing(row.id));
        };
        let attributes = &row.attributes;
        let flow = state.directory(&Directory { attributes, ..view });
        self.note(flow)
    }

    /// The path of a root that begins.
    fn begin_root(&mut self, root: usize) -> Result<Arc<CStr>, ReplayError> {
        let path = self.context.roots.get(root);
        let path = path.ok_or(ReplayError::Root(root))?;
        let path = CString::new(path.as_slice()).map_err(|_| ReplayError::RootName(root))?;
        if self.next_id / DirId::BLOCK >= DirId::BLOCKS {
            return Err(ReplayError::TooMany);
        }
        match self.begun_roots.insert(root) {
            true => Ok(path.into()),
            false => Err(ReplayError::RootTwice(root)),
        }
    }

    fn known_of(&mut self, row: &DirectoryRow<'_>) -> Result<Known, ReplayError> {
        let id = row.id;
        if self.known.contains_key(&id.0) {
            return Err(ReplayError::Twice(id));
        }
        if self.next_id / DirId::BLOCK >= DirId::BLOCKS {
            return Err(ReplayError::TooMany);
        }
        let known = Known {
            id: DirId(self.next_id),
            parent: row.parent,
            place: Place::Root(Arc::default()),
            // The paths of 2^32 roots would not fit into memory.
            root: row.root as u32,
            depth: 0,
            is_followed: row.is_followed,
            state: row.state,
            unfinished: 0,
        };
        let Some(parent) = row.parent else {
            return Ok(Known {
                place: Place::Root(self.begin_root(row.root)?),
                ..known
            });
        };
        let above = self.known.get(&parent.0);
        let above = above.ok_or(ReplayError::Missing(parent))?;
        if row.root != above.root as usize {
            return Err(ReplayError::OtherRoot(id));
        }
        if !is_entry_name(row.name) {
            return Err(ReplayError::Name(id));
        }
        let name = CString::new(row.name).map_err(|_| ReplayError::Name(id))?;
        // A node of the parent for each child: names of others may come later.
        let dir = Dir {
            place: above.place.clone(),
            id: above.id,
            root: above.root,
            depth: above.depth,
            mount: MountMark {
                id: 0,
                shared: false,
                served: false,
            },
            followed: above.is_followed,
            identity: OnceLock::new(),
            landmark: None,
            mark: 0,
            held: OnceLock::new(),
            names: name.into_bytes_with_nul().into(),
            ignore: None,
            unfinished: Unfinished::new(1),
            pieces: None,
        };
        Ok(Known {
            place: Place::Child(Arc::new(dir), 0),
            depth: above.depth + 1,
            ..known
        })
    }
}

impl Waiting {
    /// How many bytes of names a batch has from which on the next one is begun.
    const NAMES_BYTES: usize = 1 << 24;

    /// The batch for more entries that were reached in some way.
    ///
    /// One for each row would take hundreds of bytes where the rows of directories mix.
    fn batch(&mut self, way: Way, fields: Fields) -> &mut Batch {
        let has_room = |(batch, of): &(Batch, Way)| {
            *of == way && batch.len() < Rows::MAX && batch.names().len() < Self::NAMES_BYTES
        };
        if !self.batches.last().is_some_and(has_room) {
            self.batches.push((Batch::new(fields), way));
        }
        let last = self.batches.last_mut();
        &mut last.expect("there is one now").0
    }
}
