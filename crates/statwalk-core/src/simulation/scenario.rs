// SPDX-License-Identifier: MIT OR Apache-2.0

//! All that a seed decides: a tree, what happens to it, a machine, a scan, and what its
//! caller does.

use std::time::Duration;

use fastrand::Rng;
use rustix::io::Errno;

use super::source::{Call, Fate, Listings, Simulated};
use super::world::{Machine, Span};
use crate::exclusion::Exclusions;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::order::{AnyOrder, Order};
use crate::scan::Scan;
use crate::source::memory::{MemoryEntry, MemoryTree};

/// A simulation that is about to run.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) machine: Machine,
    pub(super) tree: Tree,
    pub(super) roots: Vec<&'static str>,
    pub(super) order: AnyOrder,
    pub(super) threads: Option<usize>,
    pub(super) fields: Fields,
    pub(super) max_depth: u32,
    /// Whether caches are left out. There is none, but each directory is looked at.
    pub(super) leaves_out_caches: bool,
    pub(super) withheld_max: usize,
    pub(super) listings: Listings,
    pub(super) caller: Caller,
}

/// The behaviour of the one who wants the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    /// After which time it stops the scan.
    pub(super) cancels: Option<Duration>,
    /// For how long it waits at a time.
    pub(super) patience: Duration,
    /// If it enters a directory after each time, the seed of its choices.
    pub(super) enters: Option<u64>,
}

/// A tree, and what happens to each of its nodes. The first is the topmost directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: usize,
    /// From the topmost directory.
    pub(super) path: String,
    pub(super) is_directory: bool,
    pub(super) depth: u32,
    pub(super) fate: Fate,
}

impl Tree {
    fn new() -> Tree {
        Tree {
            nodes: vec![Node {
                parent: 0,
                path: String::new(),
                is_directory: true,
                depth: 0,
                fate: Fate::default(),
            }],
        }
    }

    /// Adds an entry to a directory.
    pub(super) fn add(&mut self, parent: usize, is_directory: bool) -> usize {
        let number = self.nodes.len();
        let above = &self.nodes[parent];
        self.nodes.push(Node {
            parent,
            path: format!("{}/{number}", above.path),
            is_directory,
            depth: above.depth + 1,
            fate: Fate::default(),
        });
        number
    }

    /// The tree that has a root by the name of `t`, and nothing below it.
    pub(super) fn with_root() -> (Tree, usize) {
        let mut tree = Tree::new();
        let root = tree.add(0, true);
        tree.nodes[root].path = "/t".to_owned();
        (tree, root)
    }

    /// The node and all directories above it, the topmost left out.
    pub(super) fn way(&self, node: usize) -> impl Iterator<Item = &Node> {
        self.numbers_on_way(node).map(|node| &self.nodes[node])
    }

    pub(super) fn numbers_on_way(&self, node: usize) -> impl Iterator<Item = usize> {
        let up = |&node: &usize| Some(self.nodes[node].parent).filter(|&node| node != 0);
        std::iter::successors(Some(node), up)
    }

    /// The directory whose entries are all missing while a call hangs, if one does.
    pub(super) fn hung_directory(&self) -> Option<usize> {
        let hung = |node: &Node| node.fate.hangs.is_some();
        let number = self.nodes.iter().position(hung)?;
        let node = &self.nodes[number];
        Some(match node.fate.hangs {
            Some(Call::Open | Call::List) if node.is_directory => number,
            _ => node.parent,
        })
    }

    /// How many directories hold more than so many entries.
    pub(super) fn directories_of_more_than(&self, entries: usize) -> usize {
        let mut counts = vec![0; self.nodes.len()];
        self.nodes[1..]
            .iter()
            .for_each(|node| counts[node.parent] += 1);
        counts.into_iter().filter(|&count| count > entries).count()
    }

    pub(super) fn source(&self, listings: Listings) -> Simulated {
        let mut tree = MemoryTree::new();
        for node in &self.nodes[1..] {
            let entry = match node.is_directory {
                true => MemoryEntry::directory(),
                false => MemoryEntry::file(1),
            };
            tree.insert(&node.path, entry).expect("each path is new");
        }
        let fates = self.nodes.iter().map(|node| node.fate).collect();
        let parents = self.nodes.iter().map(|node| node.parent).collect();
        let paths = self.nodes.iter().map(|node| node.path.clone()).collect();
        Simulated::new(tree, fates, parents, paths, listings)
    }
}

/// A number whose order of magnitude is as likely as any other up to `most`.
fn some(rng: &mut Rng, most: u32) -> u32 {
    let bits = rng.u32(0..=most.ilog2());
    rng.u32(0..=(1 << bits).min(most))
}

fn micros(least: u32, most: u32) -> Span {
    Span {
        least: Duration::from_micros(least.into()),
        most: Duration::from_micros(most.into()),
    }
}

impl Scenario {
    pub(super) fn of(seed: u64) -> Scenario {
        let rng = &mut Rng::with_seed(seed);
        let machine = machine(rng);
        let mut tree = tree(rng);
        let hangs = rng.u32(0..8) == 0;
        if rng.u32(0..3) > 0 {
            let most = Duration::from_micros(some(rng, 200_000).into());
            seal_fates(rng, &mut tree, most);
        }
        if hangs {
            let node = rng.usize(1..tree.nodes.len());
            let call = [Call::Open, Call::List, Call::Stat][rng.usize(0..3)];
            tree.nodes[node].fate.hangs = Some(call);
        }
        let order = [
            AnyOrder::Order(Order::Parallel),
            AnyOrder::Order(Order::Parallel),
            AnyOrder::Order(Order::Parallel),
            AnyOrder::Order(Order::Queue),
            AnyOrder::Order(Order::Stack),
            AnyOrder::Order(Order::Recursive),
            AnyOrder::Futures,
            AnyOrder::Order(Order::Inode),
            AnyOrder::Sorted,
        ][rng.usize(0..9)];
        Scenario {
            machine,
            tree,
            roots: [
                vec!["/t"],
                vec!["/t"],
                vec!["/t/2", "/t"],
                vec!["/t", "/t/2", "/t"],
            ][rng.usize(0..4)]
            .clone(),
            order,
            threads: rng.bool().then(|| 1 + some(rng, 32) as usize),
            fields: match rng.u32(0..6) {
                0 => Fields::NAME,
                1 | 2 => Fields::NAME | Fields::TYPE,
                _ => Fields::NAME | Fields::SIZE,
            },
            max_depth: match rng.u32(0..6) {
                0 => rng.u32(0..6),
                _ => u32::MAX,
            },
            leaves_out_caches: rng.u32(0..8) == 0,
            withheld_max: match rng.bool() {
                true => 1 + some(rng, 64) as usize,
                false => 64 * 1024,
            },
            listings: Listings {
                at_once: 1 + some(rng, 256) as usize,
                have_types: rng.u32(0..3) > 0,
                links_count: rng.bool(),
                copies: [1, 1, 1, 2][rng.usize(0..4)],
                rounds: [1, 1, 1, 2][rng.usize(0..4)],
            },
            caller: Caller {
                cancels: (hangs || rng.u32(0..5) == 0).then(|| match hangs {
                    // Until then all is done that does not hang.
                    true => Duration::from_secs(100),
                    false => Duration::from_micros(some(rng, 1_000_000).into()),
                }),
                patience: match hangs {
                    true => Duration::from_millis(50),
                    false => Duration::from_micros(10 + u64::from(some(rng, 1_000_000))),
                },
                enters: (!hangs && rng.u32(0..3) == 0).then(|| rng.u64(..)),
            },
        }
    }

    pub(super) fn scan(&self) -> Scan {
        let scan = Scan::of(self.roots.iter().copied())
            .order(self.order)
            .max_depth(self.max_depth)
            .exclusions(Exclusions::new().caches(self.leaves_out_caches))
            .withheld_max(self.withheld_max)
            .errors_kept(usize::MAX);
        match self.threads {
            Some(threads) => scan.threads(threads),
            None => scan,
        }
    }
}

fn machine(rng: &mut Rng) -> Machine {
    let slow = some(rng, 10_000);
    let descriptors = 1 + some(rng, 1000) as usize;
    Machine {
        processors: 1 + some(rng, 8) as usize,
        device_width: 1 + some(rng, 64) as usize,
        call: micros(0, 1 + some(rng, 20)),
        latency: micros(slow / 2, slow),
        missing_percent: [0, 1, 10, 100][rng.usize(0..4)],
        threads_max: match rng.u32(0..6) {
            0 => some(rng, 8) as usize,
            _ => usize::MAX,
        },
        free_descriptors: match rng.bool() {
            true => descriptors,
            false => 1000,
        },
        wake: micros(0, 1 + some(rng, 100)),
    }
}

/// A tree of some hundred entries. Directories hang from what came before, so some are
/// deep and some are broad; now and then one is large.
fn tree(rng: &mut Rng) -> Tree {
    let (mut tree, root) = Tree::with_root();
    let mut dirs = vec![root];
    let near = rng.bool();
    for _ in 0..some(rng, 60) {
        let from = match near {
            true => dirs.len().saturating_sub(4),
            false => 0,
        };
        let parent = dirs[rng.usize(from..dirs.len())];
        dirs.push(tree.add(parent, true));
    }
    for &dir in &dirs {
        for _ in 0..some(rng, 12) {
            tree.add(dir, false);
        }
    }
    if rng.u32(0..4) == 0 {
        let large = dirs[rng.usize(0..dirs.len())];
        for _ in 0..some(rng, 1000) {
            tree.add(large, rng.u32(0..10) == 0);
        }
    }
    tree
}

/// Decides what fails, comes and goes, within a time.
fn seal_fates(rng: &mut Rng, tree: &mut Tree, most: Duration) {
    let one_in = 2 + some(rng, 200);
    let failures = [
        Errno::ACCESS.into(),
        Errno::IO.into(),
        Failure::NOT_FOUND,
        Errno::STALE.into(),
        Errno::MFILE.into(),
    ];
    let nanos = most.as_nanos() as u64;
    for node in 2..tree.nodes.len() {
        if rng.u32(0..one_in) > 0 {
            continue;
        }
        let failure = failures[rng.usize(0..failures.len())];
        let moment = Duration::from_nanos(rng.u64(1..=nanos.max(1)));
        let is_directory = tree.nodes[node].is_directory;
        let fate = &mut tree.nodes[node].fate;
        match rng.u32(0..5) {
            // It can be a root, and which roots there are is asked when a scan begins.
            0 | 1 if node == 2 => {}
            0 => fate.born = moment,
            1 => fate.dies = moment,
            2 if is_directory => fate.opening = Some(failure),
            3 if is_directory => fate.listing = Some((rng.u64(0..20), Errno::IO.into())),
            _ if is_directory => {}
            _ => fate.stat = Some(failure),
        }
    }
}
