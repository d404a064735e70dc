// Sockets in the epoll set.
#ifndef CE_SOCKETS_H
#define CE_SOCKETS_H

#include "../state/loop_state.h"

// Serves an epoll event. It may be outdated: the socket may have been closed since.
void ce_socket_serve(ce_loop *loop, int fd, uint32_t events);
// Watches muted sockets for writability again if their time is over.
void ce_sockets_unmute_overdue(ce_loop *loop);

// Watches the socket of an open link, which libcurl has given up. False if epoll fails.
bool ce_socket_watch_link(ce_loop *loop, int fd, ce_link *link, bool reads, bool writes);
// Stops watching the socket of a link. libcurl closes it afterwards.
void ce_socket_unwatch_link(ce_loop *loop, int fd);

// libcurl's callbacks. The user data is the multi handle, the transfer and the loop.
int ce_on_socket(CURL *easy, curl_socket_t fd, int what, void *multi, void *per_socket);
curl_socket_t ce_open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ce_close_socket(void *loop, curl_socket_t fd);

#endif
