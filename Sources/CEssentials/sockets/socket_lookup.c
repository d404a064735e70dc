// A hash table from addresses to descriptors. Before a request on a kept connection, libcurl reports only the addresses
// of that connection.
#include "socket_lookup.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROUTE_BUCKETS = 64 };

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// Mixes eight bytes at a time, because one key is computed for each request.
static uint64_t mix_text(uint64_t hash, const char *text) {
    size_t left = strlen(text);
    hash = mix(hash, left);
    while (left) {
        uint64_t word = 0;
        size_t count = left < sizeof word ? left : sizeof word;
        memcpy(&word, text, count);
        hash = mix(hash, word);
        text += count;
        left -= count;
    }
    return hash;
}

// The result is never 0.
static uint64_t key_of(const ce_route *route) {
    uint64_t ports = (uint64_t)(unsigned)route->remote_port << 32 | (unsigned)route->local_port;
    return mix(mix_text(mix_text(1, route->remote), route->local), ports) | 1;
}

// The first entry of a chain. There must be a table.
static int *bucket(ce_loop *loop, uint64_t key) { return &loop->routes[key >> 32 & (loop->route_buckets - 1)]; }

static void enter(ce_loop *loop, int fd) {
    struct ce_socket *entry = &loop->sockets[fd];
    int *link = bucket(loop, entry->route_key);
    entry->route_next = *link;
    *link = fd + 1;
}

// Keeps chains short with at least as many buckets as routes. Without memory for a larger table the chains grow; false
// only if there is no table at all.
static bool make_room(ce_loop *loop) {
    if (loop->route_count < loop->route_buckets) return true;
    size_t count = loop->route_buckets ? 2 * loop->route_buckets : ROUTE_BUCKETS;
    int *routes = calloc(count, sizeof *routes);
    if (!routes) return loop->route_buckets > 0;
    free(loop->routes);
    loop->routes = routes;
    loop->route_buckets = count;
    for (size_t fd = 0; fd < loop->socket_count; fd++) {
        if (loop->sockets[fd].route_key) enter(loop, (int)fd);
    }
    return true;
}

int ce_route_find(ce_loop *loop, const ce_route *route) {
    if (!loop->route_buckets) return -1;
    uint64_t key = key_of(route);
    for (int next = *bucket(loop, key); next; next = loop->sockets[next - 1].route_next) {
        if (loop->sockets[next - 1].route_key == key) return next - 1;
    }
    return -1;
}

void ce_route_forget(ce_loop *loop, int fd) {
    struct ce_socket *entry = &loop->sockets[fd];
    if (!entry->route_key) return;
    for (int *link = bucket(loop, entry->route_key); *link; link = &loop->sockets[*link - 1].route_next) {
        if (*link != fd + 1) continue;
        *link = entry->route_next;
        break;
    }
    entry->route_key = 0;
    entry->route_next = 0;
    loop->route_count--;
}

// The port is at the same place for both families.
static bool has_port(const struct sockaddr_storage *address, int port) {
    bool has = address->ss_family == AF_INET || address->ss_family == AF_INET6;
    return has && ntohs(((const struct sockaddr_in *)address)->sin_port) == port;
}

// Connections to several peers can have the same local port, so that of the peer counts too.
static bool has_ports(int fd, const ce_route *route) {
    struct sockaddr_storage local, remote;
    socklen_t local_size = sizeof local, remote_size = sizeof remote;
    return getsockname(fd, (struct sockaddr *)&local, &local_size) == 0 && has_port(&local, route->local_port) &&
           getpeername(fd, (struct sockaddr *)&remote, &remote_size) == 0 && has_port(&remote, route->remote_port);
}

static bool may_be(const ce_loop *loop, int fd, const ce_route *route) {
    if (fd < 0 || (size_t)fd >= loop->socket_count) return false;
    const struct ce_socket *entry = &loop->sockets[fd];
    return entry->ours && !entry->route_key && has_ports(fd, route);
}

int ce_route_learn(ce_transfer *transfer, const ce_route *route) {
    ce_loop *loop = transfer->handle.multi->loop;
    int fd = transfer->run.socket;
    // If two addresses were tried at the same time, the one tried last need not have won.
    for (size_t i = 0; !may_be(loop, fd, route); i++) {
        if (i == loop->socket_count) return -1;
        fd = (int)i;
    }
    if (!make_room(loop)) return fd;
    loop->sockets[fd].route_key = key_of(route);
    loop->route_count++;
    enter(loop, fd);
    return fd;
}
