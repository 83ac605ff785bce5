// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `df`.

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_core::space::{FileSystem, HiddenDirectory, Holder, SpaceAccount, UnnamedFile};
use statwalk_view::json_path;

use super::is_false;
use super::scan_report::ErrorJson;
use crate::answer::about::About;
use crate::system::file_systems::MountedSpace;

/// The answer of `df`.
#[derive(Serialize)]
pub(crate) struct DfJson {
    complete: bool,
    #[serde(skip_serializing_if = "is_false")]
    interrupted: bool,
    file_systems: Vec<FileSystemJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_scanned: Vec<NotScannedJson>,
}

/// A file system that no scan explains.
#[derive(Serialize)]
pub(crate) struct NotScannedJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    file_system: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_bytes: Option<u64>,
    reason: String,
}

/// A file system, and the parts of its used bytes.
#[derive(Serialize)]
pub(crate) struct FileSystemJson {
    #[serde(skip)]
    complete: bool,
    #[serde(skip)]
    interrupted: bool,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    elapsed_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_bytes: Option<u64>,
    total_bytes: u64,
    free_bytes: u64,
    reserved_bytes: u64,
    used_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_inodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_inodes: Option<u64>,
    changed_bytes: i64,
    parts: Vec<PartJson>,
    unknown: Vec<UnknownJson>,
    unreadable: u64,
    unnamed: Vec<UnnamedJson>,
    hidden: Vec<HiddenJson>,
    errors: Vec<ErrorJson>,
}

#[derive(Serialize)]
struct PartJson {
    part: &'static str,
    bytes: i64,
}

#[derive(Serialize)]
struct UnknownJson {
    part: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct UnnamedJson {
    inode: u64,
    allocated_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    holders: Vec<HolderJson>,
    more_holders: u64,
}

/// A directory that a mount covers.
#[derive(Serialize)]
struct HiddenJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    allocated_bytes: u64,
    entries: u64,
}

#[derive(Serialize)]
struct HolderJson {
    pid: u32,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_b64: Option<String>,
}

impl DfJson {
    pub(crate) fn new(
        file_systems: Vec<FileSystemJson>,
        not_scanned: Vec<NotScannedJson>,
    ) -> DfJson {
        DfJson {
            complete: file_systems.iter().all(|found| found.complete),
            interrupted: file_systems.iter().any(|found| found.interrupted),
            file_systems,
            not_scanned,
        }
    }
}

impl NotScannedJson {
    pub(crate) fn new(mounted: &MountedSpace, reason: &str) -> NotScannedJson {
        let (path, path_b64) = json_path(mounted.point.as_os_str().as_bytes());
        NotScannedJson {
            path,
            path_b64,
            file_system: mounted.file_system.clone(),
            total_bytes: mounted.space.map(|space| space.total_bytes),
            free_bytes: mounted.space.map(|space| space.free_bytes),
            used_bytes: mounted.space.map(|space| space.used_bytes),
            reason: reason.to_owned(),
        }
    }
}

impl HiddenJson {
    fn new(hidden: &HiddenDirectory) -> HiddenJson {
        let (path, path_b64) = json_path(hidden.point.as_os_str().as_bytes());
        HiddenJson {
            path,
            path_b64,
            allocated_bytes: hidden.allocated_bytes,
            entries: hidden.entries,
        }
    }
}

impl FileSystemJson {
    pub(crate) fn new(found: &FileSystem, account: &SpaceAccount, about: &About) -> FileSystemJson {
        let (path, path_b64) = json_path(found.point().as_os_str().as_bytes());
        let capacity = account.capacity;
        let parts = account.parts.iter();
        FileSystemJson {
            complete: about.gaps.is_complete && account.unknown.is_empty(),
            interrupted: about.gaps.interrupted,
            path,
            path_b64,
            file_system: found.file_system().map(str::to_owned),
            source: found.source().map(|source| json_path(source).0),
            // Whole microseconds: the rest would be noise.
            elapsed_s: about.elapsed.as_micros() as f64 / 1e6,
            device_bytes: capacity.device_bytes,
            total_bytes: capacity.total_bytes,
            free_bytes: capacity.free_bytes,
            reserved_bytes: capacity.reserved_bytes,
            used_bytes: capacity.used_bytes,
            used_inodes: capacity.used_inodes,
            total_inodes: capacity.total_inodes,
            changed_bytes: account.changed_bytes,
            parts: parts
                .map(|(part, bytes)| PartJson {
                    part: part.name(),
                    bytes: *bytes,
                })
                .collect(),
            unknown: account
                .unknown
                .iter()
                .map(|unknown| UnknownJson {
                    part: unknown.part.name(),
                    reason: unknown.reason.clone(),
                })
                .collect(),
            unreadable: account.unreadable,
            unnamed: account.unnamed.iter().map(UnnamedJson::new).collect(),
            hidden: account.hidden.iter().map(HiddenJson::new).collect(),
            errors: about.errors().map(ErrorJson::new).collect(),
        }
    }
}

impl UnnamedJson {
    fn new(file: &UnnamedFile) -> UnnamedJson {
        let (path, path_b64) = match &file.path {
            Some(path) => {
                let (path, path_b64) = json_path(path);
                (Some(path), path_b64)
            }
            None => (None, None),
        };
        UnnamedJson {
            inode: file.inode,
            allocated_bytes: file.allocated_bytes,
            path,
            path_b64,
            holders: file.holders.iter().map(HolderJson::new).collect(),
            more_holders: file.more_holders,
        }
    }
}

impl HolderJson {
    fn new(holder: &Holder) -> HolderJson {
        let (name, name_b64) = json_path(&holder.name);
        HolderJson {
            pid: holder.pid,
            name,
            name_b64,
        }
    }
}
