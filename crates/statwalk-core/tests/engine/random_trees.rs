// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random trees: model, oracle and engine agree, whatever the number of workers.

use proptest::prelude::*;
use statwalk_core::{Scan, Totals};
use statwalk_testkit::naive::Options;
use statwalk_testkit::strategy;

use super::harness::agreement::{check, counts};
use super::harness::answer::{answer, scan_of};
use super::harness::scratch_in_memory;

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scans_agree_with_model_and_oracle(
        tree in strategy::model(),
        threads in 1..9_usize,
        count_links in any::<bool>(),
    ) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let options = Options { count_links, ..Options::default() };
        check(&[&dir], &options, &[threads]);

        let scan = Scan::new(&dir).threads(threads);
        let outcome = scan.run(&Totals::new()).unwrap();
        let found = counts(&outcome.output[0], &outcome.report.roots[0]);
        prop_assert_eq!(found.totals(), tree.totals());
    }

    #[test]
    fn the_number_of_workers_changes_nothing(tree in strategy::model(), seed in 2..16_usize) {
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let scan = scan_of(&[&dir], &Options::default());
        let alone = answer(&scan.clone().threads(1)).0;
        for _ in 0..3 {
            prop_assert_eq!(&answer(&scan.clone().threads(seed)).0, &alone);
        }
    }

    /// Any entries of the tree as roots, in any order, some of them twice.
    #[test]
    fn any_entries_as_roots_agree_with_the_oracle(
        tree in strategy::model(),
        chosen in proptest::collection::vec(any::<proptest::sample::Index>(), 1..5),
        threads in 1..4_usize,
    ) {
        use std::os::unix::ffi::OsStrExt;
        let scratch = scratch_in_memory();
        let dir = scratch.path().join("t");
        tree.materialise(&dir).unwrap();
        let entries = tree.entries();
        let roots: Vec<_> = (chosen.iter())
            .map(|index| &entries[index.index(entries.len())].0)
            .map(|path| match path.is_empty() {
                true => dir.clone(),
                false => dir.join(std::ffi::OsStr::from_bytes(path)),
            })
            .collect();
        check(&roots, &Options::default(), &[threads]);
    }
}
