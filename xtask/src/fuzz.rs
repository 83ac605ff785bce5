// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the fuzz targets for a while each, where this machine can.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::step::Step;

/// All targets together take three minutes then.
pub(crate) const SECONDS_EACH: u32 = 15;

/// The folder of cargo-fuzz's corpora, which git ignores.
const CORPUS: &str = "fuzz/corpus";

/// Features of the images that `ext4_volume` begins with, so that it need not
/// find a magic number by chance.
const SEEDS: [&str; 5] = [
    "^metadata_csum",
    "inline_data",
    "^extent,^64bit",
    "meta_bg,^resize_inode",
    "^filetype",
];

/// Runs every target for so many seconds; all of them, also where one fails.
pub(crate) fn fuzz(seconds_each: u32) -> Result<(), String> {
    if let Some(missing) = missing() {
        println!("skipped: needs {missing}");
        return Ok(());
    }
    let targets = targets()?;
    // Apart from the runs, whose time is bounded and the compiler's is not.
    Step::nightly(&["fuzz", "build"]).run()?;
    if let Err(reason) = seed() {
        println!("xtask: fuzzing begins with nothing: {reason}");
    }
    let time = format!("-max_total_time={seconds_each}");
    let mut failed = Vec::new();
    for target in &targets {
        let run = ["fuzz", "run", target, "--", &time, "-verbosity=0"];
        if let Err(error) = Step::nightly(&run).run() {
            failed.push(error);
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("\nxtask: ")),
    }
}

/// The missing tools, and the commands that install them.
fn missing() -> Option<&'static str> {
    let answers = |arguments: &[&str]| {
        Command::new("cargo")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if !answers(&["+nightly", "--version"]) {
        return Some("a nightly compiler (rustup toolchain install nightly)");
    }
    if !answers(&["+nightly", "fuzz", "--version"]) {
        return Some("cargo-fuzz (cargo install --locked cargo-fuzz)");
    }
    None
}

fn targets() -> Result<Vec<String>, String> {
    let folder = "fuzz/fuzz_targets";
    let files = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut targets: Vec<String> = files
        .filter_map(Result::ok)
        .filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    targets.sort();
    Ok(targets)
}

/// Makes small images, and takes the superblocks and descriptors out of them.
fn seed() -> Result<(), String> {
    let told = |at: &Path, error: std::io::Error| format!("{}: {error}", at.display());
    let corpus = Path::new(CORPUS);
    let tree = corpus.join("tree");
    fs::create_dir_all(tree.join("a/b")).map_err(|error| told(&tree, error))?;
    fs::write(tree.join("a/b/file"), []).map_err(|error| told(&tree, error))?;
    for features in SEEDS {
        let place = |target: &str| corpus.join(target).join(features);
        for target in ["ext4_volume", "ext4_superblock", "ext4_group_descriptor"] {
            let folder = corpus.join(target);
            fs::create_dir_all(&folder).map_err(|error| told(&folder, error))?;
        }
        let image = place("ext4_volume");
        let made = Command::new("mke2fs")
            .args(["-q", "-F", "-t", "ext4", "-b", "1024", "-N", "32"])
            .args(["-O", &format!("^has_journal,{features}"), "-d"])
            .args([&tree, &image])
            .arg("96k")
            .stdout(Stdio::null())
            .status();
        match made {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("mke2fs: {status}")),
            Err(error) => return Err(format!("mke2fs: {error}")),
        }
        let bytes = fs::read(&image).map_err(|error| told(&image, error))?;
        // The descriptors lie in the block behind the superblock's.
        for (target, length) in [("ext4_superblock", 1024), ("ext4_group_descriptor", 1088)] {
            let to = place(target);
            let part = bytes.get(1024..1024 + length).unwrap_or_default();
            fs::write(&to, part).map_err(|error| told(&to, error))?;
        }
    }
    Ok(())
}
