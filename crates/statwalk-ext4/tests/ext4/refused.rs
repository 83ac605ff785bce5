// SPDX-License-Identifier: MIT OR Apache-2.0

//! Inodes and directories that the kernel refuses: made with debugfs, and tried through
//! a mount.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use statwalk_ext4::{DirectoryScratch, FileType, ROOT_INODE, Volume};
use statwalk_testkit::mounts::Access;
use statwalk_testkit::{Scratch, ext4_images, or_skip};

use crate::harness::Image;

/// What is doctored.
#[derive(Clone, Copy, Debug)]
enum Sort {
    /// Of one block, with a file in it.
    Directory,
    /// Of several blocks.
    Wide,
    File,
    ShortLink,
    LongLink,
    Pipe,
}

use Sort::{Directory, File, LongLink, Pipe, ShortLink, Wide};

/// Fields to set, by the name of an entry of its own.
type Case = (Sort, &'static [(&'static str, &'static str)]);

/// Those of any layout of the content.
const COMMON: &[Case] = &[
    (Directory, &[]),
    (Wide, &[]),
    (File, &[]),
    (ShortLink, &[]),
    (LongLink, &[]),
    (Pipe, &[]),
    (Directory, &[("size", "100")]),
    (Directory, &[("size", "1023")]),
    (Directory, &[("size", "12")]),
    (Wide, &[("size", "1500")]),
    (Wide, &[("size", "2100")]),
    (File, &[("file_acl", "99999999")]),
    (Directory, &[("file_acl", "99999999")]),
    (Pipe, &[("file_acl", "99999999")]),
    (ShortLink, &[("file_acl", "99999999")]),
    (File, &[("file_acl", "1")]),
    (ShortLink, &[("size", "3")]),
    (ShortLink, &[("size", "0")]),
    (ShortLink, &[("size", "59")]),
    (ShortLink, &[("size", "70")]),
    (Directory, &[("flags", "0x40080000")]),
    (Pipe, &[("flags", "0x40000000")]),
    (ShortLink, &[("flags", "0x10")]),
    (ShortLink, &[("flags", "0x20")]),
    (ShortLink, &[("flags", "0x40")]),
    (Pipe, &[("flags", "0x30")]),
    (File, &[("size", "100")]),
    (File, &[("size", "0x7fffffffffff0000")]),
    (File, &[("mode", "0050644")]),
    (Pipe, &[("mode", "0170644")]),
    (File, &[("file_acl", "3")]),
    (File, &[("file_acl", "100")]),
    (File, &[("file_acl", "16000")]),
];

/// Those of extents: block[0] has magic and count, block[1] room and depth, then follow
/// block of the file, length and block of the device of each extent.
const EXTENTS: &[Case] = &[
    (Directory, &[("block[0]", "0x0001f30b")]),
    (Directory, &[("block[0]", "0x0005f30a")]),
    (Directory, &[("block[1]", "0")]),
    (Directory, &[("block[1]", "5")]),
    (Directory, &[("block[1]", "0x00010004")]),
    (Directory, &[("block[1]", "0x00070004")]),
    (Directory, &[("block[4]", "0")]),
    (Directory, &[("block[5]", "99999999")]),
    (
        Directory,
        &[
            ("block[0]", "0x0002f30a"),
            ("block[6]", "5"),
            ("block[7]", "1"),
            ("block[8]", "99999999"),
        ],
    ),
    (
        Directory,
        &[
            ("block[0]", "0x0002f30a"),
            ("block[6]", "0"),
            ("block[7]", "1"),
            ("block[8]", "16000"),
        ],
    ),
    (File, &[("block[0]", "0x0001f30b")]),
    (File, &[("block[0]", "0x0005f30a")]),
    (File, &[("block[1]", "0")]),
    (File, &[("block[1]", "3")]),
    (File, &[("block[1]", "5")]),
    (File, &[("block[1]", "0x00010004")]),
    (File, &[("block[1]", "0x00210004")]),
    (File, &[("block[3]", "4294967295")]),
    (File, &[("block[4]", "0")]),
    (File, &[("block[4]", "0x8005")]),
    (File, &[("block[4]", "0xffff")]),
    (File, &[("block[5]", "1")]),
    (File, &[("block[5]", "99999999")]),
    (
        File,
        &[
            ("block[0]", "0x0002f30a"),
            ("block[6]", "3"),
            ("block[7]", "1"),
            ("block[8]", "16000"),
        ],
    ),
    (
        File,
        &[
            ("block[0]", "0x0002f30a"),
            ("block[6]", "300"),
            ("block[7]", "1"),
            ("block[8]", "16000"),
        ],
    ),
    (LongLink, &[("block[0]", "0x0001f30b")]),
    (LongLink, &[("block[5]", "99999999")]),
    (Pipe, &[("block[0]", "0x0001f30b")]),
    (File, &[("flags", "0x10080000")]),
    (LongLink, &[("flags", "0x80010")]),
    (LongLink, &[("flags", "0x80020")]),
    (File, &[("size", "4398046510080")]),
    (File, &[("size", "4398046510081")]),
    // Blocks of superblocks, descriptors, bitmaps, inode tables and the journal, and free
    // ones in between.
    (File, &[("block[5]", "2")]),
    (File, &[("block[5]", "3")]),
    (File, &[("block[5]", "40")]),
    (File, &[("block[5]", "66")]),
    (File, &[("block[5]", "82")]),
    (File, &[("block[5]", "100")]),
    (File, &[("block[5]", "300")]),
    (File, &[("block[5]", "600")]),
    (File, &[("block[5]", "1200")]),
    (File, &[("block[5]", "4000")]),
    (File, &[("block[5]", "7000")]),
    (File, &[("block[5]", "8187")]),
    (File, &[("block[5]", "8193")]),
    (File, &[("block[5]", "8240")]),
    (File, &[("block[5]", "8500")]),
    (File, &[("block[5]", "9000")]),
    (File, &[("block[5]", "12000")]),
    (LongLink, &[("block[5]", "3")]),
    (Directory, &[("block[5]", "100")]),
];

/// Those of a map of blocks.
const BLOCK_MAP: &[Case] = &[
    (Directory, &[("block[0]", "99999999")]),
    (Wide, &[("block[1]", "99999999")]),
    (Wide, &[("block[11]", "99999999")]),
    (File, &[("block[3]", "99999999")]),
    (File, &[("block[3]", "1")]),
    (File, &[("block[11]", "99999999")]),
    (File, &[("block[12]", "99999999")]),
    (LongLink, &[("block[0]", "99999999")]),
    (LongLink, &[("block[3]", "99999999")]),
    (File, &[("size", "17247252480")]),
    (File, &[("size", "17247252481")]),
    (File, &[("block[3]", "3")]),
    (File, &[("block[3]", "66")]),
    (File, &[("block[3]", "100")]),
    (File, &[("block[3]", "300")]),
    (File, &[("block[3]", "2000")]),
    (File, &[("block[3]", "4000")]),
    (File, &[("block[3]", "8193")]),
    (File, &[("block[3]", "8300")]),
    (File, &[("block[3]", "9000")]),
    (File, &[("block[12]", "3")]),
];

fn make(sort: Sort, at: &Path) {
    match sort {
        Directory => {
            fs::create_dir(at).unwrap();
            fs::write(at.join("within"), b"x").unwrap();
        }
        Wide => ext4_images::wide(at, 120).unwrap(),
        File => fs::write(at, [7; 9_000]).unwrap(),
        ShortLink => symlink("target", at).unwrap(),
        LongLink => symlink("x".repeat(100), at).unwrap(),
        Pipe => {
            let mode = rustix::fs::Mode::RUSR;
            rustix::fs::mknodat(rustix::fs::CWD, at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }
    }
}

/// Whether the kernel refuses an entry, or a name that it lists in it.
fn kernel_refuses(at: &Path) -> bool {
    let Ok(metadata) = at.symlink_metadata() else {
        return true;
    };
    metadata.is_dir()
        && fs::read_dir(at).map_or(true, |mut entries| {
            entries
                .any(|entry| entry.map_or(true, |entry| entry.path().symlink_metadata().is_err()))
        })
}

fn volume_refuses(volume: &Volume<Vec<u8>>, number: u32) -> bool {
    let Ok(inode) = volume.inode(number) else {
        return true;
    };
    let mut refuses = false;
    let mut scratch = DirectoryScratch::new();
    inode.kind() == FileType::Directory
        && (volume
            .read_directory_and_inodes(&inode, &mut scratch, |_, entry| {
                refuses |= entry.is_err();
            })
            .is_err()
            || refuses)
}

/// The source read directories whose size was less than a block, and entries whose extents
/// the kernel refuses, and called the answer complete. For the kernel they are errors.
#[test]
fn inodes_are_refused_as_by_the_kernel() {
    for (kind, own) in [
        (&["-t", "ext4"][..], EXTENTS),
        (&["-t", "ext4", "-O", "^metadata_csum,^64bit"], EXTENTS),
        (&["-t", "ext4", "-O", "ea_inode"], EXTENTS),
        (&["-t", "ext3"], BLOCK_MAP),
        (&["-t", "ext2"], BLOCK_MAP),
    ] {
        let cases: Vec<&Case> = COMMON.iter().chain(own).collect();
        let scratch = Scratch::new().unwrap();
        let tree = scratch.subdirectory("tree").unwrap();
        let mut script = String::new();
        for (index, (sort, fields)) in cases.iter().enumerate() {
            make(*sort, &tree.join(format!("case{index}")));
            for (field, value) in *fields {
                script += &format!("set_inode_field /case{index} {field} {value}\n");
            }
        }
        let arguments = [kind, &["-b", "1024"]].concat();
        let image = or_skip!(Image::make(16 << 20, &arguments, Some(&tree)));
        or_skip!(ext4_images::debugfs(
            &image.file,
            Access::ReadWrite,
            &script
        ));
        let volume = Volume::open(image.bytes()).unwrap();
        let root = volume.inode(ROOT_INODE).unwrap();
        let mut numbers = std::collections::BTreeMap::new();
        let mut scratch = DirectoryScratch::new();
        volume
            .read_directory(&root, &mut scratch, |entry| {
                numbers.insert(entry.name.to_vec(), entry.inode);
            })
            .unwrap();
        let mounted = or_skip!(image.mount(Access::ReadOnly));
        let mut refused = 0;
        for (index, case) in cases.iter().enumerate() {
            let name = format!("case{index}");
            let expected = kernel_refuses(&mounted.path().join(&name));
            let found = volume_refuses(&volume, numbers[name.as_bytes()]);
            // Of a directory with a wrong size the kernel can show a part and no error.
            let (sort, fields) = case;
            let is_cut = matches!(sort, Directory | Wide) && fields.iter().any(|f| f.0 == "size");
            let is_right = found == expected || is_cut && found;
            assert!(is_right, "{name} of {kind:?}: {case:?}, {found}");
            refused += usize::from(expected);
        }
        assert!(
            refused > 15 && refused < cases.len() - 5,
            "{refused} of {kind:?}"
        );
    }
}

/// The bytes of an inode that are changed: an offset and the new ones.
type Change = (usize, &'static [u8]);

/// Changes of a file with the attribute `user.ab`, whose value has 8 bytes. The header lies
/// at 160, the first entry at 164.
const CHANGES: &[Change] = &[
    (0, &[]),
    (164, &[77]),
    (164, &[255]),
    (181, &[0]),
    (164, &[0]),
    (166, &[20]),
    (166, &[16]),
    (166, &[92]),
    (166, &[0xFF, 0xFF]),
    (168, &[12]),
    (168, &[0xFF, 0xFF]),
    (172, &[9]),
    (172, &[0, 0, 0, 1]),
    (172, &[1, 0, 0, 1]),
    (172, &[0, 0, 0, 0]),
    (184, &[200, 1]),
    (160, &[1]),
    // The user, the time of birth, and a byte of the value.
    (2, &[9]),
    (0x90, &[7]),
    (255, &[7]),
];

/// The source called a file complete whose attributes or checksum the kernel refuses.
#[test]
fn attributes_and_checksums_of_inodes_are_refused_as_by_the_kernel() {
    for (features, size) in [
        ("^metadata_csum", "256"),
        ("^metadata_csum", "512"),
        ("metadata_csum", "256"),
        ("metadata_csum", "512"),
        ("^metadata_csum,ea_inode", "256"),
    ] {
        let scratch = Scratch::new().unwrap();
        let tree = scratch.subdirectory("tree").unwrap();
        let mut script = String::new();
        for index in 0..CHANGES.len() {
            fs::write(tree.join(format!("case{index}")), b"x").unwrap();
            script += &format!("ea_set /case{index} user.ab 12345678\n");
        }
        let kind = ["-t", "ext4", "-b", "1024", "-O", features, "-I", size];
        let image = or_skip!(Image::make(16 << 20, &kind, Some(&tree)));
        or_skip!(ext4_images::debugfs(
            &image.file,
            Access::ReadWrite,
            &script
        ));
        let mut bytes = image.bytes();
        let mut numbers = std::collections::BTreeMap::new();
        let volume = Volume::open(bytes.clone()).unwrap();
        let root = volume.inode(ROOT_INODE).unwrap();
        volume
            .read_directory(&root, &mut DirectoryScratch::new(), |entry| {
                numbers.insert(entry.name.to_vec(), entry.inode);
            })
            .unwrap();
        let (first, table, _) = volume.inode_tables().next().unwrap();
        let size: usize = size.parse().unwrap();
        for (index, (offset, change)) in CHANGES.iter().enumerate() {
            let number = numbers[format!("case{index}").as_bytes()];
            let inode = table as usize + (number - first) as usize * size;
            assert_eq!(bytes[inode + 180..inode + 182], *b"ab");
            let at = inode + offset;
            bytes[at..at + change.len()].copy_from_slice(change);
        }
        fs::write(&image.file, &bytes).unwrap();
        let volume = Volume::open(bytes).unwrap();
        let mounted = or_skip!(image.mount(Access::ReadOnly));
        let mut refused = 0;
        for (index, change) in CHANGES.iter().enumerate() {
            let name = format!("case{index}");
            let expected = kernel_refuses(&mounted.path().join(&name));
            let found = volume_refuses(&volume, numbers[name.as_bytes()]);
            assert_eq!(found, expected, "{features}, {size}: {change:x?}");
            refused += usize::from(expected);
        }
        assert!(refused > 5 && refused < CHANGES.len(), "{refused}");
    }
}

/// With checksums and without `dir_index` a directory may have no index.
#[test]
fn an_index_is_refused_where_no_directory_can_have_one() {
    for (features, is_refused) in [
        ("metadata_csum,^dir_index", true),
        ("^metadata_csum,^dir_index", false),
        ("metadata_csum,dir_index", false),
    ] {
        let scratch = Scratch::new().unwrap();
        let tree = scratch.subdirectory("tree").unwrap();
        fs::write(tree.join("file"), b"x").unwrap();
        let kind = ["-t", "ext4", "-b", "1024", "-O", features];
        let image = or_skip!(Image::make(16 << 20, &kind, Some(&tree)));
        let script = "set_inode_field /file flags 0x81000\n";
        or_skip!(ext4_images::debugfs(&image.file, Access::ReadWrite, script));
        let volume = Volume::open(image.bytes()).unwrap();
        let root = volume.inode(ROOT_INODE).unwrap();
        let mut number = 0;
        volume
            .read_directory(&root, &mut DirectoryScratch::new(), |entry| {
                if entry.name == b"file" {
                    number = entry.inode;
                }
            })
            .unwrap();
        let mounted = or_skip!(image.mount(Access::ReadOnly));
        assert_eq!(kernel_refuses(&mounted.path().join("file")), is_refused);
        assert_eq!(volume_refuses(&volume, number), is_refused, "{features}");
    }
}

/// With checksums the kernel verifies the first block as the root of an index, or as
/// entries, by the flag of the inode. Without them it lists all blocks of a directory whose
/// index makes no sense.
#[test]
fn the_flag_of_an_index_is_taken_at_its_word() {
    const EXTENTS: u32 = 0x8_0000;
    const INDEXED: u32 = 0x8_1000;
    for (kind, has_checksums) in [("metadata_csum", true), ("^metadata_csum", false)] {
        let image = or_skip!(Image::make(
            16 << 20,
            &["-t", "ext4", "-b", "1024", "-O", kind],
            None
        ));
        let mounted = or_skip!(image.mount(Access::ReadWrite));
        for name in ["indexed", "cleared"] {
            ext4_images::wide(&mounted.path().join(name), 200).unwrap();
        }
        for name in ["small", "claimed"] {
            ext4_images::wide(&mounted.path().join(name), 3).unwrap();
        }
        mounted.settle().unwrap();
        mounted.unmount().unwrap();
        or_skip!(ext4_images::debugfs(
            &image.file,
            Access::ReadWrite,
            &format!(
                "set_inode_field /cleared flags {EXTENTS}\n\
                 set_inode_field /claimed flags {INDEXED}\n"
            ),
        ));
        let volume = Volume::open(image.bytes()).unwrap();
        let root = volume.inode(ROOT_INODE).unwrap();
        let mut numbers = std::collections::BTreeMap::new();
        volume
            .read_directory(&root, &mut DirectoryScratch::new(), |entry| {
                numbers.insert(entry.name.to_vec(), entry.inode);
            })
            .unwrap();
        assert!(volume.inode(numbers[&b"indexed"[..]]).unwrap().is_indexed());
        let mounted = or_skip!(image.mount(Access::ReadOnly));
        for (name, is_wrong) in [
            ("indexed", false),
            ("cleared", true),
            ("small", false),
            ("claimed", true),
        ] {
            let expected = kernel_refuses(&mounted.path().join(name));
            assert_eq!(expected, is_wrong && has_checksums, "{name}, {kind}");
            let found = volume_refuses(&volume, numbers[name.as_bytes()]);
            assert_eq!(found, expected, "{name}, {kind}");
        }
    }
}
