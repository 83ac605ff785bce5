// SPDX-License-Identifier: MIT OR Apache-2.0

//! A scan that goes no deeper than was asked: everything down to there with its
//! attributes, and no call for anything below.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use statwalk_core::tuning::AnyOrder;
use statwalk_core::{
    Batch, Collect, Context, DirState, Directory, Fields, Order, Origin, Scan, Sink, Source, Totals,
};
use statwalk_testkit::mounts::FileSystem;
use statwalk_testkit::{Scratch, or_skip, trees};

use super::devices::needs_device;
use super::harness::{THREADS, text};

/// Every path, with its type and modification time.
struct Names {
    fields: Fields,
}

struct NamesState(BTreeMap<Vec<u8>, (char, Option<i64>, bool)>);

impl Sink for Names {
    type State = NamesState;
    type Output = BTreeMap<Vec<u8>, (char, Option<i64>, bool)>;

    fn fields(&self) -> Fields {
        self.fields
    }

    fn states(&self, _: &Context, count: usize) -> Vec<NamesState> {
        (0..count).map(|_| NamesState(BTreeMap::new())).collect()
    }

    fn merge(&self, _: &Context, states: Vec<NamesState>) -> Self::Output {
        states.into_iter().flat_map(|state| state.0).collect()
    }
}

impl Collect for NamesState {
    fn directory(&mut self, directory: &Directory<'_>) -> ControlFlow<()> {
        let attributes = directory.attributes();
        let is_limit = directory.state() == DirState::AtDepthLimit;
        let seen = ('d', attributes.mtime_ns(), is_limit);
        assert_eq!(self.0.insert(directory.path(), seen), None);
        ControlFlow::Continue(())
    }

    fn batch(&mut self, origin: Origin<'_>, batch: &Batch) -> ControlFlow<()> {
        for entry in batch.iter() {
            let seen = (
                entry.attributes.kind.letter(),
                entry.attributes.mtime_ns(),
                false,
            );
            assert_eq!(self.0.insert(origin.entry_path(entry.name), seen), None);
        }
        ControlFlow::Continue(())
    }
}

fn depth_of(path: &[u8], root: &Path) -> usize {
    let below = &path[root.as_os_str().len()..];
    below.iter().filter(|&&byte| byte == b'/').count()
}

/// Compares each limit with what a whole scan finds down to there.
fn check(root: &Path, scan: &Scan, told: &str) {
    for fields in [Fields::NAME | Fields::TYPE, Fields::NAME | Fields::MTIME] {
        let whole = scan.run(&Names { fields }).unwrap().output;
        for depth in 0..5 {
            let limited = scan
                .clone()
                .max_depth(depth)
                .run(&Names { fields })
                .unwrap();
            assert!(limited.report.is_complete(), "{told}: {:?}", limited.report);
            let mut expected = whole.clone();
            expected.retain(|path, _| depth_of(path, root) <= depth as usize);
            for (path, seen) in &mut expected {
                seen.2 = seen.0 == 'd' && depth_of(path, root) == depth as usize;
            }
            let differs =
                (expected.iter()).find(|&(path, seen)| limited.output.get(path) != Some(seen));
            assert!(
                limited.output == expected,
                "{told}, depth {depth}: {} found, {} expected, {:?}",
                limited.output.len(),
                expected.len(),
                differs.map(|(path, seen)| (text(path), seen, limited.output.get(path)))
            );
        }
    }
}

#[test]
fn a_scan_ends_at_its_depth() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.path().join("t");
    trees::basic().materialise(&at).unwrap();
    trees::odd_names().materialise(&at.join("odd")).unwrap();
    trees::deep(6).materialise(&at.join("deep")).unwrap();
    for order in [
        AnyOrder::Order(Order::Parallel),
        AnyOrder::Order(Order::Recursive),
        AnyOrder::Order(Order::Queue),
        AnyOrder::Order(Order::Inode),
        AnyOrder::Futures,
    ] {
        for threads in THREADS {
            let scan = Scan::new(&at)
                .source(Source::Posix)
                .order(order)
                .threads(threads);
            check(&at, &scan, &format!("{order:?}, {threads} workers"));
        }
    }
}

#[test]
fn a_scan_in_place_ends_at_its_depth() {
    let scratch = Scratch::new().unwrap();
    for (file_system, source) in [
        (FileSystem::Ext4, Source::Ext4),
        (FileSystem::Btrfs, Source::Btrfs),
    ] {
        let at = scratch.subdirectory(&format!("{file_system:?}")).unwrap();
        let mounted = or_skip!(file_system.mount(&at));
        or_skip!(needs_device(&mounted));
        trees::basic().materialise(&at.join("basic")).unwrap();
        trees::deep(6).materialise(&at.join("deep")).unwrap();
        mounted.settle().unwrap();
        let now = std::time::SystemTime::now() + std::time::Duration::from_secs(86_400);
        for threads in THREADS {
            let scan = Scan::new(&at).source(source).threads(threads).as_of(now);
            check(&at, &scan, &format!("{source:?}, {threads} workers"));
            if source == Source::Ext4 {
                let image = mounted.image().unwrap();
                let scan = Scan::new(image).source(source).threads(threads);
                check(image, &scan, &format!("image, {threads} workers"));
            }
        }
    }
}

/// `statwalk find -d 1 /usr` opened and listed 17,555 directories to show twelve.
#[test]
fn nothing_below_the_depth_is_asked_for() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.path().join("t");
    for number in 0..50 {
        std::fs::create_dir_all(at.join(format!("d{number}/below"))).unwrap();
        std::fs::write(at.join(format!("f{number}")), "x").unwrap();
    }
    let calls = |depth, sink: Totals| {
        let scan = Scan::new(&at).source(Source::Posix).threads(1);
        let outcome = scan.max_depth(depth).run(&sink).unwrap();
        let mut find = Command::new("find");
        let find = find.arg(&at).arg("-maxdepth").arg(depth.to_string());
        let found = find.output().unwrap().stdout;
        let names = found.iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(outcome.output[0].entries, names);
        outcome.report.calls
    };
    // Open, stat, two times getdents64, close; with sizes one stat for each
    // entry, and one more for the directory.
    assert!(calls(1, Totals::new().without_sizes()) <= 6);
    assert!(calls(1, Totals::new()) <= 100 + 7);
    assert!(calls(0, Totals::new()) <= 4);
}
