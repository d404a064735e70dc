// Closes at exec(2) what libcurl leaves open.
//
// libcurl 7.88 makes a pair of connected sockets with each multi handle, for curl_multi_wakeup(3), and does not mark them.
// It has no call that names them, so they are found by comparing the descriptors before and after.
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

// Whether a descriptor is what libcurl makes: half of a nameless stream pair that does not block and survives exec.
static bool is_unmarked_pair_half(int fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || flags & FD_CLOEXEC) return false;
    int status = fcntl(fd, F_GETFL);
    if (status < 0 || !(status & O_NONBLOCK)) return false;
    struct sockaddr_un address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 || address.sun_family != AF_UNIX) return false;
    return size == sizeof address.sun_family;
}

static void visit_open(void (*visit)(int fd, ino_t *inodes), ino_t *inodes) {
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        int fd = atoi(entry->d_name);
        // The directory's own is closed again below.
        if (entry->d_name[0] == '.' || fd == dirfd(directory)) continue;
        if (fd >= 0 && fd < DESCRIPTORS_MAXIMUM) visit(fd, inodes);
    }
    closedir(directory);
}

// By inode, because a number may belong to something else by the time of the second look.
static ino_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static void note(int fd, ino_t *inodes) { inodes[fd] = inode_of(fd); }

static void mark_if_new(int fd, ino_t *inodes) {
    if (is_unmarked_pair_half(fd) && inodes[fd] != inode_of(fd)) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Another thread that makes such a pair at this very moment, to hand it to a child, would find it marked too. The reverse
// mistake, every child of the application inheriting descriptors, would be certain.
CURLM *ce_curl_multi_create(void) {
    ino_t *open_before = calloc(DESCRIPTORS_MAXIMUM, sizeof *open_before);
    if (open_before) visit_open(note, open_before);
    CURLM *curl = curl_multi_init();
    if (curl && open_before) visit_open(mark_if_new, open_before);
    free(open_before);
    return curl;
}
