#ifndef SOCKET_SET_H
#define SOCKET_SET_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What epoll has been told about one descriptor.
struct socket_entry {
    uint32_t events;
    bool is_dormant;
};

/// libcurl's sockets and their registrations with epoll.
///
/// A dormant socket is one that libcurl is done with for now but that stays registered for reading, because the next
/// request will most likely want just that. It saves two system calls a request.
struct socket_set {
    int epoll;
    bool keeps_dormant;
    size_t running;
    struct socket_entry *entries;
    size_t capacity;
};

/// Opens the epoll descriptor; ends the program if there is none to be had.
void socket_set_open(struct socket_set *set, bool keeps_dormant);
void socket_set_close(struct socket_set *set);

/// For `CURLMOPT_SOCKETFUNCTION`, with the set as its data.
int socket_set_changed(CURL *easy, curl_socket_t socket, int what, void *set, void *unused);

/// For `CURLOPT_CLOSESOCKETFUNCTION`, with the set as its data: closing takes the descriptor out of epoll.
int socket_set_closed(void *set, curl_socket_t socket);

/// Whether an event on the socket is for libcurl. One on a dormant socket is not: the server closed the connection,
/// which libcurl finds out when it wants to reuse it. The registration ends, or it would fire again and again.
bool socket_set_accepts_event(struct socket_set *set, curl_socket_t socket);

#endif
