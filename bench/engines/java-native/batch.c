// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch.read: one call for a directory, its names and all attributes.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "Batch.h"

enum { COLUMNS = Batch_COLUMNS };

struct bytes {
    char *at;
    size_t length, room;
};

// Room for so many bytes more; NULL without memory.
static void *more(struct bytes *bytes, size_t length) {
    if (bytes->length + length > bytes->room) {
        size_t room = (bytes->length + length) * 2;
        char *at = realloc(bytes->at, room);
        if (at == NULL)
            return NULL;
        bytes->at = at;
        bytes->room = room;
    }
    void *place = bytes->at + bytes->length;
    bytes->length += length;
    return place;
}

static int fill(const char *path, bool wants_sizes, struct bytes *names, struct bytes *numbers, struct bytes *failed) {
    DIR *directory = opendir(path);
    if (directory == NULL)
        return errno;
    int error = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(directory);
        if (entry == NULL) {
            error = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct stat s = { .st_mode = DTTOIF(entry->d_type) };
        if ((wants_sizes || entry->d_type == DT_UNKNOWN)
            && fstatat(dirfd(directory), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) {
            jint number = errno;
            jint *place = more(failed, sizeof number);
            if (place == NULL) {
                error = ENOMEM;
                break;
            }
            *place = number;
            continue;
        }
        size_t length = strlen(entry->d_name) + 1;
        char *name = more(names, length);
        jlong *row = more(numbers, COLUMNS * sizeof *row);
        if (name == NULL || row == NULL) {
            error = ENOMEM;
            break;
        }
        memcpy(name, entry->d_name, length);
        jlong values[COLUMNS] = {
            (jlong)names->length, s.st_mode, (jlong)s.st_nlink, s.st_uid, s.st_gid, (jlong)s.st_ino, s.st_size, s.st_blocks,
            s.st_atim.tv_sec, s.st_atim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec, s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
        };
        memcpy(row, values, sizeof values);
    }
    closedir(directory);
    return error;
}

// Makes the three arrays of the object; false with an exception under way.
static bool give(JNIEnv *env, jobject batch, struct bytes *names, struct bytes *numbers, struct bytes *failed) {
    jclass class = (*env)->GetObjectClass(env, batch);
    jbyteArray of_names = (*env)->NewByteArray(env, (jsize)names->length);
    jlongArray of_numbers = (*env)->NewLongArray(env, (jsize)(numbers->length / sizeof(jlong)));
    jintArray of_failed = (*env)->NewIntArray(env, (jsize)(failed->length / sizeof(jint)));
    if (of_names == NULL || of_numbers == NULL || of_failed == NULL)
        return false;
    (*env)->SetByteArrayRegion(env, of_names, 0, (jsize)names->length, (jbyte *)names->at);
    (*env)->SetLongArrayRegion(env, of_numbers, 0, (jsize)(numbers->length / sizeof(jlong)), (jlong *)numbers->at);
    (*env)->SetIntArrayRegion(env, of_failed, 0, (jsize)(failed->length / sizeof(jint)), (jint *)failed->at);
    (*env)->SetObjectField(env, batch, (*env)->GetFieldID(env, class, "names", "[B"), of_names);
    (*env)->SetObjectField(env, batch, (*env)->GetFieldID(env, class, "numbers", "[J"), of_numbers);
    (*env)->SetObjectField(env, batch, (*env)->GetFieldID(env, class, "failed", "[I"), of_failed);
    return true;
}

JNIEXPORT jint JNICALL Java_Batch_read(JNIEnv *env, jobject batch, jbyteArray path, jboolean wants_sizes) {
    jbyte *text = (*env)->GetByteArrayElements(env, path, NULL);
    if (text == NULL)
        return ENOMEM;
    struct bytes names = { 0 }, numbers = { 0 }, failed = { 0 };
    int error = fill((const char *)text, wants_sizes, &names, &numbers, &failed);
    (*env)->ReleaseByteArrayElements(env, path, text, JNI_ABORT);
    if (error == 0 && !give(env, batch, &names, &numbers, &failed))
        error = ENOMEM;
    free(names.at);
    free(numbers.at);
    free(failed.at);
    return error;
}
