// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Article 1's three loops in C: recursion, a queue and a stack. All of them open
// a directory by its path and make the same calls; the loop is what differs.
// LOOP is RECURSION, QUEUE or STACK, known when it is compiled. Recursion keeps
// one descriptor open for each level.

#define _GNU_SOURCE
#include "../c-library/answer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#define RECURSION 0
#define QUEUE 1
#define STACK 2

// Paths of directories that still have to be read. A queue takes them from `first` on, and never moves them.
struct pending {
  char **paths;
  size_t first, end, room;
};

static void list(struct answer *answer, enum model model, struct pending *pending, const char *path);

static char *joined(const char *folder, const char *name) {
  size_t length = strlen(folder), more = strlen(name) + 1;
  char *path = malloc(length + 1 + more);
  if (!path) {
    perror("malloc");
    exit(1);
  }
  memcpy(path, folder, length);
  path[length] = '/';
  memcpy(path + length + 1, name, more);
  return path;
}

static void enter(struct answer *answer, enum model model, struct pending *pending, char *path) {
  if (LOOP == RECURSION) {
    list(answer, model, pending, path);
    free(path);
    return;
  }
  pending->paths = grow(pending->paths, &pending->room, pending->end + 1, sizeof *pending->paths);
  pending->paths[pending->end++] = path;
}

static bool needs_stat(enum model model, unsigned char type) {
  if (type == DT_UNKNOWN || model == RECORDS || model == DIRECTORY) return true;
  return model == SIZE && type == DT_REG;
}

static void list(struct answer *answer, enum model model, struct pending *pending, const char *path) {
  DIR *directory = opendir(path);
  if (!directory) {
    complain(path, errno);
    return;
  }
  struct dirent *entry;
  while (errno = 0, (entry = readdir(directory))) {
    const char *child = entry->d_name;
    if (!strcmp(child, ".") || !strcmp(child, "..")) continue;
    struct attributes attributes = {.mode = DTTOIF(entry->d_type)};
    if (needs_stat(model, entry->d_type)) {
      struct stat st;
      if (fstatat(dirfd(directory), child, &st, AT_SYMLINK_NOFOLLOW) == 0)
        attributes = attributes_of(&st);
      else
        complain(child, errno);
    }
    add(answer, model, child, &attributes);
    if (S_ISDIR(attributes.mode) && model != DIRECTORY) enter(answer, model, pending, joined(path, child));
  }
  if (errno) complain(path, errno);
  closedir(directory);
}

static void walk(struct answer *answer, enum model model, const char *path) {
  struct pending pending = {0};
  list(answer, model, &pending, path);
  while (pending.first < pending.end) {
    char *next = LOOP == QUEUE ? pending.paths[pending.first++] : pending.paths[--pending.end];
    list(answer, model, &pending, next);
    free(next);
  }
  free(pending.paths);
}
