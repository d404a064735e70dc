#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// One client's connection: the head of its request so far, or how much of the body is still to come.
struct connection {
    int socket;
    bool has_head;
    /// Whether the answer waits in the queue; the memory then outlives the socket.
    bool is_waiting;
    size_t length;
    uint64_t body_left;
    char head[2048];
};

/// An answer and when it is due. All wait equally long, so that a ring of them is in order.
struct answer {
    struct connection *connection;
    uint64_t due;
};

struct server {
    int listener, epoll, port;
    uint64_t delay;
    /// How many of the first requests have still to come before all of them are answered.
    size_t first_left;
    struct answer *answers;
    size_t capacity, oldest, waiting;
};

/// Listens on a free port of the loopback interface; ends the program if that fails.
void server_open(struct server *server, uint64_t delay, size_t first);

/// Serves until standard input ends.
void server_run(struct server *server);

#endif
