#include "thread_counters.h"

#include <linux/perf_event.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) abort();
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t thread_cpu_nanoseconds(void) {
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t monotonic_nanoseconds(void) {
    return nanoseconds_of(CLOCK_MONOTONIC);
}

int instruction_counter_open(void) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int64_t instruction_counter_read(int descriptor) {
    int64_t count;
    return read(descriptor, &count, sizeof count) == (ssize_t)sizeof count ? count : -1;
}

uint64_t heap_bytes(void) {
    struct mallinfo2 facts = mallinfo2();
    return (uint64_t)facts.uordblks + (uint64_t)facts.hblkhd;
}
