// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mounted file systems for the time of a test.
//!
//! Every function mounts on a directory that the test made, and returns a guard
//! that unmounts when it goes out of scope, after a failure too. Declare the
//! [`Scratch`] with the mount point before the guard, so that it is dropped
//! after it. Where a means is missing, the answer is [`Skipped`] with the
//! reason; a set-up that should work and does not is a panic, never a skip.
//!
//! Image files lie in a scratch directory of the guard. Loop devices go away by
//! themselves with their last user, so even a killed test leaves none without a mount.
//!
//! Nothing here may mount an ext4 made with `-O inline_data` for writing: it
//! deadlocks Linux 6.18. Make it with [`ext4_image`] and mount it with
//! [`image`], read-only.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use crate::scratch::Scratch;
use crate::skipped::Skipped;
use crate::unprivileged::is_root;

/// The size of an image where a test asks for no other. It is sparse: it takes the
/// space of the data written to it.
pub const IMAGE_BYTES: u64 = 512 << 20;

/// A file system that can be made anew, empty and writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// ext4 as mkfs makes it.
    Ext4,
    /// ext4 whose directories do not hold types: each listed entry is `DT_UNKNOWN`.
    Ext4WithoutFiletype,
    /// XFS.
    Xfs,
    /// btrfs, on which [`btrfs_subvolume`] works.
    Btrfs,
    /// A file system in memory; needs no image.
    Tmpfs,
}

impl FileSystem {
    /// All of them, for tests that hold on each.
    pub const ALL: [FileSystem; 5] = [
        FileSystem::Ext4,
        FileSystem::Ext4WithoutFiletype,
        FileSystem::Xfs,
        FileSystem::Btrfs,
        FileSystem::Tmpfs,
    ];

    /// Makes one of [`IMAGE_BYTES`] and mounts it on the directory `at`. Its root is empty but for a `lost+found`.
    ///
    /// # Errors
    ///
    /// Skipped without root, the mkfs program or the kernel's support.
    pub fn mount(self, at: &Path) -> Result<Mounted, Skipped> {
        self.mount_sized(at, IMAGE_BYTES)
    }

    /// As [`FileSystem::mount`], in another size; XFS takes no less than 300 MiB, btrfs 128 MiB.
    ///
    /// # Errors
    ///
    /// As [`FileSystem::mount`].
    pub fn mount_sized(self, at: &Path, bytes: u64) -> Result<Mounted, Skipped> {
        needs_root()?;
        if self == FileSystem::Tmpfs {
            return mount_it(
                "tmpfs",
                at,
                "tmpfs",
                MountFlags::empty(),
                &format!("size={bytes}"),
            )
            .map(|()| Mounted::new(at));
        }
        let home = Scratch::new().expect("a temporary directory");
        let file = home.path().join("image");
        let fs_type = match self {
            FileSystem::Ext4 => {
                ext4_image(&file, bytes, &[], None)?;
                "ext4"
            }
            FileSystem::Ext4WithoutFiletype => {
                ext4_image(&file, bytes, &["-O", "^filetype"], None)?;
                "ext4"
            }
            FileSystem::Xfs => {
                make_image(&file, bytes);
                run(Command::new(program("mkfs.xfs")?)
                    .args(["-q", "-f"])
                    .arg(&file));
                "xfs"
            }
            FileSystem::Btrfs => {
                make_image(&file, bytes);
                run(Command::new(program("mkfs.btrfs")?)
                    .args(["-q", "-f"])
                    .arg(&file));
                "btrfs"
            }
            FileSystem::Tmpfs => unreachable!("mounted above"),
        };
        let mut mounted = image(&file, fs_type, at, Access::ReadWrite, "")?;
        mounted.home = Some(home);
        Ok(mounted)
    }
}

/// A file system of a program in user space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserSpace {
    /// Another view of a directory.
    Bindfs,
    /// A union of two directories. A directory that moves gets another inode number.
    Mergerfs,
    /// NTFS by ntfs-3g.
    Ntfs,
    /// exFAT by exfat-fuse, without hard links.
    Exfat,
}

impl UserSpace {
    /// Makes an empty one and mounts it on the directory `at`, with the program's options.
    ///
    /// # Errors
    ///
    /// Skipped without root or the programs.
    ///
    /// # Panics
    ///
    /// If the program fails.
    pub fn mount(self, at: &Path, options: &str) -> Result<Mounted, Skipped> {
        needs_root()?;
        let server = program(match self {
            UserSpace::Bindfs => "bindfs",
            UserSpace::Mergerfs => "mergerfs",
            UserSpace::Ntfs => "ntfs-3g",
            UserSpace::Exfat => "mount.exfat-fuse",
        })?;
        let mkfs = match self {
            UserSpace::Ntfs => Some(program("mkntfs")?),
            UserSpace::Exfat => Some(program("mkfs.exfat")?),
            UserSpace::Bindfs | UserSpace::Mergerfs => None,
        };
        let home = Scratch::new().expect("a temporary directory");
        let image = home.path().join("image");
        let mut device = None;
        let source = match mkfs {
            Some(mkfs) => {
                make_image(&image, 64 << 20);
                let quick: &[&str] = match self {
                    UserSpace::Ntfs => &["-F", "-Q", "-q"],
                    _ => &[],
                };
                run(Command::new(mkfs).args(quick).arg(&image));
                let made = LoopDevice::of(&image, Access::ReadWrite)?;
                let path = made.path().as_os_str().to_owned();
                device = Some(made);
                path
            }
            None => {
                let branch = |name| home.subdirectory(name).expect("a directory");
                let first = branch("first").into_os_string();
                match self {
                    UserSpace::Mergerfs => {
                        let mut both = first;
                        both.push(":");
                        both.push(branch("second"));
                        both
                    }
                    _ => first,
                }
            }
        };
        let mut command = Command::new(server);
        if !options.is_empty() {
            command.args(["-o", options]);
        }
        run(command.arg(source).arg(at));
        drop(device);
        let mut mounted = Mounted::new(at);
        mounted.home = Some(home);
        Ok(mounted)
    }
}

/// Whether a mount can be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can.
    ReadWrite,
    /// It cannot, nor can its device.
    ReadOnly,
}

/// A mount that goes away with this value.
#[derive(Debug)]
pub struct Mounted {
    at: PathBuf,
    device: Option<PathBuf>,
    image: Option<PathBuf>,
    is_mounted: bool,
    /// Removed after the mount is gone.
    home: Option<Scratch>,
}

impl Mounted {
    pub(crate) fn new(at: &Path) -> Mounted {
        Mounted {
            at: at.to_owned(),
            device: None,
            image: None,
            is_mounted: true,
            home: None,
        }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// The block device, for images.
    pub fn device(&self) -> Option<&Path> {
        self.device.as_deref()
    }

    /// The image file, for images.
    pub fn image(&self) -> Option<&Path> {
        self.image.as_deref()
    }

    /// Writes everything to the device, so that `st_blocks` no longer changes and the image can be read.
    ///
    /// # Errors
    ///
    /// The file system cannot be written.
    pub fn settle(&self) -> io::Result<()> {
        crate::scratch::settle(&self.at)
    }

    /// Makes the mount read-only.
    ///
    /// # Errors
    ///
    /// A file is open for writing.
    pub fn make_read_only(&self) -> io::Result<()> {
        Ok(rustix::mount::mount_remount(
            &self.at,
            MountFlags::RDONLY,
            c"",
        )?)
    }

    /// Unmounts now, and says so if that fails. An image in a directory of the test stays.
    ///
    /// # Errors
    ///
    /// The mount is in use; it is then detached lazily.
    pub fn unmount(mut self) -> io::Result<()> {
        self.is_mounted = false;
        unmount(&self.at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_mounted
            && let Err(e) = unmount(&self.at)
        {
            crate::skipped::note(&format!("detached lazily: {}: {e}", self.at.display()));
        }
    }
}

/// Unmounts, patiently, and in the end by detaching.
fn unmount(at: &Path) -> io::Result<()> {
    // Another thread between fork and exec holds our descriptors for a moment.
    for _ in 0..40 {
        match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
            Err(Errno::BUSY) => std::thread::sleep(Duration::from_millis(25)),
            other => return Ok(other?),
        }
    }
    rustix::mount::unmount(at, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)?;
    Err(Errno::BUSY.into())
}

/// Makes an ext4 image file with further arguments for mkfs, and if `from` is given with a copy of that tree.
///
/// This needs no root. The block size is 4 KiB, so that large sparse files are possible.
///
/// # Errors
///
/// Skipped without mkfs.ext4.
///
/// # Panics
///
/// If mkfs fails.
pub fn ext4_image(
    file: &Path,
    bytes: u64,
    arguments: &[&str],
    from: Option<&Path>,
) -> Result<(), Skipped> {
    let mkfs = program("mkfs.ext4")?;
    make_image(file, bytes);
    let mut command = Command::new(mkfs);
    command
        .args(["-q", "-F", "-b", "4096", "-i", "8192"])
        .args(arguments);
    if let Some(from) = from {
        command.arg("-d").arg(from);
    }
    run(command.arg(file));
    Ok(())
}

/// Mounts an image file through a loop device.
///
/// # Errors
///
/// Skipped without root, loop devices or the kernel's support of `fs_type`.
///
/// # Panics
///
/// If the kernel refuses the image.
pub fn image(
    file: &Path,
    fs_type: &str,
    at: &Path,
    access: Access,
    options: &str,
) -> Result<Mounted, Skipped> {
    let flags = match access {
        Access::ReadWrite => MountFlags::empty(),
        Access::ReadOnly => MountFlags::RDONLY,
    };
    // From the end of this function on the mount is all that keeps it.
    let device = LoopDevice::of(file, access)?;
    mount_it(device.path(), at, fs_type, flags, options)?;
    let mut mounted = Mounted::new(at);
    mounted.device = Some(device.path().to_owned());
    mounted.image = Some(file.to_owned());
    Ok(mounted)
}

/// A loop device over an image file. The kernel detaches it with its last user, which can
/// be a mount that lives longer than this value.
#[derive(Debug)]
pub struct LoopDevice {
    losetup: PathBuf,
    path: PathBuf,
}

impl LoopDevice {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// Skipped without root or loop devices.
    pub fn of(file: &Path, access: Access) -> Result<LoopDevice, Skipped> {
        needs_root()?;
        let losetup = program("losetup")?;
        let mut command = Command::new(&losetup);
        command.args(["--find", "--show"]);
        if access == Access::ReadOnly {
            command.arg("--read-only");
        }
        let output = command.arg(file).output().expect("losetup is there");
        if !output.status.success() {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Skipped::needs(format!("a loop device: {reason}")));
        }
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        Ok(LoopDevice { losetup, path })
    }

    /// Its node.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        run(Command::new(&self.losetup).arg("--detach").arg(&self.path));
    }
}

/// Makes a squashfs image of the tree `from` and mounts it, read-only.
///
/// # Errors
///
/// Skipped without root, mksquashfs or the kernel's support.
///
/// # Panics
///
/// If mksquashfs fails.
pub fn squashfs(at: &Path, from: &Path) -> Result<Mounted, Skipped> {
    needs_root()?;
    let home = Scratch::new().expect("a temporary directory");
    let file = home.path().join("image");
    let mut command = Command::new(program("mksquashfs")?);
    run(command
        .arg(from)
        .arg(&file)
        .args(["-quiet", "-no-progress"]));
    let mut mounted = image(&file, "squashfs", at, Access::ReadOnly, "")?;
    mounted.home = Some(home);
    Ok(mounted)
}

/// Mounts an overlay of `upper` over `lower`; `work` is an empty directory beside `upper`.
///
/// Paths with a comma or a colon cannot be options and are refused.
///
/// # Errors
///
/// Skipped without root or the kernel's support.
///
/// # Panics
///
/// If the kernel refuses the directories.
pub fn overlay(at: &Path, lower: &Path, upper: &Path, work: &Path) -> Result<Mounted, Skipped> {
    overlay_with(at, &[lower], upper, work, "")
}

/// The same with several lower directories, the uppermost first, and more options, each
/// with a comma before it.
///
/// # Errors
///
/// Skipped without root or the kernel's support.
///
/// # Panics
///
/// If the kernel refuses the directories or the options.
pub fn overlay_with(
    at: &Path,
    lower: &[&Path],
    upper: &Path,
    work: &Path,
    more: &str,
) -> Result<Mounted, Skipped> {
    needs_root()?;
    let text = |path: &Path| {
        let text = path.to_str().expect("a test's path is text").to_owned();
        assert!(
            !text.contains([',', ':']),
            "not an option of overlay: {text}"
        );
        text
    };
    let options = format!(
        "lowerdir={},upperdir={},workdir={}{more}",
        lower
            .iter()
            .map(|path| text(path))
            .collect::<Vec<_>>()
            .join(":"),
        text(upper),
        text(work)
    );
    mount_it("overlay", at, "overlay", MountFlags::empty(), &options)?;
    Ok(Mounted::new(at))
}

/// Mounts an overlay with any options by mount(8), which runs in the directory `from`: paths
/// can be relative to it.
///
/// # Errors
///
/// Skipped without root, mount(8) or the kernel's support.
///
/// # Panics
///
/// If the kernel refuses the options.
pub fn overlay_from(from: &Path, at: &Path, options: &str) -> Result<Mounted, Skipped> {
    needs_root()?;
    let mut command = Command::new(program("mount")?);
    let command = command
        .current_dir(from)
        .args(["-i", "-t", "overlay", "-o"]);
    run(command.arg(options).arg("overlay").arg(at));
    Ok(Mounted::new(at))
}

/// Shows a directory, or a file, a second time: `at` must be of the same kind. Mounts below `source` are not shown.
///
/// # Errors
///
/// Skipped without root.
///
/// # Panics
///
/// If one of them is not there or of another kind.
pub fn bind(source: &Path, at: &Path) -> Result<Mounted, Skipped> {
    needs_root()?;
    let outcome = rustix::mount::mount_bind(source, at);
    judge(outcome, "bind", at)?;
    Ok(Mounted::new(at))
}

/// Mounts FUSE on a directory, or a file, as another user does without `allow_other`: root
/// is shut out. Nobody serves it, and nobody needs to.
///
/// # Errors
///
/// Skipped without root or FUSE.
///
/// # Panics
///
/// If `at` is not there.
pub fn private_fuse(at: &Path) -> Result<(Mounted, File), Skipped> {
    needs_root()?;
    let device = File::options().read(true).write(true).open("/dev/fuse");
    let device = device.map_err(|error| Skipped::needs(format!("/dev/fuse: {error}")))?;
    let mode = match at.is_dir() {
        true => "40000",
        false => "100000",
    };
    let fd = device.as_raw_fd();
    let options = format!("fd={fd},rootmode={mode},user_id=65534,group_id=65534");
    mount_it("private", at, "fuse", MountFlags::empty(), &options)?;
    Ok((Mounted::new(at), device))
}

/// Makes a subvolume of btrfs at a path that does not exist.
///
/// # Errors
///
/// Skipped without the btrfs program.
///
/// # Panics
///
/// If the path does not lie on btrfs.
pub fn btrfs_subvolume(path: &Path) -> Result<(), Skipped> {
    run(Command::new(program("btrfs")?)
        .args(["-q", "subvolume", "create"])
        .arg(path));
    Ok(())
}

/// Makes a snapshot of a subvolume at a path that does not exist.
///
/// # Errors
///
/// Skipped without the btrfs program.
///
/// # Panics
///
/// If the source is not a subvolume.
pub fn btrfs_snapshot(source: &Path, path: &Path) -> Result<(), Skipped> {
    let mut command = Command::new(program("btrfs")?);
    run(command
        .args(["-q", "subvolume", "snapshot"])
        .arg(source)
        .arg(path));
    Ok(())
}

/// Mounts one subvolume of a mounted btrfs once more, on its own; `subvolume` is its path from the top.
///
/// # Errors
///
/// Skipped without root.
///
/// # Panics
///
/// If there is no such subvolume.
pub fn btrfs_mount_subvolume(
    btrfs: &Mounted,
    subvolume: &str,
    at: &Path,
) -> Result<Mounted, Skipped> {
    needs_root()?;
    let device = btrfs.device().expect("btrfs lies on a device");
    mount_it(
        device,
        at,
        "btrfs",
        MountFlags::empty(),
        &format!("subvol={subvolume}"),
    )?;
    Ok(Mounted::new(at))
}

pub(crate) fn needs_root() -> Result<(), Skipped> {
    Skipped::in_a_quick_run()?;
    if is_root() {
        Ok(())
    } else {
        Err(Skipped::needs("root"))
    }
}

/// Finds a program; those of the administrator are not always in `PATH`.
pub(crate) fn program(name: &str) -> Result<PathBuf, Skipped> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let further = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(further)
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| Skipped::needs(name))
}

pub(crate) fn make_image(file: &Path, bytes: u64) {
    let outcome = File::create_new(file).and_then(|file| file.set_len(bytes));
    assert!(outcome.is_ok(), "{}: {outcome:?}", file.display());
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output();
    let succeeded = output.as_ref().is_ok_and(|output| output.status.success());
    assert!(succeeded, "{command:?}: {output:?}");
}

pub(crate) fn mount_it(
    source: impl rustix::path::Arg,
    at: &Path,
    fs_type: &str,
    flags: MountFlags,
    options: &str,
) -> Result<(), Skipped> {
    let options = CString::new(options).expect("options have no NUL");
    judge(
        rustix::mount::mount(source, at, fs_type, flags, options.as_c_str()),
        fs_type,
        at,
    )
}

/// Skips where the machine cannot mount, panics at any other failure, and makes a mount private.
fn judge(outcome: Result<(), Errno>, what: &str, at: &Path) -> Result<(), Skipped> {
    match outcome {
        Ok(()) => {
            // Where `/` is shared, a bind mount would repeat what is mounted later.
            let change = MountPropagationFlags::PRIVATE;
            let changed = rustix::mount::mount_change(at, change);
            assert!(changed.is_ok(), "{}: {changed:?}", at.display());
            Ok(())
        }
        Err(Errno::PERM) => Err(Skipped::needs("CAP_SYS_ADMIN")),
        Err(Errno::NODEV) => Err(Skipped::needs(format!("a kernel with {what}"))),
        Err(e) => panic!("{what} on {}: {e}", at.display()),
    }
}
