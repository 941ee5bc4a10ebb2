/* A layer between a process and its files, for tests. It remembers what was there before every
 * write, rename, removal and creation below TAKEBACK_ROOT, and which of them a sync has made
 * durable. When the process is killed, the test takes back what was not: see takeback.rs.
 *
 * Syncs are not passed on: what is durable is what the journal says. With TAKEBACK_LIE a sync is
 * answered and not written down, as a disk does that lies.
 *
 * A record: kind, numbers a and b, length of data, data. All of it is written at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 65536
#define SECTOR 512

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static char aside[PATH_MAX];
static int journal = -1;
static int lies;
static uint64_t links;
static unsigned char tracked[FDS];

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_open)(const char *, int, ...);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_fsync)(int);

__attribute__((constructor)) static void begin(void) {
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_open = dlsym(RTLD_NEXT, "open");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    const char *directory = getenv("TAKEBACK_JOURNAL");
    root = getenv("TAKEBACK_ROOT");
    lies = getenv("TAKEBACK_LIE") != NULL;
    if (!root || !directory) return;
    snprintf(aside, sizeof aside, "%s", directory);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/journal", directory);
    journal = real_open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (journal < 0) abort();
}

static int is_ours(const char *path) {
    return journal >= 0 && strncmp(path, root, strlen(root)) == 0;
}

static void note(char kind, uint64_t a, uint64_t b, const void *data, uint64_t length) {
    uint64_t head[4] = {(uint64_t)kind, a, b, length};
    struct iovec parts[2] = {{head, sizeof head}, {(void *)data, length}};
    if (writev(journal, parts, 2) != (ssize_t)(sizeof head + length)) abort();
}

static void note_paths(char kind, uint64_t a, const char *one, const char *two) {
    char both[2 * PATH_MAX];
    int length = snprintf(both, sizeof both, "%s\n%s", one, two);
    note(kind, a, 0, both, (uint64_t)length);
}

/* Keeps a file that is about to lose its name. Answers with the number it is kept under, or 0. */
static uint64_t keep(const char *path) {
    char to[PATH_MAX + 32];
    uint64_t number = links + 1;
    snprintf(to, sizeof to, "%s/%llu", aside, (unsigned long long)number);
    if (link(path, to) != 0) return 0;
    links = number;
    return number;
}

/* What stands in the sectors that are about to be written, and how long the file is. */
static void note_before(int fd, off_t offset, size_t length) {
    struct stat found;
    if (fstat(fd, &found) != 0) abort();
    off_t start = offset / SECTOR * SECTOR;
    size_t bytes = (size_t)((offset + (off_t)length + SECTOR - 1) / SECTOR * SECTOR - start);
    uint64_t *data = calloc(1, bytes + 16);
    data[0] = (uint64_t)found.st_size;
    data[1] = (uint64_t)start;
    if (pread(fd, data + 2, bytes, start) < 0) abort();
    note('W', (uint64_t)found.st_ino, 0, data, bytes + 16);
    free(data);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    if (fd < 0 || fd >= FDS || !tracked[fd]) return real_pwrite(fd, bytes, length, offset);
    pthread_mutex_lock(&mutex);
    note_before(fd, offset, length);
    ssize_t written = real_pwrite(fd, bytes, length, offset);
    pthread_mutex_unlock(&mutex);
    return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) {
    return pwrite(fd, bytes, length, offset);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    int ours = is_ours(path);
    if (ours) pthread_mutex_lock(&mutex);
    struct stat found;
    if (ours && (flags & O_CREAT) && stat(path, &found) != 0) {
        note_paths('C', 0, path, "");
    } else if (ours && (flags & O_TRUNC)) {
        int old = real_open(path, O_RDONLY);
        if (old >= 0 && found.st_size > 0) note_before(old, 0, (size_t)found.st_size);
        if (old >= 0) close(old);
    }
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && fd < FDS) tracked[fd] = (unsigned char)ours;
    if (ours) pthread_mutex_unlock(&mutex);
    return fd;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open(path, flags, mode);
}

int rename(const char *from, const char *to) {
    if (!is_ours(to)) return real_rename(from, to);
    pthread_mutex_lock(&mutex);
    note_paths('R', keep(to), from, to);
    int done = real_rename(from, to);
    pthread_mutex_unlock(&mutex);
    return done;
}

int unlink(const char *path) {
    if (!is_ours(path)) return real_unlink(path);
    pthread_mutex_lock(&mutex);
    note_paths('U', keep(path), path, "");
    int done = real_unlink(path);
    pthread_mutex_unlock(&mutex);
    return done;
}

int fsync(int fd) {
    if (fd < 0 || fd >= FDS || !tracked[fd]) return real_fsync(fd);
    struct stat found;
    if (fstat(fd, &found) != 0) abort();
    if (lies) return 0;
    /* As long as a disk takes: most kills come while something is not durable yet. */
    usleep(2000);
    pthread_mutex_lock(&mutex);
    if (S_ISDIR(found.st_mode)) {
        char link[64], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path);
        if (length < 0) abort();
        note('D', 0, 0, path, (uint64_t)length);
    } else {
        note('S', (uint64_t)found.st_ino, 0, "", 0);
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}

int fdatasync(int fd) { return fsync(fd); }
