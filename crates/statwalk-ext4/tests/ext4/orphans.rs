// SPDX-License-Identifier: MIT OR Apache-2.0

//! Inodes in use without a name: the chain of the superblock. The orphan file is tried
//! with the kernel's own list by the tests of the engine.

use statwalk_ext4::{Fault, Volume};
use statwalk_testkit::ext4_images::{self, Extent};
use statwalk_testkit::mounts::Access;
use statwalk_testkit::{Skipped, or_skip};

use crate::harness::Image;
use crate::harness::listed::by_sound_volume;

type Numbers = Vec<u32>;

/// An image whose chain leads over three files, and what its list then is.
fn list_of(back_to: Option<usize>) -> Result<(Numbers, Result<Numbers, Fault>), Skipped> {
    let image = Image::filled(&["-t", "ext4", "-b", "4096"], Extent::Small)?;
    let listing = by_sound_volume(&Volume::open(image.bytes()).unwrap());
    let paths = ["names/a", "links/one", "deep"];
    let numbers = paths.map(|path| listing[path.as_bytes()].inode as u32);
    let end = back_to.map_or(0, |index| numbers[index]);
    let [first, second, third] = numbers;
    let script = format!(
        "set_super_value last_orphan {first}\n\
         set_inode_field <{first}> dtime @{second}\n\
         set_inode_field <{first}> links_count 0\n\
         set_inode_field <{second}> dtime @{third}\n\
         set_inode_field <{third}> dtime @{end}\n\
         set_inode_field <{third}> links_count 0\n"
    );
    ext4_images::debugfs(&image.file, Access::ReadWrite, &script)?;
    let volume = Volume::open(image.bytes()).unwrap();
    let found = volume.unlinked_inodes();
    let found = found.map(|inodes| inodes.iter().map(|inode| inode.number()).collect());
    Ok((numbers.to_vec(), found.map_err(|damage| damage.fault)))
}

#[test]
fn a_chain_is_followed_over_files_that_have_a_name() {
    let (numbers, found) = or_skip!(list_of(None));
    let mut expected = vec![numbers[0], numbers[2]];
    expected.sort_unstable();
    assert_eq!(found, Ok(expected));
}

#[test]
fn a_chain_that_is_a_loop_ends() {
    let (_, found) = or_skip!(list_of(Some(1)));
    assert_eq!(
        found,
        Err(Fault::Malformed("the chain of orphans is a loop"))
    );
}

#[test]
fn a_sound_image_has_none() {
    let kinds = [
        "orphan_file",
        "^orphan_file",
        "orphan_file,^extents,^64bit",
        "^orphan_file,^has_journal",
    ];
    for features in kinds {
        let arguments = ["-t", "ext4", "-O", features];
        let image = or_skip!(Image::make(16 << 20, &arguments, None));
        let volume = Volume::open(image.bytes()).unwrap();
        let has_list = !features.contains("^has_journal");
        assert_eq!(volume.lists_unlinked_inodes(), has_list, "{features}");
        assert_eq!(volume.unlinked_inodes().unwrap().len(), 0, "{features}");
    }
}
