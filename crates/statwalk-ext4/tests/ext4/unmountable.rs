// SPDX-License-Identifier: MIT OR Apache-2.0

//! Kinds of file systems that cannot be mounted for writing here, or at all.
//!
//! mke2fs copies a tree into each. The test compares it with that tree, with debugfs,
//! and with a read-only mount where there is one.

use statwalk_ext4::{DirectoryScratch, Fault, FileType, Volume};
use statwalk_testkit::ext4_images::{self, Extent};
use statwalk_testkit::mounts::{Access, FileSystem};
use statwalk_testkit::{Scratch, Skipped, or_skip, unprivileged};

use crate::harness::Image;
use crate::harness::image_bytes::ImageBytes;
use crate::harness::listed::{Listing, assert_same, by_kernel, by_sound_volume, by_volume};
use crate::variants::compare_with_debugfs;

/// Whether the kernel takes part in the comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    MountsReadOnly,
    DoesNotMount,
}

fn check(arguments: &[&str], kernel: Kernel) -> Result<(Image, Listing), Skipped> {
    let what = arguments.join(" ");
    if !unprivileged::is_root() {
        return Err(Skipped::needs("root"));
    }
    // tmpfs: device nodes, attributes, and times that any other may round.
    let home = Scratch::new().expect("a temporary directory");
    let memory = FileSystem::Tmpfs.mount(home.path())?;
    let tree = memory.path().join("tree");
    std::fs::create_dir(&tree).expect("a temporary directory");
    ext4_images::fill(&tree, Extent::Small).expect("all of it can be made");
    ext4_images::wide(&tree.join("wide"), 500).expect("all of it can be made");
    let source = by_kernel(&tree);
    let image = Image::make(256 << 20, arguments, Some(&tree))?;
    let volume = Volume::open(ImageBytes::open(&image.file)).unwrap();
    let mut listing = by_sound_volume(&volume);
    if kernel == Kernel::MountsReadOnly {
        let mounted = image.mount(Access::ReadOnly)?;
        assert_same(&what, &listing, &by_kernel(mounted.path()));
    }
    let complete = listing.clone();
    listing.retain(|path, _| path != b"lost+found");
    let missing = source.keys().find(|path| !listing.contains_key(*path));
    let added = listing.keys().find(|path| !source.contains_key(*path));
    if let Some(path) = missing.or(added) {
        panic!("{what}: on one side only: {}", path.escape_ascii());
    }
    for (path, copy) in &listing {
        let path_text = path.escape_ascii();
        let original = &source[path];
        assert_eq!(copy.kind, original.kind, "{path_text}");
        assert_eq!(copy.rdev, original.rdev, "{path_text}");
        if !path.is_empty() {
            assert_eq!(
                (copy.uid, copy.gid),
                (original.uid, original.gid),
                "{path_text}"
            );
        }
        if copy.kind != FileType::Directory {
            assert_eq!(copy.mode, original.mode, "{path_text}");
            assert_eq!(copy.size_bytes, original.size_bytes, "{path_text}");
            assert_eq!(copy.links, original.links, "{path_text}");
        }
    }
    Ok((image, complete))
}

#[test]
fn inline_data() {
    for arguments in [
        &["-t", "ext4", "-O", "inline_data"][..],
        &["-t", "ext4", "-O", "inline_data", "-I", "1024"],
        &[
            "-t",
            "ext4",
            "-O",
            "inline_data,^metadata_csum",
            "-b",
            "1024",
        ],
    ] {
        let (_, listing) = or_skip!(check(arguments, Kernel::MountsReadOnly));
        let inline = listing
            .values()
            .filter(|l| l.kind == FileType::Directory && l.allocated_bytes == 0);
        assert!(inline.count() > 20);
    }
}

#[test]
fn quota() {
    let arguments = ["-t", "ext4", "-O", "quota,project"];
    let (image, listing) = or_skip!(check(&arguments, Kernel::MountsReadOnly));
    or_skip!(compare_with_debugfs(&image, &listing));
}

#[test]
fn large_blocks() {
    for size in ["8192", "16384", "32768", "65536"] {
        for features in ["metadata_csum", "^metadata_csum"] {
            let arguments = ["-t", "ext4", "-b", size, "-O", features];
            let (image, listing) = or_skip!(check(&arguments, Kernel::DoesNotMount));
            or_skip!(compare_with_debugfs(&image, &listing));
        }
    }
}

#[test]
fn large_blocks_with_inline_data() {
    let arguments = [
        "-t",
        "ext4",
        "-b",
        "65536",
        "-I",
        "2048",
        "-O",
        "inline_data",
    ];
    or_skip!(check(&arguments, Kernel::DoesNotMount));
}

#[test]
fn casefold() {
    let arguments = ["-t", "ext4", "-O", "casefold", "-E", "encoding=utf8"];
    let (image, listing) = or_skip!(check(&arguments, Kernel::DoesNotMount));
    or_skip!(compare_with_debugfs(&image, &listing));
    // EXT4_CASEFOLD_FL and EXT4_EXTENTS_FL.
    let script = "set_inode_field deleted flags 0x40080000\n";
    or_skip!(ext4_images::debugfs(&image.file, Access::ReadWrite, script));
    let volume = Volume::open(image.bytes()).unwrap();
    assert_ne!(volume.superblock().encoding, 0);
    let (folded, damages) = by_volume(&volume);
    assert!(damages.is_empty());
    assert_eq!(folded.len(), listing.len());
    let number = folded[&b"deleted"[..]].inode as u32;
    assert!(volume.inode(number).unwrap().is_casefolded());
}

/// Its names are of no use to anybody without the key.
#[test]
fn an_encrypted_directory_is_not_read() {
    let arguments = ["-t", "ext4", "-O", "encrypt"];
    let (image, listing) = or_skip!(check(&arguments, Kernel::MountsReadOnly));
    // EXT4_ENCRYPT_FL and EXT4_EXTENTS_FL.
    let script = "set_inode_field deep flags 0x80800\n";
    or_skip!(ext4_images::debugfs(&image.file, Access::ReadWrite, script));
    let volume = Volume::open(image.bytes()).unwrap();
    let inode = volume.inode(listing[&b"deep"[..]].inode as u32).unwrap();
    assert!(inode.is_encrypted());
    let outcome = volume.read_directory(&inode, &mut DirectoryScratch::new(), |_| panic!());
    assert_eq!(outcome.unwrap_err().fault, Fault::Encrypted);
    let (rest, damages) = by_volume(&volume);
    assert_eq!(damages.len(), 1);
    assert_eq!(rest.len(), listing.len() - 41);
}
