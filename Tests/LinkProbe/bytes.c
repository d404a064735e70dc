// (b) and (d): a peer that stops reading, and a large reply with a push behind it.

#include "link.h"
#include "proofs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static link_options tls(const probe_servers *servers) {
    return (link_options){
        .host = "redis.test", .port = servers->tls_port, .anchors = servers->anchors, .pin = servers->pin};
}

// Reads until a number of bytes is there. Each wait is for the socket alone, at most 2 s.
static size_t read_exactly(link_state *link, char *bytes, size_t size, int *waits, int *left_in_tls) {
    struct curl_tlssessioninfo *session = NULL;
    curl_easy_getinfo(link->easy, CURLINFO_TLS_SSL_PTR, &session);
    SSL *ssl = link->options.anchors && session ? session->internals : NULL;
    size_t count = 0;
    while (count < size) {
        if (!link_wait(link, false, 2000)) break;
        ++*waits;
        ssize_t read = link_read_all_there_is(link, bytes + count, size - count);
        if (read < 0) break;
        count += (size_t)read;
        if (count < size && ssl && SSL_pending(ssl) > 0) ++*left_in_tls;
    }
    return count;
}

static char *pattern(size_t size) {
    char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)('a' + (i * 31 + i / 977) % 26);
    return bytes;
}

static char *set_command(const char *value, size_t size, size_t *count) {
    char *bytes = malloc(size + 100);
    int head = sprintf(bytes, "*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$%zu\r\n", size);
    memcpy(bytes + head, value, size);
    memcpy(bytes + head + size, "\r\n", 2);
    *count = (size_t)head + size + 2;
    return bytes;
}

// Sends until nothing has gone out for 300 ms. Returns the number of bytes.
static size_t send_until_stuck(link_state *link, const char *bytes, size_t size) {
    size_t count = 0;
    while (count < size) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(link->easy, bytes + count, size - count, &sent);
        if (code == CURLE_OK) count += sent;
        else if (code != CURLE_AGAIN || !link_wait(link, true, 300)) break;
    }
    return count;
}

bool prove_writing(const probe_servers *servers) {
    const size_t size = 64 << 20;
    link_state link;
    link_open(&link, tls(servers));
    char *value = pattern(size);
    size_t count = 0;
    char *command = set_command(value, size, &count);
    kill(servers->server, SIGSTOP);
    size_t stuck = send_until_stuck(&link, command, count);
    // The rest moves to other memory, and the old memory is overwritten.
    char *moved = malloc(count - stuck);
    memcpy(moved, command + stuck, count - stuck);
    memset(command, '!', count);
    kill(servers->server, SIGCONT);
    bool is_sent = link_send(&link, moved, count - stuck, 10);
    char answer[5] = "";
    int waits = 0, left = 0;
    read_exactly(&link, answer, 5, &waits, &left);
    link_send(&link, "GET big\r\n", 9, 1);
    char *found = malloc(size + 13);
    size_t got = read_exactly(&link, found, size + 13, &waits, &left);
    bool is_same = got == size + 13 && memcmp(found + 11, value, size) == 0;
    bool holds = link.result == CURLE_OK && stuck > 0 && stuck < count && is_sent && memcmp(answer, "+OK\r\n", 5) == 0
        && is_same;
    report("a peer stops reading", holds, "stuck after %zu of %zu bytes, resumed from other memory, value %s", stuck,
        count, is_same ? "the same" : "different");
    free(value), free(command), free(moved), free(found);
    link_close(&link);
    return holds;
}

bool prove_reading(const probe_servers *servers) {
    const size_t size = 16 << 20;
    link_state reader, writer;
    link_open(&reader, tls(servers));
    link_open(&writer, tls(servers));
    char *value = pattern(size);
    size_t count = 0;
    char *command = set_command(value, size, &count);
    int waits = 0, left = 0;
    char ok[5] = "", scratch[2000];
    link_send(&writer, command, count, 10);
    read_exactly(&writer, ok, 5, &waits, &left);
    static const char tracking[] = "HELLO 3\r\nCLIENT TRACKING ON\r\n";
    link_send(&reader, tracking, sizeof tracking - 1, 1);
    link_wait(&reader, false, 1000);
    for (int64_t end = now_us() + 200000; now_us() < end; link_wait(&reader, false, 50))
        link_read_all_there_is(&reader, scratch, sizeof scratch);
    // The value is asked for and not read, and changes meanwhile.
    link_send(&reader, "GET big\r\n", 9, 1);
    link_wait(&reader, false, 1000);
    link_send(&writer, "SET big small\r\n", 15, 1);
    read_exactly(&writer, ok, 5, &waits, &left);
    static const char push[] = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nbig\r\n";
    size_t expected = 11 + size + 2 + sizeof push - 1;
    char *found = malloc(expected);
    waits = left = 0;
    size_t got = read_exactly(&reader, found, expected, &waits, &left);
    bool is_same = got == expected && memcmp(found + 11, value, size) == 0
        && memcmp(found + 11 + size + 2, push, sizeof push - 1) == 0;
    bool holds = reader.result == CURLE_OK && is_same && left == 0;
    report("a reply of 16 MiB with a push behind it", holds,
        "%zu of %zu bytes after %d waits for the socket; bytes left in TLS after CURLE_AGAIN: %d times", got, expected,
        waits, left);
    free(value), free(command), free(found);
    link_close(&reader);
    link_close(&writer);
    return holds;
}
