// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C library, entry by entry: sw_walk_next stands in the place of fts_read.

#include "../c-library/answer.h"

#include <statwalk.h>

// Where only types are known, they become modes.
static const mode_t MODES[] = {
    [SW_FILE] = S_IFREG,        [SW_DIRECTORY] = S_IFDIR,    [SW_SYMLINK] = S_IFLNK,      [SW_FIFO] = S_IFIFO,
    [SW_SOCKET] = S_IFSOCK,     [SW_CHAR_DEVICE] = S_IFCHR,  [SW_BLOCK_DEVICE] = S_IFBLK, [SW_UNKNOWN] = 0,
};

static uint32_t columns_of(enum model model) {
  switch (model) {
    case COUNT:
      return SW_TYPE;
    case RECORDS:
      return SW_TYPE | SW_SIZE | SW_MODE | SW_MTIME | SW_ATIME | SW_CTIME;
    default:
      return SW_TYPE | SW_SIZE;
  }
}

static struct timespec timespec_of(struct sw_time time) {
  return (struct timespec){.tv_sec = time.seconds, .tv_nsec = time.nanoseconds};
}

static void walk(struct answer *answer, enum model model, const char *path) {
  struct sw_scan *scan = sw_scan_new(path);
  struct sw_walk *walk = NULL;
  if (!scan || sw_scan_set_columns(scan, columns_of(model)) != SW_OK ||
      (model == DIRECTORY && sw_scan_set_max_depth(scan, 1) != SW_OK) || sw_walk_open(scan, &walk) != SW_OK) {
    fprintf(stderr, "%s\n", sw_failure(NULL));
    exit(1);
  }
  const struct sw_entry *entry;
  for (int got; (got = sw_walk_next(walk, &entry)) != SW_END;) {
    if (got != SW_VALUE) {
      fprintf(stderr, "%s\n", got == SW_ERROR ? sw_walk_error(walk)->message : sw_failure(NULL));
      failed = true;
      if (got == SW_ERROR) continue;
      break;
    }
    if (entry->depth == 0) continue;
    struct attributes attributes = {
        .mode = entry->known & SW_MODE ? entry->mode : MODES[entry->type],
        .size = entry->size,
        .modified = timespec_of(entry->mtime),
        .accessed = timespec_of(entry->atime),
        .changed = timespec_of(entry->ctime),
    };
    add(answer, model, entry->name, &attributes);
  }
  failed |= sw_walk_close(walk, NULL) != SW_OK;
  sw_scan_free(scan);
}
