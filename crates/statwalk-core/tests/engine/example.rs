// SPDX-License-Identifier: MIT OR Apache-2.0

//! The sink that readers copy first.

use statwalk_core::{MemoryEntry, MemoryTree, Scan};

#[allow(dead_code, unreachable_pub, reason = "it is a program of its own")]
#[path = "../../examples/custom_sink.rs"]
mod custom_sink;

/// The example took the fullest batch for the fullest directory. Of two large ones it
/// named the first, and as its count the size of a batch.
#[test]
fn the_example_counts_a_directory_that_comes_in_several_batches() {
    let mut tree = MemoryTree::new();
    for (dir, count) in [("t/a", 66_000), ("t/b", 70_000), ("t/c", 10)] {
        for number in 0..count {
            let file = format!("{dir}/{number}");
            tree.insert(file, MemoryEntry::file(0)).unwrap();
        }
    }
    for threads in [1, 4] {
        let scan = Scan::new("/t").threads(threads);
        let outcome = scan
            .run_in_memory(tree.clone(), &custom_sink::Fullest)
            .unwrap();
        assert_eq!(outcome.output, (70_000, b"/t/b".to_vec()));
    }
}
