// SPDX-License-Identifier: MIT OR Apache-2.0

//! Layers that must not name each other.

use std::path::Path;

/// Layers of the engine: what a folder must not name.
///
/// `order` never names a file system, `sink` never names a source, the data
/// at the bottom knows neither, and `decode` reads nothing.
const LAYERS: [(&str, &[&str]); 7] = [
    (
        "crates/statwalk-core/src/entry.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/batch.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/directory.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/handle.rs",
        &["crate::source", "crate::order", "crate::sink", "rustix"],
    ),
    (
        "crates/statwalk-core/src/decode",
        &[
            "crate::source",
            "crate::order",
            "crate::sink",
            "rustix",
            "std::fs",
            "std::io",
        ],
    ),
    (
        "crates/statwalk-core/src/sink",
        &["crate::source", "crate::order", "rustix"],
    ),
    (
        "crates/statwalk-core/src/source",
        &["crate::order", "crate::sink"],
    ),
];

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    for (layer, forbidden) in LAYERS {
        // Tests of a layer compare it with what it must not name.
        if !file.starts_with(layer) || file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let named = forbidden.iter().find(|name| line.contains(*name));
            if let Some(name) = named.filter(|_| !line.trim_start().starts_with("//")) {
                faults.push(format!("{}:{}: names {name}", file.display(), number + 1));
            }
        }
    }
}
