// Names of threads, and processors.
#define _GNU_SOURCE // pthread_setname_np, sched_getaffinity
#include "CEssentials.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

int ce_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(getpid(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void ce_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
