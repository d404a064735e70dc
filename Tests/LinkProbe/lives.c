// (c) and (e): a link that is idle for longer than the maximum age of a connection, and the end of a link.

#include "link.h"
#include "proofs.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static link_options plain(const probe_servers *servers, long max_age, CURLM *multi) {
    return (link_options){.host = "redis.test", .port = servers->plain_port, .max_age = max_age, .multi = multi};
}

static bool answers(link_state *link) {
    char bytes[4096] = "";
    if (link->result != CURLE_OK || !link_send(link, "PING\r\n", 6, 1)) return false;
    for (int64_t end = now_us() + 1000000; now_us() < end;) {
        if (!link_wait(link, false, 100)) continue;
        ssize_t count = link_read_all_there_is(link, bytes, sizeof bytes - 1);
        if (count < 0) return false;
        bytes[count] = '\0';
        if (strstr(bytes, "PONG")) return true;
    }
    return false;
}

// Whether a link still works after it was idle for 2.2 s and another one was opened, with an unread reply or without.
static bool survives(const probe_servers *servers, bool shares, long max_age, bool has_unread) {
    CURLM *multi = shares ? curl_multi_init() : NULL;
    link_state first, second;
    link_open(&first, plain(servers, max_age, multi));
    if (has_unread) link_send(&first, "PING\r\n", 6, 1);
    usleep(2200000);
    link_open(&second, plain(servers, max_age, multi));
    bool result = answers(&first) && answers(&second);
    link_close(&first);
    link_close(&second);
    if (multi) curl_multi_cleanup(multi);
    return result;
}

bool prove_aging(const probe_servers *servers) {
    // What happens without the remedy is only shown.
    bool shared = survives(servers, true, 1, false), shared_unread = survives(servers, true, 0, true);
    bool own = survives(servers, false, 0, false), own_unread = survives(servers, false, 0, true);
    printf("  without remedy: one multi and an age of 1 s: %s; one multi, no age, unread input: %s\n",
        shared ? "survives" : "closed", shared_unread ? "survives" : "closed");
    bool holds = report("idle for longer than any age, then another link", own && own_unread,
        "a multi of its own and no ages: %s; with unread input: %s", own ? "survives" : "closed",
        own_unread ? "survives" : "closed");
    link_state link;
    link_open(&link, (link_options){.unix_path = servers->unix_path, .port = 80});
    bool is_open = answers(&link);
    report("a Unix socket", is_open, "%s", curl_easy_strerror(link.result));
    link_close(&link);
    return holds && is_open;
}

// The number of clients that the server sees.
static int clients(link_state *link) {
    char bytes[8192] = "";
    link_send(link, "CLIENT LIST\r\n", 13, 1);
    link_wait(link, false, 1000);
    usleep(2000);
    ssize_t count = link_read_all_there_is(link, bytes, sizeof bytes - 1);
    bytes[count > 0 ? count : 0] = '\0';
    int found = 0;
    for (const char *place = bytes; (place = strstr(place, "id=")); place += 3) found += place == bytes || place[-1] == '\n';
    return found;
}

bool prove_closing(const probe_servers *servers) {
    link_state watcher, first, second;
    link_open(&watcher, plain(servers, 0, NULL));
    link_open(&first, plain(servers, 0, NULL));
    int before = clients(&watcher), number = first.socket;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 1};
    epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event);
    link_send(&first, "PING\r\n", 6, 1);
    usleep(20000);
    // Taken out before the handle, so that no event of the old link is left for the number's next owner.
    epoll_ctl(epoll, EPOLL_CTL_DEL, number, NULL);
    int64_t start = now_us();
    link_close(&first);
    int after = before;
    while (after == before && now_us() < start + 1000000) after = clients(&watcher);
    int64_t took = now_us() - start;
    link_open(&second, plain(servers, 0, NULL));
    event.data.u64 = 2;
    epoll_ctl(epoll, EPOLL_CTL_ADD, second.socket, &event);
    struct epoll_event found[4];
    int early = epoll_wait(epoll, found, 4, 50);
    link_send(&second, "PING\r\n", 6, 1);
    int late = epoll_wait(epoll, found, 4, 1000);
    bool is_own = late == 1 && found[0].data.u64 == 2;
    bool holds = after == before - 1 && second.result == CURLE_OK && early == 0 && is_own;
    report("the end of a link", holds,
        "the server saw it within %lld us; its number was %d, that of the next link is %d; %d old events, then that of the new link: %s",
        (long long)took, number, second.socket, early, is_own ? "yes" : "no");
    close(epoll);
    link_close(&second);
    link_close(&watcher);
    return holds;
}
