/*
 * Preloaded into a program: writes down in order what it does to the files below one folder, so that a power cut can be replayed, and fails
 * syncs or writes on request. POWER_FOLDER: the folder. POWER_JOURNAL: where to write. POWER_FAILURES: what fails (struct failures).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The next `wait` syncs, or writes, of files whose names end in `suffix` succeed, the `fail` after them do not. `failed`: syncs so far. */
struct failures {
  int32_t wait;
  int32_t fail;
  int32_t writes;
  int32_t failed;
  char suffix[48];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static volatile struct failures *failures;
static int journal = -1;

#define REAL(name) \
  static __typeof__(name) *real; \
  if (real == NULL) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("POWER_JOURNAL");
  const char *which = getenv("POWER_FAILURES");
  const char *below = getenv("POWER_FOLDER");
  if (where == NULL || which == NULL || below == NULL || realpath(below, folder) == NULL) return;
  int fd = open(which, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  failures = mmap(NULL, sizeof(struct failures), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  journal = open(where, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static int is_ours(const char *path) {
  size_t length = strlen(folder);
  if (journal < 0 || strncmp(path, folder, length) != 0 || (path[length] != '/' && path[length] != 0)) return 0;
  length = strlen(path);
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = journal < 0 ? -1 : readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

/* What is done to our files is done one after the other, in all threads and processes, so that the journal has its order. */
static void enter(void) {
  pthread_mutex_lock(&mutex);
  flock(journal, LOCK_EX);
}

static void leave(void) {
  int kept = errno;
  flock(journal, LOCK_UN);
  pthread_mutex_unlock(&mutex);
  errno = kept;
}

/* One line of JSON, then `length` bytes, in one call: a process may be killed between two. Paths have no quotes. */
static void note(const char *what, const char *path, uint64_t inode, int64_t at, const char *to, const void *bytes, size_t length) {
  char line[2 * PATH_MAX + 256];
  int size = snprintf(line, sizeof line, "{\"what\":\"%s\",\"path\":\"%s\",\"inode\":%llu,\"at\":%lld,\"to\":\"%s\",\"bytes\":%zu}\n", what, path,
                      (unsigned long long)inode, (long long)at, to, length);
  struct iovec parts[] = {{line, (size_t)size}, {(void *)bytes, length}};
  REAL(writev);
  int kept = errno;
  if (real(journal, parts, 2) != (ssize_t)((size_t)size + length)) abort();
  errno = kept;
}

static uint64_t inode_of(int fd) {
  struct stat found;
  int kept = errno;
  uint64_t inode = fstat(fd, &found) == 0 ? found.st_ino : 0;
  errno = kept;
  return inode;
}

static int opened(int (*real)(const char *, int, ...), const char *name, int flags, mode_t mode) {
  char path[PATH_MAX];
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || journal < 0) return real(name, flags, mode);
  enter();
  int was = access(name, F_OK) == 0;
  int fd = real(name, flags, mode);
  if (fd >= 0 && path_of(fd, path)) {
    if (!was) note("create", path, inode_of(fd), 0, "", NULL, 0);
    else if ((flags & O_TRUNC) != 0) note("truncate", path, inode_of(fd), 0, "", NULL, 0);
  }
  leave();
  return fd;
}

#define MODE(flags) \
  mode_t mode = 0; \
  if (((flags) & O_CREAT) != 0) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  }

int open(const char *name, int flags, ...) {
  REAL(open);
  MODE(flags)
  return opened(real, name, flags, mode);
}

int open64(const char *name, int flags, ...) {
  REAL(open64);
  MODE(flags)
  return opened(real, name, flags, mode);
}

static void note_written(int fd, const char *path, const void *bytes, ssize_t written, off_t at) {
  if (written > 0) note("write", path, inode_of(fd), at, "", bytes, (size_t)written);
}

static int fails(const char *path, int writes) {
  char suffix[sizeof failures->suffix];
  memcpy(suffix, (const void *)failures->suffix, sizeof suffix);
  size_t length = strnlen(suffix, sizeof suffix), whole = strlen(path);
  if (failures->fail <= 0 || failures->writes != writes) return 0;
  if (whole < length || memcmp(path + whole - length, suffix, length) != 0) return 0;
  if (failures->wait > 0) {
    failures->wait--;
    return 0;
  }
  failures->fail--;
  return 1;
}

/* One that fails has written half of its bytes. */
static ssize_t failed_to_write(const char *path, ssize_t written) {
  note("refused", path, 0, 0, "", NULL, 0);
  if (written >= 0) errno = EIO;
  return -1;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  char path[PATH_MAX];
  if (journal < 0 || !path_of(fd, path)) return real(fd, bytes, length);
  enter();
  int refused = fails(path, 1);
  ssize_t written = real(fd, bytes, refused ? length / 2 : length);
  note_written(fd, path, bytes, written, written > 0 ? lseek(fd, 0, SEEK_CUR) - written : 0);
  if (refused) written = failed_to_write(path, written);
  leave();
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  REAL(pwrite);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, bytes, length, at);
  enter();
  int refused = fails(path, 1);
  ssize_t written = real(fd, bytes, refused ? length / 2 : length, at);
  note_written(fd, path, bytes, written, at);
  if (refused) written = failed_to_write(path, written);
  leave();
  return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  return pwrite(fd, bytes, length, at);
}

/* In pieces, which are as many writes. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, parts, count);
  ssize_t sum = 0;
  for (int part = 0; part < count; part++) {
    ssize_t written = write(fd, parts[part].iov_base, parts[part].iov_len);
    if (written < 0) return sum > 0 ? sum : written;
    sum += written;
    if ((size_t)written < parts[part].iov_len) break;
  }
  return sum;
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  REAL(pwritev);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, parts, count, at);
  ssize_t sum = 0;
  for (int part = 0; part < count; part++) {
    ssize_t written = pwrite(fd, parts[part].iov_base, parts[part].iov_len, at + sum);
    if (written < 0) return sum > 0 ? sum : written;
    sum += written;
    if ((size_t)written < parts[part].iov_len) break;
  }
  return sum;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  return pwritev(fd, parts, count, at);
}

int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd, length);
  enter();
  int result = real(fd, length);
  if (result == 0) note("truncate", path, inode_of(fd), length, "", NULL, 0);
  leave();
  return result;
}

int ftruncate64(int fd, off64_t length) {
  return ftruncate(fd, length);
}

static int synced(int (*real)(int), int fd) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return real(fd);
  enter();
  int result = 0;
  if (fails(path, 0)) {
    failures->failed++;
    note("failed", path, inode_of(fd), 0, "", NULL, 0);
    errno = EIO;
    result = -1;
  } else {
    /* Nothing is cut off here but in the replay, so that the disk need not be waited for. */
    note("sync", path, inode_of(fd), 0, "", NULL, 0);
  }
  leave();
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  return synced(real, fd);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return synced(real, fd);
}

static int renamed(int (*real)(const char *, const char *), const char *what, const char *from, const char *to) {
  if (!is_ours(from)) return real(from, to);
  enter();
  int result = real(from, to);
  if (result == 0) note(what, from, 0, 0, to, NULL, 0);
  leave();
  return result;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  return renamed(real, "rename", from, to);
}

int link(const char *from, const char *to) {
  REAL(link);
  return renamed(real, "link", from, to);
}

static int removed(int (*real)(const char *), const char *path) {
  if (!is_ours(path)) return real(path);
  enter();
  int result = real(path);
  if (result == 0) note("remove", path, 0, 0, "", NULL, 0);
  leave();
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  return removed(real, path);
}

int rmdir(const char *path) {
  REAL(rmdir);
  return removed(real, path);
}
