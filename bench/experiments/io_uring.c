// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does io_uring make a scan faster? Stats every entry below a directory, either
// with plain calls or through a ring, and prints what that took.
//
//   io_uring sync|ring PATH [DEPTH]
//
// Directories are listed with getdents64 in both cases, because io_uring has no
// such operation; only the stats differ. One thread, so that what a ring brings
// is not mixed with what threads bring; the kernel's own workers are counted in
// the processor time, which wait4 of whoever runs this reports.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MASK (STATX_TYPE | STATX_SIZE | STATX_BLOCKS | STATX_INO | STATX_NLINK)

static unsigned long long entries, blocks;

struct ring {
  int fd;
  unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
  struct io_uring_sqe *sqes;
  struct io_uring_cqe *cqes;
  unsigned depth;
  struct statx *answers;
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct ring open_ring(unsigned depth) {
  struct io_uring_params p = {0};
  struct ring r = {.depth = depth};
  r.fd = syscall(SYS_io_uring_setup, depth, &p);
  if (r.fd < 0) fail("io_uring_setup");
  size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned);
  size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
  char *sqp = mmap(0, sq, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_SQ_RING);
  char *cqp = mmap(0, cq, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd, IORING_OFF_CQ_RING);
  r.sqes = mmap(0, p.sq_entries * sizeof *r.sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r.fd,
                IORING_OFF_SQES);
  if (sqp == MAP_FAILED || cqp == MAP_FAILED || r.sqes == MAP_FAILED) fail("mmap");
  r.sq_tail = (unsigned *)(sqp + p.sq_off.tail);
  r.sq_mask = (unsigned *)(sqp + p.sq_off.ring_mask);
  r.sq_array = (unsigned *)(sqp + p.sq_off.array);
  r.cq_head = (unsigned *)(cqp + p.cq_off.head);
  r.cq_tail = (unsigned *)(cqp + p.cq_off.tail);
  r.cq_mask = (unsigned *)(cqp + p.cq_off.ring_mask);
  r.cqes = (struct io_uring_cqe *)(cqp + p.cq_off.cqes);
  r.answers = calloc(depth, sizeof *r.answers);
  return r;
}

static void add(const struct statx *s) {
  entries++;
  blocks += s->stx_blocks;
}

// Stats some names of a directory, all at once as far as the ring is deep.
static void stat_names(struct ring *r, int dir, char **names, unsigned count) {
  if (!r) {
    struct statx s;
    for (unsigned i = 0; i < count; i++)
      if (!statx(dir, names[i], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, MASK, &s)) add(&s);
    return;
  }
  for (unsigned start = 0; start < count; start += r->depth) {
    unsigned batch = count - start < r->depth ? count - start : r->depth;
    unsigned tail = *r->sq_tail;
    for (unsigned i = 0; i < batch; i++, tail++) {
      unsigned at = tail & *r->sq_mask;
      r->sqes[at] = (struct io_uring_sqe){
          .opcode = IORING_OP_STATX,
          .fd = dir,
          .addr = (unsigned long)names[start + i],
          .len = MASK,
          .off = (unsigned long)&r->answers[i],
          .statx_flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
          .user_data = i,
      };
      r->sq_array[at] = at;
    }
    atomic_store_explicit((_Atomic unsigned *)r->sq_tail, tail, memory_order_release);
    if (syscall(SYS_io_uring_enter, r->fd, batch, batch, IORING_ENTER_GETEVENTS, NULL, 0) < 0) fail("io_uring_enter");
    unsigned head = *r->cq_head;
    for (unsigned done = 0; done < batch; done++, head++) {
      while (head == atomic_load_explicit((_Atomic unsigned *)r->cq_tail, memory_order_acquire))
        syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
      struct io_uring_cqe *c = &r->cqes[head & *r->cq_mask];
      if (c->res >= 0) add(&r->answers[c->user_data]);
    }
    atomic_store_explicit((_Atomic unsigned *)r->cq_head, head, memory_order_release);
  }
}

static void scan(struct ring *r, int dir) {
  struct statx own;
  if (!statx(dir, "", AT_EMPTY_PATH, MASK, &own)) add(&own);
  unsigned names_max = 0, names_count = 0, subdirs_max = 0, subdirs_count = 0;
  char **names = NULL, **subdirs = NULL;
  DIR *d = fdopendir(dir);
  if (!d) fail("fdopendir");
  for (struct dirent *e; (e = readdir(d));) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
    int is_dir = e->d_type == DT_DIR;
    char ***list = is_dir ? &subdirs : &names;
    unsigned *count = is_dir ? &subdirs_count : &names_count, *max = is_dir ? &subdirs_max : &names_max;
    if (*count == *max) *list = realloc(*list, (*max = *max ? *max * 2 : 64) * sizeof **list);
    (*list)[(*count)++] = strdup(e->d_name);
  }
  stat_names(r, dir, names, names_count);
  for (unsigned i = 0; i < names_count; i++) free(names[i]);
  free(names);
  for (unsigned i = 0; i < subdirs_count; i++) {
    int below = openat(dir, subdirs[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) scan(r, below);
    free(subdirs[i]);
  }
  free(subdirs);
  closedir(d);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: io_uring sync|ring PATH [DEPTH]\n");
    return 2;
  }
  struct ring ring, *r = NULL;
  if (!strcmp(argv[1], "ring")) {
    ring = open_ring(argc > 3 ? (unsigned)atoi(argv[3]) : 64);
    r = &ring;
  }
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  int dir = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) fail(argv[2]);
  scan(r, dir);
  clock_gettime(CLOCK_MONOTONIC, &b);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf("%s\t%llu entries\t%llu bytes\t%.3f s\t%.3f s CPU\n", argv[1], entries, blocks * 512,
         (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9, cpu);
  return 0;
}
