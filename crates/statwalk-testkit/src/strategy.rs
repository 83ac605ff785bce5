// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees for property tests: hostile names, hard links, symbolic links, nested directories.
//!
//! A tree is a list of steps, each of which adds one entry to some directory
//! that is there by then; a step that is not possible does nothing. So a failing
//! tree shrinks by losing steps, names shrink to `a`, and the
//! smallest tree that still fails is left, printed in its text form.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::model::{Model, NodeId, NodeKind, Timestamp, is_possible_name};

/// How large random trees get.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Entries without the root; fewer where names collide.
    pub entries_max: usize,
    /// Directories one in the other. With names of 255 bytes, 12 still make a path.
    pub depth_max: usize,
    /// The largest file; those above 64 KiB are mostly holes.
    pub size_bytes_max: u64,
    /// Which types of entries there are.
    pub kinds: Kinds,
}

/// Which types of entries a random tree has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinds {
    /// Directories, files, symbolic and hard links, pipes and sockets.
    All,
    /// Directories and files of one name: for code that knows nothing else.
    DirectoriesAndFiles,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            entries_max: 60,
            depth_max: 12,
            size_bytes_max: 1 << 40,
            kinds: Kinds::All,
        }
    }
}

/// Trees within the default limits.
pub fn model() -> impl Strategy<Value = Model> {
    models(Limits::default())
}

/// Trees within the given limits.
pub fn models(limits: Limits) -> impl Strategy<Value = Model> {
    vec(step(limits), 0..=limits.entries_max).prop_map(move |steps| build(&steps, limits))
}

/// One value of a strategy, the same for the same seed: for tests that run longer
/// than a property and name the seed of a failure.
///
/// # Panics
///
/// Panics if the strategy rejects too much to have a value.
pub fn of_seed<S: Strategy>(strategy: &S, seed: u64) -> S::Value {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let tree = strategy.new_tree(&mut runner);
    tree.expect("a strategy that has values").current()
}

/// Names as Linux allows them, hostile ones among them.
pub fn name() -> impl Strategy<Value = Vec<u8>> {
    let plain = "[a-c]{1,2}".prop_map(String::into_bytes);
    let endings = r"[ab]?(\.(tar|gz|zst|so|log|log-20261101|[136]|11|png|csv|c)){1,4}"
        .prop_map(String::into_bytes);
    let hostile = select(HOSTILE).prop_map(<[u8]>::to_vec);
    let bytes = |length: RangeInclusive<usize>| {
        vec(any::<u8>(), length).prop_map(|mut name| {
            name.retain(|byte| !b"/\0".contains(byte));
            name
        })
    };
    prop_oneof![
        6 => plain,
        2 => endings,
        3 => hostile,
        3 => bytes(1..=12),
        1 => bytes(240..=255),
    ]
    .prop_map(|name| {
        if is_possible_name(&name) {
            name
        } else {
            b"a".to_vec()
        }
    })
}

const HOSTILE: &[&[u8]] = &[
    b"\xff",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\n",
    b"a\nb",
    b"\t",
    b" ",
    b"\x1b[2J",
    b"\x7f",
    b"\x01",
    b"\xc2\x9b",
    "\u{202e}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{feff}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{e9}".as_bytes(),
    b"...",
    b".a",
    b"a.b",
    b"a-",
    b"-a",
    b"--",
    b"*",
    b"\\",
    b"\"",
    b"top",
];

#[derive(Debug, Clone)]
struct Step {
    directory: Index,
    name: Vec<u8>,
    what: What,
    mtime: Option<Timestamp>,
}

#[derive(Debug, Clone)]
enum What {
    Node(NodeKind),
    HardLink { to: Index },
}

fn step(limits: Limits) -> impl Strategy<Value = Step> {
    (any::<Index>(), name(), what(limits), mtime()).prop_map(|(directory, name, what, mtime)| {
        Step {
            directory,
            name,
            what,
            mtime,
        }
    })
}

fn what(limits: Limits) -> BoxedStrategy<What> {
    let small = (0..=limits.size_bytes_max.min(64 << 10)).prop_map(NodeKind::file);
    let sparse =
        (0..=limits.size_bytes_max, 0..=10_000_u64).prop_map(|(size_bytes, data_bytes)| {
            NodeKind::File {
                size_bytes,
                data_bytes: data_bytes.min(size_bytes),
            }
        });
    let directory = Just(NodeKind::Directory);
    let tree = prop_oneof![4 => small, 1 => sparse, 4 => directory].prop_map(What::Node);
    if limits.kinds == Kinds::DirectoriesAndFiles {
        return tree.boxed();
    }
    let symlink = target().prop_map(|target| What::Node(NodeKind::Symlink { target }));
    let hard_link = any::<Index>().prop_map(|to| What::HardLink { to });
    let special = select(vec![NodeKind::Fifo, NodeKind::Socket]).prop_map(What::Node);
    prop_oneof![9 => tree, 2 => symlink, 3 => hard_link, 1 => special].boxed()
}

/// Targets that exist often enough, loop, or lead nowhere.
fn target() -> impl Strategy<Value = Vec<u8>> {
    let way = select(vec![
        &b"."[..],
        b"..",
        b"../..",
        b"../../a",
        b"a",
        b"./a/b",
        b"/nowhere",
    ])
    .prop_map(<[u8]>::to_vec);
    // XFS takes no more than 1,024 bytes.
    let long = (1..=10_usize).prop_map(|times| b"./".repeat(times * 50));
    prop_oneof![6 => way, 3 => name(), 1 => long]
}

fn mtime() -> impl Strategy<Value = Option<Timestamp>> {
    // What ext4, XFS, btrfs and tmpfs all keep exactly: 1901 to 2446.
    let time = (-2_147_483_648_i64..=9_000_000_000, 0..1_000_000_000_u32);
    prop::option::weighted(
        0.3,
        time.prop_map(|(secs, nanos)| Timestamp { secs, nanos }),
    )
}

fn build(steps: &[Step], limits: Limits) -> Model {
    let mut model = Model::new();
    let mut directories: Vec<(NodeId, usize)> = vec![(Model::ROOT, 0)];
    let mut others: Vec<NodeId> = Vec::new();
    for step in steps {
        let (parent, depth) = directories[step.directory.index(directories.len())];
        let kind = match &step.what {
            What::Node(NodeKind::Directory) if depth == limits.depth_max => continue,
            What::Node(kind) => kind.clone(),
            What::HardLink { .. } if others.is_empty() => continue,
            What::HardLink { to } => NodeKind::HardLink {
                to: others[to.index(others.len())],
            },
        };
        let is_directory = kind == NodeKind::Directory;
        // The name may be taken by an earlier step.
        let Ok(id) = model.add(parent, &step.name, kind) else {
            continue;
        };
        if is_directory {
            directories.push((id, depth + 1));
        } else {
            others.push(id);
        }
        if let Some(mtime) = step.mtime {
            model.set_mtime(id, mtime);
        }
    }
    model
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::test_runner::{TestCaseError, TestError};

    use super::*;
    use crate::text;

    proptest! {
        #[test]
        fn names_are_possible(name in name()) {
            prop_assert!(is_possible_name(&name));
        }

        #[test]
        fn trees_keep_their_limits_and_their_text_form(model in model()) {
            prop_assert!(model.nodes().len() <= 61);
            prop_assert_eq!(&text::parse(&text::format(&model)).unwrap(), &model);
        }

        #[test]
        fn depth_is_limited(model in models(Limits { depth_max: 2, ..Limits::default() })) {
            for (path, _) in model.entries() {
                prop_assert!(path.iter().filter(|byte| **byte == b'/').count() <= 2);
            }
        }

        #[test]
        fn kinds_are_limited(
            model in models(Limits { kinds: Kinds::DirectoriesAndFiles, ..Limits::default() }),
        ) {
            let totals = model.totals();
            prop_assert_eq!(totals.symlinks + totals.others + totals.extra_hard_links, 0);
        }
    }

    #[test]
    fn everything_a_tree_can_have_comes_up() {
        let seen: [Cell<u32>; 6] = Default::default();
        let count = |cell: &Cell<u32>, yes: bool| cell.set(cell.get() + u32::from(yes));
        let mut runner = TestRunner::deterministic();
        let outcome = runner.run(&model(), |model| {
            let totals = model.totals();
            let entries = model.entries();
            count(&seen[0], totals.symlinks > 0);
            count(&seen[1], totals.extra_hard_links > 0);
            count(&seen[2], totals.others > 0);
            let depth = |path: &[u8]| path.iter().filter(|byte| **byte == b'/').count();
            count(&seen[3], entries.iter().any(|(path, _)| depth(path) > 2));
            count(
                &seen[4],
                entries
                    .iter()
                    .any(|(path, _)| std::str::from_utf8(path).is_err()),
            );
            count(
                &seen[5],
                model.nodes().any(|(_, node)| node.name.len() >= 240),
            );
            Ok(())
        });
        assert!(outcome.is_ok());
        assert!(
            seen.iter().all(|cell| cell.get() > 128),
            "{seen:?} of 256 trees"
        );
    }

    #[test]
    fn the_seed_decides() {
        let tree = |seed| of_seed(&model(), seed);
        assert_eq!(tree(1), tree(1));
        assert_ne!(tree(1), tree(2));
    }

    #[test]
    fn failures_shrink_to_what_matters() {
        let config = Config {
            failure_persistence: None,
            ..Config::default()
        };
        let mut runner =
            TestRunner::new_with_rng(config, TestRunner::deterministic().rng().clone());
        let outcome = runner.run(&model(), |model| match model.totals().extra_hard_links {
            0 => Ok(()),
            _ => Err(TestCaseError::fail("a hard link")),
        });
        let Err(TestError::Fail(_, smallest)) = outcome else {
            panic!("no tree had a hard link")
        };
        // The root, a file and its second name.
        assert_eq!(smallest.nodes().len(), 3, "{smallest:?}");
    }
}
