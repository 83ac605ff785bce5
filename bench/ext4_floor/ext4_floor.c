// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The floor under reading an ext4 from its device: the used part of the inode
// tables from the first to the last, then the blocks of all directories in the
// order of the disk, each once. It sums the blocks of inodes that are in use and
// counts names; it resolves none, so that it can tell no path and no part of
// the file system. Nothing that answers can read less.
//
//   ext4_floor [-d] DEVICE
//
//   entries inodes allocated_bytes metadata_bytes
//
// -d reads past the page cache in large pieces, at the device's sequential speed:
// for cold caches. Without it the page cache is read, which on a mounted file
// system is the state of now. One thread.
//
// Layouts: Documentation/filesystems/ext4, Linux 6.18. Only what mkfs.ext4 makes
// by default is known; anything else is refused.

#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// filetype, needs_recovery (it is mounted), extents, 64bit, flex_bg, csum_seed.
enum { INCOMPAT_KNOWN = 0x2 | 0x4 | 0x40 | 0x80 | 0x200 | 0x2000 };
enum { ROOT_INODE = 2, EXTENTS_FLAG = 0x80000, HUGE_FILE_FLAG = 0x40000, INODE_UNINIT = 1 };
// In the cache of the processor; from the device in pieces that it likes, with
// what lies between two of them if that is little.
enum { WARM_BYTES = 256 << 10, COLD_BYTES = 4 << 20, COLD_GAP_BYTES = 128 << 10, ALIGN = 4096 };

// Bytes that follow each other on the device: an inode table from its first
// inode on, or blocks of directories.
struct piece {
  uint64_t at;
  uint32_t bytes;
  uint32_t first_inode;
};

struct pieces {
  struct piece *all;
  size_t count, room;
};

static int device;
static uint32_t block_bytes, inode_bytes, first_inode, ignored[4];
static size_t buffer_bytes, gap_bytes;
static unsigned char *buffer;
static struct pieces tables, directories;
static uint64_t entries, inodes, allocated_bytes, metadata_bytes;

static void fail(const char *what) {
  fprintf(stderr, "ext4_floor: %s: %s\n", what, errno ? strerror(errno) : "not what is known here");
  exit(1);
}

static uint16_t get16(const unsigned char *at) {
  uint16_t value;
  memcpy(&value, at, sizeof value);
  return le16toh(value);
}

static uint32_t get32(const unsigned char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return le32toh(value);
}

static void read_at(unsigned char *to, uint64_t at, size_t bytes) {
  while (bytes) {
    ssize_t got = pread(device, to, bytes, at);
    if (got <= 0) fail("read");
    to += got;
    at += got;
    bytes -= got;
  }
}

static void add(struct pieces *to, uint64_t at, uint64_t bytes, uint32_t inode) {
  while (bytes) {
    if (to->count == to->room) {
      to->room = to->room ? 2 * to->room : 1024;
      to->all = realloc(to->all, to->room * sizeof *to->all);
      if (!to->all) fail("memory");
    }
    uint32_t part = bytes < buffer_bytes ? bytes : buffer_bytes;
    to->all[to->count++] = (struct piece){at, part, inode};
    at += part;
    bytes -= part;
    inode += part / inode_bytes;
  }
}

static int by_place(const void *a, const void *b) {
  uint64_t left = ((const struct piece *)a)->at, right = ((const struct piece *)b)->at;
  return (left > right) - (left < right);
}

// Reads pieces, neighbours at once, and looks at each.
static void read_all(struct pieces *of, void (*look)(const unsigned char *, struct piece)) {
  qsort(of->all, of->count, sizeof *of->all, by_place);
  for (size_t from = 0; from < of->count;) {
    uint64_t start = of->all[from].at, end = start + of->all[from].bytes;
    size_t to = from + 1;
    for (; to < of->count && of->all[to].at <= end + gap_bytes; to++) {
      uint64_t longer = of->all[to].at + of->all[to].bytes;
      if (longer - start > buffer_bytes) break;
      end = longer;
    }
    read_at(buffer, start, end - start);
    for (; from < to; from++) {
      metadata_bytes += of->all[from].bytes;
      look(buffer + (of->all[from].at - start), of->all[from]);
    }
  }
}

// The blocks of a directory, from the root of its extents or a node below.
static void add_extents(const unsigned char *node) {
  if (get16(node) != 0xf30a) fail("extents");
  unsigned count = get16(node + 2), depth = get16(node + 6);
  for (unsigned i = 0; i < count; i++) {
    const unsigned char *entry = node + 12 + 12 * i;
    if (depth == 0) {
      uint64_t block = (uint64_t)get16(entry + 6) << 32 | get32(entry + 8);
      add(&directories, block * block_bytes, (uint64_t)get16(entry + 4) * block_bytes, 0);
    } else {
      unsigned char *below = aligned_alloc(ALIGN, block_bytes < ALIGN ? ALIGN : block_bytes);
      if (!below) fail("memory");
      read_at(below, ((uint64_t)get16(entry + 8) << 32 | get32(entry + 4)) * block_bytes, block_bytes);
      metadata_bytes += block_bytes;
      add_extents(below);
      free(below);
    }
  }
}

static void look_at_inodes(const unsigned char *bytes, struct piece piece) {
  for (uint32_t i = 0; i < piece.bytes / inode_bytes; i++) {
    const unsigned char *inode = bytes + (size_t)i * inode_bytes;
    uint32_t number = piece.first_inode + i, flags = get32(inode + 0x20);
    if (get16(inode + 0x1a) == 0 || (number < first_inode && number != ROOT_INODE)) continue;
    if (number == ignored[0] || number == ignored[1] || number == ignored[2] || number == ignored[3]) continue;
    uint64_t blocks = (uint64_t)get16(inode + 0x74) << 32 | get32(inode + 0x1c);
    inodes++;
    allocated_bytes += blocks * (flags & HUGE_FILE_FLAG ? block_bytes : 512);
    if ((get16(inode) & 0170000) == 0040000) {
      if (!(flags & EXTENTS_FLAG)) fail("a directory without extents");
      add_extents(inode + 0x28);
    }
  }
}

static void look_at_names(const unsigned char *bytes, struct piece piece) {
  for (uint32_t at = 0; at < piece.bytes;) {
    const unsigned char *entry = bytes + at;
    uint32_t length = get16(entry + 4), name_bytes = entry[6];
    bool is_dot = entry[8] == '.' && (name_bytes == 1 || (name_bytes == 2 && entry[9] == '.'));
    entries += get32(entry) != 0 && !is_dot;
    if (length < 8) fail("a directory's entry");
    at += length;
  }
}

int main(int count, char **arguments) {
  bool is_direct = count == 3 && !strcmp(arguments[1], "-d");
  if (count != 2 + is_direct) {
    fprintf(stderr, "usage: ext4_floor [-d] DEVICE\n");
    return 2;
  }
  device = open(arguments[1 + is_direct], O_RDONLY | O_CLOEXEC | (is_direct ? O_DIRECT : 0));
  if (device < 0) fail(arguments[1 + is_direct]);
  buffer_bytes = is_direct ? COLD_BYTES : WARM_BYTES;
  gap_bytes = is_direct ? COLD_GAP_BYTES : 0;
  buffer = aligned_alloc(ALIGN, COLD_BYTES);
  if (!buffer) fail("memory");

  read_at(buffer, 0, ALIGN);
  unsigned char super[1024];
  memcpy(super, buffer + 1024, sizeof super);
  errno = 0;
  if (get16(super + 0x38) != 0xef53 || get32(super + 0x60) & ~INCOMPAT_KNOWN) fail("the superblock");
  bool is_64bit = get32(super + 0x60) & 0x80;
  block_bytes = 1024u << get32(super + 0x18);
  inode_bytes = get16(super + 0x58);
  first_inode = get32(super + 0x54);
  // Quotas of users, groups and projects, and what waits to be deleted.
  uint32_t hidden[4] = {get32(super + 0x240), get32(super + 0x244), get32(super + 0x26c), get32(super + 0x280)};
  memcpy(ignored, hidden, sizeof ignored);
  if (block_bytes < ALIGN && is_direct) fail("blocks that small");
  uint32_t in_group = get32(super + 0x28), descriptor_bytes = is_64bit ? get16(super + 0xfe) : 32;
  uint32_t groups = (get32(super) + in_group - 1) / in_group;

  size_t descriptors_bytes = ((size_t)groups * descriptor_bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
  unsigned char *descriptors = aligned_alloc(ALIGN, descriptors_bytes);
  if (!descriptors) fail("memory");
  read_at(descriptors, ((uint64_t)get32(super + 0x14) + 1) * block_bytes, descriptors_bytes);
  for (uint32_t group = 0; group < groups; group++) {
    const unsigned char *d = descriptors + (size_t)group * descriptor_bytes;
    uint64_t table = get32(d + 0x8) | (is_64bit ? (uint64_t)get32(d + 0x28) << 32 : 0);
    uint32_t unused = get16(d + 0x1c) | (is_64bit ? (uint32_t)get16(d + 0x32) << 16 : 0);
    if (get16(d + 0x12) & INODE_UNINIT) continue;
    uint64_t bytes = (uint64_t)(in_group - unused) * inode_bytes;
    bytes = (bytes + block_bytes - 1) / block_bytes * block_bytes;
    add(&tables, table * block_bytes, bytes, group * in_group + 1);
  }
  read_all(&tables, look_at_inodes);
  read_all(&directories, look_at_names);
  // The root has no name.
  printf("%llu %llu %llu %llu\n", (unsigned long long)entries + 1, (unsigned long long)inodes,
         (unsigned long long)allocated_bytes, (unsigned long long)metadata_bytes);
  return 0;
}
