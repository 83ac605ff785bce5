// SPDX-License-Identifier: MIT OR Apache-2.0

//! A tree in memory whose calls take time, fail, hang, and see it change.

use std::ffi::CStr;
use std::rc::Rc;
use std::time::Duration;

use super::world::{self, World};
use crate::dir_handle::DirHandle;
use crate::entry::{Attributes, FileId, FileType};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::listing::change_stamp::ChangeStamp;
use crate::listing::listed::{KeptNames, Listed};
use crate::listing::source::{Account, DirectorySource, EntryStat, KeptStat, More, NotOpened, Way};
use crate::source::memory::{Memory, MemoryHandle, MemoryTree};
use crate::tally;

/// The life of an entry while it is scanned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// Since when and until when it is there.
    pub(super) born: Duration,
    pub(super) dies: Duration,
    /// The answers of calls for it, where they are errors.
    pub(super) opening: Option<Failure>,
    pub(super) stat: Option<Failure>,
    /// After how many entries a listing of it fails, and how.
    pub(super) listing: Option<(u64, Failure)>,
    /// Which call for it hangs.
    pub(super) hangs: Option<Call>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    List,
    Stat,
}

impl Default for Fate {
    fn default() -> Fate {
        Fate {
            born: Duration::ZERO,
            dies: Duration::MAX,
            opening: None,
            stat: None,
            listing: None,
            hangs: None,
        }
    }
}

impl Fate {
    /// Whether calls for it do what they should, as long as it is there.
    pub(super) fn is_sound(&self) -> bool {
        self.opening.is_none() && self.stat.is_none() && self.listing.is_none()
    }

    pub(super) fn is_there(&self, now: Duration) -> bool {
        self.born <= now && now < self.dies
    }

    /// Whether it is there from the beginning to the end.
    pub(super) fn is_permanent(&self) -> bool {
        self.born.is_zero() && self.dies == Duration::MAX
    }
}

/// A tree whose entries have fates.
pub(super) struct Simulated {
    memory: Memory,
    /// By the numbers of the nodes.
    fates: Vec<Fate>,
    /// The directory that holds each node.
    parents: Vec<usize>,
    paths: Vec<String>,
    listings: Listings,
}

/// The listings of the simulated file system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listings {
    /// Up to how many entries one call brings.
    pub(super) at_once: usize,
    pub(super) have_types: bool,
    /// Whether the link count of a directory tells the number of its subdirectories.
    pub(super) links_count: bool,
    /// How often each name comes, one beside the other.
    pub(super) copies: usize,
    /// How often the whole list comes.
    pub(super) rounds: usize,
}

/// Attributes as they are at a moment.
pub(super) struct SimulatedStat {
    stat: KeptStat,
    /// How often the entries of the directory have changed.
    changes: i64,
    links: u32,
}

impl Simulated {
    pub(super) fn new(
        tree: MemoryTree,
        fates: Vec<Fate>,
        parents: Vec<usize>,
        paths: Vec<String>,
        listings: Listings,
    ) -> Simulated {
        Simulated {
            memory: Memory::new(tree),
            fates,
            parents,
            paths,
            listings,
        }
    }

    pub(super) fn open_directories(&self) -> usize {
        self.memory.open_directories()
    }

    /// Takes the time of a call.
    fn call(&self, what: &str, node: Option<usize>) -> Rc<World> {
        tally::count();
        let world = world::current().expect("a simulated source is asked in a simulation");
        world.trace(|| {
            let name = node.map_or("nothing", |node| &self.paths[node]);
            format!("{what} {name}, {} open", self.open_directories())
        });
        world.call();
        world
    }

    /// The fate of a node, after it let the call hang, if it does.
    fn fate(&self, world: &World, node: usize, call: Call) -> Fate {
        let fate = self.fates[node];
        if fate.hangs == Some(call) {
            world.hang();
        }
        fate
    }

    fn is_there(&self, world: &World, mut node: usize) -> bool {
        let now = world.time();
        loop {
            if !self.fates[node].is_there(now) {
                return false;
            }
            if node == 0 {
                return true;
            }
            node = self.parents[node];
        }
    }

    /// The node of an answer, if it is there.
    fn there(&self, world: &World, stat: Result<KeptStat, Failure>) -> Result<usize, Failure> {
        let node = node_of(stat?.id());
        match self.is_there(world, node) {
            true => Ok(node),
            false => Err(Failure::NOT_FOUND),
        }
    }

    fn open(
        &self,
        stat: Result<KeptStat, Failure>,
        handle: impl FnOnce() -> Result<DirHandle, NotOpened>,
    ) -> Result<DirHandle, NotOpened> {
        let world = self.call("open", known(&stat));
        let node = self.there(&world, stat)?;
        match self.fate(&world, node, Call::Open).opening {
            // A call that hung may come back to something else.
            _ if !self.is_there(&world, node) => Err(NotOpened::Gone(Failure::NOT_FOUND)),
            Some(failure) => Err(failure.into()),
            None => handle(),
        }
    }

    fn found(
        &self,
        stat: Result<KeptStat, Failure>,
        handle: impl FnOnce() -> Result<DirHandle, Failure>,
    ) -> Result<DirHandle, Failure> {
        let world = self.call("find", known(&stat));
        let node = self.there(&world, stat)?;
        match self.fates[node].opening {
            Some(failure) => Err(failure),
            None => handle(),
        }
    }

    fn stat(&self, stat: Result<KeptStat, Failure>) -> Result<SimulatedStat, Failure> {
        let world = self.call("stat", known(&stat));
        let node = self.there(&world, stat)?;
        match self.fate(&world, node, Call::Stat).stat {
            Some(failure) => Err(failure),
            None => Ok(self.as_it_is(&world, node, stat?)),
        }
    }

    fn is_directory(&self, node: usize) -> bool {
        self.memory.attributes_of(node).kind == FileType::Directory
    }

    /// The attributes of a directory with what its entries make of them.
    fn as_it_is(&self, world: &World, node: usize, stat: KeptStat) -> SimulatedStat {
        let now = world.time();
        let (mut changes, mut links) = (0, stat.links());
        if stat.kind() == FileType::Directory {
            links = 2;
            for &(_, child) in self.memory.children_of(node) {
                let fate = &self.fates[child];
                changes += i64::from(!fate.born.is_zero() && fate.born <= now);
                changes += i64::from(fate.dies <= now);
                let is_there = fate.is_there(now);
                links += u32::from(is_there && self.is_directory(child));
            }
        }
        SimulatedStat {
            stat,
            changes,
            links,
        }
    }
}

/// The node of an answer, whether it is there or not.
fn known(stat: &Result<KeptStat, Failure>) -> Option<usize> {
    stat.as_ref().ok().map(|stat| node_of(stat.id()))
}

/// The node that has a number.
fn node_of(id: FileId) -> usize {
    id.ino as usize - 1
}

impl DirectorySource for Simulated {
    type Stat = SimulatedStat;
    type StatError = Failure;

    fn account(&self) -> Account {
        self.memory.account()
    }

    fn open_root(&self, path: &CStr) -> Result<DirHandle, NotOpened> {
        self.open(self.memory.stat_path(path), || self.memory.open_root(path))
    }

    fn open_child(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        let stat = self.memory.stat_entry(parent, name);
        self.open(stat, || self.memory.open_child(parent, name))
    }

    fn open_through_links(&self, parent: &DirHandle, name: &CStr) -> Result<DirHandle, NotOpened> {
        let stat = self.memory.stat_target(Some(parent), name);
        self.open(stat, || self.memory.open_through_links(parent, name))
    }

    fn duplicate(&self, dir: &DirHandle) -> Result<DirHandle, Failure> {
        self.memory.duplicate(dir)
    }

    fn find_root(&self, path: &CStr) -> Result<DirHandle, Failure> {
        self.found(self.memory.stat_path(path), || self.memory.find_root(path))
    }

    fn find(&self, from: &DirHandle, path: &[u8], way: Way) -> Result<DirHandle, Failure> {
        let find = || self.memory.find(from, path, way);
        let stat = find().and_then(|dir| self.memory.stat_directory(&dir));
        self.found(stat, find)
    }

    fn find_above(&self, from: &DirHandle, levels: usize) -> Result<DirHandle, Failure> {
        let find = || self.memory.find_above(from, levels);
        let stat = find().and_then(|dir| self.memory.stat_directory(&dir));
        self.found(stat, find)
    }

    fn stat_entry(&self, dir: &DirHandle, name: &CStr) -> Result<SimulatedStat, Failure> {
        self.stat(self.memory.stat_entry(dir, name))
    }

    fn stat_path(&self, path: &CStr) -> Result<SimulatedStat, Failure> {
        self.stat(self.memory.stat_path(path))
    }

    fn stat_directory(&self, dir: &DirHandle) -> Result<SimulatedStat, Failure> {
        let node = MemoryHandle::of(dir)?.node;
        let world = self.call("stat", Some(node));
        let stat = self.memory.stat_directory(dir)?;
        Ok(self.as_it_is(&world, node, stat))
    }

    fn stat_target(&self, dir: Option<&DirHandle>, name: &CStr) -> Result<SimulatedStat, Failure> {
        self.stat(self.memory.stat_target(dir, name))
    }

    fn has_no_inside(&self, dir: &DirHandle, name: &CStr) -> bool {
        let stat = self.memory.stat_target(Some(dir), name);
        let world = self.call("look inside", known(&stat));
        let node = self.there(&world, stat);
        node.is_ok_and(|node| !self.is_directory(node))
    }

    /// A place in the listing is the number of an entry, and stays so when others come
    /// and go.
    fn list(
        &self,
        dir: &DirHandle,
        _buffer: &mut [u8],
        names: KeptNames,
        into: &mut Listed,
    ) -> Result<More, Failure> {
        let handle = MemoryHandle::of(dir)?;
        let world = self.call("list", Some(handle.node));
        let fate = self.fate(&world, handle.node, Call::List);
        if !self.is_there(&world, handle.node) {
            return Err(Failure::NOT_FOUND);
        }
        let now = world.time();
        let mut position = self.position(dir)?;
        let mut listed = 0;
        let children = self.memory.children_of(handle.node);
        let Listings { copies, rounds, .. } = self.listings;
        let round = (children.iter()).flat_map(|child| std::iter::repeat_n(child, copies));
        let all = round.cycle().take(children.len() * copies * rounds);
        for (name, node) in all.skip(position as usize) {
            if listed == self.listings.at_once {
                break;
            }
            if let Some((after, failure)) = fate.listing
                && position >= after
            {
                match listed {
                    0 => return Err(failure),
                    _ => break,
                }
            }
            position += 1;
            if self.fates[*node].is_there(now) {
                let attributes = self.memory.attributes_of(*node);
                let kind = match self.listings.have_types {
                    true => attributes.kind,
                    false => FileType::Unknown,
                };
                into.add(name, attributes.id.ino, kind, names);
                listed += 1;
            }
        }
        self.seek(dir, position)?;
        Ok(More::after(listed))
    }

    fn is_served(&self, _dir: &DirHandle) -> bool {
        self.listings.copies > 1 || self.listings.rounds > 1
    }

    fn links_count_subdirs(&self, dir: &DirHandle) -> bool {
        self.listings.links_count && self.memory.links_count_subdirs(dir)
    }

    fn now_s(&self) -> i64 {
        self.memory.now_s()
    }
}

impl EntryStat for SimulatedStat {
    fn kind(&self) -> FileType {
        self.stat.kind()
    }

    fn id(&self) -> FileId {
        self.stat.id()
    }

    fn mount(&self) -> u64 {
        self.stat.mount()
    }

    fn has_mount_id(&self) -> bool {
        self.stat.has_mount_id()
    }

    fn is_idle_automount(&self) -> bool {
        self.stat.is_idle_automount()
    }

    fn size_bytes(&self) -> u64 {
        self.stat.size_bytes()
    }

    fn links(&self) -> u32 {
        self.links
    }

    fn change_stamp(&self) -> ChangeStamp {
        ChangeStamp {
            mtime: (self.changes, 0),
            links: self.links,
            ..self.stat.change_stamp()
        }
    }

    fn attributes(&self, wanted: Fields) -> Attributes {
        Attributes {
            links: self.links,
            ..self.stat.attributes(wanted)
        }
    }
}
