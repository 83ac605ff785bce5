// SPDX-License-Identifier: MIT OR Apache-2.0
//
// nftw(3), with links as themselves. It stats every entry, whatever is asked.

#define _GNU_SOURCE
#include "answer.h"

#include <errno.h>
#include <ftw.h>

// Descriptors that nftw may keep open; beyond them it closes and opens again.
enum { DEPTH = 64 };

// nftw hands nothing of ours to its visitor.
static struct answer *visited_answer;
static enum model visited_model;

static int visit(const char *path, const struct stat *st, int type, struct FTW *at) {
  if (type == FTW_DNR || type == FTW_NS) complain(path, errno);
  if (at->level == 0) return FTW_CONTINUE;
  struct attributes attributes = {0};
  if (visited_model == COUNT)
    attributes.mode = type == FTW_D || type == FTW_DNR ? S_IFDIR : 0;
  else if (type != FTW_NS)
    attributes = attributes_of(st);
  add(visited_answer, visited_model, path + at->base, &attributes);
  return visited_model == DIRECTORY && type == FTW_D ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

static void walk(struct answer *answer, enum model model, const char *path) {
  visited_answer = answer;
  visited_model = model;
  if (nftw(path, visit, DEPTH, FTW_PHYS | FTW_ACTIONRETVAL) < 0) complain(path, errno);
}
