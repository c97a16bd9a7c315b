/* The N-th call that changes a file below a folder fails, or ends the process as a power cut would.

   FAULT_UNDER  the folder
   FAULT_AT     which call, counted from 1 over all threads; 0 if none
   FAULT_HOW    a number of an error, or "kill"
   FAULT_TOLD   a file that is told at the end how many calls there were */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long calls;

static int is_below(const char *path) {
  const char *under = getenv("FAULT_UNDER");
  return under && path && strncmp(path, under, strlen(under)) == 0;
}

static int is_open_below(int handle) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  long size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return is_below(path);
}

static int fails(void) {
  const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");
  if (!at || !how || __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != atol(at)) return 0;
  if (strcmp(how, "kill") == 0) syscall(SYS_kill, getpid(), SIGKILL);
  errno = atoi(how);
  return 1;
}

__attribute__((destructor)) static void tell(void) {
  const char *told = getenv("FAULT_TOLD");
  FILE *file = told ? fopen(told, "w") : NULL;
  if (file) {
    fprintf(file, "%ld", calls);
    fclose(file);
  }
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_HANDLE(type, name, given, passed)                       \
  type name given {                                                \
    if (is_open_below(handle) && fails()) return -1;               \
    return REAL(name) passed;                                      \
  }
#define ON_PATH(name, given, passed)                               \
  int name given {                                                 \
    if (is_below(path) && fails()) return -1;                      \
    return REAL(name) passed;                                      \
  }
#define OPENING(name, given, passed)                               \
  int name given {                                                 \
    va_list more;                                                  \
    va_start(more, flags);                                         \
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;      \
    va_end(more);                                                  \
    if (flags & (O_WRONLY | O_RDWR | O_CREAT) && is_below(path) && fails()) return -1; \
    return REAL(name) passed;                                      \
  }

ON_HANDLE(ssize_t, write, (int handle, const void *data, size_t size), (handle, data, size))
ON_HANDLE(ssize_t, pwrite, (int handle, const void *data, size_t size, off_t at), (handle, data, size, at))
ON_HANDLE(ssize_t, pwrite64, (int handle, const void *data, size_t size, off64_t at), (handle, data, size, at))
ON_HANDLE(int, fsync, (int handle), (handle))
ON_HANDLE(int, fdatasync, (int handle), (handle))
ON_HANDLE(int, ftruncate, (int handle, off_t size), (handle, size))
ON_HANDLE(int, ftruncate64, (int handle, off64_t size), (handle, size))
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
