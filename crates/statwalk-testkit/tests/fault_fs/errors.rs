// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls that fail, always or for a while.

use std::mem::MaybeUninit;

use rustix::fs::RawDir;
use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, Op, When, Where};
use statwalk_testkit::or_skip;

use super::{list, names, open, stat};

#[test]
fn readdir_fails_at_the_nth_entry() {
    let fs = FaultFs::builder()
        .files("bad", 1000, 0)
        .files("good", 1000, 0)
        .files("short", 10, 0)
        .fail_readdir_after("bad", 500, Errno::IO, When::Always)
        .fail_readdir_after("short", 11, Errno::IO, When::Always);
    let mount = or_skip!(fs.mount());
    let (names_before, error) = list(&mount.join("bad"));
    assert_eq!(error, Some(Errno::IO));
    assert_eq!(names_before.len(), 500);
    assert_eq!(names_before[499].0, "f000499");
    assert_eq!(names(&mount.join("good")).len(), 1000);
    assert_eq!(names(&mount.join("short")).len(), 10);
    assert_eq!(mount.counts().faults, 1);
}

#[test]
fn readdir_can_fail_at_once_and_everywhere() {
    let fs = FaultFs::builder().files("a", 3, 0).fail_readdir_after(
        Where::Everywhere,
        0,
        Errno::IO,
        When::Always,
    );
    let mount = or_skip!(fs.mount());
    for path in [mount.path().to_path_buf(), mount.join("a")] {
        assert_eq!(list(&path), (Vec::new(), Some(Errno::IO)));
    }
}

#[test]
fn lookup_getattr_and_opendir_fail_for_their_path_alone() {
    let fs = FaultFs::builder()
        .entries("d/\nd/a 1\nd/b 1\nd/c 1\nlocked/\nlocked/x 1")
        .fail("d/a", Op::Lookup, Errno::IO, When::Always)
        .fail("d/b", Op::Getattr, Errno::IO, When::Always)
        .fail("locked", Op::Opendir, Errno::ACCESS, When::Always);
    let mount = or_skip!(fs.mount());
    assert_eq!(names(&mount.join("d")), ["a", "b", "c"]);
    assert_eq!(stat(&mount.join("d/a")).unwrap_err(), Errno::IO);
    assert_eq!(mount.counts_of("d/a").getattr, 0);
    assert_eq!(stat(&mount.join("d/b")).unwrap_err(), Errno::IO);
    assert_eq!(mount.counts_of("d/b").getattr, 1);
    stat(&mount.join("d/c")).unwrap();
    // Root too.
    assert_eq!(open(&mount.join("locked")).unwrap_err(), Errno::ACCESS);
    stat(&mount.join("locked/x")).unwrap();
    assert_eq!(mount.counts().faults, 3);
}

#[test]
fn stale_lookups_are_repeated_by_the_kernel_first() {
    let always =
        FaultFs::builder()
            .entries("x 1")
            .fail("x", Op::Lookup, Errno::STALE, When::Always);
    let mount = or_skip!(always.mount());
    assert_eq!(stat(&mount.join("x")).unwrap_err(), Errno::STALE);
    // Two on the kernels that we know: path_lookupat() and LOOKUP_REVAL.
    let hidden = u32::try_from(mount.counts_of("x").lookup).unwrap();
    assert!((2..=4).contains(&hidden), "{hidden} lookups for one stat");

    let sometimes = FaultFs::builder()
        .entries("below 1\nabove 1")
        .fail("below", Op::Lookup, Errno::STALE, When::First(hidden - 1))
        .fail("above", Op::Lookup, Errno::STALE, When::First(hidden + 1));
    let mount = or_skip!(sometimes.mount());
    stat(&mount.join("below")).unwrap();
    assert_eq!(mount.counts().faults, u64::from(hidden - 1));
    assert_eq!(stat(&mount.join("above")).unwrap_err(), Errno::STALE);
    stat(&mount.join("above")).unwrap();
}

#[test]
fn calls_are_interrupted_so_many_times() {
    let fs = FaultFs::builder()
        .files("o", 3, 0)
        .files("r", 3, 0)
        .fail("o", Op::Opendir, Errno::INTR, When::First(2))
        .fail_readdir_after("r", 2, Errno::INTR, When::First(2));
    let mount = or_skip!(fs.mount());
    let opened = [(); 3].map(|()| open(&mount.join("o")).err());
    assert_eq!(opened, [Some(Errno::INTR), Some(Errno::INTR), None]);

    // `Dir` repeats an interrupted call by itself, this does not.
    let fd = open(&mount.join("r")).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut dir = RawDir::new(&fd, &mut buffer);
    let mut seen = Vec::new();
    while let Some(entry) = dir.next() {
        seen.push(entry.map(|entry| entry.file_name().to_str().unwrap().to_owned()));
    }
    let expected = [Ok("."), Ok(".."), Ok("f000000"), Ok("f000001")]
        .into_iter()
        .chain([Err(Errno::INTR), Err(Errno::INTR), Ok("f000002")]);
    assert_eq!(
        seen,
        expected
            .map(|entry| entry.map(str::to_owned))
            .collect::<Vec<_>>()
    );
}

#[test]
fn one_in_n_strikes_the_same_objects_each_time() {
    let failing = || {
        let mount = FaultFs::builder()
            .files("d", 300, 0)
            .fail(
                Where::Everywhere,
                Op::Getattr,
                Errno::IO,
                When::OneIn { n: 10, seed: 3 },
            )
            .mount()?;
        let failing = (0..300).filter(|n| stat(&mount.join(format!("d/f{n:06}"))).is_err());
        Ok(failing.collect::<Vec<_>>())
    };
    let first = or_skip!(failing());
    assert!(
        (10..60).contains(&first.len()),
        "{} of 300 failed",
        first.len()
    );
    assert_eq!(first, or_skip!(failing()));
}
