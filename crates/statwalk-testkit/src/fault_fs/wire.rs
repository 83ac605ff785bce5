// SPDX-License-Identifier: MIT OR Apache-2.0

//! The messages between the kernel and a FUSE server: requests decoded,
//! replies encoded. No I/O.
//!
//! Only the requests of a listing and of small files. Layouts and numbers:
//! include/uapi/linux/fuse.h, read against v6.18; replies have the form of
//! protocol 7.9 and later. Native byte order.

use std::time::Duration;

use rustix::io::Errno;

use super::tree::Object;
use crate::model::{EntryType, Timestamp};

/// `FUSE_MIN_READ_BUFFER`; suffices since the handshake asks for a `max_write`
/// of one page.
pub(super) const REQUEST_MAX_BYTES: usize = 8192;

const IN_HEADER_BYTES: usize = 40;
const OUT_HEADER_BYTES: usize = 16;
const DIRENT_BYTES: usize = 24;
const BLOCK_SIZE_BYTES: u32 = 4096;
/// Every time that the model does not set: 2023-11-14.
const MTIME: Timestamp = Timestamp {
    secs: 1_700_000_000,
    nanos: 0,
};

/// A request, with the arguments of its operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) unique: u64,
    pub(super) node: u64,
    pub(super) call: Call,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Lookup {
        name: Vec<u8>,
    },
    Getattr,
    Readlink,
    Opendir,
    Readdir {
        handle: u64,
        offset: u64,
        size: usize,
    },
    Releasedir {
        handle: u64,
    },
    Open,
    Read {
        offset: u64,
        size: usize,
    },
    Write {
        size: u32,
    },
    Unlink {
        name: Vec<u8>,
    },
    Rmdir {
        name: Vec<u8>,
    },
    Rename {
        name: Vec<u8>,
        new_dir: u64,
        new_name: Vec<u8>,
    },
    Create {
        name: Vec<u8>,
    },
    Statfs,
    Interrupt {
        unique: u64,
    },
    /// Wants no answer.
    Forget,
    /// Anything that this file system does not do.
    Unsupported,
}

/// The time for which the kernel may cache a reply.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validity {
    pub(super) entry: Duration,
    pub(super) attributes: Duration,
}

impl Request {
    /// Decodes one message, or `None` for one that breaks the protocol.
    pub(super) fn decode(message: &[u8]) -> Option<Request> {
        let body = message.get(IN_HEADER_BYTES..)?;
        let call = match u32_at(message, 4)? {
            1 => Call::Lookup {
                name: body.strip_suffix(b"\0")?.to_vec(),
            },
            2 | 42 => Call::Forget,
            3 => Call::Getattr,
            5 => Call::Readlink,
            10 => Call::Unlink {
                name: body.strip_suffix(b"\0")?.to_vec(),
            },
            11 => Call::Rmdir {
                name: body.strip_suffix(b"\0")?.to_vec(),
            },
            // The second has flags; of these the kernel sends only "do not replace".
            12 => rename(body, body.get(8..)?)?,
            45 => rename(body, body.get(16..)?)?,
            35 => Call::Create {
                name: body.get(16..)?.strip_suffix(b"\0")?.to_vec(),
            },
            14 => Call::Open,
            15 => Call::Read {
                offset: u64_at(body, 8)?,
                size: u32_at(body, 16)? as usize,
            },
            16 => Call::Write {
                size: u32_at(body, 16)?,
            },
            17 => Call::Statfs,
            27 => Call::Opendir,
            28 => Call::Readdir {
                handle: u64_at(body, 0)?,
                offset: u64_at(body, 8)?,
                size: u32_at(body, 16)? as usize,
            },
            29 => Call::Releasedir {
                handle: u64_at(body, 0)?,
            },
            36 => Call::Interrupt {
                unique: u64_at(body, 0)?,
            },
            _ => Call::Unsupported,
        };
        Some(Request {
            unique: u64_at(message, 8)?,
            node: u64_at(message, 16)?,
            call,
        })
    }
}

/// `struct fuse_rename_in` and the two names behind it.
fn rename(body: &[u8], names: &[u8]) -> Option<Call> {
    let names = names.strip_suffix(b"\0")?;
    let end = names.iter().position(|&byte| byte == 0)?;
    Some(Call::Rename {
        name: names[..end].to_vec(),
        new_dir: u64_at(body, 0)?,
        new_name: names[end + 1..].to_vec(),
    })
}

/// A whole reply that carries `payload`.
pub(super) fn reply(unique: u64, payload: &[u8]) -> Vec<u8> {
    message(unique, 0, payload)
}

/// A whole reply that carries an error.
pub(super) fn reply_error(unique: u64, errno: Errno) -> Vec<u8> {
    message(unique, -errno.raw_os_error(), &[])
}

/// `struct fuse_entry_out`
pub(super) fn entry_out(attributes: &Attributes, validity: Validity) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    put_u64(&mut out, attributes.object.ino);
    put_u64(&mut out, 0); // generation
    put_u64(&mut out, validity.entry.as_secs());
    put_u64(&mut out, validity.attributes.as_secs());
    put_u32(&mut out, validity.entry.subsec_nanos());
    put_u32(&mut out, validity.attributes.subsec_nanos());
    attributes.put(&mut out);
    out
}

/// `struct fuse_attr_out`
pub(super) fn attr_out(attributes: &Attributes, validity: Validity) -> Vec<u8> {
    let mut out = Vec::with_capacity(104);
    put_u64(&mut out, validity.attributes.as_secs());
    put_u32(&mut out, validity.attributes.subsec_nanos());
    put_u32(&mut out, 0);
    attributes.put(&mut out);
    out
}

/// `struct fuse_open_out`
pub(super) fn open_out(handle: u64) -> Vec<u8> {
    let mut out = handle.to_ne_bytes().to_vec();
    out.resize(16, 0);
    out
}

/// `struct fuse_open_out` of a file that the kernel keeps nothing of.
pub(super) fn open_file_out() -> Vec<u8> {
    const FOPEN_DIRECT_IO: u32 = 1;
    let mut out = vec![0; 8];
    put_u32(&mut out, FOPEN_DIRECT_IO);
    put_u32(&mut out, 0);
    out
}

/// `struct fuse_write_out`
pub(super) fn write_out(size: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(8);
    put_u32(&mut out, size);
    put_u32(&mut out, 0);
    out
}

/// `struct fuse_statfs_out`, with the numbers that a `df` needs.
pub(super) fn statfs_out(files: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(80);
    for value in [0, 0, 0, files, 0] {
        put_u64(&mut out, value);
    }
    for value in [BLOCK_SIZE_BYTES, 255, BLOCK_SIZE_BYTES] {
        put_u32(&mut out, value);
    }
    out.resize(80, 0);
    out
}

/// The attributes that `stat` shows of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    pub(super) object: Object,
    /// The inode number, which need not be that by which the kernel asks.
    pub(super) number: u64,
    /// Counts the changes made so far: moves mtime, ctime and nlink.
    pub(super) version: u32,
    /// Moves mtime and ctime alone.
    pub(super) moves: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Attributes {
    /// `struct fuse_attr`
    fn put(&self, out: &mut Vec<u8>) {
        let object = &self.object;
        let read = object.mtime.unwrap_or(MTIME);
        let changed = Timestamp {
            secs: read.secs + i64::from(self.version) + i64::from(self.moves),
            ..read
        };
        // The kernel takes seconds before 1970 as negative.
        let (read_s, changed_s) = (read.secs as u64, changed.secs as u64);
        let blocks = (object.allocated_bytes / 512) as u64;
        for value in [
            self.number,
            object.size_bytes,
            blocks,
            read_s,
            changed_s,
            changed_s,
        ] {
            put_u64(out, value);
        }
        let usual = match object.entry_type {
            EntryType::Directory => 0o755,
            EntryType::Symlink => 0o777,
            _ => 0o644,
        };
        let mode = dirent_type(object.entry_type) << 12 | object.permissions.unwrap_or(usual);
        let nlink = object.nlink.saturating_add(self.version);
        let (major, minor) = object.device;
        // new_encode_dev(), include/linux/kdev_t.h
        let device = minor & 0xff | major << 8 | (minor & !0xff) << 12;
        let flags = 0;
        for nanos in [read.nanos, changed.nanos, changed.nanos] {
            put_u32(out, nanos);
        }
        for value in [
            mode,
            nlink,
            self.uid,
            self.gid,
            device,
            BLOCK_SIZE_BYTES,
            flags,
        ] {
            put_u32(out, value);
        }
    }
}

/// The records of one READDIR reply, no longer than the kernel asked for.
pub(super) struct Dirents {
    bytes: Vec<u8>,
    size_max: usize,
    count: usize,
}

impl Dirents {
    pub(super) fn new(size_max: usize) -> Dirents {
        Dirents {
            bytes: Vec::new(),
            size_max,
            count: 0,
        }
    }

    /// Adds one `struct fuse_dirent`; false where it does not fit.
    ///
    /// `next` is the offset at which a later reply goes on.
    pub(super) fn push(&mut self, ino: u64, next: u64, entry_type: EntryType, name: &[u8]) -> bool {
        let size = (DIRENT_BYTES + name.len()).next_multiple_of(8);
        if self.bytes.len() + size > self.size_max {
            return false;
        }
        let end = self.bytes.len() + size;
        put_u64(&mut self.bytes, ino);
        put_u64(&mut self.bytes, next);
        put_u32(&mut self.bytes, name.len() as u32);
        put_u32(&mut self.bytes, dirent_type(entry_type));
        self.bytes.extend_from_slice(name);
        self.bytes.resize(end, 0);
        self.count += 1;
        true
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// `DT_*`, include/linux/fs_types.h; shifted by 12 it is the type in `st_mode`.
fn dirent_type(entry_type: EntryType) -> u32 {
    match entry_type {
        EntryType::Unknown => 0,
        EntryType::Fifo => 1,
        EntryType::CharDevice => 2,
        EntryType::Directory => 4,
        EntryType::BlockDevice => 6,
        EntryType::File => 8,
        EntryType::Symlink => 10,
        EntryType::Socket => 12,
    }
}

fn message(unique: u64, error: i32, payload: &[u8]) -> Vec<u8> {
    let size = OUT_HEADER_BYTES + payload.len();
    let mut out = Vec::with_capacity(size);
    put_u32(&mut out, size as u32);
    out.extend_from_slice(&error.to_ne_bytes());
    put_u64(&mut out, unique);
    out.extend_from_slice(payload);
    out
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_ne_bytes());
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_ne_bytes());
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|chunk| u32::from_ne_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|chunk| u64::from_ne_bytes(*chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_have_the_sizes_of_the_kernel_header() {
        let object = Object::empty(7, EntryType::File, 1);
        let attributes = Attributes {
            object,
            number: 7,
            version: 0,
            moves: 0,
            uid: 0,
            gid: 0,
        };
        assert_eq!(entry_out(&attributes, Validity::default()).len(), 128);
        assert_eq!(attr_out(&attributes, Validity::default()).len(), 104);
        assert_eq!(open_out(1).len(), 16);
        assert_eq!(open_file_out().len(), 16);
        assert_eq!(write_out(1).len(), 8);
        assert_eq!(statfs_out(1).len(), 80);
        assert_eq!(reply_error(1, Errno::IO).len(), 16);
    }

    #[test]
    fn a_listing_stays_within_the_size_asked_for() {
        let mut dirents = Dirents::new(70);
        assert!(dirents.push(1, 1, EntryType::Unknown, b"12345678"));
        assert!(dirents.push(1, 2, EntryType::File, b"1"));
        assert!(!dirents.push(1, 3, EntryType::File, b"1"));
        assert_eq!((dirents.count(), dirents.into_bytes().len()), (2, 64));
    }

    #[test]
    fn a_cut_message_is_no_request() {
        let mut message = vec![0; IN_HEADER_BYTES];
        message[4..8].copy_from_slice(&28u32.to_ne_bytes());
        message.extend_from_slice(&[0; 20]);
        assert!(Request::decode(&message).is_some());
        for end in 0..message.len() {
            assert_eq!(Request::decode(&message[..end]), None, "of {end} bytes");
        }
    }
}
