/*
 * Preloaded into a server (LD_PRELOAD), whose clock of the day it moves: CLOCK_OFFSET names a file with one 64-bit number, the milliseconds
 * that are added, which may change at any moment. Clocks that count since the start of the machine go on as they are.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef int (*clock_call)(clockid_t, struct timespec *);

static _Atomic int64_t *offset_ms;
static clock_call real_clock;

__attribute__((constructor)) static void begin(void) {
  real_clock = (clock_call)dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CLOCK_OFFSET");
  int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) offset_ms = mapped;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  /* Another library's constructor may ask before ours ran. */
  int result = real_clock == NULL ? (int)syscall(SYS_clock_gettime, id, now) : real_clock(id, now);
  if (result != 0 || offset_ms == NULL || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return result;
  int64_t ns = now->tv_nsec + (*offset_ms % 1000) * 1000000, carry = ns < 0 ? -1 : ns / 1000000000;
  now->tv_sec += *offset_ms / 1000 + carry;
  now->tv_nsec = ns - carry * 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  *now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
  return result;
}

time_t time(time_t *where) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (where != NULL) *where = exact.tv_sec;
  return exact.tv_sec;
}
