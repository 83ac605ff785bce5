// SPDX-License-Identifier: MIT OR Apache-2.0

//! The same trees as GNU du and find see them: /usr, and the named trees.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use statwalk_core::{LinkPolicy, MountCrossing, RootTotals, Scan, Totals};
use statwalk_testkit::{Scratch, Skipped, or_skip, settle, trees};

use super::harness::listing::Listing;
use crate::harness::sizes;

fn output(command: &mut Command, program: &'static str) -> Result<Vec<u8>, Skipped> {
    let output = command.output().map_err(|_| Skipped::needs(program))?;
    if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("unknown") {
        return Err(Skipped::needs(format!("GNU {program}")));
    }
    assert!(output.status.success(), "{command:?}: {output:?}");
    Ok(output.stdout)
}

/// What `du -s` says, in bytes.
fn du(options: &[&str], dir: &Path) -> Result<u128, Skipped> {
    let line = output(
        Command::new("du")
            .args(["-s", "-B1"])
            .args(options)
            .arg(dir),
        "du",
    )?;
    let number = String::from_utf8_lossy(&line);
    Ok(number.split('\t').next().unwrap().parse().unwrap())
}

fn scan(dir: &Path, links: LinkPolicy, crossing: MountCrossing) -> RootTotals {
    let scan = Scan::new(dir).links(links).crossing(crossing);
    let outcome = scan.run(&Totals::new()).unwrap();
    assert!(outcome.report.is_complete(), "{:?}", outcome.report);
    outcome.output[0]
}

/// Compares with du and find; `listed` says whether every name is compared too.
fn compare(dir: &Path, listed: bool) -> Result<(), Skipped> {
    use LinkPolicy::{Each, Once};
    use MountCrossing::{Enter, Stay};
    let once = scan(dir, Once, Enter);
    assert_eq!(sizes(&once).allocated_bytes, du(&[], dir)?, "du of {dir:?}");
    let each = scan(dir, Each, Enter);
    assert_eq!(
        sizes(&each).allocated_bytes,
        du(&["-l"], dir)?,
        "du -l of {dir:?}"
    );
    let stay = scan(dir, Once, Stay);
    assert_eq!(
        sizes(&stay).allocated_bytes,
        du(&["-x"], dir)?,
        "du -x of {dir:?}"
    );

    // `%y` is the type, `%s` the size, `%D %i` the inode.
    let mut find = Command::new("find");
    let lines = output(find.arg(dir).args(["-printf", "%y %s %D:%i\\n"]), "find")?;
    let mut found = RootTotals::default();
    let mut sums = sizes(&once);
    (sums.file_size_bytes, sums.apparent_bytes) = (0, 0);
    let (mut seen, mut extra) = (BTreeSet::new(), 0);
    for line in String::from_utf8_lossy(&lines).lines() {
        let words: Vec<_> = line.split(' ').collect();
        found.entries += 1;
        *match words[0] {
            "f" => &mut found.files,
            "d" => &mut found.dirs,
            "l" => &mut found.symlinks,
            _ => &mut found.others,
        } += 1;
        let size_bytes: u128 = words[1].parse().unwrap();
        if words[0] != "d" && !seen.insert(words[2].to_owned()) {
            extra += 1;
            continue;
        }
        if words[0] == "f" {
            sums.file_size_bytes += size_bytes;
        }
        if words[0] == "f" || words[0] == "l" {
            sums.apparent_bytes += size_bytes;
        }
    }
    sums.extra_hard_links = extra;
    found.sizes = Some(sums);
    assert_eq!(once, found, "find {dir:?}");
    if listed {
        let mut find = Command::new("find");
        let names = output(find.arg(dir).args(["-printf", "%p\\0"]), "find")?;
        let names: BTreeSet<_> = names
            .split(|&byte| byte == 0)
            .filter(|n| !n.is_empty())
            .collect();
        let listing = Scan::new(dir).run(&Listing::of_names()).unwrap().output;
        assert_eq!(listing.len(), names.len(), "{dir:?}");
        for entry in &listing {
            assert!(names.contains(entry.path.as_slice()), "{entry:?}");
        }
    }
    Ok(())
}

#[test]
fn named_trees_agree_with_du_and_find() {
    let scratch = Scratch::new().unwrap();
    for (name, tree) in trees::named() {
        let dir = scratch.path().join(name);
        tree.materialise(&dir).unwrap();
        settle(&dir).unwrap();
        or_skip!(compare(&dir, true));
    }
}

#[test]
fn usr_agrees_with_du_and_find() {
    let usr = Path::new("/usr");
    or_skip!(compare(usr, true));
}
