// SPDX-License-Identifier: MIT OR Apache-2.0

//! Layers that must not name each other.

use std::path::Path;

/// Names that a folder or a file must not use: the arrows of ARCHITECTURE.md.
const LAYERS: &[(&str, &[&str])] = &[
    // The data at the bottom.
    ("crates/statwalk-core/src/entry.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/batch.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/attribute_columns.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/bits.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/columns.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/directory.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/handle.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/dir_handle.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/failure.rs", ABOVE_DATA),
    ("crates/statwalk-core/src/unfinished.rs", ABOVE_DATA),
    (
        "crates/statwalk-core/src/linux/decode",
        &[
            "crate::listing",
            "crate::source",
            "crate::system",
            "crate::order",
            "crate::sink",
            "rustix",
            "mod ext4",
            "std::fs",
            "std::io",
        ],
    ),
    // The core asks sources by their traits, and makes no system call.
    (
        "crates/statwalk-core/src/listing",
        &[
            "crate::source",
            "crate::order",
            "crate::sink",
            "crate::linux",
            "crate::system",
            "rustix",
            // It decides by a kind of `Failure`.
            "Errno",
            "std::fs",
            "std::os",
        ],
    ),
    // The boundary, and what it is made of: who writes a source reads these files alone.
    (
        "crates/statwalk-core/src/listing/in_place.rs",
        ASKS_A_SOURCE,
    ),
    (
        "crates/statwalk-core/src/listing/change_stamp.rs",
        ASKS_A_SOURCE,
    ),
    ("crates/statwalk-core/src/listing/options.rs", ASKS_A_SOURCE),
    ("crates/statwalk-core/src/listing/listed.rs", ASKS_A_SOURCE),
    (
        "crates/statwalk-core/src/listing/contents.rs",
        ASKS_A_SOURCE,
    ),
    (
        "crates/statwalk-core/src/listing/link_stop.rs",
        ASKS_A_SOURCE,
    ),
    (
        "crates/statwalk-core/src/listing/open_dir.rs",
        ASKS_A_SOURCE,
    ),
    ("crates/statwalk-core/src/listing/source.rs", ABOVE_BOUNDARY),
    (
        "crates/statwalk-core/src/listing/in_place.rs",
        ABOVE_BOUNDARY,
    ),
    (
        "crates/statwalk-core/src/listing/change_stamp.rs",
        ABOVE_BOUNDARY,
    ),
    (
        "crates/statwalk-core/src/listing/options.rs",
        ABOVE_BOUNDARY,
    ),
    ("crates/statwalk-core/src/listing/listed.rs", ABOVE_BOUNDARY),
    (
        "crates/statwalk-core/src/listing/contents.rs",
        ABOVE_BOUNDARY,
    ),
    (
        "crates/statwalk-core/src/listing/link_stop.rs",
        ABOVE_BOUNDARY,
    ),
    (
        "crates/statwalk-core/src/listing/open_dir.rs",
        ABOVE_BOUNDARY,
    ),
    // The table of volumes names the readers in place, and they do not name it.
    (
        "crates/statwalk-core/src/linux/volume.rs",
        &["linux::volumes", "linux::ext4", "linux::btrfs"],
    ),
    // An order knows listers and no source.
    (
        "crates/statwalk-core/src/order",
        &[
            "crate::source",
            "crate::linux",
            "crate::system",
            "std::fs",
            // A simulation stands in the place of `crate::threads`.
            "std::thread",
            "Instant::now",
        ],
    ),
    (
        "crates/statwalk-core/src/sink",
        &[
            "crate::listing",
            "crate::source",
            "crate::linux",
            "crate::order",
            "rustix",
        ],
    ),
    // Sources fill the types of the core, and never name each other.
    (
        "crates/statwalk-core/src/source",
        &[
            "crate::order",
            "crate::sink",
            "listing::Lister",
            "listing::{Lister",
            "listing::outlet",
        ],
    ),
    (
        "crates/statwalk-core/src/linux/posix",
        &[
            "linux::ext4",
            "linux::btrfs",
            "source::memory",
            "crate::order",
            "crate::sink",
            "listing::Lister",
            "listing::{Lister",
            "listing::outlet",
        ],
    ),
    (
        "crates/statwalk-core/src/linux/ext4",
        &[
            "linux::posix",
            "linux::btrfs",
            "source::memory",
            "linux::volumes",
            "crate::order",
            "crate::sink",
            "listing::Lister",
            "listing::{Lister",
            "listing::outlet",
        ],
    ),
    (
        "crates/statwalk-core/src/linux/btrfs",
        &[
            "linux::posix",
            "linux::ext4",
            "source::memory",
            "linux::volumes",
            "crate::order",
            "crate::sink",
            "listing::Lister",
            "listing::{Lister",
            "listing::outlet",
        ],
    ),
    (
        "crates/statwalk-core/src/source/memory",
        &[
            "linux::posix",
            "linux::ext4",
            "linux::btrfs",
            "rustix",
            "std::fs",
        ],
    ),
    // A reader of bytes that is useful without the engine. The space keeps
    // `forbid(unsafe_code)` out of it.
    (
        "crates/statwalk-ext4/src",
        &[
            "statwalk_core",
            "statwalk_sys",
            "rustix",
            "libc",
            "std::fs",
            "std::io",
            "unsafe ",
        ],
    ),
    (
        "crates/statwalk-ext4/Cargo.toml",
        &["statwalk-core", "statwalk-sys", "libc"],
    ),
    // A report is a function of its arguments.
    (
        "crates/statwalk-report/src",
        &[
            "statwalk_core",
            "statwalk_sys",
            "rustix",
            "std::fs",
            "std::io",
            "std::env",
            "std::process",
            "Instant",
            "SystemTime",
            "Timestamp::now",
        ],
    ),
    // The rooms of the program: arrows point down, and only the upper ones ask the machine.
    ("crates/statwalk/src/failure.rs", BOTTOM_OF_THE_PROGRAM),
    ("crates/statwalk/src/exit_status.rs", BOTTOM_OF_THE_PROGRAM),
    (
        "crates/statwalk/src/system",
        &[
            "crate::answer",
            "crate::browse",
            "crate::commands",
            "crate::output",
            "crate::request",
            "crate::watch",
        ],
    ),
    (
        "crates/statwalk/src/request",
        &[
            "crate::browse",
            "crate::commands",
            "crate::output",
            "crate::watch",
            "clock::",
            "screen::of_",
            "screen::stdout",
            "signals",
            "statvfs",
            "used_inodes::elsewhere",
            "used_inodes::used",
        ],
    ),
    (
        "crates/statwalk/src/watch",
        &[
            "crate::answer",
            "crate::browse",
            "crate::commands",
            "crate::output",
        ],
    ),
    (
        "crates/statwalk/src/output",
        &["crate::browse", "crate::commands", "crate::watch"],
    ),
    (
        "crates/statwalk/src/report",
        &["crate::browse", "crate::commands", "crate::watch"],
    ),
    // An answer is a value, and what prints it asks nobody.
    ("crates/statwalk/src/answer/about.rs", ASKS_THE_MACHINE),
    (
        "crates/statwalk/src/answer/filter_texts.rs",
        ASKS_THE_MACHINE,
    ),
    ("crates/statwalk/src/answer/plan_text.rs", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/ending.rs", ASKS_THE_MACHINE),
    (
        "crates/statwalk/src/output/error_summary.rs",
        ASKS_THE_MACHINE,
    ),
    ("crates/statwalk/src/output/explain.rs", ASKS_THE_MACHINE),
    (
        "crates/statwalk/src/output/found_fields.rs",
        ASKS_THE_MACHINE,
    ),
    (
        "crates/statwalk/src/output/group_label.rs",
        ASKS_THE_MACHINE,
    ),
    (
        "crates/statwalk/src/output/groups_table.rs",
        ASKS_THE_MACHINE,
    ),
    ("crates/statwalk/src/output/json", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/own_names.rs", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/plain.rs", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/printer.rs", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/rows.rs", ASKS_THE_MACHINE),
    ("crates/statwalk/src/output/space_list.rs", ASKS_THE_MACHINE),
    (
        "crates/statwalk/src/output/space_table.rs",
        ASKS_THE_MACHINE,
    ),
    (
        "crates/statwalk/src/commands/summary/answer.rs",
        ASKS_THE_MACHINE,
    ),
    (
        "crates/statwalk/src/output/tree_picture.rs",
        ASKS_THE_MACHINE,
    ),
    // The browser is a state; its shell has the terminal and the clock.
    (
        "crates/statwalk-browse/src",
        &[
            "statwalk_core",
            "statwalk_sys",
            "crossterm",
            "rustix",
            "std::fs",
            "std::io",
            "std::env",
            "std::thread",
            "std::process",
            "Instant",
            "SystemTime",
        ],
    ),
    // Removals need no scan and no screen. The space keeps `forbid(unsafe_code)` out of it.
    (
        "crates/statwalk-remove/src",
        &[
            "statwalk_core",
            "statwalk_ext4",
            "statwalk_browse",
            "println!",
            "env::var",
            "unsafe ",
        ],
    ),
    (
        "crates/statwalk-remove/Cargo.toml",
        &["statwalk-core", "statwalk-ext4", "statwalk-browse", "libc"],
    ),
    (
        "crates/statwalk-ext4/examples",
        &["statwalk_core", "statwalk_sys", "rustix", "unsafe "],
    ),
];

const ABOVE_DATA: &[&str] = &[
    "crate::listing",
    "crate::source",
    "crate::order",
    "crate::sink",
    "rustix",
];

/// What asks a source, and what works for a worker.
const ABOVE_BOUNDARY: &[&str] = &[
    "super::context",
    "super::outlet",
    "super::backlog",
    "super::events",
    "super::pace",
    "super::job",
    "super::lister",
    "super::Lister",
    "super::shared",
    "super::unknown",
    "super::attributes",
    "super::delivery",
    "super::finished",
    "crate::listing",
];

/// The questions to a source: the parts of the boundary do not ask it.
const ASKS_A_SOURCE: &[&str] = &["super::source", "DirectorySource"];

const BOTTOM_OF_THE_PROGRAM: &[&str] = &[
    "crate::answer",
    "crate::browse",
    "crate::commands",
    "crate::output",
    "crate::request",
    "crate::watch",
    "signals",
];

const ASKS_THE_MACHINE: &[&str] = &[
    "Request,",
    "Request}",
    "Request;",
    "clock::",
    "OwnersHere",
    "accounts",
    "owners::",
    "signals::",
    "crate::watch",
    "isatty",
    "tcgetwinsize",
    "statvfs",
    "std::fs",
    "env::",
    "Instant",
    "SystemTime",
    "screen::of_",
    "screen::stderr",
];

/// Names that only one place may name, beside the one that has them.
const ADAPTERS: [(&str, &[&str]); 4] = [
    // The rest of the engine calls it `system`.
    ("crate::linux", &["crates/statwalk-core/src/linux"]),
    (
        "statwalk_ext4",
        &[
            "crates/statwalk-ext4",
            "crates/statwalk-core/src/linux/ext4",
        ],
    ),
    (
        "linux::ext4",
        &[
            "crates/statwalk-core/src/linux/ext4",
            "crates/statwalk-core/src/linux/volumes.rs",
            "crates/statwalk-core/src/linux/space/own_space.rs",
        ],
    ),
    (
        "linux::posix",
        &[
            "crates/statwalk-core/src/linux/posix",
            "crates/statwalk-core/src/linux/native.rs",
        ],
    ),
];

pub(super) fn check(file: &Path, text: &str, faults: &mut Vec<String>) {
    if is_test(file) {
        return;
    }
    for (layer, forbidden) in LAYERS {
        if file.starts_with(layer) {
            for name in *forbidden {
                check_name(file, text, name, faults);
            }
        }
    }
    let is_rust = file.extension().is_some_and(|extension| extension == "rs");
    for (name, places) in ADAPTERS {
        let may_name = places.iter().any(|place| file.starts_with(place));
        if is_rust && file.starts_with("crates") && !may_name {
            check_name(file, text, name, faults);
        }
    }
}

fn check_name(file: &Path, text: &str, name: &str, faults: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        if line.contains(name) && !line.trim_start().starts_with("//") {
            faults.push(format!("{}:{}: names {name}", file.display(), number + 1));
        }
    }
}

/// Tests of a layer may name the others, to compare with them.
fn is_test(file: &Path) -> bool {
    let mut parts = file.components();
    parts.any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs")
}
