#define _GNU_SOURCE  // accept4 and strcasestr
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measurement.h"

static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!";

static void require(bool holds, const char *operation) {
    if (holds) return;
    fprintf(stderr, "bench-server: %s: %s\n", operation, strerror(errno));
    exit(2);
}

static void watch(const struct server *server, int descriptor, void *context) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = context};
    require(epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
}

void server_open(struct server *server, uint64_t delay, size_t first) {
    *server = (struct server){.delay = delay, .first_left = first, .capacity = 1024};
    server->answers = calloc(server->capacity, sizeof *server->answers);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    require(server->answers != NULL && server->listener >= 0 && server->epoll >= 0, "open");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    require(bind(server->listener, (struct sockaddr *)&address, size) == 0, "bind");
    require(listen(server->listener, 65535) == 0, "listen");
    require(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
    server->port = ntohs(address.sin_port);
    watch(server, server->listener, NULL);
}

static void end_connection(struct connection *connection) {
    if (connection->socket >= 0) close(connection->socket);
    connection->socket = -1;
    if (!connection->is_waiting) free(connection);
}

static void accept_all(const struct server *server) {
    for (;;) {
        int socket = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            require(errno == EAGAIN || errno == ECONNABORTED || errno == EINTR, "accept4");
            return;
        }
        int yes = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        struct connection *connection = calloc(1, sizeof *connection);
        require(connection != NULL, "calloc");
        connection->socket = socket;
        watch(server, socket, connection);
    }
}

static void put_off_answer(struct server *server, struct connection *connection) {
    if (server->waiting == server->capacity) {
        struct answer *larger = calloc(server->capacity * 2, sizeof *larger);
        require(larger != NULL, "calloc");
        for (size_t index = 0; index < server->waiting; index++) {
            larger[index] = server->answers[(server->oldest + index) % server->capacity];
        }
        free(server->answers);
        server->answers = larger;
        server->oldest = 0;
        server->capacity *= 2;
    }
    bool is_first = server->first_left > 0;
    if (is_first) server->first_left--;
    connection->is_waiting = true;
    server->answers[(server->oldest + server->waiting) % server->capacity] =
        (struct answer){.connection = connection, .due = is_first ? 0 : measurement_now() + server->delay};
    server->waiting++;
}

static void send_due_answers(struct server *server) {
    if (server->first_left > 0) return;
    while (server->waiting > 0 && server->answers[server->oldest].due <= measurement_now()) {
        struct connection *connection = server->answers[server->oldest].connection;
        server->oldest = (server->oldest + 1) % server->capacity;
        server->waiting--;
        connection->is_waiting = false;
        ssize_t length = connection->socket < 0 ? -1 : send(connection->socket, reply, sizeof reply - 1, MSG_NOSIGNAL);
        if (length != (ssize_t)sizeof reply - 1) end_connection(connection);
    }
}

static uint64_t content_length(const char *head) {
    const char *field = strcasestr(head, "\r\nContent-Length:");
    return field == NULL ? 0 : strtoull(field + strlen("\r\nContent-Length:"), NULL, 10);
}

static ssize_t receive_head(struct connection *connection) {
    size_t room = sizeof connection->head - 1 - connection->length;
    ssize_t length = recv(connection->socket, connection->head + connection->length, room, 0);
    if (length <= 0) return length;
    connection->length += (size_t)length;
    connection->head[connection->length] = '\0';
    const char *end = strstr(connection->head, "\r\n\r\n");
    if (end == NULL) return length;
    uint64_t body = content_length(connection->head);
    uint64_t come = connection->length - (size_t)(end + 4 - connection->head);
    connection->has_head = true;
    connection->body_left = body > come ? body - come : 0;
    return length;
}

static ssize_t drop_body(struct connection *connection) {
    size_t most = connection->body_left < (1u << 20) ? (size_t)connection->body_left : 1u << 20;
    // The kernel discards the bytes without copying them (tcp(7)).
    ssize_t length = recv(connection->socket, NULL, most, MSG_TRUNC);
    if (length > 0) connection->body_left -= (uint64_t)length;
    return length;
}

static void receive(struct server *server, struct connection *connection) {
    // While the client waits, only the end of the connection can arrive.
    if (connection->is_waiting) {
        end_connection(connection);
        return;
    }
    for (;;) {
        ssize_t length = connection->has_head ? drop_body(connection) : receive_head(connection);
        if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (length <= 0) {
            end_connection(connection);
            return;
        }
        if (connection->has_head && connection->body_left == 0) {
            connection->has_head = false;
            connection->length = 0;
            put_off_answer(server, connection);
            return;
        }
    }
}

static int wait_milliseconds(const struct server *server) {
    if (server->waiting == 0 || server->first_left > 0) return -1;
    uint64_t now = measurement_now(), due = server->answers[server->oldest].due;
    return due <= now ? 0 : (int)((due - now + 999999) / 1000000);
}

void server_run(struct server *server) {
    // The address of the server itself represents standard input, which receives no data.
    watch(server, STDIN_FILENO, server);
    struct epoll_event events[256];
    for (;;) {
        int count = epoll_wait(server->epoll, events, 256, wait_milliseconds(server));
        require(count >= 0 || errno == EINTR, "epoll_wait");
        for (int index = 0; index < count; index++) {
            void *context = events[index].data.ptr;
            if (context == server) return;
            if (context == NULL) {
                accept_all(server);
            } else {
                receive(server, context);
            }
        }
        send_due_answers(server);
    }
}
