/*
 * Preloaded into a server (LD_PRELOAD), whose syncs it makes slower and counts: each fsync and fdatasync returns SYNC_DELAY_US later than
 * the disk is done. SYNC_COUNTS names a file of two 64-bit numbers, which all processes add to: how many, and nanoseconds in them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct counts {
  _Atomic uint64_t syncs, ns;
};
typedef int (*sync_call)(int fd);

static struct counts *counts;
static struct timespec delay;

__attribute__((constructor)) static void begin(void) {
  const char *us = getenv("SYNC_DELAY_US"), *path = getenv("SYNC_COUNTS");
  long long all_us = us == NULL ? 0 : atoll(us);
  delay = (struct timespec){.tv_sec = all_us / 1000000, .tv_nsec = all_us % 1000000 * 1000};
  int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) counts = mapped;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int delayed(sync_call sync, int fd) {
  uint64_t from = now_ns();
  int result = sync(fd), error = errno;
  struct timespec left = delay;
  if (left.tv_sec > 0 || left.tv_nsec > 0) {
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
  }
  if (counts != NULL) {
    atomic_fetch_add(&counts->syncs, 1);
    atomic_fetch_add(&counts->ns, now_ns() - from);
  }
  errno = error;
  return result;
}

int fsync(int fd) { return delayed((sync_call)dlsym(RTLD_NEXT, "fsync"), fd); }

int fdatasync(int fd) { return delayed((sync_call)dlsym(RTLD_NEXT, "fdatasync"), fd); }
