// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The least that one thread in C can do through system calls: getdents64 with a
// buffer large enough for most directories, statx with no more in its mask than
// the model needs, all names relative to the directory's descriptor.
//
// A directory is read to its end before its subdirectories are, so that one
// buffer serves the whole tree and stays in the processor's cache.

#define _GNU_SOURCE
#include "../c-library/answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Names of subdirectories that still have to be read, one after the other,
// those of the directory that is being read last.
struct pending {
  char *names;
  size_t bytes, room;
};

static unsigned mask_for(enum model model, unsigned char type) {
  unsigned mask = type == DT_UNKNOWN ? STATX_TYPE : 0;
  if (model == RECORDS) return mask | STATX_SIZE | STATX_MTIME | STATX_ATIME | STATX_CTIME;
  if (model == DIRECTORY || (model == SIZE && (type == DT_REG || type == DT_UNKNOWN))) return mask | STATX_SIZE;
  return mask;
}

static struct timespec timespec_of(struct statx_timestamp t) { return (struct timespec){t.tv_sec, t.tv_nsec}; }

static struct attributes attributes_at(enum model model, int fd, const struct dirent64 *entry) {
  struct attributes attributes = {.mode = DTTOIF(entry->d_type)};
  unsigned mask = mask_for(model, entry->d_type);
  if (!mask) return attributes;
  struct statx stx;
  if (statx(fd, entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask, &stx) < 0) {
    complain(entry->d_name, errno);
    return attributes;
  }
  if (entry->d_type == DT_UNKNOWN) attributes.mode = stx.stx_mode;
  attributes.size = stx.stx_size;
  attributes.modified = timespec_of(stx.stx_mtime);
  attributes.accessed = timespec_of(stx.stx_atime);
  attributes.changed = timespec_of(stx.stx_ctime);
  return attributes;
}

static bool is_dot(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static void list(struct answer *answer, enum model model, struct pending *pending, int parent, const char *name) {
  static _Alignas(struct dirent64) char buffer[64 * 1024];
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    complain(name, errno);
    return;
  }
  const size_t first = pending->bytes;
  // Only 0 is the end; a buffer that is not full is none.
  long filled;
  while ((filled = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
    const struct dirent64 *entry;
    for (char *at = buffer; at < buffer + filled; at += entry->d_reclen) {
      entry = (const struct dirent64 *)at;
      if (is_dot(entry->d_name)) continue;
      struct attributes attributes = attributes_at(model, fd, entry);
      add(answer, model, entry->d_name, &attributes);
      if (!S_ISDIR(attributes.mode) || model == DIRECTORY) continue;
      size_t length = strlen(entry->d_name) + 1;
      pending->names = grow(pending->names, &pending->room, pending->bytes + length, 1);
      memcpy(pending->names + pending->bytes, entry->d_name, length);
      pending->bytes += length;
    }
  }
  // The name may be gone from `pending` by now if it moved.
  if (filled < 0) complain("getdents64", errno);
  const size_t end = pending->bytes;
  for (size_t at = first; at < end;) {
    size_t next = at + strlen(pending->names + at) + 1;
    list(answer, model, pending, fd, pending->names + at);
    at = next;
  }
  pending->bytes = first;
  close(fd);
}

static void walk(struct answer *answer, enum model model, const char *path) {
  struct pending pending = {0};
  list(answer, model, &pending, AT_FDCWD, path);
  free(pending.names);
}
