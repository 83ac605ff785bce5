// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes the trees of the comparison, the same from the same seed.
//
//   generator KIND ENTRIES SEED DIR
//   generator tree FILES+DIRECTORIES SEED DIR
//   generator tree-down FILES+DIRECTORIES SEED DIR
//
//   wide         four directories with at least a fifth of the entries each
//   flat         one directory with everything in it
//   deep         chains of directories 400 levels deep, and binary trees
//   small-dirs   many directories with about nine entries each
//   mixed        sizes of directories as in a home directory: most small, some large
//   tree         exactly so many files in so many directories below DIR, at most 12 levels deep
//   tree-down    the same without a link to a directory: for programs that follow links and would not end
//   links        directories of 100 names each; each file has ten names, in ten directories
//
// DIR must not exist. Of the entries that are not directories, 3 % are symbolic
// links (some dangling, some to directories, some to their own parent, to catch
// who follows them) and 1.5 % are further names of a file, half of them in
// another directory. A third of the files is empty; most others are sparse, for
// their size costs nothing; a few hold bytes.
// Paths below DIR stay under 3,000 bytes, because many programs cannot take
// more than PATH_MAX: that is a matter of correctness and not of speed.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHAIN_LEVELS = 400, TREE_LEVELS = 14, NAME_BYTES = 64 };

// Of 1,000 entries that are not directories.
enum { SYMLINKS = 30, HARD_LINKS = 15 };

static uint64_t state;
static long left;           // entries still to make
static bool links_to_directories = true;
static int content_permille;  // of the files; on tmpfs each costs a page

// A file that gets further names, in an open directory of its own.
static struct {
  int dir;
  char name[NAME_BYTES];
  int names_left;
} anchor = {.dir = -1};

static void fail(const char *what) {
  fprintf(stderr, "generator: %s: %s\n", what, strerror(errno));
  exit(1);
}

// splitmix64: the same numbers on every machine.
static uint64_t any(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint32_t below(uint32_t n) { return (any() >> 32) * n >> 32; }

// A name that is unique in its directory through its number; the length varies
// as that of real names does.
static void file_name(char *out, uint32_t number) {
  static const char *const stems[] = {"a", "img", "index", "module", "IMG_2019", "test-case", "libexample",
                                      "a rather long name for a document of some kind"};
  static const char *const ends[] = {"", ".c", ".h", ".txt", ".json", ".py", ".o", ".jpeg"};
  uint32_t r = any() >> 32;
  // The longest stem is rare.
  uint32_t stem = r % 64 == 0 ? 7 : r / 64 % 7;
  snprintf(out, NAME_BYTES, "%s%u%s", stems[stem], number, ends[r >> 20 & 7]);
}

static int make_dir(int at, const char *name) {
  if (mkdirat(at, name, 0755)) fail(name);
  int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail(name);
  left--;
  return fd;
}

static void make_regular(int dir, const char *name) {
  uint32_t kind = below(1000);
  if (kind < 333) {
    if (mknodat(dir, name, S_IFREG | 0644, 0)) fail(name);
    return;
  }
  int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) fail(name);
  if (kind >= 1000 - (uint32_t)content_permille) {
    static const char bytes[8192];
    uint32_t len = 1 + below(sizeof bytes);
    if (write(fd, bytes, len) != (ssize_t)len) fail(name);
  } else {
    // Sizes over many orders of magnitude, as in real trees.
    uint32_t bits = 4 + below(24);
    if (ftruncate(fd, 1 + (any() & ((1u << bits) - 1)))) fail(name);
  }
  close(fd);
}

static void make_file(int dir, uint32_t number) {
  char name[NAME_BYTES];
  file_name(name, number);
  uint32_t kind = below(1000);
  if (kind < SYMLINKS) {
    static const char *const targets[] = {"a0", "nowhere", "..", ".", "../..", "/nonexistent/target", "a1", "a2"};
    const char *target = targets[below(8)];
    // Another file's name instead, so that everything else stays as it is.
    if (!links_to_directories && target[0] == '.') target = "a3";
    if (symlinkat(target, dir, name)) fail(name);
  } else if (kind < SYMLINKS + HARD_LINKS && anchor.names_left > 0) {
    if (linkat(anchor.dir, anchor.name, dir, name, 0)) fail(name);
    anchor.names_left--;
  } else {
    make_regular(dir, name);
    // Half of the links join one directory, half go across.
    if (anchor.names_left <= 0 && below(20) == 0) {
      if (anchor.dir >= 0) close(anchor.dir);
      anchor.dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
      if (anchor.dir < 0) fail("dup");
      strcpy(anchor.name, name);
      anchor.names_left = below(2) ? 1 : 3;
    }
  }
  left--;
}

static void fill(int dir, uint32_t files) {
  for (uint32_t i = 0; i < files && left > 0; i++) make_file(dir, i);
}

static void wide(int root) {
  long share = left / 5 + 1;
  for (int i = 0; i < 4; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "wide%d", i);
    int fd = make_dir(root, name);
    fill(fd, i == 3 ? left : share + below(share / 4));
    close(fd);
  }
}

static void chain(int root, uint32_t number) {
  char name[NAME_BYTES];
  snprintf(name, sizeof name, "chain%u", number);
  int at = make_dir(root, name);
  for (int level = 0; level < CHAIN_LEVELS && left > 0; level++) {
    fill(at, below(6));
    if (left <= 0) break;
    snprintf(name, sizeof name, "%.*s", 1 + (int)below(6), "level-down");
    int next = make_dir(at, name);
    close(at);
    at = next;
  }
  close(at);
}

static void binary_tree(int dir, int levels) {
  fill(dir, below(5));
  if (levels == 0) return;
  for (int side = 0; side < 2 && left > 0; side++) {
    int fd = make_dir(dir, side ? "right" : "left");
    binary_tree(fd, levels - 1);
    close(fd);
  }
}

static void deep(int root) {
  for (uint32_t i = 0; left > 0; i++) {
    if (i % 64 == 63) {
      char name[NAME_BYTES];
      snprintf(name, sizeof name, "tree%u", i);
      int fd = make_dir(root, name);
      binary_tree(fd, TREE_LEVELS);
      close(fd);
    } else {
      chain(root, i);
    }
  }
}

// Three levels of 10 to 40 directories each; the lowest hold files only.
static void small_dirs(int dir, int level) {
  fill(dir, 2 + below(15));
  if (level == 3) return;
  uint32_t dirs = 10 + below(31);
  for (uint32_t i = 0; i < dirs && left > 0; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "dir-%u", i);
    int fd = make_dir(dir, name);
    small_dirs(fd, level + 1);
    close(fd);
  }
}

static uint32_t mixed_size(void) {
  uint32_t r = below(10000);
  if (r < 2000) return below(2);
  if (r < 8500) return 1 + below(12);
  if (r < 9900) return 10 + below(60);
  if (r < 9998) return 100 + below(900);
  return 5000 + below(15000);
}

static void mixed(int dir, int level) {
  fill(dir, mixed_size());
  if (level == 7) return;
  uint32_t dirs = level == 0 ? 12 : below(7);
  for (uint32_t i = 0; i < dirs && left > 0; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s-%u", below(2) ? "pkg" : "project", i);
    int fd = make_dir(dir, name);
    mixed(fd, level + 1);
    close(fd);
  }
}

// Spends exactly so many files and directories below a directory. Most stay with
// the first of its children, as a home directory has one large project.
static void tree(int dir, long files, long dirs, int level) {
  long here = dirs == 0 ? files : files / (dirs + 1) / 2 + below(files / (dirs + 1) + 1);
  left = here;
  fill(dir, here);
  files -= here;
  for (uint32_t i = 0; dirs > 0; i++) {
    // The last takes the rest; on the lowest level each has no directories of its own.
    long part = level >= 11 ? 0 : (dirs - 1) * (long)below(80) / 100;
    if (i >= 12 && level < 11) part = dirs - 1;
    long part_files = dirs == part + 1 ? files : files * (part + 1) / dirs;
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s-%u", below(2) ? "album" : "folder", i);
    int fd = make_dir(dir, name);
    tree(fd, part_files, part, level + 1);
    close(fd);
    dirs -= part + 1;
    files -= part_files;
  }
}

static void links(int root) {
  for (long number = 0; left > 0;) {
    int group[10];
    char name[NAME_BYTES];
    for (int i = 0; i < 10; i++) {
      snprintf(name, sizeof name, "links-%ld", number++);
      group[i] = make_dir(root, name);
    }
    for (uint32_t file = 0; file < 100 && left > 0; file++) {
      file_name(name, file);
      make_regular(group[0], name);
      left--;
      for (int i = 1; i < 10 && left > 0; i++, left--)
        if (linkat(group[0], name, group[i], name, 0)) fail(name);
    }
    for (int i = 0; i < 10; i++) close(group[i]);
  }
}

// Repeats a tree below numbered directories until the entries are used up.
static void repeat(int root, void (*tree)(int, int)) {
  for (uint32_t i = 0; left > 0; i++) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "part-%u", i);
    int fd = make_dir(root, name);
    tree(fd, 0);
    close(fd);
  }
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: generator wide|flat|deep|small-dirs|mixed|links ENTRIES SEED DIR\n       generator tree|tree-down FILES+DIRECTORIES SEED DIR\n");
    return 2;
  }
  const char *kind = argv[1];
  left = atol(argv[2]);
  state = strtoull(argv[3], NULL, 10);
  content_permille = strcmp(kind, "mixed") ? 100 : 10;
  struct rlimit files;
  if (!getrlimit(RLIMIT_NOFILE, &files)) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  links_to_directories = strcmp(kind, "tree-down");
  umask(022);
  int root = make_dir(AT_FDCWD, argv[4]);
  if (!strcmp(kind, "wide"))
    wide(root);
  else if (!strcmp(kind, "flat"))
    fill(root, left);
  else if (!strcmp(kind, "deep"))
    deep(root);
  else if (!strcmp(kind, "small-dirs"))
    repeat(root, small_dirs);
  else if (!strcmp(kind, "mixed"))
    repeat(root, mixed);
  else if (!strcmp(kind, "links"))
    links(root);
  else if ((!strcmp(kind, "tree") || !strcmp(kind, "tree-down")) && strchr(argv[2], '+'))
    tree(root, atol(argv[2]), atol(strchr(argv[2], '+') + 1), 0);
  else
    return 2;
  // Blocks are allocated when data is written back; before that st_blocks may
  // still change.
  if (syncfs(root)) fail("syncfs");
  return 0;
}
