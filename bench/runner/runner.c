// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Runs one command and says what it cost.
//
//   runner DESCRIPTOR COMMAND [ARGUMENT...]
//
// Writes to the descriptor: wall_ns user_us system_us max_rss_kib exit_status
// (128 + the number of a signal that ended it), and leaves 0, 1 and 2 to the
// command.
//
// It exists because it is small. What wait4 reports as the peak memory of a
// child includes what the child held before exec, which is the memory of
// whoever started it: of an interpreter tens of megabytes, of this program
// less than one. For the same reason starting a command costs it little.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long us(struct timeval t) { return t.tv_sec * 1000000LL + t.tv_usec; }

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int out = atoi(argv[1]);
  fcntl(out, F_SETFD, FD_CLOEXEC);
  pid_t child;
  long long start = now_ns();
  int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
  if (error) {
    fprintf(stderr, "runner: %s: %s\n", argv[2], strerror(error));
    return 2;
  }
  int status;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) return 2;
  long long end = now_ns();
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  dprintf(out, "%lld %lld %lld %ld %d\n", end - start, us(used.ru_utime), us(used.ru_stime), used.ru_maxrss, code);
  return 0;
}
