#ifndef SOCKET_SET_H
#define SOCKET_SET_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The events of one descriptor that are registered with epoll.
struct socket_entry {
    uint32_t events;
    bool is_dormant;
};

/// libcurl's sockets and their registrations with epoll.
///
/// A dormant socket is one that libcurl does not need at the moment, but that stays registered for reading, because the
/// next request will probably need it. This saves two system calls for each request.
struct socket_set {
    int epoll;
    bool keeps_dormant;
    size_t running;
    struct socket_entry *entries;
    size_t capacity;
};

/// Opens the epoll descriptor; exits if that fails.
void socket_set_open(struct socket_set *set, bool keeps_dormant);
void socket_set_close(struct socket_set *set);

/// The callback for `CURLMOPT_SOCKETFUNCTION`, with the set as its data.
int socket_set_changed(CURL *easy, curl_socket_t socket, int what, void *set, void *unused);

/// The callback for `CURLOPT_CLOSESOCKETFUNCTION`, with the set as its data. Closing removes the descriptor from epoll.
int socket_set_closed(void *set, curl_socket_t socket);

/// Whether an event on the socket is for libcurl. An event on a dormant socket is not: the server has closed
/// the connection, which libcurl detects when it reuses the connection. The registration is removed,
/// otherwise the event would repeat.
bool socket_set_accepts_event(struct socket_set *set, curl_socket_t socket);

#endif
