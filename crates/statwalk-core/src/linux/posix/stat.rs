// SPDX-License-Identifier: MIT OR Apache-2.0

//! Makes the answer of statx an [`EntryStat`] for the lister.

use rustix::fs::Statx;

use crate::entry::{Attributes, FileId, FileType};
use crate::fields::Fields;
use crate::linux::statx;
use crate::listing::change_stamp::ChangeStamp;
use crate::listing::source::EntryStat;

impl EntryStat for Statx {
    fn kind(&self) -> FileType {
        FileType::of_mode(self.stx_mode)
    }

    fn id(&self) -> FileId {
        statx::file_id(self)
    }

    fn mount(&self) -> u64 {
        statx::mount_id(self)
    }

    fn has_mount_id(&self) -> bool {
        statx::has_mount_id(self)
    }

    fn is_surely_local(&self) -> bool {
        statx::knows_dump_flag(self)
    }

    fn is_idle_automount(&self) -> bool {
        statx::is_idle_automount(self)
    }

    fn size_bytes(&self) -> u64 {
        self.stx_size
    }

    fn links(&self) -> u32 {
        self.stx_nlink
    }

    fn change_stamp(&self) -> ChangeStamp {
        ChangeStamp {
            mtime: (self.stx_mtime.tv_sec, self.stx_mtime.tv_nsec),
            ctime: (self.stx_ctime.tv_sec, self.stx_ctime.tv_nsec),
            links: self.stx_nlink,
            size_bytes: self.stx_size,
        }
    }

    #[inline]
    fn attributes(&self, wanted: Fields) -> Attributes {
        statx::attributes(self, wanted)
    }
}
