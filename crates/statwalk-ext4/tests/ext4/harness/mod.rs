// SPDX-License-Identifier: MIT OR Apache-2.0

//! An image with something in it, and two ways to list it.

pub(crate) mod image_bytes;
pub(crate) mod listed;
pub(crate) mod random;

use std::path::{Path, PathBuf};

use statwalk_testkit::ext4_images::{self, Extent};
use statwalk_testkit::mounts::{self, Access};
use statwalk_testkit::{Scratch, Skipped};

/// An image file that goes away after the test.
pub(crate) struct Image {
    pub(crate) scratch: Scratch,
    pub(crate) file: PathBuf,
}

impl Image {
    /// Makes one with arguments for mke2fs.
    pub(crate) fn make(
        bytes: u64,
        arguments: &[&str],
        from: Option<&Path>,
    ) -> Result<Image, Skipped> {
        let scratch = Scratch::new().expect("a temporary directory");
        let file = scratch.path().join("image");
        ext4_images::make(&file, bytes, arguments, from)?;
        Ok(Image { scratch, file })
    }

    /// Makes one of 96 MiB and fills it through a mount.
    pub(crate) fn filled(arguments: &[&str], extent: Extent) -> Result<Image, Skipped> {
        let image = Image::make(96 << 20, arguments, None)?;
        let mounted = image.mount(Access::ReadWrite)?;
        ext4_images::fill(mounted.path(), extent).expect("all of it can be made");
        mounted.settle().expect("a device that takes it");
        mounted.unmount().expect("nobody uses it");
        Ok(image)
    }

    /// Mounts it; what is not initialised stays so, and a read-only mount
    /// writes nothing at all.
    pub(crate) fn mount(&self, access: Access) -> Result<mounts::Mounted, Skipped> {
        let at = self.scratch.path().join("mounted");
        std::fs::create_dir_all(&at).expect("a temporary directory");
        let options = match access {
            Access::ReadWrite => "noinit_itable",
            Access::ReadOnly => "noload",
        };
        mounts::image(&self.file, "ext4", &at, access, options)
    }

    /// All its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.file).expect("the image is there")
    }
}
