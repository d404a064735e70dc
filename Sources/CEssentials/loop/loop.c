// The loop of an engine thread: one epoll set and the timers of all its multi handles.
#include "../base/clock.h"
#include "../sockets/carried_requests.h"
#include "../sockets/sockets.h"
#include "../state/loop_state.h"
#include "../transfer/early_responses.h"
#include "../transfer/endings.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS_PER_WAIT = 32 };

int64_t ce_loop_now_ms(const ce_loop *loop) { return loop->now_ms; }

size_t ce_loop_mutes(const ce_loop *loop) { return loop->mutes; }

static bool copy_text(const char **text) {
    if (!*text) return true;
    *text = strdup(*text);
    return *text != NULL;
}

static void free_settings(ce_loop *loop) {
    curl_slist_free_all(loop->resolve);
    free((char *)loop->settings.unix_socket);
    free((char *)loop->settings.interface);
}

static bool copy_settings(ce_loop *loop, const ce_settings *settings) {
    loop->settings = *settings;
    loop->settings.resolve = NULL;
    loop->settings.interface = NULL;
    if (!copy_text(&loop->settings.unix_socket)) return false;
    loop->settings.interface = settings->interface;
    if (!copy_text(&loop->settings.interface)) return false;
    for (const char *entry = settings->resolve; entry && *entry; entry += strlen(entry) + 1) {
        struct curl_slist *longer = curl_slist_append(loop->resolve, entry);
        if (!longer) return false;
        loop->resolve = longer;
    }
    return true;
}

ce_loop *ce_loop_create(int wakeup_fd, const ce_settings *settings) {
    ce_loop *loop = calloc(1, sizeof *loop);
    if (!loop) return NULL;
    loop->wakeup = wakeup_fd;
    loop->now_ms = ce_now_ms();
    loop->chunks = ce_chunk_pool_create();
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    // The eventfd is edge-triggered and never read: each write to it is one event.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = wakeup_fd};
    if (loop->epoll < 0 || !loop->chunks || epoll_ctl(loop->epoll, EPOLL_CTL_ADD, wakeup_fd, &event) != 0 ||
        !copy_settings(loop, settings)) {
        int saved = errno;
        ce_loop_destroy(loop);
        errno = saved;
        return NULL;
    }
    return loop;
}

void ce_loop_destroy(ce_loop *loop) {
    if (!loop) return;
    if (loop->epoll >= 0) close(loop->epoll);
    free_settings(loop);
    ce_chunk_pool_release(loop->chunks);
    ce_sockets_free_counts(loop);
    free(loop->routes);
    free(loop->sockets);
    free(loop);
}

void ce_loop_run_due(ce_loop *loop) {
    loop->now_ms = ce_now_ms();
    for (ce_multi *multi = loop->multis; multi; multi = multi->next) {
        // A timer that is due again and again runs a limited number of times, so that sockets and messages get their
        // turn.
        for (int turn = 0; turn < 8 && multi->timer_ms >= 0 && multi->timer_ms <= loop->now_ms; turn++) {
            multi->timer_ms = -1;
            ce_multi_act(multi, CURL_SOCKET_TIMEOUT, 0);
            ce_endings_note_streams(loop);
        }
    }
}

static int wait_milliseconds(const ce_loop *loop, int maximum_ms) {
    int64_t wait = maximum_ms < 0 ? INT_MAX : maximum_ms;
    int64_t now = ce_now_ms();
    for (const ce_multi *multi = loop->multis; multi; multi = multi->next) {
        if (multi->timer_ms < 0) continue;
        int64_t left = multi->timer_ms - now;
        if (left < wait) wait = left < 0 ? 0 : left;
    }
    const int64_t moments[] = {loop->muted_until_ms, loop->check_ms};
    for (int i = 0; i < 2; i++) {
        int64_t left = moments[i] - now;
        if (moments[i] > 0 && left < wait) wait = left < 0 ? 0 : left;
    }
    return maximum_ms < 0 && wait == INT_MAX ? -1 : (int)wait;
}

int ce_loop_wait(ce_loop *loop, int maximum_ms) {
    struct epoll_event events[EVENTS_PER_WAIT];
    int count = epoll_wait(loop->epoll, events, EVENTS_PER_WAIT, wait_milliseconds(loop, maximum_ms));
    loop->now_ms = ce_now_ms();
    if (count < 0) return errno == EINTR ? 0 : -1;
    ce_sockets_unmute_overdue(loop);
    ce_early_response_check_overdue(loop);
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        if (fd == loop->wakeup) continue;
        ce_socket_serve(loop, fd, events[i].events);
        ce_endings_note_streams(loop);
    }
    return 0;
}

// MARK: Wake-up

int ce_wakeup_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void ce_wakeup_signal(int wakeup_fd) { eventfd_write(wakeup_fd, 1); }
