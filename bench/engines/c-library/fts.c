// SPDX-License-Identifier: MIT OR Apache-2.0
//
// fts(3), with links as themselves. The library stats every entry; to count
// it is asked not to, which it answers with d_type and the directory's number
// of links.

#define _GNU_SOURCE
#include "answer.h"

#include <errno.h>
#include <fts.h>

static void walk(struct answer *answer, enum model model, const char *path) {
  char *const roots[] = {(char *)path, NULL};
  FTS *fts = fts_open(roots, FTS_PHYSICAL | (model == COUNT ? FTS_NOSTAT : 0), NULL);
  if (!fts) {
    complain(path, errno);
    return;
  }
  FTSENT *entry;
  while (errno = 0, (entry = fts_read(fts))) {
    switch (entry->fts_info) {
      case FTS_DP:
        // A directory that may be read but not entered has only this sign.
        if (entry->fts_errno) complain(entry->fts_path, entry->fts_errno);
        continue;
      case FTS_DNR:
      case FTS_ERR:
        // Directories, which were counted when they came as FTS_D.
        complain(entry->fts_path, entry->fts_errno);
        continue;
      case FTS_NS:
        complain(entry->fts_path, entry->fts_errno);
        break;
    }
    if (entry->fts_level == FTS_ROOTLEVEL) continue;
    struct attributes attributes = {0};
    if (model != COUNT && entry->fts_info != FTS_NS)
      attributes = attributes_of(entry->fts_statp);
    else if (entry->fts_info == FTS_D || entry->fts_info == FTS_DC)
      attributes.mode = S_IFDIR;
    add(answer, model, entry->fts_name, &attributes);
    if (model == DIRECTORY && entry->fts_info == FTS_D) fts_set(fts, entry, FTS_SKIP);
  }
  if (errno) complain(path, errno);
  fts_close(fts);
}
