// (f) The time of a GET with one hop between two threads, and without.

#include "link.h"
#include "proofs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ROUNDS = 20000 };
static const char get[] = "*2\r\n$3\r\nGET\r\n$4\r\npong\r\n";
static const char reply[] = "$3\r\nabc\r\n";

// One turn of a caller. The caller waits for `is_done`, the loop for `wake`.
typedef struct {
    link_state link;
    int wake, epoll;
    bool is_done, has_ended;
    atomic_bool is_over;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} loop_state;

static bool exchange(link_state *link) {
    char bytes[64];
    if (!link_send(link, get, sizeof get - 1, 1)) return false;
    size_t count = 0;
    while (count < sizeof reply - 1) {
        ssize_t read = link_read_all_there_is(link, bytes + count, sizeof bytes - count);
        if (read < 0) return false;
        count += (size_t)read;
        if (read == 0 && !link_wait(link, false, 1000)) return false;
    }
    return memcmp(bytes, reply, sizeof reply - 1) == 0;
}

static void *run_loop(void *context) {
    loop_state *loop = context;
    char bytes[64];
    size_t count = 0;
    struct epoll_event event;
    while (epoll_wait(loop->epoll, &event, 1, 5000) == 1) {
        if (event.data.fd == loop->wake) {
            uint64_t number = 0;
            if (read(loop->wake, &number, sizeof number) < 0 || loop->is_over) break;
            if (!link_send(&loop->link, get, sizeof get - 1, 1)) break;
            continue;
        }
        ssize_t got = link_read_all_there_is(&loop->link, bytes + count, sizeof bytes - count);
        if (got < 0) break;
        if ((count += (size_t)got) < sizeof reply - 1) continue;
        if (memcmp(bytes, reply, sizeof reply - 1) != 0) break;
        count = 0;
        pthread_mutex_lock(&loop->mutex);
        loop->is_done = true;
        pthread_cond_signal(&loop->changed);
        pthread_mutex_unlock(&loop->mutex);
    }
    pthread_mutex_lock(&loop->mutex);
    loop->has_ended = true;
    pthread_cond_signal(&loop->changed);
    pthread_mutex_unlock(&loop->mutex);
    return NULL;
}

static void wake(loop_state *loop) {
    uint64_t one = 1;
    if (write(loop->wake, &one, sizeof one) < 0) perror("eventfd");
}

static void watch(loop_state *loop, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static int compare(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a < b ? -1 : a > b;
}

// Returns -1 if the loop has ended.
static int64_t hop(loop_state *loop) {
    int64_t start = now_us();
    pthread_mutex_lock(&loop->mutex);
    loop->is_done = false;
    wake(loop);
    while (!loop->is_done && !loop->has_ended) pthread_cond_wait(&loop->changed, &loop->mutex);
    bool is_done = loop->is_done;
    pthread_mutex_unlock(&loop->mutex);
    return is_done ? now_us() - start : -1;
}

bool prove_ping_pong(const probe_servers *servers) {
    static int64_t times[ROUNDS];
    loop_state loop = {.wake = eventfd(0, EFD_CLOEXEC), .epoll = epoll_create1(EPOLL_CLOEXEC)};
    pthread_mutex_init(&loop.mutex, NULL);
    pthread_cond_init(&loop.changed, NULL);
    link_open(&loop.link, (link_options){.host = "redis.test", .port = servers->plain_port});
    char answer[16];
    link_send(&loop.link, "SET pong abc\r\n", 14, 1);
    link_wait(&loop.link, false, 1000);
    link_read_all_there_is(&loop.link, answer, sizeof answer);
    int64_t start = now_us();
    bool holds = loop.link.result == CURLE_OK;
    for (int i = 0; i < ROUNDS && holds; i++) holds = exchange(&loop.link);
    double alone = (double)(now_us() - start) / ROUNDS;
    watch(&loop, loop.wake);
    watch(&loop, loop.link.socket);
    pthread_t thread;
    pthread_create(&thread, NULL, run_loop, &loop);
    start = now_us();
    for (int i = 0; i < ROUNDS && holds; i++) holds = (times[i] = hop(&loop)) >= 0;
    double hopped = (double)(now_us() - start) / ROUNDS;
    loop.is_over = true;
    wake(&loop);
    pthread_join(thread, NULL);
    qsort(times, ROUNDS, sizeof *times, compare);
    report("ping-pong", holds, "a GET takes %.1f us on one thread, %.1f us with a hop (median %lld, 99 %%: %lld)", alone,
        hopped, (long long)times[ROUNDS / 2], (long long)times[ROUNDS * 99 / 100]);
    printf("hop_us %.1f\n", hopped);
    close(loop.wake), close(loop.epoll);
    link_close(&loop.link);
    return holds;
}
