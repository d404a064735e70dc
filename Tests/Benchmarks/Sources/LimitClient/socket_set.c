#include "socket_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/// With fewer transfers than this, dormant sockets cost more latency than they save work.
static const size_t fewest_for_dormancy = 4;

static void fail(const char *operation) {
    fprintf(stderr, "%s: %s\n", operation, strerror(errno));
    exit(2);
}

void socket_set_open(struct socket_set *set, bool keeps_dormant) {
    *set = (struct socket_set){.epoll = epoll_create1(EPOLL_CLOEXEC), .keeps_dormant = keeps_dormant};
    if (set->epoll < 0) fail("epoll_create1");
}

void socket_set_close(struct socket_set *set) {
    close(set->epoll);
    free(set->entries);
}

static struct socket_entry *entry_for(struct socket_set *set, curl_socket_t socket) {
    size_t index = (size_t)socket;
    if (index >= set->capacity) {
        size_t capacity = (index + 1) * 2;
        struct socket_entry *entries = realloc(set->entries, capacity * sizeof *entries);
        if (entries == NULL) fail("realloc");
        memset(entries + set->capacity, 0, (capacity - set->capacity) * sizeof *entries);
        set->entries = entries;
        set->capacity = capacity;
    }
    return &set->entries[index];
}

static void control(struct socket_set *set, int operation, curl_socket_t socket, struct socket_entry *entry,
                    uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = socket};
    if (epoll_ctl(set->epoll, operation, socket, &event) != 0) fail("epoll_ctl");
    *entry = (struct socket_entry){.events = events};
}

int socket_set_changed(CURL *easy, curl_socket_t socket, int what, void *context, void *unused) {
    (void)easy;
    (void)unused;
    struct socket_set *set = context;
    struct socket_entry *entry = entry_for(set, socket);
    if (what == CURL_POLL_REMOVE) {
        bool rests = set->keeps_dormant && entry->events == EPOLLIN && set->running >= fewest_for_dormancy;
        if (rests) {
            entry->is_dormant = true;
        } else if (entry->events != 0) {
            control(set, EPOLL_CTL_DEL, socket, entry, 0);
        }
        return 0;
    }
    uint32_t wanted = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) wanted |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) wanted |= EPOLLOUT;
    entry->is_dormant = false;
    if (entry->events != wanted) {
        control(set, entry->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, entry, wanted);
    }
    return 0;
}

int socket_set_closed(void *context, curl_socket_t socket) {
    struct socket_set *set = context;
    *entry_for(set, socket) = (struct socket_entry){0};
    return close(socket);
}

bool socket_set_accepts_event(struct socket_set *set, curl_socket_t socket) {
    struct socket_entry *entry = entry_for(set, socket);
    if (entry->is_dormant) control(set, EPOLL_CTL_DEL, socket, entry, 0);
    return entry->events != 0;
}
