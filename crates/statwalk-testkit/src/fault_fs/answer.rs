// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answers of the file system: the tree, bent by the rules.
//!
//! When an answer is sent is left to the server.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::edits::Edits;
use super::rules::{Changes, Hang, Op, Repetition, Rule, RuleBook, RuleState};
use super::tree::{Listed, Object, Tree};
use super::wire::{self, Attributes, Call, Dirents, Request, Validity};
use crate::model::EntryType;

/// Marks the inode in place of a listed one, see [`Rule::Replaced`].
const REPLACED: u64 = 1 << 62;
/// Numbers that move begin here.
const NUMBERS: u64 = 1 << 60;
/// `.` and `..` come before the entries.
const DOTS: u64 = 2;

/// An answer; none of its variants says when.
pub(super) enum Answer {
    Payload(Vec<u8>),
    /// As the tree and the protocol demand.
    Error(Errno),
    /// As a rule demands.
    Fault(Errno),
    /// The kernel expects no reply.
    Silence,
}

/// The subject of a request, for rules and counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    /// Without an operation to which rules apply, such as a `readlink`.
    pub(super) op: Option<Op>,
    pub(super) ino: u64,
}

/// Settings that are not rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) validity: Validity,
    pub(super) entries_per_readdir_max: usize,
    pub(super) is_writable: bool,
}

/// The tree with its rules and all that changes while it is mounted.
pub(super) struct Answers {
    tree: Arc<Tree>,
    rules: RuleBook,
    settings: Settings,
    state: RuleState,
    handles: HashMap<u64, OpenDir>,
    next_handle: u64,
    /// Only for inodes that change by a rule.
    getattrs: HashMap<u64, u32>,
    listings: HashMap<u64, u32>,
    lookups: HashMap<u64, u32>,
    /// Inodes that have vanished by a rule.
    gone: HashSet<u64>,
    edits: Edits,
    /// Counts numbers that move.
    numbers: Cell<u64>,
    /// For `statfs`.
    entries: u64,
    uid: u32,
    gid: u32,
}

struct OpenDir {
    ino: u64,
    /// Names that the current listing has in addition.
    grown: u64,
}

impl Answers {
    pub(super) fn new(tree: Arc<Tree>, rules: RuleBook, settings: Settings) -> Answers {
        Answers {
            entries: tree.expected().entries,
            tree,
            rules,
            settings,
            state: RuleState::default(),
            handles: HashMap::new(),
            next_handle: 1,
            getattrs: HashMap::new(),
            listings: HashMap::new(),
            lookups: HashMap::new(),
            gone: HashSet::new(),
            edits: Edits::default(),
            numbers: Cell::new(0),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
        }
    }

    /// Names the object that a request is about. For a lookup that is the name
    /// looked up, or 0 where there is no such name: only the rules for
    /// everywhere hold then.
    pub(super) fn subject(&self, request: &Request) -> Subject {
        let node = request.node & !REPLACED;
        let named = |op, name: &[u8]| Subject {
            op: Some(op),
            ino: (self.edits.lookup(&self.tree, request.node, name)).unwrap_or(0),
        };
        match &request.call {
            Call::Lookup { name } => named(Op::Lookup, name),
            Call::Unlink { name } => named(Op::Unlink, name),
            Call::Rmdir { name } => named(Op::Rmdir, name),
            Call::Rename { name, .. } => named(Op::Rename, name),
            Call::Getattr => Subject {
                op: Some(Op::Getattr),
                ino: node,
            },
            Call::Opendir => Subject {
                op: Some(Op::Opendir),
                ino: node,
            },
            Call::Readdir { .. } => Subject {
                op: Some(Op::Readdir),
                ino: node,
            },
            Call::Open => Subject {
                op: Some(Op::Open),
                ino: node,
            },
            Call::Read { .. } => Subject {
                op: Some(Op::Read),
                ino: node,
            },
            Call::Write { .. } => Subject {
                op: Some(Op::Write),
                ino: node,
            },
            _ => Subject {
                op: None,
                ino: node,
            },
        }
    }

    /// How the call hangs, if a rule says so.
    pub(super) fn hang(&self, subject: Subject) -> Option<Hang> {
        let op = subject.op?;
        self.rules.of(subject.ino).find_map(|(_, rule)| match rule {
            Rule::Hang { op: of, hang } if of == op => Some(hang),
            _ => None,
        })
    }

    /// How long the call takes.
    pub(super) fn latency(&mut self, subject: Subject) -> Duration {
        let Some(op) = subject.op else {
            return Duration::ZERO;
        };
        let found = self
            .rules
            .of(subject.ino)
            .find_map(|(id, rule)| match rule {
                Rule::Latency { op: of, latency } if of.is_none_or(|of| of == op) => {
                    Some((id, latency))
                }
                _ => None,
            });
        found.map_or(Duration::ZERO, |(id, latency)| {
            self.state.duration(id, latency)
        })
    }

    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        let subject = self.subject(request);
        match &request.call {
            Call::Lookup { name } => self.lookup(request.node, name, subject),
            Call::Getattr => self.getattr(request.node, subject),
            Call::Readlink => self.readlink(request.node),
            Call::Opendir => self.opendir(request.node, subject),
            Call::Readdir {
                handle,
                offset,
                size,
            } => self.readdir(*handle, *offset, *size),
            Call::Releasedir { handle } => {
                self.handles.remove(handle);
                Answer::Payload(Vec::new())
            }
            Call::Open => self.unless_fault(subject, |_| Some(wire::open_file_out())),
            Call::Read { offset, size } => self.unless_fault(subject, |tree| {
                let text = tree.content(request.node)?;
                let start = usize::try_from(*offset).ok()?.min(text.len());
                let end = start.saturating_add(*size).min(text.len());
                Some(text[start..end].to_vec())
            }),
            Call::Write { size } => self.unless_fault(subject, |_| Some(wire::write_out(*size))),
            Call::Unlink { name } => self.edit(subject, |edits, tree| {
                edits.unlink(tree, request.node, name)
            }),
            Call::Rmdir { name } => {
                self.edit(subject, |edits, tree| edits.rmdir(tree, request.node, name))
            }
            Call::Rename {
                name,
                new_dir,
                new_name,
            } => self.edit(subject, |edits, tree| {
                edits.rename(tree, (request.node, name), (*new_dir, new_name))
            }),
            Call::Create { name } => self.create(request.node, name),
            Call::Statfs => Answer::Payload(wire::statfs_out(self.entries)),
            Call::Forget | Call::Interrupt { .. } => Answer::Silence,
            Call::Unsupported => Answer::Error(Errno::NOSYS),
        }
    }

    fn lookup(&mut self, parent: u64, name: &[u8], subject: Subject) -> Answer {
        let Some(ino) = self.edits.lookup(&self.tree, parent, name) else {
            return Answer::Error(Errno::NOENT);
        };
        if self.vanishes(ino, Op::Lookup) {
            return Answer::Fault(Errno::NOENT);
        }
        if let Some(errno) = self.fault(subject) {
            return Answer::Fault(errno);
        }
        let replaced = self.rules.of(ino).find_map(|(_, rule)| match rule {
            Rule::Replaced { after_lookups, .. } => Some(after_lookups),
            _ => None,
        });
        let node = match replaced {
            Some(after_lookups) => {
                let lookups = self.lookups.entry(ino).or_default();
                *lookups = lookups.saturating_add(1);
                if *lookups > after_lookups {
                    ino | REPLACED
                } else {
                    ino
                }
            }
            None => ino,
        };
        match self.attributes(node) {
            Some(attributes) => {
                Answer::Payload(wire::entry_out(&attributes, self.settings.validity))
            }
            None => Answer::Error(Errno::NOENT),
        }
    }

    fn getattr(&mut self, node: u64, subject: Subject) -> Answer {
        if let Some(errno) = self.fault(subject) {
            return Answer::Fault(errno);
        }
        if self.changes_of(subject.ino).is_some() || self.times_move(subject.ino) {
            *self.getattrs.entry(subject.ino).or_default() += 1;
        }
        match self.attributes(node) {
            Some(attributes) => {
                Answer::Payload(wire::attr_out(&attributes, self.settings.validity))
            }
            None => Answer::Error(Errno::STALE),
        }
    }

    fn readlink(&self, node: u64) -> Answer {
        match self.tree.target(node) {
            Some(target) => Answer::Payload(target.to_vec()),
            None if node & REPLACED != 0 => Answer::Payload(b".".to_vec()),
            None => Answer::Error(Errno::INVAL),
        }
    }

    fn opendir(&mut self, node: u64, subject: Subject) -> Answer {
        if let Some(errno) = self.fault(subject) {
            return Answer::Fault(errno);
        }
        let handle = self.next_handle;
        self.next_handle += 1;
        self.handles.insert(
            handle,
            OpenDir {
                ino: node,
                grown: 0,
            },
        );
        Answer::Payload(wire::open_out(handle))
    }

    fn readdir(&mut self, handle: u64, offset: u64, size: usize) -> Answer {
        let Some(dir) = self.handles.get(&handle).map(|open| open.ino) else {
            return Answer::Error(Errno::BADF);
        };
        let base = dir & !REPLACED;
        if self.vanishes(base, Op::Readdir) {
            return Answer::Fault(Errno::NOENT);
        }
        let stop = match self.readdir_stop(base, offset) {
            Ok(stop) => stop,
            Err(errno) => return Answer::Fault(errno),
        };
        if offset == 0 {
            let grown = self.grown(base);
            if let Some(open) = self.handles.get_mut(&handle) {
                open.grown = grown;
            }
        }
        let grown = self.handles.get(&handle).map_or(0, |open| open.grown);
        let unknown = self
            .rules
            .of(base)
            .any(|(_, rule)| rule == Rule::UnknownTypes);
        let repetition = self.repetition(dir, grown);
        let place = |index: u64| match repetition {
            None => Some(index),
            Some((Repetition::Beside, _)) => Some(index / 2),
            Some((Repetition::Again, count)) if index >= 2 * count => None,
            Some((_, count)) => index.checked_rem(count),
        };
        let mut dirents = Dirents::new(size);
        for at in offset..stop {
            if dirents.count() == self.settings.entries_per_readdir_max {
                break;
            }
            let next = at + 1;
            let shown = |known| if unknown { EntryType::Unknown } else { known };
            let fits = match at {
                0 => dirents.push(dir, next, shown(EntryType::Directory), b"."),
                1 => dirents.push(
                    self.tree.parent(base),
                    next,
                    shown(EntryType::Directory),
                    b"..",
                ),
                _ => match place(at - DOTS).and_then(|place| self.listed(dir, place, grown)) {
                    Some((entry, _)) if self.gone.contains(&entry.ino) => true,
                    Some((_, true)) => true,
                    Some((entry, false)) => {
                        let mut name = entry.name;
                        if self
                            .rules
                            .of(entry.ino)
                            .any(|(_, rule)| rule == Rule::NulBefore)
                        {
                            name.to_mut().insert(0, 0);
                        }
                        dirents.push(entry.ino, next, shown(entry.entry_type), &name)
                    }
                    None => break,
                },
            };
            if !fits {
                break;
            }
        }
        Answer::Payload(dirents.into_bytes())
    }

    /// How a directory gives its names again, if it does, and how many they are.
    fn repetition(&self, dir: u64, grown: u64) -> Option<(Repetition, u64)> {
        let repetition = self.rules.of(dir).find_map(|(_, rule)| match rule {
            Rule::Repeats(repetition) => Some(repetition),
            _ => None,
        })?;
        let is_listed = |index| self.listed(dir, index, grown).is_some();
        let (mut least, mut most) = (0, 1);
        while is_listed(most - 1) {
            most *= 2;
        }
        while least < most {
            let middle = least + (most - least) / 2;
            match is_listed(middle) {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        Some((repetition, least))
    }

    /// The name at a place of a directory, and whether it is gone. Those of the tree come
    /// first.
    fn listed(&self, dir: u64, index: u64, grown: u64) -> Option<(Listed<'_>, bool)> {
        if let Some(own) = self.tree.entry(dir, index, grown) {
            let is_gone = self.edits.is_removed(dir, &own.name);
            return Some((own, is_gone));
        }
        // Without additions the end of a long listing takes no time.
        self.edits.added(dir, 0)?;
        let count = (0..index).find(|at| self.tree.entry(dir, *at, grown).is_none());
        let added = self.edits.added(dir, index - count.unwrap_or(index))?;
        Some((added, false))
    }

    fn edit(
        &mut self,
        subject: Subject,
        edit: impl FnOnce(&mut Edits, &Tree) -> Result<(), Errno>,
    ) -> Answer {
        if let Some(errno) = self.fault(subject) {
            return Answer::Fault(errno);
        }
        match edit(&mut self.edits, &self.tree) {
            Ok(()) => Answer::Payload(Vec::new()),
            Err(errno) => Answer::Error(errno),
        }
    }

    fn create(&mut self, dir: u64, name: &[u8]) -> Answer {
        let made = self.edits.create(&self.tree, dir, name);
        let made = made.and_then(|ino| self.attributes(ino).ok_or(Errno::NOENT));
        match made {
            Ok(attributes) => {
                let mut payload = wire::entry_out(&attributes, self.settings.validity);
                payload.extend(wire::open_file_out());
                Answer::Payload(payload)
            }
            Err(errno) => Answer::Error(errno),
        }
    }

    /// The offset at which a rule breaks the listing off, or the error itself
    /// where the listing has come so far.
    fn readdir_stop(&mut self, dir: u64, offset: u64) -> Result<u64, Errno> {
        let mut stop = u64::MAX;
        for (id, rule) in self.rules.of(dir) {
            let Rule::Fail {
                op: Op::Readdir,
                errno,
                when,
                after_entries,
            } = rule
            else {
                continue;
            };
            let fails_at = if after_entries == 0 {
                0
            } else {
                after_entries + DOTS
            };
            if offset < fails_at {
                if self.state.would_strike(id, when, dir) {
                    stop = stop.min(fails_at);
                }
            } else if self.state.strikes(id, when, dir) {
                return Err(errno);
            }
        }
        Ok(stop)
    }

    /// Whether an inode has vanished, or does so at this call.
    fn vanishes(&mut self, ino: u64, at: Op) -> bool {
        let vanishes = |(_, rule)| rule == Rule::Vanishes { op: at };
        if self.rules.of(ino).any(vanishes) {
            self.gone.insert(ino);
        }
        self.gone.contains(&ino)
    }

    /// Answers as a rule demands, else with `payload`. Without both the call is none
    /// that the file system knows.
    fn unless_fault(
        &mut self,
        subject: Subject,
        payload: impl FnOnce(&Tree) -> Option<Vec<u8>>,
    ) -> Answer {
        match self.fault(subject) {
            Some(errno) => Answer::Fault(errno),
            None => payload(&self.tree).map_or(Answer::Error(Errno::NOSYS), Answer::Payload),
        }
    }

    fn fault(&mut self, subject: Subject) -> Option<Errno> {
        for (id, rule) in self.rules.of(subject.ino) {
            if let Rule::Fail {
                op, errno, when, ..
            } = rule
                && Some(op) == subject.op
                && self.state.strikes(id, when, subject.ino)
            {
                return Some(errno);
            }
        }
        None
    }

    /// Counts a listing that begins, and gives the names that it has in addition.
    fn grown(&mut self, dir: u64) -> u64 {
        let found = self.rules.of(dir).find_map(|(_, rule)| match rule {
            Rule::Grows {
                entries_per_listing,
                changes,
            } => Some((entries_per_listing, changes)),
            _ => None,
        });
        let Some((entries_per_listing, changes)) = found else {
            return 0;
        };
        let listings = self.listings.entry(dir).or_default();
        let before = *listings;
        *listings += 1;
        entries_per_listing * u64::from(changes.after(before))
    }

    fn attributes(&self, node: u64) -> Option<Attributes> {
        let ino = node & !REPLACED;
        let version = self.changes_of(ino).map_or(0, |changes| {
            changes.after(self.getattrs.get(&ino).copied().unwrap_or(0))
        });
        let moves = match self.times_move(ino) {
            true => self.getattrs.get(&ino).copied().unwrap_or(0),
            false => 0,
        };
        let object = if node == ino {
            self.edits.object(&self.tree, ino)?
        } else {
            self.replacement(node)?
        };
        let number_moves = (self.rules.of(ino)).any(|(_, rule)| rule == Rule::NumbersMove);
        let number = match number_moves {
            true => NUMBERS + self.numbers.replace(self.numbers.get() + 1),
            false => object.ino,
        };
        Some(Attributes {
            object,
            number,
            version,
            moves,
            uid: self.uid,
            gid: self.gid,
        })
    }

    fn replacement(&self, node: u64) -> Option<Object> {
        self.rules
            .of(node & !REPLACED)
            .find_map(|(_, rule)| match rule {
                Rule::Replaced { by, .. } => Some(Object::empty(node, by, 1)),
                _ => None,
            })
    }

    fn times_move(&self, ino: u64) -> bool {
        (self.rules.of(ino)).any(|(_, rule)| rule == Rule::TimesMove)
    }

    fn changes_of(&self, ino: u64) -> Option<Changes> {
        self.rules.of(ino).find_map(|(_, rule)| match rule {
            Rule::AttributesChange(changes) => Some(changes),
            _ => None,
        })
    }
}
