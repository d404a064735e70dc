// One epoll for all multi handles of an engine thread.
//
// libcurl asks for a socket to be watched and forgotten once per request; on a busy keep-alive connection that is two
// epoll_ctl calls each time. While enough transfers run, a forgotten socket therefore stays registered ("dormant"): if
// libcurl wants it again nothing needs to be done, and if the idle peer hangs up the event is the moment to forget it.
//
// libcurl 7.88 asks for writability while an HTTP/2 upload waits for the peer's window, and epoll would report it
// without end. A socket that is writable several times without anything being written is therefore "muted": watched for
// reading only, until the peer sends something, libcurl asks anew, or a moment has passed. Over HTTP/1 libcurl writes
// whenever it can, so such sockets are neither muted nor asked about: the two questions cost as much as writing 16 KiB.
#define _GNU_SOURCE // pthread_setname_np
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DORMANCY_MINIMUM = 4, EVENTS_PER_WAIT = 32, IDLE_WRITES_MAXIMUM = 2, MUTED_MS = 10 };

int64_t ce_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t ce_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t ce_loop_now_ms(const ce_loop *loop) { return loop->now_ms; }

size_t ce_loop_mutes(const ce_loop *loop) { return loop->mutes; }

int ce_wakeup_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void ce_wakeup_signal(int wakeup_fd) { eventfd_write(wakeup_fd, 1); }

int ce_wakeup_await(int wakeup_fd, int maximum_ms) {
    struct pollfd entry = {.fd = wakeup_fd, .events = POLLIN};
    if (poll(&entry, 1, maximum_ms) <= 0) return 0;
    eventfd_t count = 0;
    return eventfd_read(wakeup_fd, &count) == 0 ? (int)count : 0;
}

int ce_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(getpid(), sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void ce_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

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
    // Edge-triggered and never read: each write to the eventfd is one event.
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
    free(loop->routes);
    free(loop->sockets);
    free(loop);
}

// MARK: Sockets

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

// libcurl's own sockets (its resolver's) may be closed without our knowing, so the table can be wrong about them in
// either direction; the kernel's answer then says which call was right.
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

// Bytes that were written and that the peer has not acknowledged; -1 if the system does not say.
static int unacknowledged(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -1;
}

// Bytes that the peer has acknowledged since the connection was made; 0 if the system does not say.
static uint64_t acknowledged(int fd) {
    struct tcp_info facts = {0};
    socklen_t size = sizeof facts;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &facts, &size) == 0 ? facts.tcpi_bytes_acked : 0;
}

static void mute(ce_loop *loop, int fd, struct ce_socket *entry) {
    if (register_socket(loop, fd, entry, EPOLLIN) != 0) return;
    entry->muted = true;
    loop->mutes++;
    if (loop->muted_until_ms == 0) loop->muted_until_ms = ce_now_ms() + MUTED_MS;
}

static void unmute(ce_loop *loop, int fd, struct ce_socket *entry) {
    if (!entry->muted) return;
    entry->muted = false;
    register_socket(loop, fd, entry, EPOLLIN | EPOLLOUT);
}

// Looks through all sockets, which is seldom and bounded: once in MUTED_MS, and only while some were muted.
static void unmute_overdue(ce_loop *loop) {
    if (loop->muted_until_ms == 0 || loop->muted_until_ms > loop->now_ms) return;
    loop->muted_until_ms = 0;
    for (size_t fd = 0; fd < loop->socket_count; fd++) unmute(loop, (int)fd, &loop->sockets[fd]);
}

static void serve_socket(ce_loop *loop, int fd, uint32_t events) {
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry || !entry->events) return; // closed or forgotten while an earlier event was served
    if (entry->dormant) return forget_socket(loop, fd, entry);
    // Only what reads as well can be muted, else nothing would end the muting but time.
    bool may_mute = entry->speaks_http2 && entry->events == (EPOLLIN | EPOLLOUT);
    bool is_writable_only = may_mute && (events & (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP)) == EPOLLOUT;
    int before = is_writable_only ? unacknowledged(fd) : -1;
    uint32_t generation = entry->generation;
    int flags = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    ce_multi *multi = entry->multi;
    int running = multi->running;
    curl_multi_socket_action(multi->curl, fd, flags, &running);
    ce_multi_set_running(multi, running);
    entry = &loop->sockets[fd]; // the table may have moved
    if (entry->generation != generation || !entry->events) return;
    if (!is_writable_only) {
        entry->idle_writes = 0;
        return unmute(loop, fd, entry);
    }
    // Acknowledgements that come meanwhile can hide what was written, so one such event proves nothing, and several only
    // if none came between them: a near peer acknowledges all that was written before the write returns.
    bool is_idle = entry->events == (EPOLLIN | EPOLLOUT) && before >= 0 && unacknowledged(fd) <= before;
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

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *user, void *per_socket) {
    (void)per_socket;
    ce_multi *multi = user;
    ce_loop *loop = multi->loop;
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry) return -1;
    entry->multi = multi;
    ce_transfer *transfer = NULL;
    if (entry->ours && what != CURL_POLL_REMOVE && !entry->route_key &&
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer) == CURLE_OK && transfer) {
        transfer->socket = fd;
        // Known when the request gate has let it pass, which is before libcurl reads and writes at the same time.
        if (transfer->speaks_http2) entry->speaks_http2 = true;
    }
    // Its resolver's, which libcurl does not mark.
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
    ce_loop *loop = transfer->multi->loop;
    transfer->handshakes = 0;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) transfer->lacked_resources = true;
        return CURL_SOCKET_BAD;
    }
    struct ce_socket *entry = socket_entry(loop, fd);
    if (!entry) {
        transfer->lacked_resources = true;
        close(fd);
        return CURL_SOCKET_BAD;
    }
    *entry = (struct ce_socket){.ours = true, .generation = entry->generation + 1};
    return fd;
}

int ce_close_socket(void *user, curl_socket_t fd) {
    ce_loop *loop = user;
    if (fd >= 0 && (size_t)fd < loop->socket_count) {
        ce_route_forget(loop, fd);
        loop->sockets[fd] = (struct ce_socket){.generation = loop->sockets[fd].generation};
    }
    return close(fd); // the kernel takes a closed descriptor out of the epoll set
}

// MARK: Time

static int on_timer(CURLM *curl, long timeout_ms, void *user) {
    (void)curl;
    ce_multi *multi = user;
    multi->timer_ms = timeout_ms < 0 ? -1 : ce_now_ms() + timeout_ms;
    return 0;
}

void ce_loop_run_due(ce_loop *loop) {
    loop->now_ms = ce_now_ms();
    for (ce_multi *multi = loop->multis; multi; multi = multi->next) {
        // A timer that keeps being due is bounded here, so that sockets and messages get their turn.
        for (int turn = 0; turn < 8 && multi->timer_ms >= 0 && multi->timer_ms <= loop->now_ms; turn++) {
            multi->timer_ms = -1;
            int running = multi->running;
            curl_multi_socket_action(multi->curl, CURL_SOCKET_TIMEOUT, 0, &running);
            ce_multi_set_running(multi, running);
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
    const int64_t moments[] = {loop->muted_until_ms, loop->look_ms};
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
    unmute_overdue(loop);
    ce_looks_overdue(loop);
    for (int i = 0; i < count; i++) {
        int fd = events[i].data.fd;
        if (fd == loop->wakeup) continue;
        serve_socket(loop, fd, events[i].events);
    }
    return 0;
}

// MARK: Multi handles

struct ce_share {
    CURLSH *curl;
    unsigned references; // one thread uses it, and its sessions need no locks
};

static struct ce_share *make_share(void) {
    struct ce_share *share = calloc(1, sizeof *share);
    if (!share) return NULL;
    share->references = 1;
    share->curl = curl_share_init();
    if (share->curl && curl_share_setopt(share->curl, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK) {
        return share;
    }
    if (share->curl) curl_share_cleanup(share->curl);
    free(share);
    return NULL;
}

static void release_share(struct ce_share *share) {
    if (!share || --share->references > 0) return;
    curl_share_cleanup(share->curl);
    free(share);
}

CURLSH *ce_multi_share(const ce_multi *multi) { return multi->share->curl; }

static bool configure_multi(ce_multi *multi) {
    const ce_settings *settings = &multi->loop->settings;
    CURLM *curl = multi->curl;
    return curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX) == CURLM_OK &&
           curl_multi_setopt(curl, CURLMOPT_MAX_CONCURRENT_STREAMS, settings->streams_per_connection) == CURLM_OK;
}

// libcurl's bound is of all connections, and it looks at it whenever one becomes idle: the oldest idle one is closed.
void ce_multi_set_running(ce_multi *multi, int running) {
    multi->running = running;
    long others = running > 1 ? running - 1 : 0;
    long most = multi->loop->settings.connection_cache + others;
    if (most < 1) most = 1; // 0 is libcurl's word for a bound of its own
    if (most == multi->most_connections) return;
    multi->most_connections = most;
    curl_multi_setopt(multi->curl, CURLMOPT_MAXCONNECTS, most);
}

ce_multi *ce_multi_create(ce_loop *loop, ce_trust *trust, ce_trust *proxy_trust, ce_multi *sibling) {
    ce_multi *multi = calloc(1, sizeof *multi);
    if (!multi) return NULL;
    multi->loop = loop;
    multi->timer_ms = -1;
    multi->curl = ce_multi_init_closing_on_exec();
    if (sibling) sibling->share->references++;
    multi->share = sibling ? sibling->share : make_share();
    if (!multi->curl || !multi->share || !configure_multi(multi)) {
        if (multi->curl) curl_multi_cleanup(multi->curl);
        release_share(multi->share);
        free(multi);
        return NULL;
    }
    ce_trust_retain(trust);
    multi->trust = trust;
    if (proxy_trust) ce_trust_retain(proxy_trust);
    multi->proxy_trust = proxy_trust;
    multi->next = loop->multis;
    loop->multis = multi;
    return multi;
}

void ce_multi_destroy(ce_multi *multi) {
    if (!multi) return;
    for (ce_multi **link = &multi->loop->multis; *link; link = &(*link)->next) {
        if (*link == multi) {
            *link = multi->next;
            break;
        }
    }
    curl_multi_cleanup(multi->curl); // closes pooled connections, which still use the share
    release_share(multi->share);
    ce_trust_release(multi->trust);
    ce_trust_release(multi->proxy_trust);
    free(multi);
}

ce_transfer *ce_multi_next_done(ce_multi *multi, int *curl_code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi->curl, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        // The message dies with the removal: copy first.
        CURL *easy = message->easy_handle;
        *curl_code = (int)message->data.result;
        ce_transfer *transfer = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
        curl_multi_remove_handle(multi->curl, easy);
        if (!transfer) continue;
        transfer->running = false;
        ce_look_begin(transfer);
        transfer->ended_well = *curl_code == CURLE_OK && transfer->gate_count == 1;
        return transfer;
    }
    return NULL;
}

// MARK: Touched transfers

void ce_transfer_touch(ce_transfer *transfer) {
    if (transfer->touched || !transfer->multi) return;
    ce_loop *loop = transfer->multi->loop;
    transfer->touched = true;
    transfer->next_touched = NULL;
    if (loop->touched_last) loop->touched_last->next_touched = transfer;
    else loop->touched_first = transfer;
    loop->touched_last = transfer;
}

ce_transfer *ce_loop_next_touched(ce_loop *loop) {
    ce_transfer *transfer = loop->touched_first;
    if (!transfer) return NULL;
    loop->touched_first = transfer->next_touched;
    if (!loop->touched_first) loop->touched_last = NULL;
    transfer->touched = false;
    transfer->next_touched = NULL;
    return transfer;
}
