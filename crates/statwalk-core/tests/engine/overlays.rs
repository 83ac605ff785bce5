// SPDX-License-Identifier: MIT OR Apache-2.0

//! Overlays beside their layers, as a host of containers has them: each file counts once.
//!
//! `statwalk /` on such a host counted the layers once more for each container, since the
//! scan knew bind mounts alone as second ways to a file. An overlay whose layers were read
//! is left out now. If one of them is unknown, or something in it was not read, the overlay
//! is entered as before, and the report says that its files may count twice.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use statwalk_core::{Exclusions, MountCrossing, Report, RootTotals, Scan, Source, Totals};
use statwalk_testkit::mounts::{self, FileSystem, Mounted, UserSpace, bind};
use statwalk_testkit::naive::{self, Counts, Options};
use statwalk_testkit::{Random, Scratch, Skipped, or_skip, trees};

use super::harness::agreement::counts;
use super::harness::{ENTER, ORDERS, THREADS};

/// Directories for layers and mounts, on a file system of their own: the temporary directory
/// can be on an overlay, which cannot be an upper layer.
struct Home {
    path: PathBuf,
    ground: Mounted,
    _scratch: Scratch,
}

impl Home {
    fn on(file_system: FileSystem) -> Result<Home, Skipped> {
        let scratch = Scratch::new().unwrap();
        let at = scratch.subdirectory("ground").unwrap();
        let ground = file_system.mount(&at)?;
        let path = at.join("home");
        fs::create_dir(&path).unwrap();
        Ok(Home {
            path,
            ground,
            _scratch: scratch,
        })
    }

    fn dir(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// An overlay at `merged` of `lower`, with `upper` above.
    fn overlay(&self) -> Result<Mounted, Skipped> {
        self.overlay_named("merged", &["lower"], "upper")
    }

    fn overlay_named(&self, at: &str, lower: &[&str], upper: &str) -> Result<Mounted, Skipped> {
        let lower: Vec<PathBuf> = lower.iter().map(|name| self.dir(name)).collect();
        let lower: Vec<&Path> = lower.iter().map(PathBuf::as_path).collect();
        let (upper, work) = (self.dir(upper), self.dir(&format!("work of {at}")));
        mounts::overlay_with(&self.dir(at), &lower, &upper, &work, "")
    }

    /// Two layers with files: `lower`, and `upper` above it.
    fn with_layers() -> Result<Home, Skipped> {
        let home = Home::on(FileSystem::Tmpfs)?;
        trees::basic()
            .materialise(&home.path.join("lower"))
            .unwrap();
        fs::write(home.dir("upper").join("added"), [1; 9000]).unwrap();
        Ok(home)
    }
}

/// The counts of a root without the entries of some mount points, which count themselves.
fn without(roots: &[&Path], points: &[&Path]) -> Vec<Counts> {
    let is_point = |path: &[u8]| {
        points
            .iter()
            .any(|point| point.as_os_str().as_bytes() == path)
    };
    let options = Options {
        exclude: Some(&is_point),
        ..ENTER
    };
    let found = naive::scan_with(roots, &options).unwrap();
    let counts = found.roots.iter().map(|root| {
        let mut counts = root.counts;
        counts.entries += counts.excluded;
        counts.dirs += counts.excluded;
        counts.excluded = 0;
        counts
    });
    counts.collect()
}

/// The overlays that were left out, and the mounts that count perhaps twice.
type Told = (u64, u64);

fn told(report: &Report) -> Told {
    let sum = report.sum();
    (sum.overlays_left_out, sum.mounts_perhaps_twice)
}

fn counted(totals: &[RootTotals], report: &Report) -> Vec<Counts> {
    let each = totals.iter().zip(&report.roots);
    each.map(|(totals, root)| counts(totals, root)).collect()
}

/// Runs a scan in all orders and with several numbers of workers.
fn check(scan: &Scan, expected: &[Counts], left_out: Told) {
    for (number, order) in ORDERS.into_iter().enumerate() {
        let threads: &[usize] = match number {
            0 => &THREADS,
            _ => &[3],
        };
        for &threads in threads {
            let scan = scan.clone().order(order).threads(threads);
            let outcome = scan.run(&Totals::new()).unwrap();
            let which = format!("{}, {threads} workers", order.name());
            assert_eq!(
                counted(&outcome.output, &outcome.report),
                expected,
                "{which}"
            );
            assert_eq!(told(&outcome.report), left_out, "{which}");
            assert!(outcome.report.is_complete(), "{which}");
            // Without sizes, directories are not stat'ed for themselves.
            let types = scan.run(&Totals::new().without_sizes()).unwrap();
            let entries: u64 = types.output.iter().map(|totals| totals.entries).sum();
            assert_eq!(
                entries,
                expected.iter().map(|counts| counts.entries).sum::<u64>(),
                "{which}"
            );
            assert_eq!(told(&types.report), left_out, "{which}");
        }
    }
}

/// Expects that an overlay beside its layers is entered, as without all this.
fn check_entered(home: &Home, perhaps_twice: u64) {
    check(
        &Scan::new(&home.path),
        &without(&[&home.path], &[]),
        (0, perhaps_twice),
    );
}

#[test]
fn overlays_beside_their_layers_are_left_out() {
    for file_system in [FileSystem::Tmpfs, FileSystem::Ext4, FileSystem::Btrfs] {
        let home = match Home::on(file_system) {
            Ok(home) => home,
            Err(skipped) => {
                skipped.report();
                continue;
            }
        };
        trees::hard_links()
            .materialise(&home.path.join("base"))
            .unwrap();
        trees::basic().materialise(&home.path.join("app")).unwrap();
        let mut mounted = Vec::new();
        for name in ["a", "merged 2", "z"] {
            let overlay = home.overlay_named(name, &["app", "base"], &format!("upper of {name}"));
            let overlay = or_skip!(overlay);
            fs::write(overlay.path().join("written"), [1; 50_000]).unwrap();
            fs::remove_file(overlay.path().join("alone")).unwrap();
            mounted.push(overlay);
        }
        let part = or_skip!(bind(&home.path.join("a/nested"), &home.dir("part")));
        mounted.push(part);
        mounted.iter().for_each(|mounted| mounted.settle().unwrap());
        home.ground.settle().unwrap();
        let points: Vec<&Path> = mounted.iter().map(Mounted::path).collect();
        let expected = without(&[&home.path], &points);
        for source in [Source::Auto, Source::Posix, Source::Ext4, Source::Btrfs] {
            match (source, file_system) {
                (Source::Ext4, FileSystem::Ext4) | (Source::Btrfs, FileSystem::Btrfs) => {}
                (Source::Auto | Source::Posix, _) => {}
                _ => continue,
            }
            check(&Scan::new(&home.path).source(source), &expected, (4, 0));
        }
        // By itself, an overlay has all its files.
        for point in &points {
            check(&Scan::new(point), &without(&[point], &[]), (0, 0));
        }
        let stays = Scan::new(&home.path).crossing(MountCrossing::Stay);
        let outcome = stays.run(&Totals::new()).unwrap();
        assert_eq!(
            (told(&outcome.report), outcome.report.sum().crossings),
            ((0, 0), 4)
        );
    }
}

/// The sums of random layers are those of the layers alone, whatever was done in the overlay.
#[test]
fn random_overlays_count_their_layers_once() {
    let seed = 1;
    let mut random = Random::new(seed);
    let home = or_skip!(Home::on(FileSystem::Tmpfs));
    for round in 0..4 {
        let deep = format!("round {round}/x");
        let mut lower = Vec::new();
        for number in 0..1 + random.below(4) {
            let name = format!("{deep}/l{number}");
            change(&home.dir(&name), &mut random);
            lower.push(name);
        }
        let mut mounted = Vec::new();
        for number in 0..1 + random.below(3) {
            let lower: Vec<&str> = lower.iter().rev().map(String::as_str).collect();
            let at = format!(
                "{deep}/{}",
                random.pick(&["a", "l", "z"]).to_string() + &number.to_string()
            );
            let overlay = home.overlay_named(&(at.clone() + "m"), &lower, &(at + "u"));
            let overlay = or_skip!(overlay);
            change(overlay.path(), &mut random);
            mounted.push(overlay);
        }
        let points: Vec<&Path> = mounted.iter().map(Mounted::path).collect();
        let count = points.len() as u64;
        let expected = without(&[&home.path], &points);
        check(&Scan::new(&home.path), &expected, (count, 0));
    }
}

/// Makes, writes and removes something at a few places.
fn change(dir: &Path, random: &mut Random) {
    for _ in 0..12 {
        let place = dir.join(random.pick(&["", "d", "d/e", "f"]));
        let path = place.join(random.pick(&["1", "2", "3"]));
        match random.below(4) {
            0 => _ = fs::remove_file(&path),
            1 if place != dir => _ = fs::remove_dir_all(&place),
            _ => {
                fs::create_dir_all(&place).unwrap();
                fs::write(&path, vec![1; random.below(20_000) as usize]).unwrap();
            }
        }
    }
}

#[test]
fn an_overlay_of_an_unread_layer_is_entered() {
    // A layer outside, and the other within.
    let home = or_skip!(Home::with_layers());
    let outside = home.path.with_file_name("outside");
    fs::rename(home.path.join("lower"), &outside).unwrap();
    {
        let _overlay = or_skip!(home.overlay_named("merged", &["../outside"], "upper"));
        check_entered(&home, 1);
    }
    // Both outside: nothing counts twice.
    let _overlay = or_skip!(home.overlay_named("merged", &["../outside"], "../upper"));
    check_entered(&home, 0);
    // Another mount shows a layer.
    let _shown = or_skip!(bind(&outside, &home.dir("shown")));
    check_entered(&home, 1);
}

#[test]
fn an_overlay_whose_layers_are_not_known_is_entered() {
    let home = or_skip!(Home::with_layers());
    let at = home.dir("merged");
    home.dir("work");
    let of = |options: &str| mounts::overlay_from(&home.path, &at, options);
    {
        let _overlay = or_skip!(of("lowerdir=lower,upperdir=upper,workdir=work"));
        check_entered(&home, 1);
    }
    let path = home.path.to_str().unwrap();
    {
        // Without an upper layer.
        let _overlay = or_skip!(of(&format!("lowerdir={path}/upper:{path}/lower")));
        let expected = without(&[&home.path], &[&at]);
        check(&Scan::new(&home.path), &expected, (1, 0));
    }
    {
        // Names with the separators of options.
        let odd = home.dir("l:o,w er");
        fs::write(odd.join("odd"), [1; 5000]).unwrap();
        fs::write(home.dir("l").join("other"), b"x").unwrap();
        let layers = format!(r"lowerdir={path}/l\:o\,w er:{path}/lower");
        let overlay = or_skip!(of(&layers));
        assert!(overlay.path().join("odd").exists());
        let expected = without(&[&home.path], &[&at]);
        check(&Scan::new(&home.path), &expected, (1, 0));
    }
    // Another directory has taken the name of a layer, which is elsewhere now.
    let _overlay = or_skip!(home.overlay());
    fs::rename(home.path.join("lower"), home.path.join("moved")).unwrap();
    fs::create_dir(home.path.join("lower")).unwrap();
    check_entered(&home, 1);
    fs::remove_dir(home.path.join("lower")).unwrap();
    check_entered(&home, 1);
}

#[test]
fn an_overlay_is_entered_where_something_in_a_layer_is_not_read() {
    let home = or_skip!(Home::with_layers());
    let overlay = or_skip!(home.overlay());
    let at = overlay.path();
    let layer = home.path.join("lower");
    let sub = fs::read_dir(&layer).unwrap().map(Result::unwrap);
    let sub = sub.filter(|entry| entry.file_type().unwrap().is_dir());
    let sub = sub.map(|entry| entry.path()).next().unwrap();
    let expected = without(&[&home.path], &[at]);
    check(&Scan::new(&home.path), &expected, (1, 0));

    // What is left out in the layer counts in the overlay.
    let of_overlay = |scan: Scan| {
        for threads in THREADS {
            let outcome = scan.clone().threads(threads).run(&Totals::new()).unwrap();
            assert_eq!(told(&outcome.report), (0, 1));
        }
    };
    let name = sub.file_name().unwrap().to_str().unwrap().to_owned();
    let pattern = format!("*/lower/{name}");
    let exclusions = Exclusions::new().glob(pattern.as_bytes()).unwrap();
    of_overlay(Scan::new(&home.path).exclusions(exclusions));
    let skipped = sub.clone();
    let scan = Scan::new(&home.path);
    of_overlay(scan.filter_dir(move |dir| dir.to_path_buf() != skipped));
    of_overlay(Scan::new(&home.path).max_depth(2));
    {
        // The overlay shows what a mount covers.
        let _cover = or_skip!(FileSystem::Tmpfs.mount(&sub));
        check_entered(&home, 1);
    }
    {
        let file = layer.join("covered");
        fs::write(&file, [1; 70_000]).unwrap();
        let small = home.path.with_file_name("small");
        fs::write(&small, b"x").unwrap();
        let _cover = or_skip!(bind(&small, &file));
        check_entered(&home, 1);
        drop(_cover);
        // By another way to the layer.
        let other_way = or_skip!(bind(&layer, &home.dir("work of merged/way")));
        let _cover = or_skip!(bind(&small, &other_way.path().join("covered")));
        check_entered(&home, 1);
        drop(_cover);
        drop(other_way);
        fs::remove_file(&file).unwrap();
    }
    // A filter that refuses something else is no matter.
    let scan = Scan::new(&home.path).filter_dir(|dir| dir.name() != b"work of merged");
    let outcome = scan.run(&Totals::new()).unwrap();
    assert_eq!(told(&outcome.report), (1, 0));
    // It goes away while it waits: it is the covered directory then.
    drop(overlay);
    check_entered(&home, 0);
}

#[test]
fn layers_and_overlays_can_be_roots() {
    let home = or_skip!(Home::with_layers());
    let overlay = or_skip!(home.overlay());
    let at = overlay.path();
    let [lower, upper] = ["lower", "upper"].map(|name| home.path.join(name));
    let check_roots = |roots: &[&Path], points: &[&Path], left_out: Told| {
        let scan = Scan::of(roots.iter().copied());
        check(&scan, &without(roots, points), left_out);
    };
    check_roots(&[&lower, &upper, &home.path], &[at], (1, 0));
    check_roots(&[&home.path, &lower, &upper], &[at], (1, 0));
    // Asked for by name, it has an answer, and counts once in all.
    check_roots(&[at, &home.path], &[], (0, 1));
    check_roots(&[&home.path, at], &[], (0, 1));
    check_roots(&[&home.path, &at.join("added")], &[], (0, 1));
}

#[test]
fn an_overlay_in_an_overlay_counts_once() {
    let home = or_skip!(Home::with_layers());
    let _overlay = or_skip!(home.overlay());
    fs::create_dir(home.path.join("merged/deep")).unwrap();
    fs::write(home.path.join("merged/deep/file"), [1; 3000]).unwrap();
    let nested = home.overlay_named("nested", &["merged/deep"], "upper of nested");
    let _nested = or_skip!(nested);
    let points = [home.path.join("merged")];
    // The layer of the inner one is in the outer one alone.
    let expected = without(&[&home.path], &[&points[0]]);
    check(&Scan::new(&home.path), &expected, (1, 1));
}

#[test]
fn a_view_of_a_program_is_entered_and_told() {
    let home = or_skip!(Home::with_layers());
    let at = home.dir("view");
    // Its branch is outside.
    let _bindfs = or_skip!(UserSpace::Bindfs.mount(&at, ""));
    let outcome = Scan::new(&home.path).run(&Totals::new()).unwrap();
    assert_eq!(told(&outcome.report), (0, 0));
    let branches = home.dir("branches");
    let _mergerfs = or_skip!(UserSpace::Mergerfs.mount(&branches, ""));
    let outcome = Scan::new(&home.path).run(&Totals::new()).unwrap();
    assert_eq!(told(&outcome.report), (0, 1));
    assert_eq!(
        told(&Scan::new(&branches).run(&Totals::new()).unwrap().report),
        (0, 0)
    );
}
