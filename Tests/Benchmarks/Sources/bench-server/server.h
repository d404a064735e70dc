#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One client's connection: the head of its request so far, or the number of body bytes still to come.
struct connection {
    int socket;
    bool has_head;
    /// Whether a response is queued; the memory then outlives the socket.
    bool is_waiting;
    size_t length;
    uint64_t body_left;
    char head[2048];
};

/// A response and its due time. All delays are equal, so a ring of responses is in order.
struct answer {
    struct connection *connection;
    uint64_t due;
};

struct server {
    int listener, epoll, port;
    uint64_t delay;
    /// The number of the first requests that must still arrive before all of them are answered.
    size_t first_left;
    struct answer *answers;
    size_t capacity, oldest, waiting;
};

/// Listens on a free port of the loopback interface; exits if that fails.
void server_open(struct server *server, uint64_t delay, size_t first);

/// Serves requests until standard input is closed.
void server_run(struct server *server);

#endif
