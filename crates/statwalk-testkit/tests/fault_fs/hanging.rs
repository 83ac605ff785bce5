// SPDX-License-Identifier: MIT OR Apache-2.0

//! Calls that hang, who can end them, and that nothing stays stuck.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use statwalk_testkit::fault_fs::{FaultFs, FaultMount, Hang, Op};
use statwalk_testkit::or_skip;

use super::{LONG, names, open, stat};

/// Runs `call` on a thread of its own; the receiver has its result once it returns.
fn in_thread<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> mpsc::Receiver<T> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(call()));
    result
}

#[test]
fn each_operation_hangs_until_released() {
    for op in [Op::Lookup, Op::Getattr, Op::Opendir, Op::Readdir] {
        let fs = FaultFs::builder()
            .files("h", 3, 0)
            .files("other", 4, 0)
            .hang("h", op, Hang::UntilSignal);
        let mount = or_skip!(fs.mount());
        let path = mount.join("h");
        let result = in_thread(move || {
            stat(&path).unwrap();
            names(&path).len()
        });
        assert!(
            mount.wait_for(LONG, |counts| counts.hanging == 1),
            "{op:?} does not hang"
        );
        // The rest of the file system is served meanwhile.
        let other = mount.join("other");
        let served = in_thread(move || names(&other).len());
        assert_eq!(
            served.recv_timeout(LONG),
            Ok(4),
            "a hanging {op:?} holds others up"
        );
        assert!(
            result.recv_timeout(Duration::from_millis(50)).is_err(),
            "{op:?} does not hang"
        );
        mount.release();
        assert_eq!(result.recv_timeout(LONG), Ok(3), "{op:?}");
        // And those to come.
        assert_eq!(names(&mount.join("h")).len(), 3);
        assert_eq!(mount.counts().hanging, 0);
    }
}

/// A process that hangs in a `stat` of `h` and then is killed; the receiver has
/// the signal that it died of once it is gone.
fn killed_process(mount: &FaultMount) -> mpsc::Receiver<Option<i32>> {
    let stat = Command::new("stat")
        .arg(mount.join("h"))
        .stdout(Stdio::null())
        .spawn();
    let mut child = stat.expect("stat is in coreutils");
    assert!(
        mount.wait_for(LONG, |counts| counts.hanging == 1),
        "stat does not hang"
    );
    child.kill().expect("it was not waited for");
    in_thread(move || child.wait().expect("it was not waited for").signal())
}

#[test]
fn a_process_that_hangs_until_a_signal_can_be_killed() {
    let fs = FaultFs::builder()
        .dir("h")
        .hang("h", Op::Getattr, Hang::UntilSignal);
    let mount = or_skip!(fs.mount());
    assert_eq!(killed_process(&mount).recv_timeout(LONG), Ok(Some(9)));
    assert_eq!((mount.counts().interrupted, mount.counts().hanging), (1, 0));
}

#[test]
fn a_process_that_hangs_until_released_cannot_be_killed() {
    let fs = FaultFs::builder()
        .dir("h")
        .hang("h", Op::Getattr, Hang::UntilReleased);
    let mount = or_skip!(fs.mount());
    let ended = killed_process(&mount);
    assert!(ended.recv_timeout(Duration::from_millis(200)).is_err());
    assert_eq!((mount.counts().interrupted, mount.counts().hanging), (0, 1));
    mount.release();
    assert_eq!(ended.recv_timeout(LONG), Ok(Some(9)));
}

/// Without the kernel's parallel directory operations they would wait for each
/// other, and those of one directory could not be slow at the same time.
#[test]
fn calls_for_one_directory_hang_side_by_side() {
    let fs = FaultFs::builder()
        .files("d", 8, 0)
        .hang("d", Op::Readdir, Hang::UntilSignal);
    let paths: Vec<_> = (0..8).map(|n| format!("d/f{n:06}")).collect();
    let fs = paths.iter().fold(fs, |fs, path| {
        fs.hang(path.as_str(), Op::Lookup, Hang::UntilSignal)
    });
    let mount = or_skip!(fs.mount());
    let looked_up: Vec<_> = paths
        .iter()
        .map(|path| mount.join(path))
        .map(|path| in_thread(move || stat(&path).is_ok()))
        .collect();
    let dir = mount.join("d");
    let listed = in_thread(move || names(&dir).len());
    assert!(
        mount.wait_for(LONG, |counts| counts.hanging == 9),
        "{:?}",
        mount.counts()
    );
    mount.release();
    assert!(
        looked_up
            .iter()
            .all(|result| result.recv_timeout(LONG) == Ok(true))
    );
    assert_eq!(listed.recv_timeout(LONG), Ok(8));
}

#[test]
fn dropping_the_guard_frees_everybody() {
    let fs = FaultFs::builder()
        .dir("h")
        .files("open", 500, 0)
        .entries_per_readdir_max(10)
        .hang("h", Op::Opendir, Hang::UntilReleased);
    let mount = or_skip!(fs.mount());
    let path = mount.path().to_path_buf();
    let mounted = || {
        fs::read_to_string("/proc/mounts")
            .unwrap()
            .contains(path.to_str().unwrap())
    };
    assert!(mounted());
    let mut still_open = fs::read_dir(mount.join("open")).unwrap();
    still_open.next().unwrap().unwrap();
    let hangs_in = mount.join("h");
    let result = in_thread(move || open(&hangs_in).map(drop));
    assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));

    let start = Instant::now();
    drop(mount);
    assert!(start.elapsed() < LONG);
    // It was answered, or it was told that the file system is gone.
    let answer = result.recv_timeout(LONG).expect("the hanging call returns");
    assert!(
        matches!(answer, Ok(()) | Err(Errno::CONNABORTED | Errno::NOTCONN)),
        "{answer:?}"
    );
    assert!(!mounted());
    assert!(!path.exists());
    // What was open meets an error rather than a wait.
    assert!(still_open.any(|entry| entry.is_err()));
}

/// The variable that makes the next test the child that it kills.
const KILLED: &str = "STATWALK_FAULT_FS_KILLED";

/// A thread of a killed test waits for the server in the same process, which is
/// dead: without the janitor, process and mount would stay until a reboot.
#[test]
fn a_killed_test_leaves_nothing_behind() {
    if std::env::var_os(KILLED).is_some() {
        // The child: it hangs until it is killed.
        let fs = FaultFs::builder()
            .dir("h")
            .hang("h", Op::Opendir, Hang::UntilReleased);
        let mount = fs.mount().unwrap();
        let path = mount.join("h");
        let result = in_thread(move || open(&path).map(drop));
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1));
        println!("hangs below {}", mount.path().display());
        let _ = result.recv();
        return;
    }
    drop(or_skip!(FaultFs::builder().mount()));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hanging::a_killed_test_leaves_nothing_behind",
            "--nocapture",
        ])
        .env(KILLED, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = String::new();
    let mut stdout = child.stdout.take().unwrap();
    let path = loop {
        let mut more = [0; 512];
        let size = stdout.read(&mut more).unwrap();
        assert_ne!(size, 0, "it ends before it hangs: {output}");
        output.push_str(std::str::from_utf8(&more[..size]).unwrap());
        let below = output
            .split_once("hangs below ")
            .and_then(|(_, rest)| rest.split_once('\n'));
        if let Some((path, _)) = below {
            break path.to_owned();
        }
    };
    child.kill().unwrap();
    let ended = in_thread(move || child.wait().unwrap().signal());
    assert_eq!(
        ended.recv_timeout(LONG),
        Ok(Some(9)),
        "the killed process stays"
    );
    let start = Instant::now();
    while fs::symlink_metadata(&path).is_ok() {
        assert!(start.elapsed() < LONG, "{path} stays");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn removals_hang_and_then_happen() {
    for (op, path) in [
        (Op::Unlink, "dir/file"),
        (Op::Rmdir, "empty"),
        (Op::Rename, "dir/file"),
    ] {
        let fs = FaultFs::builder().file("dir/file", 3).dir("empty");
        let fs = fs.writable().hang(path, op, Hang::UntilSignal);
        let mount = or_skip!(fs.mount());
        let (from, to) = (mount.join(path), mount.join("empty/new"));
        let call = {
            let from = from.clone();
            move || match op {
                Op::Unlink => fs::remove_file(from),
                Op::Rmdir => fs::remove_dir(from),
                _ => fs::rename(from, to),
            }
        };
        let result = in_thread(move || call().map_err(|error| error.to_string()));
        assert!(mount.wait_for(LONG, |counts| counts.hanging == 1), "{op:?}");
        assert!(from.exists(), "{op:?}");
        mount.release();
        assert_eq!(result.recv_timeout(LONG), Ok(Ok(())), "{op:?}");
        assert!(!from.exists(), "{op:?}");
        let counts = mount.counts();
        let counts = [counts.unlink, counts.rmdir, counts.rename];
        let expected = [Op::Unlink, Op::Rmdir, Op::Rename].map(|other| u64::from(other == op));
        assert_eq!(counts, expected, "{op:?}");
    }
}
