// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What can be had at all where every call waits: threads that only stat.
//
//   hammer THREADS DIRECTORY < NAMES
//
// Stats every name, one a line and relative to the directory, and prints how
// many there were. A thread takes the next name that none has taken: there is
// nothing to find, to hand over or to wait for.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MASK = STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_BLOCKS, STACK_BYTES = 64 * 1024 };

static char **names;
static size_t count;
static int directory;
static atomic_size_t next, failed;

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void read_names(void) {
  size_t room = 0, line_room = 0;
  char *line = NULL;
  for (ssize_t len; (len = getline(&line, &line_room, stdin)) > 0;) {
    if (count == room) {
      room = room ? 2 * room : 1024;
      names = realloc(names, room * sizeof *names);
      if (!names) die("memory");
    }
    if (line[len - 1] == '\n') line[len - 1] = 0;
    names[count++] = strdup(line);
  }
  free(line);
}

static void *work(void *unused) {
  (void)unused;
  for (size_t at; (at = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < count;) {
    struct statx st;
    if (statx(directory, names[at], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, MASK, &st)) atomic_fetch_add(&failed, 1);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc == 3 ? atoi(argv[1]) : 0;
  if (threads < 1) {
    fprintf(stderr, "usage: hammer THREADS DIRECTORY < NAMES\n");
    return 2;
  }
  read_names();
  directory = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) die(argv[2]);
  pthread_attr_t attributes;
  pthread_t *started = calloc(threads, sizeof *started);
  if (!started || pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK_BYTES)) die("memory");
  for (int i = 0; i < threads; i++)
    if (pthread_create(&started[i], &attributes, work, NULL)) die("thread");
  for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
  printf("%zu\n", count - failed);
  return failed ? 1 : 0;
}
