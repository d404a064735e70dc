// Linux system calls that Swift's module for the C library does not expose.
#define _GNU_SOURCE
#include "CEssentialsTest.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>

// MARK: Sockets

int cet_event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void cet_event_signal(int event) {
    // A write fails only if the counter is at its maximum, and then the descriptor is already readable.
    if (eventfd_write(event, 1) != 0) return;
}

int cet_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

bool cet_socket_limit_reading(int socket, int seconds) {
    struct timeval limit = {.tv_sec = seconds};
    return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}

// MARK: Processes

bool cet_spawn_keeping(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first) == 0;
}

bool cet_thread_pin(int thread) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return errno == ESRCH;
    CPU_ZERO(&one);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, &allowed)) continue;
        CPU_SET(processor, &one);
        break;
    }
    return sched_setaffinity(thread, sizeof one, &one) == 0 || errno == ESRCH;
}
