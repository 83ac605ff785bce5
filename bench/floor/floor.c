// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The floor: the least that a program must do to total or to count a tree
// through system calls. It keeps nothing, prints one line and is the yardstick
// for every other engine.
//
//   floor [-c] [-j THREADS] PATH
//
//   totals   entries files dirs file_size_bytes allocated_bytes
//   -c       entries files dirs
//
// For a directory exactly: open, statx, getdents until 0, statx, close; for
// anything else one statx by directory descriptor and name. With -c there is no
// stat at all: open (openat2 with RESOLVE_NO_XDEV), getdents until 0, close.
// The root counts as one entry. A file with several names counts its bytes once.
// Mounts are entered, as du and find do by default.
//
// Threads: each has a stack of its own of directories to read, and gives the
// older half of it to the others when one of them is idle. Of a directory that
// fills more than one buffer, whole buffers of names are given away as well,
// because one huge directory would otherwise keep one thread busy.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef BUFFER_BYTES
#define BUFFER_BYTES (32 * 1024)
#endif

// How long an idle thread looks for work before it sleeps. Waking a sleeping
// thread takes tens of microseconds in a virtual machine, as long as reading
// several directories.
#ifndef SPIN_ROUNDS
#define SPIN_ROUNDS 1000
#endif

#define FILE_MASK (STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_BLOCKS)
#define DIR_MASK (FILE_MASK | STATX_MTIME | STATX_CTIME)

enum { DT_UNKNOWN_ = 0, DT_DIR_ = 4, DT_REG_ = 8 };

struct dirent64_head {
  uint64_t ino;
  int64_t off;
  uint16_t reclen;
  uint8_t type;
  char name[];
};

// An open directory. Its descriptor lives until the last subdirectory was
// opened relative to it and the last buffer of its names was worked off.
struct dir {
  int fd;
  atomic_int refs;
  struct dir *next_free;
};

// A directory to read: its parent and the place of its name in the owner's bytes.
struct item {
  struct dir *parent;
  uint32_t name;
};

// Work that changes hands: either directories with their names, or one buffer
// of names of a large directory.
struct parcel {
  struct parcel *next;
  struct dir *buffer_dir;  // NULL for directories
  char *bytes;
  uint32_t bytes_len;
  struct item *items;
  uint32_t items_len;
};

struct link_key {
  uint64_t dev, ino, size, blocks;
  bool used, regular;
};

struct link_set {
  struct link_key *slots;
  size_t capacity, len;
};

struct worker {
  pthread_t thread;
  char *buffer;
  struct item *items;
  uint32_t items_bottom, items_top, items_capacity;
  char *names;
  uint32_t names_top, names_capacity;
  struct dir *free_dirs;
  struct link_set links;
  uint64_t entries, files, dirs, size, blocks, errors, changed;
} __attribute__((aligned(128)));

static bool count_only;
static int threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER;
static struct parcel *parcels;       // under lock
static bool finished;                // under lock
static _Atomic int idle;             // changed under lock, read without
static _Atomic int parcels_waiting;  // changed under lock, read without

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void *need(void *memory) {
  if (!memory) die("memory");
  return memory;
}

static void pause_cpu(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// --- open directories ------------------------------------------------------

static struct dir *dir_new(struct worker *w, int fd) {
  struct dir *d = w->free_dirs;
  if (d)
    w->free_dirs = d->next_free;
  else
    d = need(malloc(sizeof *d));
  d->fd = fd;
  atomic_init(&d->refs, 1);
  return d;
}

static void dir_hold(struct dir *d) { atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed); }

static void dir_release(struct worker *w, struct dir *d) {
  // Whoever holds the only reference needs no atomic subtraction.
  if (atomic_load_explicit(&d->refs, memory_order_acquire) != 1 &&
      atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1)
    return;
  close(d->fd);
  d->next_free = w->free_dirs;
  w->free_dirs = d;
}

// --- files with several names ----------------------------------------------

static struct link_key *link_slot(struct link_set *set, uint64_t dev, uint64_t ino) {
  size_t at = (ino * 0x9e3779b97f4a7c15u ^ dev * 0xc2b2ae3d27d4eb4fu) >> 20 & (set->capacity - 1);
  while (set->slots[at].used && (set->slots[at].ino != ino || set->slots[at].dev != dev))
    at = (at + 1) & (set->capacity - 1);
  return &set->slots[at];
}

// True when the file was not there yet.
static bool link_add(struct link_set *set, const struct link_key *key) {
  if (2 * set->len >= set->capacity) {
    struct link_set bigger = {.capacity = set->capacity ? 4 * set->capacity : 1024, .len = set->len};
    bigger.slots = need(calloc(bigger.capacity, sizeof *bigger.slots));
    for (size_t i = 0; i < set->capacity; i++)
      if (set->slots[i].used) *link_slot(&bigger, set->slots[i].dev, set->slots[i].ino) = set->slots[i];
    free(set->slots);
    *set = bigger;
  }
  struct link_key *slot = link_slot(set, key->dev, key->ino);
  if (slot->used) return false;
  *slot = *key;
  set->len++;
  return true;
}

// --- the local stack -------------------------------------------------------

static void push(struct worker *w, struct dir *parent, const char *name) {
  size_t len = strlen(name) + 1;
  if (w->items_top == w->items_capacity) {
    w->items_capacity = w->items_capacity ? 2 * w->items_capacity : 1024;
    w->items = need(realloc(w->items, w->items_capacity * sizeof *w->items));
  }
  if (w->names_top + len > w->names_capacity) {
    w->names_capacity = w->names_capacity ? 2 * w->names_capacity : 32 * 1024;
    w->names = need(realloc(w->names, w->names_capacity));
  }
  memcpy(w->names + w->names_top, name, len);
  w->items[w->items_top++] = (struct item){parent, w->names_top};
  w->names_top += len;
}

// --- handing over ----------------------------------------------------------

static bool somebody_waits(void) {
  return atomic_load_explicit(&idle, memory_order_relaxed) >
         atomic_load_explicit(&parcels_waiting, memory_order_relaxed);
}

// Buffers are laid out ahead of need, one for each thread: the others take them
// while the reader works off the next one itself.
static bool few_parcels(void) {
  return threads > 1 && atomic_load_explicit(&parcels_waiting, memory_order_relaxed) < threads;
}

static void post(struct parcel *p) {
  pthread_mutex_lock(&lock);
  p->next = parcels;
  parcels = p;
  atomic_fetch_add_explicit(&parcels_waiting, 1, memory_order_relaxed);
  pthread_cond_signal(&work_there);
  pthread_mutex_unlock(&lock);
}

// Gives away the older half: these stand nearest to the root and have the most
// below them. Who is within a directory keeps none for certain; who is not
// keeps one.
static void give_items(struct worker *w, bool within) {
  uint32_t n = w->items_top - w->items_bottom;
  uint32_t given = (n + within) / 2;
  if (given == 0) return;
  struct item *first = w->items + w->items_bottom;
  uint32_t from = first[0].name, to = given < n ? first[given].name : w->names_top;
  struct parcel *p = need(malloc(sizeof *p));
  p->buffer_dir = NULL;
  p->bytes_len = to - from;
  p->bytes = need(malloc(p->bytes_len));
  memcpy(p->bytes, w->names + from, p->bytes_len);
  p->items_len = given;
  p->items = need(malloc(given * sizeof *p->items));
  for (uint32_t i = 0; i < given; i++) p->items[i] = (struct item){first[i].parent, first[i].name - from};
  w->items_bottom += given;
  post(p);
}

static void give_buffer(struct worker *w, struct dir *d, uint32_t len) {
  struct parcel *p = need(malloc(sizeof *p));
  dir_hold(d);
  p->buffer_dir = d;
  p->bytes = w->buffer;
  p->bytes_len = len;
  p->items = NULL;
  p->items_len = 0;
  w->buffer = need(malloc(BUFFER_BYTES));
  post(p);
}

// --- reading ---------------------------------------------------------------

static void failed(struct worker *w, const char *name) {
  if (w->errors++ < 3) fprintf(stderr, "floor: %s: %s\n", name, strerror(errno));
}

static void stat_entry(struct worker *w, struct dir *d, const struct dirent64_head *e) {
  struct statx st;
  if (syscall(SYS_statx, d->fd, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, FILE_MASK, &st)) {
    failed(w, e->name);
    return;
  }
  unsigned type = st.stx_mode & 0170000;
  if (type == 0040000) {
    // Only where the listing has no types.
    w->entries--;
    dir_hold(d);
    push(w, d, e->name);
    return;
  }
  bool regular = type == 0100000;
  w->files += regular;
  if (st.stx_nlink > 1) {
    struct link_key key = {(uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor, st.stx_ino,
                           st.stx_size, st.stx_blocks, true, regular};
    if (!link_add(&w->links, &key)) return;
  }
  w->blocks += st.stx_blocks;
  if (regular) w->size += st.stx_size;
}

static inline bool is_dot(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static void take_entries(struct worker *w, struct dir *d, const char *bytes, uint32_t len) {
  uint64_t seen = 0, regular = 0;
  for (uint32_t at = 0; at < len;) {
    const struct dirent64_head *e = (const void *)(bytes + at);
    at += e->reclen;
    if (e->type == DT_DIR_) {
      if (is_dot(e->name)) continue;
      dir_hold(d);
      push(w, d, e->name);
      continue;
    }
    seen++;
    if (count_only && e->type != DT_UNKNOWN_)
      regular += e->type == DT_REG_;
    else if (e->type != DT_UNKNOWN_ || !is_dot(e->name))
      stat_entry(w, d, e);
    else
      seen--;
  }
  w->entries += seen;
  w->files += regular;
}

static int open_dir(int at, const char *name) {
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (!count_only) return openat(at, name, flags);
  struct open_how how = {.flags = flags, .resolve = RESOLVE_NO_XDEV};
  int fd = syscall(SYS_openat2, at, name, &how, sizeof how);
  // A mount, which is where a real program decides whether to enter.
  if (fd < 0 && errno == EXDEV) fd = openat(at, name, flags);
  return fd;
}

static bool stat_dir(struct worker *w, int fd, struct statx *st) {
  if (!syscall(SYS_statx, fd, "", AT_EMPTY_PATH, DIR_MASK, st)) return true;
  failed(w, "statx of a directory");
  return false;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b) {
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void read_dir(struct worker *w, struct dir *d) {
  struct statx before = {0}, after = {0};
  if (!count_only) {
    if (stat_dir(w, d->fd, &before)) w->blocks += before.stx_blocks;
  }
  for (bool first = true;; first = false) {
    long len = syscall(SYS_getdents64, d->fd, w->buffer, BUFFER_BYTES);
    if (len < 0) failed(w, "getdents");
    if (len <= 0) break;
    if (somebody_waits()) give_items(w, true);
    if (!first && !count_only && few_parcels())
      give_buffer(w, d, len);
    else
      take_entries(w, d, w->buffer, len);
  }
  if (!count_only && stat_dir(w, d->fd, &after) &&
      (!same_time(&before.stx_mtime, &after.stx_mtime) ||
       !same_time(&before.stx_ctime, &after.stx_ctime) || before.stx_nlink != after.stx_nlink))
    w->changed++;
  dir_release(w, d);
}

static void read_items(struct worker *w) {
  while (w->items_top > w->items_bottom) {
    struct item it = w->items[--w->items_top];
    const char *name = w->names + it.name;
    int fd = open_dir(it.parent ? it.parent->fd : AT_FDCWD, name);
    w->entries++;
    w->dirs++;
    if (fd < 0) failed(w, name);
    w->names_top = it.name;
    if (it.parent) dir_release(w, it.parent);
    if (fd >= 0) read_dir(w, dir_new(w, fd));
    if (somebody_waits()) give_items(w, false);
  }
  w->items_top = w->items_bottom = 0;
  w->names_top = 0;
}

// --- threads ---------------------------------------------------------------

static struct parcel *next_parcel(void) {
  struct parcel *p = NULL;
  pthread_mutex_lock(&lock);
  if (!parcels) {
    if (atomic_fetch_add(&idle, 1) + 1 == threads) {
      finished = true;
      pthread_cond_broadcast(&work_there);
    } else {
      pthread_mutex_unlock(&lock);
      for (int i = 0; i < SPIN_ROUNDS && !atomic_load_explicit(&parcels_waiting, memory_order_relaxed); i++)
        pause_cpu();
      pthread_mutex_lock(&lock);
      while (!parcels && !finished) pthread_cond_wait(&work_there, &lock);
    }
    atomic_fetch_sub(&idle, 1);
  }
  if (parcels) {
    p = parcels;
    parcels = p->next;
    atomic_fetch_sub_explicit(&parcels_waiting, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&lock);
  return p;
}

static void *work(void *argument) {
  struct worker *w = argument;
  w->buffer = need(malloc(BUFFER_BYTES));
  read_items(w);
  for (struct parcel *p; (p = next_parcel());) {
    if (p->buffer_dir) {
      take_entries(w, p->buffer_dir, p->bytes, p->bytes_len);
      dir_release(w, p->buffer_dir);
    } else {
      for (uint32_t i = 0; i < p->items_len; i++) push(w, p->items[i].parent, p->bytes + p->items[i].name);
    }
    free(p->items);
    free(p->bytes);
    free(p);
    read_items(w);
  }
  return NULL;
}

int main(int argc, char **argv) {
  threads = 1;
  for (int option; (option = getopt(argc, argv, "cj:")) != -1;) {
    if (option == 'c')
      count_only = true;
    else if (option == 'j')
      threads = atoi(optarg);
    else
      return 2;
  }
  if (optind + 1 != argc || threads < 1) {
    fprintf(stderr, "usage: floor [-c] [-j THREADS] PATH\n");
    return 2;
  }
  struct rlimit files;
  if (!getrlimit(RLIMIT_NOFILE, &files)) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }

  struct worker *workers = need(aligned_alloc(128, threads * sizeof *workers));
  memset(workers, 0, threads * sizeof *workers);
  push(&workers[0], NULL, argv[optind]);
  for (int i = 1; i < threads; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) die("thread");
  work(&workers[0]);
  struct worker sum = workers[0];
  for (int i = 1; i < threads; i++) {
    struct worker *w = &workers[i];
    pthread_join(w->thread, NULL);
    sum.entries += w->entries;
    sum.files += w->files;
    sum.dirs += w->dirs;
    sum.size += w->size;
    sum.blocks += w->blocks;
    sum.errors += w->errors;
    sum.changed += w->changed;
    // What two threads met under different names was counted by both.
    for (size_t at = 0; at < w->links.capacity; at++) {
      const struct link_key *key = &w->links.slots[at];
      if (!key->used || link_add(&sum.links, key)) continue;
      sum.blocks -= key->blocks;
      if (key->regular) sum.size -= key->size;
    }
  }
  if (count_only)
    printf("%lu %lu %lu\n", sum.entries, sum.files, sum.dirs);
  else
    printf("%lu %lu %lu %lu %lu\n", sum.entries, sum.files, sum.dirs, sum.size, 512 * sum.blocks);
  if (sum.changed) fprintf(stderr, "floor: %lu directories changed meanwhile\n", sum.changed);
  if (sum.errors) fprintf(stderr, "floor: %lu entries could not be read\n", sum.errors);
  return sum.errors ? 1 : 0;
}
