/* Preloaded into the program: lets the n-th call of one kind fail, once or for ever.
 *
 *   FAULT_KIND     open, read, write, rename, sync, remove, folder, map, memory
 *   FAULT_AT       the first call that fails, counted from 1; 0 lets none fail
 *   FAULT_FOREVER  if set, all calls from that one on fail
 *   FAULT_ERRNO    the number of the error
 *   FAULT_COUNTS   a file that gets the number of calls of every kind
 *   FAULT_BYTES    smaller requests for memory are not counted
 *
 * Only files below FAULT_UNDER count for open, rename, remove and folder; for read and write, whatever
 * was opened there, and the standard streams. Maps of files count, not those that threads get their
 * stacks from: Rust's own library aborts where these fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, RENAME, SYNC, REMOVE, FOLDER, MAP, MEMORY, KINDS };
static const char *const NAMES[KINDS] = {"open", "read",   "write", "rename", "sync",
                                         "remove", "folder", "map",   "memory"};

static atomic_long counts[KINDS];
static int chosen = -1, forever, number = ENOSPC;
static long at;
static size_t bytes = 65536;
static const char *under = "";
static atomic_int ready;

static long number_of(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    const char *kind = getenv("FAULT_KIND");
    for (int i = 0; kind && i < KINDS; i++)
        if (!strcmp(kind, NAMES[i])) chosen = i;
    at = number_of("FAULT_AT", 0);
    forever = getenv("FAULT_FOREVER") != NULL;
    number = (int)number_of("FAULT_ERRNO", ENOSPC);
    bytes = (size_t)number_of("FAULT_BYTES", 65536);
    under = getenv("FAULT_UNDER") ? getenv("FAULT_UNDER") : "";
    atomic_store(&ready, 1);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAULT_COUNTS");
    atomic_store(&ready, 0);
    if (!path) return;
    char text[512];
    int length = 0;
    for (int i = 0; i < KINDS; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s %ld\n", NAMES[i],
                           atomic_load(&counts[i]));
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        syscall(SYS_write, file, text, (size_t)length);
        syscall(SYS_close, file);
    }
}

/* Counts a call; whether it is to fail. */
static int fails(enum kind kind) {
    if (!atomic_load(&ready)) return 0;
    long now = atomic_fetch_add(&counts[kind], 1) + 1;
    if ((int)kind != chosen || at == 0) return 0;
    if (forever ? now < at : now != at) return 0;
    errno = number;
    return 1;
}

static int is_ours(const char *path) {
    return path && (path[0] != '/' || !strncmp(path, under, strlen(under)));
}

/* Whether a descriptor is a standard stream or a file below FAULT_UNDER. */
static int is_our_file(int file) {
    if (file <= 2) return 1;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return !strncmp(path, under, strlen(under));
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define OPENER(name, ...) \
    REAL(name); \
    int mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, int); \
        va_end(more); \
    } \
    if (is_ours(path) && fails(OPEN)) return -1; \
    return real(__VA_ARGS__, mode)

int open(const char *path, int flags, ...) { OPENER(open, path, flags); }
int open64(const char *path, int flags, ...) { OPENER(open64, path, flags); }
int openat(int folder, const char *path, int flags, ...) { OPENER(openat, folder, path, flags); }
int openat64(int folder, const char *path, int flags, ...) { OPENER(openat64, folder, path, flags); }

ssize_t read(int file, void *to, size_t n) {
    REAL(read);
    return is_our_file(file) && fails(READ) ? -1 : real(file, to, n);
}
ssize_t pread64(int file, void *to, size_t n, off64_t place) {
    REAL(pread64);
    return is_our_file(file) && fails(READ) ? -1 : real(file, to, n, place);
}
ssize_t write(int file, const void *from, size_t n) {
    REAL(write);
    return is_our_file(file) && fails(WRITE) ? -1 : real(file, from, n);
}
ssize_t writev(int file, const struct iovec *from, int n) {
    REAL(writev);
    return is_our_file(file) && fails(WRITE) ? -1 : real(file, from, n);
}
ssize_t pwrite64(int file, const void *from, size_t n, off64_t place) {
    REAL(pwrite64);
    return is_our_file(file) && fails(WRITE) ? -1 : real(file, from, n, place);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return is_ours(to) && fails(RENAME) ? -1 : real(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    return is_ours(to) && fails(RENAME) ? -1 : real(a, from, b, to);
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    REAL(renameat2);
    return is_ours(to) && fails(RENAME) ? -1 : real(a, from, b, to, flags);
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    REAL(linkat);
    return is_ours(to) && fails(RENAME) ? -1 : real(a, from, b, to, flags);
}
int link(const char *from, const char *to) {
    REAL(link);
    return is_ours(to) && fails(RENAME) ? -1 : real(from, to);
}

int fsync(int file) {
    REAL(fsync);
    return fails(SYNC) ? -1 : real(file);
}
int fdatasync(int file) {
    REAL(fdatasync);
    return fails(SYNC) ? -1 : real(file);
}

int unlink(const char *path) {
    REAL(unlink);
    return is_ours(path) && fails(REMOVE) ? -1 : real(path);
}
int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    return is_ours(path) && fails(REMOVE) ? -1 : real(folder, path, flags);
}
int rmdir(const char *path) {
    REAL(rmdir);
    return is_ours(path) && fails(REMOVE) ? -1 : real(path);
}
int mkdir(const char *path, mode_t mode) {
    REAL(mkdir);
    return is_ours(path) && fails(FOLDER) ? -1 : real(path, mode);
}
int mkdirat(int folder, const char *path, mode_t mode) {
    REAL(mkdirat);
    return is_ours(path) && fails(FOLDER) ? -1 : real(folder, path, mode);
}

void *mmap64(void *place, size_t n, int protection, int flags, int file, off64_t offset) {
    REAL(mmap64);
    return file >= 0 && fails(MAP) ? MAP_FAILED : real(place, n, protection, flags, file, offset);
}
void *mmap(void *place, size_t n, int protection, int flags, int file, off_t offset) {
    REAL(mmap);
    return file >= 0 && fails(MAP) ? MAP_FAILED : real(place, n, protection, flags, file, offset);
}

/* The loader may ask for memory before dlsym can answer: glibc's own names are always there. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { return n >= bytes && fails(MEMORY) ? NULL : __libc_malloc(n); }
void *calloc(size_t m, size_t n) {
    return m && n >= bytes / m && m * n >= bytes && fails(MEMORY) ? NULL : __libc_calloc(m, n);
}
void *realloc(void *old, size_t n) {
    return n >= bytes && fails(MEMORY) ? NULL : __libc_realloc(old, n);
}
int posix_memalign(void **to, size_t alignment, size_t n) {
    if (n >= bytes && fails(MEMORY)) return ENOMEM;
    void *found = __libc_memalign(alignment, n);
    if (!found) return ENOMEM;
    *to = found;
    return 0;
}
