#include "measurement.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

uint64_t measurement_now(void) {
    struct timespec time;
    if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) abort();
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint32_t measurement_latency_since(uint64_t start) {
    uint64_t tenths = (measurement_now() - start + 50) / 100;
    return tenths > UINT32_MAX ? UINT32_MAX : (uint32_t)tenths;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

double measurement_cpu_seconds(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) abort();
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

/// The number in a line of /proc/self/status, or 0 if there is none.
static size_t status_number(const char *name) {
    FILE *status = fopen("/proc/self/status", "re");
    if (status == NULL) return 0;
    char line[256];
    size_t length = strlen(name), number = 0;
    while (fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %zu", &number) == 1) break;
    }
    fclose(status);
    return number;
}

size_t measurement_max_rss_kb(void) {
    return status_number("VmHWM");
}

size_t measurement_rss_kb(void) {
    return status_number("VmRSS");
}

size_t measurement_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) return 0;
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) count += entry->d_name[0] != '.';
    closedir(directory);
    // The descriptor of the directory itself is counted too.
    return count - 1;
}

static int ascending(const void *left, const void *right) {
    uint32_t first = *(const uint32_t *)left;
    uint32_t second = *(const uint32_t *)right;
    return (first > second) - (first < second);
}

/// The nearest-rank percentile of sorted latencies, in microseconds.
static double percentile(const struct measurement *measurement, size_t percent) {
    if (measurement->latency_count == 0) return 0;
    size_t rank = (measurement->latency_count * percent + 99) / 100;
    return (double)measurement->latencies[rank - 1] / 10;
}

void measurement_report(struct measurement *measurement) {
    if (measurement->latency_count > 0) {
        qsort(measurement->latencies, measurement->latency_count, sizeof *measurement->latencies, ascending);
    }
    double rate = measurement->seconds > 0 ? (double)measurement->requests / measurement->seconds : 0;
    printf("{\"client\":\"%s\",\"requests\":%zu,\"errors\":%zu,\"seconds\":%.6f,\"requestsPerSecond\":%.1f,"
           "\"cpuSeconds\":%.6f,\"p50us\":%.1f,\"p95us\":%.1f,\"p99us\":%.1f,\"maxRSSkB\":%zu,\"threads\":%zu,"
           "\"firstAnswer\":%llu,\"protocol\":\"%s\"}\n",
           measurement->client, measurement->requests, measurement->errors, measurement->seconds, rate,
           measurement->cpu_seconds, percentile(measurement, 50), percentile(measurement, 95),
           percentile(measurement, 99), measurement->max_rss_kb, status_number("Threads"),
           (unsigned long long)measurement->first_answer, measurement->protocol);
}
