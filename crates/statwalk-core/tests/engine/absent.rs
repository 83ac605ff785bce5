// SPDX-License-Identifier: MIT OR Apache-2.0

//! A field that a scan does not read is absent, never zero.

use statwalk_core::{Fields, Scan, Totals};
use statwalk_testkit::trees;

use crate::harness::{THREADS, made, sizes};

/// A caller counted types and printed "0 bytes" for a tree of 100 files: the sums were
/// zero, as in an empty tree.
#[test]
fn a_scan_without_sizes_has_no_sums_of_bytes() {
    let (_scratch, dir) = made(&trees::hard_links());
    let roots = [dir.clone(), dir.join("missing")];
    for threads in THREADS {
        let scan = Scan::of(&roots).threads(threads);
        for sink in [Totals::new().without_sizes(), Totals::new().without_types()] {
            let running = scan.start(&sink).unwrap();
            running.wait();
            running.peek(|state| assert!(state.roots().iter().all(|root| root.sizes.is_none())));
            assert_eq!(running.progress().allocated_bytes, None);
            let totals = running.finish().output;
            assert!(totals[0].entries > 1 && totals[0].sizes.is_none());
            assert!(totals[1].entries == 0 && totals[1].sizes.is_none());
        }
        // Zero is the sum of nothing, where sizes are read.
        let running = scan.start(Totals::new()).unwrap();
        running.wait();
        assert!(running.progress().allocated_bytes > Some(0));
        let totals = running.finish().output;
        assert!(sizes(&totals[0]).extra_hard_links > 0);
        assert_eq!(totals[1].sizes, Some(Default::default()));
    }
}

/// A filter by size makes the scan read sizes. The sink still sums none.
#[test]
fn a_filter_by_size_brings_no_sums() {
    let (_scratch, dir) = made(&trees::hard_links());
    let sink = Totals::new()
        .without_sizes()
        .with_filter(Fields::SIZE | Fields::ALLOCATED, |_, entry| {
            entry.attributes.size_bytes() > Some(0)
        });
    let totals = Scan::new(&dir).run(&sink).unwrap().output;
    assert!(totals[0].entries > 0 && totals[0].sizes.is_none());
}
