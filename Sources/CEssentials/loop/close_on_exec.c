// Marks the descriptors of libcurl's multi handles close-on-exec.
//
// libcurl 7.88 creates a pair of connected sockets with each multi handle, for curl_multi_wakeup(3), without that flag.
// It has no function that returns them, so they are found by comparing the process's descriptors before and after.
#define _GNU_SOURCE // O_DIRECTORY
#include "close_on_exec.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { DESCRIPTORS_MAXIMUM = 65536 };

// Whether a descriptor looks like one of the pair: half of an unnamed stream pair that does not block and survives
// exec.
static bool is_unmarked_pair_half(int fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || flags & FD_CLOEXEC) return false;
    int status = fcntl(fd, F_GETFL);
    if (status < 0 || !(status & O_NONBLOCK)) return false;
    struct sockaddr_un address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 || address.sun_family != AF_UNIX) return false;
    return size == sizeof address.sun_family;
}

static void visit_open(void (*visit)(int fd, ino_t *inodes), ino_t *inodes) {
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        int fd = atoi(entry->d_name);
        // The directory's own descriptor is closed again below.
        if (entry->d_name[0] == '.' || fd == dirfd(directory)) continue;
        if (fd >= 0 && fd < DESCRIPTORS_MAXIMUM) visit(fd, inodes);
    }
    closedir(directory);
}

// Descriptors are compared by inode, because a number may be reused between the two scans.
static ino_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static void note(int fd, ino_t *inodes) { inodes[fd] = inode_of(fd); }

static void mark_if_new(int fd, ino_t *inodes) {
    if (is_unmarked_pair_half(fd) && inodes[fd] != inode_of(fd)) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// If another thread creates such a pair at the same moment in order to pass it to a child, that pair is marked too.
// Without the flag, every child of the application would inherit descriptors.
CURLM *ce_curl_multi_create(void) {
    ino_t *open_before = calloc(DESCRIPTORS_MAXIMUM, sizeof *open_before);
    if (open_before) visit_open(note, open_before);
    CURLM *curl = curl_multi_init();
    if (curl && open_before) visit_open(mark_if_new, open_before);
    free(open_before);
    return curl;
}
