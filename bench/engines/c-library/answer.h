// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the engines in C have in common: the call, the clock, the sums and the
// records. How a tree is walked is in the files that include this one; each
// defines walk().

#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum model { COUNT, SIZE, RECORDS, DIRECTORY };

struct attributes {
  mode_t mode;
  int64_t size;
  struct timespec modified, accessed, changed;
};

struct record {
  struct attributes attributes;
  size_t name;  // its place in the names
};

struct answer {
  uint64_t files, directories, bytes;
  struct record *records;
  size_t records_count, records_room;
  char *names;
  size_t names_bytes, names_room;
};

static bool failed;

static void walk(struct answer *answer, enum model model, const char *path);

static inline void complain(const char *name, int error) {
  failed = true;
  fprintf(stderr, "%s: %s\n", name, strerror(error));
}

static inline void *grow(void *old, size_t *room, size_t needed, size_t size) {
  if (needed <= *room) return old;
  *room = needed < 1024 ? 1024 : 2 * needed;
  void *new = realloc(old, *room * size);
  if (!new) {
    perror("realloc");
    exit(1);
  }
  return new;
}

static inline struct attributes attributes_of(const struct stat *st) {
  return (struct attributes){st->st_mode, st->st_size, st->st_mtim, st->st_atim, st->st_ctim};
}

// Takes one entry. Only the type must be there when the model asks for no more.
static inline void add(struct answer *answer, enum model model, const char *name, const struct attributes *attributes) {
  if (S_ISDIR(attributes->mode))
    answer->directories++;
  else
    answer->files++;
  // A listing without types makes even a count stat.
  if (model != COUNT && S_ISREG(attributes->mode)) answer->bytes += attributes->size;
  if (model != RECORDS) return;
  size_t length = strlen(name) + 1;
  answer->names = grow(answer->names, &answer->names_room, answer->names_bytes + length, 1);
  memcpy(answer->names + answer->names_bytes, name, length);
  answer->records =
      grow(answer->records, &answer->records_room, answer->records_count + 1, sizeof *answer->records);
  answer->records[answer->records_count++] = (struct record){*attributes, answer->names_bytes};
  answer->names_bytes += length;
}

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv) {
  static const char *const models[] = {"count", "size", "records", "directory"};
  enum model model = COUNT;
  while (argc == 4 && model <= DIRECTORY && strcmp(models[model], argv[1])) model++;
  if (argc != 4 || model > DIRECTORY) {
    fprintf(stderr, "usage: %s count|size|records|directory ROUNDS PATH\n", argv[0]);
    return 2;
  }
  // Who opens by descriptor keeps one open for each level.
  struct rlimit descriptors;
  if (!getrlimit(RLIMIT_NOFILE, &descriptors)) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  for (int round = atoi(argv[2]); round > 0; round--) {
    struct answer answer = {0};
    int64_t start = now_ns();
    walk(&answer, model, argv[3]);
    uint64_t modified = 0;
    for (size_t i = 0; i < answer.records_count; i++) modified += answer.records[i].attributes.modified.tv_sec;
    int64_t end = now_ns();
    printf("%lld %llu %llu %llu", (long long)(end - start), (unsigned long long)answer.files,
           (unsigned long long)answer.directories, (unsigned long long)answer.bytes);
    if (model == RECORDS) printf(" %lld", (long long)modified);
    printf("\n");
    free(answer.records);
    free(answer.names);
  }
  return failed;
}
