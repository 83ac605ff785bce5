// SPDX-License-Identifier: MIT OR Apache-2.0

//! The guards, and what the oracle says of mounts.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, RawDir};
use statwalk_testkit::mounts::{self, Access, FileSystem};
use statwalk_testkit::naive::{self, Counts, NaiveReport, NotEntered, Options};
use statwalk_testkit::{Scratch, generator, or_skip, remove_tree, text, trees};

const STAY: Options<'_> = Options {
    one_file_system: true,
    count_links: false,
    follow: false,
    include_kernfs: false,
    exclude: None,
};

fn not_entered(report: &NaiveReport, path: &Path) -> Option<NotEntered> {
    report
        .entry(path.as_os_str().as_bytes())
        .expect("an entry of this path")
        .not_entered
}

fn mounted_at(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").expect("proc is mounted");
    table
        .lines()
        .any(|line| line.split(' ').nth(4) == path.to_str())
}

/// Another test may have got the device meanwhile, with another image.
fn is_attached(device: &Path, image: &Path) -> bool {
    let name = device
        .file_name()
        .and_then(|name| name.to_str())
        .expect("/dev/loopN");
    let attribute = Path::new("/sys/block").join(name).join("loop/backing_file");
    fs::read_to_string(attribute).is_ok_and(|file| Path::new(file.trim_end()) == image)
}

fn oracle(root: &Path, options: &Options<'_>) -> (NaiveReport, Counts) {
    let report = naive::scan_with(&[root], options).expect("the oracle can judge");
    let total = report.total();
    (report, total)
}

/// Every file system: the model holds, blocks are those of du, and nothing stays behind.
#[test]
fn trees_are_the_same_on_every_file_system() {
    for file_system in FileSystem::ALL {
        let scratch = Scratch::new().unwrap();
        let mounted = match file_system.mount(scratch.path()) {
            Ok(mounted) => mounted,
            Err(skipped) => {
                skipped.report();
                continue;
            }
        };
        assert!(mounted_at(scratch.path()));
        let loop_device = mounted.device().zip(mounted.image());
        let loop_device = loop_device.map(|(device, image)| (device.to_owned(), image.to_owned()));
        for (name, tree) in trees::named() {
            let dir = scratch.path().join(name);
            let outcome = tree.materialise(&dir);
            assert!(outcome.is_ok(), "{name} on {file_system:?}: {outcome:?}");
            mounted.settle().unwrap();
            let (report, total) = oracle(&dir, &Options::default());
            assert_eq!(total.totals(), tree.totals(), "{name} on {file_system:?}");
            assert_eq!(
                report.relative_entries(0),
                tree.entries(),
                "{name} on {file_system:?}"
            );
            let du = std::process::Command::new("du")
                .args(["-s", "-B1"])
                .arg(&dir)
                .output();
            let du = String::from_utf8(du.unwrap().stdout).unwrap();
            let told = du.split_ascii_whitespace().next().unwrap();
            assert_eq!(
                told,
                total.allocated_bytes.to_string(),
                "{name} on {file_system:?}"
            );
            remove_tree(&dir).unwrap();
        }
        mounted.unmount().unwrap();
        assert!(!mounted_at(scratch.path()));
        assert!(!loop_device.is_some_and(|(device, image)| is_attached(&device, &image)));
    }
}

#[test]
fn ext4_without_filetype_lists_no_types() {
    let scratch = Scratch::new().unwrap();
    let _ext4 = or_skip!(FileSystem::Ext4WithoutFiletype.mount(scratch.path()));
    fs::write(scratch.path().join("file"), b"").unwrap();
    let directory = fs::File::open(scratch.path()).unwrap();
    let mut buffer = Vec::with_capacity(4096);
    let mut listing = RawDir::new(directory, buffer.spare_capacity_mut());
    let mut listed = 0;
    while let Some(entry) = listing.next() {
        assert_eq!(entry.unwrap().file_type(), FileType::Unknown);
        listed += 1;
    }
    assert_eq!(listed, 4, "., .., file and lost+found");
}

#[test]
fn a_failing_test_leaves_no_mount() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let (mut device, mut image) = (PathBuf::new(), PathBuf::new());
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mounted = or_skip!(FileSystem::Ext4.mount_sized(&at, 64 << 20));
        device = mounted.device().unwrap().to_owned();
        image = mounted.image().unwrap().to_owned();
        assert!(mounted_at(&at) && is_attached(&device, &image));
        std::panic::resume_unwind(Box::new(()));
    }));
    if outcome.is_ok() {
        return;
    }
    assert!(!mounted_at(&at));
    assert!(!is_attached(&device, &image));
}

#[test]
fn a_mount_in_use_is_detached() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let mounted = or_skip!(FileSystem::Tmpfs.mount(&at));
    fs::write(at.join("file"), b"data").unwrap();
    let open = fs::File::open(at.join("file")).unwrap();
    let error = mounted.unmount().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    assert!(!mounted_at(&at));
    let mut data = [0; 4];
    open.read_exact_at(&mut data, 0).unwrap();
}

#[test]
fn remove_tree_stays_on_its_mount() {
    let scratch = Scratch::new().unwrap();
    let kept = scratch.subdirectory("kept").unwrap();
    fs::write(kept.join("file"), b"data").unwrap();
    let dir = scratch.subdirectory("dir").unwrap();
    let at = dir.join("at");
    fs::create_dir(&at).unwrap();
    let _bind = or_skip!(mounts::bind(&kept, &at));
    assert!(remove_tree(&dir).is_err());
    assert!(kept.join("file").exists());
}

#[test]
fn one_file_system_stays() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    trees::basic().materialise(&dir).unwrap();
    let (_, before) = oracle(&dir, &Options::default());
    let at = dir.join("empty");
    let tmpfs = or_skip!(FileSystem::Tmpfs.mount(&at));
    fs::write(at.join("inside"), b"12345").unwrap();

    let (_, whole) = oracle(&dir, &Options::default());
    assert_eq!(whole.entries, before.entries + 1);
    assert_eq!(whole.file_size_bytes, before.file_size_bytes + 5);
    assert_eq!(whole.crossings, 0);

    let (report, stay) = oracle(&dir, &STAY);
    assert_eq!(stay.crossings, 1);
    assert_eq!((stay.entries, stay.dirs), (before.entries, before.dirs));
    assert_eq!(not_entered(&report, &at), Some(NotEntered::Crossing));
    let sums = report.subtrees[at.as_os_str().as_bytes()];
    assert_eq!((sums.entries, sums.dirs, sums.allocated_bytes), (1, 1, 0));
    let own = fs::metadata(dir.join("docs")).unwrap().blocks() * 512;
    assert_eq!(
        stay.allocated_bytes,
        before.allocated_bytes - u128::from(own),
        "an empty directory's blocks"
    );

    // As an argument of its own it is entered, and counts there alone.
    let report = naive::scan_with(&[&dir, &at], &STAY).unwrap();
    let mut without = stay;
    without.entries -= 1;
    without.dirs -= 1;
    without.crossings -= 1;
    assert_eq!(report.roots[0].counts, without);
    assert_eq!(report.roots[1].counts.entries, 2);
    tmpfs.unmount().unwrap();
}

#[test]
fn a_bind_mount_is_listed_once() {
    let scratch = Scratch::new().unwrap();
    let dir = scratch.path().join("t");
    let tree = text::parse("a/\na/x 100\nb/\nloop/\nfile 7\nsecond 0").unwrap();
    tree.materialise(&dir).unwrap();
    let binds = [("a", "b"), (".", "loop"), ("file", "second")];
    let guards: Vec<_> = binds
        .iter()
        .map(|(from, to)| mounts::bind(&dir.join(from), &dir.join(to)))
        .collect();
    for guard in &guards {
        if let Err(skipped) = guard {
            skipped.report();
            return;
        }
    }
    for options in [Options::default(), STAY] {
        let (report, total) = oracle(&dir, &options);
        assert_eq!(not_entered(&report, &dir.join("a")), None);
        assert_eq!(
            not_entered(&report, &dir.join("b")),
            Some(NotEntered::Crossing)
        );
        assert_eq!(
            not_entered(&report, &dir.join("loop")),
            Some(NotEntered::Crossing)
        );
        assert_eq!((total.entries, total.dirs, total.files), (7, 4, 3));
        assert_eq!(total.file_size_bytes, 107);
        // Of a file, a second mount is one more name; it is on the same device.
        assert_eq!((total.crossings, total.extra_hard_links), (2, 1));
    }
    // An argument that is a mount of what an earlier one has listed.
    let report = naive::scan_with(&[dir.join("b"), dir.join("a")], &Options::default()).unwrap();
    assert_eq!(report.roots[0].counts.file_size_bytes, 100);
    assert_eq!(
        (
            report.roots[1].counts.entries,
            report.roots[1].counts.crossings
        ),
        (1, 1)
    );
}

#[test]
fn nested_subvolumes_are_entered_and_mounted_ones_are_crossings() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let btrfs = or_skip!(FileSystem::Btrfs.mount(&at));
    or_skip!(mounts::btrfs_subvolume(&at.join("sub")));
    fs::write(at.join("sub/file"), vec![1; 10_000]).unwrap();
    or_skip!(mounts::btrfs_subvolume(&at.join("sub/inner")));
    fs::write(at.join("sub/inner/file"), vec![1; 20_000]).unwrap();
    or_skip!(mounts::btrfs_snapshot(&at.join("sub"), &at.join("snap")));
    btrfs.settle().unwrap();
    let devices = ["", "sub", "sub/inner"].map(|name| fs::metadata(at.join(name)).unwrap().dev());
    assert!(devices[0] != devices[1] && devices[1] != devices[2]);

    let (_, whole) = oracle(&at, &Options::default());
    // at, sub, sub/inner, snap, snap/inner (empty in a snapshot); three files.
    assert_eq!((whole.dirs, whole.files), (5, 3));
    assert_eq!(whole.file_size_bytes, 40_000);
    let (_, stay) = oracle(&at, &STAY);
    assert_eq!(stay, whole);

    let inside = at.join("mounted");
    fs::create_dir(&inside).unwrap();
    let _subvolume = or_skip!(mounts::btrfs_mount_subvolume(&btrfs, "sub", &inside));
    let (report, total) = oracle(&at, &Options::default());
    // The mount sorts before the place where the subvolume lies, and is met first.
    assert_eq!(not_entered(&report, &inside), None);
    assert_eq!(
        not_entered(&report, &at.join("sub")),
        Some(NotEntered::Crossing)
    );
    assert_eq!((total.file_size_bytes, total.crossings), (40_000, 1));
    let (report, stay) = oracle(&at, &STAY);
    assert_eq!(not_entered(&report, &inside), Some(NotEntered::Crossing));
    assert_eq!(
        (stay.file_size_bytes, stay.crossings, stay.dirs),
        (40_000, 1, 6)
    );
}

#[test]
fn an_overlay_shows_both_layers_merged() {
    let scratch = Scratch::new().unwrap();
    let layers = text::parse(
        "
        lower/
        lower/both/
        lower/both/from-lower   100
        lower/hidden            50
        upper/
        upper/both/
        upper/both/from-upper   10
        work/
        merged/
        ",
    )
    .unwrap();
    let dir = scratch.path().join("t");
    layers.materialise(&dir).unwrap();
    let [lower, upper, work, merged] =
        ["lower", "upper", "work", "merged"].map(|name| dir.join(name));
    let _overlay = or_skip!(mounts::overlay(&merged, &lower, &upper, &work));
    fs::remove_file(merged.join("hidden")).unwrap();
    let (_, total) = oracle(&merged, &Options::default());
    assert_eq!(
        (total.dirs, total.files, total.file_size_bytes),
        (2, 2, 110)
    );
    assert_eq!(oracle(&merged, &STAY).1, total);
    // What was removed is a character device in the upper layer.
    assert_eq!(oracle(&upper, &Options::default()).1.others, 1);
}

#[test]
fn squashfs_holds_what_it_was_made_of() {
    let scratch = Scratch::new().unwrap();
    let from = scratch.path().join("from");
    let told = generator::generate(&from, 3, &Default::default()).unwrap();
    let at = scratch.subdirectory("at").unwrap();
    let squashfs = or_skip!(mounts::squashfs(&at, &from));
    assert_eq!(oracle(&at, &Options::default()).1.totals(), told);
    assert!(fs::write(at.join("new"), b"").is_err());
    squashfs.unmount().unwrap();
}

#[test]
fn an_image_made_of_a_tree_is_mounted_read_only() {
    let scratch = Scratch::new().unwrap();
    let from = scratch.path().join("from");
    trees::basic().materialise(&from).unwrap();
    let file = scratch.path().join("image");
    // Read-only: written to, such a file system deadlocks Linux 6.18.
    or_skip!(mounts::ext4_image(
        &file,
        32 << 20,
        &["-O", "inline_data"],
        Some(&from)
    ));
    let at = scratch.subdirectory("at").unwrap();
    let image = or_skip!(mounts::image(
        &file,
        "ext4",
        &at,
        Access::ReadOnly,
        "noload"
    ));
    let without = |path: &[u8]| path.ends_with(b"/lost+found");
    let options = Options {
        exclude: Some(&without),
        ..Options::default()
    };
    assert_eq!(oracle(&at, &options).1.totals(), trees::basic().totals());
    assert!(fs::write(at.join("new"), b"").is_err());
    image.unmount().unwrap();
    assert!(file.exists());
}

#[test]
fn a_mount_can_become_read_only() {
    let scratch = Scratch::new().unwrap();
    let mounted = or_skip!(FileSystem::Tmpfs.mount(scratch.path()));
    fs::write(scratch.path().join("before"), b"").unwrap();
    mounted.make_read_only().unwrap();
    assert!(fs::write(scratch.path().join("after"), b"").is_err());
}

#[test]
fn kernel_file_systems_are_left_out() {
    let scratch = Scratch::new().unwrap();
    let at = scratch.subdirectory("proc").unwrap();
    let proc = Path::new("/proc/sys/kernel");
    let _bind = or_skip!(mounts::bind(proc, &at));
    let (report, total) = oracle(scratch.path(), &Options::default());
    assert_eq!(
        not_entered(&report, &at),
        Some(NotEntered::KernelFileSystem)
    );
    assert_eq!((total.entries, total.dirs, total.excluded), (2, 2, 1));
    let include = Options {
        include_kernfs: true,
        ..Options::default()
    };
    assert!(oracle(scratch.path(), &include).1.files > 10);
    // An argument is entered, and under -x the mount is a crossing.
    assert!(oracle(&at, &Options::default()).1.files > 10);
    let stay = oracle(scratch.path(), &STAY).1;
    assert_eq!((stay.excluded, stay.crossings), (0, 1));
}
