// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The floor under reading a btrfs from its trees: one subvolume's tree searched
// from its first key to its last, each leaf once. It sums what inodes take and
// counts names; it resolves none, so that it can tell no path and no part of the
// subvolume. Without a join there is no way to ask the kernel for less.
//
//   btrfs_floor PATH
//
//   entries inodes allocated_bytes items
//
// PATH is anything in the subvolume, which must have been synced. One thread.
//
// Layouts: include/uapi/linux/btrfs.h and btrfs_tree.h, Linux 6.18.

#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

// Every item fits; smaller and larger ones are not faster.
enum { WINDOW_BYTES = 66 << 10, SECTOR_BYTES = 4096 };

static void fail(const char *what) {
  fprintf(stderr, "btrfs_floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: btrfs_floor PATH\n");
    return 2;
  }
  int fd = open(arguments[1], O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(arguments[1]);
  struct btrfs_ioctl_search_args_v2 *window = malloc(sizeof *window + WINDOW_BYTES);
  if (!window) fail("memory");
  struct btrfs_ioctl_search_key key = {
      .min_objectid = BTRFS_FIRST_FREE_OBJECTID, .max_objectid = BTRFS_LAST_FREE_OBJECTID,
      .max_type = UINT8_MAX, .max_offset = UINT64_MAX, .max_transid = UINT64_MAX, .nr_items = UINT32_MAX,
  };
  uint64_t entries = 0, inodes = 0, allocated_bytes = 0, items = 0;
  for (;;) {
    window->key = key;
    window->buf_size = WINDOW_BYTES;
    if (ioctl(fd, BTRFS_IOC_TREE_SEARCH_V2, window) < 0) fail("search");
    if (window->key.nr_items == 0) break;
    const char *at = (const char *)window->buf;
    struct btrfs_ioctl_search_header header = {0};
    for (uint32_t i = 0; i < window->key.nr_items; i++) {
      memcpy(&header, at, sizeof header);
      at += sizeof header;
      entries += header.type == BTRFS_DIR_INDEX_KEY;
      if (header.type == BTRFS_INODE_ITEM_KEY) {
        struct btrfs_inode_item inode;
        memcpy(&inode, at, sizeof inode);
        // One without a link waits to be deleted.
        if (inode.nlink) {
          inodes++;
          allocated_bytes += (le64toh(inode.nbytes) + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
        }
      }
      at += header.len;
    }
    items += window->key.nr_items;
    key.min_objectid = header.objectid;
    key.min_type = header.type;
    key.min_offset = header.offset + 1;
    if (key.min_offset == 0) key.min_type++;
  }
  // The root has no name.
  printf("%llu %llu %llu %llu\n", (unsigned long long)entries + 1, (unsigned long long)inodes,
         (unsigned long long)allocated_bytes, (unsigned long long)items);
  return 0;
}
