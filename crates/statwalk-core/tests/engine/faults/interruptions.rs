// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls that a signal interrupts, once or for ever.

use rustix::io::Errno;
use statwalk_core::{Exclusions, Scan, Totals};
use statwalk_testkit::fault_fs::{FaultFs, Op, When, Where};
use statwalk_testkit::or_skip;

use super::{TREE, exact, scan, system, with_each};

#[test]
fn interrupted_calls_are_made_again() {
    for op in [Op::Lookup, Op::Getattr, Op::Opendir, Op::Readdir] {
        let fs = FaultFs::builder().entries(TREE);
        exact(&fs.fail(Where::Everywhere, op, Errno::INTR, When::First(3)));
    }
}

/// For ever interrupted is an error in the end, not a loop without end.
#[test]
fn a_call_that_is_always_interrupted_is_an_error() {
    for op in [Op::Getattr, Op::Opendir, Op::Readdir] {
        let place = if op == Op::Getattr { "a/x" } else { "a" };
        let fs = FaultFs::builder()
            .entries(TREE)
            .fail(place, op, Errno::INTR, When::Always);
        with_each(&fs, |mount, threads| {
            let report = scan(mount, threads).report;
            assert_eq!(report.errors.len(), 1, "{op:?} {:?}", report.errors);
            assert_eq!(report.errors[0].cause, system(Errno::INTR));
        });
    }
}

/// The files that decide what is left out are opened and read, too.
#[test]
fn a_file_that_is_always_interrupted_is_given_up() {
    const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55";
    for (op, when) in [Op::Open, Op::Read]
        .into_iter()
        .flat_map(|op| [(op, When::First(3)), (op, When::Always)])
    {
        let mut fs = FaultFs::builder()
            .entries("below/\nbelow/o 10\n.git/\ncache/\ncache/x 5")
            .text(".gitignore", "o\n")
            .text("below/.gitignore", "o\n")
            .text("cache/CACHEDIR.TAG", TAG)
            .text("globs", "o\n");
        for path in [
            ".gitignore",
            "below/.gitignore",
            "cache/CACHEDIR.TAG",
            "globs",
        ] {
            fs = fs.fail(path, op, Errno::INTR, when);
        }
        let mount = or_skip!(fs.mount());
        let excluded = |root: &str, exclusions: Exclusions| {
            let scan = Scan::new(mount.join(root)).exclusions(exclusions);
            scan.run(&Totals::new()).unwrap().report.sum().excluded
        };
        let is_read = u64::from(when != When::Always);
        let caches = Exclusions::new().caches(true);
        assert_eq!(excluded("cache", caches), is_read, "{op:?} {when:?}");
        let rules = || Exclusions::new().gitignore(true);
        assert_eq!(excluded("below", rules()), is_read, "{op:?} {when:?}");
        assert_eq!(excluded("", rules()), is_read, "{op:?} {when:?}");
        match Exclusions::new().glob_file(&mount.join("globs")) {
            Ok(_) => assert_eq!(is_read, 1, "{op:?} {when:?}"),
            Err(error) => {
                let errno = error.io_error().and_then(std::io::Error::raw_os_error);
                assert_eq!((errno, is_read), (Some(Errno::INTR.raw_os_error()), 0));
            }
        }
    }
}
