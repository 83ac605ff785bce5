// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Compares a walk, tables and a stream of Arrow with fts(3), entry by entry, and writes
// the paths, each with a NUL, for a comparison with find.

#define _GNU_SOURCE
#include "statwalk.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    char *path;
    uint64_t ino, dev, size, allocated;
    int64_t mtime, ctime;
    uint32_t links, uid, gid, mode;
} fact;

typedef struct {
    fact *facts;
    size_t len, room;
} facts;

static fact *add(facts *all, const char *path, size_t len) {
    if (all->len == all->room) {
        all->room = all->room ? all->room * 2 : 1024;
        all->facts = realloc(all->facts, all->room * sizeof(fact));
    }
    fact *next = &all->facts[all->len++];
    memset(next, 0, sizeof *next);
    next->path = strndup(path, len);
    return next;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const fact *)a)->path, ((const fact *)b)->path);
}

// Nanoseconds; of a time that they do not hold a number that stands for its seconds.
static int64_t ns(int64_t seconds, int64_t nanoseconds) {
    int64_t sum;
    if (__builtin_mul_overflow(seconds, 1000000000LL, &sum) ||
        __builtin_add_overflow(sum, nanoseconds, &sum))
        return ~seconds;
    return sum;
}

static void of_fts(facts *all, char *root) {
    char *roots[] = {root, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL, NULL);
    for (FTSENT *entry; (entry = fts_read(fts));) {
        if (entry->fts_info == FTS_DP || entry->fts_info == FTS_DNR) continue;
        const struct stat *st = entry->fts_statp;
        fact *f = add(all, entry->fts_path, entry->fts_pathlen);
        f->ino = st->st_ino, f->dev = st->st_dev, f->size = st->st_size;
        f->allocated = st->st_blocks * 512ULL, f->links = st->st_nlink;
        f->uid = st->st_uid, f->gid = st->st_gid, f->mode = st->st_mode;
        f->mtime = ns(st->st_mtim.tv_sec, st->st_mtim.tv_nsec), f->ctime = ns(st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
    }
    fts_close(fts);
}

static void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sw_failure(NULL));
    exit(2);
}

static void of_walk(facts *all, const sw_scan *scan) {
    sw_walk *walk;
    if (sw_walk_open(scan, &walk) != SW_OK) die("sw_walk_open");
    const sw_entry *e;
    int got;
    while ((got = sw_walk_next(walk, &e)) > 0) {
        if (got == SW_ERROR) continue;
        if (strlen(e->path) != e->path_len || strlen(e->name) != e->name_len) die("length");
        fact *f = add(all, e->path, e->path_len);
        f->ino = e->ino, f->dev = e->dev, f->size = e->size, f->allocated = e->allocated;
        f->links = e->links, f->uid = e->uid, f->gid = e->gid, f->mode = e->mode;
        f->mtime = ns(e->mtime.seconds, e->mtime.nanoseconds);
        f->ctime = ns(e->ctime.seconds, e->ctime.nanoseconds);
        if (S_ISDIR(e->mode) != (e->type == SW_DIRECTORY)) die("type");
    }
    if (got == SW_FAILED) die("sw_walk_next");
    sw_walk_close(walk, NULL);
}

#define VALUES(type, name) const type *name = sw_attribute_of(c, #name)->values

static void add_rows(facts *all, const sw_table *c) {
    if (sw_attribute_of(c, "absent") || sw_attribute_of(NULL, "size")) die("sw_attribute_of");
    VALUES(uint64_t, ino);
    VALUES(uint64_t, dev);
    VALUES(uint64_t, size);
    VALUES(uint64_t, allocated);
    VALUES(uint32_t, links);
    VALUES(uint32_t, uid);
    VALUES(uint32_t, gid);
    VALUES(uint16_t, mode);
    VALUES(int64_t, mtime);
    VALUES(int64_t, ctime);
    for (size_t i = 0; i < c->len; i++) {
        int64_t begin = c->path_offsets[i];
        size_t len = c->path_offsets[i + 1] - begin;
        fact *f = add(all, (const char *)c->paths + begin, len);
        uint32_t before = c->prefix_offsets[c->prefixes[i]];
        size_t before_len = c->prefix_offsets[c->prefixes[i] + 1] - before;
        size_t name_len = c->name_offsets[i + 1] - c->name_offsets[i];
        if (c->prefixes[i] >= c->prefix_count || before_len + name_len != len ||
            memcmp(f->path, c->prefix_bytes + before, before_len) ||
            memcmp(f->path + before_len, c->names + c->name_offsets[i], name_len))
            die("prefix");
        f->ino = ino[i], f->dev = dev[i], f->size = size[i];
        f->allocated = allocated[i], f->links = links[i];
        f->uid = uid[i], f->gid = gid[i], f->mode = mode[i];
        f->mtime = mtime[i], f->ctime = ctime[i];
        for (size_t odd = 0; odd < c->odd_time_count; odd++) {
            if (c->odd_times[odd].row != i) continue;
            int64_t time = ns(c->odd_times[odd].seconds, 0);
            if (c->odd_times[odd].column == SW_MTIME) f->mtime = time;
            if (c->odd_times[odd].column == SW_CTIME) f->ctime = time;
        }
    }
}

static void of_tables(facts *all, const sw_scan *scan) {
    sw_tables *tables;
    if (sw_tables_open(scan, &tables) != SW_OK) die("sw_tables_open");
    sw_table *table;
    int got;
    while ((got = sw_tables_next(tables, -1, &table)) > 0) {
        if (got == SW_ERROR) continue;
        if (table->len > 16384) die("len");
        if (table->len) add_rows(all, table);
        sw_table_free(table);
    }
    if (got == SW_FAILED) die("sw_tables_next");
    sw_tables_close(tables, NULL);
}

static int column(const struct ArrowSchema *schema, const char *name) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0) return (int)i;
    die(name);
    return -1;
}

// The bytes of a text in a table of Arrow: \xNN is a byte that is no UTF-8.
static size_t unescape(const char *text, size_t len, char *bytes) {
    static const char digits[] = "0123456789ABCDEF";
    size_t made = 0;
    for (size_t i = 0; i < len; i++) {
        const char *high = NULL, *low = NULL;
        if (i + 3 < len && text[i] == '\\' && text[i + 1] == 'x') {
            high = memchr(digits, text[i + 2], 16);
            low = memchr(digits, text[i + 3], 16);
        }
        if (high && low) {
            bytes[made++] = (char)((high - digits) * 16 + (low - digits));
            i += 3;
        } else {
            bytes[made++] = text[i];
        }
    }
    return made;
}

static void of_arrow(facts *all, const sw_scan *scan) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray table;
    if (sw_arrow_stream(scan, true, &stream) != SW_OK) die("sw_arrow_stream");
    if (stream.get_schema(&stream, &schema) != 0) die("get_schema");
    for (;;) {
        if (stream.get_next(&stream, &table) != 0) die(stream.get_last_error(&stream));
        if (!table.release) break;
        if (table.n_children != schema.n_children) die("n_children");
#define BUFFER(name, type, n) ((const type *)table.children[column(&schema, name)]->buffers[n])
        const int64_t *offsets = BUFFER("path", int64_t, 1);
        for (int64_t i = 0; i < table.length; i++) {
            size_t len = offsets[i + 1] - offsets[i];
            char *bytes = malloc(len + 1);
            len = unescape(BUFFER("path", char, 2) + offsets[i], len, bytes);
            fact *f = add(all, bytes, len);
            free(bytes);
            f->ino = BUFFER("ino", uint64_t, 1)[i], f->dev = BUFFER("dev", uint64_t, 1)[i];
            f->size = BUFFER("size", uint64_t, 1)[i];
            f->allocated = BUFFER("allocated", uint64_t, 1)[i];
            f->links = BUFFER("links", uint32_t, 1)[i];
            f->uid = BUFFER("uid", uint32_t, 1)[i], f->gid = BUFFER("gid", uint32_t, 1)[i];
            f->mode = BUFFER("mode", uint16_t, 1)[i];
            f->mtime = BUFFER("mtime", int64_t, 1)[i], f->ctime = BUFFER("ctime", int64_t, 1)[i];
        }
        // A consumer may move a child away and release it after its parent.
        struct ArrowArray moved = *table.children[0];
        table.children[0]->release = NULL;
        table.release(&table);
        if (table.release) die("release");
        moved.release(&moved);
    }
    schema.release(&schema);
    stream.release(&stream);
}

static int compare(const char *what, facts *expected, facts *found, int has_odd_times) {
    qsort(found->facts, found->len, sizeof(fact), by_path);
    if (expected->len != found->len) {
        fprintf(stderr, "%s: %zu entries, not %zu\n", what, found->len, expected->len);
        return 1;
    }
    for (size_t i = 0; i < expected->len; i++) {
        const fact *a = &expected->facts[i], *b = &found->facts[i];
        int times = !has_odd_times || (a->mtime == b->mtime && a->ctime == b->ctime);
        if (strcmp(a->path, b->path) || a->ino != b->ino || a->dev != b->dev ||
            a->size != b->size || a->allocated != b->allocated || a->links != b->links ||
            a->uid != b->uid || a->gid != b->gid || a->mode != b->mode || !times) {
            fprintf(stderr, "%s: %s differs from %s\n", what, b->path, a->path);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    sw_scan *scan = sw_scan_new(argv[1]);
    if (sw_scan_set_columns(scan, SW_NAME | SW_PATH | SW_STAT)) die("columns");
    if (argc > 2) sw_scan_set_threads(scan, atoi(argv[2]));
    facts expected = {0}, walk = {0}, tables = {0}, arrow = {0};
    of_fts(&expected, argv[1]);
    qsort(expected.facts, expected.len, sizeof(fact), by_path);
    of_walk(&walk, scan);
    of_tables(&tables, scan);
    of_arrow(&arrow, scan);
    sw_scan_free(scan);
    for (size_t i = 0; i < walk.len; i++) fwrite(walk.facts[i].path, strlen(walk.facts[i].path) + 1, 1, stdout);
    // A column of Arrow has no place for times that 64 bits do not hold: they are null.
    int differs = compare("walk", &expected, &walk, 1) + compare("tables", &expected, &tables, 1) +
                  compare("arrow", &expected, &arrow, 0);
    facts *all[] = {&expected, &walk, &tables, &arrow};
    for (int of = 0; of < 4; of++) {
        for (size_t i = 0; i < all[of]->len; i++) free(all[of]->facts[i].path);
        free(all[of]->facts);
    }
    return differs != 0;
}
