// Calls for processes and threads that Swift's module for the C library leaves out.
#define _GNU_SOURCE
#include "CEssentialsTest.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>

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
