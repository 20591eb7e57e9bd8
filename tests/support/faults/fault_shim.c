/* Makes the Nth system call of a kind fail, for files below one directory. Preloaded (LD_PRELOAD).

   fault_arm(root, kind, nth, error, lasting)   the nth call of this kind below root fails with error;
                                                lasting: so does every later one, as on a full disk
   fault_arm(root, 0, 0, 0, 0)                  nothing fails, all kinds are counted
   fault_seen(kind), fault_struck()             how many calls there were; how many failed

   A lasting failure of a write begins with a short write, as a disk that runs full does. The kinds
   are the numbers of `shim.py`. Calls that libc makes for itself (malloc's mmap, stdio) do not come
   through here. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#undef open64
#undef openat64

enum { WRITE = 1, SYNC, RENAME, OPEN, MMAP, TRUNCATE, KINDS };

static char root[PATH_MAX];
static size_t root_length;
static int failing_kind, failing_error, failing_lasting;
static long failing_number;
static atomic_long seen[KINDS];
static atomic_long struck;

void fault_arm(const char *below, int kind, long nth, int error, int lasting) {
    root_length = 0;
    for (int each = 0; each < KINDS; each++) atomic_store(&seen[each], 0);
    atomic_store(&struck, 0);
    failing_kind = kind;
    failing_number = nth;
    failing_error = error;
    failing_lasting = lasting;
    snprintf(root, sizeof root, "%s", below);
    root_length = strlen(root);
}

long fault_seen(int kind) { return atomic_load(&seen[kind]); }
long fault_struck(void) { return atomic_load(&struck); }

static int is_below(const char *path) {
    return root_length && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    if (!root_length || file < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_path_below(int directory, const char *path) {
    if (!root_length || !path) return 0;
    if (path[0] == '/') return is_below(path);
    return directory != AT_FDCWD && is_file_below(directory);
}

/* 0: let it through; 1: it fails; 2: it is the first of lasting failures */
static int strikes(int kind) {
    long number = atomic_fetch_add(&seen[kind], 1) + 1;
    if (kind != failing_kind || number < failing_number) return 0;
    if (number > failing_number && !failing_lasting) return 0;
    atomic_fetch_add(&struck, 1);
    errno = failing_error;
    return failing_lasting && number == failing_number ? 2 : 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILS(kind, concerned) ((concerned) && strikes(kind))

ssize_t write(int file, const void *bytes, size_t count) {
    static __typeof__(&write) real;
    if (!real) real = REAL(write);
    int how = is_file_below(file) ? strikes(WRITE) : 0;
    if (how == 2 && count > 1) return real(file, bytes, count / 2);
    return how ? -1 : real(file, bytes, count);
}

#define PWRITE(name, offset_type)                                                                  \
    ssize_t name(int file, const void *bytes, size_t count, offset_type at) {                      \
        static __typeof__(&name) real;                                                             \
        if (!real) real = REAL(name);                                                              \
        int how = is_file_below(file) ? strikes(WRITE) : 0;                                        \
        if (how == 2 && count > 1) return real(file, bytes, count / 2, at);                        \
        return how ? -1 : real(file, bytes, count, at);                                            \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int file, const struct iovec *parts, int count) {
    static __typeof__(&writev) real;
    if (!real) real = REAL(writev);
    return FAILS(WRITE, is_file_below(file)) ? -1 : real(file, parts, count);
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned f) {
    static __typeof__(&copy_file_range) real;
    if (!real) real = REAL(copy_file_range);
    return FAILS(WRITE, is_file_below(to)) ? -1 : real(from, from_at, to, to_at, n, f);
}

ssize_t sendfile(int to, int from, off_t *at, size_t count) {
    static ssize_t (*real)(int, int, off_t *, size_t);
    if (!real) real = (ssize_t(*)(int, int, off_t *, size_t))dlsym(RTLD_NEXT, "sendfile");
    return FAILS(WRITE, is_file_below(to)) ? -1 : real(to, from, at, count);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t count) {
    static ssize_t (*real)(int, int, off64_t *, size_t);
    if (!real) real = (ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    return FAILS(WRITE, is_file_below(to)) ? -1 : real(to, from, at, count);
}

int fsync(int file) {
    static __typeof__(&fsync) real;
    if (!real) real = REAL(fsync);
    return FAILS(SYNC, is_file_below(file)) ? -1 : real(file);
}

int fdatasync(int file) {
    static __typeof__(&fdatasync) real;
    if (!real) real = REAL(fdatasync);
    return FAILS(SYNC, is_file_below(file)) ? -1 : real(file);
}

int rename(const char *from, const char *to) {
    static __typeof__(&rename) real;
    if (!real) real = REAL(rename);
    return FAILS(RENAME, is_path_below(AT_FDCWD, to)) ? -1 : real(from, to);
}

int renameat(int old, const char *from, int new, const char *to) {
    static __typeof__(&renameat) real;
    if (!real) real = REAL(renameat);
    return FAILS(RENAME, is_path_below(new, to)) ? -1 : real(old, from, new, to);
}

int renameat2(int old, const char *from, int new, const char *to, unsigned flags) {
    static __typeof__(&renameat2) real;
    if (!real) real = REAL(renameat2);
    return FAILS(RENAME, is_path_below(new, to)) ? -1 : real(old, from, new, to, flags);
}

int link(const char *from, const char *to) {
    static __typeof__(&link) real;
    if (!real) real = REAL(link);
    return FAILS(RENAME, is_path_below(AT_FDCWD, to)) ? -1 : real(from, to);
}

int linkat(int old, const char *from, int new, const char *to, int flags) {
    static __typeof__(&linkat) real;
    if (!real) real = REAL(linkat);
    return FAILS(RENAME, is_path_below(new, to)) ? -1 : real(old, from, new, to, flags);
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENING(name)                                                                              \
    int name(const char *path, int flags, ...) {                                                   \
        static int (*real)(const char *, int, ...);                                                \
        if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = mode_of(flags, rest);                                                        \
        va_end(rest);                                                                              \
        return FAILS(OPEN, is_path_below(AT_FDCWD, path)) ? -1 : real(path, flags, mode);          \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                           \
    int name(int directory, const char *path, int flags, ...) {                                    \
        static int (*real)(int, const char *, int, ...);                                           \
        if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #name);           \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = mode_of(flags, rest);                                                        \
        va_end(rest);                                                                              \
        return FAILS(OPEN, is_path_below(directory, path)) ? -1                                    \
                                                           : real(directory, path, flags, mode);   \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

#define MAPPING(name, offset_type)                                                                 \
    void *name(void *at, size_t length, int protection, int flags, int file, offset_type from) {   \
        static __typeof__(&name) real;                                                             \
        if (!real) real = REAL(name);                                                              \
        int fails = !(flags & MAP_ANONYMOUS) && FAILS(MMAP, is_file_below(file));                  \
        return fails ? MAP_FAILED : real(at, length, protection, flags, file, from);               \
    }
MAPPING(mmap, off_t)
MAPPING(mmap64, off64_t)

#define TRUNCATING(name, offset_type)                                                              \
    int name(int file, offset_type length) {                                                       \
        static __typeof__(&name) real;                                                             \
        if (!real) real = REAL(name);                                                              \
        return FAILS(TRUNCATE, is_file_below(file)) ? -1 : real(file, length);                     \
    }
TRUNCATING(ftruncate, off_t)
TRUNCATING(ftruncate64, off64_t)

int fallocate(int file, int mode, off_t from, off_t length) {
    static __typeof__(&fallocate) real;
    if (!real) real = REAL(fallocate);
    return FAILS(TRUNCATE, is_file_below(file)) ? -1 : real(file, mode, from, length);
}

int posix_fallocate(int file, off_t from, off_t length) {
    static __typeof__(&posix_fallocate) real;
    if (!real) real = REAL(posix_fallocate);
    return FAILS(TRUNCATE, is_file_below(file)) ? failing_error : real(file, from, length);
}
