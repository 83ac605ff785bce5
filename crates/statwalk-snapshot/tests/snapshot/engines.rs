// SPDX-License-Identifier: MIT OR Apache-2.0

//! Other programs read the files: a reader made from `docs/snapshot.md`, and engines for SQL.
//!
//! `STATWALK_PYTHON` names the Python that has the modules. Without it, that of the bindings'
//! tests is taken, or `python3`.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use statwalk_snapshot::{Found, Manifest, Snapshot};
use statwalk_testkit::{Scratch, Skipped, or_skip, trees};

use crate::common::snapshot_of;

/// Runs a program of this folder.
fn python(script: &str, module: &str, arguments: &[&OsStr]) -> Result<String, Skipped> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The environment that `cargo xtask test` makes for the bindings.
    let of_bindings = crate_folder.join("../../bindings/target/venv/bin/python");
    let python = std::env::var_os("STATWALK_PYTHON");
    let python = python.or_else(|| of_bindings.exists().then(|| of_bindings.into()));
    let python = python.unwrap_or_else(|| "python3".into());
    let has_module = Command::new(&python)
        .args(["-c", &format!("import {module}")])
        .output();
    if !has_module.is_ok_and(|output| output.status.success()) {
        return Err(Skipped::needs(format!("{module} for Python")));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(script);
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout).unwrap())
}

fn totals_of(manifest: &Manifest) -> String {
    let counts = manifest.counts;
    format!(
        "{} {} {}\n",
        counts.entries, counts.size_bytes, counts.allocated_bytes
    )
}

/// Trees with odd names, odd times, links, and a directory of several pages. Its names end at
/// borders of pages, which duckdb#7083 was about.
fn tree(root: &Path) {
    fs::create_dir(root).unwrap();
    for (name, model) in [
        ("basic", trees::basic()),
        ("hard_links", trees::hard_links()),
        ("odd_names", trees::odd_names()),
        ("times", trees::times()),
        ("sparse", trees::sparse()),
    ] {
        model.materialise(&root.join(name)).unwrap();
    }
    fs::create_dir(root.join("pages")).unwrap();
    for number in 0..3 * 8192 {
        fs::write(root.join(format!("pages/{number:05}")), "").unwrap();
    }
}

#[test]
fn a_reader_from_the_documentation_agrees() {
    let scratch = Scratch::new().unwrap();
    let (root, at) = (scratch.path().join("tree"), scratch.path().join("store"));
    fs::create_dir(&at).unwrap();
    tree(&root);
    let (path, manifest) = snapshot_of(&root, &at);
    let totals = or_skip!(python("reader.py", "pyarrow", &[path.as_os_str()]));
    assert_eq!(totals, totals_of(&manifest));
    let snapshot = Snapshot::open(&path).unwrap();
    for name in ["", "basic/docs", "odd_names", "pages"] {
        let wanted = root.join(name);
        let found = snapshot
            .find(wanted.as_os_str().as_encoded_bytes())
            .unwrap();
        let Some(Found::Dir(dir)) = found else {
            panic!("{name} is a directory");
        };
        let printed = or_skip!(python(
            "reader.py",
            "pyarrow",
            &[path.as_os_str(), wanted.as_os_str()]
        ));
        let (sums, count) = (dir.sums, dir.entry_count);
        assert_eq!(
            printed,
            format!("{} {} {count}\n", sums.entries, sums.size_bytes)
        );
    }
}

#[test]
fn engines_for_sql_read_every_file() {
    let scratch = Scratch::new().unwrap();
    let (root, at) = (scratch.path().join("tree"), scratch.path().join("store"));
    fs::create_dir(&at).unwrap();
    tree(&root);
    let (path, manifest) = snapshot_of(&root, &at);
    for engine in ["duckdb", "polars", "pyarrow"] {
        match python("engines.py", engine, &[engine.as_ref(), path.as_os_str()]) {
            Ok(totals) => assert_eq!(totals, totals_of(&manifest), "{engine}"),
            Err(skipped) => skipped.report(),
        }
    }
}
