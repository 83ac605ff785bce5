// SPDX-License-Identifier: MIT OR Apache-2.0

//! Any bytes as the manifest of a snapshot.

#![no_main]

use libfuzzer_sys::fuzz_target;
use statwalk_snapshot::Manifest;

fuzz_target!(|bytes: &[u8]| {
    match Manifest::from_json(bytes) {
        // A manifest that was read is written and read again.
        Ok(manifest) => {
            let again = Manifest::from_json(&manifest.to_json());
            assert_eq!(again.expect("it was read before"), manifest);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
