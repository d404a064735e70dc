#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include <stddef.h>
#include <stdint.h>

/// The figures of one measured part of a client's run. All clients report in this way, so that they measure alike.
struct measurement {
    const char *client;
    const char *protocol;
    /// One latency for each successful request, in tenths of a microsecond. The report sorts them in place.
    uint32_t *latencies;
    size_t latency_count;
    size_t requests;
    size_t errors;
    double seconds;
    double cpu_seconds;
    size_t max_rss_kb;
    /// The time of the first response of the process, including the warm-up, as returned by `measurement_now`.
    uint64_t first_answer;
};

/// The monotonic time in nanoseconds.
uint64_t measurement_now(void);

/// The duration since `start` in tenths of a microsecond, at most `UINT32_MAX`.
uint32_t measurement_latency_since(uint64_t start);

/// The user and system time of this process so far, in seconds.
double measurement_cpu_seconds(void);

/// The peak resident size of this program in kB, or 0 if it cannot be read.
///
/// It is read from `VmHWM`, because the figure of `getrusage` survives `exec` and may be that of the parent process.
size_t measurement_max_rss_kb(void);

/// The current resident size of this program in kB, or 0 if it cannot be read.
size_t measurement_rss_kb(void);

/// The number of open descriptors of this program, or 0 if they cannot be counted.
size_t measurement_descriptors(void);

/// Prints one line of JSON on standard output.
void measurement_report(struct measurement *measurement);

#endif
