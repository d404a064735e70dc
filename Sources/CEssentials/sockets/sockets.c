// One epoll set for all multi handles of an engine thread.
//
// libcurl starts and stops watching a socket once per request. On a busy keep-alive connection that is two epoll_ctl
// calls each time. While several transfers run, a socket that libcurl no longer watches therefore stays registered and
// is "dormant". If libcurl wants to watch it again, nothing needs to be done. If the idle peer closes the connection,
// the event removes the registration.
//
// libcurl 7.88 waits for writability while an HTTP/2 upload waits for the peer's window, and epoll would report it
// endlessly. A socket that is writable several times in a row without anything being written is therefore "muted": it
// is watched for reading only, or for errors only if libcurl does not read, until the peer sends something, libcurl
// changes what it waits for, or MUTED_MS have passed. Over HTTP/1 libcurl writes whenever it can, so those sockets are
// not checked: the two system calls cost as much as writing 16 KiB.
#include "sockets.h"

#include "../base/clock.h"
#include "../state/transfer_state.h"
#include "carried_requests.h"
#include "socket_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DORMANCY_MINIMUM = 4, IDLE_WRITES_MAXIMUM = 2, MUTED_MS = 10 };

static struct ce_socket *socket_entry(ce_loop *loop, int fd) {
    if (fd < 0) return NULL;
    size_t index = (size_t)fd;
    if (index >= loop->socket_count) {
        size_t count = loop->socket_count ? loop->socket_count : 64;
        while (count <= index) count *= 2;
        struct ce_socket *sockets = realloc(loop->sockets, count * sizeof *sockets);
        if (!sockets) return NULL;
        memset(sockets + loop->socket_count, 0, (count - loop->socket_count) * sizeof *sockets);
        loop->sockets = sockets;
        loop->socket_count = count;
    }
    return &loop->sockets[index];
}

// The sockets of libcurl's resolver may be closed without a callback, so the table can be wrong about them in either
// direction. The kernel's error then shows which operation was right.
static int register_socket(ce_loop *loop, int fd, struct ce_socket *entry, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    int operation = entry->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    int result = epoll_ctl(loop->epoll, operation, fd, &event);
    if (result != 0 && errno == ENOENT) result = epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event);
    if (result != 0 && errno == EEXIST) result = epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event);
    entry->events = result == 0 ? events : 0;
    return result;
}

static void forget_socket(ce_loop *loop, int fd, struct ce_socket *entry) {
    if (entry->events) epoll_ctl(loop->epoll, EPOLL_CTL_DEL, fd, NULL);
    entry->events = 0;
    entry->dormant = false;
    entry->muted = false;
}

// Bytes that were written and that the peer has not acknowledged, or -1 if the system does not know.
static int unacknowledged(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -1;
}

// Bytes that the peer has acknowledged since the connection was made, or 0 if the system does not know.
static uint64_t acknowledged(int fd) {
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &facts, &size) == 0 ? facts.tcpi_bytes_acked : 0;
}

static void mute(ce_loop *loop, int fd, struct ce_socket *entry) {
    // libcurl reads nothing more for a transfer whose response is complete. Bytes that arrive would be reported endlessly.
    uint32_t quiet = entry->events & EPOLLIN ? EPOLLIN : EPOLLET;
    if (register_socket(loop, fd, entry, quiet) != 0) return;
    entry->muted = true;
    loop->mutes++;
    if (loop->muted_until_ms == 0) loop->muted_until_ms = ce_now_ms() + MUTED_MS;
}

static void unmute(ce_loop *loop, int fd, struct ce_socket *entry) {
    if (!entry->muted) return;
    entry->muted = false;
    register_socket(loop, fd, entry, entry->events & EPOLLIN ? EPOLLIN | EPOLLOUT : EPOLLOUT);
}

// Scans all sockets. The cost is bounded: it happens at most once in MUTED_MS, and only while a socket is muted.
void ce_sockets_unmute_overdue(ce_loop *loop) {
    if (loop->muted_until_ms == 0 || loop->muted_until_ms > loop->now_ms) return;
    loop->muted_until_ms = 0;
    for (size_t fd = 0; fd < loop->socket_count; fd++) unmute(loop, (int)fd, &loop->sockets[fd]);
}

void ce_socket_serve(ce_loop *loop, int fd, uint32_t events) {
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry || !entry->events) return; // closed or forgotten while an earlier event was served
    if (entry->link) return ce_link_note(entry->link);
    if (entry->dormant) return forget_socket(loop, fd, entry);
    bool may_mute = entry->speaks_http2 && !entry->muted && entry->events & EPOLLOUT;
    bool is_writable_only = may_mute && (events & (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP)) == EPOLLOUT;
    int before = is_writable_only ? unacknowledged(fd) : -1;
    uint32_t generation = entry->generation;
    int flags = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    ce_multi *multi = entry->multi;
    ce_multi_act(multi, fd, flags);
    entry = &loop->sockets[fd]; // the table may have been reallocated
    if (entry->generation != generation || !entry->events) return;
    if (!is_writable_only) {
        entry->idle_writes = 0;
        return unmute(loop, fd, entry);
    }
    // Acknowledgements that arrive meanwhile can hide written bytes, so a single such event proves nothing. Several
    // prove it if no acknowledgement came between them: a near peer acknowledges everything written before the write
    // returns.
    bool is_idle = entry->events & EPOLLOUT && before >= 0 && unacknowledged(fd) <= before;
    if (is_idle) {
        uint64_t total = acknowledged(fd);
        if (total != entry->acknowledged) entry->idle_writes = 0;
        entry->acknowledged = total;
    }
    entry->idle_writes = is_idle ? entry->idle_writes + 1 : 0;
    if (entry->idle_writes <= IDLE_WRITES_MAXIMUM) return;
    entry->idle_writes = 0;
    mute(loop, fd, entry);
}

bool ce_socket_watch_link(ce_loop *loop, int fd, ce_link *link, bool reads, bool writes) {
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry) return false;
    // Without either, the end of the connection would be reported endlessly, so it is reported once.
    uint32_t events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u);
    if (events == 0) events = EPOLLET;
    if (entry->link == link && entry->events == events) return true;
    entry->link = link;
    entry->dormant = entry->muted = false;
    return register_socket(loop, fd, entry, events) == 0;
}

void ce_socket_unwatch_link(ce_loop *loop, int fd) {
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry || !entry->link) return;
    entry->link = NULL;
    forget_socket(loop, fd, entry);
}

int ce_on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *per_socket) {
    (void)per_socket;
    ce_multi *multi = user;
    ce_loop *loop = multi->loop;
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry) return -1;
    entry->multi = multi;
    ce_transfer *transfer = NULL;
    if (entry->ours && what != CURL_POLL_REMOVE && (!entry->route_key || entry->speaks_http2) &&
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer) == CURLE_OK && transfer) {
        transfer->run.socket = fd;
        // Known once the request gate has run, which is before libcurl reads and writes at the same time.
        if (transfer->run.gates.speaks_http2) entry->speaks_http2 = true;
    }
    // The socket belongs to libcurl's resolver, which does not set close-on-exec.
    if (!entry->ours && !entry->events && what != CURL_POLL_REMOVE) fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (what == CURL_POLL_REMOVE) {
        if (entry->ours && entry->events && multi->running >= DORMANCY_MINIMUM) {
            if (entry->events != EPOLLIN && register_socket(loop, fd, entry, EPOLLIN) != 0) return 0;
            entry->dormant = true;
        } else {
            forget_socket(loop, fd, entry);
        }
        return 0;
    }
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    entry->dormant = false;
    entry->muted = false;
    if (entry->events == events) return 0;
    return register_socket(loop, fd, entry, events) == 0 ? 0 : -1;
}

curl_socket_t ce_open_socket(void *user, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    ce_transfer *transfer = user;
    ce_loop *loop = transfer->handle.multi->loop;
    transfer->run.gates.handshakes = 0;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            transfer->run.lacked_resources = true;
        }
        return CURL_SOCKET_BAD;
    }
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry) {
        transfer->run.lacked_resources = true;
        close(fd);
        return CURL_SOCKET_BAD;
    }
    transfer->run.opened = fd + 1;
    *entry = (struct ce_socket){.ours = true, .generation = entry->generation + 1, .opened_ms = ce_now_ms()};
    return fd;
}

int ce_close_socket(void *user, curl_socket_t fd) {
    ce_loop *loop = user;
    if (fd >= 0 && (size_t)fd < loop->socket_count) {
        ce_route_forget(loop, fd);
        ce_socket_note_closed(loop, fd);
        loop->sockets[fd] = (struct ce_socket){.generation = loop->sockets[fd].generation};
    }
    return close(fd); // the kernel removes a closed descriptor from the epoll set
}
