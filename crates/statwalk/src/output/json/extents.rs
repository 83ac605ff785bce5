// SPDX-License-Identifier: MIT OR Apache-2.0

//! The JSON of `extents`.

use std::os::unix::ffi::OsStrExt;

use serde::Serialize;
use statwalk_core::btrfs::{ExtentDir, ExtentSums, ExtentUsage};
use statwalk_view::json_path;

/// The answer of `extents`.
#[derive(Serialize)]
pub(crate) struct ExtentsJsonAnswer {
    extents: ExtentsJson,
}

#[derive(Serialize)]
struct ExtentsJson {
    #[serde(flatten)]
    total: SumsJson,
    compression: Vec<CompressionJson>,
    file_systems: Vec<FileSystemJson>,
    /// The files that are not in the sums.
    files_elsewhere: u64,
    extents_gone: u64,
    tree: Vec<DirJson>,
}

#[derive(Serialize)]
struct SumsJson {
    disk_bytes: u64,
    exclusive_bytes: u64,
    shared_bytes: u64,
    referenced_bytes: u64,
    inline_bytes: u64,
}

#[derive(Serialize)]
struct CompressionJson {
    compression: &'static str,
    extents: u64,
    disk_bytes: u64,
    plain_bytes: u64,
}

#[derive(Serialize)]
struct FileSystemJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    generation: u64,
}

#[derive(Serialize)]
struct DirJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(flatten)]
    sums: SumsJson,
    /// Whether something in it could not be read.
    incomplete: bool,
}

impl SumsJson {
    fn new(sums: ExtentSums) -> SumsJson {
        SumsJson {
            disk_bytes: sums.disk_bytes,
            exclusive_bytes: sums.exclusive_bytes,
            shared_bytes: sums.shared_bytes(),
            referenced_bytes: sums.referenced_bytes,
            inline_bytes: sums.inline_bytes,
        }
    }
}

impl ExtentsJsonAnswer {
    pub(crate) fn new<'a>(
        usage: &'a ExtentUsage,
        dirs: impl Iterator<Item = ExtentDir<'a>>,
        is_incomplete: impl Fn(&[u8]) -> bool,
    ) -> ExtentsJsonAnswer {
        let compression = usage.compression.iter().map(|way| CompressionJson {
            compression: way.compression.name(),
            extents: way.extents,
            disk_bytes: way.disk_bytes,
            plain_bytes: way.plain_bytes,
        });
        let file_systems = usage.generations.iter().map(|(path, generation)| {
            let (path, path_b64) = json_path(path.as_os_str().as_bytes());
            FileSystemJson {
                path,
                path_b64,
                generation: *generation,
            }
        });
        let tree = dirs.map(|dir| {
            let bytes = dir.path();
            let (path, path_b64) = json_path(&bytes);
            DirJson {
                incomplete: is_incomplete(&bytes),
                path,
                path_b64,
                sums: SumsJson::new(dir.sums()),
            }
        });
        ExtentsJsonAnswer {
            extents: ExtentsJson {
                total: SumsJson::new(usage.total),
                compression: compression.collect(),
                file_systems: file_systems.collect(),
                files_elsewhere: usage.files_elsewhere,
                extents_gone: usage.extents_gone,
                tree: tree.collect(),
            },
        }
    }
}
