// SPDX-License-Identifier: MIT OR Apache-2.0
//
// statwalk: entries of directory trees with their attributes.
//
// Made from bindings/c/src by cbindgen; a test compares it.
//
//     sw_scan *scan = sw_scan_new("/usr");
//     sw_scan_set_columns(scan, SW_SIZE);
//     sw_walk *walk;
//     const sw_entry *entry;
//     if (sw_walk_open(scan, &walk) != SW_OK) { puts(sw_failure(NULL)); return 1; }
//     for (int got; (got = sw_walk_next(walk, &entry)) > 0;)
//         if (got == SW_VALUE) printf("%llu %s\n", (unsigned long long)entry->size, entry->path);
//         else puts(sw_walk_error(walk)->message);
//     sw_walk_close(walk, NULL);
//     sw_scan_free(scan);
//
// Rules.
// - Strings that come with a length end with a NUL as well, but for columns.
// - One thread at a time uses a walk, or tables. Any thread may cancel. A table that was taken
//   is independent of the others.
// - fork: only the process that began a scan may go on with it. In the child, the first call
//   for it answers SW_FAILED, its handles are closed without effect, and new scans work.
// - The library installs no signal handler, prints nothing and reads no environment, but
//   for SW_DEVICES, and for a fault of its own: then it prints a line and answers SW_FAILED.

#ifndef STATWALK_H
#define STATWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
// The C Data and C Stream interfaces of Apache Arrow, as its specification has them.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif // ARROW_C_STREAM_INTERFACE

/// 16 bits without a sign: uint16_t.
#define SW_U16 1

/// 32 bits without a sign: uint32_t.
#define SW_U32 2

/// 64 bits without a sign: uint64_t.
#define SW_U64 3

/// Nanoseconds since 1970: int64_t. Where they do not fit, the value is not known.
#define SW_TIME_NS 4

/// The call did what it says.
#define SW_OK 0

/// Nothing comes any more.
#define SW_END 0

/// A value has come.
#define SW_VALUE 1

/// An entry could not be read. The scan goes on.
#define SW_ERROR 2

/// Nothing has come in the given time.
#define SW_WAITING 3

/// The scan is over, and something was not read: the report says how much.
#define SW_INCOMPLETE 4

/// The call failed: see sw_failure.
#define SW_FAILED -1

/// Opening a directory.
#define SW_OP_OPEN 0

/// Listing a directory that was opened.
#define SW_OP_READ 1

/// Reading the attributes of an entry.
#define SW_OP_STAT 2

/// Following a symbolic link.
#define SW_OP_FOLLOW 3

/// Anything else.
#define SW_OP_OTHER 255

/// Names. A walk always has them.
#define SW_NAME (1 << 0)

/// Types. Always there.
#define SW_TYPE (1 << 1)

/// st_size.
#define SW_SIZE (1 << 2)

/// The space taken: 512 times st_blocks.
#define SW_ALLOCATED (1 << 3)

/// st_nlink.
#define SW_LINKS (1 << 4)

/// st_dev and st_ino.
#define SW_ID (1 << 5)

/// st_mtim.
#define SW_MTIME (1 << 6)

/// st_atim.
#define SW_ATIME (1 << 7)

/// st_ctim.
#define SW_CTIME (1 << 8)

/// The time of birth, where the file system keeps one.
#define SW_BTIME (1 << 9)

/// st_uid and st_gid.
#define SW_OWNER (1 << 10)

/// st_mode.
#define SW_MODE (1 << 11)

/// st_rdev.
#define SW_RDEV (1 << 12)

/// Flags of statx(2), STATX_ATTR_APPEND and six others, and which of them are known.
#define SW_FLAGS (1 << 13)

/// Whole paths as a column of tables. A walk always has them.
#define SW_PATH 2147483648

/// All that stat(2) gives.
#define SW_STAT ((((((((((SW_TYPE | SW_SIZE) | SW_ALLOCATED) | SW_LINKS) | SW_ID) | SW_MTIME) | SW_ATIME) | SW_CTIME) | SW_OWNER) | SW_MODE) | SW_RDEV)

/// Stay on the file system of the root.
#define SW_ONE_FILE_SYSTEM (1 << 0)

/// A symbolic link stands for what it leads to, and nothing is listed twice.
#define SW_FOLLOW_LINKS (1 << 1)

/// Enter /proc and its like, which are left out otherwise.
#define SW_KERNEL_FILE_SYSTEMS (1 << 2)

/// Read devices where that is faster and allowed; it installs a handler of SIGBUS.
#define SW_DEVICES (1 << 3)

/// Leave out what .gitignore files name, by the rules of git.
#define SW_GITIGNORE (1 << 4)

/// Sort names within a directory by their bytes, and go into each at once.
///
/// A missing root is still the last item. An error comes in the place of its entry. Memory:
/// the entries of the directories on the way to the present one, and up to 131,072 beside them
/// and what threads read just then. Second mounts, and links with SW_FOLLOW_LINKS, are read
/// last, and all entries of a root that come after such a one wait for it.
#define SW_SORT (1 << 5)

/// Give a directory after all that is below it, and sort names.
///
/// Nothing can be skipped then. An error of a directory comes before it.
#define SW_CONTENTS_FIRST (1 << 6)

/// A regular file.
#define SW_FILE 0

/// A directory.
#define SW_DIRECTORY 1

/// A symbolic link.
#define SW_SYMLINK 2

/// A named pipe.
#define SW_FIFO 3

/// A socket.
#define SW_SOCKET 4

/// A character device.
#define SW_CHAR_DEVICE 5

/// A block device.
#define SW_BLOCK_DEVICE 6

/// Neither the listing nor a stat could tell.
#define SW_UNKNOWN 7

/// The entries of a directory follow.
#define SW_LISTED 0

/// The directory could not be opened.
#define SW_UNREADABLE 1

/// Another file system that was not entered.
#define SW_CROSSING 2

/// A kernel file system that was left out.
#define SW_EXCLUDED 3

/// The directory lies as deep as the scan goes.
#define SW_AT_DEPTH_LIMIT 4

/// The description of a scan: roots, columns and options. Any number of scans can begin with one.
typedef struct sw_scan sw_scan;

/// A scan that gives tables.
typedef struct sw_tables sw_tables;

/// A scan that gives entries one after another.
typedef struct sw_walk sw_walk;

/// The values of one attribute.
typedef struct sw_attribute {
  /// The name, as in tables of Arrow: "size", "uid", "mtime".
  const char *name;
  /// The column that asks for it: SW_SIZE and its neighbours. Two attributes can have one.
  uint32_t column;
  /// SW_U16 and its neighbours.
  uint32_t kind;
  /// A value for each row; NULL without rows.
  const void *values;
  /// A bit for each row: whether its value is known. A stat can fail.
  const uint8_t *is_known;
} sw_attribute;

/// A time of a row that 64 bits of nanoseconds do not hold: before 1677, after 2262.
typedef struct sw_odd_time {
  /// The row.
  uint32_t row;
  /// SW_MTIME, SW_ATIME, SW_CTIME or SW_BTIME.
  uint32_t column;
  /// Seconds since 1970.
  int64_t seconds;
} sw_odd_time;

/// A row whose attributes the system has refused.
typedef struct sw_refusal {
  /// The row.
  uint32_t row;
  /// The error number of the system.
  int number;
} sw_refusal;

/// Directories, or other entries, in columns. A column that was not asked for is NULL.
///
/// It has up to 16,384 rows and 4 MiB, or a single row; one without rows has ends of
/// directories. Columns of bits have row 0 in the lowest bit of the first byte, and are NULL
/// if every bit is 1. New members can come at the end.
typedef struct sw_table {
  /// How many rows there are.
  size_t len;
  /// The numbers of directories; NULL in a table of other entries. With SW_SORT or
  /// SW_CONTENTS_FIRST, UINT32_MAX for a row that is no directory.
  const uint32_t *ids;
  /// Of directories, the root that each belongs to, from 0 on.
  const uint32_t *roots;
  /// Of directories, SW_LISTED and its neighbours.
  const uint8_t *states;
  /// The number of the directory that each row lies in. A root has none, and here its number
  /// among the roots, from 0 on.
  const uint32_t *dirs;
  /// A bit for each row: whether it lies in a directory. 0 for a root.
  const uint8_t *has_dir;
  /// Which prefix stands before the name of each row: both are its path.
  const uint32_t *prefixes;
  /// The bytes of all prefixes, without NULs: the path of a directory with a slash at its
  /// end, and nothing for roots.
  const uint8_t *prefix_bytes;
  /// Where each prefix begins, and where the last one ends.
  const uint32_t *prefix_offsets;
  /// How many prefixes there are.
  size_t prefix_count;
  /// The bytes of all names, without NULs. The name of a root is the path that the caller
  /// gave.
  const uint8_t *names;
  /// Where each name begins, and at the end where the last one ends: `len` + 1 numbers.
  const int32_t *name_offsets;
  /// With SW_PATH, the bytes of all paths, without NULs.
  const uint8_t *paths;
  /// As `name_offsets`.
  const int64_t *path_offsets;
  /// SW_FILE and its neighbours.
  const uint8_t *types;
  /// The attributes that were asked for.
  const struct sw_attribute *attributes;
  /// How many there are.
  size_t attribute_count;
  /// Times that nanoseconds do not hold, by row: nearly always none.
  const struct sw_odd_time *odd_times;
  /// How many there are.
  size_t odd_time_count;
  /// The numbers of directories that are finished. Their rows can still come; at the
  /// end of a scan that was stopped, those that are not among them lack something.
  const uint32_t *finished;
  /// How many there are.
  size_t finished_count;
  /// The numbers of directories that lack something, which could not be read.
  const uint32_t *incomplete;
  /// How many there are.
  size_t incomplete_count;
  /// The rows whose attributes the system has refused, in their order: nearly always none.
  const struct sw_refusal *refusals;
  /// How many there are.
  size_t refusal_count;
} sw_table;

/// An entry that could not be read.
typedef struct sw_error {
  /// The path, beginning with its root as the caller wrote it. Ends with a NUL.
  const char *path;
  /// The length of the path, without the NUL.
  size_t path_len;
  /// The error number of the system; 0 for a directory that did not hold still.
  int number;
  /// The operation: SW_OP_OPEN and its neighbours.
  uint8_t op;
  /// The root that the path belongs to, from 0 on.
  uint32_t root;
  /// A message for people, such as "open /srv/hr: permission denied".
  const char *message;
} sw_error;

/// The gaps of a scan.
///
/// It lies in the memory of the caller, so it keeps its size. New members take the place of
/// reserved ones.
typedef struct sw_report {
  /// Whether everything was read.
  bool is_complete;
  /// Whether the scan was stopped before its end.
  bool is_interrupted;
  /// Roots that are not there.
  uint64_t missing_roots;
  /// Entries and directories that could not be read.
  uint64_t unreadable;
  /// Directories that changed each time they were read.
  uint64_t changed_directories;
  /// Entries that went away during the scan. They are no gap.
  uint64_t vanished;
  /// Entries that were left out by a pattern, sw_walk_skip or sw_tables_skip.
  uint64_t excluded;
  /// Other file systems that were not entered.
  uint64_t crossings;
  /// 0, for members of later versions.
  uint64_t reserved[8];
} sw_report;

/// A time since 1970, in UTC.
typedef struct sw_time {
  /// Whole seconds, rounded down.
  int64_t seconds;
  /// The rest; 0 for times before 1677 and after 2262.
  uint32_t nanoseconds;
} sw_time;

/// An entry. It is there until the next call for its walk.
///
/// A column that is not in `known` is 0: it was not asked for, the file system does not have
/// it, or `refusal` says why it could not be read.
/// New members can come at the end.
typedef struct sw_entry {
  /// The path, beginning with the root as the caller gave it. Ends with a NUL.
  const char *path;
  /// The length of the path, without the NUL.
  size_t path_len;
  /// The name: the end of the path. Of a root it is the whole path.
  const char *name;
  /// The length of the name.
  size_t name_len;
  /// The columns that are known: SW_SIZE and its neighbours.
  uint32_t known;
  /// The distance from the root, which is 0.
  uint32_t depth;
  /// The root that it belongs to, from 0 on.
  uint32_t root;
  /// SW_FILE and its neighbours.
  uint8_t type;
  /// Of a directory, SW_LISTED and its neighbours.
  uint8_t state;
  /// Whether a symbolic link was followed to it.
  bool is_followed;
  /// st_size.
  uint64_t size;
  /// 512 times st_blocks.
  uint64_t allocated;
  /// st_ino.
  uint64_t ino;
  /// st_dev.
  uint64_t dev;
  /// st_rdev.
  uint64_t rdev;
  /// st_nlink.
  uint32_t links;
  /// st_uid.
  uint32_t uid;
  /// st_gid.
  uint32_t gid;
  /// st_mode.
  uint32_t mode;
  /// st_mtim.
  struct sw_time mtime;
  /// st_atim.
  struct sw_time atime;
  /// st_ctim.
  struct sw_time ctime;
  /// The time of birth.
  struct sw_time btime;
  /// STATX_ATTR_COMPRESSED, _IMMUTABLE, _APPEND, _NODUMP, _ENCRYPTED, _VERITY and _DAX.
  uint32_t flags;
  /// Those bits of `flags` that the file system tells. Any other flag is unknown.
  uint32_t flags_mask;
  /// The error number for which the system has refused the attributes; 0 where it has not.
  int refusal;
} sw_entry;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Finds an attribute by its name, such as "size"; NULL where it was not asked for.
const struct sw_attribute *sw_attribute_of(const struct sw_table *table,
                                           const char *name);

/// Says why the last call of this thread that answered SW_FAILED, or NULL in place of a
/// pointer, has failed. The words are there until the next failure of the thread.
///
/// `number` is NULL, or gets an error number of the system.
const char *sw_failure(int *number);

/// The version of the library, such as "0.1.0".
const char *sw_version(void);

/// Describes a scan of the tree at a path, with names and types.
///
/// NULL if it fails. Give it to sw_scan_free.
struct sw_scan *sw_scan_new(const char *root);

/// Adds a tree. Trees are scanned one after another.
int sw_scan_add_root(struct sw_scan *scan, const char *root);

/// Asks for columns: SW_SIZE | SW_MTIME and others. They decide the system calls.
///
/// SW_NAME and SW_PATH alone need no call for an entry, and tell directories from others.
/// SW_TYPE needs one where the file system lists no types.
int sw_scan_set_columns(struct sw_scan *scan, uint32_t columns);

/// Sets options: SW_ONE_FILE_SYSTEM and its neighbours.
int sw_scan_set_options(struct sw_scan *scan, uint32_t options);

/// The number of threads; 0 lets the scan decide.
///
/// SW_FAILED beyond 2^32 - 1, as for a negative number that became a size.
int sw_scan_set_threads(struct sw_scan *scan, size_t threads);

/// How deep the scan goes: a root has depth 0, and its entries have depth 1.
///
/// UINT32_MAX, the default, is no limit.
int sw_scan_set_max_depth(struct sw_scan *scan, uint32_t depth);

/// Give nothing above this depth; the directories there are read all the same.
///
/// 0 is the default. Rows name directories above it by their numbers, which come in no table.
int sw_scan_set_min_depth(struct sw_scan *scan,
                          uint32_t depth);

/// Leave out paths that fit a shell pattern, or one of several, as du --exclude does.
///
/// Each call adds one. A scan does not begin with one that ends with a slash.
int sw_scan_exclude(struct sw_scan *scan, const char *pattern);

/// Frees the description of a scan. Scans that began with it go on. NULL is allowed.
void sw_scan_free(struct sw_scan *scan);

/// Begins a scan that gives tables. sw_tables_close ends it.
///
/// Each directory is a row of a table of directories, and any other entry one of a table of
/// others, which have no `ids`. With SW_SORT or SW_CONTENTS_FIRST a table has both, and
/// UINT32_MAX among its `ids` for a row that is no directory. A directory comes before all that is below it, and an error
/// comes after the directories above its entry. SW_OK, or SW_FAILED and NULL in `tables`.
int sw_tables_open(const struct sw_scan *scan,
                   struct sw_tables **tables);

/// Takes the next table, and waits for it up to a time, or for ever if the time is
/// negative.
///
/// SW_VALUE and the table, for sw_table_free; SW_ERROR for an entry that could not be
/// read, which sw_tables_error describes; SW_WAITING; SW_END; SW_FAILED.
int sw_tables_next(struct sw_tables *tables, int timeout_ms, struct sw_table **table);

/// Gives a descriptor for poll(2) and event loops, as sw_walk_fd does.
///
/// A table or an error that has made it readable comes, also if a directory above was skipped
/// since: sw_tables_is_skipped tells.
int sw_tables_fd(struct sw_tables *tables);

/// The error of the last SW_ERROR; NULL before the first. It is there until the next call
/// of sw_tables_next.
const struct sw_error *sw_tables_error(const struct sw_tables *tables);

/// Leaves out what is below a directory of a table that came, by its number.
///
/// No worker opens a directory below it that none has opened. No later table has anything
/// below it, and no error of it or below it comes, or counts in the report. For rows of the
/// same table, sw_tables_is_skipped tells. SW_FAILED if no directory with that number can have
/// come, after SW_END, and with SW_CONTENTS_FIRST.
int sw_tables_skip(struct sw_tables *tables,
                   uint32_t directory);

/// Whether a directory was skipped, or lies below one that was: rows in it are not wanted.
///
/// It speaks of the directories of the table that came last, until the next call of
/// sw_tables_next.
bool sw_tables_is_skipped(const struct sw_tables *tables,
                          uint32_t directory);

/// Stops the scan. Any thread may call it while the tables are open.
void sw_tables_cancel(const struct sw_tables *tables);

/// Ends the scan, waits for its threads, and frees it. Tables that were taken stay.
///
/// As sw_walk_close.
int sw_tables_close(struct sw_tables *tables, struct sw_report *report);

/// Frees a table: its buffers go back to the workers. Any thread may. NULL is allowed.
void sw_table_free(struct sw_table *table);

/// Turns a table into an array of Arrow without a copy, and frees it.
///
/// `array` has the type of sw_arrow_schema. In the child of a fork it is SW_FAILED, and the
/// table stays.
int sw_table_to_arrow(struct sw_table *table,
                      struct ArrowArray *array);

/// Gives the type of the tables of a scan: a struct with a child for each column.
///
/// Paths and names are text: a byte that is no UTF-8 is `\xNN` with two upper-case digits, and
/// a backslash before an x is `\x5C`. The tables themselves have the bytes. `child` is the number
/// of a directory, and `dir` that of the directory in which an entry lies.
int sw_arrow_schema(const struct sw_scan *scan,
                    struct ArrowSchema *schema);

/// Begins a scan as a stream of Arrow. Its release callback ends the scan.
///
/// A stream has no place for errors of entries. If something could not be read, the
/// stream ends with EIO, and get_last_error says what, unless `allow_incomplete`.
int sw_arrow_stream(const struct sw_scan *scan,
                    bool allow_incomplete,
                    struct ArrowArrayStream *stream);

/// Begins a scan. Entries come by sw_walk_next, and sw_walk_close ends it.
///
/// Several threads scan. A directory comes before all that is below it; nothing else of
/// the order is promised without SW_SORT and SW_CONTENTS_FIRST. A root that is missing is an error item at the end.
///
/// SW_OK, or SW_FAILED and NULL in `walk`.
int sw_walk_open(const struct sw_scan *scan,
                 struct sw_walk **walk);

/// Goes on to the next entry, and waits for it.
///
/// SW_VALUE and the entry; SW_ERROR for an entry that could not be read, which
/// sw_walk_error describes; SW_END; SW_FAILED.
int sw_walk_next(struct sw_walk *walk, const struct sw_entry **entry);

/// As sw_walk_next, and waits at most for a time: then the answer is SW_WAITING.
int sw_walk_next_within(struct sw_walk *walk,
                        int timeout_ms,
                        const struct sw_entry **entry);

/// Gives a descriptor for poll(2) and event loops, by which a program need not block.
///
/// It is readable when the next call of sw_walk_next has an entry, an error, the end or a
/// failure at hand. So call sw_walk_next_within with a time of 0 until SW_WAITING, and then wait
/// for the descriptor. Nobody but sw_walk_close closes it, and nobody reads it.
///
/// From the first call on, one more thread waits in the place of the caller. Each later call
/// gives the same descriptor. SW_FAILED if the system has no descriptor or no thread.
int sw_walk_fd(struct sw_walk *walk);

/// The error of the last SW_ERROR; NULL before the first. It is there until the next
/// call for the walk.
const struct sw_error *sw_walk_error(const struct sw_walk *walk);

/// Leaves out all that is below the directory that came last.
///
/// No entry below it comes any more, and no worker opens a directory below it that none
/// has opened. SW_FAILED if the last entry is no directory, and with SW_CONTENTS_FIRST.
int sw_walk_skip(struct sw_walk *walk);

/// Stops the scan. Any thread may call it while the walk is open.
///
/// Entries that the workers have found still come, and then the end.
void sw_walk_cancel(const struct sw_walk *walk);

/// Ends the scan, waits for its threads, and frees the walk. NULL is allowed.
///
/// A thread that hangs in the kernel is left behind after a second. `report` is NULL, or
/// gets what was not read. SW_OK if everything was read; SW_INCOMPLETE; SW_FAILED.
int sw_walk_close(struct sw_walk *walk, struct sw_report *report);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STATWALK_H */
