// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every error that a file system may answer, to every call, at every place.
//!
//! Whatever is lost for it is told: an answer with other totals than those of
//! the sound tree is incomplete, and names the place and the error.

use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Op, When, Where};
use statwalk_testkit::{Model, or_skip, text};

use crate::program::{self, Ended, statwalk};
use crate::sound::{Sound, Verdict, View, errors_of};
use statwalk_testkit::attack::{Attack, Round};

const TREE: &str = "
    a/
    a/x      1000
    a/y      2000
    a/l      -> x
    a/hard   = a/y
    b/
    b/c/
    b/c/z    3000
    b/c/e/
    b/c/e/f  4000
    many/
    pipe     fifo
    ";

/// The root, directories, a file, a file with two names, a link, and deep ones.
/// Nothing stands for everywhere.
const PLACES: [Option<&str>; 11] = [
    Some("a"),
    Some("a/x"),
    Some("b/c"),
    Some("a/l"),
    Some("a/y"),
    Some("b/c/z"),
    Some("many"),
    Some("b/c/e"),
    Some("pipe"),
    Some(""),
    None,
];

const OPS: [Op; 4] = [Op::Lookup, Op::Getattr, Op::Opendir, Op::Readdir];

/// The first so many of these can be taken for something that is no error.
const MISTAKABLE: usize = 5;
/// Errors that mean something to somebody.
const KNOWN: [Errno; 41] = [
    Errno::NOENT,
    Errno::LOOP,
    Errno::NOTDIR,
    Errno::XDEV,
    Errno::STALE,
    Errno::IO,
    Errno::ACCESS,
    Errno::PERM,
    Errno::AGAIN,
    Errno::INTR,
    Errno::NOMEM,
    Errno::MFILE,
    Errno::NFILE,
    Errno::INVAL,
    Errno::NOSYS,
    Errno::OPNOTSUPP,
    Errno::NXIO,
    Errno::BADF,
    Errno::FAULT,
    Errno::BUSY,
    Errno::EXIST,
    Errno::NODEV,
    Errno::ISDIR,
    Errno::NOTTY,
    Errno::FBIG,
    Errno::NOSPC,
    Errno::SPIPE,
    Errno::ROFS,
    Errno::PIPE,
    Errno::NAMETOOLONG,
    Errno::NOTEMPTY,
    Errno::OVERFLOW,
    Errno::UCLEAN,
    Errno::REMOTEIO,
    Errno::NOKEY,
    Errno::DQUOT,
    Errno::TIMEDOUT,
    Errno::HOSTDOWN,
    Errno::CONNREFUSED,
    Errno::NOTCONN,
    Errno::TOOBIG,
];
/// The numbers of include/uapi/asm-generic/errno.h end there.
const ERRNO_LAST: u64 = 133;

/// Flags that change nothing in the answer.
const FLAGS: [&[&str]; 5] = [
    &[],
    &["-x"],
    &["--stat-order", "inode"],
    &["--buffer", "1K"],
    &["--include-kernfs"],
];

/// One fault, and how it is looked at.
#[derive(Debug)]
struct Fault {
    place: Option<&'static str>,
    op: Op,
    errno: Errno,
    when: When,
    /// A listing fails after so many entries.
    after_entries: u64,
    unknown_types: bool,
}

impl Fault {
    fn new(round: &mut Round) -> Fault {
        let op = *round.in_turn(&OPS);
        let place = *round.in_turn(&PLACES);
        // In turn too: the number of errors and that of places have no common divisor.
        let known = KNOWN[(round.seed % KNOWN.len() as u64) as usize];
        let random = &mut round.random;
        let errno = match random.below(4) {
            0 => Errno::from_raw_os_error((1 + random.below(ERRNO_LAST)) as i32),
            1 => *random.pick(&KNOWN[..MISTAKABLE]),
            _ => known,
        };
        // To the kernel ENOSYS means that no directory need be opened: it never asks
        // again, and lists by a handle that nobody gave (fuse_file_open, fs/fuse/file.c).
        let errno = match (op, errno) {
            (Op::Opendir, Errno::NOSYS) => Errno::IO,
            (_, errno) => errno,
        };
        let some = When::OneIn {
            n: 2 + random.below(4),
            seed: random.next(),
        };
        let first = When::First(1 + random.below(4) as u32);
        let when = match place {
            None => *random.pick(&[some, some, When::First(1), When::Always]),
            Some(_) => *random.pick(&[When::Always, When::Always, first]),
        };
        Fault {
            place,
            op,
            errno,
            when,
            after_entries: *random.pick(&[0, 0, 0, 1, 2, 150]),
            unknown_types: random.one_in(4),
        }
    }

    fn mount(&self, model: &Model) -> FaultMount {
        let place = self.place.map_or(Where::Everywhere, Where::from);
        let fs = FaultFs::builder().model("", model).files("many", 300, 7);
        let fs = match (self.op, self.after_entries) {
            (Op::Readdir, after @ 1..) => {
                fs.fail_readdir_after(place, after, self.errno, self.when)
            }
            _ => fs.fail(place, self.op, self.errno, self.when),
        };
        let fs = match self.unknown_types {
            true => fs.unknown_types(Where::Everywhere),
            false => fs,
        };
        // It could be mounted before this attack began.
        fs.mount().unwrap()
    }

    /// Every error is that of the fault, at its place; nothing is taken for a
    /// mount or for vanished that is listed all the time.
    fn check(&self, round: &mut Round, ended: &Ended, mount: &FaultMount, sound: &Sound) {
        let Ok(document) = ended.json() else { return };
        let root = mount.path().to_str().unwrap();
        let mut faults = Vec::new();
        for (path, errno) in errors_of(&document) {
            let below = path.strip_prefix(root).unwrap_or("elsewhere");
            let below = below.trim_start_matches('/');
            let is_there = below.is_empty() || sound.paths.contains(below.as_bytes());
            // Rules hold for inodes: a second name has the fault too.
            let name = below.replace("a/hard", "a/y");
            if !is_there || self.place.is_some_and(|place| place != name) {
                faults.push(format!("an error of '{below}'"));
            }
            if errno != i64::from(self.errno.raw_os_error()) {
                faults.push(format!("errno {errno} of '{below}'"));
            }
        }
        for field in ["vanished", "crossings", "excluded"] {
            let count = document["roots"][0][field].as_u64().unwrap_or(0);
            if count > 0 {
                faults.push(format!("{count} {field}"));
            }
        }
        round.check(faults.is_empty(), || {
            format!("{}: {self:?}: {}", faults.join(", "), ended.told())
        });
    }
}

#[test]
fn whatever_is_lost_is_told() {
    drop(or_skip!(FaultFs::builder().mount()));
    let model = text::parse(TREE).unwrap();
    let sound = {
        let mut sound = Sound::of(&model);
        sound.totals.entries += 300;
        sound.totals.files += 300;
        sound.totals.file_size_bytes += 300 * 7;
        sound.totals.apparent_bytes += 300 * 7;
        let names = (0..300).map(|number| format!("many/f{number:06}").into_bytes());
        sound.paths.extend(names);
        sound
    };
    let attack = Attack {
        kind: "fuse_errors",
        rounds_small: 176,
        checks_least: 4,
    };
    attack.run(|round| {
        let fault = Fault::new(round);
        let order = *round
            .random
            .pick(&["parallel", "recursive", "stack", "queue", "inode"]);
        let further = *round.random.pick(&FLAGS);
        for view in View::ALL {
            // Each view meets the first answers, which may fail.
            let mount = fault.mount(&model);
            let threads = format!("-j{}", 1 + round.random.below(4));
            let mut command = statwalk();
            command.args(view.arguments()).args(further);
            command.args([&threads, "--order", order]).arg(mount.path());
            let ended = program::run(&mut command);
            // Where the root itself is missing it is 2.
            let codes: &[i32] = match fault.place {
                Some("") | None => &[0, 1, 2],
                Some(_) => &[0, 1],
            };
            let root = mount.path().as_os_str().as_encoded_bytes();
            let verdict = sound.judge(round, &ended, view, root, codes);
            if view != View::Find && verdict != Verdict::None {
                fault.check(round, &ended, &mount, &sound);
            }
        }
    });
}
