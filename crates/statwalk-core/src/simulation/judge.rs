// SPDX-License-Identifier: MIT OR Apache-2.0

//! The answer that a simulated scan must give.

use std::collections::HashSet;
use std::time::Duration;

use super::Ended;
use super::recorder::Log;
use super::scenario::{Node, Scenario};
use crate::error::Cause;
use crate::order::Order;

/// How long all threads may sleep at once, all such times together. A caller that lends
/// its thread sleeps a little between two looks.
const IDLE_MAX: Duration = Duration::from_millis(1);

/// How long a scan that is stopped may go on: the time after which a worker counts as
/// hanging, and a little.
const STOP_MAX: Duration = Duration::from_millis(1_001);

/// Checks the answer of a scan against the tree.
pub(super) fn judge(scenario: &Scenario, ended: &Ended, log: &Log) {
    let report = &ended.report;
    assert_eq!(ended.rows, ended.delivered, "rows were lost on the way out");
    match ended.cancelled_at {
        Some(cancelled_at) => {
            let took = ended.finished_at - cancelled_at;
            assert!(took <= STOP_MAX, "it went on for {took:?}");
            if scenario.tree.hung_directory().is_none() {
                let hanging = &report.hanging;
                assert!(hanging.is_empty(), "slow counts as dead: {hanging:?}");
            }
        }
        None => {
            assert!(!report.interrupted, "nobody stopped it");
            let finished: HashSet<_> = log.finished.iter().map(|(_, path)| path).collect();
            for path in &log.dir_paths {
                let name = String::from_utf8_lossy(path);
                assert!(finished.contains(path), "{name} was never finished");
            }
            assert!(report.roots.iter().all(|root| !root.interrupted));
            let mut held = log.waiting.difference(&log.settled);
            let held = held.next();
            assert!(held.is_none(), "{held:?} neither came nor is gone");
            let idle = ended.idle;
            assert!(idle <= IDLE_MAX, "all threads slept for {idle:?}");
        }
    }
    let come_back = &log.come_back;
    assert!(come_back.is_empty(), "gone, and came: {come_back:?}");
    let mut seen = HashSet::new();
    for error in &report.errors {
        let is_new = seen.insert((&error.path, error.op, error.cause));
        assert!(is_new, "{error} stands there twice");
    }
    let explained = Explained::of(scenario, ended);
    for (number, node) in scenario.tree.nodes.iter().enumerate().skip(1) {
        if !log.delivered.contains_key(node.path.as_bytes()) {
            assert!(
                explained.may_miss(number),
                "{} is missing, and no error says why",
                node.path
            );
            assert!(
                explained.may_always_miss(number) || !is_in_finished(scenario, node, log),
                "{} is missing in a directory that counts as finished",
                node.path
            );
        }
        if node.is_directory && explained.must_be_of_a_moment(number) {
            assert!(
                was_so_at_a_moment(scenario, number, log),
                "{} was never as it was delivered, and no error says so",
                node.path
            );
        }
    }
}

/// Whether an entry lies in a finished directory of each root that it lies in: it belongs
/// to the first, unless that goes no deeper.
fn is_in_finished(scenario: &Scenario, node: &Node, log: &Log) -> bool {
    let path = node.path.as_bytes();
    let mut holders = (scenario.roots.iter().enumerate()).filter(|(_, root)| {
        let below = path.strip_prefix(root.as_bytes());
        below.is_some_and(|below| below.is_empty() || below.starts_with(b"/"))
    });
    holders.all(|(root, _)| log.is_in_finished(root, path))
}

/// Why something may be missing.
struct Explained<'a> {
    scenario: &'a Scenario,
    ended: &'a Ended,
    failed: HashSet<&'a [u8]>,
    changed: HashSet<&'a [u8]>,
}

impl<'a> Explained<'a> {
    fn of(scenario: &'a Scenario, ended: &'a Ended) -> Explained<'a> {
        let errors = &ended.report.errors;
        let changed = errors.iter().filter(|error| error.cause == Cause::Changed);
        let changed = changed.map(|error| &*error.path).collect();
        let missing = ended.report.roots.iter().zip(&scenario.roots);
        let missing = missing.filter(|(report, _)| report.missing.is_some());
        let failed = errors.iter().map(|error| &*error.path);
        Explained {
            scenario,
            ended,
            failed: failed
                .chain(missing.map(|(_, path)| path.as_bytes()))
                .collect(),
            changed,
        }
    }

    fn may_miss(&self, number: usize) -> bool {
        self.may_always_miss(number) || self.ended.report.interrupted && self.may_be_cut_off(number)
    }

    /// Whether something may be missing in a scan that nobody stopped.
    fn may_always_miss(&self, number: usize) -> bool {
        let tree = &self.scenario.tree;
        let is_too_deep = tree.nodes[number].depth - 1 > self.scenario.max_depth;
        let came_or_went = |node: &Node| !node.fate.is_permanent();
        let has_failed = |node: &Node| self.failed.contains(node.path.as_bytes());
        is_too_deep || tree.way(number).any(came_or_went) || tree.way(number).any(has_failed)
    }

    /// Whether the end came too early for an entry.
    fn may_be_cut_off(&self, number: usize) -> bool {
        let Scenario { tree, machine, .. } = self.scenario;
        let Some(hung) = tree.hung_directory() else {
            return true;
        };
        // All but what a call hangs in goes on, where there are other workers; but one
        // root begins when the one before has ended, and so does what has to wait.
        let has_others = self.scenario.order == Order::Parallel
            && self.scenario.threads != Some(1)
            && machine.threads_max > 1
            && machine.free_descriptors > 100
            && self.scenario.roots.len() == 1;
        !has_others
            || tree.numbers_on_way(number).any(|above| above == hung)
            || !tree.way(number).all(|node| node.fate.is_sound())
    }

    /// Whether the files in a directory must be those of a moment: it was read to its
    /// end and verified.
    fn must_be_of_a_moment(&self, number: usize) -> bool {
        let Scenario { tree, fields, .. } = self.scenario;
        let node = &tree.nodes[number];
        let is_bad = |node: &Node| !node.fate.is_permanent() || !node.fate.is_sound();
        let entries = tree
            .nodes
            .iter()
            .filter(|node| node.parent == number)
            .count();
        fields.need_stat()
            && !self.ended.report.interrupted
            && entries <= self.scenario.withheld_max
            && node.depth - 1 < self.scenario.max_depth
            && !tree.way(number).any(is_bad)
            && !self.changed.contains(node.path.as_bytes())
            && !tree
                .way(number)
                .any(|node| self.failed.contains(node.path.as_bytes()))
    }
}

/// Whether the files of a directory that were delivered are those that it held at a
/// moment.
fn was_so_at_a_moment(scenario: &Scenario, directory: usize, log: &Log) -> bool {
    let nodes = &scenario.tree.nodes;
    let files: Vec<&Node> = (nodes.iter().skip(1))
        .filter(|node| node.parent == directory && !node.is_directory && node.fate.is_sound())
        .collect();
    let changes = files
        .iter()
        .flat_map(|file| [file.fate.born, file.fate.dies]);
    let mut moments = changes.chain([Duration::ZERO]);
    moments.any(|moment| {
        files.iter().all(|file| {
            log.delivered.contains_key(file.path.as_bytes()) == file.fate.is_there(moment)
        })
    })
}
