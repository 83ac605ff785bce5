// SPDX-License-Identifier: MIT OR Apache-2.0

//! The header that is checked in is that of the source.

use std::path::Path;

use statwalk_core::Fields;

const HEADER: &str = "include/statwalk.h";

#[test]
fn the_header_is_that_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let made = without_safety(&String::from_utf8(made).unwrap());
    let path = folder.join(HEADER);
    if std::env::var_os("STATWALK_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == kept,
        "{HEADER} is old; STATWALK_WRITE_HEADER=1 cargo test -p statwalk-c --test header writes it"
    );
}

#[test]
fn every_field_has_its_bit() {
    let header = std::fs::read_to_string(HEADER).unwrap();
    for bit in 0..32 {
        let Some(field) = Fields::from_bits(1 << bit) else {
            continue;
        };
        let name = field.names().next().unwrap().to_uppercase();
        let line = format!("#define SW_{name} (1 << {bit})");
        assert!(header.lines().any(|has| has == line), "{line}");
    }
}

/// Without the sections on safety, which say what every caller in C knows.
fn without_safety(header: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_safety = false;
    for line in header.lines() {
        let is_comment = line.trim_start().starts_with("//");
        if line.trim() == "/// # Safety" {
            is_safety = true;
            if kept.last().is_some_and(|line| line.trim() == "///") {
                kept.pop();
            }
        }
        is_safety &= is_comment;
        if !is_safety {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}
