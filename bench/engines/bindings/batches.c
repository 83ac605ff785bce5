// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C library, in columns. For records the tables themselves are kept: they are the records.

#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <statwalk.h>

enum { NANOSECONDS = 1000000000 };

struct answer {
  uint64_t files, directories, bytes;
  int64_t modified;
};

static bool failed;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static const void *values(const struct sw_table *table, const char *name) {
  const struct sw_attribute *attribute = sw_attribute_of(table, name);
  return attribute ? attribute->values : NULL;
}

static void add_times(struct answer *answer, const int64_t *mtime, size_t row) {
  int64_t time = mtime[row];
  // Rounded down.
  answer->modified += time / NANOSECONDS - (time % NANOSECONDS < 0);
}

static void add(struct answer *answer, const struct sw_table *table) {
  const uint64_t *size = values(table, "size");
  const int64_t *mtime = values(table, "mtime");
  for (size_t row = 0; row < table->len; row++) {
    if (table->ids) {
      bool is_root = table->has_dir && !(table->has_dir[row / 8] >> row % 8 & 1);
      if (is_root) continue;
      answer->directories++;
    } else {
      answer->files++;
      if (size && table->types[row] == SW_FILE) answer->bytes += size[row];
    }
    if (mtime) add_times(answer, mtime, row);
  }
  for (size_t at = 0; at < table->odd_time_count; at++)
    if (table->odd_times[at].column == SW_MTIME) answer->modified += table->odd_times[at].seconds;
}

static struct answer walk(const char *model, const char *path) {
  bool records = !strcmp(model, "records");
  uint32_t columns = SW_TYPE;
  if (strcmp(model, "count")) columns |= SW_SIZE;
  if (records) columns |= SW_NAME | SW_MODE | SW_MTIME | SW_ATIME | SW_CTIME;
  struct sw_scan *scan = sw_scan_new(path);
  struct sw_tables *tables = NULL;
  if (!scan || sw_scan_set_columns(scan, columns) != SW_OK ||
      (!strcmp(model, "directory") && sw_scan_set_max_depth(scan, 1) != SW_OK) ||
      sw_tables_open(scan, &tables) != SW_OK) {
    fprintf(stderr, "%s\n", sw_failure(NULL));
    exit(1);
  }
  struct answer answer = {0};
  struct sw_table *table, **kept = NULL;
  size_t count = 0, room = 0;
  for (int got; (got = sw_tables_next(tables, -1, &table)) != SW_END;) {
    if (got != SW_VALUE) {
      fprintf(stderr, "%s\n", got == SW_ERROR ? sw_tables_error(tables)->message : sw_failure(NULL));
      failed = true;
      if (got == SW_ERROR) continue;
      break;
    }
    add(&answer, table);
    if (!records) {
      sw_table_free(table);
      continue;
    }
    if (count == room) {
      room = room ? 2 * room : 64;
      kept = realloc(kept, room * sizeof *kept);
      if (!kept) abort();
    }
    kept[count++] = table;
  }
  failed |= sw_tables_close(tables, NULL) != SW_OK;
  sw_scan_free(scan);
  while (count) sw_table_free(kept[--count]);
  free(kept);
  return answer;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s count|size|records|directory ROUNDS PATH\n", argv[0]);
    return 2;
  }
  for (int round = atoi(argv[2]); round > 0; round--) {
    int64_t start = now_ns();
    struct answer answer = walk(argv[1], argv[3]);
    int64_t end = now_ns();
    printf("%lld %llu %llu %llu", (long long)(end - start), (unsigned long long)answer.files,
           (unsigned long long)answer.directories, (unsigned long long)answer.bytes);
    if (!strcmp(argv[1], "records")) printf(" %lld", (long long)answer.modified);
    printf("\n");
  }
  return failed;
}
