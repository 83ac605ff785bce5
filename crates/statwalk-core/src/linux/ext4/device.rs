// SPDX-License-Identifier: MIT OR Apache-2.0

//! Block devices and image files, opened for reading and nothing else.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, StatxFlags, openat};
use rustix::io::Errno as KernelErrno;
use statwalk_ext4::{Bytes, ReadError};
use statwalk_sys::device_map::{CopyError, DeviceMap};

use super::file_bytes::{FileBytes, failed};
use crate::entry::FileType;
use crate::linux::statx::{self, uninterrupted};

/// The bytes of a device or an image.
#[derive(Debug)]
pub(crate) enum Device {
    /// In memory, as far as they are looked at.
    Mapped(DeviceMap),
    /// By a call for each piece, if the machine has no map or no room for one.
    Called(FileBytes),
}

impl Device {
    /// Takes a device or a file that is open for reading.
    ///
    /// A pipe and a terminal have no length, which is an error.
    pub(crate) fn new(mut file: File) -> io::Result<Device> {
        // A block device has no size in its attributes, but an end.
        let length_bytes = file.seek(SeekFrom::End(0))?;
        if !DeviceMap::IS_SUPPORTED || length_bytes == 0 || !has_room_for(length_bytes) {
            return Ok(Device::Called(FileBytes::new(file, length_bytes)));
        }
        Ok(Device::Mapped(DeviceMap::new(file.as_fd(), length_bytes)?))
    }

    /// Opens the block device with a number, as `major:minor`.
    pub(crate) fn open(number: &str) -> Result<(Device, PathBuf), (PathBuf, io::Error)> {
        let known = PathBuf::from(format!("/sys/dev/block/{number}/uevent"));
        let path = match std::fs::read_to_string(&known) {
            // Documentation/ABI/stable/sysfs-devices: DEVNAME is relative to /dev.
            Ok(text) => match text.lines().find_map(|line| line.strip_prefix("DEVNAME=")) {
                Some(name) => Path::new("/dev").join(name),
                None => return Err((known, KernelErrno::NODEV.into())),
            },
            Err(error) => return Err((known, error)),
        };
        let opened = opened(CWD, &path).and_then(|file| {
            let found = file.metadata()?;
            let is_it = found.file_type().is_block_device()
                && number_of(found.rdev()).as_deref() == Some(number);
            match is_it {
                true => Device::new(file),
                false => Err(KernelErrno::NXIO.into()),
            }
        });
        match opened {
            Ok(device) => Ok((device, path)),
            Err(error) => Err((path, error)),
        }
    }

    /// Opens an image or an unmounted device by the path that a caller gave. A relative one
    /// leads from `here`.
    pub(crate) fn open_image(here: BorrowedFd<'_>, path: &std::ffi::CStr) -> io::Result<Device> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
        opened(here, path).and_then(Device::new)
    }
}

impl Device {
    /// Has bytes read into memory, where there is a map; it is advice.
    pub(super) fn will_need(&self, offset_bytes: u64, count: u64) {
        if let Device::Mapped(map) = self {
            let _ = map.will_need(offset_bytes, count);
        }
    }

    /// How many pages of these bytes are in memory, and how many there are.
    pub(super) fn resident_pages(
        &self,
        offset_bytes: u64,
        count: u64,
    ) -> io::Result<(usize, usize)> {
        match self {
            Device::Mapped(map) => map.resident_pages(offset_bytes, count),
            Device::Called(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// Whether a map of so many bytes leaves the process most of its address space,
/// where that is limited.
fn has_room_for(length_bytes: u64) -> bool {
    let limit = statwalk_sys::address_space::limit_bytes();
    limit.is_none_or(|limit| length_bytes <= limit / 4)
}

/// Opens a regular file or a block device, and nothing else: to open a FIFO
/// waits for a writer, and to open a character device may set it going.
fn opened(here: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    let open = |flags: OFlags| -> io::Result<OwnedFd> {
        let opened = uninterrupted(|| openat(here, path, flags | OFlags::CLOEXEC, Mode::empty()))?;
        let found = statx::by_descriptor(opened.as_fd(), StatxFlags::TYPE)?;
        match holds_bytes(FileType::of_mode(found.stx_mode)) {
            Ok(()) => Ok(opened),
            Err(cause) => Err(io::Error::new(io::ErrorKind::InvalidInput, cause)),
        }
    };
    // O_PATH opens nothing that is behind the name. Should the name lead elsewhere
    // by then, O_NONBLOCK does not wait.
    open(OFlags::PATH)?;
    open(OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)
}

/// Refuses a type of file that cannot hold a file system.
fn holds_bytes(found: FileType) -> Result<(), String> {
    let what = match found {
        FileType::File | FileType::BlockDevice => return Ok(()),
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharDevice => "a character device",
        FileType::Directory => "a directory",
        _ => "something else",
    };
    Err(format!(
        "{what} holds no file system; try a regular file or a block device"
    ))
}

/// `major:minor` of a device number.
fn number_of(rdev: u64) -> Option<String> {
    let (major, minor) = (rustix::fs::major(rdev), rustix::fs::minor(rdev));
    (rdev != 0).then(|| format!("{major}:{minor}"))
}

impl Bytes for Device {
    #[inline]
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), ReadError> {
        match self {
            Device::Mapped(map) => map.copy(offset_bytes, into).map_err(|error| match error {
                CopyError::OutOfRange => ReadError::BeyondEnd,
                CopyError::Io => failed(KernelErrno::IO),
            }),
            Device::Called(file) => file.read(offset_bytes, into),
        }
    }

    #[inline]
    fn will_read(&self, offset_bytes: u64, count: usize) {
        if let Device::Mapped(map) = self {
            map.prefetch(offset_bytes, count);
        }
    }

    fn length_bytes(&self) -> u64 {
        match self {
            Device::Mapped(map) => map.len(),
            Device::Called(file) => file.length_bytes(),
        }
    }
}
