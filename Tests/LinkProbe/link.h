// A connection that libcurl opens and the caller uses: CURLOPT_CONNECT_ONLY, with its own store of anchors and two gates.

#pragma once

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    // "redis.test" is the name in the server's certificate; it is resolved to 127.0.0.1. NULL for a Unix socket.
    const char *host;
    int port;
    const char *unix_path;
    // A file of anchors; NULL without TLS.
    const char *anchors;
    // The SHA-256 of the server's public key in hexadecimal digits; NULL for any key.
    const char *pin;
    // Leaves the first gate open, to show that the second one alone holds.
    bool opens_first_gate;
    // CURLOPT_MAXAGE_CONN and CURLOPT_MAXLIFETIME_CONN in seconds. An age of 0 would be the strictest, so "none" is a long one.
    // 0 for none.
    long max_age;
    // The multi of another link; NULL for one of its own.
    CURLM *multi;
} link_options;

typedef struct {
    link_options options;
    CURLM *multi;
    CURL *easy;
    struct curl_slist *addresses;
    curl_socket_t socket;
    CURLcode result;
    char message[CURL_ERROR_SIZE];
    // How often each gate was asked, and how often it refused.
    int first_asked, first_refused, second_asked, second_refused;
} link_state;

// Opens a link, and waits for it at most 5 s. `result` says whether it is open.
void link_open(link_state *link, link_options options);

// Takes the handle out of its multi, which closes the connection.
void link_close(link_state *link);

// Sends all bytes, or returns false. It waits at most `seconds` for a peer that does not read.
bool link_send(link_state *link, const void *bytes, size_t size, int seconds);

// Reads until the kernel and TLS have no more bytes. Returns the number of bytes, or -1 if the peer has closed.
ssize_t link_read_all_there_is(link_state *link, char *bytes, size_t room);

// Waits until the socket is readable (or writable). Returns false after `milliseconds`.
bool link_wait(const link_state *link, bool is_for_writing, int milliseconds);

int64_t now_us(void);
