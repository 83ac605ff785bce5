// SPDX-License-Identifier: MIT OR Apache-2.0

//! The largest entries where many are of one size, so that paths decide.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use statwalk_core::{Largest, Scan, Top, TreeSink, path_order};

use super::harness::scratch_in_memory;

/// Directories whose paths are parts of each other, and come before and after
/// what lies in them: `/` comes before every other byte.
const DIRS: [&str; 9] = [
    "", "a", "a/a", "a/a/a", "a-", "a-/b", "a.b", "b/a", "b/a/a-",
];
/// So many that what is kept is chosen again and again within one.
const FILES_EACH: usize = 500;

/// Files of few sizes, sorted as they are to be listed. Directories differ in what
/// is usual there.
fn fill(top: &Path, sizes: &[u64], most: &[u64]) -> Vec<(u64, Vec<u8>)> {
    let mut all = Vec::new();
    for ((dir, sizes), most) in DIRS.iter().zip(sizes.chunks(FILES_EACH)).zip(most) {
        let dir = match *dir {
            "" => top.to_path_buf(),
            below => top.join(below),
        };
        fs::create_dir_all(&dir).unwrap();
        for (file, size) in sizes.iter().enumerate() {
            let prefix = ["a-", "f", "b", "~"][*size as usize / 16 % 4];
            let path = dir.join(format!("{prefix}{file}"));
            let size_bytes = size % (most + 1);
            File::create(&path).unwrap().set_len(size_bytes).unwrap();
            all.push((size_bytes, path.as_os_str().as_bytes().to_vec()));
        }
    }
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| path_order(&a.1, &b.1)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_equals_the_first_paths_are_kept(
        sizes in vec(0..1_000_u64, DIRS.len() * FILES_EACH),
        most in vec(1..9_u64, DIRS.len()),
    ) {
        let scratch = scratch_in_memory();
        let expected = fill(scratch.path(), &sizes, &most);
        for count in [1, 10, 64, 65, 200, expected.len(), 1000] {
            for threads in [1, 3] {
                let sink = Top::new(count, Largest::Apparent);
                let scan = Scan::new(scratch.path()).threads(threads);
                let found: Vec<_> = (scan.run(&sink).unwrap().output.into_iter())
                    .map(|top| (top.attributes.size_bytes().unwrap(), top.path))
                    .collect();
                let wanted = &expected[..count.min(expected.len())];
                prop_assert_eq!(&found[..], wanted, "{} by {} workers", count, threads);
            }
        }
    }
}

#[test]
fn a_large_file_names_its_directory_in_the_tree() {
    let scratch = scratch_in_memory();
    let sizes = vec![7; DIRS.len() * FILES_EACH];
    fill(scratch.path(), &sizes, &[9; DIRS.len()]);
    let sink = (TreeSink::new(), Top::new(4_000, Largest::Apparent));
    for threads in [1, 3] {
        let scan = Scan::new(scratch.path()).threads(threads);
        let (tree, top) = scan.run(&sink).unwrap().output;
        let mut paths = HashMap::new();
        let mut waiting = vec![tree.root(0).unwrap()];
        while let Some(node) = waiting.pop() {
            paths.insert(node.dir_id().unwrap(), node.path());
            waiting.extend(node.children());
        }
        assert_eq!(top.len(), 4_000);
        for file in top {
            let slash = file.path.iter().rposition(|&byte| byte == b'/').unwrap();
            assert_eq!(paths[&file.dir_id.unwrap()], file.path[..slash]);
        }
    }
}

/// `Top::new(usize::MAX, …)`, for all of them, panicked.
#[test]
fn all_can_be_the_largest() {
    let scratch = scratch_in_memory();
    for file in 0..300 {
        File::create(scratch.path().join(format!("f{file}"))).unwrap();
    }
    for count in [usize::MAX, usize::MAX / 2, usize::MAX / 2 + 1] {
        let top = Scan::new(scratch.path()).run(&Top::new(count, Largest::Apparent));
        assert_eq!(top.unwrap().output.len(), 300);
    }
}
