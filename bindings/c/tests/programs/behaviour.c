// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a host relies on: `behaviour CASE DIRECTORY` returns 0 if it holds.

#define _GNU_SOURCE
#include "statwalk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                          \
    do {                                                                     \
        if (!(what)) {                                                       \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what,   \
                    sw_failure(NULL));                                       \
            return 1;                                                        \
        }                                                                    \
    } while (0)

static int entries_in(const char *path) {
    int count = 0;
    DIR *dir = opendir(path);
    while (readdir(dir)) count++;
    closedir(dir);
    return count;
}

// Whether a folder has so few entries soon: a minute is for machines with much else to do.
static int soon_has(const char *path, int count) {
    for (int wait = 0; wait < 6000 && entries_in(path) > count; wait++) usleep(10000);
    return entries_in(path) == count;
}

// Walks to the end, and gives the number of entries; -1 if it fails.
static long walk_all(const char *root, uint32_t columns, int *status, sw_report *report) {
    sw_scan *scan = sw_scan_new(root);
    sw_walk *walk;
    const sw_entry *entry;
    long count = 0;
    int got;
    if (sw_scan_set_columns(scan, columns) || sw_walk_open(scan, &walk)) return -1;
    sw_scan_free(scan);
    while ((got = sw_walk_next(walk, &entry)) > 0) count += got == SW_VALUE;
    *status = sw_walk_close(walk, report);
    return got == SW_FAILED ? -1 : count;
}

static int is_readable(int fd, int timeout_ms) {
    struct pollfd event = {.fd = fd, .events = POLLIN};
    return poll(&event, 1, timeout_ms) == 1 && event.revents == POLLIN;
}

static int early_exit(const char *root) {
    int before = 0;
    size_t memory = 0;
    for (int round = 0; round < 1000; round++) {
        if (round == 100) {
            CHECK(soon_has("/proc/self/task", 3));
            before = entries_in("/proc/self/fd");
            memory = mallinfo2().uordblks;
        }
        sw_scan *scan = sw_scan_new(root);
        CHECK(sw_scan_set_columns(scan, SW_STAT | SW_PATH) == SW_OK);
        if (round % 2) {
            sw_walk *walk;
            const sw_entry *entry;
            CHECK(sw_walk_open(scan, &walk) == SW_OK);
            for (int taken = 0; taken < round % 7; taken++) sw_walk_next(walk, &entry);
            sw_report report;
            CHECK(sw_walk_close(walk, &report) >= 0);
        } else {
            sw_tables *tables;
            sw_table *table = NULL;
            CHECK(sw_tables_open(scan, &tables) == SW_OK);
            if (round % 3) CHECK(sw_tables_next(tables, -1, &table) >= 0);
            CHECK(sw_tables_close(tables, NULL) >= 0);
            // A table outlives its scan.
            if (table) CHECK(table->len + table->finished_count > 0);
            sw_table_free(table);
        }
        sw_scan_free(scan);
    }
    CHECK(soon_has("/proc/self/fd", before));
    // The thread of the caller alone, once the last of the others has left the kernel.
    CHECK(soon_has("/proc/self/task", 3));
    size_t grown = mallinfo2().uordblks;
    grown = grown > memory ? grown - memory : 0;
    if (grown > 256 * 1024) fprintf(stderr, "%zu bytes grown\n", grown);
    CHECK(grown <= 256 * 1024);
    return 0;
}

static int errors(const char *root) {
    char missing[4096];
    snprintf(missing, sizeof missing, "%s/absent", root);
    sw_scan *scan = sw_scan_new(missing);
    CHECK(sw_scan_add_root(scan, root) == SW_OK);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    CHECK(sw_walk_error(walk) == NULL);
    int got, errors = 0;
    while ((got = sw_walk_next(walk, &entry)) > 0) {
        if (got != SW_ERROR) continue;
        const sw_error *error = sw_walk_error(walk);
        CHECK(entry == NULL && error != NULL);
        CHECK(strcmp(error->path, missing) == 0 && error->path_len == strlen(missing));
        CHECK(error->number == ENOENT && error->op == SW_OP_OPEN && error->root == 0);
        CHECK(strstr(error->message, "no such file or directory"));
        errors++;
    }
    CHECK(got == SW_END && errors == 1);
    CHECK(sw_walk_next(walk, &entry) == SW_END);
    sw_report report;
    CHECK(sw_walk_close(walk, &report) == SW_INCOMPLETE);
    CHECK(!report.is_complete && report.missing_roots == 1 && !report.is_interrupted);
    // A later library has room for more in the memory of today's callers.
    CHECK(sizeof report == 120 && sizeof report.reserved == 64);
    for (int place = 0; place < 8; place++) CHECK(report.reserved[place] == 0);
    // A stream of Arrow has no other place to say so.
    struct ArrowArrayStream stream;
    struct ArrowArray table;
    CHECK(sw_arrow_stream(scan, false, &stream) == SW_OK);
    while ((got = stream.get_next(&stream, &table)) == 0 && table.release) table.release(&table);
    char words[sizeof missing + 64];
    snprintf(words, sizeof words, "the scan is incomplete (1 errors): open %s: ", missing);
    const char *said = stream.get_last_error(&stream);
    CHECK(got == EIO && strncmp(said, words, strlen(words)) == 0);
    // It stays so, for a caller who asks again.
    CHECK(stream.get_next(&stream, &table) == EIO);
    stream.release(&stream);
    CHECK(sw_arrow_stream(scan, true, &stream) == SW_OK);
    while ((got = stream.get_next(&stream, &table)) == 0 && table.release) table.release(&table);
    CHECK(got == 0);
    stream.release(&stream);
    sw_scan_free(scan);
    return 0;
}

static int wrong_use(const char *root) {
    sw_walk *walk = (sw_walk *)1;
    sw_tables *tables = (sw_tables *)1;
    const sw_entry *entry;
    CHECK(sw_scan_new(NULL) == NULL);
    CHECK(sw_walk_open(NULL, &walk) == SW_FAILED && walk == NULL);
    CHECK(sw_tables_open(NULL, &tables) == SW_FAILED && tables == NULL);
    CHECK(sw_walk_next(NULL, &entry) == SW_FAILED && sw_walk_skip(NULL) == SW_FAILED);
    CHECK(sw_tables_skip(NULL, 0) == SW_FAILED && !sw_tables_is_skipped(NULL, 0));
    CHECK(sw_walk_close(NULL, NULL) == SW_OK && sw_tables_close(NULL, NULL) == SW_OK);
    CHECK(sw_walk_error(NULL) == NULL && sw_tables_error(NULL) == NULL);
    sw_walk_cancel(NULL), sw_tables_cancel(NULL), sw_table_free(NULL), sw_scan_free(NULL);
    sw_scan *scan = sw_scan_new(root);
    CHECK(sw_scan_set_columns(scan, 1u << 20) == SW_FAILED);
    int number = 0;
    CHECK(strstr(sw_failure(&number), "no such column") && number == EINVAL);
    CHECK(sw_scan_set_options(scan, 1u << 20) == SW_FAILED);
    CHECK(sw_walk_open(scan, NULL) == SW_FAILED);
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    CHECK(sw_walk_skip(walk) == SW_FAILED);
    CHECK(sw_walk_next(walk, NULL) == SW_FAILED);
    CHECK(sw_walk_next(walk, &entry) == SW_VALUE && entry->type == SW_DIRECTORY);
    CHECK(sw_walk_skip(walk) == SW_OK && sw_walk_skip(walk) == SW_FAILED);
    CHECK(sw_walk_next(walk, &entry) == SW_END);
    sw_report report;
    CHECK(sw_walk_close(walk, &report) == SW_OK && report.is_complete);
    CHECK(sw_scan_exclude(scan, "build/") == SW_OK);
    CHECK(sw_walk_open(scan, &walk) == SW_FAILED && walk == NULL);
    CHECK(strstr(sw_failure(&number), "ends with a slash") && number == EINVAL);
    CHECK(sw_tables_open(scan, &tables) == SW_FAILED && tables == NULL);
    sw_scan_free(scan);
    CHECK(strlen(sw_version()) >= 5);
    return 0;
}

static int one_directory(const char *root) {
    sw_scan *scan = sw_scan_new(root);
    CHECK(sw_scan_set_threads(scan, (size_t)-1) == SW_FAILED);
    CHECK(strstr(sw_failure(NULL), "threads is a whole number below 2^32"));
    CHECK(sw_scan_set_threads(scan, 0) == SW_OK);
    CHECK(sw_scan_set_max_depth(scan, UINT32_MAX) == SW_OK);
    CHECK(sw_scan_set_max_depth(scan, 1) == SW_OK);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    sw_scan_free(scan);
    int got, count = 0;
    while ((got = sw_walk_next(walk, &entry)) > 0) {
        CHECK(got == SW_VALUE && entry->depth <= 1 && entry->known == (SW_NAME | SW_TYPE | SW_PATH));
        count += entry->depth;
        if (entry->type == SW_DIRECTORY && entry->depth) CHECK(entry->state == SW_AT_DEPTH_LIMIT);
    }
    CHECK(count == entries_in(root) - 2);
    CHECK(sw_walk_close(walk, NULL) == SW_OK);
    return 0;
}

// Whether a walk has these paths, each with a line break.
static int has_paths(const char *root, uint32_t options, uint32_t min_depth, const char *paths) {
    size_t size = 0;
    char *text;
    FILE *out = open_memstream(&text, &size);
    sw_scan *scan = sw_scan_new(root);
    sw_walk *walk;
    const sw_entry *entry;
    int got;
    if (sw_scan_set_options(scan, options) || sw_scan_set_min_depth(scan, min_depth)
        || sw_walk_open(scan, &walk))
        return 0;
    sw_scan_free(scan);
    while ((got = sw_walk_next(walk, &entry)) > 0)
        fprintf(out, "%s\n", got == SW_VALUE ? entry->path + strlen(root) : "error");
    fclose(out);
    int has = sw_walk_close(walk, NULL) == SW_OK && got == SW_END && strcmp(text, paths) == 0;
    free(text);
    return has;
}

static int order(const char *root) {
    char base[4096];
    snprintf(base, sizeof base, "%s/order", root);
    const char *made[] = {"", "/b", "/b/z", "/b/y", "/a.c", "/a", "/a/c", "/a/c/d"};
    for (size_t at = 0; at < sizeof made / sizeof *made; at++) {
        char path[4200];
        snprintf(path, sizeof path, "%s%s", base, made[at]);
        CHECK(mkdir(path, 0700) == 0);
    }
    const char *sorted = "\n/a\n/a/c\n/a/c/d\n/a.c\n/b\n/b/y\n/b/z\n";
    const char *last = "/a/c/d\n/a/c\n/a\n/a.c\n/b/y\n/b/z\n/b\n\n";
    for (int times = 0; times < 3; times++) {
        CHECK(has_paths(base, SW_SORT, 0, sorted));
        CHECK(has_paths(base, SW_CONTENTS_FIRST, 0, last));
        CHECK(has_paths(base, SW_SORT, 2, "/a/c\n/a/c/d\n/b/y\n/b/z\n"));
        CHECK(has_paths(base, SW_SORT, 9, ""));
    }
    sw_scan *scan = sw_scan_new(base);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_scan_set_options(scan, SW_SORT) == SW_OK && sw_walk_open(scan, &walk) == SW_OK);
    CHECK(sw_walk_next(walk, &entry) == SW_VALUE && sw_walk_next(walk, &entry) == SW_VALUE);
    CHECK(strcmp(entry->name, "a") == 0 && sw_walk_skip(walk) == SW_OK);
    CHECK(sw_walk_next(walk, &entry) == SW_VALUE && strcmp(entry->name, "a.c") == 0);
    sw_walk_close(walk, NULL);
    // Nothing is left to skip.
    CHECK(sw_scan_set_options(scan, SW_CONTENTS_FIRST) == SW_OK);
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    CHECK(sw_walk_next(walk, &entry) == SW_VALUE && entry->type == SW_DIRECTORY);
    CHECK(sw_walk_skip(walk) == SW_FAILED && strstr(sw_failure(NULL), "contents first"));
    sw_walk_close(walk, NULL);
    // A table has directories and others.
    char file[4200];
    snprintf(file, sizeof file, "%s/a/file", base);
    fclose(fopen(file, "w"));
    CHECK(sw_scan_set_options(scan, SW_SORT) == SW_OK);
    sw_tables *tables;
    sw_table *table;
    CHECK(sw_tables_open(scan, &tables) == SW_OK);
    int got;
    size_t files = 0, rows = 0;
    while ((got = sw_tables_next(tables, -1, &table)) > 0) {
        CHECK(got == SW_VALUE);
        for (size_t row = 0; row < table->len; row++) {
            CHECK((table->ids[row] == UINT32_MAX) == (table->types[row] == SW_FILE));
            files += table->types[row] == SW_FILE;
        }
        rows += table->len;
        sw_table_free(table);
    }
    CHECK(got == SW_END && files == 1 && rows == 9 && sw_tables_close(tables, NULL) == SW_OK);
    sw_scan_free(scan);
    return 0;
}

static atomic_int is_cancelled;

static void *cancel_soon(void *walk) {
    usleep(20000);
    sw_walk_cancel(walk);
    is_cancelled = 1;
    return NULL;
}

static int cancel(const char *root) {
    (void)root;
    sw_scan *scan = sw_scan_new("/usr");
    CHECK(sw_scan_set_columns(scan, SW_STAT) == SW_OK);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    sw_scan_free(scan);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, walk) == 0);
    int got;
    long count = 0;
    while ((got = sw_walk_next(walk, &entry)) > 0) {
        count++;
        // A caller who is slow, so that the scan is not over before: minutes for all of it.
        if (count % 10 == 1 && !is_cancelled) usleep(20000);
    }
    pthread_join(thread, NULL);
    CHECK(got == SW_END && count > 0);
    sw_report report;
    CHECK(sw_walk_close(walk, &report) == SW_INCOMPLETE && report.is_interrupted);
    return 0;
}

static int waiting(const char *root) {
    sw_scan *scan = sw_scan_new(root);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    int got, values = 0;
    while ((got = sw_walk_next_within(walk, 0, &entry)) != SW_END) {
        CHECK(got == SW_VALUE || got == SW_WAITING);
        CHECK((entry == NULL) == (got == SW_WAITING));
        values += got == SW_VALUE;
    }
    CHECK(values > 1 && sw_walk_close(walk, NULL) == SW_OK);
    sw_scan_free(scan);
    return 0;
}

// An event loop, in which no call waits, has all that a walk has.
static int readiness(const char *root) {
    const char *roots[] = {root, "/usr"};
    const sw_entry *entry;
    sw_table *table;
    int before = entries_in("/proc/self/fd");
    for (int round = 0; round < 2; round++) {
        int status, got, waits = 0;
        long count = walk_all(roots[round], SW_SIZE, &status, NULL), found = 0;
        sw_scan *scan = sw_scan_new(roots[round]);
        sw_walk *walk;
        CHECK(sw_scan_set_columns(scan, SW_SIZE) == SW_OK && sw_walk_open(scan, &walk) == SW_OK);
        CHECK(sw_walk_next(walk, &entry) == SW_VALUE && entry->depth == 0);
        int fd = sw_walk_fd(walk);
        CHECK(fd >= 0 && sw_walk_fd(walk) == fd && fcntl(fd, F_GETFD) == FD_CLOEXEC);
        // The entry of before is still there.
        CHECK(strcmp(entry->path, roots[round]) == 0);
        // With the root, whose rows are the first.
        for (found = 1; (got = sw_walk_next_within(walk, 0, &entry)) != SW_END;) {
            CHECK(got == SW_VALUE || got == SW_WAITING);
            found += got == SW_VALUE;
            if (got != SW_WAITING) {
                CHECK(is_readable(fd, 0));
                continue;
            }
            CHECK(sw_walk_skip(walk) == SW_FAILED);
            CHECK(is_readable(fd, 60000));
            // Now the call has something.
            got = sw_walk_next_within(walk, 0, &entry);
            CHECK(got == SW_VALUE || got == SW_END);
            found += got == SW_VALUE;
            waits++;
        }
        CHECK(found == count && (round == 0 || waits > 0));
        CHECK(is_readable(fd, 0) && sw_walk_next_within(walk, 0, &entry) == SW_END);
        CHECK(sw_walk_close(walk, NULL) == status && fcntl(fd, F_GETFD) == -1);
        // Tables, with waits of any length. Some directory is skipped while nothing is there.
        sw_tables *tables;
        CHECK(sw_tables_open(scan, &tables) == SW_OK);
        fd = sw_tables_fd(tables);
        CHECK(fd >= 0);
        for (found = 0; (got = sw_tables_next(tables, found % 3 - 1, &table)) != SW_END;) {
            CHECK(got == SW_VALUE || got == SW_WAITING);
            if (got == SW_WAITING) {
                CHECK(is_readable(fd, 60000));
                continue;
            }
            found += table->len;
            sw_table_free(table);
        }
        CHECK(found == count && sw_tables_close(tables, NULL) == status);
        sw_scan_free(scan);
    }
    // A scan that ends early, in each state: asked, waiting, with a step that nobody took.
    for (int round = 0; round < 24; round++) {
        sw_scan *scan = sw_scan_new("/usr");
        sw_walk *walk;
        sw_tables *tables;
        uint32_t top = 0;
        CHECK(sw_walk_open(scan, &walk) == SW_OK && sw_tables_open(scan, &tables) == SW_OK);
        // The root, after tables of nothing but ends.
        for (bool is_root = false; !is_root; sw_table_free(table)) {
            CHECK(sw_tables_next(tables, -1, &table) == SW_VALUE);
            is_root = table->ids != NULL;
            if (is_root) top = table->ids[0];
        }
        int got = SW_VALUE, fd = sw_walk_fd(walk), of_tables = sw_tables_fd(tables);
        CHECK(fd >= 0 && of_tables >= 0 && fd != of_tables);
        if (round % 3) {
            while (sw_walk_next_within(walk, 0, &entry) == SW_VALUE) {}
            while ((got = sw_tables_next(tables, 0, &table)) == SW_VALUE) sw_table_free(table);
        }
        if (round % 3 == 2) CHECK(is_readable(fd, 60000) && is_readable(of_tables, 60000));
        if (round % 2) {
            // Nothing more comes but a table that was there already. Unless this machine is so
            // busy that the scan was over before.
            CHECK(sw_tables_skip(tables, top) == (got == SW_END ? SW_FAILED : SW_OK) ||
                  sw_tables_next(tables, 0, &table) == SW_END);
            long rows = 0;
            while ((got = sw_tables_next(tables, 0, &table)) != SW_END) {
                CHECK(got == SW_WAITING ? is_readable(of_tables, 60000) : got == SW_VALUE);
                if (got != SW_VALUE) continue;
                rows += table->len;
                sw_table_free(table);
            }
            CHECK(rows <= 16384);
        }
        if (round % 5 == 0) {
            sw_walk_cancel(walk);
            while ((got = sw_walk_next_within(walk, 0, &entry)) != SW_END)
                CHECK(got != SW_WAITING || is_readable(fd, 60000));
        }
        CHECK(sw_walk_close(walk, NULL) >= 0 && sw_tables_close(tables, NULL) >= 0);
        sw_scan_free(scan);
    }
    CHECK(sw_walk_fd(NULL) == SW_FAILED && sw_tables_fd(NULL) == SW_FAILED);
    CHECK(soon_has("/proc/self/fd", before) && soon_has("/proc/self/task", 3));
    // Without a descriptor to be had, the walk goes on as it was.
    sw_scan *scan = sw_scan_new(root);
    sw_walk *walk;
    struct rlimit files, none = {0, 0};
    CHECK(sw_walk_open(scan, &walk) == SW_OK && sw_walk_next(walk, &entry) == SW_VALUE);
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    none.rlim_max = files.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    int number = 0, failed = sw_walk_fd(walk);
    sw_failure(&number);
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    CHECK(failed == SW_FAILED && number == EMFILE);
    while (sw_walk_next(walk, &entry) > 0) {}
    CHECK(sw_walk_close(walk, NULL) >= 0);
    sw_scan_free(scan);
    return 0;
}

static void *on_small_stack(void *root) {
    int status;
    long count = walk_all(root, SW_STAT, &status, NULL);
    return (void *)(intptr_t)(count > 1 && status == SW_OK ? 0 : 1);
}

static int small_stack(const char *root) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
    pthread_t thread;
    void *failed;
    CHECK(pthread_create(&thread, &attributes, on_small_stack, (void *)root) == 0);
    pthread_join(thread, &failed);
    CHECK(failed == NULL);
    return 0;
}

static int in_child(const char *root, sw_walk *walk, sw_tables *tables, sw_table *table,
                    struct ArrowArrayStream *stream, bool has_fd) {
    const sw_entry *entry;
    sw_table *next;
    int status;
    // The rows that are at hand come in the parent alone.
    CHECK(sw_walk_next(walk, &entry) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
    CHECK(entry == NULL && sw_walk_next_within(walk, 0, &entry) == SW_FAILED);
    CHECK(sw_walk_skip(walk) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
    CHECK(sw_tables_next(tables, -1, &next) == SW_FAILED && next == NULL);
    CHECK(sw_failure(NULL) && strstr(sw_failure(NULL), "fork"));
    CHECK(sw_tables_skip(tables, 0) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
    CHECK(!sw_tables_is_skipped(tables, 0));
    sw_walk_cancel(walk), sw_tables_cancel(tables);
    struct ArrowArray array;
    CHECK(sw_table_to_arrow(table, &array) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
    sw_table_free(table);
    CHECK(stream->get_next(stream, &array) == EIO);
    CHECK(strncmp(stream->get_last_error(stream), "the scan was begun", 18) == 0);
    stream->release(stream);
    // A scan of the child makes none of the parent its own.
    CHECK(walk_all(root, SW_STAT, &status, NULL) > 1 && status == SW_OK);
    CHECK(sw_walk_next(walk, &entry) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
    int files = entries_in("/proc/self/fd"), fd = has_fd ? 1 : 0;
    CHECK(sw_walk_close(walk, NULL) == SW_FAILED);
    CHECK(entries_in("/proc/self/fd") == files - fd);
    CHECK(sw_tables_close(tables, NULL) == SW_FAILED);
    return 0;
}

static int after_fork(const char *root) {
    for (int round = 0; round < 50; round++) {
        sw_scan *scan = sw_scan_new("/usr");
        CHECK(sw_scan_set_columns(scan, SW_STAT) == SW_OK);
        sw_walk *walk;
        sw_tables *tables;
        sw_table *table;
        struct ArrowArrayStream stream;
        struct ArrowArray array;
        const sw_entry *entry;
        CHECK(sw_walk_open(scan, &walk) == SW_OK && sw_tables_open(scan, &tables) == SW_OK);
        CHECK(sw_arrow_stream(scan, false, &stream) == SW_OK);
        CHECK(stream.get_next(&stream, &array) == 0 && array.release);
        // From some hundreds on, rows of many entries are at hand.
        for (int taken = 0; taken < 500; taken++) CHECK(sw_walk_next(walk, &entry) == SW_VALUE);
        CHECK(sw_tables_next(tables, -1, &table) == SW_VALUE);
        // A thread that waits in the place of the caller, and has the scan or waits for it.
        int fd = round % 2 ? sw_walk_fd(walk) : -1;
        CHECK(fd >= 0 || round % 2 == 0);
        for (int taken = round % 4 == 1 ? 0 : 5000; taken < 5000; taken++)
            if (sw_walk_next_within(walk, 0, &entry) == SW_WAITING) break;
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            CHECK(sw_walk_fd(walk) == SW_FAILED && strstr(sw_failure(NULL), "fork"));
            _exit(in_child(root, walk, tables, table, &stream, fd >= 0));
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        // The parent goes on.
        CHECK(fd == -1 || is_readable(fd, 60000));
        CHECK(sw_walk_next(walk, &entry) == SW_VALUE);
        array.release(&array);
        CHECK(sw_table_to_arrow(table, &array) == SW_OK);
        array.release(&array);
        stream.release(&stream);
        CHECK(sw_walk_close(walk, NULL) == SW_INCOMPLETE);
        CHECK(sw_tables_close(tables, NULL) == SW_INCOMPLETE);
        sw_scan_free(scan);
    }
    return 0;
}

// Of a tree with directories, nothing comes that is below those of the root.
static int skipping(const char *root) {
    sw_scan *scan = sw_scan_new(root);
    sw_tables *tables;
    sw_table *table;
    CHECK(sw_tables_open(scan, &tables) == SW_OK);
    sw_scan_free(scan);
    uint32_t top = 0;
    size_t skipped = 0, kept = 0;
    int got;
    while ((got = sw_tables_next(tables, -1, &table)) > 0) {
        CHECK(got == SW_VALUE);
        for (size_t row = 0; row < table->len; row++) {
            int is_root = table->has_dir && !(table->has_dir[row / 8] >> row % 8 & 1);
            if (is_root) {
                top = table->ids[row];
                continue;
            }
            if (table->ids && sw_tables_is_skipped(tables, table->dirs[row])) continue;
            CHECK(table->dirs[row] == top);
            kept++;
            if (!table->ids) continue;
            CHECK(sw_tables_skip(tables, table->ids[row]) == SW_OK);
            CHECK(sw_tables_is_skipped(tables, table->ids[row]));
            skipped++;
        }
        sw_table_free(table);
    }
    CHECK(got == SW_END && skipped > 0 && kept > skipped);
    CHECK(sw_tables_skip(tables, UINT32_MAX) == SW_FAILED);
    CHECK(sw_tables_close(tables, NULL) == SW_OK);
    return 0;
}

// Each table becomes an array of Arrow, one without rows too: its names have one offset.
static int to_arrow(const char *root) {
    sw_scan *scan = sw_scan_new(root);
    CHECK(sw_scan_set_columns(scan, SW_NAME) == SW_OK && sw_scan_set_threads(scan, 4) == SW_OK);
    size_t rows = 0;
    for (int round = 0; round < 50; round++) {
        sw_tables *tables;
        sw_table *table;
        CHECK(sw_tables_open(scan, &tables) == SW_OK);
        int got;
        while ((got = sw_tables_next(tables, -1, &table)) > 0) {
            CHECK(got == SW_VALUE);
            int64_t len = table->len;
            struct ArrowArray array;
            CHECK(sw_table_to_arrow(table, &array) == SW_OK && array.length == len);
            const int32_t *offsets = array.children[0]->buffers[1];
            CHECK(offsets[0] == 0 && offsets[len] >= len);
            rows += len;
            array.release(&array);
        }
        CHECK(got == SW_END && sw_tables_close(tables, NULL) == SW_OK);
    }
    sw_scan_free(scan);
    CHECK(rows > 50);
    return 0;
}

static pthread_key_t key;
static int at_end_failed = 1;

// Runs when the library's own values of this thread are gone.
static void at_end(void *turn) {
    if ((intptr_t)turn < 3) {
        pthread_setspecific(key, (void *)((intptr_t)turn + 1));
        return;
    }
    int number = 7, status;
    const sw_entry *entry;
    at_end_failed = sw_walk_next(NULL, &entry) != SW_FAILED || sw_failure(&number) == NULL ||
                    walk_all("/usr/include", SW_STAT, &status, NULL) < 2;
}

static void *ends_late(void *unused) {
    (void)unused;
    pthread_setspecific(key, (void *)1);
    return NULL;
}

static int ending_thread(const char *root) {
    int status;
    CHECK(walk_all(root, SW_STAT, &status, NULL) > 1);
    CHECK(pthread_key_create(&key, at_end) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ends_late, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK(at_end_failed == 0);
    return 0;
}

static void own_handler(int signal) { (void)signal; }

static int signals(const char *root) {
    struct sigaction own = {.sa_handler = own_handler}, before[32], after;
    CHECK(sigaction(SIGBUS, &own, NULL) == 0 && sigaction(SIGSEGV, &own, NULL) == 0);
    // Some may be ignored from the beginning, as under nohup(1).
    for (int number = 1; number < 32; number++) {
        CHECK(sigaction(number, NULL, &before[number]) == 0);
    }
    int status;
    CHECK(walk_all(root, SW_STAT, &status, NULL) > 1 && status == SW_OK);
    for (int number = 1; number < 32; number++) {
        CHECK(sigaction(number, NULL, &after) == 0);
        CHECK(after.sa_handler == before[number].sa_handler);
        int is_own = number == SIGBUS || number == SIGSEGV;
        CHECK(!is_own || after.sa_handler == own_handler);
    }
    return 0;
}

// As an ordinary user: a directory that may not be read is an item and a row.
// A directory that cannot be opened, and one whose names alone can be read.
static int unreadable(const char *root) {
    sw_scan *scan = sw_scan_new(root);
    sw_walk *walk;
    const sw_entry *entry;
    CHECK(sw_scan_set_columns(scan, SW_STAT) == SW_OK);
    CHECK(sw_walk_open(scan, &walk) == SW_OK);
    int got, errors = 0, rows = 0, refused = 0;
    while ((got = sw_walk_next(walk, &entry)) > 0) {
        if (got == SW_ERROR) {
            CHECK(sw_walk_error(walk)->number == EACCES);
            errors++;
            continue;
        }
        int is_refused = strstr(entry->path, "/listable/") != NULL;
        CHECK(entry->refusal == (is_refused ? EACCES : 0));
        CHECK((entry->known & SW_SIZE ? 0 : 1) == is_refused);
        refused += is_refused;
        if (is_refused) continue;
        rows += entry->type == SW_DIRECTORY && entry->state == SW_UNREADABLE;
    }
    CHECK(got == SW_END && errors == 3 && rows == 1 && refused == 2);
    sw_report report;
    CHECK(sw_walk_close(walk, &report) == SW_INCOMPLETE && report.unreadable == 3);
    sw_tables *tables;
    sw_table *table;
    CHECK(sw_tables_open(scan, &tables) == SW_OK);
    size_t in_tables = 0;
    while ((got = sw_tables_next(tables, -1, &table)) > 0) {
        if (got != SW_VALUE) continue;
        CHECK((table->refusals == NULL) == (table->refusal_count == 0));
        for (size_t i = 0; i < table->refusal_count; i++) {
            uint32_t row = table->refusals[i].row;
            CHECK(table->refusals[i].number == EACCES && row < table->len);
            const uint8_t *known = table->attributes[0].is_known;
            CHECK(known && !(known[row / 8] >> row % 8 & 1));
        }
        in_tables += table->refusal_count;
        sw_table_free(table);
    }
    CHECK(in_tables == 2 && sw_tables_close(tables, NULL) == SW_INCOMPLETE);
    sw_scan_free(scan);
    return 0;
}

static void *nothing(void *unused) { return unused; }

// A process with few descriptors, in which no thread can begin. It applies to no root.
static int limits(const char *root) {
    if (getuid() == 0) CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    int before, status;
    long count = walk_all(root, SW_STAT | SW_PATH, &before, NULL);
    CHECK(count > 1000);
    struct rlimit files = {32, 32}, threads = {0, 0};
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0 && setrlimit(RLIMIT_NPROC, &threads) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == EAGAIN);
    for (int round = 0; round < 20; round++) {
        CHECK(walk_all(root, SW_STAT | SW_PATH, &status, NULL) == count);
        CHECK(status == before);
    }
    CHECK(soon_has("/proc/self/task", 3));
    return 0;
}

int main(int argc, char **argv) {
    const struct { const char *name; int (*run)(const char *); } cases[] = {
        {"early_exit", early_exit}, {"errors", errors},           {"wrong_use", wrong_use},
        {"cancel", cancel},         {"waiting", waiting},         {"small_stack", small_stack},
        {"after_fork", after_fork}, {"signals", signals},         {"one_directory", one_directory},
        {"unreadable", unreadable}, {"ending_thread", ending_thread},
        {"limits", limits},         {"skipping", skipping},
        {"to_arrow", to_arrow},     {"readiness", readiness},
        {"order", order},
    };
    if (argc < 3) return 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, argv[1]) == 0) return cases[i].run(argv[2]);
    return 2;
}
