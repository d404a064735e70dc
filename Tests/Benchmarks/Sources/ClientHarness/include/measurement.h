#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include <stddef.h>
#include <stdint.h>

/// What one measured part of a client's run came to. Every client reports through this, so that all measure alike.
struct measurement {
    const char *client;
    const char *protocol;
    /// One per request that was answered as expected, in tenths of a microsecond; sorted in place by the report.
    uint32_t *latencies;
    size_t latency_count;
    size_t requests;
    size_t errors;
    double seconds;
    double cpu_seconds;
    size_t max_rss_kb;
    /// When the first answer of the process had come, the warm-up's included, as `measurement_now` tells time.
    uint64_t first_answer;
};

/// Monotonic time in nanoseconds.
uint64_t measurement_now(void);

/// The duration since `start` in tenths of a microsecond, at most `UINT32_MAX`.
uint32_t measurement_latency_since(uint64_t start);

/// User and system time of this process so far, in seconds.
double measurement_cpu_seconds(void);

/// The peak resident size of this program, in kB, or 0 if it cannot be read.
///
/// Taken from `VmHWM`: the figure of `getrusage` survives `exec` and may be that of the program's parent.
size_t measurement_max_rss_kb(void);

/// The resident size of this program now, in kB, or 0 if it cannot be read.
size_t measurement_rss_kb(void);

/// How many descriptors this program has open, or 0 if they cannot be counted.
size_t measurement_descriptors(void);

/// Prints one line of JSON on standard output.
void measurement_report(struct measurement *measurement);

#endif
