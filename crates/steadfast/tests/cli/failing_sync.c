/* A disk whose syncs fail from the moment on that the file FAIL_SYNC is there. For tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int fdatasync(int fd) {
    const char *flag = getenv("FAIL_SYNC");
    if (flag && access(flag, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    return real(fd);
}
