// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::super::results::{with_types, without_types};
use super::*;
use crate::batch::Batch;
use crate::calls::Calls;
use crate::directory::{Directory, Origin};
use crate::error::{Cause, Errno};
use crate::exclusion::Exclusions;
use crate::fields::Fields;
use crate::listing::options::{EnteredMounts, RootTable, ScanOptions, Shortcuts};
use crate::sink::Collect;
use crate::source::memory::{Memory, MemoryEntry, MemoryTree};

/// Says that it was reached, and waits.
struct Gate(Sender<()>, Receiver<()>);

impl Collect for Gate {
    fn directory(&mut self, _: &Directory<'_>) -> ControlFlow<()> {
        let _ = self.0.send(());
        let _ = self.1.recv();
        ControlFlow::Continue(())
    }

    fn batch(&mut self, _: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn context(tree: MemoryTree) -> Arc<ScanContext<Memory>> {
    let wanted = Fields::TYPE;
    let (exclusions, roots) = (Exclusions::default(), RootTable::default());
    let options = ScanOptions {
        wanted,
        calls: Calls::default(),
        mounts: EnteredMounts::All,
        enters_kernel_file_systems: false,
        follows: false,
        shortcuts: Shortcuts::of(wanted, &exclusions, false, &roots),
        exclusions,
        dir_filter: None,
        roots_apart: false,
        max_depth: u32::MAX,
        withheld_max: 8,
        names_max: 8,
        roots,
    };
    Arc::new(ScanContext::new(options, Memory::new(tree), 8))
}

/// On a busy machine a scan ended with "index out of bounds: the len is 64 but
/// the index is 64". A worker that was to go did not count any more, and had not
/// given back its place yet, when the pool started another.
#[test]
fn a_place_is_not_given_out_before_it_is_given_back() {
    let root: Arc<CStr> = Arc::from(c"/");
    let (reached, is_reached) = channel();
    let (open, opened) = channel();
    let options = PoolOptions {
        order: Order::Parallel.into(),
        roots: vec![Arc::clone(&root)],
        errors_kept_max: 0,
        idle_io: false,
        niceness: 0,
        adapts: false,
        listings_max: 1,
        processors: 1,
    };
    let states = vec![Gate(reached, opened)];
    let pool = Pool::new(context(MemoryTree::new()), without_types(states), options);
    pool.start();
    is_reached.recv().unwrap();
    // The worker is asked to go, and another is wanted before it has gone.
    pool.wanted.store(0, Ordering::Relaxed);
    pool.has_too_many.store(true, Ordering::Relaxed);
    assert!(pool.may_go());
    assert!(!pool.may_go());
    pool.wanted.store(1, Ordering::Relaxed);
    pool.wants_helpers.store(true, Ordering::Relaxed);
    pool.start_helper();
    assert_eq!(pool.started_workers(), 1);
    pool.cancel();
    drop(open);
    assert!(pool.wait_gone(Duration::from_secs(10)));
}

/// Notes the numbers of directories and of those above them.
struct Numbers(Vec<(DirId, Option<DirId>)>);

impl Collect for Numbers {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        self.0.push((directory.id(), directory.parent()));
        ControlFlow::Continue(())
    }

    fn batch(&mut self, _: Origin<'_>, _: &Batch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// From 2^32 directories on, numbers began anew, and the tree counted two
/// directories as one.
#[test]
fn a_scan_ends_where_numbers_for_directories_do() {
    let mut tree = MemoryTree::new();
    for number in 0..700 {
        let path = format!("d{number}/e");
        tree.insert(path, MemoryEntry::directory()).unwrap();
    }
    let root: Arc<CStr> = Arc::from(c"/");
    for order in [
        AnyOrder::Order(Order::Parallel),
        AnyOrder::Order(Order::Queue),
        AnyOrder::Futures,
        AnyOrder::Order(Order::Inode),
    ] {
        let options = PoolOptions {
            order,
            roots: vec![Arc::clone(&root)],
            errors_kept_max: 9,
            idle_io: false,
            niceness: 0,
            adapts: false,
            listings_max: 8,
            processors: 2,
        };
        let states = (0..2).map(|_| Numbers(Vec::new())).collect();
        let states = without_types(states);
        let pool = Pool::new(context(tree.clone()), states, options);
        pool.next_id_block
            .store(DirId::BLOCKS - 1, Ordering::Relaxed);
        pool.start();
        assert!(pool.wait_gone(Duration::from_secs(10)));
        let slots = pool.take_results();
        let errors: Vec<_> = slots
            .iter()
            .flat_map(|slot| &slot.errors.kept)
            .cloned()
            .collect();
        let states = slots.into_iter().map(|slot| slot.state).collect();
        let numbers: Vec<_> = with_types(states)
            .into_iter()
            .flat_map(|Numbers(n)| n)
            .collect();
        let known: HashSet<DirId> = numbers.iter().map(|&(id, _)| id).collect();
        assert_eq!(known.len(), numbers.len(), "{order:?}: a number came twice");
        let parents = numbers.iter().filter_map(|&(_, parent)| parent);
        assert_eq!(parents.filter(|id| *id == DirId::NONE_LEFT).count(), 0);
        // All or, where another worker had the block, a part of it.
        assert!((1..=1024).contains(&numbers.len()), "{order:?}");
        assert!(pool.is_cancelled() && !errors.is_empty());
        assert!(
            errors
                .iter()
                .all(|error| error.cause == Cause::System(Errno(75)))
        );
    }
}
