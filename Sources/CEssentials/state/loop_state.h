// The data of an engine thread: its loop, multi handles and sockets. Most functions are in sockets/ and loop/.
#ifndef CE_LOOP_STATE_H
#define CE_LOOP_STATE_H

#include "../base/chunks.h"

#include <curl/curl.h>

// TLS sessions that several multi handles share. One thread uses them, so they need no lock.
struct ce_share {
    CURLSH *curl;
    unsigned references;
};

struct ce_multi {
    ce_loop *loop;
    CURLM *curl;
    struct ce_share *share;
    ce_trust *trust;
    ce_trust *proxy_trust; // NULL for none
    int64_t timer_ms;      // monotonic; -1 for none
    int running;           // transfers that are not done
    long most_connections; // the last value that was passed to libcurl
    ce_multi *next;
};

// The known facts about a file descriptor.
struct ce_socket {
    ce_multi *multi;
    ce_link *link;   // the open link that it carries; NULL for the sockets that libcurl watches
    uint32_t events; // registered with epoll; 0 for none
    bool ours;       // opened by ce_open_socket, so its closing will be seen
    bool dormant;
    bool speaks_http2;     // libcurl may wait for writability although the peer's window lets it write nothing
    bool muted;            // libcurl waits for writability, but epoll watches for reading or errors only
    uint8_t idle_writes;   // consecutive events of writability after which nothing was written
    uint64_t acknowledged; // bytes that the peer had acknowledged at the last of them
    uint32_t generation;   // distinguishes sockets that had the same number
    uint64_t route_key;    // 0 for none
    int route_next;        // descriptor + 1
    char *origin;          // of the request that opened the connection; NULL until it carries one. Owned
    int64_t opened_ms;
    unsigned served;  // requests that it has carried, those that it carries now among them
    unsigned running; // requests that it carries now
};

// The connections that have opened or closed since the engine last looked, if it wants to know.
struct ce_changes {
    ce_connection_change *all;
    size_t count, capacity;
};

struct ce_loop {
    ce_chunk_pool *chunks;
    int epoll;
    int wakeup;
    ce_settings settings; // its texts are owned
    struct curl_slist *resolve;
    int64_t now_ms;
    ce_multi *multis;
    struct ce_socket *sockets; // by file descriptor
    size_t socket_count;
    int *routes;           // hash table of descriptors + 1 by their addresses; chained through the sockets
    size_t route_buckets;  // a power of two; 0 before there is a table
    size_t route_count;
    uint64_t openings, closings; // of connections that have carried a request
    struct ce_changes changes;
    size_t mutes;           // the number of times that a socket was muted
    int64_t muted_until_ms; // when muted sockets are watched for writability again; 0 if none is muted
    ce_transfer *touched_first, *touched_last;
    ce_transfer *sent_first, *sent_last; // passed the request gate over HTTP/2: see transfer/endings.c
    ce_transfer *watched; // transfers whose response may be over: see transfer/early_responses.c
    ce_link *ready_links; // whose sockets had events, in order
    int64_t check_ms;    // when the next of them is due; 0 if there is none
};

// Notes how many transfers run on a multi handle, and limits its idle connections accordingly.
void ce_multi_set_running(ce_multi *multi, int running);
// Makes libcurl act on a socket, or on its timers with CURL_SOCKET_TIMEOUT.
void ce_multi_act(ce_multi *multi, curl_socket_t socket, int flags);

#endif
