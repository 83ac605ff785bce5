// SPDX-License-Identifier: MIT OR Apache-2.0

//! A mounted [`FaultFs`](super::FaultFs): mounting, the guard that tests hold,
//! unmounting.
//!
//! `fuser` mounts, shakes hands with the kernel and unmounts; requests are
//! served by [`Server`].

use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fuser::{Config, Filesystem, InitFlags, KernelConfig, MountOption, Session, SessionACL};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::mount::{UnmountFlags, unmount};

use super::answer::{Answers, Settings};
use super::counts::{Board, Counts};
use super::disk::Head;
use super::rules::RuleBook;
use super::server::{Orders, Server, Slots};
use super::tree::Tree;
use crate::model::Totals;
use crate::skipped::Skipped;
use crate::unprivileged::is_root;

const DEVICE: &str = "/dev/fuse";
const HELPER: &str = "fusermount3";

/// A mounted [`FaultFs`](super::FaultFs); dropping it unmounts.
///
/// Dropping releases every hanging call and detaches the mount even while
/// something in it is open or a working directory; what goes on using it gets
/// errors. So nothing stays stuck, except behind a leaked guard.
#[derive(Debug)]
pub struct FaultMount {
    path: PathBuf,
    tree: Arc<Tree>,
    board: Arc<Board>,
    orders: Arc<Orders>,
    wake: PipeWriter,
    /// `None` only while dropping.
    server: Option<JoinHandle<()>>,
    janitor: Option<Child>,
}

impl FaultMount {
    /// Mounts on a new directory below the temporary directory.
    pub(super) fn new(
        tree: Tree,
        rules: RuleBook,
        settings: Settings,
        slots: Slots,
        disk: Option<Head>,
    ) -> Result<FaultMount, Skipped> {
        Skipped::in_a_quick_run()?;
        probe(
            Path::new(DEVICE),
            std::env::var_os("PATH").as_deref(),
            can_abort(),
        )?;
        let path = new_directory();
        let session = match Session::new(Handshake, &path, &config(settings)) {
            Ok(session) => session,
            Err(error) => {
                let _ = std::fs::remove_dir(&path);
                return Err(refused(&error));
            }
        };
        let device = nonblocking_device(&session).expect("the connection is a file like any other");
        let (woken, wake) = io::pipe().expect("a pipe costs two descriptors");
        let tree = Arc::new(tree);
        let board = Arc::new(Board::default());
        let orders = Arc::new(Orders::default());
        let answers = Answers::new(Arc::clone(&tree), rules, settings);
        let server = Server::new(
            device,
            woken,
            Arc::clone(&orders),
            Arc::clone(&board),
            answers,
            slots,
            disk,
        );
        let (tell_id, thread_id) = std::sync::mpsc::channel();
        let server = std::thread::Builder::new()
            .name("fault-fs".to_owned())
            .spawn(move || {
                let _ = tell_id.send(rustix::thread::gettid());
                server.run();
                // It holds the last descriptor of the connection: whoever still
                // waits for an answer gets ECONNABORTED, also after a panic.
                drop(session);
            })
            .expect("a test can start a thread");
        let thread_id = thread_id.recv().expect("the server tells its thread first");
        let janitor = start_janitor(thread_id.as_raw_pid(), &path);
        Ok(FaultMount {
            path,
            tree,
            board,
            orders,
            wake,
            server: Some(server),
            janitor,
        })
    }

    /// The root of the mounted tree.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry, given relative to the root.
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.path.join(relative)
    }

    /// The totals of the tree, without its faults.
    pub fn expected(&self) -> Totals {
        self.tree.expected()
    }

    /// The operations that have arrived so far.
    pub fn counts(&self) -> Counts {
        self.board.counts()
    }

    /// The operations that have arrived for one entry.
    ///
    /// Only the operation counters are kept for each entry, the others are 0.
    /// Those of generated names are not kept at all.
    ///
    /// # Panics
    ///
    /// Panics if there is no such entry in the tree.
    pub fn counts_of(&self, path: impl AsRef<Path>) -> Counts {
        let path = path.as_ref();
        let ino = self.tree.find(path);
        self.board
            .counts_of(ino.unwrap_or_else(|| panic!("{} is not there", path.display())))
    }

    /// Waits until the counters satisfy `reached`; false when `timeout` is over first.
    pub fn wait_for(&self, timeout: Duration, reached: impl Fn(&Counts) -> bool) -> bool {
        self.board.wait_for(timeout, reached)
    }

    /// Lets every hanging call go on, and those to come.
    pub fn release(&self) {
        self.orders.release.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        // The server may have ended, by an unmount from outside.
        let _ = (&self.wake).write_all(&[0]);
    }
}

impl Drop for FaultMount {
    fn drop(&mut self) {
        // Detached first: nobody new comes in while the last are served.
        detach(&self.path);
        self.orders.stop.store(true, Ordering::Release);
        self.wake();
        let server = self.server.take().map(JoinHandle::join);
        if let Some(mut janitor) = self.janitor.take() {
            let _ = janitor.kill();
            let _ = janitor.wait();
        }
        // Never a removal of the whole tree: if the mount were still there, it
        // could be one without end.
        let _ = std::fs::remove_dir(&self.path);
        if let Some(Err(_)) = server
            && !std::thread::panicking()
        {
            panic!("the server of the fault file system panicked");
        }
    }
}

/// The part that `fuser` needs to shake hands; it never serves a request.
#[derive(Debug)]
struct Handshake;

impl Filesystem for Handshake {
    fn init(&mut self, _: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without it the kernel allows one lookup or listing at a time in each
        // directory. Not offered by kernels before 4.7.
        let _ = config.add_capabilities(InitFlags::FUSE_PARALLEL_DIROPS);
        // Keeps requests within REQUEST_MAX_BYTES.
        config
            .set_max_write(4096)
            .map(|_| ())
            .map_err(|_| io::Error::from(ErrorKind::Unsupported))
    }
}

fn config(settings: Settings) -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        match settings.is_writable {
            true => MountOption::RW,
            false => MountOption::RO,
        },
        MountOption::NoDev,
        MountOption::NoSuid,
        MountOption::FSName("statwalk-fault-fs".to_owned()),
    ];
    // Tests run the program as another user too. Others may not ask for it
    // unless /etc/fuse.conf says so.
    if is_root() {
        config.acl = SessionACL::All;
    }
    config
}

/// Checks the needs of mounting, before anything is made.
fn probe(device: &Path, search: Option<&OsStr>, can_abort: bool) -> Result<(), Skipped> {
    if OpenOptions::new()
        .read(true)
        .write(true)
        .open(device)
        .is_err()
    {
        return Err(Skipped::needs(DEVICE));
    }
    let mut places = search.into_iter().flat_map(std::env::split_paths);
    if !places.any(|place| place.join(HELPER).exists()) {
        return Err(Skipped::needs("fuse3"));
    }
    if !can_abort {
        return Err(Skipped::needs(
            "root, or fusectl mounted on /sys/fs/fuse/connections",
        ));
    }
    Ok(())
}

/// Whether the janitor could abort a mount. If not, a killed test might
/// stay until a reboot.
fn can_abort() -> bool {
    let mounts = || std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    is_root() || mounts().contains(" /sys/fs/fuse/connections fusectl ")
}

/// Skips where mounting is forbidden, and fails at a mistake of ours.
///
/// # Panics
///
/// Panics at a mistake of ours: a test must not be skipped for it.
fn refused(error: &io::Error) -> Skipped {
    let text = error.to_string();
    let forbidden = error.kind() == ErrorKind::PermissionDenied
        || text.contains("Operation not permitted")
        || text.contains("Permission denied");
    assert!(forbidden, "mounting the fault file system: {text}");
    Skipped::needs("permission to mount FUSE file systems")
}

fn new_directory() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let parent = std::env::temp_dir()
        .canonicalize()
        .expect("there is a temporary directory");
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("statwalk-fault-fs.{}.{number}", std::process::id()));
        match DirBuilder::new().mode(0o755).create(&path) {
            Ok(()) => return path,
            // Left by a process that had the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => panic!("making {}: {error}", path.display()),
        }
    }
}

fn nonblocking_device(session: &Session<Handshake>) -> io::Result<OwnedFd> {
    let device = session.as_fd().try_clone_to_owned()?;
    fcntl_setfl(&device, fcntl_getfl(&device)? | OFlags::NONBLOCK)?;
    Ok(device)
}

fn detach(path: &Path) {
    if unmount(path, UnmountFlags::DETACH).is_err() {
        let mut helper = Command::new(HELPER);
        let _ = helper
            .args(["-u", "-z", "--"])
            .arg(path)
            .stderr(Stdio::null())
            .status();
    }
}

/// Starts a process that aborts the mount when the server's thread is gone
/// while the guard was not dropped.
///
/// A killed test process would otherwise stay for ever, with a mount that answers
/// nobody. A thread of it that waits for an answer cannot be killed, and the connection
/// closes only when all threads have ended. It is a process group of its own, so that
/// it outlives a killer of the test's group.
///
/// Root aborts with a forced unmount, others through the file `abort` of the
/// connection, whose name is the minor device number of the mount.
fn start_janitor(server_thread: i32, path: &Path) -> Option<Child> {
    const SCRIPT: &str = r#"
        while [ -d "/proc/$1/task/$2" ]; do sleep 1; done
        while read -r _ _ device _ at _; do
            [ "$at" = "$3" ] && echo 1 > "/sys/fs/fuse/connections/${device#*:}/abort"
        done < /proc/self/mountinfo
        umount -f -- "$3"
        umount -l -- "$3" || fusermount3 -u -z -- "$3"
        rmdir -- "$3"
    "#;
    let mut janitor = Command::new("sh");
    janitor.args(["-c", SCRIPT, "statwalk-fault-fs-janitor"]);
    janitor
        .arg(std::process::id().to_string())
        .arg(server_thread.to_string())
        .arg(path);
    janitor
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    janitor.spawn().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(device: &str, search: &str, can_abort: bool, expected: Result<(), &str>) {
        let probed = probe(Path::new(device), Some(OsStr::new(search)), can_abort);
        assert_eq!(probed, expected.map_err(Skipped::needs));
    }

    #[test]
    fn what_is_missing_is_named() {
        check("/nonexistent/fuse", "/usr/bin", true, Err("/dev/fuse"));
        check("/dev/null", "/nonexistent", true, Err("fuse3"));
        if Path::new("/usr/bin/fusermount3").exists() {
            let needs = "root, or fusectl mounted on /sys/fs/fuse/connections";
            check("/dev/null", "/nonexistent:/usr/bin", false, Err(needs));
            check("/dev/null", "/nonexistent:/usr/bin", true, Ok(()));
        }
    }

    #[test]
    #[should_panic(expected = "mounting the fault file system")]
    fn our_own_mistakes_are_not_skipped() {
        refused(&io::Error::other("Invalid argument"));
    }
}
