// SPDX-License-Identifier: MIT OR Apache-2.0

//! Overlays of random layers: whiteouts, opaque directories, copies and copies of
//! attributes alone. The scan agrees with find and du, and `df` with df.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use statwalk_testkit::mounts::{self, FileSystem, Mounted};
use statwalk_testkit::{Random, Scratch, Skipped, or_skip};

use crate::program::{self, command, statwalk};
use crate::sound::faults_of;
use statwalk_testkit::attack::{Attack, Round};

const NAMES: u64 = 6;
const CHANGES: u64 = 60;
const OPTIONS: [&str; 3] = ["", ",metacopy=on", ",redirect_dir=on,metacopy=on"];

fn some_path(at: &Path, random: &mut Random) -> PathBuf {
    let depth = 1 + random.below(3);
    (0..depth).fold(at.to_owned(), |path, _| {
        path.join(random.below(NAMES).to_string())
    })
}

/// One change; on an overlay it makes whiteouts, opaque directories and copies. Some
/// fail, because the path has no parent or another type.
fn change(at: &Path, random: &mut Random) {
    let path = some_path(at, random);
    let length = random.below(20_000) as usize;
    match random.below(10) {
        0..=2 => _ = fs::create_dir_all(&path),
        3..=5 => _ = fs::write(&path, vec![3; length]),
        6 => _ = fs::remove_file(&path),
        7 => {
            // A directory that is made anew in its place is opaque.
            if fs::remove_dir_all(&path).is_ok() && random.one_in(2) {
                fs::create_dir(&path).unwrap();
            }
        }
        8 => _ = fs::set_permissions(&path, Permissions::from_mode(0o750)),
        _ => _ = fs::rename(&path, some_path(at, random)),
    }
}

fn words_of(program: &str, arguments: &[&str], at: &Path) -> Vec<u64> {
    let output = command(program).args(arguments).arg(at).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_ascii_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

fn check(round: &mut Round, at: &Path) {
    for source in ["posix", "auto"] {
        let threads = *round.random.pick(&["-j1", "-j2", "-j4"]);
        let flags = ["--json", "-s", "--source", source, threads];
        let ended = program::run(statwalk().args(flags).arg(at));
        if !ended.check_end(round, &[0]) {
            return;
        }
        let document = ended.json().unwrap_or_default();
        let mut faults = faults_of(&document, ended.code());
        let field = |name: &str| document["roots"][0][name].as_u64();
        let found = (field("entries"), field("allocated_bytes"));
        let mut find = command("find");
        let entries = find.arg(at).args(["-printf", "x"]).output().unwrap();
        let entries = entries.stdout.len() as u64;
        let bytes = words_of("du", &["-s", "-B1"], at);
        if found != (Some(entries), bytes.first().copied()) {
            faults.push(format!("{found:?}; find {entries}, du {bytes:?}"));
        }
        round.check(faults.is_empty(), || {
            format!("{}: {}", faults.join(", "), ended.told())
        });
    }
    let ended = program::run(statwalk().args(["df", "--json"]).arg(at));
    if !ended.check_end(round, &[0]) {
        return;
    }
    let document = ended.json().unwrap_or_default();
    let account = &document["file_systems"][0];
    let field = |name: &str| account[name].as_u64().unwrap_or(u64::MAX);
    let found = vec![field("total_bytes"), field("used_bytes")];
    let expected = words_of("df", &["-B1", "--output=size,used"], at);
    let parts = account["parts"].as_array().into_iter().flatten();
    let sum: i64 = parts.filter_map(|part| part["bytes"].as_i64()).sum();
    let is_right = found == expected && Some(sum) == account["used_bytes"].as_i64();
    round.check(is_right, || {
        format!("df {expected:?}, sum {sum}: {}", ended.told())
    });
}

#[test]
fn layers_are_seen_as_one_tree() {
    let scratch = Scratch::new().unwrap();
    let below = scratch.subdirectory("below").unwrap();
    // Nobody else writes to it, so that df and `df` see the same.
    let ground = or_skip!(FileSystem::Ext4.mount(&below));
    let attack = Attack {
        kind: "overlay",
        rounds_small: 9,
        checks_least: 3,
    };
    attack.run(|round| {
        let options = *round.in_turn(&OPTIONS);
        let home = ground.path().join(round.seed.to_string());
        let dir = |name: &str| {
            let path = home.join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let layers: Vec<PathBuf> = (0..3)
            .map(|number| dir(&format!("layer-{number}")))
            .collect();
        for _ in 0..CHANGES {
            change(&layers[0], &mut round.random);
        }
        let at = dir("at");
        // What the first mount writes is a lower layer of the second one.
        for upper in 1..layers.len() {
            let lower: Vec<&Path> = layers[..upper].iter().rev().map(PathBuf::as_path).collect();
            let work = dir(&format!("work-{upper}"));
            let mounted = mounts::overlay_with(&at, &lower, &layers[upper], &work, options);
            let mounted: Result<Mounted, Skipped> = mounted;
            let mounted = match mounted {
                Ok(mounted) => mounted,
                Err(skipped) => return skipped.report(),
            };
            for _ in 0..CHANGES {
                change(&at, &mut round.random);
            }
            mounted.settle().unwrap();
            ground.settle().unwrap();
            check(round, &at);
        }
        fs::remove_dir_all(&home).unwrap();
    });
}
