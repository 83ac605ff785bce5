// SPDX-License-Identifier: MIT OR Apache-2.0
//
// readdir(3), openat(2) and fstatat(2): what one writes without a library for
// walking. Names are resolved relative to the directory's descriptor, and only
// those entries are asked for attributes whose attributes the model needs.

#define _GNU_SOURCE
#include "answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static bool needs_stat(enum model model, unsigned char type) {
  if (type == DT_UNKNOWN || model == RECORDS || model == DIRECTORY) return true;
  return model == SIZE && type == DT_REG;
}

static void list(struct answer *answer, enum model model, int parent, const char *name) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (!directory) {
    complain(name, errno);
    if (fd >= 0) close(fd);
    return;
  }
  struct dirent *entry;
  while (errno = 0, (entry = readdir(directory))) {
    const char *child = entry->d_name;
    if (!strcmp(child, ".") || !strcmp(child, "..")) continue;
    struct attributes attributes = {.mode = DTTOIF(entry->d_type)};
    if (needs_stat(model, entry->d_type)) {
      struct stat st;
      if (fstatat(fd, child, &st, AT_SYMLINK_NOFOLLOW) == 0)
        attributes = attributes_of(&st);
      else
        complain(child, errno);
    }
    add(answer, model, child, &attributes);
    if (S_ISDIR(attributes.mode) && model != DIRECTORY) list(answer, model, fd, child);
  }
  if (errno) complain(name, errno);
  closedir(directory);
}

static void walk(struct answer *answer, enum model model, const char *path) {
  list(answer, model, AT_FDCWD, path);
}
